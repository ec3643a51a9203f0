"""The Fourier transform: the spectrum of a signal, of an image, and an image without some of its frequencies."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gpu_ops.filters.fft import batch, forms, outputs, parameters, reference
from gpu_ops.filters.fft.counts import claims, figures
from gpu_ops.filters.fft.cpu import batch as batch_host
from gpu_ops.filters.fft.cpu import host, peers
from gpu_ops.filters.fft.cpu.plans import plan1d, plan2d, plan_mask
from gpu_ops.filters.fft.cuda import batch as batch_gpu
from gpu_ops.filters.fft.cuda import fast_image, fast_signal, long_signal, three_step, two_passes
from gpu_ops.filters.fft.cuda import variants as gpu
from gpu_ops.input_kinds import INPUT_KINDS, Kind
from gpu_ops.params import holds
from gpu_ops.task import Successor, Task
from gpu_ops.types import DTYPES, Filter, Locality, Output, Work

PICKED = ("serial", "parallel", "global", "shared", "registers")
SHOWS = ("l2_bytes", "bank_conflicts", "launches")


def work1d(task: Task) -> Work:
    """Minimum work: the signal is read once, the results are written once, one real transform per segment; two for a
    round trip."""
    cut = forms.Cut.of(task)
    return _work(task, outputs.OUTPUTS1D, cut.count * cut.length * cut.channels, cut.length)


def work2d(task: Task) -> Work:
    """Minimum work: the image is read once, the results are written once, one real transform; two for a round trip."""
    return _work(task, outputs.OUTPUTS2D, task.meta.size, task.meta.shape[0] * task.meta.shape[1])


def work_mask(task: Task) -> Work:
    """Minimum work: the image is read once, the results are written once, one real transform forward and one
    inverse."""
    forward = _work(task, outputs.OUTPUTS_MASK, task.meta.size, task.meta.shape[0] * task.meta.shape[1])
    return Work(forward.bytes_read, forward.bytes_written, 2 * forward.flops)


def _work(task: Task, all_outputs: Sequence[Output], values: int, length: int) -> Work:
    """Operations of real transforms of `length` over that many values in total: half the 5 N log2 N of complex ones."""
    given = [o.form(task) for o in all_outputs if holds(o.when, task.params)]
    written = sum(math.prod(form.shape) * np.dtype(form.dtype).itemsize for form in given)
    transforms = 2 if task.params.get("result") == "round trip" else 1
    return Work(task.meta.nbytes, written, transforms * round(2.5 * values * math.log2(max(length, 2))))


FFT1D = Filter(
    id="fft1d",
    family="fft",
    title="Fourier transform (signal)",
    summary="The spectrum of a signal, channel by channel: amplitudes, power density, phase, spectrogram, peaks.",
    accepts="signal",
    dtypes=DTYPES,
    params=parameters.PARAMS1D,
    outputs=outputs.OUTPUTS1D,
    reference=reference.reference1d,
    work=work1d,
    locality=Locality("global"),
    check=parameters.check1d,
    source="S2",
    finite_only=True,
    shows=SHOWS,
    picked=(*PICKED, "fast", "four_step", "three_step"),
    variants=(
        *host.variants(plan1d),
        *gpu.variants("signal"),
        fast_signal.VARIANT,
        long_signal.VARIANT,
        three_step.VARIANT,
        *peers.GPU1D,
    ),
)
FFT2D = Filter(
    id="fft2d",
    family="fft",
    title="Fourier transform (image)",
    summary="The spectrum of an image, channel by channel: amplitudes, levels in dB, density, phase, profile, peaks.",
    accepts="image",
    dtypes=DTYPES,
    params=parameters.PARAMS2D,
    outputs=outputs.OUTPUTS2D,
    reference=reference.reference2d,
    work=work2d,
    locality=Locality("global"),
    source="S2",
    finite_only=True,
    shows=SHOWS,
    picked=(*PICKED, "fast"),
    variants=(*host.variants(plan2d), *gpu.variants("image"), two_passes.VARIANT, fast_image.VARIANT, *peers.GPU2D),
)
FFT_MASK = Filter(
    id="fft_mask",
    family="fft_mask",
    title="Frequency mask",
    summary="An image without some of its frequencies: low, high or band pass, or without one pattern (notch).",
    accepts="image",
    dtypes=DTYPES,
    params=parameters.PARAMS_MASK,
    outputs=outputs.OUTPUTS_MASK,
    reference=reference.reference_mask,
    work=work_mask,
    locality=Locality("global"),
    check=parameters.check_mask,
    source="S2",
    finite_only=True,
    shows=SHOWS,
    variants=(*host.variants(plan_mask), *gpu.variants_mask(), *peers.GPU_MASK),
)


def _batches(kind: Kind, summary: str) -> Filter:
    image = kind == "image"
    return Filter(
        id=f"fft_batch{INPUT_KINDS[kind].rank}d",
        family="fft_batch",
        title=f"Fourier transforms in batches ({kind})",
        summary=summary,
        accepts=kind,
        dtypes=DTYPES,
        params=batch.PARAMS2D if image else batch.PARAMS1D,
        outputs=batch.OUTPUTS,
        reference=batch.reference,
        work=batch.work,
        locality=Locality("global"),
        check=batch.check,
        source="S2",
        finite_only=True,
        shows=SHOWS,
        picked=("serial", "shared", "registers", "fast"),
        claims=claims.CLAIMS if image else (),
        figures=figures.FIGURES if image else (),
        variants=(*batch_host.HOSTS, *batch_gpu.variants(kind), *batch_host.GPU_LIBRARIES),
        renamed={"padded_text": (Successor("padded_as_published"),)},
    )


FFT_BATCH1D = _batches(
    "signal",
    "A signal is cut into lines of complex numbers or real samples, and each is transformed, as in benchmarks of FFT"
    " libraries.",
)
FFT_BATCH2D = _batches("image", "An image of complex numbers or real samples is transformed, whole or in square tiles.")
