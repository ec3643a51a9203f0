"""Cases for the kernels that fetch vectors of 16 bytes: what the contract's awkward shapes leave out.

Rows that begin at multiples of 16 bytes and rows that do not, both with threads far from the edges; all windows that
fit into registers, and the longest; tiles that lie inside a long signal; every way to divide.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpu_ops.params import Value
from gpu_ops.running.contract import Case
from gpu_ops.types import BORDERS, DTYPES

Named = tuple[str, str, Case]
IMAGES = ((13, 96), (13, 83), (9, 48, 3), (9, 45, 3), (7, 32, 2), (10, 31, 4))
WHOLE = (1.0, 2.0, 1.0, 2.0, 4.0, 2.0, 1.0, 2.0, 1.0)
SIGNED = (-1.0, 0.0, 127.0, -128.0, 3.0, 2.0, -2.0, 0.0, 1.0)
LARGE = (1.0, 200.0, -1.0, -300.0, 4.0, 2.0, 77.0, 2.0, 1.0)
BROKEN = (0.1, 2.0, -1.3, 2.7, 4.0, 2.0, -1.0, 0.4, 1.0)


def all_row_cases() -> list[Named]:
    """(filter id, variant id, case)."""
    return [*_means(), *_packed(), *_vectors(), *_scans(), *_convolutions(), *_steps()]


def _case(
    place: int,
    shape: tuple[int, ...],
    dtype: str,
    params: dict[str, Value],
    knobs: dict[str, Value],
    data: str = "random",
) -> Case:
    """Borders take turns."""
    return Case(shape, dtype, data, {**params, "border": BORDERS[place % 4]}, knobs)


def _means() -> Iterator[Named]:
    """Images by rows: every dtype and window, in turn with the shapes whose halo fits into registers."""
    place = 0
    for dtype, itemsize in zip(DTYPES, (1, 2, 4, 8), strict=True):
        for window in (3, 5, 7):
            fitting = [s for s in IMAGES if window // 2 * (*s, 1)[2] * itemsize <= 48]
            for shape in dict.fromkeys((fitting[place % len(fitting)], fitting[(place + 3) % len(fitting)])):
                place += 1
                knobs: dict[str, Value] = {"block": (32, 64)[place % 2], "rows": (4, 2, 1)[place % 3]}
                yield "mean2d", "rows", _case(place, shape, dtype, {"window": window}, knobs)


def _packed() -> Iterator[Named]:
    for place, shape in enumerate((*IMAGES, (23, 160), (11, 64, 3))):
        for data in ("random", "extremes"):
            knobs: dict[str, Value] = {"block": 64, "rows": (4, 2)[place % 2]}
            yield "mean2d", "packed", _case(place + (data == "random"), shape, "uint8", {"window": 3}, knobs, data)


def _vectors() -> Iterator[Named]:
    """Signals with the longest windows that fit into registers, and with shorter ones."""
    longest = {"uint8": 129, "uint16": 65, "float32": 33, "float64": 17}
    place = 0
    for dtype, window in longest.items():
        for channels, chosen in ((1, window), (1, 9), (2, (window - 1) // 2 | 1), (3, 5)):
            if chosen // 2 * channels * {"uint8": 1, "uint16": 2, "float32": 4, "float64": 8}[dtype] > 64:
                chosen -= 2
            shape = (2003,) if channels == 1 else (701, channels)
            knobs: dict[str, Value] = {"block": (32, 16)[place % 2], "vectors": (1, 2, 4)[place % 3]}
            yield "mean1d", "vector", _case(place, shape, dtype, {"window": chosen}, knobs)
            place += 1


def _scans() -> Iterator[Named]:
    """Signals of several tiles, with 1 to 16 steps a thread, of one channel and of a few."""
    settings: list[tuple[str, tuple[int, ...], int]] = [
        ("uint8", (40009,), 7),
        ("uint8", (40009,), 4095),
        ("uint16", (30011,), 21),
        ("uint16", (30011,), 4093),
        ("float32", (20011,), 3),
        ("float32", (20011,), 31),
        ("float32", (20011,), 4095),
        ("float64", (9001,), 3),
        ("float64", (9001,), 1023),
        ("float64", (9001,), 2047),
        ("uint8", (9001, 2), 63),
        ("uint16", (6007, 4), 301),
        ("float32", (7001, 3), 63),
        ("float64", (3001, 2), 501),
    ]
    for place, (dtype, shape, window) in enumerate(settings):
        data = "extremes" if place % 3 == 0 else "random"
        yield "mean1d", "scan", _case(place + 1, shape, dtype, {"window": window}, {"block": 128}, data)


def _convolutions() -> Iterator[Named]:
    """Dot products, divided by one, by multiplication and plainly; other whole weights; weights that are not whole."""
    settings = (
        ("uint8", WHOLE, 16.0),
        ("uint8", SIGNED, 1.0),
        ("uint8", SIGNED, 4095.0),
        ("uint8", SIGNED, 5001.0),
        ("uint8", LARGE, 3.0),
        ("uint8", BROKEN, 2.5),
        ("uint16", WHOLE, 16.0),
        ("uint16", LARGE, 1.0),
        ("uint16", WHOLE, 301.0),
        ("float32", BROKEN, 2.5),
        ("float64", BROKEN, 2.5),
    )
    for place, (dtype, matrix, divisor) in enumerate(settings):
        for turn, shape in enumerate((IMAGES[place % 6], IMAGES[(place + 3) % 6])):
            params: dict[str, Value] = {"matrix": matrix, "divisor": divisor, "offset": 7.0, "passes": 1 + place % 2}
            knobs: dict[str, Value] = {"block_y": 2, "rows": (2, 4, 1)[(place + turn) % 3]}
            yield "conv3x3", "rows", _case(place + turn, shape, dtype, params, knobs, ("extremes", "random")[turn % 2])


def _steps() -> Iterator[Named]:
    """Bytes in rows that begin 1 to 15 bytes later in a vector than the previous one, of one channel and of three; each
    step has another border in either filter. Of three channels 11 pixels are two vectors and a byte."""
    for step in range(1, 16):
        shape: tuple[int, ...] = (9, 64 + step) if step % 2 else (7, 32 + 11 * step % 16, 3)
        mean: dict[str, Value] = {"block": 64, "rows": (2, 4)[step // 2 % 2]}
        yield "mean2d", "packed", _case(step // 4, shape, "uint8", {"window": 3}, mean)
        matrix: dict[str, Value] = {"matrix": SIGNED, "divisor": 7.0, "offset": 1.0}
        yield (
            "conv3x3",
            "rows",
            _case(step // 4 + 2, shape, "uint8", matrix, {"block_y": 2, "rows": (4, 2, 1)[step % 3]}),
        )
