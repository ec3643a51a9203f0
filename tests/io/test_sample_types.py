"""Values of types that filters do not take: what converts them, exactly or by a named rounding, and steps on them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpu_ops import apply_steps, convert, from_array, load, save
from gpu_ops.cli import main
from gpu_ops.errors import InputError
from gpu_ops.io.steps.tones import conversions
from gpu_ops.types import DTYPES

OTHERS = ("int8", "int16", "int32", "uint32", "int64", "uint64", "float16")


def image(dtype: str) -> np.ndarray:
    """Values from -100 to 100, or 0 to 200."""
    values = np.arange(-100, 101)[:200].reshape(10, 20)
    return (values if dtype[0] != "u" else values + 100).astype(dtype)


def after(array: np.ndarray, id: str, **values: object) -> np.ndarray:
    return apply_steps(from_array(array), [{"step": id, **values}]).array


@pytest.mark.parametrize(("dtype", "ending"), [*((dtype, ".tif") for dtype in OTHERS), ("int64", ".npy")])
def test_the_command_line_names_what_converts_and_takes_it(
    dtype: str, ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"a{ending}"
    if ending == ".npy":
        save(path, image(dtype))
    else:
        import tifffile

        tifffile.imwrite(path, image(dtype))
    run = ["run", "mean", "--input", str(path), "--device", "cpu", "--variant", "parallel"]
    assert main(run) == 2
    err = capsys.readouterr().err
    assert f"a{ending} is {dtype}; convert it to float32, which keeps every value (--dtype float32)." in err
    assert main([*run, "--dtype", "float32", "--output", str(tmp_path / "out.npy")]) == 0
    assert "right" in capsys.readouterr().out and np.load(tmp_path / "out.npy").dtype == np.float32


def test_conversions_keep_every_value_or_say_that_they_round() -> None:
    def found(dtype: str, low: float, high: float, allowed: tuple[str, ...] = DTYPES) -> list[str]:
        return [f"{step['dtype']} {step['how']}" for step in conversions(dtype, low, high, allowed)]

    assert found("int16", -1, 70) == ["float32 keep"] and found("int16", 0, 256) == ["float32 keep", "uint16 keep"]
    assert found("int32", 0, 2**24) == ["float32 keep"] and found("int32", -1, 2**24 + 1) == ["float64 keep"]
    assert found("int32", -(2**24) - 1, 0) == ["float64 keep"]
    assert found("int64", 0, 2**53) == ["float64 keep"] and found("uint64", 0, 2**53 + 1) == ["float64 round"]
    assert found("float16", 0, 1) == ["float32 keep"] == found("float32", 0, 1, ("uint8", "float32"))
    assert found("float64", 0, 1, ("uint8", "float32")) == ["float32 round"]
    assert found("int16", -5, 5, ("uint8",)) == ["uint8 scale"] and found("int16", 0, 5, ("uint8",)) == ["uint8 keep"]


@pytest.mark.parametrize(
    "value", [2**24 + 1, -(2**24) - 1, 2**31 - 1, 2**53 + 1, 2**63 - 1, -(2**63) + 1], ids=lambda v: f"{v:g}"
)
def test_whole_numbers_that_a_float_cannot_hold_are_refused_and_rounded_when_asked(value: int) -> None:
    array = np.array([0, 1, value])
    target = "float32" if abs(value) < 2**32 else "float64"
    with pytest.raises(InputError, match=f"{target} cannot keep exactly"):
        convert(from_array(array), target)
    rounded = after(array, "convert", dtype=target, how="round")
    assert np.array_equal(rounded, array.astype(target))
    if target == "float32":
        assert np.array_equal(convert(from_array(array), "float64").array.astype(np.int64), array)


def test_large_whole_numbers_that_a_float_holds_are_kept() -> None:
    array = np.array([-(2**31), 2**30, 2**26])
    assert np.array_equal(convert(from_array(array), "float32").array.astype(np.int64), array)


@pytest.mark.parametrize(
    ("dtype", "low", "high"), [("int8", -128, 127), ("int16", -32768, 32767), ("uint32", 0, 2**32 - 1)]
)
def test_scale_takes_the_whole_range_of_the_type(dtype: str, low: int, high: int) -> None:
    array = np.array([low, high], dtype)
    assert after(array, "convert", dtype="float64", how="scale").tolist() == [0, 1]
    assert after(array, "convert", dtype="uint8", how="scale").tolist() == [0, 255]
    assert after(array, "convert", dtype="uint16", how="scale").tolist() == [0, 65535]


def test_signed_values_keep_their_sign_through_steps() -> None:
    array = image("int16")
    assert np.array_equal(after(array, "invert"), -1 - array)
    noisy = after(array, "noise", sigma=3.0, seed=1)
    assert noisy.dtype == np.int16 and noisy.min() < -90 and abs(float((noisy - array).mean())) < 1
    colours = np.repeat(array[..., None], 3, axis=2)
    assert np.array_equal(after(colours, "gray", weights="mean"), array)
    assert set(np.unique(after(array, "salt-pepper", share=1.0)).tolist()) == {-32768, 32767}
    assert after(array, "resize", factor=2.0).min() == -100 and after(array, "rotate", angle=30.0).min() < -90
    assert after(array[0], "resize", factor=0.5).min() < -90
    assert np.array_equal(after(array, "convert", dtype="uint8", how="round"), np.clip(array, 0, 255))


def test_the_ends_of_wide_integers_stay_inside_their_type() -> None:
    ends = np.array([-(2**63), 2**63 - 1] * 50)
    noisy = after(ends, "noise", sigma=1e12, seed=1)
    assert (np.sign(noisy) == np.sign(ends)).all()
    assert (np.sign(after(ends, "salt-pepper", share=1.0, seed=3)) != 0).all()


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint32", "int64", "float16"])
def test_types_that_opencv_does_not_compute_with_are_named(dtype: str) -> None:
    for id, values in (("resize", {"factor": 2.0}), ("rotate", {"angle": 30.0})):
        with pytest.raises(InputError, match=f"{dtype}, and pixels are computed in .* add the step convert before"):
            after(image(dtype), id, **values)
    assert after(image(dtype), "resize", factor=2.0, method="nearest").shape == (20, 40)
    assert after(image(dtype), "rotate", angle=90.0).shape == (20, 10)


@pytest.mark.parametrize("command", [["xray", "mean", "naive"], ["bench", "mean", "--device", "cpu"]])
def test_every_command_names_what_converts(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(tmp_path / "a.npy", image("int16"))
    assert main([*command, "--input", str(tmp_path / "a.npy")]) == 2
    assert "a.npy is int16; convert it to float32, which keeps every value" in capsys.readouterr().err


def test_a_mean_of_frames_of_wide_numbers_keeps_their_digits(tmp_path: Path) -> None:
    frames = np.full((3, 4, 5), 2**24 + 1, np.int32)
    save(tmp_path / "a.npy", frames)
    found = load(tmp_path / "a.npy", project="mean").array
    assert found.dtype == np.float64 and (found == 2**24 + 1).all()


def test_boolean_signals_are_numbers() -> None:
    assert from_array(np.array([True, False])).array.tolist() == [1, 0]
    assert from_array(np.array([[True, False]])).array.tolist() == [[255, 0]]
