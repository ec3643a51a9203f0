"""Counts what the launches of every recorded job do, for the test of predicted times.

python -m tests.explaining.count_recorded FILE.json.xz [--part N/PARTS] [--seconds S] [--add FILE.json.xz …]

Every verified time of today's code in `resources/recorded` names a job and its input. Each is planned at its full size
and counted as `kernelscope predict` does; the file has the counts with the recorded seconds by card. About five seconds
a job on one core: parts run side by side, and `--add` joins their files, whose jobs are not counted again. After
`--seconds` no further job is begun; what is missing is counted by another run that adds this file.
"""

from __future__ import annotations

import argparse
import json
import lzma
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gpu_ops.errors import KernelscopeError
from gpu_ops.explaining.judging import recorded_reports
from gpu_ops.explaining.prediction.counting import count_launches
from gpu_ops.explaining.prediction.gpus import GPUS
from gpu_ops.explaining.prediction.launches import LaunchCounts
from gpu_ops.filters import find_filter
from gpu_ops.report.kernel_age import has_older_kernels
from gpu_ops.report.rows import Row
from gpu_ops.running.recreate import from_origin

Job = dict[str, Any]
UNUSED = (
    "block_loads",
    "block_store",
    "block_atomic",
    "blocks",
    "launches",
    "thread_",
    "divergent",
    "shared_",
    "local_b",
)
USED = ("shared_wavefronts",)
"""The beginnings of counts that no time depends on, but for those in USED."""
NOT_TIMED = {"transfer"}
"""Filters whose plans copy between host and device, which the model does not know."""


def recorded_jobs() -> Iterator[tuple[str, Row]]:
    """Each recorded time of today's code on a GPU, with the name of its card."""
    models = {gpu.model: gpu.id.upper() for gpu in GPUS.values()}
    for report in recorded_reports().values():
        for row in report.rows:
            model = str(report.provenance.get("devices", {}).get(row.device, {}).get("model", ""))
            timed = row.source_hash and row.ok and "kernel" in row.stages and row.filter not in NOT_TIMED
            if model in models and timed and not has_older_kernels(row):
                yield models[model], row


def key_of(job: Job) -> str:
    """What names a job."""
    return json.dumps([value for name, value in job.items() if name not in ("launches", "seconds")], sort_keys=True)


def job_of(row: Row) -> Job:
    """A job without its counts and seconds."""
    values = {"params": dict(row.params), "knobs": dict(row.knobs), "dtype": row.dtype, "shape": list(row.shape)}
    names = {"filter": row.filter, "variant": row.variant, "input": dict(row.input)}
    job = {**names, **values, "launches": [], "seconds": {}}
    return dict(json.loads(json.dumps(job, default=list)))


def counted(row: Row) -> list[list[Any]]:
    """What each launch of a job does."""
    filter = find_filter(row.filter)
    input = from_origin(row.input)
    found = count_launches(filter, filter.variant(row.variant), input, row.params, row.knobs, GPUS["h200"])
    return [launch_row(launch) for launch in found]


def launch_row(launch: LaunchCounts) -> list[Any]:
    """A launch as JSON: see `launches_of` in test_predicted_times.py."""
    sizes = [launch.blocks, launch.threads, launch.resident, int(launch.early)]
    counts = {
        name: count
        for name, count in sorted(launch.counts.items())
        if count and (name in USED or not name.startswith(UNUSED))
    }
    end = [launch.values, int(launch.waits)] if launch.values or launch.waits else []
    return [launch.kernel, *sizes, launch.moved, launch.arrays, launch.spilled, counts, *end]


def main() -> None:
    """Count, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--add", type=Path, nargs="*", default=[])
    args = parser.parse_args()
    part, parts = map(int, args.part.split("/"))
    jobs = {key_of(job): job for path in args.add for job in json.loads(lzma.decompress(path.read_bytes()))}
    rows: dict[str, Row] = {}
    for card, row in recorded_jobs():
        key = key_of(job_of(row))
        rows.setdefault(key, row)
        jobs.setdefault(key, job_of(row))["seconds"][card] = round(row.stages["kernel"].median, 10)
    end = time.monotonic() + args.seconds
    for key in sorted(key for key in rows if not jobs[key]["launches"])[part::parts]:
        if time.monotonic() > end:
            break
        try:
            jobs[key]["launches"] = counted(rows[key])
        except KernelscopeError as error:
            print(f"{key[:100]}: {error}")
    done = [job for _, job in sorted(jobs.items()) if job["launches"]]
    args.file.write_bytes(lzma.compress(json.dumps(done, separators=(",", ":")).encode(), preset=9))
    print(f"{len(done)} of {len(jobs)} jobs are counted")


if __name__ == "__main__":
    main()
