"""How long the threads of compiled loops spin, and where Numba caches them: next to the code, else in the user's cache,
else in a temporary folder.

Numba itself raises an error if it can write to neither of the first two, as in a read-only installation of a user
without a home directory.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

VARIABLE = "NUMBA_CACHE_DIR"
SPIN, POLICY = "GOMP_SPINCOUNT", "OMP_WAIT_POLICY"
SPINS = "3000"
"""Tens of microseconds, which is more than a loop's parts differ by."""


def settle_loop_cache(package: Path) -> None:
    """Give Numba a temporary folder if it cannot write a package's cache elsewhere. Child processes use the same
    folder, which is deleted when this process ends."""
    # Numba also reads its folder from a file in the current folder, and executes the cached code found there; a
    # variable,
    # even an empty one, takes precedence.
    os.environ.setdefault(VARIABLE, "")
    if os.environ[VARIABLE] or _writable(package) or _usable(_own_cache()):
        return
    with suppress(OSError):  # without any folder Numba itself raises the error
        folder = tempfile.mkdtemp(prefix="kernelscope-loops-")
        os.environ[VARIABLE] = folder
        if "numba" in sys.modules:
            sys.modules["numba"].config.CACHE_DIR = folder
        atexit.register(_remove, folder, os.getpid())


def settle_loop_threads() -> None:
    """Let threads of loops sleep soon where they wait for one that has no processor: by default GNU's OpenMP spins for
    milliseconds, and takes the processor from the one that it waits for. OpenMP reads this as Numba loads it."""
    if not os.environ.get(SPIN) and not os.environ.get(POLICY):
        os.environ[SPIN] = SPINS


def _own_cache() -> Path | None:
    """Numba's folder in the user's cache; None without a home directory."""
    from platformdirs import user_cache_path

    with suppress(RuntimeError):
        return user_cache_path("numba", appauthor=False)
    return None


def _writable(package: Path) -> bool:
    """Whether compiled code can be written next to the modules of a package."""
    beside = package / "__pycache__"
    return os.access(beside if beside.is_dir() else package, os.W_OK)


def _usable(folder: Path | None) -> bool:
    """Whether a folder exists or can be created, and files can be created in it."""
    if folder is None:
        return False
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
