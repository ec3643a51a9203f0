"""Texts that do not fit are cut at the end, and never within a number."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine, make
from hypothesis import example, given
from hypothesis import strategies as st
from live import pause
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QFont, QFontMetrics, QFontMetricsF, QPainter, QPixmap
from PySide6.QtWidgets import QApplication, QStyle, QStyleOptionComboBox, QTableWidget
from result_rows import row
from simulated_rows import bring
from sources import nodes

from app.models.experiment.differences import MINUS, DifferenceOf
from app.views.eliding import DOTS, NUMBER, clauses, elided_sides, elided_text, shortened
from app.views.headers import Header
from app.views.parts import Combo, ElidedLabel, StateChip, draw_tag
from gpu_ops import from_array

APP = Path(__file__).parents[2] / "app"
BARS = "256 bars over value −0.5 … 255.5, 262,144 samples"


def test_one_function_cuts_texts() -> None:
    """Qt's own ways cut numbers."""
    found = []
    for path in APP.rglob("*.py"):
        names = {node.attr for node in nodes(path) if isinstance(node, ast.Attribute)}
        if names & {"elidedText", "setTextElideMode", "ElideMiddle", "ElideLeft"}:
            found.append(path.name)
    assert found == ["eliding.py"]


WORDS = st.sampled_from(
    ["mean", "of", "x", "12", "262,144", "−0.5", "1e-9", "2.43 ms", "3×3", ":", "…", "256", "a1b22"]
)


@example("12 mean 262,144", 103, " ")  # widths of parts are rounded
@given(st.lists(WORDS, max_size=9).map(" ".join), st.integers(0, 400), st.sampled_from(["", ": ", " "]))
def test_no_number_is_cut(qapp: QApplication, text: str, width: int, keep: str) -> None:
    for metrics in (QFontMetrics(QFont()), QFontMetricsF(QFont())):
        shown = elided_text(text, metrics, width, keep)
        assert shown == text or DOTS in shown or shown == ""
        assert metrics.horizontalAdvance(shown) <= max(width, 0)
        whole = [n.group() for n in NUMBER.finditer(text)]
        assert all(n.group() in whole for n in NUMBER.finditer(shown))


def test_what_is_cut_where(qapp: QApplication) -> None:
    assert [shortened("x 262144 px", n) for n in range(12)] == ["…", "x…", "x…", *["x…"] * 5, "x 262144 …"] + [
        "x 262144 …",
        "x 262144 p…",
        "x 262144 px",
    ]
    assert shortened("value 0 … 255 px", 10) == "value 0 …"
    metrics = QFontMetrics(QFont())
    for width in range(metrics.horizontalAdvance(BARS)):
        shown = elided_text(BARS, metrics, width)
        assert shown == "" or (shown.endswith(DOTS) and BARS.startswith(shown.removesuffix(DOTS).rstrip()))
        assert DOTS * 2 not in shown
    reading = "frequency x 0.25, frequency y 0.125 1/px: 12.5"
    shown = elided_text(reading, metrics, metrics.horizontalAdvance("frequency x 0.…: 12.5"), ": ")
    assert shown == "frequency x…: 12.5", "the value is what one looks for"


def test_labels_and_headers_cut_so(qtbot) -> None:
    label = ElidedLabel("middle 262144")
    qtbot.addWidget(label)
    label.resize(label.fontMetrics().horizontalAdvance("middle 2621…") + 2, 20)
    assert label.shown_text() == "middle…"
    table = QTableWidget(1, 1)
    qtbot.addWidget(table)
    header = Header(Qt.Orientation.Horizontal, table)
    table.setHorizontalHeader(header)
    table.setHorizontalHeaderLabels(["channel 12345"])
    from PySide6.QtWidgets import QStyleOptionHeader

    seen = []
    for width in (400, header.fontMetrics().horizontalAdvance("channel 12…") + 8):
        table.setColumnWidth(0, width)
        option = QStyleOptionHeader()
        header.initStyleOption(option)
        header.initStyleOptionForIndex(option, 0)
        seen.append(option.text)
    assert seen == ["channel 12345", "channel…"]


@pytest.mark.parametrize("length", [10, 239, 500])
def test_a_message_ends_with_whole_numbers(length: int) -> None:
    text = "9" * length
    assert shortened(text, 238) == (text if length <= 238 else DOTS)


def test_a_drop_down_cuts_its_entry_with_dots(qtbot: Any) -> None:
    """What is painted of a long name in a narrow drop-down is what a short name with … paints."""
    long, narrow = Combo(), Combo()
    for combo in (long, narrow):
        qtbot.addWidget(combo)
        combo.resize(180, combo.sizeHint().height())
    long.addItem("NVIDIA H100 80GB HBM3 on node-17 cuda:3 and more")
    narrow.addItem(next(t for k in range(48, 0, -1) if fits(t := shortened(long.itemText(0), k), narrow)))
    assert DOTS in narrow.itemText(0) and long.grab().toImage() == narrow.grab().toImage()


def fits(text: str, combo: Combo) -> bool:
    option = QStyleOptionComboBox()
    combo.initStyleOption(option)
    control, field = QStyle.ComplexControl.CC_ComboBox, QStyle.SubControl.SC_ComboBoxEditField
    return (
        combo.fontMetrics().horizontalAdvance(text) <= combo.style().subControlRect(control, option, field).width() - 2
    )


def test_every_drop_down_is_one_that_cuts_with_dots() -> None:
    found = [path.name for path in APP.rglob("*.py") if re.search(r"\bQComboBox\(", path.read_text())]
    assert [name for name in found if name != "parts.py"] == []


def test_both_sides_of_a_difference_are_cut_alike(qapp: QApplication) -> None:
    metrics, between = QFontMetrics(QFont()), " − "
    text = "rule universal of all − soft threshold of all"
    whole = metrics.horizontalAdvance(text)
    for width in range(whole + 2):
        shown = elided_sides(text, metrics, width, between)
        assert metrics.horizontalAdvance(shown) <= width and (shown == text) == (width >= whole)
        if width > whole / 2:
            one, other = shown.split(between)
            assert abs(metrics.horizontalAdvance(one) - metrics.horizontalAdvance(other)) < whole / 8
    narrow = elided_sides(
        "camera − window 15 of all cores", metrics, metrics.horizontalAdvance("camera − window…"), between
    )
    assert narrow.startswith("camera − w") and narrow.endswith(DOTS), "a short one stays whole"
    room = metrics.horizontalAdvance("window 15 of all… − mean")
    narrow = elided_sides("window 15 of all cores − mean", metrics, room, between)
    assert narrow.startswith("window 15 of") and narrow.endswith("… − mean"), "what it leaves is for the other"
    assert elided_sides("camera", metrics, whole, between) == "camera"


def test_a_caption_becomes_shorter_in_words_before_it_is_cut(qtbot) -> None:
    label = ElidedLabel()
    qtbot.addWidget(label)
    texts = ("512 × 512, uint8, zoom 34.4 %", "512 × 512, zoom 34.4 %", "512 × 512")  # noqa: RUF001
    label.set_texts(*texts)
    wide = label.fontMetrics().horizontalAdvance
    shown = []
    for width in range(wide(texts[0]) + 5, 20, -1):
        label.resize(width, 20)
        shown.append(label.shown_text())
    assert list(dict.fromkeys(shown))[:3] == list(texts)
    assert not any(cuts_a_number(text, label.text()) for text in shown)
    label.setText("another one, uint8, zoom 34.4 %")
    assert label.shown_text().endswith("…"), "shorter texts are of the text before"
    assert clauses("256 bars over value 0 … 256, 262144 samples") == (
        "256 bars over value 0 … 256, 262144 samples",
        "256 bars over value 0 … 256",
    )


def cuts_a_number(shown: str, text: str) -> bool:
    """Whether a text that was cut ends within one of the numbers of the whole."""
    kept = shown.rstrip(" …")
    if shown == text or not text.startswith(kept):
        return False
    return any(n.start() < len(kept) < n.end() for n in NUMBER.finditer(text))


def test_a_verdict_leaves_its_symbol_where_the_word_has_no_room(qtbot) -> None:
    chip = StateChip()
    qtbot.addWidget(chip)
    chip.show_state("stale", "of window 15")
    wide = chip.fontMetrics().horizontalAdvance
    shown = [chip.shown_text(room) for room in range(wide(chip.text), 10, -1)]
    assert list(dict.fromkeys(shown))[0] == "↻ stale · of window 15" and shown[-1] == "↻"
    assert "↻ stale" in shown and not any(text.startswith("↻ st…") or "1…" in text for text in shown)


SIZES = {"small": (900, 600, False), "wide": (1280, 720, False), "presenter": (1280, 720, True)}


@pytest.mark.parametrize("size", SIZES)
def test_no_number_is_cut_in_any_pane(qtbot, size: str) -> None:
    engine, (width, height, presenter) = FakeEngine(), SIZES[size]
    window = make(qtbot, engine)
    engine.show(from_array(np.add.outer(np.arange(512), np.arange(512)).astype(np.uint8)))
    session = window.controller.session
    session.set_picks(("serial", "parallel"))
    for variant in ("serial", "parallel"):
        bring(window, engine, row(variant, "cpu", 1.234567e-3), np.full((512, 512), 7, np.uint8))
    session.keep_difference(DifferenceOf("serial", "parallel"))
    window.context.look.set_presenter(presenter)
    window.resize(width, height)
    pause()
    labels = [label for label in window.findChildren(ElidedLabel) if label.isVisible() and label.text()]
    assert len(labels) > 3
    bad = {label.text(): label.shown_text() for label in labels if cuts_a_number(label.shown_text(), label.text())}
    assert not bad
    captions = [label.shown_text() for label in labels if label.objectName() == "tileStatus"]
    assert not any("…" in text for text in captions), captions
    window.context.look.set_presenter(False)


def test_a_difference_over_a_picture_keeps_both_names(qtbot) -> None:
    """As in its title: "a very lo… − a very l…"."""
    drawn: list[str] = []
    picture = QPixmap(200, 40)
    painter = QPainter(picture)

    class Watch:
        """The painter, which notes what it writes."""

        def __getattr__(self, name: str) -> object:
            return getattr(painter, name)

        def drawText(self, *given: object) -> None:  # noqa: N802
            drawn.append(str(given[-1]))

    try:
        for text in (
            "a very long name of a picture − another long name",
            "a very long line without a difference in it",
        ):
            draw_tag(Watch(), QPointF(), text, 200, between=MINUS)  # type: ignore[arg-type]
    finally:
        painter.end()
    one, _, other = drawn[0].partition(MINUS)
    assert one.startswith("a very") and other.startswith("anot") and other.endswith("…")
    assert drawn[1].startswith("a very long") and drawn[1].endswith("…")
