"""Arrays of other libraries, read by their protocols, and results converted back to the form of the argument.

No library is imported for this. Objects are recognised by their attributes: `dims` and `coords` (xarray), `index` and
`to_numpy` (pandas), `__cuda_array_interface__` or DLPack on a GPU (CuPy, PyTorch, Numba), `__array__` or DLPack on the
host, else anything that numpy.asarray accepts.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_ops.errors import InputError, plain
from gpu_ops.input_kinds import SIGNAL, Kind
from gpu_ops.output_kinds import Form
from gpu_ops.types import Input

CUDA_DLPACK = (2, 13)
"""kDLCUDA and kDLCUDAManaged of dlpack.h."""
TIME_NAMES = ("time", "t")
CHANNEL_NAMES = ("channel", "channels", "band", "bands", "c", "rgb")
SECONDS = {"s": 1.0, "sec": 1.0, "second": 1.0, "seconds": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
EVEN = 1e-3
"""The share by which steps of a time axis may differ, because decimal texts are rounded."""


@dataclass(frozen=True)
class About:
    """The description of a result: its form, the id and the unit of the output ("" for the unit of the input), and
    whether it is on the grid of the input (`over`)."""

    form: Form
    id: str
    unit: str
    over: bool


Back = Callable[[Any, Callable[[], About]], Any]
"""Called with the array of a result and its description; returns the result in the form of the argument."""


@dataclass(frozen=True, eq=False)
class Given:
    """An unwrapped argument: its `array` with the axes in this project's order, which is on a GPU if `on_gpu` is true;
    its kind, its rate in hertz and its name if it has them; the names of its channels. `back` converts a result to its
    form."""

    array: Any
    on_gpu: bool = False
    kind: Kind | None = None
    rate: float | None = None
    name: str = ""
    labels: tuple[str, ...] = ()
    back: Back = lambda array, about: array


def unwrap(given: Any, rate: float | None = None) -> Given:
    """Unwrap an object that contains an array. Its times are ignored if the `rate` is given. Raises InputError for a
    ragged array or uneven times."""
    if type(given) is np.ndarray:
        return Given(given)
    if isinstance(given, Input):
        return Given(given.array, False, given.kind, given.rate, given.name, given.facts.labels)
    if hasattr(given, "dims") and hasattr(given, "coords"):
        if hasattr(given, "data_vars"):
            raise InputError(f"A data set holds several arrays; choose one of {plain(', '.join(map(str, given)))}.")
        return _labelled(given, rate)
    if hasattr(given, "to_numpy") and hasattr(given, "index"):
        return _frame(given, rate)
    if on_gpu(given):
        return Given(given, True, back=_through_dlpack(given))
    return Given(_host_array(given), back=_through_dlpack(given))


def on_gpu(given: Any) -> bool:
    """Whether the object's memory is a CUDA device's."""
    if hasattr(given, "__cuda_array_interface__"):
        return True
    device = getattr(given, "__dlpack_device__", None)
    return device is not None and int(device()[0]) in CUDA_DLPACK


def on_host(given: Any, name: str) -> np.ndarray[Any, Any]:
    """A copy on the host of an array on a GPU. Raises InputError where its library cannot copy it."""
    for method in ("get", "cpu", "copy_to_host"):
        if hasattr(given, method):
            return np.asarray(getattr(given, method)())
    raise InputError(f"{name} is on a GPU, and {type(given).__name__} has no copy for the host; copy it there first.")


def _host_array(given: Any) -> np.ndarray[Any, Any]:
    if isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given):
        raise InputError("array has masked elements, which no filter leaves out; fill them first: array.filled(0).")
    try:
        if not hasattr(given, "__array__") and hasattr(given, "__dlpack__"):
            return np.from_dlpack(given)
        return np.asarray(given)
    except ValueError:
        raise InputError("array is not a regular array; give every row the same length.") from None


def _through_dlpack(given: Any) -> Back:
    """Results for a library that reads DLPack, such as PyTorch: in its own arrays, without a copy. For others they are
    unchanged: NumPy's from the host, CuPy's from a GPU."""
    library = type(given).__module__.partition(".")[0]
    take = getattr(sys.modules.get(library), "from_dlpack", None)
    if library in ("numpy", "cupy", "builtins") or not callable(take):
        return lambda array, about: array
    return lambda array, about: take(array)


# Arrays with named axes


def _labelled(given: Any, rate: float | None) -> Given:
    """An array in the form of xarray: time first, channels last. A result of the same shape keeps axes, coordinates,
    name and attributes; others have the axes of their form with coordinates."""
    dims = [str(dim) for dim in given.dims]
    time = next((dim for dim in given.dims if _is_time(given, dim)), None) if len(dims) < 3 else None
    kind: Kind | None = SIGNAL.id if time is not None or len(dims) == 1 else None
    if time is not None:
        order = (time, *(dim for dim in given.dims if dim != time))
    else:
        last = [dim for dim in given.dims if str(dim).lower() in CHANNEL_NAMES] if len(dims) == 3 else []
        order = (*(dim for dim in given.dims if dim not in last), *last)
    moved = given.transpose(*order) if order != tuple(given.dims) else given
    inner, name = unwrap(moved.data), "" if given.name is None else str(given.name)
    channels = order[-1] if (kind == SIGNAL.id and len(order) == 2) or str(order[-1]).lower() in CHANNEL_NAMES else None
    labels = _labels(given.coords[channels]) if channels is not None and channels in given.coords else ()
    if rate is None and kind == SIGNAL.id and order[0] in given.coords:
        rate = _rate_of(given.coords[order[0]], name)

    def back(array: Any, say: Callable[[], About]) -> Any:
        about = say()
        unit = about.unit
        if about.over:
            attributes = {**given.attrs, **({"units": unit} if unit else {})}
            made = type(given)(array, coords=moved.coords, dims=moved.dims, name=given.name, attrs=attributes)
            return made.transpose(*given.dims) if moved is not given else made
        units = {"units": unit or given.attrs["units"]} if unit or "units" in given.attrs else {}
        names, coords = _axes_of(about.form, labels)
        return type(given)(array, coords=coords, dims=names, name=about.id, attrs=units)

    return Given(inner.array, inner.on_gpu, kind, rate, name, labels, back)


def _is_time(given: Any, dim: Any) -> bool:
    return str(dim).lower() in TIME_NAMES or (dim in given.coords and given.coords[dim].values.dtype.kind in "mM")


def _axes_of(form: Form, labels: tuple[str, ...]) -> tuple[list[str], dict[str, Any]]:
    """The names of a form's axes, made unique, and their coordinates."""
    names: list[str] = []
    coords: dict[str, Any] = {}
    for axis, count in zip(form.named(labels).axes, form.shape, strict=True):
        name = axis.name if axis.name not in names else f"{axis.name} {len(names) + 1}"
        names.append(name)
        coords[name] = (name, axis.places(count), {"units": axis.unit} if axis.unit else {})
    return names, coords


def _labels(coordinate: Any) -> tuple[str, ...]:
    return tuple(str(value) for value in np.asarray(coordinate.values).reshape(-1))


def _rate_of(coordinate: Any, name: str) -> float | None:
    """The rate in hertz of a time coordinate: dates and durations, or numbers in a unit of time; floats without a unit
    named "time" count as seconds. None where it is not a time."""
    values, unit = np.asarray(coordinate.values), str(dict(coordinate.attrs).get("units", ""))
    if values.dtype.kind in "mM":
        return _even_rate(_seconds(values), name)
    if values.dtype.kind not in "uif" or (unit and unit not in SECONDS) or (not unit and values.dtype.kind != "f"):
        return None
    named = str(coordinate.name).lower() in TIME_NAMES
    return _even_rate(values * SECONDS.get(unit, 1.0), name) if unit or named else None


def _seconds(times: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Dates or durations as seconds since the first."""
    since: np.ndarray[Any, Any] = (times - times[:1]) / np.timedelta64(1, "s")
    return since


def _even_rate(seconds: np.ndarray[Any, Any], name: str) -> float | None:
    """The rate of samples at these times. Raises InputError where their steps differ."""
    if len(seconds) < 2:
        return None
    steps, mean = np.diff(seconds), (seconds[-1] - seconds[0]) / (len(seconds) - 1)
    if not (mean > 0 and np.all(np.abs(steps - mean) <= EVEN * mean)):
        raise InputError(
            f"The times of {plain(name or 'array')} are not even: steps from {steps.min():.6g} to {steps.max():.6g} s; "
            "resample it, or say rate= for samples that are even."
        )
    return float(1 / mean)


# Tables


def _frame(given: Any, rate: float | None) -> Given:
    """A pandas DataFrame or Series: a signal with a channel for each column. An index of dates or durations
    gives the rate. A result with as many rows keeps index and names."""
    columns = tuple(given.columns) if hasattr(given, "columns") else ()
    array = np.asarray(given.to_numpy())
    if array.dtype.kind not in "biuf":
        odd = [str(name) for name, kind in zip(columns, getattr(given, "dtypes", ()), strict=False) if _is_odd(kind)]
        which = f"the column {plain(odd[0], 60)} of the table" if odd else "the table"
        raise InputError(f"{which} holds no plain numbers ({array.dtype}); choose the columns that do, or convert it.")
    name, index = str(getattr(given, "name", None) or ""), np.asarray(given.index)
    if rate is None and index.dtype.kind in "mM":
        rate = _even_rate(_seconds(index), name)
    labels = tuple(map(str, columns))
    table = type(given) if columns else None

    def back(array: Any, say: Callable[[], About]) -> Any:
        about = say()
        if about.over:
            named = {"columns": given.columns} if table else {"name": given.name}
            return type(given)(array, index=given.index, **named)
        if array.ndim not in (1, 2):
            return array
        kind = table or type(given.to_frame())
        axes = about.form.named(labels).axes
        rows, *cells = (list(axis.places(n)) for axis, n in zip(axes, about.form.shape, strict=True))
        return kind(array.reshape(len(array), -1), index=rows, columns=cells[0] if cells else [about.id])

    return Given(array, False, SIGNAL.id, rate, name, labels, back)


def _is_odd(kind: Any) -> bool:
    return getattr(kind, "kind", "O") not in "biuf"
