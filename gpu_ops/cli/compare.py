"""compare: two reports row by row, with a verdict each, and an exit code for what became slower."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from typing import Any

from gpu_ops.cli import streams
from gpu_ops.cli.measure import emit
from gpu_ops.cli.tables import align_filled, names, seconds
from gpu_ops.errors import FINE, REGRESSED, WRONG, ParamError, counted, plain
from gpu_ops.filters import FILTERS
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.report.changes import Pair, pairs
from gpu_ops.report.files import read_report
from gpu_ops.report.machines import machine_parts, same_machine
from gpu_ops.report.rows import Report, Row
from gpu_ops.stages import STAGES

SCHEMA = "kernelscope-comparison/1"
HEADINGS = ("filter", "variant", "device", "input", "before", "after", "change", "verdict")


def compare(args: argparse.Namespace) -> int:
    """Compare the rows of a report with those of an earlier one."""
    if args.stage not in STAGES:
        raise ParamError(f"--stage {plain(args.stage, 40)!r} is none; choose from {', '.join(STAGES)}.")
    before, after = read_report(args.before), read_report(args.after)
    if not args.any_machine:
        _check_machines(args, before, after)
    found = pairs(before.rows, after.rows, args.stage)
    if not any(pair.before and pair.after for pair in found):
        raise ParamError(
            f"{plain(args.before)} and {plain(args.after)} have no measurement in common; compare reports of the same "
            "filter, input and parameters."
        )
    if args.json:
        emit(args.json, _content(found))
    if args.json != "-":
        _print(args, found)
    if any(pair.verdict == "wrong" for pair in found):
        return WRONG
    return REGRESSED if any(pair.regressed for pair in found) else FINE


def _check_machines(args: argparse.Namespace, before: Report, after: Report) -> None:
    """Raises ParamError for reports of different machines, whose times say nothing about the program."""
    if not same_machine(before.provenance, after.provenance):
        machines = " and ".join(machine_parts(report.provenance) or "one not named" for report in (before, after))
        raise ParamError(
            f"The reports are of different machines ({machines}); give --any-machine to compare them all the same."
        )


def _content(found: Sequence[Pair]) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    for pair in found:
        row, own = pair.row, pair.change
        times = {
            side: one.seconds(pair.stage) if one else None
            for side, one in (("before", pair.before), ("after", pair.after))
        }
        job: dict[str, Any] = {
            "filter": row.filter,
            "variant": row.variant,
            "device": row.device,
            "params": dict(row.params),
        }
        job |= {"knobs": dict(row.knobs), "shape": list(row.shape), "dtype": row.dtype, "stage": pair.stage}
        times_s = {f"{side}_s": value for side, value in times.items()}
        rows.append({**job, **times_s, "ratio": own.ratio if own else None, "verdict": pair.verdict})
    return {"schema": SCHEMA, "rows": rows, "verdicts": dict(Counter(pair.verdict for pair in found))}


def _print(args: argparse.Namespace, found: Sequence[Pair]) -> None:
    lines: list[tuple[str, ...]] = [HEADINGS]
    for name, pair in zip(names([pair.row for pair in found]), found, strict=True):
        row, own = pair.row, pair.change
        times = (seconds(one.seconds(pair.stage)) if one else "" for one in (pair.before, pair.after))
        lines.append((row.filter, name, row.device, _size(row), *times, own.percent if own else "", pair.verdict))
    print(f"{STAGES[args.stage].name}: {plain(args.after)} against {plain(args.before)}")
    print(align_filled(lines, {"before", "after", "change"}))
    counts = Counter(pair.verdict for pair in found)
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.most_common()))
    worse = sum(pair.regressed for pair in found)
    if worse:
        streams.say(f"{counted(worse, 'row')} became slower, wrong or failed.")


def _size(row: Row) -> str:
    """The extents and the type of the input."""
    filter = next((f for f in FILTERS if f.id == row.filter), None)
    size = INPUT_KINDS[filter.accepts].size_text(row.shape) if filter else " x ".join(map(str, row.shape))
    return f"{size} {row.dtype}"
