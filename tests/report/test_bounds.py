"""The bound of a time: one launch, and the bandwidth of the memory that holds the buffers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpu_ops.devices.data_sheets import PEAKS, peak_of
from gpu_ops.io import from_array
from gpu_ops.report import files
from gpu_ops.report.bounds import bound_note, bound_text, roofs_text
from gpu_ops.report.files import bound_of, row
from gpu_ops.report.provenance import ROOFS
from gpu_ops.report.row_kinds import Bound
from gpu_ops.report.rows import Row
from gpu_ops.running.roofline import Roofs
from gpu_ops.types import Experiment, Pick, Run, Timing, Work

MIB = 1 << 20
GPU = Roofs(3e12, 3.1e12, 2 << 30, 5e12, 6e12, 3e13, 3.2e13, 2e-6, 1e-6, 50 * MIB, 3.35e12)
CPU = Roofs(1e10, 2e10, 1 << 28)


def job(side: int, itemsize: int) -> Work:
    nbytes = side * side * itemsize
    return Work(nbytes, nbytes, 0)


@pytest.mark.parametrize(
    "side, itemsize, mode, expected",
    [
        (512, 1, "stream", Bound("L2", 5e12, 2e-6)),  # 64 copies take 32 MiB
        (512, 4, "stream", Bound("DRAM", 3e12, 2e-6)),  # 64 copies take 128 MiB
        (512, 4, "hot", Bound("L2", 5e12, 1e-6)),  # one copy takes 2 MiB
        (4096, 4, "hot", Bound("DRAM", 3e12, 1e-6)),
        (512, 1, "cold", Bound("DRAM", 3e12, 2e-6)),  # L2 is flushed before each sample
    ],
)
def test_the_memory_that_holds_the_buffers_bounds_a_job(side: int, itemsize: int, mode: str, expected: Bound) -> None:
    assert bound_of(GPU, "copy", job(side, itemsize), mode) == expected
    assert bound_of(replace(GPU, l2_bytes=1), "copy", job(side, itemsize), mode).memory == "DRAM"


def test_a_job_that_only_reads_has_the_read_roofs() -> None:
    assert bound_of(GPU, "read", Work(1000, 4, 0), "stream") == Bound("L2", 6e12, 2e-6)
    assert bound_of(GPU, "read", Work(1 << 30, 4, 0), "stream") == Bound("DRAM", 3.1e12, 2e-6)


def test_a_cpu_has_no_bound() -> None:
    assert bound_of(CPU, "copy", job(512, 1), "stream") is None


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A row of so many seconds on a device with known roofs."""

    def made(seconds: float, roofs: Roofs = GPU, side: int = 512, itemsize: int = 1, mode: str = "stream") -> Row:
        monkeypatch.setattr(files, "roofs", lambda name: roofs)
        monkeypatch.setattr(files, "roofs_at", lambda name, nbytes: replace(roofs, copy=roofs.copy / 10))
        kernel = Timing("kernel", "cuda-event", *(seconds,) * 4, 30, "")
        work, shape = job(side, itemsize), (side, side)
        run = Run(Pick("rows", "cuda:0"), "mean2d", {}, shape, "uint8", "timed", {}, work, {}, True, {"kernel": kernel})
        return row(run, Experiment("mean2d", from_array(np.zeros((2, 2), np.uint8)), {}, (), mode=mode))

    return made


def test_a_row_has_its_shares_of_roof_peak_and_bound(rows: Any) -> None:
    nbytes = 2 * 512 * 512
    found = rows(4e-6)
    assert found.shares == pytest.approx((nbytes / 4e-6 / 3e12, nbytes / 4e-6 / 3.35e12, (2e-6 + nbytes / 5e12) / 4e-6))
    assert Row.from_json(found.to_json()) == found
    assert rows(4e-6, replace(GPU, peak=None)).share_peak is None
    assert rows(4e-6, CPU).shares[1:] == (None, None) and "bound" not in rows(4e-6, CPU).to_json()


def test_what_L2_allows_is_not_flagged_and_what_it_does_not_allow_is(rows: Any) -> None:
    hot = {"side": 4096, "itemsize": 1, "mode": "hot"}
    fast = rows(9e-6, **hot)
    assert fast.share > 1.05 and fast.share_same_size > 1.05 and fast.share_bound < 1 and not fast.flag
    assert "cache" in rows(9e-6, **{**hot, "mode": "cold"}).flag
    assert "cache" in rows(5e-6, **hot).flag, "faster than L2 and a launch"


def test_the_words_name_the_memory_its_roof_and_the_launch(rows: Any) -> None:
    small, large = rows(4e-6), rows(1e-3, side=8192)
    assert bound_note(small) == "The buffers fit into L2: its copy roof is 5000 GB/s; a launch alone takes 2 µs"
    assert bound_note(large) == "" == bound_note(rows(4e-6, CPU)) == bound_text(rows(4e-6, CPU))
    assert bound_text(small).startswith("53% of the bound: one launch (2 µs)") and "(L2)" in bound_text(small)
    assert "3000 GB/s (DRAM)" in bound_text(large)


def test_a_data_sheet_is_known_by_the_drivers_name_or_not_at_all() -> None:
    assert peak_of("NVIDIA H100 80GB HBM3") == pytest.approx(2619e6 * 2 * 5120 / 8, rel=1e-3)
    assert peak_of("NVIDIA H100") is None and peak_of("AMD EPYC") is None
    assert all(1e11 < peak < 1e13 for peak in PEAKS.values())


def test_roofs_in_words() -> None:
    known = {ROOFS[name]: value for name, value in vars(GPU).items()}
    text = "\n".join(roofs_text(known))
    for words in (
        "copy 3000 GB/s",
        "L2 (50 MiB): copy 5000 GB/s",
        "3.2e+04 GB/s from shared",
        "2 µs in a stream",
        "90%",
    ):
        assert words in text
    (first, unknown) = roofs_text({ROOFS[name]: value for name, value in vars(CPU).items() if value is not None})
    assert "copy 10 GB/s, read 20 GB/s (buffers of 256 MiB)" in first and "not in the table of data sheets" in unknown
    assert roofs_text({}) == []
    assert set(ROOFS) == set(vars(GPU))
