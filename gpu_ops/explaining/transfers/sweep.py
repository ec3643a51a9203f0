"""A sweep of transfers as values: its points, what its times are, and where they come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from gpu_ops.errors import ReportError, plain
from gpu_ops.explaining.spans import Basis, Rates

SCHEMA = "kernelscope-transfers/1"
Point = Mapping[str, Any]


@dataclass(frozen=True)
class TransferSweep:
    """The points of a sweep `id`, each with its `time` in seconds, or in steps where only the order is known. `subject`
    says what was copied or computed, `machine` where times were measured or rates recorded, `notes` what is left out
    and why. Predicted times have their `rates`."""

    id: str
    basis: Basis
    device: str
    machine: str
    subject: str
    points: tuple[Point, ...]
    notes: tuple[str, ...] = ()
    rates: Rates | None = None

    @property
    def unit(self) -> str:
        """The unit of times."""
        return "steps" if self.basis == "order" else "s"

    def where(self, **values: Any) -> list[Point]:
        """The points with these values."""
        return [point for point in self.points if all(point.get(name) == value for name, value in values.items())]

    def to_json(self) -> dict[str, Any]:
        """The sweep as JSON."""
        rates = {"rates": asdict(self.rates)} if self.rates else {"rates": None}
        return {"schema": SCHEMA, **vars(self), "unit": self.unit, **rates}


def sweep_of_json(content: Mapping[str, Any], name: str) -> TransferSweep:
    """A sweep from JSON. Raises ReportError that names the file."""
    if not isinstance(content, Mapping) or content.get("schema") != SCHEMA:
        raise ReportError(f"{plain(name)} is not of the schema {SCHEMA}; kernelscope transfers writes that.")
    texts = {key: str(content.get(key, "")) for key in ("id", "device", "machine", "subject")}
    rates = Rates(**content["rates"]) if content.get("rates") else None
    points, notes = tuple(content["points"]), tuple(content.get("notes", ()))
    return TransferSweep(**texts, basis=content["basis"], points=points, notes=notes, rates=rates)
