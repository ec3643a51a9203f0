"""The files of a batch, found by names, folders and patterns, each with the name of its result; and the results of an
earlier batch that need not be computed again."""

from __future__ import annotations

import glob
import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from gpu_ops.errors import InputError, ReportError, plain
from gpu_ops.io.formats import BY_SUFFIX

SCHEMA = "kernelscope-batch/1"
DONE = ("right", "unverified")
INPUT_FACTS, RESULT_FACTS = ("bytes", "changed_ns"), ("output_bytes", "output_sha256")
"""Fields of a row by which a changed input or result is recognised."""


class Item(NamedTuple):
    """A file, the folder and the `name` of its result without an extension, and the reason if it cannot have one.
    `inputs` are the real paths of all files, which no result may replace."""

    file: Path
    folder: Path
    name: str
    fault: str
    inputs: frozenset[str]

    def path(self, suffix: str) -> Path:
        """The file of the result. Raises InputError if that is one of the inputs."""
        path = self.folder / f"{self.name}{suffix}"
        if os.path.realpath(path) in self.inputs:
            raise InputError(f"{plain(path)} is an input itself; choose another --output-dir or another --format.")
        return path


def find_files(names: Sequence[str]) -> list[Path]:
    """The files that names, folders and patterns refer to, each once, in this order; those of a folder or a pattern by
    name. From a folder, files with the extension of a known format. Raises InputError if one refers to nothing."""
    found: dict[str, Path] = {}
    for name in names:
        for path in _meant(name):
            found.setdefault(os.path.realpath(path), path)
    return list(found.values())


def _meant(name: str) -> list[Path]:
    path = Path(name)
    try:
        if path.is_dir():
            files = sorted(p for p in path.iterdir() if p.suffix.lower() in BY_SUFFIX and not p.name.startswith("."))
            if not files:
                raise InputError(f"{plain(name)} has no file that can be read; the types are {' '.join(BY_SUFFIX)}.")
            return files
        if path.exists() or not glob.has_magic(name):
            return [path]  # a missing file is reported by itself, and the others are processed
        matches = sorted(Path(p) for p in glob.glob(name, recursive=True) if not os.path.isdir(p))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no file name"
        raise InputError(f"{plain(name)} cannot be read ({reason}); check its name and permissions.") from None
    if not matches:
        raise InputError(f"No file is called like {plain(name)}; check the pattern, and put it in quotes.")
    return matches


NAMINGS: tuple[Callable[[Path], str], ...] = (
    lambda file: file.stem,
    lambda file: f"{file.stem}_{file.suffix.removeprefix('.')}",
    lambda file: f"{file.absolute().parent.name}_{file.stem}_{file.suffix.removeprefix('.')}",
)
"""A result is named like its file; if two files have the same name, the extension is added to the name, then the
folder."""


def items(files: Sequence[Path], folder: Path) -> list[Item]:
    """Each file with a unique name of its result."""
    counts = [Counter(naming(file) for file in files) for naming in NAMINGS]
    inputs = frozenset(os.path.realpath(file) for file in files)
    taken: set[str] = set()
    result = []
    for file in files:
        names = (naming(file) for naming, count in zip(NAMINGS, counts, strict=True) if count[naming(file)] == 1)
        name = next((n for n in names if n not in taken), "")
        words = f"{plain(file)} has the same name as another file; rename it, or run it by itself."
        result.append(Item(file, folder, name or NAMINGS[-1](file), "" if name else words, inputs))
        taken.add(name)
    return result


def earlier_rows(target: Path) -> dict[str, Mapping[str, Any]]:
    """The rows of an earlier report by name; {} if there is none. Raises ReportError for any other file."""
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
    """Whether the row's result was computed from this same file with these parameters and still exists: not overwritten
    by another command since, and complete."""
    if earlier.get("params") != json.loads(json.dumps(params)):
        return False
    if earlier.get("status") not in DONE or item.fault or not earlier.get("output"):
        return False
    with suppress(OSError, InputError):
        output = item.path(Path(str(earlier["output"])).suffix)
        if earlier.get("output_bytes") != output.stat().st_size:  # detected without reading it
            return False
        facts = {**stamp(item.file), **result_facts(output)}
        return all(earlier.get(name) == facts.get(name) for name in (*INPUT_FACTS, *RESULT_FACTS))
    return False


def stamp(file: Path) -> dict[str, Any]:
    """Size and time of the input, by which a change is detected; {} if there is no such file."""
    with suppress(OSError):
        found = file.stat()
        return dict(zip(INPUT_FACTS, (found.st_size, found.st_mtime_ns), strict=True))
    return {}


def result_facts(output: Path) -> dict[str, Any]:
    """Size and hash of a result. Raises OSError."""
    with open(output, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return dict(zip(RESULT_FACTS, (file.tell(), digest), strict=True))
