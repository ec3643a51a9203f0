"""The flags of another machine, and which one they name."""

from __future__ import annotations

import argparse

from gpu_ops.device_names import device_host
from gpu_ops.errors import InputError, ParamError, plain
from gpu_ops.remote.destination import COMMAND, Destination, location


def add_arguments(parser: argparse._ActionsContainer) -> None:
    """The flags of another machine."""
    parser.add_argument("--remote", metavar="USER@HOST", help="run on that machine, which the system's ssh reaches")
    parser.add_argument("--remote-command", metavar="COMMAND", default=COMMAND, help="kernelscope there")


def check_files(args: argparse.Namespace) -> None:
    """Raises InputError for a file of another machine that the command would look for here."""
    given = getattr(args, "input", None) or ()
    for path in (given,) if isinstance(given, str) else given:
        place = location(path)
        reads_there = hasattr(args, "remote") and getattr(args, "output_dir", None) is None
        if place is not None and not (reads_there and destination(args)):
            host = plain(place[0], 60)
            how = f"add --remote {host}" if reads_there else f"copy it with: scp {plain(path)} ."
            raise InputError(f"{plain(path)} does not exist here; if it is a file of the machine {host}, {how}")


def destination(args: argparse.Namespace) -> Destination | None:
    """The machine that the flags name, None for this one. Raises ParamError where they name several."""
    named = {device_host(name) for name in args.device} - {""}
    place = location(args.input) if isinstance(args.input, str) else None
    hosts = named | ({args.remote} if args.remote else set())
    labels = {host.rpartition("@")[2] for host in hosts}
    if place and (labels or "@" in place[0]):
        labels.add(place[0].rpartition("@")[2])
        hosts.add(place[0])
    if not hosts:
        return None
    if len(labels) > 1 or (named and not all(map(device_host, args.device))):
        raise ParamError("One run is on one machine; name devices and files of one, such as --device gpu-host/cuda:0.")
    return Destination(max(hosts, key=len), args.remote_command)
