"""A block step by step: the state that is put together from the record is the one that a run up to that step has."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from gpu_ops import find_filter, from_array
from gpu_ops.devices.sim.block_run import recording
from gpu_ops.devices.sim.block_run.compared import different_cells
from gpu_ops.devices.sim.block_run.log import Cells
from gpu_ops.devices.sim.block_run.recorder import StepRecorder
from gpu_ops.devices.sim.block_run.run import ENDED, BlockRun
from gpu_ops.devices.sim.block_run.scheduler import BlockScheduler
from gpu_ops.errors import KernelError, ParamError
from gpu_ops.explaining.block_steps.making import Job, block_steps
from tests.sim.bench import Case
from tests.sim.bench import launch as run_on_sim
from tests.sim.mirror import BARRIER_LINE, ORDERED, RACY, N, recorded


@pytest.fixture(scope="module")
def ordered() -> BlockRun:
    return recorded(ORDERED, (1, 0, 0))


# Reconstruction against a run that stops


@dataclass
class Stopped:
    """The machine as it is when it stops: no part of it comes from the record."""

    shared: Any = None
    places: Any = None
    live: list[tuple[int, Any, Any]] = field(default_factory=list)
    memory: dict[str, Any] = field(default_factory=dict)


def state_of(scheduler: BlockScheduler, recorder: StepRecorder) -> Stopped:
    """Shared memory, the lanes' places, and by register that a waiting lane still reads: the lanes and the values."""
    state = Stopped(recorder.words.copy(), np.where(scheduler.batch.alive[0], -2, ENDED))
    for parked, groups in ((0, scheduler.ready), (0, scheduler.aside), (1, scheduler.parked)):
        for number, group in groups.items():
            lanes = group.lanes.flat
            state.places[lanes] = 2 * number + parked
            for register in scheduler.code.blocks[number].live_in:
                value = group.frame.values[register]
                if value is not None:
                    bits = np.broadcast_to(value, group.lanes.shape).reshape(-1)[lanes]
                    state.live.append((register, lanes, bits.view(f"u{bits.itemsize}").astype(np.uint64)))
    for region, _ in recorder.before:
        state.memory[region.name] = region.data[region.low - region.base : region.high - region.base].copy()
    return state


def check_equal(run: BlockRun, step: int, state: Stopped) -> None:
    """The reconstructed state is the machine's, except for addresses: memory may be elsewhere in another run."""
    words, written = run.shared.at(step)
    assert (words[written] == state.shared[written]).all()
    assert (state.shared[~written] == 0xFFFFFFFF).all()  # memory that nobody has written
    known = state.places != -2  # the lanes that were about to run are at none of the places where lanes wait
    assert (run.places_at(step)[known] == state.places[known]).all()
    registers, _ = run.registers.at(step)
    for register, lanes, bits in state.live:
        if run.names[register].dtype[1:] in ("i8", "u8"):
            continue
        assert (registers.reshape(-1, run.width)[register, lanes] == bits).all(), run.names[register]
    for buffer in run.buffers:
        cells, stored = buffer.cells.at(step)
        unit = len(state.memory[buffer.name]) // buffer.cells.size
        there = state.memory[buffer.name].view(f"u{unit}").astype(np.uint64)
        assert (cells[stored] == there[stored]).all(), buffer.name


@pytest.fixture
def stopped(monkeypatch: pytest.MonkeyPatch) -> list[Stopped]:
    """The machine's state at the end of every recording from now on."""
    states: list[Stopped] = []
    usual = recording._ended

    def ended(scheduler: BlockScheduler, recorder: StepRecorder) -> str:
        why = usual(scheduler, recorder)
        states.append(state_of(scheduler, recorder))
        return why

    monkeypatch.setattr(recording, "_ended", ended)
    return states


def test_a_state_is_the_one_that_a_run_up_to_its_step_has(ordered: BlockRun, stopped: list[Stopped]) -> None:
    for step in sorted(np.random.default_rng(1).choice(ordered.steps + 1, 25, replace=False).tolist()):
        again = recorded(ORDERED, (1, 0, 0), most=step)
        assert again.steps == step
        check_equal(ordered, step, stopped[-1])


KERNELS = (
    ("mean1d", "shared", 512, {}),
    ("reduce1d", "sequential", 2048, {}),
    ("reduce1d", "warp_shuffle", 2048, {}),
    ("histogram1d", "shared", 512, {}),
    ("scan1d", "look_back", 2048, {}),
    ("layout", "tiles", 2048, {}),
)


@pytest.mark.thorough
@pytest.mark.parametrize(("filter", "variant", "count", "knobs"), KERNELS)
def test_states_of_shipped_kernels_at_random_steps(
    filter: str, variant: str, count: int, knobs: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other run is looked at between its turns, when every lane is somewhere: 170 steps of each, 1,020 in all."""
    found = find_filter(filter)
    signal = from_array(np.random.default_rng(2).normal(size=count).astype(np.float32))
    job = Job(found, found.variant(variant), signal, {}, knobs, "sm_75", {})
    run = block_steps(job).run
    assert not run.ended
    assert not run.meetings
    states: dict[int, Stopped] = {}
    usual = BlockScheduler._turn

    def turn(scheduler: BlockScheduler) -> bool:
        states[len(scheduler.recorder.at)] = state_of(scheduler, scheduler.recorder)
        return usual(scheduler)

    monkeypatch.setattr(BlockScheduler, "_turn", turn)
    block_steps(job, place=run.place)
    steps = np.random.default_rng(3).choice(sorted(states), 170).tolist()
    for step in steps:
        assert (states[step].places != -2).all()
        check_equal(run, step, states[step])


def test_a_block_leaves_what_a_whole_launch_leaves(ordered: BlockRun) -> None:
    args = (np.arange(N, dtype=np.float32), np.zeros(N, np.float32), np.int32(N))
    whole = run_on_sim(Case(ORDERED, "mirror", (2, 1, 1), (90, 1, 1), args)).arrays[1]
    (out,) = ordered.buffers
    values, written = out.cells.at(ordered.steps)
    assert np.flatnonzero(written).tolist() == list(range(90, N))
    assert (values[written].astype(np.uint32).view(np.float32) == whole[90:]).all()


# Findings and limits


def test_lanes_wait_at_a_barrier_until_all_warps_are_there(ordered: BlockRun) -> None:
    barrier = next(n for n, one in enumerate(ordered.statements) if one.waits == "block")
    assert ordered.statements[barrier].line == BARRIER_LINE
    arrivals = [k for k in range(1, ordered.steps + 1) if ordered.waited[k - 1] and ordered.at[k - 1] == barrier]
    assert len(arrivals) == 3
    waiting = [(ordered.places_at(k) == 2 * barrier + 1).sum() for k in arrivals]
    assert waiting == [32, 64, 90]
    opens = arrivals[-1] + 1
    assert ordered.at[opens - 1] == barrier
    assert not ordered.waited[opens - 1]
    assert ordered.lanes(opens).sum() == 90
    assert (ordered.places_at(opens)[:90] != 2 * barrier + 1).all()


def test_a_branch_that_lanes_take_differently_leaves_them_at_different_lines(ordered: BlockRun) -> None:
    lines = [
        {ordered.statements[place // 2].line for place in ordered.places_at(k)[:32] if place != ENDED}
        for k in range(ordered.steps + 1)
    ]
    assert max(map(len, lines)) > 1
    assert (ordered.places_at(ordered.steps) == ENDED).all()


def test_registers_have_the_names_that_the_ptx_shows(ordered: BlockRun) -> None:
    names = {one.source: n for n, one in enumerate(ordered.names)}
    assert {"x", "out", "n", "threadIdx.x", "blockIdx.x", "blockDim.x", "i"} <= set(names)
    assert "value" not in names  # the compiler has made one number of the value and its double
    bits, written = ordered.registers.at(ordered.steps)
    row = slice(names["i"] * ordered.width, names["i"] * ordered.width + 90)
    assert written[row].all()
    assert ordered.value(names["i"], bits[row]).tolist() == list(range(90, 180))


def test_two_orders_of_a_race_differ_and_the_two_lines_are_told() -> None:
    usual, last_first = recorded(RACY), recorded(RACY, order=1)
    assert set(different_cells(usual, last_first)) == {"out"}
    assert {meeting.lines for meeting in usual.meetings} == {(6, 10)}
    assert {meeting.lines for meeting in last_first.meetings} == {(6, 10), (10, 6)}
    assert all("hazard" in one or "uninitialised" in one for one in last_first.findings)


def test_orders_of_a_kernel_with_its_barrier_end_alike_and_nothing_meets(ordered: BlockRun) -> None:
    for order in (1, 2, 3):
        other = recorded(ORDERED, (1, 0, 0), order)
        assert not different_cells(ordered, other)
        assert not other.meetings
    assert not ordered.meetings


def test_equal_orders_are_equal() -> None:
    one, two = recorded(RACY, order=3), recorded(RACY, order=3)
    assert one.at.tolist() == two.at.tolist()
    assert one.masks.tolist() == two.masks.tolist()
    assert one.masks.tolist() != recorded(RACY, order=4).masks.tolist()


def test_a_long_kernel_says_where_its_record_ends() -> None:
    run = recorded(ORDERED, most=20)
    assert run.steps == 20
    assert run.ended == "The first 20 steps are recorded; the block takes more."


def test_a_kernel_that_stops_itself_has_its_steps_until_then() -> None:
    text = ORDERED.replace("if (i >= n) return;", "if (i == 40) __trap();")
    run = recorded(text)
    assert "trap" in run.ended
    assert run.steps > 20


def test_a_block_that_there_is_not_is_refused() -> None:
    with pytest.raises(KernelError, match=r"no block \(2, 0, 0\).*\(1, 0, 0\)"):
        recorded(ORDERED, (2, 0, 0))


def test_a_launch_that_there_is_not_is_refused() -> None:
    found = find_filter("mean1d")
    job = Job(found, found.variant("naive"), from_array(np.zeros(64, np.float32)), {}, {}, "sm_75", {})
    with pytest.raises(ParamError, match="1 launch"):
        block_steps(job, launch=1)


def test_cells_after_a_step_are_those_of_the_writes_until_then() -> None:
    random = np.random.default_rng(4)
    ends = np.concatenate([[0], np.cumsum(random.integers(0, 4, 60))])
    cells, values = random.integers(0, 7, ends[-1]), random.integers(0, 1 << 60, ends[-1], dtype=np.uint64)
    log = Cells(7, ends, cells.astype(np.int32), values)
    expected, written = np.zeros(7, np.uint64), np.zeros(7, np.bool_)
    for step in range(61):
        for n in range(int(ends[step - 1]) if step else 0, int(ends[step])):
            expected[cells[n]], written[cells[n]] = values[n], True
        found = log.at(step)
        assert (found[0] == expected).all()
        assert (found[1] == written).all()
    with pytest.raises(IndexError):
        log.at(61)
