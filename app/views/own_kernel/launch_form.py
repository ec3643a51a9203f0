"""The form of a launch: the kernel, its blocks and threads, its arguments, and what its compilation needs."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QGridLayout, QLineEdit, QWidget

from app.models.own_launch import LaunchFields
from app.views.boxes import in_column, in_row
from app.views.labels import buddy, named
from app.views.own_kernel.argument_row import ArgumentRow
from app.views.parts import Combo, ElidedLabel
from gpu_ops.own_kernels.presets import BLOCK, LENGTH, blocks_for, parameters
from gpu_ops.own_kernels.sources import Declared


class LaunchForm(QWidget):
    """Makes fields from the parameters of a kernel; a kernel that is chosen again keeps what was typed."""

    includes_changed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.rows: list[ArgumentRow] = []
        self._kernels: tuple[Declared, ...] = ()
        self._declared: Declared | None = None
        self._kept: dict[tuple[str, ...], list[str]] = {}
        self.kernel = named(
            Combo(self),
            "own.kernel",
            self.tr("Kernel"),
            self.tr("A kernel; of a template an instance: sum<float>"),
        )
        self.grid = self._field("own.grid", self.tr("Blocks"), self.tr("Blocks of the grid: 41, 16x8 or 4x4x4"))
        self.block = self._field("own.block", self.tr("Threads"), self.tr("Threads of a block: 256 or 32x8"))
        self.shared = self._field(
            "own.shared", self.tr("Shared bytes"), self.tr("Bytes of dynamic shared memory of a block")
        )
        self.includes = self._field(
            "own.includes",
            self.tr("Folders with headers"),
            self.tr("Folders of headers, with ; between them"),
        )
        self.defines = self._field(
            "own.defines", self.tr("Macros"), self.tr("Macros of the compilation, such as N=4 TILE=16")
        )
        self.grid.setText(str(blocks_for(LENGTH)))
        self.block.setText(str(BLOCK))
        self.shared.setText("0")
        self._arguments = QGridLayout()
        self._arguments.setColumnStretch(1, 1)
        launch = in_row(
            buddy(self.tr("Blocks"), self.grid),
            (self.grid, 1),
            buddy(self.tr("Threads"), self.block),
            (self.block, 1),
            buddy(self.tr("Shared bytes"), self.shared),
            (self.shared, 1),
        )
        compiled = in_row(
            buddy(self.tr("Header folders"), self.includes),
            (self.includes, 1),
            buddy(self.tr("Macros"), self.defines),
            (self.defines, 1),
        )
        kernel = in_row(buddy(self.tr("Kernel"), self.kernel), (self.kernel, 1))
        in_column(kernel, launch, self._arguments, compiled, on=self)
        self.kernel.currentTextChanged.connect(self._choose)
        self.includes.editingFinished.connect(self.includes_changed)

    def _field(self, name: str, title: str, tip: str) -> QLineEdit:
        field = named(QLineEdit(self), name, title, tip)
        field.setMinimumWidth(6 * self.fontMetrics().averageCharWidth())
        return field

    def show_kernels(self, kernels: Sequence[Declared]) -> None:
        """Offer these kernels; the chosen one stays where it is among them."""
        before, self._kernels = self.kernel.currentText(), tuple(kernels)
        texts = [f"{k.name}<float>" if k.template else k.name for k in kernels]
        self.kernel.blockSignals(True)
        self.kernel.clear()
        self.kernel.setEditable(any(k.template for k in kernels))
        self.kernel.addItems(texts)
        if self._find(before) is not None:
            self.kernel.setCurrentText(before)
        self.kernel.blockSignals(False)
        self._choose()

    def _find(self, text: str) -> Declared | None:
        return next((k for k in self._kernels if k.name == text.split("<")[0].strip()), None)

    @Slot()
    def _choose(self) -> None:
        """Show the fields of the chosen kernel."""
        if self._declared is not None and self.rows:
            self._kept[self._declared.params] = [row.text for row in self.rows]
        while (item := self._arguments.takeAt(0)) is not None:
            if widget := item.widget():
                widget.setParent(None)
                widget.deleteLater()
        text = self.kernel.currentText()
        self._declared, self.rows = self._find(text), []
        for place, parameter in enumerate(parameters(self._declared, text) if self._declared else ()):
            row = ArgumentRow(parameter, place, self)
            label = ElidedLabel(parameter.declaration.replace("__restrict__ ", ""), self)
            label.setBuddy(row.value)
            self._arguments.addWidget(label, place, 0)
            self._arguments.addWidget(row, place, 1)
            self.rows.append(row)
        kept = self._kept.get(self._declared.params, []) if self._declared else []
        for row, argument in zip(self.rows, kept, strict=False):
            row.set_text(argument)

    @property
    def fields(self) -> LaunchFields:
        """What the form says."""
        return LaunchFields(
            kernel=self.kernel.currentText().strip(),
            grid=self.grid.text(),
            block=self.block.text(),
            shared=self.shared.text(),
            arguments=tuple(row.text for row in self.rows),
            includes=tuple(part.strip() for part in self.includes.text().split(";") if part.strip()),
            defines=tuple(self.defines.text().split()),
        )
