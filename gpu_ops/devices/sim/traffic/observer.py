"""What a simulation tells about a launch to those who look at every access."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from gpu_ops.devices.sim.lanes import Array, Lanes
from gpu_ops.devices.sim.memory import Table
from gpu_ops.devices.sim.ptx.emit import BlockCode, Code
from gpu_ops.devices.sim.ptx.sites import Site
from gpu_ops.devices.sim.requests import Requests
from gpu_ops.plan import Launch


class Observer(Protocol):
    """What a simulation tells about a launch while it runs."""

    @property
    def wants_values(self) -> bool:
        """Whether it receives the values of registers as well."""

    def valued(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        """A basic block has run: the first and the last value of each register, by its variable in the generated
        function; those that it only sets have no first one."""

    def requested(self, made: Requests, site: Site, weight: float) -> None:
        """Requests of an access to global memory, as the machine code makes them."""

    def accessed(self, space: str, lanes: Lanes, site: Site, address: Array) -> None:
        """An access; `address` does not include the site's offset."""

    def fetched(self, lanes: Lanes, site: Site, address: Array, nbytes: int, channels: int) -> None:
        """A fetch from a texture: the address of the element that each lane gets, which has so many channels of so many
        bytes; −1 for one outside, or a lane that does not fetch."""

    def shuffled(self, source: Array, lanes: Lanes) -> None:
        """A shuffle: the lane of the warp whose value each lane gets, in the lanes' frame."""

    def ran(self, block: BlockCode, lanes: Lanes) -> None:
        """A basic block has run; its accesses were reported before."""

    def end_batch(self) -> None:
        """All blocks of a batch have ended."""


class Observers(Protocol):
    """Makes an observer for each launch."""

    def observe(self, launch: Launch, code: Code, table: Table) -> Observer:
        """The observer of a launch that begins."""
