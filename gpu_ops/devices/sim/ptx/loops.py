"""Loops in which lanes may wait for other threads, branches that lead around a barrier, and the order of blocks."""

from __future__ import annotations

import heapq
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
    onward, back = [b.targets for b in blocks], _before(blocks)
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
    before = _before(blocks)
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
    meeting = meetings(blocks)
    for branch in branches:
        advance(0, 1)
        meets = meeting[branch.number]
        true, false = (_ahead(blocks, target, meets) & barriers for target in branch.targets)
        at_end = meets is None or (blocks[meets].end == "exit" and not blocks[meets].lines)
        for barrier in sorted(true ^ false):
            if not at_end or encloses(branch.place, blocks[barrier].place):
                found.setdefault(branch.number, []).append((barrier, barrier in false))
    return found


def meetings(blocks: list[Block]) -> list[int | None]:
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


def between(blocks: list[Block], branch: Block, meets: int | None) -> set[int]:
    """The blocks that some ways from a branch pass before the block where all meet."""
    return set().union(*(_ahead(blocks, target, meets) for target in branch.targets))


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


def _before(blocks: Sequence[Block]) -> list[list[int]]:
    """For each block those that lead to it."""
    before: list[list[int]] = [[] for _ in blocks]
    for block in blocks:
        for target in block.targets:
            before[target].append(block.number)
    return before


def in_running_order(blocks: list[Block]) -> list[Block]:
    """The blocks with new numbers: each after those that lead to it without a jump back, and after the loops that lead
    to it. The scheduler runs the lowest first, so lanes that part meet again as early as they do in the machine code.
    The text is mostly in such an order, but branches that are seldom taken, such as those of powf for infinite numbers,
    follow the end of the kernel. Where a loop has two entries there is no such order: then the text decides."""
    back = set(_jumps_back(blocks))
    onward = [[t for t in block.targets if (block.number, t) not in back] for block in blocks]
    for latch, target in _ways_out(blocks, back):
        onward[latch].append(target)
    if all(target > number for number, targets in enumerate(onward) for target in targets):
        return blocks
    order = _sorted(onward)
    numbers = {old: new for new, old in enumerate(order)}
    for block in blocks:
        block.number = numbers[block.number]
        block.targets = tuple(numbers[t] for t in block.targets)
    return [blocks[old] for old in order]


def _jumps_back(blocks: Sequence[Block]) -> Iterator[tuple[int, int]]:
    """The jumps to a block that the way to them has passed, as (source, target)."""
    seen, on_way = set[int](), set[int]()
    for start in range(len(blocks)):
        waiting = [] if start in seen else [(start, iter(sorted(blocks[start].targets)))]
        seen.add(start)
        on_way.add(start)
        while waiting:
            number, targets = waiting[-1]
            target = next(targets, None)
            if target is None:
                waiting.pop()
                on_way.discard(number)
            elif target in on_way:
                yield number, target
            elif target not in seen:
                seen.add(target)
                on_way.add(target)
                waiting.append((target, iter(sorted(blocks[target].targets))))
        on_way.discard(start)


def _ways_out(blocks: Sequence[Block], back: set[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """For each jump back, its source with each block where control leaves the loop."""
    before = _before(blocks)
    for head in sorted({head for _, head in back}):
        advance(0, 1)
        latches = [source for source, target in back if target == head]
        body, waiting = {head}, list(latches)
        while waiting:
            number = waiting.pop()
            if number not in body:
                body.add(number)
                waiting += before[number]
        out = {target for number in body for target in blocks[number].targets} - body
        yield from ((latch, target) for latch in latches for target in out)


def _sorted(onward: Sequence[Sequence[int]]) -> list[int]:
    """The numbers, each after those that lead to it, the lowest first among those that may come next."""
    missing = [0] * len(onward)
    for targets in onward:
        for target in targets:
            missing[target] += 1
    ready = [number for number, count in enumerate(missing) if not count]
    order, placed = list[int](), set[int]()
    rest = iter(range(len(onward)))
    while len(order) < len(onward):
        number = heapq.heappop(ready) if ready else next(n for n in rest if n not in placed)
        if number in placed:
            continue
        order.append(number)
        placed.add(number)
        for target in onward[number]:
            missing[target] -= 1
            if not missing[target]:
                heapq.heappush(ready, target)
    return order
