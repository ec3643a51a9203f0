"""CUPTI's records of copies and kernels as spans, with records that a test makes."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from gpu_ops.devices.cuda import activity
from gpu_ops.errors import DeviceError, DeviceLost, LibraryMissing
from gpu_ops.explaining import timeline as timelines
from gpu_ops.explaining.spans import Timeline, check_text
from gpu_ops.plan import Execution, Span


def copy(kind: int, start: int, end: int, nbytes: int = 4096, stream: int = 7) -> Any:
    return SimpleNamespace(copy_kind=kind, start=start, end=end, bytes=nbytes, stream_id=stream)


def kernel(name: str, start: int, end: int) -> Any:
    return SimpleNamespace(name=name, start=start, end=end, stream_id=7)


RECORDS = [kernel("convolve", 3000, 4000), copy(1, 1000, 3000), copy(2, 4000, 4500), copy(8, 5000, 5100)]


class Cupti(ModuleType):
    """The part of the module that is used. It hands its records over when it is flushed."""

    class cuptiError(Exception):  # noqa: N801
        pass

    ActivityKind = SimpleNamespace(MEMCPY=1, CONCURRENT_KERNEL=10)

    def __init__(self, refuses: bool = False) -> None:
        super().__init__("cupti.cupti")
        self.enabled: set[int] = set()
        self.refuses = refuses

    def activity_register_callbacks(self, requested: Any, completed: Any) -> None:
        assert requested()[0] > 0
        self._completed = completed

    def activity_enable(self, kind: int) -> None:
        if self.refuses:
            raise self.cuptiError("NOT_READY")
        self.enabled.add(kind)

    def activity_disable(self, kind: int) -> None:
        self.enabled.discard(kind)

    def activity_flush_all(self, flag: int) -> None:
        assert self.enabled == {1, 10}
        self._completed(RECORDS)


def install(monkeypatch: pytest.MonkeyPatch, cupti: Cupti) -> Cupti:
    package = ModuleType("cupti")
    monkeypatch.setitem(sys.modules, "cupti", package)
    monkeypatch.setitem(sys.modules, "cupti.cupti", cupti)
    return cupti


def test_records_become_spans_since_the_first_one(monkeypatch: pytest.MonkeyPatch) -> None:
    cupti, ran = install(monkeypatch, Cupti()), []
    upload, convolve, download, inside = activity.recorded(lambda: ran.append(1))
    assert ran == [1] and not cupti.enabled, "nothing is recorded afterwards"
    assert (upload.engine, upload.start, upload.end, upload.nbytes) == ("upload", 0.0, pytest.approx(2e-6), 4096)
    assert (convolve.engine, convolve.name, convolve.nbytes) == ("kernel", "convolve", 0)
    assert (download.engine, inside.engine) == ("download", "device")


def test_records_end_where_the_work_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    cupti = install(monkeypatch, Cupti())
    with pytest.raises(ZeroDivisionError):
        activity.recorded(lambda: 1 // 0)
    assert not cupti.enabled


def test_without_the_library_the_reason_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupti", None)
    with pytest.raises(LibraryMissing, match=r"install cupti-python, or kernelscope\[trace\]"):
        activity.recorded(lambda: None)
    install(monkeypatch, Cupti(refuses=True))
    with pytest.raises(DeviceError, match="another profiler may be at work"):
        activity.recorded(lambda: None)


class Session:
    """A device that records, or says why it does not."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    def recorded(self, plan: Any) -> tuple[Execution, tuple[Span, ...]]:
        if self.error:
            raise self.error
        events = (Span("up", 0.0, 1.1, 1, 8, "upload"), Span("k", 1.1, 1.3, 1, 0, "kernel"))
        return Execution(1.3, events), (Span("copy", 0.0, 1.0, 7, 8, "upload"),)


def checked(session: Session) -> str:
    found, reason = timelines._checked(session, None)  # type: ignore[arg-type]
    return check_text(
        Timeline("transfer2d", "pinned", "cuda:0", "measured", (), 1.0, 7, checked=found, unchecked=reason)
    )


def test_events_are_held_against_records() -> None:
    said = checked(Session())
    assert said.startswith(
        "pinned, checked against CUPTI's activity records: copy to device 1100 ms by events, 1000 ms"
    )
    assert "(+10.0%)" in said and "kernels" not in said, "what has no record is not checked"
    assert checked(Session(LibraryMissing("It is missing."))).endswith("records: It is missing.")
    with pytest.raises(DeviceLost):
        checked(Session(DeviceLost("It is gone.")))
