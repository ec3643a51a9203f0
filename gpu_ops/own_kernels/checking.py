"""Kernels of one's own held to a filter's contract: one file, or many in parallel, each in a process with limits."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from gpu_ops.counters import FIGURES, value_of
from gpu_ops.device_names import is_simulated
from gpu_ops.devices import device_statuses, open_device
from gpu_ops.devices.compiler import ARCHITECTURES
from gpu_ops.devices.kernel_source import read_source
from gpu_ops.devices.nvrtc import supported_architectures
from gpu_ops.errors import DeviceError, KernelError, ParamError, plain, shortened
from gpu_ops.explaining.xray import XRay, xray
from gpu_ops.filters import FILTERS
from gpu_ops.io import sample
from gpu_ops.own_kernels.gate import broken, conditions
from gpu_ops.own_kernels.kernel_process import MEBIBYTES, SECONDS, KernelProcess, Outcome, piece
from gpu_ops.own_kernels.mending import kinds_of, mending
from gpu_ops.own_kernels.sources import with_own_name
from gpu_ops.params import Values
from gpu_ops.progress import Limit
from gpu_ops.running.contract import SIMULATED_WORK, Case, case_input, check_case, covering_cases, long_cases, takes
from gpu_ops.types import Filter, Input, Run, Variant
from gpu_ops.version import __version__

COMPARED = ("global_load_sectors", "global_store_sectors", "bank_conflicts", "divergent_branches", "warp_instructions")
"""The counters of a report, per element of the result, and figures, which are ratios already."""
SAMPLES: Mapping[str, tuple[str, dict[str, Any]]] = {
    "signal": ("noise", {"length": 4096}),
    "image": ("noise_image", {"size": "64x64"}),
}
"""The input of the counters, for each kind, where a variant takes it."""
MOST_FINDINGS = 5
MOST_WRONG = 10
Limited = Callable[[str], AbstractContextManager[Limit]]


@dataclass(frozen=True)
class Held:
    """A kernel held to the contract: the cases that ran, all cases, and the faults of those that were wrong.
    `reached` says that the last one met a limit of time or memory; `kinds` are those of the findings."""

    ran: int
    cases: int
    wrong: tuple[str, ...]
    reached: bool = False
    kinds: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """Such as "77 of 78 cases right"."""
        text = f"{self.ran - len(self.wrong):,} of {self.ran:,} cases right" if self.cases else "one launch counted"
        return f"{text}; {self.cases - self.ran} more did not run" if self.ran < self.cases else text


def hold(filter: Filter, variant: Variant, edits: Mapping[str, str], device: str, within: Limited) -> Held:
    """Hold a variant with edited kernel files to the filter's whole contract on a device. `within(what)` limits each
    case; one that reaches a limit ends the test, because the next ones would as well. A kernel that a cheap case shows
    wrong is not tried with the long ones, and after MOST_WRONG wrong cases with no others."""
    limits = open_device(device).limits
    most = SIMULATED_WORK if is_simulated(device) else math.inf
    cheap, long = covering_cases(filter, variant, limits, most_work=most), long_cases(filter, variant, limits, most)
    cases, wrong, kinds, ran = [*cheap, *long], list[str](), dict[str, None](), 0
    for number, case in enumerate(cases, start=1):
        if wrong and number > len(cheap) or len(wrong) == MOST_WRONG:
            break
        with within(f"case {number} of {len(cases)} on {device} ({case})") as limit:
            result = check_case(filter, variant, case, device, edits)
        ran = number
        kinds |= dict.fromkeys(f.kind for f in result.findings)
        if result.failure or not result.ok:
            wrong.append(f"{case}: {result.failure or why_wrong(result)}")
        if limit.reached:
            return Held(ran, len(cases), tuple(wrong), True, tuple(kinds))
    return Held(ran, len(cases), tuple(wrong), kinds=tuple(kinds))


def why_wrong(result: Run) -> str:
    """The first fault that a simulated GPU found, or the error of the result."""
    if result.findings:
        return str(result.findings[0])
    worst = max(result.errors.values(), key=lambda e: e.relative)
    if worst.ok:
        return "; ".join(result.notes)
    return f"error {worst.relative:.2g} at {worst.worst}, allowed {worst.tolerance:.2g}"


def variant_to_replace(filter: Filter, name: str | None) -> Variant:
    """The variant whose first kernel file is replaced: the one with that id, or the first one with a kernel."""
    with_kernels = [v for v in filter.variants if v.kernels]
    variant = filter.variant(name) if name else with_kernels[0]
    if not variant.kernels:
        choices = ", ".join(v.id for v in with_kernels)
        raise ParamError(f"{variant.id} has no kernel to replace; name one of {choices} with --variant.")
    return variant


def usual_device() -> str:
    """The device of an edited kernel where none is named: the first GPU, or a simulated one."""
    return "cuda:0" if any(s.kind == "cuda" and s.available for s in device_statuses()) else "sim"


Status = Literal["right", "wrong", "failed"]


@dataclass(frozen=True)
class Verdict:
    """The result for one file: "failed" where it does not compile, reaches a limit or crashes. `text` is the reason or
    the first wrong case, `findings` are those of the simulated GPU at the counted launch, `counters` per element of the
    result, next to those of the `shipped` kernel; `kinds` are those of all findings, and what costs time where a
    condition is not met, as `mending` takes them; `outputs` are the elements of the result. Equal for equal files on
    every machine."""

    file: str
    hash: str
    status: Status
    cases: str
    text: str
    findings: tuple[str, ...] = ()
    counters: Mapping[str, float] | None = None
    shipped: Mapping[str, float] | None = None
    kinds: tuple[str, ...] = ()
    outputs: int = 0

    @property
    def totals(self) -> dict[str, float]:
        """The counters of the whole launch, as conditions name them; figures are ratios already."""
        counters = (self.counters or {}).items()
        return {id: value if id in FIGURES else round(value * self.outputs) for id, value in counters}

    def __str__(self) -> str:
        """One line."""
        sign = self.status if self.status == "right" else self.status.upper()
        return f"{sign:6}  {plain(self.file)}  {self.cases}" + (f": {shortened(self.text)}" if self.text else "")

    @property
    def line(self) -> int:
        """The line of the file that the text begins with; 0 where it names none."""
        match = re.match(rf"(?:{re.escape(self.file)} does not compile: )?{re.escape(self.file)}:(\d+)", self.text)
        return int(match[1]) if match else 0


@dataclass(frozen=True)
class Check:
    """What files are held to: the variant of a filter whose first kernel file they replace, simulated on an
    architecture; seconds and MiB are limits for each case. `gate` are conditions for the counters of a launch, as for
    `conditions`; with `contract` the whole contract of the filter is tested too."""

    filter: str
    variant: str
    architecture: str = ARCHITECTURES[0]
    seconds: float = SECONDS
    mebibytes: float = MEBIBYTES
    gate: str = ""
    contract: bool = True

    def key(self, text: str) -> str:
        """A hash of all that the verdict on a file depends on."""
        variant = FILTERS.find(self.filter).variant(self.variant)
        shipped = [read_source(file) for file in variant.kernels]
        how = (self.gate, "" if self.contract else "no contract")
        parts = (__version__, self.filter, self.variant, self.architecture, *how, *shipped, text)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

    def verdict(self, name: str, text: str) -> Verdict:
        """Check one file in this process."""
        filter = FILTERS.find(self.filter)
        variant = filter.variant(self.variant)
        file, hash = variant.kernels[0], self.key(text)
        device = f"sim:{self.architecture}"

        def within(what: str) -> AbstractContextManager[Limit]:
            return piece(f"{plain(name)}: {what}", self.seconds, self.mebibytes)

        def own(text: object) -> str:
            return shortened(with_own_name(text, file, name))

        try:
            with within("compiling"):
                counted = self._xray(filter, variant, {file: text})
            held = hold(filter, variant, {file: text}, device, within) if self.contract else Held(0, 0, ())
        except KernelError as error:
            findings = tuple(own(f) for f in error.findings[:MOST_FINDINGS])
            kinds = tuple(dict.fromkeys(f.kind for f in error.findings))
            return Verdict(name, hash, "failed", "no case ran", own(error), findings, kinds=kinds)
        findings = tuple(own(f) for f in counted.findings[:MOST_FINDINGS])
        faults = [f for f in counted.findings if f.severity == "error"]
        unmet = broken(counted, conditions(self.gate)) if self.gate else ()
        first = held.wrong[-1] if held.reached else (*faults, *held.wrong, *unmet, "")[0]
        status: Status = "failed" if held.reached else "wrong" if first else "right"
        numbers = _per_output(counted), _per_output(self._xray(filter, variant, {}))
        known = kinds_of(counted) if unmet else [f.kind for f in counted.findings]
        kinds = tuple(dict.fromkeys((*known, *held.kinds)))
        return Verdict(name, hash, status, held.summary, own(first), findings, *numbers, kinds, counted.outputs)

    def _xray(self, filter: Filter, variant: Variant, edits: Mapping[str, str]) -> XRay:
        return xray(filter, variant, *counted_launch(filter, variant, self.architecture), self.architecture, edits)


def counted_launch(filter: Filter, variant: Variant, architecture: str) -> tuple[Input, Values, Values]:
    """The input, parameters and knobs whose launches are counted: one of SAMPLES with all defaults or, where the
    variant does not take these, the largest of its contract's quick cases with random data."""
    name, options = SAMPLES[filter.accepts]
    input, limits = sample(name, **options), open_device(f"sim:{architecture}").limits
    defaults = [{p.name: p.default for p in params} for params in (filter.params, variant.knobs)]
    if takes(filter, variant, Case(input.array.shape, str(input.array.dtype), "random", *defaults), limits):
        return input, {}, {}
    cases = covering_cases(filter, variant, limits, most_work=SIMULATED_WORK)
    case = max((c for c in cases if c.data == "random"), key=lambda c: math.prod(c.shape))
    return case_input(filter, variant, case), case.params, case.knobs


def check_of(filter: str, variant: str | None = None, architecture: str = ARCHITECTURES[0], **how: Any) -> Check:
    """What files are held to; `how` are further fields of Check. Raises ParamError, DeviceError for a name or a value
    that does not exist."""
    if architecture not in supported_architectures():
        raise DeviceError(f"NVRTC does not know {architecture}; it supports {', '.join(supported_architectures())}.")
    found = FILTERS.named(filter)
    if len(found) > 1:
        raise ParamError(f"{filter} is several filters; name one of {', '.join(f.id for f in found)}.")
    check = Check(found[0].id, variant_to_replace(found[0], variant).id, architecture, **how)
    if not 0 < check.seconds < 1e6 or not 0 < check.mebibytes < 1e6:
        raise ParamError("--deadline and --memory are numbers above 0 and below a million.")
    if check.gate:
        conditions(check.gate)
    return check


def _per_output(x: XRay) -> dict[str, float]:
    values = {id: value_of(id, x.totals) or 0 for id in COMPARED}
    return {id: round(value if id in FIGURES else value / x.outputs, 6) for id, value in values.items()}


def check_files(check: Check, texts: Mapping[str, str], jobs: int = 0) -> Iterator[Verdict]:
    """Check files by name, `jobs` at a time (0: one for each processor), each in a process that is ended at its limits.
    Verdicts come as they are ready; files of one text are checked once."""
    waiting, same = _grouped(texts)
    busy: dict[str, KernelProcess] = {}
    idle: list[KernelProcess] = []
    jobs = jobs or os.cpu_count() or 1
    try:
        while waiting or busy:
            while waiting and len(busy) < jobs:
                name = waiting.pop(0)
                busy[name] = process = idle.pop() if idle else KernelProcess(WORK)
                process.start({"check": asdict(check), "name": name, "text": texts[name]}, plain(name))
            for name, process in list(busy.items()):
                outcome = process.poll(POLL)
                if outcome is None:
                    continue
                idle.append(busy.pop(name))
                verdict = _verdict(outcome, name, check.key(texts[name]))
                for other in same[name]:
                    yield replace(verdict, file=other, text=verdict.text.replace(name, other))
    finally:
        for process in (*busy.values(), *idle):
            process.close()


POLL = 0.02
WORK = "gpu_ops.own_kernels.checking:work"


def work(request: dict[str, Any]) -> dict[str, Any]:
    """The verdict on a file, in a process for it."""
    return asdict(Check(**request["check"]).verdict(request["name"], request["text"]))


def _verdict(outcome: Outcome, name: str, hash: str) -> Verdict:
    if outcome.result is None:
        return Verdict(name, hash, "failed", "no case ran", outcome.reason)
    return _read(outcome.result)


def _read(entry: Mapping[str, Any]) -> Verdict:
    """A verdict that was JSON. Raises TypeError, KeyError."""
    return Verdict(**{**entry, "findings": tuple(entry["findings"]), "kinds": tuple(entry["kinds"])})


def _grouped(texts: Mapping[str, str]) -> tuple[list[str], dict[str, list[str]]]:
    """The first file of each text, and all files with its text."""
    groups: dict[str, list[str]] = {}
    for name, text in texts.items():
        groups.setdefault(text, []).append(name)
    return [names[0] for names in groups.values()], {names[0]: names for names in groups.values()}


def kept(report: Mapping[str, Any], check: Check, texts: Mapping[str, str]) -> dict[str, Verdict]:
    """The verdicts of an earlier report that still hold, by file."""
    found = {}
    for entry in report.get("files", ()):
        with suppress(TypeError, KeyError):
            verdict = _read(entry)
            if verdict.file in texts and verdict.hash == check.key(texts[verdict.file]):
                found[verdict.file] = verdict
    return found


def mending_of(check: Check, verdicts: Sequence[Verdict]) -> list[dict[str, Any]]:
    """How to mend the faults of all files, each once."""
    return mending((kind for v in sorted(verdicts, key=lambda v: v.file) for kind in v.kinds), check.filter)


def report_of(check: Check, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """A report as JSON, schema kernelscope-check/1: the same for the same files, in any order of work."""
    return {
        "schema": "kernelscope-check/1",
        "kernelscope": __version__,
        **{k: v for k, v in asdict(check).items() if k in ("filter", "variant", "architecture") or k == "gate" and v},
        "files": json.loads(json.dumps([asdict(v) for v in sorted(verdicts, key=lambda v: v.file)])),
        "mending": mending_of(check, verdicts),
    }
