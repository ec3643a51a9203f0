"""The kinds of jobs for the engine, and the rules of each. No widgets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from app.base.translate import QT_TRANSLATE_NOOP

LIVE_MS = 2000
"""Live runs longer than this are stopped for newer choices; a shorter run is shown first, so that dragging a slider
shows every step."""


@dataclass(frozen=True)
class JobKind:
    """One kind of job. Its `text`, in English here, is shown while it runs; its messages are about `subject`.

    The results of a `run` go to the session's own rows and pictures. A `new` run takes the choice at its start; other
    runs continue with the choice of the run before. `simulated` says when picks of a simulated GPU run: with the other
    picks, after them one by one, or never, because they have no times.

    While an `in_line` job runs, the next run waits; after `patience_ms` the job is asked to stop (None: never). A job
    that is not `of_input` continues when the user opens another input. A `beside` job runs concurrently and stops no
    other job.
    """

    id: str
    text: str
    subject: str
    run: bool = False
    new: bool = False
    simulated: Literal["with", "after", "never"] = "with"
    protocol: Literal["none", "quick", "careful"] = "none"
    checks: Literal["full", "sample", "off"] = "sample"
    roofs: bool = False
    in_line: bool = False
    patience_ms: int | None = None
    of_input: bool = True
    beside: bool = False
    aside: bool = False


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
PLAY = replace(LIVE, id="play", checks="off", simulated="never")
"""A live run of one frame of many: its results are shown unverified, so that the next frame need not wait. A simulated
GPU takes longer than a frame lasts: it runs the frame that stays."""
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
    simulated="never",
    protocol="careful",
    checks="full",
    roofs=True,
    in_line=True,
    patience_ms=0,
)
SWEEP = JobKind("sweep", QT_TRANSLATE_NOOP("Jobs", "sweeping"), "sweep", in_line=True)
LOAD = JobKind("load", QT_TRANSLATE_NOOP("Jobs", "loading"), "open")
RESTORE = replace(LOAD, text=QT_TRANSLATE_NOOP("Jobs", "opening the session"), subject="session")
"""Loads the input of a session; it is taken only together with the session's choices."""
FRAME = JobKind("frame", QT_TRANSLATE_NOOP("Jobs", "loading"), "open")
LIVE_FRAME = JobKind("live_frame", QT_TRANSLATE_NOOP("Jobs", "reading live input"), "live")
LIVE_REST = replace(LIVE_FRAME, id="live_rest", of_input=False)
"""Lets a device rest, or gives it back."""
FRAMES = JobKind("frames", QT_TRANSLATE_NOOP("Jobs", "running over all frames"), "save", in_line=True, of_input=False)
PAGE = JobKind("page", QT_TRANSLATE_NOOP("Jobs", "counting for a report"), "save", in_line=True, of_input=False)
SURVEY = JobKind("survey", QT_TRANSLATE_NOOP("Jobs", "reading the file"), "open", of_input=False, beside=True)
PREVIEW = JobKind("preview", QT_TRANSLATE_NOOP("Jobs", "reading the file"), "import", of_input=False, beside=True)
"""The survey of a file whose import dialog is open; the dialog itself shows errors."""
STEPS = JobKind("steps", QT_TRANSLATE_NOOP("Jobs", "changing the input"), "steps", in_line=True)
XRAY = JobKind("xray", QT_TRANSLATE_NOOP("Jobs", "simulating the kernel"), "xray", aside=True)
CONTRACT = JobKind("contract", QT_TRANSLATE_NOOP("Jobs", "checking the contract"), "xray", aside=True)
PREDICTION = JobKind("prediction", QT_TRANSLATE_NOOP("Jobs", "counting launches"), "xray", aside=True)
CLIFFS = JobKind("cliffs", QT_TRANSLATE_NOOP("Jobs", "looking for cliffs"), "xray", aside=True)
BLOCK = JobKind("block", QT_TRANSLATE_NOOP("Jobs", "recording a block"), "xray", aside=True)
TRAFFIC = JobKind("traffic", QT_TRANSLATE_NOOP("Jobs", "recording traffic"), "xray", aside=True)
TIMELINE = JobKind("timeline", QT_TRANSLATE_NOOP("Jobs", "drawing timelines"), "timeline", aside=True)
SAVE = JobKind("save", QT_TRANSLATE_NOOP("Jobs", "saving"), "save", of_input=False)
DOCTOR = JobKind("doctor", QT_TRANSLATE_NOOP("Jobs", "checking this machine"), "doctor", of_input=False)
