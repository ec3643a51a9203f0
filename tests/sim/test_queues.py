"""The model of a GPU's queues: which steps run concurrently, and which steps are unordered."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.devices.sim.streams.ordering import check_order
from gpu_ops.devices.sim.streams.queues import Queues, Timeline, overlap
from gpu_ops.errors import KernelError
from gpu_ops.plan import DEFAULT_STREAM, Copy, Fill, HostTask, Plan, Prefetch, Span

N = 64


class Machine:
    """Memory of a simulated GPU and of the host."""

    def __init__(self) -> None:
        self.device = SimDevice()
        self.pinned, self.results = (
            [self.device.allocate("pinned", (N,), np.uint8) for _ in range(8)] for _ in range(2)
        )
        self.pageable = self.device.allocate("pageable", (N,), np.uint8)
        self.there = [self.device.empty((N,), np.uint8) for _ in range(8)]

    def up(self, k: int, stream: int, **how: Any) -> Copy:
        return Copy(self.there[k], self.pinned[k], f"up {k}", stream, **how)

    def work(self, k: int, stream: int, **how: Any) -> Fill:
        """Work on the device; a fill takes the engine of kernels."""
        return Fill(self.there[k], 1, f"work {k}", stream, **how)

    def down(self, k: int, stream: int, **how: Any) -> Copy:
        return Copy(self.results[k], self.there[k], f"down {k}", stream, **how)

    def chunks(self, many: int) -> list[Any]:
        return [step(k, k + 1) for k in range(many) for step in (self.up, self.work, self.down)]

    def spans(self, *steps: Any, queues: Queues = Queues(), **how: Any) -> dict[str, Span]:  # noqa: B008
        found = self.device.timeline(Plan(steps, {}, **how), queues)
        return {span.name: span for span in found}

    def starts(self, *steps: Any, **how: Any) -> dict[str, float]:
        return {name: span.start for name, span in self.spans(*steps, **how).items()}


@pytest.fixture
def m() -> Machine:
    return Machine()


def test_one_stream_runs_in_order_and_three_overlap(m: Machine) -> None:
    one = m.spans(*(replace(step, stream=1) for step in m.chunks(3)))
    three = m.spans(*m.chunks(3))
    assert max(s.end for s in one.values()) == 9 and overlap([*one.values()]) == pytest.approx(1 / 3)
    assert max(s.end for s in three.values()) == 5 and overlap([*three.values()]) == 0.6
    assert [three[f"up {k}"].start for k in range(3)] == [0, 1, 2] == [three[f"work {k}"].start - 1 for k in range(3)]


def test_with_one_queue_in_order_depth_first_has_no_overlap_and_breadth_first_has(m: Machine) -> None:
    """As before compute capability 3.5, with one copy engine."""
    fermi, steps = Queues(copy_engines=1, in_order=True), m.chunks(3)
    depth = m.spans(*steps, queues=fermi)
    breadth = m.spans(*(step for kind in range(3) for step in steps[kind::3]), queues=fermi)
    assert max(s.end for s in depth.values()) == 9
    assert max(s.end for s in breadth.values()) == 6


def test_one_copy_engine_takes_turns_in_the_order_in_which_steps_can_begin(m: Machine) -> None:
    spans = m.spans(*m.chunks(2), queues=Queues(copy_engines=1))
    copies = sorted((s.start, s.name) for s in spans.values() if s.engine != "device")
    assert copies == [(0, "up 0"), (1, "up 1"), (2, "down 0"), (3, "down 1")]


def test_an_engine_does_one_step_at_a_time(m: Machine) -> None:
    for queues in (Queues(), Queues(1), Queues(1, True), Queues(2, True)):
        spans = m.spans(*m.chunks(8), queues=queues).values()
        for engines in ({"upload"}, {"download"}, {"device"}):
            ends = sorted((s.start, s.end) for s in spans if s.engine in engines)
            assert all(a[1] <= b[0] for a, b in zip(ends, ends[1:], strict=False)) and len(ends) == 8


def test_a_step_waits_for_the_step_that_it_names(m: Machine) -> None:
    starts = m.starts(m.up(0, 1), m.work(1, 2, after=("up 0",)), m.up(2, 3, after=("work 1",)))
    assert starts == {"up 0": 0, "work 1": 1, "up 2": 2}


def test_pageable_copies_and_host_tasks_keep_the_host_waiting(m: Machine) -> None:
    slow = Copy(m.there[0], m.pageable, "slow", 1)
    assert m.starts(slow, m.work(1, 2), m.up(2, 3)) == {"slow": 0, "work 1": 1, "up 2": 1}
    task = HostTask(print, name="task", after=("up 0",))
    assert m.starts(m.up(0, 1), task, m.work(1, 2)) == {"up 0": 0, "task": 1, "work 1": 2}
    beside = HostTask(print, name="beside")
    assert m.starts(m.up(0, 1), beside, m.work(1, 2)) == {"up 0": 0, "beside": 0, "work 1": 1}
    synchronizing = HostTask(print, name="all", synchronizes=True)
    assert m.starts(*m.chunks(1), synchronizing, m.up(1, 2)) == {
        **{"up 0": 0, "work 0": 1, "down 0": 2},
        **{"all": 3, "up 1": 4},
    }


def test_registered_memory_is_pinned_until_it_is_unregistered(m: Machine) -> None:
    m.device.register(m.pageable)
    assert not m.device.is_pageable(m.pageable[3:])
    m.device.unregister(m.pageable)
    assert m.device.is_pageable(m.pageable) and not m.device.is_pageable(m.there[0])


def test_a_command_in_the_default_stream_waits_for_blocking_streams_and_they_for_it(m: Machine) -> None:
    steps = m.up(0, 1), m.work(1, DEFAULT_STREAM), m.up(2, 2), m.up(3, 1)
    assert m.starts(*steps, blocking=True) == {"up 0": 0, "work 1": 1, "up 2": 2, "up 3": 3}
    assert m.starts(*steps) == {"up 0": 0, "work 1": 0, "up 2": 1, "up 3": 2}


def test_prefetches_use_the_copy_engines(m: Machine) -> None:
    there = Prefetch(m.there[0], "device", "there", 1)
    back = Prefetch(m.there[0], "host", "back", 1)
    spans = m.spans(there, m.up(1, 2), back)
    assert (spans["there"].engine, spans["back"].engine) == ("upload", "download")
    assert spans["up 1"].start == 1 and spans["back"].start == 1


def test_costs_are_seconds_where_rates_are_given(m: Machine) -> None:
    plan = Plan((m.up(0, 1), m.work(0, 1)), {})
    cost = lambda step, engine, kind_of: {"upload": 2.0, "device": 0.5}[engine]  # noqa: E731
    spans = Timeline(plan, m.device.is_host, m.device.kind_of, Queues(), cost).run()
    assert [(s.start, s.end) for s in spans] == [(0, 2), (2, 2.5)]
    assert overlap(spans) == 0.8 and overlap(()) == 0


# Steps that nothing orders


def fault(m: Machine, *steps: Any, **how: Any) -> str:
    try:
        check_order(Plan(steps, {}, **how), m.device.is_pageable)
    except KernelError as error:
        return str(error)
    return ""


def test_a_download_beside_its_kernel_names_both_steps(m: Machine) -> None:
    found = fault(m, m.up(0, 1), m.work(0, 1), m.down(0, 2))
    assert found == (
        "down 0 (stream 2) reads what up 0 (stream 1) accesses, and nothing orders the two: "
        "name one in `after` of the other, or put both into one stream."
    )
    assert not fault(m, m.up(0, 1), m.work(0, 1), m.down(0, 2, after=("work 0",)))
    assert "work 0 (stream 1)" in fault(m, m.up(0, 1), m.work(0, 1), m.down(0, 2, after=("up 0",)))


def test_a_host_task_must_wait_for_the_copy_that_still_reads_its_buffer(m: Machine) -> None:
    fill = HostTask(print, name="fill", writes=(m.pinned[0],))
    assert "fill (the host) writes what up 0 (stream 1) accesses" in fault(m, m.up(0, 1), fill)
    assert not fault(m, m.up(0, 1), replace(fill, after=("up 0",)))
    assert not fault(m, m.up(0, 1), replace(fill, synchronizes=True))
    assert not fault(m, fill, m.up(0, 1))  # enqueued when the host is done
    late = HostTask(print, name="read", reads=(m.pinned[0], m.results[0]))
    assert "read (the host) reads" in fault(m, m.down(0, 1), late)
    assert not fault(m, m.up(0, 1), late)  # both read


def test_what_the_host_has_waited_for_precedes_all_that_it_enqueues_later(m: Machine) -> None:
    wait = HostTask(print, name="wait", after=("work 0",))
    assert not fault(m, m.up(0, 1), m.work(0, 1), wait, m.down(0, 2))
    pageable = Copy(m.there[0], m.pageable, "slow", 1)
    assert not fault(m, pageable, m.work(0, 2))


def test_blocking_streams_are_ordered_by_the_default_stream(m: Machine) -> None:
    steps = m.up(0, 1), m.work(1, DEFAULT_STREAM), m.down(0, 2)
    assert not fault(m, *steps, blocking=True)
    assert fault(m, *steps)


def test_parts_of_one_array_are_different_memory(m: Machine) -> None:
    left, right = Fill(m.there[0][:32], 1, "left", 1), Fill(m.there[0][32:], 1, "right", 2)
    assert not fault(m, left, right)
    assert fault(m, left, Fill(m.there[0][31:], 1, "right", 2))


def test_an_execution_refuses_such_a_plan(m: Machine) -> None:
    with pytest.raises(KernelError, match="nothing orders the two"):
        m.device.execute(Plan((m.up(0, 1), m.down(0, 2)), {}))
