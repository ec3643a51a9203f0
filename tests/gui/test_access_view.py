"""The drawing of a warp's addresses: what it says, where things stand, and how a person goes through it."""

from __future__ import annotations

from collections.abc import Callable

import pixels
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolTip, QWidget

from app.base import theme
from app.base.numbers import count
from app.models.xray.access_text import bank_text, gap_text, lane_text, piece_text, place_text
from app.models.xray.access_trace import TracedAccess, WarpTrace
from app.models.xray.xray import KernelView
from app.views.xray.access_view import AccessView
from app.views.xray.source_view import SourceView

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
SECTORS = "global"
NBSP = "\N{NO-BREAK SPACE}"


def access(
    space: str = SECTORS,
    offset: Callable[[int], int] = lambda lane: 4 * lane,
    nbytes: int = 4,
    lanes: tuple[int, ...] = tuple(range(32)),
    verb: str = "load",
    itemsize: int = 4,
    start: int = 0,
) -> TracedAccess:
    buffer = {"global": "image", "shared": "tile", "constant": "table"}[space]
    size = itemsize if space == SECTORS else 0
    return TracedAccess(space, verb, nbytes, buffer, size, start, lanes, tuple(offset(lane) for lane in lanes))


COALESCED = access(offset=lambda lane: 4096 + 4 * lane)
STRIDED = access(offset=lambda lane: 8 * lane)
COLUMN = access(offset=lambda lane: 7680 * lane)
RGB = access(offset=lambda lane: 3 * lane, nbytes=1, itemsize=1)
TWO_WAY = access("shared", lambda lane: 8 * lane)
ALL_IN_ONE = access("shared", lambda lane: 128 * lane)
BROADCAST = access("shared", lambda lane: 64)
HALF = access(lanes=tuple(range(16)))
PICTURES = {
    **{"coalesced": COALESCED, "strided": STRIDED, "column": COLUMN, "rgb": RGB, "two way": TWO_WAY, "half": HALF},
    **{"all in one bank": ALL_IN_ONE, "broadcast": BROADCAST, "quads": access("shared", lambda n: 16 * n, nbytes=16)},
    "constant": access("constant", lambda lane: 4 * (lane % 5)),
}

SENTENCES = {
    "coalesced": (COALESCED, "32 lanes touch 4 sectors, the minimum: every byte moved is used."),
    "strided": (STRIDED, f"32 lanes touch 8 sectors; ideal: 4; 50{NBSP}% of the bytes moved are not used."),
    "rgb": (RGB, f"32 lanes touch 3 sectors; ideal: 1; 67{NBSP}% of the bytes moved are not used."),
    "one address": (
        access(offset=lambda lane: 8),
        "32 lanes access the same 4 bytes: 1 sector serves all of them.",
    ),
    "one lane": (
        access(lanes=(7,)),
        f"1 lane touches 1 sector, the minimum; 88{NBSP}% of the bytes moved are not used. "
        "31 of the 32 lanes are inactive.",
    ),
    "half": (
        HALF,
        "16 lanes touch 2 sectors, the minimum: every byte moved is used. 16 of the 32 lanes are inactive.",
    ),
    "atomics": (
        access(offset=lambda lane: lane // 2 * 4, verb="atomic"),
        "32 lanes touch 2 sectors, the minimum: every byte moved is used. "
        "16 of 32 atomics are serialised with another at the same address.",
    ),
    "two way": (TWO_WAY, "Bank conflict: lanes 0 and 16 need different words of bank 0: 2 wavefronts; ideal: 1."),
    "all in one": (ALL_IN_ONE, "Bank conflict: lanes 0–31 need different words of bank 0: 32 wavefronts; ideal: 1."),
    "no conflict": (access("shared"), "No bank conflict: 1 wavefront."),
    "broadcast": (BROADCAST, "No bank conflict, and lanes that read the same word share it: 1 wavefront."),
    "8 bytes": (
        access("shared", lambda lane: 8 * lane, nbytes=8),
        "8 bytes per lane are served by half-warps: 2 wavefronts, the minimum.",
    ),
    "16 bytes in conflict": (
        access("shared", lambda lane: 128 * lane, nbytes=16),
        "Bank conflict: lanes 0–7 need different words of bank 0: 32 wavefronts; ideal: 4.",
    ),
    "one constant": (access("constant", lambda lane: 8), "32 lanes read one word: it is broadcast."),
    "constants": (
        access("constant", lambda lane: 4 * (lane % 5)),
        "32 lanes read 5 words, which are served one after the other; a single word would be broadcast.",
    ),
}


def trace(*accesses: TracedAccess, block: tuple[int, int, int] = (0, 0, 0), warp: int = 0, all: int = 0) -> WarpTrace:
    return WarpTrace(17, block, warp, all or len(accesses), accesses)


@pytest.fixture
def view(qtbot) -> AccessView:
    view = AccessView()
    qtbot.addWidget(view)
    view.resize(420, 420)
    view.show()
    qtbot.waitExposed(view)
    return view


@pytest.fixture
def look(qapp):
    """Choose the scheme and the size of letters."""
    yield lambda scheme, large: theme.apply(qapp, scheme, large)
    theme.apply(qapp, Qt.ColorScheme.Light)


@pytest.mark.parametrize("name", SENTENCES)
def test_the_cost_is_said_in_words(view: AccessView, name: str) -> None:
    shown, text = SENTENCES[name]
    view.show_line([trace(shown)], 17)
    assert view.sentence.text() == text == view.canvas.accessibleDescription()


def test_a_line_without_memory_says_so(view: AccessView) -> None:
    view.show_line([trace(COALESCED)], 17)
    assert view.parts.isVisible() and not view.empty.isVisible()
    view.show_line((), 21)
    assert view.empty.isVisible() and not view.parts.isVisible() and view.access is None
    assert view.empty.text() == "No traced warp accesses global, shared or constant memory at line 21."
    view.show_line((), 0)
    assert view.empty.text().startswith("This line was edited after the simulation")


def test_the_kernel_and_the_line_are_named(view: AccessView) -> None:
    view.show_line([trace(COALESCED)], 17, place_text("mean_shared", "3_shared.cu", 17, False))
    assert view.where.text() == "mean_shared, line 17 of 3_shared.cu" in view.canvas.accessibleName()
    assert place_text("k", "a.cu", 3, True) == "k, line 3 of a.cu, edited"
    assert place_text("k", "a.cu", 0, True) == "k, a line of a.cu that was edited since"


def test_keys_step_through_the_accesses(view: AccessView) -> None:
    accesses = [access(offset=lambda lane, k=k: 4 * (lane + k)) for k in range(5)]
    view.show_line([trace(*accesses, all=900)], 17)
    assert view.number.text() == "1 of the first 5 of 900"
    for key, place in (("Right", 1), ("Right", 2), ("Left", 1), ("End", 4), ("Right", 4), ("Home", 0), ("Left", 0)):
        QTest.keyClick(view.canvas, getattr(Qt.Key, f"Key_{key}"))
        assert view.slider.value() == place and view.access is accesses[place]
    QTest.keyClick(view.slider, Qt.Key.Key_Right)
    assert view.access is accesses[1]
    view.show_line([trace(COALESCED)], 18)
    assert view.access is COALESCED and view.number.text() == "1 of 1" and not view.slider.isEnabled()


def test_the_warp_that_was_chosen_stays_on_other_lines(view: AccessView) -> None:
    here = [trace(COALESCED), trace(STRIDED, block=(3, 2, 0), warp=1)]
    view.show_line(here, 17)
    assert [view.warps.itemText(n) for n in range(2)] == ["block (0, 0) · warp 0", "block (3, 2) · warp 1"]
    view.warps.setCurrentIndex(1)
    view.warps.activated.emit(1)
    assert view.access is STRIDED and view.what.text() == "Load of 4 bytes per lane · image · global memory"
    view.show_line([trace(RGB, warp=5)], 18)
    assert view.access is RGB
    view.show_line([trace(RGB), trace(HALF, block=(3, 2, 0), warp=1)], 19)
    assert view.access is HALF


def test_a_lane_is_followed_with_keys_and_with_the_mouse(view: AccessView) -> None:
    view.show_line([trace(STRIDED)], 17)
    hint = view.detail.text()
    QTest.keyClick(view.canvas, Qt.Key.Key_Down)
    assert view.canvas.lane == 0 and view.detail.text() == "Lane 0: bytes 0–3 of image, element 0; sector 1 of 8"
    QTest.keyClick(view.canvas, Qt.Key.Key_Up)
    assert view.canvas.lane == 31 and view.detail.text().startswith("Lane 31: bytes 248–251")
    lanes = view.canvas.laid_out().of("lane")
    QTest.mouseMove(view.canvas, lanes[9].rect.center().toPoint())
    assert view.canvas.lane == 9
    used = next(u for u in view.canvas.laid_out().used if u.lanes == (4,))
    QTest.mouseMove(view.canvas, used.rect.center().toPoint())
    assert view.canvas.lane == 4
    view.canvas.point_at(-1)
    assert view.detail.text() == hint


def test_what_is_told_of_parts() -> None:
    pixel = access(offset=lambda lane: 9990 + 3 * lane, nbytes=1, itemsize=1)
    assert lane_text(pixel, 5) == f"Lane 5: byte {count(10005)} of image, element {count(10005)}; sector 1 of 4"
    quad = access(offset=lambda lane: 16 * lane, nbytes=16)
    assert lane_text(quad, 1) == "Lane 1: bytes 16–31 of image, elements 4–7; sector 1 of 16"
    assert lane_text(HALF, 20) == "Lane 20 is inactive."
    assert lane_text(TWO_WAY, 16) == "Lane 16: bytes 128–131 of tile; bank 0, wavefront 2 of 2"
    wide = access("shared", lambda lane: 16 * lane, nbytes=16)
    assert lane_text(wide, 9) == "Lane 9: bytes 144–159 of tile; banks 4–7, wavefront 2 of 4"
    assert piece_text(STRIDED, STRIDED.pieces.pieces[1]) == (
        "Sector, bytes 32–63 of image: lanes 4–7 use 16 of its 32 bytes"
    )
    assert bank_text(TWO_WAY, 2) == "Bank 2: bytes 8–11 to lane 1; bytes 136–139 to lane 17"
    assert bank_text(TWO_WAY, 1) == "No lane uses bank 1."
    assert bank_text(BROADCAST, 16) == "Bank 16: bytes 64–67 to lanes 0–31"
    assert gap_text(COLUMN.pieces.gaps[0]) == f"{count(7648)} bytes in between are not accessed"
    moved = access(start=12)
    assert piece_text(moved, moved.pieces.pieces[1]).startswith("Sector, bytes 20–51 of image: lanes 5–12 use 32")


def test_hovering_tells_of_what_is_there(qtbot, view: AccessView) -> None:
    view.show_line([trace(COLUMN)], 17)
    layout = view.canvas.laid_out()
    for kind, number in (("lane", 3), ("piece", 2), ("gap", 0)):
        spot = layout.of(kind)[number]
        assert view.canvas.spot_at(spot.rect.center()) == spot
    events = [view.canvas.tip(layout.of(kind)[0]) for kind in ("lane", "piece", "gap")]
    assert events == [
        "Lane 0: bytes 0–3 of image, element 0; sector 1 of 32",
        "Sector, bytes 0–31 of image: lane 0 uses 4 of its 32 bytes",
        f"{count(7648)} bytes in between are not accessed",
    ]
    view.show_line([trace(TWO_WAY)], 17)
    bank = view.canvas.laid_out().of("bank")[4]
    assert view.canvas.tip(bank) == bank_text(TWO_WAY, 4)
    assert view.canvas.spot_at(QPointF(-5, -5)) is None
    QToolTip.hideText()


# Where things stand


@pytest.mark.parametrize("large", [False, True], ids=["plain", "large"])
@pytest.mark.parametrize("name", PICTURES)
def test_everything_stands_inside_and_nothing_overlaps(view: AccessView, look, name: str, large: bool) -> None:
    look(Qt.ColorScheme.Light, large)
    shown = PICTURES[name]
    view.show_line([trace(shown)], 17)
    layout = view.canvas.laid_out()
    assert layout.width == view.canvas.width() <= 420 and view.canvas.minimumHeight() >= layout.height
    rects = [s.rect for s in layout.spots] + [u.rect for u in layout.used]
    rects += [t.rect for t in layout.titles] + [r for _, r, _ in layout.legend]
    for rect in rects:
        assert rect.left() >= 0 and rect.right() <= layout.width + 0.01 and rect.bottom() <= layout.height
    for kind in ("lane", "piece", "bank"):
        row = [s.rect for s in layout.of(kind)]
        assert all(a.right() <= b.left() + 0.01 for a, b in zip(row, row[1:], strict=False))
    assert set(layout.lines) == set(shown.lanes)
    assert {lane for used in layout.used for lane in used.lanes} == set(shown.lanes)
    ranges = [n.rect for n in layout.numbers if "–" in n.text]
    assert not any(a.intersects(b) for k, a in enumerate(ranges) for b in ranges[:k])


def test_lanes_of_a_coalesced_load_stand_above_their_bytes(view: AccessView) -> None:
    view.show_line([trace(COALESCED)], 17)
    assert all(abs(line.dx()) < 0.01 for line in view.canvas.laid_out().lines.values())
    assert view.canvas.laid_out().of("gap") == []
    assert view.canvas.laid_out().numbers[-1].text == f"{count(4096)}–{count(4223)}"


def test_gaps_are_left_out_and_marked(view: AccessView) -> None:
    view.show_line([trace(access(nbytes=1, itemsize=1, offset=lambda n: n % 16 + n // 16 * 1920))], 17)
    layout = view.canvas.laid_out()
    (gap,), (first, second) = layout.of("gap"), layout.of("piece")
    assert first.rect.right() <= gap.rect.left() + 0.01 and gap.rect.right() <= second.rect.left() + 0.01
    assert gap.rect.width() < first.rect.width()
    assert [sign for sign, *_ in layout.legend] == ["used", "unused", "gap"]


def test_each_pass_has_a_row(view: AccessView) -> None:
    view.show_line([trace(TWO_WAY)], 17)
    layout = view.canvas.laid_out()
    assert sorted({u.rect.top() for u in layout.used}) == sorted(
        {layout.used[0].rect.top(), layout.used[0].rect.bottom()}
    )
    columns = layout.of("bank")
    assert all(columns[2 * (u.lanes[0] % 16)].rect.left() == u.rect.left() for u in layout.used)
    assert [sign for sign, *_ in layout.legend] == ["conflict"]


# How it looks


def _image(view: AccessView) -> QImage:
    QApplication.processEvents()
    return view.canvas.grab().toImage()


@pytest.mark.parametrize("scheme", [Qt.ColorScheme.Light, Qt.ColorScheme.Dark], ids=["light", "dark"])
@pytest.mark.parametrize("name", PICTURES)
def test_it_is_painted_in_the_colours_of_the_scheme(view: AccessView, look, name: str, scheme) -> None:
    look(scheme, False)
    view.show_line([trace(PICTURES[name])], 17)
    image, colours = _image(view), theme.colours(scheme)
    assert image.pixelColor(2, image.height() - 3) == theme.palette(scheme).base().color()
    assert colours.series[0].colour.name() in pixels.colours(image)
    conflict = colours.error.colour.name() in pixels.colours(image)
    assert conflict == (name in ("two way", "all in one bank"))


def test_unused_bytes_are_hatched(view: AccessView) -> None:
    view.show_line([trace(RGB)], 17)
    piece, image = view.canvas.laid_out().of("piece")[2], _image(view)
    row = [image.pixelColor(x, round(piece.rect.center().y())) for x in _inside(piece.rect)]
    assert theme.colours_of(view.palette()).muted in row
    view.show_line([trace(COALESCED)], 17)
    piece, image = view.canvas.laid_out().of("piece")[2], _image(view)
    row = [image.pixelColor(x, round(piece.rect.bottom()) - 3) for x in _inside(piece.rect)]
    assert QColor(theme.colours_of(view.palette()).muted) not in row


def _inside(rect) -> range:
    return range(round(rect.left()) + 2, round(rect.right()) - 2)


def test_a_lane_that_is_pointed_at_stands_out(view: AccessView) -> None:
    view.show_line([trace(STRIDED)], 17)
    plain = _image(view)
    view.canvas.point_at(5)
    assert _image(view) != plain
    view.canvas.point_at(-1)
    assert _image(view) == plain


# Where it comes from


def test_a_kernel_has_its_traces_by_line() -> None:
    one = {"space": "global", "verb": "load", "bytes": 4, "buffer": "x", "itemsize": 4, "start": 0}
    entry = {"file": "k.cu", "line": 7, "block": [1, 0, 0], "warp": 2, "count": 3}
    accesses = [{**one, "lanes": 0b10110, "first": 40, "steps": [[1, 8], [1, -4]]}]
    kernel = {
        "name": "k",
        "file": "k.cu",
        "files": [{"file": "k.cu", "lines": []}],
        "accesses": [{**entry, "accesses": accesses}],
    }
    view = KernelView(kernel, {"k.cu": ""}, []).files[0]
    (found,) = view.traces[7]
    assert (found.line, found.block, found.warp, found.count) == (7, (1, 0, 0), 2, 3)
    assert found.accesses[0].lanes == (1, 2, 4) and found.accesses[0].offsets == (40, 48, 44)
    assert view.traces.get(8, ()) == ()


def test_the_source_says_when_the_cursor_is_on_another_line(qtbot) -> None:
    source = SourceView()
    qtbot.addWidget(source)
    source.show_source("a\nbc\nd\n", {}, lambda line: ())
    lines: list[int] = []
    source.line_changed.connect(lines.append)
    source.go_to(2)
    QTest.keyClick(source, Qt.Key.Key_Right)
    QTest.keyClick(source, Qt.Key.Key_Down)
    assert lines == [2, 3]


def test_the_line_of_the_cursor_stays_whole(qtbot) -> None:
    """In a lower view and with larger letters, and without a change of the columns that are visible."""
    around = QWidget()
    qtbot.addWidget(around)
    source = SourceView(around)
    source.show_source("a\n" * 20 + "b" * 400 + "\n" + "c\n" * 20, {}, lambda line: ())
    source.resize(300, 300)
    around.show()
    source.go_to(21)
    source.horizontalScrollBar().setValue(50)

    def whole() -> bool:
        line = source.cursorRect()
        return line.top() >= 0 and line.bottom() < source.viewport().height()

    source.resize(300, 150)
    assert whole() and source.horizontalScrollBar().value() == 50
    font = around.font()
    font.setPointSizeF(2.5 * font.pointSizeF())
    around.setFont(font)
    source.adapt()
    assert whole()
    source.go_to(1)
    source.verticalScrollBar().setValue(30)
    source.resize(300, 140)
    assert source.verticalScrollBar().value() == 30, "another part that is looked at stays"
