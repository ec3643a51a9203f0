"""Decides when to X-ray a kernel: while the panel is visible, whenever its content no longer fits the choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.controllers.kernels.contract import ContractController
from app.controllers.on_demand import BeforeSimulated
from app.controllers.session import SessionController
from app.models.experiment.change import Change
from app.models.experiment.job_kind import XRAY, JobKind
from app.models.experiment.slot import RowSlot
from app.models.results.entry import Entry
from app.models.xray.architecture import architecture_of
from app.models.xray.drafts import Draft, Drafts, named_content, problems_of
from app.models.xray.gpu_choice import GpuChoice
from app.models.xray.problem import Problem
from app.models.xray.template import template
from gpu_ops.device_names import device_kind
from gpu_ops.engine.kernel_messages import XRayRequest
from gpu_ops.own_kernels.sources import read_kernel
from gpu_ops.report.rows import Row
from gpu_ops.types import Variant

PAUSE_MS = 200
"""The pause after the last key before the edited text is compiled and simulated."""


class Query(NamedTuple):
    """Everything that an X-ray depends on. `against` is the variant to compare with and its knobs, or None."""

    input: Any
    filter: str
    params: Mapping[str, Any]
    variant: str
    knobs: Mapping[str, Any]
    device: str
    against: tuple[str, Mapping[str, Any]] | None
    edits: Mapping[str, str]
    profile: str = ""

    def within(self, other: Query | None) -> bool:
        """Whether the answer to the other query answers this one too; an extra comparison does not matter."""
        return other is not None and self in (other, other._replace(against=None))


class XRayController(BeforeSimulated):
    """Requests an X-ray of `variant`. `variants_changed`: the list of variants, the chosen one or the one to compare
    with changed; `measured_changed`: `measured` may have changed; `editing_changed`: another kernel is edited, or none;
    `drafts_checked`: what is known about an edited kernel changed;
    `counter_changed`: another counter is to be shown for each line; `tab_changed`: another tab below the source;
    `gpu_changed`: times are to be predicted for another GPU, or for one with other numbers.
    An edited kernel is X-rayed after each pause, and compared with the shipped one.
    """

    variants_changed = Signal()
    measured_changed = Signal()
    editing_changed = Signal()
    drafts_checked = Signal()
    gpu_changed = Signal()
    counter_changed = Signal()
    tab_changed = Signal()

    def __init__(self, controller: SessionController, parent: QObject | None = None) -> None:
        super().__init__(controller, XRAY, parent)
        self.drafts = Drafts(self)
        self.drafts.changed.connect(self._take_draft)
        self.drafts.replaced.connect(self.edit)
        controller.named_row = self._named_row
        controller.session.shown.present_text = self._present_text
        self.contract = ContractController(controller, self.drafts, self)
        self.contract.changed.connect(self.drafts_checked)
        controller.results.rows_reset.connect(self.drafts_checked)
        self._open: set[tuple[str, str]] = set()
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self._update)
        self._problems: tuple[Query | None, tuple[Problem, ...]] = (None, ())
        self._comparing = False
        self._against: str | None = None  # "" is none, also of an edited kernel
        self.profile = ""
        self._models: dict[str, str] = {}
        self.variant = ""
        self.counter = ""
        """The counter to show for each line, where a kernel has it."""
        self.tab = ""
        """The tab below the source, one of TABS; "" for one that no file keeps."""
        self._take_variants()
        self._session.changed.connect(self._changed)
        controller.devices_changed.connect(self._take_devices)
        controller.results.row_changed.connect(self.measured_changed)
        controller.results.rows_reset.connect(self.measured_changed)

    @property
    def variants(self) -> tuple[Variant, ...]:
        """The filter's variants that have kernels."""
        return tuple(v for v in self._session.filter.variants if v.kernels)

    @property
    def against(self) -> str:
        """The variant to compare `variant` with; "" for none, also where both are the same. An edited kernel is
        compared with the shipped one until another or none is chosen."""
        if self.edits:
            return self.variant if self._against is None else self._against
        return self._against if self._against and self._against != self.variant else ""

    @property
    def profiled(self) -> bool:
        """Whether `content` was compared with `profile`, and not with an earlier one."""
        return self._content_query is not None and self._content_query.profile == self.profile

    @property
    def gpu_choice(self) -> GpuChoice:
        """The GPU that times are predicted for."""
        return self._session.choice.gpu

    @property
    def draft(self) -> Draft:
        """The edited kernel of the variant."""
        return self.drafts.of(self._session.choice.filter, self.variant)

    @property
    def editing(self) -> bool:
        """Whether the variant's kernel is being edited."""
        return (self._session.choice.filter, self.variant) in self._open

    @property
    def edits(self) -> Mapping[str, str]:
        """The edited files of the kernel that is being edited."""
        return self.draft.texts if self.editing else {}

    @property
    def gpu(self) -> str:
        """The real GPU that `content` was simulated for; "" where no real GPU is chosen."""
        device = self._content_query.device if self._content_query else ""
        return self._models.get(device, device) if device_kind(device) == "cuda" else ""

    @property
    def measured(self) -> Entry | None:
        """The result that `gpu` measured for the kernel in `content`; None without one, or where it belongs to another
        kernel or GPU."""
        query, results = self._content_query, self._controller.results
        now = self._query()
        if not query or not self.gpu or now is None or not now._replace(against=None).within(query):
            return None
        slot = RowSlot(query.variant, query.device)
        entry = results.entry(slot) if slot in results else None
        return entry if entry and entry.seconds("kernel") and entry.row and entry.row.filter == query.filter else None

    # User actions

    def watch(self, on: bool) -> None:
        """As of every panel; one that opens shows a ticked variant, unless another one was chosen or is edited."""
        if on:
            self.take_ticked()
        super().watch(on)

    def take_ticked(self) -> None:
        """Take a ticked variant, unless the panel is open, or another one was chosen or is edited."""
        settled = self._watched or self._chosen or self.editing
        if not settled and self.variant not in self._session.choice.picks:
            self._take_variants()

    def choose(self, variant: str) -> None:
        """X-ray this variant; one without kernels of its own changes nothing."""
        if variant != self.variant and any(v.id == variant for v in self.variants):
            self.variant, self._chosen = variant, True
            self.variants_changed.emit()
            self._update()

    def compare_with(self, variant: str) -> None:
        """Compare with this variant, or with none: where a kernel is edited, not with the shipped one either."""
        chosen = variant if variant or self.edits else None
        if chosen != self._against:
            self._against = chosen
            self.variants_changed.emit()
            self._update()

    def open_profile(self, path: str) -> None:
        """Compare with this report of Nsight Compute, "" for none; one that is open already is read again."""
        before, self.profile = self.profile, str(Path(path).absolute()) if path else ""
        self.changed.emit()
        if path and self.profile == before:
            self.again()
        self._update()

    def choose_gpu(self, choice: GpuChoice, same_step: bool = False) -> None:
        """Predict times for this GPU; `same_step` as in Session."""
        self._session.set_gpu(choice, same_step)

    def show_counter(self, id: str) -> None:
        """Show this counter for each line; "" for the first one that a kernel has."""
        if id != self.counter:
            self.counter = id
            self.counter_changed.emit()

    def show_tab(self, id: str) -> None:
        """Show this tab below the source; "" for the present one."""
        if id:
            self.tab = id
            self.tab_changed.emit()

    def watch_comparison(self, on: bool) -> None:
        """Set whether the comparison is visible: otherwise only one variant is simulated."""
        self._comparing = on
        self._update()

    @Slot(object)
    def edit(self, draft: Draft) -> None:
        """Edit a variant's kernel, and show it if its filter is chosen."""
        if draft.filter == self._session.choice.filter:
            self.choose(draft.variant)
        self._set_open(draft, True)

    def open_draft(self, draft: Draft) -> None:
        """Edit this text. The present text of the same variant is in the editor before, so that undo restores it."""
        self.edit(self.drafts.of(draft.filter, draft.variant))
        self.drafts.put(draft)

    def open_file(self, path: str) -> None:
        """Edit the text of a file in place of the kernel of the variant. Raises InputError."""
        draft = self.draft
        text = read_kernel(path).replace("\r\n", "\n")
        opened = Draft(draft.filter, draft.variant, path=path).with_text(draft.file, text)
        self.open_draft(replace(opened, saved=text))

    def open_template(self) -> None:
        """Edit a template of the filter's first kernel."""
        first, sets = self.variants[0], []
        if self.content is not None and self.content["variant"] == first.id:
            sets = self.content["kernels"][0].get("defines", ())
        self.open_draft(template(self._session.filter.id, first, sets))

    def set_editing(self, on: bool) -> None:
        """Edit the variant's kernel, or show the shipped one; the edited text stays."""
        self._set_open(self.draft, on)

    def _set_open(self, draft: Draft, on: bool) -> None:
        key = draft.filter, draft.variant
        if on != (key in self._open) and self.variant:
            self._open ^= {key}
            self.editing_changed.emit()
            self.variants_changed.emit()
            self._update()

    @Slot(object)
    def _take_draft(self, draft: Draft) -> None:
        """Results of another text are not up to date. Look at the new text after a pause."""
        self._controller.results.compare_with(self._session.shown.subject_of)
        if self.editing and draft == self.draft:
            self._pause.start()

    def _present_text(self, variant: str) -> Mapping[str, str] | None:
        """The present text of a variant of the filter; None where it was never edited."""
        filter = self._session.choice.filter
        return self.drafts.of(filter, variant).texts if self.drafts.has(filter, variant) else None

    def _named_row(self, row: Row) -> Row:
        """A row of an edited kernel whose sentences name the edited files."""
        named = self.drafts.of(row.filter, row.variant).in_own_names
        findings = tuple({**one, "text": named(one["text"])} for one in row.findings)
        return replace(row, failure=named(row.failure), notes=tuple(map(named, row.notes)), findings=findings)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What the compiler says about the present text."""
        query, found = self._problems
        return found if self._within(self._query(), query) else ()

    @property
    def other_text(self) -> bool:
        """Whether `content` belongs to another text of the kernel than the present one."""
        return self._content_query is not None and self._content_query.edits != self.edits

    @property
    def pausing(self) -> bool:
        """Whether the user has edited the text a moment ago."""
        return self._pause.isActive()

    # Changes of the session

    @Slot(object)
    def _changed(self, change: Change) -> None:
        if change.filter:
            self._take_variants()
        if change.gpu:
            self.gpu_changed.emit()

    def _take_variants(self) -> None:
        """Choose the last picked variant, else the last of the filter's default picks, else the last; no comparison."""
        self._against, self._chosen = None, False
        ids = [v.id for v in self.variants]
        picked = [id for id in ids if id in self._session.choice.picks]
        first = [id for id in ids if id in self._session.filter.picked]
        self.variant = (picked or first or ids or [""])[-1]
        self.variants_changed.emit()

    @Slot(object)
    def _take_devices(self, devices: Any) -> None:
        self._models = {status.name: status.model for status in devices}

    def _query(self) -> Query | None:
        choice, session = self._session.choice, self._session
        if session.input is None or not self.variant:
            return None
        knobs = {id: dict(choice.knobs.get(id, {})) for id in (self.variant, self.against)}
        # An edited kernel is compared with its own shipped one without a request.
        compared = self._comparing and self.against not in ("", self.variant)
        against = (self.against, knobs[self.against]) if compared else None
        params, own = dict(choice.params), knobs[self.variant]
        about = (session.input, choice.filter, params, self.variant, own, session.device)
        return Query(*about, against, self.edits, self.profile)

    def _within(self, query: Query | None, other: Query | None) -> bool:
        return query is not None and query.within(other)

    def _asked(self, query: Query) -> XRayRequest:
        """X-ray the kernels on a simulated GPU."""
        session, engine = self._session, self._controller.queue.engine
        choice, other = session.choice, session.shown.pick(query.against[0]) if query.against else None
        architecture = architecture_of(session.device, engine.devices)
        pick = replace(session.shown.pick(self.variant), edits=query.edits)
        about = (query.input, choice.filter, choice.params, pick, architecture, other)
        return XRayRequest(engine.next_job(), *about, query.profile)

    @Slot(object, object)
    def _take(self, kind: JobKind, answer: Any) -> None:
        """Take an answer. Where an edited kernel does not compile or run, the last X-ray stays."""
        if kind is not self._kind or self.state != "running":
            return
        draft = replace(self.draft, texts=self._request.edits)
        self._problems = self._request, problems_of(answer.content, draft)
        if reason := answer.content.get("broken"):
            self._fail(kind, draft.in_own_names(reason))
        else:
            super()._take(kind, answer)

    def _content_of(self, answer: Any) -> Any:
        edits = self._request.edits
        return named_content(answer.content, replace(self.draft, texts=edits)) if edits else answer.content
