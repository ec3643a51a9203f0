"""Timelines as the lanes of a chart, and the user's model of a simulated GPU's queues. No widgets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from app.models.files.json_text import Fields
from gpu_ops.explaining.spans import Rates
from gpu_ops.explaining.transfers.rates import recorded_rates

GB = 1e9
SLOWEST, FASTEST = 0.01, 100_000.0
"""The limits of a rate, in GB/s."""


@dataclass(frozen=True)
class QueueModel:
    """The queues of a simulated GPU. If times are `predicted`, then with the rates of a recorded `machine`, or where
    that is "" with these, in GB/s. With `launch_blocking` the host waits for each kernel, on a GPU as well."""

    copy_engines: int = 2
    in_order: bool = False
    predicted: bool = False
    upload: float = 25.0
    download: float = 25.0
    kernel: float = 1000.0
    machine: str = ""
    launch_blocking: bool = False

    @property
    def given(self) -> Rates:
        """The rates in bytes per second."""
        own = Rates(self.upload * GB, self.download * GB, self.kernel * GB)
        return recorded_rates().get(self.machine, own) if self.machine else own

    @property
    def rates(self) -> Rates | None:
        """The rates; None where times are not predicted."""
        return self.given if self.predicted else None

    def as_json(self) -> dict[str, Any]:
        """The model as in a session file."""
        return asdict(self)


def read_queue_model(fields: Fields) -> QueueModel:
    """The model of a session file. Raises InputError."""
    plain, machine = QueueModel(), fields.text("machine", "")
    rates = {name: fields.number(name) for name in ("upload", "download", "kernel") if fields.has(name)}
    return QueueModel(
        copy_engines=1 if fields.count("copy_engines", plain.copy_engines) == 1 else 2,
        in_order=fields.flag("in_order", plain.in_order),
        predicted=fields.flag("predicted", plain.predicted),
        machine=machine if machine and machine in recorded_rates() else "",
        launch_blocking=fields.flag("launch_blocking", plain.launch_blocking),
        **{name: min(max(rate, SLOWEST), FASTEST) for name, rate in rates.items()},
    )


Look = Literal["host", "upload", "kernel", "download", "device", ""]
"""The unit that executes a piece; "" where it is unknown."""


@dataclass(frozen=True)
class Piece:
    """A span in a lane: its start and its end, the bytes that it moves, and its name, if it has one."""

    start: float
    end: float
    nbytes: int
    look: Look = ""
    name: str = ""


@dataclass(frozen=True)
class Lane:
    """A row of a chart. A `heading` is a row of text above the lanes of a variant, with one of the `notes` on the
    right: the first that fits."""

    title: str
    pieces: tuple[Piece, ...] = ()
    heading: bool = False
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The title with the longest note."""
        return ": ".join([self.title, *self.notes[:1]])

    def at(self, place: float) -> Piece | None:
        """The piece at a time; where several overlap, the last to begin."""
        found = [piece for piece in self.pieces if piece.start <= place <= piece.end]
        return max(found, key=lambda piece: piece.start, default=None)


@dataclass(frozen=True)
class Lanes:
    """The rows of a chart, from the top, over one axis of time in a `unit`."""

    rows: tuple[Lane, ...]
    unit: str = "s"

    @property
    def pieces(self) -> Iterable[Piece]:
        return (piece for row in self.rows for piece in row.pieces)
