"""Barriers in shared memory (mbarrier). Their word has the arrivals that are still expected in this phase in its lowest
20 bits, those of a whole phase in the next 20, and the number of the phase above. What hardware stores is not
published."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_ops.devices.sim.lanes import Array, Lanes
from gpu_ops.devices.sim.ptx.sites import Site

BITS = 20
COUNT = (1 << BITS) - 1
PHASE = 2 * BITS


class ArrivalOperations:
    """The part of a batch that works on these barriers."""

    if TYPE_CHECKING:
        shared: Any
        memory: Any
        copies: Any

        def _there(self, lanes: Lanes, site: Site, address: Array) -> tuple[Lanes, Array] | None: ...
        def store_shared(self, lanes: Lanes, site: Site, address: Array, dtype: Any, values: list[Array]) -> None: ...

    def begin_barrier(self, lanes: Lanes, site: Site, address: Array, count: Array) -> None:
        """Set a barrier to expect `count` arrivals."""
        wide = count.astype(np.int64) & COUNT
        self.store_shared(lanes, site, address, np.int64, [wide | wide << BITS])

    def arrive_at(self, lanes: Lanes, site: Site, address: Array, count: Array, drops: bool) -> Array:
        """Arrive so often; with `drops` later phases expect fewer. Returns the state before."""
        words, at = self._word(lanes, site, address)
        self.shared.fence(lanes)
        self.shared.signal(lanes, released=True, learned=False)
        if self.memory.races is not None:
            self.memory.races.fence(lanes)
            self.memory.races.signal(lanes, reads=False, writes=True)
        before = words[at]
        each, place = np.unique(at, return_inverse=True)
        arrived = np.bincount(place, lanes.active(np.broadcast_to(count, lanes.shape))).astype(np.int64)
        state = words[each]
        phase, expected = state >> PHASE, state >> BITS & COUNT
        expected = expected - arrived if drops else expected
        left = (state & COUNT) - arrived
        opens = left <= 0
        words[each] = (phase + opens) << PHASE | expected << BITS | np.where(opens, left + expected, left) & COUNT
        return lanes.spread(before, 0)

    def has_opened(self, lanes: Lanes, site: Site, address: Array, token: Array, by_parity: bool) -> Array:
        """Whether the phase of a state, or the last one of a parity, is complete."""
        words, at = self._word(lanes, site, address)
        phase, given = words[at] >> PHASE, lanes.active(np.broadcast_to(token, lanes.shape)).astype(np.int64)
        opened = (phase & 1) != (given & 1) if by_parity else phase != given >> PHASE
        result = lanes.spread(np.asarray(opened), False)
        self.copies.passed(at[opened], phase[opened])
        passed = lanes.subset(result)
        if passed is not None:
            self.shared.signal(passed, released=False, learned=True)
            if self.memory.races is not None:
                self.memory.races.signal(passed, reads=True, writes=False)
        return result

    def arrive_after_copies(self, lanes: Lanes, site: Site, address: Array, counted: bool) -> None:
        """Arrive when the copies of these lanes are complete; unless it is `counted` already, the barrier expects one
        arrival more for that. Whoever waits for this phase finds them complete."""
        words, at = self._word(lanes, site, address)
        self.copies.bind(lanes, at, words[at] >> PHASE)
        if counted:
            self.arrive_at(lanes, site, address, np.ones((1, 1), np.int32), False)

    def _word(self, lanes: Lanes, site: Site, address: Array) -> tuple[Array, Array]:
        """The words of shared memory, and the index of each lane's barrier."""
        there = self._there(lanes, site, address) if self.shared.clusters is not None else None
        if there is not None:
            lanes, address = there
        checked, wrong = self.shared._checked(lanes, site, address, 8)
        self.shared._check_valid_lanes(lanes, site, checked, wrong, 8, "atomic")
        words = self.shared.data.view(np.int64)
        return words.reshape(-1), lanes.active((checked.astype(np.int64) >> 3) + lanes.rows * words.shape[1])
