"""Decoders of other libraries run in a separate process: if one crashes, hangs or takes all memory, the caller gets an
error and continues.

The process stays alive for the next file, so that only the first one waits for its start. Requests and answers are
lines of JSON. A large array is decoded into shared memory of the caller, a small one is passed through a file; where a
file has the values uncompressed, the answer is their offset. Nothing that a broken decoder could have written is
executed here.
"""

from __future__ import annotations

import atexit
import os
import queue
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import numpy as np

from gpu_ops import processes
from gpu_ops.errors import InputError, ParamError
from gpu_ops.io.inputs import Array
from gpu_ops.io.memory import LARGE, BufferClient, SharedBuffer, allocating, offset_of, read_at
from gpu_ops.io.opening import Decoded, Opening, Survey
from gpu_ops.progress import advance, finite
from gpu_ops.types import Facts, FrameAxes, Pixel

DEADLINE = 60.0
"""Seconds without a sign of progress after which a decoder is ended."""
SHARE_OF_MEMORY = 0.75
"""The part of the machine's free memory that a decoder may take."""
POLL, PATIENCE = 0.05, 1.0
SERVE = "from gpu_ops.io.decoder_process import serve; serve()"
PREFIX = "decoded-kernelscope-"
FORGOTTEN = 3600.0
"""Seconds after which a decoded array that was not collected is removed."""
IDLE = 0.5
"""Seconds without a request after which the process loads libraries that make later files faster."""
PREPARED = "gpu_ops.io.images.png_fast"
ERRORS: Mapping[str, type[Exception]] = {"InputError": InputError, "ParamError": ParamError}

here = False
"""Whether readers run in this process, as they do in the decoder process itself."""
_one = threading.Lock()
_child: _Child | None = None


def read(reader: Callable[[Opening], Decoded], opening: Opening) -> Decoded:
    """The content of a file by a reader, a function of a module. Raises InputError, ParamError, Cancelled, OSError."""
    if here:
        return reader(opening)
    answer = _ask(reader, opening)
    shape, dtype = tuple(answer["shape"]), np.dtype(answer["dtype"])
    if answer["buffered"]:
        array = answer["array"]
    elif answer["offset"] is not None:
        array = read_at(opening.path, opening.name, answer["offset"], shape, dtype)
    else:
        array = _take(answer["file"], opening.name, dtype, shape)
    return Decoded(array, answer["rate"], tuple(answer["steps"]), _facts(answer["facts"]))


def look(surveyor: Callable[[Opening], Survey], opening: Opening) -> Survey:
    """The survey of a file by a surveyor, a function of a module. Raises as `read` does."""
    if here:
        return surveyor(opening)
    answer = _ask(surveyor, opening)
    pairs = tuple((str(label), str(text)) for label, text in answer["facts"])
    allowed = {name: tuple(values) for name, values in answer["allowed"].items()}
    rows = tuple(map(tuple, answer["rows"]))
    fields = (answer["title"], pairs, answer["frames"], allowed, answer["found"], answer["asks"])
    return Survey(*fields, tuple(answer["heading"]), rows)


def warm() -> None:
    """Start the process, so that the first file does not wait for it."""
    with _one:
        _alive()


def close() -> None:
    """End the process."""
    global _child
    with _one:
        if _child is not None:
            _child.end()
        _child = None


def _alive() -> _Child:
    global _child
    if _child is None:
        atexit.register(close)
    elif not _child.usable:
        _child.end()
        _child = None
    _child = _child or _Child()
    return _child


def _ask(function: Callable[[Opening], Any], opening: Opening) -> dict[str, Any]:
    """The answer of the decoder process. Raises InputError where it dies or does not respond in time."""
    path = os.fsencode(opening.path.absolute()).hex()
    request: dict[str, Any] = {
        "module": function.__module__,
        "function": function.__name__,
        "path": path,
        "name": opening.name,
    }
    request |= {"limit": opening.limit, "choices": dict(opening.choices), "nbytes": _free_bytes()}
    with _one:
        child = _alive()
        try:
            return child.ask(request, opening.name)
        except BaseException:
            child.end_if_busy()
            raise


class _Child(processes.LineProcess):
    """A decoder process."""

    def __init__(self) -> None:
        super().__init__(SERVE)
        self._busy = False
        self._buffer: SharedBuffer | None = None

    def ask(self, request: Mapping[str, Any], name: str) -> dict[str, Any]:
        """The answer to a request, with the `array` of the last buffer that the process requested."""
        self._busy = True
        self.send(request)
        try:
            answer = self._wait(name) | {"array": None if self._buffer is None else self._buffer.array}
        finally:
            self._close_buffer()
        self._busy = False
        if "error" in answer:
            if answer["error"] == "OSError":
                raise OSError(answer["number"], answer["text"])
            raise ERRORS.get(answer["error"], InputError)(answer["text"])
        return answer

    def _allocate_buffer(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self._close_buffer()
        self._buffer = SharedBuffer(shape, dtype)
        self.send({"buffer": self._buffer.name})

    def _close_buffer(self) -> None:
        if self._buffer is not None:
            self._buffer.close()
        self._buffer = None

    def _wait(self, name: str) -> dict[str, Any]:
        """The next answer that is not a progress report; reports go to the listener, which may cancel the work."""
        done, total, last = 0, 1, time.monotonic()
        while True:
            try:
                answer = self.answers.get(timeout=POLL)
            except queue.Empty:
                if time.monotonic() - last > DEADLINE:
                    raise InputError(_silent(name)) from None
                with finite(2 * POLL):
                    advance(done, total)
                continue
            if answer is None:
                raise InputError(_died(name, self.exit_reason()))
            last = time.monotonic()
            if "buffer" in answer:
                self._allocate_buffer(tuple(answer["buffer"]), np.dtype(answer["dtype"]))
                continue
            if "done" not in answer:
                return answer
            done, total = answer["done"], answer["total"]
            advance(done, total)

    def end_if_busy(self) -> None:
        """End the process if it still works on a request whose answer is no longer needed."""
        if self._busy:
            self.end()


def _silent(name: str) -> str:
    return f"{name} cannot be read: its decoder did not respond for {DEADLINE:g} s and was ended; save the file again."


def _died(name: str, how: str) -> str:
    return f"{name} cannot be read: its decoder crashed ({how}); the file is damaged or malicious: save it again."


def _free_bytes() -> int:
    """Bytes that a decoder may still allocate; 0 where the system does not report the free memory."""
    try:
        words = Path("/proc/meminfo").read_text().split()
        return int(int(words[words.index("MemAvailable:") + 1]) * 1024 * SHARE_OF_MEMORY)
    except (OSError, ValueError):
        return 0


def _take(file: str, name: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """The array in a shared-memory file, which is removed afterwards."""
    if not file:
        return np.empty(shape, dtype)
    try:
        return read_at(Path(file), name, 0, shape, dtype)
    finally:
        os.unlink(file)


def _facts(found: Mapping[str, Any]) -> Facts:
    letters, counts, *sizes = found["frame_axes"]
    axes = FrameAxes(letters, tuple(counts), *sizes)
    pixel = None if found["pixel"] is None else Pixel(*found["pixel"])
    return Facts(found["frames"], pixel, tuple(found["labels"]), frame_axes=axes)


# In the decoder process


def serve() -> None:
    """Answer requests until the caller is gone."""
    global here
    here = True
    requests, answers = processes.serving()
    _tidy()

    def ask(shape: tuple[int, ...], dtype: np.dtype[Any]) -> str:
        processes.send(answers, {"buffer": list(shape), "dtype": dtype.str})
        return str(requests.get()["buffer"])

    with suppress(queue.Empty):
        while True:
            processes.send(answers, _answer(requests.get(timeout=IDLE), answers, BufferClient(ask)))
    threading.Thread(target=_prepare, daemon=True).start()
    while True:
        processes.send(answers, _answer(requests.get(), answers, BufferClient(ask)))


def _prepare() -> None:
    with suppress(Exception):  # a library may be missing, or memory short: files can be read without it
        import_module(PREPARED).prepare()


def _answer(request: Mapping[str, Any], answers: IO[bytes], client: BufferClient) -> dict[str, Any]:
    from gpu_ops.progress import listening

    path = Path(os.fsdecode(bytes.fromhex(request["path"])))
    opening = Opening(path, request["name"], request["limit"], request["choices"])

    def report(part: float) -> None:
        processes.send(answers, {"done": int(1000 * part), "total": 1000})

    processes.limit_memory(request["nbytes"])
    try:
        with listening(None, report), allocating(client.allocate):
            found = getattr(import_module(request["module"]), request["function"])(opening)
            return _packed(found, client) if isinstance(found, Decoded) else dict(vars(found))
    except OSError as error:
        return {"error": "OSError", "number": error.errno, "text": error.strerror or str(error)}
    except MemoryError:
        return {"error": "InputError", "text": f"{opening.name} does not fit in memory; load a smaller file."}
    except Exception as error:
        known = next((name for name, kind in ERRORS.items() if isinstance(error, kind)), "")
        text = (
            str(error) if known else f"{opening.name} cannot be read ({type(error).__name__}: {error}); save it again."
        )
        return {"error": known or "InputError", "text": text}


def _packed(decoded: Decoded, client: BufferClient) -> dict[str, Any]:
    array, facts, offset = decoded.array, decoded.facts, offset_of(decoded.array)
    buffered = offset is None and array.nbytes >= LARGE and client.copy_in(array)
    answer: dict[str, Any] = {"file": "", "offset": offset, "buffered": buffered, "dtype": array.dtype.str}
    answer |= {"shape": list(array.shape), "rate": decoded.rate}
    if array.size and offset is None and not buffered:
        array = np.ascontiguousarray(array)
        with tempfile.NamedTemporaryFile(prefix=PREFIX, dir=_folder(), delete=False) as file:
            file.write(array.reshape(-1).view(np.uint8).data)
        answer["file"] = file.name
    pixel = None if facts.pixel is None else list(facts.pixel)
    answer["facts"] = {"frames": facts.frames, "pixel": pixel, "labels": list(facts.labels)}
    answer["facts"]["frame_axes"] = list(facts.frame_axes)
    return {**answer, "steps": list(decoded.steps)}


def _folder() -> str:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else tempfile.gettempdir()


def _tidy() -> None:
    """Remove arrays whose caller died before collecting them."""
    for path in Path(_folder()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > FORGOTTEN:
                path.unlink()
