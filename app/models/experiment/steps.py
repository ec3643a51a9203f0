"""The steps between an input as it was opened and the filter, in words and for editing. No widgets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QCoreApplication

from app.base.numbers import shown
from app.models.experiment.noise import Noise
from gpu_ops import STEPS, KernelscopeError, active_steps, check_step, find_step
from gpu_ops.input_kinds import INPUT_KINDS, Kind

Steps = tuple[Mapping[str, Any], ...]

GAUSSIAN = "noise"
"""The step that the noise tick box adds and removes."""


def kept_steps(steps: Steps, kind: Kind) -> Steps:
    """The steps that are applied to the next input too: all but noise, or none where a step or a value does not suit
    its kind."""
    staying = tuple(step for step in steps if not find_step(step["step"]).noise)
    try:
        return tuple(check_step(step, kind) for step in staying)
    except KernelscopeError:
        return ()


def noise_of(steps: Sequence[Mapping[str, Any]]) -> Noise | None:
    """The normal noise at the end of the steps; None without it."""
    last = steps[-1] if steps else {}
    if last.get("step") != GAUSSIAN or last.get("off"):
        return None
    return Noise(last["sigma"], last["seed"])


def with_noise(steps: Steps, noise: Noise | None) -> Steps:
    """The steps with this noise at the end, instead of the present noise."""
    others = steps[:-1] if steps and steps[-1]["step"] == GAUSSIAN else steps
    return others if noise is None else (*others, {"step": GAUSSIAN, "sigma": noise.sigma, "seed": noise.seed})


def first_values(id: str, kind: Kind, shape: Sequence[int]) -> dict[str, Any]:
    """A new step for an input of that kind and shape: a crop starts as the whole, a size as the present one."""
    names = {p.name for p in find_step(id).params[kind]}
    extents = list(INPUT_KINDS[kind].spatial(tuple(shape)))
    return check_step({"step": id, **({"shape": extents} if "shape" in names else {})}, kind)


def inside(steps: Sequence[Mapping[str, Any]], place: int, extents: Sequence[int]) -> dict[str, Any]:
    """The step at this index; a crop is limited to the size that the steps before it leave of `extents`, unless only
    the engine knows that size, as after a free rotation."""
    step = dict(steps[place])
    before = _extents_after(active_steps(steps[:place]), extents)
    if step["step"] == "crop" and before is not None:
        step["start"] = [min(int(a), n - 1) for a, n in zip(step["start"], before, strict=True)]
        room = [n - a for a, n in zip(step["start"], before, strict=True)]
        step["shape"] = [min(int(a), n) for a, n in zip(step["shape"], room, strict=True)]
    return step


def _extents_after(steps: Sequence[Mapping[str, Any]], extents: Sequence[int]) -> list[int] | None:
    found = list(extents)
    for step in steps:
        if step["step"] == "crop":
            found = list(step["shape"])
        elif step["step"] == "resize" and step["by"] == "size":
            found = list(step["size"])
        elif step["step"] == "rotate" and step["angle"] % 90 == 0:
            found = found[::-1] if step["angle"] % 180 else found
        elif step["step"] in ("resize", "rotate"):
            return None
    return found


def offered(kind: Kind) -> tuple[Any, ...]:
    """The steps that are available for this kind of input."""
    return tuple(step for step in STEPS if kind in step.kinds)


def step_title(step: Any) -> str:
    return QCoreApplication.translate("Steps", step.title)


def step_text(step: Mapping[str, Any]) -> str:
    """A step in a few words: "crop 200 × 100 at x 20, y 10"."""
    words = QCoreApplication.translate("Steps", find_step(step["step"]).words(step))
    return words.format(**{name: _word(name, value) for name, value in step.items()})


def _word(name: str, value: Any) -> str:
    if isinstance(value, list | tuple):
        extents = [shown(float(n), "g", 6) for n in reversed(value)]
        if name == "start" and len(extents) == 2:
            return QCoreApplication.translate("Steps", "x {x}, y {y}").format(x=extents[0], y=extents[1])
        return " × ".join(extents)
    if isinstance(value, float):
        return shown(value, "g", 4)
    return shown(value) if isinstance(value, int) and not isinstance(value, bool) else str(value)


def steps_text(shared: Any) -> str:
    """The steps that were applied to an input since it was opened: "noise σ 20"; "" for none."""
    known = {step.id for step in STEPS if step.titled}
    return " + ".join(step_text(step) for step in shared.origin.get("steps", ()) if step.get("step") in known)


def title_with_steps(shared: Any) -> str:
    """An input's name with its steps: "camera + noise σ 20"."""
    return " + ".join(text for text in (shared.name, steps_text(shared)) if text)
