"""Files with something to choose: surveyed, asked about, remembered, and opened as the newest wish says."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine, act, make
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QWidget

from app.controllers.importing import ImportController
from app.controllers.session import SessionController
from app.models.experiment.session import Session
from app.models.files.importing import Memory, chosen_columns, fields, kind_key, lasting, must_ask, toggled
from app.models.results.results import Results
from app.models.settings import Settings
from app.shell.window import Script
from app.views.dialogs.import_dialog import ImportDialog
from gpu_ops import FORMATS, from_array, save
from gpu_ops.engine.messages import Failed, Finished, LoadRequest, SampleRequest, Surveyed, SurveyRequest
from gpu_ops.io import survey
from gpu_ops.io.formats import Format
from gpu_ops.io.opening import COLUMNS, FRAME, HEADER, MEMBER, PART, PROJECT, RATE, SEPARATOR, SERIES, Survey

TABLE = Survey(
    "a toy table",
    (("lines", "120"), ("<b>", "1 < 2")),
    found={"separator": "semicolon", "rate": 250.0},
    asks=True,
    heading=("time", "ecg", "breath"),
    rows=(("0", "1.5", "7"), ("0.004", "1.75", "8")),
)
CHOICES = (COLUMNS, SEPARATOR, HEADER, RATE, MEMBER, FRAME, PROJECT)


def no_reader(*_: Any) -> Any:
    raise AssertionError("the window reads nothing itself")


TOY = Format("a toy table", (".toy",), ("signal",), no_reader, None, CHOICES, no_reader)


class Surveying(FakeEngine):
    """Answers a survey when the test says so, and loads toy files."""

    def submit(self, request: Any) -> None:
        if isinstance(request, LoadRequest) and request.path.endswith(".toy"):
            self.asked.append(request)
            made = from_array(np.arange(4.0), name=Path(request.path).name)
            origin = {"path": request.path, "hash": "", "steps": []}
            self.show(replace(made, origin=origin), request.job)
        else:
            super().submit(request)

    def of(self, kind: type) -> list[Any]:
        return [request for request in self.asked if isinstance(request, kind)]

    def survey(self, found: Survey = TABLE, request: SurveyRequest | None = None) -> None:
        """Answer the newest survey, or that of a request."""
        job = (request or self.of(SurveyRequest)[-1]).job
        self.answered.emit(Surveyed(job, found))
        self.answered.emit(Finished(job))


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Surveying:
    monkeypatch.setattr("app.models.files.importing.FORMATS", (*FORMATS, TOY))
    return Surveying()


class FileWindow(QWidget):
    """What the dialog needs of a window, and the messages that it would show."""

    def __init__(self, engine: Surveying) -> None:
        super().__init__()
        self.controller, self.settings = SessionController(engine, Session(), Results()), Settings()
        self.importing = ImportController(self.controller, self.settings, self)
        self.import_dialog = ImportDialog(self.importing, self)
        self.texts: list[str] = []
        for speaker in (self.controller, self.importing):
            speaker.message.connect(lambda kind, text, details, subject: self.texts.append(text))


@pytest.fixture
def window(qtbot, engine: Surveying):
    parts = FileWindow(engine)
    qtbot.addWidget(parts)
    parts.resize(1100, 750)
    parts.show()
    engine.show(from_array(np.zeros((4, 5), np.uint8), name="before"))
    return parts


@pytest.fixture
def whole(qtbot, engine: Surveying):
    """A whole window."""
    window = make(qtbot, engine)
    engine.show(from_array(np.zeros((4, 5), np.uint8), name="before"))
    yield window
    engine.end()
    window.controller.cancel()


def asked(qtbot, window, engine: Surveying, path: str = "/x/a.toy", survey: Survey = TABLE) -> ImportDialog:
    """The dialog that asks about a file."""
    (window.importing if isinstance(window, FileWindow) else window.context.importing).open(path)
    engine.survey(survey)
    dialog = window.import_dialog
    qtbot.waitUntil(dialog.isVisible)
    return dialog


def input_name(window) -> str:
    return window.controller.session.input.name


def said(window) -> list[str]:
    return window.texts


def press_open(qtbot, dialog: ImportDialog) -> None:
    qtbot.mouseClick(dialog.open_button, Qt.MouseButton.LeftButton)


def type_in(qtbot, dialog: ImportDialog, name: str, text: str) -> None:
    control = dialog.form.editor(name).control()
    control.setFocus()
    control.selectAll()
    qtbot.keyClicks(control, text)


# Opening


def test_a_measurement_goes_on_until_another_input_is_opened(qtbot, window, engine: Surveying) -> None:
    engine.end()
    window.controller.measure()
    queue = window.controller.queue
    (job,) = queue.jobs
    dialog = asked(qtbot, window, engine)
    dialog.reject()
    assert queue.jobs[job].id == "measure"
    press_open(qtbot, asked(qtbot, window, engine))
    assert job not in queue.jobs and input_name(window) == "a.toy"


def test_what_has_no_choice_is_opened_at_once(window, engine, tmp_path: Path) -> None:
    save(tmp_path / "a.png", np.ones((3, 4), np.uint8))
    window.importing.open(str(tmp_path / "a.png"))
    assert input_name(window) == "a.png" and not engine.of(SurveyRequest)


def test_what_needs_no_choice_is_opened_after_its_survey(window, engine) -> None:
    window.importing.open("/x/a.toy")
    assert input_name(window) == "before" and window.controller.busy
    engine.survey(replace(TABLE, asks=False))
    assert input_name(window) == "a.toy" and not window.import_dialog.isVisible() and said(window) == []
    assert engine.of(LoadRequest)[-1].options == {}


def test_the_dialog_shows_what_the_file_holds(qtbot, window, engine) -> None:
    dialog = asked(qtbot, window, engine)
    assert dialog.windowTitle() == "Open a.toy" and dialog.isModal() and input_name(window) == "before"
    assert "120" in dialog.facts.text() and "1 &lt; 2" in dialog.facts.text()
    assert [p.name for p in dialog._fields] == ["columns", "separator", "header", "rate", "member"]
    combo = dialog.form.editor("separator").control()
    assert combo.currentText() == "automatic (semicolon)" and dialog.found.text() == "Found in the file: rate 250 Hz"
    table = dialog.table
    assert table.columnCount() == 3 and table.rowCount() == 2 and table.item(1, 1).text() == "1.75"
    assert [table.horizontalHeaderItem(k).text() for k in range(3)] == ["1  time", "2  ecg", "3  breath"]
    assert dialog.focusWidget() is dialog.form.editor("columns").control()


def test_typed_choices_go_with_the_file(qtbot, window, engine) -> None:
    dialog = asked(qtbot, window, engine)
    type_in(qtbot, dialog, "columns", "ecg")
    qtbot.keyClick(dialog.form.editor("columns").control(), Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not dialog.isVisible())
    assert engine.of(LoadRequest)[-1].options == {"columns": "ecg"} and input_name(window) == "a.toy"


def test_a_click_on_a_heading_chooses_its_column_and_shows_what_comes_of_it(qtbot, window, engine) -> None:
    dialog = asked(qtbot, window, engine)
    header = dialog.table.horizontalHeader()
    for place in (1, 2, 1):
        at = QPoint(header.sectionViewportPosition(place) + 9, 4)
        qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert dialog.form.values()["columns"] == "3" and dialog.table.chosen == (2,)
    assert dialog.table.horizontalHeaderItem(2).text() == "✓ 3  breath"
    assert [r.choices for r in engine.of(SurveyRequest)] == [{}, *({"columns": c} for c in ("2", "2,3", "3"))]


def test_the_newest_survey_wins(qtbot, window, engine) -> None:
    dialog = asked(qtbot, window, engine)
    for column in ("2", "3"):
        dialog.form.set_values({"columns": column})
        dialog._look_again(dialog.form.values())
    first, second = engine.of(SurveyRequest)[-2:]
    engine.survey(replace(TABLE, rows=(("newest", "", ""),)), second)
    engine.survey(replace(TABLE, rows=(("old", "", ""),)), first)
    assert dialog.table.item(0, 0).text() == "newest" and dialog.isVisible()


def test_why_choices_cannot_be_used_is_said_in_the_dialog(qtbot, window, engine) -> None:
    dialog = asked(qtbot, window, engine)
    dialog._look_again({"columns": "9"})
    engine.answered.emit(Failed(engine.of(SurveyRequest)[-1].job, "a.toy has no column 9."))
    assert "a.toy has no column 9." in dialog.reason.text() and dialog.reason.isVisible() and said(window) == []
    dialog._look_again({"columns": "2"})
    engine.survey()
    assert not dialog.reason.isVisible()


@pytest.mark.parametrize("key", [True, False], ids=["Escape", "Cancel"])
def test_cancel_leaves_everything_as_it_was(qtbot, window, engine, key: bool) -> None:
    dialog = asked(qtbot, window, engine)
    dialog._look_again({"columns": "2"})
    if key:
        qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    else:
        qtbot.mouseClick(dialog.buttons.button(dialog.buttons.StandardButton.Cancel), Qt.MouseButton.LeftButton)
    engine.survey(replace(TABLE, asks=False))
    assert not dialog.isVisible() and not engine.of(LoadRequest) and input_name(window) == "before"
    assert window.settings.imports == 0 and said(window) == []


def test_choices_that_are_given_are_taken_without_a_question(window, engine) -> None:
    window.importing.open("/x/a.toy", {"columns": "2", "rate": 5.0})
    assert engine.of(LoadRequest)[-1].options == {"columns": "2", "rate": 5.0} and not engine.of(SurveyRequest)


def test_the_command_line_gives_choices(whole, engine) -> None:
    args = argparse.Namespace(file="/x/a.toy", columns="2", rate="5", frame=None, screenshot=None, measure=False)
    script = Script(whole.controller, whole, args)
    assert script._choices() == {"columns": "2", "rate": 5.0}
    whole.files.open_path(args.file, script._choices())
    assert engine.of(LoadRequest)[-1].options == {"columns": "2", "rate": 5.0}


# What comes between


def test_another_file_while_one_is_surveyed(window, engine, tmp_path: Path) -> None:
    save(tmp_path / "b.png", np.ones((3, 4), np.uint8))
    window.importing.open("/x/a.toy")
    window.importing.open("/x/b.toy")
    first, second = engine.of(SurveyRequest)
    engine.survey(replace(TABLE, asks=False), first)
    assert input_name(window) == "before"
    engine.survey(replace(TABLE, asks=False), second)
    assert input_name(window) == "b.toy"
    window.importing.open("/x/c.toy")
    window.importing.open(str(tmp_path / "b.png"))
    engine.survey()
    assert input_name(window) == "b.png" and not window.import_dialog.isVisible()


def test_a_sample_while_a_file_is_surveyed(window, engine) -> None:
    window.importing.open("/x/a.toy")
    window.controller.open_sample("camera")
    engine.survey(replace(TABLE, asks=False))
    assert engine.of(SampleRequest) and not engine.of(LoadRequest)
    engine.show(from_array(np.zeros((4, 4), np.uint8), name="camera"), engine.of(SampleRequest)[-1].job)
    assert input_name(window) == "camera"


def test_another_file_while_the_dialog_asks(qtbot, whole, engine) -> None:
    dialog = asked(qtbot, whole, engine)
    whole.files.drop(["/x/b.toy"])
    assert not dialog.isVisible()
    engine.survey(replace(TABLE, heading=("one", "two"), rows=(("1", "2"),)))
    assert dialog.isVisible() and dialog.windowTitle() == "Open b.toy" and dialog.table.columnCount() == 2
    press_open(qtbot, dialog)
    assert input_name(whole) == "b.toy"


def test_cancelling_everything_gives_up_the_survey(whole, engine) -> None:
    whole.files.open_path("/x/a.toy")
    act(whole, "cancel")
    engine.survey(replace(TABLE, asks=False))
    assert input_name(whole) == "before" and not engine.of(LoadRequest)


def test_the_engine_dies_while_it_surveys(qtbot, window, engine) -> None:
    window.importing.open("/x/a.toy")
    engine.answered.emit(Failed(engine.of(SurveyRequest)[-1].job, "The engine died.", kind="engine"))
    assert said(window) == ["The engine died."] and input_name(window) == "before"
    dialog = asked(qtbot, window, engine)
    dialog._look_again({"columns": "2"})
    engine.answered.emit(Failed(engine.of(SurveyRequest)[-1].job, "The engine died again.", kind="engine"))
    assert dialog.isVisible() and "The engine died again." in dialog.reason.text()
    press_open(qtbot, dialog)
    assert input_name(window) == "a.toy"


def test_a_file_of_a_list_that_cannot_be_surveyed_is_left_out(qtbot, whole, engine) -> None:
    whole.files.drop(["/x/bad.toy", "/x/b.toy", "/x/c.toy"])
    engine.answered.emit(Failed(engine.of(SurveyRequest)[-1].job, "bad.toy is empty."))
    qtbot.waitUntil(lambda: engine.of(SurveyRequest)[-1].path == "/x/b.toy")
    engine.survey(replace(TABLE, asks=False))
    assert input_name(whole) == "b.toy" and whole.files.list.paths == ("/x/b.toy", "/x/c.toy")


def test_a_question_that_is_cancelled_does_not_hold_up_the_list(qtbot, whole, engine) -> None:
    whole.files.drop(["/x/a.toy", "/x/b.toy", "/x/c.toy"])
    engine.survey(replace(TABLE, asks=False))
    act(whole, "next_file")
    engine.survey()
    qtbot.keyClick(whole.import_dialog, Qt.Key.Key_Escape)
    assert input_name(whole) == "a.toy"
    whole.files.open_path("/x/else.toy")
    engine.answered.emit(Failed(engine.of(SurveyRequest)[-1].job, "else.toy is empty."))
    assert whole.files.list.paths == ("/x/a.toy", "/x/b.toy", "/x/c.toy"), "the list has nothing to do with it"
    act(whole, "next_file")
    assert engine.of(SurveyRequest)[-1].path == "/x/b.toy"


# Remembering


def test_choices_are_remembered_for_files_like_it(qtbot, window, engine) -> None:
    dialog = asked(qtbot, window, engine)
    type_in(qtbot, dialog, "columns", "2")
    assert dialog.remember.isChecked()
    press_open(qtbot, dialog)
    window.importing.open("/x/b.toy")
    engine.survey()
    assert input_name(window) == "b.toy" and not dialog.isVisible()
    assert engine.of(LoadRequest)[-1].options == {"columns": "2"} and "columns 2" in said(window)[-1]
    window.importing.open("/x/c.toy")
    engine.survey(replace(TABLE, heading=("time", "other", "columns")))
    assert dialog.isVisible() and input_name(window) == "b.toy", "another heading is another kind of file"


def test_what_is_remembered_is_asked_about_and_forgotten_on_request(qtbot, whole, engine) -> None:
    whole.context.settings.remember_import(kind_key(TABLE), {"columns": "2"})
    whole.files.chooser = lambda *_: "/x/a.toy"
    act(whole, "open_with")
    engine.survey()
    dialog = whole.import_dialog
    assert dialog.isVisible() and dialog.form.values()["columns"] == "2" and dialog.table.chosen == (1,)
    assert engine.of(SurveyRequest)[-1].choices == {"columns": "2"}
    dialog.remember.click()
    press_open(qtbot, dialog)
    assert whole.context.settings.imports == 0
    assert engine.of(LoadRequest)[-1].options == {"columns": "2"}


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
def test_preferences_forget_what_is_remembered(qtbot, whole) -> None:
    settings = whole.context.settings
    settings.remember_import("a", {"columns": "2"})
    settings.remember_import("b", {})
    act(whole, "preferences")
    page = whole.parts.pages["preferences"].page
    assert "2 kinds of files" in page.imports.text()
    qtbot.mouseClick(page.forget_button, Qt.MouseButton.LeftButton)
    assert settings.imports == 0 and not page.forget_button.isEnabled() and "no files" in page.imports.text()


def test_what_is_remembered_survives_a_new_start_and_a_spoilt_file(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "window.ini")
    settings.remember_import(kind_key(TABLE), {"columns": "2,3", "rate": 250.0})
    settings.save()
    assert Settings(tmp_path / "window.ini").remembered_import(kind_key(TABLE)) == {"columns": "2,3", "rate": 250.0}
    for spoilt in ("{", "[]", '{"a": 3}', "7"):
        assert len(Memory(spoilt)) == 0
    memory = Memory()
    for number in range(99):
        memory.put(str(number), {})
    assert len(memory) == 50 and memory.get("98") == {} and memory.get("0") is None


def test_what_does_not_fit_any_more_is_asked_again(qtbot, window, engine) -> None:
    archive = replace(TABLE, heading=(), rows=(), allowed={"member": ("a", "b")})
    window.settings.remember_import(kind_key(archive), {"member": "gone"})
    dialog = asked(qtbot, window, engine, survey=archive)
    assert dialog.form.values()["member"] == "a"


# Other kinds of files


def test_an_archive_asks_for_one_of_its_arrays(qtbot, window, engine) -> None:
    facts = (("before", "512 × 512, float32"), ("after", "512 × 512, float32"))
    archive = Survey("a toy table", facts, allowed={"member": ("before", "after")}, asks=True)
    dialog = asked(qtbot, window, engine, survey=archive)
    assert not dialog.table.isVisible() and [p.name for p in dialog._fields] == ["header", "rate", "member"]
    combo = dialog.form.editor("member").control()
    combo.setFocus()
    qtbot.keyClick(combo, Qt.Key.Key_Down)
    press_open(qtbot, dialog)
    assert engine.of(LoadRequest)[-1].options == {"member": "after"}


def test_a_frame_is_one_of_those_that_there_are_and_not_remembered(qtbot, window, engine) -> None:
    dialog = asked(qtbot, window, engine, survey=Survey("a toy table", frames=20, asks=True))
    type_in(qtbot, dialog, "frame", "20")
    press_open(qtbot, dialog)
    assert dialog.isVisible() and not engine.of(LoadRequest) and "from 0 to 19" in dialog.form.reason("frame"), (
        "the reason stays in sight"
    )
    type_in(qtbot, dialog, "frame", "7")
    press_open(qtbot, dialog)
    assert engine.of(LoadRequest)[-1].options == {"frame": 7}
    window.importing.open("/x/b.toy")
    engine.survey(Survey("a toy table", frames=5, asks=True))
    assert input_name(window) == "b.toy" and engine.of(LoadRequest)[-1].options == {}


def test_a_file_without_choices_says_so(qtbot, whole, engine, tmp_path: Path) -> None:
    save(tmp_path / "a.png", np.ones((3, 4), np.uint8))
    whole.files.chooser = lambda *_: [str(tmp_path / "a.png")]
    act(whole, "open_with")
    engine.survey(Survey("a PNG image", (("file", "99 bytes"),)))
    dialog = whole.import_dialog
    assert dialog.isVisible() and dialog.what.text() == "A PNG image. There is nothing to choose."
    assert dialog.form is None and not dialog.remember.isVisible() and dialog.focusWidget() is dialog.open_button
    qtbot.keyClick(dialog.open_button, Qt.Key.Key_Return)
    assert input_name(whole) == "a.png"


def test_thirty_columns_with_long_names_fit(qtbot, window, engine) -> None:
    names = tuple(f"a very long name of the channel number {k}" for k in range(30))
    rows = tuple(tuple("1.2345" for _ in names) for _ in range(50))
    dialog = asked(qtbot, window, engine, survey=replace(TABLE, heading=names, rows=rows))
    assert dialog.width() <= window.width() and dialog.height() <= window.height()
    assert max(dialog.table.columnWidth(k) for k in range(30)) < dialog.width() / 3
    assert names[7] in dialog.table.horizontalHeaderItem(7).toolTip()


def test_columns_are_chosen_by_name_or_number() -> None:
    heading = ("time", "ecg", "7")
    assert chosen_columns("2, 7", heading) == (1, 2) and chosen_columns("", heading) == ()
    assert chosen_columns("nothing,time,1", heading) == (0,)
    assert toggled("ecg", heading, 0) == "1,2" and toggled("1,2", heading, 1) == "1" and toggled("2", heading, 1) == ""
    assert chosen_columns("2 - 3,ECG", heading) == (1, 2) and chosen_columns("3-2,0,4", heading) == ()
    assert chosen_columns("a, b", ("x", "a, b")) == (1,) and toggled("", ("2", "1"), 0) == "2", "names come first"


def test_only_what_matters_is_asked() -> None:
    assert fields(CHOICES, Survey("a toy table", allowed={"member": ("only",)})) == tuple(
        replace(HEADER, choices=tuple(range(-1, 21))) if p is HEADER else p for p in (HEADER, RATE)
    )
    frame, project = fields((FRAME, PROJECT), Survey("a toy table", frames=3))
    assert frame.high == 2 and project == PROJECT
    gaps = Survey("a toy table", allowed={"part": (0, 1, 2)}, found={"part": 1}, asks=True)
    assert fields((PART,), gaps) == (replace(PART, choices=(0, 1, 2), default=1),)
    assert fields((PART,), Survey("a toy table", asks=True)) == ()


def test_the_series_of_a_tiff_are_offered_where_there_are_several() -> None:
    (choices,) = [format.choices for format in FORMATS if ".tif" in format.suffixes]
    several = Survey("a TIFF image", allowed={"series": (0, 1)}, found={"series": 1})
    assert fields(choices, several) == (replace(SERIES, choices=(0, 1), default=1),)
    assert fields(choices, Survey("a TIFF image")) == () and lasting({"series": 1}) == {}


def test_the_part_of_a_file_is_asked_for_whatever_is_remembered_of_others() -> None:
    gaps, whole = (Survey("an EDF record", allowed=allowed, asks=True) for allowed in ({"part": (0, 1)}, {}))
    assert lasting({"part": 1, "columns": "2"}) == {"columns": "2"}
    assert must_ask(gaps, {"columns": "2"}) and must_ask(whole, None) and not must_ask(whole, {"columns": "2"})
    assert not must_ask(replace(gaps, asks=False), None)


def click_cell(qtbot, dialog: ImportDialog, row: int, column: int) -> None:
    table = dialog.table
    at = table.visualItemRect(table.item(row, column)).center()
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=at)


def test_a_click_on_a_row_chooses_a_channel_where_rows_are_channels(qtbot, window, engine) -> None:
    rows = (("1", "EEG", "250 Hz"), ("2", "ECG", "250 Hz"), ("3", "SpO2", "1 Hz"))
    record = Survey(
        "a toy table",
        allowed={"columns": ("EEG", "ECG", "SpO2")},
        found={"columns": "1,2"},
        asks=True,
        heading=("channel", "name", "rate"),
        rows=rows,
    )
    dialog = asked(qtbot, window, engine, survey=record)
    assert dialog.found.text() == "Found in the file: columns 1,2" and "rows" in dialog.hint.text()
    assert dialog.table.horizontalHeaderItem(0).text() == "channel", "no column number where rows are channels"
    for row in (2, 0, 2, 1):
        click_cell(qtbot, dialog, row, 1)
    assert dialog.form.values()["columns"] == "1,2" and dialog.table.chosen == (0, 1)
    press_open(qtbot, dialog)
    assert engine.of(LoadRequest)[-1].options == {"columns": "1,2"}


def test_a_click_on_a_row_chooses_an_array(qtbot, window, engine) -> None:
    rows = (("before", "5 × 5", "uint8"), ("after", "9", "float64"))
    archive = Survey("a toy table", allowed={"member": ("before", "after")}, heading=("a", "b", "c"), rows=rows)
    dialog = asked(qtbot, window, engine, survey=replace(archive, asks=True))
    assert dialog.table.chosen == (0,)
    click_cell(qtbot, dialog, 1, 2)
    assert dialog.form.values()["member"] == "after" and dialog.table.chosen == (1,)
    press_open(qtbot, dialog)
    assert engine.of(LoadRequest)[-1].options == {"member": "after"}


def test_a_column_of_words_cannot_be_chosen_by_a_click(qtbot, window, engine) -> None:
    dialog = asked(qtbot, window, engine, survey=replace(TABLE, allowed={"columns": ("time", "breath")}))
    header = dialog.table.horizontalHeader()
    for place in (1, 2):
        at = QPoint(header.sectionViewportPosition(place) + 9, 4)
        qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert dialog.form.values()["columns"] == "3"
    assert dialog.table.horizontalHeaderItem(1).toolTip() == "ecg: no numbers in this column"


def test_lines_that_can_be_read_in_two_ways_are_asked_about(qtbot, window, engine, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("4,5\n2,25\n3,0\n")
    window.importing.open(str(path))
    engine.survey(survey(path))
    dialog = window.import_dialog
    qtbot.waitUntil(dialog.isVisible)
    assert "it may be 2 and 25" in dialog.facts.text() and input_name(window) == "before"
    combo = dialog.form.editor("separator").control()
    combo.setCurrentText("comma")
    combo.activated.emit(combo.currentIndex())
    press_open(qtbot, dialog)
    assert engine.of(LoadRequest)[-1].options == {"separator": "comma"}
    assert window.controller.session.input.array.shape == (3, 2) and said(window) == []


def test_what_a_file_leaves_open_is_told(window, engine, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("sample,u (V)\n0,1.5\n1,2.5\n2,4.5\n")
    window.importing.open(str(path))
    engine.survey(survey(path))
    assert input_name(window) == "a.csv" and window.controller.session.input.facts.units == ("V",)
    assert said(window) == ["a.csv: column 'sample' counts the samples and is left out."]
