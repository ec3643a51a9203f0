"""Sweeps of transfers on the model of a simulated GPU: what is copied is right, and times follow from the rates."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import gpu_ops as ks
from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.errors import KernelError, ParamError, ReportError
from gpu_ops.explaining.judging import RECORDED
from gpu_ops.explaining.spans import Rates
from gpu_ops.explaining.timeline import TimelineJob, timeline
from gpu_ops.explaining.transfers import memory, of_input, pinning
from gpu_ops.explaining.transfers.catalogue import DIRECTIONS, HOST_KINDS, KINDS, MANAGED, WAYS, size_text
from gpu_ops.explaining.transfers.figures import break_even, crossing, draw_sweep, grid_of, origin
from gpu_ops.explaining.transfers.making import sweep
from gpu_ops.explaining.transfers.meter import Meter
from gpu_ops.explaining.transfers.of_input import chain
from gpu_ops.explaining.transfers.rates import fitted_lock, rates_named, rates_of, recorded_rates, recorded_sweeps
from gpu_ops.explaining.transfers.subject import Subject
from gpu_ops.explaining.transfers.sweep import TransferSweep, sweep_of_json
from gpu_ops.filters import FILTERS
from gpu_ops.io import from_array, sample
from gpu_ops.report.files import read_report

IMAGE = np.random.default_rng(3).integers(0, 256, (48, 64), np.uint8)
RATES = Rates(10e9, 20e9, 100e9, host=5e9, threads=40e9, latency=0.0, migration=2e9, locking=4e9, lock_latency=0.0)


@pytest.fixture(scope="module")
def subject() -> Subject:
    return Subject.of(from_array(IMAGE))


@pytest.fixture(scope="module")
def grid(subject: Subject) -> TransferSweep:
    return sweep("streams", "sim", subject)


# Streams and chunks


def test_the_order_alone_says_what_streams_gain(grid: TransferSweep) -> None:
    times = {(p["streams"], p["chunks"]): p["time"] for p in grid.points}
    assert grid.unit == "steps" and max(chunks for _, chunks in times) == 48, "no more chunks than rows"
    assert times[1, 1] == times[8, 1] == times[1, 8] == 3, "one stream gains nothing, nor does one chunk"
    assert times[3, 4] == 6 / 4 and times[2, 2] == 2
    found = grid_of(grid, "time")
    assert found.values[2][found.chunks.index(4)] == 1.5 and found.best == (2, found.chunks.index(48))
    shares = grid_of(grid, "overlap")
    assert shares.unit == "" and shares.values[0][0] == pytest.approx(1 / 3) and shares.best == found.best


def test_rates_make_seconds_of_it(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_input, "CHUNKS", (1,))
    found = sweep("streams", "sim", subject, RATES)
    (one,) = found.where(streams=1, chunks=1)
    nbytes = IMAGE.nbytes
    assert found.basis == "predicted" and one["time"] == pytest.approx(
        nbytes / 10e9 + nbytes / 20e9 + 2 * nbytes / 100e9
    )
    assert "10 GB/s to the device" in origin(found) and origin(found).endswith("(given)")


# Chains of filters


def test_a_chain_computes_the_filter_of_the_filter_either_way(subject: Subject) -> None:
    device = SimDevice().session({})
    wanted = IMAGE
    for _ in range(3):
        wanted = ks.apply("conv3x3", wanted, device="cpu", variant="serial")
    for way in WAYS:
        plan = chain(device, subject, subject.task(device), 3, "pinned", way)
        device.execute(plan)
        assert np.array_equal(next(iter(plan.outputs.values())), wanted), way


def test_residency_saves_two_copies_for_each_further_filter(subject: Subject) -> None:
    found = sweep("residency", "sim", subject)
    for count in (1, 5, 16):
        resident, trips = (found.where(filters=count, memory="pinned", way=way)[0]["time"] for way in WAYS)
        assert (resident, trips) == (count + 2, 3 * count)
    drawn = draw_sweep(found)
    assert len(drawn.series) == 4 and "16 filters on pinned memory: 2.7 times faster" in " ".join(drawn.notes)
    assert {one.basis for one in drawn.series} == {"predicted"} and not drawn.missing


# Kinds of memory


@pytest.mark.parametrize("kind", HOST_KINDS)
def test_copies_of_every_kind_bring_the_bytes_there(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "BUFFER", 1024)  # staged copies go several times round the ring
    device = SimDevice().session({})
    data = np.random.default_rng(4).integers(1, 1 << 32, 5 * 1024 // 4 + 40, np.uint32)
    copies = memory.copies_of(device, kind, data)
    for direction in DIRECTIONS[: 2 if kind in MANAGED else 3]:
        copies.seen[:] = 0
        device.fill(copies.x, 0)
        if direction == "to device":
            device.execute(copies.plan(direction))
            assert np.array_equal(copies.x, data)
            with pytest.raises(KernelError, match="differ from the source"):
                memory.check(device, copies, data)
        else:
            if copies.before is not None:
                device.execute(copies.before)
            device.execute(copies.plan("to device"))
            device.execute(copies.plan(direction))
            memory.check(device, copies, data)


def test_times_of_each_kind_follow_from_the_rates() -> None:
    nbytes, notes = 1 << 24, list[str]()
    found = tuple(memory.points(Meter("sim", RATES), notes, (nbytes,)))
    times = {(p["memory"], p["direction"]): p["time"] for p in found}
    up, down, kernel = nbytes / 10e9, nbytes / 20e9, nbytes / 100e9
    assert not notes and len(times) == 5 * 3 + 2 * 2
    assert times["pinned", "to device"] == times["registered", "to device"] == pytest.approx(up)
    assert times["pinned", "to host"] == pytest.approx(down)
    assert times["pinned", "both"] == pytest.approx(max(up, down)), "each direction has its engine"
    assert times["pageable", "to device"] == pytest.approx(up + nbytes / 5e9), "the driver's thread copies it first"
    assert times["mapped", "to device"] == pytest.approx(nbytes / 10e9 + kernel)
    assert times["managed", "to device"] == pytest.approx(nbytes / 2e9 + kernel)
    assert times["prefetched", "to device"] == pytest.approx(up + 2 * kernel), "both arrays are on the device"
    assert times["staged", "to device"] < times["pageable", "to device"]
    whole = TransferSweep("memory", "predicted", "sim", "", "", found, (), RATES)
    both = next(one for one in draw_sweep(whole, "both").series if one.name == "pinned")
    assert both.ys[0] == pytest.approx(2 * nbytes / max(up, down) / 1e9), "the bytes of both directions count"


def test_registering_pays_from_the_copy_that_makes_up_for_it() -> None:
    found = sweep("registering", "sim", None, RATES)
    (point,) = found.where(nbytes=1 << 26)
    assert point["locking"] / (1 << 26) == pytest.approx(1 / 4e9)
    assert crossing(point) == pytest.approx(5 / 4) and break_even(point) == 2
    assert break_even({"pageable": 1.0, "registered": 1.0, "locking": 1.0}) is None
    assert break_even({"pageable": 2.0, "registered": 1.0, "locking": 3.0}) == 4, "at three copies both take as long"
    drawn = draw_sweep(found, "64 MiB")
    ((x, y, text),) = drawn.marks
    assert text == "break-even, 1.3 copies" and all(y in one.ys and x in one.xs for one in drawn.series)


def test_a_lock_has_a_latency_of_its_own_which_the_recorded_sizes_give() -> None:
    made = [{"nbytes": n, "locking": 3e-4 + n / 2e10} for n in (1 << 16, 1 << 20, 1 << 28)]
    assert fitted_lock(made) == pytest.approx((3e-4, 2e10, 0), rel=1e-9, abs=1e-9)
    made[1]["locking"] *= 2
    assert fitted_lock(made).within > 0.2, "a time off the line shows"
    recorded, rates = recorded_sweeps()["h100-registering"].points, rates_named("h100")
    predicted = memory.locking_points(Meter("sim", rates), [point["nbytes"] for point in recorded])
    errors = [a["locking"] / b["locking"] - 1 for a, b in zip(predicted, recorded, strict=True)]
    assert max(map(abs, errors)) == pytest.approx(fitted_lock(recorded).within) and fitted_lock(recorded).within < 0.2
    without = replace(rates, lock_latency=0.0, locking=recorded[-1]["nbytes"] / recorded[-1]["locking"])
    (small,) = memory.locking_points(Meter("sim", without), [1 << 16])
    assert small["locking"] < 0.05 * recorded[0]["locking"], "bytes alone explain no small lock"
    assert "276 µs for each lock" in " ".join(draw_sweep(recorded_sweeps()["h100-registering"]).notes)


def test_what_is_about_seconds_needs_rates(subject: Subject) -> None:
    with pytest.raises(ParamError, match="give --rates MACHINE, or --h2d"):
        sweep("memory", "sim")
    with pytest.raises(ParamError, match="name cuda:N, or sim"):
        sweep("streams", "cpu", subject)


# Recorded machines


def test_recorded_rates_predict_what_was_recorded() -> None:
    report = read_report(RECORDED / "h100-transfer-4096.json")
    rates, transfers = rates_named("h100"), FILTERS.find("transfer2d")
    own = rates_of(report)  # two H100s of different hosts differ by a sixth in pageable copies
    assert own is not None
    image = sample("noise", size="4096x4096", channels=3, dtype="uint8")
    rows = {row.variant: row for row in report.rows}
    for variant, within in (
        ("pinned", 0.04),
        ("pageable", 0.02),
        ("managed", 0.02),
        ("staged", 0.05),
        ("streams", 0.15),
    ):
        row = rows[variant]
        used = rates if variant in ("pinned", "streams") else own
        found = timeline(TimelineJob(transfers, transfers.variant(variant), "sim", image, {}, row.knobs, used))
        assert found.elapsed == pytest.approx(row.stages["kernel"].median, rel=within), variant
    assert rates.machine == "NVIDIA H100 80GB HBM3" and rates.machine in origin(
        TransferSweep("streams", "predicted", "sim", "", "", (), (), rates)
    )


@pytest.mark.thorough  # 28 timelines
def test_the_guide_says_how_well_recorded_rates_predict_the_other_times() -> None:
    report, transfers = read_report(RECORDED / "h100-transfer-4096.json"), FILTERS.find("transfer2d")
    image = sample("noise", size="4096x4096", channels=3, dtype="uint8")
    errors: dict[str, dict[str, float]] = {"own": {}, "h100": {}}
    for name, rates in (("own", rates_of(report)), ("h100", rates_named("h100"))):
        for row in (row for row in report.rows if row.device != "cpu"):
            job = TimelineJob(transfers, transfers.variant(row.variant), "sim", image, {}, row.knobs, rates)
            errors[name][row.variant] = timeline(job).elapsed / row.stages["kernel"].median - 1
    fitted = {"pinned", "pageable", "staged", "managed"}
    others = [abs(error) for variant, error in errors["own"].items() if variant not in fitted]
    assert len(others) == 10 and 0.11 < max(others) < 0.12, "within 12 %"
    worst = max(errors["h100"], key=lambda variant: abs(errors["h100"][variant]))
    assert worst == "pageable" and 0.15 < errors["h100"][worst] < 0.17, "pageable copies 16 % too slow"


def test_an_unknown_machine_is_refused_by_the_names_of_all() -> None:
    with pytest.raises(ParamError, match=r"did you mean h100\?\); choose from h100"):
        rates_named("h10")
    with pytest.raises(ParamError, match="record them by kernelscope bench transfer"):
        rates_named(str(RECORDED / "h200-box-4096.json"))
    assert rates_of(read_report(RECORDED / "h200-box-4096.json")) is None and "h100" in recorded_rates()


def test_a_sweep_comes_back_from_its_file(grid: TransferSweep) -> None:
    for found in (grid, sweep("registering", "sim", None, RATES)):
        again = sweep_of_json(json.loads(json.dumps(found.to_json())), "a.json")
        assert (again.points, again.rates, again.basis) == (tuple(found.points), found.rates, found.basis)
    with pytest.raises(ReportError, match="is not of the schema"):
        sweep_of_json({"schema": "kernelscope-report/1"}, "b.json")


# Locked memory


def test_locked_memory_is_freed_and_the_verdict_says_no_effect_plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pinning, "WORK", 1 << 16)
    locked: list[int] = []
    monkeypatch.setattr(pinning, "_lock", lambda block, before: locked.append(len(block)))
    found = list(pinning.points(1 << 20))
    assert [p["locked"] for p in found] == [0, 1 << 18, 1 << 19, 3 << 18, 1 << 20, 0] and sum(locked) == 1 << 20

    def point(locked: int, time: float) -> dict[str, Any]:
        return {"locked": locked, "time": time, "q1": 0.99 * time, "q3": 1.01 * time}

    assert pinning.verdict([point(0, 1.0), point(8, 1.5), point(0, 1.0)]).startswith("An effect: ")
    for most, after in ((1.5, 1.5), (1.0, 1.0), (1.01, 1.0)):
        text = pinning.verdict([point(0, 1.0), point(8, most), point(0, after)])
        assert text.startswith("No effect here: "), "a machine that is slower afterwards too was not slowed by locking"


def test_sizes_are_in_words() -> None:
    assert [size_text(n) for n in (0, 4096, 1 << 20, 1 << 30, 3 << 29)] == [
        "0 KiB",
        "4 KiB",
        "1 MiB",
        "1 GiB",
        "1.5 GiB",
    ]
    assert set(KINDS) == {"streams", "residency", "memory", "registering", "pinning"}
