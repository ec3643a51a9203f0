"""exercise: give a class a kernel to write, check one's own, hand it in, and check what comes back."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gpu_ops.cli.measure import emit
from gpu_ops.cli.tables import align
from gpu_ops.counters import counter_name
from gpu_ops.errors import FINE, WRONG, InputError, ParamError, counted, plain, shortened
from gpu_ops.filters import FILTERS
from gpu_ops.html import page, table
from gpu_ops.io import replacing
from gpu_ops.lessons.exercises import (
    SUBMISSIONS,
    Exercise,
    Submission,
    differs,
    find_exercise,
    is_template,
    make_folder,
    read_exercise,
    read_submission,
    shipped_exercises,
    submission_of,
)
from gpu_ops.own_kernels.checking import COMPARED, Verdict, check_files, counted_launch
from gpu_ops.report.files import read_report
from gpu_ops.report.machines import device_model
from gpu_ops.report.rows import Report
from gpu_ops.run_key import hash_of_edits
from gpu_ops.version import __version__

ORDER = ("right", "wrong", "failed")
UNCHANGED = "the template is unchanged; write the kernel between its braces, save the file, and check that file"
NOT_MEASURED, NO_VERDICT, NO_FILE = "not measured", "no verdict", "–"
MISSING = (NOT_MEASURED, NO_VERDICT, NO_FILE)
"""What a cell says that has no value."""


def add_exercise(commands: Any) -> None:
    """The command `exercise` with its four actions."""
    text = "give a class a kernel to write, check one's own, hand it in, and check what comes back"
    parser = commands.add_parser("exercise", help=text, description=text)
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    one = actions.add_parser("list", help="the shipped exercises")
    one.set_defaults(act=_list)
    one = actions.add_parser("make", help="write the folder of an exercise: task, template and limits")
    one.add_argument("exercise", metavar="EXERCISE", help="an id (kernelscope exercise list), or a file of TOML")
    one.add_argument("folder", nargs="?", metavar="FOLDER", help="a new or empty folder (default: the id)")
    one.set_defaults(act=_make)
    one = actions.add_parser("check", help="hold kernels to an exercise, with a line for each")
    one.add_argument("folder", metavar="FOLDER", help="the folder of the exercise")
    one.add_argument("files", nargs="*", metavar="FILE", help=f"kernels or submissions (default: FOLDER/{SUBMISSIONS})")
    one.add_argument("--jobs", type=int, default=0, metavar="N", help="files at a time (default: one per processor)")
    one.add_argument("--json", metavar="FILE", help="the results; - is standard output")
    one.add_argument("--html", metavar="FILE.html", help="a page for the class")
    text = "a report with rows of a GPU for these kernels, for their shares of the roof; may be repeated"
    one.add_argument("--measured", action="append", default=[], metavar="REPORT.json", help=text)
    one.set_defaults(act=_check)
    one = actions.add_parser("submit", help="write one file with a kernel and its counters, for the teacher")
    one.add_argument("folder", metavar="FOLDER", help="the folder of the exercise")
    one.add_argument("file", metavar="FILE.cu", help="the kernel")
    one.add_argument("--student", required=True, metavar="NAME", help="whose it is")
    one.add_argument("--output", metavar="FILE.json", help="default: the name of the kernel file, with .json")
    one.set_defaults(act=_submit)
    parser.set_defaults(json=None, command=run)


def run(args: argparse.Namespace) -> int:
    """List, make or check exercises, or submit a kernel. Exit code 3 where a kernel is not right."""
    act: Callable[[argparse.Namespace], int] = args.act
    return act(args)


def _list(_: argparse.Namespace) -> int:
    rows = [(e.id, e.check.filter, e.check.variant, e.title) for e in shipped_exercises()]
    print(align([("id", "filter", "variant", "exercise"), *rows]))
    return FINE


def _make(args: argparse.Namespace) -> int:
    exercise = find_exercise(args.exercise)
    folder = Path(args.folder or exercise.id)
    print(f"{plain(folder)}: {', '.join(make_folder(exercise, folder))}")
    return FINE


def _check(args: argparse.Namespace) -> int:
    exercise = read_exercise(_folder(args.folder))
    measured = [read_report(path) for path in args.measured]
    submissions, unread = _read([Path(name) for name in args.files] or _submitted(Path(args.folder)))
    verdicts = {name: Verdict(name, "", "failed", "no case ran", reason) for name, reason in unread.items()}
    quiet = args.json == "-"
    for verdict in verdicts.values():
        _say(verdict, quiet)
    for verdict in _verdicts(exercise, {name: one.text for name, one in submissions.items()}, args.jobs):
        verdicts[verdict.file] = verdict
        _say(verdict, quiet)
    shares = {name: _share(exercise, one.text, measured) for name, one in submissions.items()}
    rows = _rows(submissions, verdicts, shares)
    if args.json:
        emit(args.json, _content(exercise, rows))
    if args.html:
        with replacing(args.html) as file:
            file.write(_page(exercise, rows).encode())
    wrong = sum(row["status"] != "right" for row in rows)
    if not quiet:
        print(_about(exercise, rows))
        print(align(_table(rows), frozenset(range(2, 2 + len(COMPARED)))))
        print(f"{len(rows) - wrong} of {len(rows)} right ({plain(exercise.title, 120)})")
    return WRONG if wrong else FINE


def _submit(args: argparse.Namespace) -> int:
    exercise, path = read_exercise(_folder(args.folder)), Path(args.file)
    target = Path(args.output) if args.output else path.with_suffix(".json")
    if not args.student.strip():
        raise ParamError("--student is empty; give the name under which your teacher knows you.")
    text = read_submission(path).text
    (verdict,) = _verdicts(exercise, {path.name: text})
    _say(verdict, False)
    with replacing(target) as file:
        file.write((json.dumps(submission_of(exercise, args.student, text, verdict), indent=1) + "\n").encode())
    ready = "is ready to hand in" if verdict.status == "right" else "is written, but the kernel is not right yet"
    print(f"{plain(target)} {ready}.")
    return FINE if verdict.status == "right" else WRONG


def _folder(name: str) -> Path:
    if not Path(name).is_dir():
        raise InputError(f"{plain(name)} is no folder; make one with kernelscope exercise make.")
    return Path(name)


def _submitted(folder: Path) -> list[Path]:
    """What has come back. Raises InputError where nothing has."""
    found = sorted(p for p in (folder / SUBMISSIONS).glob("*") if p.suffix in (".cu", ".json"))
    if not found:
        raise InputError(f"{plain(folder.name)}/{SUBMISSIONS} has no .cu and no .json; put them there, or name them.")
    return found


def _read(paths: Sequence[Path]) -> tuple[dict[str, Submission], dict[str, str]]:
    """The submissions by a name for their lines, and why others cannot be read."""
    found, unread = dict[str, Submission](), dict[str, str]()
    for path in paths:
        try:
            one = read_submission(path)
        except InputError as error:
            unread[path.name] = error.sentence()
            continue
        name = f"{one.student}.cu"
        found[f"{one.student} ({path.name}).cu" if name in found else name] = one
    return found, unread


def _verdicts(exercise: Exercise, texts: Mapping[str, str], jobs: int = 0) -> Iterator[Verdict]:
    """The verdict on each kernel; a template that nobody has written in is not run."""
    empty = [name for name, text in texts.items() if is_template(exercise, text)]
    for name in empty:
        yield Verdict(name, exercise.check.key(texts[name]), "wrong", "no case ran", UNCHANGED)
    yield from check_files(exercise.check, {name: texts[name] for name in texts if name not in empty}, jobs)


def _share(exercise: Exercise, text: str, measured: Sequence[Report]) -> str:
    """The largest share of the roof that a GPU reached with this kernel, and the GPU; "not measured" without a row."""
    check = exercise.check
    file = FILTERS.find(check.filter).variant(check.variant).kernels[0]
    key = check.filter, check.variant, hash_of_edits({file: text})
    rows = [
        (row.share, device_model(report.provenance, row.device))
        for report in measured
        for row in report.rows
        if (row.filter, row.variant, row.edits) == key and row.ok and row.share is not None
    ]
    return "{:.0%} ({})".format(*max(rows)) if rows else NOT_MEASURED


def _say(verdict: Verdict, quiet: bool) -> None:
    if not quiet:
        print(verdict, flush=True)


def _rows(
    submissions: Mapping[str, Submission], verdicts: Mapping[str, Verdict], shares: Mapping[str, str]
) -> list[dict[str, Any]]:
    """A row for each student: those that are right first, and of these the one with the fewest sectors."""
    rows = []
    for name, verdict in verdicts.items():
        one = submissions.get(name)
        own = {"student": one.student if one else name, "status": verdict.status, "cases": verdict.cases}
        more = {"roof": shares.get(name, NOT_MEASURED), "handed_in": _handed_in(one, verdict)}
        rows.append({**own, "fault": verdict.text, "counters": verdict.totals, **more})
    return sorted(rows, key=_place)


def _handed_in(one: Submission | None, verdict: Verdict) -> str:
    """How the verdict that a student has sent compares with the one here."""
    if one is None:
        return NO_FILE
    return (differs(one.claimed, verdict) or "agrees") if one.claimed else NO_VERDICT


def _place(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Right ones by sectors and instructions, the others after them."""
    counters = row["counters"]
    return ORDER.index(row["status"]), *(counters.get(id, 0) for id in COMPARED), row["student"]


def _table(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """The heading and a line for each row."""
    more = _known(rows)
    lines = [["student", "verdict", *(counter_name(id) for id in COMPARED), *(more[name] for name in more)]]
    for row in rows:
        numbers = [_number(row["counters"].get(id)) for id in COMPARED]
        lines.append([plain(row["student"], 40), row["status"], *numbers, *(row[name] for name in more)])
    return lines


def _known(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The headings of what at least one row has: a student who checks a kernel has measured and handed in nothing."""
    names = {"roof": "of the roof", "handed_in": "handed in"}
    return {name: title for name, title in names.items() if any(row[name] not in MISSING for row in rows)}


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.3g}"


def _about(exercise: Exercise, rows: Sequence[Mapping[str, Any]]) -> str:
    """What the numbers of the table are."""
    check = exercise.check
    filter = FILTERS.find(check.filter)
    array = counted_launch(filter, filter.variant(check.variant), check.architecture)[0].array
    size = " × ".join(f"{n:,}" for n in array.shape)
    text = f"Counters are those of one launch on {size} {array.dtype} values; conditions: {check.gate or 'none'}."
    more = {
        "roof": "Of the roof: the share that a GPU measured (--measured).",
        "handed_in": "Handed in: whether the verdict and the counters in a student's own file agree with those here.",
    }
    return " ".join([text, *(more[name] for name in _known(rows))])


def _content(exercise: Exercise, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Schema kernelscope-class/1, the same for the same files on every machine."""
    how = {name: getattr(exercise.check, name) for name in ("filter", "variant", "architecture", "gate")}
    own = {"exercise": exercise.title, **how, "students": list(rows)}
    return {"schema": "kernelscope-class/1", "kernelscope": __version__, **own}


def _page(exercise: Exercise, rows: Sequence[Mapping[str, Any]]) -> str:
    """A page for the class: who is right, with what counters, and the first fault of the others."""
    right = sum(row["status"] == "right" for row in rows)
    heading, *lines = _table(rows)
    faults = [[row["student"], row["cases"], shortened(row["fault"])] for row in rows if row["fault"]]
    title = f"{exercise.title}: {counted(right, 'solution')} of {len(rows)} right"
    parts = [table(heading, lines, len(rows))]
    parts += [table(("student", "cases", "first fault"), faults, len(rows))] if faults else []
    check = exercise.check
    about = f"Each kernel in place of {check.filter} {check.variant} on a simulated GPU of {check.architecture}. "
    about += f"{_about(exercise, rows)} Kernelscope {__version__}."
    return page(title, about, *parts)
