"""Names in kernel files from elsewhere: of kernels in namespaces, of templates with bounds, and those that nvcc has
from the headers of the host."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpu_ops.devices.compiler import compile_kernel
from gpu_ops.devices.host_names import names_header
from gpu_ops.errors import KernelError, ParamError
from gpu_ops.own_kernels.launching import OwnLaunch, simulate
from gpu_ops.own_kernels.sources import OwnFile, declared_kernels, read_file

SPACES = """#define OPEN namespace wrong {
namespace a { const char* const text = "}"; struct S { int n; };
namespace b::c { __global__ void first(int* x) { *x = 1; } }
template <class T> __global__ void same(T* x) { *x = 2; } }
namespace { __global__ void same(float* x) { *x = 3; } }
extern "C" { __global__ void last(int* x) { *x = 4; } }
"""


def launched(text: str, kernel: str | None, argument: str = "zeros:int32:1") -> list[float]:
    own = OwnLaunch(OwnFile("own.cu", {"own.cu": text}), kernel, (1, 1, 1), (1, 1, 1), (argument,))
    (result,) = simulate(own).outputs.values()
    return list(result.tolist())


def test_kernels_have_their_namespaces() -> None:
    assert [d.qualified for d in declared_kernels(SPACES)] == ["a::b::c::first", "a::same", "same", "last"]
    file = OwnFile("own.cu", {"own.cu": SPACES})
    for name in ("first", "c::first", "a::b::c::first", "::a::b::c::first"):
        assert file.kernel(name).full_name(name) == "a::b::c::first"
    assert file.kernel("a::same<int>").scope == "a"
    with pytest.raises(ParamError, match="no kernel none; choose one with --kernel: a::b::c::first, a::same<…>, same,"):
        file.kernel("none")
    spaces = "namespace a { __global__ void k() {} }\nnamespace b { __global__ void k() {} }"
    with pytest.raises(ParamError, match="several kernels k; choose one with --kernel: a::k, b::k"):
        OwnFile("own.cu", {"own.cu": spaces}).kernel("k")
    assert declared_kernels("} namespace a { __global__ void k() {} }")[0].qualified == "k"


def test_a_kernel_is_launched_without_its_namespaces() -> None:
    assert launched(SPACES, "first") == [1]
    assert launched("namespace a { template <class T> __global__ void k(T* x) { *x = 2; } }", "k<int>") == [2]


def test_bounds_of_a_launch_are_no_parameters_of_a_template() -> None:
    text = """template <int A, int B> struct Tile { int x[A * B]; };
template <int A, int B = (A > 4)> __launch_bounds__(A, 8 < sizeof(Tile<A, 4>) ? 1 : 2)
__global__ void k(int* y) { *y = B; }
"""
    (declared,) = declared_kernels(text)
    assert declared.template == ("int A", "int B = ( A > 4 )")
    assert declared.first_instance == "k<16, 16>"


def test_a_header_may_be_empty(tmp_path: Path) -> None:
    (tmp_path / "none.h").touch()
    (tmp_path / "own.cu").write_text('#include "none.h"\n__global__ void k(int* x) {}\n')
    file = read_file(tmp_path / "own.cu", [tmp_path])
    assert file.texts["none.h"] == ""
    assert compile_kernel("own.cu", "sm_75", edits=file.texts, assemble=False).entries


def test_only_names_that_are_used_and_not_declared_are_given() -> None:
    assert names_header(["// uint M_PI\n__global__ void k(int* x) { std::swap(x[0], x[1]); }"], (), ()).count("\n") == 3
    own = "__device__ int max(int a, int b); "
    assert "max(const T& a" in names_header([own + "int y = std::max(1, 2);"], (), ())
    assert names_header([own + "int y = cuda::std::max(1, 2);"], (), ()) == ""
    assert names_header(["namespace std { int max(int a, int b); } int y = std::max(1, 2);"], (), ()) == ""
    given = names_header(["uint x; int32_t y;"], ["k<ushort>"], ["int32_t"])
    assert given == "typedef unsigned int uint;\ntypedef unsigned short ushort;\n"
    own = "typedef unsigned char uint;\n#define M_PI 3\nconst float NAN = 4, &x = FLT_MAX;"
    assert names_header([own + "uint k(uint x) { return M_PI + NAN; }"], (), ()) == "#define FLT_MAX 3.402823466e+38f\n"


def test_names_that_nvcc_has_are_there_and_lines_stay() -> None:
    text = """__global__ void k(double* y)
{
    float f[] = {INFINITY, -INFINITY, NAN, FLT_MAX, std::sqrt(4.f), -std::numeric_limits<float>::max()};
    const uint u = UINT_MAX; uint8_t b = 255; ushort s = 65535;
    for (int i = 0; i < 6; i++) y[i] = f[i];
    y[6] = u; y[7] = INT_MIN; y[8] = b + s; y[9] = M_PI; y[10] = std::max(LLONG_MAX, 1ll); y[11] = DBL_MAX;
    y[12] = std::is_same<std::conditional_t<std::bool_constant<true>::value, int, float>, int>::value;
    y[13] = std::numeric_limits<short>::lowest(); y[14] = std::numeric_limits<long long>::min();
    y[15] = std::numeric_limits<uint64_t>::max(); y[16] = std::numeric_limits<double>::infinity();
}
"""
    f, d = np.finfo(np.float32), np.finfo(np.float64)
    expected = [np.inf, -np.inf, np.nan, f.max, 2, -f.max, 2**32 - 1, -(2**31), 255 + 65535, np.pi, 2**63, d.max, 1]
    found = launched(text, None, "zeros:float64:17")
    np.testing.assert_array_equal(found, [*expected, -(2**15), -(2.0**63), 2.0**64, np.inf])
    with pytest.raises(KernelError, match=r"own\.cu:5:1: error: identifier \"wrong\""):
        launched(text.replace("    for (", "wrong = 1; for ("), None)
