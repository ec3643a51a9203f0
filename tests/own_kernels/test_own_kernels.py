"""Kernel files from elsewhere: what they declare, their headers and arguments, and a launch on the simulated GPU."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpu_ops.cli import main
from gpu_ops.devices.compiler import KernelParam
from gpu_ops.devices.sass import disassembler
from gpu_ops.errors import DeviceError, InputError, KernelError, ParamError
from gpu_ops.explaining.profiler.launches import IDEAL, IDEAL_WAVEFRONTS, SECTORS, WAVEFRONTS
from gpu_ops.own_kernels.arguments import names_of, parse, scalar_of
from gpu_ops.own_kernels.launching import OwnLaunch, OwnRun, measure, simulate
from gpu_ops.own_kernels.sources import Declared, OwnFile, declared_kernels, read_file

REDUCE = """#include <stdio.h>
#include <cstdint>
#include "scale.h"
/* __global__ void commented(int x); */
namespace n {
template <class T> __global__ void __launch_bounds__(64) reduce(const T* in, T* out, int n)
{
    extern __shared__ int sums[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    sums[threadIdx.x] = i < n ? in[i] * SCALE : 0;
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        __syncthreads();
        if (threadIdx.x < s) sums[threadIdx.x] += sums[threadIdx.x + s];
    }
    if (threadIdx.x == 0) { out[blockIdx.x] = sums[0]; printf("block %d\\n", blockIdx.x); }
}
}
"""
MIX = """
struct P { float gain; int32_t n; };
__constant__ float table[4];
extern "C" __global__ void mix(float* x, P p, float* const* list, float bias = 1.f)
{
    int i = threadIdx.x;
    if (i < p.n) { x[i] = p.gain * table[i & 3] + bias; if (list[0] == nullptr) list[1][i] = i; }
}
"""
FILE = OwnFile("own.cu", {"own.cu": REDUCE + MIX, "scale.h": "#define SCALE 2\n", "cstdint": "typedef int int32_t;\n"})


def reduce(text: str = REDUCE, n: str = "150") -> OwnLaunch:
    file = OwnFile("own.cu", {**FILE.texts, "own.cu": text, "stdio.h": "\n"})
    arguments = ("random:int32:150", "result=empty:int32:3", n)
    return OwnLaunch(file, "n::reduce<int>", (3, 1, 1), (64, 1, 1), arguments, 256)


def test_declared_kernels() -> None:
    assert declared_kernels(REDUCE + MIX) == (
        Declared("reduce", ("class T",), ("const T * in", "T * out", "int n"), "n"),
        Declared("mix", (), ("float * x", "P p", "float * const * list", "float bias = 1.f")),
    )
    assert declared_kernels("#include <x.h>\n__global__ void k(){}") == (Declared("k", (), ()),)
    assert declared_kernels("__device__ void f(int x) {}") == ()
    assert names_of(FILE.kernel("mix").params) == ["x", "p", "list", "bias"]


@pytest.mark.parametrize(
    "name, words",
    [
        (None, r"own.cu has several kernels; choose one with --kernel: n::reduce<…>, mix\."),
        ("nope", r"own.cu has no kernel nope; choose one with --kernel: n::reduce<…>, mix\."),
        ("n::reduce", r"reduce is a template; name an instance with --kernel, such as 'n::reduce<float>'\."),
    ],
)
def test_names_that_fit_no_kernel(name: str | None, words: str) -> None:
    with pytest.raises(ParamError, match=words):
        FILE.kernel(name)
    with pytest.raises(ParamError, match="has no kernel: a kernel is declared __global__"):
        OwnFile("a.cu", {"a.cu": "int x;"}).kernel(name)


def test_headers_come_from_the_folders_that_are_named(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    (inside / "deep").mkdir(parents=True)
    outside.mkdir()
    (tmp_path / "k.cu").write_text('#include "deep/a.h"\n#include "link.h"\n#include <stdio.h>\n#include "k2.h"\n')
    (tmp_path / "k2.h").write_text("beside the kernel, not in a folder that is named")
    (inside / "deep" / "a.h").write_text('#include "b.h"\n#include "near.h"\n#include "../outside/secret.h"\n')
    (inside / "deep" / "near.h").write_text('#include "../../outside/secret.h"\n')
    (inside / "b.h").write_text("int b;")
    (outside / "secret.h").write_text("secret")
    (inside / "link.h").symlink_to(outside / "secret.h")
    texts = read_file(tmp_path / "k.cu", [inside]).texts
    assert sorted(texts) == ["b.h", "deep/a.h", "k.cu", "near.h", "stdio.h"]
    with pytest.raises(InputError, match="is no folder; --include names a folder with headers"):
        read_file(tmp_path / "k.cu", [tmp_path / "missing"])
    with pytest.raises(KernelError, match=r"includes ../outside/secret.h, which is no header"):
        own = OwnFile("k.cu", {**texts, "k.cu": '#include "deep/a.h"\n__global__ void k() {}'})
        simulate(OwnLaunch(own, None, (1, 1, 1), (1, 1, 1), ()))


def test_a_template_runs_and_its_faults_name_its_own_lines_and_parameters() -> None:
    found = simulate(reduce())
    values = np.random.default_rng(1).integers(0, 255, 150, endpoint=True)
    sums = [2 * part.sum() for part in np.split(values, [64, 128])]
    assert found.outputs["result"].tolist() == sums and found.changed == {"result"}
    assert found.xray is not None and not found.xray.faulty
    assert [line.rstrip() for line in found.xray.printed] == ["block 0", "block 1", "block 2"]
    assert [(k.name, k.file) for k in found.xray.kernels] == [("n::reduce<int>", "own.cu")]
    assert found.xray.totals["global_load_threads"] == 150
    assert "shared_bytes" in found.xray.kernels[0].resources


def test_a_missing_barrier_is_one_finding_and_not_one_of_warps() -> None:
    found = simulate(reduce(REDUCE.replace("        __syncthreads();\n", ""), "151"))
    assert found.xray is not None
    kinds = [f.kind for f in found.xray.findings]
    assert kinds == ["out of bounds", "read-after-write hazard"]
    assert str(found.xray.findings[0]).startswith("own.cu:10: out of bounds: reads in[150], but in has 150 elements")
    assert "with no __syncthreads() in between" in str(found.xray.findings[1])


def test_structures_pointers_constants_and_null() -> None:
    arguments = ("zeros:float32:8", "struct:float32=0.5,int32=5", "pointers:null,other", "2", "other=ones:float32:8")
    text = "#include <cstdint>\n" + MIX.replace("float bias = 1.f", "float bias, float* other")
    file = OwnFile("own.cu", {**FILE.texts, "own.cu": text})
    own = OwnLaunch(file, "mix", (1, 1, 1), (8, 1, 1), arguments, symbols={"table": "range:float32:4"})
    with pytest.raises(ParamError, match="list points to nobody; the arrays are x, list, other, or null"):
        simulate(replace(own, arguments=(*arguments[:2], "pointers:null,nobody", *arguments[3:])))
    found = simulate(own)
    assert found.outputs["x"].tolist() == [2, 2.5, 3, 3.5, 2, 0, 0, 0]
    assert found.outputs["other"].tolist() == [0, 1, 2, 3, 4, 1, 1, 1]
    assert set(found.outputs) == {"x", "other"} == found.changed


MANAGED = """__managed__ int total = 5;
__global__ void k(const int* x) { atomicAdd(&total, x[threadIdx.x]); }
"""


@pytest.mark.parametrize(("symbols", "total"), [({"total": "empty:int32:1"}, 33), ({"total": "int32:7"}, 35)])
def test_a_variable_that_the_host_sees_as_well(symbols: dict[str, str], total: int) -> None:
    own = OwnLaunch(OwnFile("own.cu", {"own.cu": MANAGED}), None, (1, 1, 1), (8, 1, 1), ("range:int32:8",))
    assert simulate(replace(own, symbols=symbols)).outputs["total"].reshape(-1).tolist() == [total]


VARIABLES = Path(__file__).with_name("variables.cu").read_text()


def collected(**symbols: str) -> OwnRun:
    file = OwnFile("own.cu", {"own.cu": VARIABLES})
    return simulate(OwnLaunch(file, None, (1, 1, 1), (8, 1, 1), ("range:float32:8",), symbols=symbols))


def test_device_variables_have_contents_before_and_are_outputs_after() -> None:
    found = collected(taps="range:float32:4", sums="ones:float32:2", calls="empty:uint32:1")
    assert {name: array.tolist() for name, array in found.outputs.items()} == {
        **{"x": list(range(8)), "sums": [1, 3]},
        "calls": [13],
    }
    assert found.changed == {"sums", "calls"}, "constants do not change, and are no outputs"
    assert collected(sums="zeros:float32:2").changed == set(), "without taps the sums stay 0"
    assert collected(calls="uint32:7").outputs["calls"].tolist() == 15


@pytest.mark.parametrize(
    "symbols, words",
    [
        ({"taps": "empty:float32:4"}, "--symbol taps=empty:float32:4 has no contents; give DTYPE:NUMBER"),
        ({"sums": "empty:float32:3"}, "own.cu: sums holds 8 bytes, the plan has 12"),
        ({"other": "float32:1"}, r"no __constant__ or __device__ variable other that its kernels use \(found: .*sums"),
        ({"x": "float32:1"}, "variable x that its kernels use"),
    ],
)
def test_variables_that_do_not_fit_are_one_sentence(symbols: dict[str, str], words: str) -> None:
    with pytest.raises((ParamError, KernelError), match=words):
        collected(**symbols)


def test_a_variable_with_the_name_of_an_argument_is_no_second_output() -> None:
    file = OwnFile("own.cu", {"own.cu": VARIABLES.replace("float* x", "float* y").replace("x[thr", "y[thr")})
    own = OwnLaunch(file, None, (1, 1, 1), (8, 1, 1), ("sums=range:float32:8",), symbols={"sums": "empty:float32:2"})
    with pytest.raises(ParamError, match="sums is an argument as well; give the argument another name"):
        simulate(own)


@pytest.mark.parametrize(
    "text, words",
    [
        ("random:int33:5", "give random:DTYPE:SHAPE with a shape such as 1000 or 480x640 and DTYPE one of int8, uint8"),
        ("random:int32:0", "has 0 elements; 1 to 2,147,483,648 are allowed"),
        ("random:int32:99999x99999x99999", "has 999,970,000,299,999 elements"),
        ("nonsense", "cannot be read; give a number, DTYPE:NUMBER, CONTENT:DTYPE:SHAPE"),
        ("uint8:256", "256 does not fit uint8: 0 to 255"),
        ("int32:1.5", "1.5 is no int32; give a number of that type"),
        ("struct:float33=1", "give struct:DTYPE=NUMBER"),
    ],
)
def test_arguments_that_cannot_be_read(text: str, words: str) -> None:
    with pytest.raises(ParamError, match=words):
        parse([text], ["x"])


def test_arrays_from_files(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(6, dtype=np.int16).reshape(2, 3))
    (argument,) = parse([f"x={tmp_path}/a.npy"], [""])
    assert argument.name == "x" and argument.array is not None and argument.array.tolist() == [[0, 1, 2], [3, 4, 5]]
    np.save(tmp_path / "o.npy", np.array([None]), allow_pickle=True)
    (tmp_path / "n.npy").write_bytes(b"nonsense")
    for name in ("o", "n", "missing"):
        with pytest.raises(InputError, match=f"{name}.npy cannot be read as NPY"):
            parse([str(tmp_path / f"{name}.npy")], ["x"])


@pytest.mark.parametrize(
    "text, type, nbytes, declared, expected",
    [
        ("5", "f32", 4, "float x", np.float32(5)),
        ("5", "b32", 4, "float x", np.float32(5)),
        ("5", "b32", 4, "T x", np.uint32(5)),
        ("5.5", "b32", 4, "T x", np.float32(5.5)),
        ("-5", "u32", 4, "int n", np.int32(-5)),
        ("4000000000", "u32", 4, "unsigned int n", np.uint32(4000000000)),
        ("0x10", "u64", 8, "size_t n", np.uint64(16)),
        ("1e3", "f64", 8, "double x", np.float64(1000)),
        ("1", "b16", 2, "__half x", np.float16(1)),
    ],
)
def test_a_number_takes_the_type_of_its_parameter(text: str, type: str, nbytes: int, declared: str, expected) -> None:
    found = scalar_of(text, KernelParam(type, nbytes), declared, "x")
    assert found == expected and found.dtype == expected.dtype


def test_a_number_for_a_pointer_or_a_structure_is_refused() -> None:
    with pytest.raises(ParamError, match=r"x is a pointer \(float \* x\); give an array"):
        scalar_of("5", KernelParam("u64", 8), "float * x", "x")
    with pytest.raises(ParamError, match="p is a structure of 12 bytes"):
        scalar_of("5", KernelParam("b8", 12), "P p", "p")
    with pytest.raises(ParamError, match="p is a structure of 8 bytes"):  # as large as a number
        scalar_of("5", KernelParam("b8", 8), "P p", "p")
    assert scalar_of("3+4j", KernelParam("b8", 8), "float2 z", "z") == np.complex64(3 + 4j)
    with pytest.raises(ParamError, match="n: 4294967296 does not fit int32"):
        scalar_of("4294967296", KernelParam("u32", 4), "int n", "n")


def test_only_cuda_devices_measure() -> None:
    with pytest.raises(ParamError, match="cpu does not measure kernels; choose cuda:N"):
        measure(reduce(), "cpu")


def test_the_command_saves_and_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "own.cu").write_text(REDUCE)
    (tmp_path / "scale.h").write_text("#define SCALE 2\n")
    launch = ["--kernel", "n::reduce<int>", "--grid", "3", "--block", "64", "--shared", "256"]
    launch += ["--include", str(tmp_path)]
    arguments = ["--arg", "ones:int32:150", "--arg", "empty:int32:3", "--arg", "150"]
    saved = ["--save", f"out={tmp_path / 'sums.npy'}"]
    command = ["xray", str(tmp_path / "own.cu"), *launch]
    assert main([*command, *arguments, *saved]) == 0
    said = capsys.readouterr().out
    assert np.load(tmp_path / "sums.npy").tolist() == [128, 128, 44]
    assert "n::reduce<int>: 3 blocks of 64 threads" in said
    assert "findings: none\nprinted\n  block 0\n  block 1\n" in said
    assert "in (unchanged)  int32  150      1    1  1, 1, 1, 1, 1, 1, 1, 1, …" in said
    assert main([*command, *arguments[:-1], "151", "--json", "-"]) == 3
    report = json.loads(capsys.readouterr().out)
    assert report["arrays"]["out"]["changed"] and report["findings"][0]["kind"] == "out of bounds"
    assert main([*command, *arguments[:-2]]) == 2
    assert "reduce takes 3 arguments (const T * in, T * out, int n); --arg gives 2." in capsys.readouterr().err
    assert main(["xray", str(tmp_path / "own.cu"), "--kernel", "n::reduce<int>", *arguments]) == 2
    assert "Name the folder of that header with --include." in capsys.readouterr().err
    for flag, value, words in (("--grid", "0", "is no extent"), ("--device", "cpu", "is neither sim nor cuda:N")):
        assert main([*command, *arguments, flag, value]) == 2
        assert words in capsys.readouterr().err


def test_long_files_and_floods_are_shown_in_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loop = 'for (int n = 0; n < 300; ++n) printf("line %d\\n", n);'
    (tmp_path / "k.cu").write_text("\n" * 4000 + f'extern "C" __global__ void k(int* a) {{ {loop} a[0] = 1; }}')
    assert main(["xray", str(tmp_path / "k.cu"), "--block", "1", "--arg", "empty:int32:1"]) == 0
    said = capsys.readouterr().out
    assert "  line 199\n  … and 100 more lines: --json has them all" in said and "line 200" not in said
    assert len(said.splitlines()) < 300 and "printf(" in said


def test_kernels_are_found_in_hostile_texts() -> None:
    for text in ("__global__ " * 90_000, "__global__ void k(" * 50_000, 'extern "C" __global__ void ' * 30_000):
        assert len(declared_kernels(text)) <= 1
    far = "__global__ void " + "int " * 2_000 + "k(int a) {}"
    assert declared_kernels(far) == ()
    assert declared_kernels("__global__ __global__ void k(int a) {}")[0].name == "k"


def test_an_array_without_contents_counts_as_changed_whatever_its_memory_had_before(tmp_path: Path) -> None:
    (tmp_path / "same.cu").write_text("__global__ void same(const int* x, int* y) { *y = *x; }\n")
    own = OwnLaunch(read_file(tmp_path / "same.cu"), None, (1, 1, 1), (1, 1, 1), ("ones:int32:1", "empty:int32:1"))
    for _ in range(2):  # the second time the memory may have the result of the first
        assert simulate(own).changed == {"y"}


@pytest.mark.parametrize(
    "text, name, words",
    [
        (
            "namespace p { G k(I* x) {} } namespace q { G k(I* x) {} }",
            "k",
            "a.cu has several kernels k; choose one with --kernel: p::k, q::k.",
        ),
        ("G k(I* x) {}\nG k(float* x) {}", "k", "has several kernels k (k, k); give each another name"),
        ("G k(I* x) { *x = 1 }", "k", 'a.cu:1:36: error: expected a ";"'),
        ("G a(I* x) {} G b(I* x) {}", None, "a.cu has several kernels; choose one with --kernel: a, b."),
        ("G a(I* x) {}", "b", "a.cu has no kernel b; choose one with --kernel: a."),
        ('\n#include "none.h"\nG k(I* x) {}', "k", "a.cu:2:"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_sentence(text: str, name: str | None, words: str) -> None:
    file = OwnFile("a.cu", {"a.cu": text.replace("G", "__global__ void").replace("I", "int")})
    with pytest.raises((ParamError, KernelError)) as caught:
        simulate(OwnLaunch(file, name, (1, 1, 1), (1, 1, 1), ("zeros:int32:1",)))
    assert words in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "declared, argument, words",
    [
        (
            "const float* x",
            "zeros:uint8:4",
            "x is declared const float * x, and the array is uint8; give an array of float32.",
        ),
        ("unsigned char x[]", "zeros:float32:4", "and the array is float32; give an array of uint8."),
        ("int x", "zeros:int32:4", "x is declared int x, which is no pointer; give a number, such as 1000."),
        ("unsigned* x", "zeros:int32:4", ""),
        ("float2* x", "zeros:float32:4", ""),
        ("const bool* x", "zeros:uint8:4", ""),
        ("long* x", "zeros:int64:4", ""),
        ("void* x", "zeros:uint8:4", ""),
        ("float* const* x", "pointers:null", ""),
    ],
)
def test_an_array_has_the_type_that_the_kernel_declares(declared: str, argument: str, words: str) -> None:
    file = OwnFile("a.cu", {"a.cu": f"__global__ void k({declared}) {{}}"})
    own = OwnLaunch(file, None, (1, 1, 1), (1, 1, 1), (argument,))
    if not words:
        simulate(own)
        return
    with pytest.raises(ParamError) as caught:
        simulate(own)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "data, words",
    [
        (b"// a\n// \xe4", "the byte 0xe4 in line 2, column 4 is no UTF-8"),
        (b"// a\nint\0 b;", "the byte 0x00 in line 2, column 4 is a null character"),
        (b"//" + b" " * (1 << 20), "it is larger than 1024 KiB"),
        (b" \n", "it is empty"),
    ],
)
def test_a_file_that_is_no_text_is_said_with_its_place(data: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_bytes(data)
    with pytest.raises(InputError) as caught:
        read_file(tmp_path / "a.cu")
    assert words in str(caught.value)


@pytest.mark.parametrize("text, value", [("true", 1), ("False", 0), ("1", 1), ("0", 0)])
def test_a_truth_is_true_or_false(text: str, value: int) -> None:
    file = OwnFile("a.cu", {"a.cu": "__global__ void k(int* out, bool on) { *out = on ? 1 : 0; }"})
    own = OwnLaunch(file, None, (1, 1, 1), (1, 1, 1), ("ones:int32:1", text))
    assert simulate(own).outputs["out"].tolist() == [value]


TEMPLATES = """template <unsigned int threads, bool whole, typename T = int> __global__ void sum(const T* x) {}
enum Mode { ADD, SCALE };
namespace n { template <Mode mode> __global__ void change(float* x) { x[threadIdx.x] += mode == ADD ? 2 : 0; } }
template <template <int> class A, const int N, class... Rest> __global__ void rest(float* x) {}
"""


def test_the_first_instance_of_a_template_fits_its_parameters() -> None:
    kernels = {d.name: d for d in declared_kernels(TEMPLATES)}
    assert kernels["sum"].template == ("unsigned int threads", "bool whole", "typename T = int")
    assert kernels["sum"].first_instance == "sum<16, false, float>"
    assert kernels["change"].first_instance == "n::change<(Mode)0>"
    file = OwnFile("own.cu", {"own.cu": TEMPLATES})
    for name in ("sum<16, false, float>", "n::change<(Mode)0>", "change<SCALE>"):
        simulate(OwnLaunch(file, name, (1, 1, 1), (1, 1, 1), ("zeros:float32:1",)))
    with pytest.raises(
        ParamError, match=r"sum<float> is no instance of sum, which is template <unsigned int threads, bo"
    ):
        simulate(OwnLaunch(file, "sum<float>", (1, 1, 1), (1, 1, 1), ("zeros:float32:1",)))


ADDED = """__global__ void added(const float* x, float* y)
{
    __shared__ float sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, x[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) y[0] = sum;
}
"""


def test_an_xray_of_a_file_counts_what_the_machine_code_makes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An addition of floats to shared memory is a loop there."""
    try:
        disassembler.program()
    except DeviceError as error:
        pytest.skip(str(error))
    file = tmp_path / "added.cu"
    file.write_text(ADDED)
    launch = ["--grid", "1", "--block", "64", "--arg", "random:float32:64", "--arg", "zeros:float32:1"]
    assert main(["xray", str(file), *launch]) == 0
    said = capsys.readouterr().out
    assert "accesses are counted as the machine code makes them" in said
    (line,) = (line for line in said.splitlines() if "atomicAdd(&sum" in line)
    assert "?" in line, "it depends on which warp comes first"


def test_an_xray_of_a_file_is_compared_with_a_profile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Reports have a kernel's name without its namespaces and arguments of templates."""
    file, profile = tmp_path / "added.cu", tmp_path / "added.csv"
    file.write_text(f"namespace lab {{ template <int N> {ADDED} }}\n")
    counts = {SECTORS: 3, IDEAL: 3, WAVEFRONTS: 8, IDEAL_WAVEFRONTS: 8}
    rows = [["ID", "Kernel Name", *counts], ["", "", *("" for _ in counts)], ["0", "added", *counts.values()]]
    profile.write_text("\n".join(",".join(f'"{cell}"' for cell in row) for row in rows))
    launch = ["--grid", "1", "--block", "32", "--arg", "random:float32:32", "--arg", "zeros:float32:1"]
    command = ["xray", str(file), "--kernel", "added<1>", *launch]
    assert main([*command, "--ncu", str(profile)]) == 0
    assert "added<1>, profiled by Nsight Compute: added.csv" in capsys.readouterr().out
    profile.write_text(profile.read_text().replace('"added"', '"other"'))
    assert main([*command, "--ncu", str(profile)]) == 2
    assert "added.csv is of other, the X-ray of" in capsys.readouterr().err
