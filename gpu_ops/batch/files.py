"""The files of a batch, found by names, folders and patterns, each with the name of its result; and the results of an
earlier batch that need not be computed again."""

from __future__ import annotations

import glob
import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from gpu_ops.errors import InputError, ReportError, plain
from gpu_ops.io.formats import BY_SUFFIX
from gpu_ops.io.images.stores import ZARR, files_of_store, is_zarr
from gpu_ops.io.known import Stamp, written_as

SCHEMA = "kernelscope-batch/1"
DONE = ("right", "unverified")
NOTHING: Mapping[Stamp, str] = {}
INPUT_FACTS, RESULT_FACTS = ("bytes", "changed_ns"), ("output_bytes", "output_sha256")
"""Fields of a row by which a changed input or result is recognised."""


class Item(NamedTuple):
    """A file by its place in the batch, the folder and the `name` of its result without an extension, and the reason if
    it cannot have one. `inputs` are the names in that folder, beginning with `name`, of files that are inputs
    themselves, which no result may replace."""

    place: int
    file: Path
    folder: Path
    name: str
    fault: str = ""
    inputs: tuple[str, ...] = ()

    def path(self, suffix: str) -> Path:
        """The file of the result. Raises InputError if that is one of the inputs."""
        path = self.folder / f"{self.name}{suffix}"
        if os.path.normcase(path.name) in self.inputs:
            raise InputError(f"{plain(path)} is an input itself; choose another --output-dir or another --format.")
        return path


def find_files(names: Sequence[str]) -> dict[str, str]:
    """The files that names, folders and patterns refer to, each once, by their real paths and in this order; those of a
    folder or a pattern by name. From a folder, files with the extension of a known format. Raises InputError if one
    refers to nothing."""
    found: dict[str, str] = {}
    for name in names:
        for path in _meant(name):
            found.setdefault(_real(path), path)
    return found


def check_apart(files: Mapping[str, str], folder: str) -> None:
    """Raises InputError if one of the files, by its real path, is in the folder of the results: they would be mixed,
    and a later batch over the folder would take results for inputs."""
    real = os.path.realpath(folder)
    file = next((name for path, name in files.items() if os.path.dirname(path) == real), None)
    if file is not None:
        words = f"{plain(folder)} has inputs itself, such as {plain(os.path.basename(file))}"
        raise InputError(f"{words}; write the results to another folder, in which there are none.")


def _real(name: str) -> str:
    """The real path of a file; the text itself where that is one, so that it is stored once."""
    real = os.path.realpath(name)
    return name if name == real else real


def _meant(name: str) -> list[str]:
    try:
        if os.path.isdir(name) and not is_zarr(Path(name)):
            with os.scandir(name) as entries:
                own = [e.name for e in entries if not e.name.startswith(".") and _suffix(e.name) in BY_SUFFIX]
            if not own:
                raise InputError(f"{plain(name)} has no file that can be read; the types are {' '.join(BY_SUFFIX)}.")
            return [str(Path(name, file)) for file in sorted(own)]
        if os.path.exists(name) or not glob.has_magic(name):
            return [str(Path(name))]  # a missing file is reported by itself, and the others are processed
        matches = sorted(str(Path(p)) for p in glob.iglob(name, recursive=True) if _is_one(p))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no file name"
        raise InputError(f"{plain(name)} cannot be read ({reason}); check its name and permissions.") from None
    if not matches:
        raise InputError(f"No file is called like {plain(name)}; check the pattern, and put it in quotes.")
    return matches


def _suffix(name: str) -> str:
    return os.path.splitext(name)[1].lower()


def _is_one(path: str) -> bool:
    """Whether a match of a pattern is a file or a Zarr, and no part of a Zarr, of which `**` finds all."""
    if ZARR in path.lower() and any(part.lower().endswith(ZARR) for part in Path(path).parts[:-1]):
        return False
    return not os.path.isdir(path) or is_zarr(Path(path))


NAMINGS: tuple[Callable[[Path], str], ...] = (
    lambda file: file.stem,
    lambda file: f"{file.stem}_{file.suffix.removeprefix('.')}",
    lambda file: f"{file.absolute().parent.name}_{file.stem}_{file.suffix.removeprefix('.')}",
)
"""A result is named like its file; if two files have the same name, the extension is added to the name, then the
folder, then all folders below those that these files share."""


def items(files: Mapping[str, str], folder: Path) -> Iterator[Item]:
    """Each file, by its real path, with a unique name of its result. They are made one after the other: a batch of many
    files has their names in memory, and nothing else of them."""
    stems = Counter(NAMINGS[0](Path(name)) for name in files.values())
    alike = [path for name in files.values() if stems[NAMINGS[0](path := Path(name))] > 1]
    namings = (*NAMINGS[1:], _with_folders(alike))
    counts = [Counter(naming(path) for path in alike) for naming in namings]
    del alike
    inputs, taken = _inputs_in(folder, files), set[str]()
    for place, file in enumerate(map(Path, files.values())):
        name, fault = NAMINGS[0](file), ""
        if stems[name] > 1:
            names = (own for naming, count in zip(namings, counts, strict=True) if count[own := naming(file)] == 1)
            name = next((n for n in names if n not in taken and n not in stems), "")
            taken.add(name)
            fault = "" if name else f"{plain(file)} has the same name as another file; rename it, or run it by itself."
        name = name or namings[-1](file)
        yield Item(place, file, folder, name, fault, tuple(inputs.get(name, ())))


def _with_folders(files: Sequence[Path]) -> Callable[[Path], str]:
    """A naming with all folders of a file below those that these files share."""
    ends = [one(file.absolute().parent.parts for file in files) for one in (min, max)] if files else []
    shared = max(1, len(os.path.commonprefix(ends)))  # at least the root
    return lambda file: "_".join((*file.absolute().parent.parts[shared:], NAMINGS[1](file)))


def _inputs_in(folder: Path, files: Mapping[str, str]) -> dict[str, list[str]]:
    """The names in a folder that lead to one of the files, by each name that they begin with before a dot."""
    found: dict[str, list[str]] = {}
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if os.path.realpath(entry.path) in files:
                for at in (k for k, letter in enumerate(entry.name) if letter == "."):
                    found.setdefault(entry.name[:at], []).append(os.path.normcase(entry.name))
    return found


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
        if earlier.get("output_bytes") != sum(size for size, _ in _states(output)):  # detected without reading it
            return False
        facts = {**stamp(item.file), **result_facts(output)}
        return all(earlier.get(name) == facts.get(name) for name in (*INPUT_FACTS, *RESULT_FACTS))
    return False


def _states(path: Path) -> list[tuple[int, int]]:
    """Size and time of a file, or of each file of a store. Raises OSError."""
    found = (file.stat() for file in files_of_store(path))
    return [(one.st_size, one.st_mtime_ns) for one in found]


def stamp(file: Path) -> dict[str, Any]:
    """Size and time of the input, by which a change is detected; {} if there is no such file."""
    with suppress(OSError):
        sizes, times = zip(*_states(file), strict=True) if os.path.exists(file) else ((), ())
        return dict(zip(INPUT_FACTS, (sum(sizes), max(times)), strict=True)) if sizes else {}
    return {}


def result_facts(output: Path, noted: Mapping[Stamp, str] = NOTHING) -> dict[str, Any]:
    """Size and hash of a result, which is one of the `noted` if it was hashed while it was written. Raises OSError."""
    state = output.stat()
    if (known := noted.get(written_as(state))) is not None:
        return dict(zip(RESULT_FACTS, (state.st_size, known), strict=True))
    size, digest = 0, hashlib.sha256()
    for part in files_of_store(output):
        with open(part, "rb") as file:
            own = hashlib.file_digest(file, "sha256")
            size += file.tell()
        if not output.is_dir():
            digest = own
        else:
            digest.update(f"{part.relative_to(output).as_posix()}\n".encode() + own.digest())
    return dict(zip(RESULT_FACTS, (size, digest.hexdigest()), strict=True))
