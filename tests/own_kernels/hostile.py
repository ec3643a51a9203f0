"""Two hundred kernel files that harm whoever compiles, loads or runs them without care: a seeded list, a few of each
kind. All have the signature of mean1d's first rung, so that each path of the program takes each file."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

SEED = 20
EACH = 5
SIGNATURE = (
    'extern "C" __global__ void mean1d_naive(\n'
    "    const T* __restrict__ x, T* __restrict__ y, const A* __restrict__ taps, long long n, int window)\n"
)
HEAD = '#ifdef CHANNELS\n#include "mean.cuh"\n#else\ntypedef float T, A;\n#endif\n'
SECRET = "hostile_secret_word"
"""Stands in the files that no message may show."""


class Hostile(NamedTuple):
    """A file: its kind and number, such as "brackets 3", and its content."""

    name: str
    data: bytes

    @property
    def kind(self) -> str:
        return self.name.rpartition(" ")[0]


def kernel(body: str, before: str = "") -> str:
    index = "    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;"
    return f"{HEAD}{before}\n{SIGNATURE}{{\n{index}\n{body}\n}}\n"


def value(expression: str, before: str = "") -> str:
    return kernel(f"    if (i < n) y[i] = (T)({expression});", before)


def many(rng: random.Random, low: int, high: int) -> int:
    return rng.randint(low, high)


# What the compiler does not survive


def brackets(rng: random.Random) -> str:
    n = many(rng, 2_000, 50_000)
    return value("(" * n + "1" + ")" * n)


def blocks(rng: random.Random) -> str:
    n = many(rng, 2_000, 50_000)
    return kernel("{" * n + "y[0] = 1;" + "}" * n)


def ifs(rng: random.Random) -> str:
    n = many(rng, 2_000, 40_000)
    return kernel("if (n > 3) " * n + "y[0] = 1;")


def elses(rng: random.Random) -> str:
    n = many(rng, 2_000, 20_000)
    return kernel("".join(f"if (n == {k}) y[0] = {k}; else " for k in range(n)) + "y[0] = 1;")


def minuses(rng: random.Random) -> str:
    return value("- " * many(rng, 20_000, 200_000) + "window")


def nots(rng: random.Random) -> str:
    return value("~!" * many(rng, 10_000, 100_000) + "window")


def stars(rng: random.Random) -> str:
    return kernel(f"    int {'*' * many(rng, 20_000, 80_000)} p = 0; y[0] = (T)(long long)p;")


def subscripts(rng: random.Random) -> str:
    return kernel(f"    int a{'[1]' * many(rng, 5_000, 50_000)}; y[0] = sizeof(a);")


def questions(rng: random.Random) -> str:
    n = many(rng, 5_000, 40_000)
    return value("window ? " * n + "1" + " : 2" * n)


def lambdas(rng: random.Random) -> str:
    n = many(rng, 100, 2_000)
    return value("[&]{ return " * n + "1" + "; }()" * n)


def namespaces(rng: random.Random) -> str:
    n = many(rng, 5_000, 50_000)
    return value("1", "namespace a {" * n + "}" * n)


def hash_ifs(rng: random.Random) -> str:
    n = many(rng, 5_000, 60_000)
    return value("1", "#if 1\n" * n + "#endif\n" * n)


def unclosed(rng: random.Random) -> str:
    sign = rng.choice(["(", "{", "[", "/*", '"', 'R"x(', "<", "template <"])
    return kernel(sign * many(rng, 1_000, 100_000))


# What the compiler does not end


def laughs(rng: random.Random) -> str:
    tens, sign = many(rng, 5, 12), rng.choice("+*|")
    lines = "".join(f"#define A{k} {sign.join([f'A{k - 1}'] * 10)}\n" for k in range(1, tens))
    return value(f"A{tens - 1}", f"#define A0 window\n{lines}")


def laughing_tables(rng: random.Random) -> str:
    tens = many(rng, 5, 9)
    lines = "".join(f"#define A{k} {','.join([f'A{k - 1}'] * 10)}\n" for k in range(1, tens))
    return value("table[i]", f"#define A0 1\n{lines}__device__ int table[] = {{A{tens - 1}}};")


def recursive_templates(rng: random.Random) -> str:
    before = rng.choice(
        [
            "template <int N> struct F { static const int v = F<N + 1>::v; }; enum { V = F<0>::v };",
            "template <class S> struct P { S a; S b; }; template <class S, int N> struct F { typedef typename "
            "F<P<S>, N - 1>::R R; }; template <class S> struct F<S, 0> { typedef S R; }; "
            f"enum {{ V = sizeof(F<int, {many(rng, 40, 400)}>::R) }};",
            "template <int N, int M> struct F { static const long long v = F<N - 1, 2 * M>::v + F<N - 1, 2 * M + 1>::v;"
            " }; template <int M> struct F<0, M> { static const long long v = M; };"
            f"enum {{ V = F<{many(rng, 18, 24)}, 0>::v }};",
        ]
    )
    return value("V", before)


def constexpr_loops(rng: random.Random) -> str:
    turns = many(rng, 10**8, 10**12)
    loop = f"for (long long k = 0; k < {turns}; ++k) s += k;"
    before = f"constexpr __device__ int f() {{ long long s = 0; {loop} return s; }}"
    return value("V", f"{before}\nconstexpr __device__ int V = f();")


def doubled_calls(rng: random.Random) -> str:
    depth = many(rng, 12, 30)
    text = "".join(
        f"__device__ __noinline__ float f{k}(float a) {{ return f{k - 1}(a) + f{k - 1}(a + {k}); }}\n"
        for k in range(1, depth + 1)
    )
    return value(f"f{depth}(window)", f"__device__ __noinline__ float f0(float a) {{ return a * 2; }}\n{text}")


def doubled_inlines(rng: random.Random) -> str:
    return doubled_calls(rng).replace("__noinline__", "__forceinline__")


def constants(rng: random.Random) -> str:
    n = many(rng, 20_000, 80_000)
    numbers = ",".join(str(rng.random()) for _ in range(n // 4))
    return value("table[window]", f"__device__ const double table[] = {{{numbers}}};")


def unrolled(rng: random.Random) -> str:
    n = many(rng, 10_000, 60_000)
    return kernel(
        f"    float s = 0;\n    #pragma unroll\n    for (int k = 0; k < {n}; ++k) s = s * x[k % n] + k;\n    y[0] = s;"
    )


def long_bodies(rng: random.Random) -> str:
    n = many(rng, 3_000, 12_000)
    return kernel(
        "    float s = x[0];\n" + "".join(f"    s = s * {k}.5f + sinf(s);\n" for k in range(n)) + "    y[0] = s;"
    )


def initialised(rng: random.Random) -> str:
    n = many(rng, 4 << 20, 64 << 20)
    space = rng.choice(["__device__", "__device__ const", "static __device__"])
    return value("table[window]", f"{space} int table[{n}] = {{1, 2, 3}};")


def many_functions(rng: random.Random) -> str:
    n = many(rng, 2_000, 9_000)
    functions = "".join(f'extern "C" __global__ void k{k}(int* a) {{ a[{k}] = {k}; }}\n' for k in range(n))
    return value("1", functions)


def switches(rng: random.Random) -> str:
    n = many(rng, 2_000, 15_000)
    return kernel(
        "    switch (n) {\n"
        + "".join(f"    case {k}: y[0] = y[{k}] + x[{k % 7}]; break;\n" for k in range(n))
        + "    }"
    )


# What a kernel does when it runs


def endless(rng: random.Random) -> str:
    return kernel(
        rng.choice(
            [
                "    while (true) y[0] += 1;",
                "    for (unsigned k = 1; k; k |= 1) y[i] = k;",
                "    volatile T* p = y; while (p[0] == p[0]) ;",
                "    while (atomicCAS((int*)y, 7, 7) != 8) ;",
                "    while (clock64() >= 0) __nanosleep(100);",
                "    if (threadIdx.x == 0) while (atomicAdd((int*)y, 0) >= 0 || n) ; __syncthreads();",
                "again: y[i % 7] += 1; if (n) goto again;",
                "    for (int a = 0; a < 1 << 30; ++a) for (int b = 0; b < 1 << 30; ++b) y[(a ^ b) & 3] = x[a & 3];",
            ]
        )
    )


def floods(rng: random.Random) -> str:
    width = many(rng, 1, 2_000)
    return kernel(
        rng.choice(
            [
                f'    while (true) printf("%{width}d {SECRET[:3]}\\n", (int)i);',
                f'    for (int k = 0; k < 1 << 22; ++k) printf("{"flood " * 40}%d\\n", k);',
                f'    printf("%{10**9 - width}d\\n", 1);',
                '    for (long long k = 0; k < n * 100000; ++k) printf("\\x1b[2J\\a%s\\n", "x");',
            ]
        )
    )


def wild(rng: random.Random) -> str:
    far = rng.choice(["1LL << 40", "-(1LL << 33)", "1LL << 62", "n * 1000003", "-1", "0x7fffffffffffffff / 8"])
    return kernel(rng.choice([f"    y[{far}] = 1;", f"    y[i] = x[{far}];", f"    atomicAdd((int*)y + ({far}), 1);"]))


def null(rng: random.Random) -> str:
    address = rng.choice(["0", "8", "0xdeadbeef", "0xffffffffffffffff", "0x7fffffffffff"])
    return kernel(f"    *(T*){address}ull = 1; y[i] = *(T*){address}ull;")


def misaligned(rng: random.Random) -> str:
    by = many(rng, 1, 7)
    kind = rng.choice(["double", "int", "float4", "long long"])
    return kernel(f"    *({kind}*)((char*)y + {by}) = *({kind}*)((char*)x + {by});")


def shared(rng: random.Random) -> str:
    n = rng.choice([49_153, 1 << 20, 1 << 28, (1 << 31) - 1])
    return kernel(f"    __shared__ unsigned char s[{n}]; s[i] = 1; __syncthreads(); y[0] = s[n % {n}];")


def local(rng: random.Random) -> str:
    n = rng.choice([1 << 18, 1 << 20, 1 << 26, 1 << 29])
    return kernel(
        f"    volatile unsigned char s[{n}]; for (int k = 0; k < window; ++k) s[k * (n % 7)] = k; y[0] = s[n % {n}];"
    )


def barriers(rng: random.Random) -> str:
    return kernel(
        rng.choice(
            [
                "    if (threadIdx.x & 1) __syncthreads(); else y[0] = 1; if (i == 3) return; __syncthreads();",
                "    while (threadIdx.x) __syncthreads();",
                "    for (;;) __syncthreads();",
                '    asm volatile("bar.sync 1, 64;"); asm volatile("bar.sync 2, 4096;");',
                "    for (;;) y[0] = __shfl_xor_sync(0xffffffff, y[0], 1);",
            ]
        )
    )


def traps(rng: random.Random) -> str:
    return kernel(
        rng.choice(
            [
                "    __trap();",
                "    assert(n < 0);",
                "    __brkpt();",
                '    asm("exit;"); y[0] = 1;',
                '    asm volatile("nonsense.b32 %0;" :: "r"(1));',
            ]
        )
    )


def recursion(rng: random.Random) -> str:
    deep = rng.choice(["f(a + 1) + 1", "a < 100000 ? f(a + 1) * 2 : f(a - 1)"])
    return value("f(window)", f"__device__ __noinline__ int f(int a) {{ return {deep}; }}")


def pointers_to_functions(rng: random.Random) -> str:
    return value(
        "p[window & 1](1)",
        "__device__ float g(float a) { return a; } typedef float (*F)(float); __device__ F p[2] = {g, g};",
    )


# What a file reads, and what it is


FILES = (
    *("/etc/passwd", "../../../../../../../etc/passwd", "../secret.h", "{secret}", "/proc/self/environ", "/dev/zero"),
    "/dev/stdin",
)
FORMS = (
    *('#include "{}"', "#include <{}>", '#define F "{}"\n#include F', '%:include "{}"', '#inc\\\nlude "{}"'),
    *('// R"(\n#inc\\\nlude "{}"\n// )"', '#if 0\n\' /*\n#endif\n#include "{}"\n// */'),
    "#if __has_include(<{}>)\n#error it is there\n#endif",
)


def climbs(rng: random.Random) -> str:
    return value("1", rng.choice(FORMS).replace("{}", rng.choice(FILES)))


def includes_itself(rng: random.Random) -> str:
    return value(
        "1",
        rng.choice(
            [
                '#include "mean.cuh"\n#include __FILE__',
                "#include __FILE__",
                '#include "mine.cu"',
                '#include_next "mine.cu"',
            ]
        ),
    )


def assembler(rng: random.Random) -> str:
    text = rng.choice(["}", "{", "// ", ".include /etc/passwd;", "ret;", "bra 0;", ".reg .b32 a<1000000>;"])
    return kernel(f'    asm volatile("{text}" ::: "memory"); y[0] = 1;')


def flag_lines(rng: random.Random) -> str:
    return (
        "// Flags: "
        + rng.choice(
            [
                "-I/etc",
                "--pre-include=/etc/passwd",
                "-Xptxas=-o=/tmp/x",
                "-maxrregcount=999999999",
                "-D" + "A" * 100_000,
                "--moon",
            ]
        )
        + "\n"
        + value("1")
    )


def names(rng: random.Random) -> str:
    n = many(rng, 100_000, 900_000)
    return value("1", f"int {'a' * n};\n#error {'b' * n}")


def deep_declarations(rng: random.Random) -> str:
    n = many(rng, 10_000, 200_000)
    return value(
        "1",
        rng.choice(
            [
                "__global__ " * n,
                "<" * n,
                '"' * (n | 1),
                "/*" * n,
                "(" * n,
                "\\\n" * n,
                "# include <a\n" * n,
                "__launch_bounds__ (" * n,
                'extern "C" ' * n,
            ]
        ),
    )


def comments(rng: random.Random) -> str:
    return value(
        "1",
        rng.choice(
            ["/*/" * 200_000, "//\\\n" * 100_000, 'R"(' * 100_000, "'" * 300_000, "1'" * 300_000, "u8" * 300_000]
        ),
    )


def zeros(rng: random.Random) -> bytes:
    text = value("1").encode()
    at = rng.randrange(len(text))
    return text[:at] + b"\0" * many(rng, 1, 1_000) + text[at:]


def no_text(rng: random.Random) -> bytes:
    return rng.choice(
        [
            rng.randbytes(5_000),
            b"\xff\xfe" + value("1").encode("utf-16-le"),
            value("1").encode() + b"\xc3",
            "// ä".encode("latin-1") + value("1").encode(),
        ]
    )


def large(rng: random.Random) -> bytes:
    return (value("1") + "// filler\n" * (many(rng, 2, 10) << 17)).encode()


def empty(rng: random.Random) -> bytes:
    return rng.choice([b"", b"\n" * 1_000, b"\xef\xbb\xbf", b" ", b"// only a comment\n"])


KINDS: tuple[Callable[[random.Random], str | bytes], ...] = (
    *(
        brackets,
        blocks,
        ifs,
        elses,
        minuses,
        nots,
        stars,
        subscripts,
        questions,
        lambdas,
        namespaces,
        hash_ifs,
        unclosed,
    ),
    *(laughs, laughing_tables, recursive_templates, constexpr_loops, doubled_calls, doubled_inlines, constants),
    *(unrolled, long_bodies, initialised, many_functions, switches),
    *(endless, floods, wild, null, misaligned, shared, local, barriers, traps, recursion, pointers_to_functions),
    *(climbs, includes_itself, assembler, flag_lines, names, deep_declarations, comments, zeros, no_text, large, empty),
)


def hostile(count: int = 200) -> tuple[Hostile, ...]:
    """The list: the kinds in turn, each time with other numbers."""
    found = []
    for number in range(count):
        make = KINDS[number % len(KINDS)]
        made = make(random.Random(f"{SEED} {number}"))
        data = made if isinstance(made, bytes) else made.encode()
        found.append(Hostile(f"{make.__name__.replace('_', ' ')} {number // len(KINDS) + 1}", data))
    return tuple(found)


def written(file: Hostile, folder: Path) -> Path:
    """The file in a folder, with a file beside it that it must not read."""
    (folder / "secret.h").write_text(f"{SECRET} = 1;\n")
    inner = folder / "in"
    inner.mkdir(exist_ok=True)
    path = inner / "mine.cu"
    path.write_bytes(file.data.replace(b"{secret}", str(folder / "secret.h").encode()))
    return path
