"""The peaks of a spectrum, from the table that the same run gives. No Qt."""

from __future__ import annotations

from typing import NamedTuple

from app.models.view_data import OutputData

PEAKS = "peaks"
"""The output that is a table of peaks: a row for each, its place and its height; of several channels side by side.
Unused rows at the end are 0."""


class Peak(NamedTuple):
    """A peak along the spectrum's axis, and its height in the unit of the spectrum."""

    place: float
    height: float


def peaks_of(table: OutputData) -> tuple[Peak, ...]:
    """The peaks (place, height) of all channels of a signal."""
    pairs = table.array.reshape(-1, 2).tolist()
    return tuple(Peak(place, height) for place, height in pairs if height > 0)
