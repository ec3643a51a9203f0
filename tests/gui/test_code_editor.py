"""The editor for CUDA C++: indentation, brackets, comments, search, errors, and numbers that move with their lines."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.base.theme import colours_of
from app.models.xray.code_text import comment_toggled, hits, shifted
from app.models.xray.problem import Problem
from app.views.code.editor import CodeEditor
from app.views.code.find_bar import FindBar
from app.views.xray.source_view import SourceView
from gpu_ops.own_kernels.template import partner

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
KERNEL = "__global__ void k(float* x)\n{\n    x[0] = 1;\n    x[1] = 2;\n}"


@pytest.fixture
def place(qtbot) -> QWidget:
    """A window with an editor and its bar."""
    window = QWidget()
    qtbot.addWidget(window)
    layout = QVBoxLayout(window)
    window.editor, window.bar = CodeEditor(window), FindBar(window)
    window.editor.wanted.connect(lambda field: window.bar.open(window.editor, field))
    layout.addWidget(window.editor)
    layout.addWidget(window.bar)
    window.resize(600, 500)
    window.show()
    qtbot.waitExposed(window)
    window.editor.open_text(KERNEL)
    window.editor.setFocus()
    return window


@pytest.fixture
def editor(place) -> CodeEditor:
    return place.editor


def at_end(editor: CodeEditor, line: int) -> None:
    """The cursor at the end of a line."""
    editor.go_to(line)
    QTest.keyClick(editor, Qt.Key.Key_End)


def test_return_keeps_the_indentation_and_opens_a_block(editor) -> None:
    at_end(editor, 3)
    QTest.keyClick(editor, Qt.Key.Key_Return)
    QTest.keyClicks(editor, "if (x) {")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    QTest.keyClicks(editor, "y();")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    QTest.keyClicks(editor, "}")
    assert editor.toPlainText().split("\n")[3:6] == ["    if (x) {", "        y();", "    }"]


def test_tab_writes_blanks_and_moves_selected_lines(editor) -> None:
    at_end(editor, 2)
    QTest.keyClick(editor, Qt.Key.Key_Tab)
    assert editor.toPlainText().split("\n")[1] == "{   "
    QTest.keyClick(editor, Qt.Key.Key_Backspace)
    editor.go_to(3)
    QTest.keyClick(editor, Qt.Key.Key_Down, SHIFT)
    QTest.keyClick(editor, Qt.Key.Key_End, SHIFT)
    QTest.keyClick(editor, Qt.Key.Key_Tab)
    assert editor.toPlainText().split("\n")[2:4] == ["        x[0] = 1;", "        x[1] = 2;"]
    QTest.keyClick(editor, Qt.Key.Key_Backtab, SHIFT)
    QTest.keyClick(editor, Qt.Key.Key_Backtab, SHIFT)
    assert editor.toPlainText().split("\n")[2:4] == ["x[0] = 1;", "x[1] = 2;"]
    QTest.keyClick(editor, Qt.Key.Key_Z, CTRL)
    assert editor.toPlainText().split("\n")[2:4] == ["    x[0] = 1;", "    x[1] = 2;"], "undone at one stroke"


def test_backspace_removes_a_level_and_a_comment_is_toggled(editor) -> None:
    editor.go_to(3)
    for _ in range(4):
        QTest.keyClick(editor, Qt.Key.Key_Right)
    QTest.keyClick(editor, Qt.Key.Key_Backspace)
    assert editor.toPlainText().split("\n")[2] == "x[0] = 1;"
    QTest.keyClick(editor, Qt.Key.Key_Slash, CTRL)
    assert editor.toPlainText().split("\n")[2] == "// x[0] = 1;"
    QTest.keyClick(editor, Qt.Key.Key_Slash, CTRL)
    assert editor.toPlainText().split("\n")[2] == "x[0] = 1;"


def test_lines_change_together() -> None:
    assert comment_toggled(["    a", "", "      b"]) == ["    // a", "", "    //   b"]
    assert comment_toggled(["    // a", "", "    //   b"]) == ["    a", "", "      b"]
    assert comment_toggled(["// a", "b"]) == ["// // a", "// b"]
    assert shifted(["  a", "", "     b"], right=False) == ["a", "", " b"]


@pytest.mark.parametrize(
    ("text", "place", "other"),
    [
        ("f(a[1]) { g(); }", 1, 6),
        ("f(a[1]) { g(); }", 6, 1),
        ("f(a[1]) { g(); }", 3, 5),
        ("f(/* ) */ 1)", 1, 11),
        ("f(')', \")\") // )", 1, 10),
        ("f(1'000, 2'000)", 1, 14),
        ("f(]", 1, -1),
        ("f)", 1, -1),
        ("// (", 3, None),
        ("a", 0, None),
        ("", 0, None),
    ],
)
def test_a_bracket_knows_its_partner(text: str, place: int, other: int | None) -> None:
    assert partner(text, place) == other


def test_brackets_at_the_cursor_are_marked(editor) -> None:
    at_end(editor, 1)
    marked = {one.cursor.selectedText() for one in editor.marked_letters()}
    assert marked == {"(", ")"}
    at_end(editor, 3)
    assert editor.marked_letters() == []


def test_the_bar_finds_replaces_and_goes_to_a_line(place, editor) -> None:
    editor.go_to(1)
    QTest.keyClick(editor, Qt.Key.Key_F, CTRL)
    assert place.bar.sought.hasFocus()
    QTest.keyClicks(place.bar.sought, "X[")
    assert place.bar.found.text() == "1 of 2" and editor.textCursor().selectedText() == "x["
    QTest.keyClick(place.bar.sought, Qt.Key.Key_Return)
    assert place.bar.found.text() == "2 of 2" and editor.textCursor().blockNumber() == 3
    QTest.keyClick(place.bar.sought, Qt.Key.Key_Return)
    assert editor.textCursor().blockNumber() == 2, "after the last comes the first"
    place.bar.case.click()
    assert place.bar.found.text() == "Not found in this file" and not place.bar.next.isEnabled()
    place.bar.case.click()
    QTest.keyClick(place.bar.sought, Qt.Key.Key_Escape)
    assert not place.bar.isVisible() and editor.hasFocus() and not editor.hits
    QTest.keyClick(editor, Qt.Key.Key_H, CTRL)
    QTest.keyClicks(place.bar.replacement, "y[")
    place.bar.one.click()
    assert editor.toPlainText().split("\n")[2:4] == ["    y[0] = 1;", "    x[1] = 2;"]
    place.bar.all.click()
    assert "x[" not in editor.toPlainText() and place.bar.found.text() == "1 replaced"
    QTest.keyClick(editor, Qt.Key.Key_G, CTRL)
    QTest.keyClicks(place.bar.line, "4")
    QTest.keyClick(place.bar.line, Qt.Key.Key_Return)
    assert editor.textCursor().blockNumber() == 3 and not place.bar.isVisible()


def test_a_replacement_that_contains_what_is_replaced_ends(place, editor) -> None:
    QTest.keyClick(editor, Qt.Key.Key_H, CTRL)
    place.bar.sought.setText("x")
    place.bar.replacement.setText("xx")
    place.bar.all.click()
    assert editor.toPlainText().count("x") == 2 * KERNEL.count("x") and len(hits(KERNEL, "x", True)) == 3


def test_keys_of_the_editor_are_not_taken_by_the_window(place, editor, qtbot) -> None:
    taken = []
    QShortcut(QKeySequence("Ctrl+F"), place, lambda: taken.append("find"))
    QTest.keyClick(editor, Qt.Key.Key_F, CTRL)
    assert place.bar.isVisible() and taken == []


def test_errors_are_marked_at_their_lines_until_the_text_changes(editor) -> None:
    colours = colours_of(editor.palette())
    editor.show_problems([Problem("k.cu", 3, 5, "error", "no such thing"), Problem("k.cu", 4, 0, "warning", "odd")])
    assert [editor.mark(line) for line in (2, 3, 4)] == ["", colours.error.symbol, colours.warn.symbol]
    assert "no such thing" in editor.tip(3) and editor.tip(2) == ""
    assert [one.cursor.selectedText() for one in editor.marked_letters()] == ["x", "    x[1] = 2;"[4:]]
    QTest.keyClicks(editor, " ")
    assert editor.mark(3) == "" and editor.tip(3) == ""


def test_numbers_move_with_their_lines(editor) -> None:
    editor.show_results(KERNEL, {4: "error"}, {3: ["three"], 4: ["four"]}.get)
    editor.show_column({3: 10, 4: 20})
    assert [editor.cell(line)[0] for line in (3, 4)] == ["10", "20"]
    at_end(editor, 2)
    QTest.keyClick(editor, Qt.Key.Key_Return)
    QTest.keyClicks(editor, "int a;")
    assert [editor.cell(line)[0] for line in (3, 4, 5)] == ["", "10", "20"]
    assert editor.mark(5) and not editor.mark(4) and "four" in editor.tip(5) and editor.tip(3) == ""
    at_end(editor, 4)
    QTest.keyClicks(editor, " ")
    assert editor.cell(4)[0] == "", "an edited line has no number"
    assert editor.cell(5)[0] == "20"


def inks(source: SourceView, line: int) -> dict[str, str]:
    """The colours of a line's words."""
    block = source.document().findBlockByNumber(line - 1)
    forms = block.layout().formats()
    return {block.text()[f.start : f.start + f.length]: f.format.foreground().color().name() for f in forms}


def test_words_of_cuda_have_colours_also_after_a_comment_of_several_lines(place) -> None:
    place.editor.open_text(
        "#include <x>\n/* a\nint b */ constexpr int n = 3'000;\n__shared__ float s[threadIdx.x]; // c\n"
        '__syncwarp(); atomicAdd(p, 1.0f); auto t = "int";\nint d;\n// for 1 thread and // more'
    )
    keyword, built_in = inks(place.editor, 6)["int"], inks(place.editor, 5)["atomicAdd"]
    assert inks(place.editor, 3)["int b */"] == inks(place.editor, 2)["/* a"] != keyword
    assert inks(place.editor, 7) == {"// for 1 thread and // more": inks(place.editor, 2)["/* a"]}
    third, fourth, fifth = (inks(place.editor, line) for line in (3, 4, 5))
    assert third["constexpr"] == third["int"] == fourth["__shared__"] == fourth["float"] == keyword
    assert fourth["threadIdx"] == fifth["__syncwarp"] == built_in != keyword
    assert fifth["1.0f"] == third["3'000"] and "s" not in fourth
    assert len({keyword, built_in, fifth["1.0f"], fifth['"int"'], third["int b */"]}) == 5


def test_a_text_of_ten_megabytes_is_not_pasted(editor, qtbot) -> None:
    data = QMimeData()
    data.setText("int a;\n" * 1_500_000)
    with qtbot.waitSignal(editor.refused) as refused:
        editor.insertFromMimeData(data)
    assert "1 MiB" in refused.args[0] and editor.toPlainText() == KERNEL
    data.setText("// ")
    editor.insertFromMimeData(data)
    assert editor.toPlainText() == "// " + KERNEL
