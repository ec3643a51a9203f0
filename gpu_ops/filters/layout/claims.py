"""What the source states about memory, and how the addresses of each layout test it. Source: S0."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gpu_ops.devices.coalescing import Rule
from gpu_ops.filters.kit.verdicts import Verdict, ratio
from gpu_ops.filters.layout import blocks, instructions
from gpu_ops.filters.layout.addresses import WARP, Pass, cost
from gpu_ops.plan import Space
from gpu_ops.task import Meta, Task
from gpu_ops.types import Claim, Run

BLOCK = 64
SIGNAL = Meta("signal", (1 << 16,), "float32")
EXPERIMENT: Mapping[str, Any] = {
    "filter": "layout",
    "sample": {"id": "noise", "length": 1 << 24, "dtype": "float32"},
    "params": {"gain": 2.0, "offset": 0.5},
    "knobs": {},
}
Passes = Callable[[Task], tuple[Pass, ...]]
FIGURES: tuple[tuple[Passes, Mapping[str, Any]], ...] = (
    (instructions.order, {}),
    (instructions.gaps, {"rounds": 4}),
    (instructions.swapped, {}),
    (instructions.shifted, {"shift": 1}),
)
"""The source's figures 7 and 8: in order, with gaps, with two lanes swapped, and from byte 132 on."""


def costs(passes: Passes, rule: Rule = "today", space: Space = "global", **knobs: Any) -> list[int]:
    """The cost of each load of a warp in the launch of a variant that reads the prepared layout."""
    launches = passes(Task.of(SIGNAL, {}, {"block": BLOCK, **knobs}))
    launch = launches[1 if len(launches) > 1 else 0]
    warp = launch.threads(1, 2)
    return [cost(t, warp, rule) for t in launch.instructions if (t.space, t.verb) == (space, "load")]


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def _figures(runs: Mapping[str, Run]) -> Verdict:
    old = tuple(costs(passes, "1.0", **knobs)[0] // 2 for passes, knobs in FIGURES)  # both halves are equal
    today = tuple(costs(passes, **knobs)[0] for passes, knobs in FIGURES)
    text = f"{_listed(old)} transactions of half a warp by the rule of 1.0; {_listed(today)} sectors of a warp today"
    return text, old == (1, 1, 16, 16)


def _any_order(runs: Mapping[str, Run]) -> Verdict:
    found = [costs(passes, "1.2", **knobs)[0] for passes, knobs in FIGURES]
    return f"{_listed(found)} transactions of a warp by the rule of 1.2", found[2] == found[0]


def _arrays(runs: Mapping[str, Run]) -> Verdict:
    packed = max(costs(instructions.packed, "1.0")) // 2
    arrays = sum(costs(instructions.arrays, "1.0")) // 2
    return f"{packed} transactions of half a warp for each field, against {arrays} for all three", (packed, arrays) == (
        16,
        3,
    )


def _sectors(runs: Mapping[str, Run]) -> Verdict:
    found = tuple(sum(costs(passes)) for passes in (instructions.packed, instructions.aligned, instructions.arrays))
    return f"{found[0]} sectors packed, {found[1]} aligned and read whole, {found[2]} in arrays", found == (36, 16, 12)


def _vectors(runs: Mapping[str, Run]) -> Verdict:
    three, four = costs(instructions.vectors, values=3)[:3], costs(instructions.vectors, values=4)[:1]
    text = f"{len(three)} loads of {three[0]} sectors for 3 values per thread, {len(four)} of {four[0]} for 4"
    return text, (sum(three), sum(four)) == (36, 16)


def _large(runs: Mapping[str, Run]) -> Verdict:
    whole, split = costs(instructions.vectors, values=8)[:2], costs(instructions.split)
    text = f"loads of {_listed(whole)} sectors as structures of 32 bytes, of {_listed(split)} split"
    return text, whole == [32, 32] and split == [16, 16]


def _odd(runs: Mapping[str, Run]) -> Verdict:
    strides = range(1, WARP + 1)
    found = {s: costs(instructions.shared_stride, space="shared", stride=s)[0] for s in strides}
    free = [s for s in strides if found[s] == 1]
    examples = ", ".join(f"{found[s]} at {s}" for s in (1, 2, 3, 4, 8, 16, 32))
    return f"wavefronts by stride: {examples}", free == [s for s in strides if s % 2]


def _bytes(runs: Mapping[str, Run]) -> Verdict:
    old, now = (
        tuple(costs(instructions.single_bytes, rule, "shared", bytes=b)[0] for b in ("adjacent", "spread"))
        for rule in ("1.0", "today")
    )
    text = f"{old[0]} passes side by side and {old[1]} spread over the 16 banks of 1.0; {now[0]} and {now[1]} today"
    return text, now[0] > now[1]


def _broadcast(runs: Mapping[str, Run]) -> Verdict:
    one, neighbours, same_bank = (costs(instructions.broadcast, space="shared", lane_stride=k)[0] for k in (0, 1, 32))
    text = f"{one} wavefront for one address, {neighbours} for neighbours, {same_bank} for addresses of one bank"
    return text, one == 1


def _columns(side: int, extras: Sequence[int], rule: Rule = "today") -> list[int]:
    """Wavefronts of a warp that loads columns of a tile with this number of padding columns."""
    return [costs(instructions.tiles, rule, "shared", side=side, padding=k)[0] for k in extras]


def _small_tile(runs: Mapping[str, Run]) -> Verdict:
    found, old = _columns(16, (0, 1, 2)), _columns(16, (0, 1), "1.0")
    text = (
        f"{_listed(found)} wavefronts with 0, 1 and 2 extra columns; {old[0] // 2} and {old[1] // 2} passes of half a"
    )
    return f"{text} warp with 0 and 1 over the 16 banks of 1.0", found[1] == 1


def _large_tile(runs: Mapping[str, Run]) -> Verdict:
    found = _columns(32, (0, 1))
    return f"{_listed(found)} wavefronts with 0 and 1 extra columns", found == [32, 1]


def _claim(id: str, text: str, published: str, prediction: str, judge: Callable[[Mapping[str, Run]], Verdict]) -> Claim:
    return Claim(f"S0-{id}", "S0", text, published, prediction, "counted", EXPERIMENT, judge)


CLAIMS = (
    _claim(
        "figures",
        "Lanes in order and lanes with gaps take one transaction, two swapped lanes or a start at byte 132 take 16.",
        "1, 1, 16, 16 transactions of half a warp",
        "Holds by the rule of capability 1.0; today only the shifted start costs a fifth sector.",
        _figures,
    ),
    _claim(
        "any-order",
        "From capability 1.2 on, lanes may use the words of a segment in any order.",
        "one transaction a segment",
        "Holds; a start at byte 132 may still touch a second segment.",
        _any_order,
    ),
    _claim(
        "arrays",
        "Three fields in separate arrays take 3 transactions, where a field of a packed structure takes 16.",
        "16 to 3 transactions",
        "Holds by the rule of capability 1.0.",
        _arrays,
    ),
    _claim(
        "structures",
        "Words of 4, 8 or 16 bytes are read at once; a structure of 12 bytes is not, and alignment to 16 mends it.",
        "no figure",
        "Holds today as well: 36 sectors, 16 aligned; separate arrays need 12.",
        _sectors,
    ),
    _claim(
        "float3",
        "float3 breaks the alignment that float4 has.",
        "no figure",
        "Holds: three loads 12 bytes apart, against one of 16 bytes.",
        _vectors,
    ),
    _claim(
        "large-structures",
        "A structure over 16 bytes takes several accesses.",
        "no figure",
        "Holds: each touches every sector, until the structure is split.",
        _large,
    ),
    _claim(
        "odd-stride",
        "A stride through shared memory is free of bank conflicts only when it is odd.",
        "only when odd",
        "Holds for 32 banks as for 16.",
        _odd,
    ),
    _claim(
        "shared-bytes",
        "Bytes side by side in shared memory conflict, unless they are spread by 4.",
        "no figure",
        "Does not hold today: lanes with bytes of one word share it.",
        _bytes,
    ),
    _claim(
        "broadcast",
        "One address of shared memory for all lanes is a broadcast.",
        "no conflict",
        "Holds.",
        _broadcast,
    ),
    _claim(
        "tile-16",
        "A tile of 16×16 gets a 17th column, and its columns are free of bank conflicts.",
        "17 columns",
        "Does not hold today: with 32 banks a column of 16 needs 18; it held with 16 banks.",
        _small_tile,
    ),
    _claim(
        "tile-32",
        "The same with one column more than there are banks: a tile of 32×32 gets a 33rd column.",
        "no figure",
        "Holds: 32 wavefronts become 1.",
        _large_tile,
    ),
    _claim(
        "block-64",
        "The threads of a block should be a multiple of 64.",
        "multiples of 64",
        "Does not hold as a rule: a multiple of 32 fills its warps, and what counts then is how many blocks fit.",
        blocks.multiples,
    ),
    _claim(
        "block-192",
        "A block should have at least 192 threads, so that other warps hide 600 cycles of latency.",
        "192 threads, of 768 that a multiprocessor holds",
        "Does not hold: smaller blocks fill a multiprocessor, then as today.",
        blocks.at_least,
    ),
    Claim(
        "S0-floats",
        "S0",
        "Floats are faster than doubles, which are more exact.",
        "no figure",
        "Holds: doubles are twice the bytes, and half the additions per clock at best.",
        "measured",
        EXPERIMENT,
        lambda runs: ratio(runs, "doubles", "floats", 1.05),
    ),
)
