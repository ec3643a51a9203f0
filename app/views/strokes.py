"""Strokes as pens, on light and dark backgrounds."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPalette, QPen

from app.base.theme import GROUNDS, SHAPE_CONTRAST, mix, readable
from app.models.curves.stroke import INK, Stroke

# After Okabe and Ito, darker on white and lighter on black, and more distinct for eyes without L or M cones.
LIGHT = ((0, 114, 178), (170, 50, 0), (0, 130, 95), (180, 80, 140), (165, 140, 0))
DARK = ((90, 160, 255), (240, 110, 40), (0, 170, 120), (225, 140, 190), (240, 228, 66))
INKS = (0, 0, 0), (240, 240, 240)
"""The colours on light and on dark backgrounds."""
DASHES: tuple[tuple[float, ...], ...] = ((), (8, 5), (2, 3), (11, 4, 2, 4), (17, 7), (6, 3, 2, 3, 2, 3))
"""Dash patterns in pixels."""
FAINT, GHOST = 0.35, 0.55
"""The shares of the colour of a faint pen, and of a ghost's; the rest is the background's."""


def colour(stroke: Stroke, dark: bool) -> QColor:
    """The colour of a stroke on a dark or a light background."""
    return QColor(*(INKS[dark] if stroke.hue == INK else (DARK if dark else LIGHT)[stroke.hue]))


def pen(
    stroke: Stroke, dark: bool, width: float = 1, dashed: bool = True, faint: bool = False, ghost: bool = False
) -> QPen:
    """The pen of a stroke: cosmetic, `width` pixels wide; `faint` for a result of an earlier setting, `ghost` for one
    that was recorded elsewhere. Every pen is opaque: a curve that crosses itself takes fifty times as long with
    transparency."""
    ink = colour(stroke, dark)
    share = FAINT if faint else GHOST if ghost else 1.0
    result = QPen(mix(GROUNDS[dark], ink, share), width)
    result.setCosmetic(True)
    if dashed and DASHES[stroke.dash]:
        result.setCapStyle(Qt.PenCapStyle.FlatCap)  # other caps fill the gaps
        result.setDashPattern([length / width for length in DASHES[stroke.dash]])  # Qt measures dashes in pen widths
    return result


def line_ink(ground: QPalette) -> QColor:
    """The ink of cursors, handles and focus frames, as thin as a pixel."""
    others = ground.color(QPalette.ColorRole.Base), ground.color(QPalette.ColorRole.Window)
    return readable(ground.color(QPalette.ColorRole.Highlight), others, 1.5 * SHAPE_CONTRAST)
