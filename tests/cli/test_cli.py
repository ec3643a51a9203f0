"""The command line as a person uses it: what it prints, writes and returns."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from wrong import find_wrong

from gpu_ops.cli import main
from gpu_ops.cli.occupied import Place
from gpu_ops.devices import cuda_devices
from gpu_ops.doctor import machine
from gpu_ops.doctor.machine import EXTRAS, examine, transfers_text
from gpu_ops.io import SAMPLES, load, save
from gpu_ops.own_kernels import checking
from gpu_ops.report.rows import Row
from gpu_ops.running.contract import Case, covering_cases
from gpu_ops.types import Timing

NO_GPU = pytest.mark.skipif(cuda_devices()[0].available, reason="this machine has a CUDA device")
ROOT = Path(__file__).parents[2]
CPU = ["--device", "cpu"]
SMALL = ["--sample", "noise", "--length", "3000", "--dtype", "float64", *CPU]


def call(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a call."""
    try:
        code = main(args)
    except SystemExit as stop:  # argparse leaves so
        code = int(stop.code or 0)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def call_json(capsys: pytest.CaptureFixture[str], *args: str) -> dict[str, Any]:
    code, out, err = call(capsys, *args, "--json", "-")
    assert code == 0, err
    return json.loads(out)


def test_list_names_filters_variants_parameters_and_samples(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "list")
    assert code == 0
    for word in ("mean1d", "mean2d", "shared", "--window", "--border", "--block", "camera", "noise"):
        assert word in out
    for id, title in ((s.id, s.title) for s in SAMPLES):
        assert re.search(rf"^  {id}  +{re.escape(title)}$", out, re.M), "a column is wide enough for all its words"
    found = call_json(capsys, "list", "mean1d")
    assert [f["id"] for f in found["filters"]] == ["mean1d"]
    naive = next(v for v in found["filters"][0]["variants"] if v["id"] == "naive")
    assert naive["kernels"]["mean1d/1_naive.cu"]["Idea"]


def test_run_verifies_and_saves(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "out.npy"
    code, out, err = call(capsys, "run", "mean", *SMALL, "--window", "7", "--border", "wrap", "--output", str(path))
    assert (code, "right" in out) == (0, True), out + err
    assert "parallel on cpu" in err
    assert np.load(path).shape == (3000,)


def test_run_takes_files_of_either_kind(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    image, signal = tmp_path / "in.png", tmp_path / "in.txt"
    save(image, np.random.default_rng(0).integers(0, 255, (20, 30, 3), dtype=np.uint8))
    save(signal, np.arange(50.0))
    result = tmp_path / "out.png"
    assert call(capsys, "run", "mean", "--input", str(image), *CPU, "--output", str(result))[0] == 0
    assert load(result).array.shape == (20, 30, 3)
    assert "mean1d of " in call(capsys, "run", "mean", "--input", str(signal), *CPU)[1]


def test_run_reports_all_variants_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    found = call_json(capsys, "run", "mean", *SMALL, "--variant", "serial", "scipy")
    assert found["schema"] == "kernelscope-report/2"
    assert [(r["variant"], r["ok"]) for r in found["runs"]] == [("serial", True), ("scipy", True)]
    assert found["provenance"]["cpu"]


def test_bench_prints_the_table_with_published_figures(capsys: pytest.CaptureFixture[str]) -> None:
    args = [
        "--sample",
        "noise",
        "--length",
        "10000000",
        "--dtype",
        "float64",
        "--window",
        "5",
        "--border",
        "zero",
        *CPU,
    ]
    code, out, err = call(capsys, "bench", "mean", *args, "--variant", "serial", "parallel", "--quick")
    assert code == 0, err
    assert "S4 published" in out and "215 ms" in out
    assert "The fair comparison" in out and "CPU, one core" in out
    assert "× serial" in out


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever else this machine does, its times are taken for good: what is said of doubt is tested elsewhere."""
    monkeypatch.setattr("gpu_ops.running.timing.doubt", lambda samples, others=None: "")


def test_bench_writes_after_rows_and_resumes(capsys: pytest.CaptureFixture[str], tmp_path: Path, quiet: None) -> None:
    path = tmp_path / "report.json"
    args = ["bench", "mean", *SMALL, "--quick", "--json", str(path)]
    assert call(capsys, *args, "--variant", "serial")[0] == 0
    first = json.loads(path.read_text())["runs"]
    assert call(capsys, *args, "--variant", "serial", "scipy")[0] == 0
    second = json.loads(path.read_text())
    assert [r["variant"] for r in second["runs"]] == ["serial", "scipy"]
    assert second["runs"][0]["stages"] == first[0]["stages"]
    assert second["runs"][1]["speedup"]["against"] == "serial on cpu"
    assert len(second["provenance"]["earlier"]) == 1


def test_a_budget_of_nothing_measures_nothing_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = call(capsys, "bench", "mean", *SMALL, "--variant", "serial", "--quick", "--budget", "0")
    assert code == 0
    assert "give --json FILE to resume" in err


def test_sweep_measures_the_product(capsys: pytest.CaptureFixture[str]) -> None:
    args = ["--sample", "noise", *CPU, "--variant", "serial", "naive", "--quick", "--gpu", "sm_90"]
    found = call_json(capsys, "sweep", "mean", *args, "--over", "window=3,5", "--over", "length=1000,2000")
    assert [(r["params"]["window"], r["shape"]) for r in found["runs"]] == [
        (w, [n]) for w in (3, 5) for n in (1000, 2000)
    ]
    assert [(p["variant"], p["params"]["window"], p["most_warps"]) for p in found["occupancy"]] == [
        ("naive", w, 64) for w in (3, 3, 5, 5)
    ]


def test_a_sweep_of_blocks_tells_occupancy_with_no_gpu_at_all(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = ["sweep", "layout", "--sample", "noise", "--length", "1000", "--over", "block=64,96,100,192"]
    code, out, err = call(capsys, *blocks, "--variant", "order", "--device", "cpu", "--gpu", "sm_75")
    assert code == 0 and "Nothing here runs order, so there are no times" in err
    assert "Theoretical occupancy of order on sm_75" in out and "kernel time" not in out
    figures = {line.split()[0]: line.split()[5:9] for line in out.splitlines() if line.strip()[:1].isdigit()}
    assert "choose --gpu from sm_75" in call(capsys, *blocks, "--gpu", "sm_1")[2]
    assert figures["96"] == ["32", "94%", "960", "of"] and figures["100"] == ["32", "100%", "800", "of"]
    found = call_json(capsys, *blocks, "--variant", "order", "spills", "--device", "cpu", "--gpu", "sm_75", "sm_90")[
        "occupancy"
    ]
    assert len(found) == 2 * 2 * 4 and {p["variant"] for p in found} == {"order", "spills"}
    (place,) = (p for p in found if (p["variant"], p["architecture"], p["knobs"]) == ("order", "sm_90", {"block": 192}))
    assert (place["warps"], place["most_warps"], place["resident_threads"]) == (60, 64, 1920)


def test_the_time_of_a_place_is_that_of_its_own_device_and_knobs() -> None:
    timing = Timing("kernel", "cuda-event", 2e-6, 1e-6, 3e-6, 1e-6, 9, "stable", "stream")
    row = Row(
        "layout", "order", "cuda:0", {"gain": 2.0}, {"block": 96}, (1000,), "float32", "stream", {"kernel": timing}
    )
    place = Place("order", "sm_90", {"block": "96"}, {}, {"block": 96}, (1000,), "float32", None)
    assert place.seconds([row], {"cuda:0": "sm_90"}) == 2e-6
    assert place.seconds([row], {"cuda:0": "sm_75"}) is None
    assert replace(place, knobs={"block": 192}).seconds([row], {"cuda:0": "sm_90"}) is None


def test_claims_are_printed_with_published_found_and_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "claims")
    assert code == 0
    for word in (
        "S4-table",
        "mean filter on ten million samples",
        "published",
        "predicted",
        "counted",
        "holds?",
        "naive 5120/5114",
    ):
        assert word in out
    found = {c["id"]: c for c in call_json(capsys, "claims")["claims"]}
    assert found["S4-loads"]["holds"] is True


def test_compile_shows_registers_of_every_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    found = call_json(capsys, "compile", "mean1d/1_naive.cu", "measure/copy.cu", "--gpu", "sm_90")["kernels"]
    assert {r["kernel"] for r in found} == {"mean1d/1_naive.cu mean1d_naive", "measure/copy.cu copy16"}
    assert {r["dtype"] for r in found} == {"uint8", "uint16", "float32", "float64", "–"}
    assert all(r["registers"] > 0 for r in found)


def test_doctor_says_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "doctor", "--skip-roofs")
    assert code == 0
    for word in ("processor", "cuda:0", "NVRTC", "numpy"):
        assert word in out
    state = examine(with_roofs=False)
    assert state["cpu"] == next(device["model"] for device in state["devices"] if device["name"] == "cpu")


def test_doctor_has_a_line_for_each_extra(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """The table has the packages of pyproject.toml, but those of CuPy and of tests."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    own = {name: extra for name, extra in extras.items() if name not in ("cuda12", "cuda13", "test")}
    assert own.keys() == EXTRAS.keys()
    for name, extra in EXTRAS.items():
        assert set(extra.packages) <= {re.split("[>=;]", package)[0] for package in own[name]}
        assert sys.platform != "linux" or len(extra.packages) == len(own[name])
    there = machine.version
    monkeypatch.setattr(
        machine, "version", lambda name: "7.8" if name in ("h5py", "zarr") else there("no such " + name)
    )
    _, out, _ = call(capsys, "doctor", "--skip-roofs")
    lines = {line.split()[0]: line for line in out.partition("extras ")[2].splitlines()[1:] if line.strip()}
    assert "h5py 7.8, zarr 7.8" in lines["science"] and "install" not in lines["science"]
    assert "distributed missing" in lines["batch"] and "kernelscope[batch]" in lines["batch"]
    assert "anywidget missing" in lines["notebook"] and "kernelscope[notebook]" in lines["notebook"]


@pytest.mark.parametrize(
    ("engines", "managed", "peers", "words"),
    [
        (3, True, ["cuda:1"], "3 copy engines; kernels beside copies of both directions; pinned memory is mapped; "
         "managed pages migrate on access; peers cuda:1"),
        (1, False, [], "1 copy engine; kernels beside copies of one direction; pinned memory is mapped; managed memory "
         "migrates as a whole; no peer"),
        (0, False, [], "no copies beside kernels; pinned memory is mapped; managed memory migrates as a whole; "
         "no peer"),
    ],
)  # fmt: skip
def test_what_the_copies_of_a_gpu_can_do(engines: int, managed: bool, peers: list[str], words: str) -> None:
    known = {"copy_engines": engines, "mapped": True, "portable": False, "managed": managed, "peers": peers}
    assert transfers_text(known) == words


def test_doctor_names_the_libraries_of_variants_that_are_missing(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    spec = importlib.util.find_spec
    gone = {"cuda", "cvcuda", "nvmath", "torch"}

    def found(name: str) -> Any:
        if name == "cuda.compute":
            raise ModuleNotFoundError("No module named 'cuda'")
        return None if name in gone else spec(name)

    monkeypatch.setattr(importlib.util, "find_spec", found)
    state = examine(with_roofs=False)
    assert {"torch", "cuda.compute", "cvcuda", "nvmath"} <= state["not_installed"].keys()
    assert "numpy" not in state["not_installed"] and "cuda-cccl" in state["not_installed"]["cuda.compute"]
    _, out, _ = call(capsys, "doctor", "--skip-roofs")
    for package in ("cuda-cccl[cu13]", "cvcuda-cu13", "nvmath-python[cu13]"):
        assert f"install {package}" in out


def test_doctor_measures_roofs(capsys: pytest.CaptureFixture[str]) -> None:
    found = call_json(capsys, "doctor")
    assert found["roofs"]["cpu"]["copy_bytes_s"] > 1e8


BAD: list[tuple[list[str], int, str]] = [
    (["run", "meen", *CPU], 2, "no filter 'meen'; choose from mean"),
    (["run", "mean", *SMALL, "--window", "4"], 2, "window must be an integer from 3 to 4095 in steps of 2, not '4'"),
    (["run", "mean", *SMALL, "--border", "mirror"], 2, "border must be one of zero, reflect, nearest, wrap"),
    (["run", "mean", "--sample", "noise", "--length", "4", *CPU], 2, "window 5 is longer than the signal of 4 samples"),
    (["run", "mean", "--sample", "noise", "--length", "1", *CPU], 2, "load a signal of at least 3 samples"),
    (["run", "mean", "--sample", "noise", "--length", "0", *CPU], 2, "length must be"),
    (["run", "mean", *SMALL, "--variant", "fast"], 2, "no variant 'fast'; choose from serial, parallel"),
    (["run", "mean", *SMALL, "--variant", "naive"], 2, "naive of mean1d does not run on cpu; choose from"),
    (["run", "mean", "--input", "nowhere.png", *CPU], 2, "nowhere.png"),
    (["run", "mean", "--sample", "camera", "--length", "9", *CPU], 2, "Sample camera has no option 'length'"),
    (["run", "mean", *SMALL[:-2], "--device", "tpu"], 4, "no device 'tpu'; choose cpu, sim"),
    (["run", "mean", *SMALL, "--output", "out.xyz"], 2, ".xyz"),
    (["sweep", "mean", *SMALL, "--over", "window"], 2, "not NAME=V1,V2"),
    (
        ["bench", "mean", *SMALL, "--block", "20", "--quick"],
        2,
        "block must be an integer from 16 to 1024 in steps of 16",
    ),
    (["compile", "mean1d/9.cu"], 2, "No kernel is called mean1d/9.cu"),
    (["compile", "--gpu", "sm_20"], 4, "it supports sm_75"),
    (["claims", "--report", "nowhere.json"], 2, "nowhere.json does not exist"),
    (["run"], 2, "FILTER"),
    (["fly"], 2, "invalid choice"),
]


@pytest.mark.parametrize("args, code, words", BAD, ids=lambda v: " ".join(v) if isinstance(v, list) else None)
def test_bad_input_gets_one_clear_sentence(
    capsys: pytest.CaptureFixture[str], args: list[str], code: int, words: str
) -> None:
    found, out, err = call(capsys, *args)
    assert found == code
    assert words in err
    assert "Traceback" not in err + out


@NO_GPU
@pytest.mark.parametrize("command", ["run", "bench"])
def test_a_missing_gpu_is_said_with_its_reason(capsys: pytest.CaptureFixture[str], command: str) -> None:
    code, _, err = call(capsys, command, "mean", *SMALL[:-2], "--device", "cuda:0")
    assert code == 4
    assert "Device cuda:0 is not available" in err


KERNELS = [
    ('extern "C" __global__ void mean1d_naive(float* x) { y[0] = 1; }', 2, 'identifier "y" is undefined'),
    ('extern "C" __global__ void mine(float* x) { x[0] = 1; }', 2, 'no kernel "mean1d_naive" (found: mine)'),
    ('extern "C" __global__ void mean1d_naive(float* x) { x[0] = 1; }', 2, "takes 1 argument"),
    (
        '#include "mean.cuh"\nextern "C" __global__ void __launch_bounds__(32) mean1d_naive(const T* x, T* y,'
        " const A* taps, long long n, int window) { y[0] = x[0]; }",
        2,
        "allowed are 1 to 32",
    ),
]


@pytest.mark.parametrize("text, code, words", KERNELS, ids=["does not compile", "name", "arguments", "block"])
def test_a_kernel_that_cannot_work_is_refused_before_any_gpu_is_needed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, code: int, words: str
) -> None:
    path = tmp_path / "mine.cu"
    path.write_text(text)
    found, _, err = call(capsys, "run", "mean1d", "--kernel", str(path))
    assert found == code
    assert words in err


def test_a_kernel_for_an_input_that_its_variant_does_not_take_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "mine.cu"
    path.write_text(find_wrong("layout.tiles.missing_barrier").text())
    code, _, err = call(capsys, "run", "layout", "--variant", "tiles", "--kernel", str(path))
    assert code == 2
    assert "layout tiles does not take ecg: its layout is one of float32, not of float64." in err


@pytest.fixture
def some_cases(monkeypatch: pytest.MonkeyPatch) -> list[Case]:
    """One case of the contract in eight, of those that a kernel was held to."""
    found: list[Case] = []

    def some(*args: Any, **most: Any) -> list[Case]:
        found[:] = covering_cases(*args, **most)[::8]
        return list(found)

    monkeypatch.setattr(checking, "covering_cases", some)
    return found


@NO_GPU
def test_without_a_gpu_a_kernel_is_held_to_the_contract_on_the_simulated_one(
    capsys: pytest.CaptureFixture[str], some_cases: list[Case]
) -> None:
    from gpu_ops.devices.kernel_source import KERNELS as folder

    path = folder / "mean1d" / "1_naive.cu"
    code, out, _ = call(capsys, "run", "mean1d", "--variant", "naive", "--kernel", str(path))
    assert code == 0
    right, total = re.search(r"on sim: (\d+) of (\d+) cases right", out).groups()  # type: ignore[union-attr]
    assert int(right) == int(total) == len(some_cases) >= 9


@NO_GPU
def test_a_faulty_kernel_is_named_with_its_line_on_the_simulated_gpu(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, some_cases: list[Case]
) -> None:
    path = tmp_path / "faulty.cu"
    path.write_text(find_wrong("mean1d.shared.missing_barrier").text())
    code, out, _ = call(capsys, "run", "mean1d", "--variant", "shared", "--kernel", str(path))
    assert code == 3
    assert "faulty.cu:31: read-after-write hazard" in out


def test_nothing_is_saved_of_a_bad_run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "kept.npy"
    np.save(path, np.arange(3))
    assert call(capsys, "run", "mean", *SMALL, "--window", "4", "--output", str(path))[0] == 2
    assert np.load(path).tolist() == [0, 1, 2]
    assert [p.name for p in tmp_path.iterdir()] == ["kept.npy"]


def test_a_preset_sets_parameters_and_flags_win(capsys: pytest.CaptureFixture[str]) -> None:
    args = ["run", "conv3x3", "--sample", "chart", *CPU, "--variant", "serial", "--preset", "mean"]
    (run,) = call_json(capsys, *args)["runs"]
    assert (run["ok"], run["params"]["matrix"], run["params"]["divisor"]) == (True, [1.0] * 9, 9.0)
    (run,) = call_json(capsys, *args, "--divisor", "4", "--border", "wrap")["runs"]
    assert (run["params"]["matrix"], run["params"]["divisor"], run["params"]["border"]) == ([1.0] * 9, 4.0, "wrap")
    code, _, err = call(capsys, *args[:-1], "blurr")
    assert code != 0 and "choose from identity, mean" in err
    listed = call_json(capsys, "list", "conv3x3")["filters"][0]["presets"]
    assert listed["mean"] == {"matrix": [1.0] * 9, "divisor": 9.0, "offset": 0.0}
    assert "--preset sobel-x" in call(capsys, "list", "conv3x3")[1]


def test_compile_takes_what_each_variant_supports(capsys: pytest.CaptureFixture[str]) -> None:
    files = [f"conv3x3/{name}.cu" for name in ("2_rgba", "8_texture", "9_fused")]
    found = call_json(capsys, "compile", *files, "--gpu", "sm_75")["kernels"]
    dtypes = {name: {r["dtype"] for r in found if name in r["kernel"]} for name in ("rgba_pad", "texture", "fused")}
    assert dtypes["rgba_pad"] == dtypes["fused"] == {"uint8", "uint16", "float32", "float64"}
    assert dtypes["texture"] == {"uint8", "uint16", "float32"}


def test_a_knob_that_a_variant_cannot_take_leaves_it_out_unless_it_was_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    small = ("--sample", "noise", "--length", "300", "--device", "sim", "--block", "64")
    code, out, err = call(capsys, "bench", "mean1d", *small, "--budget", "0")
    assert "left out: scan: block must be one of 128" in err
    code, out, err = call(capsys, "run", "mean1d", *small, "--variant", "scan")
    assert code == 2 and "scan: block must be one of 128" in err
    code, out, err = call(capsys, "run", "mean1d", *small[:-1], "1", "--variant", "naive")
    assert code == 2 and "block must be" in err
