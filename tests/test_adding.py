"""What it costs to add a variant and a filter, through the same door as everybody: a copy of the product, the new files
in their places, and the product's own commands."""

from __future__ import annotations

import filecmp
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TOYS = Path(__file__).parent / "toys"
CONTRACT = """
import sys
from gpu_ops.devices import open_device
from gpu_ops.filters import find_filter
from gpu_ops.measuring.contract import SIMULATED_WORK, check_case, covering_cases
name, variant, device = sys.argv[1:]
filter = find_filter(name)
variant = filter.variant(variant)
cases = covering_cases(filter, variant, open_device(device).limits, most_work=SIMULATED_WORK)
runs = [check_case(filter, variant, case, device, {}) for case in cases]
print(len(runs), [str(run.failure or run.findings) for run in runs if not run.ok])
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the product."""
    for package in ("gpu_ops", "app"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "resources").symlink_to(ROOT / "resources")
    return tmp_path


def places(tree: Path) -> list[str]:
    """The files that are new or changed."""
    found = []
    for path in sorted(p for package in ("gpu_ops", "app") for p in (tree / package).rglob("*") if p.is_file()):
        name = path.relative_to(tree)
        if "__pycache__" not in name.parts and not (
            (ROOT / name).is_file() and filecmp.cmp(path, ROOT / name, shallow=False)
        ):
            found.append(name.as_posix())
    return found


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1, f"{old!r} in {path.name}"
    path.write_text(text.replace(old, new))


def did(tree: Path, *args: str, code: int = 0) -> str:
    """What a command of the copy says."""
    env = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(tree)}
    done = subprocess.run([sys.executable, *args], cwd=tree, capture_output=True, text=True, timeout=240, env=env)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def add_variant(tree: Path) -> None:
    kernels = tree / "gpu_ops" / "kernels" / "mean1d"
    text = (kernels / "2_constant.cu").read_text()
    (kernels / "6_again.cu").write_text(text.replace("mean1d_constant", "mean1d_again"))
    edit(
        tree / "gpu_ops" / "filters" / "mean" / "__init__.py",
        '        cuda("mean1d/4_vector.cu"',
        '        cuda("mean1d/6_again.cu", "again", "A toy.", plans.signal(True), accesses=constant, **kernel),\n'
        '        cuda("mean1d/4_vector.cu"',
    )


def add_filter(tree: Path) -> None:
    filters, kernels = tree / "gpu_ops" / "filters", tree / "gpu_ops" / "kernels" / "toy"
    kernels.mkdir()
    shutil.copy(TOYS / "1_atomics.cu", kernels)
    shutil.copy(TOYS / "toy.py", filters)
    names = filters / "__init__.py"
    edit(names, "CONV3X3))", "CONV3X3, TOY))")
    edit(names, "from gpu_ops.types import", "from gpu_ops.filters.toy import TOY\nfrom gpu_ops.types import")


def test_a_variant_is_a_kernel_file_and_one_entry(tree: Path) -> None:
    add_variant(tree)
    assert places(tree) == ["gpu_ops/filters/mean/__init__.py", "gpu_ops/kernels/mean1d/6_again.cu"]
    assert "again       cuda  A toy." in did(tree, "-m", "gpu_ops", "list", "mean1d")
    told = did(tree, "-m", "gpu_ops", "run", "mean1d", "--variant", "again", "--device", "sim")
    assert "again" in told and "right" in told
    assert "1 sample read" in did(tree, "-m", "gpu_ops", "xray", "mean1d", "again")
    count, wrong = did(tree, "-c", CONTRACT, "mean1d", "again", "sim").split(maxsplit=1)
    assert int(count) >= 25 and wrong.strip() == "[]"


def test_a_filter_is_a_module_its_kernels_and_its_name(tree: Path, tmp_path: Path) -> None:
    add_filter(tree)
    assert places(tree) == [
        "gpu_ops/filters/__init__.py",
        "gpu_ops/filters/toy.py",
        "gpu_ops/kernels/toy/1_atomics.cu",
    ]
    listed = json.loads(did(tree, "-m", "gpu_ops", "list", "toy", "--json", "-"))["filters"][0]
    assert [v["title"] for v in listed["variants"]] == ["CPU, one core", "1 global atomics"]
    saved = ("--output", "counts=bars.csv", "--output", "total=sum.txt", "--bins", "4")
    for device in ("cpu", "sim"):
        told = did(tree, "-m", "gpu_ops", "run", "toy", "--sample", "camera", "--device", device, *saved)
        assert "counts  4 bars over value 0 … 256, 262144 samples" in told and "right" in told
        assert f"total   {told.split('total   ')[1].split()[0]} levels" in told
        lines = (tree / "bars.csv").read_text().splitlines()
        assert lines[0] == "from,to,value (samples)" and lines[1].startswith("0.0,64.0,") and len(lines) == 5
        assert int((tree / "sum.txt").read_text()) == 33832495
    for variant, device in (("serial", "cpu"), ("atomics", "sim")):
        count, wrong = did(tree, "-c", CONTRACT, "toy", variant, device).split(maxsplit=1)
        assert int(count) >= 20 and wrong.strip() == "[]"
    picture = tmp_path / "toy.png"
    window = ("--sample", "camera", "--filter", "toy", "--screenshot", str(picture), "--size", "1000x700")
    did(tree, "-m", "app", *window, "--variant", "serial", "--variant", "atomics")
    assert picture.stat().st_size > 20_000


MISTAKES = {
    "a missing kernel file": (
        'cuda("toy/1_atomics.cu"',
        'cuda("toy/2_atomics.cu"',
        "gpu_ops/filters/toy.py: toy atomics names the kernel file toy/2_atomics.cu, and gpu_ops/kernels has none;",
    ),
    "a kernel file of another name": (
        'cuda("toy/1_atomics.cu"',
        'cuda("toy/atomics.cu"',
        "The kernel file 'toy/atomics.cu' of 'global atomics' is not FILTER/NUMBER_VARIANT.cu; rename it.",
    ),
    "a second id": (
        'Variant("serial"',
        'Variant("atomics"',
        "Two variants of toy in gpu_ops/filters/toy.py are called 'atomics'; rename one.",
    ),
    "no accesses": (
        ', uncounted="a toy"',
        "",
        "gpu_ops/filters/toy.py: toy atomics has kernels; declare its accesses, or say in `uncounted` why",
    ),
    "a knob like a parameter": (
        "knobs=(BLOCK,)",
        "knobs=(BLOCK, BINS)",
        "gpu_ops/filters/toy.py: toy atomics has a knob 'bins', which is a parameter of toy as well; rename the knob.",
    ),
    "a knob that nobody declared": (
        'job.knobs["block"]',
        'job.knobs["blok"]',
        "toy atomics is declared wrong in filters/toy.py, line 53: KeyError 'blok'; its parameters are bins, its knobs",
    ),
    "an output missing": (
        'launch), {"counts": counts, "total": total})',
        'launch), {"counts": counts})',
        "toy atomics gives the outputs counts, and the filter declares counts, total.",
    ),
    "an output of another type": (
        "(bins,), np.uint32), job.device",
        "(bins,), np.int32), job.device",
        "toy atomics gives 'counts' of shape (16,) and type int32; declared are (16,) and uint32.",
    ),
    "a reference of another type": (
        '"total": np.array(task.x.sum(dtype=np.uint64))',
        '"total": np.array(task.x.sum(dtype=np.float64))',
        "The reference of toy gives 'total' of shape () and type float64; declared are () and uint64.",
    ),
}


@pytest.fixture(scope="module")
def toy_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the product with the toy filter, whose module the tests spoil in turn."""
    tree = tmp_path_factory.mktemp("mistakes")
    shutil.copytree(ROOT / "gpu_ops", tree / "gpu_ops", ignore=shutil.ignore_patterns("__pycache__"))
    add_filter(tree)
    return tree


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_sentence_that_names_the_file_and_the_mend(toy_tree: Path, mistake: str) -> None:
    old, new, words = MISTAKES[mistake]
    module = toy_tree / "gpu_ops" / "filters" / "toy.py"
    right = module.read_text()
    try:
        edit(module, old, new)
        command = ("run", "toy", "--sample", "camera", "--variant", "atomics", "--device", "sim")
        env = {**os.environ, "PYTHONPATH": str(toy_tree), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [sys.executable, "-m", "gpu_ops", *command], cwd=toy_tree, capture_output=True, text=True, env=env
        )
    finally:
        module.write_text(right)
    assert done.returncode != 0 and "Traceback" not in done.stderr, done.stderr
    assert words in done.stdout + done.stderr
