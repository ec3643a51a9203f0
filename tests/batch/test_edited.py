"""An edited kernel in a batch: named by --kernel, held to the contract in a process that ends at once, with limits."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pytest

from gpu_ops.batch.edited import edits_hold, limits_of
from gpu_ops.batch.files import items
from gpu_ops.batch.overlap import overlapped
from gpu_ops.batch.spec import BatchSpec
from gpu_ops.batch.work import Work
from gpu_ops.cli.batch import _spec
from gpu_ops.cli.parser import parse
from gpu_ops.devices.kernel_source import read_source
from gpu_ops.errors import KernelError, LimitReached, ParamError
from gpu_ops.io import save
from gpu_ops.own_kernels.checking import usual_device
from gpu_ops.progress import advance
from gpu_ops.running.parts import serial
from gpu_ops.types import Pick

FILE = "mean2d/1_naive.cu"


def _given(folder: Path, filter: str, *flags: str) -> BatchSpec:
    (folder / "my.cu").write_text(f"// mine\n{read_source(FILE)}")
    files = ["--input", str(folder), "--output-dir", str(folder / "out")]
    return _spec(parse(["run", filter, *files, "--kernel", str(folder / "my.cu"), *flags]))


def _edited(folder: Path, text: str, **how: object) -> BatchSpec:
    about = (["*.npy"], str(folder), "mean2d", {"window": 3})
    return BatchSpec(*about, variant="naive", devices=["sim"], edits={FILE: text}, **how)  # type: ignore[arg-type]


def test_a_kernel_file_replaces_that_of_a_variant(tmp_path: Path) -> None:
    """By default that of the first variant with a kernel, on the first GPU or a simulated one."""
    spec = _given(tmp_path, "mean2d", "--deadline", "9", "--workers", "2")
    assert spec.edits == {FILE: f"// mine\n{read_source(FILE)}"}
    assert (spec.variant, spec.devices, spec.deadline, spec.workers) == ("naive", [usual_device()], 9.0, 2)
    assert list(_given(tmp_path, "mean2d", "--variant", "shared").edits) != [FILE]
    with pytest.raises(ParamError, match="name one of mean1d, mean2d"):
        _given(tmp_path, "mean")


def test_an_edited_kernel_has_limits_and_a_shipped_one_none() -> None:
    edited, words = (
        Pick("naive", "sim", {}, {FILE: "text"}),
        r"a\.png: the edited kernel of naive took more than 0\.05 s",
    )
    until = time.monotonic() + 10
    with pytest.raises(LimitReached, match=words), limits_of(edited, 0.05, "a.png"):
        while time.monotonic() < until:
            advance(0, 1)
    with limits_of(Pick("naive", "sim"), 1e-9, "a.png"):
        advance(0, 1)


def test_files_of_an_edited_kernel_go_one_after_the_other(tmp_path: Path) -> None:
    """Its limits count the processor time of the process, which other files would take too."""
    assert overlapped(_edited(tmp_path, "text")) is serial
    assert overlapped(replace(_edited(tmp_path, "text"), edits={})) is not serial


@pytest.mark.thorough
def test_a_stop_ends_the_contract_at_once(tmp_path: Path) -> None:
    """The process of the test ends with it, whatever it is doing."""
    asked = list[int]()

    def stop() -> bool:
        asked.append(len(psutil.Process().children()))
        return len(asked) == 3

    before = {p.pid for p in psutil.Process().children()}
    assert edits_hold(_edited(tmp_path, read_source(FILE)), stop) is False
    assert len(asked) == 3 and max(asked) > len(before)
    assert {p.pid for p in psutil.Process().children()} <= before


@pytest.mark.thorough
def test_a_kernel_that_does_not_compile_stops_the_batch_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(KernelError, match=rf"so no file was processed.*{FILE}:\d+"):
        edits_hold(_edited(tmp_path, f"{read_source(FILE)}\nnonsense"), lambda: False)


@pytest.mark.thorough
def test_a_kernel_that_never_ends_costs_its_file_alone(tmp_path: Path) -> None:
    """One that does so for a size that the contract does not have."""
    text = read_source(FILE).replace("finish(sum,", "finish(sum + wait(height),")
    ends = "__device__ int wait(int height) { volatile int k = 0; while (height == 20) ++k; return 0; }\n"
    at = text.index("extern")
    (tmp_path / "out").mkdir()
    for name, height in (("a", 20), ("b", 16)):
        save(tmp_path / f"{name}.npy", np.full((height, 16), 7, np.uint8))
    work = Work(_edited(tmp_path, text[:at] + ends + text[at:], deadline=2.0), "hash")
    files = {name: str(tmp_path / f"{name}.npy") for name in ("a", "b")}
    found = [work.one(item) for item in items(files, tmp_path / "out")]
    assert [done.row["status"] for done in found] == ["failed", "right"], [d.row["sentence"] for d in found]
    assert "took more than 2 s; --deadline allows more" in found[0].row["sentence"]
