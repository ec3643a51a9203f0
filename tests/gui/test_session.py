"""What the person has chosen, and undo."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from app.models.experiment.change import Change
from app.models.experiment.history import MOST, MOST_INPUTS
from app.models.experiment.session import Session
from app.views.window.handlers import reset_params
from gpu_ops import FILTERS, KernelscopeError, from_array
from gpu_ops.engine.shared import SharedArray, SharedInput, Statistics
from gpu_ops.params import Param
from gpu_ops.running.runner import planned_run
from gpu_ops.types import Experiment, Filter

NOTHING = Statistics(0, 1, 0.5, {}, (0,) * 256, 0, 0)


def shared(kind: str) -> SharedInput:
    shape = (8, 9) if kind == "image" else (50,)
    array = SharedArray("none", shape, "float32")
    return SharedInput(kind, array, "yx"[: len(shape)], "made", {}, None, True, NOTHING)


def test_a_signal_brings_the_familys_filter_for_signals(qtbot) -> None:
    session = Session()
    session.set_input(shared("image"))
    assert session.choice.filter == "mean2d"
    session.set_input(shared("signal"))
    assert session.choice.filter == "mean1d"
    assert session.choice.params == {"window": 5, "border": "reflect"}


LOGGED_FUNCTIONS = (
    "opened",
    "stepped",
    "filter",
    "picks_or_settings",
    "pins",
    "steps",
    "device",
    "baseline",
    "output",
    "undo",
)


def changes_of(session: Session) -> list[set[str]]:
    """What each change of a session to come says of itself. The session is then what the change says it is."""
    events: list[set[str]] = []

    def take(change: Change) -> None:
        assert (change.after.choice, change.after.input) == (session.choice, session.input)
        events.append({name for name in LOGGED_FUNCTIONS if getattr(change, name)})

    session.changed.connect(take)
    return events


def test_every_change_is_told_once_with_all_that_it_changes(qtbot) -> None:
    session = Session()
    events = changes_of(session)
    session.set_params({"window": 9, "border": "wrap"})
    session.set_picks(("serial",))
    session.set_picks(("serial",))
    session.set_knobs("naive", {"block": 64})
    session.set_filter("mean2d")
    session.set_filter("mean2d")
    session.set_baseline("parallel")
    session.set_baseline("parallel")
    settings = {"picks_or_settings"}
    assert events == [settings | {"undo"}, settings, settings, settings | {"filter"}, {"baseline"}]


def test_an_input_comes_with_the_filter_for_it_in_one_change(qtbot) -> None:
    session, image, signal = Session(), shared("image"), shared("signal")
    events = changes_of(session)
    session.set_input(image)
    session.set_steps([{"step": "invert"}])
    session.set_input(signal)
    session.set_stepped(shared("signal"), session.steps)
    assert [sorted(what - {"picks_or_settings", "undo"}) for what in events] == [
        ["filter", "opened"],
        ["steps"],
        ["filter", "opened"],
        ["stepped"],
    ]


def test_without_steps_the_input_is_the_original_again_in_one_change(qtbot) -> None:
    session, image = Session(), shared("image")
    session.set_input(image)
    session.set_steps([{"step": "invert"}])
    session.set_stepped(shared("image"), session.steps)
    events = changes_of(session)
    session.set_steps([])
    assert session.input is image and events == [{"steps", "stepped"}]


@pytest.mark.parametrize("filter", FILTERS, ids=lambda f: f.id)
def test_the_key_of_a_choice_is_that_of_its_run(qtbot, filter: Filter) -> None:
    """Also where a form gives lists, and where nobody set a knob, or one that the variant does not have."""
    session, (array,) = Session(), [np.zeros(128 if filter.accepts == "signal" else (112, 113), np.float32)]
    session.set_filter(filter.id)
    session.set_device("cuda:0")
    lists = {n: list(v) if isinstance(v, tuple) else v for n, v in session.choice.params.items()}
    for params in (session.choice.params, lists):
        session.set_params(params)
        for variant in filter.variants:
            if params is lists:
                last = {k.name: k.choices[-1] for k in variant.knobs if k.choices}
                session.set_knobs(variant.id, last | {"nothing": 1})
            pick = session.shown.pick(variant.id)
            run = planned_run(Experiment(filter.id, from_array(array), params, (pick,)), pick)
            assert session.shown.key(variant.id) == run.key and session.shown.subject(variant.id).key == run.key


def test_a_drag_is_one_step_of_undo(qtbot) -> None:
    session = Session()
    session.set_filter("mean1d")
    session.set_picks(("serial",))
    for window in (7, 9, 11):
        session.set_param("window", window, same_step=window > 7)
    assert session.params["window"] == 11
    session.undo()
    assert session.params["window"] == 5 and session.choice.picks == ("serial",)
    session.redo()
    assert session.params["window"] == 11


def test_a_parameter_brings_those_that_it_needs(qtbot) -> None:
    session = Session()
    rule, value = (
        Param("rule", "auto", choices=("auto", "manual")),
        Param("value", 0.0, 0, 9, when={"rule": ("manual",)}),
    )
    before = session.filter.params
    object.__setattr__(session.filter, "params", (rule, value))
    try:
        session.set_param("value", "2.5")
        assert session.params == {"rule": "manual", "value": 2.5}
        with pytest.raises(KernelscopeError, match="value must be a number from 0 to 9"):
            session.set_param("value", 10)
    finally:
        object.__setattr__(session.filter, "params", before)


def test_undo_and_redo_walk_through_every_choice(qtbot) -> None:
    session = Session()
    states = [session.choice]
    for window in (7, 9, 11):
        session.set_params({"window": window, "border": "reflect"})
        states.append(session.choice)
    for expected in reversed(states[:-1]):
        session.undo()
        assert session.choice == expected
    session.undo()
    for expected in states[1:]:
        session.redo()
        assert session.choice == expected


def test_a_new_choice_ends_what_could_be_redone(qtbot) -> None:
    session = Session()
    session.set_params({"window": 7, "border": "reflect"})
    session.undo()
    with qtbot.waitSignal(session.changed) as events:
        session.set_picks(("parallel",))
    (change,) = events.args
    assert change.undo and change.after.undo == (True, False)
    session.redo()
    assert session.choice.picks == ("parallel",)


def test_undo_goes_back_to_the_input_before_a_result(qtbot) -> None:
    session, events = Session(), []
    first, result, spectrum = shared("image"), shared("image"), shared("signal")
    session.changed.connect(lambda change: events.append(change.after.input) if change.opened else None)
    session.set_input(first)
    session.set_steps([{"step": "invert"}])
    steps = session.steps
    session.replace_input(result)
    assert session.original is result and session.steps == () and session.derived
    session.set_params({"window": 9, "border": "reflect"})
    session.replace_input(spectrum)
    assert session.choice.filter == "mean1d"
    session.undo()
    assert session.original is result and (session.choice.filter, session.params["window"]) == ("mean2d", 9)
    session.undo()
    session.undo()
    assert session.original is first and session.steps == steps and session.lacks_steps and not session.derived
    session.undo()
    assert session.original is first and session.steps == ()
    for _ in range(4):
        session.redo()
    assert session.original is spectrum and session.choice.filter == "mean1d" and not session.can_redo
    session.go_back()
    assert session.original is first and session.steps == steps and session.choice.filter == "mean2d"
    session.undo()
    assert session.original is spectrum
    assert events == [first, result, spectrum, result, first, result, spectrum, first, spectrum]


def test_originals_are_held_as_long_as_something_leads_to_them(qtbot) -> None:
    session, first = Session(), shared("image")
    session.set_input(first)
    session.replace_input(shared("image"))
    session.undo()
    assert len(session.originals) == 2
    session.set_picks(("serial",))
    assert session.originals == (first,), "nothing can be redone"
    for _ in range(MOST_INPUTS + 3):
        session.replace_input(shared("image"))
    assert len(session.originals) == MOST_INPUTS + 2, "with the present one and the first"
    session.go_back()
    assert session.original is first
    session.replace_input(shared("signal"))
    other = shared("signal")
    session.set_input(other)
    assert session.originals == (other,) and not session.derived
    while session.can_undo:
        session.undo()
        assert session.original is other and session.filter.accepts == "signal"


def test_the_past_is_bounded(qtbot) -> None:
    session = Session()
    for window in range(3, 3 + 2 * (MOST + 50), 2):
        session.set_params({"window": window, "border": "reflect"})
    steps = 0
    last = None
    while session.choice != last:
        last = session.choice
        session.undo()
        steps += 1
    assert steps <= MOST + 1


def test_parameters_are_reset_to_their_defaults(qtbot) -> None:
    session = Session()
    session.set_params({"window": 21, "border": "zero"})
    reset_params(SimpleNamespace(context=SimpleNamespace(session=session)))
    assert session.choice.params == {"window": 5, "border": "reflect"}


class TestDevices:
    def test_the_first_devices_join_an_untouched_choice(self, qtbot) -> None:
        session = Session()
        events = changes_of(session)
        before = session.choice.picks
        session.set_devices(("cuda:1", "sim"))
        assert session.device == "cuda:1" and events == [{"device", "picks_or_settings"}]
        assert set(before) < set(session.choice.picks) and not session.can_undo

    def test_devices_change_no_choice_that_was_made(self, qtbot) -> None:
        session = Session()
        session.set_picks(("serial",))
        session.set_devices(("cuda:0",))
        assert session.choice.picks == ("serial",) and session.can_undo

    def test_a_device_that_is_still_there_stays(self, qtbot) -> None:
        session = Session()
        session.set_devices(("cuda:0", "cuda:1", "sim"))
        session.set_device("cuda:1")
        session.set_picks(("serial", "naive"))
        session.set_devices(("cuda:0", "cuda:1", "sim"))
        assert session.device == "cuda:1" and session.choice.picks == ("serial", "naive")
        session.set_device("sim:sm_90")
        session.set_devices(("cuda:0", "sim"))
        assert session.device == "sim:sm_90"
        session.set_devices(("cuda:0",))
        assert session.device == "cuda:0" and session.choice.picks == ("serial", "naive")
        session.set_devices(())
        assert session.device == "cuda:0"


class TestFrames:
    def test_a_frame_takes_the_place_of_the_one_before_and_keeps_all_that_was_chosen(self, qtbot) -> None:
        session = Session()
        session.set_input(shared("image"))
        session.set_filter("box")
        session.set_params({"radius": 7})
        choice, inputs, frame = session.choice, session.inputs, shared("image")
        session.set_frame(frame)
        assert session.choice == choice and session.can_undo
        assert session.input is session.original is frame and session.inputs == inputs + 1
        assert not session.lacks_steps and session.originals == (frame,)

    def test_a_frame_waits_for_the_steps_that_were_chosen(self, qtbot) -> None:
        session, first, second = Session(), shared("image"), shared("image")
        session.set_input(first)
        session.set_steps(({"step": "invert"},))
        stepped, inverted = shared("image"), shared("image")
        session.set_stepped(stepped, session.steps)
        session.set_frame(second)
        assert session.lacks_steps and session.input is stepped and session.original is second
        assert [step["step"] for step in session.steps] == ["invert"]
        session.set_stepped(inverted, session.steps)
        assert not session.lacks_steps and session.input is inverted

    def test_steps_that_fail_on_a_frame_leave_the_frame_as_it_is(self, qtbot) -> None:
        session, second = Session(), shared("image")
        session.set_input(shared("image"))
        session.set_steps(({"step": "invert"},))
        session.set_stepped(shared("image"), session.steps)
        session.set_frame(second)
        session.take_back_steps()
        assert session.input is second and session.steps == () and not session.lacks_steps
