"""Pages with a button for each, in rows that wrap: all of them are in sight however narrow the panel is."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QSizePolicy, QStackedWidget, QWidget

from app.base.nesting import bounded
from app.views.boxes import in_column
from app.views.flow import FlowLayout
from app.views.labels import named
from app.views.results.choice_button import ChoiceButton


class TabRows(QWidget):
    """Has the methods of a QTabWidget that the panels use. `currentChanged(place)`: another page is in front."""

    currentChanged = Signal(int)  # noqa: N815

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        gap = self.fontMetrics().averageCharWidth() // 2
        self._row, self._pages, self._buttons = QWidget(self), QStackedWidget(self), QButtonGroup(self)
        self._flow = FlowLayout(self._row, gap, even=True)
        self._flow.setContentsMargins(0, 0, 0, 0)
        in_column(self._row, (self._pages, 1), on=self, gap=gap)
        self._policies: dict[QWidget, QSizePolicy.Policy] = {}
        self._buttons.idClicked.connect(self.setCurrentIndex)
        self._pages.currentChanged.connect(self._show)

    def addTab(self, page: QWidget, title: str) -> int:  # noqa: N802
        """Add a page after the others. Returns its place."""
        place = self._pages.count()
        button = named(ChoiceButton(self._row), f"{page.objectName()}.tab", title)
        button.setText(title)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # else arrow keys go to what had the focus before a click
        self._buttons.addButton(button, place)
        self._flow.addWidget(button)
        self._policies[page] = page.sizePolicy().verticalPolicy()
        self._pages.addWidget(page)
        self._size()
        return place

    def buttons(self) -> list[QAbstractButton]:
        """One for each page, in their order."""
        return self._buttons.buttons()

    def button(self, page: QWidget) -> QAbstractButton:
        """The button that shows a page."""
        return self._buttons.button(self.indexOf(page))

    def indexOf(self, page: QWidget) -> int:  # noqa: N802
        return self._pages.indexOf(page)

    def count(self) -> int:
        return self._pages.count()

    def currentIndex(self) -> int:  # noqa: N802
        return self._pages.currentIndex()

    def currentWidget(self) -> QWidget | None:  # noqa: N802
        return self._pages.currentWidget()

    @Slot(int)
    def setCurrentIndex(self, place: int) -> None:  # noqa: N802
        self._pages.setCurrentIndex(place)

    def setCurrentWidget(self, page: QWidget) -> None:  # noqa: N802
        self._pages.setCurrentWidget(page)

    def isTabVisible(self, place: int) -> bool:  # noqa: N802
        return not self._buttons.button(place).isHidden()

    def setTabVisible(self, place: int, visible: bool) -> None:  # noqa: N802
        """Offer a page or not; in the place of one that leaves, the first comes to the front."""
        self._buttons.button(place).setVisible(visible)
        if not visible and place == self.currentIndex():
            self.setCurrentIndex(0)

    @Slot(int)
    def _show(self, place: int) -> None:
        self._buttons.button(place).setChecked(True)
        self._size()
        self.currentChanged.emit(place)

    def _size(self) -> None:
        """Only the page in front decides how low all of them may be."""
        for page, own in self._policies.items():
            policy = page.sizePolicy()
            policy.setVerticalPolicy(own if page is self.currentWidget() else QSizePolicy.Policy.Ignored)
            page.setSizePolicy(policy)
        self.updateGeometry()

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """All rows of buttons at this width, and the page in front."""
        size = super().minimumSizeHint()
        return size + QSize(0, self._row.heightForWidth(self.width()) - self._row.minimumSizeHint().height())

    @bounded
    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()
