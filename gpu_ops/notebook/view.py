"""`view`: checks its arguments, and makes the widget."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from gpu_ops.errors import LibraryMissing, ParamError, plain
from gpu_ops.filters import FILTERS
from gpu_ops.input_kinds import Kind
from gpu_ops.io import from_array, load
from gpu_ops.io.inputs import check_rate
from gpu_ops.notebook.live import first_variants
from gpu_ops.running.runner import runs_on
from gpu_ops.types import Filter, Input
from gpu_ops.version import install

if TYPE_CHECKING:
    from gpu_ops.notebook.widget import View


def view(
    input: Any,
    filter: str,
    /,
    *,
    variants: Sequence[str] | None = None,
    device: str | None = None,
    kind: Kind | None = None,
    rate: float | None = None,
    **params: Any,
) -> View:
    """A view of a filter for a notebook – Jupyter, VS Code, marimo –, as in `view(image, "mean", window=5)`.

    `input` is the path of a file, an Input of `load` or `sample`, or an array as `apply` takes it; `kind` is that of an
    array or a file, `rate`, in hertz, that of an array. `filter` is a family such as "mean" or a filter such as
    "mean1d", and `params` are its first values. The view shows the input, the result of each of the `variants`, and the
    difference between two of them; the filter's parameters as controls; and the time of each variant, or what a
    simulated GPU counted. Without `variants` it has those that the window ticks at first. Each runs on `device` ("cpu",
    "cuda:0", "sim:sm_90"), or where it can: on the CPU, on a GPU, or on a simulated one.

    Everything runs in one engine process for all views. A change stops what runs, and the latest values win. `close`
    frees the memory, and the engine with the last view; of nine views the one that was opened first is closed. A
    notebook that is saved keeps the pictures as they were when the cell ran.

    Raises LibraryMissing without the extra "notebook", ParamError and InputError for what the filter does not take.
    """
    for name, value in (("filter", filter), ("device", device)):
        if not isinstance(value, str | None) or (name == "filter" and value is None):
            raise ParamError(f"{name} must be a name, not {plain(repr(value), 60)}.")
    check_rate(rate)
    if find_spec("anywidget") is None:
        raise LibraryMissing(
            f"A view needs anywidget, which is not installed: {install('notebook')}, and start the kernel anew."
        )
    given = _input(input, kind, rate)
    found = FILTERS.find(filter, given.kind)
    if found.accepts != given.kind:
        raise ParamError(f"{found.id} takes a {found.accepts}, and {plain(given.name)} is a {given.kind}.")
    ids = _variants(found, variants, device)
    from gpu_ops.notebook.widget import View

    return View(found, given, params, ids, device)


def _input(input: Any, kind: Kind | None, rate: float | None) -> Input:
    if isinstance(input, Input):
        if kind is not None and kind != input.kind:
            raise ParamError(f"{plain(input.name)} is a {input.kind} already; leave kind={kind!r} out.")
        return input
    if isinstance(input, str | os.PathLike):
        if rate is not None:
            raise ParamError("A file has its own rate; leave rate out, or load it and give from_array its array.")
        return load(input, kind=kind)
    return from_array(input, kind, rate=rate)


def _variants(filter: Filter, variants: Sequence[str] | None, device: str | None) -> list[str]:
    """The ids of the variants. Raises ParamError for an unknown one, and for those that do not run on the device."""
    if variants is None:
        first = first_variants(filter)
        return [id for id in first if device is None or runs_on(filter.variant(id), device)]
    ids = [variants] if isinstance(variants, str) else list(dict.fromkeys(variants))
    if not ids:
        raise ParamError(f"variants names none; choose from {', '.join(v.id for v in filter.all_variants)}.")
    for variant in map(filter.variant, ids):
        if device is not None and not runs_on(variant, device):
            raise ParamError(
                f"{filter.id} {variant.id} is a {variant.device} variant and does not run on {plain(device, 60)}; "
                f"leave device out, or name one of {variant.device}."
            )
    return ids
