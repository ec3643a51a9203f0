"""A part of an input: where its result is the whole's, and what is said of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tasks import on

from gpu_ops import Experiment, Pick, from_array, run_experiment
from gpu_ops.filters import find_filter
from gpu_ops.input_kinds import centred
from gpu_ops.run_key import RunKey
from gpu_ops.running.affordable import Pace, affordable, crop_note, exact_crop, part_spans
from gpu_ops.types import BORDERS, Input, Locality

CHANGED = {"matrix": (1.0, -2.0, 3.0, -4.0, 5.0, 6.0, -7.0, 8.0, 9.5), "divisor": 3.0}
CASES = {
    "mean1d 3": ("mean1d", {"window": 3}),
    "mean1d 9": ("mean1d", {"window": 9}),
    "mean2d 5": ("mean2d", {"window": 5}),
    "conv3x3 once": ("conv3x3", {**CHANGED, "passes": 1}),
    "conv3x3 twice": ("conv3x3", {**CHANGED, "passes": 2, "offset": 4.0}),
    "box 3": ("box", {"radius": 3}),
}
PLACES = {"first": 0.0, "inside": 0.4, "last": 1.0}


def noise(id: str, channels: int = 1) -> Input:
    rng = np.random.default_rng(7)
    shape = (53,) if id == "mean1d" else (31, 37)
    more = (channels,) if channels > 1 else ()
    return from_array(rng.random((*shape, *more)).astype(np.float32), kind="signal" if id == "mean1d" else "image")


def cut(whole: Input, sizes: tuple[int, ...], share: float) -> tuple[Input, tuple[int, ...]]:
    """A part of these sizes that begins at a share of all the places that it may have."""
    starts = tuple(round(share * (n - size)) for n, size in zip(whole.array.shape, sizes, strict=False))
    region = tuple(slice(start, start + size) for start, size in zip(starts, sizes, strict=True))
    return replace(whole, array=np.ascontiguousarray(whole.array[region])), starts


def result(id: str, input: Input, params: dict[str, object]) -> np.ndarray:
    (run,) = run_experiment(Experiment(id, input, params, (Pick("serial", "cpu"),), "none", checks="off"))
    (output,) = run.outputs.values()
    return output


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("case", CASES)
def test_what_is_shown_of_a_part_is_the_wholes(case: str, border: str) -> None:
    id, params = CASES[case][0], {**CASES[case][1], "border": border}
    filter = find_filter(id)
    full = {p.name: params.get(p.name, p.default) for p in filter.params}
    whole = noise(id, channels=3 if case == "box 3" else 1)
    right = result(id, whole, params)
    scale = float(np.abs(right).max())
    extents = whole.array.shape[: 1 if id == "mean1d" else 2]
    for sizes in ((19,), (52,)) if id == "mean1d" else ((17, 19), (31, 20), (18, 36)):
        for share in PLACES.values():
            part, place = cut(whole, sizes, share)
            region = exact_crop(filter, on(filter, part.array, full), whole.array.shape, place)
            assert region.exact and len(region.cut) == len(extents)
            alone = result(id, part, params)
            there = tuple(slice(p, p + s.stop - s.start) for p, s in zip(region.place, region.cut, strict=True))
            np.testing.assert_allclose(alone[region.cut], right[there], rtol=0, atol=2e-6 * scale)
            _as_large_as_can_be(alone, right, region.cut, place, scale)


def _as_large_as_can_be(
    alone: np.ndarray, right: np.ndarray, region: tuple[slice, ...], place: tuple[int, ...], scale: float
) -> None:
    """One line more on any side is not the whole's."""
    for axis, s in enumerate(region):
        for line in (s.start - 1, s.stop):
            if 0 <= line < alone.shape[axis]:
                wider = (*region[:axis], slice(line, line + 1), *region[axis + 1 :])
                starts = zip(place, wider, strict=True)
                there = tuple(slice(start + w.start, start + w.stop) for start, w in starts)
                assert np.abs(alone[wider] - right[there]).max() > 1e-3 * scale


def test_where_the_filter_reaches_too_far_nothing_is_the_wholes() -> None:
    whole = from_array(np.zeros((300, 200), np.float32), kind="image")
    part, place = affordable(whole)
    assert place == (22, 0) and part.array.shape == (256, 200)
    near, far = ({"radius": radius, "border": "reflect"} for radius in (127, 128))
    box = find_filter("box")
    inside = exact_crop(box, on(box, part.array, near), whole.array.shape, place)
    assert inside.exact and inside.place == (149, 0) and inside.cut == (slice(127, 129), slice(0, 200))
    assert exact_crop(box, on(box, part.array, far), whole.array.shape, place) == (
        (),
        place,
        False,
    )
    wide = replace(box, locality=Locality("global"))
    assert not exact_crop(wide, on(wide, part.array, near), whole.array.shape, place).exact
    same = replace(box, locality=Locality("pointwise"))
    assert exact_crop(same, on(same, part.array, near), whole.array.shape, place) == (
        (slice(0, 256), slice(0, 200)),
        place,
        True,
    )
    assert exact_crop(wide, on(wide, whole.array, near), whole.array.shape, ()) == ((), (), True)


def test_the_note_says_what_is_shown() -> None:
    whole = from_array(np.zeros((300, 200), np.float32), kind="image")
    part, place = affordable(whole)
    box = find_filter("box")
    tasks = (on(box, part.array, {"radius": r, "border": "wrap"}) for r in (4, 200))
    notes = [crop_note(whole, part_spans(whole), exact_crop(box, task, whole.array.shape, place)) for task in tasks]
    assert notes[0] == (
        "simulated on the centre 200 x 256 of 200 x 300; the 200 x 248 unaffected by the crop are shown"
    )
    assert notes[1].startswith("simulated on the centre 200 x 256 of 200 x 300 on its own: the filter's reach")


def test_the_part_is_around_what_is_in_view() -> None:
    image = from_array(np.zeros((1000, 2000), np.float32), kind="image")
    assert part_spans(image) == ((372, 628), (872, 1128)) and centred(part_spans(image), (1000, 2000))
    assert part_spans(image, ((0, 100), (1900, 2000))) == ((0, 256), (1744, 2000))
    assert part_spans(image, ((400, 500), (700, 1000))) == ((322, 578), (722, 978))
    assert part_spans(image, (), (1000, 100)) == ((0, 1000), (950, 1050))
    assert part_spans(from_array(np.zeros((256, 256), np.float32), kind="image")) == ()
    signal = from_array(np.zeros(100_000, np.float32), kind="signal")
    assert part_spans(signal, ((90_000, 100_000),)) == ((34_464, 100_000),)


def test_a_pace_is_that_of_the_same_run_on_this_machine() -> None:
    pace, image = Pace(), on(find_filter("box"), np.zeros((9, 9), np.float32), {}).meta
    key, other = (RunKey.of("box", "direct", "sim", {"radius": r}, {}) for r in (2, 3))
    assert pace.predict(key, image, 81) is None, "nothing was measured"
    pace.note(key, image, 100, 2.0)  # also prepares its kernels
    pace.note(key, image, 100, 1.0)
    assert pace.predict(key, image, 400) == pytest.approx(4.0) and pace.predict(other, image, 400) is None
    assert pace.predict(key, replace(image, dtype="uint8"), 400) is None
    pace.note(key, image, 0, 5.0)
    pace.note(key, image, 100, 8.0, alone=True)
    assert pace.predict(key, image, 100) == pytest.approx(8.0), "the prediction before was too short"
