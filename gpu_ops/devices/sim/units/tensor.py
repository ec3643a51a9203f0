"""The instructions of tensor cores, for all warps of a batch at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_ops.devices.sim.findings import Findings, frame_places, say
from gpu_ops.devices.sim.lanes import WARP, Array, Lanes
from gpu_ops.devices.sim.ptx.sites import Site
from gpu_ops.devices.sim.units.matrices import BITS, Fragment, places, product
from gpu_ops.devices.sim.warp import Warps


class TensorOperations:
    """The part of a batch that works on matrices in registers."""

    if TYPE_CHECKING:
        findings: Findings
        alive: Array

        def load_shared(self, lanes: Lanes, site: Site, address: Array, dtype: Any, count: int) -> list[Array]: ...
        def store_shared(self, lanes: Lanes, site: Site, address: Array, dtype: Any, values: list[Array]) -> None: ...

    def multiply(
        self,
        lanes: Lanes,
        site: Site,
        fragments: dict[str, Fragment],
        operands: dict[str, list[Array]],
        saturate: bool,
    ) -> list[Array]:
        """a · b + c of each warp, in registers."""
        warps = self._whole_warps(lanes, site)
        inner = {name: [warps.of(r) for r in registers] for name, registers in operands.items()}
        return [warps.back(r) for r in product(fragments, inner, saturate)]

    def load_matrix(
        self, lanes: Lanes, site: Site, space: str, fragment: Fragment, layout: str, base: Array, stride: Array
    ) -> list[Array]:
        """The registers of a matrix in memory, with `stride` elements from row to row (or column to column)."""
        self._whole_warps(lanes, site)
        load = getattr(self, f"load_{space}")
        kind, count = self._units(fragment, site)
        loaded = (load(lanes, site, at, kind, count) for at in self._addresses(lanes, fragment, layout, base, stride))
        units = [np.broadcast_to(unit, lanes.shape) for found in loaded for unit in found]
        held = len(units) // fragment.different
        registers = [np.ascontiguousarray(np.stack(units[n : n + held], axis=-1)) for n in range(0, len(units), held)]
        found = [r.view("f8" if fragment.type == "f64" else "i4")[..., 0] for r in registers]
        return [found[n % fragment.different] for n in range(fragment.registers)]

    def store_matrix(
        self,
        lanes: Lanes,
        site: Site,
        space: str,
        fragment: Fragment,
        layout: str,
        base: Array,
        stride: Array,
        registers: list[Array],
    ) -> None:
        """Store the registers of a matrix."""
        self._whole_warps(lanes, site)
        store = getattr(self, f"store_{space}")
        kind, count = self._units(fragment, site)
        wide = [np.ascontiguousarray(np.broadcast_to(register, lanes.shape))[..., None] for register in registers]
        units = [np.ascontiguousarray(unit) for r in wide for unit in np.moveaxis(r.view(kind), -1, 0)]
        for number, at in enumerate(self._addresses(lanes, fragment, layout, base, stride)):
            store(lanes, site, at, kind, units[number * count : (number + 1) * count])

    def load_rows(self, lanes: Lanes, site: Site, address: Array, count: int, turned: bool) -> list[Array]:
        """ldmatrix: registers of `count` matrices of 8 x 8 elements of 16 bits, whose rows begin at the addresses of
        lanes 0 to 7, 8 to 15 …; `turned`: of the transposed matrices. Each of those lanes reads a row of 16 bytes."""
        warps = self._whole_warps(lanes, site)
        rows = np.zeros((len(warps.selection), WARP, 4), np.int32)
        part = self._row_lanes(lanes, count)
        if part is not None:
            loaded = self.load_shared(part, site, lanes.cut(address, self._has_row(lanes, count)), np.int32, 4)
            own = Warps(part)
            here = np.searchsorted(warps.selection, own.selection)
            rows[here] = np.stack([own.of(word) for word in loaded], axis=-1)
        return [warps.back(m) for m in _turned(rows.reshape(-1, 4, WARP)[:, :count], turned).transpose(1, 0, 2)]

    def store_rows(self, lanes: Lanes, site: Site, address: Array, registers: list[Array], turned: bool) -> None:
        """stmatrix: the reverse of ldmatrix."""
        warps = self._whole_warps(lanes, site)
        matrices = np.zeros((len(warps.selection), 4, WARP), np.int32)
        for number, register in enumerate(registers):
            matrices[:, number] = warps.of(register)
        rows = _turned(matrices, turned).reshape(-1, WARP, 4)
        part = self._row_lanes(lanes, len(registers))
        if part is not None:
            chosen = self._has_row(lanes, len(registers))
            words = [lanes.cut(warps.back(rows[..., word]), chosen) for word in range(4)]
            self.store_shared(part, site, lanes.cut(address, chosen), np.int32, words)

    def turn(self, lanes: Lanes, site: Site, register: Array) -> Array:
        """movmatrix: the transposed matrix of 8 x 8 elements of 16 bits in the registers of a warp."""
        warps = self._whole_warps(lanes, site)
        matrix = np.ascontiguousarray(warps.of(register)).view(np.int32)
        return warps.back(_turned(matrix[:, None], True)[:, 0])

    @staticmethod
    def _has_row(lanes: Lanes, count: int) -> Array:
        """Which lanes have the address of a row, in the lanes' frame."""
        return np.broadcast_to(lanes.special("%laneid") < 8 * count, lanes.shape)

    def _row_lanes(self, lanes: Lanes, count: int) -> Lanes | None:
        return lanes if count == 4 else lanes.subset(self._has_row(lanes, count))

    @staticmethod
    def _units(fragment: Fragment, site: Site) -> tuple[Any, int]:
        """The type of the units in which one access moves elements, no larger than a register, and their number."""
        nbytes = min(site.nbytes, fragment.each * BITS[fragment.type] // 8)
        return np.dtype(f"u{nbytes}").type, site.nbytes // nbytes

    @staticmethod
    def _addresses(lanes: Lanes, fragment: Fragment, layout: str, base: Array, stride: Array) -> list[Array]:
        """The address of each access to the different registers, in the lanes' frame."""
        rows, columns = places(fragment)
        lane, nbytes = lanes.special("%laneid"), BITS[fragment.type] // 8
        outer, inner = (rows, columns) if layout == "row" else (columns, rows)
        step = stride.astype(base.dtype)
        found = []
        for at in range(0, fragment.different * fragment.each, fragment.together(layout)):
            far, near = (a[:, at][lane].astype(base.dtype) for a in (outer, inner))
            found.append(base + (far * step + near) * base.dtype.type(nbytes))
        return found

    def _whole_warps(self, lanes: Lanes, site: Site) -> Warps:
        """The warps; those of which some lanes do not take part are reported."""
        warps = Warps(lanes)
        part = np.asarray(~warps.active.all(axis=1))
        if part.any():
            text = "needs all lanes of its warp, and some do not execute it; on hardware the result is undefined"
            bad = frame_places(lanes, warps.back(np.broadcast_to(part[:, None], warps.active.shape)))
            self.findings.add("warp instruction in divergent code", site.place, lanes, bad, say(text))
        return warps


def _turned(matrices: Array, turned: bool) -> Array:
    """Matrices (…, 32) of 8 rows of 4 words, of two elements of 16 bits each; `turned`: transposed."""
    if not turned:
        return matrices
    elements = np.ascontiguousarray(matrices).view(np.uint16).reshape(*matrices.shape[:-1], 8, 8)
    return np.ascontiguousarray(np.swapaxes(elements, -1, -2)).reshape(*matrices.shape[:-1], 64).view(np.int32)
