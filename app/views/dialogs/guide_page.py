"""The guide in its own window: pages at the left, the chosen one at the right."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSignalBlocker, Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices, QResizeEvent, QTextDocument
from PySide6.QtWidgets import QListWidget, QPushButton, QWidget

from app.base.nesting import bounded
from app.base.tips import set_tip
from app.models.guide import FOLDER, INDEX, guide_page, guide_pages
from app.views.boxes import in_column, in_row
from app.views.dialogs.guide_look import fit_pictures, heading_block, style_document
from app.views.explained import ExplainedBrowser
from app.views.labels import named


class GuideBrowser(ExplainedBrowser):
    """A viewer of Markdown whose pictures are never wider than the view."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("guide_page.text")
        self.setOpenLinks(False)
        self.setSearchPaths([str(FOLDER)])

    def show_text(self, text: str, strangers: bool = False) -> None:
        """Show this Markdown in the colours of the palette and in the font; that of `strangers` without HTML."""
        document = self.document()
        document.setDocumentMargin(self.fontMetrics().height())
        feature = QTextDocument.MarkdownFeature
        both = feature.MarkdownDialectGitHub | feature.MarkdownNoHTML
        document.setMarkdown(text, both if strangers else feature.MarkdownDialectGitHub)
        style_document(document, self.palette(), self.font())
        self._fit()

    def _fit(self) -> None:
        margin = 2 * self.document().documentMargin()
        fit_pictures(self.document(), self.viewport().width() - margin)

    @bounded
    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit()


class GuidePage(QWidget):
    """The pages of the guide. Links between them open their page; all others open in the system's browser."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("guide_page")
        self.setWindowTitle(self.tr("Guide"))
        self.list = named(QListWidget(self), "guide_page.pages", title=self.tr("Pages of the guide"))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.addItems([page.title for page in guide_pages()])
        self.back_button = QPushButton(self.tr("&Back"), self)
        self.back_button.setObjectName("guide_page.back")
        set_tip(self.back_button, self.tr("Go back to the previous position"))
        self.browser = named(GuideBrowser(self), title=self.tr("Guide"))
        side = in_column((self.list, 1), self.back_button)
        in_row(side, (self.browser, 1), on=self, margins=None)
        self._shown = INDEX
        self._before: list[tuple[str, int]] = []
        self._show(INDEX)
        self._fit_list()
        self.list.currentRowChanged.connect(self._chosen)
        self.back_button.clicked.connect(self.back)
        self.browser.anchorClicked.connect(self.follow)

    @property
    def shown(self) -> str:
        """The file name of the page that is shown."""
        return self._shown

    def open(self, name: str, anchor: str = "") -> None:
        """Open a page, at one of its headings if given."""
        place = self._shown, self.browser.verticalScrollBar().value()
        self._before.append(place)
        self._show(name)
        self._turn_to(anchor)

    @Slot()
    def back(self) -> None:
        """Return to the previous position."""
        if self._before:
            name, place = self._before.pop()
            self._show(name)
            self.browser.verticalScrollBar().setValue(place)

    @Slot(QUrl)
    def follow(self, link: QUrl) -> None:
        """Open a page of the guide, or another address in the system's browser."""
        name = link.path() or self._shown
        if link.scheme() in ("http", "https"):
            QDesktopServices.openUrl(link)
        elif name in [page.name for page in guide_pages()]:
            self.open(name, link.fragment())

    @Slot(int)
    def _chosen(self, row: int) -> None:
        self.open(guide_pages()[row].name)

    def _show(self, name: str) -> None:
        page = guide_page(name)
        self._shown = page.name
        self.browser.show_text(page.text)
        self.browser.verticalScrollBar().setValue(0)
        with QSignalBlocker(self.list):
            self.list.setCurrentRow([one.name for one in guide_pages()].index(page.name))
        self.back_button.setEnabled(bool(self._before))

    def _turn_to(self, anchor: str) -> None:
        """Scroll a heading to the upper edge."""
        block = heading_block(self.browser.document(), anchor)
        if block.isValid():
            top = self.browser.document().documentLayout().blockBoundingRect(block).top()
            self.browser.verticalScrollBar().setValue(round(top - self.browser.document().documentMargin() / 2))

    def _fit_list(self) -> None:
        """Make the list as wide as the longest title."""
        widest = max(self.list.fontMetrics().horizontalAdvance(page.title) for page in guide_pages())
        self.list.setFixedWidth(widest + 4 * self.list.fontMetrics().averageCharWidth() + 2 * self.list.frameWidth())

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        """Show the page in the new palette or font, at the same share of its height."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "_before"):
            bar = self.browser.verticalScrollBar()
            share = bar.value() / max(bar.maximum(), 1)
            self._show(self._shown)
            self._fit_list()
            bar.setValue(round(share * bar.maximum()))
