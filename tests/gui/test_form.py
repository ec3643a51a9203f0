"""A form made from parameters, used as a person would."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QLocale, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QStyle, QStyleOptionSlider

from app.models.number_input import parse_number
from app.views.experiment.editors import ChoiceEditor, GridEditor, IntEditor, float_stops, slider_stops
from app.views.experiment.form import ParameterForm
from gpu_ops import KernelscopeError
from gpu_ops.params import Param

WINDOW = Param("window", 3, 1, 51, 2, help="Side of the window")
LENGTH = Param("length", 4096, 1, 100_000_000, unit="samples")
SIGMA = Param("sigma", 1.5, 0.1, 20.0, unit="px")
BORDER = Param("border", "reflect", choices=("zero", "reflect", "wrap"))
ON = Param("normalise", True)
SIZE = Param("size", "512x512")
KERNEL = Param("kernel", (0.0, -1.0, 0.0, -1.0, 5.0, -1.0, 0.0, -1.0, 0.0))
TYPED = (
    *(
        ("2.5", None, 2.5),
        ("2,5", None, 2.5),
        ("1e3", 1000, None),
        (" 7 ", 7, 7.0),
        ("6.0", 6, 6.0),
        ("-3", None, None),
    ),
    *(("", None, None), ("2x5", None, None), ("2 5", None, None), ("1_0", None, None), ("1e99", None, None)),
    ("1 000", 1000, None),
)
"""What is typed, and what it is for LENGTH and for SIGMA; None for refused."""
ALL = (WINDOW, LENGTH, SIGMA, BORDER, ON, SIZE, KERNEL)


@pytest.fixture
def form(qtbot):
    QLocale.setDefault(QLocale.c())
    form = ParameterForm(ALL)
    qtbot.addWidget(form)
    form.events = []
    form.changed.connect(form.events.append)
    with qtbot.waitActive(form):
        form.show()
        form.activateWindow()
    return form


def type_into(qtbot, box: Any, text: str, key: Qt.Key = Qt.Key.Key_Return) -> None:
    box.setFocus()
    box.selectAll()
    qtbot.keyClicks(box, text)
    qtbot.keyClick(box, key)


def test_it_starts_with_the_defaults_and_says_nothing(form) -> None:
    assert form.values() == {p.name: p.default for p in ALL}
    assert form.events == []


def test_kinds_have_their_editors(form) -> None:
    assert isinstance(form.editor("window"), IntEditor)
    assert isinstance(form.editor("border"), ChoiceEditor)
    assert isinstance(form.editor("kernel"), GridEditor)
    assert len(form.editor("kernel").spins) == 9
    assert form.editor("length").spin.suffix() == " samples"
    assert form.editor("window").toolTip() == "Side of the window"


def test_labels_have_buddies_mnemonics_and_controls_have_names(form) -> None:
    labels = [label for label in form.findChildren(QLabel) if label.buddy()]
    keys = [label.text()[label.text().index("&") + 1].lower() for label in labels]
    assert len(labels) == len(ALL) == len(set(keys))
    for label in labels:
        assert label.buddy().accessibleName().startswith(label.text().replace("&", "")[:4])


def test_arrow_keys_step_over_odd_values_only(form, qtbot) -> None:
    spin = form.editor("window").spin
    qtbot.keyClick(spin, Qt.Key.Key_Up)
    qtbot.keyClick(spin, Qt.Key.Key_Up)
    assert form.values()["window"] == 7
    for _ in range(10):
        qtbot.keyClick(spin, Qt.Key.Key_Down)
    assert form.values()["window"] == 1
    assert [t["window"] for t in form.events] == [5, 7, 5, 3, 1]


@pytest.mark.parametrize("text", ["4", "999", "0"])
def test_a_bad_number_keeps_the_last_good_one_and_says_why(form, qtbot, text: str) -> None:
    type_into(qtbot, form.editor("window").spin, text)
    assert form.values()["window"] == 3 and form.events == []
    assert form.editor("window").spin.value() == 3
    assert f"window must be an integer from 1 to 51 in steps of 2, not {text}" in form.reason("window")
    assert form.findChild(QLabel, "reason.window").isVisible()
    type_into(qtbot, form.editor("window").spin, "9")
    assert form.reason("window") == "" and form.values()["window"] == 9


@pytest.mark.parametrize("language", [QLocale.Language.English, QLocale.Language.German, QLocale.Language.French])
def test_a_number_is_read_as_it_was_typed_or_refused_with_a_word(qtbot, language: QLocale.Language) -> None:
    QLocale.setDefault(QLocale(language))
    try:
        form = ParameterForm([LENGTH, SIGMA])
        qtbot.addWidget(form)
        with qtbot.waitActive(form):
            form.show()
            form.activateWindow()
        for text, *expected in TYPED:
            for name, value in zip(("length", "sigma"), expected, strict=True):
                before, box = form.values()[name], form.editor(name).spin
                type_into(qtbot, box, text or "\b")
                assert form.values()[name] == (before if value is None else value), (text, name)
                assert box.value() == form.values()[name], (text, name)
                assert bool(form.reason(name)) == (value is None), (text, form.reason(name))
    finally:
        QLocale.setDefault(QLocale.c())


def test_groups_of_digits_are_not_guessed() -> None:
    english, german = QLocale(QLocale.Language.English), QLocale(QLocale.Language.German)
    assert parse_number("1,000", english) is None and parse_number("1.000", german) is None
    assert parse_number("1.000", english) == 1.0 and parse_number("1,000", german) == 1.0
    assert parse_number("1,234.5", english) is None and parse_number("−2,25", german) == -2.25


def test_typing_is_told_once_when_it_is_finished(form, qtbot) -> None:
    type_into(qtbot, form.editor("length").spin, "65536")
    assert [t["length"] for t in form.events] == [65536]


def test_floats_read_exponents_and_check_limits(form, qtbot) -> None:
    spin = form.editor("sigma").spin
    type_into(qtbot, spin, "2.5e0")
    assert form.values()["sigma"] == 2.5
    type_into(qtbot, spin, "21")
    assert form.values()["sigma"] == 2.5 and "from 0.1 to 20" in form.reason("sigma")
    assert spin.text() == "2.5 px"


def test_floats_follow_the_locale(qtbot) -> None:
    QLocale.setDefault(QLocale(QLocale.Language.German))
    try:
        form = ParameterForm((SIGMA,))
        qtbot.addWidget(form)
        form.show()
        assert form.editor("sigma").spin.text() == "1,5 px"
        type_into(qtbot, form.editor("sigma").spin, "2,25")
        assert form.values()["sigma"] == 2.25
    finally:
        QLocale.setDefault(QLocale.c())


def test_choices_boxes_and_text(form, qtbot) -> None:
    qtbot.keyClick(form.editor("border").combo, Qt.Key.Key_Down)
    qtbot.keyClick(form.editor("normalise").box, Qt.Key.Key_Space)
    type_into(qtbot, form.editor("size").line, "64x64")
    last = form.events[-1]
    assert (last["border"], last["normalise"], last["size"]) == ("wrap", False, "64x64")
    assert len(form.events) == 3


def test_a_grid_gives_a_tuple(form, qtbot) -> None:
    type_into(qtbot, form.editor("kernel").spins[4], "9")
    assert form.events[-1]["kernel"] == (0, -1, 0, -1, 9, -1, 0, -1, 0)


def test_a_moving_slider_is_throttled_and_its_last_value_kept(form, qtbot) -> None:
    slider = form.editor("window").slider
    QApplication.processEvents()  # the form has its final layout then
    option = QStyleOptionSlider()
    slider.initStyleOption(option)
    handle = slider.style().subControlRect(
        QStyle.ComplexControl.CC_Slider, option, QStyle.SubControl.SC_SliderHandle, slider
    )
    start = handle.center()
    qtbot.mousePress(slider, Qt.MouseButton.LeftButton, pos=start)
    for step in range(1, 60):
        qtbot.mouseMove(slider, QPoint(start.x() + 2 * step, start.y()))
    assert slider.isSliderDown()
    shown = form.editor("window").spin.value()
    assert shown > 3 and shown % 2 == 1
    assert len(form.events) < 20
    qtbot.waitUntil(lambda: bool(form.events) and form.events[-1]["window"] == shown)
    before = len(form.events)
    qtbot.mouseMove(slider, QPoint(start.x() + 10, start.y()))
    qtbot.mouseRelease(slider, Qt.MouseButton.LeftButton, pos=QPoint(start.x() + 10, start.y()))
    assert len(form.events) == before + 1, "letting go is a commit, reported at once"
    assert form.events[-1]["window"] == form.editor("window").spin.value() != shown


def test_a_slider_moved_by_keys_is_told_at_once(form, qtbot) -> None:
    qtbot.keyClick(form.editor("window").slider, Qt.Key.Key_End)
    assert [t["window"] for t in form.events] == [51]


def test_wide_ranges_move_by_ratio_and_every_stop_is_allowed() -> None:
    stops = slider_stops(LENGTH)
    assert stops[0] == 1 and stops[-1] == 100_000_000 and len(stops) > 100
    assert 5_000 < stops[len(stops) // 2] < 50_000
    assert slider_stops(WINDOW) == list(range(1, 52, 2))
    odd = Param("w", 1, 1, 4097, 2)
    assert all(odd.check(v) == v for v in slider_stops(odd))
    assert slider_stops(Param("seed", 0, 0, 10**6))[:3] == [0, 1, 2]
    assert slider_stops(Param("free", 1)) == []


def test_setting_values_gives_no_signal(form) -> None:
    form.set_values({"window": 11, "border": "zero", "kernel": [1] * 9, "other": 5})
    assert form.values()["window"] == 11 and form.values()["kernel"] == (1.0,) * 9
    assert form.editor("window").spin.value() == 11 and form.editor("window").slider.value() == 5
    assert form.events == []
    with pytest.raises(KernelscopeError, match="window must be"):
        form.set_values({"border": "wrap", "window": 12})
    assert form.values()["border"] == "zero"


def test_reset_gives_every_default_in_one_signal(form, qtbot) -> None:
    form.set_values({"window": 11, "size": "8x8"})
    type_into(qtbot, form.editor("window").spin, "4")
    qtbot.mouseClick(form.reset_button, Qt.MouseButton.LeftButton)
    assert form.events == [{p.name: p.default for p in ALL}]
    assert form.reason("window") == "" and form.editor("size").line.text() == "512x512"


def test_a_parameter_is_seen_while_it_matters(qtbot) -> None:
    params = (
        Param("rule", "universal", choices=("universal", "manual")),
        Param("threshold", 1.0, 0.0, 9.0, when={"rule": ("manual",)}),
    )
    form = ParameterForm(params)
    qtbot.addWidget(form)
    form.show()
    assert not form.editor("threshold").isVisible()
    rule = form.editor("rule").control()
    rule.setFocus()
    QTest.keyClick(rule, Qt.Key.Key_Down)
    assert form.values()["rule"] == "manual" and form.editor("threshold").isVisible()
    form.set_values({"rule": "universal"})
    assert not form.editor("threshold").isVisible()


@pytest.mark.parametrize(
    ("start", "high", "steps", "end"),
    [(0.2, 0.7071, 1, 0.205), (0.2, 0.7071, 200, 0.7071), (0.0, 1e9, 1, 0.1), (25.0, 1e9, -2, 23.0)],
)
def test_arrow_keys_step_numbers_by_what_suits_their_range(
    qtbot, start: float, high: float, steps: int, end: float
) -> None:
    form = ParameterForm((Param("radius", start, 0.0, high),))
    qtbot.addWidget(form)
    spin = form.editor("radius").control()
    for _ in range(abs(steps)):
        QTest.keyClick(spin, Qt.Key.Key_Up if steps > 0 else Qt.Key.Key_Down)
    assert form.values()["radius"] == pytest.approx(end)


@pytest.mark.parametrize(
    ("low", "high", "stops", "some"),
    [
        (-360.0, 360.0, 145, (-360.0, 90.0, 360.0)),
        (0.0, 0.7071, 143, (0.0, 0.05, 0.7071)),
        (0.001, 1000.0, 121, (0.001, 0.5, 1.0, 1000.0)),
        (0.0, 1e30, 0, ()),
        (1e-6, 1e12, 0, ()),
    ],
)
def test_a_number_with_limits_has_a_slider_of_round_values(
    low: float, high: float, stops: int, some: tuple[float, ...]
) -> None:
    found = float_stops(Param("x", low, low, high))
    assert len(found) == stops and found == sorted(found)
    assert all(min(abs(v - wanted) for v in found) <= abs(wanted) * 0.03 for wanted in some)


def test_the_slider_of_a_number_follows_it_and_sets_it(form, qtbot) -> None:
    field = form.editor("sigma")
    type_into(qtbot, field.spin, "2.53")
    assert field.slider.value() == 24 and form.values()["sigma"] == 2.53, "the slider takes nothing away"
    qtbot.keyClick(field.slider, Qt.Key.Key_Right)
    assert form.values()["sigma"] == 2.6 and field.spin.text() == "2.6 px"
    qtbot.keyClick(field.slider, Qt.Key.Key_End)
    assert form.values()["sigma"] == 20.0
