"""How to mend findings: advice on each kind, and shipped lines that exist and have no such fault."""

from __future__ import annotations

import ast
import json
from functools import cache
from pathlib import Path

import pytest

from gpu_ops import sample
from gpu_ops.cli import main
from gpu_ops.devices.kernel_source import header_files, read_source
from gpu_ops.devices.sim.findings import WITHIN
from gpu_ops.devices.sim.races import BETWEEN, GLOBAL, UNFENCED
from gpu_ops.devices.sim.scheduling.waiting import VAIN
from gpu_ops.engine.xrays import broken
from gpu_ops.errors import KernelError
from gpu_ops.explaining.sentences import VARIANT_RULES
from gpu_ops.explaining.xray import xray
from gpu_ops.filters import FILTERS
from gpu_ops.own_kernels.checking import SAMPLES, Check, report_of
from gpu_ops.own_kernels.mending import COSTS, FAULTS, Example, advice_on, kinds_of, mending
from gpu_ops.plan import Finding

SIMULATOR = Path(__file__).parents[2] / "gpu_ops" / "devices" / "sim"
ORDERS = ("read-after-write", "write-after-read", "write-after-write", "atomic-after-read", "read-after-atomic")
HAZARDS = [f"{o} hazard{e}" for o in ORDERS for e in ("", WITHIN, GLOBAL, BETWEEN, UNFENCED, " in a cluster")]
EXAMPLES = [(words, one) for words, advice in (*FAULTS, *COSTS.items()) for one in advice.examples]
RACY = """__global__ void shift(const float* in, float* out)
{
    __shared__ float s[64];
    s[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = s[63 - threadIdx.x];
}
"""


def _literal_kinds() -> set[str]:
    """The kinds that the simulator's modules name where they add a finding."""
    found = set()
    for path in SIMULATOR.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add":
                first = node.args[0] if node.args else None
                if isinstance(first, ast.Constant) and "findings" in ast.unparse(node.func):
                    found.add(first.value)
    return found


def test_there_is_advice_on_every_kind_of_finding() -> None:
    literal = _literal_kinds()
    assert {"out of bounds", "barrier deadlock", "uninitialised read", "not ended"} <= literal
    kinds = [*literal, *HAZARDS, VAIN, "trap", "assertion failed"]
    assert [kind for kind in kinds if advice_on(kind) is None] == []
    assert {rule.id for rule in VARIANT_RULES} == {*COSTS}, "each sentence of one variant has advice"
    assert all(any(advice_on(kind) is advice for kind in kinds) for _, advice in FAULTS), "none is hidden by another"


def test_what_is_advised_fits_the_fault() -> None:
    def text(kind: str) -> str:
        advice = advice_on(kind)
        assert advice is not None
        return advice.text

    assert "__syncthreads()" in text("read-after-write hazard") and "__syncwarp()" not in text(
        "read-after-write hazard"
    )
    assert "__syncwarp()" in text(f"write-after-read hazard{WITHIN}")
    assert "__threadfence()" in text(f"read-after-write hazard{UNFENCED}")
    assert "two launches" in text(f"write-after-read hazard{BETWEEN}")
    assert "cluster.sync()" in text("read-after-write hazard in a cluster")


@pytest.mark.parametrize(("words", "example"), EXAMPLES, ids=lambda part: getattr(part, "path", part))
def test_the_line_of_an_example_is_in_a_file_of_its_variant(words: str, example: Example) -> None:
    assert example.text in example.source and example.line > 0
    variant = FILTERS.find(example.filter).variant(example.variant)
    own = {file: read_source(file) for file in variant.kernels}
    assert example.path in {*own, *header_files(own).values()}


def test_a_line_that_is_gone_is_no_line() -> None:
    with pytest.raises(LookupError, match="has no line with no such text"):
        _ = Example("mean1d", "shared", "no such text").line


@cache
def _kinds(filter: str, variant: str) -> list[str]:
    found = FILTERS.find(filter)
    name, options = SAMPLES[found.accepts]
    return kinds_of(xray(found, found.variant(variant), sample(name, **options), {}, {}, "sm_80"))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "example"),
    {(w, e.path): (w, e) for w, e in EXAMPLES}.values(),
    ids=lambda part: getattr(part, "path", part),
)
def test_the_example_of_a_fault_does_not_have_it(words: str, example: Example) -> None:
    assert [kind for kind in _kinds(example.filter, example.variant) if words in kind] == []


def test_advice_is_given_once_with_the_example_of_the_filter() -> None:
    one, other = mending(["read-after-write hazard", "out of bounds", "write-after-read hazard"], "mean2d")
    assert one["kinds"] == ["read-after-write hazard", "write-after-read hazard"]
    assert (one["example"]["filter"], one["example"]["source"]) == ("mean2d", "__syncthreads();")
    assert other["example"]["line"] == 1 + read_source("mean2d/1_naive.cu")[
        : read_source("mean2d/1_naive.cu").index("if (e >= width")
    ].count("\n")
    assert mending(["block may have ended"])[0]["example"] is None and mending(["no such kind"]) == []


def test_xray_says_how_to_mend_on_request(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "shift.cu"
    file.write_text(RACY)
    launch = ["xray", str(file), "--block", "64", "--arg", "random:float32:64", "--arg", "empty:float32:64"]
    assert main(launch) == 3
    assert "how to mend" not in capsys.readouterr().out
    assert main([*launch, "--mend", "--json", str(tmp_path / "x.json")]) == 3
    text = capsys.readouterr().out
    assert "\nhow to mend\n  read-after-write hazard: Put __syncthreads()" in text
    assert "    Mean (signal), 3 constant + shared, mean1d/3_shared.cu:28:  __syncthreads();\n" in text
    found = json.loads((tmp_path / "x.json").read_text())["mending"]
    assert found == mending(["read-after-write hazard"])


def test_xray_of_a_filter_and_of_a_kernel_that_stops_say_it_too(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "mine.cu"
    shipped = read_source("mean1d/3_shared.cu")
    file.write_text(shipped.replace("__syncthreads();", ""))
    job = ["xray", "mean1d", "shared", "--sample", "noise", "--length", "600", "--kernel", str(file), "--mend"]
    assert main(job) == 3
    assert "read-after-write hazard: Put __syncthreads()" in capsys.readouterr().out
    file.write_text(shipped.replace("__syncthreads();", "if (threadIdx.x < 40) __syncthreads(); else assert(0);"))
    assert main(job) == 3
    assert "assertion failed: Print the values" in capsys.readouterr().out


def test_a_kernel_that_stops_is_answered_with_advice() -> None:
    error = KernelError("mine.cu:4: the kernel took more than 6 s.")
    place = ("k", "mine.cu", 4, (), 1, (0, 0, 0), (0, 0, 0), "the kernel loops in line 4")
    error.findings = (Finding("out of bounds", "error", *place), Finding("not ended", "error", *place))
    answer = broken(error)
    assert answer["broken"].startswith("mine.cu:4: the kernel took more than 6 s. Let every round change what")
    assert "Compare the index" not in answer["broken"] and len(answer["problems"]) == 2
    assert broken(KernelError("mine.cu has no kernel."))["broken"] == "mine.cu has no kernel."


def test_check_says_it_in_its_reports(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = Check("mean1d", "shared", contract=False)
    shipped = read_source("mean1d/3_shared.cu")
    wrong = check.verdict("mine.cu", shipped.replace("__syncthreads();", ""))
    right = check.verdict("right.cu", shipped)
    assert (wrong.kinds, right.kinds) == (("read-after-write hazard",), ())
    report = report_of(check, [wrong, right])
    assert report["mending"] == mending(wrong.kinds, "mean1d") and report["files"][0]["kinds"] == list(wrong.kinds)
    gated = Check("mean1d", "shared", contract=False, gate="sectors_per_load <= 4.5").verdict("mine.cu", shipped)
    assert "load waste" in gated.kinds, "what costs time is advised on where a condition is not met"
    monkeypatch.setattr("gpu_ops.cli.own.check.check_files", lambda check, texts, jobs: iter([wrong]))
    file, page = tmp_path / "mine.cu", tmp_path / "report.html"
    file.write_text("text")
    assert main(["check", "mean1d", str(file), "--variant", "shared", "--mend", "--html", str(page)]) == 3
    assert "\nhow to mend\n  read-after-write hazard: Put __syncthreads()" in capsys.readouterr().out
    assert "how to mend it" in page.read_text() and "mean1d/3_shared.cu:28:  __syncthreads();" in page.read_text()
