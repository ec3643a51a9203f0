"""The theoretical occupancy at each value of a sweep over a knob: it is computed and needs neither runs nor a GPU."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gpu_ops.devices.occupancy import LaunchOccupancy
from gpu_ops.types import Filter, Pick

CSV_COLUMNS = ("gpu", "registers_used", "blocks", "warps", "most_warps", "resident_threads", "most_threads", "limiter")


@dataclass
class Occupied:
    """The occupancy on an `architecture`: for each variant by value."""

    architecture: str = ""
    variants: dict[str, dict[int, LaunchOccupancy]] = field(default_factory=dict)

    def put(self, value: int, found: Mapping[str, LaunchOccupancy]) -> None:
        """Add the occupancy of some variants at a value."""
        for variant, held in found.items():
            self.variants.setdefault(variant, {})[value] = held

    def at(self, variant: str, value: int | None) -> LaunchOccupancy | None:
        """The occupancy of a variant at a value; None where it is not known."""
        return None if value is None else self.variants.get(variant, {}).get(value)

    def values(self) -> set[int]:
        """All values at which the occupancy of some variant is known."""
        return {value for own in self.variants.values() for value in own}

    def points(self, variant: str) -> tuple[tuple[int, LaunchOccupancy], ...]:
        """The occupancy of a variant by ascending value."""
        return tuple(sorted(self.variants.get(variant, {}).items()))

    def cells(self, variant: str, value: int | None) -> dict[str, object]:
        """The cells of a row in a file, by CSV_COLUMNS; {} where it is not known."""
        held = self.at(variant, value)
        if held is None:
            return {}
        o = held.occupancy
        figures = (held.registers, o.blocks, o.warps, o.most, held.resident, held.most, o.limiter)
        return dict(zip(CSV_COLUMNS, (self.architecture, *figures), strict=True))


def picks_with_knob(filter: Filter, knob: str, picks: Iterable[Pick]) -> tuple[Pick, ...]:
    """The picks whose occupancy may depend on a knob: kernels of the filter itself that have it."""
    own = {v.id for v in filter.variants if v.kernels and any(k.name == knob for k in v.knobs)}
    return tuple(pick for pick in picks if pick.variant in own)
