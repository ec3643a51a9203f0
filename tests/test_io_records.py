"""EDF and WFDB records: physical values, names, units and rates, checked against other readers and by hand."""

import sys

import numpy as np
import pytest

from gpu_ops.errors import InputError, ParamError
from gpu_ops.io import from_origin, load, survey
from gpu_ops.io.packed import BITS, MISSING

pyedflib = pytest.importorskip("pyedflib")


def refused(path, words, **choices):
    with pytest.raises((InputError, ParamError), match=words) as error:
        load(path, **choices)
    assert str(error.value).isprintable()


def write_edf(path, rates=(256, 256), seconds=4, bdf=False):
    top = 2 ** (23 if bdf else 15)
    kind = pyedflib.FILETYPE_BDFPLUS if bdf else pyedflib.FILETYPE_EDFPLUS
    with pyedflib.EdfWriter(str(path), len(rates), kind) as file:
        file.setSignalHeaders(
            [{"label": f"EEG {k}", "dimension": "uV", "sample_frequency": rate, "physical_max": 200.0 + k,
              "physical_min": -200.0, "digital_max": top - 1, "digital_min": -top, "transducer": "", "prefilter": ""}
             for k, rate in enumerate(rates)]
        )  # fmt: skip
        chance = np.random.default_rng(3)
        file.writeSamples([chance.uniform(-150, 150, rate * seconds) for rate in rates])
    return path


@pytest.mark.parametrize("bdf", [False, True])
def test_edf_agrees_with_pyedflib(tmp_path, bdf):
    path = write_edf(tmp_path / ("x.bdf" if bdf else "x.edf"), bdf=bdf)
    found = load(path)
    with pyedflib.EdfReader(str(path)) as file:
        expected = np.stack([file.readSignal(k) for k in range(2)], 1)
    assert np.array_equal(found.array, expected) and found.array.std() > 50
    assert (found.rate, found.facts.labels) == (256.0, ("EEG 0 (uV)", "EEG 1 (uV)"))
    assert found.origin["steps"] == [{"step": "physical", "units": ["uV", "uV"]}]
    assert np.array_equal(from_origin(found.origin).array, expected)
    assert np.array_equal(load(path, columns="eeg 1").array, expected[:, 1])


def test_edf_with_several_rates_asks(tmp_path):
    path = write_edf(tmp_path / "x.edf", (256, 1, 256))
    refused(path, r"channels of 256 Hz \(1, 3\) and 1 Hz \(2\); choose those of one with --columns")
    found = survey(path)
    assert found.asks and found.found == {} and len(found.rows) == 3
    chosen = survey(path, columns="2")
    assert not chosen.asks and chosen.found == {"columns": "2"} and ("length", "4 samples, 4 s") in chosen.facts
    assert load(path, columns="2").array.shape == (4,) and load(path, columns="1,3").array.shape == (1024, 2)
    refused(path, "no column '4'", columns="4")
    refused(path, "holds 2048 values, over the limit", columns="1,3", limit=2000)


def test_damaged_edf(tmp_path):
    path = write_edf(tmp_path / "x.edf")
    whole = path.read_bytes()
    for content in (whole[:-100], whole[:300], whole[:236] + b"-5      " + whole[244:], whole[:250]):
        path.write_bytes(content)
        refused(path, "damaged|binary data|holds text")


def test_edf_without_its_library(tmp_path, monkeypatch):
    from gpu_ops.io import apart

    path = write_edf(tmp_path / "x.edf")
    monkeypatch.setattr(apart, "here", True)
    monkeypatch.setitem(sys.modules, "pyedflib", None)
    refused(path, r"needs pyedflib: install it with pip install 'kernelscope\[formats\]'")


def pack(samples, format):
    """The bytes of samples, one by one, as the manual describes them."""
    if format == 212:
        result = bytearray()
        for a, b in zip(samples[::2], [*samples[1::2], 0], strict=False):
            result += bytes([a & 0xFF, (a >> 8 & 0xF) | (b >> 8 & 0xF) << 4, b & 0xFF])
        return bytes(result[: -(-len(samples) * 12 // 8)])
    if format in (80, 160):
        size = BITS[format] // 8
        return b"".join((int(s) + 2 ** (BITS[format] - 1)).to_bytes(size, "little") for s in samples)
    order = "big" if format == 61 else "little"
    return b"".join(int(s).to_bytes(BITS[format] // 8, order, signed=True) for s in samples)


def write_record(path, frames, format, lines, rate="360", length=True, offset=0):
    flat = [int(s) for s in frames.reshape(-1)]
    path.with_suffix(".dat").write_bytes(bytes(offset) + pack(flat, format))
    sums = [int(np.int16(np.uint16(int(frames[:, k].sum()) & 0xFFFF).view(np.int16))) for k in range(frames.shape[1])]
    body = "".join(f"x.dat {line.format(sum=total)}\n" for line, total in zip(lines, sums, strict=True))
    path.write_text(f"# made\nx {len(lines)} {rate}" + (f" {len(frames)}" if length else "") + f"\n{body}# end\n")
    return path


@pytest.mark.parametrize("format", BITS)
@pytest.mark.parametrize("count", [1, 24, 501])
def test_each_format_of_samples(tmp_path, format, count):
    top = 2 ** (BITS[format] - 1)
    frames = np.random.default_rng(format).integers(-top + 1, top, (count, 3))
    lines = [f"{format}+8 200(5)/mV 16 0 0 {{sum}} 0 I", f"{format}+8 100/uV 16 7 0 {{sum}} 0 lead II",
             f"{format}+8 0 16 0 0 {{sum}} 0 V"]  # fmt: skip
    found = load(write_record(tmp_path / "x.hea", frames, format, lines, offset=8))
    expected = (frames - np.array([5.0, 7, 0])) / np.array([200.0, 100, 200])
    assert np.array_equal(found.array, expected)
    assert (found.rate, found.facts.labels) == (360.0, ("I (mV)", "lead II (uV)", "V (mV)"))


def test_the_first_samples_of_a_known_record(tmp_path):
    """MIT-BIH 100 begins with 995 and 1011, packed in three bytes, as its documentation shows."""
    (tmp_path / "100.dat").write_bytes(bytes([0xE3, 0x33, 0xF3]))
    (tmp_path / "100.hea").write_text("100 2 360 1\n100.dat 212 200 11 1024 995 995 0 MLII\n"
                                      "100.dat 212 200 11 1024 1011 1011 0 V5\n")  # fmt: skip
    found = load(tmp_path / "100.hea")
    assert found.array.tolist() == [[-0.145, -0.065]] and found.facts.labels == ("MLII (mV)", "V5 (mV)")
    names = found.origin["steps"][0]["files"]
    assert list(names) == ["100.dat"] and len(names["100.dat"]) == 64


@pytest.mark.parametrize("format", BITS)
def test_missing_samples_are_nan(tmp_path, format):
    frames = np.array([[1], [MISSING[format]], [3]])
    path = write_record(tmp_path / "x.hea", frames, format, [f"{format} 1 16 0 0 {{sum}}"])
    refused(path, "1 NaN")
    np.testing.assert_array_equal(load(path, nonfinite="keep").array, [1, np.nan, 3])


def test_channels_of_several_rates_in_one_frame(tmp_path):
    frames = np.arange(40).reshape(8, 5)
    flat = [int(s) for s in frames.reshape(-1)]
    (tmp_path / "x.dat").write_bytes(pack(flat, 16))
    (tmp_path / "x.hea").write_text("x 2 100 8\nx.dat 16x4 1 16 0 0 608 0 fast\nx.dat 16 1 16 0 0 172 0 slow\n")
    refused(tmp_path / "x.hea", r"channels of 400 Hz \(1\) and 100 Hz \(2\)")
    assert survey(tmp_path / "x.hea").asks
    fast, slow = (load(tmp_path / "x.hea", columns=name) for name in ("fast", "slow"))
    assert fast.rate == 400 and np.array_equal(fast.array, frames[:, :4].reshape(-1))
    assert slow.rate == 100 and np.array_equal(slow.array, frames[:, 4])


def test_a_long_record_is_read_in_pieces(tmp_path, monkeypatch):
    from gpu_ops.io import wfdb

    frames = np.random.default_rng(1).integers(-2000, 2000, (5001, 3))
    path = write_record(tmp_path / "x.hea", frames, 212, ["212 1 12 0 0 {sum}"] * 3, length=False)
    monkeypatch.setattr(wfdb, "FRAMES", 100)
    assert np.array_equal(load(path).array, frames)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [("x 2 360 4", "x 2 0 4", "rate of 0 Hz; a rate is above 0"), ("x 2 360 4", "x/3 2 360 4", "several segments"),
     ("x 2 360 4", "x 2 360 5", "x.dat is cut short: it holds 16 of 20 bytes"), ("x 2 360 4", "x 3 360 4", "2 of 3 ch"),
     ("x 2 360 4", "x 999999999 360 4", "channels"), ("x 2 360 4", "hello", "no header of a WFDB record"),
     ("x.dat 16", "../x.dat 16", "is no file beside it"), ("x.dat 16", "y.dat 16", "needs y.dat beside it"),
     ("x.dat 16", "x.dat 8", "format 8; only 16, 212"), ("x.dat 16", "x.dat 16:3", "shifted by 3"),
     ("10 0 I", "11 0 I", "the sum of channel 1 is 10, and .*says 11"), ("200 ", "abc ", "no format and gain"),
     ("x.dat 16 200 16 0 0 10 0 I", "x.dat 24 200 16 0 0 10 0 I", "several formats")],
)  # fmt: skip
def test_bad_records(tmp_path, old, new, words):
    frames = np.array([[1, 5], [2, 5], [3, 5], [4, 5]])
    lines = ["16 200 16 0 0 {sum} 0 I", "16 200 16 0 0 {sum} 0 II"]
    path = write_record(tmp_path / "x.hea", frames, 16, lines)
    assert load(path).array[0, 0] == 0.005
    content = path.read_text()
    assert old in content
    path.write_text(content.replace(old, new, 1))
    refused(path, words)


def test_the_samples_of_a_record_name_its_header(tmp_path):
    frames = np.arange(-10, 10).reshape(10, 2)
    write_record(tmp_path / "x.hea", frames, 16, ["16 1 16 0 0 {sum}"] * 2)
    refused(tmp_path / "x.dat", "open x.hea beside it")
