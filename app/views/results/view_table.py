"""The view of each kind of output. No other module of the window depends on the names of kinds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from PySide6.QtWidgets import QWidget

from app.base.translate import QT_TRANSLATE_NOOP
from app.models.pictures.display import Display
from app.models.results.view_data import (
    DECIBEL,
    TIMES,
    OutputData,
    ViewData,
    around_zero,
    coefficients,
    cumulative,
    decibels,
    each_band,
    filled_rows,
    in_decibels,
    labelled,
    magnitudes,
    over_frequencies,
    phases,
    unchanged_view,
)
from app.views.results.result_view import ResultView
from gpu_ops.output_kinds import CHANNEL, Axis, ViewKind
from gpu_ops.types import Output

if TYPE_CHECKING:
    from app.views.charts.plot_area import Plot


@dataclass(frozen=True)
class Scale:
    """One way to draw the values of a result. `draw` computes the drawn values; None if they need no computation."""

    id: str
    title: str
    tip: str
    draw: Callable[[OutputData], ViewData] | None = None
    complex_only: bool = False


Own = Literal["", "signed", "labels", "apart"]
PLAIN = Scale("plain", "", "")
"""Values unchanged; there is nothing to choose."""


@dataclass(frozen=True)
class ViewSpec:
    """A way to display results. `make(display, parent)` creates the view on first use and imports what it needs then.
    `scales` are the choices, the first is the default. `room` is the share of the height or width that results occupy
    next to an input of another kind. `uneven` is the view of results whose axes have different units, `foreign` that of
    results over other axes than the input's, such as phases over frequencies, `signed` that of values centred at zero,
    `labels` that of labels, `apart` that of values of another size than the input's, such as its sums, `levels` that of
    values in dB."""

    id: str
    make: Callable[[Display, QWidget], ResultView]
    scales: tuple[Scale, ...] = (PLAIN,)
    room: float = 0.65
    uneven: ViewSpec | None = None
    foreign: ViewSpec | None = None
    signed: ViewSpec | None = None
    labels: ViewSpec | None = None
    apart: ViewSpec | None = None
    levels: ViewSpec | None = None

    @property
    def owns(self) -> tuple[ViewSpec | None, ...]:
        """The views of results that have the input's grid but their own levels and limits."""
        return self.signed, self.labels, self.apart


def _pictures(display: Display, parent: QWidget) -> ResultView:
    from app.views.pictures.picture_view import PictureView

    return PictureView(display, parent=parent)


def _label_pictures(display: Display, parent: QWidget) -> ResultView:
    from app.views.pictures.picture_view import LabelView

    return LabelView(display, parent=parent)


def _spectrum_pictures(display: Display, parent: QWidget) -> ResultView:
    from app.views.pictures.spectrum_view import SpectrumView

    return SpectrumView(display, parent=parent)


def _curves(display: Display, parent: QWidget) -> ResultView:
    from app.views.curves.curve_view import CurveView

    return CurveView(parent)


def _planes(display: Display, parent: QWidget) -> ResultView:
    from app.views.charts.heat_view import HeatView

    return HeatView(display, parent)


def _spectra(display: Display, parent: QWidget) -> ResultView:
    from app.views.curves.spectra_view import SpectraView

    return SpectraView(parent)


def _bars(display: Display, parent: QWidget) -> ResultView:
    from app.views.charts.bars_view import BarsView

    return BarsView(parent)


def _levels(display: Display, parent: QWidget) -> ResultView:
    from app.views.charts.levels_plot import LevelsPlot

    return _plots(LevelsPlot(), parent)


def _spans(display: Display, parent: QWidget) -> ResultView:
    from app.views.charts.spans_plot import SpansPlot

    return _plots(SpansPlot(), parent)


def _plots(plot: Plot, parent: QWidget) -> ResultView:
    from app.views.charts.cell_view import CellView
    from app.views.charts.plot_area import PlotArea

    return CellView(lambda plane, parent: PlotArea(plot, plane, parent), plot, parent)


def _figures(display: Display, parent: QWidget) -> ResultView:
    from app.views.charts.cell_view import CellView
    from app.views.charts.figure_area import FigureArea

    return CellView(FigureArea, None, parent)


def _tables(display: Display, parent: QWidget) -> ResultView:
    from app.views.charts.cell_view import CellView
    from app.views.charts.table_area import TableArea

    return CellView(TableArea, None, parent)


_N = QT_TRANSLATE_NOOP
SPECTRUM = (
    Scale("decibel", _N("Scales", "dB"), _N("Scales", "Magnitudes in decibels"), decibels),
    Scale("linear", _N("Scales", "Linear"), _N("Scales", "Magnitudes on a linear scale"), magnitudes),
    Scale("phase", _N("Scales", "Phase"), _N("Scales", "Phases in radians"), phases, complex_only=True),
)
COUNTS = (
    Scale("linear", _N("Scales", "Linear"), _N("Scales", "Bar heights proportional to the counts")),
    Scale("logarithmic", _N("Scales", "Logarithmic"), _N("Scales", "Small counts stay visible beside large ones")),
    Scale("cumulative", _N("Scales", "Cumulative"), _N("Scales", "Cumulative counts, in percent"), cumulative),
)
BANDS = (
    Scale("each", _N("Scales", "Each band"), _N("Scales", "Each band scaled to its largest coefficient"), each_band),
    Scale("values", _N("Scales", "Values"), _N("Scales", "All coefficients with the same levels"), coefficients),
)
ROWS = (Scale("plain", "", "", filled_rows),)
SIGNED = (Scale("signed", "", "", around_zero),)
LABELS = (Scale("labels", "", "", labelled),)
OTHER_AXES = (Scale("plain", "", "", over_frequencies),)
IN_DECIBELS = (Scale("plain", "", "", in_decibels),)
PICTURES = ViewSpec(
    "pictures",
    _pictures,
    foreign=ViewSpec("pictures of other axes", _spectrum_pictures, OTHER_AXES),
    signed=ViewSpec("pictures around zero", _pictures, SIGNED),
    labels=ViewSpec("pictures of labels", _label_pictures, LABELS),
    apart=ViewSpec("pictures of another size", _pictures),
)
PLANES = ViewSpec("planes", _planes, SPECTRUM)
CURVES = ViewSpec(
    "curves",
    _curves,
    foreign=ViewSpec("curves of other axes", _spectra, OTHER_AXES),
    apart=ViewSpec("curves of another size", _curves),
)
VIEWS: Mapping[ViewKind, Mapping[int, ViewSpec]] = {
    "image": {2: PICTURES},
    "signal": {1: CURVES},
    "spectrum": {
        1: ViewSpec("spectra", _spectra, SPECTRUM),
        2: ViewSpec(
            "spectrum pictures",
            _spectrum_pictures,
            SPECTRUM,
            uneven=PLANES,
            levels=ViewSpec("level pictures", _spectrum_pictures, IN_DECIBELS),
        ),
    },
    "bars": {1: ViewSpec("bars", _bars, COUNTS)},
    "pyramid": {1: ViewSpec("levels", _levels), 2: ViewSpec("bands", _pictures, BANDS)},
    "number": {0: ViewSpec("figures", _figures, room=0.3)},
    "table": {1: ViewSpec("tables", _tables, ROWS, room=0.4)},
    "timeline": {2: ViewSpec("spans", _spans)},
}
"""By kind, and by the number of axes without channels."""


def view_of(
    kind: ViewKind,
    rank: int,
    axes: Sequence[Axis] = (),
    like: Sequence[Axis] = (),
    own: Own = "",
    unit: str = "",
) -> ViewSpec:
    """The view of a kind in a rank; without one, the view of the next lower rank, else of the lowest. `axes` are those
    of the result, `like` the input's. Pixels are square only if the axes have one unit. Values have their `own` view if
    they need other levels and limits than the input; so have values in dB, of which no logarithm is offered again."""
    ranks = VIEWS[kind]
    below = [known for known in ranks if known <= rank]
    spec = ranks[max(below) if below else min(ranks)]
    if spec.levels is not None and unit == DECIBEL:
        return spec.levels
    if spec.uneven is not None and len({axis.unit for axis in axes if axis.name != CHANNEL}) > 1:
        return spec.uneven
    if spec.foreign is not None and axes and like and _names(axes) != _names(like):
        return spec.foreign
    return {"signed": spec.signed, "labels": spec.labels, "apart": spec.apart}.get(own) or spec


def own_of(output: Output, dtype: str) -> Own:
    """The view that the values of an output need: by its declaration, else by its type, because inputs of filters are
    unsigned and have at most sixteen bits if they are integers."""
    if output.labels:
        return "labels"
    if output.signed or dtype.startswith("int"):
        return "signed"
    return "apart" if output.own_scale or dtype in ("bool", "uint32", "uint64") else ""


def _names(axes: Sequence[Axis]) -> list[str]:
    """The names of axes except channels; one common name for all time axes."""
    return [TIMES[0] if axis.name in TIMES else axis.name for axis in axes if axis.name != CHANNEL]


def scales_of(spec: ViewSpec, dtype: str) -> tuple[Scale, ...]:
    """The scales for a result of that dtype."""
    return tuple(scale for scale in spec.scales if not scale.complex_only or dtype.startswith("complex"))


def draw(scale: Scale, shown: OutputData) -> ViewData:
    """The drawn values of a result on a scale."""
    return (scale.draw or unchanged_view)(shown)
