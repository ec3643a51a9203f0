"""NVRTC in a process of its own: what a person wrote may crash it, or keep it busy, and nothing else ends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpu_ops.devices import compile_process, compiler, nvrtc
from gpu_ops.devices.compile_process import make
from gpu_ops.errors import DeviceError, KernelError, LimitReached
from gpu_ops.progress import Cancelled, Limit, limited, listening

FLAGS = ("-arch=sm_75", *compiler.FLAGS)
PLAIN = '#include "own.cuh"\nextern "C" __global__ void k(int* a) { a[0] = ONE; }'
HEADERS = {"own.cuh": "#define ONE 1"}
DEEP = 'extern "C" __global__ void k(int* a) { a[0] = ' + "(" * 20_000 + "1" + ")" * 20_000 + "; }"
LAUGHS = "#define A0 1\n" + "".join(f"#define A{i} {'+'.join([f'A{i - 1}'] * 10)}\n" for i in range(1, 8))
ENDLESS = LAUGHS + 'extern "C" __global__ void k(int* a) { a[0] = A7; }'


@pytest.fixture(autouse=True)
def ended() -> Iterator[None]:
    yield
    compile_process.close()


def compiled() -> nvrtc.CompileResult:
    return make(nvrtc.Request("own.cu", PLAIN, HEADERS, FLAGS, False))


def test_it_makes_the_same_as_nvrtc_here() -> None:
    for assemble in (False, True):
        flags = FLAGS if assemble else ("-arch=compute_75", *compiler.FLAGS)
        here = nvrtc.call_nvrtc(nvrtc.Request("own.cu", PLAIN, HEADERS, flags, assemble))
        there = make(nvrtc.Request("own.cu", PLAIN, HEADERS, flags, assemble))
        lines = [[s for s in m.ptx.splitlines() if ".file" not in s] for m in (here, there)]  # the folder is another
        assert lines[0] == lines[1] and here.right and there.right and here.log == there.log
        assert bool(here.cubin) == bool(there.cubin) == assemble
    wrong = make(nvrtc.Request("own.cu", "nonsense", {}, FLAGS, True))
    assert not wrong.right and "own.cu(1): error" in wrong.log


def test_a_crash_is_an_error_and_the_next_one_compiles() -> None:
    with pytest.raises(KernelError, match=r"NVRTC crashed \(by signal 11\) while it compiled own.cu. Look for macros"):
        make(nvrtc.Request("own.cu", DEEP, {}, FLAGS, False))
    assert compiled().right


def test_one_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compiled().right
    before = compile_process._alive().pid
    monkeypatch.setattr(compile_process, "DEADLINE", 0.3)
    with pytest.raises(KernelError, match=r"NVRTC did not compile own.cu within 0.3 s and was ended"):
        make(nvrtc.Request("own.cu", ENDLESS, {}, FLAGS, False))
    with pytest.raises(ProcessLookupError):
        os.kill(before, 0)
    monkeypatch.undo()
    assert compiled().right and compile_process._alive().pid != before


def test_time_that_other_programs_take_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_process, "DEADLINE", 1e-6)
    monkeypatch.setattr(compile_process.processes, "STARVED", 1e9)
    monkeypatch.setattr(compile_process.processes, "cpu_seconds", lambda pid: 1.0)  # it never has a processor
    long = PLAIN + "".join(f"__global__ void k{n}(float* x) {{ x[{n}] = {n}; }}\n" for n in range(300))
    assert make(nvrtc.Request("own.cu", long, HEADERS, FLAGS, False)).right


def test_whoever_cancels_does_not_wait_for_it() -> None:
    assert compiled().right
    before = compile_process._alive().pid
    with pytest.raises(Cancelled), listening(lambda: True, None):
        make(nvrtc.Request("own.cu", ENDLESS, {}, FLAGS, False))
    with pytest.raises(ProcessLookupError):
        os.kill(before, 0)


def test_memory_beyond_the_limit_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    child = compile_process._alive()
    child.answers.put({"memory": True})  # NVRTC itself ends its process rather than report it
    with pytest.raises(KernelError, match="NVRTC needs more than 2 GiB to compile own.cu"):
        make(nvrtc.Request("own.cu", PLAIN, HEADERS, FLAGS, False))


def test_a_flag_that_nvrtc_does_not_know_is_said() -> None:
    assert "unrecognized option" in make(nvrtc.Request("own.cu", PLAIN, HEADERS, ("--moon",), False)).log


@pytest.mark.parametrize("assemble", [False, True])
def test_it_opens_no_file(assemble: bool, tmp_path: Path) -> None:
    """Whatever the checks of the text miss."""
    (tmp_path / "secret.h").write_text("secret word")
    text = f'#include "{tmp_path}/secret.h"\n{PLAIN}'
    made = make(nvrtc.Request("own.cu", text, HEADERS, FLAGS, assemble))
    assert not made.right and "cannot open source file" in made.log and "secret word" not in made.log
    assert compiled().right


def test_a_limit_of_the_work_counts_in_place_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_process, "DEADLINE", 0.0)
    with limited(Limit(60, 1 << 40)):
        assert compiled().right
    with limited(Limit(0.3, 1 << 40)), pytest.raises(LimitReached, match="took more than 0.3 s"):
        make(nvrtc.Request("own.cu", ENDLESS, {}, FLAGS, False))


def test_only_what_a_person_wrote_goes_there(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(compiler, "_CACHE", {})
    monkeypatch.setattr(compiler, "_made", lambda isolated, *program: asked.append(isolated) or compiled())
    compiler.compile_kernel("own.cu", "sm_75", edits={"own.cu": PLAIN.replace("ONE", "2").replace("#include", "//")})
    compiler.compile_kernel("mean1d/1_naive.cu", "sm_75", {"T": "float"})
    assert asked == [True, False]


def test_a_missing_nvrtc_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_process._alive().answers.put({"error": "NVRTC is not available here"})
    with pytest.raises(DeviceError, match="not available"):
        make(nvrtc.Request("own.cu", PLAIN, HEADERS, FLAGS, False))
