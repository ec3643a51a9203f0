"""The launch of a kernel from elsewhere as the work of a process: its request and its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gpu_ops.errors import LimitReached, counted, plain
from gpu_ops.own_kernels.kernel_process import MEBIBYTES, SECONDS, piece

WORK = "gpu_ops.own_kernels.launches:launch"
Extents = tuple[int, int, int]
MOST_PRINTED = 200
"""Lines of printf that are kept."""


class Given(NamedTuple):
    """An array at the start of a file."""

    path: str
    shape: Sequence[int]
    dtype: str


@dataclass(frozen=True)
class Request:
    """A launch of the kernel file `name`, whose text and headers are in `texts`: see OwnLaunch; `given` are arrays that
    arguments may name. It is counted on a simulated GPU of that architecture; on a CUDA `device` it also runs, and is
    timed. `folder` is where the arrays are saved afterwards as NPY. The limits are those of each of the two."""

    name: str
    texts: Mapping[str, str]
    kernel: str | None
    grid: Extents
    block: Extents
    arguments: Sequence[str]
    folder: str
    shared_bytes: int = 0
    defines: Mapping[str, str] = field(default_factory=dict)
    device: str = "sim"
    architecture: str = "sm_75"
    seconds: float = SECONDS
    mebibytes: float = MEBIBYTES
    given: Mapping[str, Given] = field(default_factory=dict)
    cluster: Extents | None = None
    symbols: Mapping[str, str] = field(default_factory=dict)


def launch(request: dict[str, Any]) -> dict[str, Any]:
    """Do what a Request says, in this process. The result: `content` is that of an X-ray (see
    engine.messages.XRayAnswer), None where a limit was reached, which `uncounted` says; `arrays` are those after the
    launch, by name, with `changed`, the name of their `file`, and by how much they differ from those of the simulated
    GPU at most, where both ran; `time` is that of a CUDA device, in seconds. Raises what simulate and measure raise."""
    # Here, because the caller of this process needs none of it, and starts sooner without.
    from gpu_ops.devices import open_device
    from gpu_ops.own_kernels.launching import OwnLaunch, measure, simulate
    from gpu_ops.own_kernels.sources import OwnFile

    r = Request(**request)
    grid, block = _extents(r.grid), _extents(r.block)
    file = OwnFile(r.name, r.texts)
    given = {name: _mapped(*about) for name, about in r.given.items()}
    what = (file, r.kernel, grid, block, tuple(r.arguments), r.shared_bytes, r.defines, r.symbols)
    own = OwnLaunch(*what, given=given, cluster=r.cluster and _extents(r.cluster))
    limits = (r.seconds, r.mebibytes, False)
    measured = None
    if r.device != "sim":
        open_device(r.device)  # the driver's start is no part of the limit
        with piece(f"{plain(r.name)} on {r.device}", *limits, simulated=False):
            measured = measure(own, r.device)
    result: dict[str, Any] = {"content": None, "uncounted": "", "time": None}
    counted_run = None
    try:
        with piece(f"{plain(r.name)} on the simulated GPU", *limits):
            counted_run = simulate(own, r.architecture, code=True)
            result["content"] = _content(counted_run.xray)
    except LimitReached as error:
        if measured is None:
            raise
        result["uncounted"] = str(error)
    found = measured or counted_run
    assert found is not None
    result["arrays"] = _saved(found.outputs, found.changed, r.folder)
    if measured is not None and measured.timing is not None:
        t = measured.timing
        result["time"] = {"median": t.median, "q1": t.q1, "q3": t.q3, "samples": t.n, "clock": t.clock, "mode": t.mode}
        for name, about in result["arrays"].items():
            about["differs"] = counted_run and _difference(measured.outputs[name], counted_run.outputs[name])
    return result


def _extents(values: Sequence[int]) -> Extents:
    x, y, z = values
    return x, y, z


def _mapped(path: str, shape: Sequence[int], dtype: str) -> np.ndarray[Any, Any]:
    return np.memmap(path, np.dtype(dtype), "r", shape=tuple(shape))


def _content(found: Any) -> dict[str, Any]:
    from gpu_ops.explaining.comparison import sentences_json
    from gpu_ops.explaining.sentences import explain
    from gpu_ops.explaining.xray import as_dict

    content = {
        **as_dict(found),
        "title": found.title,
        "sentences": sentences_json(explain(found)),
        "sources": {f.file: f.text for k in found.kernels for f in k.files},
    }
    printed = content["printed"]
    if len(printed) > MOST_PRINTED:
        more = counted(len(printed) - MOST_PRINTED, "more line")
        content["printed"] = [*printed[:MOST_PRINTED], f"… and {more}"]
    return content


def _saved(outputs: Mapping[str, Any], changed: frozenset[str], folder: str) -> dict[str, dict[str, Any]]:
    from gpu_ops.own_kernels.arguments import summary

    arrays = {}
    for place, (name, array) in enumerate(outputs.items()):
        file = f"{name if name.isidentifier() else place}.npy"
        np.save(Path(folder) / file, array, allow_pickle=False)
        arrays[name] = {**summary(array), "changed": name in changed, "file": file}
    return arrays


def _difference(one: Any, other: Any) -> float | None:
    """The largest difference of two arrays of numbers; None for structures. NaN equals NaN, and infinity itself."""
    if one.dtype.kind == "V":
        return None
    wide = np.complex128 if one.dtype.kind == "c" else np.longdouble if one.dtype.kind in "iu" else np.float64
    a, b = one.astype(wide), other.astype(wide)
    apart = ~((a == b) | (np.isnan(a) & np.isnan(b)))
    return float(np.abs(a - b)[apart].max()) if apart.any() else 0.0
