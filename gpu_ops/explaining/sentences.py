"""Sentences about X-rays: a variant's memory accesses, and what changed from one variant to another.

Each rule names the facts that it uses and gets only those, so a sentence cannot say more than its evidence. Facts
are counts per element of the result, and properties of the kernel; no sentence is about time or cycles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpu_ops.explaining.spills import spilled_bytes

if TYPE_CHECKING:
    from gpu_ops.explaining.xray import KernelXRay, XRay

Facts = Mapping[str, Any]
"""Numbers by name, 0 for absent ones; `limiter` is a word."""
SECTOR = 32
LEAST_CHANGE = 0.02
"""Smaller relative changes are ignored."""


@dataclass(frozen=True)
class Sentence:
    """The sentence of a rule, with the facts it uses: a value for a variant, (before, after) for a comparison."""

    rule: str
    text: str
    evidence: Mapping[str, Any]


@dataclass(frozen=True)
class VariantRule:
    """A rule about one variant: `say(facts, unit)` is a sentence or None."""

    id: str
    rests_on: tuple[str, ...]
    say: Callable[[Facts, str], str | None]


@dataclass(frozen=True)
class ChangeRule:
    """A rule about two variants: `say(before, after, unit)` is a sentence or None."""

    id: str
    rests_on: tuple[str, ...]
    say: Callable[[Facts, Facts, str], str | None]


def facts(x: XRay) -> dict[str, Any]:
    """All facts of an X-ray: counts per output element, and properties of the kernel that does most."""
    result: dict[str, Any] = {name: value / x.outputs for name, value in x.totals.items()}
    result["least_bytes"] = x.least_bytes / x.outputs
    result["launches"] = sum(k.launches for k in x.kernels)
    main = max(x.kernels, key=lambda k: k.totals.get("warp_instructions", 0))
    return result | _figures(main)


def _figures(kernel: KernelXRay) -> dict[str, Any]:
    figures: dict[str, Any] = {
        "registers": kernel.resources.get("registers", 0),
        "spilled_bytes": spilled_bytes(kernel.resources),
        "block_shared_bytes": kernel.shared_bytes,
    }
    if kernel.occupancy:
        figures |= {"occupancy": kernel.occupancy.share, "limiter": kernel.occupancy.limiter}
    return figures


def explain(x: XRay) -> list[Sentence]:
    """Sentences about the notable facts of one variant."""
    return [s for s in (_variant_sentence(rule, facts(x), x.unit) for rule in VARIANT_RULES) if s]


def compare(before: XRay, after: XRay) -> list[Sentence]:
    """What changed from one variant to another, and what it should bring."""
    return changes(facts(before), facts(after), after.unit)


def changes(before: Facts, after: Facts, unit: str) -> list[Sentence]:
    """What changed, by facts for each `unit` of the result."""
    return [s for s in (_change_sentence(rule, before, after, unit) for rule in CHANGE_RULES) if s]


def _evidence(rule: VariantRule | ChangeRule, all: Facts) -> dict[str, Any]:
    return {name: all.get(name, "" if name == "limiter" else 0.0) for name in rule.rests_on}


def _variant_sentence(rule: VariantRule, all: Facts, unit: str) -> Sentence | None:
    evidence = _evidence(rule, all)
    text = rule.say(evidence, unit)
    return Sentence(rule.id, text, evidence) if text else None


def _change_sentence(rule: ChangeRule, before: Facts, after: Facts, unit: str) -> Sentence | None:
    a, b = _evidence(rule, before), _evidence(rule, after)
    text = rule.say(a, b, unit)
    return Sentence(rule.id, text, {name: (a[name], b[name]) for name in a}) if text else None


# Numbers in words


def number(value: float) -> str:
    """Three digits: 1.02, 12.5, 164k."""
    for letter, scale in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(value) >= 999.5 * scale / 1e3:
            return f"{value / scale:.3g}{letter}"
    return f"{value:.3g}"


def differs(a: float, b: float) -> bool:
    """Whether one is noticeably larger than the other."""
    return abs(a - b) > LEAST_CHANGE * max(abs(a), abs(b))


def move(a: float, b: float, unit: str) -> str:
    """How a plural quantity changed from a to b: "fall from 5 to 1.02 a sample (÷4.92)"."""
    if not differs(a, b):
        return f"stay {number(b)} per {unit}"
    if not a or not b:
        return f"appear: {number(b)} per {unit}" if b else f"vanish: {number(a)} per {unit} before"
    how, ratio = ("fall", f"÷{number(a / b)}") if b < a else ("rise", f"×{number(b / a)}")
    return f"{how} from {number(a)} to {number(b)} per {unit} ({ratio})"


def _ratio(facts: Facts, actual: str, ideal: str) -> float:
    return float(facts[actual] / facts[ideal]) if facts[ideal] else 1.0


# Changes

STANDS_IN = (
    ("shared_load_threads", "the values are kept in shared memory and read there", "shared"),
    ("constant_threads", "constant memory serves them", "constant"),
    ("texture_threads", "textures serve them", "texture"),
)
"""Reads that may replace global loads: (fact, why, name)."""


def _loads(a: Facts, b: Facts, unit: str) -> str | None:
    before, after = a["global_load_threads"], b["global_load_threads"]
    if not differs(before, after):
        return None
    text = f"Global loads {move(before, after, unit)}" + (f", {1 - after / before:.0%} fewer" if after < before else "")
    more, fewer = (a, b) if after < before else (b, a)
    reasons = []
    for name, why, what in STANDS_IN:
        reads = fewer[name] - more[name]
        if what == "shared" and not _replaces(more, fewer):
            continue
        if reads > 0 and differs(fewer[name], more[name]):
            count = f"{number(reads)} {what} reads per {unit}"
            reasons.append(f"{why} ({count} instead)" if fewer is b else f"the {count} that replaced them are gone")
    return f"{text}, because {', and '.join(reasons)}." if reasons else f"{text}."


def _replaces(more: Facts, fewer: Facts) -> bool:
    """Whether shared memory serves what was loaded: all loaded values go there – zeros beyond an edge without a load –
    or, where other loads remain, the loads fall by its reads less its stores."""
    filled = 0.98 <= fewer["shared_store_threads"] / max(fewer["global_load_threads"], 1e-9) <= 1.5
    loads, reads, stores = (
        fewer[f"{n}_threads"] - more[f"{n}_threads"] for n in ("global_load", "shared_load", "shared_store")
    )
    return filled or stores > 0 and not differs(reads - stores, -loads)


def _sectors(a: Facts, b: Facts, unit: str) -> str | None:
    before, after = a["global_load_sectors"], b["global_load_sectors"]
    now, was = number(SECTOR * after), number(SECTOR * before)
    most = f"at most {now} bytes per {unit} can come from the L2 cache, {was} before"
    return f"Global load sectors {move(before, after, unit)}: {most}." if differs(before, after) else None


def _fewer_requests(a: Facts, b: Facts, unit: str) -> str | None:
    if differs(a["global_load_sectors"], b["global_load_sectors"]):
        return None
    before, after = a["global_load_requests"], b["global_load_requests"]
    if not differs(before, after):
        return None
    was, now = (_ratio(f, "global_load_sectors", "global_load_requests") for f in (a, b))
    return (
        f"Global load requests {move(before, after, unit)}, for the same sectors: {number(now)} sectors per request, "
        f"{number(was)} before."
    )


def _waste(kind: str) -> Callable[[Facts, Facts, str], str | None]:
    actual, ideal = f"global_{kind}_sectors", f"global_{kind}_ideal_sectors"

    def say(a: Facts, b: Facts, unit: str) -> str | None:
        before, after = _ratio(a, actual, ideal), _ratio(b, actual, ideal)
        if not a[ideal] or not b[ideal] or not differs(before, after):
            return None
        how, where = ("better", "closer together") if after < before else ("worse", "farther apart")
        return (
            f"Coalescing of {kind}s is {how}: addresses of a warp are {where}, in {number(after)} times the sectors "
            f"that its bytes need, {number(before)} times before."
        )

    return say


def _sector_bytes(f: Facts) -> float:
    return float(SECTOR * (f["global_load_sectors"] + f["global_store_sectors"] + f["global_atomic_sectors"]))


def _dram(a: Facts, b: Facts, unit: str) -> str | None:
    if differs(a["least_bytes"], b["least_bytes"]):
        return f"The bytes that device memory must move {move(a['least_bytes'], b['least_bytes'], unit)}."
    before, after = _sector_bytes(a), _sector_bytes(b)
    if not differs(before, after):
        return None
    requests = f"{number(after)} bytes per {unit} requested in sectors, {number(before)} before"
    return (
        f"The bytes that device memory must move stay {number(b['least_bytes'])} per {unit}: where its bandwidth is "
        f"the limit and the caches serve the rest ({requests}), nothing changes."
    )


def _instructions(a: Facts, b: Facts, unit: str) -> str | None:
    before, after = a["warp_instructions"], b["warp_instructions"]
    gain = "fewer" if after < before else "more"
    text = f"Warp instructions {move(before, after, unit)}: {gain} to issue, which counts where issue is the limit."
    return text if differs(before, after) else None


def _lanes(a: Facts, b: Facts, unit: str) -> str | None:
    before, after = (_ratio(f, "thread_instructions", "warp_instructions") for f in (a, b))
    text = f"Active lanes of a warp instruction, of 32: {number(after)} on average, {number(before)} before."
    return text if differs(before, after) else None


def _divergence(a: Facts, b: Facts, unit: str) -> str | None:
    before, after = a["divergent_branches"], b["divergent_branches"]
    text = f"Divergent branches {move(before, after, unit)}: at each, a warp executes both paths one after the other."
    return text if differs(before, after) else None


def _conflicts(a: Facts, b: Facts, unit: str) -> str | None:
    before, after = (_ratio(f, "shared_wavefronts", "shared_ideal_wavefronts") for f in (a, b))
    if not b["shared_ideal_wavefronts"] or not differs(before, after):
        return None
    if not differs(after, 1.0):
        return f"No more bank conflicts: shared memory took {number(before)} times the wavefronts it needs."
    was = f", {number(before)} before" if a["shared_ideal_wavefronts"] else ""
    return f"Bank conflicts: shared memory takes {number(after)} times the wavefronts it needs{was}."


def _constants(a: Facts, b: Facts, unit: str) -> str | None:
    before, after = (_ratio(f, "constant_words", "constant_requests") for f in (a, b))
    if not differs(before, after):
        return None
    return f"A constant-cache request takes {number(after)} words, served one after the other, {number(before)} before."


def _atomics(a: Facts, b: Facts, unit: str) -> str | None:
    lines = []
    for name, title in (("atomics", "Atomic operations"), ("atomic_collisions", "Atomic collisions within a warp")):
        if differs(a[name], b[name]):
            lines.append(f"{title} {move(a[name], b[name], unit)}.")
    return " ".join(lines) or None


def _local(a: Facts, b: Facts, unit: str) -> str | None:
    before, after = a["local_sectors"], b["local_sectors"]
    return f"Local memory sectors {move(before, after, unit)}." if differs(before, after) else None


def _occupancy(a: Facts, b: Facts, unit: str) -> str | None:
    before, after = a["occupancy"], b["occupancy"]
    if not before or not after or not differs(before, after):
        return None
    how = "falls" if after < before else "rises"
    effect = "fewer" if after < before else "more"
    return (
        f"Occupancy {how} from {before:.0%} to {after:.0%}, limited by {b['limiter']}: {effect} warps hide "
        "the latency of memory by working while others wait."
    )


def _spills(a: Facts, b: Facts, unit: str) -> str | None:
    before, after = a["spilled_bytes"], b["spilled_bytes"]
    if before == after:
        return None
    return f"Register spills to local memory: {number(after)} bytes per thread, {number(before)} before."


def _launches(a: Facts, b: Facts, unit: str) -> str | None:
    before, after = a["launches"], b["launches"]
    return f"Launches: {after}, {before} before." if before != after else None


SECTORS = ("global_load_sectors", "global_store_sectors", "global_atomic_sectors")
CHANGE_RULES = (
    ChangeRule("loads", ("global_load_threads", "shared_store_threads", *(name for name, _, _ in STANDS_IN)), _loads),
    ChangeRule("sectors", ("global_load_sectors",), _sectors),
    ChangeRule("requests", ("global_load_sectors", "global_load_requests"), _fewer_requests),
    ChangeRule("load waste", ("global_load_sectors", "global_load_ideal_sectors"), _waste("load")),
    ChangeRule("store waste", ("global_store_sectors", "global_store_ideal_sectors"), _waste("store")),
    ChangeRule("memory", ("least_bytes", *SECTORS), _dram),
    ChangeRule("bank conflicts", ("shared_wavefronts", "shared_ideal_wavefronts"), _conflicts),
    ChangeRule("constant words", ("constant_words", "constant_requests"), _constants),
    ChangeRule("atomics", ("atomics", "atomic_collisions"), _atomics),
    ChangeRule("local memory", ("local_sectors",), _local),
    ChangeRule("instructions", ("warp_instructions",), _instructions),
    ChangeRule("lanes", ("thread_instructions", "warp_instructions"), _lanes),
    ChangeRule("divergence", ("divergent_branches",), _divergence),
    ChangeRule("occupancy", ("occupancy", "limiter"), _occupancy),
    ChangeRule("spills", ("spilled_bytes",), _spills),
    ChangeRule("launches", ("launches",), _launches),
)


# One variant


def _repeats(f: Facts, unit: str) -> str | None:
    sector_bytes = _sector_bytes(f)
    if not f["least_bytes"] or sector_bytes < 1.5 * f["least_bytes"]:
        return None
    return (
        f"{number(sector_bytes)} bytes per {unit} are requested in sectors, and device memory must move only "
        f"{number(f['least_bytes'])}: the caches must serve the rest."
    )


def _wasteful(kind: str) -> Callable[[Facts, str], str | None]:
    def say(f: Facts, unit: str) -> str | None:
        ratio = _ratio(f, f"global_{kind}_sectors", f"global_{kind}_ideal_sectors")
        if ratio < 1.05:
            return None
        return (
            f"A warp's {kind}s are not fully coalesced: its addresses touch {number(ratio)} times the sectors that "
            "its bytes would fill."
        )

    return say


def _conflicting(f: Facts, unit: str) -> str | None:
    ratio = _ratio(f, "shared_wavefronts", "shared_ideal_wavefronts")
    text = f"Bank conflicts: shared memory takes {number(ratio)} times the wavefronts it needs."
    return text if ratio > 1.02 else None


def _spread(f: Facts, unit: str) -> str | None:
    ratio = _ratio(f, "constant_words", "constant_requests")
    text = f"A constant-cache request asks for {number(ratio)} words on average, which are served one after the other."
    return text if ratio >= 1.02 else None


def _idle(f: Facts, unit: str) -> str | None:
    lanes = _ratio(f, "thread_instructions", "warp_instructions")
    return f"Active lanes of a warp instruction: only {number(lanes)} of 32 on average." if lanes < 30 else None


def _colliding(f: Facts, unit: str) -> str | None:
    share = f["atomic_collisions"] / (f["atomics"] or 1)
    text = f"Atomic collisions: {share:.0%} of the atomic operations wait for another of their warp at one address."
    return text if share else None


def _by_turn(f: Facts, unit: str) -> str | None:
    of = f"{number(f['unsettled_requests'])} requests per {unit} depend on which thread comes first"
    return f"Unknown: {of}; a GPU may make more or fewer, or to others." if f["unsettled_requests"] else None


def _spilling(f: Facts, unit: str) -> str | None:
    counted = f": {number(f['spill_sectors'])} sectors per {unit}" if f["spill_sectors"] else ""
    text = f"Register spills: {number(f['spilled_bytes'])} bytes per thread go to local memory{counted}."
    return text if f["spilled_bytes"] else None


def _in_local(f: Facts, unit: str) -> str | None:
    sectors = f["local_sectors"]
    text = f"Per-thread arrays are in local memory, which is device memory: {number(sectors)} sectors per {unit}."
    return text if sectors else None


def _limited(f: Facts, unit: str) -> str | None:
    low = 0 < f["occupancy"] <= 0.5
    return f"Occupancy is {f['occupancy']:.0%}, limited by {f['limiter']}." if low else None


VARIANT_RULES = (
    VariantRule("memory", ("least_bytes", *SECTORS), _repeats),
    VariantRule("load waste", ("global_load_sectors", "global_load_ideal_sectors"), _wasteful("load")),
    VariantRule("store waste", ("global_store_sectors", "global_store_ideal_sectors"), _wasteful("store")),
    VariantRule("bank conflicts", ("shared_wavefronts", "shared_ideal_wavefronts"), _conflicting),
    VariantRule("constant words", ("constant_words", "constant_requests"), _spread),
    VariantRule("lanes", ("thread_instructions", "warp_instructions"), _idle),
    VariantRule("atomics", ("atomics", "atomic_collisions"), _colliding),
    VariantRule("turns", ("unsettled_requests",), _by_turn),
    VariantRule("spills", ("spilled_bytes", "spill_sectors"), _spilling),
    VariantRule("local memory", ("local_sectors",), _in_local),
    VariantRule("occupancy", ("occupancy", "limiter"), _limited),
)
