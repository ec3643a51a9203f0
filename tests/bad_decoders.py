"""A format whose reader crashes, hangs, or takes all memory, as its file says."""

from __future__ import annotations

import os
import time

import numpy as np

from gpu_ops.errors import ParamError
from gpu_ops.io.formats import Format
from gpu_ops.io.opening import FRAME, Decoded, Opening, Survey
from gpu_ops.progress import advance
from gpu_ops.types import Facts, Pixel


def read(opening: Opening) -> Decoded:
    """Does what the file says after its first three bytes."""
    what = opening.path.read_text().removeprefix("TOY")
    if what == "crash":
        os.kill(os.getpid(), 11)
    if what == "exit":
        os._exit(7)
    if what == "hang":
        time.sleep(60)
    if what == "explode":
        np.ones(1 << 27)
    if what == "wrong":
        raise RuntimeError("moon")
    if what == "frame":
        raise ParamError(f"no frame {opening.choices['frame']}")
    if what == "slow":
        for k in range(600):
            time.sleep(0.02)
            advance(k, 600)
    print("a library prints this")
    facts = Facts(3, Pixel(0.5, 0.25, "µm"), ("a", "b"))
    return Decoded(np.arange(6, dtype=">u2").reshape(2, 3), 8.0, ({"step": "toy"},), facts)


def look(opening: Opening) -> Survey:
    return Survey("a toy", (("size", "2 × 3"),), 3, {"frame": (0, 1)}, {"frame": 1}, True, ("x",), (("1",),))


TOY = Format("a toy", (".toy",), ("signal",), read, None, (FRAME,), look, foreign=True)
