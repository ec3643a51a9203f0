"""Decides when to record a block step by step: while its panel is in front, whenever it no longer fits the choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from PySide6.QtCore import QObject

from app.controllers.kernels.after_xray import AfterXRay
from app.controllers.session import SessionController
from app.controllers.xray import XRayController
from app.models.experiment.job_kind import BLOCK
from app.models.xray.architecture import architecture_of, simulated_beside
from gpu_ops import FILTERS
from gpu_ops.engine.kernel_messages import BlockAnswer, BlockRequest
from gpu_ops.types import Pick

Place = tuple[int, int, int]


class Query(NamedTuple):
    """Everything that the record of a block depends on."""

    input: Any
    filter: str
    params: Mapping[str, Any]
    pick: Pick
    architecture: str
    launch: int | None
    place: Place | None
    other: bool


class BlockRunController(AfterXRay):
    """Requests one block of the variant of an X-ray; of another variant again one in the middle."""

    def __init__(self, controller: SessionController, xray: XRayController, parent: QObject | None = None) -> None:
        self._of: tuple[str, str] | None = None
        self._launch: int | None = None
        self._place: Place | None = None
        self._other = False
        super().__init__(controller, xray, BLOCK, parent)

    @property
    def title(self) -> str:
        """The title of the variant that was recorded, and whether its kernel was edited; "" before the first record."""
        if self._content_query is None:
            return ""
        pick = self._content_query.pick
        title = FILTERS.find(self._content_query.filter).variant(pick.variant).title
        return self.tr("{variant}, edited").format(variant=title) if pick.edits else title

    def watch(self, on: bool) -> None:
        """As of every panel; one that opens shows a ticked variant, as the X-ray does."""
        if on:
            self._xray.take_ticked()
        super().watch(on)

    def choose(self, launch: int, place: Place | None = None) -> None:
        """Record this block of this launch; None: one in the middle."""
        self._launch, self._place, self._other = launch, place, False
        self._update()

    def ask_for_other(self) -> None:
        """Record the same block also in another order of its warps."""
        self._other = True
        self._update()

    def _query(self) -> Query | None:
        session, xray = self._session, self._xray
        if session.input is None or not xray.variant:
            return None
        choice = session.choice
        if self._of != (choice.filter, xray.variant):
            self._of, self._launch, self._place, self._other = (choice.filter, xray.variant), None, None, False
        pick = replace(
            session.shown.pick(xray.variant), edits=dict(xray.edits), device=simulated_beside(session.device)
        )
        architecture = architecture_of(session.device, self._controller.queue.engine.devices)
        which = (self._launch, self._place, self._other)
        return Query(session.input, choice.filter, dict(choice.params), pick, architecture, *which)

    def _within(self, query: Query | None, other: Query | None) -> bool:
        """A record in two orders has the usual one."""
        return query is not None and other is not None and query in (other, other._replace(other=False))

    def _asked(self, query: Query) -> BlockRequest:
        return BlockRequest(self._controller.queue.engine.next_job(), *query)

    def _content_of(self, answer: BlockAnswer) -> BlockAnswer:
        return answer
