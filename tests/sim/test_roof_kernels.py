"""The kernels that measure the roofs of L2, L1 and shared memory: they read what they claim, and from where."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from gpu_ops.devices.compiler import compile_kernel
from gpu_ops.devices.instruments import EMPTY, reading
from gpu_ops.devices.kernel_source import read_source
from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.plan import Launch, Plan
from gpu_ops.running.roofline import LEVEL_BLOCK, UNROLL, Reads

CASES = {"L2": ("L2", False), "L2 copy": ("L2", True), "L1": ("L1", False), "shared": ("shared", False)}
INSTRUCTIONS = {"L2": "ld.global.cg.v4.u32", "L1": "ld.global.ca.v4.u32", "shared": "ld.shared.v4.u32"}
LEVELS = reading("L2", False, UNROLL).source


def small(level: str, copies: bool, passes: int = 3) -> Reads:
    """Two blocks of two warps, with two rounds of their threads in a slice."""
    return Reads(level, copies, 2, 64, 64 * UNROLL * 2 * (2 if level == "L2" else 1), passes)


def run(reads: Reads, edits: dict[str, str] | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict]:
    """The source, the target and the folds after a launch, and what was counted."""
    device = SimDevice().session(edits or {})
    plan = reads.plan(device)
    source = np.random.default_rng(1).integers(0, 1 << 32, 4 * reads.buffer, np.uint32)
    device.upload(source, out=plan.outputs["source"])
    done = device.execute(plan, "counted")
    assert not done.findings
    return source, *(device.download(plan.outputs[name]) for name in ("target", "folds")), dict(done.counters)


def delivers(reads: Reads, edits: dict[str, str] | None = None) -> bool:
    """Whether every word was read as often as it says, and copied where it says."""
    source, target, folds, _ = run(reads, edits)
    expected = np.bitwise_xor.reduce(source) if reads.passes % 2 else 0
    return np.bitwise_xor.reduce(folds) == expected and (not reads.copies or bool((target == source).all()))


@pytest.mark.parametrize("case", CASES)
def test_each_word_is_read_in_every_pass(case: str) -> None:
    level, copies = CASES[case]
    assert delivers(small(level, copies)) and delivers(small(level, copies, 4))
    skips = read_source(LEVELS).replace("i += UNROLL * step", "i += 2 * UNROLL * step")
    once = read_source(LEVELS).replace("pass < passes", "pass < 1")
    swapped = read_source(LEVELS).replace("target[i + j * step] = words[j]", "target[i + j * step] = words[0]")
    assert not delivers(small(level, copies), {LEVELS: skips})
    assert not delivers(small(level, copies, 4), {LEVELS: once})
    assert delivers(small(level, copies), {LEVELS: swapped}) != copies


@pytest.mark.parametrize("case", CASES)
def test_what_the_level_moves_is_what_was_counted(case: str) -> None:
    level, copies = CASES[case]
    reads = small(level, copies)
    *_, counts = run(reads)
    once = reads.buffer // 2
    sectors = {"L2": 3 * once, "L1": 3 * once, "shared": once}[level]
    assert counts["global_load_sectors"] == sectors
    assert counts["global_store_sectors"] == 3 * once * copies + 2 * 64 * 4 // 32
    if level == "shared":
        assert counts["shared_wavefronts"] == 16 * reads.buffer * (3 + 1) // 128, "no bank conflict"
    assert reads.moved == 16 * reads.buffer * 3 * (1 + copies)


def served_by(level: str, edits: dict[str, str] | None = None) -> set[str]:
    """The vector loads of the kernel."""
    instrument = reading(level, False, UNROLL)
    compiled = compile_kernel(instrument.source, "sm_90", instrument.defines, edits or {}, assemble=False)
    return set(re.findall(r"ld\.\w+(?:\.\w+)*\.v4\.u32", compiled.ptx))


def test_each_level_has_a_load_that_it_serves() -> None:
    for level, instruction in INSTRUCTIONS.items():
        fill = {"ld.global.nc.v4.u32"} if level == "shared" else set()
        assert served_by(level) - fill == {instruction}
    cached = {LEVELS: read_source(LEVELS).replace("ld.global.cg", "ld.global")}
    assert served_by("L2", cached) != {INSTRUCTIONS["L2"]}


def test_slices_fit_into_their_level() -> None:
    for multiprocessors, l2 in ((132, 50 << 20), (40, 4 << 20), (1, 32 << 20)):
        device = SimDevice()
        device.limits = replace(device.limits, multiprocessors=multiprocessors, l2_bytes=l2)
        for level, copies in CASES.values():
            reads = Reads.of(device, level, copies)
            assert reads.words % (LEVEL_BLOCK * UNROLL * (reads.blocks if level == "L2" else 1)) == 0
            if level == "L2":
                assert 16 * reads.buffer * (1 + copies) <= l2
            else:
                assert 16 * reads.words <= 48 << 10, "no more shared memory than every GPU has"


def test_an_empty_kernel_does_nothing() -> None:
    device = SimDevice()
    kernel = device.kernel(EMPTY.source, EMPTY.name, EMPTY.defines)
    done = device.execute(Plan((Launch(kernel, (1, 1, 1), (1, 1, 1), ()),), {}), "counted")
    assert done.counters["launches"] == 1 and done.counters["warp_instructions"] == 1
