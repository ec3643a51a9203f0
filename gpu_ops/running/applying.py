"""One filter on one array, as a notebook calls it: the plan is kept, so that the next call only copies and runs."""

from __future__ import annotations

import warnings
from collections import OrderedDict, namedtuple
from collections.abc import Hashable, Sequence
from functools import cache, partial
from threading import RLock
from typing import Any

import numpy as np

from gpu_ops.devices import open_device
from gpu_ops.errors import DeviceMemoryError, KernelscopeError, ParamError, WrongResult, plain
from gpu_ops.filters import FILTERS
from gpu_ops.input_kinds import Kind
from gpu_ops.io.inputs import check_filled, check_rate, find_axes, find_kind
from gpu_ops.io.wrapped import About, Given, unwrap
from gpu_ops.params import check_values, nearest, with_current_names
from gpu_ops.running import kept_plans
from gpu_ops.running.reusable_plan import ReusablePlan
from gpu_ops.running.runner import runs_on
from gpu_ops.task import Meta
from gpu_ops.types import Filter, Variant, form_of_input

MOST_KEPT = 8
"""The most plans that are kept; the least recently used is dropped. Each keeps the memory of its input and its
outputs."""
SHARE_KEPT = 4
"""A plan is kept where its input and outputs take less than 1 / SHARE_KEPT of the free memory of its device."""
OWN = ("device", "variant", "kind", "rate", "output", "verify")
"""The names of `apply`'s own arguments: no parameter of a filter may have one of them."""
_kept: OrderedDict[Hashable, ReusablePlan] = OrderedDict()
_lock = RLock()


def apply(
    filter: str,
    array: Any,
    /,
    *,
    device: str | None = None,
    variant: str | None = None,
    kind: Kind | None = None,
    rate: float | None = None,
    output: str | None = None,
    verify: bool = False,
    **settings: Any,
) -> Any:
    """The result of a filter on an array, as in `apply("mean", image, window=5)`. It is a new array each time.

    `filter` is a family such as "mean", which takes a signal or an image by the array's shape, or a filter such as
    "mean1d". A signal is (N,) or (N, C), an image (H, W) or (H, W, C) with C = 1, 3 or 4, of uint8, uint16, float32 or
    float64; `kind` says what a two-dimensional array is, `rate` is in hertz. `settings` are the filter's parameters and
    the variant's knobs by name, as `kernelscope list` shows them.

    Without `device` an array on a GPU is processed there, and any other on the CPU; "cuda:0" copies it to that GPU and
    the result back, "sim" simulates one. The default `variant` is the last of the filter's own on that device that
    supports the array. The plan is kept for the next call of this form and these settings (`forget_plans` frees it).

    The result has the form of the argument: NumPy for NumPy, lists and an Input, CuPy on its device for CuPy, an array
    of the same library for one with DLPack, such as PyTorch. A DataArray, DataFrame or Series gives one with the same
    axes, names and index where the result is on the grid of the input, else with the axes of the result, such as
    frequencies in hertz. Several outputs are a named tuple, in the order below; `output` picks one. Units are those of
    the input except where noted.

    * mean, box, conv3x3, layout, wavelet: shape and type of the input (integers rounded); wavelet with result="parts"
      adds noise, coefficients and figures
    * scan: the shape of the input; reduce: a row for each figure, (rows,) or (rows, C)
    * histogram: counts (bins,) or (C, bins) and outside, below, above and NaN; result="statistics" adds those
    * fft: complex (N // 2 + 1, …) with sides="one"; result="magnitude" is magnitude, peaks, and peak_count, which says
      how many rows of peaks count; result="phase" in radians; fft_mask: image and spectrum

    With `verify` the result is compared with the float64 reference, which takes longer. Raises ParamError, InputError,
    DeviceError where the device is missing or full, KernelError, and WrongResult beyond the tolerance.
    """
    for name, value in (("filter", filter), ("device", device), ("variant", variant), ("output", output)):
        if not isinstance(value, str | None):
            raise ParamError(f"{name} must be a name, not {plain(repr(value), 60)}.")
    check_rate(rate)
    given = unwrap(array, rate)
    source, place = _placed(given, device)
    found = _filter_for(filter, tuple(source.shape), given.kind, kind)
    with _lock:
        kept = _plan_for(found, source, place, variant, given.rate if rate is None else rate, settings)
        return _results(kept, given, output, verify)


def _results(kept: ReusablePlan, given: Given, output: str | None, verify: bool) -> Any:
    """Run a plan with loaded samples, and return its outputs, or one of them, in the form of the argument."""
    names = [o.id for o in kept.outputs]
    if output is not None and output not in names:
        raise ParamError(f"{kept.filter.id} gives {', '.join(names)} with these settings, and no {output!r}.")
    try:
        kept.run()
    except KernelscopeError:
        _kept.clear()  # a device that failed has lost all its arrays
        raise
    wanted = [output] if output is not None else names
    results = {name: kept.result(name, given.on_gpu) for name in wanted}
    if verify:
        _verify(kept)
    results = {name: given.back(array, partial(_about, kept, name)) for name, array in results.items()}
    return results[wanted[0]] if len(wanted) == 1 else _results_type(kept.filter.id, tuple(wanted))(**results)


def forget_plans() -> None:
    """Release the memory of all plans that `apply` and live runs have kept."""
    kept_plans.forget()
    with _lock:
        _kept.clear()


def _filter_for(name: str, shape: tuple[int, ...], own: Kind | None, kind: Kind | None) -> Filter:
    """The filter of that id, or of that family for the requested `kind`, else for the array's `own`, else for that of
    its shape. Raises ParamError and InputError."""
    kinds = _kinds(name)
    if kind is None and len(kinds) != 1:
        kind = own or find_kind(shape, "the array")
    found = FILTERS.find(name, kind or kinds[0])
    if kind is not None and found.accepts != kind:
        raise ParamError(f"{found.id} takes a {found.accepts}, not a {kind}.")
    return found


@cache
def _kinds(name: str) -> tuple[Kind, ...]:
    """The kinds of input that a filter, or a family, takes; () for an unknown name."""
    return tuple(f.accepts for f in FILTERS if name == f.id) or tuple(f.accepts for f in FILTERS if name == f.family)


def _placed(given: Given, device: str | None) -> tuple[Any, str]:
    """The array and the device on which it is processed. Raises ParamError for another device than the array's."""
    if not given.on_gpu:
        array = given.array if given.array.dtype.isnative else given.array.astype(given.array.dtype.newbyteorder("="))
        return array, device or "cpu"
    from gpu_ops.devices.cuda.resident import view

    array = view(given.array)
    place = f"cuda:{array.device.id}"
    if device is not None and open_device(device).name != place:
        raise ParamError(f"The array is on {place}, not on {device}; leave device out, or copy the array to the host.")
    return array, place


def _plan_for(
    filter: Filter, source: Any, place: str, variant: str | None, rate: float | None, settings: dict[str, Any]
) -> ReusablePlan:
    """The kept plan loaded with this array; created if there is none. A plan that fails is dropped."""
    if source.dtype == bool and filter.accepts == "image":
        source = source.astype(np.uint8) * 255
    items = tuple(sorted((name, _hashable(value)) for name, value in settings.items()))
    key = (filter.id, tuple(source.shape), source.dtype, place, variant, rate, items)
    try:
        kept = _kept.pop(key, None)
        new = kept is None
        kept = kept or _new(filter, source, place, variant, rate, dict(items))
        kept.load(source, not isinstance(source, np.ndarray))
    except DeviceMemoryError:
        if not _kept:
            raise
        _kept.clear()  # the other plans take the memory
        return _plan_for(filter, source, place, variant, rate, settings)
    if not new or SHARE_KEPT * kept.nbytes <= kept.device.free_bytes():
        _kept[key] = kept
    while len(_kept) > MOST_KEPT:
        _kept.popitem(last=False)
    return kept


def _hashable(value: Any) -> Any:
    """A hashable value of a setting; of an array or of nested lists the numbers in one tuple."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list | tuple | np.ndarray):
        return tuple(np.ravel(value).tolist())
    return value if isinstance(value, Hashable) else repr(value)  # which no parameter takes


def _new(
    filter: Filter, source: Any, place: str, variant: str | None, rate: float | None, settings: dict[str, Any]
) -> ReusablePlan:
    """A new plan to keep, without samples yet. Raises ParamError and InputError."""
    device = open_device(place)
    if str(source.dtype) not in filter.dtypes:
        allowed = ", ".join(filter.dtypes)
        raise ParamError(
            f'{filter.id} takes {allowed}, the array is {source.dtype}: give numpy.asarray(array, "float32") or such.'
        )
    check_filled(tuple(source.shape), "the array")
    find_axes(tuple(source.shape), filter.accepts, "the array")
    params = {p.name: settings[p.name] for p in filter.params if p.name in settings}
    knobs = {name: value for name, value in settings.items() if name not in params}
    meta = Meta(filter.accepts, tuple(source.shape), str(source.dtype), rate=rate)
    if variant is not None and variant in filter.renamed:
        old, variant = variant, filter.today(variant, meta, params, knobs)
        warnings.warn(filter.renaming(old, variant), FutureWarning, stacklevel=2)
    variants = [filter.variant(variant)] if variant is not None else [v for v in filter.variants if not v.library]
    variants = [v for v in variants if runs_on(v, device.name)]
    if not variants:
        raise ParamError(
            f"{filter.id} {variant or ''} does not run on {device.name}; choose another device or variant."
        )
    having = [v for v in variants if {k.name for k in v.knobs} >= with_current_names(v.knobs, knobs).keys()]
    if not having:
        raise _unknown(filter, variants, knobs)
    return ReusablePlan(filter, having, device, meta, check_values(filter.params, params, filter.id), knobs)


def _unknown(filter: Filter, variants: Sequence[Variant], settings: dict[str, Any]) -> ParamError:
    """The error for settings that no single variant has as parameters and knobs."""
    names = [p.name for p in filter.params]
    knobs = list(dict.fromkeys(k.name for v in variants for k in v.knobs))
    odd = next((name for name in settings if name not in knobs), None)
    if odd is None:
        return ParamError(f"No variant of {filter.id} has {' and '.join(settings)} together; name one: variant=….")
    known = ", ".join([*names, *knobs, *OWN])
    return ParamError(f"{filter.id} has no parameter {odd!r}{nearest(odd, [*names, *knobs, *OWN])}; it takes {known}.")


def _verify(kept: ReusablePlan) -> None:
    """Raises WrongResult where an output is beyond its tolerance."""
    assert kept.variant is not None
    results = {o.id: kept.result(o.id, False) for o in kept.outputs}
    for name, error in kept.errors(results).items():
        if not error.ok:
            raise WrongResult(
                f"{kept.filter.id} {kept.variant.id} on {kept.device.name} is wrong: {name} is off by {error.max:.3g} "
                f"at {error.worst}, {error.relative:.2g} of its scale, and {error.tolerance:.2g} is allowed."
            )


def _about(kept: ReusablePlan, name: str) -> About:
    """The declaration of an output."""
    output = next(o for o in kept.outputs if o.id == name)
    form, own = output.form(kept.task), form_of_input(kept.task)
    return About(form, name, output.unit, form.shape == own.shape and form.axes == own.axes)


@cache
def _results_type(filter: str, names: tuple[str, ...]) -> Any:
    """The type of several results, with a field for each."""
    return namedtuple(f"{filter.title().replace('_', '')}Results", names)  # noqa: PYI024 - its fields are the filter's
