"""The command that draws which copies and kernels run concurrently."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpu_ops.cli import main

TRANSFER = ["timeline", "transfer", "pinned", "streams", "--sample", "noise", "--size", "48x64", "--chart-width", "30"]
CHUNKS = ["--chunks", "4", "--streams", "4", "--device", "sim"]


def test_each_stream_has_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*TRANSFER, *CHUNKS]) == 0
    said = capsys.readouterr().out
    assert "pinned on sim\n  stream 1  >>>>>>>>>>##########<<<<<<<<<<\n" in said
    assert "  stream 1  >>>>>#####<<<<<\n  stream 2       >>>>>#####<<<<<\n" in said
    (streams,) = [line.split() for line in said.splitlines() if line.startswith("streams  ")]
    assert streams == ["streams", "6", "steps", *("4", "steps") * 3, "0.67"]
    assert "every step is as long as the others" in said


def test_one_queue_in_order_takes_the_overlap_away(capsys: pytest.CaptureFixture[str]) -> None:
    fermi = ["--copy-engines", "1", "--in-order"]
    assert main([*TRANSFER, *CHUNKS, *fermi]) == 0
    assert "12 steps" in capsys.readouterr().out
    assert main([*TRANSFER, *CHUNKS, *fermi, "--order", "breadth first"]) == 0
    assert "8 steps" in capsys.readouterr().out


def test_rates_give_predicted_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    rates = ["--h2d", "1", "--d2h", "2", "--kernel-rate", "4", "--latency", "1"]
    assert main([*TRANSFER, "--device", "sim", *rates, "--json", "-"]) == 0
    pinned, streams = json.loads(capsys.readouterr().out)["timelines"]
    nbytes = 64 * 48 * 4
    ends = [span["end"] for span in pinned["spans"]]
    assert ends == pytest.approx([1e-6 + nbytes / 1e9, 2e-6 + nbytes * 1.5e-9, 3e-6 + nbytes * 2e-9])
    assert pinned["basis"] == "predicted" and pinned["unit"] == "s" and streams["elapsed"] < pinned["elapsed"]


def test_a_trace_opens_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "trace.json"
    assert main([*TRANSFER, *CHUNKS, "--trace", str(path)]) == 0
    events = json.loads(path.read_text())["traceEvents"]
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    steps = [e for e in events if e["ph"] == "X"]
    assert {e["ph"] for e in events} == {"M", "X"} and len(steps) == 3 + 4 * 3
    assert {names[e["pid"], e["tid"]] for e in steps} == {f"stream {k}" for k in range(1, 5)}
    by_name = {e["name"]: e for e in steps if e["pid"] == 2}
    assert by_name["download 4"]["ts"] == by_name["upload 4"]["ts"] + 2 and by_name["upload 1"]["args"]["bytes"] > 0


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["--h2d", "12"], "A prediction needs --h2d, --d2h and --kernel-rate"),
        (["--device", "cpu"], "transfer2d pinned does not run on cpu; name another --device."),
        (["--in-order", "--device", "cpu"], "The timeline of cpu is measured, and --in-order is of the model"),
        (["--latency", "9"], "A prediction needs --h2d, --d2h and --kernel-rate"),
        (["--chunks", "99"], "chunks must be"),
        (["--streams", "0"], "streams must be"),
    ],
)
def test_what_cannot_be_done_is_said(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*TRANSFER, "--device", "sim", *words]) == 2
    assert sentence in capsys.readouterr().err


def test_a_cpu_variant_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["timeline", "mean", "serial", "--sample", "noise", "--length", "64", "--device", "cpu"]) == 0
    assert "Measured by events" in capsys.readouterr().out
