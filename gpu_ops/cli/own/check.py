"""check: many kernel files held to a filter's contract in parallel, a line each."""

from __future__ import annotations

import argparse
import glob
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gpu_ops import __version__
from gpu_ops.cli.kernel.mend import add_mend, example_text, mending_lines
from gpu_ops.cli.measure import emit
from gpu_ops.cli.tables import align
from gpu_ops.counters import counter_name
from gpu_ops.devices.compiler import ARCHITECTURES
from gpu_ops.errors import FINE, WRONG, InputError, plain
from gpu_ops.html import page, table
from gpu_ops.io import replacing
from gpu_ops.own_kernels.checking import (
    COMPARED,
    Check,
    Verdict,
    check_files,
    check_of,
    kept,
    mending_of,
    report_of,
)
from gpu_ops.own_kernels.gate import annotation
from gpu_ops.own_kernels.kernel_process import MEBIBYTES, SECONDS
from gpu_ops.own_kernels.sources import read_kernel

SIGNS = {"right": "right", "wrong": "WRONG", "failed": "FAILED"}


def add_check(commands: Any) -> None:
    """Add the command check, with its arguments."""
    help = "hold many kernel files to a filter's contract, with a line for each"
    parser = commands.add_parser("check", help=help, description=f"{help}; each in a process with limits.")
    parser.set_defaults(command=run)
    parser.add_argument("filter", metavar="FILTER", help="a filter's id (kernelscope list), such as mean1d")
    parser.add_argument(
        "files", nargs="+", metavar="FILE.cu", help="kernel files, or patterns such as 'solutions/*.cu'"
    )
    parser.add_argument("--variant", metavar="ID", help="the variant whose kernel they replace (default: the first)")
    parser.add_argument("--gpu", default=ARCHITECTURES[0], metavar="SM", help=f"default {ARCHITECTURES[0]}")
    parser.add_argument("--jobs", type=int, default=0, metavar="N", help="files at a time (default: one per processor)")
    parser.add_argument(
        "--deadline",
        type=float,
        default=SECONDS,
        metavar="SECONDS",
        help=f"for each case (default {SECONDS:g})",
    )
    parser.add_argument(
        "--memory", type=float, default=MEBIBYTES, metavar="MIB", help=f"for each case (default {MEBIBYTES:g})"
    )
    add_mend(parser)
    parser.add_argument("--gate", default="", metavar="CONDITIONS", help="for the counters of a launch, as for xray")
    parser.add_argument("--json", metavar="FILE", help="the report; files that it has are not checked again")
    parser.add_argument("--html", metavar="FILE.html", help="the report as a table for people")


def run(args: argparse.Namespace) -> int:
    """Check all files. Exit code 3 where one is not right."""
    limits = {"seconds": args.deadline, "mebibytes": args.memory}
    check = check_of(args.filter, args.variant, args.gpu, gate=args.gate, **limits)
    texts, unread = _read(check, args.files)
    done = kept(_earlier(args.json), check, texts) if args.json and args.json != "-" else {}
    for verdict in done.values():
        _say(verdict, args.json, " (checked before)")
    done |= unread
    for verdict in unread.values():
        _say(verdict, args.json)
    left = {name: text for name, text in texts.items() if name not in done}
    for verdict in check_files(check, left, args.jobs):
        done[verdict.file] = verdict
        _say(verdict, args.json)
        if args.json and args.json != "-":  # what is done is kept if this is interrupted
            emit(args.json, report_of(check, [*done.values()]))
    verdicts = sorted(done.values(), key=lambda v: v.file)
    if args.json:
        emit(args.json, report_of(check, verdicts))
    if args.html:
        with replacing(args.html) as file:
            file.write(_html(check, verdicts).encode())
    wrong = sum(v.status != "right" for v in verdicts)
    if args.json != "-":
        print(_counters(verdicts))
        print("".join(f"{text}\n" for text in mending_lines(mending_of(check, verdicts)) if args.mend), end="")
        print(
            f"{len(verdicts) - wrong} of {len(verdicts)} right ({check.filter} {check.variant}, {check.architecture})"
        )
    return WRONG if wrong else FINE


def _read(check: Check, patterns: Sequence[str]) -> tuple[dict[str, str], dict[str, Verdict]]:
    """The texts of the files, and a verdict on each that cannot be read: the others are checked nevertheless."""
    texts, unread = dict[str, str](), dict[str, Verdict]()
    for name in _names(patterns):
        try:
            texts[name] = read_kernel(name)
        except InputError as error:
            unread[name] = Verdict(name, check.key(""), "failed", "no case ran", str(error))
    return texts, unread


def _names(patterns: Sequence[str]) -> list[str]:
    """The files, sorted, each once. Raises InputError for a folder, and for a pattern without files."""
    found: dict[str, None] = {}
    for pattern in patterns:
        names = [pattern] if Path(pattern).exists() else sorted(glob.glob(pattern, recursive=True))
        files = [name for name in names if not Path(name).is_dir()]
        if not files:
            why = "is a folder" if Path(pattern).is_dir() else "fits no file"
            raise InputError(f"{plain(pattern)} {why}; give kernel files, such as 'solutions/*.cu'.")
        found |= dict.fromkeys(files)
    return sorted(found)


def _earlier(path: str) -> dict[str, Any]:
    """The report of an earlier check; empty where there is none. Raises InputError for another file."""
    if not Path(path).exists():
        return {}
    try:
        report = json.loads(Path(path).read_text(encoding="utf-8"))
        if report["schema"] == "kernelscope-check/1":
            found: dict[str, Any] = report
            return found
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise InputError(f"{plain(path)} is no report of check; name a new file with --json.")


def _say(verdict: Verdict, json_target: str | None, note: str = "") -> None:
    if json_target != "-":
        print(f"{verdict}{note}", flush=True)
    if verdict.status != "right" and (text := annotation(verdict.file, verdict.line, verdict.text)):
        print(text, file=sys.stderr)


def _rows(verdicts: Sequence[Verdict]) -> list[list[str]]:
    """Counters per element of the result, of each file and of the shipped kernel."""
    counted = [v for v in verdicts if v.counters and v.shipped]
    shipped = [("shipped kernel", counted[0].shipped)] if counted else []
    named = [*((plain(v.file), v.counters) for v in counted), *shipped]
    return [[name, *(f"{(counts or {}).get(id, 0):.3g}" for id in COMPARED)] for name, counts in named]


def _counters(verdicts: Sequence[Verdict]) -> str:
    rows = _rows(verdicts)
    headings = ["per element of the result", *(counter_name(id) for id in COMPARED)]
    return align([headings, *rows], frozenset(range(1, 1 + len(COMPARED)))) if rows else "no kernel was counted"


def _advice(check: Check, verdicts: Sequence[Verdict]) -> list[list[str]]:
    found = mending_of(check, verdicts)
    return [[", ".join(one["kinds"]), one["advice"], example_text(one["example"])] for one in found]


def _html(check: Check, verdicts: Sequence[Verdict]) -> str:
    right = sum(v.status == "right" for v in verdicts)
    title = f"{check.filter} {check.variant}: {right} of {len(verdicts)} right"
    lines = [
        [v.file, SIGNS[v.status], v.cases, v.text, "; ".join(f for f in v.findings if f != v.text)] for v in verdicts
    ]
    headings = ("per element of the result", *(counter_name(id) for id in COMPARED))
    every = len(verdicts) + 1
    parts = [
        table(("file", "verdict", "cases", "first fault", "other findings"), lines, every),
        table(headings, _rows(verdicts), every),
        table(("fault", "how to mend it", "a shipped kernel that does it right"), _advice(check, verdicts)),
    ]
    about = f"Each file in place of the kernel of {check.variant}, on a simulated GPU of {check.architecture}"
    about += f", with the conditions {check.gate}" if check.gate else ""
    about += f"; at most {check.seconds:g} s and {check.mebibytes:g} MiB for a case. Kernelscope {__version__}."
    return page(title, about, *parts)
