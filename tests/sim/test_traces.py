"""The warps that are followed: that they are followed rightly, and that what is drawn of them is what is counted."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from tasks import planned

from app.models.xray.access_trace import TracedAccess, warp_trace
from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.devices.sim.lanes import BatchLayout, Lanes
from gpu_ops.devices.sim.launch import Options
from gpu_ops.devices.sim.memory import Table
from gpu_ops.devices.sim.ptx.program import Place
from gpu_ops.devices.sim.ptx.sites import Site
from gpu_ops.devices.sim.requests import Requests
from gpu_ops.devices.sim.traces import Recorder, Tracing
from gpu_ops.explaining.xray import XRay, as_dict, xray
from gpu_ops.explaining.xray import _traces as by_line
from gpu_ops.filters import find_filter
from gpu_ops.io import from_array
from gpu_ops.params import check_values
from gpu_ops.plan import Execution, Launch, LineCounts, Plan, Trace
from tests.sim.test_counters import FILE, SOURCE, X, Y, accesses, execute
from tests.sim.test_counters import _views as views

Array = np.ndarray[Any, Any]
ALL = Tracing(warps=tuple(range(32)), most=1 << 20)
"""Every access of every warp, in grids of three blocks."""


def drawn(trace: Trace) -> tuple[TracedAccess, ...]:
    """A trace as the window has it."""
    return warp_trace({**vars(trace), "accesses": [_data(a) for a in trace.accesses]}).accesses


def _data(a: Any) -> dict[str, Any]:
    steps = [[1, step] for step in np.diff(a.offsets).tolist()]
    mask = sum(1 << lane for lane in a.lanes)
    return {**vars(a), "bytes": a.nbytes, "lanes": mask, "first": a.offsets[0], "steps": steps}


def added_up(traces: Iterable[Trace]) -> dict[int, dict[str, int]]:
    """By line, the counters that follow from what is drawn."""
    lines: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for trace in traces:
        for a in drawn(trace):
            own, name = lines[trace.line], f"{a.space}_{a.verb}"
            if a.space == "constant":
                found = {
                    "constant_requests": 1,
                    "constant_threads": len(a.lanes),
                    "constant_words": len(a.pieces.pieces),
                }
            else:
                found = {f"{name}_requests": 1, f"{name}_threads": len(a.lanes)}
            if a.space == "global":
                found |= {f"{name}_sectors": len(a.pieces.pieces), f"{name}_ideal_sectors": a.pieces.ideal}
            if a.space == "shared":
                found |= {"shared_wavefronts": len(a.banks.wavefronts), "shared_ideal_wavefronts": a.banks.parts}
            if a.verb == "atomic":
                found |= {"atomics": len(a.lanes), "atomic_collisions": len(a.lanes) - a.distinct}
            for counter, value in found.items():
                own[counter] += value
    return {line: {k: v for k, v in own.items() if v} for line, own in lines.items()}


def counted(lines: Iterable[LineCounts], file: str) -> dict[int, dict[str, int]]:
    """By line of the file, the counters of memory."""
    found: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for one in lines:
        own = next((n for where, n in ((one.file, one.line), *one.inlined_at) if where == file), 0)
        for name, value in one.counts.items():
            if name.startswith(("global_", "shared_", "constant_", "atomic")):
                found[own][name] += value
    return {line: dict(own) for line, own in found.items()}


def agree(done: Execution, file: str) -> None:
    assert done.traces
    assert added_up(done.traces) == counted(done.lines, file)


KERNELS: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {
    "strided": ("floats", (X, Y, 8, 1), {"block": 96}),
    "in opposite order": ("floats", (X, Y, -3, 200), {"block": 50}),
    "bytes in threes": ("bytes", (X.view("u1"), Y.view("u1"), 3), {"grid": 3}),
    "8 bytes": ("doubles", (X.view("f8"), Y), {}),
    "16 bytes": ("quads", (X, Y), {"block": 64}),
    "a field of a struct": ("field", (X.view("f8"), Y), {}),
    "columns of a tile": ("columns", (Y, 32, 32), {"shared": 4 * 33 * 32}),
    "columns of a padded tile": ("columns", (Y, 17, 16), {"shared": 4 * 33 * 32}),
    "shared, 8 bytes": ("shared_doubles", (np.zeros(128, np.float64),), {}),
    "shared, 16 bytes": ("shared_quads", (np.zeros(128, np.float64),), {}),
    "a broadcast": ("same_word", (Y,), {}),
    "a strided tree": ("tree_strided", (Y, 4), {"block": 256}),
    "an interleaved tree": ("tree_interleaved", (Y, 2), {"block": 256}),
    "constants": ("constants", (Y, 5), {"block": 64, "grid": 2}),
    "a loop of some lanes": ("divergent", (Y, 7), {"block": 64}),
    "atomics": ("histogram", (np.arange(32, dtype=np.int32) // 3, np.zeros(32, np.int32)), {}),
    "shared atomics": ("shared_histogram", (np.arange(32, dtype=np.int32) // 3, np.zeros(32, np.int32)), {}),
    "a local array": ("local_array", (Y, np.arange(32, dtype=np.int32)), {}),
    "a block in two dimensions": ("blocks2d", (X, X.copy(), 256), {"grid": (3, 1, 1), "block": (16, 16, 1)}),
}


@pytest.mark.parametrize("name", KERNELS)
def test_what_is_drawn_of_a_kernel_is_what_was_counted(name: str) -> None:
    kernel, args, how = KERNELS[name]
    agree(execute(kernel, *args, tracing=ALL, **how), FILE)


FILTERS = {
    "mean1d": ((380,), {"block": 64, "outputs": 2}),
    "mean2d": ((11, 30), {"block": 64, "outputs": 2}),
}


@pytest.mark.parametrize("variant_id", ["naive", "constant", "shared"])
@pytest.mark.parametrize("filter_id", FILTERS)
def test_what_is_drawn_of_a_filter_is_what_was_counted(filter_id: str, variant_id: str) -> None:
    shape, chosen = FILTERS[filter_id]
    variant = find_filter(filter_id).variant(variant_id)
    session = SimDevice(options=Options(counters="full", tracing=ALL)).session({})
    knobs = check_values(variant.knobs, chosen, variant_id)
    x, params = session.upload(np.ones(shape, np.float32)), {"window": 5, "border": "reflect"}
    plan = planned(find_filter(filter_id), variant_id, session, x, params, knobs)
    launches = [step for step in plan.steps if isinstance(step, Launch)]
    assert launches and all(np.prod(step.grid) <= 3 for step in launches)
    for step in launches:
        agree(session.execute(Plan((step,), plan.outputs)), step.kernel.compiled.source)


@settings(max_examples=200, deadline=None)
@given(accesses())
def test_any_lanes_are_followed_and_drawn_as_they_are_counted(case: tuple[BatchLayout, Array, Array, int, int]) -> None:
    """Lanes of the batch and packed ones, addresses that broadcast; blocks that are alike."""
    given_, address, mask, offset, nbytes = case
    layout = BatchLayout((given_.blocks, 1, 1), given_.block, 0, given_.blocks)
    followed = sorted({0, given_.blocks // 2, given_.blocks - 1})
    rows = np.broadcast_to(address + offset, mask.shape).reshape(given_.blocks, -1, 32)
    running = mask.reshape(rows.shape)
    for lanes, seen in views(layout, address, mask):
        recorder = Recorder(ALL, "k.cu", Table([]), (), ())
        recorder.note("shared", lanes, Site(0, Place("k.cu", 3), "shared", offset, "reads", nbytes), seen)
        traces = {(t.block[0], t.warp): t for t in recorder.traces()}
        expected = {(b, w) for b in followed for w in range(rows.shape[1]) if running[b, w].any()}
        assert set(traces) == expected and all(t.line == 3 and t.count == 1 for t in traces.values())
        for (block, warp), trace in traces.items():
            (one,) = drawn(trace)
            here = running[block, warp]
            assert one.lanes == tuple(np.flatnonzero(here).tolist())
            assert one.addresses == tuple(rows[block, warp][here].tolist())
            alone = Lanes(BatchLayout((1, 1, 1), (32, 1, 1), 0, 1), here[None, :])
            found = Requests(alone, rows[block, warp][None, :], 0, nbytes)
            pieces = replace(one, space="global").pieces
            assert (len(pieces.pieces), pieces.ideal) == (found.sectors(), found.ideal_sectors())
            for verb in ("load", "store"):
                banks = replace(one, verb=verb).banks
                assert (len(banks.wavefronts), banks.least) == found.wavefronts(verb == "load")


# Which are followed


def test_nobody_is_followed_unless_it_is_asked_for() -> None:
    assert execute("floats", X, Y, 1, 0).traces == ()
    assert execute("floats", X, Y, 1, 0, counters="off", tracing=ALL).traces == ()


def test_of_large_grids_some_warps_of_three_blocks_are_followed() -> None:
    done = execute("blocks2d", X, X.copy(), 256, grid=(7, 5, 1), block=(32, 6, 1), tracing=Tracing())
    blocks = [(0, 0, 0), (3, 2, 0), (6, 4, 0)]
    assert [(t.block, t.warp) for t in done.traces] == [(b, w) for b in blocks for w in (0, 1, 5)]
    for trace in done.traces:
        x, y, _ = trace.block
        load, store = trace.accesses
        first = 4 * ((6 * y + trace.warp) * 256 + 32 * x)
        assert load.offsets == store.offsets == tuple(range(first, first + 128, 4))
        assert (load.verb, store.verb) == ("load", "store") and (load.buffer, store.buffer) == ("x", "y")
        assert load.itemsize == load.nbytes == 4 and load.lanes == tuple(range(32))


def test_the_first_accesses_of_a_line_are_kept_and_all_are_counted() -> None:
    done = execute("divergent", Y, 32, block=32, tracing=Tracing(most=10))
    (loop,) = (t for t in done.traces if t.count == 100)
    assert len(loop.accesses) == 10
    assert [a.offsets[0] // 4 for a in loop.accesses] == [0, 1, 2, 3, 4, 5, 6, 7, 0, 1]  # in the order of time
    assert all(len(set(a.offsets)) == 1 for a in loop.accesses)


# Buffers


def _traces(kernel: str, *args: Any) -> tuple[Trace, ...]:
    """Of one warp; arrays are at the positions in `args` (array, elements to skip)."""
    session = SimDevice(options=Options(counters="full", tracing=ALL)).session({FILE: SOURCE})
    given_ = [np.int32(a) if isinstance(a, int) else session.upload(a[0])[a[1] :] for a in args]
    made = session.kernel(FILE, kernel, {})
    return session.execute(Plan((Launch(made, (1, 1, 1), (32, 1, 1), tuple(given_)),), {})).traces


def test_a_buffer_that_begins_within_a_sector_says_where() -> None:
    (trace,) = _traces("floats", (X, 3), (Y, 8), 1, 0)
    load, store = trace.accesses
    assert (load.start, load.offsets[0]) == (12, 0) and (store.start, store.offsets[0]) == (0, 0)
    sectors = drawn(trace)[0].pieces
    assert (len(sectors.pieces), sectors.ideal, sectors.wasted) == (5, 4, 32)
    assert sectors.pieces[0].lanes == (0, 1, 2, 3, 4)


def test_lanes_outside_the_buffer_belong_to_the_one_the_others_are_in() -> None:
    (trace,) = _traces("floats", (X[:40].copy(), 0), (Y, 0), 2, 0)
    load = trace.accesses[0]
    assert load.buffer == "x" and load.offsets == tuple(range(0, 256, 8))
    (lost,) = _traces("floats", (X[:8].copy(), 0), (Y, 0), 1, 1 << 28)
    assert lost.accesses[0].buffer == "" and lost.accesses[0].offsets[31] - lost.accesses[0].offsets[0] == 124


def test_shared_and_constant_variables_are_named_and_have_elements_of_unknown_size() -> None:
    named = {a.buffer: a for t in execute("shared_doubles", np.zeros(32), tracing=ALL).traces for a in t.accesses}
    assert set(named) == {"tile", "y"} and named["tile"].space == "shared" and named["tile"].itemsize == 0
    table = [a for t in execute("constants", Y, 5, tracing=ALL).traces for a in t.accesses if a.space == "constant"]
    assert [a.buffer for a in table] == ["table"] and table[0].offsets[:6] == (0, 4, 8, 12, 16, 0)


# In an X-ray


def looked_into(filter_id: str, variant_id: str, array: Array, **how: Any) -> XRay:
    filter = find_filter(filter_id)
    return xray(filter, filter.variant(variant_id), from_array(array), {}, {}, **how)


def test_an_xray_has_traces_by_line_where_they_are_asked_for() -> None:
    image = np.zeros((64, 96, 3), np.uint8)
    (plain,) = looked_into("mean2d", "shared", image).kernels
    assert plain.traces is None
    assert all("accesses" not in kernel for kernel in as_dict(looked_into("mean2d", "shared", image))["kernels"])
    found = looked_into("mean2d", "shared", image, trace=True)
    (kernel,) = found.kernels
    assert kernel.totals == plain.totals
    memory = {n for n, counts in kernel.lines.items() if any(k.endswith("_requests") for k in counts)}
    assert kernel.traces is not None and set(kernel.traces) == {(kernel.file, line) for line in memory}
    assert all((t.file, t.line) == place for place, traces in kernel.traces.items() for t in traces)
    sent = json.loads(json.dumps(as_dict(found)))["kernels"][0]["accesses"]
    read = [warp_trace(one) for one in sent]
    kept = [t for traces in kernel.traces.values() for t in traces]
    assert [(t.line, t.block, t.warp, t.count) for t in read] == [(t.line, t.block, t.warp, t.count) for t in kept]
    for one, other in zip(read, kept, strict=True):
        assert [vars(a) for a in one.accesses] == [vars(a) for a in other.accesses]


def test_of_several_launches_the_first_that_came_to_a_line_is_kept() -> None:
    def launch(**lines: tuple[int, ...]) -> tuple[Any, Execution]:
        traces = [Trace("k.cu", int(n[1:]), (0, 0, 0), w, 1, ()) for n, warps in lines.items() for w in warps]
        return None, Execution(0.0, traces=tuple(traces))

    found = by_line([launch(L7=(0, 1)), launch(L7=(2,), L5=(3, 4)), launch(L5=(0,))])
    assert {line: [t.warp for t in traces] for (_, line), traces in found.items()} == {5: [3, 4], 7: [0, 1]}
