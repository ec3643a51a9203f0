"""Loops in which lanes may wait for other threads, and branches that lead around a barrier."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from gpu_ops.devices.sim.ptx.flow import Block, barrier_kind, is_strong, reachable, registers_of, results
from gpu_ops.devices.sim.ptx.program import Instruction, Place
from gpu_ops.progress import advance


def spin_blocks(blocks: list[Block]) -> frozenset[int]:
    """Blocks of loops that may wait for other threads: an atomic whose result is used, or a volatile load, is in the
    loop."""
    watching = {b.number for b in blocks if any(_watches(line) for line in b.lines)}
    if watching:
        used = {r for b in blocks for line in b.lines for o in line.args[len(results(line)) :] for r in registers_of(o)}
        used |= {b.chooser.name for b in blocks if b.chooser is not None}
        watching = {n for n in watching if any(_watches(m) and _is_used(m, used) for m in blocks[n].lines)}
    if not watching:
        return frozenset()
    onward = [b.targets for b in blocks]
    back: list[list[int]] = [[] for _ in blocks]
    for source, targets in enumerate(onward):
        for target in targets:
            back[target].append(source)
    spinning: set[int] = set()
    for number in sorted(watching):
        advance(0, 1)
        if number not in spinning:  # otherwise its loops were found from an earlier block
            spinning |= reachable(onward, number) & reachable(back, number)
    return frozenset(spinning)


def _watches(line: Instruction) -> bool:
    waits = line.op[0] == "mbarrier" and line.op[1].endswith("wait")
    return waits or (is_strong(line) and line.op[0] in ("atom", "ld"))


def _is_used(line: Instruction, used: set[str]) -> bool:
    return line.op[0] != "atom" or not used.isdisjoint(_written(line))


def waiting_lines(blocks: list[Block]) -> frozenset[tuple[int, int]]:
    """The lines (block, index) that wait for another thread: atomics and ordered loads in a loop that ends when their
    value changes, and the ordered stores of such a loop."""
    found: set[tuple[int, int]] = set()
    watching = [(b, place) for b in blocks for place, line in enumerate(b.lines) if _watches(line)]
    if not watching:
        return frozenset()
    loops = _loops(blocks)
    for block, place in watching:
        advance(0, 1)
        around = [body for body in loops if block.number in body]
        if around and _ends_by(blocks, inner := min(around, key=len), block.lines[place]):
            found.add((block.number, place))
            each = ((n, at, line) for n in inner for at, line in enumerate(blocks[n].lines))
            found |= {(n, at) for n, at, line in each if line.op[0] == "st" and is_strong(line)}
    return frozenset(found)


def _ends_by(blocks: list[Block], body: frozenset[int], read: Instruction) -> bool:
    """Whether a branch out of a loop depends on the result of a read in it."""
    known = set(_written(read))
    grown = True
    while grown:
        grown = False
        for line in (line for number in body for line in blocks[number].lines):
            written = results(line)
            if any(r in known for operand in line.args[len(written) :] for r in registers_of(operand)):
                new = set(_written(line)) - known
                known |= new
                grown |= bool(new)
    ends = [blocks[number] for number in body if not body.issuperset(blocks[number].targets)]
    return any(b.chooser is not None and b.chooser.name in known for b in ends)


def _written(line: Instruction) -> Iterator[str]:
    return (r for operand in results(line) for r in registers_of(operand))


def _loops(blocks: list[Block]) -> list[frozenset[int]]:
    """The natural loops: for each jump back to a block that every way to the jump passes, the blocks in between."""
    before: list[list[int]] = [[] for _ in blocks]
    for block in blocks:
        for target in block.targets:
            before[target].append(block.number)
    dominators = _dominators(before)
    loops: dict[int, set[int]] = {}
    for block in blocks:
        for head in block.targets:
            if dominators[block.number] >> head & 1:
                body, waiting = loops.setdefault(head, {head}), [block.number]
                while waiting:
                    number = waiting.pop()
                    if number not in body:
                        body.add(number)
                        waiting += before[number]
    return [frozenset(body) for body in loops.values()]


def barriers_around(blocks: list[Block], encloses: Callable[[Place, Place], bool]) -> dict[int, list[tuple[int, bool]]]:
    """For each branch the barriers of the block of threads that one of its ways leads around, and whether that is the
    way of the lanes whose condition is true. Where the ways meet at the end of the kernel alone, `encloses(branch,
    barrier)` says whether the barrier is in the branch's body: it may also follow an early return."""
    barriers = {b.number for b in blocks if b.end == "barrier" and barrier_kind(b.lines[0]) == "block"}
    branches = [b for b in blocks if b.end == "branch" and b.targets[0] != b.targets[1]]
    if not barriers or not branches:
        return {}
    found: dict[int, list[tuple[int, bool]]] = {}
    meetings = _meetings(blocks)
    for branch in branches:
        advance(0, 1)
        meets = meetings[branch.number]
        true, false = (_ahead(blocks, target, meets) & barriers for target in branch.targets)
        at_end = meets is None or (blocks[meets].end == "exit" and not blocks[meets].lines)
        for barrier in sorted(true ^ false):
            if not at_end or encloses(branch.place, blocks[barrier].place):
                found.setdefault(branch.number, []).append((barrier, barrier in false))
    return found


def _meetings(blocks: list[Block]) -> list[int | None]:
    """For each block the first one that all ways from it pass; None for the end of the kernel."""
    count = len(blocks)  # in reverse, behind a last one where all ways end
    after = [[], *([count - t for t in blocks[n].targets] or [0] for n in reversed(range(count)))]
    passed = _dominators(after)
    found: list[int | None] = []
    for number in range(count):
        own = passed[count - number] & ~(1 << count - number) & ~1
        later = (bit for bit in range(count + 1) if own >> bit & 1)
        nearest = max(later, key=lambda bit: passed[bit].bit_count(), default=None)
        found.append(None if nearest is None else count - nearest)
    return found


def _ahead(blocks: list[Block], start: int, stop: int | None) -> set[int]:
    """The blocks that ways from a block reach before the one where they stop."""
    found, waiting = set[int](), [start]
    while waiting:
        number = waiting.pop()
        if number != stop and number not in found:
            found.add(number)
            waiting += blocks[number].targets
    return found


def _dominators(before: Sequence[Sequence[int]]) -> list[int]:
    """For each block, by those before it, the set of blocks, as bits, that every way from the first block to it
    passes."""
    every = (1 << len(before)) - 1
    found = [1] + [every] * (len(before) - 1)
    changed = True
    while changed:
        advance(0, 1)
        changed = False
        for number in range(1, len(before)):
            common = every
            for source in before[number]:
                common &= found[source]
            common |= 1 << number
            changed |= common != found[number]
            found[number] = common
    return found
