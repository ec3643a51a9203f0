"""The workers of a batch, by Dask: processes on this machine, one for each GPU, or those of a cluster."""

from __future__ import annotations

import logging
import multiprocessing
import os
import platform
import re
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from gpu_ops.batch.choosing import family
from gpu_ops.batch.work import Work, cores
from gpu_ops.devices import device_statuses
from gpu_ops.devices.libraries import missing
from gpu_ops.errors import DeviceError, LibraryMissing, ParamError, counted, plain
from gpu_ops.processes import SAFE, safe_path
from gpu_ops.version import __version__, install

ADDRESS = re.compile(r"(?:[a-z]+://)?[^/\s]+:\d{1,5}")
CLOSE_S = 20
"""Seconds until the workers must have ended."""
START_S = 60
"""Seconds until the workers must have started, or the scheduler must have answered."""
VERSION = "__import__('gpu_ops.version', fromlist=['version']).__version__"
"""Evaluated by workers, of which some may have no Kernelscope."""


@dataclass(frozen=True)
class Workers:
    """Workers that can do the work: Dask's `client`, how many there are, and what one of them says about its machine.
    `work` is for them: with what each may use of its machine."""

    client: Any
    count: int
    work: Work
    provenance: Mapping[str, Any]
    devices: tuple[str, ...]

    @property
    def address(self) -> str:
        return str(self.client.scheduler.address)

    @property
    def dashboard(self) -> str:
        """The address of Dask's page about them; "" without bokeh, which draws it."""
        return "" if missing(["bokeh"]) else str(self.client.dashboard_link)

    def replace_dead(self) -> None:
        """Start workers on this machine in place of those that died while they started, which Dask gives up."""
        local = self.client.cluster
        dead = [name for name, one in local.workers.items() if one.status.name in ("closed", "failed")] if local else []
        for name in dead:
            del local.workers[name]
        if dead:
            local.scale(self.count)


@contextmanager
def cluster(work: Work, tell: Callable[[str], None]) -> Iterator[Workers]:
    """The workers that the batch asks for, which end with the block unless they belong to a cluster. Raises
    LibraryMissing without Dask, DeviceError where they do not start or cannot do the work."""
    dask, spec = _dask(), work.spec
    with _client(work, dask) as client:
        found = _checked(client, work)
        hosts = Counter(one["host"] for one in found.values())
        one = next(iter(found.values()))
        own = replace(spec, inputs=(), workers=max(hosts.values()), devices=_devices(work))
        workers = Workers(client, len(found), replace(work, spec=own), one["provenance"], one["devices"])
        page = f"; what they do: {workers.dashboard}" if workers.dashboard else ""
        tell(f"{counted(workers.count, 'worker')} at {workers.address}{page}.")
        yield workers


def _dask() -> Any:
    try:
        import dask
        import distributed  # noqa: F401 - the part of Dask that has workers
    except ImportError as error:
        words = f"Several workers need Dask, which cannot be imported ({error}); install it: {install('batch')}."
        raise LibraryMissing(words) from None
    return dask


def _devices(work: Work) -> tuple[str, ...]:
    """The devices of each worker: of several GPUs that it may see, the first is its own."""
    return ("cuda:0", "cpu") if work.spec.gpus is not None else tuple(work.spec.devices)


@contextmanager
def _client(work: Work, dask: Any) -> Iterator[Any]:
    from distributed import Client
    from distributed.utils import silence_logging_cmgr

    spec = work.spec
    if spec.scheduler is not None:
        if not ADDRESS.fullmatch(spec.scheduler):  # Dask tries such a name for a while, in the background too
            given = plain(spec.scheduler, 80)
            raise ParamError(f"--scheduler {given!r} is no address; give that of a scheduler, such as tcp://host:8786.")
        try:
            client = Client(spec.scheduler, timeout=START_S / 6, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            words = f"No scheduler of Dask answers at {plain(spec.scheduler, 80)} ({plain(error, 80)})"
            raise DeviceError(f"{words}; start one (dask scheduler), and give its address.") from None
        with silence_logging_cmgr(logging.CRITICAL), client:  # a scheduler that goes away is a sentence of ours
            yield client
        return
    gpus = None if spec.gpus is None else _gpus(spec.gpus)
    count = spec.workers if gpus is None else len(gpus)
    with safe_path(), dask.config.set(_settings(dask)), ExitStack() as opened:
        try:
            own = _started(count, gpus)
            opened.callback(_end, own)
            # Results come from the workers themselves: by way of the scheduler they would be copied once more.
            client = opened.enter_context(Client(own, set_as_default=False, direct_to_workers=True))
        except (RuntimeError, OSError) as error:
            words = f"The workers did not start ({plain(error, 120)})"
            raise DeviceError(f"{words}; end other programs, or take fewer of them, and try again.") from None
        client.register_plugin(_preparation(work), name="kernelscope-preparation")
        yield client


def _end(own: Any) -> None:
    """Close a cluster of this machine; a worker that does not end within CLOSE_S is killed. One that is just being
    started in place of a worker that died is killed at once: its supervisor may wait for it for ever, because Dask
    loses the news that it has started where the one before died while it started itself."""
    started = [child for child in multiprocessing.active_children() if child.name.startswith("Dask Worker")]
    nannies = list(own.workers.values())
    for nanny in nannies:
        nanny.close_gracefully()  # it starts no other worker
    _kill(started, [nanny for nanny in nannies if nanny.process and nanny.process.status.name == "starting"])
    with suppress(TimeoutError):
        own.close(timeout=CLOSE_S)
        return
    _kill(started, nannies)
    with suppress(TimeoutError):
        own.close(timeout=CLOSE_S)


def _kill(started: list[Any], nannies: list[Any]) -> None:
    """Kill the workers of these supervisors."""
    pids = {getattr(nanny, "pid", None) for nanny in nannies}
    for child in (child for child in started if child.pid in pids):
        child.kill()


def _settings(dask: Any) -> dict[str, Any]:
    """Settings of Dask for workers on this machine. A file whose worker is lost comes back to us at once, no task waits
    at a worker that another one might kill, a worker that dies often is started again each time. Nothing looks at their
    calls a hundred times a second, and at their event loops and loads less often: by default that takes 7 % of a
    core. Memory that a worker frees stays with it up to a limit: given back each time, it takes as long to get again as
    a small filter does."""
    variables = dict(dask.config.get("distributed.nanny.pre-spawn-environ"))
    variables.pop("MALLOC_TRIM_THRESHOLD_", None)
    return {
        "distributed.scheduler.allowed-failures": 0,
        "distributed.scheduler.worker-saturation": 1.0,
        "distributed.deploy.lost-worker-timeout": "1000 days",
        "distributed.worker.profile.enabled": False,
        "distributed.admin.tick.interval": "1s",
        "distributed.admin.system-monitor.interval": "2s",
        "distributed.nanny.pre-spawn-environ": {**variables, SAFE: "1"},
    }


def _started(count: int, gpus: list[str] | None) -> Any:
    """A cluster of processes on this machine, which restarts those that die, each with its share of the cores: one for
    each of the GPUs, by dask-cuda where it is installed, else by their environment. Memory is limited by the size of
    bands and not by Dask, which would end a process in the middle of its file."""
    from distributed import LocalCluster, Nanny, SpecCluster
    from distributed.scheduler import Scheduler

    has_pages = not missing(["bokeh"])
    how: dict[str, Any] = {"dashboard_address": "127.0.0.1:0" if has_pages else None, "silence_logs": 50}
    each: dict[str, Any] = {"memory_limit": None}
    share = {"NUMBA_NUM_THREADS": str(max(1, cores() // count))}
    if gpus is None:
        return LocalCluster(n_workers=count, threads_per_worker=1, processes=True, env=share, **how, **each)
    if not missing(["dask_cuda", "pynvml"]):
        from dask_cuda import LocalCUDACluster

        return LocalCUDACluster(CUDA_VISIBLE_DEVICES=gpus, device_memory_limit=None, **how, **each)
    options = {"nthreads": 1, "silence_logs": 50, "dashboard_address": None, **each}
    workers = {
        gpu: {"cls": Nanny, "options": {**options, "env": {**share, "CUDA_VISIBLE_DEVICES": gpu}}} for gpu in gpus
    }
    address = {"dashboard_address": how["dashboard_address"], "host": "127.0.0.1", "port": 0}
    scheduler = {"cls": Scheduler, "options": {**address, "dashboard": has_pages}}
    return SpecCluster(workers=workers, scheduler=scheduler, silence_logs=50)


def _gpus(wanted: str) -> list[str]:
    """The GPUs by the names that CUDA_VISIBLE_DEVICES takes. Raises DeviceError where there is none, ParamError for
    numbers that none has."""
    there = [s.name.removeprefix("cuda:") for s in device_statuses() if s.kind == "cuda" and s.available]
    if not there:
        raise DeviceError("There is no GPU for --gpus; kernelscope doctor says why, --workers N needs none.")
    numbers = there if wanted == "all" else list(dict.fromkeys(wanted.split(",")))
    for number in numbers:
        if number not in there:
            raise ParamError(f"--gpus has no GPU {number}; choose from {','.join(there)}, or all.")
    visible = [name.strip() for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name.strip()]
    return [visible[int(number)] if visible else number for number in numbers]


def _preparation(work: Work) -> Any:
    """A plugin by which workers leave Ctrl-C and SIGTERM to the process that started them: a terminal, `timeout` and
    the end of a job send them to all processes. And workers are ready for their device before they get a file: what
    kills them while they start is not taken for a fault of the file."""
    from distributed import WorkerPlugin

    own = _own(work)

    class Preparation(WorkerPlugin):  # type: ignore[misc]
        def setup(self, worker: Any) -> None:
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_IGN)
            with suppress(Exception):  # the first file, or `_checked`, says what is wrong
                look(own)

    return Preparation()


def _own(work: Work) -> Work:
    """The work as a worker looks at it: by itself on its devices."""
    spec = replace(work.spec, inputs=(), workers=1, gpus=None, scheduler=None, devices=_devices(work))
    return replace(work, spec=spec)


def look(work: Work) -> dict[str, Any]:
    """What a worker is. Raises KernelscopeError where it cannot do the work."""
    work.spec.check()
    for filter in family(work.spec.filter) if work.spec.variant else ():
        library = next((v.library for v in filter.variants if v.id == work.spec.variant), "")
        for name, package in missing([library] if library else []).items():
            raise LibraryMissing(f"{work.spec.variant} needs {name}, which is not installed there; install {package}.")
    return {"host": platform.node(), "provenance": work.provenance, "devices": work.devices}


def _checked(client: Any, work: Work) -> dict[str, dict[str, Any]]:
    """What each worker is, by its address. Raises DeviceError with the next step for one that cannot do the work."""
    from distributed import TimeoutError

    try:
        client.wait_for_workers(1 if work.spec.scheduler else len(client.cluster.workers), timeout=START_S)
    except TimeoutError:
        where = client.scheduler.address
        start = f"start some: dask worker {where}" if work.spec.scheduler else "end other programs, and try again"
        raise DeviceError(f"No worker came to the scheduler {where} in {START_S} s; {start}.") from None
    _check_versions(client)
    found: dict[str, Any] = client.run(look, _own(work), on_error="return")
    for address, one in found.items():
        if isinstance(one, BaseException):
            raise DeviceError(f"Worker {address}: {plain(one, 300)}") from None
    return found


def _check_versions(client: Any) -> None:
    versions = client.get_versions()
    ours = versions["client"]
    for address, theirs in {"the scheduler": versions["scheduler"], **versions["workers"]}.items():
        for what, mine, other in _compared(ours, theirs):
            if mine != other:
                raise DeviceError(f"{address} has {what} {other}, and here is {mine}; install the same on both.")
    for address, version in client.run(eval, VERSION, on_error="return").items():
        if version != __version__:
            has = f"Kernelscope {version}" if isinstance(version, str) else f"no Kernelscope ({plain(version, 80)})"
            wanted = f"install the same there: pip install 'kernelscope[batch]=={__version__}'"
            raise DeviceError(f"Worker {address} has {has}, and here is {__version__}; {wanted}.")


def _compared(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The versions that must agree: what one process pickles the other one reads."""
    python = (str(one["host"]["python"]).rsplit(".", 3)[0] for one in (ours, theirs))
    yield "Python", ".".join(next(python).split(".")[:2]), ".".join(next(python).split(".")[:2])
    yield "distributed", ours["packages"]["distributed"], theirs["packages"]["distributed"]
