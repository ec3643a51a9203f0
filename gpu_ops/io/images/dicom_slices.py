"""A folder of DICOM slices: their order in the patient, and one value type for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gpu_ops.errors import InputError
from gpu_ops.io.codec import codec
from gpu_ops.io.images.dicom import Scale, find_scales, rescale_step
from gpu_ops.io.opening import Decoded
from gpu_ops.progress import advance

TAGS = (
    *("SeriesInstanceUID", "SeriesNumber", "InstanceNumber", "ImagePositionPatient", "ImageOrientationPatient"),
    *("RescaleSlope", "RescaleIntercept", "SharedFunctionalGroupsSequence", "PerFrameFunctionalGroupsSequence"),
)
NEAR = 1e-3
"""Millimetres below which two positions are the same."""
ORDER = "order"
"""The id of the step that records how slices are ordered."""
POSITION, NUMBER = "position", "instance number"


@dataclass(frozen=True)
class Slice:
    """The facts in a slice's header; the rest of the file is not read."""

    file: Path
    series: tuple[int, str]
    number: int | None
    position: tuple[float, ...]
    orientation: tuple[float, ...]
    scale: Scale | None


@dataclass(frozen=True)
class Slices:
    """The `files` in their order, which is `by` position, instance number or "" for their names; `distance` is that of
    neighbouring slices in millimetres, 0 where it varies. `scales` are those of the values."""

    files: tuple[Path, ...]
    by: str = ""
    distance: float = 0.0
    scales: tuple[Scale | None, ...] = ()

    @property
    def steps(self) -> tuple[dict[str, Any], ...]:
        """The step that records the order."""
        return ({"step": ORDER, "by": self.by},) if self.by else ()

    @property
    def scaled(self) -> bool:
        """Whether any slice is scaled."""
        return any(scale is not None for scale in self.scales)

    def named(self, decoded: Decoded) -> Decoded:
        """A slice whose rescaling step is replaced by that of all slices."""
        if not self.scaled:
            return decoded
        others = (step for step in decoded.steps if step["step"] != "rescale")
        return decoded._replace(steps=(*others, rescale_step(self.scales, "slice")))


def sort_slices(files: Sequence[Path]) -> Slices:
    """Slices by their position along the normal of their planes, where no two of a series have the same; else by their
    instance numbers; else in the given order. Slices of one series stay together. If a header cannot be read, all stay
    in the given order: the decoder will report why. Raises OSError."""
    found: list[Slice] = []
    for place, file in enumerate(files):
        advance(place, len(files))
        one = _read_slice(file)
        if one is None:
            return Slices(tuple(files))
        found.append(one)
    series: dict[tuple[int, str], list[Slice]] = {}
    for one in found:
        series.setdefault(one.series, []).append(one)
    ordered: list[Slice] = []
    ways, distances = set(), set()
    for key in sorted(series):
        slices, way, distance = _order(series[key])
        ordered += slices
        ways.add(way)
        distances.add(distance)
    by = next(iter(ways)) if len(ways) == 1 else ""
    distance = distances.pop() if len(distances) == 1 and len(series) == 1 else 0.0
    return Slices(tuple(one.file for one in ordered), by, distance, tuple(one.scale for one in ordered))


def _read_slice(file: Path) -> Slice | None:
    try:
        import pydicom
    except ImportError:
        return None
    try:
        with codec(InputError("unknown")):
            head = pydicom.dcmread(file, stop_before_pixels=True, specific_tags=list(TAGS))
            number, series = head.get("InstanceNumber"), head.get("SeriesNumber")
            return Slice(
                file,
                (0 if series is None else int(series), str(head.get("SeriesInstanceUID", ""))),
                None if number is None else int(number),
                tuple(float(n) for n in head.get("ImagePositionPatient") or ()),
                tuple(float(n) for n in head.get("ImageOrientationPatient") or ()),
                find_scales(head)[0],
            )
    except InputError:
        return None


def _order(slices: list[Slice]) -> tuple[list[Slice], str, float]:
    """The slices of one series in order, the sort key, and their distance."""
    places = _places(slices)
    if places is not None:
        order = np.argsort(places, kind="stable")
        gaps = np.diff(places[order])
        even = bool(np.ptp(gaps) <= max(NEAR, 1e-2 * gaps.mean())) if len(gaps) else False
        return [slices[k] for k in order], POSITION, float(gaps.mean()) if even else 0.0
    numbers = [one.number for one in slices if one.number is not None]
    if len(slices) > 1 and len(set(numbers)) == len(slices):
        return sorted(slices, key=lambda one: one.number or 0), NUMBER, 0.0
    return slices, "", 0.0


def _places(slices: Sequence[Slice]) -> np.ndarray[Any, Any] | None:
    """The position of each slice along the normal of their planes in millimetres, or without orientations along the
    axis in which they differ most; None where a slice has no position, or two have the same."""
    if len(slices) < 2 or any(len(one.position) != 3 for one in slices):
        return None
    positions = np.array([one.position for one in slices])
    orientations = [one.orientation for one in slices if len(one.orientation) == 6]
    if len(orientations) == len(slices) and np.ptp(np.array(orientations), axis=0).max() < NEAR:
        normal = np.cross(orientations[0][:3], orientations[0][3:])
        places = positions @ normal
    else:
        places = positions[:, int(np.ptp(positions, axis=0).argmax())]
    if not np.isfinite(places).all() or np.diff(np.sort(places)).min() < NEAR:
        return None
    return places
