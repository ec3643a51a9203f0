"""Kernels in the manner of the vendor's published samples, what each must compute by NumPy, and a fault for each kind
of synchronisation: a text to replace in the source, and the kind and the line of the finding that must name it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gpu_ops.own_kernels.launching import OwnLaunch
from gpu_ops.own_kernels.sources import OwnFile, read_file

FOLDER = Path(__file__).parent
Array = np.ndarray[Any, Any]
Expect = Callable[..., Mapping[str, Array]]
ALL, NEW, CLUSTERS = ("sm_75", "sm_90", "sm_120"), ("sm_80", "sm_90", "sm_120"), ("sm_90", "sm_120")


@dataclass(frozen=True)
class Fault:
    """A text of the source, what to put in its place, and the findings that this must bring: (kind, text of the
    line)."""

    old: str
    new: str
    kind: str
    line: str
    nth: int = 0


@dataclass(frozen=True)
class Sample:
    """A launch. Arrays by name are uploaded; a text is an argument as the command line takes it, where {name} is the
    file of an array. `expect` computes outputs from the arrays; `tolerance` is absolute, 0 for equal bits."""

    file: str
    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arrays: Mapping[str, Array]
    arguments: Sequence[str]
    expect: Expect
    architectures: tuple[str, ...] = ALL
    shared: int = 0
    tolerance: float = 0.0
    faults: tuple[Fault, ...] = field(default=())

    def launch(self, folder: Path, change: Callable[[str], str] = str) -> OwnLaunch:
        """The launch with its arrays in files of a folder."""
        for name, array in self.arrays.items():
            np.save(folder / f"{name}.npy", array)
        paths = {name: folder / f"{name}.npy" for name in self.arrays}
        own = read_file(FOLDER / self.file)
        file = OwnFile(own.name, {**own.texts, own.name: change(own.texts[own.name])})
        texts = tuple(text.format(**paths) for text in self.arguments)
        return OwnLaunch(file, self.kernel, self.grid, self.block, texts, self.shared)


def _rng() -> np.random.Generator:
    return np.random.default_rng(36)


f4 = np.float32
FLOATS = _rng().random(4096).astype(f4)
WHOLE = _rng().integers(0, 256, 10007).astype(f4)
NUMBERS = _rng().integers(0, 256, 1024).astype(np.int32)
IMAGE = _rng().random((40, 48)).astype(f4)
VOLUME = _rng().integers(0, 256, (12, 14, 16)).astype(np.uint8)
LAYERS = _rng().random((3, 16, 16)).astype(f4)
CELLS = _rng().integers(0, 256, (8, 16, 4)).astype(np.uint8)


def _jacobi(a: Array, **_: Array) -> Mapping[str, Array]:
    for _step in range(6):
        a = f4(0.5) * (np.roll(a, 1) + np.roll(a, -1))
    return {"a": a}


def _tiles(x: Array) -> Mapping[str, Array]:
    tile = x.reshape(-1, 128)
    rank = np.tile(np.arange(4), 2) * 1000 + tile[:, 5]
    return {"out": np.repeat(tile.sum(1), 128), "scan": tile.cumsum(1).reshape(-1), "rank": np.repeat(rank, 128)}


def _parts(x: Array) -> Mapping[str, Array]:
    warp = x.reshape(-1, 32)
    odd, label, on = warp & 1, np.zeros_like(warp), warp > 100
    for kind in range(5):
        group = warp % 5 == kind
        most = np.where(group, warp, -1).max(1) * 100 + group.sum(1)
        label = np.where(group, most[:, None], label)
    halves = np.where(odd, (warp * odd).sum(1)[:, None], (warp * (1 - odd)).sum(1)[:, None])
    first = np.take_along_axis(warp, on.argmax(1)[:, None], 1)
    leader = np.where(on, first * 100 + on.cumsum(1) - 1, 0)
    return {"odd": halves.reshape(-1), "label": label.reshape(-1), "leader": leader.reshape(-1)}


def interpolated(cells: Array, where: Sequence[Array], border: str, linear: bool) -> Array:
    """Cells at coordinates in elements, slowest axis first, in float64 and with exact weights."""
    if not linear:
        return _at(cells, [np.floor(w).astype(int) for w in where], border)
    lows = [np.floor(w - 0.5).astype(int) for w in where]
    total: Any = 0
    for sides in itertools.product((0, 1), repeat=len(where)):
        weight: Any = 1
        for w, low, side in zip(where, lows, sides, strict=True):
            share = w - 0.5 - low
            weight = weight * (share if side else 1 - share)
        places = [low + side for low, side in zip(lows, sides, strict=True)]
        total = total + weight * _at(cells, places, border)
    return np.asarray(total)


def _at(cells: Array, places: Sequence[Array], border: str) -> Array:
    inside: Any = True
    index = []
    for place, size in zip(places, cells.shape, strict=True):
        inside = inside & (place >= 0) & (place < size)
        folded = np.where(place // size % 2, size - 1 - place % size, place % size)
        index.append({"wrap": place % size, "mirror": folded}.get(border, np.clip(place, 0, size - 1)))
    values = cells[tuple(index)]
    return np.where(inside, values, 0) if border == "border" else values


def _turn(border: str) -> Expect:
    def expect(tex: Array, **_: Array) -> Mapping[str, Array]:
        y, x = np.mgrid[:56, :64]
        u, v = x / 64 - 0.5, y / 56 - 0.5
        across, down = u * np.cos(0.5) - v * np.sin(0.5) + 0.5, v * np.cos(0.5) + u * np.sin(0.5) + 0.5
        return {"out": interpolated(tex, [down * 40, across * 48], border, True).reshape(-1)}

    return expect


def _line(border: str, linear: bool, normalized: bool) -> Expect:
    def expect(tex: Array, **_: Array) -> Mapping[str, Array]:
        at = (np.arange(64) - 8) * (0.0625 if normalized else 0.375)
        return {"out": interpolated(tex, [at * len(tex) if normalized else at], border, linear)}

    return expect


def _faces(face: int) -> Expect:
    def expect(tex: Array, out: Array) -> Mapping[str, Array]:
        right = out.copy()
        right[face] = -tex[face]
        return {"out": right.reshape(-1)}

    return expect


def _volume(tex: Array, **_: Array) -> Mapping[str, Array]:
    y, x = np.mgrid[:28, :32]
    where = [np.full(y.shape, 0.37 * 12), y / 28 * 14, x / 32 * 16]
    return {"out": interpolated(tex / 255, where, "wrap", True).reshape(-1)}


def _elements(tex: Array, **_: Array) -> Mapping[str, Array]:
    return {"out": np.concatenate([np.zeros((3, 4), f4), tex])[:103].reshape(-1)}


def _cells(tex: Array, **_: Array) -> Mapping[str, Array]:
    y, x = np.mgrid[:8, :16]
    planes = [interpolated(tex[..., n] / 255, [y + 0.6, x + 0.3], "clamp", True) for n in range(4)]
    return {"out": tex.reshape(-1), "fractions": np.stack(planes, -1).reshape(-1)}


def _corners(tex: Array, **_: Array) -> Mapping[str, Array]:
    y, x = np.mgrid[:8, :16]
    four = [_at(tex, [y + b, x + a], "clamp") for a, b in ((-1, 0), (0, 0), (0, -1), (-1, -1))]
    four[0] = four[0] + interpolated(tex, [y * 1.0, x * 1.0], "clamp", False) * 1000
    return {"out": np.stack(four, -1).astype(f4).reshape(-1)}


def _surface(surf: Array, **_: Array) -> Mapping[str, Array]:
    y, x = np.mgrid[:8, :16]
    outside = _at(surf, [y, x - 4], "border")
    edge = _at(surf, [y - 2, x + 9], "clamp")
    return {"out": (surf + f4(10) * outside + f4(100) * edge).astype(f4).reshape(-1)}


def _dim(x: Array, by: float) -> Array:
    return (x * f4(by)).astype(np.uint32).astype(np.uint8)


def _cut(x: Array, by: float) -> Array:
    return np.where(x > f4(by * 100), 255, 0).astype(np.uint8)


def _apply(which: int) -> Expect:
    def expect(x: Array, **_: Array) -> Mapping[str, Array]:
        v = x.astype(f4)
        turns = np.where(np.arange(len(v)) & 1, _dim(v, 1.5), _cut(v, 1.5))
        return {"x": (_dim, _cut)[which](v, 0.5) + turns + _cut(v, 1.0), "out": np.array([3, 2, 1], np.int32)}

    return expect


def _areas(**_: Array) -> Mapping[str, Array]:
    i = np.arange(64)
    square = (i.astype(np.uint32) * np.uint32(2654435761) >> np.uint32(16)) & 1
    return {"out": np.where(square, i * i, 3 * i * i).astype(f4)}


def _ring(**_: Array) -> Mapping[str, Array]:
    block = np.arange(8)
    following = block // 4 * 4 + (block % 4 + 1) % 4
    return {"out": (following[:, None] * 100 + 63 - np.arange(64) + 4).astype(np.int32).reshape(-1)}


def _reversed(block: int, doubled: int) -> Expect:
    """Each block of elements backwards, and the elements themselves so often."""
    return lambda x: {"out": x.reshape(-1, block)[:, ::-1].reshape(-1) + f4(doubled) * x}


def _bits16(values: Array) -> Array:
    """Float32 as the bits of bfloat16: these values have no more."""
    return (values.view(np.uint32) >> 16).astype(np.uint16)


def _small(shape: tuple[int, int], dtype: Any = np.float16) -> Array:
    return (_rng().integers(-8, 9, shape) / 8).astype(dtype)


def _times(a: Array, b: Array, add: float = 0.0) -> Array:
    return np.asarray(a.astype(float) @ b.astype(float) + add)


HALVES = {"a": _small((64, 64)), "b": _small((64, 64)).T.copy(), "c": _small((64, 64), f4)}
BYTES = {name: _rng().integers(-128, 128, (16, 32)).astype(np.int8) for name in "ab"}
_BYTES_B = _rng().integers(-128, 128, (8, 32)).astype(np.int8)
_TURNED = {
    border: f"tex=texture:{{tex}},{border},linear,normalized" for border in ("wrap", "mirror", "clamp", "border")
}

SAMPLES = (
    Sample(
        *("grid.cu", "total", (40, 1, 1), (256, 1, 1), {"x": WHOLE}),
        ("{x}", "part=empty:float32:40", "out=empty:float32:1", "10007"),
        lambda x: {"out": np.array([x.sum()])},
        shared=64,
        faults=(
            Fault("cg::sync(grid);", "", "read-after-write hazard between blocks", "all += part[b]"),
            Fault("cg::sync(block);", "", "read-after-write hazard", "all += sums[w]"),
        ),
    ),
    Sample(
        *("grid.cu", "jacobi", (20, 1, 1), (128, 1, 1), {"a": FLOATS}),
        ("{a}", "b=empty:float32:4096", "4096", "6"),
        _jacobi,
        faults=(Fault("grid.sync();", "", "read-after-write hazard between blocks", "b[i] = 0.5f"),),
    ),
    Sample(
        *("tiles.cu", "wide", (2, 1, 1), (512, 1, 1), {"x": NUMBERS}),
        ("{x}", "out=empty:int32:1024", "scan=empty:int32:1024", "rank=empty:int32:1024"),
        _tiles,
    ),
    Sample(
        *("tiles.cu", "parts", (4, 1, 1), (256, 1, 1), {"x": NUMBERS}),
        ("{x}", "odd=empty:int32:1024", "label=empty:int32:1024", "leader=empty:int32:1024"),
        _parts,
    ),
    *(
        Sample(
            *("images.cu", "turn", (2, 2, 1), (32, 28, 1), {"tex": IMAGE}),
            ("out=empty:float32:3584", "64", "56", "0.5", argument),
            _turn(border),
            tolerance=4e-3,
        )
        for border, argument in _TURNED.items()
    ),
    *(
        Sample(
            *("images.cu", "line", (1, 1, 1), (64, 1, 1), {"tex": FLOATS[:19]}),
            ("out=empty:float32:64", "0.0625" if normalized else "0.375", f"tex=texture:{{tex}},{words}"),
            _line(border, linear, normalized),
            tolerance=4e-3 if linear else 0.0,
        )
        for border, linear, normalized, words in (
            ("clamp", False, False, "point"),
            ("border", True, False, "border,linear"),
            ("wrap", True, True, "wrap,linear,normalized"),
            ("mirror", False, True, "mirror,normalized"),
        )
    ),
    Sample(
        *("images.cu", "volume", (1, 1, 1), (32, 28, 1), {"tex": VOLUME}),
        ("out=empty:float32:896", "32", "28", "0.37", "tex=texture:{tex},wrap,linear,normalized,fraction"),
        _volume,
        tolerance=6e-3,
    ),
    Sample(
        *("images.cu", "layers", (1, 2, 1), (16, 8, 1), {"tex": LAYERS, "out": np.zeros(768, f4)}),
        ("{out}", "16", "2", "tex=texture:{tex},layered,normalized,linear,wrap"),
        lambda tex, out: {"out": np.concatenate([out[:512], (2 - tex[2]).reshape(-1)])},
    ),
    *(
        Sample(
            *("images.cu", "faces", (1, 1, 1), (16, 16, 1)),
            {"tex": FLOATS[: 6 * 256].reshape(6, 16, 16), "out": np.zeros((6, 16, 16), f4)},
            ("{out}", "16", str(face), "tex=texture:{tex},cube,linear"),
            _faces(face),
            tolerance=0.0,
        )
        for face in range(6)
    ),
    Sample(
        *("images.cu", "elements", (1, 1, 1), (128, 1, 1), {"tex": FLOATS[:400].reshape(100, 4)}),
        ("out=empty:float32:412", "103", "tex=texture:{tex},vector,memory"),
        _elements,
    ),
    Sample(
        *("images.cu", "rows", (8, 1, 1), (64, 1, 1), {"tex": FLOATS[:512].reshape(8, 64)}),
        ("out=empty:float32:512", "64", "tex=texture:{tex},memory,wrap,normalized"),
        lambda tex: {"out": np.roll(tex, (-2, -3), (0, 1)).reshape(-1)},
    ),
    Sample(
        *("images.cu", "cells", (8, 1, 1), (16, 1, 1), {"tex": CELLS}),
        (
            *("out=empty:uint8:512", "fractions=empty:float32:512", "16", "tex=texture:{tex},vector"),
            "unit=texture:{tex},vector,fraction,linear",
        ),
        _cells,
        tolerance=6e-3,
    ),
    Sample(
        *("images.cu", "corners", (8, 1, 1), (16, 1, 1), {"tex": FLOATS[:128].reshape(8, 16)}),
        ("out=empty:float32:512", "tex=texture:{tex}"),
        _corners,
        tolerance=1e-4,
    ),
    Sample(
        *("images.cu", "write", (8, 1, 1), (16, 1, 1), {"x": FLOATS[:128].reshape(8, 16)}),
        ("surf=surface:zeros:float32:8x16", "{x}", "16"),
        lambda x: {"surf": 2 * x},
        faults=(Fault("x * 4, y, cuda", "x * 4 + 8, y, cuda", "out of bounds", "surf2Dwrite("),),
    ),
    Sample(
        *("images.cu", "read", (8, 1, 1), (16, 1, 1), {"surf": FLOATS[:128].reshape(8, 16)}),
        ("surf=surface:{surf}", "out=empty:float32:128", "16"),
        _surface,
        tolerance=1e-4,
    ),
    *(
        Sample(
            *("pointers.cu", "apply", (4, 1, 1), (256, 1, 1), {"x": NUMBERS[:1000].astype(np.uint8)}),
            ("{x}", "1000", str(which), "out=empty:int32:3"),
            _apply(which),
        )
        for which in (0, 1)
    ),
    Sample(
        *("pointers.cu", "areas", (1, 1, 1), (64, 1, 1), {}),
        ("out=empty:float32:64",),
        _areas,
    ),
    Sample(
        *("cluster.cu", "histogram", (8, 1, 1), (128, 1, 1), {"x": NUMBERS, "bins": np.zeros(256, np.int32)}),
        ("{bins}", "{x}", "1024", "128"),
        lambda x, bins: {"bins": np.bincount(x, minlength=256).astype(np.int32)},
        CLUSTERS,
        shared=512,
        faults=(
            Fault("cluster.sync();", "", "atomic-after-write hazard in a cluster", "atomicAdd(there"),
            Fault("cluster.sync();", "", "read-after-atomic hazard in a cluster", "atomicAdd(&bins", 1),
        ),
    ),
    Sample(
        *("cluster.cu", "ring", (8, 1, 1), (64, 1, 1), {}),
        ("out=empty:int32:512",),
        _ring,
        CLUSTERS,
        faults=(
            Fault("cluster.sync();", "", "read-after-write hazard in a cluster", "map_shared_rank(box", 2),
            Fault("cluster.sync();", "", "block may have ended", "map_shared_rank(box", 3),
        ),
    ),
    Sample(
        *("tensor.cu", "half16", (4, 1, 1), (128, 1, 1), HALVES),
        ("{a}", "{b}", "{c}", "d=empty:float32:64x64", "64"),
        lambda a, b, c: {"d": c + 2 * _times(a, b.T)},
    ),
    Sample(
        *("tensor.cu", "int8", (1, 1, 1), (32, 1, 1), {name: a[:, :16].copy() for name, a in BYTES.items()}),
        ("{a}", "{b}", "d=empty:int32:16x16"),
        lambda a, b: {"d": _times(a, b.T, 1).T},
    ),
    Sample(
        *("tensor.cu", "bf", (1, 1, 1), (32, 1, 1)),
        {name: _bits16(_small((16, 16), f4) * (n + 1)) for n, name in enumerate("ab")},
        ("{a}", "{b}", "d=empty:float32:16x16"),
        lambda a, b: {"d": _times(*((v.astype(np.uint32) << 16).view(f4) for v in (a, b.T)))},
        NEW,
    ),
    Sample(
        *("tensor.cu", "tf", (1, 1, 1), (32, 1, 1), {"a": _small((16, 8), f4), "b": _small((16, 8), f4)[::-1].copy()}),
        ("{a}", "{b}", "d=empty:float32:16x16"),
        lambda a, b: {"d": _times(a, b.T)},
        NEW,
    ),
    Sample(
        *(
            "tensor.cu",
            "doubles",
            (1, 1, 1),
            (32, 1, 1),
            {"a": _small((8, 4), float), "b": _small((8, 4), float)[::-1]},
        ),
        ("{a}", "{b}", "d=empty:float64:8x8"),
        lambda a, b: {"d": _times(a, b.T)},
        NEW,
    ),
    Sample(
        *("tensor.cu", "rows16", (1, 1, 1), (32, 1, 1), {"a": _small((16, 16)), "b": _small((16, 8))}),
        ("{a}", "{b}", "d=empty:float32:16x8"),
        lambda a, b: {"d": _times(a, b, 1)},
        NEW,
        faults=(Fault("__syncwarp();", "", "read-after-write hazard within a warp", "ldmatrix"),),
    ),
    Sample(
        *("tensor.cu", "bytes32", (1, 1, 1), (32, 1, 1)),
        {"a": BYTES["a"].view(np.int32), "b": _BYTES_B.view(np.int32)},
        ("{a}", "{b}", "d=empty:int32:16x8"),
        lambda a, b: {"d": _times(a.view(np.int8), b.view(np.int8).T)},
        NEW,
    ),
    *(
        Sample(
            *("copies.cu", kernel, (1, 1, 1), (block, 1, 1), {"x": FLOATS[:1024]}),
            ("{x}", "out=empty:float32:1024", "1024"),
            _reversed(block, doubled),
            faults=faults,
        )
        for kernel, block, doubled, faults in (
            (
                *("awbarrier", 256, 2),
                (Fault("bar.wait(std::move(token));", "", "read-after-write hazard", "own + box"),),
            ),
            ("pipe", 128, 0, (Fault("__syncthreads();", "", "read-after-write hazard", "box[s % stages]"),)),
            (
                *("shared_pipe", 128, 0),
                (Fault("p.consumer_wait();", "", "read before its copy is complete", "box[s % 2][127"),),
            ),
            ("cgcopy", 256, 0, (Fault("cg::wait(block);", "", "read-after-write hazard", "box[255 - thr"),)),
        )
    ),
)
