"""The only module that lets another library decode or encode a file."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gpu_ops.errors import InputError
from gpu_ops.progress import finite

DEADLINE = 60.0
"""The longest call in seconds: the engine sends no heartbeat meanwhile, and the window ends it after that time."""
NO_MEMORY = -4
"""OpenCV's error code for failed memory allocation."""

_one = threading.Lock()


@contextmanager
def codec(failure: InputError | Callable[[Exception], InputError]) -> Iterator[None]:
    """For calls of such a library only: any of its errors becomes `failure`, or what that makes of it.

    The library's own output does not help the user, and is dropped. Raises MemoryError where memory runs out, and
    ImportError.
    """
    with finite(DEADLINE), _one, _silence():
        try:
            yield
        except (MemoryError, ImportError):
            raise
        except Exception as error:  # each library has its own errors, and also raises others by mistake
            if getattr(error, "code", None) == NO_MEMORY:
                raise MemoryError from None
            raise (failure if isinstance(failure, InputError) else failure(error)) from None


@contextmanager
def _silence() -> Iterator[None]:
    """Inside the block, warnings and output of C libraries to standard error are dropped; one thread at a time."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            stderr_copy = os.dup(2)
        except OSError:  # standard error does not exist
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
    """Inside the block, Pillow accepts pictures of any size: the limit on values is checked before. Only for use within
    `codec`, which admits one thread at a time."""
    from PIL import Image

    usual, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None
    try:
        yield
    finally:
        Image.MAX_IMAGE_PIXELS = usual
