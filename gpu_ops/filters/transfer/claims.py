"""What the source states about transfers and streams, and the strategies that test each statement. Source: S1."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from gpu_ops.filters.kit.verdicts import ratio
from gpu_ops.types import Claim

EXPERIMENT: Mapping[str, Any] = {
    "filter": "transfer2d",
    "sample": {"id": "noise", "size": "4096x4096", "channels": 3, "dtype": "uint8"},
    "params": {"work": "conv3x3-rows", "repeats": 1, "border": "reflect"},
    "knobs": {},
}
"""An image of 48 MiB, whose kernel takes a twentieth of the time of a copy."""
LEAST = 1.1


def _claim(id: str, text: str, prediction: str, slow: str, fast: str) -> Claim:
    judge = partial(ratio, slow=slow, fast=fast, least=LEAST)
    return Claim(f"S1-{id}", "S1", text, "no figure", prediction, "measured", EXPERIMENT, judge)


def _breaks(id: str, what: str, prediction: str, slow: str) -> Claim:
    return _claim(f"overlap-{id}", f"{what} breaks the overlap of streams.", prediction, slow, "streams")


CLAIMS = (
    _claim(
        "pinned-memory",
        "Copies from and to page-locked memory are faster than those of pageable memory.",
        "Holds: the copy engine accesses it by itself; pageable memory goes through a buffer of the driver.",
        "pageable",
        "pinned",
    ),
    _claim(
        "streams",
        "Chunks in several streams take less time than the same work in one.",
        "Holds, by up to two: a GPU with a copy engine for each direction uploads and downloads at a time.",
        "pinned",
        "streams",
    ),
    _breaks("pageable", "Pageable memory", "Holds: the host waits for each of its copies.", "pageable_streams"),
    _breaks(
        "default-stream",
        "Any command in the default stream",
        "Holds for streams that synchronise with it, as cudaStreamCreate makes them.",
        "default_stream",
    ),
    _breaks(
        "pinned-allocation",
        "The allocation of page-locked memory",
        "Holds: the driver waits for the device.",
        "pinned_allocation",
    ),
    _breaks(
        "device-allocation",
        "The allocation and initialisation of device memory",
        "Holds: the driver waits for the device when it frees the memory.",
        "device_allocation",
    ),
    _breaks(
        "cache-configuration",
        "A switch between configurations of L1 and shared memory",
        "Does not hold: copies do not depend on it, and today's kernels get the configuration that they need.",
        "carveout",
    ),
)
