"""CUPTI's activity records of copies and kernels: when the GPU itself began and ended each. `cupti-python` takes them,
which is not required."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from gpu_ops.devices.libraries import import_library
from gpu_ops.errors import DeviceError, plain
from gpu_ops.plan import Engine, Span

BUFFER = 8 << 20
"""Bytes for records; CUPTI asks for another buffer when one is full."""
NANO = 1e-9
TO_DEVICE, TO_HOST = 1, 2
"""CUPTI_ACTIVITY_MEMCPY_KIND_HTOD and …_DTOH"""


def recorded(run: Callable[[], object]) -> tuple[Span, ...]:
    """Call `run`, which waits for its work, and return the copies and kernels that the GPU did meanwhile, in seconds
    since the first began. Raises LibraryMissing, and DeviceError where CUPTI cannot record."""
    cupti = import_library("cupti.cupti")
    found: list[Span] = []
    kinds = cupti.ActivityKind.MEMCPY, cupti.ActivityKind.CONCURRENT_KERNEL
    try:
        cupti.activity_register_callbacks(lambda: (BUFFER, 0), lambda activities: found.extend(spans_of(activities)))
        for kind in kinds:
            cupti.activity_enable(kind)
        try:
            run()
            cupti.activity_flush_all(1)
        finally:
            for kind in kinds:
                cupti.activity_disable(kind)
    except cupti.cuptiError as error:
        raise DeviceError(f"CUPTI cannot record ({plain(error)}); another profiler may be at work.") from None
    first = min((span.start for span in found), default=0.0)
    moved = (Span(s.name, s.start - first, s.end - first, s.stream, s.nbytes, s.engine) for s in found)
    return tuple(sorted(moved, key=lambda span: span.start))


def spans_of(activities: Iterable[Any]) -> list[Span]:
    """Records as spans; their memory is CUPTI's and valid only while it hands them over."""
    return [_span(activity) for activity in activities]


def _span(activity: Any) -> Span:
    times = activity.start * NANO, activity.end * NANO
    if hasattr(activity, "copy_kind"):
        engines: dict[int, Engine] = {TO_DEVICE: "upload", TO_HOST: "download"}
        engine = engines.get(int(activity.copy_kind), "device")
        return Span("copy", *times, int(activity.stream_id), int(activity.bytes), engine)
    return Span(str(activity.name), *times, int(activity.stream_id), 0, "kernel")
