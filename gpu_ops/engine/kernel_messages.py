"""Requests about kernels, shipped and edited, and the engine's answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gpu_ops.devices.sim.block_run.compared import BlockSteps
from gpu_ops.engine.shared import SharedInput
from gpu_ops.explaining.prediction.gpus import Gpu
from gpu_ops.explaining.prediction.launches import LaunchCounts
from gpu_ops.types import Pick


@dataclass(frozen=True)
class XRayRequest:
    """X-ray the kernels of a variant on a simulated GPU of an `architecture` such as "sm_75", whatever the pick's
    device, on the part of the input that is small enough for it. With `against`, a second variant is X-rayed on the
    same part, and the answer compares the two. `profile` is the path of a report of Nsight Compute to compare with, ""
    for none."""

    job: int
    input: SharedInput
    filter: str
    params: Mapping[str, Any]
    pick: Pick
    architecture: str
    against: Pick | None = None
    profile: str = ""


@dataclass(frozen=True)
class XRayAnswer:
    """The answer to XRayRequest: schema kernelscope-xray/1 with the "accesses" of each kernel, and also "title",
    "idea", "sentences" that explain it, "sources" {file: text}, the input's "name" and "whole" spatial shape, and
    "place", where the X-rayed part begins along each spatial axis ([] for the whole input). With `against` there is a
    "comparison" (see gpu_ops.explaining.comparison), or the "reason" why there is none; an edited kernel has the same
    with its own shipped one, "shipped". With a profile there are
    "profiles" (see gpu_ops.explaining.profiler), or "profile_reason" why there are none. For an edited kernel that
    does not compile or run there are only "broken", the reason, and "problems" (see gpu_ops.engine.xrays)."""

    job: int
    content: Mapping[str, Any]


@dataclass(frozen=True)
class PredictionRequest:
    """Count what the launches of each pick do on the whole input, as planned for a GPU by its id, such as "h100",
    whatever the pick's device. The window predicts times from the counts."""

    job: int
    input: SharedInput
    filter: str
    params: Mapping[str, Any]
    picks: tuple[Pick, ...]
    gpu: str


@dataclass(frozen=True)
class Counted:
    """The launches of one pick, or the `reason` why there are none; `recorded` are the seconds of the same job on the
    same GPU, if there are any."""

    launches: tuple[LaunchCounts, ...] = ()
    reason: str = ""
    recorded: float | None = None


@dataclass(frozen=True)
class PredictionAnswer:
    """The answer to PredictionRequest: what was `counted`, in the order of the picks."""

    job: int
    gpu: str
    counted: tuple[Counted, ...]


@dataclass(frozen=True)
class CliffsRequest:
    """Find the cliffs of a pick, whatever its device: compiled for each GPU that times are predicted for, and with
    other layouts of shared memory on a simulated GPU of an `architecture`, on the part of the input that is small
    enough."""

    job: int
    input: SharedInput
    filter: str
    params: Mapping[str, Any]
    pick: Pick
    architecture: str


@dataclass(frozen=True)
class CliffsAnswer:
    """The answer to CliffsRequest: see `gpu_ops.explaining.cliffs.targets.cliffs_dict`."""

    job: int
    content: Mapping[str, Any]


@dataclass(frozen=True)
class BlockRequest:
    """Record one block of a pick's kernel step by step on a simulated GPU of an `architecture`, whatever the pick's
    device, on the part of the input that is small enough. `launch` is the number of a launch of its plan, `place` the
    block; None for those that `gpu_ops.explaining.block_steps` chooses. With `other`, also in another order of its
    warps."""

    job: int
    input: SharedInput
    filter: str
    params: Mapping[str, Any]
    pick: Pick
    architecture: str
    launch: int | None = None
    place: tuple[int, int, int] | None = None
    other: bool = False


@dataclass(frozen=True, eq=False)
class BlockAnswer:
    """The answer to BlockRequest, with the `text` of the kernel's file."""

    job: int
    content: BlockSteps
    text: str


@dataclass(frozen=True)
class TrafficRequest:
    """Record what each pick fetches of the input, whatever its device, on a simulated GPU of an `architecture`, on the
    part of the input that is small enough for it. With `place` (row, column, …) in the whole input, the answer has the
    footprint of this element of the `output` too."""

    job: int
    input: SharedInput
    filter: str
    params: Mapping[str, Any]
    picks: tuple[Pick, ...]
    architecture: str
    output: str = ""
    place: tuple[int, ...] = ()


@dataclass(frozen=True)
class TrafficAnswer:
    """The answer to TrafficRequest: "start", where the part begins along each spatial axis ([] for the whole input),
    and "variants", for each pick: what `gpu_ops.explaining.traffic.content.traffic_dict` says, or "reason" why there is
    none; with a place also "footprint", or "footprint_reason", and "warps", the accesses of its warps, or
    "warps_reason"."""

    job: int
    content: Mapping[str, Any]


@dataclass(frozen=True)
class ContractRequest:
    """Compare the outputs of a pick with the reference in every case of its filter's contract, on the pick's device.
    Only its variant, device and edits matter."""

    job: int
    filter: str
    pick: Pick


@dataclass(frozen=True)
class ContractAnswer:
    """The answer to ContractRequest: whether every case was `right`, the number of cases in words, such as "90 of 90
    cases right", and the `first` fault."""

    job: int
    right: bool
    cases: str
    first: str


@dataclass(frozen=True)
class PageRequest:
    """Write an HTML file with the X-rays of the picks, whatever their devices, for every combination of the values in
    `over`, on the part of the input that a simulated GPU of an `architecture` runs (see gpu_ops.explaining.varied).
    With a `gpu` the times that are predicted for it too. `names` are those of edited files, by the shipped ones."""

    job: int
    input: SharedInput
    filter: str
    params: Mapping[str, Any]
    picks: tuple[Pick, ...]
    over: Mapping[str, tuple[str, ...]]
    architecture: str
    path: str
    gpu: Gpu | None = None
    names: Mapping[str, str] = field(default_factory=dict)
