"""Curves that nobody mixes up: each variant has a hue and a dash of its own, everywhere the same."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from fake_engine import FakeEngine, make
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPalette
from simulated_rows import shared_result

from app.base import theme
from app.models.curves.stroke import DASHES, HUES, INK, Stroke, input_stroke, stroke_at, variant_stroke
from app.models.results.view_data import OutputData
from app.models.timing.sweep import Sweep
from app.views import strokes
from app.views.strokes import colour, pen
from app.views.sweep.plot import look
from gpu_ops import FILTERS, find_filter, from_array
from gpu_ops.report.sweeps import SIZE, Line
from gpu_ops.run_key import RunKey

MOST = 25
EYES = {
    "three cones": np.eye(3),
    "no L cones": np.array([[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]),
    "no M cones": np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]),
}
"""Linear RGB as Machado, Oliveira and Fernandes (2009) compute it."""


def seen(made: QColor, eyes: str) -> np.ndarray:
    """CIE L*a*b* of a colour as these eyes see it."""
    rgb = np.array([made.redF(), made.greenF(), made.blueF()])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    linear = np.clip(EYES[eyes] @ linear, 0, 1)
    matrix = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = np.cbrt(matrix @ linear / np.array([0.9505, 1.0, 1.089]))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def test_as_many_variants_as_a_filter_has_look_different() -> None:
    made = [stroke_at(place) for place in range(MOST)]
    assert len(set(made)) == MOST and input_stroke() not in made
    assert len({stroke_at(place) for place in range(HUES * DASHES)}) == HUES * DASHES
    assert all(a.hue != b.hue and a.dash != b.dash for a, b in zip(made, made[1:], strict=False))
    assert max(len(f.variants) for f in FILTERS) <= MOST


@pytest.mark.parametrize("scheme", [Qt.ColorScheme.Light, Qt.ColorScheme.Dark])
def test_lines_as_thin_as_a_pixel_are_seen(scheme: Qt.ColorScheme) -> None:
    ground = theme.palette(scheme)
    for behind in (QPalette.ColorRole.Base, QPalette.ColorRole.Window):
        assert theme.contrast(strokes.line_ink(ground), ground.color(behind)) >= 1.5 * theme.SHAPE_CONTRAST


@pytest.mark.parametrize("eyes", EYES)
@pytest.mark.parametrize("scheme", [Qt.ColorScheme.Light, Qt.ColorScheme.Dark])
def test_hues_differ_for_all_eyes_also_where_dashes_cannot_be_seen(scheme: Qt.ColorScheme, eyes: str) -> None:
    dark = theme.is_dark(scheme)
    hues = [colour(Stroke(hue, 0), dark) for hue in (INK, *range(HUES))]
    ground = theme.palette(scheme).color(QPalette.ColorRole.Base)
    assert all(theme.contrast(hue, ground) >= theme.SHAPE_CONTRAST for hue in hues)
    assert min(np.linalg.norm(seen(a, eyes) - seen(b, eyes)) for a, b in combinations(hues, 2)) > 15


def test_channels_of_a_signal_and_ten_variants_all_differ() -> None:
    made = [stroke_at(place, channel) for place in range(10) for channel in range(3)]
    assert len(set(made)) == 30
    assert len({input_stroke(channel) for channel in range(3)}) == 3


def test_dashes_are_as_long_in_every_width() -> None:
    stroke = Stroke(0, 1)
    assert pen(stroke, False).dashPattern() == [8, 5] and pen(stroke, False, 2).dashPattern() == [4, 2.5]
    assert pen(stroke, False).isCosmetic() and pen(stroke, False, dashed=False).style() == Qt.PenStyle.SolidLine
    assert len(set(strokes.DASHES)) == DASHES and len(strokes.LIGHT) == len(strokes.DARK) == HUES


def test_a_variant_looks_the_same_whichever_others_are_there(qtbot) -> None:
    mean, engine = find_filter("mean1d"), FakeEngine()
    window = make(qtbot, engine)
    engine.show(from_array(np.arange(300.0)))
    session = window.controller.session
    ids = tuple(v.id for v in mean.variants if v.device == "cpu")
    assert session.filter is mean
    for picks in (ids, ids[-1:]):
        session.set_picks(picks)
        for id in picks:
            result = shared_result("signal", id, np.arange(300.0), None)
            window.stack.show_output(id, session.output.id, OutputData(result, np.arange(300.0)))
        curves = {c.name: c.stroke for c in window.signal_pane.curves if c.visible}
        titles = {id: mean.variant(id).title for id in picks}
        assert {id: curves[title] for id, title in titles.items()} == {id: variant_stroke(mean, id) for id in picks}
        assert len(set(curves.values())) == len(curves) == len(picks) + 1
    line = Line(RunKey(mean.id, ids[-1], "cpu"), "wall", ())
    assert look(Sweep(mean, SIZE), line, window.palette()).stroke == variant_stroke(mean, ids[-1])
    engine.end()
    window.controller.cancel()
