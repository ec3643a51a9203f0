"""All accesses to global and shared memory of the blocks that run, in the order of execution, and their shuffles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gpu_ops.devices.sim.lanes import Array, Lanes
from gpu_ops.devices.sim.memory import Table
from gpu_ops.devices.sim.ptx.emit import BlockCode, Code
from gpu_ops.devices.sim.ptx.sites import Site
from gpu_ops.devices.sim.requests import Requests
from gpu_ops.devices.sim.traffic.following import Touch, fetch_of
from gpu_ops.plan import Launch


class Accesses:
    """Keeps the accesses of the last launch; `at` of a touch are threads where a single block runs. `shuffles` has the
    threads of each shuffle."""

    wants_values = False

    def __init__(self) -> None:
        self.touches: list[Touch] = []
        self.shuffles: list[Array] = []

    def observe(self, launch: Launch, code: Code, table: Table) -> Accesses:
        """The accesses of a launch that begins."""
        self.touches, self.shuffles = [], []
        return self

    def accessed(self, space: str, lanes: Lanes, site: Site, address: Array) -> None:
        """Keep an access."""
        if space in ("global", "shared"):
            where = lanes.active(address).astype(np.int64) + site.offset
            self.touches.append(Touch(space, site, lanes.flat, where))

    def fetched(self, lanes: Lanes, site: Site, address: Array, nbytes: int, channels: int) -> None:
        """Keep a fetch."""
        self.touches.append(fetch_of(lanes, site, address, nbytes, channels))

    def valued(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        """Values do not matter."""

    def requested(self, made: Requests, site: Site, weight: float) -> None:
        """The accesses are enough."""

    def shuffled(self, source: Array, lanes: Lanes) -> None:
        """Keep who exchanges values."""
        self.shuffles.append(lanes.flat)

    def ran(self, block: BlockCode, lanes: Lanes) -> None:
        """The accesses are enough."""

    def end_batch(self) -> None:
        """One block is a batch."""
