"""A simulated GPU while a person waits: whole where that is short, else the part in view and then the rest."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from gpu_ops import device_statuses, from_array
from gpu_ops.engine.simulated import Simulation
from gpu_ops.input_kinds import Kind, Spans
from gpu_ops.progress import Cancelled
from gpu_ops.running import affordable
from gpu_ops.running.affordable import Pace
from gpu_ops.running.runner import last_runs, run_experiment
from gpu_ops.types import Experiment, Input, Pick

REASON = next(s.reason for s in device_statuses() if s.kind == "sim")
pytestmark = pytest.mark.skipif(bool(REASON), reason=REASON or "the simulated GPU is there")
WHOLE = np.random.default_rng(1).random((52, 70)).astype(np.float32)
SIZES = {"image": (16, 16), "signal": (64,)}


class Fixed(Pace):
    """A pace that always predicts the same."""

    def __init__(self, seconds: float | None) -> None:
        super().__init__()
        self.answer = seconds

    def predict(self, *_: object) -> float | None:
        return self.answer


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of few places, so that small inputs have many."""
    spans = affordable.part_spans

    def few(input: Input, view: Spans = (), extents: tuple[int, ...] = ()) -> Spans:
        return spans(input, view, extents or SIZES[input.kind])

    monkeypatch.setattr("gpu_ops.engine.simulated.part_spans", few)
    monkeypatch.setattr(Simulation, "_extents", lambda self: SIZES[self.whole.kind])


def paced(monkeypatch: pytest.MonkeyPatch, seconds: float | None) -> None:
    pace = Fixed(seconds)
    monkeypatch.setattr("gpu_ops.engine.simulated.PACE", pace)
    monkeypatch.setattr("gpu_ops.running.attempt.PACE", pace)


def simulation(array: np.ndarray = WHOLE, view: Spans = (), kind: Kind = "image", **params: object) -> Simulation:
    input, filter = from_array(array, kind=kind), "mean2d" if kind == "image" else "mean1d"
    given = {"window": 5, "border": "reflect", **params}
    experiment = Experiment(filter, input, given, (Pick("naive", "sim"),), "none", checks="sample", counted=True)
    return Simulation(experiment, view, lambda: False, lambda *_: None)


def right(of: Simulation) -> np.ndarray:
    experiment = Experiment(of.filter.id, of.whole, of.key.params, (Pick("serial", "cpu"),), "none", checks="off")
    (run,) = last_runs(run_experiment(experiment))
    (output,) = run.outputs.values()
    return output


def test_what_is_short_is_simulated_whole_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    paced(monkeypatch, 1.9)
    pieces = list(simulation().run())
    assert [(p.run.stage, p.spans, p.region.place, p.begins) for p in pieces] == [
        ("computed", (), (), True),
        ("verified", (), (), False),
    ]
    np.testing.assert_allclose(pieces[0].run.outputs["image"], right(simulation()), rtol=1e-6)
    assert pieces[-1].run.ok and pieces[-1].run.shape == WHOLE.shape and not pieces[-1].run.notes


def test_what_is_long_begins_with_the_part_in_view(monkeypatch: pytest.MonkeyPatch) -> None:
    paced(monkeypatch, 2.1)
    *_, piece = simulation(view=((40, 52), (0, 20))).run()
    assert piece.spans == ((36, 52), (2, 18)) and piece.region.place == (38, 4) and piece.run.ok
    assert piece.run.notes[0].startswith("simulated on 16 x 16 of 70 x 52; the 12 x 14 unaffected")


def test_the_first_part_gives_the_prediction(monkeypatch: pytest.MonkeyPatch) -> None:
    paced(monkeypatch, None)
    seen = []
    simulated = simulation()
    for piece in simulated.run():
        seen.append((piece.run.stage, bool(piece.spans), piece.begins))
        monkeypatch.setattr("gpu_ops.engine.simulated.PACE", Fixed(0.5))
    assert seen == [("computed", True, True), ("computed", False, True), ("verified", False, False)]


def test_a_whole_that_takes_longer_than_predicted_ends_and_the_part_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    paced(monkeypatch, 0.1)
    monkeypatch.setattr("gpu_ops.engine.simulated.TOO_LONG", -1.0)
    seen = []
    monkeypatch.setattr(Fixed, "note", lambda *_, alone=False: seen.append(alone))
    pieces = list(simulation().run())
    assert [p.spans for p in pieces] == [((18, 34), (27, 43))] * 2 and pieces[-1].run.ok
    assert True in seen, "the prediction was too short, and the next one is not"


@pytest.mark.parametrize("border", ["reflect", "zero", "wrap"])
def test_the_parts_of_an_image_are_the_whole(monkeypatch: pytest.MonkeyPatch, border: str) -> None:
    paced(monkeypatch, 9.0)
    simulated = simulation(view=((0, 9), (60, 70)), border=border)
    pieces = list(simulated.rest())
    expected, boxes = right(simulated), []
    for piece in pieces:
        (output,) = piece.run.outputs.values()
        place = piece.region.place or (0, 0)
        boxes.append((place, output.shape))
        there = tuple(slice(a, a + n) for a, n in zip(place, output.shape, strict=True))
        np.testing.assert_allclose(output, expected[there], rtol=1e-5)
        assert piece.run.ok and piece.begins and output.shape == piece.run.forms["image"].shape
    assert all(a[1] != b[1] and a[0] >= b[0] for a, b in pairwise(boxes))
    last = pieces[-1]
    assert boxes[-1] == (((2, 2), (48, 66)) if border == "wrap" else ((0, 0), WHOLE.shape))
    assert (last.spans == ()) == (border != "wrap") and len(pieces) > 5
    assert f"in {len(pieces)} parts" in last.run.notes[0]
    assert {(p.run.counted_shape, p.run.counters["global_load_sectors"]) for p in pieces} == {
        ((16, 16), pieces[0].run.counters["global_load_sectors"])
    }, "the counts stay those of the first part, which all variants have"


def test_the_parts_of_a_signal_are_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    paced(monkeypatch, 9.0)
    simulated = simulation(np.random.default_rng(2).random((300, 2)).astype(np.float32), ((250, 300),), "signal")
    *_, last = simulated.rest()
    (output,) = last.run.outputs.values()
    np.testing.assert_allclose(output, right(simulated), rtol=1e-5)
    assert last.spans == () and last.run.ok


def test_what_needs_the_whole_has_no_further_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    paced(monkeypatch, 9.0)
    experiment = Experiment("histogram2d", from_array(WHOLE, kind="image"), {}, (Pick("global", "sim"),), "none")
    simulated = Simulation(experiment, ((0, 9), (0, 9)), lambda: False, lambda *_: None)
    assert list(simulated.rest()) == []
    piece = next(simulated.run())
    assert piece.spans == ((18, 34), (27, 43)) and not piece.region.exact, "the middle, wherever the view is"


def test_the_parts_end_when_they_are_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    paced(monkeypatch, 9.0)
    simulated, seen = simulation(), []
    simulated.stop = lambda: len(seen) > 1
    with pytest.raises(Cancelled):
        for piece in simulated.rest():
            seen.append(piece)
    assert len(seen) == 2
