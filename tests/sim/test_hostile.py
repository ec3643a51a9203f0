"""Kernels that do not end, or that ask for memory nobody has, end with the line and the reason."""

from __future__ import annotations

import itertools
import signal
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from gpu_ops import progress
from gpu_ops.devices.sim import launch as launches
from gpu_ops.devices.sim.atomics import update
from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.devices.sim.launch import Options
from gpu_ops.errors import KernelError, LimitReached
from gpu_ops.plan import Launch, Plan
from gpu_ops.progress import Cancelled, Limit, interruptible, limited, listening
from tests.sim.bench import FILE, Case, Outcome, launch
from tests.sim.table import text

SOURCE = text("hostile.cu")
ENDLESS = ("spins", "waits_for_itself", "held_lock", "watches_the_clock", "sleeps", "copies_a_terabyte", "turns")
ROOMY = 1 << 40
SHORT = 0.05


def _line(mark: str) -> int:
    return next(n for n, line in enumerate(SOURCE.splitlines(), start=1) if line.rstrip().endswith(f"//! {mark}"))


def _case(kernel: str, source: str = SOURCE, blocks: int = 2) -> Case:
    numbers = np.arange(32, dtype=np.int32) * 1234567
    return Case(source, kernel, (blocks, 1, 1), (64, 1, 1), (np.zeros(64, np.int32), numbers, np.int32(32)))


def _within(limit: Limit, kernel: str, source: str = SOURCE) -> Outcome:
    SimDevice().session({FILE: source}).kernel(FILE, kernel)  # to compile takes longer
    limit._start = progress.time.monotonic()
    with limited(limit):
        return launch(_case(kernel, source), options=Options())


@pytest.mark.parametrize("kernel", ENDLESS)
def test_what_does_not_end_is_stopped_at_the_line_where_it_turns(kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = itertools.count()  # ten milliseconds each time somebody looks, however slow the machine is
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: next(ticks) / 100))
    limit = Limit(SHORT, ROOMY)
    with pytest.raises(LimitReached, match="endless loop.*took more than 0.05 s; --deadline") as caught:
        _within(limit, kernel)
    assert limit.reached
    found = [f for f in caught.value.findings if f.kind == "not ended"]
    first, _, last = (
        found[0].detail.removeprefix("the kernel loops in line").strip("s ").partition(" and")[0].partition(" to ")
    )
    assert len(found) == 1 and int(first) <= _line(kernel) <= int(last or first)
    assert found[0].block == (0, 0, 0)


def test_a_loop_in_a_header_is_named_where_it_is_called() -> None:
    header = "#pragma once\n__device__ __forceinline__ void wait(volatile int* flag)\n{\n    while (*flag == 0) {}\n}\n"
    source = """#include "waits.cuh"
__device__ __forceinline__ void sync(int* out) { wait(out); }
extern "C" __global__ void k(int* out) {
    out[threadIdx.x + 1] = 1;
    sync(out);
}
"""
    session = SimDevice("sm_75", Options(budget=20_000)).session({FILE: source, "tests/waits.cuh": header})
    step = Launch(session.kernel(FILE, "k"), (1, 1, 1), (32, 1, 1), (session.upload(np.zeros(33, np.int32)),))
    with pytest.raises(LimitReached, match="kernel.cu:2: the kernel, which loops in line 4 of waits.cuh, called"):
        session.execute(Plan((step,), {}))


def test_memory_has_a_limit_too(monkeypatch: pytest.MonkeyPatch) -> None:
    held = iter(range(1000))
    monkeypatch.setattr(progress, "resident_bytes", lambda: next(held) << 30)
    with pytest.raises(LimitReached, match="took more than 1024 MiB of memory; --memory allows more"):
        _within(Limit(60, 1 << 30), "spins")


def test_a_limit_that_is_not_met_changes_nothing() -> None:
    limit = Limit(60, ROOMY)
    assert "not ended" not in _within(limit, "last_byte").kinds()
    assert not limit.reached


@pytest.mark.parametrize("kernel", ENDLESS)
def test_what_does_not_end_can_be_cancelled(kernel: str) -> None:
    asked = iter([False, False, True])
    with pytest.raises(Cancelled), listening(lambda: next(asked)):
        launch(_case(kernel))


def test_a_chain_of_swaps_is_asked_between_them() -> None:
    """Each lane waits for what the one before it puts there: as many turns as there are lanes, in one instruction."""
    chain = np.arange(500, dtype=np.int32)
    asked: list[int] = []

    def stop() -> bool:
        asked.append(0)
        return len(asked) > 5

    with pytest.raises(Cancelled), listening(stop):
        update(np.zeros(1, np.int32), np.zeros(500, np.int64), "cas", (chain, chain + 1), True)


def test_a_long_row_of_instructions_is_asked_between_them() -> None:
    rows = "".join(f"    s = s * {n}.5f + __sinf(s);\n" for n in range(200))
    source = f'extern "C" __global__ void row(float* out) {{ float s = threadIdx.x;\n{rows} out[threadIdx.x] = s; }}'
    kernel = SimDevice().session({FILE: source}).kernel(FILE, "row")
    assert kernel.loaded.code.text.count("S.poll()") > 10


FAR = {
    "last_byte": ("reads 1 byte at address 0xffffffffffffffff, where the kernel has no memory", 128),
    "last_byte_written": ("writes 1 byte at address 0xffffffffffffffff", 128),
    "near_the_middle": ("reads 4 bytes at address 0x7ffffffffffffffc", 128),
    "read_from_data": ("reads 4 bytes", 128),
    "write_from_data": ("writes 4 bytes", 128),
    "atomic_from_data": ("changes 4 bytes", 128),
    "shared_from_data": ("shared memory", 128),
}


@pytest.mark.parametrize("kernel", FAR)
def test_every_address_that_is_nobodys_is_out_of_bounds(kernel: str) -> None:
    findings = launch(_case(kernel)).findings
    found = [f for f in findings if f.kind == "out of bounds"]
    assert not [f for f in findings if f.kind == "uninitialised read"], "what is read in vain is no other's fault"
    detail, count = FAR[kernel]
    assert [f.line for f in found] == [_line(kernel)]
    assert detail in found[0].detail
    assert (found[0].count, found[0].block, found[0].thread) == (count, (0, 0, 0), (0, 0, 0))


def test_what_is_printed_wide_is_cut() -> None:
    printed = launch(_case("wide_print", blocks=1)).printed
    assert len(printed) == 1 and len(printed[0]) < 10_000


def test_more_local_memory_than_a_gpu_has_is_refused() -> None:
    with pytest.raises(KernelError, match="1,073,741,824 bytes of local memory per thread; a GPU has 524,288"):
        launch(_case("much_of_its_own"))


def test_registers_of_many_branches_take_fewer_blocks_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    many = "".join(
        f"    int v{n} = a[(t + {n}) & 31]; if (v{n} > {n}) {{ v{n} *= {n}; out[{n}] = v{n}; }}\n" for n in range(60)
    )
    total = " + ".join(f"v{n}" for n in range(60))
    head = 'extern "C" __global__ void branches(int* out, const int* a, int n) { const int t = threadIdx.x;\n'
    case = _case("branches", f"{head}{many}    out[t & 31] = {total}; }}", blocks=64)
    usual, seen = launches.blocks_per_batch, []
    monkeypatch.setattr(launches, "blocks_per_batch", lambda *given: seen.append(usual(*given)) or seen[-1])
    monkeypatch.setattr(launches, "REGISTER_BYTES", 8 * 64 * 60 * 4)
    launch(case)
    assert seen and seen[0] <= 4


def test_a_call_that_cannot_be_stopped_is_abandoned_at_a_limit() -> None:
    done = threading.Event()
    with pytest.raises(LimitReached), limited(Limit(SHORT, ROOMY)):
        interruptible(lambda: done.wait(60))
    assert progress.has_abandoned_calls()
    done.set()
    for thread in progress._abandoned_threads:
        thread.join()
    assert not progress.has_abandoned_calls()


def test_ctrl_c_is_heard_while_a_call_goes_on() -> None:
    done = threading.Event()
    threading.Timer(SHORT, signal.raise_signal, (signal.SIGINT,)).start()
    with pytest.raises(KeyboardInterrupt):
        interruptible(lambda: done.wait(60))
    done.set()
    for thread in progress._abandoned_threads:
        thread.join()


def test_calls_that_double_at_each_level_are_refused_at_once() -> None:
    levels = "".join(
        f"__device__ __noinline__ float f{n}(float a) {{ return f{n - 1}(a) + f{n - 1}(a + {n}); }}\n"
        for n in range(1, 24)
    )
    head = "__device__ __noinline__ float f0(float a) { return a * 2; }\n"
    kernel = 'extern "C" __global__ void twice(float* out) { out[0] = f23(out[1]); }'
    with pytest.raises(
        KernelError, match=r"twice has [\d,]{10,} instructions with all functions that it calls, too many"
    ):
        SimDevice().session({FILE: head + levels + kernel}).kernel(FILE, "twice")
