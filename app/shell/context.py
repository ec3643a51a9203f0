"""The models, controllers and services that the parts of a window share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.controllers.frames import FrameController
from app.controllers.importing import ImportController
from app.controllers.kernels.own_kernel import OwnKernelController
from app.controllers.kernels.traffic import TrafficController
from app.controllers.live.live import LiveController
from app.controllers.look import Appearance
from app.controllers.playback import Playback
from app.controllers.recorded import RecordedRuns, Reports
from app.controllers.remotes import RemoteMachines
from app.controllers.session import SessionController
from app.controllers.sessions import SessionFiles
from app.controllers.timeline import TimelineController
from app.controllers.xray import XRayController
from app.models.experiment.session import Session
from app.models.hints import Hints
from app.models.log import Log
from app.models.pictures.display import Display
from app.models.results.results import Results
from app.models.settings import Settings
from app.views.window.files import Files
from app.views.window.message_bar import MessageBar


@dataclass(frozen=True, eq=False)
class Context:
    """Models, controllers, messages and file dialogs. Parts of the window use these and never the window itself.

    `reports` reads the recorded reports.
    """

    controller: SessionController
    importing: ImportController
    display: Display
    look: Appearance
    settings: Settings
    log: Log
    messages: MessageBar
    files: Files
    playback: Playback
    recorded: RecordedRuns
    xray: XRayController
    timeline: TimelineController
    reports: Callable[[], Reports]
    frames: FrameController
    sessions: SessionFiles
    own_kernel: OwnKernelController
    remotes: RemoteMachines
    traffic: TrafficController
    hints: Hints
    live: LiveController

    @property
    def session(self) -> Session:
        return self.controller.session

    @property
    def results(self) -> Results:
        return self.controller.results
