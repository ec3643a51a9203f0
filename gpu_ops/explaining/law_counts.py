"""The recorded steps of the sources' laws, counted by a simulated GPU."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from gpu_ops.errors import InputError

RECORDED = Path(__file__).resolve().parent.parent.parent / "resources" / "recorded" / "simulated" / "laws.json"
SCHEMA = "kernelscope-laws/1"
Steps = Mapping[tuple[str, int, int], int]
"""Counted steps by law, n and number of processors."""


def laws_json(counted: Steps, architecture: str) -> dict[str, Any]:
    """Counts as the content of a file."""
    points = [{"law": law, "n": n, "p": p, "steps": steps} for (law, n, p), steps in counted.items()]
    return {"schema": SCHEMA, "architecture": architecture, "points": points}


@cache
def recorded_steps() -> Steps:
    """The counts that are shipped with the product. Raises InputError when the file is not valid."""
    try:
        content = json.loads(RECORDED.read_text(encoding="utf-8"))
        if content["schema"] != SCHEMA:
            raise ValueError
        return {(str(one["law"]), int(one["n"]), int(one["p"])): int(one["steps"]) for one in content["points"]}
    except (OSError, LookupError, TypeError, ValueError):
        raise InputError(f"{RECORDED} holds no {SCHEMA}; write it anew: kernelscope claims --count FILE.") from None
