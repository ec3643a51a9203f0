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
SPINS = {"GOMP_SPINCOUNT": "10000", "KMP_BLOCKTIME": "1"}
"""How long OpenMP's threads look for more work before they sleep: GNU's turns of a loop, some tenths of a millisecond,
and LLVM's milliseconds. Both outlast the gap between two timed calls. By default they go on for 10 and 200 ms: on two
busy cores, GNU's made an average of 3 x 3 over 480 x 480 take 8 ms instead of 0.07."""
POLICY = "OMP_WAIT_POLICY"


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
    """Let threads of loops sleep soon where they wait for one that has no processor: by default OpenMP's spin for long,
    and take the processor from the one that they wait for. OpenMP reads this as Numba loads it."""
    if not os.environ.get(POLICY):
        for name, value in SPINS.items():
            os.environ[name] = os.environ.get(name) or value


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
