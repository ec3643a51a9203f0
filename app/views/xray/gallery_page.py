"""The gallery of memory layouts: thirty-two lanes over memory, a picture for each layout."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QCoreApplication, QEvent, QRectF, Qt
from PySide6.QtGui import QGuiApplication, QPainter, QPaintEvent, QResizeEvent, QShowEvent, QStandardItemModel
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.base.nesting import bounded
from app.base.theme import colours_of, inked
from app.models.xray.access_text import sentence
from app.models.xray.gallery import RULES, TIME, Card, card_lines, cards
from app.views.boxes import in_column, in_row
from app.views.labels import buddy, named, sentence_label
from app.views.parts import Combo
from app.views.scrolled import Scrolled
from app.views.xray.access_view import NARROWEST, AccessCanvas
from gpu_ops.report.rows import Row


class CostBar(QWidget):
    """The cost of a layout relative to the most expensive one in its memory."""

    def __init__(self, level: float, parent: QWidget) -> None:
        super().__init__(parent)
        self.level = level
        self.setFixedHeight(max(3, self.fontMetrics().height() // 3))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        colours, painter = colours_of(self.palette()), QPainter(self)
        painter.fillRect(self.rect(), self.palette().base())
        width = max(2.0, self.level * self.width())
        painter.fillRect(QRectF(0, 0, width, self.height()), colours.series[0].colour)
        painter.end()


class CardView(QWidget):
    """One layout: its title, its costs, its time, the picture of a warp, and its explanation."""

    def __init__(self, card: Card, parent: QWidget) -> None:
        super().__init__(parent)
        self.card = card
        names = ("title", "cost", "others", "idea", "sentence")
        labels = (sentence_label(f"gallery.{n}", self) for n in names)
        self.title, self.cost, self.others, self.idea, self.sentence = labels
        self.canvas = named(AccessCanvas(self), title=card.title)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, self.fontMetrics().height())
        bar = CostBar(card.level, self)
        for part in (self.title, self.cost, bar, self.others, self.canvas, self.sentence, self.idea):
            layout.addWidget(part)
        layout.addStretch(1)
        self.title.setText(card.title)
        self.cost.setText(card.cost)
        self.others.setText("\n".join(text for text in (card.loads, card.others, card.time) if text))
        self.idea.setText(card.idea)
        self.canvas.show_access(card.access)
        self.sentence.setText(sentence(card.access))
        self._ink()

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "sentence"):
            self._ink()

    def _ink(self) -> None:
        font = self.font()
        font.setBold(True)
        self.title.setFont(font)
        for label in (self.others, self.idea, self.sentence):
            label.setPalette(inked(self.palette(), colours_of(self.palette()).muted))


class GalleryPage(QWidget):
    """All layouts, ordered by their cost under the chosen rule, or by their times among the
    `rows` of the session."""

    def __init__(self, rows: Callable[[], Sequence[Row]] = tuple, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows = rows
        self.setObjectName("gallery")
        self.setWindowTitle(self.tr("Memory layouts"))
        self.rules = named(Combo(self), "gallery.rule", title=self.tr("Order of the layouts"))
        self.rules.set_letters(12)
        for rule, text in RULES.items():
            self.rules.addItem(QCoreApplication.translate("Gallery", text), rule)
        self.rules.addItem("", TIME)
        self.copy_button = QPushButton(self.tr("Cop&y"), self)
        self.copy_button.setObjectName("gallery.copy")
        self.copy_button.setToolTip(self.tr("Copy all costs as a table"))
        self.note = sentence_label("gallery.note", self)
        self.note.setText(
            self.tr(
                "Each picture shows one warp: its 32 lanes above, what their first load touches below. The cost above"
                " the bar counts all loads by the rule of the chosen order, the cheapest layout first; the lines below"
                " the bar give its loads, and the counts of the other rules for as many values. Pictures, and sentences"
                " below them, show today's sectors and banks."
            )
        )
        self.inside = QWidget(self)
        self.grid = QGridLayout(self.inside)
        self.shown: tuple[Card, ...] = ()
        self.views: list[CardView] = []
        self.headings: dict[str, QLabel] = {}
        self._columns = 0
        self._arrange()
        self.rules.currentIndexChanged.connect(self.refresh)
        self.copy_button.clicked.connect(lambda: QGuiApplication.clipboard().setText(card_lines(self.shown)))
        self.refresh()

    def _arrange(self) -> None:
        label = buddy(self.tr("Order &by"), self.rules)
        top = in_row(label, (self.rules, 1), self.copy_button)
        in_column(top, self.note, (Scrolled(self.inside, self), 1), on=self, margins=None)
        self.grid.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.grid.setHorizontalSpacing(3 * self.fontMetrics().averageCharWidth())
        names = {"global": self.tr("Global memory"), "shared": self.tr("Shared memory")}
        self.headings = {space: QLabel(f"<h3>{name}</h3>", self.inside) for space, name in names.items()}

    @property
    def rule(self) -> str:
        """The chosen rule, or TIME."""
        return str(self.rules.currentData())

    def refresh(self) -> None:
        """Create the cards again, in the order of the chosen rule."""
        for view in self.views:
            self.grid.removeWidget(view)
            view.hide()  # it is deleted later, and would be visible until then
            view.deleteLater()
        self.shown = cards(self.rule, self._rows())
        self._offer_times(any(card.seconds is not None for card in self.shown))
        self.views = [CardView(card, self.inside) for card in self.shown]
        self._place(self._fitting())

    def _offer_times(self, there: bool) -> None:
        """Offer the order by times where there are any."""
        none = self.tr("kernel time here: none is measured yet; measure them on a GPU")
        place = self.rules.findData(TIME)
        self.rules.setItemText(place, self.tr("kernel time here: measured in this session") if there else none)
        model = self.rules.model()
        assert isinstance(model, QStandardItemModel)
        model.item(place).setEnabled(there)

    def _fitting(self) -> int:
        """The number of columns that fit."""
        return max(1, self.width() // (NARROWEST * self.fontMetrics().averageCharWidth()))

    def _place(self, columns: int) -> None:
        """Put the cards of each memory below its heading, in so many columns."""
        row, self._columns = 0, columns
        for space, heading in self.headings.items():
            own: Sequence[CardView] = [view for view in self.views if view.card.space == space]
            self.grid.addWidget(heading, row, 0, 1, columns)
            for place, view in enumerate(own):
                self.grid.addWidget(view, row + 1 + place // columns, place % columns)
                view.show()
            row += 1 - (-len(own) // columns)

    @bounded
    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        if cards(self.rule, self._rows()) != self.shown:  # the session has new times since
            self.refresh()

    @bounded
    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        if self._fitting() != self._columns:
            self._place(self._fitting())

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and self._columns and self._fitting() != self._columns:
            self._place(self._fitting())
