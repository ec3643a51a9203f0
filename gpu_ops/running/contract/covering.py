"""Cases that cover every pair of choices in which both have an effect (pairwise testing).

A constant or an impulse hides faults, so a pair of shape, type, parameters and knobs counts with random data only;
other data are paired with each other choice. A parameter may have no effect with some values of others, such as the
edges of a range that is not given.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gpu_ops.errors import DeclarationError
from gpu_ops.filters.registry import home
from gpu_ops.input_kinds import ODD
from gpu_ops.plan import Limits
from gpu_ops.running.contract.cases import Case, builder, fits, takes
from gpu_ops.running.contract.choices import RANDOM, axes_of, needs_of
from gpu_ops.types import Filter, Rule, Variant

Array = np.ndarray[Any, Any]
TRIES = 40


def covering_cases(
    filter: Filter, variant: Variant, limits: Limits, seed: int = 0, most_work: float = math.inf
) -> list[Case]:
    """Cases in which every supported pair of choices (shape and dtype, border and block, …) occurs at least once, both
    with an effect.

    `most_work` excludes cases of more operations by the variant's or the filter's own count: a simulated GPU takes
    minutes for them. Raises DeclarationError where a rule of the variant wrongly says that it never supports a choice.
    """
    axes = axes_of(filter, variant)
    kept = _not_ruled_out(filter, variant, axes)
    random = np.random.default_rng(seed)
    pairs = Pairs(filter, axes, random)
    build = builder(filter, variant, axes)
    cases: list[Case] = []

    def cover(pair: Array, drawn: Array) -> bool:
        """Add a supported case with the pair, the one that covers most of the open pairs."""
        pairs.open[tuple(pair)] = False  # also where no supported case has both
        for indices in pairs.most_first(pair, drawn):
            case = build(indices.tolist())
            if not takes(filter, variant, case, limits):
                continue
            taken = {name: values[k] for (name, values), k in zip(axes.items(), indices, strict=True)}
            _check_never(filter, variant, taken, case)
            if fits(filter, variant, case, most_work):
                cases.append(case)
                pairs.close(indices)
                return True
        return False

    shape = TRIES, len(axes)
    every = pairs.all()
    missed = [p for p in every if pairs.open[tuple(p)] and not cover(p, random.integers(pairs.lengths, size=shape))]
    # A variant with few supported settings is rarely hit by chance: the second time only settings that no rule excludes
    # are drawn.
    missed = pairs.open_again(missed, kept)
    for pair in missed:
        if pairs.open[tuple(pair)]:
            cover(pair, np.stack([random.choice(places, TRIES) for places in kept], axis=1))
    return cases


class Pairs:
    """All pairs of choices of different axes, and which are still `open`. Choices are numbered consecutively; a case is
    a row of indices, one for each axis."""

    def __init__(self, filter: Filter, axes: Mapping[str, Sequence[Any]], random: np.random.Generator) -> None:
        self.random, self.lengths = random, np.array([len(values) for values in axes.values()])
        self.starts = np.cumsum(self.lengths) - self.lengths
        self.owner = np.repeat(np.arange(len(axes)), self.lengths)
        self.first, self.second = np.triu_indices(len(axes), 1)
        names, values = list(axes), list(axes.values())
        self.data, self.plain = names.index("data"), list(axes["data"]).index(RANDOM)
        self.needs: list[tuple[int, Array, int, Array]] = []
        self.open = self.owner[:, None] < self.owner[None, :]
        for need in needs_of(filter, axes):
            axis, other = names.index(need.axis), names.index(need.other)
            ours, allowed = (
                np.array([value in chosen for value in values[place]])
                for place, chosen in ((axis, need.choices), (other, need.allowed))
            )
            self.needs.append((axis, ours, other, allowed))
            without = np.ix_(self._numbers(axis, ours), self._numbers(other, ~allowed))
            self.open[without] = False
            self.open.T[without] = False

    def _numbers(self, axis: int, which: Array) -> Array:
        """The numbers of these choices of an axis."""
        numbers: Array = self.starts[axis] + np.flatnonzero(which)
        return numbers

    def all(self) -> list[Array]:
        """The open pairs, each the numbers of two choices."""
        return list(np.argwhere(self.open))

    def open_again(self, missed: Sequence[Array], kept: Sequence[Sequence[int]]) -> list[Array]:
        """Reopen those missed pairs whose choices are among the kept ones of their axes."""
        starts, owner = self.starts, self.owner
        again = [pair for pair in missed if all(n - starts[owner[n]] in kept[owner[n]] for n in pair)]
        self.open[tuple(np.array(again, int).reshape(-1, 2).T)] = True
        return again

    def most_first(self, pair: Array, drawn: Array) -> Array:
        """The drawn rows with the pair set, where it has an effect; those that cover most open pairs come first."""
        owners = self.owner[pair]
        drawn[:, owners] = pair - self.starts[owners]
        if self.data not in owners:
            drawn[:, self.data] = self.plain
        for axis, ours, other, allowed in self.needs:
            if axis in owners and other not in owners and ours[drawn[0, axis]] and allowed.any():
                bad = ~allowed[drawn[:, other]]
                drawn[bad, other] = self.random.choice(np.flatnonzero(allowed), int(bad.sum()))
        drawn = drawn[self._effective(drawn)[:, owners].all(axis=1)]
        numbers = drawn + self.starts
        still_open = self.open[numbers[:, self.first], numbers[:, self.second]]
        covered = (still_open & self._counting(drawn)).sum(axis=1)
        rows: Array = drawn[np.argsort(-covered, kind="stable")]
        return rows

    def close(self, indices: Array) -> None:
        """Remove the pairs of this case from the open ones."""
        counting = self._counting(indices[None])[0]
        numbers = indices + self.starts
        self.open[numbers[self.first[counting]], numbers[self.second[counting]]] = False

    def _effective(self, rows: Array) -> Array:
        """For each choice in some rows, whether it has an effect there."""
        effective = np.ones(rows.shape, bool)
        for axis, ours, other, allowed in self.needs:
            effective[:, axis] &= ~ours[rows[:, axis]] | allowed[rows[:, other]]
        return effective

    def _counting(self, rows: Array) -> Array:
        """For each pair of axes in some rows, whether it counts: both have an effect, and the data are random or of the
        pair."""
        effective = self._effective(rows)
        plain = (rows[:, self.data] == self.plain)[:, None]
        of_data = (self.first == self.data) | (self.second == self.data)
        counting: Array = effective[:, self.first] & effective[:, self.second] & (plain | of_data)
        return counting


def _not_ruled_out(filter: Filter, variant: Variant, axes: Mapping[str, Sequence[Any]]) -> list[list[int]]:
    """The indices of the choices of each axis that no rule of the variant always excludes. Raises DeclarationError for
    a rule that names no axis or choice."""
    for rule, name, value in _nevers(variant):
        if value not in axes.get(name, ()):
            tried = ", ".join(map(str, axes[name])) if name in axes else f"the axes {', '.join(axes)}"
            raise _mistake(filter, variant, rule, name, value, f"the contract tries {tried}; correct `never`")
    never = {(name, value) for _, name, value in _nevers(variant)}
    return [[i for i, v in enumerate(values) if (name, v) not in never] for name, values in axes.items()]


def _check_never(filter: Filter, variant: Variant, taken: Mapping[str, Any], case: Case) -> None:
    """Raises DeclarationError where a case with these choices by axis is supported, and a rule says that it never
    is."""
    for rule, name, value in _nevers(variant):
        if taken[name] == value:
            raise _mistake(filter, variant, rule, name, value, f"{case} is taken; correct `never` or `test`")


def _nevers(variant: Variant) -> Iterator[tuple[Rule, str, Any]]:
    """Each rule of the variant with each axis and choice that it always excludes."""
    for rule in variant.rules:
        for name, values in rule.never.items():
            yield from ((rule, name, value) for value in values)


def _mistake(filter: Filter, variant: Variant, rule: Rule, name: str, value: Any, why: str) -> DeclarationError:
    where, number = home(variant.plan), variant.rules.index(rule) + 1
    return DeclarationError(
        f"{where}: rule {number} of {filter.id} {variant.id} says that it never takes {name} {value}, and {why}."
    )


def each_setting(cases: Sequence[Case]) -> list[Case]:
    """A few of these cases, in which every dtype, kind of data, number of axes, and value of a parameter or knob that
    one of them has occurs at least once, and those with the fewest and the most elements."""
    by_size = sorted(cases, key=lambda case: math.prod(case.shape))
    ends = {id(by_size[0]): {"smallest"}, id(by_size[-1]): {"largest"}}
    return _covering([(case, _settings(case) | ends.get(id(case), set())) for case in cases])


def _covering(cases: Sequence[tuple[Case, set[Any]]]) -> list[Case]:
    """Cases that together have every value, chosen greedily: always the one with the most missing values."""
    missing = set().union(*(values for _, values in cases))
    chosen: list[Case] = []
    while missing:
        case, values = max(cases, key=lambda pair: len(missing & pair[1]))
        chosen.append(case)
        missing -= values
    return chosen


def _settings(case: Case) -> set[Any]:
    data = ODD if case.data in ODD else case.data  # one kind of odd data is enough
    plain = ("dtype", case.dtype), ("data", data), ("axes", len(case.shape))
    return {*plain, *case.params.items(), *case.knobs.items()}
