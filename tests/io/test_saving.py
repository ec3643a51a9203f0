"""Results in files: values that a format holds bit for bit, mappings of the others, and the facts that files tell."""

from __future__ import annotations

import csv
import io
import json
import struct
import warnings
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import tifffile
from PIL import Image
from scipy.io import wavfile

from gpu_ops.cli import main
from gpu_ops.errors import InputError, ParamError
from gpu_ops.io import Saving, files, load, save, save_result, survey
from gpu_ops.io.formats import Format
from gpu_ops.io.notes import LONGEST, comment_lines, lines_of
from gpu_ops.io.steps.mapping import MAPS, map_values, maps_for, writes_exactly
from gpu_ops.output_kinds import Axis, Form
from gpu_ops.report.about import SEVERAL, about_input, about_rows, about_run, input_name
from gpu_ops.report.rows import Row
from gpu_ops.types import Pixel

RANDOM = np.random.default_rng(5)
ABOUT = {"input": "ÿ a.png", "parameters": {"window": 5, "rule": "a#b"}, "steps": ["crop 3 x 4", "noise sigma 2"]}


def of(dtype: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Random values that use the whole range of whole numbers."""
    if dtype.startswith("u"):
        return RANDOM.integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)
    return RANDOM.normal(size=shape).astype(dtype)


def form_of(array: np.ndarray[Any, Any], names: str) -> Form:
    return Form(array.shape, array.dtype.name, tuple(Axis(name) for name in names[: array.ndim]))


def save_as(path: Path, kind: Any, array: np.ndarray[Any, Any], **how: Any) -> str:
    rate = how.pop("rate", None)
    return save_result(path, kind, array, form_of(array, "yxc"), rate=rate, saving=Saving(**how))


# The size of a pixel


def test_a_tiff_has_the_size_of_a_pixel_after_the_steps(tmp_path: Path) -> None:
    save(tmp_path / "in.tif", of("uint16", (40, 60)), pixel=Pixel(0.6, 0.2, "mm"))
    steps = ("resize size=20,40", "rotate angle=90", "flip axis=top-bottom", "crop start=1,2 shape=30,10")
    words = ["--input", str(tmp_path / "in.tif"), *(w for step in steps for w in ("--step", step))]
    assert main(["run", "mean", *words, "--variant", "serial", "--output", str(tmp_path / "out.tif")]) == 0
    with tifffile.TiffFile(tmp_path / "out.tif") as file:
        tags = file.pages[0].tags
        x, y = (10 * tags[tag].value[1] / tags[tag].value[0] for tag in (282, 283))
        assert tags[296].value == 3 and file.pages[0].shape == (30, 10)
    # Rows are 0.6 · 40 / 20 = 1.2 mm apart and columns 0.2 · 60 / 40 = 0.3; a quarter turn exchanges them.
    assert (y, x) == pytest.approx((0.3, 1.2), rel=1e-9)
    assert load(tmp_path / "out.tif").facts.pixel == Pixel(0.3, 1.2, "mm")


def test_what_has_no_pixels_of_its_input_has_no_size_of_one(tmp_path: Path) -> None:
    pixel, array = Pixel(0.5, 0.5, "mm"), of("float32", (5, 7))
    for unit, expected in (("px", Pixel(0.5, 1.0, "mm")), ("1/px", None)):
        form = Form((5, 7), "float32", (Axis("y", unit), Axis("x", unit, step=2.0)))
        save_result(tmp_path / "a.tif", "image", array, form, saving=Saving(pixel=pixel))
        assert load(tmp_path / "a.tif").facts.pixel == expected


# Round trips, against readers of other libraries


@pytest.mark.parametrize("about", [{}, ABOUT], ids=["bare", "with facts"])
@pytest.mark.parametrize("shape", [(5, 7), (5, 7, 3), (5, 7, 4)])
@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_png_keeps_every_bit(dtype: str, shape: tuple[int, ...], about: dict[str, Any], tmp_path: Path) -> None:
    array = of(dtype, shape)
    assert save_as(tmp_path / "a.png", "image", array, about=about) == ""
    read = cv2.imread(str(tmp_path / "a.png"), cv2.IMREAD_UNCHANGED)
    if len(shape) == 3:
        read = cv2.cvtColor(read, cv2.COLOR_BGR2RGB if shape[2] == 3 else cv2.COLOR_BGRA2RGBA)
    assert read.dtype == dtype and np.array_equal(read, array)
    assert np.array_equal(load(tmp_path / "a.png").array, array)


@pytest.mark.parametrize("about", [{}, ABOUT], ids=["bare", "with facts"])
@pytest.mark.parametrize("shape", [(101,), (33, 1), (33, 2), (20, 5)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_wav_keeps_every_bit_and_the_rate(dtype: str, shape: Any, about: dict[str, Any], tmp_path: Path) -> None:
    array = of(dtype, shape)
    save_as(tmp_path / "a.wav", "signal", array, rate=8000.0, about=about)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scipy does not know the list of facts
        rate, read = wavfile.read(tmp_path / "a.wav")
    assert rate == 8000 and np.array_equal(read.reshape(shape), array)
    size = struct.unpack_from("<I", (tmp_path / "a.wav").read_bytes(), 4)[0]
    assert size + 8 == (tmp_path / "a.wav").stat().st_size
    if dtype == "float64" or len(shape) == 1:
        assert np.array_equal(load(tmp_path / "a.wav").array.reshape(shape), array)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64"])
@pytest.mark.parametrize(
    ("kind", "shape"), [("image", (4, 5, 3)), ("image", (4, 5)), ("signal", (9,)), ("signal", (9, 2))]
)
def test_npy_keeps_every_bit(dtype: str, kind: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    array = of(dtype, shape)
    save_as(tmp_path / "a.npy", kind, array, about=ABOUT)
    read = np.load(tmp_path / "a.npy")
    assert read.dtype == dtype and np.array_equal(read, array)


def test_a_table_of_channels_has_a_column_each(tmp_path: Path) -> None:
    array = of("float64", (6, 2))
    form = Form((6, 2), "float64", (Axis("time", "s", 0, 0.5), Axis("channel")))
    save_result(tmp_path / "a.csv", "signal", array, form, "mV", saving=Saving(about=ABOUT))
    lines = (tmp_path / "a.csv").read_text().splitlines()
    assert lines[len(list(lines_of(ABOUT)))] == "time (s),channel 1 (mV),channel 2 (mV)"
    read = np.genfromtxt(io.StringIO("\n".join(line for line in lines if line[0] != "#")), delimiter=",", names=True)
    assert np.array_equal(read["channel_2_mV"], array[:, 1]) and np.array_equal(read["time_s"], np.arange(6) / 2)


# Mappings


PICTURES = [
    # values, mapping, levels, result, words
    ([0.0, 0.5, 1.0], "scale", None, ("uint16", [0, 32768, 65535]), "0…1 became 0…65535"),
    ([-2.0, 0.0, 2.0], "scale", None, ("uint16", [0, 32768, 65535]), "-2…2 became 0…65535"),
    ([3.0, 3.0, 3.0], "scale", None, ("uint16", [0, 0, 0]), "every value was 3 and became 0"),
    ([-5.0, 99.5, 300.0], "clip", None, ("uint16", [0, 100, 300]), "cut at 0 and 65535, 1 of 3 lay outside"),
    ([-5.0, 99.5, 255.0], "clip", None, ("uint8", [0, 100, 255]), "cut at 0 and 255, 1 of 3 lay outside"),
    ([1.0, 99.4, 7e4], "clip", None, ("uint16", [1, 99, 65535]), "1 of 3 lay outside"),
    ([-1.0, 0.5, 9.0], "levels", (0, 1), ("uint8", [0, 128, 255]), "0…1 became 0…255, 2 of 3 lay outside and were cut"),
    ([np.nan, -np.inf, 1.0], "scale", None, ("uint16", [0, 0, 0]), "every value was 1 and became 0; 1 NaN became 0"),
    ([np.nan, 0.0, np.inf, 4.0], "scale", None, ("uint16", [0, 0, 65535, 65535]), "0…4 became 0…65535, 1 of 4"),
    ([-1.7e308, 0.0, 1.7e308], "scale", None, ("uint16", [0, 32768, 65535]), "became 0…65535"),
]


@pytest.mark.parametrize(("values", "map", "levels", "expected", "words"), PICTURES)
def test_pictures_of_floats_are_mapped(values: Any, map: str, levels: Any, expected: Any, words: str) -> None:
    found = map_values(np.array([values]), ".png", map, levels)
    assert (found.array.dtype.name, found.array[0].tolist()) == expected
    assert words in found.text


def test_whole_numbers_keep_their_type_and_alpha_its_share() -> None:
    array = np.array([[[10, 20, 30, 255], [20, 30, 60, 51]]], np.uint8)
    scaled = map_values(array, ".png", "scale")
    assert scaled.array.dtype == np.uint8 and scaled.array.tolist() == [[[0, 51, 102, 255], [51, 102, 255, 51]]]
    assert scaled.text == "10…60 became 0…255; alpha 0…255 became 0…255"
    floats = map_values((array / 255).astype(np.float32), ".png", "scale")
    assert floats.array[..., 3].tolist() == [[65535, 13107]] and "alpha 0…1 became 0…65535" in floats.text
    levelled = map_values(array.astype(np.uint16) * 257, ".png", "levels", (0.0, 65535.0))
    assert np.array_equal(levelled.array, array)


SOUNDS = [
    ([0.0, 2.0, -4.0], "scale", "float64", [0, 0.5, -1], "-4…4 became -1…1"),
    ([0.0, 2.0, -4.0], "clip", "float64", [0, 1, -1], "values were cut at -1 and 1, 2 of 3 lay outside"),
    ([np.nan, np.inf, 0.25, -0.5], "scale", "float64", [0, 1, 0.5, -1], "-0.5…0.5 became -1…1; 1 NaN became 0"),
    ([0.0, 0.0], "scale", "float64", [0, 0], "every value was 0 and became 0"),
    (np.array([0, 51, 255], np.uint8), "scale", "float32", [-1, -0.6, 1], "0…255 became -1…1"),
]


@pytest.mark.parametrize(("values", "map", "dtype", "expected", "words"), SOUNDS)
def test_sound_is_mapped_and_silence_stays_silent(values: Any, map: str, dtype: str, expected: Any, words: str) -> None:
    found = map_values(np.asarray(values), ".wav", map)
    assert found.array.dtype == dtype and found.array.tolist() == np.array(expected, dtype).tolist()
    assert found.text == words


@pytest.mark.parametrize(
    ("array", "suffix", "map", "levels", "error", "words"),
    [
        (np.zeros((2, 2)), ".npy", "scale", None, ParamError, "holds every value as it is"),
        (np.zeros((2, 2)), ".png", "levels", None, ParamError, "two levels, the lower first"),
        (np.zeros((2, 2)), ".png", "levels", (1.0, 1.0), ParamError, "two levels, the lower first"),
        (np.zeros((2, 2)), ".png", "levels", (0.0, np.inf), ParamError, "two levels, the lower first"),
        (np.zeros((2, 2)), ".png", "stretch", None, ParamError, "none, clip, scale, levels, not 'stretch'"),
        (np.full((2, 2), np.nan), ".png", "scale", None, InputError, "no value is finite"),
        (np.zeros(3), ".wav", "levels", (0.0, 1.0), ParamError, "levels are those of pictures"),
        (np.zeros(3, np.uint8), ".wav", "clip", None, ParamError, "choose scale instead"),
        (np.zeros((3, 3), complex), ".png", "scale", None, ParamError, "cannot hold complex128"),
    ],
)
def test_what_cannot_be_mapped_is_a_sentence(
    array: Any, suffix: str, map: str, levels: Any, error: Any, words: str
) -> None:
    with pytest.raises(error, match=words):
        map_values(array, suffix, map, levels)


def test_mappings_are_offered_where_a_format_needs_one() -> None:
    assert maps_for(".png", "float32") == ("scale", "clip", "levels") and set(maps_for(".png", "float64")) < set(MAPS)
    assert maps_for(".png", "uint16") == maps_for(".npy", "float32") == maps_for(".wav", "float32") == ()
    assert maps_for(".wav", "uint8") == ("scale",) and maps_for(".flac", "float32", -1.5, 0) == ("scale", "clip")
    assert (
        writes_exactly(".flac", "float32", -1, 0.99)
        and not writes_exactly(".flac", "float32", -1, 1)
        and writes_exactly(".flac", "uint8")
    )
    for map in ("scale", "clip"):
        sound = map_values(np.array([-4.0, 0.0, 4.0], np.float32), ".flac", map).array
        assert sound[1] == 0 and -1 <= sound[0] < -0.99999 and 0.99999 < sound[2] < 1


def test_large_pictures_are_mapped_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    array = of("float32", (50, 21))
    whole = map_values(array, ".png", "scale")
    firsts: list[int] = []
    monkeypatch.setattr("gpu_ops.io.steps.mapping.BLOCK", 64)
    monkeypatch.setattr("gpu_ops.io.steps.mapping.advance", lambda first, _: firsts.append(first))
    pieces = map_values(array, ".png", "scale")
    assert firsts == list(range(0, 50, 3)), "as many rows as fit"
    assert np.array_equal(pieces.array, whole.array) and pieces.text == whole.text
    low, high = float(array.min()), float(array.max())
    expected = np.floor((array.astype(np.float64) - low) / (high - low) * 65535 + 0.5)
    assert np.array_equal(whole.array, expected)


# Facts


def test_a_png_and_a_wav_tell_what_they_are(tmp_path: Path) -> None:
    mapping = save_as(tmp_path / "a.png", "image", of("float32", (4, 5)), map="scale", about=ABOUT)
    assert "became 0…65535" in mapping
    with Image.open(tmp_path / "a.png") as image:
        image.load()
        events = image.text["Description"].splitlines()
    assert events[:3] == ["input: ÿ a.png", "parameter window: 5", "parameter rule: a#b"]
    assert events[-1] == f"values: {mapping}"
    import soundfile

    save_as(tmp_path / "a.wav", "signal", of("float32", (7,)) * 3, map="clip", about=ABOUT)
    with soundfile.SoundFile(tmp_path / "a.wav") as file:
        assert "steps: crop 3 x 4; noise sigma 2" in file.comment and "values: values were cut" in file.comment
        assert file.software.startswith("Kernelscope") and file.frames == 7


@pytest.mark.parametrize("dtype", ["float32", "int16"])
def test_a_flac_tells_what_it_is_and_keeps_every_sample(dtype: str, tmp_path: Path) -> None:
    import soundfile

    array = of("uint16", (5000, 2)).astype("int16") if dtype == "int16" else of("float32", (5000,)) * np.float32(0.01)
    files.save(tmp_path / "bare.flac", array, rate=8000)
    facts = {**ABOUT, "sha256": "ab" * 32, "matrix": " ".join(map(str, range(2000)))}
    files.save(tmp_path / "a.flac", array, rate=8000, note="\n".join(lines_of(facts)))
    with soundfile.SoundFile(tmp_path / "a.flac") as file:
        assert file.comment.splitlines() == list(lines_of(facts)) and len(file.comment) > 1000
        assert file.software.startswith("Kernelscope")
    assert np.array_equal(load(tmp_path / "a.flac").array, load(tmp_path / "bare.flac").array)
    events = dict(survey(tmp_path / "a.flac").facts)["comment"]
    assert events.startswith("input: ÿ a.png; parameter window: 5") and len(events) == 300
    assert "comment" not in dict(survey(tmp_path / "bare.flac").facts)


def test_a_format_that_tells_gets_the_note_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(file: Any, array: Any, rate: Any, name: str, about: str = "") -> None:
        file.write(about.encode())

    events = Format("a test", (".npy",), ("image",), lambda opening: None, write, has_facts=True)  # type: ignore[arg-type]
    monkeypatch.setitem(files.BY_SUFFIX, ".npy", events)
    files.save(tmp_path / "a.npy", np.zeros(3), note="a: 1")
    assert (tmp_path / "a.npy").read_text() == "a: 1"
    files.save(tmp_path / "a.tif", np.zeros((3, 4)), note="a: 1")
    with tifffile.TiffFile(tmp_path / "a.tif") as file:
        assert file.pages[0].description == "a: 1"


def test_a_table_begins_with_facts_that_readers_skip(tmp_path: Path) -> None:
    counts = np.arange(4)
    form = Form((4,), "int64", (Axis("value", "V", -1, 0.5),))
    facts = {**ABOUT, "note": "two\nlines, and a comma"}
    save_result(tmp_path / "a.csv", "bars", counts, form, "samples", saving=Saving(about=facts))
    text = (tmp_path / "a.csv").read_text()
    heading = [line for line in text.splitlines() if line.startswith("# ")]
    assert heading == [f"# {line}" for line in lines_of(facts)] and r"two\nlines" in heading[-1]
    read = np.loadtxt(tmp_path / "a.csv", comments="#", delimiter=",", skiprows=len(heading) + 1)
    assert read.tolist() == [[-1, -0.5, 0], [-0.5, 0, 1], [0, 0.5, 2], [0.5, 1, 3]]
    rows = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
    assert rows[1]["value (samples)"] == "1"


def test_tables_and_numbers_as_json(tmp_path: Path) -> None:
    values = np.array([[1.5, np.nan], [np.inf, -np.inf]])
    form = Form((2, 2), "float64", (Axis("name", labels=("a", "b")), Axis("channel")))
    save_result(tmp_path / "a.json", "table", values, form, "V", saving=Saving(about=ABOUT))
    content = json.loads((tmp_path / "a.json").read_text())
    assert content["about"] == ABOUT and content["columns"] == ["name", "channel 1 (V)", "channel 2 (V)"]
    assert content["rows"] == [["a", 1.5, None], ["b", "infinite", "-infinite"]]
    save_result(tmp_path / "n.json", "number", np.array(2 + 3j), Form((), "complex128", ()), "V")
    assert json.loads((tmp_path / "n.json").read_text()) == {"about": {}, "value": [2.0, 3.0], "unit": "V"}


def test_a_mapping_is_refused_where_nothing_is_to_be_mapped_and_the_old_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("old")
    with pytest.raises(ParamError, match="leave the mapping scale out"):
        save_result(path, "bars", np.arange(4), Form((4,), "int64", (Axis("value"),)), saving=Saving("scale"))
    with pytest.raises(InputError, match="cannot hold float32"):
        save_as(tmp_path / "a.png", "image", of("float32", (3, 3)))
    assert path.read_text() == "old" and [p.name for p in tmp_path.iterdir()] == ["a.csv"]


def row_of(**changes: Any) -> Row:
    origin = {"path": "/home/someone/deep/a.png", "hash": "ab12", "choices": {"frame": 3}}
    origin["steps"] = [{"step": "noise", "sigma": 20.0, "seed": 1}, {"step": "crop", "start": [1, 2], "shape": [3, 4]}]
    fields = {"filter": "mean2d", "variant": "serial", "device": "cpu", "params": {"window": 5}, "knobs": {}}
    fields |= {"shape": (4, 5), "dtype": "uint8", "mode": "stream", "input": origin, "ok": True, "error_max": 0.0}
    return Row(**(fields | changes))


MACHINE = {"cpu": "A processor", "system": "Linux", "python": "3.11", "libraries": {"numpy": "2"}, "commit": "c0ffee"}


def test_the_facts_of_a_run_name_everything_and_no_folder() -> None:
    facts = about_run(row_of(knobs={"rows": 4}), {**MACHINE, "devices": {"cpu": {"model": "A processor"}}}, "image")
    lines = list(lines_of(facts))
    assert lines[:7] == [
        "input: a.png",
        "sha256: ab12",
        "read as: frame 3",
        "steps: noise sigma 20 seed 1; crop start x 2 y 1 size 4 x 3",
        "filter: mean2d",
        "parameter window: 5",
        "output: image",
    ]
    for line in (
        "variant: serial",
        "knob rows: 4",
        "machine: A processor",
        "version numpy: 2",
        "version commit: c0ffee",
    ):
        assert line in lines
    assert "verdict: right, largest error 0" in lines and "someone" not in "\n".join(lines)


def test_the_facts_of_a_table_are_those_that_its_rows_share() -> None:
    rows = [row_of(), row_of(variant="scipy", params={"window": 7}, dtype="uint8")]
    facts = about_rows(rows, MACHINE)
    assert facts["input"] == "a.png" and facts["filter"] == "mean2d" and facts["variant"] == SEVERAL
    assert facts["parameters"] == {"window": SEVERAL} and facts["device"] == "cpu"
    assert about_rows(rows, MACHINE, "A recorded machine")["machine"] == "A recorded machine"
    assert "filter" not in about_rows([], MACHINE)


def test_samples_are_named_by_their_options() -> None:
    assert input_name({"generator": "noise", "seed": 0, "length": 9, "steps": []}) == "noise length=9 seed=0"
    assert about_input({"array": "array", "hash": "x", "steps": []}) == {"input": "array", "sha256": "x"}


def test_long_facts_are_shortened_and_stay_on_one_line() -> None:
    text = comment_lines({"a": "x" * 5000, "b": "1\n2\r3"})
    assert [len(line) <= LONGEST + 5 for line in text.splitlines()] == [True, True] and text.count("\n") == 2
