"""The grids of all launches fit, however many rows, columns, channels or segments an input has: a grid has at most
65,535 blocks in y and in z. Nothing is computed, and no memory is needed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from lanes import variants_today
from recording import Recording, plan_of

from gpu_ops.devices.launches import GRID_LIMITS
from gpu_ops.filters import FILTERS
from gpu_ops.filters.fft.cuda.transform import Transforms
from gpu_ops.params import Param, Value
from gpu_ops.plan import Launch
from gpu_ops.running.contract import Case, takes, values_of
from gpu_ops.types import Filter, Variant

PAIRS = [(f, v) for f in FILTERS for v in f.variants if v.device == "cuda" and not v.library]
A_DAY = 20
SHAPES = {
    "image": ((2_100_001, 4), (4, 2_100_001), (2_100_001, 1), (1 << 21, 256), (500_000, 2, 3), (65_536, 4)),
    "signal": ((9_000_001,), (140_001, 64), (1 << 24,)),
}
LINES = {"image": ((70_001, 4), (1 << 17, 4), (4, 1 << 17, 4), (512, 512)), "signal": ((280_001,), (1 << 18, 2))}
"""Those of Fourier transforms, whose windows and masks are made. One has as few as the variants of two passes take."""


def least(param: Param) -> Value:
    """The least number, or the first choice."""
    if param.choices or isinstance(param.default, bool | str | tuple):
        return param.choices[0] if param.choices else param.default
    return param.default if param.low is None else param.check(param.low)


def settings(filter: Filter, variant: Variant) -> Iterator[tuple[dict[str, Value], dict[str, Value]]]:
    """Parameters and knobs: the defaults, or what makes least of a block, with each other value of one of them."""
    knobs = {p.name: p.default for p in variant.knobs}
    for params in ({p.name: p.default for p in filter.params}, {p.name: least(p) for p in filter.params}):
        yield params, knobs
        yield from (({**params, p.name: value}, knobs) for p in filter.params for value in values_of(p))
        yield from ((params, {**knobs, p.name: value}) for p in variant.knobs for value in values_of(p))
        yield params, {p.name: least(p) for p in variant.knobs}


def cases(filter: Filter, variant: Variant, device: Recording) -> Iterator[Case]:
    """Large inputs that the variant takes."""
    for shape in (LINES if filter.family.startswith("fft") else SHAPES)[filter.accepts]:
        for dtype in (filter.dtypes[0], filter.dtypes[-1]):
            for params, knobs in settings(filter, variant):
                case = Case(shape, dtype, "random", params, knobs)
                if takes(filter, variant, case, device.limits):
                    yield case


@pytest.mark.parametrize("filter, variant", variants_today(PAIRS, A_DAY))
def test_the_grids_of_large_inputs_fit(filter: Filter, variant: Variant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Transforms, "table", lambda self, make, n: self.device.empty((n,), self.dtype))
    device, large = Recording("sm_90"), list(cases(filter, variant, Recording("sm_90")))
    for case in large:
        for step in plan_of(filter, variant, case, device).steps:
            if isinstance(step, Launch):
                fits = all(1 <= n <= most for n, most in zip(step.grid, GRID_LIMITS, strict=True))
                assert fits, f"{step.name}, {step.grid}: {case}"
                assert np.prod(step.block) <= device.limits.threads_per_block
    assert large, "it takes some of them"
