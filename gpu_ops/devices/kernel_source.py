"""The text of kernel files and headers, edited or shipped, and the hash that links a recording to its code."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import accumulate
from pathlib import Path

from gpu_ops.devices.nvrtc import header_folders
from gpu_ops.errors import KernelError, plain
from gpu_ops.params import Value

KERNELS = Path(__file__).resolve().parent.parent / "kernels"
OWN_FOLDER = "own"
"""The folder in the names of user-defined kernel files; it does not exist on the disk."""
MOST_CHARACTERS = 1 << 20
"""The longest user-defined kernel file."""
_own: dict[str, str] = {}

_SPLICE = re.compile(r"\\[^\S\n]*\n")
_PIECES = r"""
    (?<=define)[^\S\n]+\w+\(  # with a blank before the bracket it would be another macro
    | (?P<blank>[^\S\n]+|//[^\n]*|/\*.*?\*/)
    | (?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})(?P<raw>\()
    | (?:u8|[uUL])?(?:"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')UNCLOSED
    | \.?\d(?:[eEpP][+-]|'?[\w.])* | \w+
    | <<=|>>=|<=>|\.\.\.|->\*|<<|>>|[-+*/%&|^=!<>]=|&&|\|\||\+\+|--|->|::|\#\#|\.\*
    | .
    """
_TOKEN = re.compile(_PIECES.replace("UNCLOSED", ""), re.S | re.X)
_TOKEN_TO_END = re.compile(_PIECES.replace("UNCLOSED", r"|[\"'][^\n]*"), re.S | re.X)
"""As _TOKEN, with a quote that nothing closes as a string up to the end of its line."""
_UNCLOSED = re.compile(r"^(?:.* )?[\"'](?= |$)", re.M)
MOST_RAW = 1000
"""Raw strings of a file that are looked for."""
_NAMED = re.compile(r'(?=["<]([^"<>\n]+)[">])')
_INCLUDE = re.compile(
    r"(?:(?:^#|% :) include|(?<!ifdef )(?<!ifndef )(?<!defined )(?<!defined \( )__has_include)(?:_next)?\b(?: \()?(.*)",
    re.M,
)
_OPERAND = re.compile(r' (?:"([^"]+)"|< ([^<>]+) >)')
_PLACED = re.compile(r"[/\\]|.*(?:\.\.|:)", re.S)
FLAGS_OF_FILES = (
    *("-use_fast_math", "-ftz", "-fmad", "-prec-div", "-prec-sqrt", "-maxrregcount", "-std", "-D", "-U", "-dopt"),
    *("-extra-device-vectorization", "-default-device", "-device-int128", "-restrict", "-lineinfo"),
)
"""The flags that a kernel file's Flags line may set: they affect code generation, not the files that the compiler
accesses."""


_STD = "namespace std {}\n"
_C = ("assert", "ctype", "errno", "float", "limits", "math", "signal", "stdarg", "stddef", "stdint", "stdio", "stdlib")
_CPP = (
    *(
        "algorithm",
        "array",
        "atomic",
        "bitset",
        "chrono",
        "complex",
        "condition_variable",
        "deque",
        "exception",
        "execution",
    ),
    *("fstream", "functional", "future", "iomanip", "iostream", "istream", "iterator", "limits", "list", "map"),
    *("memory", "mutex", "new", "numeric", "optional", "ostream", "queue", "random", "ratio", "regex", "set"),
    *("sstream", "stack", "stdexcept", "string", "string_view", "thread", "tuple", "type_traits", "typeinfo"),
    *("unordered_map", "unordered_set", "utility", "valarray", "variant", "vector", "filesystem", "initializer_list"),
)
_SYSTEM = (
    *("strings.h", "memory.h", "malloc.h", "unistd.h", "getopt.h", "dirent.h", "pthread.h", "omp.h", "windows.h"),
    *("sys/time.h", "sys/types.h", "sys/stat.h", "sys/resource.h", "sys/wait.h", "sys/mman.h", "sys/utsname.h"),
    *("sys/socket.h", "sys/un.h", "netinet/in.h", "arpa/inet.h", "EGL/egl.h", "EGL/eglext.h", "cudaEGL.h"),
    *("fcntl.h", "io.h", "direct.h", "conio.h"),
)
_CUDA = (
    *("cuda_runtime.h", "cuda_runtime_api.h", "device_launch_parameters.h", "cuda_profiler_api.h"),
    *("cuda_gl_interop.h", "cublas_v2.h", "curand.h", "cusparse.h", "nvtx3/nvToolsExt.h"),
)
_FFT = (("float", "Real"), ("float2", "Complex"), ("double", "DoubleReal"), ("double2", "DoubleComplex"))
_GL = (
    *(("unsigned int", name) for name in ("GLenum", "GLuint", "GLbitfield")),
    *(("int", name) for name in ("GLint", "GLsizei")),
    *(("float", "GLfloat"), ("float", "GLclampf"), ("double", "GLdouble"), ("double", "GLclampd"), ("void", "GLvoid")),
    *(("unsigned char", "GLubyte"), ("unsigned char", "GLboolean"), ("signed char", "GLbyte"), ("char", "GLchar")),
    *(("short", "GLshort"), ("unsigned short", "GLushort")),
)
_GRAPHICS = ("GL/gl.h", "GL/glu.h", "GL/glew.h", "GL/glut.h", "GL/freeglut.h", "GLUT/glut.h", "OpenGL/gl.h")
HOST_HEADERS: Mapping[str, str] = {
    **dict.fromkeys((*(f"{name}.h" for name in (*_C, "string", "time")), *_SYSTEM, *_CUDA), _STD),
    **dict.fromkeys((*(f"c{name}" for name in (*_C, "string", "time")), *_CPP), _STD),
    **dict.fromkeys(_GRAPHICS, "".join(f"typedef {c} {name};\n" for c, name in _GL)),
    "chrono": "namespace std { namespace chrono {} namespace chrono_literals {} }\n",
    "cuda.h": _STD + "typedef unsigned long long CUtexObject, CUsurfObject;\n",
    **dict.fromkeys(("cufft.h", "cufftXt.h"), "".join(f"typedef {c} cufft{name};\n" for c, name in _FFT)),
}
"""Headers of the host that kernel files include although device code needs little of them: NVRTC declares printf,
assert and the mathematical functions itself, and host_names declares the types and limits that are used."""


def kernel_files() -> list[str]:
    """Every shipped kernel file by its name, such as "mean1d/1_naive.cu"."""
    return sorted(p.relative_to(KERNELS).as_posix() for p in KERNELS.glob("*/*.cu"))


def header_files(edits: Mapping[str, str] | None = None) -> dict[str, str]:
    """{name in an #include: path below the kernel folder} of every header, shipped or edited. A header that only one
    folder includes is in that folder, one that several include is in include/; names are unique, so any folder can
    include any header. Other files of a user are included by their whole names."""
    headers = {name.rpartition("/")[2]: name for name in sorted(edits or {}) if name.endswith(".cuh")}
    return {**_shipped_headers(), **headers, **{name: name for name in edits or {} if not is_shipped(name)}}


@cache
def _shipped_headers() -> Mapping[str, str]:
    return {path.name: path.relative_to(KERNELS).as_posix() for path in sorted(KERNELS.glob("*/*.cuh"))}


def keep_own(source: str, text: str | None) -> None:
    """Set the text of a user-defined kernel file, in the folder OWN_FOLDER; None removes it."""
    if text is None:
        _own.pop(source, None)
    else:
        _own[source] = text


def is_shipped(source: str) -> bool:
    """Whether a kernel file or a header is part of the product."""
    return _stamp(source) is not None


def is_source(source: str) -> bool:
    """Whether a kernel file or a header is shipped or user-defined."""
    return source in _own or is_shipped(source)


def read_source(source: str, edits: Mapping[str, str] | None = None) -> str:
    """The text of a kernel file or header: edited, user-defined, or shipped."""
    if edits and source in edits:
        return edits[source]
    if source in _own:
        return _own[source]
    stamp = _stamp(source)
    if stamp is None:
        raise KernelError(f"There is no kernel file {source}; shipped are {', '.join(kernel_files())}.")
    return _shipped_text(f"{KERNELS}/{source}", stamp)


def _stamp(source: str) -> tuple[int, int] | None:
    """The time and the size of a shipped file, which change with its text; None if there is no such file."""
    try:
        found = os.stat(f"{KERNELS}/{source}")
    except (OSError, ValueError):
        return None
    return (found.st_mtime_ns, found.st_size) if stat.S_ISREG(found.st_mode) else None


@lru_cache(512)
def _shipped_text(path: str, stamp: tuple[int, int]) -> str:
    """The text of a file, read once for each of its stamps: a live run plans anew each time."""
    return Path(path).read_text(encoding="utf-8")


def source_of(file: str, edits: Mapping[str, str] | None = None) -> str | None:
    """The text of a kernel file or header by the compiler's name for it; None for the compiler's own headers."""
    name = header_files(edits).get(file, file)
    return read_source(name, edits) if name and (name in (edits or {}) or is_source(name)) else None


def base_name(kernel: str) -> str:
    """A kernel's name without namespaces and template arguments: my::reduce<int> is reduce."""
    return kernel.partition("<")[0].rpartition("::")[2].strip()


def header_fields(text: str) -> dict[str, str]:
    """The fields of a kernel file's leading comment: What, Idea, Shapes, Launch, Traffic, Source, Flags."""
    fields: dict[str, str] = {}
    name = ""
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        match = re.match(r"//\s(\w+):\s+(.*)$", line)
        if match:
            name = match[1]
            fields[name] = match[2].strip()
        elif name:
            fields[name] += " " + line[2:].strip()
    return fields


def included_headers(source: str, edits: Mapping[str, str] | None = None) -> dict[str, str]:
    """The headers that a kernel file includes, directly or through another header: {name in the code: text}.

    A header counts if the code names it in quotes or angle brackets, even behind #if. Names that are neither shipped
    nor edited are left out: they are the compiler's own, or the compiler reports them as missing.
    """
    available = header_files(edits)
    headers: dict[str, str] = {}
    texts = [read_source(source, edits)]
    while texts:
        for name in (_quoted_names(texts.pop()) & set(available)) - set(headers):
            headers[name] = read_source(available[name], edits)
            texts.append(headers[name])
    return dict(sorted(headers.items()))


def source_hash(source: str, edits: Mapping[str, str] | None = None) -> str:
    """A hash, 16 hexadecimal digits, of the compiler's input: the tokens of a kernel file and of the headers that
    it includes, and the flags in its leading comment. Comments, blanks and line ends do not count."""
    return _hash_of(read_source(source, edits), tuple(included_headers(source, edits).items()))


@lru_cache(256)
def _hash_of(text: str, headers: tuple[tuple[str, str], ...]) -> str:
    parts = [" ".join(flags_of(text)), code_of(text)]
    parts += [f"{name}\0{code_of(header)}" for name, header in headers]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def check_files(source: str, edits: Mapping[str, str] | None = None) -> None:
    """Restrict an untrusted kernel to the headers of the kernel folders. Raises KernelError where the file, or a header
    that it includes, includes another path or a macro instead of a name, or where its Flags line sets flags outside
    FLAGS_OF_FILES."""
    for name, text in {source: read_source(source, edits), **included_headers(source, edits)}.items():
        for include in set(_includes(text)) - set(header_files(edits)):
            if is_cuda_header(include):
                continue
            raise KernelError(
                f"{source} does not compile: {name} includes {plain(include, 80)}, which is no header of the kernel "
                'folders; name one as it is called there, such as "border.cuh".'
            )
    for flag in flags_of(read_source(source, edits)):
        if not any(re.fullmatch(f"-?{allowed}(?:=.*)?|-[DU].+", flag) for allowed in FLAGS_OF_FILES):
            raise KernelError(
                f"{source} does not compile: its Flags line has {plain(flag, 80)}, and may have "
                f"{', '.join(FLAGS_OF_FILES)}; leave it out."
            )


def is_cuda_header(name: str) -> bool:
    """Whether CUDA has a header of that name in its own folders, such as cuda/std/atomic."""
    paths = [((Path(folder) / name).resolve(), Path(folder).resolve()) for folder in header_folders()]
    return any(file.is_relative_to(folder) and file.is_file() for file, folder in paths)


def compiled_with(sets: Sequence[Mapping[str, Value]]) -> list[str]:
    """The defines of the compilation, a text for each set: "N=1024, RADICES=16,16,4,
    T=float". Names whose values differ between the sets come first, then numbers, then types and other words."""
    known = [{name: str(value) for name, value in one.items()} for one in sets]
    same = {pair for pair in known[0].items() if all(pair in one.items() for one in known)} if known else set()
    order = [sorted(one.items(), key=lambda pair: (pair in same, not pair[1][:1].isdigit(), pair)) for one in known]
    return [", ".join(f"{name}={value}" for name, value in one) or "no defines" for one in order]


def flags_of(text: str) -> tuple[str, ...]:
    """The compiler's flags in a kernel file's leading comment."""
    return tuple(header_fields(text).get("Flags", "").split())


@lru_cache(256)
def _includes(text: str) -> tuple[str, ...]:
    """Includes, or queries for files, that are not the plain name of a header."""
    code, found = code_of(text), []
    if _UNCLOSED.search(code):  # in code that is left out, NVRTC reads on after the quote or after its line
        code = f"{code}\n{_code(text, _TOKEN_TO_END)}"
    for match in _INCLUDE.finditer(code):
        operand = _OPERAND.match(match[1])
        name = (operand[1] or operand[2].replace(" ", "")) if operand else ""
        if not name or _PLACED.match(name):
            found.append(name or match[1].strip() or "a name that a macro gives")
    return tuple(found)


@lru_cache(256)
def _quoted_names(text: str) -> frozenset[str]:
    """All names in quotes or angle brackets: the files that the code includes, and more."""
    return frozenset(name.replace(" ", "") for name in _NAMED.findall(code_of(text)))


@lru_cache(256)
def code_of(text: str) -> str:
    """The tokens of a file, separated by blanks, with each directive on its own line."""
    return _code(text, _TOKEN)


def _code(text: str, pattern: re.Pattern[str]) -> str:
    lines: list[list[str]] = [[]]
    first = True
    for token, blank, _ in tokens(text, pattern):
        if token == "\n":
            if lines[-1][:1] == ["#"]:
                lines.append([])
            first = True
        elif not blank:
            token = token.strip()
            if first and token == "#":
                lines.append([])
            lines[-1].append(token)
            first = False
    return "\n".join(" ".join(line) for line in lines if line)


def tokens(text: str, pattern: re.Pattern[str] = _TOKEN) -> Iterator[tuple[str, bool, int]]:
    """The tokens of a text, whether each is a blank or a comment, and where it begins in the text. As in C++, a line
    that ends in a backslash first continues on the next one, except in a raw string."""
    spliced = Spliced(text)
    at: int | None = 0
    while at is not None:
        start, at = at, None
        for match in pattern.finditer(spliced.text, start):
            begin = spliced.before(match.end() - 1) + 1 if match["raw"] else 0
            end = spliced.end_of_raw(match["mark"], begin) if begin else None
            if end is not None:
                yield match[0] + text[begin:end], False, spliced.before(match.start())
                at = spliced.after(end)
                break
            yield match[0], match["blank"] is not None, spliced.before(match.start())


class Spliced:
    """A text whose lines that end in a backslash continue on the next one, and the positions of its characters in the
    original text."""

    def __init__(self, text: str) -> None:
        self._original = text
        self._cuts = [match.span() for match in _SPLICE.finditer(text)]
        removed = [0, *accumulate(end - start for start, end in self._cuts)]
        self._places = [start - gone for (start, _), gone in zip(self._cuts, removed, strict=False)]
        self._ends = [end for _, end in self._cuts]
        self._removed = removed
        self._raw, self._last = 0, dict[str, int]()
        self.text = _SPLICE.sub("", text)

    def before(self, place: int) -> int:
        """The position in the original text."""
        return place + self._removed[bisect_right(self._places, place)]

    def after(self, place: int) -> int:
        """The position in this text of one in the original text."""
        return place - self._removed[bisect_right(self._ends, place)]

    def end_of_raw(self, mark: str, begin: int) -> int | None:
        """Where a raw string ends in the original text; None where it does not."""
        close = f'){mark}"'
        if mark not in self._last:
            self._raw += 1
            self._last[mark] = self._original.rfind(close) if self._raw <= MOST_RAW else -1
        return self._original.find(close, begin) + len(close) if self._last[mark] >= begin else None
