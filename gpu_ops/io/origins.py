"""Recreates inputs from their origin."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gpu_ops.errors import InputError, plain
from gpu_ops.io.files import LIMIT, load, same_file
from gpu_ops.io.images.dicom_slices import ORDER
from gpu_ops.io.images.stored import STORED_STEPS
from gpu_ops.io.opening import NOTE
from gpu_ops.io.steps.apply import STEPS, apply_steps
from gpu_ops.io.steps.samples import sample
from gpu_ops.types import Input

DECODING = ("upright", "physical", "part", "nonfinite", "project", ORDER, NOTE, "times", *STORED_STEPS)
"""Steps of the reader, which are repeated by reading the file again."""


def of_frame(origin: Mapping[str, Any], frame: int) -> dict[str, Any]:
    """The origin of another frame of the same stack, with the same steps except a projection."""
    choices = {key: value for key, value in origin.get("choices", {}).items() if key != "project"}
    steps = [step for step in origin.get("steps", ()) if step.get("step") != "project"]
    return {**origin, "choices": {**choices, "frame": frame}, "steps": steps}


def from_origin(
    origin: Mapping[str, Any], *, limit: int = LIMIT, result: Callable[[Mapping[str, Any]], Input] | None = None
) -> Input:
    """The Input that `origin` describes: its file or sample, then its steps; `limit` is as in load(). `result`
    recreates an input that is a result of a filter, see gpu_ops.running.recreate.

    Raises InputError when the file has changed since, when the input was created from an array, or for an unknown step.
    """
    steps = origin.get("steps", ())
    known = (*DECODING, *(step.id for step in STEPS))
    unknown = [step.get("step") for step in steps if step.get("step") not in known]
    if unknown:
        raise InputError(f"The step {plain(unknown[0], 40)} of this origin is unknown; choose from {', '.join(known)}.")
    rules = [step["rule"] for step in steps if step["step"] == "nonfinite"]
    if "path" in origin:
        how = {"kind": origin.get("kind"), "nonfinite": rules[0] if rules else "refuse", **origin.get("choices", {})}
        made = load(origin["path"], limit=limit, **how)
        if not same_file(origin["path"], made.origin["hash"], origin.get("hash")):
            raise InputError(f"{plain(origin['path'])} has changed since; bring the old file back or load it again.")
    elif "generator" in origin:
        options = {key: value for key, value in origin.items() if key not in ("generator", "steps")}
        made = sample(origin["generator"], **options)
    elif "result" in origin and result is not None:
        made = result(origin)
    elif "result" in origin:
        what = plain(origin["result"], 40)
        raise InputError(f"This input is a result of {what}; run {what} on its original again, or save it to a file.")
    else:
        raise InputError("This input was made from an array, which its origin does not keep; save it to a file first.")
    return apply_steps(made, [step for step in steps if step["step"] not in DECODING])
