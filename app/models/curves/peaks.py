"""The peaks of a spectrum, from the table that the same run gives. No Qt."""

from __future__ import annotations

from typing import NamedTuple

from app.models.results.view_data import OutputData

PEAKS = "peaks"
"""The output that is a table of peaks: a row for each, its place and its height; of several channels side by side.
Unused rows at the end are 0."""


class Peak(NamedTuple):
    """A peak along the spectrum's axis, its height in the unit of the spectrum, and its channel."""

    place: float
    height: float
    channel: int = 0


def peaks_of(table: OutputData) -> tuple[Peak, ...]:
    """The peaks (place, height) of all channels of a signal."""
    pairs = table.array.reshape(len(table.array), -1, 2).tolist()
    return tuple(Peak(pair[0], pair[1], channel) for row in pairs for channel, pair in enumerate(row) if pair[1] > 0)
