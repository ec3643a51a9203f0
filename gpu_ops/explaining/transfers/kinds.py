"""The sweeps of transfers there are, and how each is made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gpu_ops.device_names import is_simulated
from gpu_ops.devices.sim.streams.queues import Queues
from gpu_ops.errors import ParamError
from gpu_ops.explaining.spans import Rates
from gpu_ops.explaining.transfers import memory, pinning, registering, residency, streams
from gpu_ops.explaining.transfers.meter import Meter
from gpu_ops.explaining.transfers.subject import Subject
from gpu_ops.explaining.transfers.sweep import Point, TransferSweep


@dataclass(frozen=True)
class Kind:
    """A sweep by its `id`. `parts` are the views of it by their names, () for a single one. `of_input` says whether it
    copies an input, `timed` whether it says nothing without seconds, `on_host` whether no GPU takes part."""

    id: str
    title: str
    parts: tuple[str, ...]
    of_input: bool = False
    timed: bool = False
    on_host: bool = False


def size_text(nbytes: int) -> str:
    """A size in words."""
    unit, name = next(
        ((1 << power, name) for power, name in ((30, "GiB"), (20, "MiB")) if nbytes >> power), (1 << 10, "KiB")
    )
    return f"{nbytes / unit:.3g} {name}" if nbytes < 1000 * unit else f"{nbytes // unit} {name}"


SIZES = {size_text(nbytes): nbytes for nbytes in reversed(registering.SIZES)}
"""The sizes of registered memory by their names, the largest first."""
KINDS = {
    kind.id: kind
    for kind in (
        Kind("streams", "Streams × chunks", streams.PARTS, of_input=True),
        Kind("residency", "Residency", (), of_input=True),
        Kind("memory", "Kinds of memory", memory.DIRECTIONS, timed=True),
        Kind("registering", "Registering memory", tuple(SIZES), timed=True),
        Kind("pinning", "Locked memory and the host", (), on_host=True),
    )
}


def sweep(
    id: str,
    device: str,
    subject: Subject | None = None,
    rates: Rates | None = None,
    queues: Queues | None = None,
) -> TransferSweep:
    """Make a sweep. On a GPU it is measured; on a simulated one predicted from `rates`, or counted in steps without
    them. Raises ParamError for rates where there are none, and KernelError, DeviceError."""
    kind = KINDS[id]
    if kind.on_host:
        found = tuple(pinning.points(pinning.most()))
        work = f"allocating, writing and reading {size_text(found[0]['work'])} of memory"
        return TransferSweep(id, "measured", "cpu", "", work, found, (pinning.verdict(found),))
    if kind.timed and rates is None and is_simulated(device):
        raise ParamError(
            f"{kind.title} is about seconds: without a GPU it is predicted from rates; give --rates MACHINE, or --h2d, "
            "--d2h and --kernel-rate in GB/s."
        )
    meter = Meter(device, rates, queues or Queues())
    notes: list[str] = []
    makers: dict[str, Callable[[], Iterator[Point]]] = {
        "memory": lambda: memory.points(meter, notes),
        "registering": lambda: registering.points(meter),
    }
    if kind.of_input:
        assert subject is not None
        makers |= {
            "streams": lambda: streams.points(meter, subject),
            "residency": lambda: residency.points(meter, subject),
        }
    points = tuple(makers[id]())
    text = str(subject) if subject is not None else ""
    return TransferSweep(
        id, meter.basis, device, meter.machine, text, points, tuple(notes), rates if not meter.measures else None
    )
