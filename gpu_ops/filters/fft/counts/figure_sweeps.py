"""The commands that measure all points of the source's figures, with batched transforms. Source: S2."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from gpu_ops.errors import ParamError
from gpu_ops.filters.fft.batch import COMPLEX
from gpu_ops.filters.fft.cuda.ways import STOCKHAM
from gpu_ops.params import Param
from gpu_ops.task import Meta, Task
from gpu_ops.types import Filter, Variant

LINES, IMAGES = "fft_batch1d", "fft_batch2d"
"""The filters of rows alone, and of whole images."""
SIDE = 1024
"""Points of the source's rows and columns where the size is fixed."""
SIZES = (128, 256, 512, 1024, 2048, 4096)
RADICES = (2, 4, 8, 16)
RADIX_2 = "shared"
"""The variant with radix-2 stages in shared memory and no radix knob."""
NUMBERS = f"--numbers {COMPLEX}"
REPORT = "--json s2.json"
"""All commands append to one report."""
Values = tuple[int, ...]
Sweeps = Callable[[Iterable[Filter]], tuple[str, ...]]


def _shape(filter: Filter, side: int) -> tuple[int, ...]:
    """The number of values of side × side complex numbers."""
    return (side, 2 * side) if filter.accepts == "image" else (2 * side * side,)


def _input(filter: Filter, *sides: int) -> str:
    """The flags of an image of complex numbers or of a signal cut into lines, or of images of several sizes."""
    shapes = ["x".join(map(str, reversed(_shape(filter, side)))) for side in sides]
    if len(shapes) > 1:
        return f"--sample noise_image --over size={','.join(shapes)} --dtype float32 {NUMBERS}"
    if filter.accepts == "image":
        return f"--sample noise_image --size {shapes[0]} --dtype float32 {NUMBERS}"
    return f"--sample noise --length {shapes[0]} --points {sides[0]} --dtype float32 {NUMBERS}"


def _able(filter: Filter, variant: Variant, **knobs: int) -> bool:
    """Whether a variant can run such a command with these values of its knobs."""
    if variant.device != "cuda":
        return False
    params = {p.name: p.default for p in filter.params} | {"numbers": COMPLEX}
    params |= {"points": SIDE} if filter.accepts == "signal" else {}
    task = Task.of(Meta(filter.accepts, _shape(filter, SIDE), "float32"), params)
    return variant.refusal(task.with_knobs(**{k.name: k.default for k in variant.knobs} | knobs)) is None


def _takes(knob: Param, value: int) -> bool:
    try:
        knob.check(value)
    except ParamError:
        return False
    return True


def _taken(filter: Filter, variant: Variant, name: str, values: Sequence[int], held: Mapping[str, int]) -> Values:
    """The values of its knob of this name that a variant supports with the others fixed; () without these knobs."""
    if not {name, *held} <= {knob.name for knob in variant.knobs}:
        return ()
    knob = next(knob for knob in variant.knobs if knob.name == name)
    return tuple(v for v in values if _takes(knob, v) and _able(filter, variant, **{**held, name: v}))


def knob_sweeps(filter_id: str, name: str, values: Sequence[int], **held: int) -> Sweeps:
    """Sweeps of one filter over a knob with others fixed, one for all variants that support the same of these
    values."""

    def sweeps(filters: Iterable[Filter]) -> tuple[str, ...]:
        found = []
        for filter in (f for f in filters if f.id == filter_id):
            groups: dict[Values, list[str]] = {}
            for variant in filter.variants:
                groups.setdefault(_taken(filter, variant, name, values, held), []).append(variant.id)
            for taken, variants in groups.items():
                if len(taken) > 1:
                    flags = [f"--{knob} {value}" for knob, value in held.items()]
                    over = " ".join([*flags, f"--over {name}={','.join(map(str, taken))}"])
                    what = f"{filter.id} --device cuda:0 --variant {' '.join(variants)}"
                    found.append(f"sweep {what} {_input(filter, SIDE)} {over} {REPORT}")
        return tuple(found)

    return sweeps


def radix_sweeps(filters: Iterable[Filter]) -> tuple[str, ...]:
    """Sweeps over the knob, and the variants that have one radix only."""
    filters = list(filters)
    found = list(knob_sweeps(LINES, "radix", RADICES)(filters))
    for filter in (f for f in filters if f.id == LINES):
        ids = (RADIX_2, *(id for id, way in STOCKHAM.items() if way.radix))
        fixed = [variant.id for variant in filter.variants if variant.id in ids and _able(filter, variant)]
        if fixed:
            what = f"{filter.id} --device cuda:0 --variant {' '.join(fixed)}"
            found.append(f"bench {what} {_input(filter, SIDE)} {REPORT}")
    return tuple(found)


def size_sweeps(filters: Iterable[Filter]) -> tuple[str, ...]:
    """A sweep of all variants on the GPU, including the library, over square images."""
    return tuple(f"sweep {f.id} --device cuda:0 {_input(f, *SIZES)} {REPORT}" for f in filters if f.id == IMAGES)
