"""Runs nvdisasm, NVIDIA's disassembler, which the wheel nvidia-cuda-nvdisasm has; no toolkit is needed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path

from gpu_ops.devices.compiler import Compiled
from gpu_ops.devices.nvrtc import reason
from gpu_ops.devices.sass.listing import SassLine, read_code, read_live
from gpu_ops.errors import DeviceError, shortened
from gpu_ops.processes import FOLDER, environment
from gpu_ops.progress import interruptible

INSTALL = "pip install 'kernelscope[sass]'"
SECONDS = 20.0
"""The most that a disassembly may take."""
_KEPT = 64
_CODE, _LIVE = ("-c", "-hex", "-gp"), ("-c", "-lrm", "count")
_LISTINGS: OrderedDict[tuple[str, str], tuple[SassLine, ...]] = OrderedDict()


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
        raise DeviceError(f"Machine code needs NVIDIA's disassembler nvdisasm; install it: {INSTALL}.")
    return str(found)


def machine_code(compiled: Compiled, symbol: str) -> tuple[SassLine, ...]:
    """The machine code of a kernel, by its name in the cubin. Raises DeviceError where it cannot be shown."""
    if not compiled.cubin:
        why = reason() or "The assembler did not run."
        raise DeviceError(f"There is no machine code of {compiled.source}. {why}")
    key = compiled.key, symbol
    if key not in _LISTINGS:
        code, live = _disassembled(compiled.cubin)
        counts = read_live(live, symbol)
        lines = tuple(replace(line, live=counts.get(line.address, {})) for line in read_code(code, symbol))
        if not lines:
            raise DeviceError(f"nvdisasm shows no code of {symbol}; install the version of nvrtc: {INSTALL}.")
        _LISTINGS[key] = lines
        while len(_LISTINGS) > _KEPT:
            _LISTINGS.popitem(last=False)
    _LISTINGS.move_to_end(key)
    return _LISTINGS[key]


def _disassembled(cubin: bytes) -> tuple[str, str]:
    """The code, and the live registers, which nvdisasm prints only without the lines of the PTX."""
    name = program()
    with tempfile.TemporaryDirectory(prefix="kernelscope-") as folder, ThreadPoolExecutor(2) as pool:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(cubin)
        runs = [pool.submit(_run, [name, *flags, str(path)]) for flags in (_CODE, _LIVE)]
        code, live = interruptible(lambda: [run.result() for run in runs])
    return code, live


def _run(command: list[str]) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=SECONDS, cwd=FOLDER, env=environment()
        )
    except subprocess.TimeoutExpired:
        raise DeviceError(f"nvdisasm did not finish within {SECONDS:g} s; look at a smaller kernel.") from None
    except OSError as error:
        raise DeviceError(f"nvdisasm does not start ({error}); install it again: {INSTALL}.") from None
    if done.returncode:
        why = shortened(done.stderr or done.stdout) or f"exit code {done.returncode}"
        raise DeviceError(f"nvdisasm failed: {why}; install a newer one: {INSTALL} -U.")
    return done.stdout
