"""The machine's devices and libraries, and the log: everything that a bug report needs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QEvent, QLocale, QSize, Slot
from PySide6.QtGui import QGuiApplication, QTextCursor
from PySide6.QtWidgets import (
    QHeaderView,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QTabWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from app.base.nesting import bounded
from app.base.theme import fixed_font
from app.base.tips import tip_text
from app.models.log import LOG_LINES, Log
from app.views.boxes import in_column, in_row
from app.views.labels import named


class DiagnosticsPage(QWidget):
    """The doctor's answer as a tree, the log as text, and one button that copies both."""

    def __init__(self, log: Log, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("diagnostics_page")
        self.setWindowTitle(self.tr("Diagnostics"))
        self._doctor: dict[str, Any] = {}
        self.tree = named(QTreeWidget(self), "doctor", title=self.tr("Devices and libraries"))
        self.tree.setHeaderLabels([self.tr("Item"), self.tr("Value")])
        self.tree.setAlternatingRowColors(True)
        self.tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        self.tree.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.tree.header().setStretchLastSection(False)
        self.log = named(QPlainTextEdit(self), "log", title=self.tr("Log"))
        self.log.setReadOnly(True)
        self.log.setTabChangesFocus(True)
        self.log.setMaximumBlockCount(LOG_LINES)
        self.log.setPlaceholderText(self.tr("The log is empty."))
        self.log.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.log.setPlainText(log.text())
        self.log.moveCursor(QTextCursor.MoveOperation.End)
        self.log.moveCursor(QTextCursor.MoveOperation.StartOfLine)
        log.added.connect(self.append_log)
        self.tabs = named(QTabWidget(self), "diagnostics_tabs")
        self.tabs.setDocumentMode(True)
        self.tabs.addTab(self.tree, self.tr("&Doctor"))
        self.tabs.addTab(self.log, self.tr("&Log"))
        self.copy_button = QPushButton(self.tr("Cop&y all"), self)
        self.copy_button.setObjectName("diagnostics.copy")
        self.copy_button.setToolTip(self.tr("Copy the doctor's answer and the log"))
        self.copy_button.clicked.connect(self.copy)
        text = self.tr("If something goes wrong, copy this into a bug report. The log names the files you opened.")
        hint = QLabel(text, self)
        hint.setWordWrap(True)
        top = in_row((hint, 1), self.copy_button)
        in_column(top, (self.tabs, 1), on=self, margins=None)
        self._adapt()

    def set_doctor(self, doctor: Mapping[str, Any]) -> None:
        """Show the content of `kernelscope doctor --json -`."""
        self._doctor = dict(doctor)
        self.tree.clear()
        for name, value in self._doctor.items():
            self._add(self.tree.invisibleRootItem(), name, value)
        self.tree.expandAll()

    def show_log(self, log: bool) -> None:
        """Bring the log to the front, or the doctor's answer."""
        self.tabs.setCurrentWidget(self.log if log else self.tree)

    def _add(self, parent: QTreeWidgetItem, name: str, value: Any) -> None:
        if isinstance(value, list) and not any(isinstance(v, dict | list) for v in value):
            value = ", ".join(str(v) for v in value)
        nested = isinstance(value, dict | list)
        if name.endswith("_bytes") and isinstance(value, int):
            name, value = name.removesuffix("_bytes"), QLocale().formattedDataSize(value)
        name = name.replace("_", " ")
        item = QTreeWidgetItem(parent, [name, "" if nested else self._word(value)])
        item.setToolTip(1, tip_text(item.text(1)))
        metrics = self.fontMetrics()
        item.setSizeHint(0, QSize(metrics.horizontalAdvance(name) + metrics.height(), metrics.height() * 3 // 2))
        if isinstance(value, dict):
            for inner, content in value.items():
                self._add(item, str(inner), content)
        elif isinstance(value, list):
            for place, content in enumerate(value):
                label = content.get("name", str(place + 1)) if isinstance(content, dict) else str(place + 1)
                more = {k: v for k, v in content.items() if k != "name"} if isinstance(content, dict) else content
                self._add(item, str(label), more)

    def _word(self, value: Any) -> str:
        if isinstance(value, bool):
            return self.tr("yes") if value else self.tr("no")
        return "–" if value in (None, "") else str(value)

    @Slot(str)
    def append_log(self, text: str) -> None:
        """Append to the log; the oldest lines disappear when it is long."""
        self.log.appendPlainText(text)

    def text(self) -> str:
        """The doctor's answer as JSON, then the log."""
        doctor = json.dumps(self._doctor, indent=1, ensure_ascii=False)
        return f"{doctor}\n\n{self.log.toPlainText()}\n"

    def copy(self) -> None:
        """Copy everything to the clipboard."""
        QGuiApplication.clipboard().setText(self.text())

    def _adapt(self) -> None:
        font = self.log.font()
        if font.family() != fixed_font() or font.pointSizeF() != self.font().pointSizeF():
            font.setFamily(fixed_font())
            font.setPointSizeF(self.font().pointSizeF())
            self.log.setFont(font)

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "copy_button"):
            self._adapt()
