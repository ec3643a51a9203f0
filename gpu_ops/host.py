"""The host's memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path


def total_memory() -> int:
    """Bytes of host memory; 8 GiB if the system does not report it."""
    return _memory("SC_PHYS_PAGES") or 8 << 30


def free_memory() -> int:
    """Bytes that can be allocated without swapping; half of the host memory if the system does not report it."""
    info = Path("/proc/meminfo")
    if info.is_file():
        for line in info.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return total_memory() // 2


def _memory(pages: str) -> int:
    sysconf: Callable[[str], int] | None = getattr(os, "sysconf", None)
    return sysconf(pages) * sysconf("SC_PAGE_SIZE") if sysconf else 0
