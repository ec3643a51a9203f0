"""Timelines with launch blocking: CUDA reads CUDA_LAUNCH_BLOCKING when a process makes its first context, so that a
process of its own measures them."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from typing import Any

from gpu_ops import processes
from gpu_ops.errors import DeviceError, KernelscopeError, plain
from gpu_ops.explaining.spans import Timeline
from gpu_ops.explaining.timeline import BLOCKING, TimelineJob, is_blocking, timeline
from gpu_ops.filters import FILTERS
from gpu_ops.progress import advance

SERVE = "from gpu_ops.explaining.blocked import serve; serve()"
POLL = 0.05


def any_timeline(of: TimelineJob) -> Timeline:
    """See `gpu_ops.explaining.timeline.timeline`. With launch blocking a GPU is measured in a new process."""
    if of.queues.launch_blocking and of.device.startswith("cuda") and not is_blocking():
        return blocked_timeline(of)
    return timeline(of)


def blocked_timeline(of: TimelineJob) -> Timeline:
    """The timeline of a variant, measured in a new process whose host waits for each kernel. Raises what `timeline`
    raises, Cancelled, and DeviceError where the process dies."""
    about = {"device": of.device, "input": of.input}
    about |= {"params": dict(of.params), "knobs": dict(of.knobs), "edits": dict(of.edits)}
    request = pickle.dumps((FILTERS.own, of.filter.id, of.variant.id, about))
    variables = {**processes.environment(), BLOCKING: "1"}
    command = [sys.executable, "-P", "-c", SERVE]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, env=variables, cwd=processes.FOLDER) as child:
        answers: list[bytes] = []
        talk = threading.Thread(target=lambda: answers.append(child.communicate(request)[0]), daemon=True)
        talk.start()
        try:
            while talk.is_alive():
                talk.join(POLL)
                advance(0, 1)
        finally:
            child.kill()
            talk.join()
    answer: Any = pickle.loads(answers[0]) if answers and answers[0] else None
    if isinstance(answer, Timeline):
        return answer
    if isinstance(answer, KernelscopeError):
        raise answer
    raise DeviceError(f"The process that measures with {BLOCKING}=1 ended with code {child.returncode} and no answer.")


def serve() -> None:
    """Answer the request on standard input, in a process that blocked_timeline started. What is printed meanwhile goes
    to standard error."""
    own, filter_id, variant_id, about = pickle.load(sys.stdin.buffer)
    answers, sys.stdout = sys.stdout, sys.stderr
    FILTERS.set_own(own)
    filter = FILTERS.find(filter_id)
    answer: Timeline | KernelscopeError
    try:
        answer = timeline(TimelineJob(filter, filter.variant(variant_id), **about))
    except KernelscopeError as error:
        answer = type(error)(str(error)) if _is_plain(error) else DeviceError(plain(error))
    answers.buffer.write(pickle.dumps(answer))
    answers.buffer.flush()
    os._exit(0)  # a lost device's clean-up would only fail


def _is_plain(error: KernelscopeError) -> bool:
    """Whether an error is made of its sentence alone, and survives the way to another process."""
    return error.args == (str(error),)
