"""X-rays of variants: counts against formulas, lines that add up, sentences that follow from counts, the command."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lanes import few
from wrong import find_wrong

from gpu_ops.cli import main
from gpu_ops.devices.kernel_source import compiled_with
from gpu_ops.devices.occupancy import Occupancy
from gpu_ops.errors import ParamError
from gpu_ops.explaining.sentences import CHANGE_RULES, VARIANT_RULES, compare, explain, number
from gpu_ops.explaining.xray import BLOCK_LOADS, KernelXRay, XRay, add_up, as_dict, xray
from gpu_ops.filters import FILTERS, find_filter
from gpu_ops.io import from_array
from gpu_ops.types import BORDERS, Input


def _input(shape: tuple[int, ...], dtype: str = "float32", kind: str = "signal") -> Input:
    values = np.random.default_rng(3).random(shape) * (200 if dtype.startswith("u") else 1)
    return from_array(values.astype(dtype), kind=kind)


# Loads that variants declare

SIGNALS = [
    # shape, dtype, window, block, outputs
    ((1000,), "float32", 5, 128, 2),
    ((97, 2), "uint8", 7, 32, 1),
    ((700,), "float64", 31, 64, 4),
    ((257, 3), "uint16", 9, 16, 8),
    ((5,), "float32", 5, 1024, 1),
]
IMAGES = [
    ((40, 70), "float32", 3, 64, 2),
    ((17, 33, 3), "uint8", 5, 128, 1),
    ((7, 5), "float64", 9, 16, 4),
    ((65, 130), "uint16", 15, 256, 1),
]
WITH_KERNELS = [(f.id, v.id) for f in FILTERS for v in f.variants if v.counts.accesses and f.family == "mean"]


@pytest.mark.parametrize("turn", few(range(len(BORDERS)), 0))
@pytest.mark.parametrize("filter_id, variant_id", WITH_KERNELS)
def test_counted_loads_are_those_declared(filter_id: str, variant_id: str, turn: int) -> None:
    """Each border with one of the shapes; in the other turns with all others."""
    filter = find_filter(filter_id)
    cases = SIGNALS if filter.accepts == "signal" else IMAGES
    for place, (shape, dtype, window, block, outputs) in enumerate(cases):
        border = BORDERS[(place + turn) % len(BORDERS)]
        given = _input(shape, dtype, filter.accepts)
        x = xray(
            filter,
            filter.variant(variant_id),
            given,
            {"window": window, "border": border},
            {"block": block, "outputs": outputs},
        )
        assert x.expected is not None and len(x.kernels) == 1 and not x.findings
        counted = {**x.kernels[0].block_loads, "total": x.totals["global_load_threads"]}
        assert counted == {name: getattr(x.expected, name) for name in (*BLOCK_LOADS, "total")}, (shape, dtype)
        assert x.totals["global_store_threads"] == x.outputs == given.array.size


@pytest.mark.parametrize(
    "variant, figures", [("naive", (5120, 5114)), ("constant", (2560, 2557)), ("shared", (516, 514))]
)
def test_the_sources_figures_are_counted(variant: str, figures: tuple[int, int]) -> None:
    mean = find_filter("mean1d")
    given = _input((512 * 6 + 128,), "float64")
    x = xray(mean, mean.variant(variant), given, {"border": "zero"}, {"block": 512, "outputs": 1})
    loads = x.kernels[0].block_loads
    assert (loads["inner"], loads["first"]) == figures
    assert loads["last"] == {"naive": 1274, "constant": 637, "shared": 130}[variant]


# What an X-ray holds


@pytest.fixture(scope="module")
def shared() -> XRay:
    mean = find_filter("mean1d")
    return xray(mean, mean.variant("shared"), _input((3000,)), {}, {}, "sm_90")


def test_lines_add_up_to_the_totals(shared: XRay) -> None:
    kernel = shared.kernels[0]
    assert add_up(kernel.lines.values()) == kernel.totals == shared.totals
    lines = kernel.text.splitlines()
    assert all(1 <= line <= len(lines) for line in kernel.lines)
    where = {name: [n for n, counts in kernel.lines.items() if counts.get(name)] for name in kernel.totals}
    assert where["global_store_sectors"] == [next(n for n, t in enumerate(lines, 1) if "= finish" in t)]
    assert where["global_load_sectors"] == where["shared_store_requests"]


def test_headers_are_at_the_line_that_uses_them_and_at_their_own(shared: XRay) -> None:
    kernel = shared.kernels[0]
    (used,) = [n for n, t in enumerate(kernel.text.splitlines(), 1) if "border_index(" in t]
    inside = add_up(kernel.headers.values())["warp_instructions"]
    assert {file for file, _ in kernel.headers} == {"border.cuh"}
    assert 0 < inside < kernel.lines[used]["warp_instructions"]


@pytest.fixture(scope="module")
def ring() -> XRay:
    filter = find_filter("box")
    image = np.arange(40 * 60, dtype=np.uint8).reshape(40, 60)
    return xray(filter, filter.variant("ring"), from_array(image), {"radius": 2}, {}, trace=True)


def test_each_file_has_counts_of_its_own_that_add_up_to_all(ring: XRay) -> None:
    kernel = ring.kernels[0]
    assert [f.file for f in kernel.files][0] == kernel.file == "box/8_ring.cu"
    assert {"ring_rows.cuh", "ring_columns.cuh", "ring.cuh"} <= {f.file for f in kernel.files}
    assert add_up(c for f in kernel.files for c in f.lines.values()) == kernel.totals
    for file in kernel.files:
        assert all(0 <= line <= len(file.text.splitlines()) for line in {*file.lines, *file.calls})


def test_the_line_of_a_call_has_what_it_calls_and_leads_there(ring: XRay) -> None:
    kernel = ring.kernels[0]
    own, files = kernel.files[0], {f.file: f for f in kernel.files}
    (step,) = [n for n, t in enumerate(own.text.splitlines(), 1) if t.strip().startswith("rows.step(")]
    called = own.calls[step]["warp_instructions"] + own.lines.get(step, {}).get("warp_instructions", 0)
    assert called == kernel.lines[step]["warp_instructions"] > 0.3 * kernel.totals["warp_instructions"]
    assert own.lines.get(step, {}).get("warp_instructions", 0) < 0.1 * called
    file, line = own.callees[step][0]
    assert line in {*files[file].lines, *files[file].calls}
    for one in kernel.files:
        assert set(one.callees) == set(one.calls)


def test_the_defines_of_all_launches_are_shown_with_the_source() -> None:
    """Rows and columns of an image are transformed by one kernel, compiled twice."""
    filter = find_filter("fft_batch2d")
    image = np.arange(8 * 16, dtype=np.float32).reshape(8, 16)
    found = xray(filter, filter.variant("columns"), from_array(image), {"numbers": "real"}, {})
    (kernel,) = found.kernels
    assert [one["LANES"] for one in kernel.defines] == ["ALONG_POINTS", "ALONG_LINES"]
    assert json.loads(json.dumps(as_dict(found)))["kernels"][0]["defines"] == [dict(one) for one in kernel.defines]
    rows, columns = compiled_with(kernel.defines)
    first = "LINE_PITCH={0}, LINE_POINTS={0}, RADICES={1}, ENDS={2}, LANES={3}, "
    assert rows.startswith(first.format(16, "16", "HALF", "ALONG_POINTS"))
    assert columns.startswith(first.format(8, "8", "WHOLE", "ALONG_LINES"))


def test_defines_that_differ_come_first_then_numbers_then_words() -> None:
    one = {"T": "float", "RADICES": "16,4", "N": 64}
    assert compiled_with([one]) == compiled_with([one, one])[:1] == ["N=64, RADICES=16,4, T=float"]
    assert compiled_with([one, {**one, "T": "double"}])[1] == "T=double, N=64, RADICES=16,4"
    assert compiled_with([{}, one]) == ["no defines", "N=64, RADICES=16,4, T=float"]
    assert compiled_with([]) == []


def test_the_warps_that_are_followed_are_at_the_headers_lines_too(ring: XRay) -> None:
    kernel = ring.kernels[0]
    assert kernel.traces is not None
    for file in kernel.files:
        memory = {n for n, counts in file.lines.items() if any(k.endswith("_requests") for k in counts)}
        assert {(file.file, n) for n in memory} <= set(kernel.traces)
    assert all((t.file, t.line) == place for place, traces in kernel.traces.items() for t in traces)


def test_files_are_told_as_json(ring: XRay) -> None:
    (kernel,) = json.loads(json.dumps(as_dict(ring)))["kernels"]
    assert [f["file"] for f in kernel["files"]] == [f.file for f in ring.kernels[0].files]
    called = [one for f in kernel["files"] for one in f["lines"] if one["callees"]]
    assert called and all(one["calls"]["warp_instructions"] > 0 for one in called)


def test_resources_and_occupancy(shared: XRay) -> None:
    kernel = shared.kernels[0]
    assert kernel.shared_bytes == (256 + 4) * 4 and kernel.resources["registers"] > 8
    assert kernel.occupancy is not None and kernel.occupancy == kernel.by_block[128]
    assert kernel.grid == (12, 1, 1) and kernel.block == (128, 1, 1) and kernel.launches == 1


def test_as_json(shared: XRay) -> None:
    found = json.loads(json.dumps(as_dict(shared), allow_nan=False))
    assert found["schema"] == "kernelscope-xray/1" and found["unit"] == "sample" and found["least_bytes"] == 24000
    kernel = found["kernels"][0]
    assert add_up(row["counts"] for row in kernel["lines"]) == found["totals"]
    assert kernel["block_loads"]["first"] == found["expected_loads"]["first"]


def test_what_cannot_be_looked_into() -> None:
    mean = find_filter("mean1d")
    with pytest.raises(ParamError, match="scipy has no kernel to look into; choose from naive, constant, shared"):
        xray(mean, mean.variant("scipy"), _input((100,)), {}, {})
    with pytest.raises(ParamError, match="window 7 is longer"):
        xray(mean, mean.variant("naive"), _input((5,)), {"window": 7}, {})


def test_older_rules_are_counted_on_demand() -> None:
    mean = find_filter("mean1d")
    x = {
        r: xray(mean, mean.variant("constant"), _input((4096,)), {}, {}, coalescing=r) for r in ("today", "1.0", "1.2")
    }
    loads = {rule: ray.totals.get("global_load_transactions", 0) for rule, ray in x.items()}
    assert loads["today"] == 0 and loads["1.0"] > 4 * loads["1.2"] > 0


# Sentences


def _ray(occupancy: Occupancy | None = None, resources: dict[str, int] | None = None, **totals: int) -> XRay:
    """An X-ray of 100 samples with these totals."""
    kernel = KernelXRay(
        "k", "k.cu", "", 1, (1, 1, 1), (32, 1, 1), 0, {}, {}, totals, {}, resources or {}, occupancy, {}
    )
    return XRay(
        "f", "v", "", "", "sm_75", (100,), "float32", {}, {}, 100, "sample", 800, None, "today", (kernel,), (), ()
    )


def _said(before: XRay, after: XRay) -> dict[str, str]:
    return {s.rule: s.text for s in compare(before, after)}


PLAIN = {"global_load_threads": 500, "global_load_sectors": 75, "global_load_ideal_sectors": 60}
TILED = {
    "global_load_threads": 102,
    "global_load_sectors": 16,
    "global_load_ideal_sectors": 13,
    "shared_store_threads": 102,
    "shared_load_threads": 500,
}


def test_loads_that_shared_memory_takes_over() -> None:
    text = _said(_ray(**PLAIN), _ray(**TILED))["loads"]
    assert "fall from 5 to 1.02 per sample (÷4.9)" in text
    assert "the values are kept in shared memory and read there (5 shared reads per sample instead)" in text
    other = _said(_ray(**PLAIN), _ray(**{**TILED, "shared_load_threads": 300}))["loads"]
    assert "3 shared reads per sample instead" in other


def test_no_reason_without_evidence() -> None:
    """Shared memory that holds something else explains nothing, and neither does what both read."""
    unfilled = _said(_ray(**PLAIN), _ray(**{**TILED, "shared_store_threads": 7}))["loads"]
    assert unfilled == "Global loads fall from 5 to 1.02 per sample (÷4.9), 80% fewer."
    both = _said(_ray(**PLAIN, constant_threads=500), _ray(**{**TILED, "constant_threads": 500}))["loads"]
    assert "constant" not in both
    fewer = _said(_ray(**PLAIN), _ray(**{**PLAIN, "global_load_threads": 250, "constant_threads": 250}))["loads"]
    assert fewer.endswith("because constant memory serves them (2.5 constant reads per sample instead).")


def test_the_way_back_says_what_is_gone() -> None:
    text = _said(_ray(**TILED), _ray(**PLAIN))["loads"]
    assert (
        "rise from 1.02 to 5 per sample (×4.9), because the 5 shared reads per sample that replaced them are gone"
        in text
    )


def test_memory_that_must_be_crossed_stays() -> None:
    said = _said(_ray(**PLAIN), _ray(**TILED))
    assert "stay 8 per sample" in said["memory"]
    assert "5.12 bytes per sample requested in sectors, 24 before" in said["memory"]
    assert "at most 5.12 bytes per sample can come from the L2 cache, 24 before" in said["sectors"]
    moved = replace(_ray(**TILED), least_bytes=400)
    assert _said(_ray(**PLAIN), moved)["memory"] == (
        "The bytes that device memory must move fall from 8 to 4 per sample (÷2)."
    )


def test_nothing_is_said_where_nothing_changed() -> None:
    same = Occupancy(4, 16, 32, "registers")
    figures = {"occupancy", "limiter", "least_bytes", "launches", "spilled_bytes"}
    everything = {
        name: 100 for rule in (*CHANGE_RULES, *VARIANT_RULES) for name in rule.rests_on if name not in figures
    }
    ray = _ray(same, {"registers": 40, "spill_load_bytes": 8}, **everything)
    assert compare(ray, ray) == []
    near = _ray(same, {"registers": 40, "spill_load_bytes": 8}, **{n: v + 1 for n, v in everything.items()})
    assert compare(ray, near) == []


CHANGES: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "loads": ({"global_load_threads": 100}, {"global_load_threads": 300}, "rise from 1 to 3 per sample (×3)."),
    "sectors": ({"global_load_sectors": 100}, {"global_load_sectors": 50}, "fall from 1 to 0.5 per sample (÷2)"),
    "requests": (
        {"global_load_sectors": 100, "global_load_requests": 100},
        {"global_load_sectors": 100, "global_load_requests": 25},
        "fall from 1 to 0.25 per sample (÷4), for the same sectors: 4 sectors per request, 1 before",
    ),
    "load waste": (
        {"global_load_sectors": 80, "global_load_ideal_sectors": 40},
        {"global_load_sectors": 40, "global_load_ideal_sectors": 40},
        "loads is better: addresses of a warp are closer together, in 1 times the sectors",
    ),
    "store waste": (
        {"global_store_sectors": 40, "global_store_ideal_sectors": 40},
        {"global_store_sectors": 80, "global_store_ideal_sectors": 40},
        "stores is worse: addresses of a warp are farther apart, in 2 times the sectors",
    ),
    "memory": (
        {"global_store_sectors": 50},
        {"global_store_sectors": 25},
        "8 bytes per sample requested in sectors, 16 before",
    ),
    "bank conflicts": (
        {"shared_wavefronts": 320, "shared_ideal_wavefronts": 10},
        {"shared_wavefronts": 10, "shared_ideal_wavefronts": 10},
        "No more bank conflicts: shared memory took 32 times the wavefronts",
    ),
    "constant words": (
        {"constant_words": 10, "constant_requests": 10},
        {"constant_words": 50, "constant_requests": 10},
        "takes 5 words, served one after the other, 1 before",
    ),
    "atomics": ({"atomics": 100, "atomic_collisions": 90}, {"atomics": 100}, "vanish: 0.9 per sample before"),
    "local memory": ({}, {"local_sectors": 100}, "appear: 1 per sample"),
    "instructions": (
        {"warp_instructions": 100},
        {"warp_instructions": 80},
        "fall from 1 to 0.8 per sample (÷1.25): fewer",
    ),
    "lanes": (
        {"thread_instructions": 3200, "warp_instructions": 100},
        {"thread_instructions": 1600, "warp_instructions": 100},
        "of 32: 16 on average, 32 before",
    ),
    "divergence": ({"divergent_branches": 10}, {"divergent_branches": 20}, "rise from 0.1 to 0.2 per sample (×2)"),
    "occupancy": (
        {"occupancy": Occupancy(8, 32, 32, "warps")},
        {"occupancy": Occupancy(2, 8, 32, "shared memory")},
        "falls from 100% to 25%, limited by shared memory: fewer warps",
    ),
    "spills": ({}, {"resources": {"spill_store_bytes": 8, "spill_load_bytes": 4}}, "12 bytes per thread, 0 before"),
}


@pytest.mark.parametrize("rule", CHANGES)
def test_each_rule_speaks_from_its_counts(rule: str) -> None:
    before, after, words = CHANGES[rule]
    (found,) = [s for s in compare(_ray(**before), _ray(**after)) if s.rule == rule]
    assert words in found.text
    own = next(r for r in CHANGE_RULES if r.id == rule)
    assert set(found.evidence) == set(own.rests_on)
    assert all(len(pair) == 2 for pair in found.evidence.values())


def test_launches_are_counted() -> None:
    one = _ray(**PLAIN)
    two = replace(one, kernels=(*one.kernels, *one.kernels))
    assert _said(one, two)["launches"] == "Launches: 2, 1 before."


def test_every_rule_of_change_is_tried() -> None:
    assert {*CHANGES, "launches"} == {r.id for r in CHANGE_RULES}


ALONE: dict[str, tuple[dict[str, Any], str]] = {
    "memory": (
        {"global_load_sectors": 100},
        "32 bytes per sample are requested in sectors, and device memory must move only 8",
    ),
    "load waste": (
        {"global_load_sectors": 40, "global_load_ideal_sectors": 5},
        "loads are not fully coalesced: its addresses touch 8 times the sectors",
    ),
    "store waste": (
        {"global_store_sectors": 10, "global_store_ideal_sectors": 5},
        "stores are not fully coalesced: its addresses touch 2 times the sectors",
    ),
    "bank conflicts": ({"shared_wavefronts": 80, "shared_ideal_wavefronts": 10}, "takes 8 times the wavefronts"),
    "constant words": ({"constant_words": 40, "constant_requests": 10}, "constant-cache request asks for 4 words"),
    "lanes": ({"thread_instructions": 500, "warp_instructions": 100}, "only 5 of 32 on average"),
    "atomics": ({"atomics": 100, "atomic_collisions": 75}, "75% of the atomic operations"),
    "turns": (
        {"unsettled_requests": 200},
        "Unknown: 2 requests per sample depend on which thread comes first; a GPU may make more",
    ),
    "spills": (
        {"resources": {"spill_store_bytes": 64}, "spill_sectors": 200},
        "64 bytes per thread go to local memory: 2 sectors per sample.",
    ),
    "local memory": ({"local_sectors": 400}, "4 sectors per sample"),
    "occupancy": ({"occupancy": Occupancy(1, 4, 32, "registers")}, "Occupancy is 12%, limited by registers"),
}


@pytest.mark.parametrize("rule", ALONE)
def test_each_rule_about_one_variant(rule: str) -> None:
    totals, words = ALONE[rule]
    (found,) = [s for s in explain(_ray(**totals)) if s.rule == rule]
    assert words in found.text and set(found.evidence) == set(next(r for r in VARIANT_RULES if r.id == rule).rests_on)


def test_every_rule_about_one_variant_is_tried_and_can_be_silent() -> None:
    assert set(ALONE) == {r.id for r in VARIANT_RULES}
    fine = {"thread_instructions": 3200, "warp_instructions": 100, "atomics": 5, "global_store_sectors": 10}
    assert explain(_ray(Occupancy(8, 32, 32, "warps"), **fine, global_store_ideal_sectors=10)) == []


@pytest.mark.parametrize(
    "value, text",
    [
        (0, "0"),
        (1.0156, "1.02"),
        (5, "5"),
        (999, "999"),
        (999.7, "1k"),
        (163_840, "164k"),
        (2.5e6, "2.5M"),
        (3e9, "3G"),
    ],
)
def test_numbers_are_short(value: float, text: str) -> None:
    assert number(value) == text


# The command

SMALL = ["--sample", "noise", "--length", "3000", "--dtype", "float32"]


def _call(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str, str]:
    try:
        code = main(["xray", *args])
    except SystemExit as stop:
        code = int(stop.code or 0)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_source_with_counters_beside_it(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = _call(capsys, "mean", "shared", *SMALL)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    heading = next(n for n, line in enumerate(lines) if line.startswith("line "))  # the kernel's file, then headers
    at = lines[heading].index("source")
    source = find_filter("mean1d").variant("shared").kernels[0]
    text = (Path(__file__).parents[2] / "gpu_ops" / "kernels" / source).read_text().splitlines()
    shown = [line[at:] for line in lines[heading + 2 : heading + 2 + len(text)]]
    assert shown == [t.expandtabs(4) for t in text]
    titles = lines[heading].split()[1:-1]
    assert out.index("border.cuh  ") > out.index(text[-2].strip())
    assert {"instr", "lanes", "ld", "sec/ld", "idl/ld", "sh", "wav/sh", "const"} <= set(titles)
    assert lines[heading - 1].startswith("  compiled with: ") and "SAMPLE=float" in lines[heading - 1]
    assert not {"atom", "tex", "local", "tra/ld"} & set(titles)
    legend = {line.split()[0] for line in lines if line.startswith("  ") and line.split()}
    assert set(titles) <= legend
    for words in ("border.cuh  ", "» ", "occupancy 100%", "registers per thread", "findings: none"):
        assert words in out
    assert [line.split()[-2:] for line in lines if line.startswith("inner block")] == [["260", "260"]]


def test_the_top_of_the_ladder_unless_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert "\nscan, block 256" in _call(capsys, "mean1d", *SMALL)[1]
    # The last that takes it: a tile has at least 128 threads.
    assert "\nvector, block 64" in _call(capsys, "mean1d", *SMALL, "--block", "64")[1]
    assert "mean2d of camera" in _call(capsys, "mean", "--gpu", "sm_90")[1]


def test_two_variants_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = _call(capsys, "mean", "constant", "shared", *SMALL)
    assert code == 0 and "Global loads fall from 5 to 1.02 per sample" in out and "sample    " in out
    row = next(line for line in out.splitlines() if line.startswith("global loads of threads"))
    assert row.split()[-3:] == ["5", "1.02", "0.203"]


def test_large_inputs_are_cut_and_this_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    large = ["--sample", "noise", "--length", "70000", "--dtype", "float32"]
    out = _call(capsys, "mean", "constant", *large)[1]
    assert "simulated on the centre 65536 of 70000" in out and "65536 float32" in out
    whole = _call(capsys, "mean", "constant", *large, "--whole", "--counters", "sample")[1]
    assert "middle" not in whole and "70000 float32" in whole and "a sample of the blocks" in whole


def test_json_of_one_and_of_two(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    assert _call(capsys, "mean", "naive", *SMALL, "--json", str(path))[0] == 0
    one = json.loads(path.read_text())
    assert (one["schema"], one["variant"], one["kernels"][0]["name"]) == ("kernelscope-xray/1", "naive", "mean1d_naive")
    code, out, _ = _call(capsys, "mean", "naive", "constant", *SMALL, "--json", "-")
    both = json.loads(out)
    assert code == 0 and (both["before"]["variant"], both["after"]["variant"]) == ("naive", "constant")
    loads = next(s for s in both["sentences"] if s["rule"] == "loads")
    assert loads["evidence"]["global_load_threads"] == [10.0, 5.0]


def test_a_fault_gives_exit_code_3(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    kernel = tmp_path / "faulty.cu"
    kernel.write_text(find_wrong("mean1d.shared.missing_barrier").text())
    code, out, _ = _call(capsys, "mean", "shared", *SMALL, "--kernel", str(kernel))
    assert code == 3 and "error: faulty.cu:" in out and "read-after-write hazard" in out


def test_a_kernel_that_stops_itself_gives_exit_code_3(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source = Path(__file__).parents[2] / "gpu_ops" / "kernels" / "mean1d" / "1_naive.cu"
    kernel = tmp_path / "stops.cu"
    kernel.write_text(source.read_text().replace("A sum = 0;", "A sum = 0; if (e == 77) __trap();"))
    code, out, err = _call(capsys, "mean", "naive", *SMALL, "--kernel", str(kernel))
    assert code == 3 and "trap" in err and "first in thread 77 of block 0" in out


def test_the_older_rules(capsys: pytest.CaptureFixture[str]) -> None:
    out = _call(capsys, "mean", "constant", *SMALL, "--coalescing", "1.0")[1]
    assert "tra/ld" in out and "older rule: capability 1.0 and 1.1" in out and "global load transactions" in out


@pytest.mark.parametrize(
    "args, code, words",
    [
        (["mean", "scipy"], 2, "choose from naive, constant, shared"),
        (["mean", "nothing"], 2, "has no variant 'nothing'"),
        (["mean", "naive", "shared", "constant"], 2, "one variant, or two to compare, not 3"),
        (["mean", "naive", "shared", "--kernel", "x.cu"], 2, "--kernel replaces the first kernel"),
        (["mean", "--block", "17"], 2, "block must be"),
        (["mean", "--gpu", "sm_1"], 4, "it supports sm_75"),
    ],
)
def test_bad_arguments_are_told(capsys: pytest.CaptureFixture[str], args: list[str], code: int, words: str) -> None:
    found, _, err = _call(capsys, *args)
    assert found == code and words in err
