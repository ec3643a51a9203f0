"""Kernel files with code for the host: what is left for the compiler, and what it says of the rest."""

from __future__ import annotations

import re

import pytest

from gpu_ops.devices.compiler import compile_kernel
from gpu_ops.devices.host_code import without_host_code
from gpu_ops.errors import KernelError

WHOLE = """#include <vector>
#include <iostream>
using namespace std;
using std::cerr;
#define CHECK(x) do { cudaError_t e = x; \\
    if (e) cerr << cudaGetErrorString(e) << endl; } while (0)
#define BOTH __host__ __device__
const int N = 1000, M = 2;
const char* const title = "{ kernels }";
int threads = 256, *table = NULL;
typedef float real;
typedef void (*callback)(cudaError_t, int);
enum Mode { ADD, MULTIPLY };
struct Options { std::string name; int n; };
struct P {
    real gain;
    P(real g = 1) : gain{g} {}
    void print() const;
    std::string text() const { return "}"; }
    BOTH real get() const { return gain * M; }
};
void P::print() const { cout << gain; }
P::P(int n) : gain{1.f} { cout << n; }
namespace helpers {
    template <typename T = int> vector<T> make(int n, T value = T()) { return vector<T>(n, value); }
    __device__ real half_of(real x) { return x / 2; }
    inline bool operator==(const Options& a, const Options& b) { return a.n == b.n; }
}
#ifdef WITH_HOST
float reference(const vector<float>& x) {
#if N > 3
    return x[0]; /* } */
#endif
}
#endif
template <Mode mode> __global__ void k(const float* x, float* y, P p)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, threads = 3;
    if (i < N) y[i] = helpers::half_of(x[i]) * p.get() + (mode == ADD ? threads : 0);
}
extern "C" void launch(float* x) { k<ADD><<<4, threads>>>(x, x, P(2)); }
int main(int argc, char** argv) try { auto v = helpers::make<float>(N); CHECK(cudaMalloc(0, 1)); } catch (...) {}
template void helpers::use<int>(int);
"""


def test_only_what_the_device_uses_is_left() -> None:
    texts, host = without_host_code({"own.cu": WHOLE})
    left = texts["own.cu"]
    assert len(left) == len(WHOLE) and left.count("\n") == WHOLE.count("\n")
    for here, before in zip(left.splitlines(), WHOLE.splitlines(), strict=True):
        assert all(a in (b, " ") for a, b in zip(here, before, strict=True))
    words = set(re.findall(r"\w+", left))
    assert {"N", "M", "Mode", "P", "BOTH", "get", "half_of", "k", "CHECK", "real"} <= words
    assert not words & {"main", "launch", "make", "reference", "text", "print", "Options", "callback", "title", "table"}
    assert {"main", "launch", "make", "reference", "threads", "Options"} <= host and "P" not in host
    assert left.count("#if") == WHOLE.count("#if") and "    if (e) cerr" in left  # directives stay whole


def test_a_whole_program_compiles_as_its_kernel() -> None:
    text = "\n".join(line for line in WHOLE.splitlines() if "#include" not in line)
    text = text.replace("using namespace std;", "namespace std {}").replace("using std::cerr;", "")
    found = compile_kernel("own.cu", "sm_75", edits={"own.cu": text}, instances=("k<ADD>",))
    assert len(found.entries) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "float square(float x) { return x * x; }\n__global__ void k(float* y) { y[0] = square(y[0]); }",
            'own.cu:2:38: error: identifier "square" is undefined; the file declares it for the host alone: write '
            "__device__ before its declaration",
        ),
        (
            "int n = 3;\n__global__ void k(float* y) { y[0] = n; }",
            "own.cu:1:5: error: this declaration is for the host alone: write __device__ before it",
        ),
        (
            "int n = 3;\n__global__ void k(float* y) { y[0] = n; }\nint main() { return n; }",
            'own.cu:2:38: error: identifier "n" is undefined; the file declares it for the host alone: write '
            "__device__ before its declaration",
        ),
        ("int int n;\n__global__ void k(float* y) { y[0] = 1; }", "own.cu:1:5: error: invalid combination of type"),
        ("__global__ void k(float* y) { y[0] = m; }", 'own.cu:1:38: error: identifier "m" is undefined'),
        ("int main() { return 0; \n__global__ void k(float* y) { y[0] = 1; }", "own.cu:"),
        ("__global__ void k(float* y) { y[0] = 1; } }\nint main() {}", "own.cu:1:43: error: expected a declaration"),
    ],
)
def test_a_kernel_that_uses_what_the_host_has(text: str, message: str) -> None:
    with pytest.raises(KernelError) as caught:
        compile_kernel("own.cu", "sm_75", edits={"own.cu": text})
    assert message in str(caught.value)


@pytest.mark.parametrize("text", ["int main() { f(); ", "int main() { } }", "a ]", "x{} " * 600 + "; int main() {}"])
def test_what_cannot_be_divided_is_left_as_it_is(text: str) -> None:
    assert without_host_code({"own.cu": text}) == ({"own.cu": text}, frozenset())


def test_a_name_of_an_instance_is_in_use() -> None:
    text = "struct Item { float a; };\nstruct Other { float a; };\ntemplate <class T> __global__ void k(T* y) {}"
    left = without_host_code({"own.cu": text}, ["k<Item>"])[0]["own.cu"]
    assert "Item" in left and "Other" not in left


@pytest.mark.parametrize("constant", ["constexpr int two() { return 2; }", "struct A { static constexpr int n = 2; };"])
def test_constants_stay(constant: str) -> None:
    use = "two()" if "two" in constant else "A::n"
    text = f"{constant}\n__global__ void k(float* y) {{ y[0] = {use}; }}"
    assert compile_kernel("own.cu", "sm_75", edits={"own.cu": text}).entries


def test_what_looks_like_code_of_the_host_stays() -> None:
    """Specialisations, members whose type has a condition, and assertions of what is there."""
    text = (
        "template <int N> struct Words;\n"
        "template <> struct Words<16> { typedef uint4 type; };\n"
        "template <int N, bool UP> struct Column { Column<N + (UP ? -1 : 1), UP>* next; int value; };\n"
        "constexpr int SIDE = 4;\n"
        'static_assert(SIDE == 4, "a side");\n'
        "__global__ void k(Column<1, true>* c) { c->next = nullptr; *(Words<16>::type*)c = make_uint4(0, 0, 0, 0); }\n"
    )
    assert without_host_code({"a.cu": text})[0]["a.cu"] == text
    with pytest.raises(KernelError, match="a side"):
        compile_kernel("own/a.cu", "sm_75", edits={"own/a.cu": text.replace("SIDE = 4", "SIDE = 5")})
    host = 'struct Host { std::string name; };\nstatic_assert(sizeof(Host) > 4, "large");\n'
    assert without_host_code({"a.cu": host + text})[0]["a.cu"].strip() == text.strip()


def test_the_types_of_graphics_headers_are_there() -> None:
    kernel = "__global__ void k(GLfloat* y) { *y = 2; }"
    text = f'#include <GL/freeglut.h>\nGLuint buffer;\nvoid display(GLfloat t);\nextern "C" {kernel}\n'
    assert "k" in compile_kernel("own.cu", "sm_75", edits={"own.cu": text}).entries


def test_types_of_kernels_stay_with_attributes_and_in_files_that_cannot_be_divided() -> None:
    site = "typedef struct { float x; } site __attribute__((aligned));\n"
    texts = {
        "a.cu": '#include "site.h"\n#include "k.h"\nint main() {}\n',
        "site.h": f"{site}struct Host {{ int a; }};\n",
        "k.h": "__global__ void k(site* s) {}\n#ifdef A\nint f(int a,\n#else\nint f(char a,\n#endif\nint b) {}\n",
    }
    left, host = without_host_code(texts)
    assert left["site.h"].strip() == site.strip() and left["k.h"] == texts["k.h"]
    assert "site" not in host and {"main", "Host"} <= host
    assert site in without_host_code({"a.cu": f"{site}int main() {{}}\n__global__ void k(site* s) {{}}"})[0]["a.cu"]


def test_access_to_members_stays_where_the_next_one_is_for_the_host() -> None:
    text = "class A {\n    int n;\npublic:\n    A(int m) { n = m; }\n    __device__ int get() { return n; }\n};\n"
    text += "using namespace std::chrono;\n__global__ void k(int* x, A* a) { *x = a->get(); }\n"
    left = without_host_code({"a.cu": text})[0]["a.cu"]
    assert "public:" in left and "A(int" not in left
    text = f"#include <chrono>\n{text}"
    assert compile_kernel("own.cu", "sm_75", edits={"own.cu": text}, assemble=False).entries
