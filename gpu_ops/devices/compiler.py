"""The only caller of NVRTC: one set of flags, one cache, PTX and cubin from the same compilation.

A CUDA device loads the cubin. The simulated GPU needs only the PTX; without the assembler, compilation is two fifths
shorter. NVRTC needs neither a GPU nor a driver. It exists for Linux and Windows, not for macOS.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Lock

from gpu_ops.devices.compile_process import make
from gpu_ops.devices.host_code import without_host_code
from gpu_ops.devices.host_names import NAMES_HEADER, names_header
from gpu_ops.devices.kernel_source import (
    HOST_HEADERS,
    base_name,
    check_files,
    code_of,
    flags_of,
    included_headers,
    is_shipped,
    read_source,
)
from gpu_ops.devices.nvrtc import (
    CompileResult,
    Request,
    call_nvrtc,
    header_folders,
    nvrtc_version,
    reason,
    supported_architectures,
)
from gpu_ops.errors import DeviceError, Diagnostic, KernelError, LimitReached, plain, shortened
from gpu_ops.params import Value

FLAGS = ("-std=c++17", "-lineinfo", "-ftz=false", "-fmad=true")
ASSEMBLER_FLAGS = ("--ptxas-options=-v",)
ARCHITECTURES = ("sm_75", "sm_90", "sm_120")
"""Every shipped kernel must compile for these: the oldest that NVRTC supports, a current one, and the newest PTX
dialect."""

_LOG_LINE = re.compile(r"^(.*)\((\d+)\): (catastrophic error|error|warning)(?: #\d+(?:-D)?)?: (.*)$")
_ENTRY = re.compile(r"\.entry\s+(\w+)\s*\(([^)]*)\)\s*((?:\.\w+[^{]*?)?)\{", re.S)
_BODY = re.compile(r"^(?:\.\w+ )*\.(?:entry|func)\b[^{;]*?(\w+)\s*\([^{;]*\{(.*?)^\}", re.S | re.M)
_MEETS = "%envreg"
"""The registers with the address of the state of a grid's barrier."""
_PARAM = re.compile(r"\.param\s+(?:\.align\s+\d+\s+)?\.(\w+)(\s+\.ptr[^,\n]*?)?\s+\w+(?:\[(\d+)\])?\s*(?:,|$)", re.M)
_VARIABLE = re.compile(
    r"^(?:\.(?P<linked>visible|weak|extern|common)\s+)?\.(?P<space>const|global)\s[^;={]*?(?P<name>[\w$]+)(?:\[\d*\])?\s*[=;]",
    re.M,
)
_WORD = r"(?<![\w$.%%])%s(?![\w$])"
_BYTES = {"8": 1, "16": 2, "32": 4, "64": 8}


@dataclass(frozen=True)
class KernelParam:
    """A kernel's parameter in the PTX: `type` is PTX's (u64, u32, f32, b8 …), or ptr if PTX marks it as a pointer."""

    type: str
    nbytes: int


@dataclass(frozen=True)
class Entry:
    """A kernel of a compiled file: its parameters, its own block limit (0: none), and the resources that the assembler
    reports, empty if it did not run. `symbol` is its name in PTX and cubin. `cooperative`: its blocks meet at a barrier
    of the grid, which needs a cooperative launch."""

    name: str
    params: tuple[KernelParam, ...]
    max_threads: int
    resources: Mapping[str, int]
    symbol: str
    cooperative: bool = False


@dataclass(frozen=True)
class Compiled:
    """One compilation. `constants` gives the bytes of each __constant__ symbol; `seconds` is the processor
    time that the compiler took; `cubin` is empty if the assembler did not run. `symbols` gives the name in the PTX of
    each kernel that was asked for as an instance."""

    source: str
    architecture: str
    defines: Mapping[str, Value]
    flags: tuple[str, ...]
    ptx: str
    cubin: bytes
    log: str
    entries: Mapping[str, Entry]
    constants: Mapping[str, int]
    warnings: tuple[Diagnostic, ...]
    seconds: float
    symbols: Mapping[str, str]
    key: str = field(repr=False)

    @cached_property
    def has_variables(self) -> bool:
        """Whether a loaded module has values of its own: constants, or other variables outside functions. Names of
        numbers, which no code refers to, do not count."""
        return any(
            found["linked"]
            or found["space"] == "const"
            or len(re.findall(_WORD % re.escape(found["name"]), self.ptx)) > 1
            for found in _VARIABLE.finditer(self.ptx)
        )

    @cached_property
    def variables(self) -> Mapping[str, int]:
        """The bytes of each __device__ variable."""
        return _sizes(self.ptx, "global")

    def entry(self, name: str) -> Entry:
        """The kernel of that name. Raises KernelError, which names the kernels of the file."""
        symbol = self.symbols.get(name, name)
        if symbol not in self.entries:
            found = [_readable(entry) for entry in self.entries]
            names, declaration = ", ".join(found) or "none", f'extern "C" __global__ void {name}(…)'
            same = [entry for entry in found if base_name(entry) == base_name(name)]
            if len(same) > 1:
                text = f"{self.source} has several kernels {name} ({', '.join(same)})"
                raise KernelError(f"{text}; give each another name, or name one with its namespace.")
            raise KernelError(f'{self.source} has no kernel "{name}" (found: {names}); declare it {declaration}.')
        return replace(self.entries[symbol], name=name)


def _readable(symbol: str) -> str:
    """The name in C++ of a symbol, without parameters: _ZN1p1kEPf is p::k. One that C++ has not changed stays."""
    match = re.match(r"_ZN?(?=\d)", symbol)
    parts, rest = list[str](), symbol[match.end() :] if match else ""
    while number := re.match(r"\d+", rest):
        end = number.end() + int(number[0])
        parts.append(rest[number.end() : end])
        rest = rest[end:]
    return "::".join(parts) or symbol


def compile_kernel(
    source: str,
    architecture: str,
    defines: Mapping[str, Value] | None = None,
    edits: Mapping[str, str] | None = None,
    assemble: bool = True,
    instances: Sequence[str] = (),
) -> Compiled:
    """Compile a kernel file for an architecture such as "sm_90"; without `assemble`, to PTX only. `instances` are
    kernels as C++ names them, such as "reduce<int>".

    Raises KernelError with NVRTC's diagnostics (file, line, column), DeviceError if NVRTC is not installed or does not
    know the architecture.
    """
    request = request_of(source, architecture, dict(defines or {}), edits, assemble, instances)
    parts = [source, request.text, *request.flags, str(nvrtc_version())]
    parts += [f"{n}\0{t}" for n, t in sorted(request.headers.items())]
    parts += [f"instance {name}" for name in instances]
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    with _one_at_a_time(key):  # what is compiled ahead is waited for, not compiled twice
        if key in _CACHE:
            return _CACHE[key]
        if architecture not in supported_architectures():
            choices = ", ".join(supported_architectures())
            raise DeviceError(f"NVRTC {_version_text()} does not compile for {architecture}; choose from {choices}.")
        _CACHE[key] = _compile(request, architecture, dict(defines or {}), key, bool(edits))
    return _CACHE[key]


def request_of(
    source: str,
    architecture: str,
    defines: Mapping[str, Value],
    edits: Mapping[str, str] | None,
    assemble: bool,
    instances: Sequence[str],
) -> Request:
    """The program for the compiler. Raises KernelError where a file includes what it must not."""
    known, host, constant = {**HOST_HEADERS, **edits} if edits else edits, frozenset[str](), False
    text, headers = read_source(source, known), included_headers(source, known)
    if edits:
        check_files(source, known)
        cleaned, host = without_host_code({source: text, **headers}, instances)
        text, headers = cleaned.pop(source), cleaned
        constant = any(re.search(r"\b(?:constexpr|consteval)\b", t) for t in (text, *headers.values()))
        used = (*instances, *map(str, defines.values()))
        names = names_header((text, *headers.values()), used, defines)
        headers |= {NAMES_HEADER: names} if names else {}
    target = architecture if assemble else architecture.replace("sm_", "compute_")
    flags = (f"-arch={target}", *FLAGS, *(ASSEMBLER_FLAGS if assemble else ()), *flags_of(text))
    flags += (
        ("-default-device",) if constant else ()
    )  # nvcc evaluates functions that are constexpr, whatever they are for
    flags += tuple(f"-D{k}={v}" for k, v in sorted(defines.items()))
    flags += (f"--pre-include={NAMES_HEADER}",) if NAMES_HEADER in headers else ()
    if not is_shipped(source):
        flags += tuple(f"-I{folder}" for folder in header_folders())
    return Request(source, text, headers, flags, assemble, tuple(instances), sorted(host))


def instances_of(source: str, name: str, edits: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The instances to compile for a kernel: none where it has C's name, as all shipped ones, else its name in C++."""
    if is_shipped(source):
        return ()
    declared = re.search(
        rf'extern "C" (?:\w+ )*__global__ [^;{{]*\b{re.escape(name)} \(', code_of(read_source(source, edits))
    )
    return () if declared else (name,)


_UNDEFINED = re.compile(r'identifier "(\w+)" is undefined')
_UNMARKED = re.compile("A (function without execution|namespace scope variable without memory) space annotations")
"""What the compiler says of a function or a variable without __device__ and the like."""
_NESTED = re.compile("device-side kernel launch|kernel launch from __device__")
"""What the compiler says of a kernel that launches kernels."""
NAMES_OF_INSTANCES = "__nv_name_map"
"""The file in NVRTC's log whose errors are those of instances that the program does not have."""
_CACHE: dict[str, Compiled] = {}
_BEGUN: dict[str, Lock] = {}
"""A lock for each program that has ever been compiled, or is being compiled."""


def _one_at_a_time(key: str) -> Lock:
    """The lock of a program; a dictionary sets a missing entry in one step."""
    return _BEGUN.setdefault(key, Lock())


def _compile(request: Request, architecture: str, defines: Mapping[str, Value], key: str, isolated: bool) -> Compiled:
    source, flags, assemble = request.source, tuple(request.flags), request.assemble
    try:
        made = _made(isolated, request)
    except LimitReached as limit:
        raise LimitReached(limit.limit, limit.flag, f"{source}: to compile it") from None
    diagnostics = tuple(_in_words(d, request.host) for d in parse_log(made.log))
    if isolated:
        _check_named(request, diagnostics)
    if request.instances and any(d.file == NAMES_OF_INSTANCES for d in diagnostics):
        return _compile(request._replace(instances=()), architecture, defines, key, isolated)  # it says what there is
    if not made.right:
        raise _compile_error(source, diagnostics, made.log)
    content = (_entries(made.ptx, made.log if assemble else None), _sizes(made.ptx, "const"))
    own = (made.ptx, made.cubin, made.log)
    return Compiled(source, architecture, defines, flags, *own, *content, diagnostics, made.seconds, made.symbols, key)


def _made(isolated: bool, request: Request) -> CompileResult:
    """Compile a program; the result depends only on the request and NVRTC's version. A user's program is compiled
    `isolated`, in a separate process."""
    return (make if isolated and not reason() else call_nvrtc)(request)


def _check_named(request: Request, diagnostics: Sequence[Diagnostic]) -> None:
    """Raises KernelError where the compiler names another file than those it was given and CUDA's own: its message
    would show a line of it."""
    for file in dict.fromkeys(d.file for d in diagnostics):
        known = file in (request.source, *request.headers, NAMES_OF_INSTANCES) or file.startswith("__nv")
        if not known and not any(file.startswith(folder) for folder in header_folders()):
            raise KernelError(
                f"{request.source} does not compile: an error is in {plain(file, 80)}, which is no header of the "
                "kernel folders, of CUDA or of a named folder."
            )


def _in_words(diagnostic: Diagnostic, host: Sequence[str]) -> Diagnostic:
    """A message that says what to do about code of the host that code of the device needs."""
    text = diagnostic.text
    if (match := _UNDEFINED.match(text)) and match[1] in host:
        text += "; the file declares it for the host alone: write __device__ before its declaration"
    elif _UNMARKED.match(text):
        text = "this declaration is for the host alone: write __device__ before it"
    return replace(diagnostic, text=text)


def _compile_error(source: str, diagnostics: tuple[Diagnostic, ...], log: str) -> KernelError:
    errors = [d for d in diagnostics if d.severity != "warning"]
    if not errors:
        lines = [line.strip() for line in log.splitlines() if "error" in line] or log.strip().splitlines()
        reason = shortened("; ".join(lines)) or "NVRTC gives no reason"
        return KernelError(f"{source} does not compile: {reason}", diagnostics, log)
    if _NESTED.search(errors[0].text):
        where = f"{errors[0].file}:{errors[0].line}"
        text = "a kernel that launches kernels is not supported; launch them one after the other"
        return KernelError(f"{source} does not compile: {where}: {text}.", diagnostics, log)
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return KernelError(f"{source} does not compile: {shortened(str(errors[0]))}{more}", diagnostics, log)


def parse_log(log: str) -> tuple[Diagnostic, ...]:
    """Errors and warnings of a compiler log; the column comes from the caret line, if there is one."""
    diagnostics: list[Diagnostic] = []
    lines = log.splitlines()
    for i, line in enumerate(lines):
        match = _LOG_LINE.match(line)
        if not match:
            continue
        # NVRTC echoes the source with two extra leading blanks, then puts a caret under the position.
        caret = next((c for c in lines[i + 1 : i + 4] if c.strip() == "^"), "")
        column = max(caret.index("^") - 1, 0) if caret else 0
        diagnostics.append(Diagnostic(match[1], int(match[2]), column, match[3], match[4]))
    return tuple(diagnostics)


def _entries(ptx: str, log: str | None) -> dict[str, Entry]:
    entries = {}
    bodies = {match[1]: match[2] for match in _BODY.finditer(ptx)}
    shared = any(_MEETS in body for name, body in bodies.items() if not re.search(rf"\.entry\s+{name}\b", ptx))
    for name, params, directives in _ENTRY.findall(ptx):
        body = bodies.get(name, "")
        limit = re.search(r"\.(?:maxntid|reqntid)\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?", directives)
        threads = 1
        for part in limit.groups() if limit else ():
            threads *= int(part or 1)
        entries[name] = Entry(
            *(name, _params(params), threads if limit else 0, {} if log is None else _resources(name, log), name),
            _MEETS in body or (shared and "call" in body),
        )
    return entries


def _sizes(ptx: str, space: str) -> dict[str, int]:
    """The bytes of each variable of a space, "const" or "global"."""
    marks = r"(?:\.attribute\([^)]*\)\s+)?(?:\.align\s+\d+\s+)?"
    symbols = re.findall(rf"\.{space}\s+{marks}\.[a-z](\d+)\s+(\w+)(?:\[(\d+)\])?", ptx)
    return {name: _BYTES[width] * int(length or 1) for width, name, length in symbols}


def _params(text: str) -> tuple[KernelParam, ...]:
    params = []
    for kind, pointer, length in _PARAM.findall(text):
        width = re.sub(r"\D", "", kind)
        params.append(KernelParam("ptr" if pointer else kind, _BYTES[width] * int(length or 1)))
    return tuple(params)


def _resources(name: str, log: str) -> dict[str, int]:
    """Registers, spills, stack, barriers, shared and constant bytes of one kernel from the assembler's log."""
    start = log.find(f"Compiling entry function '{name}'")
    part = log[start : log.find("Compiling entry function", start + 1)] if start >= 0 else ""
    part = part or log[start:] if start >= 0 else ""
    patterns = {
        "registers": r"Used (\d+) registers",
        "stack_bytes": r"(\d+) bytes stack frame",
        "spill_store_bytes": r"(\d+) bytes spill stores",
        "spill_load_bytes": r"(\d+) bytes spill loads",
        "shared_bytes": r"(\d+) bytes smem",
        "barriers": r"used (\d+) barriers",
    }
    matches = {key: re.search(pattern, part) for key, pattern in patterns.items()}
    resources = {key: int(match[1]) if match else 0 for key, match in matches.items()}
    resources["constant_bytes"] = sum(int(v) for v in re.findall(r"(\d+) bytes cmem\[\d+\]", part))
    return resources


def _version_text() -> str:
    return ".".join(map(str, nvrtc_version()))
