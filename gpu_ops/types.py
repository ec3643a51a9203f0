"""The core types. A filter is a contract, a variant plans steps on a device, an experiment yields runs.

All types are frozen; those with arrays compare by identity. Shapes are rows first: an image is (H, W) or
(H, W, C), a signal (N,) or (N, C). Times are seconds, sizes are bytes, rates are per second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from gpu_ops.errors import ParamError, plain
from gpu_ops.html import html_of_run
from gpu_ops.input_kinds import INPUT_KINDS, Kind, Shape
from gpu_ops.inputs import Facts as Facts
from gpu_ops.inputs import FrameAxes as FrameAxes
from gpu_ops.inputs import Input as Input
from gpu_ops.inputs import Pixel as Pixel
from gpu_ops.output_kinds import OUTPUT_KINDS, Form, Marks, OutputKind, ViewKind
from gpu_ops.params import Param, Values, holds
from gpu_ops.plan import Finding, Mode
from gpu_ops.run_key import RunKey
from gpu_ops.statements import SOURCE_TITLES as SOURCE_TITLES
from gpu_ops.statements import Claim as Claim
from gpu_ops.statements import Figure as Figure
from gpu_ops.statements import Found as Found
from gpu_ops.statements import Law as Law
from gpu_ops.statements import Scale as Scale
from gpu_ops.statements import Series as Series
from gpu_ops.statements import Timed as Timed
from gpu_ops.task import Meta, Successor, Task
from gpu_ops.task import Trial as Trial
from gpu_ops.variant import Accesses as Accesses
from gpu_ops.variant import Counts as Counts
from gpu_ops.variant import Exactness as Exactness
from gpu_ops.variant import Rule as Rule
from gpu_ops.variant import Variant as Variant

REFERENCE = "reference"
"""The id of the variant that every filter has in addition to its own: its reference."""
RunStage = Literal["computed", "verified", "timed"]

DTYPES = ("uint8", "uint16", "float32", "float64")
BORDERS = ("zero", "reflect", "nearest", "wrap")


def form_of_input(task: Task) -> Form:
    """Shape, dtype and axes of the main input."""
    meta = task.meta
    return Form(meta.shape, meta.dtype, INPUT_KINDS[meta.kind].axes_of(meta.shape, meta.rate))


@dataclass(frozen=True)
class Output:
    """One result of a filter. `tolerance(task)` is relative to the reference's scale; 0 means exact.

    `least(task)` is the minimum scale: the size of intermediate numbers, which may exceed both input and result; the
    task has the input on the host. `own_scale` means that the scale is computed from the reference alone, for values of
    another size than the input's; each column of a table has its own. Values that differ by `period` are equal, such as
    angles; 0 if they are not periodic. `form(task)` is the shape, dtype and axes of the array that every variant
    returns. `unit` is that of its values, "" for the unit of the input. `when` are the values of parameters that
    request it, as in Param: {"result": ("statistics",)}; otherwise it is not computed. `signed` means that the values
    of an image are centred at zero, `labels` that its integers are unordered labels. `marks` means that a table's rows
    are marks over other outputs. `scales(task, tolerance)` gives each element its own scale, which that tolerance
    multiplies, from the input on the host; None if all use the output's. `sizes(task)` is the possible size of each of
    these elements if that is not the largest magnitude: a tolerance that allows more than MOST_SHARE of it cannot
    detect an error. `most(task)` is the largest scale of each column of a table. `unrounded`: the reference of integers
    is not rounded, and a result may differ from it by half a level plus rounding errors.
    """

    id: str
    kind: ViewKind
    unit: str
    tolerance: Callable[[Task], float]
    least: Callable[[Task], float] = lambda task: 0.0
    form: Callable[[Task], Form] = form_of_input
    own_scale: bool = False
    when: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    period: float = 0.0
    signed: bool = False
    labels: bool = False
    marks: Marks | None = None
    scales: Callable[[Task, float], np.ndarray[Any, Any] | None] | None = None
    sizes: Callable[[Task], np.ndarray[Any, Any]] | None = None
    most: Callable[[Task], tuple[float, ...]] | None = None
    unrounded: bool = False

    @property
    def of_kind(self) -> OutputKind:
        """Everything that depends only on the kind."""
        return OUTPUT_KINDS[self.kind]


@dataclass(frozen=True)
class Work:
    """The minimum work: each input read once, each output written once."""

    bytes_read: int
    bytes_written: int
    flops: int

    @property
    def bytes(self) -> int:
        return self.bytes_read + self.bytes_written


Arrays = Mapping[str, np.ndarray[Any, Any]]
"""The arrays of a result by the ids of their outputs."""


@dataclass(frozen=True)
class Locality:
    """What one element of a result depends on, which decides whether an input can be processed in parts. `halo(task)`
    is the reach along each spatial axis, for kind "halo".

    For kind "mergeable", `merge(task, parts, rows)` computes the outputs of the whole from those of its parts in order,
    with the number of rows or samples of each part; the task is that of the whole. `extremes(task)` means that a part
    must know the minimum and maximum of all samples. `whole(task)` is the reason why these parameters need the whole
    input at once, None if parts suffice.
    """

    kind: Literal["pointwise", "halo", "mergeable", "global"]
    halo: Callable[[Task], tuple[int, ...]] | None = None
    merge: Callable[[Task, Sequence[Arrays], Sequence[int]], dict[str, np.ndarray[Any, Any]]] | None = None
    extremes: Callable[[Task], bool] = lambda task: False
    whole: Callable[[Task], str | None] = lambda task: None


@dataclass(frozen=True)
class Filter:
    """A contract: inputs, outputs, accuracy, and minimum work.

    `family` is the name on the command line and in the menu; filters of one family differ in `accepts`.
    `reference(task)`, whose arrays are on the host, returns {output id: float64, complex128 or exact integer array}.
    Masked elements of a masked array are undecided, because they depend on rounding alone, and are not compared.
    `work(task)` is the minimum work. `laws` are drawn over sizes and processors, `figures` of the source are reproduced
    from reports. `check(task)` raises ParamError for parameters that do not suit the input. `presets` are named sets of
    values, each for the same parameters. `picked` are the variants that a window selects initially; () means all of the
    project's own. `shows` are the counters and metrics in which its kernels differ most, the most important first; ()
    if counts explain nothing. `finite_only` refuses NaN and infinity, with their count and the first position.
    `contended` means that its time depends on how many samples are equal. `end_to_end`: the plans of its kernels copy
    their input from host memory and their result back, and are timed as a whole. `renamed` maps ids of the previous
    version, which are still accepted, to their successors; the first suitable one is used. `extras` are variants that
    can be selected by id but are neither timed nor tested against the contract: the reference.
    """

    id: str
    family: str
    title: str
    summary: str
    accepts: Kind
    dtypes: tuple[str, ...]
    params: tuple[Param, ...]
    outputs: tuple[Output, ...]
    reference: Callable[[Task], dict[str, np.ndarray[Any, Any]]]
    work: Callable[[Task], Work]
    locality: Locality
    variants: tuple[Variant, ...]
    claims: tuple[Claim, ...] = ()
    laws: tuple[Law, ...] = ()
    figures: tuple[Figure, ...] = ()
    source: str = ""
    check: Callable[[Task], None] = lambda task: None
    presets: Mapping[str, Values] = field(default_factory=dict)
    picked: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()
    finite_only: bool = False
    contended: bool = False
    end_to_end: bool = False
    renamed: Mapping[str, tuple[Successor, ...]] = field(default_factory=dict)
    extras: tuple[Variant, ...] = ()

    @property
    def all_variants(self) -> tuple[Variant, ...]:
        return (*self.variants, *self.extras)

    def given(self, params: Values) -> tuple[Output, ...]:
        """The outputs that these parameters request, at least one."""
        return tuple(output for output in self.outputs if holds(output.when, params))

    def unit(self, task: Task) -> str:
        """The noun for one element of the result."""
        meta = task.meta
        if any(o.form(task).shape != meta.shape for o in self.given(task.params)):
            return "output"
        return "value" if meta.channels > 1 else meta.of_kind.element

    def preset(self, name: str) -> Values:
        """The values of a preset. Raises ParamError that names all presets."""
        if name not in self.presets:
            raise ParamError(
                f"{self.id} has no preset {plain(name, 60)!r}; choose from {', '.join(self.presets) or 'none'}."
            )
        return self.presets[name]

    def output(self, id: str) -> Output:
        """The output with this id."""
        return next(o for o in self.outputs if o.id == id)

    def variant(self, id: str) -> Variant:
        """The variant with this id. Raises ParamError that names all variants."""
        if (found := next((v for v in self.all_variants if v.id == id), None)) is not None:
            return found
        if id in self.renamed:
            return self.variant(self.today(id))
        raise ParamError(
            f"{self.id} has no variant {plain(id, 60)!r}; choose from {', '.join(v.id for v in self.all_variants)}."
        )

    def today(
        self, id: str, meta: Meta | None = None, params: Values | None = None, knobs: Values | None = None
    ) -> str:
        """The id of a variant in this version: for a renamed one, the successor that corresponds to these settings, or
        the usual successor if no input is known."""
        knobs, values = knobs or {}, {**{p.name: p.default for p in self.params}, **(params or {})}
        for new, needed in self.renamed.get(id, ()):
            variant = self.variant(new)
            own = {k.name: knobs.get(k.name, k.default) for k in variant.knobs}
            if any(knobs.get(name) != value for name, value in needed.items()):
                continue
            if meta is None or variant.refusal(Task.of(meta, values, own)) is None:
                return new
        return self.renamed[id][-1].variant if id in self.renamed else id

    def renaming(self, old: str, new: str) -> str:
        """A notice for users of an id of the previous version."""
        return f"{self.id} {old} is called {new} now; name it so, because the next version does not know {old}."


@dataclass(frozen=True)
class Timing:
    """Statistics of one stage, in seconds. `clock` is cuda-event, wall or simulated; `stop` is the reason why sampling
    ended; `doubt` the reason why the median is unreliable, empty if it is not."""

    stage: str
    clock: Literal["cuda-event", "wall", "simulated"]
    median: float
    q1: float
    q3: float
    min: float
    n: int
    stop: str
    mode: str = ""
    samples: tuple[float, ...] = field(default=(), repr=False, compare=False)
    doubt: str = ""


MOST_SHARE = 0.02
"""The maximum tolerance, as a share of an output's size: with a larger one a result within the tolerance is not called
correct."""


@dataclass(frozen=True)
class Error:
    """The error of an output relative to the reference, in the reference's unit; tolerances multiply `scale`; `share`
    is the allowed error as a share of the output's size."""

    max: float
    rms: float
    worst: tuple[int, ...]
    scale: float
    tolerance: float
    share: float = 0.0

    @property
    def relative(self) -> float:
        """max / scale: the value that is compared with tolerances."""
        return self.max / self.scale if self.scale else self.max

    @property
    def ok(self) -> bool:
        return bool(self.relative <= self.tolerance)

    @property
    def judges(self) -> bool:
        """Whether the tolerance is small enough to detect a wrong result."""
        return self.share <= MOST_SHARE


@dataclass(frozen=True)
class Closeness:
    """How close values are to the noise-free original: SNR and PSNR in dB, infinite if nothing differs, and SSIM, at
    most 1. None if one is undefined; gpu_ops.running.quality has the definitions."""

    snr: float | None
    psnr: float | None
    ssim: float | None


@dataclass(frozen=True)
class Quality:
    """The quality of the input relative to its noise-free original, and that of an output."""

    before: Closeness
    after: Closeness


@dataclass(frozen=True)
class Pick:
    """A variant on a device with its knobs. `edits` {kernel file: text} replace kernels, `params` override the
    experiment's."""

    variant: str
    device: str
    knobs: Values = field(default_factory=dict)
    edits: Mapping[str, str] = field(default_factory=dict)
    params: Values = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Experiment:
    """An experiment: this filter on this input with these parameters and picks, and how to time and check it. `memory`
    is the maximum number of bytes that one pick may use on its device, input included; None: all free memory.
    `counted`: a simulated GPU counts every memory access, as for an X-ray, which can double the time of its first
    run."""

    filter: str
    input: Input
    params: Values
    picks: tuple[Pick, ...]
    protocol: Literal["none", "quick", "careful"] = "quick"
    mode: Mode = "stream"
    checks: Literal["full", "sample", "off"] = "full"
    memory: int | None = None
    counted: bool = False


@dataclass(frozen=True, eq=False)
class Run:
    """The result of one pick. `ok` is None until it is verified; a wrong result has ok False and no timings.

    `failure` is the reason why the pick could not run, `failure_kind` its kind. `notes` are sentences to be shown next
    to the values. `findings` are the errors that a simulated GPU detected, `printed` the output of the kernel's printf.
    `counters` are those of a part of the input, of `counted_shape`, or of all of it where that is ().
    Outputs are host arrays; `forms` has the axes of each. `quality` is present for outputs of the input's form if the
    input's noise-free original is known.
    """

    pick: Pick
    filter: str
    params: Values
    shape: Shape
    dtype: str
    stage: RunStage
    outputs: Mapping[str, np.ndarray[Any, Any]]
    work: Work
    errors: Mapping[str, Error] = field(default_factory=dict)
    ok: bool | None = None
    timings: Mapping[str, Timing] = field(default_factory=dict)
    counters: Mapping[str, Any] = field(default_factory=dict)
    counted_shape: Shape = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    failure: str = ""
    failure_kind: Literal["", "unsupported", "kernel", "memory"] = ""
    findings: tuple[Finding, ...] = ()
    printed: tuple[str, ...] = ()
    source_hash: str = ""
    forms: Mapping[str, Form] = field(default_factory=dict)
    quality: Mapping[str, Quality] = field(default_factory=dict)

    def _repr_html_(self) -> str:
        return html_of_run(self)

    @property
    def key(self) -> RunKey:
        """The key that identifies equal runs."""
        pick = self.pick
        return RunKey.of(self.filter, pick.variant, pick.device, self.params, pick.knobs, pick.edits)
