"""The sweeps of transfers there are: their names, their parts, and the values that they take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gpu_ops.plan import MemoryKind

Direction = Literal["to device", "to host", "both"]
Way = Literal["resident", "round trips"]
DIRECTIONS: tuple[Direction, ...] = ("to device", "to host", "both")
HOST_KINDS = ("pageable", "staged", "pinned", "registered", "mapped", "managed", "prefetched")
"""Kinds of memory that are copied, managed memory without and with a prefetch."""
MANAGED = ("managed", "prefetched")
CHAINED: tuple[MemoryKind, ...] = ("pageable", "pinned")
"""Kinds of memory of chains of filters."""
WAYS: tuple[Way, ...] = ("resident", "round trips")
REGISTERED = tuple(1 << power for power in range(16, 29, 2))
"""The bytes of memory that is registered: from 64 KiB to 256 MiB."""
FAMILY = "transfer"
"""The filters whose steps are swept."""
GRID = "streams"
"""The sweep that is a grid."""


@dataclass(frozen=True)
class Kind:
    """A sweep by its `id`. `parts` are the views of it by their names, () for a single one. `of_input` says whether it
    copies an input, `timed` whether it says nothing without seconds, `on_host` whether no GPU takes part."""

    id: str
    title: str
    parts: tuple[str, ...]
    of_input: bool = False
    timed: bool = False
    on_host: bool = False


def size_text(nbytes: int) -> str:
    """A size in words."""
    units = ((30, "GiB"), (20, "MiB"), (10, "KiB"))
    power, name = next((pair for pair in units if nbytes >> pair[0]), units[-1])
    return f"{nbytes / (1 << power):.4g} {name}"


SIZES = {size_text(nbytes): nbytes for nbytes in reversed(REGISTERED)}
"""The sizes of registered memory by their names, the largest first."""
KINDS = {
    kind.id: kind
    for kind in (
        Kind(GRID, "Streams × chunks", ("time", "overlap"), of_input=True),
        Kind("residency", "Residency", (), of_input=True),
        Kind("memory", "Kinds of memory", DIRECTIONS, timed=True),
        Kind("registering", "Registering memory", tuple(SIZES), timed=True),
        Kind("pinning", "Locked memory and the host", (), on_host=True),
    )
}
