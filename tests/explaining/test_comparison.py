"""Two X-rays side by side, and how the engine answers for both."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from gpu_ops.cli import main
from gpu_ops.counters import COUNTERS
from gpu_ops.devices.kernel_source import read_source
from gpu_ops.engine import edits, xrays
from gpu_ops.engine.about import activity
from gpu_ops.engine.kernel_messages import XRayRequest
from gpu_ops.explaining import comparison
from gpu_ops.explaining.sentences import _loads, compare
from gpu_ops.explaining.xray import XRay, xray
from gpu_ops.filters import find_filter
from gpu_ops.io import from_array
from gpu_ops.types import Input, Pick


@pytest.fixture(scope="module")
def given() -> Input:
    return from_array(np.random.default_rng(5).random(3000).astype(np.float32), kind="signal")


@pytest.fixture(scope="module")
def rays(given: Input) -> tuple[XRay, XRay]:
    mean = find_filter("mean1d")
    before, after = (xray(mean, mean.variant(id), given, {"border": "zero"}, {}) for id in ("naive", "shared"))
    return before, after


def test_rows_are_the_totals_for_each_element(rays: tuple[XRay, XRay]) -> None:
    before, after = rays
    rows = {row.counter: row for row in comparison.side_by_side(before, after)}
    assert list(rows) == [
        c.id for c in COUNTERS.values() if c.id in {**before.totals, **after.totals} and c.hint != "best"
    ]
    loads = rows["global_load_threads"]
    # A window of five: five samples and five taps a sample, less what lies beyond the two ends.
    assert loads.before == pytest.approx((2 * 5 * 3000 - 12) / 3000)
    assert loads.after == after.totals["global_load_threads"] / 3000
    assert loads.ratio == loads.after / loads.before
    assert rows["shared_load_threads"].before == 0 and rows["shared_load_threads"].ratio is None


def test_the_sentences_are_those_of_the_command(rays: tuple[XRay, XRay]) -> None:
    found = json.loads(json.dumps(comparison.as_dict(*rays), allow_nan=False))
    assert [s["text"] for s in found["sentences"]] == [s.text for s in compare(*rays)] != []
    assert found["before"] == {"variant": "naive", "title": rays[0].title, "findings": []}


def test_the_command_prints_the_same_rows(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.npy"
    np.save(path, np.arange(2000, dtype=np.float32))
    assert main(["xray", "mean1d", "naive", "shared", "--input", str(path)]) == 0
    text = capsys.readouterr().out
    mean, whole = find_filter("mean1d"), from_array(np.arange(2000, dtype=np.float32), kind="signal")
    before, after = (xray(mean, mean.variant(id), whole, {}, {}) for id in ("naive", "shared"))
    for row in comparison.side_by_side(before, after):
        assert COUNTERS[row.counter].name in text
    for sentence in compare(before, after):
        assert sentence.text in text


# The engine


class Channel:
    """What a job needs of the engine, without a process: answers are kept."""

    def __init__(self, whole: Input) -> None:
        self.whole, self.said, self.answers = whole, [], []

    def input(self, shared: Any) -> Input:
        return self.whole

    def middle(self, whole: Input) -> tuple[Input, tuple[int, ...]]:
        return whole, ()

    def announce(self, text: str) -> None:
        self.said.append(text)

    def send(self, answer: Any) -> None:
        self.answers.append(answer)


def request(against: Pick | None) -> XRayRequest:
    params = {"window": 5, "border": "zero"}
    return XRayRequest(3, None, "mean1d", params, Pick("shared", "cuda:0"), "sm_90", against)  # type: ignore[arg-type]


def content(given: Input, against: Pick | None) -> Any:
    channel = Channel(given)
    xrays.answer_xray(channel, request(against))  # type: ignore[arg-type]
    (answer,) = channel.answers
    assert answer.job == 3
    return answer.content


def test_both_are_looked_into_on_the_same_part_for_the_same_gpu(given: Input) -> None:
    found = content(given, Pick("naive", "cuda:0", {"block": 64}))
    mean, params = find_filter("mean1d"), {"window": 5, "border": "zero"}
    before = xray(mean, mean.variant("naive"), given, params, {"block": 64}, "sm_90")
    after = xray(mean, mean.variant("shared"), given, params, {}, "sm_90")
    assert found["comparison"] == comparison.as_dict(before, after)
    assert found["variant"] == "shared" and found["totals"] == after.totals and found["architecture"] == "sm_90"


def test_alone_there_is_no_comparison(given: Input) -> None:
    assert "comparison" not in content(given, None)


def test_where_the_other_cannot_be_looked_into_the_first_one_still_is(given: Input) -> None:
    found = content(given, Pick("naive", "cuda:0", {"block": 31}))
    assert "block" in found["comparison"]["reason"] and "rows" not in found["comparison"]
    assert found["comparison"]["before"] == {"variant": "naive", "title": find_filter("mean1d").variant("naive").title}
    assert found["totals"]["global_load_threads"] > 0


def test_the_engine_says_what_it_was_at() -> None:
    assert activity(request(None)) == "profiled shared of mean1d"
    assert activity(request(Pick("naive", "sim"))) == "profiled shared and naive of mean1d"


@pytest.mark.parametrize(
    ("reads", "stores", "explained"),
    [
        (9.0, 1.6, True),  # a tile is loaded once and read 9 times, and the taps are still loaded
        (9.0, 9.0, False),  # what is stored was not loaded: partial results
        (2.0, 1.6, False),  # too few reads for the loads that are gone
        (9.0, 0.0, False),  # nothing is stored for them
    ],
)
def test_loads_that_shared_memory_replaces_are_explained_although_others_remain(
    reads: float, stores: float, explained: bool
) -> None:
    none = dict.fromkeys(("shared_load_threads", "shared_store_threads", "constant_threads", "texture_threads"), 0.0)
    before, after = {**none, "global_load_threads": 18.0}, {**none, "global_load_threads": 10.6}
    after |= {"shared_load_threads": reads, "shared_store_threads": stores}
    text = _loads(before, after, "pixel")
    assert text is not None and ("kept in shared memory" in text) == explained


# Edited kernels

EDITED = "mean1d/1_naive.cu"


class Shared:
    """What the kept X-ray of the shipped kernel depends on."""

    array, origin = "segment", {"generator": "test"}


def edited(given: Input, text: str, against: Pick | None = None, window: int = 5, target: str = "sm_90") -> Any:
    channel = Channel(given)
    about = (Shared(), "mean1d", {"window": window, "border": "zero"}, Pick("naive", "sim", {}, {EDITED: text}), target)
    xrays.answer_xray(channel, XRayRequest(3, *about, against))  # type: ignore[arg-type]
    return channel.answers[0].content


def test_an_edited_kernel_is_compared_with_the_shipped_one_and_another_each_simulated_once(
    given: Input, monkeypatch
) -> None:
    seen = []
    monkeypatch.setattr(xrays, "xray", lambda *a, **k: seen.append(a[6]) or xray(*a, **k))
    xrays._others.clear()
    for n in range(2):
        found = edited(given, read_source(EDITED) + f"\n__device__ int unused_{n};\n", Pick("shared", "sim"))
        assert found["shipped"]["sentences"] == [] and found["shipped"]["before"]["variant"] == "naive"
        assert found["comparison"]["sentences"] and found["comparison"]["before"]["variant"] == "shared"
    assert [bool(edits) for edits in seen] == [True, False, False, True]
    assert "comparison" not in edited(given, read_source(EDITED) + "\n__device__ int unused;\n")


@pytest.mark.thorough
@pytest.mark.parametrize("other", [{"window": 3}, {"target": "sm_75"}])
def test_another_launch_has_another_shipped_kernel_to_compare_with(given: Input, monkeypatch, other) -> None:
    seen = []
    monkeypatch.setattr(xrays, "xray", lambda *a, **k: seen.append(a[6]) or xray(*a, **k))
    xrays._others.clear()
    for about in ({}, other):
        edited(given, read_source(EDITED) + "\n__device__ int unused;\n", **about)
    assert [bool(edits) for edits in seen] == [True, False, True, False]


def test_an_edited_kernel_that_does_not_compile_is_an_answer_with_lines(given: Input) -> None:
    text = read_source(EDITED).replace("extern", "int;\nextern", 1).replace("__global__ void", "__global__ int", 1)
    found = edited(given, text)
    line = next(n for n, one in enumerate(text.split("\n"), 1) if "__global__ int" in one)
    first = next(p for p in found["problems"] if p["severity"] == "error")
    assert (first["file"], first["line"]) == (EDITED, line) and first["column"] > 0 and "void return" in first["text"]
    assert found["broken"].startswith(f"{EDITED} does not compile: ") and "totals" not in found


def test_an_edited_kernel_that_traps_is_an_answer_with_its_line(given: Input) -> None:
    found = edited(given, read_source(EDITED).replace("y[", "y[1000000000 + "))
    assert "out of bounds" in (found.get("broken") or found["findings"][0]["text"])


@pytest.mark.thorough
def test_an_endless_edited_kernel_is_ended_and_named(given: Input, monkeypatch) -> None:
    monkeypatch.setattr(edits, "SECONDS", 2.0)
    text = read_source(EDITED)
    place = text.index("{", text.index("__global__")) + 1
    found = edited(given, text[:place] + "\n    for (volatile int n = 0; n >= 0;) n = 0;\n" + text[place:])
    line = text[:place].count("\n") + 2
    assert "--deadline" not in found["broken"] and f"{EDITED}:{line}" in found["broken"]
    assert found["problems"][0]["line"] == line
