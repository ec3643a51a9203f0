"""Blocks of sound of a microphone, which the library sounddevice reads."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np

from gpu_ops.errors import InputError, plain
from gpu_ops.io.live.source import Array, LiveSource
from gpu_ops.version import install

USUAL_SAMPLES = 4096
SILENT = 3.0
"""Seconds of exact zeros from the start after which a microphone counts as switched off: one that listens has noise."""


def _library() -> Any:
    try:
        return importlib.import_module("sounddevice")
    except ImportError:
        raise InputError(f"A microphone needs the library sounddevice; install it with: {install('audio')}.") from None
    except OSError:
        raise InputError(
            "A microphone needs the system library PortAudio; install it (on Debian and Ubuntu: "
            "sudo apt install libportaudio2)."
        ) from None


class Microphone:
    """An open microphone, one channel. Raises InputError where there is none, or none that takes the rate."""

    def __init__(self, source: LiveSource) -> None:
        library = self._library = _library()
        self._samples = source.samples or USUAL_SAMPLES
        self._silent_blocks: float = 0
        try:
            about = library.query_devices(source.place or None, kind="input")
        except (library.PortAudioError, ValueError):
            which = f"no microphone {plain(source.place, 60)}" if source.place else "no microphone"
            raise InputError(f"There is {which}; connect or enable one, then start again.") from None
        self._name = plain(about["name"], 60)
        self.samples_per_second = source.rate or float(about["default_samplerate"])
        self.rate = self.samples_per_second / self._samples
        how = {"device": source.place or None, "channels": 1, "dtype": "float32"}
        try:
            self._stream = library.InputStream(samplerate=self.samples_per_second, blocksize=self._samples, **how)
            self._stream.start()
        except (library.PortAudioError, ValueError) as error:
            own = float(about["default_samplerate"])
            raise InputError(
                f"The microphone {self._name} cannot be opened ({plain(error, 80)}); close other programs that use it, "
                f"allow this program to use it, or choose its own rate, {own:g} Hz."
            ) from None

    def read(self) -> tuple[Array, int]:
        try:
            block, lost = self._stream.read(self._samples)
        except self._library.PortAudioError:
            raise InputError(
                f"The microphone {self._name} gives no more sound; connect it again, then start it."
            ) from None
        samples: Array = np.ascontiguousarray(block[:, 0])
        self._silent_blocks = self._silent_blocks + 1 if not samples.any() else -math.inf
        if self._silent_blocks > SILENT * self.rate:
            raise InputError(
                f"The microphone {self._name} gives nothing but zeros; switch it on, and allow this program to use it."
            )
        return samples, 2 if lost else 1

    def resume(self) -> None:
        self._stream.stop()
        self._stream.start()

    def close(self) -> None:
        self._stream.close()
