"""The content of a tab of the X-ray that takes a simulation of its own, which runs after the X-ray."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt

from app.controllers.on_demand import BeforeSimulated
from app.controllers.session import SessionController
from app.controllers.xray import XRayController
from app.models.experiment.job_kind import JobKind


class AfterXRay(BeforeSimulated):
    """Requests content about the variants of an X-ray."""

    def __init__(
        self, controller: SessionController, xray: XRayController, kind: JobKind, parent: QObject | None = None
    ) -> None:
        self._xray = xray
        super().__init__(controller, kind, parent)
        for signal in (xray.changed, xray.variants_changed):
            signal.connect(self._update, Qt.ConnectionType.QueuedConnection)

    def _free(self) -> bool:
        """After the X-ray, also of a text that is being edited, but before simulated runs: it takes seconds."""
        return super()._free() and not self._xray.pausing and self._xray.state != "waiting"
