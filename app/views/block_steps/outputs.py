"""The page of what a block has written, in both orders of its warps where there are two."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QWidget

from app.models.xray.block_outputs import Written
from app.models.xray.block_reader import BlockReader
from app.views.block_steps.output_view import OutputView
from app.views.boxes import in_column, in_row
from app.views.labels import named, sentence_label
from app.views.parts import Combo
from gpu_ops.devices.sim.block_run.compared import BlockSteps, different_cells
from gpu_ops.devices.sim.block_run.run import BlockRun, Buffer


class OutputPage(QWidget):
    """One array that the block writes, and next to it the same one after all steps of the other order."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.arrays = named(Combo(self), "block.array", title=self.tr("Array that the block writes"))
        self.nothing = QLabel(self.tr("The block writes no array."), self)
        self.heads = [sentence_label(f"block.head.{name}", self) for name in ("now", "other")]
        self.views = [OutputView(f"block.output.{name}", self) for name in ("now", "other")]
        columns = [in_column(head, (view, 1)) for head, view in zip(self.heads, self.views, strict=True)]
        in_column(in_row(self.arrays, self.nothing, 1), (in_row(*((c, 1) for c in columns)), 1), on=self)
        self._content: BlockSteps | None = None
        self._reader: BlockReader | None = None
        self._step = 0
        self.arrays.activated.connect(lambda _: self._choose())

    def show_content(self, content: BlockSteps) -> None:
        """Show the arrays of this record."""
        self._content, self._reader = content, None
        names = [one.name for one in content.run.buffers]
        if names != [self.arrays.itemText(n) for n in range(self.arrays.count())]:
            self.arrays.clear()
            self.arrays.addItems(names)
        self.arrays.setVisible(len(names) > 1)
        self.nothing.setVisible(not names)

    def show_step(self, reader: BlockReader, step: int) -> None:
        """Show the array after a step; next to it what the other order leaves."""
        other, self._reader, self._step = reader is not self._reader, reader, step
        if other:
            self._choose()
        else:
            self.views[0].show_step(reader, step)

    def _choose(self) -> None:
        content, reader = self._content, self._reader
        if content is None or reader is None:
            return
        name, usual = self.arrays.currentText(), reader.run is content.run
        against = content.other if usual else content.run
        here, there = _buffer(reader.run, name), _buffer(against, name) if against is not None else None
        different = set(different_cells(content.run, content.other).get(name, ())) if content.other else set()
        self.views[0].show_written(Written(here) if here is not None else None, different)
        self.views[1].show_written(Written(there) if there is not None else None, different)
        self.heads[0].setText(self.tr("{name} after this step").format(name=name))
        ends = (
            self.tr("{name} as the other order leaves it") if usual else self.tr("{name} as the usual order leaves it")
        )
        self.heads[1].setText(ends.format(name=name))
        for part in (self.heads[1], self.views[1]):
            part.setVisible(there is not None)
        self.heads[0].setVisible(here is not None)
        self.views[0].show_step(reader, self._step)
        if there is not None and against is not None:
            self.views[1].show_step(BlockReader(against), against.steps)


def _buffer(run: BlockRun, name: str) -> Buffer | None:
    return next((one for one in run.buffers if one.name == name), None)
