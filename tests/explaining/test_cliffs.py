"""The cliffs of kernels: next steps of the occupancy, spills by source line, layouts without bank conflicts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpu_ops import find_filter, from_array
from gpu_ops.cli import main
from gpu_ops.devices.occupancy import occupancy
from gpu_ops.devices.sass import disassembler
from gpu_ops.errors import DeviceError
from gpu_ops.explaining.cliffs.bank_conflicts import Conflicts
from gpu_ops.explaining.cliffs.occupancy_steps import Demand, occupancy_steps, sentences
from gpu_ops.explaining.cliffs.shared_arrays import padded, shared_arrays, swizzled
from gpu_ops.explaining.cliffs.spilled_lines import spilled_lines
from gpu_ops.explaining.cliffs.targets import find_cliffs, layout_of_variant
from gpu_ops.explaining.prediction.gpus import GPUS
from gpu_ops.explaining.xray import xray
from gpu_ops.own_kernels.launching import OwnLaunch
from gpu_ops.own_kernels.layouts import layout_of_launch
from gpu_ops.own_kernels.sources import read_file
from gpu_ops.types import Pick

try:
    disassembler.program()
    REASON = ""
except DeviceError as error:
    REASON = str(error)
needs_nvdisasm = pytest.mark.skipif(bool(REASON), reason=REASON or "nvdisasm is there")
ARCHITECTURES = tuple(dict.fromkeys(gpu.architecture for gpu in GPUS.values()))

# Occupancy


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_no_nearer_value_changes_the_resident_warps(architecture: str) -> None:
    random = np.random.default_rng(7)
    found = 0
    for _ in range(40):
        threads, registers = int(random.integers(1, 33)) * 32, int(random.integers(8, 64))
        demand = Demand(threads, registers, 4 * int(random.integers(0, 3000)))
        own = demand.on(architecture)
        for step in occupancy_steps(architecture, demand):
            found += 1
            before = getattr(demand, step.resource)
            assert step.change == step.value - before and step.gains == (step.occupancy.warps > own.warps)
            assert step.occupancy.warps != own.warps
            unit = 32 if step.resource == "threads" else 4 if step.resource == "shared_bytes" else 1
            nearer = range(
                before + (unit if step.change > 0 else -unit), step.value, unit if step.change > 0 else -unit
            )
            for value in nearer:
                other = replace(demand, **{step.resource: value})
                held = occupancy(architecture, other.threads, other.registers, other.shared_bytes)
                if step.resource == "threads":
                    assert held.warps <= own.warps
                else:
                    assert held.warps == own.warps, (demand, step, value)
    assert found > 40


def test_the_steps_are_said_with_what_they_bring() -> None:
    """65,536 registers: at 40 a thread, 6 blocks of 256; at 32, 8. Of 228 KiB of shared memory 6 blocks can have 37.875
    KiB each, in units of 128 bytes, of which the system takes 1 KiB."""
    more = 228 * 1024 // 6 // 128 * 128 - 1024 + 4
    fewer = "5 blocks instead of 6 on a multiprocessor, 40 of 64 warps instead of 48."
    assert sentences("sm_90", Demand(256, 40, 0)) == [
        "8 registers fewer per thread: 8 blocks instead of 6 on a multiprocessor, 64 of 64 warps instead of 48.",
        f"1 register more per thread: {fewer}",
        f"{more:,} bytes of shared memory more per block: {fewer}",
    ]
    assert sentences("sm_75", Demand(1024, 16, 4096)) == [
        "Registers, shared memory and block size: all warps fit already."
    ]
    assert sentences("sm_70", Demand(256, 40, 0))[0].startswith("The occupancy of sm_70 is not known")


# Spills


@needs_nvdisasm
@pytest.mark.parametrize("architecture", ["sm_75", "sm_90"])
def test_spills_by_line_are_the_bytes_of_the_assemblers_log(architecture: str) -> None:
    layout = find_filter("layout")
    signal = from_array(np.zeros(64 * 192 * 2, np.float32))
    about = (signal, {}, {"registers": 24}, architecture)
    (spills, *_) = xray(layout, layout.variant("spills"), *about, code=True).kernels
    assert spills.code is not None
    lines = spilled_lines(spills.code)
    own = spills.resources
    assert sum(one.stored for one in lines) == own["spill_store_bytes"] > 0
    assert sum(one.loaded for one in lines) == own["spill_load_bytes"]
    source = spills.text.splitlines()
    assert {one.file for one in lines} == {spills.file}
    load, store = (next(one for one in lines if text in source[one.line - 1]) for text in ("= from[", "to[k"))
    assert len(lines) == 2 and load.stored > load.loaded and store.loaded > store.stored, "kept by one for the other"


@needs_nvdisasm
def test_an_array_of_a_thread_is_no_spill() -> None:
    layout = find_filter("layout")
    signal = from_array(np.zeros(4096, np.float32))
    (local, *_) = xray(layout, layout.variant("local"), signal, {}, {}, "sm_90", code=True).kernels
    assert local.code is not None and any("LDL" in line.text for line in local.code.sass)
    assert spilled_lines(local.code) == []


# Bank conflicts

TRANSPOSE = """#define SIDE 32
extern "C" __global__ void transpose(const float* x, float* y)
{
    __shared__ float tile[SIDE][SIDE];  // read by tile[column][row]
    const int c = threadIdx.x;
    for (int r = threadIdx.y; r < SIDE; r += 8) tile[r][c] = x[r * SIDE + c];
    __syncthreads();
    for (int r = threadIdx.y; r < SIDE; r += 8) y[r * SIDE + c] = tile[c][r];
}
"""
SIZED = TRANSPOSE.replace("= tile[c][r];", "= tile[c][r] + sizeof(tile[0]);")
"""Its results depend on the bytes of a row."""
FLAT = TRANSPOSE.replace("= tile[c][r];", "= (&tile[0][0])[c * SIDE + r] + 0 * tile[c][r];")
"""It also reads the array as if its rows were not longer."""


def layout_of(folder: Path, text: str, architecture: str = "sm_90") -> Conflicts:
    file = folder / "transpose.cu"
    file.write_text(text)
    arguments = ("range:float32:1024", "empty:float32:1024")
    return layout_of_launch(OwnLaunch(read_file(str(file), []), None, (1, 1, 1), (32, 8, 1), arguments), architecture)


def test_a_padding_that_clears_the_conflicts_is_proposed_with_its_cost(tmp_path: Path) -> None:
    found = layout_of(tmp_path, TRANSPOSE)
    assert (found.wavefronts, found.ideal) == (32 + 32 * 32, 64)
    assert found.proposed is not None and found.proposed.wavefronts == 64
    assert found.proposed.layout.what.endswith("tile[SIDE][SIDE + 1] in place of tile[SIDE][SIDE]")
    assert found.proposed.extra_bytes == 128 and found.proposed.extra_instructions <= 0
    two = next(one for one in found.tried if "SIDE + 2]" in one.layout.what)
    assert two.wavefronts == 32 + 2 * 32, "rows of 34 words: two lanes share a bank"
    swizzle = next(one for one in found.tried if "^" in one.layout.what)
    assert (swizzle.wavefronts, swizzle.extra_bytes, swizzle.refused) == (64, 0, "")
    assert "It costs 128 bytes of shared memory per block; 8 blocks on a multiprocessor" in found.sentences[1]


def test_what_changes_the_results_is_never_proposed(tmp_path: Path) -> None:
    found = layout_of(tmp_path, FLAT)
    paddings = [one for one in found.tried if "+" in one.layout.what]
    assert len(paddings) == 4 and {one.refused for one in paddings} <= {
        "its results differ",
        "the simulated GPU finds a fault in it",
    }
    assert found.proposed is None, [one.refused for one in found.tried]
    sized = layout_of(tmp_path, SIZED)
    assert [one.refused for one in sized.tried] == ["its results differ"] * 4 and sized.proposed is None
    assert min(one.wavefronts for one in sized.tried) == sized.ideal, "though it clears the conflicts"
    assert found.sentences[-1].endswith("none clears them.")


def test_exchanged_columns_are_proposed_where_a_padding_costs_a_block(tmp_path: Path) -> None:
    """Four arrays of 16 KiB fill a T4's multiprocessor."""
    text = TRANSPOSE.replace("[SIDE][SIDE];", "[SIDE * 4][SIDE];")
    found = layout_of(tmp_path, text, "sm_75")
    assert found.proposed is not None and "^" in found.proposed.layout.what
    padding = next(one for one in found.tried if "+ 1]" in one.layout.what)
    assert padding.before is not None and padding.after is not None
    assert (padding.before.blocks, padding.after.blocks) == (4, 3) and not padding.refused


def test_a_knob_for_the_padding_is_tried() -> None:
    layout = find_filter("layout")
    found = layout_of_variant(
        layout, layout.variant("tiles"), from_array(np.arange(4096.0, dtype=np.float32)), {}, {}, "sm_90"
    )
    assert found.proposed is not None and dict(found.proposed.layout.knobs) == {"padding": 1}


def test_without_an_array_to_change_this_is_said() -> None:
    scan, signal = find_filter("scan1d"), from_array(np.arange(4096.0, dtype=np.float32))
    found = layout_of_variant(scan, scan.variant("blelloch"), signal, {}, {}, "sm_90")
    assert found.wavefronts > found.ideal and not found.tried and "no array of two dimensions" in found.sentences[1]
    calm = layout_of_variant(scan, scan.variant("hillis_steele"), signal, {}, {}, "sm_90")
    assert calm.sentences == ["Shared memory has no bank conflicts."]


def test_arrays_are_found_and_rewritten_line_by_line() -> None:
    text = "// __shared__ float no[2][2];\n__shared__ volatile unsigned char b[4][N + 1];\n__shared__ float c[9];\n"
    (only,) = shared_arrays(text)
    assert (only.name, only.line, only.dims, only.step) == ("b", 2, ("4", "N + 1"), 4)
    assert padded(text, only, 8).splitlines()[1] == "__shared__ volatile unsigned char b[4][N + 1 + 8];"
    assert shared_arrays("extern __shared__ float a[4][4];") == []


@pytest.mark.parametrize(
    "body, why",
    [
        ("a[i++][j] = 1;", "it changes a variable"),
        ("f(a[i]);", "a row is passed on"),
        ("f(sizeof a);", "the array is used as a whole"),
        ("a[a[i][j]][j] = 1;", "one use within another"),
    ],
)
def test_columns_are_not_exchanged_where_that_is_not_safe(body: str, why: str) -> None:
    text = f"__shared__ int a[8][SIDE];\na[i][j] = 2;\n{body}\n"
    (array,) = shared_arrays(text)
    assert swizzled(text, array, {"SIDE": 32}) is None, why
    safe = text.replace(body, "")
    assert swizzled(safe, array, {"SIDE": 32}) == safe.replace("a[i][j]", "a[i][(j) ^ ((i) & 31)]")
    assert swizzled(safe, array, {"SIDE": 33}) is None and swizzled(safe, array, {}) is None, "no power of two"


# All of it


def test_the_cliffs_of_a_variant_are_those_of_each_gpu() -> None:
    mean, image = find_filter("mean2d"), from_array(np.zeros((64, 64), np.uint8))
    found = find_cliffs(mean, Pick("shared", "sim", {}), {}, image, "sm_75")
    assert [gpu for target in found.targets for gpu in target.gpus] == sorted(
        GPUS.values(), key=lambda gpu: ARCHITECTURES.index(gpu.architecture)
    )
    for target in found.targets:
        own = xray(mean, mean.variant("shared"), image, {}, {}, target.architecture).kernels[0]
        assert target.demand == own.demand and target.kernel == own.name
        assert target.texts == sentences(target.architecture, own.demand)


def test_the_command_line_has_cliffs_of_variants_and_of_own_kernels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["xray", "layout", "tiles", "--sample", "noise", "--length", "2048", "--cliffs"]) == 0
    said = capsys.readouterr().out
    assert "cliffs of tiles\n  Tesla T4 (sm_75): 32 of 32 warps" in said
    assert "tried The knob padding at 1: 256 wavefronts, +128 bytes; proposed" in said
    file = tmp_path / "transpose.cu"
    file.write_text(TRANSPOSE)
    own = ["xray", str(file), "--block", "32x8", "--arg", "range:float32:1024", "--arg", "empty:float32:1024"]
    assert main([*own, "--cliffs"]) == 0
    assert "tile[SIDE][SIDE + 1] in place of" in capsys.readouterr().out
    assert main([*own, "--predict", "h100"]) == 2
    assert "--predict is for a kernel of a filter" in capsys.readouterr().err
