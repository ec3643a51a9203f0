"""A launch of a kernel file from elsewhere: counted on a simulated GPU, or timed on a CUDA device."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpu_ops.devices import open_device
from gpu_ops.devices.coalescing import Rule
from gpu_ops.devices.compiler import Compiled, KernelParam
from gpu_ops.devices.cuda.prepare import address
from gpu_ops.devices.cuda.texture import Image
from gpu_ops.devices.images import Handle
from gpu_ops.devices.kernel_source import header_fields
from gpu_ops.devices.launches import check_constants
from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.devices.sim.launch import Extent, Options
from gpu_ops.errors import KernelError, ParamError, counted
from gpu_ops.explaining.xray import XRay, kernels_of
from gpu_ops.own_kernels.arguments import Argument, names_of, parse, scalar_of
from gpu_ops.own_kernels.presets import Parameter, parameters
from gpu_ops.own_kernels.sources import Declared, OwnFile
from gpu_ops.plan import Device, Launch, Plan
from gpu_ops.running.timing import RULES, measure_interleaved
from gpu_ops.types import Timing

Array = np.ndarray[Any, Any]
Extents = tuple[int, int, int]
PACKAGES = {"crt/": "nvidia-cuda-crt", "curand": "nvidia-curand"}
"""The package with the headers of CUDA whose names begin so, where it may be missing."""
CLUSTERS_FROM = 90
"""The first architecture with clusters of blocks."""


@dataclass(frozen=True)
class OwnLaunch:
    """A launch: `kernel` as C++ names it (None: the only one of the file), blocks and threads as (x, y, z), bytes of
    dynamic shared memory, defines of the compilation, and the arguments as text: see `arguments`. `symbols` are the
    contents of __constant__ and __device__ variables, as text too; the latter are outputs as well. `given` are arrays
    that arguments may name. `cluster` are the blocks of a cluster, where the kernel does not declare them."""

    file: OwnFile
    kernel: str | None
    grid: Extents
    block: Extents
    arguments: tuple[str, ...]
    shared_bytes: int = 0
    defines: Mapping[str, str] = field(default_factory=dict)
    symbols: Mapping[str, str] = field(default_factory=dict)
    given: Mapping[str, Array] = field(default_factory=dict)
    cluster: Extents | None = None

    @property
    def declared(self) -> Declared:
        return self.file.kernel(self.kernel)

    @property
    def texts(self) -> Mapping[str, str]:
        """The texts to compile. Raises ParamError where the clusters do not fit the kernel or the grid."""
        if self.cluster is None:
            return self.file.texts
        if any(blocks % part for blocks, part in zip(self.grid, self.cluster, strict=True)):
            grid, cluster = ("x".join(map(str, extents)) for extents in (self.grid, self.cluster))
            raise ParamError(f"A grid of {grid} blocks has no whole clusters of {cluster}; give multiples of them.")
        return self.file.with_clusters(self.declared.name, self.cluster)


@dataclass(frozen=True)
class OwnRun:
    """The result of a launch: the arrays after it by the argument's name, those of them that differ from before, the
    X-ray of a simulated run, the time of a CUDA device, and what the kernel printed there."""

    outputs: Mapping[str, Array]
    changed: frozenset[str]
    xray: XRay | None = None
    timing: Timing | None = None


def simulate(
    own: OwnLaunch,
    architecture: str = "sm_75",
    counters: Extent = "full",
    coalescing: Rule = "today",
    code: bool = False,
) -> OwnRun:
    """Run the launch on a simulated GPU and count; `code` also gives the PTX and the machine code, and counts accesses
    as that makes them where it is known. Raises ParamError, KernelError with findings, LimitReached, Cancelled."""
    options = Options(counters=counters, coalescing=coalescing, machine_code=code)
    if own.cluster and int(architecture[3:]) < CLUSTERS_FROM:
        raise ParamError(f"Clusters need sm_90 or later, and this is {architecture}; choose sm_90 or sm_120.")
    device = SimDevice(architecture, options, assemble=True).session(own.texts)
    launch, arrays, filled, variables = _launch(own, device)
    before = {name: device.download(arrays[name]) for name in filled}
    execution = device.execute(Plan((launch,), {}))
    threads = int(np.prod((*own.grid, *own.block), dtype=np.int64))
    found = XRay(
        filter=own.file.name,
        variant=launch.kernel.name,
        title=launch.kernel.name,
        idea=header_fields(own.file.texts[own.file.name]).get("Idea", "a kernel of your own"),
        architecture=architecture,
        shape=(threads,),
        dtype="",
        params={},
        knobs={},
        outputs=threads,
        unit="thread",
        least_bytes=0,
        expected=None,
        coalescing=coalescing,
        kernels=kernels_of([(launch, execution)], architecture, own.file.texts, False, code),
        findings=execution.findings,
        printed=execution.printed,
    )
    return OwnRun(*_results(device, arrays, before, launch, variables), xray=found)


def measure(own: OwnLaunch, name: str, careful: bool = False) -> OwnRun:
    """Run the launch once on a CUDA device, then time repeated launches by its clock: each after the first finds the
    arrays as the one before left them. Raises ParamError, DeviceError, KernelError, KernelFault."""
    device = open_device(name).session(own.texts)
    if device.kind != "cuda":
        raise ParamError(f"{name} does not measure kernels; choose cuda:N, or leave --device out for a simulated GPU.")
    with device.as_current():
        launch, arrays, filled, variables = _launch(own, device)
        before = {key: _download(device, arrays[key]) for key in filled}
        plan = Plan((launch,), {})
        device.execute(plan)
        results = _results(device, arrays, before, launch, variables)
        rule = RULES["careful" if careful else "quick"]
        ((_, timing),) = measure_interleaved({"kernel": device.sampler([plan], "hot")}, rule)
    return OwnRun(*results, timing=timing)


def _results(
    device: Device,
    arrays: Mapping[str, Any],
    before: Mapping[str, Array],
    launch: Launch,
    variables: Mapping[str, Array],
) -> tuple[dict[str, Array], Any]:
    """The arrays and variables after a launch, and the names of those that changed: also of all that had no contents
    before."""
    outputs = {name: _download(device, array) for name, array in arrays.items()}
    for name, form in variables.items():
        outputs[name] = launch.kernel.content(name, form.nbytes).view(form.dtype).reshape(form.shape)
    before = {**before, **{name: launch.constants[name] for name in variables if name in launch.constants}}
    same = {name for name, array in before.items() if array.tobytes() == outputs[name].tobytes()}
    return outputs, frozenset(outputs) - same


def _launch(own: OwnLaunch, device: Device) -> tuple[Launch, dict[str, Any], list[str], dict[str, Array]]:
    """The launch with its arguments on the device, the arrays with numbers by name, those that have contents, and the
    variables that are outputs, as arrays of their form."""
    declared = own.declared
    try:
        kernel: Any = device.kernel(own.file.name, declared.full_name(own.kernel or declared.name), own.defines)
    except KernelError as error:
        if declared.template and "has no kernel" in str(error):
            form = f"template <{', '.join(declared.template)}>"
            such = f"name an instance with --kernel that fits, such as '{declared.first_instance}'"
            raise ParamError(f"{own.kernel} is no instance of {declared.qualified}, which is {form}; {such}.") from None
        if "not open source file" not in str(error):
            raise
        advice = "Name the folder of that header with --include"
        for begin, package in PACKAGES.items():
            if f'"{begin}' in str(error):
                advice = f"Install {package}, which has that header of CUDA"
        raise KernelError(f"{error}. {advice}.", error.diagnostics) from None
    params = kernel.entry.params
    if len(own.arguments) != len(params):
        expected = ", ".join(declared.params)
        takes = counted(len(params), "argument")
        raise ParamError(f"{declared.name} takes {takes} ({expected}); --arg gives {len(own.arguments)}.")
    arguments = parse(own.arguments, names_of(declared.params), own.given)
    for argument, param, preset in zip(arguments, params, parameters(declared, own.kernel or ""), strict=True):
        if argument.sampling is None:
            _check_fit(argument, param, preset)
    arrays: dict[str, Any] = {}
    for argument in sorted((a for a in arguments if a.is_array), key=lambda a: a.pointers is not None):
        arrays[argument.name] = _array(argument, arrays, device)
    images = {a.name: device.image(arrays[a.name], a.sampling) for a in arguments if a.sampling is not None}
    args = [
        _value(a, param, text, arrays | images, kernel)
        for a, param, text in zip(arguments, params, declared.params, strict=True)
    ]
    constants, variables = _symbols(own.symbols, kernel.compiled, arrays)
    launch = Launch(kernel, own.grid, own.block, tuple(args), own.shared_bytes, constants, kernel.name)
    with_numbers = [a for a in arguments if a.is_array and a.pointers is None]
    with_numbers = [a for a in with_numbers if a.sampling is None or a.sampling.surface]  # textures do not change
    arrays |= {name: image for name, image in images.items() if isinstance(image, Image)}
    filled = [a.name for a in with_numbers if a.array is not None]
    return launch, {a.name: arrays[a.name] for a in with_numbers}, filled, variables


def _check_fit(argument: Argument, param: KernelParam, parameter: Parameter) -> None:
    """Raises ParamError for an array in place of a number, and for one of another type than the kernel declares."""
    what = f"{argument.name} is declared {parameter.declaration}"
    if argument.is_array and not parameter.pointer and param.type != "ptr" and param.nbytes != 8:
        raise ParamError(f"{what}, which is no pointer; give a number, such as 1000.")
    dtype = argument.array.dtype if argument.array is not None else argument.empty[1] if argument.empty else None
    if dtype is None or not parameter.holds or dtype.kind == "V":
        return
    wanted = np.dtype(parameter.holds)
    kinds = {kind: "integer" if kind in "iub" else kind for kind in (dtype.kind, wanted.kind)}
    same = kinds[dtype.kind] == kinds[wanted.kind] and dtype.itemsize == wanted.itemsize
    if not same and not (wanted.kind == "c" and dtype.kind == "f" and 2 * dtype.itemsize == wanted.itemsize):
        raise ParamError(f"{what}, and the array is {dtype}; give an array of {wanted}.")


def _value(argument: Argument, param: KernelParam, declared: str, arrays: Mapping[str, Any], kernel: Any) -> Any:
    """An argument of the launch."""
    if argument.variable is not None:
        return Handle(int.from_bytes(kernel.content(argument.variable, 8).tobytes(), "little"))
    if argument.text is not None:
        return scalar_of(argument.text, param, declared, argument.name)
    return arrays[argument.name] if argument.is_array else argument.scalar


def _download(device: Device, array: Any) -> Array:
    return array.download() if isinstance(array, Image) else device.download(array)


def _symbols(
    texts: Mapping[str, str], compiled: Compiled, arguments: Collection[str]
) -> tuple[dict[str, Array], dict[str, Array]]:
    """The contents of variables before the launch, and those that the kernel may change, as arrays of their form."""
    contents, changing = dict[str, Array](), dict[str, Array]()
    for name, text in texts.items():
        (argument,) = parse([text], [name])
        value = argument.array if argument.scalar is None else np.asarray(argument.scalar)
        changes = name in compiled.variables
        if value is None and not (changes and argument.empty):
            forms = "DTYPE:NUMBER, CONTENT:DTYPE:SHAPE or FILE.npy"
            raise ParamError(f"--symbol {name}={text} has no contents; give {forms}.")
        if value is not None:
            contents[name] = value
        if changes:
            changing[name] = np.empty(*argument.empty) if argument.empty else np.asarray(value)
    if both := sorted(changing.keys() & {*arguments}):
        raise ParamError(f"{both[0]} is an argument as well; give the argument another name, as NAME=VALUE.")
    check_constants(compiled, changing)
    return contents, changing


def _array(argument: Argument, arrays: Mapping[str, Any], device: Device) -> Any:
    if argument.pointers is not None:
        addresses = [0 if name == "null" else address(arrays[name]) for name in argument.pointers]
        return device.upload(np.array(addresses, np.uint64))
    if argument.array is not None:
        return device.upload(argument.array)
    if argument.empty is None:
        raise KernelError(f"{argument.name} is no array.")
    return device.empty(*argument.empty)
