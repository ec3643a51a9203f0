"""The figures of the sources: what they state, what the model says, and which times of a report become points."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from figure_rows import HERTZ, image, report, row, rows_of

from gpu_ops.cli import figures, main
from gpu_ops.errors import ParamError
from gpu_ops.explaining.figures import DrawnFigure, draw_figures, find_figures
from gpu_ops.filters import FILTERS
from gpu_ops.filters.fft.counts.figures import RADIX, SIZES_FIGURE, THREADS_FIGURE
from gpu_ops.filters.fft.counts.radix import Gpu
from gpu_ops.report.files import write_report
from gpu_ops.report.rows import Report, Row
from gpu_ops.types import SOURCE_TITLES, Figure, Param, Rule

FIGURES = {figure.id: figure for figure in FILTERS.figures}


def drawn(figure: Figure, *rows: Row, **description: Any) -> DrawnFigure:
    (one,) = draw_figures({"s2.json": report(rows, **description)}, [figure])
    return one


def published(figure: Figure) -> list[tuple[float, ...]]:
    """The least and the largest of what is drawn at each place, to three digits."""
    ends = [(one.xs, one.ys, one.tops or one.ys) for one in figure.published]
    return [tuple(round(v, 3) for v in point) for xs, ys, tops in ends for point in zip(xs, ys, tops, strict=True)]


# What is published


def test_every_figure_belongs_to_a_source_and_is_drawn_without_any_report() -> None:
    assert len(FIGURES) == len(FILTERS.figures) >= 5
    for one in draw_figures({}):
        assert one.figure.source in SOURCE_TITLES and one.figure.published and not one.measured and not one.report
        assert "no recorded points" in one.missing and all(c.startswith("kernelscope ") for c in one.commands)
        for series in one.series:
            assert list(series.xs) == sorted(series.xs) and len(series.xs) == len(series.ys)


def test_gains_become_shares_of_the_value_that_they_are_held_against() -> None:
    assert published(THREADS_FIGURE)[:3] == [(32, 0.697, 0.905), (512, 0.886, 0.905), (1024, 0.886, 0.905)]
    low, high = published(THREADS_FIGURE)[0][1:]
    assert 1 / high == pytest.approx(1.105, rel=1e-3) and 1 / low == pytest.approx(1.435, rel=1e-3)
    assert published(SIZES_FIGURE) == [(128, 1, 1), (1024, 5, 5), (4096, 7.1, 7.1)]
    assert published(FIGURES["S2-figure-7"])[:2] == [(8, 4, 4), (16, 4, 4)]
    assert published(FIGURES["S2-figure-6-access"])[:2] == [(64, 1.15, 1.15), (128, 1.15, 1.15)]


# The model


@pytest.mark.parametrize(
    ("architecture", "with_fma", "without"), [("sm_62", 84, 9), ("sm_90", 84, 9), ("sm_75", 9, 3), ("sm_120", 84, 9)]
)
def test_the_model_takes_the_lanes_of_the_gpu_and_its_curves_meet_where_the_formula_says(
    architecture: str, with_fma: int, without: int
) -> None:
    assert RADIX.model is not None
    computing, slower, waiting = RADIX.model({"model": "A GPU", "architecture": architecture})
    assert max(waiting.xs) == 256 and set(waiting.ys) == {0.125}
    for curve, radix in ((computing, with_fma), (slower, without)):
        below = [x for x, y in zip(curve.xs, curve.ys, strict=True) if y <= 0.125]
        assert max(below) <= radix < 2 * max(below)
    gpu = Gpu.of({"architecture": architecture})
    assert gpu is not None
    assert [round(m.best_radix(8)) for m in (gpu.with_fma, gpu.without_fma)] == [with_fma, without]


def test_the_model_says_whose_figures_it_takes() -> None:
    (with_report,) = draw_figures({"a.json": report([])}, [RADIX])
    events = {one.text for one in with_report.series if one.basis == "model"}
    peaks = "100 multiprocessors at 2000 MHz, 25.6 TFLOP/s, 51.2 with FMA, 25.6 TB/s of shared memory"
    assert len(events) == 1 and with_report.machine == "A GPU"
    assert peaks in (text := events.pop()) and "0.1 clocks a point are 0.524 µs for 1024" in text
    (without,) = draw_figures({}, [RADIX])
    assert all("no report here describes a GPU" in one.text for one in without.series if one.basis == "model")
    assert Gpu.of({}) is None and Gpu.of({"architecture": "sm_35"}) is None


# Points of a report


def test_the_commands_of_each_figure_measure_all_of_its_points() -> None:
    """Every value that a variant's knob takes becomes a point of its line, in one report for all figures."""
    commands = dict.fromkeys(command for one in draw_figures({}) for command in one.commands)
    rows = [found for command in commands for found in rows_of(command)]
    figures = {one.figure.id: one for one in draw_figures({"s2.json": report(rows)})}
    assert all(one.measured and not one.missing and not one.notes[1:] for one in figures.values())
    radices = {one.variant: one.xs for one in figures["S2-figure-3"].measured}
    assert radices["shared"] == (2,) and radices["padded"] == (2, 16) and radices["radix4"] == (4,)
    assert radices["registers"] == (8, 16) and radices["fast"] == (4, 8, 16)
    threads = {one.variant: one.xs for one in figures["S2-figure-6-threads"].measured}
    assert threads["fast"] == (32, 64, 128, 256, 512, 1024) and set(radices) < set(threads)
    (access,) = figures["S2-figure-6-access"].measured
    assert access.variant == "fast" and access.xs == (32, 64, 128)
    columns = {one.variant: one.xs for one in figures["S2-figure-7"].measured}
    assert columns["columns"] == columns["fast"] == (1, 2, 4, 8, 16)
    sizes = {one.variant: one for one in figures["S2-figure-8"].measured}
    assert all(one.xs == (128, 256, 512, 1024, 2048, 4096) and one.ys[0] == 1 for one in sizes.values())
    (images,) = (f for f in FILTERS if f.id == "fft_batch2d")
    assert list(sizes) == [v.id for v in images.variants if v.id in sizes], "in the order of the ladder"
    assert sizes["cupy"].name == "cuFFT (CuPy)" and {*columns, *threads} <= set(sizes)


def test_commands_name_the_variants_that_can_do_what_is_asked() -> None:
    """A variant with the knob is added to its figure, and one that refuses the input is not."""
    (batch,) = (f for f in FILTERS if f.id == "fft_batch2d")
    figure, shared = FIGURES["S2-figure-7"], batch.variant("shared")
    assert not figure.sweeps([replace(batch, variants=(shared,))])
    knob = Param("batch", 4, choices=(1, 2, 4, 8, 16), help="columns per block")
    joined = replace(shared, id="joined", knobs=(knob,))
    unable = replace(joined, id="unable", rules=(Rule(lambda task: True, "it takes real samples alone"),))
    partly = replace(joined, id="partly", rules=(Rule(lambda task: task.knobs["batch"] >= 8, "too many"),))
    all_four, few = figure.sweeps([replace(batch, variants=(shared, joined, unable, partly))])
    assert "--variant joined --sample" in all_four and "--over batch=1,2,4,8,16 " in all_four
    assert "--variant partly --sample" in few and "--over batch=1,2,4 " in few


def test_times_are_shared_out_among_points_and_stages_in_clocks() -> None:
    """1024 points per line: 10 stages of radix 2, 5 of radix 4, 3 of radix 16."""
    rows = [row("padded", 1e-3, knobs={"radix": r, "block": 256}) for r in (2, 16)] + [row("radix4", 1e-3)]
    rows += [row("padded", 2e-3, knobs={"radix": 2, "block": 64}), row("global", 1e-3), row("fast", 2e-3)]
    rows += [row("table", 1e-3, params={"numbers": n, "points": p}) for n, p in (("complex", 1000), ("real", 1024))]
    found = drawn(RADIX, *rows)
    by_variant = {one.variant: dict(zip(one.xs, one.ys, strict=True)) for one in found.measured}
    whole = 1e-3 * HERTZ / 1024**2
    assert by_variant["padded"] == pytest.approx({2: whole / 10, 16: whole / 3})
    assert by_variant["radix4"] == pytest.approx({4: whole / 5}) and set(by_variant) == {"padded", "radix4"}
    for lacks in ({"multiprocessors": 0}, {"sm_mhz": 0}, {"architecture": ""}):  # 0 as in a report without them
        without = drawn(RADIX, *rows, **lacks)
        assert not without.measured and "cannot be given in clocks" in without.notes[0]


def test_the_clock_of_a_gpu_at_work_counts() -> None:
    """An idle GPU lowers its clock, before the first time or after the last one."""
    idle = report([row("radix4", 1e-3)], sm_mhz=345)
    after = replace(idle, provenance={**idle.provenance, "devices_after": {"cuda:0": {"sm_mhz": 2000}}})
    (slow,), (fast,) = (draw_figures({"a.json": one}, [RADIX])[0].measured for one in (idle, after))
    assert fast.ys[0] == pytest.approx(1e-3 * HERTZ / 1024**2 / 5) and slow.ys[0] == pytest.approx(fast.ys[0] * 0.1725)


def test_throughput_is_held_against_the_base_on_the_job_with_most_points() -> None:
    """A large signal with two blocks does not displace the line of a smaller one with three."""
    small = [row("shared", s, knobs={"block": b}) for b, s in ((32, 4e-5), (256, 2e-5), (512, 3e-5))]
    large = [row("shared", s, (1 << 25,), knobs={"block": b}) for b, s in ((64, 4e-4), (256, 4e-4))]
    (line,) = drawn(THREADS_FIGURE, *small, *large).measured
    assert line.xs == (32, 256, 512) and line.ys == pytest.approx((0.5, 1, 2 / 3))
    without = drawn(THREADS_FIGURE, *small[:1], *small[2:])
    assert not without.measured and "2 shared memory has no time at block 256" in without.notes[0]


def test_lines_of_one_variant_are_told_apart_by_their_other_knobs() -> None:
    rows = [row("padded", 1e-5, knobs={"block": b, "radix": r}) for b in (64, 256) for r in (2, 16)]
    names = [one.name for one in drawn(THREADS_FIGURE, *rows).measured]
    assert [name.rpartition(", ")[2] for name in names] == ["radix 2", "radix 16"]


GOOD = [row("shared", 1e-5, knobs={"block": b}) for b in (32, 256)]
DOUBT = replace(GOOD[1].stages["kernel"], doubt="the clock changed")
REFUSED = {
    "wrong": {"ok": False},
    "unverified": {"ok": None},
    "edited": {"edits": "0123456789ab"},
    "on the CPU": {"device": "cpu"},
    "simulated": {"clock": "simulated"},
    "in doubt": {"stages": {"kernel": DOUBT}},
    "faster than its roof": {"flag": "faster than its roof"},
    "of another filter": {"filter": "fft1d"},
    "of an unknown variant": {"variant": "nonsense"},
    "untimed": {"stages": {}},
    "of a knob's value that is not allowed": {"knobs": {"block": 33}},
}


@pytest.mark.parametrize("changes", REFUSED.values(), ids=REFUSED)
def test_only_times_of_right_results_become_points(changes: dict[str, Any]) -> None:
    assert drawn(THREADS_FIGURE, *GOOD).measured
    assert not drawn(THREADS_FIGURE, GOOD[0], replace(GOOD[1], **changes)).measured


def test_a_figure_comes_from_the_one_report_with_most_of_its_points() -> None:
    more = [row("shared", 1e-5, knobs={"block": b}) for b in (32, 128, 256)]
    reports = {"few.json": report(GOOD), "most.json": report(more), "none.json": report([])}
    (one,) = draw_figures(reports, [THREADS_FIGURE])
    assert one.report == "most.json" and one.machine == "A GPU" and len(one.measured[0].xs) == 3
    (named,) = draw_figures({"old.json": Report({"devices": {}, "cpu": "A CPU"}, tuple(more))}, [THREADS_FIGURE])
    assert named.machine == "A CPU", "of an old report that names no GPU"


def test_the_library_is_compared_on_the_largest_image_that_both_have() -> None:
    rows = [image(v, n * n * s, n) for n in (128, 256) for v, s in (("cupy", 1e-9), ("shared", 4e-9))]
    rows += [image("cupy", 1e-3, 512), image("shared", 1e-9, 256, params={"numbers": "real", "tile": 0})]
    found = drawn(SIZES_FIGURE, *rows)
    assert "At 256 × 256 points cuFFT has ×4 the throughput of 2 shared memory" in found.notes[-1]


# Tables and files


def test_figures_without_a_report_are_printed_with_the_commands_that_measure_them(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "recorded_reports", lambda: {})
    assert main(["figures", "S2-figure-6-threads"]) == 0
    out = capsys.readouterr().out
    assert "32 threads (published)" in out and "0.697 to 0.905" in out and "--over block=32,64,128,256,512" in out
    assert "There are no recorded points yet" in out and "S2-figure-3" not in out


def test_every_figure_has_recorded_points(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["figures", "--json", "-"]) == 0
    for figure in json.loads(capsys.readouterr().out)["figures"]:
        points = [point for point in figure["points"] if point["basis"] == "measured"]
        assert len(points) >= 3 and not figure["commands"], figure["id"]


def test_the_points_of_a_report_go_to_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, table = tmp_path / "s2.json", tmp_path / "points.csv"
    write_report(name, report(GOOD).to_json())
    assert main(["figures", "S2-figure-6-threads", "--report", str(name), "--csv", str(table), "--json", "-"]) == 0
    (figure,) = json.loads(capsys.readouterr().out)["figures"]
    measured = [point for point in figure["points"] if point["basis"] == "measured"]
    assert [(p["x"], p["y"]) for p in measured] == [(32, 1), (256, 1)] and figure["commands"] == []
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert len(rows) == len(figure["points"]) and rows[0]["top"] and not rows[-1]["top"]
    (one,) = draw_figures({"s2.json": report(GOOD)}, [THREADS_FIGURE])
    assert "# machine: A GPU" in one.to_csv() and json.loads(one.to_json())["figures"] == [one.as_dict()]


ODD = [
    (["figures", "S2-figure-9"], "There is no figure 'S2-figure-9' (did you mean"),
    (["figures", "--report", "nowhere.json"], "nowhere.json does not exist"),
    (["figures", "S2-figure-3", "--picture", "a.png"], "The engine alone draws no pictures"),
    (["figures", "--csv", "/nowhere/a.csv"], "/nowhere"),
]


@pytest.mark.parametrize(("args", "words"), ODD, ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_what_cannot_be_done_is_said(args: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(args) == 2
    assert words in capsys.readouterr().err


def test_a_picture_is_of_one_figure_in_a_file_of_its_kind(capsys: pytest.CaptureFixture[str]) -> None:
    def never(figure: DrawnFigure, path: str) -> None:
        raise AssertionError(path)

    for args, words in (([], "draws one figure, not"), (["S2-figure-3", "--picture", "a.jpg"], "must end in .png")):
        assert main(["figures", "--picture", "a.png", *args], never) == 2
        assert words in capsys.readouterr().err


@pytest.mark.parametrize("figure", ["sm_mhz", "multiprocessors"])
def test_a_report_whose_gpu_is_described_in_words_is_refused(
    figure: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_report(tmp_path / "odd.json", report(GOOD, **{figure: "many"}).to_json())
    assert main(["figures", "--report", str(tmp_path / "odd.json")]) == 2
    assert "sm_mhz or multiprocessors among devices" in capsys.readouterr().err


def test_figures_are_found_by_their_ids() -> None:
    assert find_figures([]) == FILTERS.figures and find_figures(["S2-figure-8"] * 2) == (SIZES_FIGURE,)
    with pytest.raises(ParamError, match="choose from S2-figure-3"):
        find_figures(["nonsense"])
