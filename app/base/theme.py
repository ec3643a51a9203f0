"""Colours, patterns, symbols and sizes, as pure functions of the colour scheme.

Views ask `colours_of(self.palette())` while they paint, so a new palette is all it takes to change the scheme.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontDatabase, QFontMetrics, QGuiApplication, QPainter, QPalette, QPen
from PySide6.QtWidgets import QAbstractButton, QApplication, QProxyStyle, QStyle, QStyleOption, QWidget

from app.base.letter_sizes import LetterSizes

Scheme = Qt.ColorScheme
PRESENTER = 1.6
"""The factor of the font size for presentations."""

LIGHTER, DARKER = 148, 112
"""Per cent: the most that Fusion lightens a button's colour, and the amount that it darkens that of a checked button or
a tab."""
TINT = 0.12
"""The share of its colour in the background of a tinted element."""

TEXT_CONTRAST = 4.5
SHAPE_CONTRAST = 3.0

_OKABE_ITO = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#f0e442", "#000000")
_DASHES = (
    Qt.PenStyle.SolidLine,
    Qt.PenStyle.DashLine,
    Qt.PenStyle.DotLine,
    Qt.PenStyle.DashDotLine,
    Qt.PenStyle.DashDotDotLine,
    Qt.PenStyle.DashLine,
    Qt.PenStyle.DotLine,
    Qt.PenStyle.DashDotLine,
)
_HATCHES = (
    Qt.BrushStyle.SolidPattern,
    Qt.BrushStyle.BDiagPattern,
    Qt.BrushStyle.Dense4Pattern,
    Qt.BrushStyle.FDiagPattern,
    Qt.BrushStyle.HorPattern,
    Qt.BrushStyle.VerPattern,
    Qt.BrushStyle.CrossPattern,
    Qt.BrushStyle.DiagCrossPattern,
)
_LIGHT = {
    QPalette.ColorRole.Window: "#f4f5f7",
    QPalette.ColorRole.WindowText: "#1b1f24",
    QPalette.ColorRole.Base: "#ffffff",
    QPalette.ColorRole.AlternateBase: "#f0f2f5",
    QPalette.ColorRole.Text: "#1b1f24",
    QPalette.ColorRole.PlaceholderText: "#5f6771",
    QPalette.ColorRole.Button: "#e9ebee",
    QPalette.ColorRole.ButtonText: "#1b1f24",
    QPalette.ColorRole.BrightText: "#b3261e",
    QPalette.ColorRole.Highlight: "#005a9e",
    QPalette.ColorRole.HighlightedText: "#ffffff",
    QPalette.ColorRole.Link: "#005a9e",
    QPalette.ColorRole.LinkVisited: "#6b3fa0",
    QPalette.ColorRole.ToolTipBase: "#ffffff",
    QPalette.ColorRole.ToolTipText: "#1b1f24",
    QPalette.ColorRole.Light: "#ffffff",
    QPalette.ColorRole.Midlight: "#e2e5e9",
    QPalette.ColorRole.Mid: "#b7bdc5",
    QPalette.ColorRole.Dark: "#8a929c",
    QPalette.ColorRole.Shadow: "#50565e",
}
_DARK = {
    QPalette.ColorRole.Window: "#2a2f35",
    QPalette.ColorRole.WindowText: "#e8eaed",
    QPalette.ColorRole.Base: "#191c20",
    QPalette.ColorRole.AlternateBase: "#22262c",
    QPalette.ColorRole.Text: "#e8eaed",
    QPalette.ColorRole.PlaceholderText: "#a0a8b2",
    QPalette.ColorRole.Button: "#30363d",
    QPalette.ColorRole.ButtonText: "#e8eaed",
    QPalette.ColorRole.BrightText: "#ff8a80",
    QPalette.ColorRole.Highlight: "#275f97",
    QPalette.ColorRole.HighlightedText: "#ffffff",
    QPalette.ColorRole.Link: "#7cc0f5",
    QPalette.ColorRole.LinkVisited: "#c6a5f0",
    QPalette.ColorRole.ToolTipBase: "#30353c",
    QPalette.ColorRole.ToolTipText: "#e8eaed",
    QPalette.ColorRole.Light: "#454c55",
    QPalette.ColorRole.Midlight: "#3b4149",
    QPalette.ColorRole.Mid: "#4a525c",
    QPalette.ColorRole.Dark: "#14171a",
    QPalette.ColorRole.Shadow: "#0c0e10",
}
GROUNDS = QColor(_LIGHT[QPalette.ColorRole.Base]), QColor(_DARK[QPalette.ColorRole.Base])
"""The backgrounds of plots, light and dark."""


@dataclass(frozen=True)
class Series:
    """The look of one of several curves or bars: both colour and pattern distinguish it."""

    colour: QColor
    dash: Qt.PenStyle
    hatch: Qt.BrushStyle


@dataclass(frozen=True)
class Role:
    """The look of a meaning: the symbol is clear even without the colour."""

    colour: QColor
    symbol: str


@dataclass(frozen=True)
class Colours:
    """All colours that views paint with, in addition to the palette."""

    series: tuple[Series, ...]
    ok: Role
    warn: Role
    error: Role
    info: Role
    stale: Role
    recorded: Role
    simulated: Role
    muted: QColor
    grid: QColor
    cpu: QColor
    kernel: QColor
    upload: QColor
    download: QColor
    inside: QColor


def luminance(colour: QColor) -> float:
    """Relative luminance as WCAG 2 defines it."""
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (colour.redF(), colour.greenF(), colour.blueF())
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: QColor, b: QColor) -> float:
    """Contrast ratio as WCAG 2 defines it, from 1 to 21."""
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def mix(a: QColor, b: QColor, share: float) -> QColor:
    """The colour `share` of the way from a to b."""
    pairs = ((a.red(), b.red()), (a.green(), b.green()), (a.blue(), b.blue()))
    return QColor(*(round(x + (y - x) * share) for x, y in pairs))


def readable(colour: QColor, grounds: tuple[QColor, ...], ratio: float, tinted: bool = False) -> QColor:
    """The colour, moved towards black or white until its contrast to every background reaches `ratio`; if `tinted`,
    also to the first background mixed with TINT of the colour itself."""
    dark_ground = luminance(grounds[0]) < 0.2
    target = QColor(Qt.GlobalColor.white if dark_ground else Qt.GlobalColor.black)
    for step in range(51):
        candidate = mix(colour, target, step / 50)
        own = (mix(grounds[0], candidate, TINT),) if tinted else ()
        if min(contrast(candidate, g) for g in (*grounds, *own)) >= ratio:
            return candidate
    return target


def is_dark(scheme: Scheme) -> bool:
    """An unknown scheme counts as light."""
    return scheme == Scheme.Dark


def palette(scheme: Scheme) -> QPalette:
    """The palette of a scheme."""
    roles = _DARK if is_dark(scheme) else _LIGHT
    result = QPalette()
    for role, name in roles.items():
        result.setColor(role, QColor(name))
    window, text = QColor(roles[QPalette.ColorRole.Window]), QColor(roles[QPalette.ColorRole.WindowText])
    inks, disabled = QPalette.ColorRole, QPalette.ColorGroup.Disabled
    # Buttons, headings and tabs are filled a little lighter or darker than their colour.
    plain = (window, *(result.color(ground) for ground in (inks.Base, inks.AlternateBase, inks.Button)))
    grounds = (*plain, *(colour.darker(DARKER) for colour in plain), plain[-1].lighter(LIGHTER))
    faint = readable(mix(window, text, 0.45), grounds, TEXT_CONTRAST)
    for ink in (inks.WindowText, inks.Text, inks.ButtonText, inks.PlaceholderText):
        result.setColor(disabled, ink, faint)
    result.setColor(disabled, inks.Highlight, mix(window, text, 0.2))
    result.setColor(disabled, inks.HighlightedText, text)
    return result


def colours(scheme: Scheme) -> Colours:
    """The colours of a scheme: Okabe and Ito's eight, adjusted only where the background would hide them."""
    return colours_of(palette(scheme))


def colours_of(ground: QPalette) -> Colours:
    """The colours for a palette: its background decides between light and dark."""
    base, window = ground.color(QPalette.ColorRole.Base), ground.color(QPalette.ColorRole.Window)
    text, row = ground.color(QPalette.ColorRole.Text), selected(ground)
    key = tuple(colour.rgb() for colour in (base, window, text, row))
    if key not in _cache:
        _cache[key] = _colours(base, window, text, row)
    return _cache[key]


_cache: dict[tuple[int, ...], Colours] = {}


def selected(ground: QPalette) -> QColor:
    """The background of a selected row whose texts keep their colours."""
    return mix(ground.color(QPalette.ColorRole.Base), ground.color(QPalette.ColorRole.Highlight), TINT)


def _colours(base: QColor, window: QColor, text: QColor, row: QColor) -> Colours:
    grounds = (base, window, row)

    def shape(name: str) -> QColor:
        return readable(QColor(name), grounds, SHAPE_CONTRAST)

    def word(name: str, symbol: str) -> Role:
        return Role(readable(QColor(name), grounds, TEXT_CONTRAST, tinted=True), symbol)

    looks = zip(_OKABE_ITO, _DASHES, _HATCHES, strict=True)
    return Colours(
        series=tuple(Series(shape(name), dash, hatch) for name, dash, hatch in looks),
        ok=word("#00795a", "✓"),
        warn=word("#9a5b00", "▲"),
        error=word("#c0310c", "✗"),
        info=word("#0072b2", "●"),
        stale=word("#6b727b", "◌"),
        recorded=word("#7a4f9e", "◉"),
        simulated=word("#006d77", "≈"),
        muted=readable(mix(text, base, 0.4), grounds, TEXT_CONTRAST),
        grid=mix(base, text, 0.14),
        cpu=shape("#e69f00"),
        kernel=shape("#0072b2"),
        upload=shape("#009e73"),
        download=shape("#cc79a7"),
        inside=shape("#d55e00"),
    )


class Boxes(QProxyStyle):
    """Fusion with tick boxes that grow with the font and checked buttons with a frame, which can be seen in both
    schemes. Fusion's own boxes have one size for all fonts, and a frame that is darker than the window; it makes a
    checked button only a shade darker.

    A style sheet could do the same, but with one, widgets stop following the application's palette. It is the style of
    tick boxes, menus and checkable buttons alone: Qt asks the style of a window for thousands of sizes, each through
    Python.
    """

    _SIZES = (QStyle.PixelMetric.PM_IndicatorWidth, QStyle.PixelMetric.PM_IndicatorHeight)
    _PANELS = (QStyle.PrimitiveElement.PE_PanelButtonTool, QStyle.PrimitiveElement.PE_PanelButtonCommand)

    def pixelMetric(  # noqa: N802
        self, metric: QStyle.PixelMetric, option: QStyleOption | None = None, widget: QWidget | None = None
    ) -> int:
        usual = super().pixelMetric(metric, option, widget)
        if metric not in self._SIZES:
            return usual
        letters = widget.fontMetrics() if widget is not None else QFontMetrics(QApplication.font())
        return max(usual, round(0.85 * letters.height()))

    def drawPrimitive(  # noqa: N802
        self,
        element: QStyle.PrimitiveElement,
        option: QStyleOption,
        painter: QPainter,
        widget: QWidget | None = None,
    ) -> None:
        if element == QStyle.PrimitiveElement.PE_IndicatorCheckBox:
            state, states = option.state, QStyle.StateFlag
            draw_box(
                painter,
                QRectF(option.rect),
                option.palette,
                bool(state & states.State_On),
                bool(state & states.State_Enabled),
            )
            return
        super().drawPrimitive(element, option, painter, widget)
        if element in self._PANELS and option.state & QStyle.StateFlag.State_On:
            draw_frame(painter, QRectF(option.rect), option.palette)


def draw_frame(painter: QPainter, place: QRectF, ground: QPalette) -> None:
    """Paint the frame of a checked button."""
    others = (ground.color(QPalette.ColorRole.Window), ground.color(QPalette.ColorRole.Button))
    # The margin is for Fusion's filling, which is a little darker than the button's colour.
    ink = readable(ground.color(QPalette.ColorRole.Highlight), others, 1.2 * SHAPE_CONTRAST)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(ink, 2))
    painter.drawRoundedRect(place.adjusted(1, 1, -1, -1), 3, 3)
    painter.restore()


def draw_box(painter: QPainter, place: QRectF, ground: QPalette, ticked: bool, enabled: bool) -> None:
    """Paint a tick box: a filled one with a tick, or an empty frame."""
    role, groups = QPalette.ColorRole, QPalette.ColorGroup
    base, window = (ground.color(groups.Active, of) for of in (role.Base, role.Window))
    text = ground.color(groups.Active if enabled else groups.Disabled, role.Text)
    frame = readable(mix(base, text, 0.6), (base, window), SHAPE_CONTRAST)
    filling = readable(ground.color(groups.Active, role.Highlight), (base, window), SHAPE_CONTRAST) if enabled else text
    side = min(place.width(), place.height()) - 1
    box = QRectF(0, 0, side, side)
    box.moveCenter(place.center())
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(filling if ticked else frame, 1))
    painter.setBrush(filling if ticked else base)
    painter.drawRoundedRect(box, 0.12 * side, 0.12 * side)
    if ticked:
        ink = max((base, text), key=lambda colour: contrast(colour, filling))
        joins = Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin
        painter.setPen(QPen(ink, max(1.5, 0.14 * side), Qt.PenStyle.SolidLine, *joins))
        points = (QPointF(x * side, y * side) + box.topLeft() for x, y in ((0.24, 0.52), (0.43, 0.72), (0.77, 0.30)))
        painter.drawPolyline(list(points))
    painter.restore()


def boxes() -> Boxes:
    """The one style of all tick boxes, menus and checkable buttons, which lives as long as the application."""
    app = QApplication.instance()
    assert app is not None
    style = app.findChild(Boxes, options=Qt.FindChildOption.FindDirectChildrenOnly)
    if style is None:
        style = Boxes("Fusion")
        style.setParent(app)
    return style


def checkable(button: QAbstractButton) -> None:
    """Make a button checkable, with a checked look that is visible in both schemes."""
    button.setCheckable(True)
    button.setStyle(boxes())


def apply(app: QApplication, scheme: Scheme, presenter: bool = False) -> None:
    """Give the whole application the scheme's look, larger for presentations."""
    if not app.property("plain_point_size"):
        app.setProperty("plain_point_size", app.font().pointSizeF())
        app.setStyle("Fusion")
    chosen = palette(scheme)
    size = float(app.property("plain_point_size")) * (PRESENTER if presenter else 1.0)
    look = f"{scheme.name} {size}"
    if app.property("look") == look and app.palette() == chosen:
        return  # every widget would get an event and repaint
    app.setProperty("look", look)
    app.setPalette(chosen)
    app.setPalette(chosen, "QTipLabel")  # type: ignore[arg-type]  # the stubs say bytes; PySide6 takes a str only
    font = app.font()
    if font.pointSizeF() != size:
        sizes = LetterSizes(app.topLevelWidgets(), font)
        font.setPointSizeF(size)
        app.setFont(font)
        sizes.follow(font)


def chosen(ground: QPalette) -> QPalette:
    """The palette for the checked button of a group: its filling contrasts with the other buttons and the window.

    The contrast has a margin, because Fusion fills the other buttons with a lighter colour than theirs."""
    result, role = QPalette(ground), QPalette.ColorRole
    others = (ground.color(role.Window), ground.color(role.Button))
    filling = readable(ground.color(role.Highlight), others, 1.6 * SHAPE_CONTRAST)
    inks = [ground.color(ink) for ink in (role.HighlightedText, role.Base, role.Text)]
    result.setColor(role.Button, filling)
    result.setColor(role.ButtonText, max(inks, key=lambda ink: contrast(ink, filling)))
    return result


def inked(ground: QPalette, colour: QColor) -> QPalette:
    """The palette with another colour for a label's text, readable on the label's background."""
    result = QPalette(ground)
    for role in (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text):
        result.setColor(role, colour)
    return result


def fixed_font() -> str:
    """The family for source code and logs."""
    return QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).family()


def connect_scheme(app: QGuiApplication, callback: Callable[[Scheme], None]) -> None:
    """Call back now and whenever the desktop changes between light and dark."""
    hints = app.styleHints()
    hints.colorSchemeChanged.connect(callback)
    callback(hints.colorScheme())
