"""Runs every test kernel on two devices and compares what they leave behind.

    python -m tests.sim.crosscheck --devices sim:sm_90 cuda:0 --json crosscheck.json

A case is right when its arrays differ by no more than its allowance (most: not in a single bit) and when each device
satisfies the case's own judge, where threads may come in any order. Exit status 1 when a case is not.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from datetime import UTC, datetime
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from gpu_ops.devices import open_device
from gpu_ops.errors import DeviceError, KernelError
from gpu_ops.report.provenance import commit
from tests.sim.bench import Outcome, launch
from tests.sim.cases import TABLE
from tests.sim.compare import apart, judged
from tests.sim.table import Entry

SCHEMA = "kernelscope-crosscheck/1"


def check(row: Entry, devices: list[str]) -> dict[str, Any]:
    """One case on both devices: {"name", "ok", "distance", "allowed", "bit_equal", "problems", "seconds"}."""
    outcomes: list[Outcome] = []
    seconds: list[float] = []
    problems: list[str] = []
    given, expected = row.build()
    for device in devices:
        start = time.perf_counter()
        try:
            outcome = launch(row.build()[0], device)
        except (KernelError, DeviceError) as error:
            problems.append(f"{device}: {error}")
            continue
        seconds.append(round(time.perf_counter() - start, 4))
        problems += [f"{device}: {text}" for text in judged(row, given, outcome)]
        problems += [f"{device}: {finding}" for finding in outcome.findings]
        outcomes.append(outcome)
    far = apart(expected, *outcomes) if len(outcomes) == 2 else None
    if far is not None and far > row.across:
        problems.append(f"the devices differ by {far}, allowed are {row.across}")
    return {
        "name": row.name,
        "ok": not problems,
        "distance": far,
        "allowed": row.across,
        "bit_equal": far == 0,
        "judged": row.judge is not None,
        "problems": problems,
        "seconds": seconds,
    }


def run(devices: list[str], pattern: str, target: Path | None) -> dict[str, Any]:
    """The whole report; written after every case, so that a device that dies takes nothing along."""
    opened = [open_device(name) for name in devices]
    capability = min(d.limits.capability[0] * 10 + d.limits.capability[1] for d in opened)
    rows = [r for r in TABLE.values() if fnmatch(r.name, pattern) and r.capability <= capability]
    report: dict[str, Any] = {
        "schema": SCHEMA,
        "provenance": {
            **commit(),
            "devices": {name: device.describe() for name, device in zip(devices, opened, strict=True)},
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "left_out": sorted(r.name for r in TABLE.values() if r.capability > capability),
            "cases": len(rows),
            "complete": False,
        },
        "cases": [],
    }
    for row in rows:
        report["cases"].append(check(row, devices))
        report["provenance"]["complete"] = len(report["cases"]) == len(rows)
        if target is not None:
            target.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return report


def summary(report: dict[str, Any]) -> str:
    """A line for each case that is wrong or not equal to the last bit, and the totals."""
    cases = report["cases"]
    lines = []
    for case in cases:
        if case["ok"] and case["bit_equal"]:
            continue
        verdict = "within" if case["ok"] else "WRONG"
        lines.append(f"{verdict:7}{case['name']:40} apart {case['distance']} of {case['allowed']} allowed")
        lines += [f"       {problem}" for problem in case["problems"]]
    equal, right = sum(c["bit_equal"] for c in cases), sum(c["ok"] for c in cases)
    lines.append(f"{len(cases)} cases: {equal} equal to the last bit, {right} within their allowance")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """The exit status: 0 when all cases are right, 1 when one is not, 2 when a device is not there."""
    parser = argparse.ArgumentParser(prog="python -m tests.sim.crosscheck", description="Compare two devices.")
    parser.add_argument("--devices", nargs=2, metavar="DEVICE", default=["sim:sm_90", "cuda:0"])
    parser.add_argument("--only", default="*", metavar="PATTERN", help='names of cases, such as "float.*"')
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write the report")
    options = parser.parse_args(arguments)
    try:
        report = run(options.devices, options.only, options.json)
    except DeviceError as error:
        print(error, file=sys.stderr)
        return 2
    print(summary(report))
    return 0 if report["cases"] and all(c["ok"] for c in report["cases"]) else 1


if __name__ == "__main__":
    sys.exit(main())
