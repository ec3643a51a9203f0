"""Files of named arrays that are read in parts: HDF5, and Zarr, a folder, of which OME-Zarr names the axes.

The libraries are those of the extra kernelscope[science]. An array is an image, a signal or a stack, by the rules of
NPY files; of an OME-Zarr the full resolution is read, and all axes before the last two are frames.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from gpu_ops.errors import InputError, ParamError, plain
from gpu_ops.input_kinds import IMAGE_CHANNELS
from gpu_ops.io.arrays import check_stack, is_stack
from gpu_ops.io.codec import codec
from gpu_ops.io.images.pixel_size import make_pixel
from gpu_ops.io.inputs import Array, check_file_shape, check_limit
from gpu_ops.io.known import kept_stack
from gpu_ops.io.memory import check_memory
from gpu_ops.io.opening import Decoded, Opening, Survey
from gpu_ops.io.signals.columns import chosen_rate, listed
from gpu_ops.io.stacks import Stack, decode_stack
from gpu_ops.types import Facts, Pixel
from gpu_ops.version import install

HDF5, ZARR = (".h5", ".hdf5"), ".zarr"
MOST = 1000
"""The most arrays of a file that are listed."""
TILE = 512
"""Rows and columns of a tile of a Zarr that is written."""
OME_VERSION = "0.5"
UNITS = {"nanometer": "nm", "micrometer": "µm", "millimeter": "mm", "centimeter": "cm", "meter": "m", "angstrom": "Å"}
"""OME's names of units of length."""


def is_zarr(file: Path) -> bool:
    """Whether a folder is a Zarr, by its name."""
    return file.suffix.lower() == ZARR and file.is_dir()


def is_store(path: str | Path) -> bool:
    """Whether a file is of these formats, whose values may need much more memory than the file has bytes."""
    return Path(path).suffix.lower() in (*HDF5, ZARR)


@dataclass(frozen=True)
class Stored:
    """An array of a file, of which parts are read: `lead` are the axes that are frames, () of one image or signal.
    With `planar` colours the channels are the first axis of each image. `pixel` and `rate` are None if unknown."""

    array: Any
    name: str
    lead: tuple[int, ...] = ()
    planar: bool = False
    pixel: Pixel | None = None
    rate: float | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one frame."""
        shape = tuple(map(int, self.array.shape[len(self.lead) :]))
        return (*shape[1:], shape[0]) if self.planar else shape

    @property
    def dtype(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = np.dtype(self.array.dtype).newbyteorder("=")
        return dtype

    def read(self, frame: int, start: int, stop: int) -> Array:
        """Rows of a frame, in C order. Raises InputError."""
        place: tuple[Any, ...] = tuple(map(int, np.unravel_index(frame, self.lead))) if self.lead else ()
        place += (slice(None),) if self.planar else ()
        with _decoding(self.name):
            values = np.asarray(self.array[(*place, slice(start, stop))])
        return np.ascontiguousarray(np.moveaxis(values, 0, -1) if self.planar else values, self.dtype)


@contextmanager
def _decoding(name: str) -> Iterator[None]:
    """For calls of the libraries: their errors become an InputError with the reason, such as an unknown codec."""

    def failure(error: Exception) -> InputError:
        if isinstance(error, InputError | ParamError):
            return error  # type: ignore[return-value]
        text = plain(str(error).replace("'", ""), 100)
        if "codec" in text.lower():
            advice = "install the package that has this codec beside zarr, or save it again with another one"
        else:
            advice = "it is damaged or cut short, or a newer kind: save it again"
        return InputError(f"{name} cannot be decoded ({text}); {advice}.")

    with codec(failure):
        yield


@contextmanager
def stored(path: Path, name: str, member: str = "", kind: str = "") -> Iterator[Stored]:
    """The array that `member` names, or the only one. Raises InputError without the library, for damaged files and
    where the choice is missing; ParamError for an array that is not there."""
    with _opened(path, name) as (members, ome):
        if not members:
            raise InputError(f"{name} holds no arrays of numbers; save some as integers or floats.")
        if not member and ome is not None:
            member = ome["path"]
        if not member and len(members) > 1:
            first = plain(next(iter(members)), 40)
            raise InputError(
                f"{name} holds {len(members)} arrays: {listed(list(members))}; add --member={first} or such."
            )
        member = member or next(iter(members))
        if member not in members:
            raise ParamError(f"{name} has no array {plain(member, 40)!r}; choose one of {listed(list(members))}.")
        yield _described(members[member], name, kind, ome if ome is not None and ome["path"] == member else None)


def _described(array: Any, name: str, kind: str, ome: Mapping[str, Any] | None) -> Stored:
    shape = tuple(map(int, array.shape))
    rate = array.attrs.get("rate")
    rate = float(rate) if isinstance(rate, int | float | np.number) and 0 < rate < math.inf else None
    if ome is not None and len(shape) >= 2:
        planar = ome["types"] == ["channel", "space", "space"] and shape[0] in IMAGE_CHANNELS
        lead = () if planar else shape[:-2]
        check_file_shape(shape[-2:], name)
        return Stored(array, name, lead, planar, ome["pixel"])
    if is_stack(shape, kind):
        return Stored(array, name, shape[:1])
    check_stack(shape, kind, name)
    check_file_shape(shape, name)
    return Stored(array, name, rate=rate)


@contextmanager
def _opened(path: Path, name: str) -> Iterator[tuple[dict[str, Any], Mapping[str, Any] | None]]:
    """The arrays of a file by name, and what OME says about its main one."""
    library = "zarr" if path.suffix.lower() == ZARR else "h5py"
    try:
        if library == "zarr":
            with _decoding(name):
                found = _zarr_arrays(path)
            yield found
        else:
            import h5py

            with _decoding(name):
                file = h5py.File(path, "r", locking=False)
            with file:
                with _decoding(name):
                    members = _hdf5_arrays(file)
                yield members, None
    except ImportError:
        raise InputError(f"{name} needs the library {library}; install it with: {install('science')}.") from None


def _hdf5_arrays(file: Any) -> dict[str, Any]:
    """The data sets of numbers in the file itself: not those that refer to other files."""
    import h5py

    found: dict[str, Any] = {}

    def visit(name: str, item: Any) -> bool | None:
        own = isinstance(item, h5py.Dataset) and not item.external and not item.is_virtual
        if own and item.dtype.kind in "biuf" and item.dtype.itemsize <= 8 and item.ndim and item.size:
            found[name] = item
        return True if len(found) >= MOST else None

    file.visititems(visit)
    return found


def _zarr_arrays(path: Path) -> tuple[dict[str, Any], Mapping[str, Any] | None]:
    import zarr

    root = zarr.open(path, mode="r")
    if isinstance(root, zarr.Array):
        return ({"array": root} if _is_numeric(root) else {}), None
    found = {name: item for name, item in _members(root) if _is_numeric(item)}
    return found, _ome(dict(root.attrs), found)


def _members(group: Any) -> Iterator[tuple[str, Any]]:
    for name, item in sorted(group.members(max_depth=None), key=lambda one: str(one[0])):  # it has no order of its own
        if hasattr(item, "chunks"):
            yield name, item


def _is_numeric(array: Any) -> bool:
    dtype = np.dtype(array.dtype)
    return dtype.kind in "biuf" and dtype.itemsize <= 8 and bool(array.shape) and 0 not in array.shape


def _ome(attributes: Mapping[str, Any], arrays: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The path of the full resolution, the types of its axes, and the size of its pixels; None where it is no OME-Zarr.
    By the specifications 0.4 and 0.5 of OME-NGFF."""
    try:
        several = attributes.get("ome", attributes)["multiscales"][0]
        axes, first = several["axes"], several["datasets"][0]
        types = [str(axis.get("type", "")) for axis in axes]
        if first["path"] not in arrays or len(axes) != len(arrays[first["path"]].shape) or len(axes) < 2:
            return None
        scales = [step["scale"] for step in first.get("coordinateTransformations", ()) if step.get("type") == "scale"]
        unit = UNITS.get(str(axes[-1].get("unit", "")), "")
        pixel = make_pixel(float(scales[0][-2]), float(scales[0][-1]), unit) if scales and unit else None
        return {"path": first["path"], "types": types, "pixel": pixel}
    except (LookupError, TypeError, ValueError, AttributeError):
        return None


class _StoredStack:
    """A Stack of the frames of an array. The file is opened for each frame."""

    def __init__(self, opening: Opening, first: Stored) -> None:
        self._opening, self.shape, self.dtype = opening, first.shape, first.dtype
        self.facts, self.steps = Facts(math.prod(first.lead), first.pixel), tuple[dict[str, Any], ...]()

    def read(self, frame: int) -> Array:
        with _chosen(self._opening) as one:
            values: Array = one.read(frame, 0, one.shape[0])
        return values


def _chosen(opening: Opening) -> Any:
    choices = opening.choices
    return stored(opening.path, opening.name, str(choices.get("member", "")), str(choices.get("kind") or ""))


def read_store(opening: Opening) -> Decoded:
    """The chosen array, or a frame of it. Raises InputError, ParamError."""
    with _chosen(opening) as one:
        if one.lead:
            how = opening.choices.get("member", ""), opening.choices.get("kind", "")
            stack: Stack = kept_stack(files_of_store(opening.path), how, lambda: _StoredStack(opening, one))
        else:
            count = math.prod(one.shape)
            check_limit(opening.name, count, opening.limit)
            check_memory(opening.name, count * one.dtype.itemsize)
            if opening.choices.get("frame", 0):
                raise ParamError(f"{opening.name} has shape {one.shape}, which is no stack; leave the frame out.")
            values = one.read(0, 0, one.shape[0])
            return Decoded(values, chosen_rate(opening) or one.rate, facts=Facts(pixel=one.pixel))
    return decode_stack(stack, opening)


def look_store(opening: Opening) -> Survey:
    """Names, shapes and types of the arrays; a choice is needed if there are several and none is the main one."""
    title = "a Zarr" if opening.path.suffix.lower() == ZARR else "an HDF5 file"
    with _opened(opening.path, opening.name) as (members, ome):
        rows = tuple(
            (plain(member, 60), " × ".join(map(str, one.shape)), str(one.dtype)) for member, one in members.items()
        )
        chosen = str(opening.choices.get("member", "")) or (ome["path"] if ome else "")
        found = {"member": next(iter(members))} if len(members) == 1 else {"member": chosen} if chosen else {}
        member = found.get("member", "")
        kind = str(opening.choices.get("kind") or "")
        main = _described(members[member], opening.name, kind, ome) if member in members else None
    facts = (("arrays", f"{len(members)}: {listed(list(members))}"),)
    how: Mapping[str, Any] = {"heading": ("array", "shape", "type"), "rows": rows}
    asks, frames = len(members) > 1 and not chosen, math.prod(main.lead) if main and main.lead else 1
    return Survey(title, facts, frames, {"member": tuple(members)}, found, asks, **how)


def files_of_store(path: Path) -> list[Path]:
    """All files of a store, in one order. Raises OSError."""
    return sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]


# Writing

WriteRows = Callable[[Array], None]


def write_hdf5(file: IO[bytes], array: Array, rate: float | None, name: str, about: str = "") -> None:
    """An array of numbers as the data set "data", with its rate in hertz and a description as attributes."""
    frames = array.shape[0] if is_stack(array.shape, "") else None
    with hdf5_rows(file, array.shape[1:] if frames else array.shape, array.dtype, frames, name, rate, about) as write:
        for part in array if frames else (array,):
            write(part)


@contextmanager
def hdf5_rows(
    file: IO[bytes],
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    frames: int | None,
    name: str,
    rate: float | None = None,
    about: str = "",
) -> Iterator[WriteRows]:
    """A function that writes the next rows of an array, or the next of so many frames. Raises InputError, OSError."""
    try:
        import h5py
    except ImportError:
        raise InputError(f"{name} needs the library h5py; install it with: {install('science')}.") from None
    try:
        with h5py.File(file.name, "w", locking=False) as store:
            whole = shape if frames is None else (frames, *shape)
            data = store.create_dataset("data", whole, dtype.newbyteorder("="))
            data.attrs.update({**({"rate": rate} if rate else {}), **({"description": about} if about else {})})
            yield _in_order(data, frames is not None)
    except (OSError, RuntimeError) as error:  # HDF5's own words take several lines, and closing has another error
        number = re.search(r"errno = (\d+)", str(error))
        if number is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1]))) from None


def _in_order(data: Any, by_frame: bool) -> WriteRows:
    place = 0

    def write(part: Array) -> None:
        nonlocal place
        count = 1 if by_frame else len(part)
        data[place : place + count] = part[None] if by_frame else part
        place += count

    return write


@contextmanager
def zarr_rows(
    folder: Path,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    frames: int | None,
    name: str,
    pixel: Pixel | None = None,
    about: str = "",
) -> Iterator[WriteRows]:
    """As `hdf5_rows`, as an OME-Zarr in a new folder: tiles are written as soon as their rows are there. Colours are
    channels before rows and columns, as OME orders axes."""
    try:
        import zarr
    except ImportError:
        raise InputError(f"{name} needs the library zarr; install it with: {install('science')}.") from None
    colours = shape[2:]
    whole = (*((frames,) if frames else ()), *colours, *shape[:2])
    tiles = (*(1 for _ in whole[:-2]), *(min(side, TILE) for side in shape[:2]))
    group = zarr.open_group(folder, mode="w", zarr_format=3)
    group.attrs.update({"ome": _ome_attributes(frames, colours, pixel), **({"description": about} if about else {})})
    data = group.create_array("0", shape=whole, chunks=tiles, dtype=dtype.newbyteorder("="))
    place, kept = 0, list[Array]()

    def flush(until: int) -> None:
        """Write the rows before `until`, counted over all frames."""
        nonlocal place, kept
        rows = np.concatenate(kept) if len(kept) > 1 else kept[0]
        part, kept = rows[: until - place], [rows[until - place :]]
        frame, row = divmod(place, shape[0])
        moved = np.moveaxis(part, -1, 0) if colours else part
        at = (*((frame,) if frames else ()), *(slice(None) for _ in colours), slice(row, row + len(part)))
        data[at] = moved
        place = until

    def write(part: Array) -> None:
        kept.append(part)
        there = place + sum(map(len, kept))
        while place < there:
            begin = place // shape[0] * shape[0]
            end = min(begin + ((place - begin) // TILE + 1) * TILE, begin + shape[0])
            if end > there:
                kept[:] = [np.array(one) for one in kept]  # the caller may use the memory again
                return
            flush(end)

    yield write


def _ome_attributes(frames: int | None, colours: tuple[int, ...], pixel: Pixel | None) -> dict[str, Any]:
    names = {unit: name for name, unit in UNITS.items()}
    unit = {"unit": names[pixel.unit]} if pixel is not None and pixel.unit in names else {}
    axes: list[dict[str, str]] = [{"name": "t", "type": "time"}] if frames else []
    axes += [{"name": "c", "type": "channel"}] if colours else []
    axes += [{"name": name, "type": "space", **unit} for name in "yx"]
    sides = [pixel.y, pixel.x] if pixel is not None and unit else [1.0, 1.0]
    scale = [*(1.0 for _ in axes[:-2]), *sides]
    datasets = [{"path": "0", "coordinateTransformations": [{"type": "scale", "scale": scale}]}]
    return {"version": OME_VERSION, "multiscales": [{"axes": axes, "datasets": datasets}]}
