"""The kinds of jobs that the engine gets, and what each of them is and may do. No widgets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from app.translate import QT_TRANSLATE_NOOP

LIVE_MS = 2000
"""A live run that takes longer gives way to newer choices; a shorter one is shown first, so that dragging shows all."""


@dataclass(frozen=True)
class JobKind:
    """One kind of job. Its `text`, in English here, is shown while it runs; its messages are about `subject`.

    The results of a `run` go to the session's own rows and pictures; one that is `new` is of the choice as it is when
    it begins, others go on with the choice of the one before. `simulated` says when a simulated GPU has its turn: with
    the other picks, after them one by one, or never, as it has no time.

    The next run waits `in_line` until such a job has ended. After `patience_ms` it asks the job to stop; None is never.
    What is not `of_input` goes on when another input is wanted.
    """

    id: str
    text: str
    subject: str
    run: bool = False
    new: bool = False
    simulated: Literal["with", "after", "never"] = "with"
    protocol: Literal["none", "quick", "careful"] = "none"
    checks: Literal["full", "sample"] = "sample"
    roofs: bool = False
    in_line: bool = False
    patience_ms: int | None = None
    of_input: bool = True


LIVE = JobKind(
    "live",
    QT_TRANSLATE_NOOP("Jobs", "running"),
    "run/job",
    run=True,
    new=True,
    simulated="after",
    in_line=True,
    patience_ms=LIVE_MS,
)
SIMULATE = JobKind("simulate", QT_TRANSLATE_NOOP("Jobs", "running"), "simulate", run=True, in_line=True, patience_ms=0)
TIME = JobKind(
    "time",
    QT_TRANSLATE_NOOP("Jobs", "timing"),
    "run/job",
    run=True,
    simulated="never",
    protocol="quick",
    in_line=True,
    patience_ms=0,
)
MEASURE = JobKind(
    "measure",
    QT_TRANSLATE_NOOP("Jobs", "measuring"),
    "run/job",
    run=True,
    new=True,
    protocol="careful",
    checks="full",
    roofs=True,
    in_line=True,
    patience_ms=0,
)
SWEEP = JobKind("sweep", QT_TRANSLATE_NOOP("Jobs", "sweeping"), "sweep", in_line=True)
LOAD = JobKind("load", QT_TRANSLATE_NOOP("Jobs", "loading"), "open")
XRAY = JobKind("xray", QT_TRANSLATE_NOOP("Jobs", "looking into the kernel"), "xray")
SAVE = JobKind("save", QT_TRANSLATE_NOOP("Jobs", "saving"), "save", of_input=False)
DOCTOR = JobKind("doctor", QT_TRANSLATE_NOOP("Jobs", "examining this machine"), "doctor", of_input=False)
