"""How each sweep of transfers is made."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gpu_ops.device_names import is_simulated
from gpu_ops.devices.sim.streams.queues import Queues
from gpu_ops.errors import ParamError
from gpu_ops.explaining.spans import Rates
from gpu_ops.explaining.transfers import memory, of_input, pinning
from gpu_ops.explaining.transfers.catalogue import KINDS, size_text
from gpu_ops.explaining.transfers.meter import Meter
from gpu_ops.explaining.transfers.subject import Subject
from gpu_ops.explaining.transfers.sweep import Point, TransferSweep


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
        "registering": lambda: memory.locking_points(meter),
    }
    if kind.of_input:
        assert subject is not None
        makers |= {
            "streams": lambda: of_input.grid_points(meter, subject),
            "residency": lambda: of_input.chain_points(meter, subject),
        }
    points = tuple(makers[id]())
    text = str(subject) if subject is not None else ""
    return TransferSweep(
        id, meter.basis, device, meter.machine, text, points, tuple(notes), rates if not meter.measures else None
    )
