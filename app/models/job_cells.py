"""What a row was of, as cells of a table that is read by machines: the C locale, JSON where there is more than a word.

No Qt.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any


def job_cells(row: Mapping[str, Any]) -> dict[str, str]:
    """The parameters, knobs, shape and input of a report's row; empty where the row does not say."""
    origin = row.get("input") or {}
    found = {name: json.dumps(row[name]) if name in row else "" for name in ("params", "knobs")}
    shape = "x".join(str(n) for n in row.get("shape", ()))
    return {**found, "shape": shape, "input": input_name(origin), "input_hash": str(origin.get("hash", ""))}


def input_name(origin: Mapping[str, Any]) -> str:
    """The name of an input's file, or its sample with what that was told: "noise seed=0 size=64x64"."""
    if "path" in origin:
        return PurePath(str(origin["path"])).name
    options = [
        f"{name}={value}" for name, value in sorted(origin.items()) if name not in ("generator", "steps", "hash")
    ]
    return " ".join([str(origin.get("generator", "")), *options]).strip()


def device_model(provenance: Mapping[str, Any], device: str) -> str:
    """What a device is called in a machine's provenance; "" where that does not know it."""
    return str(provenance.get("devices", {}).get(device, {}).get("model") or "")
