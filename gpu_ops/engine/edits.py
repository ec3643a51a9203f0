"""Limits of edited kernels in the engine: one may never end, take all memory, or keep the whole process busy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gpu_ops.errors import LimitReached
from gpu_ops.processes import memory_limited
from gpu_ops.progress import Limit, limited
from gpu_ops.types import Pick

SECONDS, BYTES = 6.0, 2 << 30
"""Time and memory of an edited kernel: for an X-ray, or for a part of a simulated run."""
ADDRESSES = 2 << 30
"""Bytes of addresses that libraries reserve without using them."""
SILENCE = SECONDS + 2
"""Seconds after which the engine is ended where it is silent at work on an edited kernel."""


def has_edits(request: object) -> bool:
    """Whether a request compiles an edited kernel."""
    picks = (*getattr(request, "picks", ()), getattr(request, "pick", None), getattr(request, "against", None))
    return any(pick is not None and bool(pick.edits) for pick in picks)


@contextmanager
def limits_of_edits(pick: Pick) -> Iterator[None]:
    """The limits of a simulated pick: none for a shipped kernel. Raises LimitReached."""
    if not pick.edits:
        yield
        return
    what = f"The edited kernel of {pick.variant}"
    try:
        with memory_limited(BYTES + ADDRESSES), limited(Limit(SECONDS, BYTES, what=what, fixed=True)):
            yield
    except MemoryError:
        raise LimitReached(f"{BYTES >> 20} MiB of memory", "", what) from None
