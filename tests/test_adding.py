"""What it costs to add a variant and a filter, through the same door as everybody: a copy of the product, the new files
in their places, and the product's own commands."""

from __future__ import annotations

import filecmp
import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from gpu_ops.devices import kernel_source, open_device
from gpu_ops.devices.kernel_source import KERNELS
from gpu_ops.errors import DeclarationError
from gpu_ops.filters import FILTERS, registry
from gpu_ops.io import save
from gpu_ops.running.contract import check_case, covering_cases
from gpu_ops.types import Filter

ROOT = Path(__file__).parent.parent
TOYS = Path(__file__).parent / "toys"
CONTRACT = """
import sys
from gpu_ops.devices import open_device
from gpu_ops.filters import find_filter
from gpu_ops.running.contract import SIMULATED_WORK, check_case, covering_cases
name, variant, device, most = sys.argv[1:]
filter = find_filter(name)
variant = filter.variant(variant)
cases = covering_cases(filter, variant, open_device(device).limits, most_work=SIMULATED_WORK)
count = min(len(cases), int(most))
cases = [cases[k * len(cases) // count] for k in range(count)]
runs = [check_case(filter, variant, case, device, {}) for case in cases]
print(len(runs), [str(run.failure or run.findings) for run in runs if not run.ok])
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the product, with what is compiled of it: both compilers look at a file's time and size, which stay.
    Files that somebody writes at the moment go by another name until they are whole."""
    for package in ("gpu_ops", "app"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("*.tmp.*", "*.pyc.*"))
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
    # Two edits of one size within a second would be one file for Python's cache of compiled modules.
    env = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, *args], cwd=tree, capture_output=True, text=True, timeout=240, env=env)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def add_variant(tree: Path) -> None:
    kernels = tree / "gpu_ops" / "kernels" / "mean1d"
    text = (kernels / "2_constant.cu").read_text()
    (kernels / "6_again.cu").write_text(text.replace("mean1d_constant", "mean1d_again"))
    edit(
        tree / "gpu_ops" / "filters" / "mean" / "__init__.py",
        "ON_SIGNALS = (\n",
        "ON_SIGNALS = (\n"
        '    cuda("mean1d/6_again.cu", "again", "A toy.", plans.windows(True), knobs=(BLOCK, OUTPUTS),\n'
        "         largest=limits.largest_direct, counts=Counts(accesses.direct(1))),\n",
    )


def add_filter(tree: Path) -> None:
    filters, kernels = tree / "gpu_ops" / "filters", tree / "gpu_ops" / "kernels" / "toy"
    kernels.mkdir()
    shutil.copy(TOYS / "1_atomics.cu", kernels)
    shutil.copy(TOYS / "toy.py", filters)
    names = filters / "__init__.py"
    edit(names, "(MEAN1D, ", "(TOY, MEAN1D, ")
    edit(names, "from gpu_ops.types import", "from gpu_ops.filters.toy import TOY\nfrom gpu_ops.types import")


def test_a_variant_is_a_kernel_file_and_one_entry(tree: Path) -> None:
    add_variant(tree)
    assert places(tree) == ["gpu_ops/filters/mean/__init__.py", "gpu_ops/kernels/mean1d/6_again.cu"]
    assert "again       cuda  A toy." in did(tree, "-m", "gpu_ops", "list", "mean1d")
    events = did(tree, "-m", "gpu_ops", "run", "mean1d", "--variant", "again", "--device", "sim")
    assert "again" in events and "right" in events
    assert "1 sample read" in did(tree, "-m", "gpu_ops", "xray", "mean1d", "again")
    count, wrong = did(tree, "-c", CONTRACT, "mean1d", "again", "sim", "8").split(maxsplit=1)
    assert int(count) == 8 and wrong.strip() == "[]"


@pytest.mark.thorough  # processes of its own
def test_a_filter_is_a_module_its_kernels_and_its_name(tree: Path, tmp_path: Path) -> None:
    add_filter(tree)
    assert places(tree) == [
        "gpu_ops/filters/__init__.py",
        "gpu_ops/filters/toy.py",
        "gpu_ops/kernels/toy/1_atomics.cu",
    ]
    listed = json.loads(did(tree, "-m", "gpu_ops", "list", "toy", "--json", "-"))["filters"][0]
    assert [v["title"] for v in listed["variants"]] == ["CPU, one core", "1 atomics"]
    samples = np.arange(48 * 64, dtype=np.uint8).reshape(48, 64)
    save(tree / "small.png", samples)
    saved = ("--output", "counts=bars.csv", "--output", "total=sum.txt", "--bins", "4")
    for device in ("cpu", "sim"):
        events = did(tree, "-m", "gpu_ops", "run", "toy", "--input", "small.png", "--device", device, *saved)
        assert "counts  4 bars over value 0 … 256, 3072 samples" in events and "right" in events
        assert f"total   {samples.sum()} levels" in events
        lines = (tree / "bars.csv").read_text().splitlines()
        assert "# filter: toy" in lines and "# parameter bins: 4" in lines
        assert [line for line in lines if not line.startswith("# ")] == [
            "from,to,value (samples)",
            *(f"{64.0 * k},{64.0 * (k + 1)},768" for k in range(4)),
        ]
        assert int((tree / "sum.txt").read_text()) == samples.sum()
    for variant, device in (("serial", "cpu"), ("atomics", "sim")):
        count, wrong = did(tree, "-c", CONTRACT, "toy", variant, device, "99").split(maxsplit=1)
        assert int(count) >= 20 and wrong.strip() == "[]"
    picture = tmp_path / "toy.png"
    window = ("small.png", "--filter", "toy", "--screenshot", str(picture), "--size", "1000x700")
    did(tree, "-m", "app", *window, "--variant", "serial", "--variant", "atomics")
    assert picture.stat().st_size > 20_000


def test_a_mistake_is_a_sentence_in_every_command(tree: Path) -> None:
    add_filter(tree)
    edit(tree / "gpu_ops" / "filters" / "toy.py", 'ctx.knobs["block"]', 'ctx.knobs["blok"]')
    words = "has a mistake in gpu_ops/filters/toy.py, line 47: KeyError 'blok'"
    commands = (3, "xray", "toy", "atomics"), (3, "compile", "toy/1_atomics.cu"), (2, "run", "toy", "--device", "sim")
    for code, *command in commands:
        assert words in did(tree, "-m", "gpu_ops", *command, code=code)
    for old, new, words in (
        ("meta.channels >", "meta.chanels >", "line 55: AttributeError 'Meta' object has no attribute 'chanels'"),
        ('4 * task.params["bins"] + 8', '4 * task.params["bin"] + 8', "line 72: KeyError 'bin'"),
    ):
        edit(tree / "gpu_ops" / "filters" / "toy.py", old, new)
        events = did(tree, "-m", "gpu_ops", "run", "toy", "--device", "sim", code=3)
        assert f"A filter has a mistake in gpu_ops/filters/toy.py, {words}" in events
        edit(tree / "gpu_ops" / "filters" / "toy.py", new, old)


MISTAKES = {
    "a missing kernel file": (
        '"toy/1_atomics.cu"',
        '"toy/2_atomics.cu"',
        "gpu_ops/filters/toy.py: toy atomics names the kernel file toy/2_atomics.cu, and gpu_ops/kernels has none;",
    ),
    "a kernel file of another name": (
        '"toy/1_atomics.cu"',
        '"toy/atomics.cu"',
        "The kernel file 'toy/atomics.cu' of 'atomics' is not FILTER/NUMBER_VARIANT.cu; rename it.",
    ),
    "a second id": (
        'Variant("serial"',
        'Variant("atomics"',
        "Two variants of toy in gpu_ops/filters/toy.py are called 'atomics'; rename one.",
    ),
    "no accesses": (
        ', counts=Counts(uncounted="a toy")',
        "",
        "gpu_ops/filters/toy.py: toy atomics has kernels; declare its accesses, or say in `uncounted` why",
    ),
    "a knob like a parameter": (
        "atomics, GREY, ",
        "atomics, GREY, knobs=(BINS,), ",
        "gpu_ops/filters/toy.py: toy atomics has a knob 'bins', which is a parameter of toy as well; rename the knob.",
    ),
    "two rules that say the same": (
        "atomics, GREY, ",
        "atomics, GREY, GREY, ",
        "gpu_ops/filters/toy.py: two rules of toy atomics say 'it counts one channel, not {meta.channels}'; make them",
    ),
    "words with a name that a task does not have": (
        "not {meta.channels}",
        "not {channels}",
        "gpu_ops/filters/toy.py: a rule of toy atomics names 'channels' in 'it counts one channel, not {channels}'; it",
    ),
    "a case that a rule never takes, and its test does": (
        "task.meta.channels > 1",
        "task.meta.channels > 3",
        "gpu_ops/filters/toy.py: rule 1 of toy atomics says that it never takes shape (19, 23, 3), and shape ",
    ),
    "a choice that is none of the contract's": (
        "(16, 31, 4)",
        "(16, 31, 9)",
        "gpu_ops/filters/toy.py: rule 1 of toy atomics says that it never takes shape (16, 31, 9), and the ",
    ),
    "an axis that is none of the contract's": (
        '{"shape": ',
        '{"size": ',
        "size (19, 23, 3), and the contract tries the axes shape, dtype, data, param bins, knob block; correct `never`",
    ),
    "a knob that nobody declared": (
        'ctx.knobs["block"]',
        'ctx.knobs["blok"]',
        "toy atomics has a mistake in gpu_ops/filters/toy.py, line 47: KeyError 'blok'; its parameters are",
    ),
    "an output missing": (
        'launch), {"counts": counts, "total": total})',
        'launch), {"counts": counts})',
        "toy atomics gives the outputs counts, and the filter declares counts, total; make them the same.",
    ),
    "an output of another type": (
        "(bins,), np.uint32), ctx.device",
        "(bins,), np.int32), ctx.device",
        "toy atomics gives 'counts' of shape (16,) and type int32; the filter declares (16,) and uint32.",
    ),
    "a reference of another type": (
        '"total": np.array(task.x.sum(dtype=np.uint64))',
        '"total": np.array(task.x.sum(dtype=np.float64))',
        "The reference of toy gives 'total' of shape () and type float64; the filter declares () and uint64.",
    ),
}


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The shipped kernels, with the toy's."""
    for folder in KERNELS.iterdir():
        (tmp_path / folder.name).symlink_to(folder)
    (tmp_path / "toy").mkdir()
    shutil.copy(TOYS / "1_atomics.cu", tmp_path / "toy")
    for module in (kernel_source, registry):
        monkeypatch.setattr(module, "KERNELS", tmp_path)


def declared(text: str) -> Filter:
    """The filter of a module with that text, as if it stood among the others."""
    module = ModuleType("gpu_ops.filters.toy")
    exec(compile(text, str(ROOT / "gpu_ops" / "filters" / "toy.py"), "exec"), vars(module))  # noqa: S102
    return registry.check_filters((*FILTERS, module.TOY))[-1]


def events(text: str) -> str:
    """What is said of the first run of the filter's kernel, or of its declaration."""
    try:
        filter = declared(text)
        case = covering_cases(filter, filter.variant("atomics"), open_device("sim").limits)[0]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(registry.Registry, "find", lambda self, name, kind=None: filter)
            run = check_case(filter, filter.variant("atomics"), replace(case, params={"bins": 16}), "sim", {})
    except DeclarationError as error:
        return str(error)
    return run.failure or str(run.ok)


def test_without_a_mistake_nothing_is_said(kernels: None) -> None:
    assert events((TOYS / "toy.py").read_text()) == "True"


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_sentence_that_names_the_file_and_the_mend(kernels: None, mistake: str) -> None:
    old, new, words = MISTAKES[mistake]
    text = (TOYS / "toy.py").read_text()
    assert text.count(old) == 1
    assert words in events(text.replace(old, new))
