"""Steps of an input: each against NumPy, OpenCV or SciPy itself, in an origin, as text and on the command line."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from scipy import signal

from gpu_ops import Input, add_noise, apply_steps, from_array, load, sample, save
from gpu_ops.cli import main
from gpu_ops.errors import InputError, KernelscopeError, ParamError
from gpu_ops.io import STEPS, check_step, crop, from_origin, parse_step, write_step
from gpu_ops.io.steps.apply import step_words, title_of
from gpu_ops.report.files import read_report
from gpu_ops.types import DTYPES, Facts, Pixel

RANDOM = np.random.Generator(np.random.PCG64(4))
TOPS = {"uint8": 255, "uint16": 65535, "float32": 1, "float64": 1}


def picture(dtype: str = "uint8", *shape: int) -> Input:
    values = RANDOM.random(shape or (23, 31)) * TOPS[dtype]
    return from_array(values.round().astype(dtype) if dtype[0] == "u" else values.astype(dtype), name="picture")


def done(input: Input, id: str, **values: Any) -> Input:
    return apply_steps(input, [{"step": id, **values}])


def after(input: Input, id: str, **values: Any) -> np.ndarray:
    return done(input, id, **values).array


# Geometry


def test_crop_is_the_part() -> None:
    x = picture("uint8", 23, 31, 3)
    found = done(x, "crop", start=[3, 5], shape=[10, 7])
    np.testing.assert_array_equal(found.array, x.array[3:13, 5:12])
    assert found.origin["steps"] == [{"step": "crop", "start": [3, 5], "shape": [10, 7]}]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "method, how", [("linear", cv2.INTER_LINEAR), ("area", cv2.INTER_AREA), ("cubic", cv2.INTER_CUBIC)]
)
def test_resize_is_opencv_s(dtype: str, method: str, how: int) -> None:
    for shape in ((23, 31), (23, 31, 1), (23, 31, 3), (23, 31, 4)):
        x = picture(dtype, *shape)
        found = after(x, "resize", size=[12, 40], method=method)
        assert found.dtype == dtype and found.shape == (12, 40, *shape[2:])
        np.testing.assert_array_equal(found.squeeze(), cv2.resize(x.array, (40, 12), interpolation=how).squeeze())


@pytest.mark.parametrize("size", [(12, 40), (1, 1), (46, 62), (23, 31), (7, 5)])
def test_nearest_takes_the_pixel_in_the_middle(size: tuple[int, int]) -> None:
    x = picture("float64")
    found = after(x, "resize", size=size, method="nearest")
    middles = [np.floor((np.arange(n) + 0.5) * whole / n).astype(int) for n, whole in zip(size, (23, 31), strict=True)]
    np.testing.assert_array_equal(found, x.array[np.ix_(*middles)])


def test_a_factor_gives_the_rounded_size_and_pixels_grow() -> None:
    x = replace(picture(), facts=Facts(pixel=Pixel(2.0, 3.0, "µm")))
    found = done(x, "resize", factor=0.5)
    assert found.array.shape == (12, 16)
    assert found.facts.pixel == Pixel(2.0 * 23 / 12, 3.0 * 31 / 16, "µm")


@pytest.mark.parametrize("angle, turns", [(90, 1), (180, 2), (270, 3), (-90, 3), (360, 4), (-180, 2)])
def test_right_angles_are_exact(angle: float, turns: int) -> None:
    x = replace(picture("uint16", 23, 31, 3), facts=Facts(pixel=Pixel(2.0, 3.0, "mm")))
    found = done(x, "rotate", angle=angle)
    np.testing.assert_array_equal(found.array, np.rot90(x.array, turns))
    assert found.facts.pixel == (Pixel(3.0, 2.0, "mm") if turns % 2 else Pixel(2.0, 3.0, "mm"))


@pytest.mark.parametrize("dtype", DTYPES)
def test_another_angle_is_opencv_s_and_cuts_no_corner(dtype: str) -> None:
    x = from_array(np.full((40, 60, 4), TOPS[dtype], dtype), name="full")
    found = after(x, "rotate", angle=30, method="nearest", fill=0)
    assert found.shape == (65, 72, 4) and found.dtype == dtype
    assert (found[..., 0] > 0).sum() == pytest.approx(40 * 60, rel=0.02), "nothing is cut"
    assert (found[0, 0] == 0).all() and (found[32, 36] == TOPS[dtype]).all()
    cut = after(x, "rotate", angle=30, whole=False, fill=1)
    matrix = cv2.getRotationMatrix2D((29.5, 19.5), 30, 1)
    np.testing.assert_array_equal(cut, cv2.warpAffine(x.array, matrix, (60, 40), borderValue=(1, 1, 1, 0)))


def test_a_turned_picture_turns_against_the_clock() -> None:
    x = np.zeros((41, 41), np.float32)
    x[20, 35] = 1  # right of the middle
    found = after(from_array(x), "rotate", angle=45, whole=False)
    row, column = np.unravel_index(found.argmax(), found.shape)
    assert row < 20 < column, "it goes up"


def test_flips() -> None:
    x = picture("uint8", 23, 31, 3)
    np.testing.assert_array_equal(after(x, "flip"), np.fliplr(x.array))
    np.testing.assert_array_equal(after(x, "flip", axis="top-bottom"), np.flipud(x.array))
    tones = sample("tones", length=50)
    found = done(tones, "flip")
    np.testing.assert_array_equal(found.array, tones.array[::-1])
    assert tones.clean is not None and found.clean is not None
    np.testing.assert_array_equal(found.clean, tones.clean[::-1])


@pytest.mark.parametrize("channels", [0, 3])
def test_a_resampled_signal_is_scipy_s_and_its_rate_follows(channels: int) -> None:
    t = np.arange(1000)[:, None] if channels else np.arange(1000)
    x = from_array(np.sin(2 * np.pi * t * (0.01 + 0.01 * np.arange(channels or 1)).squeeze()), "signal", rate=500.0)
    found = done(x, "resize", factor=0.4)
    np.testing.assert_array_equal(found.array, signal.resample_poly(x.array, 2, 5, axis=0, padtype="line"))
    assert found.rate == 200 and len(found.array) == 400
    other = done(x, "resize", size=[733], method="fourier")
    np.testing.assert_array_equal(other.array, signal.resample(x.array, 733, axis=0))
    assert other.rate == float(500 * Fraction(733, 1000))


def test_a_resampled_tone_stays_a_tone() -> None:
    tone = np.round(1000 + 900 * np.sin(2 * np.pi * 5 * np.arange(2000) / 1000)).astype(np.uint16)
    found = after(from_array(tone, rate=1000.0), "resize", factor=2)
    wanted = 1000 + 900 * np.sin(2 * np.pi * 5 * np.arange(4000) / 2000)
    assert found.dtype == np.uint16 and np.abs(found - wanted)[200:-200].max() < 3


# Values


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("weights", [(0.299, 0.587, 0.114), (0.2126, 0.7152, 0.0722), (1 / 3, 1 / 3, 1 / 3)])
def test_gray_weighs_the_colours(dtype: str, weights: tuple[float, float, float]) -> None:
    name = {0.299: "rec601", 0.2126: "rec709"}.get(weights[0], "mean")
    for channels in (3, 4):
        x = picture(dtype, 300, 301, channels)
        found = done(x, "gray", weights=name)
        exact = sum(w * x.array[..., k].astype(float) for k, w in enumerate(weights))
        wanted = np.floor(exact + 0.5) if dtype[0] == "u" else exact
        assert found.axes == "yx" and found.array.dtype == dtype
        off = np.abs(found.array - wanted)
        assert off.max() <= (1 if dtype[0] == "u" else 1e-6) and off.mean() < 1e-3, (
            "but for a sum that is nearly a half"
        )
    np.testing.assert_array_equal(after(picture(dtype, 3, 4, 1), "gray").shape, (3, 4))


def test_invert() -> None:
    x = picture("uint8", 9, 9, 4)
    found = after(x, "invert")
    np.testing.assert_array_equal(found[..., :3], 255 - x.array[..., :3])
    np.testing.assert_array_equal(found[..., 3], x.array[..., 3])
    floats = from_array(np.array([[2.0, 3.0], [5.0, np.nan]]), nonfinite="keep")
    np.testing.assert_array_equal(after(floats, "invert"), [[5, 4], [2, np.nan]])
    np.testing.assert_array_equal(after(from_array(np.array([1.0, -2.0])), "invert"), [-1, 2])


def test_normalise() -> None:
    x = from_array(np.array([[10, 20], [30, 110]], np.uint8))
    np.testing.assert_array_equal(after(x, "normalise"), [[0, 26], [51, 255]])
    unit = after(x, "normalise", to="unit")
    assert unit.dtype == np.float32
    np.testing.assert_allclose(unit, [[0, 0.1], [0.2, 1]], rtol=1e-6)
    standard = after(picture("float64"), "normalise", to="standard")
    assert standard.mean() == pytest.approx(0, abs=1e-12) and standard.std() == pytest.approx(1)
    ramp = from_array(np.arange(101.0)[None])
    cut = after(ramp, "normalise", low=10, high=60)
    np.testing.assert_allclose(cut[0], np.clip((np.arange(101) - 10) / 50, 0, 1), atol=1e-12)


def test_normalise_takes_no_alpha_and_no_nan() -> None:
    x = np.zeros((2, 2, 4), np.uint8)
    x[..., :3], x[..., 3] = [[[10]], [[20]]], 255
    found = after(from_array(x), "normalise", to="unit")
    np.testing.assert_array_equal(found[..., 3], 1)
    np.testing.assert_array_equal(found[..., 0], [[0, 0], [1, 1]])
    broken = from_array(np.array([[np.nan, 2.0, 4.0, np.inf]]), nonfinite="keep")
    np.testing.assert_array_equal(after(broken, "normalise", to="unit"), [[np.nan, 0, 1, np.inf]])


def test_the_type_keeps_rounds_or_scales() -> None:
    x = picture("uint8")
    np.testing.assert_array_equal(after(x, "convert", dtype="float32"), x.array.astype(np.float32))
    np.testing.assert_array_equal(after(x, "convert", dtype="uint16", how="scale"), x.array.astype(int) * 257)
    np.testing.assert_allclose(after(x, "convert", dtype="float64", how="scale"), x.array / 255, rtol=1e-15)
    back = apply_steps(x, [{"step": "convert", "dtype": "float32", "how": "scale"}, {"step": "convert", "dtype": "uint8", "how": "scale"}])  # fmt: skip  # noqa: E501
    np.testing.assert_array_equal(back.array, x.array)
    floats = from_array(np.array([[-3.0, 1.5, 2.4, 300.0]]))
    np.testing.assert_array_equal(after(floats, "convert", dtype="uint8", how="round"), [[0, 2, 2, 255]])
    rgba = after(picture("uint8", 5, 5, 4), "convert", dtype="float32", how="scale")
    assert 0 < rgba[..., 3].max() <= 1


# Noise


def test_salt_and_pepper_have_their_shares() -> None:
    x = from_array(np.full((300, 400, 4), 100, np.uint8))
    found = done(x, "salt-pepper", share=0.2, seed=3)
    white, black = ((found.array[..., :3] == v).all(axis=2) for v in (255, 0))
    assert white.mean() == pytest.approx(0.1, rel=0.05) and black.mean() == pytest.approx(0.1, rel=0.05)
    assert (found.array[~(white | black)] == 100).all() and (found.array[..., 3] == 100).all()
    assert found.clean is x.array
    wave = from_array(np.array([-1.0, 0.0, 3.0] * 1000))
    assert set(after(wave, "salt-pepper", share=1)) == {-1.0, 3.0}


def test_poisson_has_the_deviation_of_counts() -> None:
    for scale in (1, 0.25):
        found = done(from_array(np.full((300, 300), 100.0)), "poisson", scale=scale, seed=2)
        assert found.array.mean() == pytest.approx(100, rel=0.01)
        assert found.array.var() == pytest.approx(100 / scale, rel=0.05)
        assert (found.array * scale == np.round(found.array * scale)).all()


@pytest.mark.parametrize("id", ["noise", "salt-pepper", "poisson"])
def test_seeds_decide_and_blocks_leave_no_trace(id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = picture("uint8", 33, 57, 4)
    first, same, other = (after(x, id, seed=seed) for seed in (1, 1, 2))
    assert (first == same).all() and (first != other).any()
    monkeypatch.setattr("gpu_ops.io.steps.noise.BLOCK", 100)
    np.testing.assert_array_equal(after(x, id, seed=1), first)


# Order, origin, the clean original

SOME: dict[str, dict[str, Any]] = {
    "crop": {"start": [10, 20], "shape": [50, 60]},
    "resize": {"factor": 0.3},
    "rotate": {"angle": 33.0},
    "normalise": {"to": "unit"},
    "convert": {"dtype": "float32", "how": "scale"},
}


@pytest.mark.parametrize("id", [step.id for step in STEPS])
def test_every_step_comes_again_from_its_origin(id: str) -> None:
    colour = {"step": "crop", "start": [0, 0], "shape": [80, 90]}
    for name in ("colour", "ecg"):
        whole = sample(name) if name == "ecg" else _colour()
        if whole.kind not in next(s for s in STEPS if s.id == id).kinds:
            continue
        values = SOME.get(id, {}) if whole.kind == "image" or id != "crop" else {"start": [9], "shape": [500]}
        first = [colour] if whole.kind == "image" else []
        first += [{"step": "normalise"}] if id == "poisson" else []
        noisy = done(apply_steps(whole, first), "noise", sigma=0 if id == "poisson" else 3)
        found = done(noisy, id, **values)
        if "path" in found.origin or "generator" in found.origin:
            made = from_origin(json.loads(json.dumps(found.origin)))
            assert made.origin == found.origin and made.array.dtype == found.array.dtype
            np.testing.assert_array_equal(made.array, found.array)
            assert made.clean is not None and found.clean is not None
            np.testing.assert_array_equal(made.clean, found.clean)
        assert found.clean is not None and found.clean.shape == found.array.shape
        assert found.clean.dtype == found.array.dtype and found.origin["steps"][-1]["step"] == id


def _colour() -> Input:
    return sample("noise", size="100x90", channels=3, dtype="uint8", seed=5)


def test_the_clean_original_goes_through_every_step_but_noise() -> None:
    x = picture("float64", 40, 40)
    steps = [{"step": "noise", "sigma": 0.2}, {"step": "crop", "start": [4, 4], "shape": [20, 30]},
             {"step": "salt-pepper"}, {"step": "rotate", "angle": 90}]  # fmt: skip
    found = apply_steps(x, steps)
    np.testing.assert_array_equal(found.clean, np.rot90(x.array[4:24, 4:34]))


def test_normalise_sends_the_clean_original_through_the_same_line() -> None:
    noisy = add_noise(picture("float64", 40, 40), 0.3)
    found = done(noisy, "normalise", to="unit")
    low, high = noisy.array.min(), noisy.array.max()
    np.testing.assert_allclose(found.clean, (noisy.clean - low) / (high - low), atol=1e-12)


def test_a_step_that_is_off_is_left_out() -> None:
    x = picture()
    assert apply_steps(x, [{"step": "invert", "off": True}]) is x
    found = apply_steps(x, [{"step": "invert", "off": True}, {"step": "flip"}])
    assert [s["step"] for s in found.origin["steps"]] == ["flip"]


def test_a_file_with_steps_comes_again(tmp_path: Path) -> None:
    save(tmp_path / "a.png", picture("uint8", 40, 50, 3).array)
    found = apply_steps(load(tmp_path / "a.png"), [{"step": "gray"}, {"step": "resize", "size": [10, 10]}])
    np.testing.assert_array_equal(from_origin(json.loads(json.dumps(found.origin))).array, found.array)


def test_a_result_as_input_says_what_to_do() -> None:
    with pytest.raises(InputError, match="run mean2d on its original again"):
        from_origin({"result": "mean2d", "params": {}, "variant": "serial", "of": {}})


def test_words() -> None:
    steps = [{"step": "crop", "start": [1, 2], "shape": [30, 40]}, {"step": "convert"}, {"step": "gray"}]
    steps += [{"step": "resize"}, {"step": "rotate", "angle": -12.5}, {"step": "noise"}]
    x = apply_steps(_colour(), steps)
    assert title_of(x) == "noise + crop 40 × 30 at x 2, y 1 + gray + resize × 0.5 + rotate -12.5° + noise σ 20"
    for step in STEPS:
        for kind in step.kinds:
            words = step_words(check_step({"step": step.id}, kind))
            assert words and "{" not in words


# Mistakes

WRONG: tuple[tuple[dict[str, Any], str], ...] = (
    ({"step": "blur"}, "There is no step 'blur'; the steps are crop, resize"),
    ({"step": "croq"}, "did you mean crop"),
    (
        {"step": "crop", "start": [20, 0], "shape": [10, 10]},
        "no part of 10 x 10 from x 0, y 20 on; choose a part inside",
    ),
    ({"step": "crop", "start": [0.5, 0], "shape": [10, 10]}, "start must be 2 whole numbers"),
    ({"step": "crop", "start": [0], "shape": [10]}, "start must be 2 whole numbers"),
    ({"step": "crop", "corner": [0, 0]}, "The step crop has no parameter 'corner'"),
    ({"step": "resize", "factor": 0}, "factor must be a number from 0.001"),
    ({"step": "resize", "factor": 0.01}, "every side needs at least one; use a larger size"),
    ({"step": "resize", "size": [60000, 60000]}, "over the limit of 1073741824; use a smaller size"),
    ({"step": "resize", "size": [9, 9], "factor": 2}, "matters only with by="),
    ({"step": "rotate", "angle": 500}, "angle must be a number from -360 to 360"),
    ({"step": "rotate", "angle": 5, "fill": 300}, "The fill 300 is no value of uint8"),
    ({"step": "gray"}, "picture is gray already; leave the step gray out"),
    ({"step": "normalise", "low": 60, "high": 40}, "must lie below high"),
    ({"step": "convert", "dtype": "int8"}, "dtype must be one of"),
    ({"step": "noise", "sigma": -1}, "sigma must be"),
    ({"step": "noise", "seed": -1}, "seed must be"),
    ({"step": "salt-pepper", "share": 1.5}, "share must be"),
    ({"step": "poisson", "scale": 0}, "scale must be"),
)


@pytest.mark.parametrize("step, words", WRONG, ids=[" ".join(map(str, w[0].values())) for w in WRONG])
def test_a_mistake_is_one_sentence(step: dict[str, Any], words: str) -> None:
    with pytest.raises(KernelscopeError, match=words.replace("(", r"\(")):
        apply_steps(picture(), [step])


def test_what_does_not_suit_the_values_says_so() -> None:
    negative = from_array(np.array([[-1.0, 2.0]]), name="n")
    flat = from_array(np.full((3, 3), 7.0), name="flat")
    broken = from_array(np.array([1.0, np.nan, 2.0]), name="broken", nonfinite="keep")
    cases = ((negative, "poisson", {}, "holds values from -1 to 2"), (flat, "normalise", {}, "no range to stretch"),
             (broken, "resize", {}, "holds NaN or infinity"), (broken, "poisson", {}, "holds NaN or infinity"),
             (broken, "convert", {"dtype": "uint8", "how": "round"}, "which uint8 cannot keep"),
             (negative, "convert", {"dtype": "uint8", "how": "scale"}, "scale takes 0 to 1; normalise"),
             (negative, "convert", {"dtype": "uint8"}, "but uint8 takes 0 to 255"),
             (broken, "rotate", {}, "takes an image, and the input is a signal"))  # fmt: skip
    for input, id, values, words in cases:
        with pytest.raises(KernelscopeError, match=words):
            done(input, id, **values)


def test_too_large_for_memory() -> None:
    huge = Input("signal", np.broadcast_to(np.float64(1), (1 << 48,)), "t", "huge", {})
    with pytest.raises(InputError, match="huge after the step salt-pepper does not fit in memory; use a smaller input"):
        done(huge, "salt-pepper")


# Text and the command line

ONE = ["--device", "cpu", "--variant", "serial"]


@pytest.mark.parametrize("text, words", [("crop start", "'start' has no value in the step crop"), ("", "no step"),
                                         ("crop start=1,1 start=2,2", "is there twice"), ("gray 'a", "open quote"),
                                         ("grey", "did you mean gray")])  # fmt: skip
def test_text_that_is_no_step(text: str, words: str) -> None:
    with pytest.raises(ParamError, match=words):
        parse_step(text)


def test_a_step_as_text_is_the_same_step() -> None:
    for step in STEPS:
        for kind in step.kinds:
            for values in ({}, {p.name: p.choices[-1] for p in step.params[kind] if p.choices}):
                whole = check_step({"step": step.id, **values}, kind)
                assert check_step(parse_step(write_step(whole)), kind) == whole
    text = "crop start=1,2 shape=3,4"
    assert write_step(check_step(parse_step(text), "image")) == text


def test_steps_of_a_run_come_in_order_before_the_noise(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "r.json"
    flags = ["--step", "crop start=10,20 shape=60,80", "--step", "resize size=30,20", "--noise", "5"]
    assert main(["run", "mean", "--sample", "camera", *flags, *ONE, "--json", str(path)]) == 0
    assert (
        "mean2d of camera + crop 80 × 60 at x 20, y 10 + resize to 20 × 30 + noise σ 5, 20 x 30"
        in capsys.readouterr().out
    )
    (row,) = read_report(path).rows
    assert [s["step"] for s in row.input["steps"]] == ["crop", "resize", "noise"]
    part = cv2.resize(crop(sample("camera"), (10, 20), (60, 80)).array, (20, 30))
    np.testing.assert_array_equal(from_origin(row.input).clean, part)


@pytest.mark.parametrize("flag, words", [("crop start=600,0 shape=9,9", "choose a part inside"), ("blur", "no step"),
                                         ("gray", "gray already"), ("noise seed=-1", "seed must be")])  # fmt: skip
def test_a_mistake_on_the_command_line(flag: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "mean", "--sample", "camera", "--step", flag, *ONE]) == 2
    assert words in capsys.readouterr().err


def test_an_xray_takes_steps_too(capsys: pytest.CaptureFixture[str]) -> None:
    job = ["xray", "mean", "naive", "--sample", "chart", "--size", "30x20", "--dtype", "uint8"]
    assert main([*job, "--step", "resize factor=0.5"]) == 0
    assert "chart + resize × 0.5, 15 x 10" in capsys.readouterr().out
