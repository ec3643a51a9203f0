"""The instructions of machine code, so that a profile's can be compared with those of a simulation.

Nsight Compute and nvdisasm write the reuse of registers and the targets of jumps in different ways, and all mnemonics
the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from gpu_ops.devices.sass.listing import SassLine

Instructions = tuple[str, ...]
"""Mnemonics with their suffixes, such as LDG.E.128, in the order of addresses."""
_MNEMONIC = re.compile(r"\s*(?:@\S+\s+)?([A-Z]\w*(?:\.\w+)*)")
"""After a predicate such as @!P0."""


def profiled_instructions(code: Iterable[tuple[int, str]]) -> Instructions:
    """The instructions of a profile, from addresses with the text of Nsight Compute; none where a text is not one."""
    return _mnemonics([(text, f"{address:#x}") for address, text in sorted(code)])


def simulated_instructions(code: Sequence[SassLine]) -> Instructions:
    """The instructions of a kernel's machine code; none where it calls code that it does not have, such as vprintf."""
    if any("CALL.ABS" in line.text for line in code):
        return ()
    return _mnemonics([(line.text, f"`({line.label})") for line in code])


def _mnemonics(lines: Sequence[tuple[str, str]]) -> Instructions:
    """Those of texts, each with its own address as the target of a jump, without what only fills the end: NOPs, and a
    jump to itself."""
    found = [match[1] for text, _ in lines if (match := _MNEMONIC.match(text))]
    if len(found) < len(lines):
        return ()
    while found and (found[-1] == "NOP" or lines[len(found) - 1][0].split() == ["BRA", lines[len(found) - 1][1]]):
        found.pop()
    return tuple(found)
