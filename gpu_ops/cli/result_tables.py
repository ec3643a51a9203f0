"""The tables of recorded results: printed, or written into the marked sections of Markdown files."""

from __future__ import annotations

import argparse
from pathlib import Path

from gpu_ops.cli.measure import emit
from gpu_ops.errors import InputError, ParamError, plain
from gpu_ops.explaining.recorded_tables import TABLES
from gpu_ops.explaining.result_tables import rewritten, table_text
from gpu_ops.io import replacing
from gpu_ops.params import nearest


def tables(args: argparse.Namespace) -> int:
    """Print every table, or the named ones; with --write fill the sections of these files."""
    for name in args.tables:
        if name not in TABLES:
            near = nearest(name, list(TABLES))
            raise ParamError(f"There is no table {plain(name, 60)!r}{near}; choose from {', '.join(TABLES)}.")
    if args.write and (args.tables or args.json):
        raise ParamError("--write fills every section of its files; leave out the names of tables and --json.")
    for name in args.write:
        print(f"{plain(name)}: {_write(Path(name))}")
    if args.write:
        return 0
    texts = {name: table_text(TABLES[name]) for name in args.tables or TABLES}
    if args.json:
        emit(args.json, {"tables": texts})
    if args.json != "-":
        for name, text in texts.items():
            print(f"{name}\n\n{text}")
    return 0


def _write(path: Path) -> str:
    """Fill the sections of one file. Returns what was done. Raises InputError."""
    try:
        before = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no text in UTF-8"
        raise InputError(f"{plain(path)} cannot be read ({reason}); name Markdown files after --write.") from error
    after = rewritten(before, TABLES)
    if after == before:
        return "up to date"
    with replacing(path) as file:
        file.write(after.encode())
    return "rewritten"
