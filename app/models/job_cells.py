"""A row's job as cells of a CSV table: the C locale, and JSON where one word is not enough.

No Qt.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from gpu_ops.measuring.rows import Row


def job_cells(row: Row) -> dict[str, str]:
    """The parameters, knobs, shape and input of a row; empty where the row does not say."""
    cells = {"params": json.dumps(row.params), "knobs": json.dumps(row.knobs), "shape": "x".join(map(str, row.shape))}
    return {**cells, "input": input_name(row.input), "input_hash": str(row.input.get("hash", ""))}


def input_name(origin: Mapping[str, Any]) -> str:
    """The name of an input's file, or its sample with the options: "noise seed=0 size=64x64"."""
    if "path" in origin:
        return PurePath(str(origin["path"])).name
    options = [
        f"{name}={value}" for name, value in sorted(origin.items()) if name not in ("generator", "steps", "hash")
    ]
    return " ".join([str(origin.get("generator", "")), *options]).strip()
