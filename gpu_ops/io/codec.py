"""The only place where another library decodes or encodes a file."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from gpu_ops.errors import InputError
from gpu_ops.progress import finite

DEADLINE = 60.0
"""Seconds of one call at most: after them the engine gives no sign of life, and the window ends it."""
NO_MEMORY = -4
"""OpenCV's code for memory that it did not get."""

_one = threading.Lock()


@contextmanager
def codec(failure: InputError) -> Iterator[None]:
    """Around calls of such a library, and no code of our own: any error of the library becomes `failure`.

    Its output is of no use to a user, and is dropped. Raises MemoryError where memory runs out, and ImportError.
    """
    with finite(DEADLINE), _one, _silence():
        try:
            yield
        except (MemoryError, ImportError):
            raise
        except Exception as error:  # each library has its own errors, and lets others through by mistake
            if getattr(error, "code", None) == NO_MEMORY:
                raise MemoryError from None
            raise failure from None


@contextmanager
def _silence() -> Iterator[None]:
    """Inside, warnings and the output of C libraries to standard error are dropped; one thread at a time."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            stderr_copy = os.dup(2)
        except OSError:  # there is no standard error
            yield
            return
        try:
            with open(os.devnull, "wb") as nowhere:
                os.dup2(nowhere.fileno(), 2)
            yield
        finally:
            os.dup2(stderr_copy, 2)
            os.close(stderr_copy)


@contextmanager
def any_size() -> Iterator[None]:
    """Inside, Pillow takes pictures of any size: the limit on values is checked before. Within `codec` alone, where
    only one thread is."""
    from PIL import Image

    usual, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None
    try:
        yield
    finally:
        Image.MAX_IMAGE_PIXELS = usual
