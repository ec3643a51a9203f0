"""An edited kernel in a batch: held to the filter's contract before any file, and with limits in each file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from gpu_ops.batch.spec import BatchSpec
from gpu_ops.device_names import is_simulated
from gpu_ops.errors import KernelError, shortened
from gpu_ops.filters import FILTERS
from gpu_ops.types import Pick

WORK = "gpu_ops.batch.edited:work"
POLL_S = 0.1
"""Seconds between two looks at whether the batch should stop."""
PART_S = 60.0
"""The default deadline of a file, a frame or a band: the kernel has ended in every case of the contract."""
MIB = 1 << 24
"""No limit in practice: the files of a batch have limits of memory of their own, by bands."""


def edits_hold(spec: BatchSpec, stop: Callable[[], bool]) -> bool:
    """Test the filter's contract with the edited kernel on a simulated GPU, in a process with limits. False once `stop`
    returns true, which ends the test at once. Raises KernelError for a kernel that is not right."""
    from gpu_ops.own_kernels.kernel_process import KernelProcess  # which few batches need

    filter = FILTERS.find(spec.filter)
    variant = filter.variant(str(spec.variant))
    request = {"filter": filter.id, "variant": variant.id, "edits": dict(spec.edits), "deadline": spec.deadline}
    process = KernelProcess(WORK)
    try:
        process.start(request, f"the edited kernel of {variant.title}")
        while (outcome := process.poll(POLL_S)) is None:
            if stop():
                return False
    finally:
        process.close()
    why = outcome.reason if outcome.result is None else outcome.result["why"]
    if why:
        raise KernelError(
            f"The edited kernel of {variant.title} is not right, so no file was processed: "
            f"{shortened(why).rstrip('.')}. Mend it, and run the batch again."
        )
    return True


def work(request: Mapping[str, Any]) -> dict[str, Any]:
    """The test, in its process: why the kernel is not right, "" where it is."""
    from gpu_ops.own_kernels.checking import hold
    from gpu_ops.own_kernels.kernel_process import SECONDS, piece

    filter = FILTERS.find(request["filter"])
    deadline = request["deadline"]
    how: dict[str, Any] = {"seconds": deadline or SECONDS, "flags": deadline is not None}
    edits, variant = request["edits"], filter.variant(request["variant"])
    held = hold(filter, variant, edits, "sim", lambda what: piece(f"the edited kernel: {what}", **how))
    if not held.wrong and not held.reached:
        return {"why": ""}
    return {"why": held.wrong[-1] if held.reached and held.wrong else next(iter(held.wrong), held.summary)}


@contextmanager
def limits_of(pick: Pick, deadline: float | None, where: str) -> Iterator[None]:
    """Inside, an edited kernel may take so many seconds, and a shipped one as long as it needs. Raises LimitReached,
    which names the place `where` it worked; KernelFault on a GPU."""
    if not pick.edits:
        yield
        return
    from gpu_ops.own_kernels.kernel_process import piece

    what, simulated = f"{where}: the edited kernel of {pick.variant}", is_simulated(pick.device)
    with piece(what, deadline or PART_S, MIB, deadline is not None, simulated):
        yield
