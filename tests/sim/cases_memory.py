"""Memory of every kind, variables, parameters, arrays of a thread's own; textures."""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np

from tests.sim.bench import Empty, Texture
from tests.sim.oracle import Array
from tests.sim.table import SAME, case, entry

N = 300


def _floats(seed: int, n: int) -> Array:
    return np.random.default_rng(seed).standard_normal(n).astype(np.float32)


def _ints(seed: int, n: int = N, high: int = 100) -> Array:
    return np.random.default_rng(seed).integers(0, high, n).astype(np.int32)


@entry("memory.vectors")
def _vectors() -> Any:
    a, b = _floats(1, 2 * N), _floats(2, 4 * N)
    p, q = a.reshape(N, 2), b.reshape(N, 4)[::-1]
    out = np.stack((q[:, 3], q[:, 2] + p[:, 0], q[:, 1] * p[:, 1], q[:, 0]), 1).reshape(-1)
    wide = np.stack((p[:, 0], q[:, 3]), 1).astype(np.float64).reshape(-1)
    args = (a, b, Empty((4 * N,), "float32"), Empty((2 * N,), "float64"), N)
    return case("memory.cu", "vectors", args), (SAME, SAME, out, wide)


@entry("memory.bytes_and_longs")
def _bytes_and_longs() -> Any:
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 256, (N, 4)).astype(np.uint8), rng.integers(0, 2**64, (N, 2), dtype=np.uint64)
    wide = a.astype(int)
    out = np.stack((wide[:, 3], wide[:, 2], 255 - wide[:, 1], wide[:, 0] + wide[:, 1]), 1).astype(np.uint8)
    sums = np.stack((b[:, 0] + b[:, 1], b[:, 0] ^ b[:, 1]), 1)
    pairs = np.stack((wide[:, 0] - wide[:, 1], a[:, 2].view(np.int8)), 1).astype(np.int16)
    args = (a, b, np.zeros_like(out), np.zeros_like(sums), np.zeros_like(pairs), N)
    return case("memory.cu", "bytes_and_longs", args), (SAME, SAME, out, sums, pairs)


@entry("memory.single_bytes")
def _single_bytes() -> Any:
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 256, N).astype(np.uint8), rng.integers(-128, 128, N).astype(np.int8)
    out = ((a.astype(int) + b) >> 1).astype(np.uint8)[::-1].copy()
    return case("memory.cu", "single_bytes", (a, b, Empty((N,), "uint8"), N)), (SAME, SAME, out)


@entry("memory.generic")
def _generic() -> Any:
    n = 256  # whole blocks: all threads meet the barriers
    a = _ints(5, n)
    i = np.arange(n)
    near = 1000 + i // 128 * 128 + (i % 128 + 5) % 128
    value = np.choose(i % 3, (a + (a & 3), near, a[::-1]))
    return case("memory.cu", "generic", (a, np.zeros(n, np.int32), n)), (SAME, (value + a + 3).astype(np.int32))


@entry("memory.generic_atomics")
def _generic_atomics() -> Any:
    a = _ints(6, 256)
    counts = np.bincount(a & 3, weights=a, minlength=4).astype(np.int32)
    return case("memory.cu", "generic_atomics", (np.zeros(4, np.int32), a, 256)), (counts, SAME)


@entry("memory.dynamic_shared")
def _dynamic_shared() -> Any:
    a = _floats(7, N)
    padded = np.pad(a, (0, 84)).reshape(4, 96)[:, ::-1].reshape(-1)[:N]
    out = (padded + (np.arange(N) % 96 % 3) * 100).astype(np.float32)
    given = case("memory.cu", "dynamic_shared", (a, Empty((N,), "float32"), N), block=96, shared_bytes=4 * 96)
    return given, (SAME, out)


@entry("memory.several_shared")
def _several_shared() -> Any:
    a = np.random.default_rng(8).integers(0, 256, N).astype(np.uint8)
    padded = np.pad(a, (0, 84)).reshape(4, 96).astype(float)
    other = np.arange(96) * 7 % 96
    out = padded[:, other] + padded[:, 95 - other] * 0.5 * 1000 - padded[:, other]
    return case("memory.cu", "several_shared", (a, np.zeros(N), N), block=96), (SAME, out.reshape(-1)[:N].copy())


class _Settings(ctypes.Structure):
    _fields_ = [
        ("scale", ctypes.c_int),
        ("shift", ctypes.c_float),
        ("table", ctypes.c_short * 4),
        ("last", ctypes.c_double),
    ]


@entry("memory.constants")
def _constants() -> Any:
    a, weights = np.arange(N, dtype=np.float32) % 17, np.array([1, -2, 4, 0.5, 8], np.float32)
    settings = _Settings(3, 0.25, (5, -6, 7, -8), 1.5)
    i = np.arange(N)
    total = sum(weights[k] * a[(i + k) % N] for k in range(5)) + np.float32(0.75)
    out = total + np.array([5, -6, 7, -8])[i & 3] + np.array([3, -1, 4, 1])[i & 3] + np.float32(1.5)
    constants = {"weights": weights, "settings": np.frombuffer(bytes(settings), np.uint8)}
    given = case("memory.cu", "constants", (a, np.zeros(N, np.float32), N), constants=constants)
    return given, (SAME, out.astype(np.float32))


@entry("memory.device_variables")
def _device_variables() -> Any:
    i = np.arange(N)
    gains, letters = np.array([2, -8, 32]), np.frombuffer(b"abcde\0", np.uint8).astype(int)
    return case("memory.cu", "device_variables", (np.zeros(N, np.int32), N)), (
        (gains[i % 3] + letters[i % 6]).astype(np.int32),
    )


@entry("memory.read_counter")
def _read_counter() -> Any:
    return case("memory.cu", "read_counter", (np.zeros(1, np.int32),), grid=1, block=1), (np.array([40], np.int32),)


class _Window(ctypes.Structure):
    _fields_ = [
        ("weights", ctypes.c_float * 7),
        ("radius", ctypes.c_int),
        ("big", ctypes.c_longlong),
        ("flag", ctypes.c_ubyte),
    ]


@entry("memory.struct_parameter")
def _struct_parameter() -> Any:
    a, weights = _ints(13).astype(np.float32), [1, -2, 4, 8, -1, 3, 0.5]
    window = np.void(bytes(_Window((ctypes.c_float * 7)(*weights), 2, 5 << 40, 200)))
    i = np.arange(N)
    total = sum(np.float32(weights[k + 2]) * a[(i + k + N) % N] for k in range(-2, 3))
    out = total + np.array(weights, np.float32)[i % 7] + np.float32(5) + np.float32(200)
    return case("memory.cu", "struct_parameter", (window, a, np.zeros(N, np.float32), N)), (SAME, out)


@entry("memory.local_sort")
def _local_sort() -> Any:
    n = 250
    a = _ints(9, n)
    i, k = np.arange(n)[:, None], np.arange(9)[None]
    out = np.sort(a[(i * 9 + k * 4) % n], axis=1).reshape(-1)
    return case("memory.cu", "local_sort", (a, Empty((9 * n,), "int32"), n)), (SAME, out)


@entry("memory.calls")
def _calls() -> Any:
    a = (_ints(10, N) - 50).astype(np.float32)
    out, turned = np.zeros((N, 2), np.float32), np.zeros((N, 3), np.int32)
    for i in range(N):
        part = a[i // 2 : i // 2 + 1 + i % 5].astype(float)
        out[i, 0] = np.float32(np.float32(part.mean()) * np.float32(2)) + np.float32(len(part) * 0.5)
        out[i, 1] = np.float32(a[:3].astype(float).sum() / 3) if i % 4 == 0 else part.sum()
        turned[i] = np.roll([i, i + 1, i + 2], -(i % 7))
    args = (a, np.zeros(2 * N, np.float32), np.zeros(3 * N, np.int32), N)
    return case("memory.cu", "calls", args), (SAME, out.reshape(-1), turned.reshape(-1))


# Textures


def _sampled(array: Array, where: list[Array], border: str, linear: bool) -> Array:
    """A texture's value at x (and y), in plain Python: nearest, or weighed in 256ths."""
    axes = where[::-1]

    def at(place: tuple[int, ...]) -> float:
        inside = all(0 <= p < n for p, n in zip(place, array.shape, strict=True))
        held = tuple(min(max(p, 0), n - 1) for p, n in zip(place, array.shape, strict=True))
        return float(array[held]) if inside or border == "nearest" else 0.0

    found = []
    for row in zip(*axes, strict=True):
        if not linear:
            found.append(at(tuple(int(np.floor(v)) for v in row)))
            continue
        lows = [math.floor(float(v) - 0.5) for v in row]
        shares = [math.floor((float(v) - 0.5 - low) * 256 + 0.5) for v, low in zip(row, lows, strict=True)]
        if len(row) == 1:
            weights = {(0,): 256 - shares[0], (1,): shares[0]}
        else:  # as hardware weighs: whole 256ths that add up
            down, right = shares
            both = (down * right + 128) // 256
            weights = {(1, 1): both, (1, 0): down - both, (0, 1): right - both, (0, 0): 256 - down - right + both}
        total = (
            sum(w * at(tuple(p + q for p, q in zip(lows, sides, strict=True))) for sides, w in weights.items()) / 256
        )
        found.append(total)
    return np.array(found, np.float32)


def _texture(kernel: str, border: str, linear: bool) -> None:
    @entry(f"textures.{kernel}_{border}_{'linear' if linear else 'single'}", across=4 if linear else 0)
    def build() -> Any:
        rng = np.random.default_rng(11)
        shape = (40,) if kernel == "row" else (13, 29)
        array = rng.integers(0, 256, shape).astype(np.float32)
        where = [rng.uniform(-3, n + 3, N).astype(np.float32) for n in reversed(shape)]
        where = [np.round(w * 64) / np.float32(64) for w in where]
        expected = _sampled(array, where, border, linear)
        args = (Texture(array, border, linear), *where, Empty((N,), "float32"), N)
        return case("textures.cu", kernel, args), (*[SAME] * len(where), expected)


for _kernel in ("row", "plane"):
    for _border in ("nearest", "zero"):
        for _linear in (False, True):
            _texture(_kernel, _border, _linear)


@entry("textures.bytes")
def _bytes_texture() -> Any:
    array = np.random.default_rng(12).integers(0, 256, (11, 37)).astype(np.uint8)
    expected = np.vstack((array[:1], array[:-1])).astype(np.uint32) * 2 + 1
    args = (Texture(array), np.zeros((11, 37), np.uint32), 37, 11)
    return case("textures.cu", "bytes", args, (2, 2, 1), (32, 8, 1)), (expected,)


@entry("memory.mixed_structures")
def _mixed_structures() -> Any:
    j = np.arange(N) % 100
    factor = np.choose(np.arange(N) % 3, (j * 2, -j, np.full(N, 7)))
    return case("memory.cu", "mixed_structures", (np.zeros(N), N)), ((j + (j + 1) * factor + j * 0.5).astype(float),)
