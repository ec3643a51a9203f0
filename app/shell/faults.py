"""Writes Qt's warnings and uncaught exceptions to the log as well as to the terminal."""

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
"""A platform without a screen prints this for every window; nothing is wrong."""


def quieten_qt() -> None:
    """Print Qt's messages to the terminal without the harmless one (IDLE). Any thread."""
    qInstallMessageHandler(_print)


def _print(kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
    if not text.startswith(IDLE) and sys.stderr is not None:  # None under a desktop launcher on Windows
        print(qFormatLogMessage(kind, context, text), file=sys.stderr)


@contextmanager
def log_faults(log: Log) -> Iterator[None]:
    """Log the versions, then everything that goes wrong in this process while the block runs."""
    qt = f"Qt {qVersion()} on {QGuiApplication.platformName()}, PySide6 {PySide6.__version__}"
    log.add("window", f"Kernelscope {__version__}, Python {platform.python_version()}, {qt}, {platform.platform()}")
    counts: Counter[str] = Counter()
    default_hook, default_thread_hook = sys.excepthook, threading.excepthook

    def on_message(kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
        if text.startswith(IDLE):
            return
        _print(kind, context, text)
        line = qFormatLogMessage(kind, context, text)
        counts[line] += 1
        times = counts[line]
        # Some messages are repeated at every paint: log only the first, tenth, hundredth… time.
        if times == 10 ** (len(str(times)) - 1):
            again = f" ({times} times)" if times > 1 else ""
            log.add(f"Qt {kind.name.removeprefix('Qt').removesuffix('Msg').lower()}", line + again)

    def on_exception(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        log.add("error", f"{kind.__name__}: {error}", "".join(traceback.format_exception(kind, error, trace)))
        default_hook(kind, error, trace)

    def on_thread_exception(args: threading.ExceptHookArgs) -> None:
        name = args.thread.name if args.thread else "a thread"
        trace = traceback.format_exception(args.exc_type, args.exc_value, args.exc_traceback)
        log.add("error", f"{args.exc_type.__name__} in {name}: {args.exc_value}", "".join(trace))
        default_thread_hook(args)

    default_handler = qInstallMessageHandler(on_message)
    sys.excepthook, threading.excepthook = on_exception, on_thread_exception
    try:
        yield
    finally:
        sys.excepthook, threading.excepthook = default_hook, default_thread_hook
        qInstallMessageHandler(default_handler)
