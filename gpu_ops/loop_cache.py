"""Where Numba keeps compiled loops: beside the code, else in the person's cache, else in a folder of this process.

Numba itself ends every run where it can write to neither of the first two, as in a read-only installation of a user
without a home.
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


def settle_loop_cache(package: Path) -> None:
    """Give Numba a temporary folder where it has no place of its own for the loops of a package. Processes that this
    one starts have the same folder, which ends with it."""
    # Numba takes its folder from a file of the current folder as well, and loads what lies there as code; a variable,
    # even an empty one, goes before it.
    os.environ.setdefault(VARIABLE, "")
    if os.environ[VARIABLE] or _writable(package) or _usable(_own_cache()):
        return
    with suppress(OSError):  # without any folder Numba says so itself
        folder = tempfile.mkdtemp(prefix="kernelscope-loops-")
        os.environ[VARIABLE] = folder
        if "numba" in sys.modules:
            sys.modules["numba"].config.CACHE_DIR = folder
        atexit.register(_remove, folder, os.getpid())


def _own_cache() -> Path | None:
    """Numba's folder in the cache of the person; None where there is no home."""
    from platformdirs import user_cache_path

    with suppress(RuntimeError):
        return user_cache_path("numba", appauthor=False)
    return None


def _writable(package: Path) -> bool:
    """Whether compiled code can lie beside the modules of a package."""
    beside = package / "__pycache__"
    return os.access(beside if beside.is_dir() else package, os.W_OK)


def _usable(folder: Path | None) -> bool:
    """Whether a folder is there, or can be made, and files can be made in it."""
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
