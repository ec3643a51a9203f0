"""Inputs and results: files, samples, arrays. A decoder is imported when a file first needs it."""

from gpu_ops.io.crop import crop
from gpu_ops.io.files import FORMATS, load, replacing, save, survey
from gpu_ops.io.inputs import convert, from_array
from gpu_ops.io.mapping import maps_for
from gpu_ops.io.noise import NOISE, add_noise
from gpu_ops.io.notes import comment_lines, lines_of
from gpu_ops.io.opening import CHOICES, Survey
from gpu_ops.io.origins import from_origin
from gpu_ops.io.regular import require_regular
from gpu_ops.io.results import Saving, save_result
from gpu_ops.io.samples import SAMPLES, sample

__all__ = [
    "CHOICES",
    "FORMATS",
    "NOISE",
    "SAMPLES",
    "Saving",
    "Survey",
    "add_noise",
    "comment_lines",
    "convert",
    "crop",
    "from_array",
    "from_origin",
    "lines_of",
    "load",
    "maps_for",
    "replacing",
    "require_regular",
    "sample",
    "save",
    "save_result",
    "survey",
]
