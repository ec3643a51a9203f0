"""Runs nvdisasm, NVIDIA's disassembler, which the wheel nvidia-cuda-nvdisasm has; no toolkit is needed."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from gpu_ops.devices.compiler import Compiled
from gpu_ops.devices.nvrtc import reason
from gpu_ops.devices.sass.listing import SassLine, read_code, read_live
from gpu_ops.errors import DeviceError, shortened
from gpu_ops.processes import FOLDER, environment
from gpu_ops.progress import interruptible
from gpu_ops.version import install, upgrade

SECONDS = 20.0
"""The most that a disassembly may take."""
_KEPT = 64
_CODE, _LIVE = ("-c", "-hex", "-gp", "-ndf"), ("-c", "-lrm", "count")
"""The code without an analysis of its data flow, which takes a third of the time and is only needed for live
registers."""
_Key = tuple[str, tuple[str, ...]]
"""The hash of a cubin, and the flags."""
_LISTINGS: OrderedDict[_Key, dict[str, Any]] = OrderedDict()
"""What was read of each cubin, for each of its kernels."""
_STARTED: OrderedDict[_Key, Future[str]] = OrderedDict()
_BESIDE = ThreadPoolExecutor(1, "nvdisasm")
"""Disassembles for live registers while the caller reads the code and simulates it."""
_SYMBOL = re.compile(r"^//-+\s+\.text\.(\S+)\s+-+$", re.M)


@cache
def program() -> str:
    """The path of nvdisasm: of its wheel, or of an installed toolkit. Raises DeviceError with the command that installs
    it."""
    try:
        from cuda.pathfinder import find_nvidia_binary_utility

        found = find_nvidia_binary_utility("nvdisasm")
    except ImportError:
        found = None
    found = found or shutil.which("nvdisasm")
    if not found:
        raise DeviceError(f"Machine code needs NVIDIA's disassembler nvdisasm; install it: {install('sass')}.")
    return str(found)


def machine_code(compiled: Compiled, symbol: str) -> tuple[SassLine, ...]:
    """The machine code of a kernel, by its name in the cubin, without live registers. Raises DeviceError where it
    cannot be shown."""
    lines = tuple(_read(compiled, _CODE, read_code).get(symbol, ()))
    if not lines:
        raise DeviceError(f"nvdisasm shows no code of {symbol}; install the version of nvrtc: {install('sass')}.")
    return lines


def start_live_registers(compiled: Compiled) -> None:
    """Begin to find the live registers, which `live_registers` will be asked for."""
    key = _key(compiled, _LIVE)
    if compiled.cubin and key not in _LISTINGS and key not in _STARTED:
        _STARTED[key] = _BESIDE.submit(_disassembled, compiled.cubin, _LIVE)
        while len(_STARTED) > _KEPT:
            _STARTED.popitem(last=False)


def live_registers(compiled: Compiled, symbol: str) -> dict[int, dict[str, int]]:
    """The live registers of a kernel by kind, by the address of the instruction. Raises DeviceError."""
    found: dict[int, dict[str, int]] = _read(compiled, _LIVE, read_live).get(symbol, {})
    return found


def _read(compiled: Compiled, flags: tuple[str, ...], read: Callable[[str, str], Any]) -> dict[str, Any]:
    """What nvdisasm prints about each kernel of a cubin: one run for all of them, none for a known cubin."""
    if not compiled.cubin:
        why = reason() or "The assembler did not run."
        raise DeviceError(f"There is no machine code of {compiled.source}. {why}")
    key = _key(compiled, flags)
    if key not in _LISTINGS:
        started = _STARTED.pop(key, None)
        text = interruptible(started.result if started else lambda: _disassembled(compiled.cubin, flags))
        _LISTINGS[key] = {symbol: read(text, symbol) for symbol in _SYMBOL.findall(text)}
        while len(_LISTINGS) > _KEPT:
            _LISTINGS.popitem(last=False)
    _LISTINGS.move_to_end(key)
    return _LISTINGS[key]


def _key(compiled: Compiled, flags: tuple[str, ...]) -> _Key:
    return sha256(compiled.cubin).hexdigest(), flags


def _disassembled(cubin: bytes, flags: tuple[str, ...]) -> str:
    with tempfile.TemporaryDirectory(prefix="kernelscope-") as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(cubin)
        return _run([program(), *flags, str(path)])


def _run(command: list[str]) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=SECONDS, cwd=FOLDER, env=environment()
        )
    except subprocess.TimeoutExpired:
        raise DeviceError(f"nvdisasm did not finish within {SECONDS:g} s; look at a smaller kernel.") from None
    except OSError as error:
        raise DeviceError(f"nvdisasm does not start ({error}); install it again: {install('sass')}.") from None
    if done.returncode:
        why = shortened(done.stderr or done.stdout) or f"exit code {done.returncode}"
        raise DeviceError(f"nvdisasm failed: {why}; install a newer one: {upgrade('nvidia-cuda-nvdisasm')}.")
    return done.stdout
