"""The CUDA variants of wavelet denoising, and their plans: for each shift forward, thresholds, inverse."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gpu_ops.filters.kit.planning import BLOCK, PlanContext, cuda
from gpu_ops.filters.kit.rules import shared_fits
from gpu_ops.filters.wavelet import forms
from gpu_ops.filters.wavelet.counts import lifted_traffic, traffic
from gpu_ops.filters.wavelet.cuda import blocks, levels, lifted, recomputed_blocks, warps
from gpu_ops.filters.wavelet.cuda.launches import Lines, Samples, Shape, counted, largest
from gpu_ops.filters.wavelet.cuda.levels import Levels
from gpu_ops.filters.wavelet.cuda.lifted import Lifted
from gpu_ops.filters.wavelet.cuda.noise import Thresholds
from gpu_ops.filters.wavelet.cuda.tiles import SHARED_FILE, Fused, Tiles, shared_bytes
from gpu_ops.filters.wavelet.cuda.transform import Transform, Way
from gpu_ops.input_kinds import Kind
from gpu_ops.params import Param, Values
from gpu_ops.plan import Copy, DeviceArray, Fill, Plan, Step
from gpu_ops.task import Task
from gpu_ops.types import Counts, Rule, Trial, Variant
from gpu_ops.variant import Trials

AROUND = ("wavelet/median.cu", "wavelet/thresholds.cu", "wavelet/risk.cu", "wavelet/shrink.cu", "wavelet/samples.cu")
"""The kernels around the transform, common to all variants."""
SHRUNK = tuple(file for file in AROUND if file != "wavelet/shrink.cu")
"""The same for a transform that applies the thresholds itself."""
GLOBAL = (
    "A direct port of the source: one thread per output pair; it loads every tap and every sample from global memory."
)
CONSTANT = "All lanes need the same tap at once, so constant memory broadcasts it: a third of the loads remains."
SCATTER = "Inverse by scatter: each thread adds its coefficient pair to the samples it covers, with atomics."
TILES = "A block loads its samples and the halo once; both passes of an image exchange data in shared memory."
FUSED = (
    "Thresholding is fused into the loads of the inverse transform, which saves one read and one write of all details."
)
LEVELS = "Approximations stay in shared memory, where a block computes the next levels: one launch for several levels."
LIFTING = "The filters factor into lifting steps: half the multiplications, in place, in one tile."
SEVERAL = "several kernels, each launched for many bands: one block is not representative of the plan"


class Denoising:
    """The memory and the steps of one plan."""

    def __init__(self, ctx: PlanContext, way: Way) -> None:
        self.ctx, task = ctx, ctx.task
        self.kind, self.shifts = forms.work_type(task), int(ctx.params["shifts"])
        self.parts = ctx.params["result"] == "parts"
        self.shape = Shape.of(task.meta)
        self.lines = Lines(ctx.device, self.kind, self.shape, ctx.knobs["block"])
        self.pyramid = ctx.device.empty(forms.pyramid_shape(task), self.kind)
        self.thresholds = Thresholds(ctx, self.lines, self.pyramid)
        memory = ctx, self.lines, self.pyramid, way
        self.transform: Transform
        if way.shrinks:
            fused = Levels if way.grouped else Lifted if way.lifted else Fused
            self.transform = fused(*memory, self.thresholds.figures)
        else:
            self.transform = (Tiles if way.in_tiles else Transform)(*memory)
        self.shrinks = not way.shrinks
        self.samples = Samples(self.lines, ctx.dtype)

    def plan(self) -> Plan:
        """Signals and images alike: the first shift is by 0, and its coefficients and thresholds are the outputs."""
        ctx, same = self.ctx, self.ctx.dtype == self.kind
        direct = same and self.shifts == 1
        restored = ctx.out if direct else ctx.empty(self.kind)
        total = restored if self.shifts == 1 else ctx.empty(self.kind)
        moved = ctx.x if direct else ctx.empty(self.kind)
        outputs: dict[str, DeviceArray] = {ctx.task.meta.kind: ctx.out}
        steps = self._gaps()
        for shift in range(self.shifts):
            x = ctx.x if same and shift == 0 else moved
            steps += [] if x is ctx.x else [self.samples.shift(ctx.x, x, shift)]
            steps += self.transform.forward(x)
            steps += self.thresholds.find(wanted=self.parts and shift == 0)
            if self.parts and shift == 0:
                kept = {"coefficients": self.pyramid, "figures": self.thresholds.figures}
                outputs |= {name: ctx.device.empty(array.shape, array.dtype) for name, array in kept.items()}
                steps += [Copy(outputs[name], array, f"keep the {name}") for name, array in kept.items()]
            steps += [*(self.thresholds.shrink() if self.shrinks else []), *self.transform.inverse(restored)]
            steps += [self.samples.add(restored, total, shift)] if self.shifts > 1 else []
        steps += [] if direct else [self.samples.finish(total, ctx.out, self.shifts)]
        if self.parts:
            outputs["noise"] = ctx.empty(forms.real_type(ctx.task))
            steps.append(self.samples.removed(ctx.x, total, outputs["noise"], self.shifts))
        return Plan(tuple(steps), outputs)

    def _gaps(self) -> list[Step]:
        """The parts of a pyramid that belong to no band are zeroed if it is an output."""
        used = sum(math.prod(band.shape) for band in forms.bands_of(self.ctx.task)) * self.shape.channels
        return [Fill(self.pyramid, 0, "clear the gaps")] if self.parts and used < self.pyramid.size else []


def _planned(way: Way) -> Callable[[PlanContext], Plan]:
    return lambda ctx: Denoising(ctx, way).plan()


def operations(task: Task) -> int:
    """The operations of filters, and of the other kernels."""
    return counted(task, forms.work(task).flops)


LINES, TALLER = 131_500, 1_060_000
"""Rows of an image of one column: more than a grid has blocks in y, of a row or of sixteen, also at the second level.
The finest band of the taller one has more parts than a block has threads."""


def _trials(kind: Kind, rows: int, knobs: Values, rules: Sequence[str] = ("BayesShrink", "SURE")) -> Trials:
    """Cases in which blocks loop over further lines, and parts of others, with these knobs."""
    params = {"wavelet": "db4", "levels": 1, "result": "parts"}
    shape = (TALLER,) if kind == "signal" else (TALLER, 1)
    found = [Trial(shape, "float32", "random", params | {"rule": rule}, knobs) for rule in rules]
    if kind == "image":
        shifted = params | {"rule": "universal", "shifts": 2}
        found.append(Trial((rows, 1), "uint8", "random", shifted, knobs))
    return lambda limits: tuple(found)


def _kernel(
    file: str,
    title: str,
    idea: str,
    way: Way,
    *rules: Rule,
    helpers: tuple[str, ...] = AROUND,
    knobs: tuple[Param, ...] = (BLOCK,),
    predicts: Callable[[Task], Mapping[str, int]] | None = None,
    trials: Trials,
) -> Variant:
    counts = Counts(uncounted=SEVERAL, predicts=predicts, operations=operations)
    how = f"wavelet/{file}.cu", title, idea, _planned(way)
    more: Any = {"helpers": helpers, "knobs": knobs, "counts": counts, "trials": trials}
    return cuda(*how, *rules, source="S0", largest=largest, **more)


def _lifting(trials: Trials, *sides: Param) -> Variant:
    return cuda(
        *("wavelet/7_lifting.cu", "lifting", LIFTING, _planned(Way(lifted=True)), lifted.HAS_STEPS),
        *((lifted.TILE_FITS,) if sides else ()),
        helpers=SHRUNK,
        knobs=(BLOCK, *sides),
        source="S0",
        trials=trials,
        largest=lambda task: largest(task) / lifted.growth(task),
        counts=Counts(
            uncounted=SEVERAL,
            predicts=lifted_traffic.of_lifting,
            operations=lambda task: counted(task, lifted.operations(task)),
        ),
        exactness=lifted.EXACTNESS,
    )


def variants(kind: Kind) -> tuple[Variant, ...]:
    """The ladder for signals or for images."""
    image, tile, fused = kind == "image", shared_fits(shared_bytes), Way(in_tiles=True, fused=True)
    sides = (levels.TILE,) if image else ()
    one_row = _trials(kind, LINES, {"block": 16})
    smallest = _trials(kind, TALLER, {"block": 32, **({"side": 16} if image else {})})
    scatter = _kernel("3_scatter", "scatter", SCATTER, Way(scatters=True), trials=one_row)
    return (
        _kernel("1_global", "global taps", GLOBAL, Way(in_constant=False), trials=one_row),
        _kernel("2_constant", "constant taps", CONSTANT, Way(), trials=one_row),
        *(() if image else (scatter,)),
        _kernel("4_shared", "shared tiles", TILES, Way(in_tiles=True), tile, trials=one_row),
        _kernel("5_fused", "thresholds fused", FUSED, fused, tile, helpers=(SHARED_FILE, *SHRUNK), trials=one_row),
        _kernel(
            *("6_levels", "levels together", LEVELS, Way(grouped=True), levels.FITS),
            helpers=SHRUNK,
            knobs=(BLOCK, levels.TOGETHER, *sides),
            predicts=traffic.of_levels,
            trials=smallest,
        ),
        _lifting(smallest, *sides),
        blocks.variant(kind),
        recomputed_blocks.variant(kind),
        *(warps.STRIPS if image else (warps.WARP_REGISTERS,)),
    )
