"""FLAC and Ogg: values as libsndfile reads them, cut files, and what FLAC keeps of an array."""

import numpy as np
import pytest
import soundfile

from gpu_ops.errors import InputError
from gpu_ops.io import from_origin, load, save, survey
from gpu_ops.io.rows import open_rows

NOISE = np.random.default_rng(5).uniform(-0.9, 0.9, (3000, 2))


def refused(path, words):
    with pytest.raises(InputError, match=words) as error:
        load(path)
    assert str(error.value).isprintable()


@pytest.mark.parametrize(("subtype", "dtype"), [("PCM_S8", "float32"), ("PCM_16", "float32"), ("PCM_24", "float64")])
@pytest.mark.parametrize("channels", [1, 2])
def test_flac_agrees_with_soundfile(tmp_path, subtype, dtype, channels):
    path = tmp_path / "x.flac"
    soundfile.write(path, NOISE[:, :channels], 22050, subtype)
    found = load(path)
    expected, rate = soundfile.read(path, dtype=dtype)
    assert found.array.dtype == dtype and found.rate == rate == 22050
    assert np.array_equal(found.array, expected)


@pytest.mark.parametrize("subtype", ["VORBIS", "OPUS"])
def test_ogg_agrees_with_soundfile(tmp_path, subtype):
    path = tmp_path / ("x.opus" if subtype == "OPUS" else "x.ogg")
    soundfile.write(path, NOISE, 48000, format="OGG", subtype=subtype)
    expected, _ = soundfile.read(path, dtype="float32")
    assert np.array_equal(load(path).array, expected)


@pytest.mark.parametrize("suffix", [".flac", ".ogg"])
def test_a_cut_file_is_refused(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    soundfile.write(path, NOISE, 48000)
    whole = path.read_bytes()
    for part in (0.3, 0.9, 0.999):
        path.write_bytes(whole[: int(len(whole) * part)])
        refused(path, "cut short|damaged or unusual")
    path.write_bytes(whole)
    assert len(load(path).array) == len(NOISE)


@pytest.mark.parametrize("subtype", ["PCM_16", "PCM_24", "FLOAT"])
@pytest.mark.parametrize(("riff", "length"), [(0, 0), (36, 0), (0xFFFFFFFF, 0xFFFFFFFF), (0x7FFFFFFF, 0x7FFFFFDB)])
def test_a_wav_file_that_does_not_say_how_long_it_is(tmp_path, subtype, riff, length):
    path = tmp_path / "x.wav"
    soundfile.write(path, NOISE, 22050, subtype)
    whole, data = load(path), bytearray(path.read_bytes())
    assert not whole.origin["steps"]
    start = data.index(b"data") + 8
    data[4:8], data[start - 4 : start] = riff.to_bytes(4, "little"), length.to_bytes(4, "little")
    size = len(NOISE) * 2 * {"PCM_16": 2, "PCM_24": 3, "FLOAT": 4}[subtype]
    path.write_bytes(data[: start + size])
    found = load(path)
    assert np.array_equal(found.array, whole.array) and found.rate == 22050
    assert "does not say how long the sound is" in found.origin["steps"][0]["words"]
    assert ("length", "3,000 samples, 0.136054 s") in survey(path).facts
    rows = open_rows(path)
    assert rows.shape == (3000, 2) and np.array_equal(rows.read(2900, 3000), whole.array[2900:])
    assert list(rows.steps) == found.origin["steps"]
    assert np.array_equal(from_origin(found.origin).array, whole.array)


def test_a_wav_file_without_samples_is_empty(tmp_path):
    path = tmp_path / "x.wav"
    soundfile.write(path, NOISE[:0], 22050, "PCM_16")
    data = path.read_bytes()
    for rest in (b"", b"LIST\4\0\0\0abcd"):
        path.write_bytes(data[:4] + (len(data) + len(rest) - 8).to_bytes(4, "little") + data[8:] + rest)
        refused(path, "is empty")


def test_a_flac_file_that_lies_about_its_length(tmp_path):
    path = tmp_path / "x.flac"
    soundfile.write(path, NOISE, 48000)
    data = bytearray(path.read_bytes())
    data[22:26] = b"\xff\xff\xff\xff"  # the low bits of the number of samples, after 4 + 4 + 14 bytes
    path.write_bytes(data)
    refused(path, "values, over the limit|cut short|damaged")
    data[21] &= 0xF0
    data[22:26] = bytes(4)  # unknown
    path.write_bytes(data)
    refused(path, "does not say how long it is|damaged|empty")


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32"])
@pytest.mark.parametrize("shape", [(5000,), (700, 8)])
def test_integers_come_back_as_they_were(tmp_path, dtype, shape):
    path, limits = tmp_path / "x.flac", np.iinfo(dtype)
    low, high = max(limits.min, -(2**23)), min(limits.max, 2**23 - 1)
    values = np.random.default_rng(6).integers(low, high, shape, dtype, endpoint=True)
    values.reshape(-1)[:2] = low, high
    save(path, values, rate=8000)
    bits = 16 if dtype in ("int8", "uint8", "int16") else 24
    assert soundfile.info(path).subtype == f"PCM_{bits}"
    assert np.array_equal(np.asarray(load(path).array, np.float64) * 2 ** (bits - 1), values)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_floats_are_rounded_to_24_bits(tmp_path, dtype):
    path, values = tmp_path / "x.flac", NOISE.astype(dtype)
    values[:2] = [[-1, 1 - 2**-23], [0, -0.5]]
    save(path, values, rate=96000)
    found = load(path)
    assert np.array_equal(found.array, np.rint(values.astype(np.float64) * 2**23) / 2**23) and found.rate == 96000


@pytest.mark.parametrize(
    ("array", "rate", "words"),
    [(np.array([0.5, 1.0]), None, r"values from 0.5 to 1; FLAC takes -1 to less than 1: scale it first"),
     (np.array([0, np.nan]), None, "cannot hold values"), (np.array([2**23]), None, "int64"),
     (np.array([2**23], np.int32), None, "-8388608 to 8388607"), (np.zeros((9, 9)), None, "at most 8 channels"),
     (np.zeros(9), 0.5, "whole hertz from 1"), (np.zeros(9), 1e6, "whole hertz"),
     (np.zeros(9, "c16"), None, "complex")],
)  # fmt: skip
def test_what_flac_cannot_hold_is_refused_and_nothing_is_written(tmp_path, array, rate, words):
    with pytest.raises(InputError, match=words):
        save(tmp_path / "x.flac", array, rate=rate)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("suffix", "words"), [(".flac", "FLAC"), (".wav", "WAV"), (".ogg", "Ogg")])
def test_a_survey_of_sound(tmp_path, suffix, words):
    path = tmp_path / f"x{suffix}"
    soundfile.write(path, NOISE, 44100)
    found = survey(path)
    assert found.title == f"{words} sound" and not found.asks
    assert found.facts[:3] == (("length", "3,000 samples, 0.0680272 s"), ("channels", "2"), ("rate", "44,100 Hz"))


def test_names_and_contents_must_agree(tmp_path):
    path = tmp_path / "x.flac"
    soundfile.write(path, NOISE, 44100)
    path.rename(tmp_path / "x.wav")
    refused(tmp_path / "x.wav", "holds FLAC sound, not WAV sound .*rename it to end in .flac")
