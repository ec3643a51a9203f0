"""The views with the input's pixel or sample grid, and the values that they show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from app.models.experiment.session import Session
from app.models.pictures.layer import Layer
from app.models.pictures.region_figures import Sampled
from app.models.results.view_data import INPUT, ViewData
from app.views.pictures.image_canvas import ImageCanvas
from app.views.pictures.panes import PaneGrid
from app.views.results.pictures import Pictures
from app.views.results.reading import channel_names
from app.views.results.result_view import ResultView

if TYPE_CHECKING:
    from app.views.curves.curve_view import CurveView


def places(pictures: Pictures, session: Session) -> list[ResultView]:
    """The views whose results have the input's grid; none without an input."""
    if session.input is None or not pictures.input_name:
        return []
    views = [pictures.view_with(INPUT), *([pictures.view] if pictures.placed else [])]
    return list({id(view): view for view in views}.values())


def grids(pictures: Pictures, session: Session) -> list[PaneGrid]:
    """The panes of pictures with the input's grid."""
    return [view.grid for view in places(pictures, session) if view.grid is not None]


def curves(pictures: Pictures, session: Session) -> list[CurveView]:
    """The views of curves with the input's grid."""
    found = [view for view in places(pictures, session) if view.grid is None]
    if not found:
        return []
    from app.views.curves.curve_view import CurveView

    return [view for view in found if isinstance(view, CurveView)]


def canvases(grid: PaneGrid) -> list[ImageCanvas]:
    """The canvases of a grid: one for each pane, and the one for comparisons."""
    return [*(pane.canvas for pane in grid.every.values()), grid.compare]


def shows(canvas: ImageCanvas, extent: tuple[int, ...]) -> bool:
    """Whether a canvas shows something with the grid of an input (H, W)."""
    return bool(canvas.layers) and all(has_grid_of(layer, extent) for layer in canvas.layers)


def has_grid_of(layer: Layer, extent: tuple[int, ...]) -> bool:
    """Whether a picture has the grid of an input (H, W)."""
    return layer.extent is not None and tuple(layer.extent[:2]) == tuple(extent)


def pictured(pictures: Pictures, session: Session, extent: tuple[int, ...]) -> list[Sampled]:
    """The input and the results that pictures show with the input's grid, the input first."""
    found: list[Sampled] = []
    for view in places(pictures, session):
        for key in view.grid.keys if view.grid is not None else ():
            layer = view.grid.pane(key).layer if view.grid is not None else None
            if layer is None or layer.pyramid is None or not has_grid_of(layer, extent):
                continue
            values = layer.pyramid.array if layer.drawn is None else layer.drawn.values
            if values.dtype.kind != "c":
                title = layer.title if view is pictures.view_with(INPUT) else _with_output(layer.title, session)
                names = _colours(values.shape[2] if values.ndim == 3 else 1)
                unit = layer.drawn.values_unit if layer.drawn is not None else ""
                found.append(Sampled(key, title, values, layer.pyramid.at, names, unit, layer.current))
    return found


def curved(pictures: Pictures, session: Session) -> list[Sampled]:
    """The input and the results that curves show with the input's grid, the input first."""
    found: list[Sampled] = []
    for view in curves(pictures, session):
        first = view.drawn(INPUT)
        for key in view.keys:
            drawn = view.drawn(key)
            if drawn is None or drawn.values.dtype.kind == "c":
                continue
            whole = first.form.axes[0] if first is not None else drawn.form.axes[0]
            start = round(whole.index(drawn.form.axes[0].start))
            title = pictures.input_name if key == INPUT else pictures.titles()[key]
            title = title if view is pictures.view_with(INPUT) else _with_output(title, session)
            names = _names(drawn, drawn.values.shape[1] if drawn.values.ndim == 2 else 1)
            current = all(c.current for c in view.pane.curves if c.visible and c.key == key)
            found.append(Sampled(key, title, drawn.values, (start,), names, drawn.values_unit, current))
    return found


def _with_output(title: str, session: Session) -> str:
    """The title of a result whose view is next to that of the input."""
    return QCoreApplication.translate("Probe", "{title}, {output}").format(title=title, output=session.output.id)


def _colours(count: int) -> tuple[str, ...]:
    """The names of a picture's colour channels without alpha; one empty name for a greyscale one."""
    translate = QCoreApplication.translate
    names = translate("Probe", "red"), translate("Probe", "green"), translate("Probe", "blue")
    return names if count >= len(names) else ("",)


def _names(drawn: ViewData, count: int) -> tuple[str, ...]:
    """The names of a signal's channels; one empty name for a single one."""
    names = channel_names(drawn)
    return (
        tuple(names)
        if count > 1 and len(names) == count
        else tuple(str(c + 1) if count > 1 else "" for c in range(count))
    )
