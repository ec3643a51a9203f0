"""The CUDA variants of wavelet denoising, and their plans: for each shift forward, thresholds, inverse."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gpu_ops.filters.kit.planning import BLOCK, Job, cuda
from gpu_ops.filters.kit.support import SHARED, shared_fits
from gpu_ops.filters.wavelet import forms
from gpu_ops.filters.wavelet.counts import lifted_traffic, traffic
from gpu_ops.filters.wavelet.cuda import blocks, levels, lifted, recomputed_blocks, warps
from gpu_ops.filters.wavelet.cuda.launches import Lines, Samples, Shape
from gpu_ops.filters.wavelet.cuda.levels import Levels
from gpu_ops.filters.wavelet.cuda.lifted import Lifted
from gpu_ops.filters.wavelet.cuda.noise import Thresholds
from gpu_ops.filters.wavelet.cuda.tiles import THERE, Fused, Tiles, shared_bytes
from gpu_ops.filters.wavelet.cuda.transform import Transform, Way
from gpu_ops.filters.wavelet.cuda.warp_strips import Rung
from gpu_ops.params import Param
from gpu_ops.plan import Copy, DeviceArray, Fill, Plan, Step
from gpu_ops.task import Task
from gpu_ops.types import Refusal, Variant

AROUND = ("wavelet/median.cu", "wavelet/thresholds.cu", "wavelet/risk.cu", "wavelet/shrink.cu", "wavelet/samples.cu")
"""The kernels around the transform, which all variants have."""
GLOBAL = "The source's port: one thread an output pair; it loads every tap and every sample from global memory."
CONSTANT = "All lanes need the same tap at once, so constant memory broadcasts it: a third of the loads remains."
SCATTER = "Inverse by scatter: each thread adds its coefficient pair to the samples it covers, with atomics."
TILES = "A block loads its samples and the halo once; both passes of an image exchange data in shared memory."
FUSED = "Thresholding is fused into the loads of the inverse transform: a read and a write of all details less."
LEVELS = "Approximations stay in shared memory, where a block computes the next levels: one launch for several levels."
LIFTING = "Filters factor into lifting steps that low and high share: half the multiplications, in place, in one tile."
SEVERAL = "several kernels, each launched for many bands: the loads of one block do not stand for the plan"


class Denoising:
    """The memory and the steps of one plan."""

    def __init__(self, job: Job, way: Way) -> None:
        self.job, task = job, job.task
        self.kind, self.shifts = forms.work_type(task), int(job.params["shifts"])
        self.parts = job.params["result"] == "parts"
        self.shape = Shape.of(task.meta)
        self.lines = Lines(job.device, self.kind, self.shape, job.knobs["block"])
        self.pyramid = job.device.empty(forms.pyramid_shape(task), self.kind)
        self.thresholds = Thresholds(job, self.lines, self.pyramid)
        memory = job, self.lines, self.pyramid, way
        self.transform: Transform
        if way.shrinks:
            fused = Levels if way.grouped else Lifted if way.lifted else Fused
            self.transform = fused(*memory, self.thresholds.figures)
        else:
            self.transform = (Tiles if way.in_tiles else Transform)(*memory)
        self.shrinks = not way.shrinks
        self.samples = Samples(self.lines, job.dtype)

    def plan(self) -> Plan:
        """Signals and images alike: the first shift is by 0, and its coefficients and thresholds are the outputs."""
        job, same = self.job, self.job.dtype == self.kind
        direct = same and self.shifts == 1
        back = job.out if direct else job.empty(self.kind)
        total = back if self.shifts == 1 else job.empty(self.kind)
        moved = job.x if direct else job.empty(self.kind)
        outputs: dict[str, DeviceArray] = {job.task.meta.kind: job.out}
        steps = self._gaps()
        for shift in range(self.shifts):
            x = job.x if same and shift == 0 else moved
            steps += [] if x is job.x else [self.samples.shift(job.x, x, shift)]
            steps += self.transform.forward(x)
            steps += self.thresholds.find(wanted=self.parts and shift == 0)
            if self.parts and shift == 0:
                kept = {"coefficients": self.pyramid, "figures": self.thresholds.figures}
                outputs |= {name: job.device.empty(array.shape, array.dtype) for name, array in kept.items()}
                steps += [Copy(outputs[name], array, f"keep the {name}") for name, array in kept.items()]
            steps += [*(self.thresholds.shrink() if self.shrinks else []), *self.transform.inverse(back)]
            steps += [self.samples.add(back, total, shift)] if self.shifts > 1 else []
        steps += [] if direct else [self.samples.finish(total, job.out, self.shifts)]
        if self.parts:
            outputs["noise"] = job.empty(forms.real_type(job.task))
            steps.append(self.samples.removed(job.x, total, outputs["noise"], self.shifts))
        return Plan(tuple(steps), outputs)

    def _gaps(self) -> list[Step]:
        """The parts of a pyramid that belong to no band are zeros where it is shown."""
        used = sum(math.prod(band.shape) for band in forms.bands_of(self.job.task)) * self.shape.channels
        return [Fill(self.pyramid, 0, "clear the gaps")] if self.parts and used < self.pyramid.size else []


def _planned(way: Way) -> Callable[[Job], Plan]:
    return lambda job: Denoising(job, way).plan()


def operations(task: Task) -> int:
    """Those of filters, and of what is around them."""
    return _counted(task, forms.work(task).flops)


def _counted(task: Task, filtering: int) -> int:
    return filtering + around(task)


def lifting_operations(task: Task) -> int:
    """Those of lifting steps, and of what is around them."""
    return lifted.operations(task) + around(task)


def around(task: Task) -> int:
    """Of all shifts, per coefficient a comparison, and what the rule needs: a digit of each byte to find the
    noise, a square for BayesShrink, the steps of a sort for SURE."""
    size, params = math.prod(forms.pyramid_shape(task)), task.params
    each = 1 + (0 if params["rule"] == "manual" and params["result"] == "result" else 2 * task.dtype.itemsize)
    each += {"BayesShrink": 4, "SURE": 45 + 2 * math.ceil(math.log2(size + 1))}.get(params["rule"], 0)
    return int(params["shifts"]) * each * size


def largest(task: Task) -> float:
    """The largest magnitude with which neither a coefficient nor the sum over the shifts overflows."""
    return forms.largest(task) / int(task.params["shifts"])


def _kernel(file: str, title: str, idea: str, way: Way, **own: Any) -> Variant:
    more: dict[str, Any] = {"operations": operations, "largest": largest, "source": "S0", "uncounted": SEVERAL}
    variant = cuda(f"wavelet/{file}.cu", title, idea, _planned(way), **{**more, **own})
    return replace(variant, kernels=(*variant.kernels, *AROUND))


def _shared(*refuses: Refusal) -> tuple[Variant, ...]:
    tiles: dict[str, Any] = {"supports": shared_fits(shared_bytes), "refuses": refuses}
    plain = _kernel("4_shared", "shared tiles", TILES, Way(in_tiles=True), **tiles)
    fused = _kernel("5_fused", "thresholds fused", FUSED, Way(in_tiles=True, fused=True), **tiles)
    kernels = (fused.kernels[0], THERE, *_without_shrinking(fused))
    return plain, replace(fused, kernels=kernels)


def _without_shrinking(fused: Variant) -> tuple[str, ...]:
    """The kernels around a transform that applies the thresholds itself."""
    return tuple(file for file in fused.kernels[1:] if file != "wavelet/shrink.cu")


def _grouped(*knobs: Param, refuses: tuple[Refusal, ...] = ()) -> Variant:
    more: dict[str, Any] = {"knobs": (BLOCK, levels.TOGETHER, *knobs), "supports": levels.supports, "refuses": refuses}
    more["predicts"] = traffic.of_levels
    variant = _kernel("6_levels", "levels together", LEVELS, Way(grouped=True), **more)
    return replace(variant, kernels=(variant.kernels[0], *_without_shrinking(variant)))


def _lifted(*knobs: Param) -> Variant:
    own: dict[str, Any] = {
        "operations": lifting_operations,
        "largest": lambda task: largest(task) / lifted.growth(task),
    }
    own |= {"tolerance": lifted.tolerance, "caveat": lifted.CAVEAT, "predicts": lifted_traffic.of_lifting}
    more: dict[str, Any] = {"knobs": (BLOCK, *knobs), "supports": lifted.supports, "refuses": (lifted.NO_STEPS,), **own}
    variant = _kernel("7_lifting", "lifting", LIFTING, Way(lifted=True), **more)
    return replace(variant, kernels=(variant.kernels[0], *_without_shrinking(variant)))


def variants1d() -> tuple[Variant, ...]:
    """The ladder of signals."""
    scatter = _kernel("3_scatter", "scatter", SCATTER, Way(scatters=True))
    fast = recomputed_blocks.variant("signal", largest, _counted), warps.registers(largest, _counted)
    return (*_separable(), scatter, *_shared(), _grouped(), _lifted(), blocks.variant(largest), *fast)


def variants2d() -> tuple[Variant, ...]:
    """The ladder of images."""
    tiled = _grouped(levels.TILE, refuses=(SHARED,)), _lifted(levels.TILE)
    strips = (warps.strips(rung, largest, _counted) for rung in Rung)
    fast = recomputed_blocks.variant("image", largest, _counted), *strips
    return (*_separable(), *_shared(SHARED), *tiled, blocks.variant(largest), *fast)


def _separable() -> tuple[Variant, ...]:
    return (
        _kernel("1_global", "global taps", GLOBAL, Way(in_constant=False)),
        _kernel("2_constant", "constant taps", CONSTANT, Way()),
    )
