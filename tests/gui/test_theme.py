"""Colours that can be read, in both schemes."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication, QStyle, QStyleOptionButton

from app.base import icons, theme
from app.views.parts import TickBox
from app.views.results.choice_button import ChoiceButton

LIGHT, DARK = Qt.ColorScheme.Light, Qt.ColorScheme.Dark
Role = QPalette.ColorRole
PAIRS = [
    (Role.WindowText, Role.Window),
    (Role.Text, Role.Base),
    (Role.Text, Role.AlternateBase),
    (Role.ButtonText, Role.Button),
    (Role.PlaceholderText, Role.Base),
    (Role.HighlightedText, Role.Highlight),
    (Role.ToolTipText, Role.ToolTipBase),
    (Role.Link, Role.Base),
]


def test_contrast_is_as_wcag_defines_it() -> None:
    black, white = QColor("black"), QColor("white")
    assert theme.contrast(black, white) == pytest.approx(21)
    assert theme.contrast(white, white) == pytest.approx(1)
    assert theme.contrast(QColor("#777777"), white) == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("scheme", [LIGHT, DARK])
@pytest.mark.parametrize("text, ground", PAIRS)
def test_text_stands_out(scheme: Qt.ColorScheme, text: Role, ground: Role) -> None:
    palette = theme.palette(scheme)
    assert theme.contrast(palette.color(text), palette.color(ground)) >= 4.5


@pytest.mark.parametrize("scheme", [LIGHT, DARK])
def test_words_and_shapes_stand_out(scheme: Qt.ColorScheme) -> None:
    palette, colours = theme.palette(scheme), theme.colours(scheme)
    for ground in (palette.color(Role.Base), palette.color(Role.Window)):
        words = [colours.ok, colours.warn, colours.error, colours.info, colours.stale, colours.recorded]
        for role in [*words, colours.simulated]:
            assert theme.contrast(role.colour, ground) >= 4.5
        for shape in [s.colour for s in colours.series] + [colours.cpu, colours.kernel, colours.upload]:
            assert theme.contrast(shape, ground) >= 3


def test_colour_is_never_alone() -> None:
    colours = theme.colours(LIGHT)
    assert len({(s.dash, s.hatch) for s in colours.series}) == len(colours.series) == 8
    assert len({s.hatch for s in colours.series}) == 8
    roles = (colours.ok, colours.warn, colours.error, colours.info, colours.stale, colours.recorded, colours.simulated)
    assert len({r.symbol for r in roles}) == len(roles)


def test_an_unknown_scheme_is_light() -> None:
    assert theme.palette(Qt.ColorScheme.Unknown) == theme.palette(LIGHT)
    assert theme.palette(DARK) != theme.palette(LIGHT)


def test_apply_sets_style_palette_and_font(qapp: QApplication, plain_look: None) -> None:
    theme.apply(qapp, LIGHT)
    plain = qapp.font().pointSizeF()
    theme.apply(qapp, DARK, presenter=True)
    assert qapp.style().objectName() == "fusion"
    assert qapp.palette().color(Role.Window) == theme.palette(DARK).color(Role.Window)
    assert qapp.font().pointSizeF() == pytest.approx(1.6 * plain)
    theme.apply(qapp, DARK, presenter=True)
    assert qapp.font().pointSizeF() == pytest.approx(1.6 * plain)
    theme.apply(qapp, LIGHT)
    assert qapp.font().pointSizeF() == pytest.approx(plain)


@pytest.mark.parametrize("scheme", [LIGHT, DARK])
def test_the_chosen_one_of_several_buttons_stands_out(qapp: QApplication, qtbot, plain_look: None, scheme) -> None:
    theme.apply(qapp, scheme)
    chosen = theme.chosen(qapp.palette())
    assert theme.contrast(chosen.color(Role.Button), chosen.color(Role.ButtonText)) >= 4.5
    button = ChoiceButton()
    qtbot.addWidget(button)
    button.setText("swipe")

    def ground() -> QColor:
        image = button.grab().toImage()
        return image.pixelColor(button.width() // 2, 4)  # above the letters

    other = ground()
    button.setChecked(True)
    for ground_of in (other, theme.palette(scheme).color(Role.Window)):
        assert theme.contrast(ground(), ground_of) >= 3
    assert theme.contrast(ground(), chosen.color(Role.ButtonText)) >= 4.5


@pytest.mark.parametrize("scheme", [LIGHT, DARK])
def test_tick_boxes_grow_with_the_letters(qapp: QApplication, qtbot, plain_look: None, scheme) -> None:
    box = TickBox("tick")
    qtbot.addWidget(box)

    def size() -> int:
        qapp.processEvents()
        option = QStyleOptionButton()
        box.initStyleOption(option)
        found = box.style().subElementRect(QStyle.SubElement.SE_CheckBoxIndicator, option, box)
        assert found.width() == found.height() <= box.sizeHint().height()
        return found.width()

    theme.apply(qapp, scheme)
    plain = size()
    theme.apply(qapp, scheme, presenter=True)
    assert size() > 1.25 * plain


def test_the_scheme_is_told_at_once_and_when_it_changes(qapp: QApplication) -> None:
    events: list[Qt.ColorScheme] = []
    theme.connect_scheme(qapp, events.append)
    assert events == [qapp.styleHints().colorScheme()]
    qapp.styleHints().colorSchemeChanged.emit(DARK)
    assert events[-1] == DARK
    qapp.styleHints().colorSchemeChanged.disconnect(events.append)


def test_the_program_has_an_icon_of_its_own(qapp: QApplication) -> None:
    image = icons.program_icon().pixmap(64, 64).toImage()
    colours = {image.pixelColor(x, y).name() for x in range(64) for y in range(64)}
    assert {"#10243e", "#2f6ea8", "#f2b134"} <= colours and image.pixelColor(0, 0).alpha() == 0


@pytest.mark.parametrize("name", icons.names())
def test_icons_take_the_palettes_colour(qapp: QApplication, name: str) -> None:
    source = (icons.FOLDER / f"{name}.svg").read_text()
    assert "currentColor" in source and 'viewBox="0 0 24 24"' in source
    palette = theme.palette(DARK)
    image = icons.icon(name, palette).pixmap(48, 48).toImage()
    inks = {
        image.pixelColor(x, y).name()
        for x in range(image.width())
        for y in range(image.height())
        if image.pixelColor(x, y).alpha() == 255
    }
    assert inks == {palette.color(Role.ButtonText).name()}
