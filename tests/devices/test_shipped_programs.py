"""Without NVRTC the shipped kernels run with the programs of the wheel, and all else says what it needs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from lanes import daily_subset

from gpu_ops.batch.wheel_programs import compile_programs
from gpu_ops.cli import main
from gpu_ops.devices import compiler, device_statuses, nvrtc, open_device, shipped_programs
from gpu_ops.devices.compiler import request_of
from gpu_ops.devices.kernel_source import read_source
from gpu_ops.devices.shipped_programs import Program, key_of
from gpu_ops.doctor.machine import examine
from gpu_ops.errors import DeviceError, ReportError
from gpu_ops.filters import FILTERS

FEW = [f for f in FILTERS if f.id in ("mean1d", "mean2d")]
WITH_KERNELS = [f for f in FILTERS if any(v.kernels for v in f.variants)]
A_DAY = 5
"""Filters whose programs the thorough lane compiles twice a day."""


@pytest.fixture(scope="module")
def programs() -> dict[str, Program]:
    return compile_programs("sm_75", FEW)


@pytest.fixture
def missing(programs: dict[str, Program], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A machine without NVRTC, and an installation that has these programs."""

    def fails() -> None:
        raise DeviceError("NVRTC is not available here (no module); install nvidia-cuda-nvrtc.")

    shipped_programs.write(tmp_path / "compiled", "sm_75", nvrtc.nvrtc_version(), programs)
    monkeypatch.setattr(shipped_programs, "FOLDER", tmp_path / "compiled")
    monkeypatch.setattr(nvrtc, "_nvrtc", fails)
    monkeypatch.setattr(compiler, "_CACHE", {})
    monkeypatch.setattr(compiler, "_made", lambda isolated, request: nvrtc.call_nvrtc(request))
    forget()
    yield tmp_path / "compiled"
    forget()


def forget() -> None:
    for kept in (nvrtc.reason, nvrtc.nvrtc_version, nvrtc.supported_architectures, open_device):
        kept.cache_clear()


XRAY = ["xray", "mean1d", "shared", "--sample", "noise", "--json"]


def test_counts_and_resources_are_those_of_nvrtc(
    request: pytest.FixtureRequest, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with_nvrtc, without = tmp_path / "with.json", tmp_path / "without.json"
    assert main([*XRAY, str(with_nvrtc)]) == 0
    request.getfixturevalue("missing")
    assert main([*XRAY, str(without)]) == 0
    one, other = (json.loads(path.read_text()) for path in (with_nvrtc, without))
    for xray in (one, other):  # what says why machine code was not read
        assert xray["kernels"][0].pop("counted_as")
    assert one == other
    assert json.loads(without.read_text())["kernels"][0]["resources"]["registers"] > 0
    capsys.readouterr()


def test_a_simulated_run(missing: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "mean", "--sample", "camera", "--variant", "naive", "--device", "sim"]) == 0
    assert "right" in capsys.readouterr().out
    described = open_device("sim").describe()
    assert described["nvrtc"] == ".".join(map(str, nvrtc.nvrtc_version()))


def test_what_needs_nvrtc_says_so(missing: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = "mean1d/3_shared.cu"
    (tmp_path / "mine.cu").write_text(read_source(source) + "\n// mine")
    for command in (
        ["xray", "mean1d", "shared", "--kernel", str(tmp_path / "mine.cu")],
        ["xray", "mean1d", "shared", "--border", "wrap"],
    ):
        assert main(command) == 4
        said = capsys.readouterr().err
        assert "is not compiled in this installation with these settings. NVRTC is not available" in said
        assert "Without NVRTC the shipped kernels run with default settings, simulated as sm_75; edited kernels" in said
    assert main(["xray", "mean1d", "shared", "--gpu", "sm_90"]) == 4
    assert "sm_90" in capsys.readouterr().err
    status = next(s for s in device_statuses() if s.kind == "sim")
    assert status.available and "without NVRTC" in status.model
    assert "Simulated GPUs run the shipped kernels" in examine(False)["nvrtc"]["reason"]


def test_an_installation_without_programs_is_as_before(missing: Path) -> None:
    (missing / "sm_75.json.xz").unlink()
    forget()
    with pytest.raises(DeviceError, match="^NVRTC is not available here"):
        nvrtc.supported_architectures()


def test_a_damaged_file_is_said(missing: Path) -> None:
    (missing / "sm_75.json.xz").write_bytes(b"nonsense")
    shipped_programs._content.cache_clear()
    with pytest.raises(ReportError, match=r"sm_75.json.xz cannot be read as compiled programs; install"):
        shipped_programs.version()
    shipped_programs._content.cache_clear()


def test_programs_name_no_folder_and_no_time(programs: dict[str, Program]) -> None:
    for program in programs.values():
        assert "/" not in program.ptx.split(".file")[1].splitlines()[0].replace("mean1d/", "").replace("mean2d/", "")
        assert "Compile time" not in program.log and "registers" in program.log


@pytest.mark.parametrize("filter", daily_subset(WITH_KERNELS, 0, lambda filter: filter.id, A_DAY))
def test_the_programs_are_what_nvrtc_makes_now(filter, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    once = compile_programs("sm_90", [filter])
    monkeypatch.setattr(compiler, "_CACHE", {})
    monkeypatch.setattr(compiler, "_made", lambda isolated, request: nvrtc.call_nvrtc(request))
    assert compile_programs("sm_90", [filter]) == once


def test_a_key_depends_on_all_but_the_assembler() -> None:
    def key(assemble: bool = True, architecture: str = "sm_75", **defines: int) -> str:
        request = request_of("mean1d/1_naive.cu", architecture, defines, None, assemble, ())
        return key_of(request.source, request.text, request.headers, request.flags)

    assert key() == key(assemble=False)
    assert len({key(), key(architecture="sm_90"), key(OUTPUTS=2), key(OUTPUTS=3)}) == 4
    edited = request_of("mean1d/1_naive.cu", "sm_75", {}, {"mean1d/1_naive.cu": "int x;"}, True, ())
    assert key_of(edited.source, edited.text, edited.headers, edited.flags) != key()
