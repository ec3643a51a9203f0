"""The axes of frames and their steps: read from ImageJ's notes and OME's XML, and kept by a run over all frames."""

import numpy as np
import pytest
import tifffile
from PIL import Image

from gpu_ops.cli import main
from gpu_ops.io import load, survey
from gpu_ops.types import FrameAxes, Pixel

FRAMES = np.repeat(np.arange(24, dtype=np.uint16) * 1000, 72).reshape(2, 3, 4, 9, 8)
"""Each frame is constant, so that its mean is itself."""


def written(path, axes, ome=False, **notes):
    """The frames along these axes in a file of ImageJ's or OME's kind."""
    shape = [(2, 3, 4)["TZC".index(axis)] for axis in axes]
    array = FRAMES.reshape(-1, 9, 8)[: int(np.prod(shape))].reshape(*shape, 9, 8)
    metadata = {"axes": f"{axes}YX", **notes}
    tifffile.imwrite(path, array, imagej=not ome, ome=ome, metadata=metadata, photometric="minisblack")
    return array


def over_all_frames(tmp_path, source, name="out.tif"):
    run = ["run", "mean", "--device", "cpu", "--variant", "serial", "--frames", "all"]
    assert main([*run, "--input", str(tmp_path / source), "--output", str(tmp_path / name)]) == 0
    return tmp_path / name


IMAGEJ = {"finterval": 0.25, "spacing": 1.5, "unit": "um"}
OME = {"TimeIncrement": 250.0, "TimeIncrementUnit": "ms", "PhysicalSizeZ": 1.5}


LONG = pytest.mark.thorough
ALL = [(axes, ome) for axes in ("T", "Z", "C", "TZ", "TC", "TZC") for ome in (False, True)]
FEW = [("T", False), ("Z", True), ("TZC", False)]


@pytest.mark.parametrize(("axes", "ome"), [*FEW, *(pytest.param(*c, marks=LONG) for c in ALL if c not in FEW)])
def test_axes_and_steps_are_read_and_kept(tmp_path, axes, ome):
    size = {"PhysicalSizeX": 0.5, "PhysicalSizeY": 0.5} if ome else {}
    array = written(tmp_path / "x.tif", axes, ome, **(OME | size if ome else IMAGEJ))
    facts = load(tmp_path / "x.tif").facts
    steps = (0.25 if "T" in axes else 0.0, 0.0015 if "Z" in axes else 0.0)
    assert facts.frame_axes == FrameAxes(axes, array.shape[:-2], *steps)
    out = over_all_frames(tmp_path, "x.tif")
    with tifffile.TiffFile(out) as file:
        (series,) = file.series
        assert series.axes == f"{axes}YX" and series.shape == array.shape
        assert np.array_equal(series.asarray(), array)
        assert file.imagej_metadata.get("finterval") == (0.25 if "T" in axes else None)
    again = load(out).facts
    pixel = Pixel(0.5, 0.5, "µm") if ome else Pixel(1.0, 1.0, "µm")
    assert again.pixel == pixel and again.frame_axes[:2] == facts.frame_axes[:2]
    assert again.frame_axes[2:] == pytest.approx(steps)


@pytest.mark.parametrize("axes", ["CZT", *(pytest.param(axes, marks=LONG) for axes in ("ZT", "CT", "CTZ", "ZCT"))])
def test_other_orders_of_axes_are_kept(tmp_path, axes):
    array = written(tmp_path / "x.tif", axes, ome=True)
    out = over_all_frames(tmp_path, "x.tif")
    with tifffile.TiffFile(out) as file:
        assert file.series[0].axes == f"{axes}YX" and np.array_equal(file.series[0].asarray(), array)
    assert load(out).facts.frame_axes.letters == axes and np.array_equal(
        load(out, frame=1).array, array.reshape(-1, 9, 8)[1]
    )


def test_words_about_the_result_stay_beside_them(tmp_path):
    written(tmp_path / "x.tif", "T", **IMAGEJ)
    with tifffile.TiffFile(over_all_frames(tmp_path, "x.tif")) as file:
        words = file.pages[0].description
    assert words.startswith("ImageJ=") and "\nfilter: mean2d" in words and "window: 3" in words


def test_a_survey_says_the_steps(tmp_path):
    written(tmp_path / "x.tif", "TZ", ome=True, **OME)
    facts = survey(tmp_path / "x.tif").facts
    assert ("frames", "6 (time 2, depth 3)") in facts and ("interval", "0.25 s") in facts
    assert ("distance", "0.0015 mm") in facts


@pytest.mark.parametrize(
    ("notes", "interval"),
    [
        ({"finterval": 40.0, "tunit": "ms"}, 0.04),
        ({"fps": 20.0}, 0.05),
        ({"finterval": -1.0}, 0.0),
        ({"finterval": 2.0, "tunit": "weeks"}, 0.0),
    ],
)
def test_units_of_time(tmp_path, notes, interval):
    written(tmp_path / "x.tif", "T", **notes)
    assert load(tmp_path / "x.tif").facts.frame_axes.interval == pytest.approx(interval)


def test_frames_of_no_known_axis_stay_plain(tmp_path):
    tifffile.imwrite(tmp_path / "x.tif", FRAMES[0, :, 0], metadata=None, photometric="minisblack")
    assert load(tmp_path / "x.tif").facts.frame_axes == FrameAxes()
    with tifffile.TiffFile(over_all_frames(tmp_path, "x.tif")) as file:
        assert not file.is_imagej
    assert np.array_equal(load(tmp_path / "out.tif", frame=2).array, FRAMES[0, 2, 0])


def test_frames_of_an_animation_are_times(tmp_path):
    first, *others = [Image.fromarray(np.full((9, 8), 40 * k, np.uint8)) for k in range(3)]
    for name in ("x.gif", "x.webp", "x.png"):
        first.save(tmp_path / name, save_all=True, append_images=others, lossless=True)
        assert load(tmp_path / name).facts.frame_axes == FrameAxes("T", (3,))
    with tifffile.TiffFile(over_all_frames(tmp_path, "x.gif")) as file:
        assert file.series[0].axes == "TYX" and file.series[0].shape == (3, 9, 8)
