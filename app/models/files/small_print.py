"""The facts about a result as the few lines below an exported picture. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_ops.errors import plain
from gpu_ops.report.about import SEVERAL

BETWEEN = " · "
HASH_DIGITS = 12
LONGEST_NAME = 60
"""Letters of the input's name: a longer one keeps both ends."""


def small_print(facts: Mapping[str, Any]) -> list[str]:
    """The input, the filter with its parameters, and the machine with the program, each in a line; () of no facts."""
    if not facts:
        return []
    hash = str(facts.get("sha256", ""))[:HASH_DIGITS]
    steps = facts.get("steps", ())
    origin = [
        plain(facts.get("input", ""), LONGEST_NAME),
        *(() if steps == SEVERAL else steps),
        f"SHA-256 {hash}…" if hash else "",
    ]
    values = {**facts.get("parameters", {}), **facts.get("knobs", {})}
    settings = ", ".join(f"{name} {_text(value)}" for name, value in values.items() if value != SEVERAL)
    job = [facts.get("filter", ""), settings, facts.get("variant", ""), facts.get("device model", "")]
    versions = facts.get("versions", {})
    program = f"Kernelscope {versions['kernelscope']}" if "kernelscope" in versions else ""
    commit = str(versions.get("commit", ""))[:HASH_DIGITS]
    place = [facts.get("machine", ""), f"{program} {commit}".strip(), facts.get("time", "")]
    lines = (BETWEEN.join(str(p) for p in parts if p and p != SEVERAL) for parts in (origin, job, place))
    return [line for line in lines if line]


def _text(value: Any) -> str:
    return ", ".join(map(_text, value)) if isinstance(value, list | tuple) else str(value)
