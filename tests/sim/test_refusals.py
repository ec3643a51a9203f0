"""What is not simulated is refused before anything runs; what cannot be launched likewise. Messages and stops."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpu_ops.devices import open_device
from gpu_ops.errors import DeviceError, KernelError
from gpu_ops.own_kernels.launching import OwnLaunch, simulate
from gpu_ops.own_kernels.sources import OwnFile
from tests.sim.bench import Case, launch
from tests.sim.table import case, text

TYPES = {"SAMPLE": "float", "ACCUMULATOR": "float", "INTEGER": 0}
ARCHITECTURES = ("sm_75", "sm_90", "sm_120")

REFUSED = {
    "numbered barrier of all threads": ('asm volatile("bar.sync 1;"); out[i] = 1;', "bar.sync", 75),
    "numbered barrier with a result": (
        "unsigned r;\n"
        'asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; bar.red.popc.u32 %0, 1, 64, p; }" : "=r"(r) : "r"(i));\n'
        "out[i] = r;",
        "bar.red.popc",
        75,
    ),
    "product of warp groups": ('asm volatile("wgmma.fence.sync.aligned;"); out[i] = 1;', "wgmma.fence", 90),
    "copy of a tensor": (
        "__shared__ int box[64]; unsigned at = __cvta_generic_to_shared(box);\n"
        'asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes "'
        '"[%0], [%1, {%2}], [%0];" : : "r"(at), "l"(out), "r"(i)); out[i] = box[i];',
        "cp.async.bulk.tensor",
        90,
    ),
    "bulk copy": ('asm volatile("cp.async.bulk.commit_group;"); out[i] = 1;', "cp.async.bulk", 90),
    "narrow atomic": (
        'unsigned short old, v = i; asm volatile("atom.add.noftz.f16 %0, [%1], %2;" : "=h"(old) : "l"(out), "h"(v));\n'
        "out[i] = old;",
        "atom.add.noftz.f16",
        75,
    ),
}
PAIRS = [(n, a) for n, (_, _, least) in REFUSED.items() for a in ARCHITECTURES if int(a[3:]) >= least]


def _kernel(body: str) -> Case:
    source = f'\nextern "C" __global__ void k(float* out) {{\nint i = threadIdx.x;\n{body}\n}}\n'
    return Case(source, "k", (1, 1, 1), (32, 1, 1), (np.zeros(32, np.float32),))


@pytest.mark.parametrize(("name", "architecture"), PAIRS)
def test_an_unknown_instruction_is_refused_by_name_and_line(name: str, architecture: str) -> None:
    body, opcode, _ = REFUSED[name]
    given = _kernel(body)
    lines = [n for n, t in enumerate(given.text.splitlines(), 1) if "asm" in t]
    with pytest.raises(KernelError, match=re.escape(opcode)) as caught:
        launch(given, f"sim:{architecture}")
    found = re.match(r"tests/kernel\.cu:(\d+): ", str(caught.value))
    assert found and abs(int(found[1]) - lines[0]) <= 1
    assert "does not run" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("what", ["sync", "arrive"])
@pytest.mark.parametrize("number", ["i + 16", "-1"])
def test_a_barrier_that_no_block_has(what: str, number: str) -> None:
    given = _kernel(f"""int at = {number};\nasm volatile("barrier.{what} %0, 64;" : : "r"(at)); out[i] = 1;""")
    found = "16" if number == "i + 16" else "-1"
    with pytest.raises(
        KernelError, match=rf"kernel\.cu:5: a block has barriers 0 to 15, not {found}; use one of those"
    ):
        launch(given)


RECURSION = """
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
extern "C" __global__ void k(int* out) { out[threadIdx.x] = fibonacci(threadIdx.x); }
"""
THROUGH_A_POINTER = """
typedef int (*Function)(int);
__device__ int turn(int n);
__device__ Function next = turn;
__device__ int turn(int n) { return n < 2 ? n : next(n - 1) + n; }
extern "C" __global__ void k(int* out) { out[threadIdx.x] = next(threadIdx.x); }
"""
LAUNCHES = """
__global__ void inner(int* out) { out[0] = 1; }
extern "C" __global__ void k(int* out) { inner<<<1, 1>>>(out); }
"""


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize(
    ("source", "words"),
    [
        (RECURSION, "cu:2: .*recursion is not simulated"),
        (THROUGH_A_POINTER, "cu:5: .*recursion is not simulated"),
        (LAUNCHES, "cu:3: .*a kernel that launches kernels is not supported"),
    ],
)
def test_calls_that_are_not_simulated(source: str, words: str, architecture: str) -> None:
    given = Case(source, "k", (1, 1, 1), (32, 1, 1), (np.zeros(32, np.int32),))
    with pytest.raises(KernelError, match=words):
        launch(given, f"sim:{architecture}")


@pytest.mark.parametrize(
    ("declared", "used", "words"),
    [
        ("", "__shared__ int box[12289]; box[i] = i; __syncthreads(); out[i] = box[(i + 1) % 32];", "49,168 bytes"),
        ("__constant__ int many[16385];", "out[i] = many[i];", "65,540 bytes of __constant__ memory"),
    ],
)
def test_more_memory_than_a_kernel_may_declare(declared: str, used: str, words: str) -> None:
    given = _kernel(used)
    with pytest.raises(KernelError, match=words):
        launch(replace(given, text=declared + given.text), "sim:sm_75")


def test_what_the_assembler_says_is_there_when_it_is_asked_for() -> None:
    device = open_device("sim:sm_90").session({})
    kernel = device.kernel("mean1d/1_naive.cu", "mean1d_naive", {**TYPES, "BORDER": 0, "CHANNELS": 1, "OUTPUTS": 1})
    assert kernel.resources["registers"] > 8


def _good() -> Case:
    args = (np.ones(100, np.int32), np.ones(100, np.int32), np.zeros(100, np.uint32), 100)
    return case("integer.cu", "comparisons", args)


BAD_LAUNCHES: dict[str, tuple[dict[str, Any], str]] = {
    "too few arguments": ({"args": (np.zeros(1, np.int32),)}, "takes 4 arguments .* gives 1"),
    "a float for an int": (
        {"args": (*(np.zeros(9, np.int32),) * 3, np.float32(3))},
        r"argument 4 is float32, the kernel declares u32",
    ),
    "an array for an int": ({"args": (np.zeros(9, np.int32),) * 4}, r"argument 4 is array"),
    "a number for an array": (
        {"args": (np.int64(0), *(np.zeros(9, np.int32),) * 2, np.int32(3))},
        r"argument 1 is int64",
    ),
    "a block too large": ({"block": (1025, 1, 1)}, "1,025 threads; allowed are 1 to 1,024"),
    "an empty block": ({"block": (0, 1, 1)}, "a block of 0 x 1 x 1"),
    "a flat block": ({"block": (1, 1, 65)}, "a block of 1 x 1 x 65"),
    "an empty grid": ({"grid": (0, 1, 1)}, "a grid of 0 x 1 x 1 blocks"),
    "a grid too tall": ({"grid": (1, 65536, 1)}, "a grid of 1 x 65,536 x 1 blocks"),
    "too much shared memory": ({"shared_bytes": 300_000}, "300,000 bytes of shared memory"),
    "no such kernel": ({"kernel": "missing"}, r'has no kernel "missing" \(found: .*comparisons'),
    "no such constant": (
        {"constants": {"weights": np.zeros(3)}},
        "no __constant__ or __device__ variable weights",
    ),
    "a syntax error": (
        {"text": 'extern "C" __global__ void k(int* a) {\n  a[0] = 1\n}'},
        r"kernel.cu:3:\d+: error: expected a",
    ),
}


@pytest.mark.parametrize("name", BAD_LAUNCHES)
def test_a_launch_that_cannot_be_is_one_clear_error(name: str) -> None:
    changes, words = BAD_LAUNCHES[name]
    if name in ("a number for an array",):  # older PTX does not say which 64-bit number is a pointer
        with pytest.raises(KernelError, match=words):
            launch(replace(_good(), **changes), "sim:sm_120")
        return
    with pytest.raises(KernelError, match=words) as caught:
        launch(replace(_good(), **changes))
    assert caught.value.args[0].count("\n") == 0


def test_an_architecture_that_nobody_knows() -> None:
    with pytest.raises(DeviceError, match="There is no simulated sm_12; choose from sm_75"):
        launch(_good(), "sim:sm_12")


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_printed_lines(architecture: str) -> None:
    a = np.array([1.5, 0, 0, -0.125, 0, 0, 1e10], np.float32)
    printed = launch(case("messages.cu", "lines", (a, 7), block=32), f"sim:{architecture}").printed
    values = [f"thread {i}: {a[i]:.3f} text {chr(97 + i)}     7|{-i:<4d}|ff 1099511627776%\n" for i in (0, 3, 6)]
    assert sorted(printed) == sorted([*values, "plain\n"])


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize(
    ("kernel", "kind", "words"), [("claims", "assertion failed", r"a\[i\] < n"), ("traps", "trap", "executes a trap")]
)
def test_a_kernel_that_stops_itself(kernel: str, kind: str, words: str, architecture: str) -> None:
    a = np.arange(64, dtype=np.int32)
    line = next(n for n, t in enumerate(text("messages.cu").splitlines(), 1) if t.endswith(f"// {kernel[:-1]}"))
    args = (a, 50) if kernel == "claims" else (a,)
    with pytest.raises(KernelError, match=rf"kernel.cu:{line}: {kind}: .*{words}") as caught:
        launch(case("messages.cu", kernel, args, grid=2, block=32), f"sim:{architecture}")
    found = caught.value.findings[-1]
    assert (found.kind, found.line) == (kind, line)
    assert found.thread == ((18, 0, 0) if kernel == "claims" else (7, 0, 0))
    fine = (a, 64) if kernel == "claims" else (np.zeros(32, np.int32),)
    assert launch(case("messages.cu", kernel, fine, grid=2, block=32), f"sim:{architecture}").findings == ()


def test_what_a_header_has_is_refused_by_the_line_of_the_kernel() -> None:
    asm = 'asm volatile("atom.add.noftz.f16 %0, [%1], %2;" : "=h"(old) : "l"(out), "h"(old));'
    header = f"__device__ int add(int* out)\n{{\n    short old = 0;\n    {asm}\n    return old;\n}}\n"
    text = '#include "adding.cuh"\n__global__ void k(int* out)\n{\n    out[1] = add(out);\n}\n'
    file = OwnFile("own.cu", {"own.cu": text, "adding.cuh": header})
    with pytest.raises(KernelError, match=r"^own\.cu:4: the simulated GPU does not run atom\S+ \(adding\.cuh:4\); "):
        simulate(OwnLaunch(file, "k", (1, 1, 1), (32, 1, 1), ("zeros:int32:1",)))
