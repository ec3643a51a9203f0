"""What the warps of one element read and write, access by access: which elements their lanes meet at each line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gpu_ops.devices.sim.lanes import WARP
from gpu_ops.devices.sim.launch import WaitingBlocks
from gpu_ops.devices.sim.memory import address_of
from gpu_ops.devices.sim.ptx.kernels import plain_name
from gpu_ops.devices.sim.traces import VERBS
from gpu_ops.devices.sim.traffic.accesses import Accesses
from gpu_ops.devices.sim.traffic.following import Touch
from gpu_ops.devices.sim.traffic.maps import TrafficMaps
from gpu_ops.devices.sim.traffic.observer import Observers
from gpu_ops.devices.sim.units.textures import SimTexture
from gpu_ops.errors import ParamError
from gpu_ops.explaining.traffic.content import SECTOR
from gpu_ops.explaining.traffic.footprints import Taping, coordinates, line_of
from gpu_ops.explaining.traffic.recording import TrafficRun
from gpu_ops.explaining.traffic.warp_content import Memory, WarpAccess, WarpAccesses
from gpu_ops.plan import Launch, Plan

MOST, LAUNCHES = 64, 24
"""Accesses of a warp that are kept, and launches that are followed back."""


def warp_accesses(run: TrafficRun, output: str, index: int | None, element: int) -> tuple[WarpAccesses, ...]:
    """The accesses of the warp that wrote an element of an output, after those of the warps of earlier launches that
    wrote what its thread read, one each; or, where the output has no element at this place (None), of the warp that
    read an element of the input, and those of later launches that read what its thread wrote. Runs their blocks again.

    Raises ParamError where there is no such warp, with the reason; Cancelled.
    """
    pairs, found = list(zip(run.launches, run.maps, strict=True)), list[WarpAccesses]()
    if index is None:
        return _from_input(run, address_of(run.x) + element * run.x.dtype.itemsize)
    array = run.plan.outputs[output]
    address = address_of(array) + index * array.dtype.itemsize
    for place in range(len(pairs) - 1, -1, -1):
        launch, maps = pairs[place]
        if len(found) < LAUNCHES and (block := _owner(maps, address, False)) >= 0:
            (warp,), reads = _of_block(run, launch, block, address, False)
            found.insert(0, warp)
            earlier = [maps for _, maps in pairs[:place]]
            written = [one for one in reads if any(_owner(maps, one, False) >= 0 for maps in earlier)]
            address = address if address in written or not written else written[0]
    if not found:
        raise ParamError("No kernel writes this element in global memory; choose another variant.")
    return tuple(found)


def _from_input(run: TrafficRun, address: int) -> tuple[WarpAccesses, ...]:
    """The accesses of the warp that reads an address first, and of those of later launches that read what it wrote, as
    far as these can be run again."""
    found, maps = list[WarpAccesses](), run.maps
    for place, launch in enumerate(run.launches):
        if len(found) >= LAUNCHES or (block := _owner(maps[place], address, True)) < 0:
            continue
        try:
            warps, written = _of_block(run, launch, block, address, True)
        except ParamError:
            if not found:
                raise
            break
        found += warps
        later = [one for one in written if _read_later(maps[place + 1 :], one)]
        if not later:
            break
        address = later[0]
    if not found:
        raise ParamError("No kernel reads this element of the input in global memory; choose another variant.")
    return tuple(found)


def _read_later(maps: Sequence[TrafficMaps], address: int) -> bool:
    """Whether a launch reads an address before another writes it again."""
    met = (one for one in maps if max(_owner(one, address, reads) for reads in (True, False)) >= 0)
    first = next(met, None)
    return first is not None and _owner(first, address, True) >= 0


def _owner(maps: TrafficMaps, address: int, reads: bool) -> int:
    """The block that accessed an address last, or −1."""
    for base, owners in (maps.readers if reads else maps.writers).items():
        element = (address - base) // maps.itemsizes[base]
        if 0 <= element < len(owners):
            return int(owners[element])
    return -1


def _of_block(
    run: TrafficRun, launch: Launch, block: int, address: int, reads: bool
) -> tuple[list[WarpAccesses], list[int]]:
    """The accesses of the warp of a block that accesses an address, and the addresses of global memory that its thread
    reads if it wrote that one, or writes if it read it, in order. Where a thread that reads writes none, these are of
    the first thread of the block that stores a value made of it, and the accesses of its warp come after."""
    if launch.kernel.loaded.code.cluster:
        raise ParamError(f"{launch.kernel.name} runs in clusters, which are not followed; choose another variant.")
    kept = Accesses()
    _run_again(run, launch, block, kept)
    thread = _thread(kept.touches, address, reads)
    found = [_of_thread(run, launch, block, kept, thread, reads)]
    others = [t for t in kept.touches if t.space == "global" and (t.site.verb == "reads") != reads]
    met = [int(one) for t in others for one in t.address[t.at == thread]]
    if reads and not met:
        writer, met = _stored_from(run, launch, block, address)
        if met and writer // WARP != thread // WARP:
            found.append(_of_thread(run, launch, block, kept, writer, False))
    return found, met


def _run_again(run: TrafficRun, launch: Launch, block: int, observers: Observers) -> None:
    options = replace(run.device.options, observers=observers, blocks=(block,), checks="off", machine_code=False)
    try:
        run.device.with_options(options).execute(Plan((launch,), run.plan.outputs))
    except WaitingBlocks:
        raise ParamError(f"The blocks of {launch.kernel.name} wait for one another; choose another variant.") from None


def _stored_from(run: TrafficRun, launch: Launch, block: int, address: int) -> tuple[int, list[int]]:
    """The first thread of a block that stores a value made of the byte at an address, and where it does; no addresses
    where there is none."""
    taping = Taping()
    _run_again(run, launch, block, taping)
    reached = taping.tape.reached_from(address)
    stores = [
        (int(t), int(a)) for s in taping.tape.stores for t, a, n in zip(*s[1:3], s.nodes, strict=True) if reached[n]
    ]
    return (stores[0][0], [at for thread, at in stores if thread == stores[0][0]]) if stores else (0, [])


def _of_thread(run: TrafficRun, launch: Launch, block: int, kept: Accesses, thread: int, reads: bool) -> WarpAccesses:
    """The accesses of the warp of a thread."""
    own = [touch for touch in map(lambda t: _of_warp(t, thread // WARP), kept.touches) if len(touch.at)]
    found = tuple(_access(run, launch, touch) for touch in own[:MOST])
    where = launch.kernel.name, coordinates(block, launch.grid)
    shuffles = sum(bool((threads // WARP == thread // WARP).any()) for threads in kept.shuffles)
    return WarpAccesses(*where, thread // WARP, thread % WARP, reads, len(own), found, shuffles)


def _thread(touches: list[Touch], address: int, reads: bool) -> int:
    """The thread that first read, or last wrote, the byte at an address."""
    for touch in touches if reads else touches[::-1]:
        if touch.space == "global" and (touch.site.verb == "reads") == reads:
            hit = np.flatnonzero((touch.address <= address) & (address < touch.address + touch.site.nbytes))
            if len(hit):
                return int(touch.at[hit[0] if reads else hit[-1]])
    raise ParamError("This element depends on the order of the blocks; choose another variant.")


def _of_warp(touch: Touch, warp: int) -> Touch:
    own = touch.at // WARP == warp
    return touch._replace(at=touch.at[own], address=touch.address[own])


def _access(run: TrafficRun, launch: Launch, touch: Touch) -> WarpAccess:
    site, first = touch.site, int(touch.address[0])
    held = {"shared": _shared, "texture": _texture}.get(touch.space, _array)
    memory, name, size, base, high = held(run, launch, first, site.nbytes)
    ends = touch.address[:, None] + (0, site.nbytes - 1)
    sectors = 0 if touch.space != "global" else len(np.unique(ends // SECTOR))
    lanes, elements = (tuple(part.tolist()) for part in (touch.at % WARP, (touch.address - base) // size))
    extent = max((high - base) // size, max(elements) + 1)
    return WarpAccess(*line_of(launch, site), VERBS[site.verb], memory, name, size, extent, lanes, elements, sectors)


Held = tuple[Memory, str, int, int, int]
"""A memory, its name, the bytes of an element, its first address, and its end."""


def _shared(run: TrafficRun, launch: Launch, address: int, nbytes: int) -> Held:
    """The shared variable at an address, or all of the block's shared memory."""
    loaded = launch.kernel.loaded
    end = int(loaded.dynamic_from + launch.shared_bytes)  # that of a dynamic array is not known before
    name, low, high = next(((n, a, min(b, end)) for n, a, b in loaded.shared if a <= address < b), ("", 0, end))
    return "shared", plain_name(name), nbytes, low, high


def _texture(run: TrafficRun, launch: Launch, address: int, nbytes: int) -> Held:
    """The texture with an element at an address."""
    loaded = launch.kernel.loaded
    for name, arg in zip(loaded.param_names, launch.args, strict=True):
        if isinstance(arg, SimTexture) and 0 <= address - address_of(arg.array) < arg.array.nbytes:
            low = address_of(arg.array)
            return "texture", name, nbytes, low, low + arg.array.nbytes
    return "texture", "", nbytes, address, address


def _array(run: TrafficRun, launch: Launch, address: int, nbytes: int) -> Held:
    """The array that holds an address: what it is, and its name."""
    loaded = launch.kernel.loaded
    known: list[tuple[Memory, str, Any]] = [("input", "", run.x)]
    known += [("output", id, array) for id, array in run.plan.outputs.items()]
    known += [("buffer", name, arg) for name, arg in zip(loaded.param_names, launch.args, strict=True)]
    for memory, name, array in known:
        if isinstance(array, np.ndarray) and array.ndim and array.flags.c_contiguous:
            low = address_of(array)
            if low <= address < low + array.nbytes:
                return memory, name, array.dtype.itemsize, low, low + array.nbytes
    return "buffer", "", nbytes, address, address
