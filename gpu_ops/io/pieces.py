"""Reads and writes files piece by piece, so that long ones report their progress and can be stopped."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

import numpy as np

from gpu_ops.io.inputs import Array
from gpu_ops.progress import advance

PIECE = 1 << 24
"""Bytes read or written at a time."""
SHORT = 1 << 27
"""This many bytes are read at once: that takes no longer than a progress report."""


def read_whole(path: Path) -> bytes:
    """The file's bytes. Raises OSError, and Cancelled when the listener stops the work."""
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size <= SHORT:
            return file.read()
        data = np.empty(os.fstat(file.fileno()).st_size, np.uint8)
        return data[: read_into(file, data)].tobytes()


def read_into(file: IO[bytes], data: Array) -> int:
    """Fill an array of bytes from a file, as far as the file goes; returns the number of bytes."""
    done = 0
    while done < data.size:
        advance(done, data.size)
        read = file.readinto(data[done : done + PIECE].data)  # type: ignore[attr-defined]
        if not read:
            break
        done += read
    return done


def write_from(file: IO[bytes], data: Array) -> None:
    """Write an array of bytes to a file."""
    for start in range(0, data.size, PIECE):
        advance(start, data.size)
        file.write(data[start : start + PIECE].data)
