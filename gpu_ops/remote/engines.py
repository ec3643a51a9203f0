"""All engines of a window as one: that of this machine, and those of other machines, whose devices are in the same
list. A job goes where its devices are; arrays follow."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gpu_ops.device_names import device_host
from gpu_ops.devices.status import DeviceStatus
from gpu_ops.engine.about import segments_of_request
from gpu_ops.engine.client import EngineClient
from gpu_ops.engine.messages import (
    PROTOCOL,
    Answer,
    CancelRequest,
    Failed,
    Finished,
    FramesRequest,
    Loaded,
    LoadRequest,
    Ready,
    Request,
    ResultRequest,
    RunRequest,
    RunUpdate,
    StepsRequest,
    SurveyRequest,
    TimelinesRequest,
)
from gpu_ops.engine.segments import SegmentPool
from gpu_ops.input_kinds import Spans
from gpu_ops.remote.destination import Destination, location
from gpu_ops.remote.mirrors import EXACT, Mirror
from gpu_ops.remote.naming import hosts_of, merged
from gpu_ops.remote.news import LinkState

if TYPE_CHECKING:
    from gpu_ops.remote.client import RemoteClient

HERE = ""
ELSEWHERE = "Results of all frames are written by devices of this machine; choose one of them for this."


class Engines:
    """Has the methods of EngineClient. `local` must call `hear` with its answers. `on_answer` gets the answers of all,
    each job's last one once, and also LinkState and Arrived of other machines. `asking(label)` gives the variables of a
    program that asks the questions of ssh."""

    def __init__(
        self,
        on_answer: Callable[[Any], None],
        local: EngineClient,
        asking: Callable[[str], Mapping[str, str]] = lambda label: {},
    ) -> None:
        self.local, self._on_answer, self._asking = local, on_answer, asking
        self._lock = threading.RLock()
        self._remotes: dict[str, RemoteClient] = {}
        self._devices: dict[str, tuple[DeviceStatus, ...]] = {}
        self._machine: dict[str, Any] = {}
        self._hosts: dict[str, dict[str, Any]] = {}
        self._parts: dict[int, set[str]] = {}
        self._faults: dict[int, Failed] = {}
        self._waiting: dict[int, set[str]] = {}
        self._paths: dict[int, str] = {}

    # ---------------------------------------------------------------- machines

    @property
    def remotes(self) -> Mapping[str, Destination]:
        """The machines by their labels."""
        with self._lock:
            return {label: client.to for label, client in self._remotes.items()}

    def add(self, to: Destination) -> None:
        """Connect to a machine; LinkState says how it goes. One of the same label is left first."""
        self.remove(to.label)
        from gpu_ops.remote.client import RemoteClient  # with what starts ssh, which most windows never do

        client = RemoteClient(to, lambda answer: self._hear(to.label, answer), self.pool, self._asking(to.label))
        with self._lock:
            self._remotes[to.label] = client
        client.start()

    def remove(self, label: str) -> None:
        """Leave a machine: its engine ends, its jobs are cancelled, and its devices are no longer offered."""
        with self._lock:
            client, had = self._remotes.pop(label, None), self._devices.pop(label, None)
            jobs = [job for job, hosts in self._parts.items() if label in hosts]
        if client is None:
            return
        client.close()
        for job in jobs:
            self._hear(label, Finished(job, cancelled=True))
        if had:
            self._offer()
        self._on_answer(LinkState(label, "closed"))

    def mirror(self, segment: str) -> Mirror | None:
        """What is here of another machine's array; None for any other segment."""
        with self._lock:
            clients = list(self._remotes.values())
        return next((mirror for client in clients if (mirror := client.mirror(segment)) is not None), None)

    def look(self, segment: str, view: Spans = (), pixels: int = 0) -> None:
        """A pane shows this array, or its part in `view`, on so many pixels."""
        for client in self._clients():
            client.look(segment, view, pixels)

    def whole(self, segment: str, then: Callable[[bool], None]) -> None:
        """Call `then(True)` when all values of an array are here, with False where they never come."""
        for client in self._clients():
            if client.mirror(segment) is not None:
                client.whole(segment, then)
                return
        then(True)

    def _clients(self) -> list[RemoteClient]:
        with self._lock:
            return list(self._remotes.values())

    # ---------------------------------------------------------------- the methods of a client

    @property
    def pool(self) -> SegmentPool:
        return self.local.pool

    @property
    def running(self) -> bool:
        return self.local.running

    @property
    def busy(self) -> bool:
        with self._lock:
            return bool(self._parts)

    @property
    def pid(self) -> int | None:
        return self.local.pid

    def next_job(self) -> int:
        return self.local.next_job()

    def start(self) -> None:
        self.local.start()

    def cancel(self, job: int, kill: bool = True) -> None:
        """Stop a job wherever it is."""
        with self._lock:
            waits = self._waiting.pop(job, None)
        if waits is not None:
            self._hear(HERE, Finished(job, cancelled=True))
            return
        self.local.cancel(job, kill)
        for client in self._clients():
            client.cancel(job, kill)

    def close(self) -> None:
        for client in self._clients():
            client.close()
        self.local.close()

    def submit(self, request: Request) -> None:
        """Queue a request at the machines that it needs."""
        if isinstance(request, CancelRequest):
            self.cancel(request.job)
            return
        parts = dict(self._split(request))
        with self._lock:
            self._parts[request.job] = set(parts)
        for host, part in parts.items():
            client = self._remotes.get(host)
            if host == HERE:
                self._submit_here(part)
            elif client is None:
                self._hear(host, Failed(request.job, f"{host} is not connected; add it with Devices, Add remote."))
            elif isinstance(request, FramesRequest):
                self._hear(host, Failed(request.job, ELSEWHERE))
            else:
                client.submit(part)

    def _split(self, request: Any) -> Iterable[tuple[str, Any]]:
        """The parts of a request by their machines."""
        if isinstance(request, LoadRequest | SurveyRequest) and (place := location(request.path)) is not None:
            self._paths[request.job] = request.path
            return [(place[0].rpartition("@")[2], replace(request, path=place[1]))]
        if isinstance(request, StepsRequest | ResultRequest):
            return [(self._owner(segments_of_request(request)), request)]
        hosts = hosts_of(request) or (HERE,)
        if len(hosts) == 1 or not isinstance(request, RunRequest | TimelinesRequest):
            return [(hosts[0], request)]
        return [(host, _part(request, host)) for host in hosts]

    def _owner(self, segments: Iterable[str]) -> str:
        """The machine that has an array whose values are not all here."""
        names = list(segments)
        for label, client in list(self._remotes.items()):
            found = (client.mirror(name) for name in names)
            if any(mirror is not None and mirror.step != EXACT and not mirror.lost for mirror in found):
                return label
        return HERE

    def _submit_here(self, request: Any) -> None:
        """Submit a request to this machine's engine once all values of its arrays are here."""
        missing = [name for name in segments_of_request(request) if self._is_missing(name)]
        if not missing:
            self.local.submit(request)
            return
        held = []
        for name in missing:
            self.pool.hold(name)  # until it is submitted
            held.append(name)
        with self._lock:
            self._waiting[request.job] = set(missing)
        for name in missing:
            self.whole(name, lambda come, name=name: self._come(request, name, come, held))  # type: ignore[misc]

    def _is_missing(self, segment: str) -> bool:
        mirror = self.mirror(segment)
        return mirror is not None and mirror.step != EXACT

    def _come(self, request: Any, name: str, come: bool, held: list[str]) -> None:
        """All values of an array are here, or never come."""
        with self._lock:
            waits = self._waiting.get(request.job)
            if waits is not None:
                waits.discard(name)
                if come and waits:
                    return
                del self._waiting[request.job]
        # In a thread of its own: this one may hold a lock of the pool.
        threading.Thread(target=self._go_on, args=(request, waits is not None, come, list(held)), daemon=True).start()
        held.clear()

    def _go_on(self, request: Any, wanted: bool, come: bool, held: list[str]) -> None:
        if wanted and come:
            self.local.submit(request)
        elif wanted:
            sentence = "Another machine has lost the values of this array; run or load it again."
            self._hear(HERE, Failed(request.job, sentence))
        for name in held:
            self.pool.release(name)

    # ---------------------------------------------------------------- answers

    def hear(self, answer: Answer) -> None:
        """An answer of this machine's engine."""
        self._hear(HERE, answer)

    def _hear(self, host: str, answer: Any) -> None:
        if isinstance(answer, Ready):
            with self._lock:
                if host and host not in self._remotes:
                    return
                self._devices[host] = answer.devices
            self._offer()
        elif isinstance(answer, Finished | Failed):
            self._end(host, answer)
        elif isinstance(answer, Loaded) and (path := self._paths.get(answer.job)) is not None:
            origin = {**answer.input.origin, "path": path}  # from here it is a location
            self._on_answer(replace(answer, input=replace(answer.input, origin=origin)))
        elif isinstance(answer, RunUpdate) and answer.provenance:
            self._on_answer(replace(answer, provenance=self._provenance(host, dict(answer.provenance))))
        else:
            if isinstance(answer, LinkState) and answer.stage == "failed":
                with self._lock:
                    had = self._devices.pop(answer.host, None)
                if had:
                    self._offer()
            self._on_answer(answer)

    def _offer(self) -> None:
        """Say which devices there are, those of this machine first; before it is ready, others wait."""
        with self._lock:
            own = self._devices.get(HERE)
            others = [status for host, found in self._devices.items() if host for status in found]
        if own is not None:
            self._on_answer(Ready(PROTOCOL, (*own, *others)))

    def _provenance(self, host: str, found: dict[str, Any]) -> dict[str, Any]:
        """What is known of all machines that have run something."""
        with self._lock:
            if host:
                self._hosts[host] = found
            else:
                self._machine = found
            whole = self._machine
            for other in self._hosts.values():
                whole = merged(whole, other)
            return dict(whole)

    def _end(self, host: str, answer: Finished | Failed) -> None:
        """A machine has ended its part of a job: pass on the last answer once all have, a failure before success."""
        with self._lock:
            self._paths.pop(answer.job, None)
            left = self._parts.get(answer.job)
            if left is not None:
                left.discard(host)
                if isinstance(answer, Failed):
                    self._faults.setdefault(answer.job, answer)
                if left:
                    return
                del self._parts[answer.job]
                answer = self._faults.pop(answer.job, answer)
        self._on_answer(answer)


def _part(request: RunRequest | TimelinesRequest, host: str) -> RunRequest | TimelinesRequest:
    """The picks of a request on one machine."""
    picks = tuple(pick for pick in request.picks if device_host(pick.device) == host)
    if isinstance(request, TimelinesRequest):
        return replace(request, picks=picks)
    return replace(request, picks=picks, occupancy_for=tuple(p for p in request.occupancy_for if not host))
