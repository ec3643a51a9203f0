"""An engine whose series of samples are short, for windows that need times but not good ones."""

from __future__ import annotations

from dataclasses import replace
from multiprocessing.connection import Connection

from small_machine import make_small

from gpu_ops.processes import importing

SHORTER = 60
"""How many times sooner a series ends than its rule says; what the rules themselves say is tested without a window."""


def serve(connection: Connection, warm: bool) -> None:
    """The main of the engine's process."""
    with importing():
        from gpu_ops.engine.server import serve
        from gpu_ops.running import timing

    make_small()
    for name, rule in timing.RULES.items():
        timing.RULES[name] = replace(rule, cap_seconds=rule.cap_seconds / SHORTER)
    serve(connection, warm)
