"""The instructions that read textures, and read and write surfaces, for all lanes of a batch at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from gpu_ops.devices.sim.counters import Counters
from gpu_ops.devices.sim.findings import Findings, frame_places, say
from gpu_ops.devices.sim.lanes import Array, Lanes
from gpu_ops.devices.sim.ptx.sites import Site
from gpu_ops.devices.sim.traffic.observer import Observer
from gpu_ops.devices.sim.units.textures import IMAGES, SimTexture
from gpu_ops.errors import KernelError


class ImageOperations:
    """The part of a batch that accesses textures and surfaces."""

    if TYPE_CHECKING:
        counters: Counters | None
        findings: Findings

    def texture(
        self,
        lanes: Lanes,
        site: Site,
        handle: Array,
        where: list[Array],
        layer: Array | None,
        dtype: Any,
        component: int | None,
    ) -> list[Array]:
        """Four components of a texture, or one component of four elements."""
        filled = [lanes.fill_inactive(w) for w in where]
        layer = None if layer is None else lanes.fill_inactive(layer)

        def read(image: SimTexture, part: Lanes) -> list[Array]:
            if component is not None:
                return image.gather(filled, layer, component)
            if self.counters is not None and self.counters.observer is not None:
                self._report_fetch(self.counters.observer, image, handle == image.pointer, lanes, site, filled, layer)
            return image.fetch(filled, layer)

        parts = list(self._each_image(lanes, site, handle, read))
        for _, (first, *_) in parts:
            if (first.dtype.kind == "f") != (dtype == np.float32):
                self._stop(site, f"reads {np.dtype(dtype)}, and the texture gives {first.dtype}; give it such cells")
        if len(parts) == 1:  # most often
            return [one.astype(dtype) for one in parts[0][1]]
        return [
            np.asarray(np.select([where for where, _ in parts], [found[n].astype(dtype) for _, found in parts]))
            for n in range(4)
        ]

    @staticmethod
    def _report_fetch(
        observer: Observer,
        image: SimTexture,
        own: Array,
        lanes: Lanes,
        site: Site,
        where: list[Array],
        layer: Array | None,
    ) -> None:
        """Report where the elements are that lanes get from their own texture."""
        address = image.addresses(where, layer)
        if address is not None:
            channels = image.sampling.channels(image.array.shape)
            observer.fetched(lanes, site, np.where(own, address, -1), image.array.dtype.itemsize, channels)

    def read_surface(
        self,
        lanes: Lanes,
        site: Site,
        handle: Array,
        where: list[Array],
        layer: Array | None,
        mode: str,
        dtype: Any,
        count: int,
    ) -> list[Array]:
        """Elements of a surface by its bytes; zero outside."""
        results = [np.zeros(lanes.shape, dtype) for _ in range(count)]
        nbytes = np.dtype(dtype).itemsize * count
        for selection, (image, index, inside) in self._cells(lanes, site, handle, where, layer, mode, nbytes):
            values = np.ascontiguousarray(image.bytes_of(nbytes)[index]).view(dtype)
            for place, result in enumerate(results):
                np.copyto(result, values[..., place], where=selection & inside)
        return results

    def write_surface(
        self,
        lanes: Lanes,
        site: Site,
        handle: Array,
        where: list[Array],
        layer: Array | None,
        mode: str,
        dtype: Any,
        values: list[Array],
    ) -> None:
        """Store elements in a surface by its bytes; nothing outside."""
        nbytes = np.dtype(dtype).itemsize * len(values)
        for selection, (image, index, inside) in self._cells(lanes, site, handle, where, layer, mode, nbytes):
            go = np.broadcast_to(selection & inside, lanes.shape)
            wide = np.stack([np.broadcast_to(v, lanes.shape)[go] for v in values], axis=-1).astype(dtype)
            image.bytes_of(nbytes)[np.broadcast_to(index, lanes.shape)[go]] = wide.view(np.uint8)

    def _cells(
        self,
        lanes: Lanes,
        site: Site,
        handle: Array,
        where: list[Array],
        layer: Array | None,
        mode: str,
        nbytes: int,
    ) -> Iterator[tuple[Array, tuple[SimTexture, Array, Array]]]:
        """The lanes of each surface, it, and their places in it. With the mode trap, those outside are reported."""

        def find(image: SimTexture, part: Lanes) -> tuple[SimTexture, Array, Array]:
            return image, *image.cells_at(where, layer, nbytes, mode)

        for selection, (image, index, inside) in self._each_image(lanes, site, handle, find):
            if mode == "trap":
                text = f"{site.verb} outside the surface of {' x '.join(map(str, image.array.shape))}, or not aligned"
                bad = frame_places(lanes, np.broadcast_to(selection & ~inside, lanes.shape))
                self.findings.add("out of bounds", site.place, lanes, bad, say(text))
            yield selection, (image, index, inside)

    def _each_image(
        self, lanes: Lanes, site: Site, handle: Array, read: Callable[[SimTexture, Lanes], Any]
    ) -> Iterator[tuple[Array, Any]]:
        """What `read` finds for each texture or surface that lanes use, with a mask of those in their frame."""
        if self.counters is not None:
            self.counters.texture_access(lanes, site)
        running = np.ones(lanes.shape, np.bool_) if lanes.mask is None else lanes.mask
        for number in np.unique(lanes.active(handle)):
            image = IMAGES.get(int(number))
            if image is None:
                self._stop(site, "the kernel reads a texture that is no argument of the launch; pass it")
            selection = running & np.broadcast_to(handle == number, lanes.shape)
            try:
                yield selection, read(image, lanes)
            except KernelError as error:
                self._stop(site, str(error))

    @staticmethod
    def _stop(site: Site, text: str) -> NoReturn:
        raise KernelError(f"{site.place.file}:{site.place.line}: {text}.")
