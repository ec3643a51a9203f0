"""The fields of a launch as the user types them, and the same launch as a command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.models.experiment.experiment_text import joined
from gpu_ops.errors import ParamError
from gpu_ops.own_kernels.arguments import extents, pairs
from gpu_ops.own_kernels.launch_process import Request


@dataclass(frozen=True)
class LaunchFields:
    """The texts of the form; `kernel` is "" for the only kernel of the file."""

    kernel: str
    grid: str
    block: str
    shared: str
    arguments: tuple[str, ...]
    includes: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()

    def request(self, architecture: str) -> Request:
        """The launch. Raises ParamError, which names the field and what it takes."""
        shared = self.shared.strip() or "0"
        if not (shared.isascii() and shared.isdigit()):
            raise ParamError(f"Shared memory {shared!r} is no number of bytes; give 0 or more, such as 1024.")
        return Request(
            path="",
            kernel=self.kernel or None,
            grid=extents(self.grid.strip(), "Blocks"),
            block=extents(self.block.strip(), "Threads"),
            arguments=self.arguments,
            folder="",
            shared_bytes=int(shared),
            includes=self.includes,
            defines=pairs(self.defines, "Define", "1"),
            architecture=architecture,
        )

    def command(self, path: str, architecture: str) -> str:
        """The command that launches the same."""
        parts = ["kernelscope", "xray", path]
        parts += ["--kernel", self.kernel] if self.kernel else []
        parts += ["--grid", self.grid, "--block", self.block]
        parts += ["--shared", self.shared] if self.shared.strip() not in ("", "0") else []
        parts += _each("--arg", self.arguments) + _each("--include", self.includes) + _each("--define", self.defines)
        return joined([*parts, "--gpu", architecture])


def _each(flag: str, texts: Sequence[str]) -> list[str]:
    return [part for text in texts for part in (flag, text)]
