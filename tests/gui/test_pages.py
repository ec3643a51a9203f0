"""The pages of claims, shortcuts and diagnostics."""

from __future__ import annotations

import csv
import json
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMainWindow, QTreeWidget

from app.base import theme
from app.models.log import Log
from app.models.timing.claims_table import claims_csv, claims_json
from app.shell.actions import build_actions
from app.views.dialogs.diagnostics import DiagnosticsPage
from app.views.dialogs.shortcuts import ShortcutsPage
from app.views.timing.claims_page import ClaimsPage


def claim(holds: bool | None, **more: Any) -> dict:
    return {
        "id": "S4-constant",
        "source": "S4",
        "source_title": "mean filter on ten million samples, 2024",
        "claim": "Taps in constant memory make the kernel about <twice> as fast.",
        "published": "4.3 ms to 1.96 ms (×2.19)",
        "prediction": "Less than published.",
        "basis": "measured",
        "found": "×1.03",
        "holds": holds,
        "where": "recorded: NVIDIA H200",
        "figures_s": {},
    } | more


@pytest.fixture
def claims(qtbot) -> ClaimsPage:
    page = ClaimsPage()
    qtbot.addWidget(page)
    page.set_claims([claim(True), claim(False, source="S7", source_title=""), claim(None)])
    return page


def test_claims_are_judged_in_words_and_symbols(claims: ClaimsPage) -> None:
    text = claims.browser.toPlainText()
    for words in ("✓ holds", "✗ does not hold", "◌ undecided", "×1.03", "4.3 ms to 1.96 ms", "Less than published."):
        assert words in text
    assert "<twice>" in text and "recorded: NVIDIA H200" in text
    assert "S4-constant · mean filter on ten million samples, 2024 · measured" in text and "S4-constant · S7 ·" in text
    assert claims.summary.text() == "3 claims: 1 hold, 1 do not, 1 undecided"


def test_claims_are_copied_as_a_table(claims: ClaimsPage, qtbot) -> None:
    qtbot.mouseClick(claims.copy_button, Qt.MouseButton.LeftButton)
    lines = QGuiApplication.clipboard().text().splitlines()
    assert len(lines) == 4 and lines[2].startswith("S7\t") and "\tdoes not hold\t" in lines[2]


def test_claims_are_saved_with_the_machine_of_their_runs(claims: ClaimsPage, qtbot) -> None:
    assert not ClaimsPage(claims).save_button.isEnabled(), "there is nothing to save"
    measured = claim(True, machine="NVIDIA H200", figures_s={"naive": 0.0043}), claim(None, machine="")
    claims.set_claims(measured)
    with qtbot.waitSignal(claims.save_asked) as asked:
        qtbot.mouseClick(claims.save_button, Qt.MouseButton.LeftButton)
    (events,) = asked.args
    text = claims_csv(events)
    heading = [line for line in text.splitlines() if line.startswith("# ")]
    assert "# machine: NVIDIA H200" in heading and any(line.startswith("# version kernelscope: ") for line in heading)
    rows = list(csv.DictReader(text.splitlines()[len(heading) :]))
    assert [row["holds"] for row in rows] == ["holds", "undecided"] and rows[0]["published"] == claim(True)["published"]
    assert json.loads(rows[0]["figures_s"]) == {"naive": 0.0043} and rows[0]["machine"] == "NVIDIA H200"
    content = json.loads(claims_json(events))
    assert content["claims"] == list(measured) and content["about"]["machine"] == "NVIDIA H200"
    assert content["schema"] == "kernelscope-claims/1" and "time" in content["about"]
    two = (*events, claim(False, machine="another"))
    assert "# machine: several, see the rows" in claims_csv(two)


def test_claims_follow_the_palette(claims: ClaimsPage) -> None:
    light = claims.browser.toHtml()
    claims.setPalette(theme.palette(Qt.ColorScheme.Dark))
    assert theme.colours(Qt.ColorScheme.Dark).ok.colour.name() in claims.browser.toHtml()
    assert claims.browser.toHtml() != light


def test_no_claims_are_said(qtbot) -> None:
    page = ClaimsPage()
    qtbot.addWidget(page)
    assert page.browser.toPlainText() == "There are no claims to show."


def test_the_shortcut_sheet(qtbot) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    page = ShortcutsPage(build_actions(window))
    qtbot.addWidget(page)
    text = page.browser.toPlainText()
    assert "Ctrl+M" in text and "Measure" in text
    qtbot.mouseClick(page.copy_button, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == text


def test_diagnostics(qtbot) -> None:
    log = Log()
    log.add("engine", "job 1: load a.png")
    page = DiagnosticsPage(log)
    qtbot.addWidget(page)
    doctor = {
        "system": "Linux",
        "memory_bytes": 25276502016,
        "devices": [{"name": "cpu", "available": True, "reason": ""}],
        "nvrtc": {"architectures": ["sm_75", "sm_90"]},
    }
    page.set_doctor(doctor)
    log.add("engine", "job 1: failed: it is broken", "Traceback:\n  in load\n")
    tree = page.findChild(QTreeWidget, "doctor")
    found = {
        i.text(0): i.text(1) for i in tree.findItems("*", Qt.MatchFlag.MatchWildcard | Qt.MatchFlag.MatchRecursive)
    }
    assert found["system"] == "Linux" and found["memory"] == "23.54 GiB" and "name" not in found
    assert found["available"] == "yes" and found["architectures"] == "sm_75, sm_90"
    qtbot.mouseClick(page.copy_button, Qt.MouseButton.LeftButton)
    copied = QGuiApplication.clipboard().text()
    events, _, logged = copied.partition("\n\n")
    assert json.loads(events) == doctor
    assert logged == log.text() + "\n" and len(logged.splitlines()) == 4
