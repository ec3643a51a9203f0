"""The questions of ssh – is this host key right, what is the password – asked by the window that started it.

ssh runs a program for each question. That is this module: it passes the question on to the window over a socket in a
folder of the user, and prints the answer, which is stored nowhere.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpu_ops.processes import environment

SOCKET, HOST = "KERNELSCOPE_ASK", "KERNELSCOPE_ASK_HOST"
LONGEST = 1 << 16
"""The most bytes of a question, and of an answer."""


@dataclass(frozen=True)
class Question:
    """What ssh asks about a `host`. A `confirmation` takes yes or no; any other question takes a secret. Exactly one
    call of `answer(text)` ends it; None refuses, also what the same ssh asks after it. `again`: it was not content with
    the answer to the same question."""

    host: str
    text: str
    confirmation: bool
    answer: Callable[[str | None], None]
    again: bool = False


class Asker:
    """Listens for questions until `close`; `ask(question)` is called in a thread of its own for each."""

    def __init__(self, ask: Callable[[Question], None]) -> None:
        self._ask = ask
        self._answered = dict[int, str | None]()
        """The question that each process of ssh asked last, None where it was refused: ssh asks three times."""
        self._folder: Path | None = None
        self._listening: socket.socket | None = None

    def variables(self, host: str) -> Mapping[str, str]:
        """The variables with which ssh asks here; none on Windows, where it asks nobody."""
        if sys.platform == "win32":
            return {}
        if self._folder is None:
            self._begin()
        assert self._folder is not None
        return {
            "SSH_ASKPASS": str(self._folder / "ask"),
            "SSH_ASKPASS_REQUIRE": "force",
            "DISPLAY": os.environ.get("DISPLAY") or ":0",  # older versions of ssh ask nobody without one
            SOCKET: str(self._folder / "socket"),
            HOST: host,
        }

    def _begin(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="kernelscope-ask-"))  # for this user alone
        needed = {name: value for name, value in environment().items() if name in ("PYTHONPATH", "PYTHONSAFEPATH")}
        words = " ".join(f"{name}={shlex.quote(value)}" for name, value in needed.items())
        command = f"{words} exec {shlex.quote(sys.executable)} -m gpu_ops.remote.asking"
        program = self._folder / "ask"
        program.write_text(f'#!/bin/sh\n{command} "$@"\n')
        program.chmod(0o700)
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(self._folder / "socket"))
        self._listening.listen()
        threading.Thread(target=self._listen, args=(self._listening,), name="ssh-questions", daemon=True).start()

    def _listen(self, listening: socket.socket) -> None:
        with suppress(OSError):
            while True:
                connection, _ = listening.accept()
                threading.Thread(target=self._pass_on, args=(connection,), daemon=True).start()

    def _pass_on(self, connection: socket.socket) -> None:
        with suppress(OSError, ValueError, LookupError, TypeError), connection:
            asked = json.loads(connection.makefile("rb").readline(LONGEST))
            text, ssh = str(asked["text"]), int(asked["ssh"])
            before = self._answered.get(ssh, "")
            if before is None:
                return
            answered, found = threading.Event(), list[str | None]()

            def answer(text: str | None) -> None:
                found.append(text)
                answered.set()

            self._ask(Question(str(asked["host"]), text, bool(asked["confirmation"]), answer, text == before))
            answered.wait()
            self._answered[ssh] = None if found[0] is None else text
            connection.sendall(json.dumps(found[0]).encode() + b"\n")

    def close(self) -> None:
        """Listen no more; open questions are refused."""
        if self._listening is not None:
            with suppress(OSError):
                self._listening.shutdown(socket.SHUT_RDWR)
            self._listening.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def is_confirmation(text: str) -> bool:
    """Whether a question of ssh takes yes or no."""
    return "(yes/no" in text or os.environ.get("SSH_ASKPASS_PROMPT") == "confirm"


def main(words: list[str]) -> int:
    """Ask one question of ssh. The exit code is 1 where it was refused."""
    text = " ".join(words)[:LONGEST]
    about: dict[str, Any] = {"host": os.environ.get(HOST, ""), "text": text, "confirmation": is_confirmation(text)}
    about["ssh"] = os.getppid()  # which began this program
    try:
        with socket.socket(socket.AF_UNIX) as window:
            window.connect(os.environ[SOCKET])
            window.sendall(json.dumps(about).encode() + b"\n")
            answer = json.loads(window.makefile("rb").readline(LONGEST) or b"null")
    except (OSError, ValueError, KeyError):
        return 1
    if not isinstance(answer, str):
        return 1
    print(answer)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
