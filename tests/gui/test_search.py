"""What somebody types finds filters, presets, samples and variants; where nothing fits, it says so."""

from __future__ import annotations

import numpy as np
import pytest
from fake_engine import FakeEngine, act, make
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QToolTip

from app.models.search import fit, matches
from app.views.experiment.search_combo import SearchCombo
from gpu_ops import from_array


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def window(qtbot, engine):
    window = make(qtbot, engine)
    engine.show(from_array(np.eye(9, dtype=np.uint8)))
    with qtbot.waitActive(window):
        window.activateWindow()
    yield window
    engine.end()
    window.controller.cancel()


def typed(qtbot, window, text: str) -> list[str]:
    act(window, "palette")
    window.parts.palette.line.clear()
    qtbot.keyClicks(window.parts.palette.line, text)
    return window.parts.palette.texts()


def test_names_come_before_other_words_and_order_is_kept() -> None:
    things = [("Sobox", ""), ("Toolbox", ""), ("Filter: Box", ""), ("Other", "a box"), ("Box blur", ""), ("x", "abox")]
    best = [name for name, _ in matches("box", things, lambda t: t[0], lambda t: t[1])]
    assert best == ["Filter: Box", "Box blur", "Sobox", "Toolbox", "Other", "x"]
    assert fit("blur box", "Box blur") is not None and fit("box", "Mean", "a pixel") is None and fit("", "Mean") == 1


def test_the_palette_finds_filters_presets_and_samples(qtbot, window) -> None:
    session = window.controller.session
    assert typed(qtbot, window, "box")[0] == "Filter: Box"
    qtbot.keyClick(window.parts.palette.line, Qt.Key.Key_Return)
    assert session.filter.id == "box"
    presets = typed(qtbot, window, "sobel")
    assert all("sobel" in name for name in presets[:2]) and presets[-1] == "Filter: Convolution 3×3"
    qtbot.keyClick(window.parts.palette.line, Qt.Key.Key_Return)
    preset = session.filter.preset(presets[0].partition(": ")[2])
    assert session.filter.id == "conv3x3" and preset.items() <= dict(session.choice.params).items()
    live, sample = typed(qtbot, window, "camera")[:2]
    assert live == "Live input…", "by its explanation"
    assert sample.startswith("Open sample: "), "by its id, not its title"
    assert "Filter: Mean (signal)" not in typed(qtbot, window, "filter mean")
    palette = window.parts.palette.list
    lines = [palette.topLevelItem(place).text(0) for place in range(palette.topLevelItemCount())]
    assert lines[0] == "Filter: Mean (image)" and "Filter: Mean (signal) (needs a signal)" in lines


def test_the_palette_says_that_there_is_nothing(qtbot, window) -> None:
    assert typed(qtbot, window, "fourier zebra") == []
    said = window.parts.palette.list.topLevelItem(0)
    assert said.text(0) == "Nothing matches “fourier zebra”." and said.flags() == Qt.ItemFlag.NoItemFlags
    qtbot.keyClick(window.parts.palette.line, Qt.Key.Key_Return)
    assert window.parts.palette.isVisible()


def test_letters_find_a_filter_in_its_chooser(qtbot, window, monkeypatch) -> None:
    combo, session = window.panel.filters, window.controller.session
    assert isinstance(combo, SearchCombo)
    notes: list[str] = []
    monkeypatch.setattr(QToolTip, "showText", lambda _where, text, *_: notes.append(text))
    chosen: list[int] = []
    combo.activated.connect(chosen.append)
    combo._pause.setInterval(20)
    combo.setFocus()
    for text, id in (("sobel", "conv3x3"), ("box", "box"), ("Mean (i", "mean2d")):
        qtbot.keyClicks(combo, text)
        qtbot.waitUntil(lambda id=id: session.filter.id == id)
    assert len(chosen) == 3 and notes == [], "letters before the last choose nothing"
    qtbot.keyClicks(combo, "zebra")
    qtbot.waitUntil(lambda: notes == ["Nothing matches “zebra”."])
    assert session.filter.id == "mean2d"


def test_letters_find_a_variant(qtbot, window) -> None:
    variants, session = window.panel.variants, window.controller.session
    session.set_filter("box")
    act(window, "find_variant")
    line = variants.finder.line
    assert QApplication.focusWidget() is line
    qtbot.keyClicks(line, "shared")
    shown = [v.id for v in session.filter.variants if variants.row(v.id).isVisible()]
    assert 0 < len(shown) < len(session.filter.variants) and all("shared" in _row_text(session, id) for id in shown)
    line.setText("zebra")
    nothing = variants.finder.findChild(QLabel, "nothing")
    assert nothing.isVisible() and nothing.text() == "Nothing matches “zebra”."
    qtbot.keyClick(line, Qt.Key.Key_Escape)
    assert not variants.finder.isVisible()
    assert all(variants.row(v.id).isVisible() for v in session.filter.variants)


def _row_text(session, id: str) -> str:
    variant = session.filter.variant(id)
    return f"{variant.id} {variant.title} {variant.idea}".casefold()
