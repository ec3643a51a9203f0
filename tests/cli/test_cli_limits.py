"""What somebody's kernel may take on the simulated GPU: said after a while, settable, and ended in few words."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from gpu_ops import progress
from gpu_ops.cli import limits, main
from gpu_ops.devices.sim.scheduling.meter import Meter

HEAD = """#include "mean.cuh"
extern "C" __global__ void mean1d_naive(
    const T* __restrict__ x, T* __restrict__ y, const A* __restrict__ taps, long long n, int window)
{
    const long long e = (long long)blockIdx.x * blockDim.x + threadIdx.x;
"""
SPINS = HEAD + "    volatile int go = 1;\n    while (go) { }\n    if (e < n) y[e] = x[e];\n}\n"
XRAY = ("xray", "mean1d", "naive", "--sample", "ecg", "--dtype", "float32", "--kernel")
RUN = ("run", "mean1d", "--variant", "naive", "--device", "sim", "--sample", "ecg", "--kernel")


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    return tmp_path / "mine.cu"


def _call(capsys: pytest.CaptureFixture[str], *args: object) -> tuple[int, str, str]:
    code = main([str(a) for a in args])
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.fixture(autouse=True)
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody reads standard error, and little is long."""
    monkeypatch.setattr(limits, "has_reader", lambda: True)
    monkeypatch.setattr(progress, "LONG", 0.05)
    monkeypatch.setattr(progress, "EVERY", 0.01)


def _simulated_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each time a kernel is asked a second has gone by; to compile takes none."""
    seconds = [0.0]
    poll = Meter.poll

    def later(meter: Meter) -> None:
        seconds[0] += 1
        poll(meter)

    class Time:
        @staticmethod
        def monotonic() -> float:
            return seconds[0]

    monkeypatch.setattr(Meter, "poll", later)
    monkeypatch.setattr("gpu_ops.devices.sim.scheduling.meter.time", Time)
    monkeypatch.setattr(progress, "time", Time)


def test_an_endless_kernel_under_the_xray_ends_with_its_line(
    capsys: pytest.CaptureFixture[str], kernel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _simulated_time(monkeypatch)
    kernel.write_text(SPINS)
    code, out, err = _call(capsys, *XRAY, kernel, "--deadline", 9)
    assert code == 3
    assert "error: mine.cu:7: not ended: the kernel loops in line 7" in out
    events = err.splitlines()
    assert len(events) == 2
    assert events[0].endswith("it may take 9 s (--deadline) and 2048 MiB more memory (--memory).")
    assert "mine.cu:7" in events[1] and "took more than 9 s; --deadline allows more" in events[1]


def test_an_endless_kernel_held_to_the_contract_ends_with_its_first_case(
    capsys: pytest.CaptureFixture[str], kernel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _simulated_time(monkeypatch)
    kernel.write_text(SPINS)
    code, out, err = _call(capsys, *RUN, kernel, "--deadline", 9)
    assert code == 3
    assert "0 of 1 cases right" in out and "more did not run" in out
    assert "mine.cu:7: the kernel, which loops in line 7 (an endless loop?), took more than 9 s" in out
    assert len(err.splitlines()) == 1 and "case 1 of" in err


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", [XRAY, RUN])
def test_ctrl_c_ends_with_one_line(
    capsys: pytest.CaptureFixture[str],
    kernel: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: tuple[str, ...],
    end: signal.Signals,
) -> None:
    monkeypatch.setattr(progress, "LONG", 100.0)
    monkeypatch.setattr(Meter, "poll", lambda meter: signal.raise_signal(end))
    kernel.write_text(SPINS)
    assert _call(capsys, *command, kernel) == (130, "", "kernelscope: stopped\n")


@pytest.mark.parametrize("flag", ["--deadline", "--memory"])
@pytest.mark.parametrize("value", ["0", "-1", "soon", "nan"])
def test_limits_are_numbers_above_zero(capsys: pytest.CaptureFixture[str], flag: str, value: str) -> None:
    assert main([*XRAY, "mine.cu", flag, value]) == 2
    assert flag in capsys.readouterr().err


@pytest.mark.parametrize(("command", "bad"), [(XRAY, ""), (XRAY, " + nothing"), (RUN, " + nothing")])
def test_a_long_line_of_constants_is_cut(
    capsys: pytest.CaptureFixture[str], kernel: Path, command: tuple[str, ...], bad: str
) -> None:
    numbers = ",".join("7" for _ in range(60_000))
    kernel.write_text(
        f"__constant__ unsigned char big[] = {{{numbers}}};\n{HEAD}    if (e < n) y[e] = big[e % n]{bad};\n}}\n"
    )
    code, out, err = _call(capsys, *command, kernel)
    assert code in (0, 2, 3)
    assert len(out) + len(err) < 20_000


@pytest.mark.parametrize("command", [XRAY, RUN])
def test_a_log_of_the_compiler_is_cut(
    capsys: pytest.CaptureFixture[str], kernel: Path, command: tuple[str, ...]
) -> None:
    many = "\n".join(f"__constant__ int unused_{n}[40] = {{{n}}};" for n in range(500))
    kernel.write_text(f"{many}\n{HEAD}    if (e < n) y[e] = (T)unused_1[window];\n}}\n")
    code, out, err = _call(capsys, *command, kernel)
    assert code == 2 and len(out) + len(err) < 1000, err[:3000]
