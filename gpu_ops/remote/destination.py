"""Where an engine on another machine starts, and the names of files there."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass

from gpu_ops.errors import DeviceError, plain

SSH = "KERNELSCOPE_SSH"
"""The variable with the command that is used in place of ssh."""
COMMAND = "kernelscope"
_USER, _NAME = r"[A-Za-z0-9._%+][A-Za-z0-9._%+-]*", r"[A-Za-z0-9][A-Za-z0-9._-]*"
_HOST = re.compile(f"(?:{_USER}@)?{_NAME}")
_LOCATION = re.compile(f"((?:{_USER}@)?{_NAME}[A-Za-z0-9._-]):(.+)", re.DOTALL)


def location(path: str) -> tuple[str, str] | None:
    """The host and the path of a file on another machine, as scp writes it: "gpu-host:data/a.npy"; None for any other.
    One letter before the colon is a drive of Windows."""
    found = _LOCATION.fullmatch(path)
    return (found[1], found[2]) if found and not os.path.exists(path) else None


@dataclass(frozen=True)
class Destination:
    """Where an engine starts: `host` as ssh takes it, such as "user@gpu-host" or a name of its configuration, and the
    `command` there, such as "~/lab/.venv/bin/kernelscope"."""

    host: str
    command: str = COMMAND

    def __post_init__(self) -> None:
        if not _HOST.fullmatch(self.host):
            raise DeviceError(
                f"{plain(self.host, 60)!r} is no machine for ssh; write user@host, or a Host of ~/.ssh/config, which "
                "also says ports and jump hosts."
            )
        if not self.command.strip() or not self.command.isprintable():
            raise DeviceError(f"The command on {self.label} is empty; leave it out for {COMMAND!r}.")

    @property
    def label(self) -> str:
        """What its devices begin with: the host without the user."""
        return self.host.rpartition("@")[2]

    def ssh(self, session: str) -> list[str]:
        """The command that starts the engine there, for any shell of the user."""
        # As the user's shell there reads it: ~ is its home, and there may be arguments. What uv and pipx install is in
        # ~/.local/bin, which only login shells know. One that has no such command says which version it is.
        start = f"{self.command} engine --stdio --session {session}"
        old = f"code=$?; test $code = 2 && {self.command} --version >&2; exit $code"
        script = f'PATH="$PATH:$HOME/.local/bin"; {start} || {{ {old}; }}'
        alive = ("-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3", "-o", "ConnectTimeout=20")
        ssh = shlex.split(os.environ.get(SSH) or "ssh")
        return [*ssh, "-T", *alive, "--", self.host, f"sh -c {shlex.quote(script)}"]
