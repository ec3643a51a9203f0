"""Inputs and results: files, samples, arrays. A decoder is imported when a file first needs it."""

from gpu_ops.io.files import load, replacing, save, survey
from gpu_ops.io.formats import FORMATS
from gpu_ops.io.inputs import convert, from_array
from gpu_ops.io.notes import comment_lines, lines_of
from gpu_ops.io.opening import CHOICES, Survey
from gpu_ops.io.origins import from_origin
from gpu_ops.io.regular import require_regular
from gpu_ops.io.results import Saving, save_result
from gpu_ops.io.steps.apply import (
    STEPS,
    Step,
    active_steps,
    apply_steps,
    check_step,
    find_step,
    parse_step,
    step_words,
    write_step,
)
from gpu_ops.io.steps.geometry import crop
from gpu_ops.io.steps.mapping import maps_for
from gpu_ops.io.steps.noise import NOISE, add_noise
from gpu_ops.io.steps.samples import SAMPLES, sample, with_width_first

__all__ = [
    "CHOICES",
    "FORMATS",
    "NOISE",
    "SAMPLES",
    "STEPS",
    "Saving",
    "Step",
    "Survey",
    "active_steps",
    "add_noise",
    "apply_steps",
    "check_step",
    "comment_lines",
    "convert",
    "crop",
    "find_step",
    "from_array",
    "from_origin",
    "lines_of",
    "load",
    "maps_for",
    "parse_step",
    "replacing",
    "require_regular",
    "sample",
    "save",
    "save_result",
    "step_words",
    "survey",
    "with_width_first",
    "write_step",
]
