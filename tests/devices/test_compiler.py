"""Compiling with no GPU: what NVRTC says, what is kept, and launches checked against what was compiled."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from lanes import daily_subset, variants_today
from tasks import planned
from wrong import WRONG, Wrong

from gpu_ops.devices.compiler import compile_kernel, parse_log
from gpu_ops.devices.kernel_source import check_files, source_hash
from gpu_ops.devices.launches import check_arguments, check_constants, check_launch, grid1d, grid2d
from gpu_ops.devices.nvrtc import nvrtc_version
from gpu_ops.devices.offline import OfflineDevice
from gpu_ops.errors import DeviceError, KernelError
from gpu_ops.filters import FILTERS, find_filter
from gpu_ops.plan import Launch
from gpu_ops.running.contract import covering_cases
from gpu_ops.types import Filter, Variant

SOURCE = "mean1d/2_constant.cu"
DEFINES = {"SAMPLE": "float", "ACCUMULATOR": "float", "INTEGER": 0, "BORDER": 0, "CHANNELS": 1, "OUTPUTS": 1}
MEAN1D = find_filter("mean1d")


def test_one_compilation_gives_ptx_cubin_resources_and_constants() -> None:
    compiled = compile_kernel(SOURCE, "sm_90", DEFINES)
    entry = compiled.entry("mean1d_constant")
    assert ".target sm_90" in compiled.ptx and ".loc" in compiled.ptx
    assert compiled.cubin[:4] == b"\x7fELF"
    assert [p.nbytes for p in entry.params] == [8, 8, 8, 4]
    assert entry.resources["registers"] > 8
    assert entry.resources["spill_store_bytes"] == 0
    assert compiled.constants == {"taps": 4 * 4095}
    assert compiled.seconds > 0


@pytest.mark.parametrize("architecture", ["sm_75", "sm_90", "sm_120"])
def test_without_the_assembler_the_ptx_is_the_same(architecture: str) -> None:
    whole = compile_kernel(SOURCE, architecture, DEFINES)
    only = compile_kernel(SOURCE, architecture, DEFINES, assemble=False)
    assert only.ptx == whole.ptx and only.constants == whole.constants
    assert only.cubin == b"" and only.entry("mean1d_constant").resources == {}
    assert only.entry("mean1d_constant").params == whole.entry("mean1d_constant").params


def test_an_empty_log_is_written_into_nobody_elses_bytes() -> None:
    """Python has one object for all bytes " ": what the compiler writes must not land there."""
    code = (
        "from gpu_ops.devices.compiler import compile_kernel;"
        "made = compile_kernel('measure/hold.cu', 'sm_75', assemble=False); print(repr(made.log), 'a', b' '.hex())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout == b"'' a 20\n"


def test_a_second_call_is_a_hit_and_an_edit_is_not() -> None:
    first = compile_kernel(SOURCE, "sm_90", DEFINES)
    assert compile_kernel(SOURCE, "sm_90", DEFINES) is first
    text = 'extern "C" __global__ void mean1d_constant(float* x) { x[0] = CHANNELS; }'
    edited = compile_kernel(SOURCE, "sm_90", DEFINES, {SOURCE: text})
    assert edited is not first
    assert source_hash(SOURCE, {SOURCE: text}) != source_hash(SOURCE)


def test_an_edited_header_counts_as_well() -> None:
    edits = {"include/border.cuh": "#pragma once\n#error no borders today\n"}
    with pytest.raises(KernelError, match=r"border.cuh.*no borders today"):
        compile_kernel(SOURCE, "sm_90", DEFINES, edits)
    assert source_hash(SOURCE, edits) != source_hash(SOURCE)


def test_an_error_names_line_and_column() -> None:
    text = 'extern "C" __global__ void f(int* a)\n{\n    a[0] = foo;\n}\n'
    with pytest.raises(KernelError) as error:
        compile_kernel(SOURCE, "sm_90", DEFINES, {SOURCE: text})
    assert f'{SOURCE}:3:12: error: identifier "foo" is undefined' in str(error.value)
    assert (error.value.diagnostics[0].line, error.value.diagnostics[0].column) == (3, 12)


def test_a_wrong_name_lists_the_kernels_there_are() -> None:
    text = 'extern "C" __global__ void other(int* a) { a[0] = 1; }'
    with pytest.raises(KernelError, match=r'no kernel "mean1d_constant" \(found: other\)'):
        compile_kernel(SOURCE, "sm_90", DEFINES, {SOURCE: text}).entry("mean1d_constant")


def test_an_unknown_architecture_or_file_is_named() -> None:
    with pytest.raises(DeviceError, match="choose from sm_75"):
        compile_kernel(SOURCE, "sm_20", DEFINES)
    with pytest.raises(KernelError, match=r"no kernel file mean1d/9\.cu.*mean1d/1_naive\.cu"):
        compile_kernel("mean1d/9.cu", "sm_90")


def test_flags_of_a_header_are_used() -> None:
    text = '// Flags: -use_fast_math\nextern "C" __global__ void f(float* a) { a[0] = sinf(a[0]); }'
    fast = compile_kernel(SOURCE, "sm_90", DEFINES, {SOURCE: text})
    assert "-use_fast_math" in fast.flags
    assert "sin.approx" in fast.ptx


HIDDEN = (
    '// R"(\n#inc\\\nlude "{secret}"\n// )"',
    '/* R"( */\n#inc\\\nlude "{secret}"\n/* )" */',
    '#/*R"(*/inc\\\nlude "{secret}"\n//)"',
    '#if 0\n\' /*\n#endif\n#include "{secret}"\n// */',
    '#pragma one \' /*\n#include "{secret}"\n// */',
)
"""What only a reader finds that takes comments, strings and continued lines as the compiler does."""
ELSEWHERE = [
    '#include "{secret}"',
    "#include <{secret}>",
    "  #  include_next /* a */ <{secret}>",
    '%:include "{secret}"',
    '#inc\\\nlude "{secret}"',
    '#define NAME "{secret}"\n#include NAME',
    '#include "../../../../../../../../../..{secret}"',
    '#define aR\nconst char* s = aR"(";\n#incl\\\nude "{secret}"\n// )"',
    *HIDDEN,
    '#include "border.cuh"',
    '#include "secret.h"',
    '#include "mean1d/secret.h"',
    '#if __has_include("{secret}")\n#error secret\n#endif',
    "#define ASK __has_include\n#if ASK(<{secret}>)\n#error secret\n#endif",
    "// Flags: -I{folder}\n#include <secret.h>",
    "// Flags: --pre-include={secret}",
    "// Flags: -use_fast_math -include {secret}",
    "// Flags: -Xptxas=-o={secret}",
]


@pytest.mark.parametrize("text", ELSEWHERE)
def test_a_kernel_opens_no_file_but_headers_of_the_kernel_folders(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mean1d").mkdir()
    for place in ("secret.h", "mean1d/secret.h"):
        (tmp_path / place).write_text("secret, word")
    text = text.format(secret=tmp_path / "secret.h", folder=tmp_path)
    edits = {
        SOURCE: f'{text}\nextern "C" __global__ void f(float* a) {{}}',
        "include/border.cuh": '#include "secret.h"',
    }
    with pytest.raises(KernelError, match="does not compile") as error:
        compile_kernel(SOURCE, "sm_90", {}, edits, assemble=False)
    assert "secret, word" not in error.value.log and "no storage class" not in str(error.value)
    assert "#error" not in error.value.log


@pytest.mark.parametrize("text", HIDDEN)
def test_the_text_shows_what_a_kernel_would_open(text: str) -> None:
    with pytest.raises(KernelError, match="includes /etc/secret.h, which is no header of the kernel folders"):
        check_files(SOURCE, {SOURCE: text.format(secret="/etc/secret.h")})


def test_a_message_shows_no_other_file_than_those_of_the_request() -> None:
    text = '#line 7 "/etc/elsewhere"\nsecret\nextern "C" __global__ void f(float* a) {}'
    with pytest.raises(KernelError, match="an error is in /etc/elsewhere, which is no header of the kernel folders"):
        compile_kernel(SOURCE, "sm_90", {}, {SOURCE: text}, assemble=False)


@pytest.mark.parametrize(
    "text",
    [
        '#include "border.cuh"',
        "#if 0\n#include <cuda_fp16.h>\n#endif",
        "#if defined(__has_include) && __has_include(<cuda_fp16.h>)\n#endif\n#ifdef __has_include\n#endif",
        '// #include "/a"\n/* #include "/b" */\n__constant__ char text[] = "# include </c>";',
        "// Flags: --use_fast_math -maxrregcount=32 -DRADIUS=2",
    ],
)
def test_what_names_no_file_elsewhere_compiles(text: str) -> None:
    compile_kernel(SOURCE, "sm_90", DEFINES, {SOURCE: f'{text}\nextern "C" __global__ void f(float* a) {{}}'}, False)


def test_log_lines_are_taken_apart() -> None:
    log = 'k.cu(7): warning #177-D: variable "b" was declared\n  int b;\n      ^\n\nk.cu(9): error: expected a ";"\n'
    first, second = parse_log(log)
    assert (first.line, first.column, first.severity) == (7, 5, "warning")
    assert (second.line, second.column, second.text) == (9, 0, 'expected a ";"')


def test_nvrtc_has_a_version() -> None:
    assert nvrtc_version() >= (13, 0)


def _launch(**changes) -> Launch:  # type: ignore[no-untyped-def]
    device = OfflineDevice("sm_90")
    x = np.zeros(1000, np.float32)
    knobs = {"block": 256, "outputs": 1}
    plan = planned(MEAN1D, "constant", device, x, {"window": 5, "border": "zero"}, knobs)
    return replace(plan.steps[0], **changes)


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"block": (2048, 1, 1)}, "2,048 threads; allowed are 1 to 1,024"),
        ({"block": (0, 1, 1)}, "allowed are 1 to 1,024"),
        ({"block": (1, 1, 128)}, "allowed are 1 to 1,024"),
        ({"grid": (0, 1, 1)}, "a grid of 0 x 1 x 1"),
        ({"grid": (1, 70000, 1)}, "a grid of 1 x 70,000 x 1"),
        ({"shared_bytes": 300_000}, "300,000 bytes of shared memory per block; this device has 232,448"),
        ({"args": ()}, "takes 4 arguments"),
    ],
)
def test_launches_that_cannot_run_are_refused(changes, words: str) -> None:  # type: ignore[no-untyped-def]
    launch = _launch(**changes)
    with pytest.raises(KernelError) as error:
        check_launch(launch, launch.kernel.entry, OfflineDevice("sm_90").limits)
    assert words in str(error.value)


def test_a_kernels_own_block_limit_counts() -> None:
    text = 'extern "C" __global__ void __launch_bounds__(128) f(int* a) { a[0] = 1; }'
    entry = compile_kernel(SOURCE, "sm_90", DEFINES, {SOURCE: text}).entry("f")
    assert entry.max_threads == 128
    with pytest.raises(KernelError, match="allowed are 1 to 128"):
        check_launch(_launch(args=(np.zeros(4),)), entry, OfflineDevice("sm_90").limits)


def test_arguments_are_checked_by_kind_and_size() -> None:
    params = _launch().kernel.entry.params
    array = np.zeros(4, np.float32)
    check_arguments("k", (array, array, np.int64(1), np.int32(1)), params)
    for bad in (
        (array, array, np.int32(1), np.int32(1)),
        (array, array, np.float64(1), np.int32(1)),
        (array, array, np.int64(1), np.float32(1)),
        (array, array, np.int64(1), array),
        (np.int32(1), array, np.int64(1), np.int32(1)),
    ):
        with pytest.raises(KernelError, match="argument"):
            check_arguments("k", bad, params)


def test_constants_must_exist_and_fit() -> None:
    compiled = compile_kernel(SOURCE, "sm_90", DEFINES)
    check_constants(compiled, {"taps": np.zeros(4095, np.float32)})
    with pytest.raises(KernelError, match=r"no __constant__ or __device__ variable weights .*\(found: taps\)"):
        check_constants(compiled, {"weights": np.zeros(1)})
    with pytest.raises(KernelError, match="holds 16,380 bytes, the plan has 16,384"):
        check_constants(compiled, {"taps": np.zeros(4096, np.float32)})


def test_grids_cover_everything() -> None:
    assert grid1d(1000, 256) == (4, 1, 1)
    assert grid1d(0, 256) == (1, 1, 1)
    assert grid2d(33, 65, (32, 8)) == (3, 5, 1)


KERNELS = [(f, v) for f in FILTERS for v in f.variants if v.kernels]


@pytest.mark.parametrize("architecture, every", [("sm_75", 30), ("sm_90", 25)])
@pytest.mark.parametrize("filter, variant", variants_today(KERNELS, 0, -(-len(KERNELS) // 3)))
def test_plans_of_the_contract_fit_their_kernels(
    filter: Filter, variant: Variant, architecture: str, every: int
) -> None:
    device = OfflineDevice(architecture)
    for case in covering_cases(filter, variant, device.limits)[every // 3 :: every]:
        x = device.empty(case.shape, np.dtype(case.dtype))
        device.check(planned(filter, variant.id, device, x, case.params, case.knobs))


@pytest.mark.parametrize("wrong", daily_subset(WRONG, 0, lambda wrong: wrong.name, -(-len(WRONG) // 3)))
def test_wrong_kernels_compile_and_fit_so_that_only_their_results_can_reject_them(wrong: Wrong) -> None:
    filter = find_filter(wrong.filter)
    variant = filter.variant(wrong.variant)
    device = OfflineDevice("sm_90", {wrong.file: wrong.text()})
    cases = covering_cases(filter, variant, device.limits)
    for case in {case.dtype: case for case in cases}.values():
        x = device.empty(case.shape, np.dtype(case.dtype))
        device.check(planned(filter, variant.id, device, x, case.params, case.knobs))
