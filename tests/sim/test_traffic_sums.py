"""The sums of what is painted are those of the counters, for every variant: sectors exactly by line, and values from
shared memory by the number of values that each load has."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import product
from typing import Any

import numpy as np
import pytest
from lanes import variants_today
from recording import Recording

from gpu_ops.devices.sim.ptx.program import Instruction, Vec
from gpu_ops.explaining.traffic.recording import TrafficRun, record_traffic
from gpu_ops.filters import FILTERS
from gpu_ops.io import from_array
from gpu_ops.running.contract import Case, covering_cases, takes
from gpu_ops.types import Filter, Variant

A_DAY = 1
PAIRS = [(f, v) for f in FILTERS for v in f.variants if v.kernels]


SMALL = {"image": ((64, 64), (64, 64, 4), (128, 128)), "signal": ((512,),)}


def small_case(filter: Filter, variant: Variant) -> Case:
    """A small input with the defaults, or the smallest of the contract's cases that fills a few warps."""
    limits, kinds = Recording("sm_75").limits, product(SMALL[filter.accepts], filter.dtypes)
    own = {p.name: p.default for p in filter.params}, {p.name: p.default for p in variant.knobs}
    cases = [Case(*kind, "random", *own) for kind in kinds]
    taken = next((case for case in cases if takes(filter, variant, case, limits)), None)
    covering = [] if taken is not None else covering_cases(filter, variant, limits, most_work=1e7)
    return taken or min(covering, key=lambda case: (np.prod(case.shape) < 128, np.prod(case.shape)))


def values_of_loads(run: TrafficRun) -> dict[Any, set[int]]:
    """How many values a load from shared memory at a place has; 0 where a value is wider than an element."""
    found: defaultdict[Any, set[int]] = defaultdict(set)
    for launch in run.launches:
        for line in (line for block in launch.kernel.loaded.code.blocks for line in block.block.lines):
            if line.op[0] in ("ld", "ldu") and not {"global", "param", "const", "local"} & set(line.op):
                found[place_of(line)].add(_values(line, run.x.dtype.itemsize))
    return found


def place_of(line: Instruction) -> Any:
    return line.place.file, line.place.line, line.place.inlined_at


def _values(line: Instruction, itemsize: int) -> int:
    each = int(line.op[-1][1:]) // 8
    return 0 if each > itemsize else len(line.args[0].items) if isinstance(line.args[0], Vec) else 1


@pytest.mark.parametrize("filter, variant", variants_today(PAIRS, A_DAY))
def test_what_is_painted_adds_up_to_the_counters(filter: Filter, variant: Variant) -> None:
    case = small_case(filter, variant)
    values = np.random.default_rng(1).integers(1, 255, case.shape).astype(case.dtype)
    run = record_traffic(filter, variant, from_array(values), case.params, case.knobs)
    sectors, cells = Counter[Any](), Counter[Any]()
    for maps in run.maps:
        for (place, _), counts in maps.sectors.items():
            sectors[place.file, place.line, place.inlined_at] += int(counts.sum())
        for place, count in [*((p, int(c.sum())) for (p, _), c in maps.shared.items()), *maps.other.items()]:
            cells[place.file, place.line, place.inlined_at] += count
    wanted, loads = Counter[Any](), Counter[Any]()
    for line in (line for execution in run.executions for line in execution.lines):
        wanted[line.file, line.line, line.inlined_at] += line.counts.get("global_load_sectors", 0)
        loads[line.file, line.line, line.inlined_at] += line.counts.get("shared_load_threads", 0)
    assert sectors == +wanted and (sum(wanted.values()) > 0 or run.traffic().textures > 0), case
    traffic, each = run.traffic(), values_of_loads(run)
    assert traffic.total("sectors") + traffic.elsewhere.get("sectors", 0) == sum(wanted.values())
    assert traffic.total("shared") + traffic.elsewhere.get("shared", 0) == sum(cells.values())
    assert traffic.shared_loads == sum(loads.values()) and set(cells) == set(+loads)
    for place, count in (+loads).items():
        low, high = min(each[place]) or 1, max(each[place]) if all(each[place]) else 16
        assert low * count <= cells[place] <= high * count, (place, each[place], case)
