"""All available filters, and the check of their declarations: each error message names the file and the remedy."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from string import Formatter
from typing import Any, overload

from gpu_ops.devices.kernel_source import KERNELS, is_source, keep_own
from gpu_ops.errors import DeclarationError, ParamError, plain
from gpu_ops.filters.kit.definition import reference_variant
from gpu_ops.filters.own import OwnVariant
from gpu_ops.params import Place, Ring, Threshold
from gpu_ops.types import Claim, Figure, Filter, Variant


class Registry(Sequence[Filter]):
    """The filters, in display order, each followed by the user's variants. `watchers` are called when these change."""

    def __init__(self, filters: Iterable[Filter]) -> None:
        checked = check_filters(filters)
        self._filters = self._shipped = tuple(replace(f, extras=(reference_variant(f),)) for f in checked)
        self._own: tuple[OwnVariant, ...] = ()
        self.watchers: list[Callable[[], object]] = []

    def __len__(self) -> int:
        return len(self._filters)

    @overload
    def __getitem__(self, place: int) -> Filter: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Filter, ...]: ...
    def __getitem__(self, place: int | slice) -> Filter | tuple[Filter, ...]:
        return self._filters[place]

    @property
    def families(self) -> list[str]:
        """The names on the command line, in order."""
        return list(dict.fromkeys(f.family for f in self._filters))

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Every claim of the sources, in the order of the filters."""
        return tuple(claim for filter in self._filters for claim in filter.claims)

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Every figure of the sources, in the order of the filters."""
        return tuple(figure for filter in self._filters for figure in filter.figures)

    @property
    def own(self) -> tuple[OwnVariant, ...]:
        """The user's variants, in the order in which they were added."""
        return self._own

    def named(self, name: str) -> list[Filter]:
        """The filters of that id or family. Raises ParamError that names all families."""
        found = [f for f in self._filters if name in (f.id, f.family)]
        if not found:
            raise ParamError(f"There is no filter {plain(name, 60)!r}; choose from {', '.join(self.families)}.")
        return found

    def find(self, name: str, kind: str | None = None) -> Filter:
        """The filter of that id, or of that family for an input of `kind`. Raises ParamError that names all
        families."""
        for filter in self._filters if kind is None else ():  # a window asks some hundred times a frame
            if filter.id == name:
                return filter
        found = self.named(name)
        for filter in found:
            if filter.id == name or filter.accepts == kind:
                return filter
        takes = " or ".join(f"{f.accepts} ({f.id})" for f in found)
        raise ParamError(f"{name} takes a {takes}, not a {kind}.")

    def set_own(self, own: Iterable[OwnVariant]) -> None:
        """Register these user variants in place of the former ones. Raises ParamError, and changes nothing, if one of
        them has no filter, or the id of another."""
        wanted = tuple(own)
        filters = {f.id: f for f in self._shipped}
        for one in wanted:
            if one.filter not in filters:
                raise ParamError(f"There is no filter {plain(one.filter, 60)!r}; choose from {', '.join(filters)}.")
            filter = filters[one.filter]
            if one.id in {v.id for v in filter.all_variants} | filter.renamed.keys():
                raise ParamError(f"{filter.id} has a variant {one.id!r} already; give yours another id.")
            filters[one.filter] = replace(filter, variants=(*filter.variants, one.of(filter)))
        for file in {one.file for one in self._own}:
            keep_own(file, None)
        for one in wanted:
            keep_own(one.file, one.text)
        self._filters, self._own = tuple(filters.values()), wanted
        for watcher in tuple(self.watchers):
            watcher()


def check_filters(filters: Iterable[Filter]) -> tuple[Filter, ...]:
    """The filters, if their declarations are correct. Raises DeclarationError."""
    result = tuple(filters)
    _check_unique("Two filters", [f.id for f in result], "gpu_ops/filters/__init__.py")
    for filter in result:
        for fault in (
            *_of_filter(filter),
            *_of_handles(filter),
            *(f for v in filter.variants for f in _of_variant(filter, v)),
        ):
            raise DeclarationError(fault)
    return result


def home(function: Any) -> str:
    """The file of a function, for a message: "gpu_ops/filters/box/plans.py"."""
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


def _of_handles(filter: Filter) -> Iterator[str]:
    """Errors in handles over outputs and in marks over them."""
    where, outputs, params = home(filter.reference), [o.id for o in filter.outputs], [p.name for p in filter.params]
    places = [p.name for p in filter.params if isinstance(p.handle, Place)]
    named = [(o.id, "marks", id, outputs) for o in filter.outputs if o.marks for id in o.marks.over]
    for who, handle in ((p.name, p.handle) for p in filter.params):
        if handle is None:
            continue
        named.append((who, "has a handle over", handle.over, outputs))
        if isinstance(handle, Ring):
            named += [(who, "is a ring about", handle.about, places)] if handle.about else []
            named += [(who, "is a ring beyond", handle.beyond, params)] if handle.beyond else []
        elif isinstance(handle, Place):
            named.append((who, "is a place with", handle.across, params))
        elif isinstance(handle, Threshold):
            named.append((who, "is a threshold with", handle.table, outputs))
    for who, verb, name, known in named:
        if name not in known:
            yield f"{where}: {who} of {filter.id} {verb} {name!r}; choose from {', '.join(known) or 'none'}."


def _of_variant(filter: Filter, variant: Variant) -> Iterator[str]:
    where, who = home(variant.plan), f"{filter.id} {variant.id}"
    for kernel in variant.kernels:
        if not is_source(kernel):
            yield f"{where}: {who} names the kernel file {kernel}, and gpu_ops/kernels has none; write it, or rename."
    if variant.device == "cuda" and not filter.end_to_end and bool(variant.kernels) == bool(variant.library):
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
