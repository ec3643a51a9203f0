"""Kernelscope's engine: filters, variants, devices and measurement, usable without the window from Python or a
shell."""

from __future__ import annotations

from importlib import import_module
from inspect import isfunction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpu_ops.errors import public
from gpu_ops.loop_cache import settle_loop_cache, settle_loop_threads
from gpu_ops.version import __version__ as __version__

settle_loop_cache(Path(__file__).parent)
settle_loop_threads()

if TYPE_CHECKING:
    from gpu_ops.batch.apart import BatchProcess
    from gpu_ops.batch.events import BatchEvent, BatchRun
    from gpu_ops.batch.spec import BatchSpec
    from gpu_ops.devices import device_statuses, open_device
    from gpu_ops.doctor.window_needs import screen_fault, window_fault
    from gpu_ops.errors import DeviceError, InputError, KernelError, KernelscopeError, ParamError, WrongResult
    from gpu_ops.explaining.figures import DrawnFigure, draw_figures
    from gpu_ops.explaining.judging import judge_by_reports, recorded_reports
    from gpu_ops.explaining.law_counts import recorded_steps
    from gpu_ops.filters import FILTERS, find_filter
    from gpu_ops.filters.layout.gallery import layout_pictures
    from gpu_ops.io import (
        FORMATS,
        NOISE,
        SAMPLES,
        STEPS,
        Saving,
        active_steps,
        add_noise,
        apply_steps,
        check_step,
        comment_lines,
        convert,
        find_step,
        from_array,
        lines_of,
        load,
        maps_for,
        parse_step,
        replacing,
        require_regular,
        sample,
        save,
        step_words,
        with_width_first,
        write_step,
    )
    from gpu_ops.notebook.view import view
    from gpu_ops.plan import DEFAULT_STREAM, Span
    from gpu_ops.report.files import read_report, report_of, write_report
    from gpu_ops.report.provenance import machine
    from gpu_ops.running.applying import apply, forget_plans
    from gpu_ops.running.quality import structural_similarity
    from gpu_ops.running.recreate import from_origin
    from gpu_ops.running.runner import default_picks, run_experiment
    from gpu_ops.types import Experiment, Input, Pick, Run

_HOMES = {
    "apply": "running.applying",
    "BatchEvent": "batch.events",
    "BatchProcess": "batch.apart",
    "BatchRun": "batch.events",
    "BatchSpec": "batch.spec",
    "forget_plans": "running.applying",
    "FILTERS": "filters",
    "find_filter": "filters",
    "layout_pictures": "filters.layout.gallery",
    "Experiment": "types",
    "Input": "types",
    "Pick": "types",
    "Run": "types",
    "DeviceError": "errors",
    "InputError": "errors",
    "KernelError": "errors",
    "KernelscopeError": "errors",
    "ParamError": "errors",
    "WrongResult": "errors",
    "FORMATS": "io",
    "NOISE": "io",
    "SAMPLES": "io",
    "STEPS": "io",
    "Saving": "io",
    "comment_lines": "io",
    "lines_of": "io",
    "maps_for": "io",
    "replacing": "io",
    "require_regular": "io",
    "add_noise": "io",
    "active_steps": "io",
    "apply_steps": "io",
    "check_step": "io",
    "find_step": "io",
    "parse_step": "io",
    "step_words": "io",
    "with_width_first": "io",
    "write_step": "io",
    "conversions": "io.steps.tones",
    "convert": "io",
    "from_array": "io",
    "load": "io",
    "sample": "io",
    "save": "io",
    "device_statuses": "devices",
    "open_device": "devices",
    "default_picks": "running.runner",
    "DrawnFigure": "explaining.figures",
    "draw_figures": "explaining.figures",
    "DEFAULT_STREAM": "plan",
    "Span": "plan",
    "read_report": "report.files",
    "report_of": "report.files",
    "run_experiment": "running.runner",
    "structural_similarity": "running.quality",
    "from_origin": "running.recreate",
    "judge_by_reports": "explaining.judging",
    "machine": "report.provenance",
    "recorded_reports": "explaining.judging",
    "recorded_steps": "explaining.law_counts",
    "screen_fault": "doctor.window_needs",
    "window_fault": "doctor.window_needs",
    "view": "notebook.view",
    "write_report": "report.files",
}
__all__ = [
    "DEFAULT_STREAM",
    "FILTERS",
    "FORMATS",
    "NOISE",
    "SAMPLES",
    "STEPS",
    "BatchEvent",
    "BatchProcess",
    "BatchRun",
    "BatchSpec",
    "DeviceError",
    "DrawnFigure",
    "Experiment",
    "Input",
    "InputError",
    "KernelError",
    "KernelscopeError",
    "ParamError",
    "Pick",
    "Run",
    "Saving",
    "Span",
    "WrongResult",
    "active_steps",
    "add_noise",
    "apply",
    "apply_steps",
    "check_step",
    "comment_lines",
    "conversions",
    "convert",
    "default_picks",
    "device_statuses",
    "draw_figures",
    "find_filter",
    "find_step",
    "forget_plans",
    "from_array",
    "from_origin",
    "judge_by_reports",
    "layout_pictures",
    "lines_of",
    "load",
    "machine",
    "maps_for",
    "open_device",
    "parse_step",
    "read_report",
    "recorded_reports",
    "recorded_steps",
    "replacing",
    "report_of",
    "require_regular",
    "run_experiment",
    "sample",
    "save",
    "screen_fault",
    "step_words",
    "structural_similarity",
    "view",
    "window_fault",
    "with_width_first",
    "write_report",
    "write_step",
]


def __getattr__(name: str) -> Any:
    """Import public names on first access, so that importing the package itself is cheap."""
    if name not in _HOMES:
        raise AttributeError(f"module 'gpu_ops' has no attribute {name!r}")
    value = getattr(import_module(f"gpu_ops.{_HOMES[name]}"), name)
    if isfunction(value):
        value = public(value)
        value.__module__, value.__qualname__ = __name__, name  # so that pickle finds it
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, imported or not."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
