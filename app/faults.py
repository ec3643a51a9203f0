"""What Qt complains of, and what no one caught, goes into the log as well as to the terminal."""

from __future__ import annotations

import platform
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

import PySide6
from PySide6.QtCore import QMessageLogContext, QtMsgType, qFormatLogMessage, qInstallMessageHandler, qVersion
from PySide6.QtGui import QGuiApplication

from app.models.log import Log
from gpu_ops import __version__

IDLE = "This plugin does not support propagateSizeHints"
"""Said at every window by platforms without a screen: nobody can do anything about it, and nothing is wrong."""


def quieten_qt() -> None:
    """From now on Qt's messages go to the terminal as before, but for the idle one. Any thread."""
    qInstallMessageHandler(_printed)


def _printed(kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
    if not text.startswith(IDLE) and sys.stderr is not None:  # a desktop launcher on Windows gives none
        print(qFormatLogMessage(kind, context, text), file=sys.stderr)


@contextmanager
def log_faults(log: Log) -> Iterator[None]:
    """Begin the log with the versions, and write into it whatever goes wrong in this process while the block runs."""
    qt = f"Qt {qVersion()} on {QGuiApplication.platformName()}, PySide6 {PySide6.__version__}"
    log.add("window", f"Kernelscope {__version__}, Python {platform.python_version()}, {qt}, {platform.platform()}")
    said_before: Counter[str] = Counter()
    usual, usual_of_threads = sys.excepthook, threading.excepthook

    def said(kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
        if text.startswith(IDLE):
            return
        _printed(kind, context, text)
        line = qFormatLogMessage(kind, context, text)
        said_before[line] += 1
        times = said_before[line]
        # Some messages come at every painting: the first, tenth, hundredth… time is enough to know.
        if times == 10 ** (len(str(times)) - 1):
            again = f" (said {times} times)" if times > 1 else ""
            log.add(f"Qt {kind.name.removeprefix('Qt').removesuffix('Msg').lower()}", line + again)

    def caught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        log.add("error", f"{kind.__name__}: {error}", "".join(traceback.format_exception(kind, error, trace)))
        usual(kind, error, trace)

    def caught_in_thread(told: threading.ExceptHookArgs) -> None:
        name = told.thread.name if told.thread else "a thread"
        trace = traceback.format_exception(told.exc_type, told.exc_value, told.exc_traceback)
        log.add("error", f"{told.exc_type.__name__} in {name}: {told.exc_value}", "".join(trace))
        usual_of_threads(told)

    usual_messages = qInstallMessageHandler(said)
    sys.excepthook, threading.excepthook = caught, caught_in_thread
    try:
        yield
    finally:
        sys.excepthook, threading.excepthook = usual, usual_of_threads
        qInstallMessageHandler(usual_messages)
