"""The catalogue of stages: the parts of a run that are timed. To add a stage, add one entry here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Hint = Literal["duration"]
"""How to print a value: with a suitable unit prefix."""


@dataclass(frozen=True)
class Stage:
    """A stage. `id` is its key in reports; `name` follows a time and is used in legends, `column` is the heading of a
    table's column; `description` is one sentence. `on_cpu` is its name on the CPU if that differs, `with_copies` its
    name and column if the steps that it times also copy from and to host memory."""

    id: str
    name: str
    column: str
    description: str
    unit: str = "s"
    hint: Hint = "duration"
    on_cpu: str = ""
    with_copies: str = ""


STAGES: Mapping[str, Stage] = {
    stage.id: stage
    for stage in (
        Stage(
            "kernel",
            "kernel",
            "kernel",
            "Median time of the steps alone, without copies; of transfers, whose steps are copies as well, with them.",
            on_cpu="computing",
            with_copies="end to end",
        ),
        Stage("upload", "upload", "upload", "The copy of the input from pageable memory to the device."),
        Stage("download", "download", "download", "A copy of the same size from the device to pageable memory."),
        Stage(
            "elapsed", "end to end", "end to end", "Including the copies to and from the device, in pageable memory."
        ),
        Stage(
            "elapsed_pinned",
            "end to end, pinned",
            "pinned",
            "End to end with pinned memory, from which the GPU copies directly.",
        ),
        Stage(
            "elapsed_streamed",
            "end to end, streamed",
            "streamed",
            "End to end with pinned memory in chunks of 4 MiB in three streams, so that uploads, kernels and downloads "
            "overlap.",
        ),
        Stage("enqueue", "enqueue", "enqueue", "The host time to enqueue one step."),
        Stage("compile", "compile", "compile", "Compiling the kernels, which happens once."),
    )
}
"""Every stage by id, in display order."""
END_TO_END = ("elapsed", "elapsed_pinned", "elapsed_streamed")
"""The stages that include the copies, by kind of host memory and of overlap."""


def stage_name(id: str, device: str = "", end_to_end: bool = False) -> str:
    """The name of a stage on a device, for plans that copy `end_to_end` or for others; for an unknown id of a newer
    report, the words of the id."""
    stage = STAGES.get(id)
    if stage is None:
        return id.replace("_", " ")
    if device == "cpu":
        return stage.on_cpu or stage.name
    return (end_to_end and stage.with_copies) or stage.name


def stage_column(id: str, end_to_end: bool = False) -> str:
    """The heading of a stage's column, for plans that copy `end_to_end` or for others."""
    stage = STAGES[id]
    return (end_to_end and stage.with_copies) or stage.column
