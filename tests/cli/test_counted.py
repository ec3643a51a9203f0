"""Sweeps of counters on a simulated GPU."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from gpu_ops.cli import main, tables
from gpu_ops.report.files import read_report
from gpu_ops.report.rows import Row

BOX = ("sweep", "box", "--device", "sim", "--sample", "noise_image", "--dtype", "float32", "--variant")
SMALL = (*BOX, "direct", "sliding", "--over", "size=16x16,32x32", "--over", "radius=1,2")


def table(said: str, name: str) -> list[list[str]]:
    """The cells of the table under a counter's name."""
    return [line.split() for line in said.split(f"\n{name}\n")[1].split("\n\n")[0].splitlines()]


def test_counters_stand_over_size_and_radius_for_each_variant(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "counts.json"
    assert main([*SMALL, "--counter", "sectors_per_load", "bytes_per_sample", "--json", str(path)]) == 0
    said = capsys.readouterr().out
    lines = table(said, "bytes requested from L2 per sample")
    assert lines[0] == ["size", "radius", "direct", "sliding"] and len(lines) == 6
    points = [tuple(line[:2]) for line in lines[2:]]
    assert points == [("16x16", "1"), ("16x16", "2"), ("32x32", "1"), ("32x32", "2")]
    direct = [float(line[2]) for line in lines[2:]]
    assert direct[1] > 1.5 * direct[0] and direct[3] > 1.5 * direct[2], "a wider window loads more"
    rows = read_report(path).rows
    assert len(rows) == 8 and all(r.simulated and r.ok and "kernel" not in r.stages for r in rows)
    first = next(r for r in rows if r.variant == "direct" and r.shape == (16, 16) and r.params["radius"] == 1)
    sectors = sum(first.counters[f"global_{what}_sectors"] for what in ("load", "store"))
    assert direct[0] == pytest.approx(32 * sectors / 256, rel=0.01)
    assert "no times" in said and not re.search(r"\d (ms|µs|GB/s)", said)


def test_without_names_it_shows_what_explains_the_filter_and_what_every_filter_has(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sweep = ("sweep", "layout", "--device", "sim", "--sample", "noise", "--length", "1024", "--variant", "stride")
    assert main([*sweep, "shared_stride", "--over", "stride=1,4"]) == 0
    said = capsys.readouterr().out
    assert [line[1] for line in table(said, "sectors per load request")[2:]] == ["4", "16"]
    assert [line[1] for line in table(said, "bank conflict factor")[2:]] == ["1", "4"]
    assert "bytes requested from L2 per sample" in said


@pytest.mark.parametrize(
    "words, reason",
    [
        (("--counter", "bank_conflict"), "did you mean bank_conflicts?"),
        (("--mode", "hot"), "leave out --mode"),
        (("--quick",), "leave out --quick"),
    ],
)
def test_what_makes_no_sense_is_refused(
    words: tuple[str, ...], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*SMALL, *words]) != 0
    assert reason in capsys.readouterr().err


def test_the_work_of_a_wrong_result_is_not_shown() -> None:
    made: dict[str, Any] = {"filter": "box", "variant": "direct", "device": "sim", "params": {}, "knobs": {}}
    made |= {"shape": (4, 4), "dtype": "uint8", "mode": "stream", "counters": {"thread_instructions": 1, "blocks": 7}}
    assert tables.counter_text("blocks", Row(**made, ok=True)) == "7"
    assert tables.counter_text("blocks", Row(**made, ok=False)) == "WRONG"
    assert json.loads(json.dumps(Row(**made).to_json()))["counters"]["blocks"] == 7
