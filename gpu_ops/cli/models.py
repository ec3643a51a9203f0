"""The flags of the model of a simulated GPU's queues, which the commands timeline and transfers have."""

from __future__ import annotations

import argparse
from dataclasses import replace

from gpu_ops.cli.limits import positive
from gpu_ops.device_names import is_simulated
from gpu_ops.devices import device_statuses
from gpu_ops.devices.sim.streams.queues import Queues
from gpu_ops.errors import ParamError
from gpu_ops.explaining.spans import Rates
from gpu_ops.explaining.transfers.rates import rates_named

GB = 1e9
THREE = {"h2d": "upload", "d2h": "download", "kernel_rate": "kernel"}
OTHERS = {"host_rate": "host", "threads_rate": "threads", "migration_rate": "migration", "locking_rate": "locking"}
LATENCIES = {"latency": "of every step (default 5)", "lock_latency": "of each page-locking beside its pages (250)"}
RATES = (*THREE, *OTHERS, *LATENCIES, "rates")
HELP = {
    "h2d": "predict times with this rate of copies to the device",
    "d2h": "predict times with this rate of copies to the host",
    "kernel_rate": "predict times with this rate of kernels",
    "host_rate": "one thread of the host copies, as the driver does from pageable memory (10)",
    "threads_rate": "several threads of the host copy (20)",
    "migration_rate": "managed memory migrates on access (5)",
    "locking_rate": "memory is page-locked (10)",
}


def add_model(parser: argparse.ArgumentParser) -> None:
    """The flags of the queues and of the rates of a simulated GPU."""
    model = parser.add_argument_group("the model of a simulated GPU")
    model.add_argument("--copy-engines", type=int, choices=(1, 2), default=2, help="engines for copies (default 2)")
    model.add_argument(
        "--in-order",
        action="store_true",
        help="an engine begins steps in the order of enqueueing, as before compute capability 3.5",
    )
    model.add_argument(
        "--rates",
        metavar="MACHINE",
        help="predict times with the rates of a recorded machine, such as h100, or of a report FILE.json of transfers",
    )
    for name, help in HELP.items():
        model.add_argument(f"--{name.replace('_', '-')}", type=positive, metavar="GB/s", help=help)
    for name, help in LATENCIES.items():
        model.add_argument(f"--{name.replace('_', '-')}", type=positive, metavar="µs", help=help)


def chosen_device(args: argparse.Namespace) -> str:
    """The device that is named, else a GPU where one is and no flag is of the model, else a simulated one. Raises
    ParamError for a choice of the model on a device that is measured."""
    flags = {
        "--in-order": args.in_order,
        "--copy-engines": args.copy_engines != 2,
        **{f"--{name.replace('_', '-')}": getattr(args, name) is not None for name in RATES},
    }
    given = [flag for flag, chosen in flags.items() if chosen]
    if args.device is None and given:
        return "sim"
    gpus = [s.name for s in device_statuses() if s.available and s.kind == "cuda"]
    device = args.device or (gpus or ["sim"])[0]
    if given and not is_simulated(device):
        raise ParamError(
            f"The timeline of {device} is measured, and {', '.join(given)} is of the model of a GPU's queues; "
            "leave it out, or name --device sim."
        )
    return str(device)


def queues_of(args: argparse.Namespace, launch_blocking: bool = False) -> Queues:
    """The queues that the flags describe."""
    return Queues(args.copy_engines, args.in_order, launch_blocking)


def rates_of(args: argparse.Namespace) -> Rates | None:
    """The rates that the flags give, those of a recorded machine where one is named; None without any."""
    if all(getattr(args, name) is None for name in RATES):
        return None
    given = {
        field: getattr(args, name) * GB for name, field in (THREE | OTHERS).items() if getattr(args, name) is not None
    }
    given |= {name: getattr(args, name) * 1e-6 for name in LATENCIES if getattr(args, name) is not None}
    if args.rates is not None:
        rates = rates_named(args.rates)
        return replace(rates, **given, machine=f"{rates.machine}, changed by flags" if given else rates.machine)
    if not {*THREE.values()} <= given.keys():
        raise ParamError(
            "A prediction needs --h2d, --d2h and --kernel-rate, each in GB/s; give all three, or --rates MACHINE."
        )
    return Rates(**given)
