"""Launches of kernels from elsewhere in a process of their own, which is ended at its limits: whatever a kernel or its
compilation does touches nothing else."""

from __future__ import annotations

import queue
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gpu_ops import processes
from gpu_ops.errors import KernelError, KernelscopeError, counted, plain, shortened

SERVE = "from gpu_ops.own_kernels.launch_process import serve; serve()"
Extents = tuple[int, int, int]
MiB = 1 << 20
GRACE = 1.5
"""Seconds after its limit until the process is ended: the kernel could not be stopped from within."""
ADDRESSES = 2 << 30
"""Bytes of addresses that libraries reserve without using them."""
MOST_PRINTED = 200
"""Lines of printf that are kept."""


@dataclass(frozen=True)
class Request:
    """A launch by the path of its file, with the limits of its process. `folder` is where the arrays are saved
    afterwards as NPY."""

    path: str
    kernel: str | None
    grid: Extents
    block: Extents
    arguments: Sequence[str]
    folder: str
    shared_bytes: int = 0
    includes: Sequence[str] = ()
    defines: Mapping[str, str] | None = None
    symbols: Mapping[str, str] | None = None
    architecture: str = "sm_75"
    seconds: float = 6.0
    mebibytes: float = 2048.0


@dataclass(frozen=True)
class Answer:
    """What a launch did: an X-ray's content (see engine.messages.XRayAnswer) and the arrays afterwards, by name with
    `changed` and the name of its `file`; or the `reason` why there is none, with the findings until then."""

    content: Mapping[str, Any] | None = None
    arrays: Mapping[str, Mapping[str, Any]] | None = None
    reason: str = ""
    findings: Sequence[str] = ()


class Launcher:
    """A process for one launch after another: it stays ready for the next one, and a new one takes the place of a
    process that has ended. `start`, then `poll` until it answers; `close` at the end."""

    def __init__(self) -> None:
        self._process = processes.LineProcess(SERVE)
        self._request: Request | None = None
        self._began = 0.0

    @property
    def busy(self) -> bool:
        return self._request is not None

    def start(self, request: Request) -> None:
        """Begin a launch; one that runs is stopped."""
        self.stop()
        self._request, self._began = request, time.monotonic()
        self._process.send(asdict(request))

    def poll(self, seconds: float = 0.0) -> Answer | None:
        """The answer, once; None while the kernel runs. Waits for it so many seconds."""
        request = self._request
        if request is None:
            return None
        name = plain(Path(request.path).name)
        try:
            answer = self._process.answers.get(timeout=seconds) if seconds else self._process.answers.get_nowait()
        except queue.Empty:
            if time.monotonic() - self._began < request.seconds + GRACE:
                return None
            self.stop()
            advice = "take a smaller launch, or look for a loop without end"
            return Answer(reason=f"{name} was ended after {request.seconds:g} s: {advice}.")
        if answer is None:
            how = self._process.exit_reason()
            self.stop()
            return Answer(reason=f"The process of {name} ended {how}.")
        self._request = None
        return Answer(**answer)

    def stop(self) -> None:
        """End what runs, whatever it is doing."""
        if self._request is not None:
            self._request = None
            self._process.end()
            self._process = processes.LineProcess(SERVE)

    def close(self) -> None:
        self._process.end()


# In that process


def serve() -> None:
    """Answer requests until the caller is gone."""
    requests, answers = processes.serving()
    from gpu_ops.own_kernels import launching  # noqa: F401, PLC0415 - while the first request is still written

    while True:
        processes.send(answers, asdict(_answer(Request(**requests.get()))))


def _answer(request: Request) -> Answer:
    try:
        return launch(request)
    except KernelscopeError as error:
        findings = error.findings if isinstance(error, KernelError) else ()
        return Answer(reason=shortened(str(error)), findings=[shortened(str(f)) for f in findings])
    except MemoryError:
        what = f"{plain(Path(request.path).name)} takes more than {request.mebibytes:g} MiB of memory"
        return Answer(reason=f"{what}; take smaller arrays or fewer blocks.")
    except Exception as error:  # a fault of ours ends this launch alone
        return Answer(reason=shortened(f"{type(error).__name__}: {error}"))


def launch(request: Request) -> Answer:
    """Run the launch under its limits and save its arrays. Raises what own_kernels.launching.simulate raises."""
    # Here, because the caller of this process needs none of it, and starts sooner without.
    from gpu_ops.explaining.comparison import sentences_json
    from gpu_ops.explaining.sentences import explain
    from gpu_ops.explaining.xray import as_dict
    from gpu_ops.own_kernels.arguments import summary
    from gpu_ops.own_kernels.launching import OwnLaunch, simulate
    from gpu_ops.own_kernels.sources import read_file
    from gpu_ops.progress import Limit, limited

    grid, block = ((int(x), int(y), int(z)) for x, y, z in (request.grid, request.block))
    nbytes = int(request.mebibytes * MiB)
    with processes.memory_limited(nbytes + ADDRESSES), limited(Limit(request.seconds, nbytes)):
        own = OwnLaunch(
            read_file(request.path, request.includes),
            request.kernel,
            grid,
            block,
            tuple(request.arguments),
            request.shared_bytes,
            request.defines or {},
            request.symbols or {},
        )
        found = simulate(own, request.architecture)
    assert found.xray is not None
    content = {
        **as_dict(found.xray),
        "title": found.xray.title,
        "sentences": sentences_json(explain(found.xray)),
        "sources": {f.file: f.text for k in found.xray.kernels for f in k.files},
    }
    printed = content["printed"]
    if len(printed) > MOST_PRINTED:
        more = counted(len(printed) - MOST_PRINTED, "more line")
        content["printed"] = [*printed[:MOST_PRINTED], f"… and {more}"]
    arrays = {}
    for place, (name, array) in enumerate(found.outputs.items()):
        file = f"{name if name.isidentifier() else place}.npy"
        np.save(Path(request.folder) / file, array, allow_pickle=False)
        arrays[name] = {**summary(array), "changed": name in found.changed, "file": file}
    return Answer(content, arrays)
