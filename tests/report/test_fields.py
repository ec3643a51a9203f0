"""A run, its row, its JSON and its line of a table say the same: field by field, each with a value of its own."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import fields
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from app.models.results.results import CSV_COLUMNS, Results
from gpu_ops.cli import main
from gpu_ops.io import from_array
from gpu_ops.plan import Finding
from gpu_ops.report.row_kinds import ErrorSize, Roof, Speedup
from gpu_ops.report.rows import FACTS, Report, Row
from gpu_ops.types import Closeness, Error, Experiment, Pick, Quality, Run, Timing, Work

seconds = st.floats(1e-9, 1e4)
figure = st.one_of(st.none(), st.just(math.inf), st.floats(0, 1e30))
word = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), min_size=1, max_size=8)
clocks = st.sampled_from(["cuda-event", "wall"])
values = st.dictionaries(word, st.one_of(st.integers(-9, 9), st.floats(-1, 1), word, st.tuples(st.integers(), word)))


@st.composite
def timings(draw: Any, stage: str) -> Timing:
    return Timing(stage, draw(clocks), *(draw(seconds) for _ in range(4)), draw(st.integers(1, 999)), draw(word),
                  draw(word), doubt=draw(st.one_of(st.just(""), word)))  # fmt: skip


closeness = st.builds(Closeness, figure, figure, figure)
ROWS = st.builds(
    Row,
    filter=word,
    variant=word,
    device=st.sampled_from(["cpu", "cuda:1"]),
    params=values,
    knobs=values,
    shape=st.lists(st.integers(1, 1 << 40), min_size=1, max_size=3).map(tuple),
    dtype=word,
    mode=word,
    stages=st.fixed_dictionaries(
        {"kernel": timings("kernel")},
        optional={s: timings(s) for s in ("upload", "download", "elapsed_pinned", "elapsed_streamed")},
    ),
    edits=st.one_of(st.just(""), word),
    clock=clocks,
    input=st.dictionaries(word, word, max_size=2),
    protocol=word,
    checks=word,
    errors=st.dictionaries(word, st.builds(ErrorSize, figure, figure), max_size=2),
    error_max=figure,
    tolerance=figure,
    ok=st.sampled_from([None, True, False]),
    notes=st.lists(word, max_size=2).map(tuple),
    failure=word,
    failure_kind=word,
    bytes=st.integers(0, 1 << 50),
    source_hash=word,
    counters=st.dictionaries(word, st.integers(0, 1 << 60), max_size=2),
    findings=st.lists(st.fixed_dictionaries({"kind": word, "text": word}), max_size=2).map(tuple),
    printed=st.lists(word, max_size=2).map(tuple),
    gbps=st.one_of(st.none(), st.floats(0, 1e6)),
    share=st.one_of(st.none(), st.floats(0, 2)),
    roof=st.one_of(st.none(), st.builds(Roof, st.sampled_from(["copy", "read"]), st.floats(1, 1e13))),
    share_same_size=st.one_of(st.none(), st.floats(0, 2)),
    flag=word,
    speedup=st.one_of(st.none(), st.builds(Speedup, word, st.dictionaries(st.just("kernel"), st.floats(0, 9)))),
    quality=st.dictionaries(word, st.builds(Quality, closeness, closeness), max_size=1),
)


@settings(max_examples=8, deadline=None)
@given(ROWS)
def test_a_row_is_the_same_after_json(row: Row) -> None:
    text = json.dumps(Report({"a": 1}, (row,)).to_json(), allow_nan=False)
    (back,) = Report.from_json(json.loads(text)).rows
    for field in fields(Row):
        assert getattr(back, field.name) == getattr(row, field.name), field.name


TIMINGS = {
    stage: Timing(
        stage,
        *("cuda-event", 10.0 + k, 20.0 + k, 30.0 + k, 40.0 + k, 50 + k),
        *(f"stop {k}", f"mode {k}", (1.0,), f"doubt {k}"),
    )
    for k, stage in enumerate(("kernel", "upload", "download", "elapsed", "elapsed_pinned", "elapsed_streamed"))
}
FINDING = Finding("out of bounds", "error", "k", "a.cu", 7, (("b.cuh", 3),), 2, (1, 2, 3), (4, 5, 6), "reads x")
RUN = Run(
    pick=Pick("shared", "cuda:1", {"block": 256}, {"box/1_direct.cu": "text"}),
    filter="box",
    params={"radius": 3, "weights": [1, 2]},
    shape=(30, 40),
    dtype="uint16",
    stage="timed",
    outputs={},
    work=Work(2_000_000_000, 3_000_000_000, 7),
    errors={
        "first": Error(8.0, 2.0, (0,), 2.0, 0.25),  # relative 4
        "second": Error(3.0, 1.0, (0,), 4.0, 0.75),  # relative 0.75
        "third": Error(5.0, 4.0, (0,), 5.0, 0.5),  # relative 1
    },
    ok=False,
    timings=TIMINGS,
    counters={"sectors": 5},
    notes=("one", "two"),
    failure="it failed",
    failure_kind="kernel",
    findings=(FINDING,),
    printed=("hello",),
    source_hash="abc",
    quality={"first": Quality(Closeness(1.0, 2.0, 3.0), Closeness(4.0, math.inf, None))},
)
INPUT = from_array(np.zeros((30, 40), np.uint16))
EXPERIMENT = Experiment("box", INPUT, RUN.params, (), "careful", "cold", "sample")
ROW = Row.of(RUN, EXPERIMENT)


def test_a_row_has_what_its_run_has() -> None:
    assert (ROW.filter, ROW.variant, ROW.device) == ("box", "shared", "cuda:1")
    assert (ROW.params, ROW.knobs) == ({"radius": 3, "weights": (1, 2)}, {"block": 256})
    assert ROW.edits == RUN.key.edits != ""
    assert (ROW.shape, ROW.dtype, ROW.bytes, ROW.source_hash) == ((30, 40), "uint16", 5_000_000_000, "abc")
    assert (ROW.mode, ROW.protocol, ROW.checks, ROW.input) == ("cold", "careful", "sample", INPUT.origin)
    assert (ROW.ok, ROW.notes, ROW.failure, ROW.failure_kind) == (False, ("one", "two"), "it failed", "kernel")
    assert (ROW.counters, ROW.printed) == ({"sectors": 5}, ("hello",))
    assert ROW.findings == ({**vars(FINDING), "text": str(FINDING)},) and ROW.faulty
    assert ROW.quality == RUN.quality
    assert ROW.gbps == 0.5 and ROW.clock == "cuda-event"


def test_timings_keep_all_but_their_samples() -> None:
    assert dict(ROW.stages) == TIMINGS  # samples do not take part
    assert all(timing.samples == () and timing.doubt == TIMINGS[stage].doubt for stage, timing in ROW.stages.items())


def test_of_several_outputs_the_largest_error_and_the_widest_tolerance_count() -> None:
    assert (ROW.error_max, ROW.tolerance) == (4.0, 0.75)
    assert ROW.errors == {"first": (8.0, 2.0), "second": (3.0, 1.0), "third": (5.0, 4.0)}


def test_a_line_of_the_table_has_what_its_row_has() -> None:
    results = Results()
    results.put(ROW)
    (line,) = csv.DictReader(io.StringIO(results.to_csv()))
    expected: dict[str, Any] = {
        **{"filter": "box", "variant": "shared", "device": "cuda:1", "shape": "30x40", "dtype": "uint16"},
        **{"params": json.dumps(ROW.params), "knobs": '{"block": 256}', "mode": "cold", "protocol": "careful"},
        **{"clock": "cuda-event", "kernel_s": 10.0, "q1_s": 20.0, "q3_s": 30.0, "n": 50, "gbps": 0.5},
        **{
            "upload_s": 11.0,
            "download_s": 12.0,
            "elapsed_s": 13.0,
            "elapsed_pinned_s": 14.0,
            "elapsed_streamed_s": 15.0,
        },
        **{"error_max": 4.0, "tolerance": 0.75, "ok": False, "failure": "it failed"},
        **{"quality_of": "first", "snr_db_before": 1.0, "psnr_db_before": 2.0, "ssim_before": 3.0},
        **{"snr_db_after": 4.0, "edits": ROW.edits, "input_hash": str(INPUT.origin.get("hash", ""))},
    }
    assert {name: line[name] for name in expected} == {name: str(value) for name, value in expected.items()}
    assert line["notes"].startswith("one; two; kernel: doubt 0; upload: doubt 1")
    assert set(CSV_COLUMNS) <= set(line)


def test_every_field_of_a_row_is_declared_once_and_listed(capsys: Any) -> None:
    assert [*FACTS, "others"] == [f.name for f in fields(Row)] and all(fact.help for fact in FACTS.values())
    assert main(["list", "--fields"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()[2:]]
    assert listed == list(FACTS)
