"""What of an earlier batch need not be made again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from gpu_ops.cli.batch_files import Item
from gpu_ops.errors import InputError, ReportError, plain

SCHEMA = "kernelscope-batch/1"
DONE = ("right", "unverified")
INPUT_FACTS, RESULT_FACTS = ("bytes", "changed_ns"), ("output_bytes", "output_sha256")
"""What a row says of a file and of its result, by which another content of either is seen."""


def earlier_rows(target: Path) -> dict[str, Mapping[str, Any]]:
    """The rows of an earlier report by name; {} where there is none. Raises ReportError for another file."""
    if not target.exists():
        return {}
    try:
        content = json.loads(target.read_text(encoding="utf-8"))
        if content["schema"].partition("/")[0] != SCHEMA.partition("/")[0] or content["schema"] > SCHEMA:
            raise ReportError(f"{plain(target)} is a report of another kind or a newer version; choose another --json.")
        return {str(row["name"]): row for row in content["files"]}
    except (ValueError, KeyError, TypeError, AttributeError, OSError, RecursionError):
        raise ReportError(f"{plain(target)} is no report of many files; choose another file for --json.") from None


def is_done(earlier: Mapping[str, Any], item: Item, params: Mapping[str, Any]) -> bool:
    """Whether the row's result was made of this same file with these parameters, and is still there: not one of
    another command that wrote to the same name since, and not half of one."""
    if earlier.get("params") != json.loads(json.dumps(params)):
        return False
    if earlier.get("status") not in DONE or item.fault or not earlier.get("output"):
        return False
    with suppress(OSError, InputError):
        output = item.path(Path(str(earlier["output"])).suffix)
        if earlier.get("output_bytes") != output.stat().st_size:  # seen without reading it
            return False
        facts = {**stamp(item.file), **result_facts(output)}
        return all(earlier.get(name) == facts.get(name) for name in (*INPUT_FACTS, *RESULT_FACTS))
    return False


def stamp(file: Path) -> dict[str, Any]:
    """Size and time of the input, by which a change is seen; {} where there is no such file."""
    with suppress(OSError):
        found = file.stat()
        return dict(zip(INPUT_FACTS, (found.st_size, found.st_mtime_ns), strict=True))
    return {}


def result_facts(output: Path) -> dict[str, Any]:
    """Size and hash of a result. Raises OSError."""
    with open(output, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return dict(zip(RESULT_FACTS, (file.tell(), digest), strict=True))
