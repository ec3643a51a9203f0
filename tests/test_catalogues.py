"""The catalogues of counters and stages: whole, and the only place that knows their words."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
from sources import nodes

from gpu_ops import Experiment, Pick, from_array, recorded_reports, run_experiment
from gpu_ops.cli.tables import PRINTERS, value_text
from gpu_ops.counters import CATALOGUE, COLUMNS, COUNTERS, FIGURES, counter_name, in_order
from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.devices.sim.launch import Options
from gpu_ops.explaining.xray import xray
from gpu_ops.filters import find_filter
from gpu_ops.plan import Launch, Plan
from gpu_ops.stages import STAGES, stage_name

ROOT = Path(__file__).parent.parent
READERS = sorted([*(ROOT / "app").rglob("*.py"), *(ROOT / "gpu_ops" / "cli").rglob("*.py")])
MEASURING = sorted(p for room in ("running", "report", "explaining") for p in (ROOT / "gpu_ops" / room).rglob("*.py"))
FILE = "tests/all.cu"
EVERYTHING = """
__constant__ int taps[64];
__device__ int kept(int x) { int own[8]; for (int i = 0; i < 8; ++i) own[(x + i) & 7] = i * x; return own[x & 7]; }
extern "C" __global__ void all(int* __restrict__ y, const int* __restrict__ x)
{
    __shared__ int tile[64];
    const int i = threadIdx.x;
    tile[i] = x[i];
    __syncthreads();
    int sum = tile[63 - i] + taps[x[i] & 63] + kept(x[i]);
    if (x[i] & 1) atomicAdd(&tile[0], 1); else y[66 + atomicAdd(&y[1], 1)] = i;
    y[i + 2] = sum;
}
"""


def test_every_entry_is_whole() -> None:
    ids = [c.id for c in CATALOGUE]
    assert len(set(ids)) == len(ids) and len({c.name for c in CATALOGUE}) == len(ids)
    assert len({c.column for c in COLUMNS}) == len(COLUMNS)
    for c in CATALOGUE:
        assert c.name and c.unit and not c.description[0].islower() and c.description.endswith(".")
        assert {*c.parts, *c.over} <= set(COUNTERS) and (c.best == "" or c.best in COUNTERS)
        assert (c.hint == "ratio") == bool(c.over) and c.hint in PRINTERS
        assert (c.hint == "best") == ("_ideal_" in c.id)
    bests = {c.best for c in CATALOGUE}
    assert all(c.id in bests for c in COUNTERS.values() if c.hint == "best"), "each is shown beside another"
    for s in STAGES.values():
        assert s.name and s.column and s.unit == "s" and s.description.endswith(".") and s.hint in PRINTERS


def test_a_figure_is_made_of_its_parts() -> None:
    counts = {"shared_load_requests": 3, "shared_store_requests": 1, "shared_wavefronts": 10}
    assert FIGURES["shared_requests"].value(counts) == 4 and FIGURES["wavefronts_per_request"].value(counts) == 2.5
    assert FIGURES["wavefronts_per_request"].value({}) == 0 and COUNTERS["blocks"].value({"blocks": 7}) == 7
    assert [value_text(v, h) for v, h in ((12_345, "count"), (2.5, "ratio"), (2e-3, "duration"))] == [
        "12.3k",
        "2.5",
        "2 ms",
    ]


def test_what_a_newer_report_has_is_told_by_its_own_words_and_comes_last() -> None:
    assert counter_name("l1_wavefronts") == "l1 wavefronts" and stage_name("warm_start") == "warm start"
    assert counter_name("sectors_per_load") == "sectors per load request"
    assert in_order(["new_one", "blocks", "warp_instructions", "blocks"]) == ("warp_instructions", "blocks", "new_one")
    assert stage_name("kernel", "cpu") == "computing" and stage_name("kernel", "cuda:0") == "kernel"
    assert stage_name("upload", "cpu") == "upload"


def test_counts_of_accesses_are_unknown_in_a_line_that_depends_on_which_thread_comes_first() -> None:
    settled, unsettled = {"global_load_requests": 3}, {"global_load_requests": 3, "unsettled_requests": 1}
    unknown = {c.id for c in COLUMNS if c.is_unknown(unsettled)}
    assert {"sectors_per_load", "global_store_requests", "shared_requests", "atomics", "atomic_collisions"} < unknown
    assert not unknown & {"warp_instructions", "divergent_branches", "unsettled_requests", "texture_requests"}
    assert not any(c.is_unknown(settled) for c in COLUMNS)
    loads = COUNTERS["global_load_requests"]
    assert [loads.cell(counts, "{:.1f}".format) for counts in ({}, settled, unsettled)] == ["", "3.0", "?"]


def test_the_simulated_gpu_counts_what_is_in_the_catalogue_and_nothing_else() -> None:
    device = SimDevice("sm_75", Options(checks="off", counters="full", coalescing="1.0"))
    session = device.session({FILE: EVERYTHING})
    x, y = np.arange(64, dtype=np.int32) * 7, np.zeros(130, np.int32)
    launch = Launch(session.kernel(FILE, "all", {}), (1, 1, 1), (64, 1, 1), (session.upload(y), session.upload(x)))
    counted = set(session.execute(Plan((launch,), {})).counters)
    image = from_array(np.arange(64 * 40, dtype=np.uint8).reshape(64, 40), kind="image")
    box = find_filter("box")
    counted |= set(xray(box, box.variant("sliding_texture"), image, {}, {}).totals)
    layout, signal = find_filter("layout"), from_array(np.zeros(512, np.float32), kind="signal")
    counted |= set(xray(layout, layout.variant("spills"), signal, {}, {"block": 16, "live_values": 32}).totals)
    assert counted == set(COUNTERS) - {"samples"}, "a row knows them by its shape"


def test_a_run_has_stages_and_counters_of_the_catalogues() -> None:
    signal = from_array(np.arange(500, dtype=np.float32), kind="signal")
    picks = (Pick("serial", "cpu"), Pick("naive", "sim:sm_75"))
    runs = list(run_experiment(Experiment("mean1d", signal, {}, picks, "quick", "fast")))
    timed, counted = ([r for r in runs if r.pick.variant == p.variant and r.stage == "timed"][-1] for p in picks)
    assert "kernel" in timed.timings and set(timed.timings) <= set(STAGES)
    assert "warp_instructions" in counted.counters and set(counted.counters) <= set(COUNTERS)


def test_recorded_runs_of_a_gpu_have_the_stages_of_the_catalogue() -> None:
    found = {stage for report in recorded_reports().values() for row in report.rows for stage in row.stages}
    assert set(STAGES) - found <= {"elapsed_streamed"} and found <= set(STAGES)  # which is newer than the recordings


ASKS_FOR_A_STAGE = {
    *("stage", "seconds", "doubt", "speedup", "_stage", "_median", "_sure", "_time", "once"),
    *("stage_name", "stage_column", "stage_tip"),
}


def _stages_spelled(found: Iterable[ast.AST]) -> Iterator[str]:
    """Constants that are handed to what asks for a stage, or looked up among a row's stages or a run's timings."""
    for node in found:
        if isinstance(node, ast.Call):
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            among = isinstance(called, ast.Attribute) and name == "get" and _of_stages(called.value)
            if name in ASKS_FOR_A_STAGE or among:
                yield from _constants(
                    node.args[:2] if name in ("_median", "_sure", "_time", "speedup") else node.args[:1]
                )
            yield from (s for k in node.keywords if k.arg == "stage" for s in _constants([k.value]))
        elif isinstance(node, ast.Subscript) and _of_stages(node.value):
            yield from _constants([node.slice])
        elif isinstance(node, ast.Compare) and any(_of_stages(c) for c in node.comparators):
            yield from _constants([node.left])


def _strings(found: Iterable[ast.AST]) -> Iterator[str]:
    yield from (n.value for n in found if isinstance(n, ast.Constant) and isinstance(n.value, str))


@cache
def _spelled(path: Path, search: Callable[[Iterable[ast.AST]], Iterator[str]]) -> set[str]:
    return set(search(nodes(path)))


def _of_stages(node: ast.expr) -> bool:
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Constant) and node.slice.value == "stages"
    return getattr(node, "id", getattr(node, "attr", "")) in ("STAGES", "timings")


def _constants(nodes: list[ast.expr]) -> Iterator[str]:
    yield from (n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str))


def test_nobody_spells_a_stage_that_the_catalogue_does_not_have() -> None:
    other = {"computed", "verified", "timed"}  # how far a run is, which is called its stage as well
    for path in (*READERS, *MEASURING):
        assert _spelled(path, _stages_spelled) - other <= set(STAGES), path


def test_the_search_for_stages_finds_them() -> None:
    code = 'entry.seconds("a"); row["stages"].get("b"); "c" in row["stages"]; run.timings["d"]; _median(row, "e")'
    assert sorted(_stages_spelled(ast.walk(ast.parse(code)))) == ["a", "b", "c", "d", "e"]
    found = {s for path in READERS for s in _spelled(path, _stages_spelled)}
    assert {"kernel", "elapsed", "elapsed_pinned"} <= found


RESOURCES = {"shared_bytes", "constant_bytes", "stack_bytes", "spill_store_bytes", "spill_load_bytes"}
"""Of a compiled kernel: these are no counters."""
COUNTER = re.compile(
    r"(global|shared|local|spill|constant|texture|warp|thread|divergent|atomic|unsettled|block_loads|ideal)_[a-z_]+|atomics"
)


def test_nobody_spells_a_counter_that_the_catalogue_does_not_have() -> None:
    for path in READERS:
        spelled = {s for s in _spelled(path, _strings) if COUNTER.fullmatch(s)}
        assert spelled - RESOURCES <= {c.id for c in CATALOGUE}, path


def test_every_counter_looks_like_one() -> None:
    assert {id for id in COUNTERS if not COUNTER.fullmatch(id)} == {"launches", "blocks", "samples"}


def test_names_are_written_in_the_catalogues_alone() -> None:
    """What has a name of several words is not called by it anywhere else."""
    names = {name for name in (*(c.name for c in CATALOGUE), *(s.name for s in STAGES.values())) if " " in name}
    for path in READERS:
        assert not names & _spelled(path, _strings), path
