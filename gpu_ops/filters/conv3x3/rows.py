"""The plan of the 3×3 convolution that loads 16-byte vectors and computes in registers."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_ops.devices.launches import grid2d
from gpu_ops.filters.conv3x3.arithmetic import Arithmetic
from gpu_ops.filters.conv3x3.plans import Passes
from gpu_ops.filters.kit.planning import PlanContext
from gpu_ops.filters.kit.registers import (
    PAIR_BYTES,
    VECTOR_BYTES,
    WARP,
    exchanges,
    in_pairs,
    launch_bound,
    row_step,
    rows_aligned,
    rows_of,
    values_across,
)
from gpu_ops.plan import DeviceArray, Launch, Plan


def rows(ctx: PlanContext) -> Plan:
    """A few rows of 16-byte vectors per thread."""
    passes = Passes(ctx, in_constant=True)
    division, magic = quotient(passes.how, ctx.dtype)
    taps = tap_bytes(passes.how) if division and ctx.dtype == np.uint8 else None
    row = ctx.columns, ctx.dtype.itemsize
    paired = in_pairs(*row, ctx.channels) if taps is not None else 0
    lines = rows_of(ctx.knobs["rows"], paired)
    kernel = passes.kernel(
        BORDER=ctx.border,
        CHANNELS=ctx.channels,
        ROWS=lines,
        THREADS=launch_bound(WARP * ctx.knobs["block_y"]),
        ALIGNED=rows_aligned(*row),
        ROW_STEP=row_step(*row),
        EXCHANGE=0 if paired else exchanges(*row, WARP),
        PAIRED=paired,
        BYTES=int(taps is not None),
        DIVISION=division,
    )
    constants = passes.constants if taps is None else {"taps": taps}
    across = WARP * VECTOR_BYTES if paired else values_across(*row, WARP)
    grid = grid2d(ctx.height, ctx.columns + PAIR_BYTES * paired, (across, passes.block[1] * lines))
    scalars = (*passes.finish, np.int32(magic), np.int32(ctx.height), np.int32(ctx.width))

    def step(source: DeviceArray, target: DeviceArray, name: str) -> Launch:
        return Launch(kernel, grid, passes.block, (source, target, *scalars), 0, constants, name=name)

    return ctx.plan(*passes.steps(step, passes.chain()))


def quotient(how: Arithmetic, dtype: np.dtype[Any]) -> tuple[int, int]:
    """How a sum is divided: (1, 0) by one; (2, magic) as the upper half of a product with magic, if that is exact for
    all sums whose quotient is a sample; (3, n) by 2^n; (0, 0) in any other way.

    With magic = ceil(2^32 / d) the product is n · 2^32 / d + n · e / d, e = magic · d - 2^32. Its upper half is floor(n
    / d) as long as n · e < 2^32, because n / d is at least 1 / d below the next integer. It grows with n, so the
    quotients of larger sums stay above the largest sample, and those of negative sums are negative.
    """
    if how.weights.dtype != np.int32:
        return 0, 0
    divisor = int(how.divisor)
    if divisor & (divisor - 1) == 0:
        return (3, divisor.bit_length() - 1) if divisor > 1 else (1, 0)
    most = (int(np.iinfo(dtype).max) + 1) * divisor - 1
    magic = -(-(2**32) // divisor)
    return (2, magic) if most < 2**31 and most * (magic * divisor - 2**32) < 2**32 else (0, 0)


def tap_bytes(how: Arithmetic) -> np.ndarray[Any, Any] | None:
    """Each column of weights as the bytes of an int32, the first lowest and the fourth zero; None if one exceeds a
    byte."""
    if np.any(how.weights != how.weights.astype(np.int8)):
        return None
    padded = np.zeros((3, 4), np.int8)
    padded[:, :3] = how.weights.reshape(3, 3).T
    return padded.view("<i4").reshape(3)
