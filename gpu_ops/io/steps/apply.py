"""Every step that an input can go through before a filter, in one list. Forms, flags and origins are derived from it.

A step is a mapping: {"step": its id, **values}, as in origin["steps"]. With "off": True it is left out.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gpu_ops.errors import ParamError, plain
from gpu_ops.input_kinds import IMAGE, INPUT_KINDS, SIGNAL, Kind
from gpu_ops.io.inputs import enough_memory
from gpu_ops.io.steps.geometry import crop, flip, resize, rotate
from gpu_ops.io.steps.noise import SEED, SIGMA, add_noise, poisson, salt_and_pepper
from gpu_ops.io.steps.tones import WEIGHTS, change_type, gray, invert, normalise
from gpu_ops.params import Param, Value, Values, check_values, nearest
from gpu_ops.progress import stage
from gpu_ops.types import DTYPES, Input

MOST = 1 << 30


@dataclass(frozen=True)
class Step:
    """A step. `params` has the parameters by each kind of input that it takes. `apply(input, values)` returns the
    changed input, or the input itself where nothing changes. `words(values)` is a short text with placeholders for the
    values, such as "rotate {angle}°". `noise` says that the input before the step is the noise-free original, and
    `titled` that the title of an input includes the step.
    """

    id: str
    title: str
    params: Mapping[Kind, tuple[Param, ...]]
    apply: Callable[[Input, Values], Input]
    words: Callable[[Values], str]
    help: str
    noise: bool = False
    titled: bool = True

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of inputs that it takes."""
        return tuple(self.params)


def _both(*params: Param) -> dict[Kind, tuple[Param, ...]]:
    return {IMAGE.id: params, SIGNAL.id: params}


def _crop_params(rank: int) -> tuple[Param, ...]:
    places, sides = ("row and column", "rows and columns") if rank == 2 else ("sample", "samples")
    return (
        Param("start", (0.0,) * rank, 0, MOST, 1, help=f"first {places}, counted from 0"),
        Param("shape", (256.0,) * rank, 1, MOST, 1, help=f"how many {sides}"),
    )


def _resize_params(rank: int, methods: tuple[str, ...], help: str) -> tuple[Param, ...]:
    sides = "rows and columns" if rank == 2 else "samples"
    return (
        Param("by", "factor", choices=("factor", "size"), help="what is given: a factor, or the new size"),
        Param("factor", 0.5, 0.001, 1000.0, help="the new size over the old one", when={"by": ("factor",)}),
        Param("size", (256.0,) * rank, 1, MOST, 1, help=f"how many {sides}", when={"by": ("size",)}),
        Param("method", methods[0], choices=methods, help=help),
    )


_IMAGE_METHODS = "nearest copies pixels, area averages those that become one, linear and cubic interpolate"
_SIGNAL_METHODS = "polyphase filters at a simple ratio of rates, fourier takes the signal for periodic"
_SEED = replace(SEED, name="seed")


STEPS: tuple[Step, ...] = (
    Step(
        "crop",
        "Crop",
        {IMAGE.id: _crop_params(2), SIGNAL.id: _crop_params(1)},
        lambda input, v: crop(input, [int(n) for n in v["start"]], [int(n) for n in v["shape"]]),
        lambda v: "crop {shape} at {start}",
        "a part of the input",
    ),
    Step(
        "resize",
        "Resize",
        {
            IMAGE.id: _resize_params(2, ("linear", "nearest", "area", "cubic"), _IMAGE_METHODS),
            SIGNAL.id: _resize_params(1, ("polyphase", "fourier"), _SIGNAL_METHODS),
        },
        resize,
        lambda v: "resize × {factor}" if v["by"] == "factor" else "resize to {size}",
        "more or fewer pixels of the same picture; a signal is resampled, and its rate follows",
    ),
    Step(
        "rotate",
        "Rotate",
        {
            IMAGE.id: (
                Param("angle", 90.0, -360.0, 360.0, unit="°", help="against the clock; multiples of 90 are exact"),
                Param("method", "linear", choices=("linear", "nearest", "cubic"), help="how other angles interpolate"),
                Param("whole", True, help="enlarge the image so that no corner is cut"),
                Param("fill", 0.0, -1e30, 1e30, help="the value outside of the picture"),
            )
        },
        rotate,
        lambda v: "rotate {angle}°",
        "the image turned by an angle",
    ),
    Step(
        "flip",
        "Flip",
        {
            IMAGE.id: (
                Param("axis", "left-right", choices=("left-right", "top-bottom"), help="which sides are exchanged"),
            ),
            SIGNAL.id: (),
        },
        flip,
        lambda v: "flip {axis}" if "axis" in v else "reverse",
        "the mirror image; a signal runs backwards",
    ),
    Step(
        "gray",
        "Gray",
        {
            IMAGE.id: (
                Param("weights", "rec601", choices=tuple(WEIGHTS), help="the shares of red, green and blue; no alpha"),
            )
        },
        gray,
        lambda v: "gray",
        "a colour image with one value a pixel",
    ),
    Step("invert", "Invert", _both(), invert, lambda v: "invert", "the negative; a signal of floats changes its sign"),
    Step(
        "normalise",
        "Normalise",
        _both(
            Param(
                "to",
                "full range",
                choices=("full range", "unit", "standard", "percentiles"),
                help="full range of the type; unit is 0 to 1; standard is mean 0 and deviation 1; percentiles cut both "
                "ends. Unit and standard make float32 of integers",
            ),
            Param("low", 1.0, 0.0, 100.0, unit="%", help="it becomes the lowest value", when={"to": ("percentiles",)}),
            Param(
                "high", 99.0, 0.0, 100.0, unit="%", help="it becomes the highest value", when={"to": ("percentiles",)}
            ),
        ),
        normalise,
        lambda v: "normalise, {to}" if v["to"] != "percentiles" else "normalise, {low} % to {high} %",
        "the values stretched to a known range",
    ),
    Step(
        "convert",
        "Convert the type",
        _both(
            Param("dtype", "float32", choices=DTYPES, help="the type of the values"),
            Param(
                "how",
                "keep",
                choices=("keep", "round", "scale"),
                help="keep the values exactly; round and saturate them; or scale, where 0 to 1 of floats is the whole "
                "range of integers",
            ),
        ),
        change_type,
        lambda v: "{dtype}" if v["how"] == "keep" else "{dtype}, {how}",
        "another type of values: float32 keeps the negative edges that a gradient has",
        titled=False,
    ),
    Step(
        "noise",
        "Gaussian noise",
        _both(replace(SIGMA, name="sigma", default=20.0, help="standard deviation, in the input's unit"), _SEED),
        lambda input, v: add_noise(input, v["sigma"], v["seed"]),
        lambda v: "noise σ {sigma}",
        "normal noise on each value",
        noise=True,
    ),
    Step(
        "salt-pepper",
        "Salt-and-pepper noise",
        _both(Param("share", 0.05, 0.0, 1.0, help="of the pixels or samples; half become white, half black"), _SEED),
        salt_and_pepper,
        lambda v: "salt and pepper {share}",
        "some pixels or samples at the ends of the range",
        noise=True,
    ),
    Step(
        "poisson",
        "Poisson noise",
        _both(Param("scale", 1.0, 1e-6, 1e12, help="photons per value of 1; fewer are noisier"), _SEED),
        poisson,
        lambda v: "Poisson noise, scale {scale}",
        "the noise of counted photons",
        noise=True,
    ),
)
"""In the order of the menus."""


def find_step(id: object) -> Step:
    """The step with this id. Raises ParamError that names all steps."""
    for step in STEPS:
        if step.id == id:
            return step
    names = [step.id for step in STEPS]
    hint = nearest(id, names) if isinstance(id, str) else ""
    raise ParamError(f"There is no step {plain(id, 40)!r}{hint}; the steps are {', '.join(names)}.")


def check_step(step: Mapping[str, Any], kind: Kind) -> dict[str, Any]:
    """The step with all relevant values, each checked, in JSON's types.

    A value implies the values that it depends on: a size implies "by size". Raises ParamError for an unknown step or
    value, for values that exclude one another, and for a step that this kind of input does not support.
    """
    own = find_step(step.get("step"))
    if kind not in own.params:
        takers = " or ".join(INPUT_KINDS[k].title for k in own.kinds)
        raise ParamError(f"The step {own.id} takes {takers}, and the input is {INPUT_KINDS[kind].title}; leave it out.")
    params = own.params[kind]
    given = {key: value for key, value in step.items() if key not in ("step", "off")}
    for param in params:
        if param.name in given:
            given = {**{other: allowed[0] for other, allowed in param.when.items()}, **given}
    checked = check_values(params, given, f"The step {own.id}")
    ignored = [p for p in params if p.name in step and not p.matters(checked)]
    if ignored:
        needs = " and ".join(f"{name}={allowed[0]}" for name, allowed in ignored[0].when.items())
        raise ParamError(f"{ignored[0].name} of the step {own.id} matters only with {needs}; leave one of them out.")
    values = {p.name: _as_json(p, checked[p.name]) for p in params if p.matters(checked)}
    return {"step": own.id, **values, **({"off": True} if step.get("off") else {})}


def active_steps(steps: Iterable[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    """The steps that are not switched off."""
    return tuple(step for step in steps if not step.get("off"))


def apply_steps(input: Input, steps: Sequence[Mapping[str, Any]]) -> Input:
    """The input after these steps, each recorded in its origin; steps that are switched off are left out.

    The noise-free original goes through every step except noise. Raises ParamError for an unknown step, a value outside
    its limits and a step that the input's kind cannot take; InputError with advice where a step does not suit the
    input, such as a crop outside it; Cancelled.
    """
    wanted = active_steps(steps)
    for place, step in enumerate(wanted):
        with stage(place, len(wanted)):
            input = _apply(input, check_step(step, input.kind))
    return input


def _apply(input: Input, step: dict[str, Any]) -> Input:
    own = find_step(step["step"])
    with enough_memory(f"{input.name} after the step {own.id}", "use a smaller input"):
        result = own.apply(input, step)
    if result is input or result.origin is not input.origin:  # nothing changed, or the step has its own record
        return result
    return replace(result, origin={**input.origin, "steps": [*input.origin.get("steps", ()), step]})


def parse_step(text: str) -> dict[str, Any]:
    """A step written as text: its id and its values, such as "crop start=10,20 shape=100,200". The values stay text
    until `check_step`. Raises ParamError."""
    try:
        words = shlex.split(text)
    except ValueError:
        raise ParamError(f"The step {plain(text, 60)!r} has an open quote; close it.") from None
    own = find_step(words[0] if words else "")
    values: dict[str, Any] = {"step": own.id}
    for word in words[1:]:
        name, equals, value = word.partition("=")
        if not equals or name in values:
            what = "has no value" if not equals else "is there twice"
            raise ParamError(f"{plain(name, 40)!r} {what} in the step {own.id}; write {own.id} NAME=VALUE, each once.")
        values[name] = value
    return values


def write_step(step: Mapping[str, Any]) -> str:
    """A checked step as the text that `parse_step` reads: "crop start=10,20 shape=100,200"."""
    values = ((name, value) for name, value in step.items() if name not in ("step", "off"))
    return " ".join((step["step"], *(f"{name}={shlex.quote(_written(value))}" for name, value in values)))


def _written(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(_written, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _as_json(param: Param, value: Value) -> Any:
    if isinstance(value, tuple):
        return [int(n) if param.step == 1 else n for n in value]
    return value


# Texts


def step_words(step: Mapping[str, Any]) -> str:
    """A checked step in a few words: "crop 200 × 100 at x 20, y 10"."""
    return find_step(step["step"]).words(step).format(**{k: _word(k, v) for k, v in step.items()})


def _word(name: str, value: Any) -> str:
    if isinstance(value, list | tuple):
        extents = [f"{n:g}" for n in reversed(value)]
        return "x {}, y {}".format(*extents) if name == "start" and len(extents) == 2 else " × ".join(extents)
    return f"{value:g}" if isinstance(value, float) else str(value)


def title_of(input: Input) -> str:
    """The input's name with the steps since it was read: "camera + noise σ 20"."""
    known = {step.id for step in STEPS if step.titled}
    return " + ".join((input.name, *(step_words(s) for s in input.origin.get("steps", ()) if s["step"] in known)))
