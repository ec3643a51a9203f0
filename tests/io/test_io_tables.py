"""Tables in text: layouts that are found, columns, times, and numbers that are bit-equal to float()."""

import csv
import io
import random

import numpy as np
import pytest

from gpu_ops.errors import InputError, ParamError
from gpu_ops.io import load, survey
from gpu_ops.io.signals import text
from gpu_ops.io.signals.stamps import rate_of
from gpu_ops.io.signals.table_numba import parse_rows
from gpu_ops.io.signals.units import time_unit

ECG = b"time,ecg,resp\n0.000,1.5,-2\n0.002,1.25,-2.5\n0.004,1e-3,7\n0.006,2,8\n"


@pytest.fixture(params=["short", "compiled"])
def way(request, monkeypatch):
    """Short tables take the compiled way too, in pieces of some lines."""
    if request.param == "compiled":
        monkeypatch.setattr(text, "SHORT_BYTES", 0)
        monkeypatch.setattr(text, "PIECE_BYTES", 64)
    return request.param


@pytest.fixture
def write(tmp_path):
    def written(content, name="x.csv"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return written


def refused(path, words, **choices):
    with pytest.raises((InputError, ParamError), match=words) as error:
        load(path, **choices)
    assert str(error.value).isprintable() and str(error.value).endswith(".")


def test_a_column_of_times_gives_the_rate_and_is_no_channel(write, way):
    found = load(write(ECG))
    assert found.array.tolist() == [[1.5, -2], [1.25, -2.5], [0.001, 7], [2, 8]]
    assert (found.kind, found.rate, found.facts.labels) == ("signal", 500.0, ("ecg", "resp"))


@pytest.mark.parametrize(
    ("separator", "decimal", "name"),
    [(",", ".", "comma"), (";", ".", "semicolon"), ("\t", ".", "tab"), ("  ", ".", "space"), (";", ",", "semicolon"),
     ("\t", ",", "tab"), (" ", ",", "space")],
)  # fmt: skip
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_layouts_agree_with_numpy(write, way, separator, decimal, name, end):
    values = np.random.default_rng(1).standard_normal((60, 4)) * 1e3
    lines = [separator.join(map(repr, row)) for row in values.tolist()]
    content = end.join(lines) + end
    path = write(content.replace(".", decimal).encode())
    expected = np.loadtxt(io.StringIO(content), delimiter=None if name == "space" else separator)
    assert load(path).array.view(np.uint64).tolist() == expected.view(np.uint64).tolist()
    found = survey(path).found
    assert (found["separator"], found["decimal"]) == (name, "comma" if decimal == "," else "point")


def test_cells_are_bit_equal_to_float(write, way):
    source = random.Random(3)
    cells = [[f"{source.choice('-+ ').strip()}{source.random() * 10.0 ** source.randint(-300, 300)!r}" for _ in "abc"]
             for _ in range(400)]  # fmt: skip
    cells += [["1e400", "-inf", "NaN"], ["5e-324", "0.1", "123456789012345678901234567890"]]
    found = load(write("\n".join("\t".join(row) for row in cells).encode()), nonfinite="keep").array
    expected = np.array([[float(cell) for cell in row] for row in cells])
    assert found.view(np.uint64).tolist() == expected.view(np.uint64).tolist()


def test_quoted_cells_agree_with_the_csv_module(write, way):
    rows = [["name, long", 'a "b"', "x"], *[[f"word, {i}", str(i / 3), str(-i)] for i in range(50)]]
    csv.writer(file := io.StringIO(), quoting=csv.QUOTE_ALL).writerows(rows)
    path = write(file.getvalue().encode())
    found = load(path)
    again = list(csv.reader(io.StringIO(file.getvalue())))
    assert found.array.tolist() == [[float(row[1]), float(row[2])] for row in again[1:]]
    assert found.facts.labels == ('a "b"', "x")
    assert ("not numbers", "name, long") in survey(path).facts


def test_columns_are_chosen_by_name_number_and_range(write, way):
    path = write(b"a;b;2;d\n" + b"1;2;3;4\n" * 3)
    assert load(path, columns="b").array.tolist() == [2] * 3
    assert load(path, columns="d, A").array.tolist() == [[4, 1]] * 3
    assert load(path, columns="2").array.tolist() == [3] * 3  # a name comes before a number
    assert load(path, columns="3-4,1").array.tolist() == [[3, 4, 1]] * 3
    assert load(path, columns="d, A").origin["choices"] == {"columns": "d, A"}
    refused(path, "no column 'e'; choose by name or by number from 1 to 4: a, b, 2, d", columns="e")
    refused(path, "no column '0'", columns="0")
    refused(path, "name one twice", columns="a,1")


def test_one_column_with_a_heading(write, way):
    found = load(write(b"voltage\n1\n2\n3\n"), rate=250)
    assert (found.array.tolist(), found.facts.labels, found.rate) == ([1, 2, 3], ("voltage",), 250.0)


def test_header_lines_of_an_instrument(write, way):
    head = b"# Scope 7\nDate,2026-11-23\n\nt (ms),CH1,CH2\n(ms),(V),(V)\n"
    path = write(head + b"".join(b"%d,%d,7\n" % (i * 4, i * i) for i in range(40)))
    found = load(path)
    assert (found.rate, found.facts.labels, found.array[-1].tolist()) == (250.0, ("CH1 (V)", "CH2 (V)"), [39 * 39, 7])
    assert found.facts.units == ("V", "V")
    assert survey(path).found == {
        "decimal": "point", "header": 5, "separator": "comma", "columns": "2,3", "rate": 250.0
    }  # fmt: skip


def test_a_column_of_counts_is_no_channel(write, way):
    assert load(write(b"sample #,V\n0,5\n1,6\n2,9\n")).array.tolist() == [5, 6, 9]
    found = load(write(b"0 5\n1 6\n2 9\n"))
    assert (found.array.tolist(), found.rate) == ([5, 6, 9], None)


def test_times_without_a_name(write, way):
    found = load(write(b"0.5 3 1\n0.75 4 1\n1.0 9 1\n"))
    assert (found.array.tolist(), found.rate) == ([[3, 1], [4, 1], [9, 1]], 4.0)
    assert load(write(b"0.5 3 1\n0.6 4 1\n1.0 9 1\n")).array.shape == (3, 3)


def test_times_that_are_not_even(write, way):
    path = write(b"time,v\n" + b"".join(b"%g,1\n" % (i * 0.01 + 0.007 * (i > 6)) for i in range(12)))
    refused(path, "not evenly spaced: column 'time' has 0.06, then 0.077 in line 9; .*--rate")
    found = load(path, rate=100)
    assert (found.array.tolist(), found.rate) == ([1] * 12, 100.0)
    assert load(path, columns="time,v").array.shape == (12, 2)
    assert ("times", "column time: not even") in survey(path).facts


@pytest.mark.parametrize(
    ("rate", "digits"), [(360, 3), (48000, 7), (44100, 8), (0.1, 0), (500, 3), (256, 4), (1 / 3, 6), (128.5, 6)]
)
def test_the_rate_of_rounded_times(rate, digits):
    times = np.round(np.arange(2000) / rate, digits)
    assert rate_of(times, 1.0) == pytest.approx(rate, rel=1e-5)
    assert rate_of(np.delete(times, 1000), 1.0) is None
    assert rate_of(np.delete(times, 1), 1.0) is None
    assert rate_of(times * 1000, 1e-3) == pytest.approx(rate, rel=1e-5)


def test_names_of_times():
    units = {
        "time": 1,
        "T": 1,
        "seconds": 1,
        "ms": 1e-3,
        "Time (ms)": 1e-3,
        "t[us]": 1e-6,
        "time_s": 1,
        "Zeit/ms": 1e-3,
    }
    assert {name: time_unit(name) for name in units} == units
    assert [time_unit(name) for name in ("ecg", "temp", "", "h", "timer", "mean time", "s1")] == [None] * 7


def test_a_table_is_a_signal_with_or_without_a_rate(write, way):
    found = load(write(b"a,b,c\n" + b"1,2,4\n" * 5))
    assert (found.kind, found.array.shape, found.rate) == ("signal", (5, 3), None)
    assert load(write(b"a,b\n" + b"1,2\n" * 5), kind="image").kind == "image"


def test_an_ecg_lead_is_no_count(write, way):
    found = load(write(b"sample,I,II\n" + b"".join(b"%d,%d,2\n" % (i, i * i) for i in range(9))))
    assert found.facts.labels == ("I", "II")
    assert load(write(b"index,I\n7,1\n5,2\n8,3\n")).facts.labels == ("index", "I")


def test_an_empty_cell_is_nan_and_counted(write, way):
    path = write(b"a,b\n1,2\n,4\n5,\n6,7")
    refused(path, "2 NaN and 0 infinite values, the first at index")
    np.testing.assert_array_equal(load(path, nonfinite="keep").array, [[1, 2], [np.nan, 4], [5, np.nan], [6, 7]])
    tabbed = load(write(b"1\t2\n3\t4\n9\t\n"), nonfinite="keep").array
    np.testing.assert_array_equal(tabbed, [[1, 2], [3, 4], [9, np.nan]])


@pytest.mark.parametrize(
    ("row", "words"),
    [(b"1,oops", "line 61, column 2, 'b': 'oops' is not a number"),
     (b"1,2,3", "line 61: 3 columns where others have 2"),
     (b"1", "line 61: 1 columns"), (b"", "line 61: the line is blank"), (b"1,1_0", "'1_0' is not a number"),
     (b"1,0x10", "'0x10' is not a number"), (b"1 2,3", "'1 2' is not a number"),
     (b'1,"2', "is not a number|1 columns"), (b"1," + b"9" * 5000 + b"x", "is not a number")],
)  # fmt: skip
def test_a_bad_line_is_quoted_with_its_number(write, way, row, words):
    refused(write(b"a,b\n" + b"1.5,2\n" * 59 + row + b"\n3,4\n" * 2), words)


def test_numbers_of_space_separated_lines_stand_apart(write, way):
    refused(write(b"1 2\n" * 60 + b"1-2\n"), "line 61: 1 columns where others have 2")
    assert load(write(b" 5 2 \n\t3   4\r\n")).array.tolist() == [[5, 2], [3, 4]]


def test_compiled_lines_of_numbers_between_blanks_are_sure():
    content, wrong = b"1 2\n 3\t4 \r\n5  6\n7-8\n9 10", [False, False, False, True, False]
    bits, doubtful = np.zeros((5, 2), np.uint64), np.zeros(5, np.bool_)
    parse_rows(np.frombuffer(content, np.uint8), ord(" "), np.arange(2), bits, doubtful)
    assert doubtful.tolist() == wrong
    assert bits.view(np.float64)[~doubtful].tolist() == [[1, 2], [3, 4], [5, 6], [9, 10]]


def test_the_choices_overrule_what_is_found(write, way):
    path = write(b"1,5\n2,5\n3,5\n")
    assert survey(path).asks
    assert load(path).array.tolist() == [1.5, 2.5, 3.5]
    assert load(path, separator="comma").array.tolist() == [5, 5, 5]  # the first column counts
    assert not survey(path, decimal="comma").asks
    assert load(path, decimal="comma", header=1).array.tolist() == [2.5, 3.5]
    refused(path, "no line of numbers as it is cut: choose fewer --header lines", header=900)
    refused(path, "no line of numbers as it is cut", separator="tab", decimal="point")
    refused(path, "separator must be one of", separator="colon")
    refused(path, "rate must be", rate=-1)


def test_decimal_commas_do_not_take_points(write, way):
    refused(write(b"1,5;2\n" * 60 + b"1.5;2\n"), "line 61, column 1: '1.5' is not a number")


def test_limits_come_before_numbers(write, way):
    refused(write(ECG), "holds 12 values, over the limit of 11", limit=11)
    refused(write(b",".join(b"%d" % i for i in range(300)) + b"\n"), "300 channels")


def test_odd_files(write):
    refused(write(b"\xff\xfe1\0,\0002\0\n\0"), "UTF-16 text")
    refused(write(b"1,2\n" * 2000 + b"\0,1\n"), "line 2001.*not a number")
    refused(write(b"1," * 200_000), "first line of over 262,144 bytes")
    refused(write(b"a,b\nc,d\n"), "line 1: 'a,b' is not a number")
    assert load(write(b"\xef\xbb\xbfa,b\n1,2\n")).facts.labels == ("a", "b")
    assert load(write(b"\xe4,b\n1,2\n")).facts.labels == ("ä", "b")
    assert load(write(b"a,a,\n1,2,3\n4,5,6\n")).facts.labels == ("a", "a (2)", "3")


def test_a_survey_shows_the_first_rows(write):
    found = survey(write(ECG))
    assert found.heading == ("time", "ecg", "resp") and found.rows[1] == ("0.002", "1.25", "-2.5")
    assert found.found == {"decimal": "point", "header": 1, "separator": "comma", "columns": "2,3", "rate": 500.0}
    assert found.allowed == {"columns": ("time", "ecg", "resp")} and not found.asks
    assert ("times", "column time: 500 Hz") in found.facts
    words = survey(write(b"no\nnumbers\n"))
    assert words.asks and words.rows == (("no",), ("numbers",))
    assert survey(write(b"1\n2\n")).facts[0] == ("columns", "one number a line")


def test_an_origin_makes_the_same_input_again(write):
    from gpu_ops.io import from_origin

    found = load(write(ECG), columns="resp", rate=7)
    again = from_origin(found.origin)
    assert again.array.tolist() == found.array.tolist() and again.rate == 7 and again.facts == found.facts


def test_rates_of_other_files_without_one(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((9, 2)))
    found = load(tmp_path / "x.npy", rate=12.5)
    assert (found.kind, found.rate) == ("signal", 12.5)
    assert load(tmp_path / "x.npy").kind == "image"
