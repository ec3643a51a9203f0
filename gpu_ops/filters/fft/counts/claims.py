"""What the source states about transforms, and how each statement is tested. Source: S2."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from gpu_ops.filters.fft.counts.conflicts import Gap, growing_padding, no_padding, source_padding, wavefronts
from gpu_ops.filters.fft.counts.radix import WITH_FMA, WITHOUT_FMA, Multiprocessor
from gpu_ops.filters.kit.verdicts import Verdict, ratio
from gpu_ops.types import Claim, Run

EXPERIMENT: Mapping[str, Any] = {
    "filter": "fft_batch2d",
    "sample": {"id": "noise_image", "size": "4096x4096", "channels": 1, "dtype": "float32"},
    "params": {"numbers": "complex", "tile": 0},
    "knobs": {},
}
LINES = ((1024, 2), (4096, 16))
"""Points and radix of the lines whose wavefronts are quoted."""
RADICES = (2, 4, 8, 16)
LENGTHS = (512, 1024, 2048, 4096)
MODELLED = tuple(1 << bits for bits in range(1, 9))
"""The radices up to 256, the range of the source's model."""
POINTS, WIDTH = 4096, 8
"""The length of a line, and bytes per point."""


def _stated(n: int, radix: int, what: str) -> str:
    """Wavefronts of one part of a line, without padding, with the source's, and the minimum."""
    plain, one = (getattr(wavefronts(n, radix, gap), what) for gap in (no_padding, source_padding))
    return f"N = {n}, R = {radix}: {plain} to {one}, least {wavefronts(n, radix, no_padding).least}"


def _free(gap: Gap) -> bool:
    """Whether no store has a conflict, for every radix and length."""
    found = [wavefronts(n, radix, gap) for n in LENGTHS for radix in RADICES]
    return all(one.stores == one.least for one in found)


def _stores(runs: Mapping[str, Run]) -> Verdict:
    return "; ".join(_stated(n, radix, "stores") for n, radix in LINES), _free(source_padding)


def _loads(runs: Mapping[str, Run]) -> Verdict:
    n, radix = LINES[0]
    sums = [sum(wavefronts(n, radix, gap)[:2]) for gap in (no_padding, source_padding)]
    text = "; ".join(_stated(n, radix, "loads") for n, radix in LINES)
    both = f"stores and loads of N = {n}, R = {radix}: {sums[0]} to {sums[1]}"
    loads = [wavefronts(n, radix, source_padding) for n, radix in LINES]
    return f"{text}; {both}", all(one.loads == one.least for one in loads)


def _spans(runs: Mapping[str, Run]) -> Verdict:
    stated = (f"N = {n}, R = {radix}: {wavefronts(n, radix, growing_padding).stores}" for n, radix in LINES)
    return f"{'; '.join(stated)}; the least for R = 2 … 16, N = 512 … 4096", _free(growing_padding)


def _gains(processor: Multiprocessor) -> int:
    """The largest radix, a power of two, for which a stage's computing time does not exceed its shared-memory time."""
    wait = processor.waiting(POINTS, WIDTH)
    return max(radix for radix in MODELLED if processor.computing(POINTS, radix) <= wait)


def _radix(runs: Mapping[str, Run]) -> Verdict:
    """The radix of equal times by the formula, between the powers of two found from the times themselves."""
    names = {"with FMA": WITH_FMA, "without": WITHOUT_FMA}
    found = {name: (each.best_radix(WIDTH), _gains(each)) for name, each in names.items()}
    text = ", ".join(f"{best:.3g} {name} (radix {most} still gains)" for name, (best, most) in found.items())
    return text, [round(best) for best, _ in found.values()] == [84, 9]


def _claim(id: str, text: str, published: str, prediction: str, judge: Any) -> Claim:
    return Claim(f"S2-{id}", "S2", text, published, prediction, "counted", EXPERIMENT, judge)


def _timed(id: str, text: str, published: str, prediction: str, slow: str, fast: str) -> Claim:
    judge = partial(ratio, slow=slow, fast=fast, least=1.05)
    return Claim(f"S2-{id}", "S2", text, published, prediction, "measured", EXPERIMENT, judge)


CLAIMS = (
    _claim(
        "padding",
        "One element left free after every R·Ns keeps the stores of all stages from bank conflicts.",
        "one element after every R·Ns",
        "Does not hold: it moves whole groups by one bank, which clears the first stage's conflicts alone (Ns = 1).",
        _stores,
    ),
    _claim(
        "padding-loads",
        "That padding costs memory and nothing else.",
        "not mentioned",
        "Does not hold: Stockham's loads are in order, and gaps within 32 lanes make two of them meet in a bank.",
        _loads,
    ),
    _claim(
        "padding-span",
        "With padding, stores have no bank conflicts at any stride.",
        "none",
        "Holds with Ns elements after every R·Ns, as the variant padded has them; a formula counts what a simulated "
        "GPU counts.",
        _spans,
    ),
    _claim(
        "radix",
        "A larger radix gains until its butterflies take as long as shared memory: Rx = 2^(2 width C / (5 B)).",
        "Rx about 84 with FMA and 9 without, of 256 operations and 128 bytes per clock, and 8 bytes per point",
        "Holds by arithmetic. Registers set the limit before it does: radix 32 takes about 100 of them, and pays where "
        "16 would take a fourth stage.",
        _radix,
    ),
    _timed(
        "twiddles",
        "Twiddles by fast sine and cosine beat a table in constant memory where memory is the limit.",
        "no figure",
        "Undecided in advance: a table is read by all lanes at places that differ, one after the other; sines take "
        "their own unit.",
        "table",
        "fast_sine",
    ),
    _timed(
        "library",
        "A transform with coalesced accesses beats cuFFT.",
        "1.3 times cuFFT 6.5",
        "Holds, by less: today's cuFFT reads rows and columns in whole sectors as well.",
        "cupy",
        "fast",
    ),
)
