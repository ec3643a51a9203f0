"""How fast a batch is by one process, by workers of Dask, and by a plain pool of processes, which has no scheduler.

python -m tests.batch.speed --files 1000 --workers 2 [--folder /dev/shm] [--json FILE]

Images of 1024² uint16 through a 3×3 mean. Rates are those of the last four fifths, without the start of processes.
Processor seconds of all processes tell what the work costs where other programs use the machine as well.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from gpu_ops.batch.files import Item, find_files, items
from gpu_ops.batch.run import Batch
from gpu_ops.batch.spec import BatchSpec
from gpu_ops.batch.work import Work
from gpu_ops.io import save

DIFFERENT = 50
"""Images of different values; the others are links to them."""
CHUNK = 16
LOOK_S = 1.0
"""Seconds between two looks at all processes, each of which takes milliseconds itself."""


class Cost:
    """Processor seconds and the largest resident bytes of this process and its children, looked at now and then."""

    def __init__(self) -> None:
        self._seconds, self.largest, self.each = dict[int, float](), 0, 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look_on, daemon=True)

    def __enter__(self) -> Cost:
        own = psutil.Process().cpu_times()
        self._before = own.user + own.system
        self._thread.start()
        return self

    def __exit__(self, *args: object) -> None:
        self._ended.set()
        self._thread.join()

    @property
    def seconds(self) -> float:
        self._look()
        return sum(self._seconds.values()) - self._before

    def _look_on(self) -> None:
        while not self._ended.wait(LOOK_S):
            self._look()

    def _look(self) -> None:
        sizes = []
        for process in (psutil.Process(), *psutil.Process().children(recursive=True)):
            try:
                times = process.cpu_times()
                self._seconds[process.pid] = times.user + times.system
                sizes.append(process.memory_info().rss)
            except psutil.Error:
                continue
        self.largest, self.each = max(self.largest, sum(sizes)), max(self.each, *sizes)


def results(folder: Path) -> list[float]:
    """When each result was written, in order: outcomes come later, those of a whole task at a time."""
    return sorted(path.stat().st_mtime for path in folder.glob("[!.]*.npy"))


def by_batch(spec: BatchSpec) -> Iterator[None]:
    """Something for each outcome."""
    batch = Batch(spec)
    for done in batch.run():
        assert done.code == 0, done.row["sentence"]
        yield


def _prepare(cores: int) -> None:
    os.environ["NUMBA_NUM_THREADS"] = str(cores)


def _some(work: Work, some: list[Item]) -> list[int]:
    return [work.one(item).code for item in some]


def by_pool(spec: BatchSpec) -> Iterator[None]:
    """The same work on each file, in tasks of CHUNK, by a pool that knows nothing of lost processes."""
    batch = Batch(replace(spec, workers=1))
    plan = list(items(batch.files, batch.folder))
    cores = max(1, (os.cpu_count() or 1) // spec.workers)
    with ProcessPoolExecutor(spec.workers, get_context("spawn"), _prepare, (cores,)) as pool:
        chunks = [plan[k : k + CHUNK] for k in range(0, len(plan), CHUNK)]
        for codes in pool.map(_some, [batch.work] * len(chunks), chunks):
            assert not any(codes)
            yield from (None for _ in codes)


def measured(name: str, outcomes: Callable[[BatchSpec], Iterator[None]], spec: BatchSpec, count: int) -> dict[str, Any]:
    shutil.rmtree(spec.output_dir, ignore_errors=True)
    began, out, at = time.time(), Path(spec.output_dir), list[tuple[int, float]]()
    with Cost() as cost:
        for number, _ in enumerate(outcomes(spec)):
            if number in (count // 5, count - 1):
                at.append((len(results(out)), cost.seconds))
        wall = time.time() - began
    ends = results(out)
    assert len(ends) == count
    (first, before), (last, after) = at
    row = {
        "name": name,
        "files_s": (count - first) / (ends[-1] - ends[first - 1]),
        "wall_s": wall,
        "start_s": ends[0] - began,
        "cpu_ms_file": 1e3 * (after - before) / (last - first),
        "all_mib": cost.largest >> 20,
        "one_mib": cost.each >> 20,
    }
    words = ", ".join(f"{key} {value:.4g}" for key, value in row.items() if key != "name")
    print(f"{name}: {words}; load {os.getloadavg()[0]:.1f}", flush=True)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--checks", default="full")
    parser.add_argument("--folder", default=None)
    parser.add_argument("--json", default=None)
    parser.add_argument("--only", default="one pool dask", help="which of the three to measure")
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp(dir=args.folder, prefix="kernelscope-speed-"))
    try:
        (folder / "in").mkdir()
        rng = np.random.default_rng(1)
        for k in range(args.files):
            if k < DIFFERENT:
                save(folder / "in" / f"{k:06d}.npy", rng.integers(0, 2**16, (1024, 1024), np.uint16))
            else:
                os.link(folder / "in" / f"{k % DIFFERENT:06d}.npy", folder / "in" / f"{k:06d}.npy")
        out = str(folder / "out")
        spec = BatchSpec([str(folder / "in")], out, "mean2d", {"window": 3}, devices=["cpu"], format="npy")
        spec = replace(spec, checks=args.checks, workers=args.workers)
        assert len(find_files(spec.inputs)) == args.files
        ways = {
            "one": ("one process", by_batch, replace(spec, workers=1)),
            "pool": (f"a pool of {args.workers}", by_pool, spec),
            "dask": (f"{args.workers} workers of Dask", by_batch, spec),
        }
        rows = {key: measured(*ways[key], args.files) for key in args.only.split()}
        rates = {key: row["files_s"] for key, row in rows.items()}
        ratios = {
            f"dask_against_{key}": rates["dask"] / rates[key]
            for key in ("one", "pool")
            if {key, "dask"} <= rates.keys()
        }
        print(", ".join(f"{name} {value:.3f}" for name, value in ratios.items()))
        if args.json:
            Path(args.json).write_text(json.dumps({"rows": list(rows.values()), **ratios}, indent=1) + "\n")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
