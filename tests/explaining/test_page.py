"""The HTML report: whole, self-contained, escaped, and of what the rows say."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.main import main
from gpu_ops import Experiment, Pick, from_array, run_experiment
from gpu_ops.errors import InputError
from gpu_ops.explaining.page import Page, drawn_picture, png_picture
from gpu_ops.explaining.page_kernels import Kernel, SourceLine, counted_kernels
from gpu_ops.explaining.page_rows import PageRow, RowsOnPage
from gpu_ops.filters import find_filter
from gpu_ops.html import drawn
from gpu_ops.report import files, provenance
from gpu_ops.report.files import report_of, write_report
from gpu_ops.report.rows import Row
from gpu_ops.running.roofline import Roofs

html5lib = pytest.importorskip("html5lib")  # a GPU host may lack it
EVIL = "<script>alert(1)</script>\x1b[2J\" onload='x' & {{ 7 * 7 }} </style>"


def stage(median: float) -> dict[str, Any]:
    times = {"median_s": median, "q1_s": median * 0.98, "q3_s": median * 1.03, "min_s": median * 0.95}
    return {**times, "n": 30, "stop": "stable", "clock": "wall", "mode": "stream"}


def row(variant: str, device: str, seconds: float | None, **more: Any) -> Row:
    content = {
        "filter": "mean1d",
        "variant": variant,
        "device": device,
        "params": {"window": 5, "border": "zero"},
        "knobs": {},
        "shape": [1000],
        "dtype": "float32",
        "mode": "stream",
        "stages": {"kernel": stage(seconds)} if seconds else {},
        "error_max": 0.0,
        "tolerance": 1e-6,
        "ok": True,
        "notes": [],
        "failure": None,
        "failure_kind": None,
        "bytes": 8000,
        "source_hash": "",
    }
    return Row.from_json(content | more)


COUNTS = {"thread_instructions": 6400, "warp_instructions": 200, "global_load_sectors": 40, "global_load_requests": 20}
ROWS = (
    row("serial", "cpu", 1e-3),
    row("naive", "cuda:0", 1e-5, notes=[EVIL]),
    row("naive", "sim", None, counters=COUNTS),
    row("shared", "sim", None, counters=COUNTS | {"global_load_sectors": 10}),
)


def page(**more: Any) -> Page:
    rows = RowsOnPage([PageRow(one) for one in ROWS], ROWS[0], provenance={"devices": {"cuda:0": {"model": EVIL}}})
    content = {"title": EVIL, "lead": EVIL, "facts": {EVIL: EVIL, "list": [EVIL]}, "provenance": {"a": {"b": EVIL}}}
    return Page(**{**content, "rows": rows, **more})


def tree(text: str) -> Any:
    """The page as a browser reads it; a fault in it is an error."""
    parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    return parser.parse(text)


def words(text: str) -> str:
    return " ".join(" ".join(tree(text).itertext()).split())


def test_every_text_from_outside_is_escaped() -> None:
    lines = [SourceLine(1, EVIL, [EVIL])]
    kernel = Kernel(EVIL, EVIL, EVIL, lines, (EVIL,), EVIL, (EVIL,))
    claim = {"id": EVIL, "claim": EVIL, "source_title": EVIL, "published": EVIL, "found": EVIL, "where": EVIL}
    picture = png_picture(b"\x89PNG", EVIL, EVIL)
    text = page(
        kernels=[kernel], claims=[claim | {"holds": None}], pictures=[picture], charts=[picture], part=EVIL
    ).html()
    found = tree(text)
    assert found.findall(".//script") == [] and len(found.findall(".//style")) == 1
    attributes = {name for element in found.iter() for name in element.attrib}
    assert not any(name.startswith("on") for name in attributes) and "49" not in text.split("</style>")[1][:200]
    assert "\x1b" not in text and "\\x1b[2J" in text
    assert words(text).count("<script>alert(1)</script>") > 20, "it is shown letter by letter"


def test_it_needs_nothing_else() -> None:
    image = drawn_picture(drawn(np.arange(64, dtype=np.uint8).reshape(8, 8), 2), "Input")
    found = tree(page(title="t", pictures=[image]).html())
    sources = [element.get(name) for element in found.iter() for name in ("src", "href") if element.get(name)]
    assert sources and all(source.startswith("data:image/png;base64,") for source in sources)
    policy = found.find(".//meta[@http-equiv]")
    assert policy.get("content") == "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    assert "@page { size: A4" in page().html()


def test_times_counts_and_reasons_are_those_of_the_rows() -> None:
    text = words(page(title="t", lead="l").html())
    assert "CPU, one core" in text and "1.000 ms" in text and "Speed-ups are relative to CPU, one core" in text
    assert "10.00 µs" in text and "100 " in text, "the speed-up of the GPU"
    assert "sectors per load request" in text and "Global load sectors fall from 0.04 to 0.01 per sample (÷4)" in text
    assert "One thread per output" in text and text.count("✓ right") == 2 * len(ROWS)
    bars = re.findall(r'<rect width="([\d.]+)%"', page().html())
    assert bars == ["100.00", "100.00", "100.00", "25.00", "25.00", "100.00"]


def test_recorded_wrong_and_failed_rows_cannot_be_mistaken() -> None:
    rows = [
        PageRow(row("naive", "cuda:0", 1e-5), "NVIDIA H200"),
        PageRow(row("serial", "cpu", None, ok=False, error_max=3.0)),
        PageRow(row("naive", "cuda:0", None, ok=None, failure="No room.", failure_kind="memory", error_max=None)),
        PageRow(row("serial", "cpu", 3e-3), pinned=row("serial", "cpu", 1e-3)),
    ]
    text = page(title="t", lead="l", rows=RowsOnPage(rows, pinned="old.json")).html()
    assert "◉ recorded · NVIDIA H200" in words(text) and "cuda:0, recorded on NVIDIA H200" in words(text)
    assert "stroke-dasharray" in text and "✗ WRONG" in text and "No room." in text and "memory" in text
    assert "×3 slower" in words(text) and "relative to old.json" in words(text)


def test_an_empty_page_is_a_page() -> None:
    assert "no rows" not in words(page(title="t", rows=RowsOnPage([])).html())


def test_a_file_is_written_whole_or_refused(tmp_path: Path) -> None:
    page().write(tmp_path / "a.html")
    assert tree((tmp_path / "a.html").read_text()) is not None
    with pytest.raises(InputError):
        page().write(tmp_path / "nowhere" / "a.html")


def test_the_machine_has_its_roofs_in_words() -> None:
    known = {"copy_bytes_s": 4.25e12, "read_bytes_s": 4.59e12, "buffer_bytes": 1 << 31, "l2_bytes": 50 << 20}
    known |= {f"{name}_bytes_s": k * 1e12 for k, name in enumerate(("l2_copy", "l2_read", "l1_read", "shared_read"), 5)}
    gpu = {"device": "cuda:0", "model": "NVIDIA H200", "roofs": known | {"launch_s": 2.5e-6, "graph_launch_s": 1e-6}}
    text = words(page(provenance={"cpu": "a processor", "devices": {"cpu": {"model": EVIL}, "cuda:0": gpu}}).html())
    assert "cuda:0 model NVIDIA H200" in text
    assert "roofs of cuda:0 copy 4250 GB/s, read 4590 GB/s (buffers of 2048 MiB)" in text
    assert "within L2 (50 MiB): copy 5000 GB/s, read 6000 GB/s" in text
    assert "read 7000 GB/s from L1, 8000 GB/s from shared memory" in text
    assert "launch latency 2.5 µs in a stream, 1 µs in a graph" in text
    assert "roofs of cpu" not in text and "bytes_s" not in text


def test_numbers_have_the_minus_sign() -> None:
    choices = {"window": 5, "level": -3}
    rows = [PageRow(replace(ROWS[0], params={"level": level}), "") for level in (-3, -2.5)]
    text = words(page(rows=RowsOnPage(rows), facts={"parameters": choices, "values": [-1e-7, 2]}).html())
    assert "level −3" in text and "level −2.5" in text and "−1e−07; 2" in text
    assert not re.search(r"[ (]-\d", text)


# ---------------------------------------------------------------- the command


@pytest.fixture
def known_roofs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Roofs that nobody has to wait for."""
    known = Roofs(1e10, 1e10, 1 << 28)
    for module in (files, provenance):
        monkeypatch.setattr(module, "roofs", lambda name: known)
    monkeypatch.setattr(files, "roofs_at", lambda name, nbytes: known)


def test_the_command_writes_a_page_of_a_filter(
    tmp_path: Path, known_roofs: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpu_ops.cli.page.recorded_reports", dict)  # reading them takes seconds
    np.save(tmp_path / "in.npy", np.arange(900, dtype=np.uint8).reshape(30, 30))
    target = tmp_path / "out.html"
    args = ["report", "mean", "--input", str(tmp_path / "in.npy"), "--device", "cpu", "--output", str(target)]
    assert main([*args, "--variant", "serial"]) == 0
    text = words(target.read_text())
    assert "Mean (image) of in.npy" in text and "CPU, one core" in text and "Counted work" not in text
    assert len(tree(target.read_text()).findall(".//img")) == 2
    assert "in.npy" in text and str(tmp_path) not in text, "no folders"


def test_kernels_have_counters_beside_their_lines() -> None:
    from gpu_ops.explaining.sentences import explain
    from gpu_ops.explaining.xray import as_dict, xray

    filter, image = find_filter("mean2d"), from_array(np.arange(1024, dtype=np.uint8).reshape(32, 32))
    found = xray(filter, filter.variant("naive"), image, {}, {})
    content = as_dict(found) | {
        "title": "1 naive",
        "idea": "an idea",
        "sources": {k.file: k.text for k in found.kernels},
    }
    (kernel,) = counted_kernels(content | {"sentences": [{"text": s.text} for s in explain(found)]})
    assert kernel.columns[0] == "instr" and "sec/ld" in kernel.columns and kernel.sentences
    hot = [line for line in kernel.lines if line.hot]
    assert hot and all(line.cells[0] for line in hot) and any("taps" in line.text for line in hot)
    assert "registers per thread" in kernel.about and "sec/ld: sectors per load request" in kernel.about


def test_the_command_shows_a_report_beside_an_earlier_one(tmp_path: Path) -> None:
    signal = from_array(np.arange(500, dtype=np.float32), kind="signal")
    experiment = Experiment("mean1d", signal, {}, (Pick("serial", "cpu"),), "quick")
    report = report_of(run_experiment(experiment), experiment)
    (kept,) = report.rows
    timing = kept.stages["kernel"]
    slower = {"kernel": replace(timing, median=2 * timing.median, q1=2 * timing.q1, q3=9 * timing.q3, doubt="")}
    old = replace(kept, stages={"kernel": replace(timing, doubt="")})
    for name, one in (("old.json", old), ("new.json", replace(kept, stages=slower))):
        write_report(tmp_path / name, replace(report, rows=(one,)).to_json())
    target = tmp_path / "out.html"
    args = ["--report", str(tmp_path / "new.json"), "--against", str(tmp_path / "old.json")]
    assert main(["report", *args, "--output", str(target)]) == 0
    assert "+100 %" in words(target.read_text())


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["mean", "--output", "a.pdf"], "must end in .html or .htm"),
        (["--output", "a.html"], "report needs a filter"),
        (["mean", "--report", "x.json", "--output", "a.html"], "leave one of the two out"),
        (
            ["--report", "newer.json", "--output", "a.html"],
            "has schema kernelscope-report/99; this version reads up to",
        ),
        (["--report", "foreign.json", "--output", "a.html"], "is not a report: its schema is 'other/1'"),
        (["--report", "empty.json", "--output", "a.html"], "has no rows"),
    ],
)
def test_what_cannot_be_shown_is_refused_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], args: list[str], sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    contents = {"newer": "kernelscope-report/99", "foreign": "other/1", "empty": "kernelscope-report/1"}
    for name, schema in contents.items():
        (tmp_path / f"{name}.json").write_text(json.dumps({"schema": schema, "runs": [], "provenance": {}}))
    assert main(["report", *args]) == 2
    error = capsys.readouterr().err
    assert sentence in error and error.count("\n") == 1 and not (tmp_path / "a.html").exists()
