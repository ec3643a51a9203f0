"""engine: the engine for a window on another machine, which starts it by ssh."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_ops.cli.streams import Parser
from gpu_ops.errors import ParamError


def run(argv: Sequence[str]) -> int:
    """Serve one window on standard input and output until it is gone."""
    parser = Parser(
        prog="kernelscope engine",
        description="The engine for a window on another machine, which starts it by ssh: "
        "kernelscope --remote user@host. It ends when the window does, or soon after the connection is lost.",
    )
    parser.add_argument("--stdio", action="store_true", help="speak on standard input and output, with that window")
    parser.add_argument("--session", metavar="NAME", default="", help="the window's connection, which it may resume")
    args = parser.parse_args(argv)
    if not args.stdio:
        raise ParamError("An engine needs --stdio; a window starts it by ssh, with kernelscope --remote user@host.")
    from gpu_ops.remote.host import serve

    return serve(args.session)
