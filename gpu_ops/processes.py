"""Python processes of our own. None of them imports a module from the folder that a person works in: a `json.py` beside
downloaded pictures would be executed there."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock

FOLDER = Path(__file__).resolve().parent
"""Where a process runs that needs no relative path: libraries look for settings in the current folder as well."""
SAFE = "PYTHONSAFEPATH"
"""With this variable Python puts neither the current folder nor that of a script in front of the module path."""


def environment() -> dict[str, str]:
    """The variables of a process that finds the modules that this one finds."""
    paths = dict.fromkeys(os.path.abspath(path) for path in sys.path if path)
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), SAFE: "1"}


_starting = RLock()


@contextmanager
def safe_path() -> Iterator[None]:
    """For processes that multiprocessing starts inside the block, and for its own helper, both by `python -c`. Threads
    wait for one another: the variable is this process's own, and each puts back what it found."""
    with _starting:
        before = os.environ.get(SAFE)
        os.environ[SAFE] = "1"
        try:
            yield
        finally:
            if before is None:
                del os.environ[SAFE]
            else:
                os.environ[SAFE] = before


@contextmanager
def importing() -> Iterator[None]:
    """For imports at the start of a process: what modules hold stays until its end, and the garbage collector would
    visit it again and again, which is a sixth of the time that hundreds of modules take."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
