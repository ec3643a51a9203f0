"""The box kernels with a ring buffer: the choice of their blocks and segments, exact results at every position of a
window in its blocks of twelve, at every limit of their arithmetic, in every number of segments, and their errors in
floats."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from lanes import daily_subset, few
from tasks import on, planned
from test_box import EPS, adversarial, error_of, oracle, samples

from gpu_ops.devices import open_device
from gpu_ops.devices.limits import SHARED_KIB, limits_of
from gpu_ops.devices.offline import OfflineDevice
from gpu_ops.errors import KernelError
from gpu_ops.filters.box import BOX
from gpu_ops.filters.box.reference import reference
from gpu_ops.filters.kit import marching
from gpu_ops.filters.kit.march_limits import MARCH, groups_of, march_loss, march_rows
from gpu_ops.filters.kit.marching import PAIRS_RADIUS, Shape, Values, choose, segment_rows
from gpu_ops.plan import Launch
from gpu_ops.task import Meta, Task

Array = np.ndarray[Any, Any]


def run(id: str, x: Array, radius: int, border: str, multiprocessors: int = 1, segments: int = 0) -> Array:
    """What the variant makes of an image on the simulated GPU, which must find nothing wrong; in so many segments,
    where any are asked for."""
    device = open_device("sim").session({})
    device.limits = replace(device.limits, multiprocessors=multiprocessors)  # type: ignore[misc]
    plan = planned(BOX, id, device, device.upload(x), {"radius": radius, "border": border})
    (launch,) = plan.steps
    assert isinstance(launch, Launch) and segments in (0, launch.grid[1])
    assert [str(f) for f in device.execute(plan).findings] == []
    return np.asarray(device.download(plan.outputs["image"]))


def image(dtype: str, channels: int = 1) -> Meta:
    return Meta("image", (64, 64, channels) if channels > 1 else (64, 64), dtype)


FORMS: tuple[tuple[marching.Form, Meta], ...] = (
    *(("pixels", image(dtype, channels)) for dtype in ("uint8", "uint16", "float32") for channels in (1, 3, 4, 5)),
    *(("double", image("float32", channels)) for channels in (1, 4)),
    *(("values", image(dtype, channels)) for dtype in ("uint8", "float64") for channels in (1, 4)),
)


def test_every_radius_has_blocks_that_fit_on_every_architecture() -> None:
    for number in SHARED_KIB:
        device = limits_of(f"sm_{number}")
        for radius in (*range(1, 257, 5), 127, 128, 129):
            for form, meta in FORMS:
                if form == "values" and radius > 31:
                    continue
                values, shape = choose(meta, radius, form, device.shared_bytes)
                shared = shape.shared_bytes(radius, values)
                assert shared <= device.shared_bytes and shape.threads <= 1024
                assert marching.resident(shape, shared, values, device) >= 1


def test_the_best_shape_is_taken_where_it_fits_and_a_ring_where_one_fits() -> None:
    large, small = limits_of("sm_90").shared_bytes, limits_of("sm_75").shared_bytes
    assert choose(image("float32"), 4, "pixels", large) == (Values(), Shape(16, 6, 2))
    assert choose(image("uint8", 4), 16, "pixels", large) == (Values(planes=2), Shape(16, 6, 2))
    assert choose(image("float32"), 64, "pixels", large) == (Values(), Shape(16, 14, 1))
    assert choose(image("float32"), 16, "pixels", small) == (Values(), Shape(8, 8, 1))
    assert choose(image("uint8", 3), 16, "pixels", large)[0] == Values(3, pack=2)
    assert choose(image("uint8", 5), 16, "pixels", large)[0] == Values(pack=2)
    assert choose(image("uint8", 4), 96, "pixels", large)[1].ring
    assert choose(image("uint8", 4), 120, "pixels", large) == (Values(planes=2), Shape(32, 16, 2, ring=False))
    assert choose(image("float32"), 31, "values", large) == (Values(), Shape(8, 10, 1, ahead=2))
    assert choose(image("uint8", 3), 15, "values", large) == (Values(3, pack=2), Shape(32, 12, 4))
    assert choose(image("uint8", 3), 31, "values", large) == (Values(3, pack=2), Shape(16, 12, 2))
    assert choose(image("uint8", 3), 64, "pixels", large) == (Values(3, pack=2), Shape(32, 20, 2, ahead=2))
    for dtype, channels in (("uint8", 1), ("uint8", 3), ("uint8", 4), ("uint16", 1), ("float32", 1)):
        assert choose(image(dtype, channels), 128, "pixels", large)[1].ring
    assert not choose(image("float32"), 256, "pixels", large)[1].ring
    assert not choose(image("float32"), 64, "pixels", small)[1].ring
    with pytest.raises(KernelError, match="radius 256.*choose a smaller radius"):
        choose(image("float32"), 256, "pixels", 16 << 10)


def test_segments_fill_the_multiprocessors_and_are_worth_their_first_rows() -> None:
    # 43 strips, 264 places: six segments are 258 blocks in one round.
    assert segment_rows(8192, 43, 4, 264) == -(-8192 // 6)
    # Where several blocks share a multiprocessor, a second round begins before the first has ended.
    assert segment_rows(8192, 43, 4, 264, shared=True) <= -(-8192 // 12)
    # With a radius of 256 each segment first fetches 512 rows: three fill as many rounds' share of places.
    assert segment_rows(8192, 43, 256, 132) == -(-8192 // 3)
    assert segment_rows(8192, 5000, 4, 132) == 8192
    assert segment_rows(5, 1, 256, 132) == 5
    for height in (1, 7, 64, 1000, 65537, 10_000_000):
        rows = segment_rows(height, 1, 1, 500_000)
        assert 1 <= rows <= height and -(-height // rows) <= marching.MOST_BLOCKS


@pytest.mark.parametrize("radius", few((1, 6, 11, 64, 127, 128, 255, 256), 1, 11, 256))
def test_plan_and_kernel_count_shared_memory_alike(radius: int) -> None:
    """The kernel refuses to compile where they do not."""
    for shape, dtype, id in (((9, 97), "float32", "double"), ((9, 97, 4), "uint8", "ring")):
        device = OfflineDevice("sm_90" if radius % 2 else "sm_75")
        x = device.empty(shape, np.dtype(dtype))
        device.check(planned(BOX, id, device, x, {"radius": radius, "border": "zero"}))


@pytest.mark.parametrize("radius", few(range(1, 13), 1, 8))
def test_windows_that_end_anywhere_in_a_block_are_exact(radius: int) -> None:
    """Rows begin at each of four places, and windows end at each of twelve, in the first block and beyond; in single
    values, in pairs of rows with one and with three channels, and in pixels of four bytes."""
    width = 208 if radius % 2 else 205
    half = radius if radius % 2 else radius + 12  # half of the places are enough for pixels
    for shape, dtype, r, border in (
        ((9, width), "uint16", radius, "reflect"),
        ((9, width), "uint8", radius + 12, "nearest"),
        ((9, width // 2, 3), "uint8", radius, "reflect"),
        ((6, 100, 4), "uint8", half, "zero"),
    ):
        x = samples(shape, dtype, seed=r)
        np.testing.assert_array_equal(run("ring", x, r, border), oracle(x, r, border), err_msg=f"{shape} {r}")


LARGEST = [
    ((20, 5, 4), "uint8", 7),
    ((20, 5, 4), "uint8", 8),
    ((3, 130, 4), "uint8", 127),
    ((3, 130, 4), "uint8", 128),
    ((7, 6, 3), "uint8", 16),
    ((2, 5), "uint8", 256),
    ((5, 2), "uint16", 256),
]


@pytest.mark.parametrize("shape, dtype, radius", daily_subset(LARGEST, 3, "{0[0]}-{0[1]}-{0[2]}".format))
def test_the_largest_sums_do_not_overflow(shape: tuple[int, ...], dtype: str, radius: int) -> None:
    x = np.full(shape, np.iinfo(dtype).max, dtype)
    np.testing.assert_array_equal(run("ring", x, radius, "nearest"), x)


def test_bytes_are_rounded_right_beside_every_half() -> None:
    """The kernel's float arithmetic on the sums nearest to a half, below and above, for every square."""
    ways = set()
    for radius in range(1, PAIRS_RADIUS + 1):
        count = (2 * radius + 1) ** 2
        scale = np.float32(1) / np.float32(count)
        times = -(-(1 << 23) // count) if count < 1 << 15 else 0
        close = times > 0 and abs(count * float(scale) - 1) * (times + 255) * 2 * count < 1
        ways.add((times > 0, close))
        means = np.arange(255)
        for above in (0, 1):
            sums = (count * (2 * means + 1) - 1) // 2 + above
            shifted = sums + times * count if close else sums - 127 * count
            assert (shifted.astype(np.float32) == shifted).all()
            product = shifted.astype(np.float64) * np.float64(scale)
            rounded = (product + (2.0**23 + (-times if close else 127))).astype(np.float32).view(np.uint32) & 255
            np.testing.assert_array_equal(rounded, means + above, err_msg=f"{radius}")
    assert ways == {(True, True), (True, False), (False, False)}


@pytest.mark.parametrize("multiprocessors, segments", [(2, 2), (5, 5), (132, 8)])
def test_segments_do_not_change_a_result(multiprocessors: int, segments: int) -> None:
    for shape, dtype in (((67, 40), "uint16"), ((67, 40), "float32")):
        x = samples(shape, dtype)
        one, more = run("ring", x, 3, "reflect", 1, 1), run("ring", x, 3, "reflect", multiprocessors, segments)
        # Rows are summed alike in every segment, columns exactly: samples are whole sixteenths.
        np.testing.assert_array_equal(one, more)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_no_segment_of_floats_is_longer_than_the_tolerance_allows(channels: int) -> None:
    for radius in range(1, 257):
        for group in groups_of(image("float32", channels), radius):
            longest = march_rows(radius, group)
            assert march_loss(radius, longest, group) <= MARCH
            for height, strips, places in ((10**6, 1, 1), (8192, 43, 528), (7, 1, 1)):
                rows = segment_rows(height, strips, radius, places, longest=longest - 2 * radius)
                assert 1 <= rows <= longest - 2 * radius


@pytest.mark.parametrize("radius", few((1, 16, 4, 100, 256), 1, 16))
def test_floats_are_as_exact_as_they_say(radius: int) -> None:
    params = {"radius": radius, "border": "reflect"}
    equal = np.full((40, 30), 0.7, np.float32)
    images = [equal, adversarial(1200).reshape(40, 30), adversarial(1200).reshape(2, 600)]
    for x in images[: 1 if radius == 256 else 3]:
        wanted = reference(on(BOX, x, params))["image"]
        assert error_of(run("ring", x, radius, "reflect"), wanted, x) <= march_loss(radius, rows=0) + 0.5
        # Half an eps where a row's mean is kept, half where the square's is, and next to no drift.
        assert error_of(run("double", x, radius, "reflect"), wanted, x) <= 1.02


def test_sums_in_double_hold_the_largest_floats() -> None:
    for x in (np.full((9, 40), 3e38, np.float32), np.full((9, 40), 1e-44, np.float32)):
        np.testing.assert_allclose(run("double", x, 16, "nearest"), x, rtol=2 * EPS)


def test_integers_are_sent_to_the_ring_and_what_is_not_finite_is_refused() -> None:
    device = limits_of("sm_75")
    given = {"radius": 4, "border": "zero"}
    reason = BOX.variant("double").refusal(Task.of(Meta("image", (9, 9), "uint8"), given, {}, device))
    assert reason is not None and "ring" in reason
    for id in ("ring", "double"):
        reason = BOX.variant(id).refusal(Task.of(Meta("image", (9, 9), "float32", finite=False), given, {}, device))
        assert reason is not None and "NaN" in reason


@pytest.mark.parametrize("radius", [1, 2, 7])
def test_columns_that_cancel_each_other_drift_no_further_than_they_say(radius: int) -> None:
    """Sums are smaller than most of the rows that leave them: Dekker's sum is not exact then."""
    rng = np.random.default_rng(radius)
    x = rng.uniform(0.5, 1, (400, 8)).astype(np.float32)
    x[1::2] *= -1
    x[:, 4:] *= rng.choice(np.float32([1e-3, 1]), (400, 1))
    wanted = reference(on(BOX, x, {"radius": radius, "border": "wrap"}))["image"]
    device = open_device("sim").session({})
    plan = planned(BOX, "ring", device, device.upload(x), {"radius": radius, "border": "wrap"})
    (launch,) = plan.steps
    assert isinstance(launch, Launch)
    rows = -(-400 // launch.grid[1]) + 2 * radius
    assert rows <= march_rows(radius)
    device.execute(plan)
    made = np.asarray(device.download(plan.outputs["image"]))
    assert error_of(made, wanted, x) <= march_loss(radius, rows)


def test_an_image_of_too_many_segments_is_refused() -> None:
    ring = BOX.variant("ring")
    for shape, dtype, fits in (((7_000_000, 1), "float32", True), ((8_000_000, 1), "float32", False)):
        meta = Meta("image", shape, dtype)
        reason = ring.refusal(Task.of(meta, {"radius": 1, "border": "zero"}, {}, limits_of("sm_90")))
        assert (reason is None) == fits
        assert fits or "choose a larger radius" in str(reason)
