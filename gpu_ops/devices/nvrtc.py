"""NVRTC itself, in this process: a call, its version, and the architectures it compiles for; where it is missing, the
programs that the wheel has."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from gpu_ops.devices import shipped_programs
from gpu_ops.errors import DeviceError
from gpu_ops.progress import interruptible

NEIGHBOURS = ("crt", "cooperative_groups", "cooperative_groups/details")
"""The folders of CUDA's headers in which one includes another by its name alone."""

NVRTC_12 = ("libnvrtc.so.12", "nvrtc64_120_0.dll")
"""The library on Linux and on Windows."""


class CompileResult(NamedTuple):
    """The result of NVRTC: whether it succeeded, the log, and without an error PTX, cubin and the symbols of the
    kernels that were asked for by name."""

    right: bool
    log: str
    ptx: str
    cubin: bytes
    seconds: float
    symbols: dict[str, str]


class Request(NamedTuple):
    """A program for NVRTC: the name and the text of its file, headers by the name in the code, and flags. `assemble`
    asks for the cubin as well. `instances` are kernels as C++ names them, such as "reduce<int>": NVRTC compiles those
    templates. `host` are the names that the file declares for the host alone, which the program no longer has."""

    source: str
    text: str
    headers: Mapping[str, str]
    flags: Sequence[str]
    assemble: bool
    instances: Sequence[str] = ()
    host: Sequence[str] = ()


def call_nvrtc(request: Request) -> CompileResult:
    """Call NVRTC in this process. Where it is missing, the result is that of the wheel's build. Raises DeviceError for
    a program that is not among those."""
    if (missing := reason()) and shipped_programs.architectures():
        key = shipped_programs.key_of(request.source, request.text, request.headers, request.flags)
        program = shipped_programs.find(key, request.flags, request.source, missing)
        return CompileResult(True, program.log, program.ptx, b"", 0.0, {})
    source, text, headers, flags, assemble, instances, _ = request
    nvrtc = _nvrtc()
    contents = [t.encode() for t in headers.values()]
    names = [n.encode() for n in headers]
    program = _call(nvrtc.nvrtcCreateProgram(text.encode(), source.encode(), len(names), contents, names))
    for instance in instances:
        _call(nvrtc.nvrtcAddNameExpression(program, instance.encode()))
    options = [f.encode() for f in (*flags, *_available("--no-cache"), *_available("--no-source-include"))]
    status, seconds = interruptible(lambda: _timed_compile(nvrtc, program, options))
    try:  # an abandoned compilation still needs its program, so this begins after it
        log = _text(_blob(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program))
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            return CompileResult(False, log, "", b"", seconds, {})
        ptx = _text(_blob(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, program))
        cubin = _blob(nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN, program) if assemble else b""
        symbols = {i: _text(_call(nvrtc.nvrtcGetLoweredName(program, i.encode()))) for i in instances}
    finally:
        nvrtc.nvrtcDestroyProgram(program)
    return CompileResult(True, log, ptx, cubin, seconds, symbols)


def _timed_compile(nvrtc: Any, program: Any, options: Sequence[bytes]) -> tuple[Any, float]:
    start = time.thread_time()  # other compilations may run at the same time
    (status,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    return status, time.thread_time() - start


@cache
def _available(flag: str) -> tuple[str, ...]:
    """A flag that later versions of NVRTC have, if this one has it. --no-cache stops it from using the driver's cache:
    an answer from there has no assembler log, and its compile time means nothing. --no-source-include stops it from
    looking for headers in the current folder."""
    nvrtc = _nvrtc()
    program = _call(nvrtc.nvrtcCreateProgram(b"", b"", 0, [], []))
    try:
        (status,) = nvrtc.nvrtcCompileProgram(program, 1, [flag.encode()])
    finally:
        nvrtc.nvrtcDestroyProgram(program)
    return (flag,) if status == nvrtc.nvrtcResult.NVRTC_SUCCESS else ()


@cache
def _nvrtc() -> Any:
    _load_with_cupy()
    try:
        from cuda.bindings import nvrtc
    except ImportError as error:
        raise DeviceError(
            f"NVRTC is not available here ({error}); on Linux or Windows install nvidia-cuda-nvrtc and cuda-bindings."
        ) from None
    try:
        nvrtc.nvrtcVersion()
    except RuntimeError as error:
        raise DeviceError(f"NVRTC's library does not load ({error}); install nvidia-cuda-nvrtc.") from None
    return nvrtc


def _load_with_cupy() -> None:
    """Load the NVRTC of CUDA 12 where CuPy is of CUDA 12: cuda.bindings uses the one that is loaded, and would find
    that of CUDA 13 first, whose code neither a driver of CUDA 12 nor a GPU before Turing runs."""
    from importlib.metadata import PackageNotFoundError, distribution, version

    try:
        version("cupy-cuda12x")
        files = distribution("nvidia-cuda-nvrtc-cu12").files or ()
    except PackageNotFoundError:
        return
    for file in files:
        if file.name in NVRTC_12:
            try:
                ctypes.CDLL(str(file.locate()))
            except OSError as error:
                raise DeviceError(
                    f"NVRTC's library does not load ({error}); install nvidia-cuda-nvrtc-cu12 again."
                ) from None


@cache
def reason() -> str:
    """Why NVRTC cannot be used here; "" where it can."""
    try:
        _nvrtc()
    except DeviceError as error:
        return str(error)
    return ""


@cache
def header_folders() -> tuple[str, ...]:
    """The folders of CUDA's own headers, such as cuda_fp16.h and cuda/std/atomic: of the wheels nvidia-cuda-runtime,
    nvidia-cuda-crt, nvidia-cuda-cccl and nvidia-curand or of an installed toolkit; none where those are missing. Those
    within follow, because their headers name their neighbours, and the compiler looks only in the folders that it is
    given."""
    try:
        from cuda.pathfinder import find_nvidia_header_directory
    except ImportError:
        return ()
    found = [Path(folder) for name in ("cudart", "cccl", "curand") if (folder := find_nvidia_header_directory(name))]
    if not any((folder / "crt").is_dir() for folder in found):  # the wheel nvidia-cuda-crt is missing
        found += [Path(folder) for name in ("nvcc",) if (folder := find_nvidia_header_directory(name))]
    within = [folder / name for folder in found for name in NEIGHBOURS]
    return tuple(str(folder) for folder in (*found, *filter(Path.is_dir, within)))


@cache
def nvrtc_version() -> tuple[int, int]:
    """(major, minor), without NVRTC of the one that compiled the shipped programs. Raises DeviceError where neither is
    installed."""
    if reason() and shipped_programs.architectures():
        return shipped_programs.version()
    major, minor = _call(_nvrtc().nvrtcVersion())
    return int(major), int(minor)


@cache
def supported_architectures() -> tuple[str, ...]:
    """The architectures that NVRTC compiles for here, oldest first: sm_75, …; without NVRTC those of the shipped
    programs. Raises DeviceError where there is neither."""
    if reason() and (shipped := shipped_programs.architectures()):
        return shipped
    return tuple(f"sm_{a}" for a in _call(_nvrtc().nvrtcGetSupportedArchs()))


def _call(result: tuple[Any, ...]) -> Any:
    """The values that a call of the binding returns. Raises DeviceError if NVRTC itself fails (not a kernel)."""
    status, *values = result
    if int(status) != 0:
        raise DeviceError(f"NVRTC failed: {status.name}.")
    return values[0] if len(values) == 1 else values


def _blob(size: Any, get: Any, program: Any) -> bytes:
    length = int(_call(size(program)))
    # NVRTC writes into this object, so nobody else may share it: Python has one object for all equal single bytes.
    buffer = bytes(length + 1)
    _call(get(program, buffer))
    return buffer[:length]


def _text(blob: bytes) -> str:
    return blob.decode(errors="replace").replace("\0", "").rstrip("\n")  # logs of several tools have zeros between
