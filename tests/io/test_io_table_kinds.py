"""Tables as instruments, loggers and spreadsheets of several countries write them: small ones of each kind."""

import math

import numpy as np
import pytest

from gpu_ops.errors import InputError, NonFiniteError
from gpu_ops.io import from_origin, load, survey
from gpu_ops.io.signals import text
from gpu_ops.io.signals.cells import number
from gpu_ops.io.signals.table_layout import split
from gpu_ops.io.signals.units import cut_unit, is_unit

VALUES = [round(10 * math.sin(i), 4) for i in range(40)]


@pytest.fixture
def write(tmp_path):
    def written(content, name="x.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written


def comma(value):
    return str(value).replace(".", ",")


def lines(row):
    """Rows of a table: `row(index, value)` writes one."""
    return "".join(row(i, value) + "\n" for i, value in enumerate(VALUES))


def notes(found):
    return [step["words"] for step in found.origin["steps"] if step["step"] == "note"]


POINTS = lines(lambda i, v: f"{-8e-6 + 4e-8 * i:.10e},{v}")
TEKTRONIX = "Model,MSO24\nHorizontal Units,S,\n\nSample Interval,4e-08,\nVertical Units,V,\n\n"
SIGLENT = "Sample Interval,Analog:4e-08\nVertical Units,CH1:V\nModel Number,SDS\n"
LABVIEW = "X_Columns\tOne\n***End_of_Header***\t\n\nSamples\t40\t40\t\nX0\t0.5\t0.5\t\nDelta_X\t0.002\t0.002\t\n"
INSTRUMENTS = {
    "facts and names": (TEKTRONIX + "TIME,CH1\n" + POINTS, 25e6, ("CH1",), -8e-6),
    "facts beside the numbers": (
        lines(lambda i, v: f"{('Record Length,400', 'Sample Interval,4e-8', ',')[min(i, 2)]},,{i * 4e-8:.9f},{v}"),
        25e6, (), 0.0,
    ),
    "a title of as many cells": ("My data, Run 7\nTime,CH1\n" + POINTS, 25e6, ("CH1",), -8e-6),
    "a source above the units": (SIGLENT + "Source,CH1\nSecond,Volt\n" + POINTS, 25e6, ("CH1 (Volt)",), -8e-6),
    "units that are names": (SIGLENT + "Second,Value\n" + POINTS, 25e6, ("Value",), -8e-6),
    "numbers as names above units": ("x-axis,1\nsecond,Volt\n" + POINTS, 25e6, ("1 (Volt)",), -8e-6),
    "units in brackets": ("Time,Channel A\n(ms),(mV)\n\n" + lines(lambda i, v: f"{i / 50 - 1:.2f},{v}"), 50e3,
                          ("Channel A (mV)",), -1e-3),
    "a title above names and units": ("Run,7,May\nA,B,C\nV,V,A\n" + lines(lambda i, v: f"{v},{v},7"), None,
                                      ("A (V)", "B (V)", "C (A)"), 0.0),
    "units in one byte": (("Time;A\n(µs);(°C)\n" + lines(lambda i, v: f"{i};{v}")).encode("latin-1"), 1e6,
                          ("A (°C)",), 0.0),
    "another name for the times": ("Messdauer [ms];U\n" + lines(lambda i, v: f"{i / 2 - 5};{v}"), 2e3, ("U",), -5e-3),
    "units in quotes": ("t,U\n's','V'\n" + lines(lambda i, v: f"{i / 2},{v}"), 2.0, ("U (V)",), 0.0),
    "a step in the heading": (
        "X,CH 1,Start,Increment\nms, V,-3e-2,5e-5\n" + lines(lambda i, v: f"{i / 20 - 9:.2f},{v}"),
        20e3, ("CH 1 (V)",), -9e-3,
    ),
    "counts with a step": ("X,CH1,CH2,Start,Increment,\nSequence,V,A,-3e-2,5e-5\n" + lines(lambda i, v: f"{i},{v},7,,"),
                           20e3, ("CH1 (V)", "CH2 (A)"), -0.03),
    "a step among the names": ("CH1V,CH2V,t0 =-6e-4, tInc = 1e-6,\n" + lines(lambda i, v: f"{v},{v},,"), 1e6,
                               ("CH1V", "CH2V"), -6e-4),
    "a step and no times": ("XInc,1e-8\nXOrg,-5e-6\nVolt\n" + lines(lambda i, v: f"{v}"), 1e8, ("Volt",), -5e-6),
    "a rate and no times": ("# Sample rate: 2.5 kHz\nU;I\n" + lines(lambda i, v: f"{comma(v)};{comma(v)}"), 2500.0,
                            ("U", "I"), 0.0),
    "blocks of facts": (LABVIEW + "***End_of_Header***\t\t\t\nX_Value\tU\tI\tComment\n"
                        + lines(lambda i, v: f"{0.5 + i * 0.002:.6f}\t{v}\t{v}"), 500.0, ("U", "I"), 0.5),
    "an empty column of times": (LABVIEW + "***End_of_Header***\t\t\t\nX_Value\tU\tI\tComment\n"
                                 + lines(lambda i, v: f"\t{v}\t{v}"), 500.0, ("U", "I"), 0.5),
}  # fmt: skip


@pytest.mark.parametrize("kind", INSTRUMENTS)
def test_rates_names_units_and_the_start_of_instruments(write, kind):
    content, rate, labels, start = INSTRUMENTS[kind]
    found = load(write(content))
    assert found.rate == (rate and pytest.approx(rate, rel=1e-9))
    assert found.facts.labels == labels and found.facts.start == pytest.approx(start, abs=1e-12)
    assert found.array.reshape(40, -1)[:, 0].tolist() == VALUES
    assert not survey(write(content)).asks


HEADINGS = {
    "{n} ({u})": "", "{n} [{u}]": "", "{n}/{u}": "", "{n} in {u}": "", "{n}": "({u})", "'{n}'": "'{u}'", '"{n}"': "{u}",
}  # fmt: skip
"""How names are written, and their units in a line below."""


@pytest.mark.parametrize("sign", [",", ";", "\t", "|", " "])
@pytest.mark.parametrize("decimal", [".", ","])
def test_any_heading_with_any_marks(write, sign, decimal):
    if sign == decimal:
        return
    columns = (("Zeit", "ms"), ("Druck", "mbar"), ("CH2", "V"))
    rows = [[i / 4 - 2, v, -v] for i, v in enumerate(VALUES)]
    body = "\n".join(sign.join(str(n).replace(".", decimal) for n in row) for row in rows)
    for turn, (name, unit) in enumerate(HEADINGS.items()):
        title = ("", "Run 7\n", "# made by hand\n\n")[turn % 3]
        heads = [[text.format(n=n, u=u) for n, u in columns] for text in filter(None, (name, unit))]
        quoted = [[f'"{cell}"' if " " in cell and sign == " " else cell for cell in head] for head in heads]
        content = title + "\n".join(sign.join(cells) for cells in quoted) + "\n" + body
        found = load(write(content))
        assert (found.rate, found.facts.start, found.facts.units) == (4000.0, -0.002, ("mbar", "V")), content[:99]
        assert [label.strip("'")[:3] for label in found.facts.labels] == ["Dru", "CH2"] and not notes(found)
        assert found.array.tolist() == [row[1:] for row in rows]


@pytest.mark.parametrize(
    ("head", "row"),
    [
        ("Zeit;Druck", lambda i: f"{comma(i / 2)};{i + 4}.288,50"),
        ("Temps (s);Pression (bar)", lambda i: f"{comma(i / 2)};{i + 4} 288,5"),
        ("Temps (s);Pression (bar)", lambda i: f"{comma(i / 2)};{i + 4}\u00a0288,5"),
        ("Temps (s);Pression (bar)", lambda i: f"{comma(i / 2)};{i + 4}\u202f288,5"),
        ("Zeit [s];Kraft [N]", lambda i: f"{i / 2};{i + 4}'288.5"),
        ("Zeit [s];Kraft [N]", lambda i: f"{i / 2};{i + 4}\u2019288.5"),
        ("t,mass", lambda i: f'{i / 2},"{i + 4},288.50"'),
        ("t\tmass", lambda i: f"{i / 2}\t{i + 4},288.50"),
    ],
)
def test_marks_between_thousands(write, head, row):
    path = write(head + "\n" + lines(lambda i, v: row(i)))
    found = load(path)
    assert found.array.tolist() == [(i + 4) * 1000 + 288.5 for i in range(40)]
    assert found.rate == 2.0 and not survey(path).asks and not notes(found)


@pytest.mark.parametrize("way", ["short", "compiled"])
def test_marks_between_thousands_in_long_files(write, monkeypatch, way):
    if way == "compiled":
        monkeypatch.setattr(text, "SHORT_BYTES", 0)
    path = write("n;mass\n" + lines(lambda i, v: f"{i};{'-' * (i % 2)}{i + 1}.004.288,5"))
    assert load(path).array[:2].tolist() == [[0, 1004288.5], [1, -2004288.5]]


def test_two_ways_are_asked_about_and_told(write):
    for content, value, other, flags in (
        ("1,5\n2,25\n3,0\n", 2.25, 25, {"separator": "comma"}),
        ("-1,5\n2,25\n-3,0\n", 2.25, [2, 25], {"separator": "comma"}),
        ("512 498\n530 477\n541 460\n", [530, 477], 530477, {"separator": "tab"}),
        ("n;m\n" + lines(lambda i, v: f"{i};{i + 4}.288"), [1, 5.288], [1, 5288], {"decimal": "comma"}),
        ("n,m\n" + lines(lambda i, v: f'{i},"{i + 4},288"'), [1, 5288], [1, 5.288], {"decimal": "comma"}),
        ("n;m\n" + lines(lambda i, v: f"{i};{i + 4},288"), [1, 5.288], [1, 5288], {"decimal": "point"}),
    ):
        path = write(content)
        found, seen = load(path), survey(path)
        assert found.array[1].tolist() == value
        assert seen.asks and seen.facts[0][0] == "two ways"
        assert any("may be" in words for words in notes(found))
        assert all(f"--{name} {choice}" in notes(found)[0] for name, choice in flags.items())
        assert load(path, **flags).array[1].tolist() == other
        assert not survey(path, **flags).asks
        assert from_origin(found.origin).array.tolist() == found.array.tolist()


def test_a_tab_is_no_mark_between_thousands(write):
    path = write("512\t498\n530\t477\n541\t460\n")
    assert load(path).array[1].tolist() == [530, 477] and not survey(path).asks


@pytest.mark.parametrize(
    "row",
    [
        lambda i, v: f"{comma(v)};x y",
        lambda i, v: f"bad;{comma(v)}",
        lambda i, v: f"z ok {comma(v)}",
        lambda i, v: f"{comma(v)}|bad|x y|x y",
        lambda i, v: f"x y\t{comma(v)}",
    ],
)
def test_words_beside_decimal_commas(write, row):
    path = write(lines(row))
    assert load(path).array.tolist() == VALUES and not survey(path).asks


def test_a_name_above_decides_between_two_ways(write):
    for content, values in (
        ("U\n1,5\n2,25\n3,0\n", [1.5, 2.25, 3]),
        ("a,U\n1,5\n2,25\n3,0\n", [[1, 5], [2, 25], [3, 0]]),
    ):
        assert load(write(content)).array.tolist() == values
        assert not survey(write(content)).asks


CLOCKS = {
    "time of day": lambda i: f"12:00:{i // 10:02d}.{i % 10}00",
    "past midnight": lambda i: f"{'23:59:59' if i < 10 else f'00:00:{i // 10 - 1:02d}'}.{i % 10}",
    "with a comma": lambda i: f"1:00:{i // 10:02d},{i % 10}",
    "milliseconds behind a colon": lambda i: f"01:00:{i // 10:02d}:{i % 10}00",
    "minutes and seconds": lambda i: f"59:{i // 10:02d}.{i % 10}",
    "minutes that could be hours": lambda i: f"{'12:59' if i < 10 else f'13:{i // 10 - 1:02d}'}.{i % 10}",
    "more than a day": lambda i: f"100:00:{i // 10:02d}.{i % 10}",
    "afternoon": lambda i: f"11:59:{i // 10:02d}.{i % 10} PM",
    "ISO": lambda i: f"2026-11-23T12:00:{i // 10:02d}.{i % 10}",
    "ISO in UTC": lambda i: f"2026-11-23T12:00:{i // 10:02d}.{i % 10}00000Z",
    "ISO with a zone": lambda i: f"2026-11-23 12:00:{i // 10:02d}.{i % 10}+01:00",
    "ISO without signs": lambda i: f"20261123T1200{i // 10:02d}.{i % 10}Z",
    "over the end of a year": lambda i: (
        f"{'2026-12-31 23:59:59' if i < 10 else f'2027-01-01 00:00:{i // 10 - 1:02d}'}.{i % 10}"
    ),
    "German": lambda i: f"23.11.2026 12:00:{i // 10:02d},{i % 10}",
    "American": lambda i: f"11/23/2026 12:00:{i // 10:02d}.{i % 10}",
    "French": lambda i: f"23/11/2026 12:00:{i // 10:02d}.{i % 10}",
    "month as a word": lambda i: f"23-Nov-2026 12:00:{i // 10:02d}.{i % 10}",
    "day and time": lambda i: f"23.11.2026;12:00:{i // 10:02d}.{i % 10}",
}


@pytest.mark.parametrize(("kind", "way"), [*((kind, "short") for kind in CLOCKS), ("past midnight", "compiled")])
def test_times_of_day_and_dates_give_the_rate(write, monkeypatch, kind, way):
    if way == "compiled":
        monkeypatch.setattr(text, "SHORT_BYTES", 0)
        monkeypatch.setattr(text, "PIECE_BYTES", 256)
    head = "Datum;Zeit;U\n" if ";" in CLOCKS[kind](0) else "When;U\n"
    found = load(write(head + lines(lambda i, v: f"{CLOCKS[kind](i)};{v}")))
    assert (found.rate, found.array.tolist(), found.facts.labels) == (10.0, VALUES, ("U",))
    step = next(step for step in found.origin["steps"] if step["step"] == "times")
    assert step["first"] == CLOCKS[kind](0).replace(";", " ") and not notes(found)


def test_a_number_among_times_of_day_is_no_time(write, monkeypatch):
    monkeypatch.setattr(text, "SHORT_BYTES", 0)
    with pytest.raises(InputError, match="line 22, column 1, 'When': '0020' is not a time"):
        load(write("When;U\n" + lines(lambda i, v: f"{'12:00:' if i != 20 else '00'}{i:02d};{v}")))


def test_days_and_months(write):
    days = [f"2026-10-{day:02d}" for day in range(1, 32)]
    for turn in (lambda d: d, lambda d: "/".join((*d.split("-")[1:], "2026")), lambda d: ".".join(d.split("-")[::-1])):
        found = load(write("date;U\n" + "".join(f"{turn(day)};{k}.5\n" for k, day in enumerate(days))))
        assert found.rate == pytest.approx(1 / 86400) and found.array[-1] == 30.5


def test_hours_and_minutes_are_told(write):
    found = load(write("Time;U\n" + lines(lambda i, v: f"00:{i:02d};{v}")))
    assert (
        found.rate == pytest.approx(1 / 60)
        and "'00:00' in column 'Time' is taken as hours and minutes" in notes(found)[0]
    )


def test_a_time_that_is_missing_or_wrong_names_its_line(write):
    rows = ["12:00:00;1.5", "12:00:01;1.5", "12:00:02;1.5", "12:00:03;1.5", "12:00:04;1.5"]
    for bad, words in (
        (";2.5", "no time in line 7 of column 't'"),
        ("12:61:00;2.5", "line 7, column 1, 't': '12:61:00' is not a time"),
        ("12:00:09;2.5", "not evenly spaced.*in line 7"),
    ):
        with pytest.raises(InputError, match=words):
            load(write("\n".join(["t;u", *rows, bad])))


@pytest.mark.parametrize("row", [lambda i, v: f"{i / 100}|{v}", lambda i, v: f"| {i / 100} | {v} |"])
def test_bars_between_columns(write, row):
    head = "| t (s) | u |\n|---|---|\n" if row(0, 0).startswith("|") else "t (s)|u\n"
    path = write(head + lines(row))
    found = load(path)
    assert (found.rate, found.facts.labels, found.array.tolist()) == (100.0, ("u",), VALUES)
    assert survey(path).found["separator"] == "pipe"


@pytest.mark.parametrize("sign", [";", ",", "|", "\t"])
def test_the_line_in_which_a_spreadsheet_names_the_separator(write, sign):
    for head in ("t{s}u\n", ""):
        path = write(
            f"sep={sign}\r\n" + (head.format(s=sign) + lines(lambda i, v: f"{i / 100}{sign}{v}")).replace("\n", "\r\n")
        )
        found = load(path)
        assert (found.rate, found.array.tolist()) == (100.0, VALUES) and found.facts.labels == (("u",) if head else ())


@pytest.mark.parametrize("word", ["NA", "N/A", "nan", "NaN", "-", "--", "", "null", "#NV", "#N/A", "-1.#IND"])
@pytest.mark.parametrize("alone", [True, False])
def test_cells_without_a_value_are_nan_and_counted(write, word, alone):
    if alone and not word:
        return  # a blank line is refused
    path = write(
        "\n".join(
            [
                *([] if alone else ["t,u"]),
                *(f"{'' if alone else f'{i},'}{word if i in (3, 5) else v}" for i, v in enumerate(VALUES)),
            ]
        )
    )
    with pytest.raises(NonFiniteError, match="2 NaN and 0 infinite"):
        load(path)
    found = load(path, nonfinite="keep")
    assert np.flatnonzero(np.isnan(found.array)).tolist() == [3, 5] and found.array[6] == VALUES[6]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("1O\n2\n3\n4\n", "line 1: '1O' is not a number"),
        ("--1\n2\n3\n4\n", "line 1: '--1' is not a number"),
        ("1O,5.5\n2,6.5\n3,7.5\n", "line 1, column 1: '1O' is not a number.*add --header 1"),
        ("1,--5\n2,6.5\n3,7.5\n", "line 1, column 2: '--5' is not a number"),
        ("859\nx\n3,1\n", "line 2, column 1: 'x' is not a number"),  # of two ways, one has its first line below x
        ("t,u\n--1,5.5\n2,6.5\n3,7.5\n", "line 2, column 1, 't': '--1' is not a number"),
        ("t,u,w\n0,oops,1\n2,6.5,3\n4,7.5,4\n", "line 2, column 2, 'u': 'oops' is not a number"),
    ],
)
def test_a_damaged_first_line_is_no_heading(write, content, words):
    with pytest.raises(InputError, match=words):
        load(write(content))


def test_names_with_a_number_among_them_below_a_blank_line(write):
    assert load(write("\nx,7\n1,2\n3,4\n5,7\n")).facts.labels == ("x", "7")


def test_a_number_above_a_single_row_is_no_column(write):
    assert load(write("100\n1.5;2.5\n")).array.tolist() == [[1.5, 2.5]]


def test_a_heading_that_begins_with_a_digit_is_told(write):
    found = load(write("1.5x\n2.5\n3.5\n"))
    assert found.facts.labels == ("1.5x",) and "line 1, with '1.5x', is taken as the names" in notes(found)[0]


@pytest.mark.parametrize(
    ("head", "row", "labels"),
    [
        ("time,1,2", lambda i, v: f"{i / 10},{v},{v}", ("1", "2")),
        ("name,1,2", lambda i, v: f"w{i},{v},{v}", ("1", "2")),
        ("1,2,3", lambda i, v: f"w{i},{v},{v}", ("2", "3")),
        (",0,1", lambda i, v: f"{i},{v},{v}", ("0", "1")),
        ("400,410", lambda i, v: f"{v},{v}", ("400", "410")),
    ],
)
def test_numbers_as_names(write, head, row, labels):
    found = load(write(head + "\n" + lines(lambda i, v: row(i, v + 0.5))))
    assert found.facts.labels == labels and found.array[1].tolist() == [VALUES[1] + 0.5] * 2
    assert any("is taken as the names of the columns" in words for words in notes(found))


def test_nothing_is_left_out_without_a_word(write):
    found = load(write("sample,mode,u\n" + lines(lambda i, v: f"{i},auto,{v}")))
    assert found.array.tolist() == VALUES
    assert notes(found) == [
        "column 'sample' counts the samples and is left out",
        "column 'mode' is left out: it has words, such as 'auto'",
    ]
    guess = load(write(lines(lambda i, v: f"{0.5 + i / 4} {v}")))
    assert guess.rate == 4.0 and "column 1 grows evenly and is taken as times in seconds" in notes(guess)[0]
    assert notes(load(write("sample,mode,u\n" + lines(lambda i, v: f"{i},auto,{v}")), columns="u")) == []


def test_long_names_of_columns_that_are_left_out_are_cut(write):
    found = load(write(f"no{'.' * 60},{'m' * 60},u\n" + lines(lambda i, v: f"{i},auto,{v}")))
    assert notes(found) == [
        f"column 'no{'.' * 17}…{'.' * 20}' counts the samples and is left out",
        f"column '{'m' * 19}…{'m' * 20}' is left out: it has words, such as 'auto'",
    ]


def test_units_behind_the_numbers(write):
    found = load(write("t,u\n" + lines(lambda i, v: f"{i / 10},{v} mV")))
    assert (found.rate, found.array.tolist(), found.facts) == (10.0, VALUES, found.facts)
    assert (found.facts.labels, found.facts.units) == (("u (mV)",), ("mV",))


def test_rates_that_contradict_each_other_are_told(write):
    found = load(write("Sample Interval,1e-3\ntime,u\n" + lines(lambda i, v: f"{i / 100},{v}")))
    assert (
        found.rate == 100.0 and "the times give 100 Hz, and the lines above the numbers say 1,000 Hz" in notes(found)[0]
    )


def test_a_rate_is_the_users_where_he_gives_one(write):
    found = load(write("XInc,1e-3\nU\n" + lines(lambda i, v: f"{v}")), rate=7)
    assert (found.rate, found.facts.start) == (7.0, 0.0)


def test_lines_of_the_command_line(write, capsys):
    from gpu_ops.cli import main

    path = write("1,5\n2,25\n3,0\n")
    assert main(["run", "mean1d", "--input", str(path), "--window", "3", "--variant", "scipy", "--device", "cpu"]) == 0
    said = capsys.readouterr().err
    assert "'2,25' is read as 2.25 (decimal comma); it may be 2 and 25" in said and "--separator comma" in said


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (("12", "a", "0,1"), "'0,1' is read as 0.1 (decimal comma); it may be 0 and 1 (comma between columns)"),
        (("7,1,000", "a", "7,25", "0,5"), "'7,25' is read as 7.25 (decimal comma); it may be 7 and 25 (comma between"),
        (("x\ty", "0,1\t1.234.567", "1,234,567\t0,1"), "is read as 1234567 (tab between columns); it may be 0.1 (tab"),
    ],
)
def test_a_doubt_compares_values_of_one_line(write, rows, words):
    """Two ways may have other lines above the values."""
    from gpu_ops.io.opening import Opening
    from gpu_ops.io.signals.table_layout import find_layout

    layout = find_layout(Opening(write("\n".join(rows)), "table", 1 << 20))
    assert layout is not None and words in layout.doubt


@pytest.mark.parametrize(
    ("cell", "decimal", "value"),
    [
        (b"1.234,5", "comma", 1234.5), (b"1.234.567", "comma", 1234567), (b"1.234", "comma", None),
        (b"1,234.5", "point", 1234.5), (b"1,234", "point", None), (b"0,234.5", "point", None),
        (b"12,34.5", "point", None), (b"1'234'567", "point", 1234567), (b"1 234", "point", 1234),
        (b"1 23", "point", None), (b"1234'567", "point", None), (b"\xe2\x88\x921,5", "comma", -1.5),
        (b"1,5e3", "comma", 1500), (b"1_000", "point", None), (b"-1,234.5e-1", "point", -123.45),
        (b"1'234,567", "point", None),
    ],
)  # fmt: skip
def test_numbers_in_cells(cell, decimal, value):
    assert number(cell, decimal) == value


def test_units_in_words():
    assert all(map(is_unit, ("mV", "m/s²", "m/s^2", "V/√Hz", "°C", "kΩ", "µs", "1/min", "counts", "g", "N·m", "%")))
    assert not any(map(is_unit, ("", "left", "rms value", "CH1", "2", "a b c", "x" * 40)))
    assert (
        cut_unit("acc (g)") == ("acc", "g") and cut_unit("U/mV") == ("U", "mV") and cut_unit("U in mV") == ("U", "mV")
    )
    assert cut_unit("ear (left)") == ("ear (left)", "") and cut_unit("and/or") == ("and/or", "")


def test_quotes_keep_their_bars():
    assert split(b'"a|b"|2', "pipe") == [b"a|b", b"2"]
