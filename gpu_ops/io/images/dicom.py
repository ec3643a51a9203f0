"""DICOM images and stacks of them, with pydicom, which belongs to the extra kernelscope[formats]."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gpu_ops.errors import InputError, plain
from gpu_ops.input_kinds import IMAGE
from gpu_ops.io.codec import codec
from gpu_ops.io.images import stored
from gpu_ops.io.images.frame_axes import of_series
from gpu_ops.io.images.pixel_size import make_pixel
from gpu_ops.io.inputs import Array, check_limit
from gpu_ops.io.opening import Decoded, Opening, Survey
from gpu_ops.io.stacks import decode_stack
from gpu_ops.types import Facts, FrameAxes, Pixel

MAGIC_AT, MAGIC = 128, b"DICM"
DEFLATED, RLE = "1.2.840.10008.1.2.1.99", "1.2.840.10008.1.2.5"
PLAIN = ("1.2.840.10008.1.2", "1.2.840.10008.1.2.1", "1.2.840.10008.1.2.2", DEFLATED)
"""Transfer syntaxes without compression of the picture; the last one compresses the whole file."""
GRAYS = ("MONOCHROME1", "MONOCHROME2", "PALETTE COLOR")
SCALED = "scaled"
"""A choice set by the program only: a slice is read as scaled, like its neighbours."""
Scale = tuple[float, float]
"""Slope and intercept."""
COLOURS = ("RGB", "YBR_FULL", "YBR_FULL_422", "YBR_ICT", "YBR_RCT")


def read_dicom(opening: Opening) -> Decoded:
    """(H, W) or (H, W, 3) in the stored type, or float32 where the file scales its values: one frame, or a projection.

    Values of MONOCHROME1 (low values white) are inverted, unless they are scaled: then they have a unit."""
    return decode_stack(open_dicom(opening), opening)


def open_dicom(opening: Opening) -> DicomStack:
    """The frames of a DICOM file. Raises InputError where pydicom is missing or cannot decode it."""
    return DicomStack(opening.path, opening.name, opening.limit, bool(opening.choices.get(SCALED)))


def look_dicom(opening: Opening) -> Survey:
    """Size, type, frames, storage of the values, pixel size."""
    stack = open_dicom(opening)
    facts = [("size", f"{IMAGE.size_text(stack.shape, ' × ')}, {stack.dtype}"), ("stored as", stack.stored_as)]
    if stack.facts.frames > 1:
        facts.insert(1, ("frames", f"{stack.facts.frames}"))
    if pixel := stack.facts.pixel:
        facts.append(("pixel", f"{pixel.x:g} × {pixel.y:g} {pixel.unit}"))
    return Survey("a DICOM image", tuple(facts), stack.facts.frames)


class DicomStack:
    """The frames of a DICOM file; each one is read separately, as far as the file allows. Frames of a `scaled` file are
    float32 even where their own scale is 1."""

    def __init__(self, path: Path, name: str, limit: int, scaled: bool = False) -> None:
        try:
            import pydicom
        except ImportError:
            raise InputError(
                f"{name} is DICOM, which needs the library pydicom; install kernelscope[formats]."
            ) from None
        self._path, self._name = path, name
        self._damaged = InputError(f"{name} is a damaged DICOM file; copy or save it again.")
        with codec(self._damaged):
            self._header = head = pydicom.dcmread(path, stop_before_pixels=True)
            syntax = head.file_meta.TransferSyntaxUID
            self._meaning = str(head.get("PhotometricInterpretation", ""))
            height, width = int(head.get("Rows", 0)), int(head.get("Columns", 0))
            samples, frames = int(head.get("SamplesPerPixel", 1)), int(head.get("NumberOfFrames", None) or 1)
            self._bits, self._stored_bits = int(head.get("BitsAllocated", 0)), int(head.get("BitsStored", 0) or 0)
            self._signed = bool(head.get("PixelRepresentation", 0))
            self._scales = find_scales(head, frames)
            self._table = bool(head.get("ModalityLUTSequence"))
            pixel = _find_pixel(head, frames)
            interval = float(head.get("FrameTime") or 0) / 1000
            syntax_name = plain(syntax.name, 60)
        if height < 1 or width < 1 or frames < 1:
            raise InputError(f"{name} holds no image, as DICOM reports and plans do; choose a file with one.")
        if self._meaning not in (*GRAYS, *COLOURS) or samples != (1 if self._meaning in GRAYS else 3):
            what = f"{samples} samples per pixel that mean {plain(self._meaning, 20)!r}"
            raise InputError(f"{name} holds {what}, which cannot be converted; save it as gray or RGB.")
        check_limit(name, height * width * samples, limit)
        if str(syntax) in PLAIN[:3]:
            self._check_size(height * width * samples * frames * self._bits // 8)
        self.stored_as = f"{self._meaning}, {self._stored_bits} bits, {syntax_name}"
        self._syntax, self._syntax_name, self._size = str(syntax), syntax_name, (height, width)
        axes = of_series([("T", frames)], frames, (interval, 0.0)) if 0 < interval < np.inf else FrameAxes()
        self.facts = Facts(frames, pixel, frame_axes=axes)
        self._scaled = scaled or any(scale is not None for scale in self._scales)
        self._first = self._convert(self._decode(0), 0)
        self.shape, self.dtype = self._first.shape, self._first.dtype
        self.steps = self._find_steps()

    def _check_size(self, needed: int) -> None:
        present = self._path.stat().st_size
        if present < needed:
            raise InputError(
                f"{self._name} is cut short: it has {present:,} bytes, its picture alone {needed:,}; "
                "copy or save it again."
            )

    def read(self, frame: int) -> Array:
        """One frame as `shape`, `dtype`."""
        return self._first.copy() if frame == 0 else self._convert(self._decode(frame), frame)

    def _decode(self, frame: int) -> Array:
        """The stored values of a frame; luminance-chrominance colours are converted to RGB."""
        from pydicom.pixels import pixel_array

        failure = self._damaged
        if self._syntax not in (*PLAIN, RLE):
            failure = InputError(
                f"{self._name} is compressed as {self._syntax_name}, which cannot be decoded here; "
                "save it as explicit VR little endian, or install pylibjpeg with its decoders."
            )
        with codec(failure):
            found = np.asarray(pixel_array(self._path, index=frame))
        if found.shape[:2] != self._size or found.dtype.kind not in "uif":
            raise self._damaged
        return found

    def _convert(self, values: Array, frame: int) -> Array:
        from pydicom.pixels import apply_color_lut, apply_modality_lut

        if self._meaning == "PALETTE COLOR":
            with codec(self._damaged):
                return np.ascontiguousarray(apply_color_lut(values, self._header))
        if self._table:
            with codec(self._damaged):
                return np.asarray(apply_modality_lut(values, self._header), np.float32)
        if self._scaled:  # all frames have one type, also those whose own scale is 1
            slope, intercept = self._scales[min(frame, len(self._scales) - 1)] or (1.0, 0.0)
            return np.asarray(values * np.float64(slope) + np.float64(intercept), np.float32)
        if self._bits == 1:
            values = values.astype(np.uint8) * np.uint8(255)
        if self._inverts(values.dtype):
            bits = max(self._stored_bits, 8)
            values = ~values if self._signed else stored.from_white_zero(values, bits)
        return np.ascontiguousarray(values, values.dtype.newbyteorder("="))

    def _inverts(self, dtype: np.dtype[Any]) -> bool:
        return self._meaning == "MONOCHROME1" and dtype.kind in "iu" and not self._scaled and not self._table

    def _find_steps(self) -> tuple[dict[str, Any], ...]:
        """The steps from the stored values to an image."""
        found: list[dict[str, Any]] = []
        if self._meaning == "PALETTE COLOR":
            return (stored.PALETTE,)
        if self._meaning.startswith("YBR"):
            found.append(stored.YCBCR)
        if self._table:
            found.append({"step": "rescale", "by": "table"})
        elif self._scaled:
            found.append(rescale_step(self._scales, "frame"))
        elif self._bits == 1:
            found.append(stored.stretch_step(1))
        if self._inverts(self.dtype):
            found.append(stored.WHITE_ZERO)
        return tuple(found)


def _groups(head: Any, sequence: str, frames: int) -> list[Any]:
    """For each frame the part of a header with the attributes of `sequence`: per frame, else shared by all frames; the
    header itself without either. The last one also applies to all later frames: a damaged header may claim billions of
    frames."""
    shared = head.get("SharedFunctionalGroupsSequence")
    inner = shared[0].get(sequence) if shared else None
    usual = inner[0] if inner else head
    each = [item.get(sequence) for item in (head.get("PerFrameFunctionalGroupsSequence") or ())[:frames]]
    return [*(own[0] if own else usual for own in each), *([usual] if len(each) < frames else [])]


def find_scales(head: Any, frames: int = 1) -> list[Scale | None]:
    """Slope and intercept of each frame, the last pair also for all later frames; None where they change nothing.
    Raises ValueError for impossible values."""
    parts = _groups(head, "PixelValueTransformationSequence", frames)
    found = {id(part): _scale_of(part) for part in parts}
    return [found[id(part)] for part in parts]


def _scale_of(part: Any) -> Scale | None:
    slope, intercept = part.get("RescaleSlope"), part.get("RescaleIntercept")
    scale = (1.0 if slope is None else float(slope), 0.0 if intercept is None else float(intercept))
    if not all(np.isfinite(scale)) or scale[0] == 0:
        raise ValueError(f"a scale of {scale}")
    return None if scale == (1.0, 0.0) else scale


def rescale_step(scales: Sequence[Scale | None], each: str) -> dict[str, Any]:
    """The step of rescaling by one scale, or by one for `each` frame or slice."""
    first = scales[0]
    if first is None or any(scale != first for scale in scales):
        return {"step": "rescale", "by": each}
    return {"step": "rescale", "slope": first[0], "intercept": first[1]}


def _find_pixel(head: Any, frames: int) -> Pixel | None:
    """The spacing of pixels in the patient, else on the detector; None where it differs between frames."""
    found = {tuple(part.get("PixelSpacing") or ()) for part in _groups(head, "PixelMeasuresSequence", frames)}
    if len(found) > 1:
        return None
    spacing = found.pop() or tuple(head.get("ImagerPixelSpacing") or ())
    return make_pixel(float(spacing[0]), float(spacing[1]), "mm") if len(spacing) == 2 else None
