"""xray: a kernel's source with counters at each line, or a comparison of two variants."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gpu_ops.batch.choosing import knobs_of
from gpu_ops.cli import streams
from gpu_ops.cli.inputs import check_flags, checked_values, current_ids, read_input
from gpu_ops.cli.kernel.cliffs import cliffs_text
from gpu_ops.cli.kernel.listing import listing
from gpu_ops.cli.kernel.mend import mending_text
from gpu_ops.cli.kernel.predict import predicted, prediction_json, prediction_text
from gpu_ops.cli.kernel.profile import profiles_text
from gpu_ops.cli.kernel.varied import check_page, write_page
from gpu_ops.cli.limits import within_limits
from gpu_ops.cli.measure import emit
from gpu_ops.cli.tables import align, value_text
from gpu_ops.counters import COLUMNS, COUNTERS, Counter, add_up
from gpu_ops.devices.coalescing import RULES
from gpu_ops.devices.kernel_source import compiled_with
from gpu_ops.devices.limits import limits_of
from gpu_ops.devices.nvrtc import supported_architectures
from gpu_ops.errors import FINE, WRONG, DeviceError, KernelError, ParamError, counted, shortened
from gpu_ops.explaining.cliffs.occupancy_steps import sentences as steps_in_words
from gpu_ops.explaining.cliffs.spilled_lines import spilled_lines
from gpu_ops.explaining.cliffs.targets import Cliffs, cliffs_dict, find_cliffs
from gpu_ops.explaining.comparison import sentences_json, side_by_side
from gpu_ops.explaining.machine_code import counted_as
from gpu_ops.explaining.prediction.gpus import find_gpu
from gpu_ops.explaining.profiler.comparing import KernelProfile, compare_with_profile, profile_dict
from gpu_ops.explaining.sentences import Sentence, compare, explain, number
from gpu_ops.explaining.source_files import FileXRay
from gpu_ops.explaining.spills import spilled_bytes
from gpu_ops.explaining.xray import BLOCK_LOADS, KernelXRay, XRay, as_dict, xray
from gpu_ops.filters import FILTERS
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.io.steps.apply import title_of
from gpu_ops.own_kernels.gate import conditions, reports
from gpu_ops.own_kernels.mending import kinds_of, mending
from gpu_ops.own_kernels.sources import read_kernel, with_own_name
from gpu_ops.params import check_values
from gpu_ops.running.affordable import affordable, cut_note, part_spans
from gpu_ops.running.suitable import check_type
from gpu_ops.running.verify import full_meta
from gpu_ops.task import Meta, Task
from gpu_ops.types import Filter, Input, Pick, Variant

Counts = Mapping[str, int]
WIDEST = 160
"""The most letters of a source line that are shown."""
AROUND = 2
"""Lines of a header that are shown around a line with counts."""
MOST_PRINTED = 200
"""The most lines of a kernel's own output that are shown."""
LONGEST_LISTING = 3000
"""The most lines of a file that are all shown."""
MOST_SPILLS = 8
"""The most source lines with spills that are shown."""
CALLS = "»"
"""The mark of the number of a line that calls others."""


def run(args: argparse.Namespace) -> int:
    """X-ray one variant, or compare two. Exit code 3 when a fault was found."""
    _check(args)
    wanted = conditions(args.gate) if args.gate else ()
    whole = read_input(args)
    filter = FILTERS.find(args.filter, whole.kind)
    check_type(filter, whole)
    part, starts = (whole, ()) if args.whole else affordable(whole)
    notes = [f"{cut_note(whole, part_spans(whole))} (--whole takes all of it)"] if starts else []
    notes += ["counted in a sample of the blocks and scaled to all"] if args.counters == "sample" else []
    note = "; ".join(notes)
    ids = current_ids(args, filter, args.variants, part.meta, _values(args, filter)[0])
    variants = [filter.variant(id) for id in ids] or [_top(args, filter, full_meta(part))]
    check_flags(args, filter, variants)
    if args.html:
        return write_page(args, filter, variants, (whole, part), _values(args, filter)[0])

    def own(text: object) -> str:
        return with_own_name(text, variants[0].kernels[0], Path(args.kernel).name) if args.kernel else str(text)

    try:
        rays = [_xray_within_limits(args, filter, variant, part) for variant in variants]
    except KernelError as error:  # the findings until the kernel stopped or reached a limit
        error.args = tuple(map(own, error.args))
        if not error.findings:
            raise
        print(stopped_text(error, [own(f) for f in error.findings], args.mend, filter.id))
        streams.say(error)
        return WRONG
    more, texts = _more(args, filter, variants, part, whole)
    kinds = [kind for x in rays for kind in kinds_of(x)]
    sentences = compare(*rays) if len(rays) == 2 else explain(rays[0])
    profiles = compare_with_profile(rays[0], args.ncu) if args.ncu else []
    if args.json:
        more["mending"] = mending(kinds, filter.id)
        emit(args.json, {**_json(rays, sentences, note, profiles, bool(args.show)), **more})
    if args.json != "-":
        print(_title(filter, part, rays[0], note))
        shown = profiles_text(rays[0], profiles) if args.ncu else ""
        print(own(shown or _text(rays, sentences, args.show)))
        print("".join(f"\n{own(text)}\n" for text in texts), end="")
        print(f"\n{advice}\n" if args.mend and (advice := mending_text(kinds, filter.id)) else "", end="")
    shipped = (variants[-1].kernels or ("",))[0]
    lines = reports(rays[-1], wanted, shipped, args.kernel or shipped)
    for line in lines:
        print(line, file=sys.stderr)
    return WRONG if lines or any(x.faulty for x in rays) else FINE


def _check(args: argparse.Namespace) -> None:
    """Raises ParamError, DeviceError before anything is computed."""
    check_page(args)
    if len(args.variants) > 2 and not args.html:
        raise ParamError(f"xray takes one variant, or two to compare, not {len(args.variants)}.")
    if (args.show or args.ncu) and len(args.variants) > 1:
        raise ParamError("--show and --ncu are of one variant; name one.")
    if args.gpu not in supported_architectures():
        raise DeviceError(f"NVRTC does not know {args.gpu}; it supports {', '.join(supported_architectures())}.")
    for name in args.predict:
        find_gpu(name)


def stopped_text(error: KernelError, texts: Sequence[str], mend: bool, filter: str = "") -> str:
    """The findings of a kernel that stopped, whose `texts` name its own file, and how to mend them."""
    lines = [f"  {f.severity}: {shortened(text)}" for f, text in zip(error.findings, texts, strict=True)]
    advice = [mending_text([f.kind for f in error.findings], filter)] if mend else []
    return "\n".join(["findings", *lines, *advice])


def _text(rays: Sequence[XRay], sentences: Sequence[Sentence], show: str | None) -> str:
    return _comparison(rays[0], rays[1], sentences) if len(rays) == 2 else single(rays[0], sentences, show)


def _top(args: argparse.Namespace, filter: Filter, meta: Meta) -> Variant:
    """The last variant with kernels that supports the task: the top of the ladder, which is the most optimised."""
    values, params = _values(args, filter)
    with_kernels = [v for v in filter.variants if v.kernels]
    flags = {k.name for v in with_kernels for k in v.knobs} & set(values)
    variants = [v for v in with_kernels if flags <= {k.name for k in v.knobs}] or with_kernels
    for variant in reversed(variants):
        try:
            knobs = check_values(variant.knobs, knobs_of(variant, values), variant.id)
        except ParamError:
            continue
        if variant.refusal(Task.of(meta, params, knobs, limits_of(args.gpu))) is None:
            return variant
    return variants[-1]


def _values(args: argparse.Namespace, filter: Filter) -> tuple[dict[str, Any], dict[str, Any]]:
    """The values of all flags, and the filter's parameters, checked."""
    values, params = checked_values(args, filter)
    return values, check_values(filter.params, params, filter.id)


def _xray(args: argparse.Namespace, filter: Filter, variant: Variant, input: Input) -> XRay:
    values, params = _values(args, filter)
    knobs = knobs_of(variant, values)
    how = {"counters": args.counters, "coalescing": args.coalescing, "code": not args.gate}
    return xray(filter, variant, input, params, knobs, args.gpu, _edits(args, variant), **how)


def _xray_within_limits(args: argparse.Namespace, filter: Filter, variant: Variant, input: Input) -> XRay:
    with within_limits(args, f"{variant.id} on a simulated {args.gpu}"):
        return _xray(args, filter, variant, input)


def _more(
    args: argparse.Namespace, filter: Filter, variants: Sequence[Variant], part: Input, whole: Input
) -> tuple[dict[str, Any], list[str]]:
    """The cliffs and the predicted times that are asked for, as JSON and as texts."""
    found, texts = dict[str, Any](), []
    if args.cliffs:
        cliffs = {v.id: _cliffs(args, filter, v, part) for v in variants}
        found["cliffs"] = {id: cliffs_dict(one) for id, one in cliffs.items()}
        texts += [cliffs_text(id, one) for id, one in cliffs.items()]
    for gpu in map(find_gpu, args.predict):
        times = predicted(args, filter, variants, whole, gpu)
        found.setdefault("predictions", []).append(prediction_json(args, filter, whole, times, gpu))
        texts.append(prediction_text(filter.id, whole, times, gpu))
    return found, texts


def _cliffs(args: argparse.Namespace, filter: Filter, variant: Variant, input: Input) -> Cliffs:
    values, params = _values(args, filter)
    pick = Pick(variant.id, "sim", knobs_of(variant, values), _edits(args, variant))
    with within_limits(args, f"{variant.id} on a simulated {args.gpu}"):
        return find_cliffs(filter, pick, params, input, args.gpu)


def _edits(args: argparse.Namespace, variant: Variant) -> dict[str, str]:
    """A user's kernel in place of the variant's first kernel file."""
    if args.kernel is None:
        return {}
    if len(args.variants) > 1 or not variant.kernels:
        raise ParamError("--kernel replaces the first kernel of one variant; name one variant.")
    return {variant.kernels[0]: read_kernel(args.kernel)}


def _json(
    rays: Sequence[XRay], sentences: list[Sentence], note: str, profiles: Sequence[KernelProfile], show: bool
) -> dict[str, Any]:
    about = {"note": note, "sentences": sentences_json(sentences)}
    if len(rays) == 1:
        more = {"profiles": profile_dict(profiles)} if profiles else {}
        return {**as_dict(rays[0], show), **about, **more}
    parts = {name: as_dict(x, False) for name, x in zip(("before", "after"), rays, strict=True)}
    return {"schema": parts["before"]["schema"], **parts, **about}


def _title(filter: Filter, input: Input, x: XRay, note: str) -> str:
    size = INPUT_KINDS[input.kind].size_text(x.shape)
    values = "".join(f"; {k} {v}" for k, v in x.params.items())
    cut = f"\n{note}" if note else ""
    return f"{filter.id} of {title_of(input)}, {size} {x.dtype}{values}; simulated {x.architecture}{cut}"


# One variant


def single(x: XRay, sentences: Sequence[Sentence], show: str | None = None) -> str:
    """The X-ray of one variant as text: sources with counts, totals, resources, sentences and findings. With `show` the
    code of its kernels, "ptx" or "sass", instead of the counts."""
    knobs = "".join(f", {k} {v}" for k, v in x.knobs.items())
    parts = [f"{x.variant}{knobs}  –  {x.idea}"]
    if show:
        parts += [listing(kernel, show) for kernel in x.kernels]
        return "\n\n".join([*parts, *(_resources(k) for k in x.kernels), _findings(x)])
    for kernel in x.kernels:
        parts += [_kernel(kernel), *_headers(kernel)]
    parts += [_legend(x), _totals(x), *(_resources(k) for k in x.kernels), _expected(x)]
    parts += ["\n".join(f"  {s.text}" for s in sentences), _findings(x)]
    return "\n\n".join(p for p in parts if p)


def _columns_of(counts: Sequence[Counts]) -> list[Counter]:
    return [c for c in COLUMNS if any(c.value(one) for one in counts)]


def _cell(counter: Counter, counts: Counts) -> str:
    return counter.cell(counts, lambda value: value_text(value, counter.hint))


def _kernel(kernel: KernelXRay) -> str:
    """The kernel's whole file, with counts; of a very long one the lines around those with counts."""
    grid, block = (_extent(shape, noun) for shape, noun in ((kernel.grid, "block"), (kernel.block, "thread")))
    times = f", {kernel.launches} launches; the first" if kernel.launches > 1 else ""
    heading = f"{kernel.file}  {kernel.name}{times}: {grid} of {block}"
    own = kernel.files[0]
    last = len(own.text.splitlines())
    lines = range(1, last + 1) if last <= LONGEST_LISTING else _near(own)
    return "\n".join([heading, *_compiled(kernel), _table(own, lines)])


def _near(file: FileXRay) -> list[int]:
    """The lines with counts, and a few lines around each."""
    last = len(file.text.splitlines())
    near = {n + by for n in (*file.lines, *file.calls) for by in range(-AROUND, AROUND + 1)}
    return [n for n in sorted(near) if 1 <= n <= last]


def _extent(shape: Sequence[int], noun: str) -> str:
    sizes = [n for n in shape if n > 1]
    return f"{' x '.join(map(str, sizes))} {noun}s" if sizes else f"1 {noun}"


def _compiled(kernel: KernelXRay) -> list[str]:
    """The defines of the compilation, one line for each set."""
    return [f"  compiled with: {defines}" for defines in compiled_with(kernel.defines)]


def _headers(kernel: KernelXRay) -> list[str]:
    """Each header with counts: its lines with counts, and a few lines around them."""
    total = kernel.totals.get("warp_instructions", 0)
    parts = []
    for file in kernel.files[1:]:
        own = add_up(file.lines.values()).get("warp_instructions", 0)
        share = f"{own / total:.0%}" if total else "some"
        heading = f"{file.file}  {share} of the instructions of {kernel.name}"
        parts.append(f"{heading}\n{_table(file, _near(file))}")
    return parts


def _table(file: FileXRay, numbers: Sequence[int]) -> str:
    """Lines of a file with their counts; a line that calls others has a mark, and their counts with its own."""
    counts = {n: add_up((file.lines.get(n, {}), file.calls.get(n, {}))) for n in {*file.lines, *file.calls}}
    columns = _columns_of([*counts.values()])
    rows, text, before = [["line", *(c.column for c in columns), "source"]], file.text.splitlines(), 0
    for line in numbers:
        if line > before + 1 and before:
            rows.append(["…", *("" for _ in columns), ""])
        mark = CALLS if line in file.calls else " "
        cells = (_cell(c, counts.get(line, {})) for c in columns)
        rows.append([f"{line}{mark}", *cells, shortened(text[line - 1].expandtabs(4), WIDEST)])
        before = line
    if 0 in counts:
        rows.append(["? ", *(_cell(c, counts[0]) for c in columns), "(no source line: added by the compiler)"])
    return align(rows, frozenset(range(len(columns) + 1)))


def _legend(x: XRay) -> str:
    columns = _columns_of([counts for k in x.kernels for f in k.files for counts in f.lines.values()])
    calls = any(f.calls for k in x.kernels for f in k.files)
    width = max((len(c.column) for c in columns), default=0)
    rule = [f"older rule: {RULES[x.coalescing]}"] if x.coalescing != "today" else []
    mark = (
        [f"  {CALLS.ljust(width)}  the line including all functions that it calls, whose lines have their own counts"]
        if calls
        else []
    )
    names = max((len(c.name) for c in columns), default=0)
    meanings = [f"  {c.column.ljust(width)}  {c.name.ljust(names)}  {c.description}" for c in columns]
    return "\n".join([*meanings, *mark, *(f"  {r}" for r in rule)])


def _totals(x: XRay) -> str:
    totals = x.totals
    rows = [["in all", "count", f"per {x.unit}", "ideal", "ratio", *(["predicted"] if x.predicted else [])]]
    for counter in COUNTERS.values():
        count, best = totals.get(counter.id, 0), totals.get(counter.best, 0)
        if count and counter.hint != "best":
            at_best = [value_text(best, counter.hint), value_text(count / best, "ratio")] if best else ["", ""]
            predicted = [number(x.predicted[counter.id])] if counter.id in x.predicted else [""] if x.predicted else []
            own = value_text(count, counter.hint), number(count / x.outputs)
            rows.append([counter.name, *own, *at_best, *predicted])
    return align(rows, frozenset(range(1, 6)))


def _resources(kernel: KernelXRay) -> str:
    parts = [
        f"{kernel.resources.get('registers', 0)} registers per thread",
        f"{spilled_bytes(kernel.resources):,} bytes spilled",
        f"{kernel.shared_bytes:,} bytes of shared memory per block",
    ]
    text = f"{kernel.name}: {', '.join(parts)}\n  {counted_as(kernel.code)}"
    o = kernel.occupancy
    if o is None:
        return f"{text}\n  occupancy: not known for this GPU"
    residents = f"{counted(o.blocks, 'block')}, {o.warps} of {o.most} warps per multiprocessor"
    steps = steps_in_words(kernel.architecture, kernel.demand)
    spills = [f"spilled at {one.text}" for one in (spilled_lines(kernel.code) if kernel.code else ())[:MOST_SPILLS]]
    lines = [f"occupancy {o.share:.0%}: {residents}, limited by {o.limiter}", *steps, *spills]
    return "\n  ".join([text, *lines])


def _expected(x: XRay) -> str:
    """Global loads of blocks, as counted and by the variant's formula."""
    if x.expected is None or len(x.kernels) != 1:
        return ""
    counted = {**x.kernels[0].block_loads, "total": x.totals.get("global_load_threads", 0)}
    rows = [[COUNTERS["global_load_threads"].name, "counted", "formula"]]
    for name, title in zip((*BLOCK_LOADS, "total"), ("first block", "inner block", "last block", "all"), strict=True):
        rows.append([title, str(counted.get(name, "not in the sample")), str(getattr(x.expected, name))])
    return align(rows, frozenset({1, 2}))


def _findings(x: XRay) -> str:
    texts = [f"{f.severity}: {f}" for f in x.findings]
    lines = ["findings", *(f"  {text}" for text in texts)] if texts else ["findings: none"]
    if x.printed:
        lines += ["printed", *(f"  {shortened(text.rstrip())}" for text in x.printed[:MOST_PRINTED])]
        rest = len(x.printed) - MOST_PRINTED
        lines += [f"  … and {counted(rest, 'more line')}: --json has them all"] if rest > 0 else []
    return "\n".join(lines)


# Two variants


def _comparison(a: XRay, b: XRay, sentences: Sequence[Sentence]) -> str:
    rows = [[f"per {b.unit}", a.variant, b.variant, "ratio"]]
    for row in side_by_side(a, b):
        ratio = "" if row.ratio is None else f"{row.ratio:.3g}"
        rows.append([COUNTERS[row.counter].name, number(row.before), number(row.after), ratio])
    text = "\n".join(f"  {s.text}" for s in sentences)
    resources = "\n".join(_resources(k) for x in (a, b) for k in x.kernels)
    ideas = f"{a.variant}  –  {a.idea}\n{b.variant}  –  {b.idea}"
    findings = "\n".join(f"{x.variant} – {_findings(x)}" for x in (a, b))
    parts = [ideas, align(rows, frozenset({1, 2, 3})), resources, text, findings]
    return "\n\n".join(p for p in parts if p)
