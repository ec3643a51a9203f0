"""Results as columns of text: names, places, values – read back by others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_ops.engine.jobs import work
from gpu_ops.engine.messages import SaveRequest, SharedArray, SharedResult
from gpu_ops.errors import InputError
from gpu_ops.io import load, save_result
from gpu_ops.output_kinds import OUTPUT_KINDS, Axis, Form

COLOURS = Axis("channel", labels=("red", "green"))
CASES: list[tuple[Any, tuple[Axis, ...], str, list[str]]] = [
    (
        np.array([[3, 4, 5], [6, 7, 8]], np.uint64),
        (COLOURS, Axis("value", "V", -0.5, 0.25)),
        "counts",
        ["value (V),red (counts),green (counts)", "-0.5,3,6", "-0.25,4,7", "0.0,5,8"],
    ),
    (np.array([2, 9]), (Axis("value"),), "", ["value,value", "0.0,2", "1.0,9"]),
    (
        np.array([1 + 2j, -0.5]),
        (Axis("frequency", "Hz", 0, 12.5),),
        "mV",
        ["frequency (Hz),value (mV) real,value (mV) imaginary", "0.0,1.0,2.0", "12.5,-0.5,0.0"],
    ),
    (np.array(0.1), (), "V", ["value (V)", "0.1"]),
    (
        np.array([[1.5, 2.0], [3.0, np.nan]]),
        (Axis("of", labels=("a, b", "c")), Axis("figure", labels=("mean", "least"))),
        "",
        ["of,mean,least", '"a, b",1.5,2.0', "c,3.0,nan"],
    ),
    (
        np.array([[0.0, 1e-3, 1.0, 4096.0]]),
        (Axis("span"), Axis("field", labels=("start", "end", "stream", "bytes"))),
        "",
        ["span,start,end,stream,bytes", "0.0,0.0,0.001,1.0,4096.0"],
    ),
]


@pytest.mark.parametrize("array, axes, unit, lines", CASES, ids=lambda v: str(getattr(v, "shape", "")))
def test_columns(tmp_path: Path, array: Any, axes: tuple[Axis, ...], unit: str, lines: list[str]) -> None:
    path = tmp_path / "out.csv"
    save_result(path, array, Form(array.shape, array.dtype.name, axes), unit)
    assert path.read_text().splitlines() == lines


def test_digits_bring_every_number_back(tmp_path: Path) -> None:
    array = np.random.default_rng(0).standard_normal(5000) * 1e-7
    save_result(tmp_path / "out.txt", array, Form(array.shape, "float64", (Axis("frequency"),)))
    read = np.loadtxt(tmp_path / "out.txt", delimiter=",", skiprows=1)
    assert np.array_equal(read[:, 1], array) and np.array_equal(read[:, 0], np.arange(5000))


def test_more_axes_are_a_sentence_and_leave_no_file(tmp_path: Path) -> None:
    array = np.zeros((2, 3, 4), np.complex64)
    with pytest.raises(InputError, match="cannot hold 3 axes in columns; save as .npy"):
        save_result(
            tmp_path / "out.csv", array, Form(array.shape, "complex64", (Axis("y"), Axis("x"), Axis("channel")))
        )
    assert not list(tmp_path.iterdir())


class Desk:
    """Holds one array of a window's."""

    def __init__(self, array: Any) -> None:
        self.held, self.stopped, self.part = array, lambda: False, lambda part: None

    def progress(self, text: str, done: int = 0, total: int = 0) -> None: ...

    def array(self, shared: SharedArray) -> Any:
        return self.held


@pytest.mark.parametrize(
    "kind, array",
    [
        ("image", np.arange(12, dtype=np.uint8).reshape(3, 4)),
        ("signal", np.arange(5.0)),
        ("spectrum", np.arange(5.0) + 1j),
        ("bars", np.arange(6, dtype=np.uint32).reshape(2, 3)),
        ("pyramid", np.arange(4.0)),
        ("number", np.array(2.5)),
        ("table", np.arange(6.0).reshape(3, 2)),
        ("timeline", np.arange(8.0).reshape(2, 4)),
    ],
)
def test_a_request_writes_every_format_of_its_kind(tmp_path: Path, kind: Any, array: Any) -> None:
    axes = tuple(Axis(f"axis{place}") for place in range(array.ndim))
    if kind == "bars":
        axes = COLOURS, axes[1]
    form = Form(array.shape, array.dtype.name, axes)
    for suffix in OUTPUT_KINDS[kind].formats:
        path = tmp_path / f"out{suffix}"
        shared = SharedResult(kind, SharedArray("s", array.shape, array.dtype.name), form, "", "", None)
        rate = 8000.0 if OUTPUT_KINDS[kind].heard else None
        work(Desk(array), SaveRequest(1, str(path), shared, rate))  # type: ignore[arg-type]
        if suffix == ".npy":
            assert np.array_equal(np.load(path), array)
        elif OUTPUT_KINDS[kind].headed:
            rows = 1 if array.ndim == 0 else array.shape[1 if axes[0] is COLOURS else 0]
            assert len(path.read_text().splitlines()) == 1 + rows
        else:
            assert load(path).array.shape == array.shape


def test_all_kinds_are_tried() -> None:
    marks = test_a_request_writes_every_format_of_its_kind.pytestmark  # type: ignore[attr-defined]
    assert {case[0] for case in marks[0].args[1]} == OUTPUT_KINDS.keys()
