"""The commands that measure all points of the source's figures. Source: S2."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from gpu_ops.errors import ParamError
from gpu_ops.filters.fft.ways import STOCKHAM
from gpu_ops.params import Param
from gpu_ops.task import Meta, Task
from gpu_ops.types import Filter, Variant

SIDE = 1024
"""Of the source's images where the size does not vary."""
SIZES = (128, 256, 512, 1024, 2048, 4096)
RADICES = (2, 4, 8, 16)
RADIX_2 = "shared"
"""The variant with stages of radix 2 in shared memory and no knob for it."""
REPORT = "--json s2.json"
"""All commands write to one report, which grows."""


def counts(filter: str) -> bool:
    """Whether a filter's times count, by its id: those of transforms, with or without what is made of them."""
    return filter.startswith("fft") and filter != "fft_mask"


def _input(filter: Filter, sizes: Sequence[int]) -> str:
    """The flags of square images of these sizes, or of a signal cut into so many lines; "" for other filters."""
    names = {param.name for param in filter.params}
    if filter.accepts == "image":
        shapes = [f"{n}x{2 * n if 'numbers' in names else n}" for n in sizes]
        over = f"--size {shapes[0]}" if len(shapes) == 1 else f"--over size={','.join(shapes)}"
        return f"--sample noise_image {over} --dtype float32"
    if "points" in names and len(sizes) == 1:
        return f"--sample noise --length {2 * sizes[0] ** 2} --points {sizes[0]} --dtype float32"
    return ""


def _able(filter: Filter) -> list[Variant]:
    """The variants on a GPU that do what such a command asks for."""
    names = {param.name for param in filter.params}
    params = {p.name: p.default for p in filter.params} | ({"points": SIDE} if "points" in names else {})
    shape = (SIDE, 2 * SIDE if "numbers" in names else SIDE) if filter.accepts == "image" else (2 * SIDE * SIDE,)
    able = []
    for variant in (v for v in filter.variants if v.device == "cuda"):
        task = Task.of(Meta(filter.accepts, shape, "float32"), params, {k.name: k.default for k in variant.knobs})
        able += [variant] if variant.supports(task) is None else []
    return able


def _taken(variant: Variant, name: str, values: Sequence[int]) -> tuple[int, ...]:
    """The values that a variant's knob of this name takes; () without one."""
    return tuple(v for knob in variant.knobs if knob.name == name for v in values if _takes(knob, v))


def _takes(knob: Param, value: int) -> bool:
    try:
        knob.check(value)
    except ParamError:
        return False
    return True


def knob_sweeps(name: str, values: Sequence[int]) -> Callable[[Iterable[Filter]], tuple[str, ...]]:
    """A sweep of each filter for all variants whose knob takes the same values."""

    def sweeps(filters: Iterable[Filter]) -> tuple[str, ...]:
        found = []
        for filter in (f for f in filters if counts(f.id) and _input(f, (SIDE,))):
            groups: dict[tuple[int, ...], list[str]] = {}
            for variant in _able(filter):
                groups.setdefault(_taken(variant, name, values), []).append(variant.id)
            for taken, variants in groups.items():
                if len(taken) > 1:
                    over = f"--over {name}={','.join(map(str, taken))}"
                    what = f"{filter.id} --device cuda:0 --variant {' '.join(variants)}"
                    found.append(f"sweep {what} {_input(filter, (SIDE,))} {over} {REPORT}")
        return tuple(found)

    return sweeps


def radix_sweeps(filters: Iterable[Filter]) -> tuple[str, ...]:
    """Sweeps over the knob, and the variants that have one radix alone."""
    filters = list(filters)
    found = list(knob_sweeps("radix", RADICES)(filters))
    for filter in (f for f in filters if counts(f.id) and _input(f, (SIDE,))):
        ids = (RADIX_2, *(id for id, way in STOCKHAM.items() if way.radix))
        fixed = [variant.id for variant in _able(filter) if variant.id in ids]
        if fixed:
            what = f"{filter.id} --device cuda:0 --variant {' '.join(fixed)}"
            found.append(f"bench {what} {_input(filter, (SIDE,))} {REPORT}")
    return tuple(found)


def size_sweeps(filters: Iterable[Filter]) -> tuple[str, ...]:
    """A sweep of all variants on the GPU, the library among them, over square images."""
    wanted = [f for f in filters if counts(f.id) and f.accepts == "image"]
    return tuple(f"sweep {f.id} --device cuda:0 {_input(f, SIZES)} {REPORT}" for f in wanted)
