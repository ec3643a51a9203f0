"""The panel of lessons: a person reads a page, sets up its experiment, answers, and mends a kernel."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from live import live_window, real_engine
from PySide6.QtWidgets import QRadioButton
from pytestqt.qtbot import QtBot

from app.models.lesson import LessonState, number_given, read_progress, saved_setup
from app.models.settings import Settings
from app.models.xray.drafts import Draft
from app.views.lessons.panel import LessonPanel
from app.views.window.main_window import MainWindow
from app.views.window.panels import LADDER, LESSONS, TABLE, XRAY
from gpu_ops.devices.kernel_source import read_source
from gpu_ops.errors import InputError
from gpu_ops.lessons.reading import shipped_lessons


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    with real_engine() as engine, live_window(qtbot, engine, "sim", ("naive",)) as window:
        yield window


HEAD = 'title = "T"\nabout = "A"\nminutes = 1\n'


def opened(window: MainWindow, lesson: str, place: int = 0) -> LessonPanel:
    """The panel with this page."""
    window.docks.show("lessons")
    panel = window.docks[LESSONS]
    row = [one.id for one in panel.controller.state.lessons].index(lesson)
    panel._open(panel.list.item(row))
    for _ in range(place):
        panel.next.click()
    return panel


def test_every_setup_opens_in_a_window(window: MainWindow, qtbot: QtBot) -> None:
    """The setups of all pages are sessions whose names the window knows."""
    setups = [page.setup for lesson in shipped_lessons() for page in lesson.pages if page.setup]
    assert len(setups) > 40
    for setup in setups:
        saved = saved_setup(setup)
        assert saved.choice.picks == setup.variants and saved.input.sample == setup.sample
        assert all(saved.choice.params[name] == value for name, value in setup.params.items())


def test_a_page_is_read_set_up_and_answered(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window, "reuse")
    state, session = panel.controller.state, window.context.session
    assert "page 1 of 5" in panel.title.text() and "neighbouring outputs" in panel.browser.toPlainText()
    panel.set_up.click()
    qtbot.waitUntil(lambda: session.choice.picks == ("naive",) and session.params["window"] == 5)
    assert session.input is not None and session.input.name == "camera" and window.docks.is_open("xray")
    assert panel.form is not None and not panel.form.button.isEnabled() and panel.verdict.isHidden()
    panel.form.number.setText("25,0")
    panel.form.button.click()
    assert not state.right and panel.verdict.text().startswith("Not quite.") and not panel.hint.isHidden()
    panel.hint.click()
    assert panel.verdict.text().startswith("50 loads. 25 pixels and 25 weights.")
    panel.form.number.setText("50")
    panel.form.button.click()
    assert state.right and panel.verdict.text().startswith("Right: 50 loads.")
    panel.next.click()
    assert panel.form.findChildren(QRadioButton) and panel.verdict.isHidden()
    panel.form.choices[2].setChecked(True)
    panel.form.button.click()
    assert state.right
    panel.back.click()
    assert panel.form.number.text() == "50" and panel.verdict.text().startswith("Right"), "answers stay"


def test_an_order_is_made_with_the_keyboard(window: MainWindow, qtbot: QtBot) -> None:
    form = opened(window, "contention", 1).form
    assert form is not None and form.value == ("photograph", "flat", "noise")
    form.order.setCurrentRow(2)
    form.up.click()
    form.up.click()
    form.up.click()
    assert form.value == ("noise", "photograph", "flat")
    form.down.click()
    assert form.value == ("photograph", "noise", "flat")
    form.up.click()
    form.button.click()
    assert window.docks[LESSONS].controller.state.right


def test_an_action_is_noticed(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window, "first_steps", 1)
    panel.set_up.click()
    session = window.context.session
    qtbot.waitUntil(lambda: session.choice.picks == ("naive", "shared"))
    assert panel.verdict.isHidden()
    session.set_param("window", 7)
    assert panel.verdict.isHidden()
    session.set_param("window", 15)
    assert panel.verdict.text() == "Done." and not panel.verdict.isHidden()


def test_an_exercise_puts_the_broken_kernel_into_the_editor(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window, "reuse", 3)
    panel.set_up.click()
    xray = window.context.xray
    qtbot.waitUntil(lambda: xray.editing and xray.variant == "shared")
    draft = xray.draft
    assert draft.filter == "mean1d" and "__syncthreads();" not in draft.texts[draft.file]
    assert window.docks.is_open("xray") and panel.verdict.isHidden()
    panel.hint.click()
    assert panel.verdict.text().startswith("A thread reads words of the tile")
    results = window.context.results
    qtbot.waitUntil(lambda: any(entry.ok for entry in results.entries()))
    assert panel.controller.state.answer is None
    xray.drafts.put(draft.with_text(draft.file, read_source(draft.file)))
    assert panel.controller.state.right and panel.verdict.text().startswith("Done:")


def test_progress_is_kept(window: MainWindow, qtbot: QtBot) -> None:
    settings = Settings()
    state = LessonState(settings)
    lesson = state.lessons[10]
    state.open(lesson)
    state.go(1)
    again = LessonState(settings)
    again.open(lesson)
    assert again.place == 1
    for _ in range(5):
        again.go(1)
    assert again.lesson is None and again.reached[lesson.id] == len(lesson.pages)
    again.open(lesson)
    assert again.place == 0, "a lesson that was read begins anew"
    for text in ("nonsense", "[1]", '{"a": true, "b": -1, "c": "x", "d": 1e3}', "[" * 9999):
        assert read_progress(text) == {}


def test_numbers_are_typed_as_people_write_them() -> None:
    assert (number_given(" 16,5 "), number_given("−2"), number_given("4")) == (16.5, -2.0, 4.0)
    assert [number_given(text) for text in ("", "four", "nan", "inf")] == [None] * 4


def test_a_page_shows_its_panel(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window, "honest_timing", 0)
    window.docks.turn_to(TABLE)
    panel.set_up.click()
    tabs = window.docks.tabs[LADDER.dock]
    qtbot.waitUntil(lambda: tabs.tabText(tabs.currentIndex()) == "Ladder")
    assert not window.docks.is_open(XRAY.dock)


def test_a_lesson_of_a_file(window: MainWindow, tmp_path: Path) -> None:
    window.docks.show("lessons")
    panel, path = window.docks[LESSONS], tmp_path / "own.toml"
    wrong = (
        HEAD + '[[page]]\ntitle = "P"\ntext = "X"\nsetup = {sample = "noise", filter = "mean", variants = ["naiv"]}\n'
    )
    path.write_text(wrong)
    panel._choose = lambda title, kinds: [str(path)]
    panel.open_button.click()
    assert panel.refusal.text().startswith("own.toml, page 1: ") and "naive" in panel.refusal.text()
    path.write_text("title = 1\n[[page]]\n")
    panel._choose = lambda title, kinds: [str(path)]
    panel.open_button.click()
    assert panel.refusal.text().startswith("own.toml (line 1): title is 1") and not panel.refusal.isHidden()
    text = "**Read** <img src='secret.png'> <b>this</b>"
    path.write_text(f'title = "Own"\nabout = "A"\nminutes = 1\n[[page]]\ntitle = "P"\ntext = "{text}"\n')
    panel.open_button.click()
    assert panel.title.text() == "Own · page 1 of 1" and panel.set_up.isHidden()
    assert "<b>this</b>" in panel.browser.toPlainText(), "markup of strangers is text"
    panel.next.click()
    assert panel.stack.currentIndex() == 0 and "own" not in Settings().lesson_progress


def test_presenter_size_stays(window: MainWindow, qtbot: QtBot) -> None:
    window.context.look.set_presenter(True)
    window.context.controller.open_sample("ascent", {})
    qtbot.waitUntil(lambda: window.context.session.input is not None)
    panel = opened(window, "reuse")
    panel.set_up.click()
    session = window.context.session
    qtbot.waitUntil(lambda: session.params["window"] == 5)
    assert window.context.look.presenter
    panel.own.click()
    qtbot.waitUntil(lambda: session.params["window"] != 5)
    assert window.context.look.presenter
    window.context.look.set_presenter(False)


def test_the_readers_own_experiment_is_kept(window: MainWindow, qtbot: QtBot) -> None:
    """Also over several pages, with its parameters and pinned results; an opened session is none of a page."""
    session = window.context.session
    window.context.controller.open_sample("ascent", {})
    qtbot.waitUntil(lambda: session.input is not None and session.input.name == "ascent")
    session.set_param("window", 9)
    session.pin("serial")
    window.context.xray.choose("shared")
    window.context.xray.compare_with("constant")
    panel = opened(window, "reuse")
    assert panel.own.isHidden()
    for _ in range(2):
        panel.set_up.click()
        qtbot.waitUntil(lambda: session.input.name == "camera" and session.params["window"] == 5)
        panel.next.click()
    assert not panel.own.isHidden()
    panel.own.click()
    qtbot.waitUntil(lambda: session.input.name == "ascent" and session.params["window"] == 9)
    assert len(session.choice.pins) == 1 and panel.own.isHidden()
    assert (window.context.xray.variant, window.context.xray.against) == ("shared", "constant")


def test_what_cannot_be_opened_again_takes_two_clicks(window: MainWindow, qtbot: QtBot, monkeypatch) -> None:
    def refuse(view: object) -> None:
        raise InputError("camera is a result, which no file holds: save it.")

    session = window.context.session
    window.context.controller.open_sample("ascent", {})
    qtbot.waitUntil(lambda: session.input is not None and session.input.name == "ascent")
    monkeypatch.setattr(window.context.sessions, "present", refuse)
    panel = opened(window, "reuse")
    panel.set_up.click()
    assert panel.verdict.text().startswith("camera is a result") and "Press again" in panel.verdict.text()
    assert session.input.name == "ascent"
    panel.set_up.click()
    qtbot.waitUntil(lambda: session.input.name == "camera")
    assert panel.own.isHidden()


def test_an_unsaved_kernel_is_replaced_after_a_second_click_only(window: MainWindow, qtbot: QtBot) -> None:
    """Also after another page was read meanwhile; what the exercise itself brought is not asked about."""
    drafts, panel = window.context.xray.drafts, opened(window, "reuse", 3)
    mine = Draft("mean1d", "shared")
    mine = mine.with_text(mine.file, read_source(mine.file) + "// mine\n")
    drafts.put(mine)
    for _ in range(2):
        panel.set_up.click()
        assert panel.verdict.text().startswith(mine.origin.title) and "Press again" in panel.verdict.text()
        assert drafts.of("mean1d", "shared") == mine
        panel.back.click()
        panel.next.click()
    panel.set_up.click()
    for _ in range(2):
        panel.set_up.click()
        qtbot.waitUntil(lambda: window.context.xray.editing and drafts.of("mean1d", "shared").texts != mine.texts)
        assert panel.verdict.isHidden()


def test_another_session_gets_no_broken_kernel(window: MainWindow, qtbot: QtBot) -> None:
    """The page asks for a repair, and the reader opens a session of the same experiment instead."""
    panel = opened(window, "reuse", 3)
    page = panel.controller.state.page
    window.context.sessions.show(saved_setup(page.setup))
    session = window.context.session
    qtbot.waitUntil(lambda: session.choice.picks == ("shared",))
    assert not window.context.xray.draft.texts and not window.context.xray.editing
