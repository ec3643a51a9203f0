"""Plans of the mean filter: how each variant does it, on memory allocated here."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gpu_ops.devices.launches import grid1d, grid2d
from gpu_ops.filters.planning import CTYPES, block_shape
from gpu_ops.params import Value, Values
from gpu_ops.plan import Call, Device, DeviceArray, Launch, Limits, Plan
from gpu_ops.types import BORDERS, Meta


def defines(dtype: np.dtype[Any], channels: int, params: Values) -> dict[str, Value]:
    """What all mean kernels are compiled with."""
    integer = dtype.kind == "u"
    return {
        "SAMPLE": CTYPES[dtype.name],
        "ACCUMULATOR": "unsigned int" if integer else CTYPES[dtype.name],
        "INTEGER": int(integer),
        "BORDER": BORDERS.index(params["border"]),
        "CHANNELS": channels,
    }


def taps(dtype: np.dtype[Any], count: int) -> np.ndarray[Any, Any]:
    """`count` equal taps: 1/count, or 1 for integers, whose sum is divided exactly at the end."""
    return np.ones(count, np.uint32) if dtype.kind == "u" else np.full(count, 1 / count, dtype)


def cuda1d(style: str, device: Device, x: DeviceArray, params: Values, knobs: Values) -> Plan:
    """The 1D kernels; `style` is naive, constant or shared."""
    window, n = params["window"], x.shape[0]
    channels = x.shape[1] if x.ndim == 2 else 1
    block = knobs["block"]
    per_block = block * knobs["outputs"]
    out = device.empty(x.shape, x.dtype)
    number = {"naive": 1, "constant": 2, "shared": 3}[style]
    made = {**defines(x.dtype, channels, params), "OUTPUTS": knobs["outputs"]}
    kernel = device.kernel(f"mean1d/{number}_{style}.cu", f"mean1d_{style}", made)
    weights = taps(x.dtype, window)
    buffers = (x, out, device.upload(weights)) if style == "naive" else (x, out)
    shared = (per_block + (window - 1) * channels) * x.dtype.itemsize if style == "shared" else 0
    launch = Launch(
        kernel,
        grid1d(n * channels, per_block),
        (block, 1, 1),
        (*buffers, np.int64(n), np.int32(window)),
        shared,
        {} if style == "naive" else {"taps": weights},
        name=style,
    )
    return Plan((launch,), {"signal": out})


def cuda2d(style: str, device: Device, x: DeviceArray, params: Values, knobs: Values) -> Plan:
    """The 2D kernels; `style` is naive, constant or shared."""
    window, height, width = params["window"], x.shape[0], x.shape[1]
    channels = x.shape[2] if x.ndim == 3 else 1
    block, outputs = block_shape(knobs["block"]), knobs["outputs"]
    out = device.empty(x.shape, x.dtype)
    number = {"naive": 1, "constant": 2, "shared": 3}[style]
    made = {**defines(x.dtype, channels, params), "OUTPUTS": knobs["outputs"]}
    kernel = device.kernel(f"mean2d/{number}_{style}.cu", f"mean2d_{style}", made)
    weights = taps(x.dtype, window * window)
    buffers = (x, out, device.upload(weights)) if style == "naive" else (x, out)
    launch = Launch(
        kernel,
        grid2d(height, width * channels, (block[0], block[1] * outputs)),
        (*block, 1),
        (*buffers, np.int32(height), np.int32(width), np.int32(window)),
        shared2d(x.dtype.itemsize, channels, params, knobs) if style == "shared" else 0,
        {} if style == "naive" else {"taps": weights},
        name=style,
    )
    return Plan((launch,), {"image": out})


def shared2d(itemsize: int, channels: int, params: Values, knobs: Values) -> int:
    """Bytes of the 2D tile with its halo."""
    (x, y), reach = block_shape(knobs["block"]), params["window"] - 1
    return int((y * knobs["outputs"] + reach) * (x + reach * channels) * itemsize)


def shared_fits(meta: Meta, params: Values, knobs: Values, limits: Limits) -> str | None:
    """None, or why the tile does not fit into a block's shared memory."""
    itemsize = np.dtype(meta.dtype).itemsize
    if meta.kind == "image":
        needed = shared2d(itemsize, meta.channels, params, knobs)
    else:
        per_block = knobs["block"] * knobs["outputs"]
        needed = (per_block + (params["window"] - 1) * meta.channels) * itemsize
    if needed > limits.shared_bytes:
        return f"its tile takes {needed} bytes of shared memory, a block has {limits.shared_bytes}"
    return None


def image_fits(meta: Meta, params: Values, knobs: Values, limits: Limits) -> str | None:
    """None, or why an image has too many rows for a grid's 65535 blocks in y."""
    (_, rows), outputs = block_shape(knobs["block"]), knobs["outputs"]
    if -(-meta.shape[0] // (rows * outputs)) > 65535:
        return f"{meta.shape[0]} rows need more than 65535 blocks; use a larger block or more outputs a thread"
    return None


def cupyx_mean(output: str, device: Device, x: DeviceArray, params: Values, knobs: Values) -> Plan:
    """cupyx's separable correlation; integers go through exact sums and a rounding kernel, whose cost is counted."""
    ndimage, cupy = device.library("cupyx.scipy.ndimage"), device.library("cupy")
    window, axes = params["window"], (0, 1) if output == "image" else (0,)
    mode = "constant" if params["border"] == "zero" else str(params["border"])
    out = device.empty(x.shape, x.dtype)
    targets = [device.empty(x.shape, x.dtype if x.dtype.kind == "f" else np.uint32) for _ in axes]
    if x.dtype.kind == "f":
        targets[-1] = out
        return Plan(tuple(_along_axes(ndimage.uniform_filter1d, x, window, targets, mode)), {output: out})
    ones = device.upload(np.ones(window, np.uint32))
    steps = _along_axes(ndimage.correlate1d, x, ones, targets, mode)
    divide = cupy.ElementwiseKernel("S s, uint32 count", "T y", "y = (T)((s + count / 2) / count)", "round_half_up")
    steps.append(Call(divide, (targets[-1], np.uint32(window ** len(axes)), out), name="round half up"))
    return Plan(tuple(steps), {output: out})


def _along_axes(
    function: Callable[..., Any], x: DeviceArray, how: Any, targets: list[DeviceArray], mode: str
) -> list[Call]:
    """One call an axis, each from the target of the one before."""
    sources = [x, *targets[:-1]]
    return [
        Call(function, (source, how), {"axis": axis, "output": target, "mode": mode}, f"axis {axis}")
        for axis, (source, target) in enumerate(zip(sources, targets, strict=True))
    ]


def host_plan(filter: str, output: str, id: str, device: Device, x: DeviceArray, params: Values, knobs: Values) -> Plan:
    """A compiled CPU function of the host module, called with (x, out, window, border)."""
    from gpu_ops.filters.mean import host

    return _call_plan(getattr(host, f"{filter}_{id}"), output, device, x, params)


def peer_plan(
    filter: str, output: str, id: str, module: str, device: Device, x: DeviceArray, params: Values, knobs: Values
) -> Plan:
    """A CPU library's function of the peers module, called with (module, x, out, window, border)."""
    from gpu_ops.filters.mean import peers

    return _call_plan(partial(getattr(peers, f"{id}_{filter}"), device.library(module)), output, device, x, params)


def _call_plan(function: Callable[..., Any], output: str, device: Device, x: DeviceArray, params: Values) -> Plan:
    out = device.empty(x.shape, x.dtype)
    call = Call(function, (x, out, params["window"], params["border"]), name=output)
    return Plan((call,), {output: out})
