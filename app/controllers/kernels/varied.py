"""Has the engine write a report that runs: an HTML file whose sliders change what was counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from app.controllers.session import SessionController
from app.controllers.xray import XRayController
from app.models.experiment.job_kind import PAGE
from app.models.xray.architecture import architecture_of
from app.models.xray.varied import ticked_picks
from gpu_ops.engine.kernel_messages import PageRequest
from gpu_ops.types import Pick


def present_picks(controller: SessionController, xray: XRayController) -> tuple[Pick, ...]:
    """The ticked variants that have kernels, that of an edited kernel with the edits."""
    return ticked_picks(controller.session, {xray.variant: xray.edits} if xray.edits else {})


def write_running_report(
    controller: SessionController,
    xray: XRayController,
    path: str,
    over: Mapping[str, tuple[str, ...]],
    predicted: bool,
) -> None:
    """Count the present variants for all combinations of values, and write the file; its end is a message, as that of
    every file. Cancel stops it."""
    session, engine = controller.session, controller.queue.engine
    assert session.input is not None
    params = {name: value for name, value in session.choice.params.items() if name not in over}
    picks = [
        replace(pick, knobs={name: value for name, value in pick.knobs.items() if name not in over})
        for pick in present_picks(controller, xray)
    ]
    architecture = architecture_of(session.device, engine.devices)
    about = (session.input, session.choice.filter, params, tuple(picks), dict(over), architecture, path)
    names = {file: xray.draft.name_of(file) for file in xray.edits}
    request = PageRequest(engine.next_job(), *about, xray.gpu_choice.gpu if predicted else None, names)
    controller.queue.submit(replace(PAGE, subject=f"{PAGE.subject}/{path}"), request)
