"""Edited kernels without an engine: texts, names in messages, one file, session files, times that do not count."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from fake_engine import FakeEngine, act, make
from PySide6.QtCore import Qt
from result_rows import TITLES, row, rows
from test_belonging import bring_row, run
from xray_answers import content, show, window_with

from app.models.experiment.experiment_text import command_text, python_text
from app.models.experiment.history import Choice
from app.models.experiment.pin import MOST_PINS, Pin, with_pin
from app.models.experiment.slot import RowSlot
from app.models.files.session_file import SavedInput, SavedSession, parse_session, session_text
from app.models.files.session_view import Offered, View
from app.models.results.results import Contract, Results
from app.models.settings import Settings
from app.models.xray.drafts import Draft, Drafts
from app.models.xray.template import template
from app.views.timing.row_text import failure_text, verdict
from app.views.window.session_link import view_of
from gpu_ops import FILTERS, ParamError, find_filter, from_array
from gpu_ops.devices.kernel_source import read_source
from gpu_ops.devices.status import DeviceStatus
from gpu_ops.errors import InputError
from gpu_ops.explaining.xray import xray
from gpu_ops.own_kernels.template import template_text
from gpu_ops.types import Pick

FILE, HEADER = "mean2d/1_naive.cu", "include/mean.cuh"
EDITED = read_source(FILE).replace("A sum = 0", "A sum = A(0)")
SIM = DeviceStatus("sim", "simulated GPU", True)


@pytest.fixture
def draft() -> Draft:
    return Draft("mean2d", "naive").with_text(FILE, EDITED)


def test_only_what_differs_is_an_edit(draft: Draft) -> None:
    assert draft.texts == {FILE: EDITED} and draft.unsaved and draft.hash
    assert list(draft.files)[:2] == [FILE, HEADER] and draft.files[FILE] == EDITED
    back = draft.with_text(FILE, read_source(FILE))
    assert not back.texts and not back.unsaved and back.hash == ""
    assert [line for line in draft.difference if line[:1] in "+-"][2:] == [
        "-        A sum = 0;",
        "+        A sum = A(0);",
    ]


@pytest.mark.parametrize(
    ("path", "text", "named"),
    [
        (
            "",
            f"{FILE} does not compile: {FILE}:3:1: error",
            "edited 1_naive.cu does not compile: edited 1_naive.cu:3:1: error",
        ),
        ("/a/mine.cu", f"{FILE}:3: hazard", "mine.cu:3: hazard"),
        ("/a/mine.cu", "mean.cuh:3: hazard", "mean.cuh:3: hazard"),
        ("", "mean2d/11_naive.cu:3", "mean2d/11_naive.cu:3"),
    ],
)
def test_messages_name_the_edited_file(draft: Draft, path: str, text: str, named: str) -> None:
    assert replace(draft, path=path).in_own_names(text) == named


def test_an_edited_header_is_named_and_goes_into_the_one_file(draft: Draft) -> None:
    header = read_source(HEADER).replace("count / 2", "count / 3")
    both = draft.with_text(HEADER, header)
    assert both.in_own_names("mean.cuh:3: error") == "edited mean.cuh:3: error"
    text = both.one_file()
    assert "count / 3" in text and '#include "mean.cuh"' not in text and "#pragma once" not in text
    assert '#include "border.cuh"' in text and draft.one_file() == EDITED
    naive, image = find_filter("mean2d").variant("naive"), from_array(_image())
    one = xray(find_filter("mean2d"), naive, image, {}, {}, edits={FILE: text})
    two = xray(find_filter("mean2d"), naive, image, {}, {}, edits=both.texts)
    assert one.totals == two.totals


def _image() -> np.ndarray:
    return np.zeros((32, 40), np.uint8)


@pytest.mark.parametrize("filter", ["mean1d", "mean2d"])
def test_a_template_compiles_and_says_what_is_given(filter: str) -> None:
    first = next(v for v in find_filter(filter).variants if v.kernels)
    begun = template(filter, first, [{"T": "float"}])
    text = begun.texts[begun.file]
    assert text.startswith("// What: ") and "compiled with T=float" in text and "mean.cuh" in text
    kind = find_filter(filter).accepts
    given = from_array(_image() if kind == "image" else _image()[0].astype("f4"), kind=kind)
    assert xray(find_filter(filter), first, given, {}, {}, edits=begun.texts).totals.get("global_loads", 0) == 0


@pytest.mark.parametrize("filter", [f.id for f in FILTERS if any(v.kernels for v in f.variants)])
def test_a_template_has_every_kernel_without_its_body(filter: str) -> None:
    file = next(v for v in find_filter(filter).variants if v.kernels).kernels[0]
    text, shipped = template_text(file), read_source(file)
    assert text.count("__global__") == shipped.count("__global__") == text.count("Write every element")
    assert len(text) < len(shipped) + 400


def test_drafts_say_what_changed(qtbot) -> None:
    drafts = Drafts()
    with qtbot.waitSignal(drafts.changed):
        drafts.set_text("mean2d", "naive", FILE, EDITED)
    with qtbot.assertNotEmitted(drafts.changed):
        drafts.set_text("mean2d", "naive", FILE, EDITED)
    assert drafts.unsaved == drafts.edited == (drafts.of("mean2d", "naive"),)
    drafts.set_file(drafts.of("mean2d", "naive"), "/a/mine.cu")
    assert not drafts.unsaved and drafts.edited
    drafts.set_text("mean2d", "naive", FILE, read_source(FILE))
    assert not drafts.edited


# Session files


def saved(pins: tuple[Pin, ...], *drafts: Draft) -> str:
    choice = Choice("mean2d", {"window": 5, "border": "reflect"}, ("naive",), pins=pins)
    view = View(xray="naive", drafts=drafts, editing=True)
    return session_text(SavedSession(SavedInput("image", (), "camera"), choice, view=view))


def test_a_session_keeps_edited_kernels_and_their_results(draft: Draft) -> None:
    fixed = Pin.of(
        find_filter("mean2d"),
        Pick("naive", "sim", {"block": 64, "outputs": 1}, {FILE: EDITED}, {"window": 5, "border": "zero"}),
    )
    pins = Pin.edited("naive", draft.texts), fixed
    opened = parse_session(saved(pins, replace(draft, path="/a/mine.cu", saved="x")).encode(), "", Offered())
    assert opened.choice.pins[0] == pins[0] and opened.choice.pins[1].pick.edits == {FILE: EDITED}
    assert opened.view.drafts == (replace(draft, path="/a/mine.cu", saved="x"),) and opened.view.editing


@pytest.mark.parametrize(
    ("before", "after", "error"),
    [
        (f'"{FILE}"', '"../../secret.cu"', "which is no kernel file"),
        (f'"{FILE}"', '"/etc/passwd"', "which is no kernel file"),
        ('"variant": "naive",\n    "texts"', '"variant": "serial",\n    "texts"', "no kernel that can be edited"),
        ('"variant": "naive",\n    "texts"', '"variant": "other",\n    "texts"', "other"),
    ],
)
def test_a_session_with_another_text_is_refused(draft: Draft, before: str, after: str, error: str) -> None:
    text = saved((), draft)
    content = json.loads(text)
    entry = content["view"]["edited"][0]
    if "variant" in before:
        entry["variant"] = after.split('"')[3]
    else:
        entry["texts"] = {after.strip('"'): "x"}
    with pytest.raises((InputError, ParamError), match=error):
        parse_session(json.dumps(content).encode(), "", Offered())


def test_one_more_pin_than_allowed_is_refused_and_a_new_text_replaces_the_old() -> None:
    pins: tuple[Pin, ...] = ()
    for n in range(MOST_PINS):
        pins = with_pin(pins, Pin(f"naive#{n}", Pick("naive", "sim")))
    with pytest.raises(ParamError, match="unpin one"):
        with_pin(pins, Pin.edited("naive", {FILE: "a"}))
    pins = with_pin(pins[1:], Pin.edited("naive", {FILE: "a"}))
    assert with_pin(pins, Pin.edited("naive", {FILE: "b"}))[-1].pick.edits == {FILE: "b"}


# Times


def test_the_time_of_an_edited_kernel_counts_once_its_contract_is_checked(qtbot) -> None:
    results = Results()
    shipped = next(r for r in rows() if r.variant == "naive")
    row = replace(shipped, edits="0a1b")
    slot = RowSlot("naive", "cuda:0", row.key)
    results.declare([RowSlot("naive", "cuda:0"), slot], TITLES, {slot: "1 naive, edited"})
    results.put(shipped)
    results.put(row, slot=slot)
    assert [e.name for e in results.entries()] == ["1 naive", "1 naive, edited"]
    entry = results.entry(slot)
    assert entry.seconds("kernel") is None and entry.ok is None and verdict(entry) == "not checked yet"
    with qtbot.waitSignal(results.row_changed):
        results.set_contract(row, Contract(True, "90 of 90 cases right"))
    assert (
        results.entry(slot).seconds("kernel") == shipped.seconds("kernel") and verdict(results.entry(slot)) == "right"
    )
    other = replace(row, edits="ffff")
    results.set_contract(other, Contract(False, "3 of 90 cases right"))
    results.put(other, slot=slot)
    entry = results.entry(slot)
    assert entry.ok is False and entry.fault == "the contract is not met: 3 of 90 cases right"
    assert failure_text(entry) == "Wrong: the contract is not met: 3 of 90 cases right."
    results.put(replace(other, ok=False, error_max=1.0), slot=slot)
    assert failure_text(results.entry(slot)) == "Wrong result: not timed."


# The window


def test_the_window_does_not_close_over_unsaved_kernels_unasked(qtbot, qapp, tmp_path) -> None:
    window = window_with(qtbot, FakeEngine(), (SIM,))
    window.context.xray.drafts.set_text("mean2d", "naive", FILE, EDITED)
    assert not window.close() and window.isVisible()
    (button,) = [b for row in window.messages.rows for b in row.choice_buttons if b.text()]
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert not window.isVisible()
    kept = make(qtbot, FakeEngine(), Settings(tmp_path / "window.ini"))
    kept.context.xray.drafts.set_text("mean2d", "naive", FILE, read_source(FILE))
    assert kept.close(), "the shipped text is no edit"


def test_an_experiment_with_an_edited_kernel_is_copied_whole(qtbot) -> None:
    window = window_with(qtbot, FakeEngine(), (SIM,))
    session = window.controller.session
    session.show_pin(Pin.edited("naive", {FILE: EDITED}))
    session.original = replace(session.original, origin={"generator": "camera"})
    command = command_text(session).splitlines()
    assert command[-2] == "# Save the edited kernel as mean2d_naive.cu first."
    assert "--variant naive --device sim --kernel mean2d_naive.cu" in command[-1]
    assert f"edits={{{FILE!r}: {EDITED!r}}}" in python_text(session)


def test_the_kernel_is_edited_from_the_menu_and_what_is_said_of_its_run_names_the_edited_file(qtbot) -> None:
    window = window_with(qtbot, FakeEngine(), (SIM,))
    act(window, "edit_kernel")
    assert window.xray_dock.isVisible() and window.context.xray.editing
    assert window.focusWidget() is window.xray_panel.code.editor
    window.context.xray.drafts.set_text("mean2d", "naive", FILE, EDITED)
    finding = {"kind": "hazard", "severity": "error", "text": f"{FILE}:3: hazard"}
    row = replace(
        rows()[0], filter="mean2d", variant="naive", edits="0a1b", failure=f"{FILE} traps", findings=(finding,)
    )
    named = window.controller.named_row(row)
    assert named.failure == "edited 1_naive.cu traps" and named.findings[0]["text"] == "edited 1_naive.cu:3: hazard"


def test_a_kernel_without_edits_is_shown_as_it_was(qtbot) -> None:
    engine = FakeEngine()
    window = window_with(qtbot, engine, (SIM,))
    show(qtbot, window, engine)
    panel = window.xray_panel
    assert not panel.edit_bar.isVisible() and panel.texts.currentWidget() is panel.files
    panel.edit.click()
    assert panel.edit_bar.isVisible() and panel.code.editor.toPlainText() == read_source("mean2d/3_shared.cu")
    assert not panel.edit_bar.run.isEnabled() and "the shipped text" in panel.edit_bar.about.text()
    act(window, "xray")
    assert content()["variant"] == "shared"


def test_the_run_of_an_earlier_text_updates_nothing(qtbot) -> None:
    shown = window_with(qtbot, FakeEngine(), (SIM,)).controller.session
    shown.set_picks(("naive",))
    shown.show_pin(Pin.edited("naive", {FILE: "earlier"}))
    earlier = shown.shown.key(shown.shown.ids[-1])
    assert shown.shown.ids_of(earlier) == [shown.shown.ids[-1]]
    shown.show_pin(Pin.edited("naive", {FILE: "later"}))
    assert shown.shown.ids_of(earlier) == [] and len(shown.shown.pins) == 1
    assert shown.shown.ids_of(shown.shown.key("naive")) == ["naive"]


def test_a_verdict_on_an_earlier_text_says_so_until_the_kernel_is_run_again(qtbot) -> None:
    window = window_with(qtbot, FakeEngine(), (SIM,))
    session, results, drafts = window.controller.session, window.controller.results, window.context.xray.drafts
    drafts.set_text("mean2d", "naive", FILE, EDITED)
    window.context.xray.contract.show_result(drafts.of("mean2d", "naive"))
    id, request = next(iter(session.shown.pins)), run(window)
    key = session.shown.key(id)
    settings = {"params": key.params, "knobs": key.knobs, "edits": key.edits}
    news = row("naive", "sim", None, filter="mean2d", ok=False, **settings)
    bring_row(window, request, news, np.zeros((512, 600), np.uint8))
    layer = window.panes.pane(id).layer
    entry = lambda: results.entry(session.shown.slot(id))  # noqa: E731
    assert (layer.state, entry().current, verdict(entry())) == ("wrong", True, "WRONG")
    for text in (EDITED.replace("A(0)", "A(1)"), read_source(FILE)):
        drafts.set_text("mean2d", "naive", FILE, text)
        assert (layer.state, layer.verdict) == ("stale", "of an earlier text")
        assert not entry().current and verdict(entry()) == ""
    drafts.set_text("mean2d", "naive", FILE, EDITED)
    assert (layer.state, entry().state, verdict(entry())) == ("wrong", "failed", "WRONG"), "the text that was run"
    assert not window.controller.queue.pins_lack, "typing alone runs nothing"


def test_a_session_restores_edited_kernels_but_replaces_none_that_is_not_saved(qtbot, draft: Draft) -> None:
    window = window_with(qtbot, FakeEngine(), (SIM,))
    act(window, "xray")
    ray, choice = window.context.xray, window.controller.session.choice

    def restore(text: str) -> None:
        view = View(xray="naive", drafts=(Draft("mean2d", "naive").with_text(FILE, text),), editing=True)
        window.context.sessions.restored.emit(SavedSession(SavedInput("image", (), "camera"), choice, view=view))

    restore(EDITED)
    assert ray.variant == "naive" and ray.editing and window.xray_panel.code.editor.toPlainText() == EDITED
    assert view_of(window.parts).drafts == ray.drafts.edited and view_of(window.parts).editing
    restore(EDITED.replace("A(0)", "A(1)"))
    assert window.xray_panel.code.editor.toPlainText() == EDITED, "unsaved: it stays"
    assert any("save it" in row.message.text for row in window.messages.rows if row.message)
    ray.drafts.set_file(ray.draft, "/a/mine.cu")
    restore(EDITED.replace("A(0)", "A(1)"))
    assert "A(1)" in window.xray_panel.code.editor.toPlainText()
