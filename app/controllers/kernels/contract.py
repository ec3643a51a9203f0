"""Checks an edited kernel against its filter's whole contract; only then its times count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from PySide6.QtCore import QObject

from app.controllers.on_demand import OnDemand
from app.controllers.session import SessionController
from app.models.experiment.job_kind import CONTRACT
from app.models.experiment.pin import Pin
from app.models.results.entry import Entry
from app.models.results.results import Contract
from app.models.xray.drafts import Draft, Drafts
from gpu_ops import ParamError
from gpu_ops.engine.kernel_messages import ContractRequest
from gpu_ops.run_key import RunKey
from gpu_ops.types import Pick


class Query(NamedTuple):
    """What the verdict of a contract depends on."""

    filter: str
    variant: str
    device: str
    edits: Mapping[str, str]

    @property
    def key(self) -> RunKey:
        return RunKey.of(self.filter, self.variant, self.device, {}, {}, self.edits)


class ContractController(OnDemand):
    """Checks the draft for which `check` was called last, unless its text or the device changes meanwhile."""

    def __init__(self, controller: SessionController, drafts: Drafts, parent: QObject | None = None) -> None:
        super().__init__(controller, CONTRACT, parent)
        self._drafts = drafts
        self._wanted: Query | None = None
        self._watched = True
        drafts.changed.connect(self._update)

    # User actions

    def show_result(self, draft: Draft) -> None:
        """Add an edited kernel to the results, or its new text, and run it. A message says why it cannot be added."""
        try:
            self._session.show_pin(Pin.edited(draft.variant, draft.texts))
        except ParamError as error:
            self._controller.message.emit("warning", str(error), "", "xray")

    def has_result(self, draft: Draft) -> bool:
        """Whether an edited kernel of the variant is among the results."""
        return draft.filter == self._session.choice.filter and self._id_of(draft) in self._session.shown.pins

    def result(self, draft: Draft) -> Entry | None:
        """The result of the present text of a draft; None without one."""
        results = self._controller.results
        slot = self._session.shown.slot(self._id_of(draft)) if self.has_result(draft) else None
        entry = results.entry(slot) if slot is not None and slot in results else None
        return entry if entry and entry.row and entry.row.edits == draft.hash else None

    def remove_result(self, draft: Draft) -> None:
        """Remove the edited kernel of the variant from the results; its text stays."""
        self._session.unpin(self._id_of(draft))

    def _id_of(self, draft: Draft) -> str:
        return Pin.edited(draft.variant, draft.texts).id

    def check(self, draft: Draft) -> None:
        """Check an edited kernel on the device of the present choice."""
        self._wanted = self._query_of(draft)
        self.again()

    def verdict(self, draft: Draft) -> Contract | None:
        """The verdict on the present text of a draft; None where it has not been checked on the present device."""
        return self._controller.results.contract(self._query_of(draft).key)

    def checks(self, draft: Draft) -> bool:
        """Whether the present text of a draft is being checked, or is about to be."""
        return self._wanted == self._query_of(draft) and self.state in ("running", "waiting")

    @property
    def failed_draft(self) -> Draft | None:
        """The draft that could not be checked; `reason` says why."""
        wanted = self._wanted
        return self._drafts.of(wanted.filter, wanted.variant) if wanted and self.state == "failed" else None

    # Requests and answers

    def _query_of(self, draft: Draft) -> Query:
        return Query(draft.filter, draft.variant, self._session.shown.device_of(draft.variant), draft.texts)

    def _query(self) -> Query | None:
        wanted, choice = self._wanted, self._session.choice
        if wanted is None or wanted.filter != choice.filter:
            return None
        return wanted if wanted == self._query_of(self._drafts.of(wanted.filter, wanted.variant)) else None

    def _asked(self, query: Query) -> ContractRequest:
        pick = Pick(query.variant, query.device, edits=query.edits)
        return ContractRequest(self._controller.queue.engine.next_job(), query.filter, pick)

    def _content_of(self, answer: Any) -> Contract:
        wanted = self._request
        draft = replace(self._drafts.of(wanted.filter, wanted.variant), texts=wanted.edits)
        text = answer.cases if answer.right else f"{answer.cases}: {draft.in_own_names(answer.first)}"
        contract = Contract(answer.right, text)
        self._controller.results.set_contract(wanted.key, contract)
        return contract
