"""Rows of transfers, whose times have their copies in them: they are said to be end to end, and are never compared as
kernels."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF, QGuiApplication
from result_rows import TITLES, row, rows, show_rows

from app.models.results.results import Results
from app.views.timing.ladder_layout import Builder, legend_texts
from app.views.timing.result_table import ResultModel
from app.views.timing.row_text import details
from gpu_ops import Experiment, Pick, from_array
from gpu_ops.cli.benches import _print_bench
from gpu_ops.cli.tables import bench_table, fair_table

PINNED = {"filter": "transfer2d", "share": None, "roof": None, "shape": [512, 512], "params": {}}


def transfer(variant: str, device: str, seconds: float) -> Any:
    """A row of transfers, with the one time that they have."""
    made = row(variant, device, seconds, **PINNED)
    content = {**made.to_json(), "stages": {"kernel": made.to_json()["stages"]["kernel"]}}
    return type(made).from_json(content)


@pytest.fixture
def results(qapp: object) -> Results:
    found = Results()
    show_rows(found, [transfer("serial", "cpu", 3e-3), transfer("pinned", "cuda:0", 1e-3)], TITLES)
    return found


def layout(results: Results) -> Builder:
    font = QFontMetricsF(QGuiApplication.font())
    return Builder(900.0, font, font, results, False)


def heading(results: Results) -> str:
    model = ResultModel(results)
    place = next(i for i, c in enumerate(model.columns) if c.id == "kernel")
    return str(model.headerData(place, Qt.Orientation.Horizontal))


def test_ladder_table_legend_and_tip_say_end_to_end(results: Results) -> None:
    assert layout(results).headings["kernel"] == heading(results) == "end to end"
    legend = dict(legend_texts(results.entries()))
    assert legend["kernel"].startswith("end to end, GPU") and legend["cpu"].startswith("computing, CPU")
    serial, pinned = (details(entry, results) for entry in results.entries())
    assert "end to end 1 ms" in pinned and "kernel" not in pinned and "computing 3 ms" in serial


def test_other_rows_keep_their_kernel_time(qapp: object) -> None:
    results = Results()
    show_rows(results, rows(), TITLES)
    assert layout(results).headings["kernel"] == heading(results) == "kernel"
    assert layout(results).fair and dict(legend_texts(results.entries()))["kernel"].startswith("kernel, GPU")


def test_a_heading_changes_when_the_first_time_comes(qtbot: Any) -> None:
    results = Results()
    made = transfer("pinned", "cuda:0", 1e-3)
    show_rows(results, [type(made).from_json({**made.to_json(), "stages": {}, "filter": "mean1d"})], TITLES)
    model = ResultModel(results)
    place = next(i for i, c in enumerate(model.columns) if c.id == "kernel")
    assert model.headerData(place, Qt.Orientation.Horizontal) == "kernel"
    with qtbot.waitSignal(model.headerDataChanged):
        results.put(made)
    assert model.headerData(place, Qt.Orientation.Horizontal) == "end to end"


def test_there_is_no_fair_comparison_and_no_share_of_a_roof(results: Results) -> None:
    assert results.fair_bars() == () and layout(results).fair == ()
    assert all(texts["share"] == "" for texts in layout(results).texts.values())


def test_the_command_line_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    made = [transfer("serial", "cpu", 3e-3), transfer("pinned", "cuda:0", 1e-3)]
    table = bench_table(made, None, "serial").splitlines()
    assert "  end to end  " in table[0] and "kernel" not in table[0] and fair_table(made) == ""
    assert "kernel" in bench_table(rows(), None, "serial").splitlines()[0] and "GPU, kernel" in fair_table(rows())
    picks, params = (Pick("pinned", "cuda:0"),), {"work": "mean2d-naive"}
    experiment = Experiment("transfer2d", from_array(np.zeros((8, 8), np.uint8)), params, picks)
    _print_bench(argparse.Namespace(baseline="serial"), experiment, made)
    said = capsys.readouterr().out
    assert "; end to end by the wall clock" in said
    assert "stream timing" not in said and "The fair comparison" not in said
