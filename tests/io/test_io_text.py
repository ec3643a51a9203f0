"""Text: bit-equal to float() and "%.16f", through Python for short texts and compiled for long ones."""

import random
import struct
from decimal import Decimal, localcontext
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_ops.errors import InputError
from gpu_ops.io import load, save
from gpu_ops.io.signals import text
from gpu_ops.io.signals.text_numba import LONGEST, format_lines, parse_lines

QUIET = settings(max_examples=200, deadline=None, database=None)


def parse(lines):
    """Bits and doubtful flags of the compiled parser."""
    data = np.frombuffer("\n".join(lines).encode(), np.uint8)
    bits, doubtful = np.empty(len(lines), np.uint64), np.empty(len(lines), np.bool_)
    parse_lines(data, bits, doubtful)
    return bits, doubtful


def check_parse(lines, most_doubtful):
    bits, doubtful = parse(lines)
    expected = np.array([float(line) for line in lines]).view(np.uint64)
    wrong = np.flatnonzero(~doubtful & (bits != expected))
    assert wrong.size == 0, [lines[i] for i in wrong[:5]]
    assert doubtful.mean() <= most_doubtful


def check_format(values):
    values = np.asarray(values, np.float64)
    buffer = np.empty(values.size * LONGEST, np.uint8)
    length = format_lines(values.view(np.uint64), buffer)
    found = buffer[:length].tobytes().decode().splitlines()
    wrong = [(x, line) for x, line in zip(values.tolist(), found, strict=True) if line != f"{x:.16f}"]
    assert not wrong, wrong[:5]


def random_doubles(count, seed):
    values = np.random.default_rng(seed).integers(0, 2**64, count, dtype=np.uint64).view(np.float64)
    return values[np.isfinite(values)]


def random_decimal(source):
    digits = "".join(source.choices("0123456789", k=source.randint(1, 25)))
    place = source.randint(0, len(digits))
    exponent = f"{source.choice('eE')}{source.choice(['', '+', '-'])}{source.randint(0, source.choice([5, 40, 340]))}"
    point = source.choice(["", "."])
    return source.choice(["", "-", "+"]) + digits[:place] + point + digits[place:] + source.choice(["", exponent])


@pytest.fixture
def compiled(monkeypatch):
    """Short texts take the compiled way too, in pieces of some lines."""
    monkeypatch.setattr(text, "SHORT_BYTES", 0)
    monkeypatch.setattr(text, "SHORT_VALUES", 0)
    monkeypatch.setattr(text, "PIECE_BYTES", 64)
    monkeypatch.setattr(text, "CHUNK_VALUES", 7)


@pytest.fixture(params=["short", "compiled"])
def way(request):
    if request.param == "compiled":
        request.getfixturevalue("compiled")
    return request.param


def write(tmp_path, content, name="x.txt"):
    path = tmp_path / name
    path.write_bytes(content)
    return path


class TestParser:
    def test_random_doubles(self):
        values = random_doubles(40_000, 1).tolist()
        check_parse([repr(x) for x in values], 0.06)
        check_parse([f"{x:.17e}" for x in values], 0.06)
        check_parse([f"{x:.24e}" for x in values], 0.06)

    def test_ordinary_numbers_hardly_need_python(self):
        rng = np.random.default_rng(2)
        values = rng.standard_normal(40_000) * 10.0 ** rng.integers(-15, 18, 40_000)
        check_parse([f"{x:.16f}" for x in values], 0)
        check_parse([repr(float(x)) for x in values], 0.01)
        check_parse([str(x) for x in rng.integers(-(2**53), 2**53, 40_000)], 0)

    def test_random_decimals(self):
        source = random.Random(3)
        check_parse([random_decimal(source) for _ in range(60_000)], 0.06)

    def test_halfway_and_beside(self):
        lines = []
        with localcontext() as context:
            context.prec = 800
            for x in np.abs(random_doubles(4000, 4)):
                if 1e-150 < x < 1e300:
                    middle = (Decimal(float(x)) + Decimal(float(np.nextafter(x, np.inf)))) / 2
                    lines += [str(middle), f"{middle:.18e}", f"{middle:.19e}", f"{middle:.30e}", str(middle)[:-1] + "6"]
        check_parse(lines, 0.9)

    def test_whole_ties(self):
        source = random.Random(5)
        lines = [str((2**53 + 2 * source.randrange(2**52) + 1) << source.randrange(9)) for _ in range(5000)]
        check_parse(lines + [line + ".0" for line in lines] + [str(int(line) + 1) for line in lines], 0.9)

    @pytest.mark.parametrize(
        "line",
        ["0", "-0", "+0.0", "0e5", "-0.0e-5", "1.", ".5", "-.5e1", "1.e3", "00012", "0." + "0" * 30 + "1", "1e22",
         "8.5e22", "9007199254740993", "9007199254740992", "0.1", "0.3", "2.2250738585072014e-308", "1e0000000003",
         "18446744073709551615", "18446744073709551616", "9999999999999999999", "99999999999999999999", "1e23",
         "123456789012345678900000"],
    )  # fmt: skip
    def test_forms(self, line):
        check_parse([line], 1)

    @pytest.mark.parametrize(
        "line", ["", "+", "-", ".", "e5", "1e", "1e+", ".e5", "1_0", "0x10", "1,5", "1 2", "--1", "1-", "nan", "inf",
                 "1e99999", "5e-324", "\u0661", "1\x00"],
    )  # fmt: skip
    def test_what_is_not_sure_is_left_to_python(self, line):
        bits, doubtful = parse(["7", line, "8"])
        assert doubtful.tolist() == [False, True, False]
        assert bits[1] == 2

    @QUIET
    @given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
    def test_any_floats(self, values):
        check_parse([repr(x) for x in values], 1)


class TestFormatter:
    def test_random_doubles(self):
        values = random_doubles(100_000, 6)
        check_format(values[np.abs(values) < 2.0**63])

    def test_every_exponent_that_prints(self):
        rng = np.random.default_rng(7)
        mantissas = rng.integers(0, 2**52, 60_000, dtype=np.uint64)
        mantissas[::2] &= ~((np.uint64(1) << rng.integers(0, 52, 30_000, dtype=np.uint64)) - np.uint64(1))
        exponents = rng.integers(1023 - 72, 1023 + 63, 60_000, dtype=np.uint64)
        signs = rng.integers(0, 2, 60_000, dtype=np.uint64)
        check_format((signs << np.uint64(63) | exponents << np.uint64(52) | mantissas).view(np.float64))

    def test_exact_ties_and_beside(self):
        ties = np.concatenate([(np.arange(10_000) * 2 + 1) * 2.0**-17, 1000 + (np.arange(5000) * 2 + 1) * 2.0**-17])
        check_format(ties)
        check_format(np.nextafter(ties, 0))
        check_format(-np.nextafter(ties, 1e9))

    def test_around_the_last_decimal(self):
        steps = np.arange(1, 10_000) * 0.5e-16
        check_format(np.concatenate([steps, -steps, np.nextafter(steps, 1), np.nextafter(steps, 0), 1 - steps]))

    def test_special_values(self):
        check_format([0.0, -0.0, 5e-324, -5e-324, 1e-300, 0.1, 1 / 3, 9.99999999999999999, 2.0**52 + 0.5])
        check_format([1 - 2**-53, 2**-53 - 1, 2.0**63 - 1024, 1024 - 2.0**63])
        check_format([0.5e-16, 4.9999999999999996e-17, 2.0**-66, 2.0**-67])

    @QUIET
    @given(st.lists(st.floats(-(2.0**62), 2.0**62), min_size=1, max_size=20))
    def test_any_floats(self, values):
        check_format(values)


class TestReading:
    def test_values(self, tmp_path, way):
        path = write(tmp_path, b" 1.5\r\n-2e-3\t\r\n+7\n.5 \n1e400\n\n \r\n\n")
        found = load(path, nonfinite="keep")
        assert found.array.tolist() == [1.5, -0.002, 7.0, 0.5, np.inf]
        assert (found.kind, found.axes, found.array.dtype, found.finite) == ("signal", "t", np.float64, False)

    @pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\n\n  \n\t\n" * 50])
    def test_many_pieces(self, tmp_path, way, end):
        values = np.random.default_rng(8).standard_normal(2000) * 1e3
        path = write(tmp_path, "\r\n".join(map(repr, values.tolist())).encode() + end)
        np.testing.assert_array_equal(load(path).array, values)

    def test_ways_agree_on_any_number(self, tmp_path, compiled):
        source = random.Random(9)
        lines = [random_decimal(source) for _ in range(3000)] + ["nan", "-inf", "Infinity", "5e-324"]
        found = load(write(tmp_path, "\n".join(lines).encode()), nonfinite="keep").array
        expected = np.array([float(line) for line in lines])
        np.testing.assert_array_equal(found.view(np.uint64), expected.view(np.uint64))

    def test_byte_order_mark(self, tmp_path, way):
        assert load(write(tmp_path, b"\xef\xbb\xbf1\n2\n")).array.tolist() == [1, 2]

    def test_line_longer_than_a_piece(self, tmp_path, way):
        path = write(tmp_path, b"1." + b"0" * 500 + b"\n2\n" + b" " * 500 + b"3")
        assert load(path).array.tolist() == [1, 2, 3]

    def test_pieces_end_at_line_breaks(self, tmp_path, compiled):
        content = b"".join(b"%d\n" % i for i in range(500))
        cuts = text.cut(write(tmp_path, content))
        assert len(cuts) > 10
        assert b"".join(content[a:b] for a, b in pairwise(cuts)) + b"\n" == content
        assert all(content[cut - 1 : cut] == b"\n" for cut in cuts[1:-1])

    @pytest.mark.parametrize("bad", [b"abc", b"1_000", b"1,5", b"1.0;", b"0x1p3", b"\xff\xfe", b"1 2", b"\xc2\xbd"])
    def test_bad_line_is_quoted_with_its_number(self, tmp_path, way, bad):
        path = write(tmp_path, b"1.25\n" * 99 + bad + b"\n2\nxyz\n")
        with pytest.raises(InputError) as error:
            load(path)
        assert f"line 100: {bad.decode('utf-8', 'replace')!r} is not a number" in str(error.value)

    def test_blank_line_between(self, tmp_path, way):
        with pytest.raises(InputError, match="line 2: the line is blank; write one number a line"):
            load(write(tmp_path, b"1\n\n2\n"))

    def test_bad_line_is_shortened(self, tmp_path, way):
        with pytest.raises(InputError) as error:
            load(write(tmp_path, b"1\n" + b"x" * 10_000))
        assert f"'{'x' * 19}…{'x' * 20}' is not" in str(error.value)

    @pytest.mark.parametrize("content", [b"\n", b"  \r\n\t\n", b"\xef\xbb\xbf", b" " * 300])
    def test_no_numbers(self, tmp_path, way, content):
        with pytest.raises(InputError, match="holds no numbers; write one number a line"):
            load(write(tmp_path, content))

    def test_limit_counts_lines(self, tmp_path, way):
        path = write(tmp_path, b"1\n" * 100 + b"\n\n\n")
        assert load(path, limit=100).array.size == 100
        with pytest.raises(InputError, match="holds 100 values, over the limit of 99; add --limit 100"):
            load(path, limit=99)

    def test_limit_comes_before_decoding(self, tmp_path, way):
        with pytest.raises(InputError, match="over the limit of 3"):
            load(write(tmp_path, b"no\nnumber\nat\nall\n"), limit=3)


class TestWriting:
    @pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "uint8", "bool", ">f8"])
    def test_equals_python(self, tmp_path, way, dtype):
        values = (np.random.default_rng(10).standard_normal(50) * 100).astype(dtype)
        save(tmp_path / "x.txt", values)
        assert (tmp_path / "x.txt").read_text() == "".join(f"{float(x):.16f}\n" for x in values)

    def test_large_and_nonfinite_values(self, tmp_path, way):
        values = np.array([1.0, -0.0] * 10 + [np.nan, np.inf, -np.inf, 2.0**63, -1e300, 1e-300])
        save(tmp_path / "x.dat", values)
        assert (tmp_path / "x.dat").read_text() == "".join(f"{float(x):.16f}\n" for x in values)

    def test_strided_input(self, tmp_path, way):
        values = np.arange(60.0)[::-3]
        save(tmp_path / "x.csv", values)
        np.testing.assert_array_equal(load(tmp_path / "x.csv").array, values)

    @pytest.mark.parametrize("array", [np.zeros((2, 2)), np.zeros(3, complex), np.array(["a"])])
    def test_refused(self, tmp_path, array):
        with pytest.raises(InputError, match=r"text takes real numbers .*save as .npy"):
            save(tmp_path / "x.txt", array)
        assert list(tmp_path.iterdir()) == []

    def test_long_text_as_users_meet_it(self, tmp_path):
        """Long enough for the compiled way with nothing changed."""
        values = np.random.default_rng(11).standard_normal(text.SHORT_VALUES + 1)
        path = tmp_path / "long.txt"
        save(path, values)
        assert path.read_bytes() == ("%.16f\n" * values.size % tuple(values.tolist())).encode()
        assert path.stat().st_size <= text.SHORT_BYTES < 3 * path.stat().st_size
        path.write_bytes(path.read_bytes() * 3)
        expected = np.array([float(line) for line in path.read_bytes().split()])
        np.testing.assert_array_equal(load(path).array, expected)


def test_bits_of_a_known_double():
    """A check that does not rest on float() at all."""
    bits, _ = parse(["0.1"])
    assert struct.pack("<Q", int(bits[0])).hex() == "9a9999999999b93f"
