"""Reaching an engine on another machine by the system's ssh, with its configuration, keys and jump hosts."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any

from gpu_ops.engine.messages import PROTOCOL
from gpu_ops.errors import DeviceError, plain
from gpu_ops.remote.destination import SSH, Destination
from gpu_ops.remote.host import MAGIC
from gpu_ops.remote.line import Connection, read_hello
from gpu_ops.remote.wire import HELLO, Decoder, WireError, headed
from gpu_ops.version import __version__

MOST_BANNER = 1 << 20
"""The most bytes that a login shell may print before the engine speaks."""
LAST_WORDS = 2.0
"""Seconds from the end of what comes to the exit code of ssh."""
START = 90.0
"""Seconds for a connection, a question of ssh included."""


class Refused(DeviceError):
    """A connection that will fail again in the same way."""


@dataclass(eq=False)
class Reached:
    """A connection to an engine that has said hello."""

    connection: Connection
    decoder: Decoder
    hello: Mapping[str, Any]

    @property
    def begun(self) -> bool:
        """Whether the engine there has served this session before."""
        return bool(self.hello.get("begun"))


def reach(to: Destination, session: str, seen: int, asking: Mapping[str, str] | None = None) -> Reached:
    """Start ssh and greet the engine; `seen` frames have come from it before. `asking` are the variables of a program
    that asks the questions of ssh. Raises Refused, or DeviceError for a failure that may pass."""
    command, on_terminal = to.ssh(session), not asking and _has_terminal()
    if on_terminal and shutil.which(command[0]):
        command = ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *command]  # Ctrl+C stops a job, not the connection
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **(asking or {})},
            start_new_session=not on_terminal,  # in a shell ssh asks its questions itself
        )
    except OSError as error:
        program = plain(to.ssh(session)[0], 60)
        text = f"{program} cannot be started ({error.strerror})"
        raise Refused(f"{text}; install OpenSSH's client, or name another program by {SSH}.") from None
    assert process.stdin and process.stdout and process.stderr
    said = _Said(process.stderr)
    connection = Connection(
        process.stdout.fileno(), process.stdin.fileno(), lambda: _end(process), lambda: _close(process)
    )
    alarm = threading.Timer(START, process.kill)
    alarm.daemon = True
    alarm.start()
    try:
        decoder = _skip_banner(connection)
        connection.write(headed(HELLO, version=__version__, protocol=PROTOCOL, seen=seen).bytes())
        hello = read_hello(connection, decoder).content()
    except (WireError, OSError) as error:
        with suppress(subprocess.TimeoutExpired):  # ssh passes on why after the last byte
            process.wait(LAST_WORDS)
        _end(process)
        code = process.wait()
        _close(process)
        raise _explained(to, code, said.text(), error) from None
    finally:
        alarm.cancel()
    theirs = hello.get("version"), hello.get("protocol")
    if theirs != (__version__, PROTOCOL):
        _end(process)
        _close(process)
        raise Refused(_other_version(to, *theirs))
    return Reached(connection, decoder, hello)


def _has_terminal() -> bool:
    """Whether ssh can ask the person at a terminal."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR))
    except OSError:
        return False
    return True


def _other_version(to: Destination, version: Any, protocol: Any = "none") -> str:
    ours, theirs = f"{__version__} (protocol {PROTOCOL})", f"{plain(version, 30)} (protocol {plain(protocol, 10)})"
    return (
        f"{to.label} has Kernelscope {theirs} and this machine {ours}; install the same version on both, such as: "
        f"ssh {to.host} pip install kernelscope=={__version__}"
    )


def _skip_banner(connection: Connection) -> Decoder:
    """Read to the end of the magic line. Raises WireError if it does not come."""
    seen, mark = b"", MAGIC + b"\n"
    while mark not in seen:
        data = connection.read()
        if not data or len(seen) > MOST_BANNER:
            raise WireError("it said no hello")
        seen += data
    return Decoder(bytearray(seen.partition(mark)[2]))


class _Said:
    """The last lines that ssh and the engine there print to standard error."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._lines: deque[str] = deque(maxlen=40)
        self._thread = threading.Thread(target=self._read, args=(stream,), name="ssh-errors", daemon=True)
        self._thread.start()

    def _read(self, stream: IO[bytes]) -> None:
        with suppress(OSError, ValueError), stream:
            while line := stream.readline(1000):
                self._lines.append(line.decode(errors="replace").strip())

    def text(self) -> str:
        self._thread.join(1.0)
        return "\n".join(line for line in list(self._lines) if line)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End ssh; the engine there notices."""
    with suppress(OSError):
        process.kill()


def _close(process: subprocess.Popen[bytes]) -> None:
    """Release what is left of an ended ssh."""
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):
                stream.close()


VERSION, OWN = re.compile(r"kernelscope (\d\S{0,29})"), "kernelscope: "
"""What Kernelscope there prints: why it has ended, with this in front, and then its version."""
NOT_RUN, NOT_FOUND = 126, 127
"""Exit codes of a shell for a command that cannot be run, or is not there."""
NOT_IN = 255
"""The exit code of ssh where it did not get in; any other one is that of the command there."""
FAULTS_OF_SSH = (
    (
        "remote host identification has changed",
        "its host key is another than before: somebody may listen in, or it was installed anew; ask who runs it",
    ),
    ("host key verification failed", "its host key is not known; connect once with: ssh {host}"),
    ("permission denied", "it does not let you in; check the user, and your key or password with: ssh {host}"),
    ("could not resolve", "there is no machine of that name; check it with: ssh {host}"),
)
"""What ssh prints, in lower case, and what it means. These do not pass by themselves, but for a password that is not
right at first."""
FAULTS_THERE = (
    ("no module named", "its Kernelscope is incomplete; install it there: ssh {host} pip install kernelscope"),
    ("bad interpreter", "the Python of its Kernelscope is gone; install both there anew"),
    ("required file not found", "the Python of its Kernelscope is gone; install both there anew"),
)
"""The same of what the other side prints."""


def _explained(to: Destination, code: int, said: str, error: Exception) -> DeviceError:
    """Why there is no engine, in one sentence with the next step."""
    lines = said.splitlines()
    version = VERSION.fullmatch(lines.pop()) if lines and VERSION.fullmatch(lines[-1]) else None
    if version and "invalid choice: 'engine'" in said:
        return Refused(_other_version(to, version[1]))
    if 0 < code < NOT_RUN and lines and lines[-1].startswith(OWN):
        return Refused(f"{to.label} was reached, and Kernelscope there says: {plain(lines[-1].removeprefix(OWN), 300)}")
    for sign, meaning in (*(FAULTS_OF_SSH if code == NOT_IN or code < 0 else ()), *FAULTS_THERE):
        if sign in said.lower():
            return Refused(f"{to.label} cannot be used: {meaning.format(host=to.host)}.")
    if code in (NOT_RUN, NOT_FOUND) or "not found" in said.lower():
        program, whole = to.command.split()[0], plain(to.command, 60)
        # A shell names what it misses last or before last, as in "sh: 1: python3: not found".
        known = not lines or program in [part.strip("'‘’") for part in lines[-1].split(": ")[-2:]]  # noqa: RUF001
        gone = ", or its Python is gone" if "/" in program else ""  # some shells do not say which
        what = f"has no {plain(program, 60)!r}{gone}" if known else f"cannot run {whole!r} ({plain(lines[-1], 160)})"
        return Refused(
            f"{to.label} {what}; install Kernelscope there, or name the command there "
            f"(--remote-command PATH; found by: ssh {to.host} which kernelscope)."
        )
    last = plain(lines[-1], 160) if lines else str(error)
    if 0 <= code != NOT_IN:
        found = f"{plain(to.command, 60)!r} there is no engine of Kernelscope ({last.rstrip('.')})"
        return Refused(
            f"{to.label} was reached, and {found}; install Kernelscope there, or name the command there "
            "(--remote-command PATH)."
        )
    sentence = f"{to.label} cannot be reached: {last.rstrip('.')}; try: ssh {to.host}"
    return DeviceError(sentence)
