"""Region and profile in a window: their views, and the handlers of their actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QApplication, QWidget

from app.models.experiment.session import Session
from app.models.pictures.display import Display
from app.models.pictures.layer import Layer
from app.models.pictures.probe import Probe, Tool
from app.models.results.view_data import INPUT, Array
from app.views.curves.span_link import SpanLink
from app.views.pictures.image_canvas import ImageCanvas
from app.views.pictures.probe_link import ProbeLink
from app.views.results.pictures import Pictures
from app.views.results.probe_bar import ProbeBar
from app.views.results.probe_sources import curves, grids, has_grid_of

if TYPE_CHECKING:
    from app.views.window.window_parts import WindowParts


class Probing:
    """The model of the region and the profile, and everything that shows and changes it."""

    def __init__(self, pictures: Pictures, session: Session, parent: QWidget) -> None:
        self.probe = Probe(parent)
        self.pictures = ProbeLink(pictures, session, self.probe)
        self.curves = SpanLink(pictures, session, self.probe)
        self.bar = ProbeBar(pictures, session, self.probe, parent)
        self.probe.crop_wanted.connect(
            lambda start, shape: session.add_step({"step": "crop", "start": start, "shape": shape})
        )


def turn_tool(parts: WindowParts, tool: Tool) -> None:
    """Select a tool, or deselect it; keys go to the pictures or curves then."""
    probe = parts.probe
    probe.set_tool("" if probe.tool == tool else tool)
    if probe.tool:
        focus_results(parts)


def focus_results(parts: WindowParts) -> None:
    """Give the focus to a picture, or to the curves, unless one has it."""
    session, focus = parts.context.session, QApplication.focusWidget()
    for grid in grids(parts.pictures, session):
        side_by_side = grid.mode == "side by side"
        shown = [pane.canvas for pane in grid.every.values()] if side_by_side else [grid.compare]
        if focus in shown:
            return
        for canvas in shown:
            if canvas.isVisible():
                canvas.setFocus(Qt.FocusReason.OtherFocusReason)
                return
    for view in curves(parts.pictures, session):
        view.pane.plot.setFocus(Qt.FocusReason.OtherFocusReason)


def is_sized(parts: WindowParts) -> bool:
    """Whether the size of the input's pixels is known."""
    input = parts.context.session.input
    return input is not None and input.facts.pixel is not None and len(parts.probe.extent) == 2


def chosen_layer(parts: WindowParts) -> tuple[Layer, Display] | None:
    """The picture with the focus, else the input, with the display whose levels it follows; None where no such picture
    is on the grid of the input."""
    focus, found = QApplication.focusWidget(), None
    for grid in grids(parts.pictures, parts.context.session):
        for key in grid.keys:
            pane = grid.pane(key)
            if (
                not has_grid_of(pane.layer, parts.probe.extent)
                or pane.layer.pyramid is None
                or pane.layer.tone is not None
            ):
                continue
            if pane.canvas is focus:
                return pane.layer, grid.display
            if found is None or key == INPUT:
                found = pane.layer, grid.display
        if isinstance(focus, ImageCanvas) and focus is grid.compare and focus.layers:
            layer = focus.layers[int(focus.flickered)]
            if layer.tone is None and layer.pyramid is not None:
                return layer, grid.display
    return found


def level_region(parts: WindowParts) -> None:
    """Set the levels to the finite values in the region of the picture with the focus, else of the input."""
    region, chosen = parts.probe.region, chosen_layer(parts)
    if region is None or chosen is None:
        return
    layer, display = chosen
    part = region.intersection(layer.rect)
    limits = finite_limits(layer.part(part)) if part.area else None
    if limits is None:
        text = QCoreApplication.translate("Handlers", "{title} has no finite value in the region; draw it elsewhere.")
        parts.context.messages.show_message("warning", text.format(title=layer.title), "", "region")
        return
    parts.context.messages.settle("region")
    display.set_levels(*limits)


def finite_limits(values: Array) -> tuple[float, float] | None:
    """The lowest and the highest finite value of a picture without alpha; None without any."""
    colours = values[..., :3] if values.ndim == 3 else values
    if colours.dtype.kind != "f":
        return float(colours.min()), float(colours.max())
    finite = np.isfinite(colours)
    if not finite.any():
        return None
    low, high = (float(f(colours, initial=start, where=finite)) for f, start in ((np.min, np.inf), (np.max, -np.inf)))
    return low, high
