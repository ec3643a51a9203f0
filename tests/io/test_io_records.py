"""EDF and WFDB records: physical values, names, units and rates, checked against other readers and by hand."""

import numpy as np
import pytest

from gpu_ops.errors import InputError, ParamError
from gpu_ops.io import from_origin, load, survey
from gpu_ops.io.signals.packed import BITS, MISSING

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
    assert ("rate", "256 Hz") in survey(path).facts


def test_edf_with_several_rates_asks(tmp_path):
    path = write_edf(tmp_path / "x.edf", (256, 1, 256))
    refused(path, r"channels of 256 Hz \(1, 3\) and 1 Hz \(2\); choose those of one with --columns")
    found = survey(path)
    assert found.asks and found.found == {} and len(found.rows) == 3
    assert ("rate", "256 Hz (1, 3) and 1 Hz (2)") in found.facts
    chosen = survey(path, columns="2")
    assert not chosen.asks and chosen.found == {"columns": "2"} and ("length", "4 samples, 4 s") in chosen.facts
    assert load(path, columns="2").array.shape == (4,) and load(path, columns="1,3").array.shape == (1024, 2)
    refused(path, "no column '4'", columns="4")
    refused(path, "holds 2,048 values, over the limit", columns="1,3", limit=2000)


def patched(path, changes, cut=None):
    data = bytearray(path.read_bytes())
    for place, field in changes.items():
        data[place : place + 8] = field.ljust(8)
    path.write_bytes(bytes(data[:cut]))
    return path


@pytest.mark.parametrize("bdf", [False, True])
def test_an_edf_that_was_not_closed_is_counted(tmp_path, bdf):
    path = write_edf(tmp_path / ("x.bdf" if bdf else "x.edf"), bdf=bdf)
    whole = load(path)
    patched(path, {236: b"-1"})
    found = load(path)
    np.testing.assert_allclose(found.array, whole.array, rtol=1e-12, atol=1e-10)
    assert (found.rate, found.facts) == (whole.rate, whole.facts) and found.facts.units == ("uV", "uV")
    assert found.origin["steps"][0]["words"] == "the recording was not closed, so its 4 data records were counted"
    assert ("length", "1,024 samples, 4 s") in survey(path).facts
    patched(path, {}, cut=-100)
    found = load(path)
    np.testing.assert_allclose(found.array, whole.array[:768], rtol=1e-12, atol=1e-10)
    assert "its 3 data records were counted; " in found.origin["steps"][0]["words"]
    assert np.array_equal(from_origin(found.origin).array, found.array)


def test_a_part_of_a_record_that_was_not_closed(tmp_path):
    path = with_gaps(write_edf(tmp_path / "x.edf", seconds=6), TestGaps.ONSETS)
    whole = load(path, part=1)
    found = load(patched(path, {236: b"-1"}), part=1)
    assert np.array_equal(found.array, whole.array) and [s["step"] for s in found.origin["steps"]] == [
        "note",
        "part",
        "physical",
    ]


@pytest.mark.parametrize("ends", [{120: b"7", 128: b"7"}, {104: b"0", 112: b"0.0"}], ids=["digital", "physical"])
def test_an_edf_channel_without_a_scale_is_named(tmp_path, ends):
    path = write_edf(tmp_path / "x.edf")
    whole = load(path)
    patched(path, {256 + 3 * place + 8: field for place, field in ends.items()})  # three with the annotations
    found = load(path)
    assert "channel EEG 1: no scale" in found.origin["steps"][0]["words"]
    np.testing.assert_allclose(found.array[:, 0], whole.array[:, 0], rtol=1e-12, atol=1e-10)
    stored = (whole.array[:, 1] + 200) / 401 * 65535 - 32768
    np.testing.assert_allclose(found.array[:, 1], np.round(stored), atol=1e-6)
    assert (found.facts.labels, found.facts.units) == (("EEG 0 (uV)", "EEG 1"), ("uV", ""))
    assert [step["step"] for step in load(path, columns="1").origin["steps"]] == ["physical"]
    assert any(name == "note" and "EEG 1" in words for name, words in survey(path).facts)


def test_a_scale_too_small_for_a_number_is_none(tmp_path):
    path = patched(write_edf(tmp_path / "x.edf"), {256 + 3 * 104: b"0", 256 + 3 * 112: b"1e-323"})
    assert "channel EEG 0: no scale" in load(path).origin["steps"][0]["words"]


def test_damaged_edf(tmp_path):
    path = write_edf(tmp_path / "x.edf")
    whole = path.read_bytes()
    for content in (whole[:-100], whole[:300], whole[:236] + b"-5      " + whole[244:], whole[:250]):
        path.write_bytes(content)
        refused(path, "damaged|binary data|holds text")


def with_gaps(path, onsets):
    """The record says of each data record, of one second, when it begins."""
    content = bytearray(path.read_bytes())
    content[192:197] = content[192:195] + b"+D"
    count, wide = int(content[252:256]), 3 if content[0] == 0xFF else 2
    sizes = [int(content[k : k + 8]) * wide for k in range(256 + 216 * count, 256 + 224 * count, 8)]
    start, each = 256 + 256 * count, sum(sizes)
    assert (len(content) - start) == each * len(onsets) and content[256 + 16 * (count - 1) :][3:16] == b" Annotations "
    for k, onset in enumerate(onsets):
        place = start + k * each + sum(sizes[:-1])
        words = f"+{onset}\x14\x14\0".encode()
        content[place : place + sizes[-1]] = words + bytes(sizes[-1] - len(words))
    path.write_bytes(content)
    return path


class TestGaps:
    ONSETS = ("0.25", "1.25", "10", "11.00000001", "12", "40.5")

    @pytest.mark.parametrize("bdf", [False, True])
    def test_one_part_at_a_time_as_pyedflib_reads_it_without_gaps(self, tmp_path, bdf):
        path = write_edf(tmp_path / ("x.bdf" if bdf else "x.edf"), (256, 100, 256), seconds=6, bdf=bdf)
        with pyedflib.EdfReader(str(path)) as file:
            expected = [file.readSignal(k) for k in range(3)]
        with_gaps(path, self.ONSETS)
        for k, (first, last, start) in enumerate([(0, 2, 0.0), (2, 5, 9.75), (5, 6, 40.25)]):
            found = load(path, part=k, columns="1,3")
            wanted = np.stack([expected[0], expected[2]], 1)[256 * first : 256 * last]
            np.testing.assert_allclose(found.array, wanted, rtol=0, atol=1e-9)
            assert found.origin["steps"][0] == {"step": "part", "index": k, "of": 3, "start": start}
            assert np.array_equal(from_origin(found.origin).array, found.array) and found.rate == 256
        np.testing.assert_allclose(load(path, part=1, columns="2").array, expected[1][200:500], rtol=0, atol=1e-9)

    def test_the_parts_are_listed_and_one_must_be_chosen(self, tmp_path):
        path = with_gaps(write_edf(tmp_path / "x.edf", seconds=6), self.ONSETS)
        words = "0 from 0 s to 2 s, 1 from 9.75 s to 12.75 s, 2 from 40.25 s to 41.25 s"
        refused(path, f"has gaps between 3 parts: {words}; choose one with --part")
        refused(path, "has 3 parts; choose one from 0 to 2, not 3", part=3)
        found = survey(path)
        assert found.asks and ("parts", "3, with gaps between") in found.facts
        assert ("part 1", "9.75 s to 12.75 s") in found.facts
        assert found.allowed["part"] == (0, 1, 2) and found.found["part"] == 0
        chosen = survey(path, part=1)
        assert not chosen.asks and ("length", "768 samples, 3 s") in chosen.facts

    def test_a_record_without_gaps_is_one_part(self, tmp_path):
        path = write_edf(tmp_path / "x.edf", seconds=3)
        whole = load(path)
        refused(path, "has no gaps, and is one part; leave --part out", part=1)
        assert "part" not in survey(path).allowed
        found = load(with_gaps(path, ("5", "6", "7")))
        np.testing.assert_allclose(found.array, whole.array, rtol=0, atol=1e-9)
        assert not survey(path).asks and found.origin["steps"][0]["of"] == 1

    def test_an_onset_may_have_a_long_duration_behind_it(self, tmp_path):
        """64 bytes with its last sign."""
        path = with_gaps(write_edf(tmp_path / "x.edf", seconds=3), ("5\x15" + "0" * 60, "6", "7"))
        assert load(path).array.shape == (768, 2)
        refused(with_gaps(path, ("5\x15" + "0" * 61, "6", "7")), "record 0 does not say when it begins")

    def test_damage(self, tmp_path):
        path = write_edf(tmp_path / "x.edf", seconds=3)
        for onsets, words in (
            (("0", "0.5", "2"), "record 1 begins before the one before it ends"),
            (("0", "1", "x"), "record 2 does not say when it begins"),
        ):
            refused(with_gaps(path, onsets), words)
        whole = path.read_bytes()
        for content in (whole[:-1], whole + b"a", whole[:244] + b"0       " + whole[252:], whole[:600]):
            path.write_bytes(content)
            refused(path, "damaged|binary data|holds text")


def pack(samples, format):
    """The bytes of samples, one by one, as the manual describes them."""
    if format == 212:
        result = bytearray()
        for a, b in zip(samples[::2], [*samples[1::2], 0], strict=False):
            result += bytes([a & 0xFF, (a >> 8 & 0xF) | (b >> 8 & 0xF) << 4, b & 0xFF])
        return bytes(result[: -(-len(samples) * 12 // 8)])
    if format in (310, 311):
        result = b""
        for k in range(0, len(samples), 3):
            a, b, c = ([*samples[k : k + 3], 0, 0][i] & 0x3FF for i in range(3))
            if format == 310:
                words = a << 1 | (c & 31) << 11, b << 1 | (c >> 5) << 11
                result += b"".join(word.to_bytes(2, "little") for word in words)
            else:
                result += (a + 1024 * b + 1024**2 * c).to_bytes(4, "little")
        whole, rest = divmod(len(samples), 3)
        return result[: 4 * whole + (0, 2, 4 if format == 310 else 3)[rest]]
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
    from gpu_ops.io.signals import wfdb

    frames = np.random.default_rng(1).integers(-2000, 2000, (5001, 3))
    path = write_record(tmp_path / "x.hea", frames, 212, ["212 1 12 0 0 {sum}"] * 3, length=False)
    monkeypatch.setattr(wfdb, "FRAMES", 100)
    assert np.array_equal(load(path).array, frames)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [("x 2 360 4", "x 2 0 4", "rate of 0 Hz; a rate is above 0"), ("x 2 360 4", "x/3 2 360 4", "names 2 of 3 segments"),
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


@pytest.mark.parametrize("format", [212, 310, 311])
@pytest.mark.parametrize("count", [1, 3, 4])
def test_the_length_of_packed_samples_is_known_by_the_size_of_their_file(tmp_path, format, count):
    frames = np.arange(count).reshape(count, 1) - 2
    path = write_record(tmp_path / "x.hea", frames, format, [f"{format} 1 16 0 0 {{sum}}"], length=False)
    assert load(path).array.tolist() == frames[:, 0].tolist()


def write_segment(folder, name, frames, lines):
    """A record of format 16 and 100 Hz of this name; `lines` are what follows the format of each channel."""
    (folder / f"{name}.dat").write_bytes(pack([int(s) for s in frames.reshape(-1)], 16))
    sums = [int(frames[:, k].sum()) & 0xFFFF for k in range(len(lines))]
    body = "".join(f"{name}.dat 16 {line.format(sum=total)}\n" for line, total in zip(lines, sums, strict=True))
    (folder / f"{name}.hea").write_text(f"{name} {len(lines)} 100 {len(frames)}\n{body}")


class TestSegments:
    CHANCE = np.random.default_rng(12)

    def test_a_fixed_layout_is_one_record_after_the_other(self, tmp_path):
        parts = [self.CHANCE.integers(-900, 900, (n, 2)) for n in (7, 4)]
        write_segment(tmp_path, "m_1", parts[0], ["200/mV 16 0 0 {sum} 0 I", "100(3)/uV 16 0 0 {sum} 0 II"])
        write_segment(tmp_path, "m_2", parts[1], ["50/mV 16 0 0 {sum} 0 I", "100/uV 16 0 0 {sum} 0 II"])
        (tmp_path / "m.hea").write_text("m/2 2 100 11\nm_1 7\nm_2 4\n")
        found = load(tmp_path / "m.hea")
        expected = np.concatenate([(parts[0] - [0, 3]) / [200, 100], parts[1] / [50.0, 100]])
        np.testing.assert_array_equal(found.array, expected)
        assert found.rate == 100 and found.facts.labels == ("I (mV)", "II (uV)")
        assert list(found.origin["steps"][0]["files"]) == ["m_1.dat", "m_2.dat"]
        np.testing.assert_array_equal(from_origin(found.origin).array, expected)
        np.testing.assert_array_equal(load(tmp_path / "m.hea", columns="II").array, expected[:, 1])
        assert ("segments", "2") in survey(tmp_path / "m.hea").facts
        (tmp_path / "m_2.dat").write_bytes(bytes(16))
        refused(tmp_path / "m.hea", "m_2.dat is damaged: the sum of channel 1")

    @pytest.fixture
    def variable(self, tmp_path):
        """Two channels by name, in another order, one of them missing, and a gap of 5 frames."""
        (tmp_path / "v_0.hea").write_text("v_0 2 100 0\n~ 0 10/mV 16 0 0 0 0 ABP\n~ 0x2 20/mV 16 0 0 0 0 II\n")
        (tmp_path / "v_1.dat").write_bytes(pack([1, 10, 20, 2, 30, 40], 16))
        lines = "v_1.dat 16 100/mV 16 0 0 3 0 ABP\nv_1.dat 16x2 20/mV 16 0 0 100 0 II\n"
        (tmp_path / "v_1.hea").write_text(f"v_1 2 100 2\n{lines}")
        (tmp_path / "v_2.dat").write_bytes(pack([5, 6, 7, 8, 9, 10], 16))
        (tmp_path / "v_2.hea").write_text("v_2 1 100 3\nv_2.dat 16x2 1/mV 16 0 0 45 0 II\n")
        (tmp_path / "v.hea").write_text("v/4 2 100 10\nv_0 0\nv_1 2\n~ 5\nv_2 3\n")
        return tmp_path / "v.hea"

    def test_a_variable_layout_has_nan_where_nothing_is(self, variable):
        refused(variable, "channels of 100 Hz .1. and 200 Hz .2.")
        refused(variable, "holds 8 NaN", columns="ABP")
        found = load(variable, columns="ABP", nonfinite="keep")
        np.testing.assert_array_equal(found.array, [0.01, 0.02, *[np.nan] * 8])
        found = load(variable, columns="II", nonfinite="keep")
        np.testing.assert_array_equal(found.array, [0.5, 1, 1.5, 2, *[np.nan] * 10, 5, 6, 7, 8, 9, 10])
        assert found.rate == 200 and found.facts.labels == ("II (mV)",)
        said = survey(variable)
        assert ("segments", "2, with gaps of 0.05 s") in said.facts and said.rows[1][4] == "20" and said.asks

    @pytest.mark.parametrize(
        ("file", "old", "new", "words"),
        [("v.hea", "v_2 3", "v_2 4", "says 10 frames, and its segments have 11"),
         ("v.hea", "10\nv_0 0\nv_1 2\n~ 5\nv_2 3", "11\nv_0 0\nv_1 2\n~ 5\nv_2 4", "v_2.hea has 3 frames, .* says 4"),
         ("v.hea", "v_1 2", "../v_1 2", "segment 2: '../v_1 2' is no name and length"),
         ("v.hea", "v_1 2", "b\\v_1 2", "segment 2: .* is no name and length"),
         ("v.hea", "v_1 2", "v_9 2", "needs v_9.hea beside it"),
         ("v.hea", "v/4 2", "v/4 3", "has 3 channels, and its first segment 2"),
         ("v_2.hea", "100 3", "250 3", "v_2.hea has 250 Hz, and its record 100 Hz"),
         ("v_2.hea", "/mV", "/V", "v_2.hea has II in V, 2 in a frame; its record has mV"),
         ("v_1.hea", "v_1 2 100 2", "v_1/2 2 100 2", "v_1.hea names 2 of 2|no name and length")],
    )  # fmt: skip
    def test_segments_that_do_not_fit(self, variable, file, old, new, words):
        path = variable.with_name(file)
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new, 1))
        refused(variable, words, columns="II", nonfinite="keep")

    def test_a_layout_by_itself_has_no_samples(self, variable):
        refused(variable.with_name("v_0.hea"), "describes the channels of other files", columns="II")
