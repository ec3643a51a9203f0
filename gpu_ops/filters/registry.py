"""Checks the declarations of filters: each mistake becomes a sentence that names the file and the remedy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from string import Formatter
from typing import Any

from gpu_ops.devices.kernel_source import KERNELS
from gpu_ops.errors import DeclarationError
from gpu_ops.types import Filter, Variant


def check_filters(filters: Iterable[Filter]) -> tuple[Filter, ...]:
    """The filters, if their declarations are right. Raises DeclarationError."""
    result = tuple(filters)
    _check_unique("Two filters", [f.id for f in result], "gpu_ops/filters/__init__.py")
    for filter in result:
        for fault in (*_of_filter(filter), *(f for v in filter.variants for f in _of_variant(filter, v))):
            raise DeclarationError(fault)
    return result


def home(function: Any) -> str:
    """The file of a function, for a sentence: "gpu_ops/filters/box/plans.py"."""
    while isinstance(function, partial):
        function = next((a for a in function.args if callable(a)), function.func)
    module = getattr(function, "__module__", "") or "gpu_ops.filters"
    path = Path(*module.split("."))
    inside = KERNELS.parent.parent / path
    return f"{path.as_posix()}/__init__.py" if inside.is_dir() else f"{path.as_posix()}.py"


def _check_unique(what: str, names: list[str], where: str) -> None:
    duplicates = [name for name in names if names.count(name) > 1]
    if duplicates:
        raise DeclarationError(f"{what} in {where} are called {duplicates[0]!r}; rename one.")


def _of_filter(filter: Filter) -> Iterator[str]:
    where, variants = home(filter.reference), [v.id for v in filter.variants]
    _check_unique(f"Two variants of {filter.id}", variants, where)
    _check_unique(f"Two parameters of {filter.id}", [p.name for p in filter.params], where)
    _check_unique(f"Two outputs of {filter.id}", [o.id for o in filter.outputs], where)
    if not variants or variants[0] != "serial":
        yield f"{where}: the first variant of {filter.id} must be serial, which the others are held against; add one."
    for name in (n for n in filter.picked if n not in variants):
        yield f"{where}: {filter.id} picks the variant {name!r}, and has {', '.join(variants)}; correct `picked`."
    names = [p.name for p in filter.params]
    for what, when in (*((p.name, p.when) for p in filter.params), *((o.id, o.when) for o in filter.outputs)):
        for name in (n for n in when if n not in names):
            yield f"{where}: {what} of {filter.id} matters with {name!r}; its parameters are {', '.join(names)}."
    for old, successors in filter.renamed.items():
        for new in (s.variant for s in successors if s.variant not in variants or old in variants):
            yield f"{where}: {filter.id} renames {old!r} to {new!r}, and has {', '.join(variants)}; correct `renamed`."
    if not filter.given({p.name: p.default for p in filter.params}):
        yield f"{where}: the default parameters of {filter.id} ask for no output; change a default or a `when`."
    for preset, values in filter.presets.items():
        for name in (n for n in values if n not in names):
            yield f"{where}: the preset {preset!r} of {filter.id} sets {name!r}; its parameters are {', '.join(names)}."


def _of_variant(filter: Filter, variant: Variant) -> Iterator[str]:
    where, who = home(variant.plan), f"{filter.id} {variant.id}"
    for kernel in variant.kernels:
        if not (KERNELS / kernel).is_file():
            yield f"{where}: {who} names the kernel file {kernel}, and gpu_ops/kernels has none; write it, or rename."
    if variant.device == "cuda" and bool(variant.kernels) == bool(variant.library):
        yield f"{where}: {who} runs on CUDA; name its kernel files or its library, not both."
    if variant.kernels and bool(variant.counts.accesses) == bool(variant.counts.uncounted):
        yield f"{where}: {who} has kernels; declare its accesses, or say in `uncounted` why they are not counted."
    if variant.exactness and not variant.exactness.caveat:
        yield f"{where}: {who} widens the tolerance; say why in its caveat."
    for name in {k.name for k in variant.knobs} & {p.name for p in filter.params}:
        yield f"{where}: {who} has a knob {name!r}, which is a parameter of {filter.id} as well; rename the knob."
    texts = [rule.words for rule in variant.rules]
    known = ["found", "meta", "limits", *(p.name for p in (*filter.params, *variant.knobs))]
    for text in texts:
        if texts.count(text) > 1:
            yield f"{where}: two rules of {who} say {text!r}; make them one, or say what tells them apart."
        for name in _names_in(text) - set(known):
            yield f"{where}: a rule of {who} names {name!r} in {text!r}; it may name {', '.join(known)}: correct it."


def _names_in(text: str) -> set[str]:
    """The names in the braces of a text, without their parts."""
    return {re.split(r"[.\[]", name)[0] for _, name, *_ in Formatter().parse(text) if name is not None}
