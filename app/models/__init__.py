"""Models: QObjects that hold values and emit; no widgets."""
