"""Every wavelet with both borders, 1, 2 and 4 levels, gray and colour, at a size at which all levels take the fast way:
rows in whole fours, more columns than a warp has, and at every level twice as many rows as the wavelet has taps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any, NamedTuple

import pytest
from lanes import daily_subset

from gpu_ops.devices import open_device
from gpu_ops.filters import find_filter
from gpu_ops.filters.wavelet.bases import LENGTHS
from gpu_ops.filters.wavelet.forms import BORDERS
from gpu_ops.running.contract import Case, check_case, takes

FILTER = find_filter("wavelet2d")
LEVELS = 1, 2, 4
WARP = 132
"""Columns of which a warp has 128."""


class Setting(NamedTuple):
    """A wavelet, how it is used, and the channels of the image."""

    wavelet: str
    border: str
    levels: int
    channels: int

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the image: the last level begins with twice as many rows as there are taps, or more."""
        rows = LENGTHS[self.wavelet] << self.levels
        return (max(rows, 24), rows + WARP) + ((self.channels,) if self.channels > 1 else ())

    @property
    def operations(self) -> int:
        """Products of samples and taps of one level, about."""
        return self.shape[0] * self.shape[1] * self.channels * LENGTHS[self.wavelet]

    def __str__(self) -> str:
        colour = "colour" if self.channels > 1 else "gray"
        return f"{self.wavelet}-{self.border}-{self.levels}-{colour}"


SETTINGS = [Setting(*values) for values in product(LENGTHS, BORDERS, LEVELS, (1, 3))]


def failure(variant: str, setting: Setting, device: str, data: str) -> str:
    """What is wrong with the result of a variant; "" where nothing is, or where the variant refuses the setting."""
    params = {p.name: p.default for p in FILTER.params} | {"rule": "manual", "value": 0.1}
    params |= {"wavelet": setting.wavelet, "border": setting.border, "levels": setting.levels}
    chosen = FILTER.variant(variant)
    case = Case(setting.shape, "float32", data, params, {k.name: k.default for k in chosen.knobs})
    if not takes(FILTER, chosen, case, open_device(device).limits):
        return ""
    run = check_case(FILTER, chosen, case, device, {}, again=False)
    if run.failure or run.findings:
        return f"{variant} {case}: {run.failure} {[str(f) for f in run.findings]}"
    return "" if run.ok else f"{variant} {case}: {run.errors} {run.notes}"


def settings(
    count: int,
    more: int,
    wanted: Callable[[Setting], bool] = lambda setting: True,
    most: float = float("inf"),
) -> list[Any]:
    """All settings that are wanted, as a parametrisation: `count` of them a day in the default lane, `more` of the
    others in the thorough one, and in the full one the rest and those of more operations than `most`."""
    chosen = [s for s in SETTINGS if wanted(s)]
    quick = [s for s in chosen if s.operations <= most]
    full = [pytest.param(s, id=str(s), marks=pytest.mark.full) for s in chosen if s.operations > most]
    return [*daily_subset(quick, count, str, more), *full]


def wrong(variants: Mapping[str, str], setting: Setting, data: str = "random") -> list[str]:
    """What is wrong of these variants, each on its device; `data` as a case of the contract has it."""
    return [found for variant, device in variants.items() if (found := failure(variant, setting, device, data))]
