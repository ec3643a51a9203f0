"""The engine's process. One thread reads; the main thread does all the work, because CUDA's current context belongs to
a thread."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any, Literal

import numpy as np

from gpu_ops.devices import device_statuses
from gpu_ops.engine.about import activity, is_of_frame
from gpu_ops.engine.ahead import Ahead
from gpu_ops.engine.job_channel import JobChannel
from gpu_ops.engine.jobs import work
from gpu_ops.engine.messages import (
    PROTOCOL,
    Answer,
    CancelRequest,
    Failed,
    Finished,
    Job,
    NonFinite,
    OwnVariants,
    Progress,
    Ready,
    RunRequest,
    SampleRequest,
    SegmentGrant,
    SegmentRelease,
    SurveyRequest,
)
from gpu_ops.engine.surveys import Surveys
from gpu_ops.errors import (
    DeviceError,
    DeviceLost,
    KernelError,
    KernelFault,
    KernelscopeError,
    NonFiniteError,
    WrongResult,
    plain,
)
from gpu_ops.filters import FILTERS
from gpu_ops.io import decoder_process, from_array
from gpu_ops.progress import Cancelled, finite
from gpu_ops.report.provenance import machine
from gpu_ops.running.runner import run_experiment
from gpu_ops.running.verify import full_meta
from gpu_ops.types import Experiment, Pick

QUIET = 2.0
"""Seconds after the start without a request for a file, until the process that reads files is started."""
SLOW = 3.0
"""The delay, in seconds, of a call that KERNELSCOPE_FAULT makes slow."""
LAST_JOB = 2.0
"""Seconds until a job must have ended after the window is gone."""


def serve(connection: Connection, warm: bool = False) -> None:
    """Answer requests until None comes or the window is gone; `warm` says that a window opens, whose first request
    takes a while. It does not return: it ends the process."""
    with suppress(OSError, ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the window decides when to stop
    channel = JobChannel(connection)
    jobs: SimpleQueue[Job | SegmentRelease | OwnVariants | None] = SimpleQueue()
    surveys = Surveys(lambda request, look: _attempt(request, look, channel.send_concurrent), channel.send_concurrent)
    threading.Thread(target=_read, args=(connection, channel, jobs, surveys), name="reader", daemon=True).start()
    threading.Thread(target=channel.beat, name="heartbeat", daemon=True).start()
    with suppress(OSError):  # the window is gone
        channel.send(Ready(PROTOCOL, device_statuses()))
        warming = threading.Timer(QUIET, decoder_process.warm)
        warming.daemon = True
        warming.start()
        if warm:
            _warm_up(jobs.empty)
        ahead = Ahead()
        while (job := jobs.get()) is not None:
            if isinstance(job, SegmentRelease):
                channel.forget(job.segment)
            elif isinstance(job, OwnVariants):
                FILTERS.set_own(job.own)
            else:
                ahead.stop(wait=isinstance(job, RunRequest) and job.protocol != "none")
                _do(channel, job)
                if isinstance(job, RunRequest) and jobs.empty():
                    with suppress(KernelscopeError):  # its run has said what is wrong
                        ahead.begin(job, full_meta(channel.input(job.input)))
    _leave(0)


def _warm_up(idle: Callable[[], bool]) -> None:
    """Import what the first picture of a window and its verdict need: run the first filter's libraries on a small
    image, as long as no job waits. Loops are not loaded yet: the picture would wait for them."""
    filter = FILTERS.find(FILTERS[0].family, "image")
    image = from_array(np.arange(64 * 64, dtype=np.uint8).reshape(64, 64))
    picks = tuple(Pick(v.id, "cpu") for v in map(filter.variant, filter.picked) if v.device == "cpu" and v.library)
    with suppress(KernelscopeError, Cancelled):  # a run that the user wants says what is wrong
        for _ in run_experiment(Experiment(filter.id, image, {}, picks, "none"), stop=lambda: not idle()):
            pass
    machine(["cpu"], with_roofs=False)


def _read(connection: Connection, channel: JobChannel, jobs: SimpleQueue[Any], surveys: Surveys) -> None:
    """Read messages until the window is gone, or sends an unreadable one. A CancelRequest or a SegmentGrant concerns
    the running job, or a survey, which runs concurrently; all others are queued."""
    with suppress(Exception):
        while (message := connection.recv()) is not None:
            if isinstance(message, CancelRequest):
                if not surveys.drop(message.job):
                    channel.cancelled_job = message.job
            elif isinstance(message, SurveyRequest):
                surveys.take(message)
            elif isinstance(message, SegmentGrant):
                channel.grants.put(message)
            else:
                jobs.put(message)
    jobs.put(None)
    channel.cancelled_job = channel.job
    time.sleep(LAST_JOB)
    os._exit(1)


def _do(channel: JobChannel, job: Job) -> None:
    """Do one job, ending with its Finished or Failed."""
    channel.begin(job.job, of_frame=is_of_frame(job))

    def do() -> None:
        _inject_fault(channel, job)
        work(channel, job)

    _attempt(job, do, channel.send)


def _attempt(job: Job, do: Callable[[], None], send: Callable[[Answer], None]) -> None:
    """Do the work of a job and send its Finished or Failed."""
    try:
        do()
        send(Finished(job.job))
    except Cancelled:
        send(Finished(job.job, cancelled=True))
    except NonFiniteError as error:
        choice = NonFinite(error.nan, error.infinite, error.choices)
        send(Failed(job.job, f"{error.problem}.", nonfinite=choice))
    except KernelscopeError as error:
        send(Failed(job.job, str(error), getattr(error, "log", ""), _kind(error)))
        if isinstance(error, KernelFault | DeviceLost):
            _leave(error.exit_code)  # the device's context is lost with everything in it
    except MemoryError:
        send(Failed(job.job, "There is not enough memory for this; use a smaller input.", kind="device"))
    except Exception as error:
        what = f"{type(error).__name__}: {plain(error)}"
        sentence = f"The engine met an unexpected error while it {activity(job)} ({what}); the details say where."
        send(Failed(job.job, sentence, traceback.format_exc(), "engine"))


def _kind(error: KernelscopeError) -> Literal["input", "kernel", "device"]:
    if isinstance(error, KernelError | WrongResult):
        return "kernel"
    return "device" if isinstance(error, DeviceError) else "input"


def _leave(code: int) -> None:
    """End the process without its clean-up, which may hang after a device has failed."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def _inject_fault(channel: JobChannel, job: Job) -> None:
    """For tests only: inject the fault that KERNELSCOPE_FAULT names into runs and samples."""
    fault = os.environ.get("KERNELSCOPE_FAULT")
    if fault is None or not isinstance(job, RunRequest | SampleRequest):
        return
    if fault != "mute":
        channel.send(Progress(job.job, f"about to {fault}"))
    if fault == "crash":
        os._exit(1)
    if fault == "segfault":
        ctypes.string_at(0)
    if fault == "slow":
        with finite():
            time.sleep(SLOW)
    while fault in ("hang", "mute"):
        time.sleep(60)
