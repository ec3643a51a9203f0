"""A line of a shipped kernel that does right what a finding is about."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.views.boxes import in_column
from app.views.labels import named, sentence_label
from app.views.xray.source_view import SourceView
from gpu_ops.devices.kernel_source import read_source
from gpu_ops.own_kernels.mending import Example


class ExampleView(QWidget):
    """Shows the file of an example, with its line in view and marked."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.about = sentence_label(f"{name}.about", self)
        self.source = named(SourceView(self), f"{name}.source", title=self.tr("Source of a shipped kernel"))
        gap = self.fontMetrics().averageCharWidth()
        in_column(self.about, (self.source, 1), on=self, margins=(0, gap, 0, 0))

    def show_example(self, example: Example) -> None:
        """Show the line of this example."""
        text = self.tr("{variant}, as shipped: line {line} of {file} does it right.")
        self.about.setText(text.format(variant=example.title, line=example.line, file=example.path))
        self.source.show_source(read_source(example.path).rstrip("\n"), {}, lambda line: ())
        self.source.go_to(example.line)
