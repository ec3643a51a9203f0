"""Predicted times: the counts that they follow from, the limits that decide, and how many recorded times they hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from gpu_ops.errors import ParamError
from gpu_ops.explaining.page_predicted import Rung, predicted_picture
from gpu_ops.explaining.prediction import counting, partial
from gpu_ops.explaining.prediction.break_even import find_break_even, with_copies
from gpu_ops.explaining.prediction.counting import count_launches
from gpu_ops.explaining.prediction.gpus import GPUS, find_gpu, what_if
from gpu_ops.explaining.prediction.launches import LaunchCounts
from gpu_ops.explaining.prediction.model import FIT, INTERVAL, LIMITS, predict
from gpu_ops.explaining.prediction.sentences import sentences
from gpu_ops.explaining.prediction.waterfall import waterfall
from gpu_ops.filters import find_filter
from gpu_ops.io import sample
from gpu_ops.version import install

H100 = GPUS["h100"]
COUNTS = {
    "batch_load_sectors": 1 << 23,
    "block_load_sectors": 1 << 23,
    "batch_store_sectors": 1 << 23,
    "global_store_sectors": 1 << 23,
    "global_load_ideal_sectors": 1 << 23,
    "global_load_sectors": 1 << 23,
    "global_store_ideal_sectors": 1 << 23,
    "global_load_requests": 1 << 21,
    "global_store_requests": 1 << 21,
    "global_load_lines": 1 << 21,
    "global_store_lines": 1 << 21,
    "warp_instructions": 1 << 24,
    "issued": 1 << 24,
    "unit_integer": 1 << 22,
    "path_loads": 1 << 18,
    "path_cycles": 1 << 24,
}
COPY = LaunchCounts("copy", 1 << 18, 256, 8, arrays=2 << 28, counts=COUNTS)
"""A kernel that copies 256 MiB."""


def with_counts(**counts: int) -> LaunchCounts:
    """The copy with other counts."""
    return replace(COPY, counts={**COUNTS, **counts})


def test_a_copy_takes_what_the_memory_takes() -> None:
    predicted = predict([COPY], H100)
    assert predicted.limit == "memory"
    assert predicted.terms["memory"] == pytest.approx((1 << 28) * (1 / H100.read + 1 / H100.copy) / FIT.memory)
    assert predicted.terms["memory"] < predicted.seconds < 1.5 * predicted.terms["memory"] + FIT.first
    assert predicted.low < predicted.seconds < predicted.high <= 1.6 * predicted.low


def test_the_limit_moves_with_the_counts_and_with_the_gpu() -> None:
    assert predict([with_counts(issued=1 << 28)], H100).limit == "instructions"
    assert predict([with_counts(shared_wavefronts=1 << 27)], H100).limit == "L1"
    assert predict([with_counts(block_load_sectors=1 << 26)], H100).limit == "L2"
    assert predict([replace(with_counts(path_loads=1 << 24), resident=1)], H100).limit == "latency"
    assert predict([with_counts(unit_double=1 << 28)], H100).limit == "instructions"
    assert predict([LaunchCounts("small", 1, 32)], H100).limit == "launches"
    assert predict([replace(COPY, blocks=1 << 23)], H100).limit == "launches"
    assert predict([COPY], what_if(H100, bandwidth=10)).limit != "memory"


def test_more_of_anything_takes_no_less_and_a_better_gpu_no_more() -> None:
    usual = predict([COPY], H100).seconds
    loads = ["global_load_sectors", "global_load_lines", "block_load_sectors", "batch_load_sectors"]
    alone = COUNTS.keys() - {"global_load_ideal_sectors", "global_store_ideal_sectors", *loads}
    for names in (loads, *([name] for name in alone)):
        more = with_counts(**{name: 4 * COUNTS[name] for name in names})
        assert predict([replace(more, arrays=4 * COPY.arrays)], H100).seconds >= usual, names
    for better in ({"bandwidth": 2.0}, {"clock": 2.0}, {"multiprocessors": 264}):
        assert predict([COPY], what_if(H100, **better)).seconds < usual, better
    shared = with_counts(block_load_sectors=1 << 26)
    assert predict([shared], what_if(H100, l2=2.0)).seconds < predict([shared], H100).seconds
    assert predict([COPY, COPY], H100).seconds > usual + FIT.next * H100.launch


def test_less_shared_memory_holds_fewer_blocks_and_its_own_changes_nothing() -> None:
    launch = replace(with_counts(path_loads=1 << 24), fitting=8, shared=20 << 10)
    assert what_if(H100, shared=228 << 10) is H100
    for kib, resident in ((64, 3), (39, 1), (1000, 8)):
        gpu = what_if(H100, shared=kib << 10)
        assert predict([launch], gpu).seconds == predict([replace(launch, resident=resident)], H100).seconds
        assert not gpu.measured and gpu.shared_bytes == kib << 10
    assert "takes 20,480 bytes of shared memory" in predict([launch], what_if(H100, shared=19 << 10)).unknown


def test_a_report_says_where_the_numbers_come_from_and_what_is_unknown() -> None:
    rungs = [Rung("naive", [COPY], 1e-3), Rung("shared", [COPY])]
    pages = [predicted_picture(rungs, gpu) for gpu in (H100, GPUS["t4"], what_if(GPUS["t4"], clock=2.0))]
    for page, basis in zip(
        pages, ("roofs measured.", "roofs by its data sheet, not measured.", "changed, "), strict=True
    ):
        assert f"multiprocessors; {basis}" in page.caption
        assert page.html.count('<td class="number">unknown</td>') == 1 and "\u00a0ms</td>" in page.html
    assert "changed, with 64 KiB of shared memory each; not measured" in pages[2].caption


@pytest.mark.thorough
def test_a_launch_knows_how_many_blocks_would_fit_with_more_shared_memory() -> None:
    filter, signal = find_filter("fft1d"), sample("noise", length=4096)
    launch = count_launches(filter, filter.variant("shared"), signal, {}, {}, GPUS["t4"])[1]
    assert (launch.resident, launch.fitting, launch.shared) == (2, 4, 32 << 10)
    many = replace(launch, blocks=1000)
    waits = [predict([many], gpu).terms["latency"] for gpu in (GPUS["t4"], what_if(GPUS["t4"], shared=128 << 10))]
    assert waits[1] == predict([replace(many, resident=4)], GPUS["t4"]).terms["latency"] < waits[0]


def test_each_launch_follows_the_one_before() -> None:
    early = replace(COPY, early=True)
    assert predict([COPY, early], H100).seconds < predict([COPY, COPY], H100).seconds
    started = FIT.block * COPY.blocks / H100.clock
    assert predict([COPY], H100).terms["launches"] == pytest.approx(FIT.first + started)


def test_a_gpu_that_launches_slowly_takes_longer_for_each_launch_but_the_first() -> None:
    slow = replace(H100, launch=2 * H100.launch)
    assert predict([COPY], slow).seconds == predict([COPY], H100).seconds
    more = predict([COPY, COPY], slow).seconds - predict([COPY, COPY], H100).seconds
    assert more == pytest.approx(FIT.next * H100.launch)


def test_little_data_is_in_l2_when_it_is_timed() -> None:
    few, many = (replace(COPY, arrays=nbytes) for nbytes in (1 << 19, 1 << 20))
    assert predict([few], H100).terms["memory"] == 0 < predict([many], H100).terms["memory"]


def test_atomics_and_spills_make_a_time_unknown() -> None:
    assert predict([COPY], H100).unknown == ""
    assert "atomic operations" in predict([with_counts(global_atomic_threads=1 << 26)], H100).unknown
    assert "atomic operations" in predict([with_counts(atomic_collisions=1 << 22)], H100).unknown
    assert "spills" in predict([replace(COPY, spilled=16)], H100).unknown


def test_a_part_of_a_line_takes_l2_as_long_as_a_whole_one() -> None:
    whole, parts = COPY, with_counts(global_store_lines=1 << 23, global_load_lines=1 << 23)
    usual, more = (predict([launch], H100).terms["L2"] for launch in (whole, parts))
    assert usual == pytest.approx(2 * (1 << 28) / H100.l2 / FIT.l2)
    assert more == pytest.approx(4 * usual)


def test_loads_that_caches_have_wait_less() -> None:
    loads = 1 << 24
    far = with_counts(path_loads=loads)
    near = replace(with_counts(path_loads=loads, batch_load_sectors=1 << 13))
    hits = with_counts(path_loads=loads, block_load_sectors=1 << 13, batch_load_sectors=1 << 13)
    waits = [predict([replace(launch, resident=1)], H100).terms["latency"] for launch in (far, near, hits)]
    assert waits[0] > 2 * waits[1] > 4 * waits[2]


def test_without_the_machine_code_nothing_is_predicted() -> None:
    counts = {name: count for name, count in COUNTS.items() if name != "issued"}
    unknown = predict([replace(COPY, counts=counts)], H100).unknown
    assert "machine code of copy is needed" in unknown and install("sass") in unknown


def test_counts_of_a_few_batches_are_those_of_all() -> None:
    filter, image = find_filter("mean2d"), sample("noise_image", size="512x512")
    for id in ("naive", "shared", "rows"):
        variant = filter.variant(id)
        (part,) = count_launches(filter, variant, image, {}, {}, H100)
        (whole,) = counting._Job(filter, variant, {}, {}, H100, {}).count(image, 0)
        assert (part.blocks, part.threads, part.resident) == (whole.blocks, whole.threads, whole.resident)
        for name in COUNTS:
            assert part.of(name) == pytest.approx(whole.of(name), rel=0.1), (id, name)


def test_blocks_that_wait_are_counted_in_two_parts_and_extrapolated(monkeypatch: pytest.MonkeyPatch) -> None:
    filter, signal = find_filter("reduce1d"), sample("noise", length=1 << 18)
    whole = count_launches(filter, filter.variant("one_pass"), signal, {}, {}, H100)
    monkeypatch.setattr(counting, "WHOLE", 1 << 17)
    found = count_launches(filter, filter.variant("one_pass"), signal, {}, {}, H100)
    assert [(c.kernel, c.blocks) for c in found] == [(c.kernel, c.blocks) for c in whole]
    for name in ("global_load_sectors", "global_store_sectors", "warp_instructions", "batch_load_sectors"):
        assert sum(c.of(name) for c in found) == pytest.approx(sum(c.of(name) for c in whole), rel=0.05), name


def test_a_count_that_does_not_grow_from_part_to_part_is_as_many_a_block() -> None:
    whole, first, second = (sample("noise", length=length) for length in (6400, 100, 200))
    counted = [
        [LaunchCounts("level", blocks, 32, counts={"global_load_requests": 8 * blocks, "issued": issued})]
        for blocks, issued in ((1, 50), (2, 40))
    ]
    (found,) = counting._extrapolated([LaunchCounts("level", 64, 32)], counted, whole, (first, second))
    assert found.counts == {"global_load_requests": 8 * 64, "issued": 20 * 64}


def test_what_has_no_kernel_and_gpus_that_are_not_known_are_refused() -> None:
    filter, image = find_filter("mean2d"), sample("noise_image", size="64x64")
    with pytest.raises(ParamError, match="serial has no kernel .* choose from naive"):
        count_launches(filter, filter.variant("serial"), image, {}, {}, H100)
    with pytest.raises(ParamError, match="choose from t4, a100, .* did you mean h100"):
        find_gpu("h10")
    assert find_gpu("NVIDIA H100 80GB HBM3") is H100 and what_if(H100) is H100


def test_sentences_name_the_limit_and_what_a_change_is_worth() -> None:
    slow, fast = predict([with_counts(issued=1 << 28)], H100), predict([COPY], H100)
    first, second, step = sentences([("slow", slow), ("fast", fast)])
    assert first.startswith("slow: instructions would take") and second.startswith("fast: bytes from")
    assert "fast is" in step and "times as fast as slow: instructions" in step
    assert f"the limit moves from {LIMITS['instructions']} to {LIMITS['memory']}" in step
    unknown = predict([with_counts(global_atomic_threads=1 << 26)], H100)
    assert sentences([("a", unknown), ("b", fast)])[2] == "b against a: unknown."


def test_what_limits_bring_is_what_the_time_grows_by_with_them() -> None:
    """By differences: 0.1 % more of one limit's counts makes the time longer by that share of what the limit brings."""
    counts = {"issued": 1 << 24, "path_loads": 1 << 20, "path_cycles": 1 << 24, "batch_load_sectors": 1 << 19}
    launch = LaunchCounts("k", 4096, 256, 8, counts=counts)
    own = predict([launch, launch], H100)
    assert sum(own.shares.values()) == pytest.approx(own.seconds) and min(own.shares.values()) >= 0
    for limit, names in (("instructions", ("issued",)), ("latency", ("path_loads", "path_cycles"))):
        more = replace(launch, counts={**counts, **{name: counts[name] * 1.001 for name in names}})
        grown = predict([more, more], H100).seconds - own.seconds
        assert own.shares[limit] > 0.01 * own.seconds, limit
        assert grown == pytest.approx(0.001 * own.shares[limit], rel=1e-2), limit


def test_a_waterfall_leads_from_one_time_to_the_other_and_has_the_counts_of_both() -> None:
    before = LaunchCounts("k", 4096, 256, 8, counts={"issued": 1 << 26, "batch_load_sectors": 1 << 20})
    after = replace(before, counts={"issued": 1 << 24, "batch_load_sectors": 1 << 19})
    found = waterfall([before], [after, after], H100)
    assert sum(part.change for part in found.parts) == pytest.approx(found.after.seconds - found.before.seconds)
    parts = {part.limit: part for part in found.parts}
    assert parts["memory"].counted == (32 << 20, 32 << 20) and parts["memory"].unit == "bytes"
    assert parts["launches"].counted == (1, 2) and parts["launches"].change > 0 > parts["instructions"].change
    for unknown in ([replace(before, spilled=8)], [after]), ([after], [replace(before, spilled=8)]):
        found = waterfall(*unknown, H100)
        assert not found.parts and "spills 8 bytes" in found.unknown


def test_from_the_break_even_size_on_a_gpu_with_its_copies_is_faster() -> None:
    copied = 2 << 28
    seconds = with_copies([COPY], H100, copied)
    assert seconds == pytest.approx(predict([COPY], H100).seconds + 2 * 5e-6 + copied / H100.bus)
    found = find_break_even([COPY], H100, copied, 4 * seconds)
    assert found is not None and found.low is not None and found.high is not None and 0 < found.low < found.high < 1
    for size, end in ((found.low, 1 / INTERVAL), (found.high, INTERVAL)):
        for near, faster in ((0.99 * size, False), (1.01 * size, True)):
            assert (with_copies([COPY], H100, copied, near) * end < 4 * seconds * near) is faster
    slow_bus = find_break_even([COPY], replace(H100, bus=H100.bus / 2), copied, 4 * seconds)
    slow_clock = find_break_even([COPY], what_if(H100, clock=0.05), copied, 4 * seconds)
    for slower in (slow_bus, slow_clock):
        assert slower is not None and slower.high is not None and slower.high > found.high
    never = find_break_even([COPY], H100, copied, seconds / 2)
    assert never is not None and (never.low, never.high) == (None, None)
    always = find_break_even([COPY], H100, copied, 1e6 * seconds)
    assert always is not None and (always.low, always.high) == (0, 0)
    assert find_break_even([replace(COPY, spilled=8)], H100, copied, seconds) is None


def test_what_values_decide_is_said_and_unknown_where_they_were_not_all_computed() -> None:
    own = predict([replace(COPY, values="loaded")], H100)
    assert not own.unknown and "what copy does may depend on the values of its arrays" in own.notes[0]
    assert "copy: what copy does may depend" in sentences([("copy", own)])[-1]
    unknown = predict([COPY, replace(COPY, kernel="pick", values="computed")], H100).unknown
    assert unknown.startswith("what pick does may depend on values that an earlier launch computes")
    little = predict([COPY, LaunchCounts("pick", 1, 32, counts={"issued": 1}, values="computed")], H100)
    assert not little.unknown and "of the time)" in little.notes[0]
    waits = predict([replace(COPY, waits=True, values="loaded")], H100).notes
    assert waits == ("blocks of copy wait for one another; for how long is not counted",)
    slow = predict([replace(with_counts(path_loads=1 << 24), resident=1)], H100)
    assert slow.limit == "latency" and "other warps hide" in slow.notes[0]
    assert "reads a texture" in predict([with_counts(texture_requests=1)], H100).unknown
    assert not predict([COPY], H100).notes


@pytest.mark.thorough
def test_values_that_a_kernel_loads_are_followed_to_its_addresses_and_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    def of(id: str, variant: str, params: Mapping[str, object]) -> dict[str, tuple[str, bool]]:
        filter = find_filter(id)
        input = sample("noise", length=1024) if filter.accepts == "signal" else sample("noise_image", size="16x16")
        launches = count_launches(filter, filter.variant(variant), input, params, {}, H100)
        return {launch.kernel: (launch.values, launch.waits) for launch in launches if launch.blocks}

    wavelet = "wavelet2d", "global", {"levels": 1}
    assert of("histogram2d", "private", {})["histogram_private"] == ("loaded", False)
    assert of("scan1d", "look_back", {})["scan_look_back"] == ("loaded", True)
    assert of(*wavelet)["wavelet_median_count"][0] == "loaded", "all blocks of earlier launches ran"
    monkeypatch.setattr(partial, "blocks_per_batch", lambda *about: 0)
    found = of(*wavelet)
    assert found.pop("wavelet_median_count")[0] == found.pop("wavelet_median_pick")[0] == "computed"
    assert {values for values, _ in found.values()} == {""}


def test_a_copy_into_a_texture_is_counted() -> None:
    filter = find_filter("conv3x3")
    launches = count_launches(filter, filter.variant("texture"), sample("noise_image", size="16x16"), {}, {}, H100)
    assert any(launch.moved == 2 * 16 * 16 for launch in launches)
    assert launches[-1].of("texture_requests") > 0
