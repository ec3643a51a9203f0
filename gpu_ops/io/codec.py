"""The one place where another library decodes a file, or encodes one."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from gpu_ops.errors import InputError
from gpu_ops.progress import finite

DEADLINE = 60.0
"""Seconds that one call may take before an engine stops saying that it lives, and is ended."""
NO_MEMORY = -4
"""OpenCV's code for memory that it was not given."""

_one = threading.Lock()


@contextmanager
def codec(failure: InputError) -> Iterator[None]:
    """Around calls of such a library, and nothing of our own: whatever it raises becomes `failure`.

    What it prints is no news to a user and goes nowhere. Raises MemoryError where memory ran out, and ImportError.
    """
    with finite(DEADLINE), _one, _silence():
        try:
            yield
        except (MemoryError, ImportError):
            raise
        except Exception as error:  # each has errors of its own, and lets through some that it did not think of
            if getattr(error, "code", None) == NO_MEMORY:
                raise MemoryError from None
            raise failure from None


@contextmanager
def _silence() -> Iterator[None]:
    """Inside, warnings and what C libraries write to the process's standard error are dropped; one thread at a time."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            kept = os.dup(2)
        except OSError:  # there is none
            yield
            return
        try:
            with open(os.devnull, "wb") as nowhere:
                os.dup2(nowhere.fileno(), 2)
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
