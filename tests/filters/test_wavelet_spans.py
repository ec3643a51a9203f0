"""What a block needs of an axis where it does several levels, and lifting steps, without a kernel: spans against the
positions that taps meet, room for them, and the filters that the steps come to."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gpu_ops.filters.wavelet import bases, spans
from gpu_ops.filters.wavelet.cuda import lifting
from gpu_ops.filters.wavelet.cuda.levels import spans_forward, spans_inverse
from gpu_ops.filters.wavelet.forms import BORDERS, coefficients_of
from gpu_ops.filters.wavelet.spans import Span, positions

TAPS = (2, 4, 8, 18)


def source_of(i: int, n: int, border: str) -> int:
    """The sample that stands at position i, step by step."""
    if border == "periodization":
        return min(i % (n + n % 2), n - 1)
    while not 0 <= i < n:
        i = -1 - i if i < 0 else 2 * n - 1 - i
    return i


@pytest.mark.parametrize("border", BORDERS)
def test_spans_hold_what_taps_meet_and_nothing_twice(border: str) -> None:
    for n, taps, many in itertools.product((1, 2, 3, 5, 8, 13, 30, 41), TAPS, (1, 2, 5, 16)):
        half, reach = coefficients_of(n, taps, border), spans.reach_of(taps, border)
        for first in range(0, half, many):
            of = Span(first, min(many, half - first))
            span = spans.samples_for(of, n, taps, border)
            held = positions(span, n).tolist()
            met = {source_of(2 * k + t - reach, n, border) for k in positions(of, half).tolist() for t in range(taps)}
            assert met <= set(held) and len(set(held)) == len(held) <= spans_forward(of.many, (n, half), taps)[0]
            assert len(held) <= len(met) + 1, "a place beside an odd end at most"
        for first in range(0, n, many):
            of = Span(first, min(many, n - first))
            held = positions(spans.coefficients_for(of, n, taps, border), half).tolist()
            met = {
                (i + reach - t) // 2 % half for i in positions(of, n).tolist() for t in range((i + reach) % 2, taps, 2)
            }
            assert met <= set(held) and len(set(held)) == len(held) <= spans_inverse(of.many, (n, half), taps)[1]


@pytest.mark.parametrize("border", BORDERS)
def test_spans_that_go_round_an_odd_end_hold_what_the_next_level_needs(border: str) -> None:
    """Levels after the first: spans of coefficients, or of samples, that begin at one end and go on at the other."""
    for n, taps, many in itertools.product((5, 8, 13, 30, 41), TAPS, (3, 7)):
        half, reach = coefficients_of(n, taps, border), spans.reach_of(taps, border)
        round_ends = border == "periodization"
        for first in range(max(0, half - many), half if round_ends else max(1, half - many)):
            of = Span(first, min(many, half))
            held = set(positions(spans.samples_for(of, n, taps, border), n).tolist())
            assert {
                source_of(2 * k + t - reach, n, border) for k in positions(of, half).tolist() for t in range(taps)
            } <= held
        for first in range(max(0, n - many), n if round_ends else max(1, n - many)):
            of = Span(first, min(many, n))
            span = spans.coefficients_for(of, n, taps, border)
            met = {
                (i + reach - t) // 2 % half for i in positions(of, n).tolist() for t in range((i + reach) % 2, taps, 2)
            }
            assert met <= set(positions(span, half).tolist())
            assert span.many <= spans_inverse(of.many, (n, half), taps)[1]


def peaks_of(steps: lifting.Lifting) -> tuple[float, float]:
    """The largest sums of magnitudes by the steps on all impulses of a ring of pairs."""
    pairs = 32
    all_impulses = np.eye(2 * pairs)
    phases = [all_impulses[:pairs], all_impulses[pairs:]]
    found = []
    for sign, order in ((1, steps.steps), (-1, steps.steps[::-1])):
        most = max(float(np.abs(phase).sum(axis=1).max()) for phase in phases)
        for step in order:
            source = phases[1 - step.target]
            added = sum(weight * np.roll(source, -step.by.first - j, axis=0) for j, weight in enumerate(step.by.values))
            phases[step.target] = phases[step.target] + sign * np.asarray(added)
            terms = float(np.abs(step.by.values).sum() * np.abs(source).sum(axis=1).max())
            most = max(most, terms, float(np.abs(phases[step.target]).sum(axis=1).max()))
        found.append(most)
        ends = sorted((steps.low, steps.high))  # by phase
        phases = [all_impulses[end.phase * pairs :][:pairs] / end.gain for end in ends]
    return found[0], found[1]


@pytest.mark.parametrize("name", lifting.NAMES)
def test_lifting_steps_come_to_the_filters(name: str) -> None:
    taps, steps = bases.taps_of(name), lifting.lifting_of(name)
    low, high = lifting.filters_of(steps, taps.dec_lo.size)
    np.testing.assert_allclose(low, taps.dec_lo[::-1], atol=1e-14)
    np.testing.assert_allclose(high, taps.dec_hi[::-1], atol=1e-14 if name not in ROUNDED else 3e-12)
    assert lifting.deviation_of(name) < (1e-14 if name not in ROUNDED else 1e-11)
    assert steps.multiplications <= taps.dec_lo.size + 2
    assert steps.peaks == pytest.approx(peaks_of(steps))
    arrays = lifting.constants_of(steps, np.dtype(np.float32))
    assert {id: array.dtype.name for id, array in arrays.items()} == {
        **dict.fromkeys(("moves", "ends"), "int32"),
        **dict.fromkeys(("weights", "gains"), "float32"),
    }


ROUNDED = ("sym4", "bior4.4", "rbio4.4")
"""Their taps have 12 digits."""


def test_the_steps_of_known_wavelets_are_the_published_ones() -> None:
    """The 5/3 filters of JPEG 2000 predict and update by halves and quarters, the 9/7 filters by four constants."""
    half, quarter = lifting.lifting_of("bior2.2").steps
    assert half.by.values == pytest.approx([-0.5, -0.5]) and quarter.by.values == pytest.approx([0.25, 0.25])
    weights = [step.by.values for step in lifting.lifting_of("bior4.4").steps]
    published = (-1.586134342, -0.052980118, 0.882911075, 0.443506852)
    for found, expected in zip(weights, published, strict=True):
        assert found == pytest.approx([expected, expected], abs=1e-8)
