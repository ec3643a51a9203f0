"""The form of a launch: the kernel, its device, its blocks and threads, its arguments, and what its compilation
needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QLineEdit, QWidget

from app.base.nesting import bounded
from app.models.experiment.launch_fields import SIMULATED, LaunchFields
from app.views.boxes import in_column, in_row
from app.views.labels import buddy, named
from app.views.own_kernel.argument_row import CLOSE, ArgumentRow, ShapeOf
from app.views.parts import Combo
from gpu_ops.device_names import device_place, is_simulated
from gpu_ops.own_kernels.presets import parameters
from gpu_ops.own_kernels.sources import Declared

if TYPE_CHECKING:
    from PySide6.QtWidgets import QBoxLayout


class LaunchForm(QWidget):
    """Makes fields from the parameters of a kernel; a kernel that is chosen again keeps what was typed. `edited`: the
    user has changed `fields`. `shape_of` is that of ArgumentRow."""

    edited = Signal()

    def __init__(self, shape_of: ShapeOf, parent: QWidget) -> None:
        super().__init__(parent)
        self._shape_of = shape_of
        self.rows: list[ArgumentRow] = []
        self._shown, self._kernels = LaunchFields(), tuple[Declared, ...]()
        self._declared: Declared | None = None
        self._kept: dict[tuple[str, ...], list[str]] = {}
        self.kernel = named(
            Combo(self),
            "own.kernel",
            self.tr("Kernel"),
            self.tr("A kernel; of a template an instance: sum<float>"),
        )
        self.kernel.set_letters(12)
        self.device = named(
            Combo(self),
            "own.device",
            self.tr("Device"),
            self.tr("A GPU runs and times the kernel; the simulated one counts, beside a GPU as well"),
        )
        self.grid = self._field("own.grid", self.tr("Blocks"), self.tr("Blocks of the grid: 41, 16x8 or 4x4x4"))
        self.block = self._field("own.block", self.tr("Threads"), self.tr("Threads of a block: 256 or 32x8"))
        self.cluster = self._field(
            "own.cluster",
            self.tr("Cluster"),
            self.tr("Blocks of a cluster: 2 or 2x1; empty for none, and where the kernel has __cluster_dims__"),
        )
        self.shared = self._field(
            "own.shared", self.tr("Shared bytes"), self.tr("Bytes of dynamic shared memory of a block")
        )
        self.includes = self._field(
            "own.includes",
            self.tr("Folders with headers"),
            self.tr("Folders of headers, with ; between them, also relative to the folder of the file"),
        )
        self.defines = self._field(
            "own.defines", self.tr("Macros"), self.tr("Macros of the compilation, such as N=4 TILE=16")
        )
        tip = self.tr(
            "Contents of __constant__ and __device__ variables, with blanks between them: "
            "taps=random:float32:17 sums=empty:float32:64. Arrays shows __device__ variables after the launch"
        )
        self.symbols = self._field("own.symbols", self.tr("Variables"), tip)
        self._arguments = in_column()
        in_column(*self._lines(), 1, on=self)
        self.kernel.currentTextChanged.connect(self._choose)
        self.kernel.activated.connect(self.edited)
        self.device.activated.connect(self.edited)

    def _lines(self) -> tuple[QBoxLayout, ...]:
        """The fields below their labels: names of kernels and parameters are long, and the panel may be narrow."""
        titles = {
            self.kernel: self.tr("Kernel"),
            self.device: self.tr("Device"),
            self.grid: self.tr("Blocks"),
            self.block: self.tr("Threads"),
            self.cluster: self.tr("Cluster"),
            self.shared: self.tr("Shared bytes"),
            self.symbols: self.tr("Variables"),
            self.includes: self.tr("Header folders"),
            self.defines: self.tr("Macros"),
        }
        below = {field: in_column(buddy(title, field), field, gap=CLOSE) for field, title in titles.items()}
        return (
            in_row((below[self.kernel], 2), (below[self.device], 1)),
            in_row(*((below[field], 1) for field in (self.grid, self.block, self.cluster, self.shared))),
            self._arguments,
            below[self.symbols],
            in_row((below[self.includes], 1), (below[self.defines], 1)),
        )

    def _field(self, name: str, title: str, tip: str) -> QLineEdit:
        field = named(QLineEdit(self), name, title, tip)
        field.setMinimumWidth(6 * self.fontMetrics().averageCharWidth())
        field.editingFinished.connect(self.edited)
        return field

    def show_launch(self, kernels: Sequence[Declared], fields: LaunchFields, devices: Sequence[str]) -> None:
        """Show a launch; the file has these `kernels`, and it can run on these `devices` besides the simulated one."""
        self._shown, self._kernels = fields, tuple(kernels)
        texts = [k.first_instance for k in kernels]
        with QSignalBlocker(self.kernel):
            if [self.kernel.itemText(place) for place in range(self.kernel.count())] != texts:
                self.kernel.clear()
                self.kernel.addItems(texts)
                self.kernel.setEditable(any(k.template for k in kernels))
                if editor := self.kernel.lineEdit():
                    editor.editingFinished.connect(self.edited)
            if fields.kernel and self._find(fields.kernel) is not None:
                self.kernel.setCurrentText(fields.kernel)
        self._show_devices(fields.device, devices)
        for field, text in (
            (self.grid, fields.grid),
            (self.block, fields.block),
            (self.cluster, fields.cluster),
            (self.shared, fields.shared),
            (self.symbols, " ".join(fields.symbols)),
            (self.includes, "; ".join(fields.includes)),
            (self.defines, " ".join(fields.defines)),
        ):
            if field.text() != text:
                field.setText(text)
        self._make_rows()
        for row, argument in zip(self.rows, fields.arguments, strict=False):
            row.set_text(argument)

    def _show_devices(self, device: str, devices: Sequence[str]) -> None:
        names = dict.fromkeys((*SIMULATED, *devices, device))
        self.device.clear()
        for name in names:
            if is_simulated(name):
                text = self.tr("simulated {what}").format(what=device_place(name) or self.tr("GPU"))
            else:
                text = name if name in devices else self.tr("{name}, which is not here").format(name=name)
            self.device.addItem(text, name)
        self.device.setCurrentIndex(self.device.findData(device))

    def _find(self, text: str) -> Declared | None:
        return next((k for k in self._kernels if k.is_meant(text.strip())), None)

    @Slot(str)
    @bounded
    def _choose(self, _: str) -> None:
        """The user has chosen a kernel: show its fields, with what was typed there before."""
        self._make_rows()
        kept = self._kept.get(self._declared.params, []) if self._declared else []
        for row, argument in zip(self.rows, kept, strict=False):
            row.set_text(argument)

    def _make_rows(self) -> None:
        """Make the rows of the chosen kernel where they are those of another one."""
        if self._declared is not None and self.rows:
            self._kept[self._declared.params] = [row.text for row in self.rows]
        text = self.kernel.currentText()
        self._declared = self._find(text)
        wanted = parameters(self._declared, text) if self._declared else ()
        if wanted == tuple(row.parameter for row in self.rows):
            for row in self.rows:
                row.show_fields()
            return
        while (item := self._arguments.takeAt(0)) is not None:
            if widget := item.widget():
                widget.setParent(None)
                widget.deleteLater()
        self.rows = []
        for place, parameter in enumerate(wanted):
            row = ArgumentRow(parameter, place, self._shape_of, self)
            row.edited.connect(self.edited)
            self._arguments.addWidget(row)
            self.rows.append(row)

    @property
    def fields(self) -> LaunchFields:
        """What the form says."""
        return LaunchFields(
            path=self._shown.path,
            kernel=self.kernel.currentText().strip(),
            grid=self.grid.text(),
            block=self.block.text(),
            cluster=self.cluster.text(),
            shared=self.shared.text(),
            arguments=tuple(row.text for row in self.rows),
            symbols=tuple(self.symbols.text().split()),
            includes=tuple(part.strip() for part in self.includes.text().split(";") if part.strip()),
            defines=tuple(self.defines.text().split()),
            device=str(self.device.currentData()),
        )
