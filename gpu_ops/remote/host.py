"""The engine for a window on another machine: it speaks on standard input and output, and outlives a lost connection
for a while, so that nothing is lost with it."""

from __future__ import annotations

import os
import platform
import re
import socket
import sys
import threading
import time
import traceback
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from gpu_ops.engine.about import segments_of_answer
from gpu_ops.engine.client import EngineClient
from gpu_ops.engine.messages import (
    PROTOCOL,
    Answer,
    CancelRequest,
    Failed,
    Finished,
    OwnVariants,
    Request,
    RunRequest,
    RunUpdate,
)
from gpu_ops.engine.shared import SharedArray
from gpu_ops.errors import DeviceError, DeviceMemoryError, ParamError, plain
from gpu_ops.filters import FILTERS
from gpu_ops.remote.codec import decoded, encoded
from gpu_ops.remote.line import Connection, Line, read_hello
from gpu_ops.remote.sending import Sending
from gpu_ops.remote.store import Store
from gpu_ops.remote.turns import Turns, door
from gpu_ops.remote.wire import DATA, HELLO, MESSAGE, Decoder, Frame, headed, note
from gpu_ops.version import __version__

MAGIC = b"kernelscope engine speaks from here on"
"""The line after which frames follow: whatever a login shell prints comes before it."""
PATIENCE = 15.0
"""Seconds that an engine waits for its window after the connection was lost."""


def folder() -> Path:
    """The user's own folder for sockets. Raises DeviceError if it belongs to someone else."""
    base = os.environ.get("XDG_RUNTIME_DIR") or "/tmp"
    path = Path(base) / f"kernelscope-{os.getuid()}"
    path.mkdir(mode=0o700, exist_ok=True)
    found = path.lstat()
    if found.st_uid != os.getuid() or found.st_mode & 0o077 or path.is_symlink():
        raise DeviceError(f"{path} belongs to another user or is open to others; remove it there.")
    return path


def serve(session: str) -> int:
    """Serve the window with this session on standard input and output: continue one that has lost its connection, or
    begin it. Returns when the window is gone for good."""
    if sys.platform == "win32":
        raise DeviceError("An engine host is a Linux or macOS machine; start Kernelscope's window here instead.")
    if not re.fullmatch(r"[0-9a-f]{8,32}", session):
        raise ParamError("--session is a name of 8 to 32 hexadecimal digits; a window chooses it.")
    reads, writes = os.dup(0), os.dup(1)
    os.dup2(2, 1)  # libraries and kernels that print must not print between frames
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    path, window = folder() / f"{session}.socket", Connection(reads, writes)
    with door(path.parent):
        known = _connected(path)
        listening = None if known else _listening(path)
    if known is not None:
        _bridge(known, window)
    if listening is None:
        with door(path.parent):
            listening = _listening(path)
    return Host(path).serve(window, listening)


def _connected(path: Path) -> socket.socket | None:
    """A connection to the engine that listens here, None without one."""
    known = socket.socket(socket.AF_UNIX)
    try:
        known.connect(str(path))
    except OSError:
        known.close()
        return None
    return known


def _listening(path: Path) -> socket.socket:
    """A socket of this process at the path, in place of one that does not answer."""
    with suppress(OSError):
        path.unlink()
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(path))
    listening.listen()
    return listening


def _bridge(known: socket.socket, window: Connection) -> None:
    """Copy bytes between a new connection and the engine that already serves its window, to the end of this process.
    Returns only where that engine says nothing: it has just ended, or is stopped."""
    with suppress(OSError):
        known.settimeout(PATIENCE)
        first = known.recv(1 << 16)
        known.settimeout(None)
        if first:
            _copy(first, known, window)
    known.close()


def _copy(first: bytes, known: socket.socket, window: Connection) -> None:
    def copy_in() -> None:
        with suppress(OSError):
            while data := window.read():
                known.sendall(data)
        with suppress(OSError):
            known.shutdown(socket.SHUT_RDWR)

    threading.Thread(target=copy_in, daemon=True).start()
    with suppress(OSError):
        window.write(first)
        while data := known.recv(1 << 16):
            window.write(data)
    os._exit(0)  # the other thread may still wait for a window that is gone


class Host:
    """An engine and its one window. Another window has another process, and its jobs take turns with those of this
    one: see Turns."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._line = Line(self._take)
        self._client = EngineClient(self._hear)
        self._turns = Turns(self._client.submit, self._hear)
        self._store = Store(self._client.pool)
        self._sending = Sending(self._line, self._client.pool)
        self._running: set[int] = set()
        self._unwanted: set[int] = set()
        self._begun = threading.Event()
        self._lost_at = time.monotonic()
        self._over = threading.Event()

    def serve(self, connection: Connection, listening: socket.socket) -> int:
        """Converse with the window until it says goodbye, or is gone for PATIENCE seconds; it comes back at the
        socket."""
        with listening:
            own = self._path.stat().st_ino
            self._client.start()
            threading.Thread(target=self._accept, args=(listening,), daemon=True).start()
            self._begin(connection)
            while not self._over.wait(1.0):
                if self._line.connected:
                    self._lost_at = time.monotonic()
                elif time.monotonic() - self._lost_at > PATIENCE:
                    break
            self._leave(own)
        self._line.flush(1.0)
        self._line.close()
        self._sending.close()
        self._turns.close()
        self._client.close()
        return 0

    def _leave(self, own: int) -> None:
        """Be found no more. Another engine may have taken the path meanwhile, and keeps it."""
        with suppress(OSError), door(self._path.parent):
            if self._path.stat().st_ino == own:
                self._path.unlink()

    def _accept(self, listening: socket.socket) -> None:
        with suppress(OSError):
            while True:
                accepted, _ = listening.accept()
                handle = accepted.detach()
                self._begin(Connection(handle, handle, partial(_shut, handle), partial(os.close, handle)))

    def _begin(self, connection: Connection) -> None:
        threading.Thread(target=self._converse, args=(connection,), name="wire-reader", daemon=True).start()

    def _converse(self, connection: Connection) -> None:
        """Greet the window and exchange frames until this connection is lost."""
        decoder = Decoder()
        try:
            connection.write(b"\n" + MAGIC + b"\n")
            hello = read_hello(connection, decoder).content()
            about = {"version": __version__, "protocol": PROTOCOL, "host": platform.node(), "seen": self._line.seen}
            begun = self._begun.is_set()
            connection.write(headed(HELLO, b"", **about, begun=begun).bytes())
            if (hello.get("version"), hello.get("protocol")) != (__version__, PROTOCOL):
                self._over.set()  # the window says what to install
                return
            self._begun.set()
            self._lost_at = time.monotonic()
            seen = int(hello.get("seen", 0)) if begun else 0  # else they were frames of an engine before this one
            self._line.converse(connection, decoder, seen)
        except OSError:
            pass  # the connection is lost
        except Exception as error:
            if self._begun.is_set():
                self._end(error)
        finally:
            connection.end()

    def _end(self, error: Exception) -> None:
        """Something of the window was not understood, and nothing that follows can be trusted: it hears why, and its
        jobs go to a new engine."""
        sentence = plain(error, 200).rstrip(".") or type(error).__name__
        print(f"kernelscope engine: {sentence}.", file=sys.stderr, flush=True)
        self._line.send(note("fault", sentence=sentence))
        self._over.set()

    def _take(self, frame: Frame) -> None:
        """A frame of the window."""
        if self._over.is_set():
            return
        try:
            if frame.kind == MESSAGE:
                self._take_message(frame)
            elif frame.kind == DATA:
                self._store.add(str(frame.content().get("segment")), bytes(frame.buffer))
            else:
                self._take_note(frame.content())
        except Exception as error:
            self._end(error)

    def _take_message(self, frame: Frame) -> None:
        missing: list[DeviceMemoryError] = []

        def here(value: Any) -> Any:
            try:
                return self._store.here(value) if isinstance(value, SharedArray) else value
            except DeviceMemoryError as error:
                missing.append(error)
                return value

        message: Request | OwnVariants = decoded(frame.head, here)
        if isinstance(message, OwnVariants):
            FILTERS.set_own(message.own)
        elif isinstance(message, CancelRequest):
            self._cancel(message.job, kill=True)
        elif missing:
            self._hear(Failed(message.job, str(missing[0]), kind="device"))
        else:
            if isinstance(message, RunRequest) and message.outputs:
                self._sending.show(message.input.array.shape, message.view, message.pixels)
            self._running.add(message.job)
            self._turns.submit(message)

    def _take_note(self, content: Mapping[str, Any]) -> None:
        match content.get("is"):
            case "missing?":
                names = self._store.missing([str(name) for name in content["names"]])
                self._line.send(note("missing", number=int(content["number"]), names=names))
            case "array":
                with suppress(DeviceMemoryError):  # its job says so
                    self._store.begin(str(content["segment"]), int(content["nbytes"]))
            case "unused":
                self._store.unused(str(content["segment"]))
            case "release":
                for _ in range(int(content["times"])):
                    self._client.pool.release(str(content["segment"]))
            case "cancel":
                self._cancel(int(content["job"]), kill=False)
            case "send":
                shared = SharedArray(str(content["segment"]), tuple(map(int, content["shape"])), str(content["dtype"]))
                spans = tuple((int(start), int(stop)) for start, stop in content["spans"])
                self._sending.ask(int(content["number"]), shared, int(content["cells"]), spans)
            case "stop":
                self._sending.stop(int(content["number"]))
            case "goodbye":
                self._over.set()

    def _cancel(self, job: int, kill: bool) -> None:
        if job in self._running:
            self._unwanted.add(job)
        if not self._turns.cancel(job):
            self._client.cancel(job, kill)

    def _hear(self, answer: Answer) -> None:
        """An answer of the engine: send it after the first sight of its arrays. Those of a cancelled job are not sent,
        because the next one's would wait for them."""
        if isinstance(answer, RunUpdate) and answer.job in self._unwanted:
            for result in answer.outputs.values():
                self._client.pool.release(result.array.segment)
            answer = replace(answer, outputs={})

        def there(value: Any) -> Any:
            if not isinstance(value, SharedArray):
                return value
            named = self._store.there(value)
            if named is value:
                self._sending.with_answer(value)
            return named

        if isinstance(answer, Finished | Failed):
            self._running.discard(answer.job)
            self._unwanted.discard(answer.job)
            self._turns.end(answer.job)
        try:
            frame = Frame(MESSAGE, encoded(answer, there))
        except Exception as error:
            traceback.print_exc()
            job, why = getattr(answer, "job", 0), plain(error, 160).rstrip(".")
            for name in segments_of_answer(answer):
                self._client.pool.release(name)
            self._cancel(job, kill=False)
            sentence = f"Its answer could not be sent ({why}); run it again, or choose another device."
            frame = Frame(MESSAGE, encoded(Failed(job, sentence, kind="engine")))
        self._line.send(frame)


def _shut(handle: int) -> None:
    with suppress(OSError):
        socket.socket(fileno=os.dup(handle)).shutdown(socket.SHUT_RDWR)
