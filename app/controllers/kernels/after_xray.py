"""The content of a tab of the X-ray that takes a simulation of its own, which runs after the X-ray."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Qt

from app.controllers.on_demand import OnDemand
from app.controllers.session import SessionController
from app.controllers.xray import XRayController
from app.models.experiment.job_kind import SIMULATE, JobKind


class AfterXRay(OnDemand):
    """Requests content about the variants of an X-ray, as OnDemand does."""

    def __init__(
        self, controller: SessionController, xray: XRayController, kind: JobKind, parent: QObject | None = None
    ) -> None:
        self._xray = xray
        super().__init__(controller, kind, parent)
        for signal in (xray.changed, xray.variants_changed, controller.began):
            signal.connect(self._update, Qt.ConnectionType.QueuedConnection)

    def _free(self) -> bool:
        """After the X-ray, also of a text that is being edited, but before simulated runs: it takes seconds."""
        if self._xray.pausing:
            return False
        queue = self._controller.queue
        return queue.only_simulates if self._controller.busy else self._xray.state != "waiting"

    def _ask(self, query: Any) -> None:
        super()._ask(query)
        self._controller.queue.stop(SIMULATE)  # the simulated run continues afterwards
