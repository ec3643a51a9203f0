"""Decides when to look for the cliffs of a kernel: while they are in front, whenever they no longer fit the choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from PySide6.QtCore import QObject

from app.controllers.kernels.after_xray import AfterXRay
from app.controllers.session import SessionController
from app.controllers.xray import XRayController
from app.models.experiment.job_kind import CLIFFS
from app.models.xray.architecture import architecture_of, simulated_beside
from gpu_ops.engine.kernel_messages import CliffsAnswer, CliffsRequest
from gpu_ops.types import Pick


class Query(NamedTuple):
    """Everything that the cliffs depend on."""

    input: Any
    filter: str
    params: Mapping[str, Any]
    pick: Pick
    architecture: str


class CliffsController(AfterXRay):
    """Requests the cliffs of the variant of an X-ray."""

    def __init__(self, controller: SessionController, xray: XRayController, parent: QObject | None = None) -> None:
        super().__init__(controller, xray, CLIFFS, parent)

    def _query(self) -> Query | None:
        session, xray = self._session, self._xray
        if session.input is None or not xray.variant:
            return None
        pick = replace(
            session.shown.pick(xray.variant), edits=dict(xray.edits), device=simulated_beside(session.device)
        )
        architecture = architecture_of(session.device, self._controller.queue.engine.devices)
        choice = session.choice
        return Query(session.input, choice.filter, dict(choice.params), pick, architecture)

    def _asked(self, query: Query) -> CliffsRequest:
        return CliffsRequest(self._controller.queue.engine.next_job(), *query)

    def _content_of(self, answer: CliffsAnswer) -> Mapping[str, Any]:
        return answer.content
