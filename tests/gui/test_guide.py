"""The guide of the window: pages, pictures, links, looks, and its headings in the palette."""

from __future__ import annotations

import numpy as np
import pytest
from fake_engine import FakeEngine, act, make
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QTextTable
from PySide6.QtWidgets import QApplication

from app.base import theme
from app.models.guide import guide_pages
from app.views.dialogs import guide_look
from app.views.dialogs.guide_page import GuidePage
from gpu_ops import from_array

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support raise", extend=True)


@pytest.fixture
def page(qtbot) -> GuidePage:
    page = GuidePage()
    qtbot.addWidget(page)
    page.resize(900, 600)
    page.show()
    return page


@pytest.fixture
def window(qtbot):
    engine = FakeEngine()
    window = make(qtbot, engine)
    engine.show(from_array(np.eye(9, dtype=np.uint8)))
    yield window
    engine.end()
    window.controller.cancel()


def top_line(page: GuidePage) -> str:
    """The first line of text in the view."""
    cursor = page.browser.cursorForPosition(page.browser.viewport().rect().topLeft())
    return cursor.block().text() or cursor.block().next().text()


def test_every_page_is_listed_and_shown(qtbot, page: GuidePage) -> None:
    titles = [one.title for one in guide_pages()]
    assert [page.list.item(row).text() for row in range(page.list.count())] == titles and len(titles) == 12
    for row, one in enumerate(guide_pages()):
        page.list.setCurrentRow(row)
        text = page.browser.toPlainText()
        assert page.shown == one.name and text.startswith(one.title)
        assert "<!--" not in text and "```" not in text and "](" not in text


def test_every_heading_can_be_turned_to(page: GuidePage) -> None:
    for one in guide_pages():
        page.open(one.name)
        for heading in one.headings:
            block = guide_look.heading_block(page.browser.document(), heading.anchor)
            assert block.isValid() and block.text() == heading.text, (one.name, heading)
    page.open("results.md", "over-lengths-1")
    assert top_line(page) == "Over lengths" and page.browser.verticalScrollBar().value() > 0


def test_links_turn_pages_and_back_returns(qtbot, page: GuidePage, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    assert not page.back_button.isEnabled()
    page.browser.anchorClicked.emit(QUrl("window.md#sweeps"))
    page.browser.anchorClicked.emit(QUrl("simulated.md#x-ray"))
    assert page.shown == "simulated.md" and top_line(page) == "X-ray"
    assert page.list.currentItem().text() == "The simulated GPU"
    page.browser.anchorClicked.emit(QUrl("file:///etc/passwd"))
    page.browser.anchorClicked.emit(QUrl("nowhere.md"))
    assert page.shown == "simulated.md" and opened == []
    page.browser.anchorClicked.emit(QUrl("https://example.org/a"))
    assert opened == ["https://example.org/a"] and page.shown == "simulated.md"
    for shown in ("window.md", "index.md"):
        qtbot.mouseClick(page.back_button, Qt.MouseButton.LeftButton)
        assert page.shown == shown
    assert not page.back_button.isEnabled()


@pytest.mark.parametrize("width", [500, 900, 1366])
def test_pictures_are_drawn_and_never_wider_than_the_view(page: GuidePage, width: int) -> None:
    page.open("window.md")
    page.resize(width, 600)
    QApplication.processEvents()
    widths = [
        fragment.charFormat().toImageFormat().width()
        for block in guide_look.blocks(page.browser.document())
        for fragment in guide_look._fragments(block)
        if fragment.charFormat().isImageFormat()
    ]
    (text,) = (one.text for one in guide_pages() if one.name == "window.md")
    assert len(widths) == text.count("![") and all(100 < one <= page.browser.viewport().width() for one in widths)
    assert page.browser.horizontalScrollBar().maximum() == 0


@pytest.mark.parametrize("scheme", [Qt.ColorScheme.Light, Qt.ColorScheme.Dark])
def test_the_page_can_be_read_in_both_schemes(page: GuidePage, scheme: Qt.ColorScheme) -> None:
    page.setPalette(theme.palette(scheme))
    page.open("index.md")
    document, base = page.browser.document(), page.palette().color(page.palette().ColorRole.Base)
    links = [
        fragment.charFormat()
        for block in guide_look.blocks(document)
        for fragment in guide_look._fragments(block)
        if fragment.charFormat().isAnchor()
    ]
    assert len(links) == len(guide_pages()) - 1
    assert all(theme.contrast(link.foreground().color(), base) >= theme.TEXT_CONTRAST for link in links)
    (table,) = [frame for frame in document.rootFrame().childFrames() if isinstance(frame, QTextTable)]
    heading = table.cellAt(0, 0).format().background().color()
    assert theme.contrast(page.palette().color(page.palette().ColorRole.Text), heading) >= theme.TEXT_CONTRAST


def test_headings_and_text_grow_with_the_font(page: GuidePage) -> None:
    def sizes() -> list[float]:
        found = guide_look.heading_block(page.browser.document(), "guide")
        return [guide_look._fragments(found)[0].charFormat().fontPointSize(), page.browser.document().size().height()]

    before, font = sizes(), page.font()
    font.setPointSizeF(font.pointSizeF() * theme.PRESENTER)
    page.setFont(font)
    after = sizes()
    assert after[0] == pytest.approx(theme.PRESENTER * before[0]) and after[1] > 1.3 * before[1]


def test_help_guide_opens_it_beside_the_window(window) -> None:
    act(window, "guide")
    shown = window.parts.pages["guide"]
    assert shown.isVisible() and not shown.isModal() and isinstance(shown.page, GuidePage)
    assert window.actions_by_id["guide"] in window.parts.menus["help"].actions()


def test_the_palette_opens_a_heading(qtbot, window) -> None:
    with qtbot.waitActive(window):
        window.activateWindow()
    act(window, "palette")
    line = window.parts.palette.line
    qtbot.keyClicks(line, "larger memory")
    assert window.parts.palette.texts()[0] == "Guide: Larger than memory (Files)"
    qtbot.keyClick(line, Qt.Key.Key_Return)
    page = window.parts.pages["guide"].page
    assert page.isVisible() and page.shown == "files.md" and top_line(page) == "Larger than memory"
    names = [offer.name for offer in window.parts.guide.offers()]
    assert len(names) == len(set(names)) == sum(len(one.headings) for one in guide_pages()), "each by a name of its own"
