"""The README and the guide: their blocks of code run, their tables are those of the records, their links work."""

from __future__ import annotations

import ast
import json
import re
import shlex
from pathlib import Path
from typing import NamedTuple

import pytest

import gpu_ops as ks
from app.main import main
from app.models.guide import guide_pages
from gpu_ops.errors import ReportError
from gpu_ops.explaining import result_tables
from gpu_ops.explaining.judging import RECORDED
from gpu_ops.explaining.recorded_tables import TABLES
from gpu_ops.explaining.result_tables import (
    MARKER,
    OLDER,
    Ahead,
    Contest,
    Grid,
    Recorded,
    duration,
    rewritten,
    table_text,
)

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "resources" / "guide").glob("*.md"))]
WRITE = "kernelscope tables --write README.md resources/guide/*.md"
LEFT_OUT = {
    "pip install": "installs from the network; .ci/run runs the second block of the README as it stands",
    "cuda:": "needs a GPU",
    "--require-gpu": "needs a GPU",
    "--remote": "needs another machine; tests/remote has one",
    "dask ": "runs until it is stopped; tests/batch starts both",
    "mine.cu": "needs a student's kernel; tests/lessons has some",
}
"""Shell lines with these words do not run here, and why."""


class Block(NamedTuple):
    """A block of code: where it stands, its language, the word after it, and its text."""

    where: str
    language: str
    word: str
    text: str


def blocks_of(path: Path) -> list[Block]:
    found = re.finditer(r"^```(sh|python)(?: (\w+))?\n(.*?)^```$", path.read_text(), re.DOTALL | re.MULTILINE)
    return [Block(f"{path.name} {place}", m[1], m[2] or "", m[3]) for place, m in enumerate(found)]


BLOCKS = [block for path in DOCUMENTS for block in blocks_of(path)]
RUN = [
    pytest.param(block, id=block.where, marks=[pytest.mark.thorough] if block.word == "slow" else [])
    for block in BLOCKS
    if block.word != "excerpt"
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with the picture that the programs load."""
    monkeypatch.chdir(tmp_path)
    ks.save("photo.png", ks.sample("camera").array[:40, :50])
    return tmp_path


@pytest.mark.parametrize("block", RUN)
def test_a_block_runs_as_it_stands(block: Block, folder: Path) -> None:
    if block.language == "python":
        exec(compile(block.text, block.where, "exec"), {"__name__": "block"})
        return
    for line in filter(None, block.text.splitlines()):
        if not any(words in line for words in LEFT_OUT):
            program, *args = shlex.split(line, comments=True)
            assert program == "kernelscope", f"{line!r} of {block.where} is no command of ours: LEFT_OUT names others"
            assert main(args) == 0, line


def test_blocks_are_found_and_known() -> None:
    readme = [block.language for block in BLOCKS if block.where.startswith("README")]
    assert readme.count("sh") >= 3 and "python" in readme
    assert {block.word for block in BLOCKS} <= {"", "slow", "excerpt"}
    for block in BLOCKS:
        if block.word == "excerpt":
            ast.parse(block.text)


def test_the_second_shell_block_is_the_test_command() -> None:
    shell = [block.text for block in BLOCKS if block.where.startswith("README") and block.language == "sh"]
    first = 'python3 -m venv .venv && .venv/bin/pip install -q -e ".[test]" && .venv/bin/pytest -q -n 2\n'
    assert shell[1] == first


# ---------------------------------------------------------------- tables


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_tables_are_those_of_the_records(path: Path) -> None:
    text = path.read_text()
    assert rewritten(text, TABLES) == text, f"the tables of {path.name} are stale; write them anew: {WRITE}"


def test_every_table_has_a_place_and_names_its_machine() -> None:
    used = [name for path in DOCUMENTS for name, _ in MARKER.findall(path.read_text())]
    assert set(used) == set(TABLES) and len(used) > 30
    for name, table in TABLES.items():
        last = table_text(table).strip().splitlines()[-1]
        assert re.match(r"\*NVIDIA H\d00.*, copy roof \d\.\d\d", last), (name, last)


def test_rows_of_older_kernels_are_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Grid((Recorded("floats", "h200-mean2d-8192", {"dtype": "float32"}),))
    monkeypatch.setattr(result_tables, "has_older_kernels", lambda row: row.variant == "rows")
    lines = table_text(table).splitlines()
    assert [line for line in lines if OLDER in line and "|" in line] == [
        line for line in lines if "row streaming" in line
    ]
    assert f"{OLDER} the kernel has changed since this was recorded" in lines[-1]
    monkeypatch.setattr(result_tables, "has_older_kernels", lambda row: False)
    assert OLDER not in table_text(table)


@pytest.mark.parametrize(("ratio", "who"), [(4.0, "kernel, 4.00 ×"), (0.25, "library, 4.00 ×"), (1.01, "the same")])
def test_the_faster_of_kernel_and_library_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ratio: float, who: str
) -> None:
    """A library that takes this many times as long as the fastest kernel."""
    content = json.loads((RECORDED / "h100-samples-mean2d.json").read_text())
    stages = {row["variant"]: row["stages"]["kernel"] for row in content["runs"] if "kernel" in row["stages"]}
    scale = ratio * stages["ring"]["median_s"] / stages["cupyx"]["median_s"]
    stages["cupyx"].update({name: scale * stages["cupyx"][name] for name in ("median_s", "q1_s", "q3_s", "min_s")})
    (tmp_path / "h100-changed.json").write_text(json.dumps(content))
    monkeypatch.setattr(result_tables, "RECORDED", tmp_path)
    result_tables._report.cache_clear()
    try:
        text = table_text(Contest((Recorded("mean", "h100-changed"),)))
        assert f"| {who} |" in text and "| 6 ring buffer: " in text and "| cupyx: " in text
        ahead = [line for line in table_text(Ahead()).splitlines()[2:] if line.startswith("|")]
    finally:
        result_tables._report.cache_clear()
    assert len(ahead) == who.startswith("library")
    for line in ahead:
        assert line.startswith("| Mean (image), 512 x 512, uint8 | GPU | cupyx: ") and "| 4.00 |" in line
        assert "| 6 ring buffer: " in line and line.endswith("|  |"), "the report has all kernels of today"


def test_faults_of_tables_are_sentences() -> None:
    with pytest.raises(ReportError, match="several rows of"):
        table_text(Grid((Recorded("all", "h200-mean2d-sizes"),)))
    with pytest.raises(ReportError, match="no timed rows for"):
        table_text(Grid((Recorded("none", "h200-mean2d", {"shape": (3, 3)}),)))
    with pytest.raises(ReportError, match="is no recorded report"):
        table_text(Grid((Recorded("none", "h300"),)))
    with pytest.raises(ReportError, match="There is no table 'nothing'"):
        rewritten("<!-- results: nothing -->\n<!-- end -->", TABLES)
    with pytest.raises(ReportError, match="ends with <!-- end -->"):
        rewritten("<!-- results: box -->\n\n<!-- results: fft -->\n<!-- end -->", TABLES)


def test_durations_have_three_digits_or_four() -> None:
    times = [duration(t) for t in (5.86e-5, 1.3449e-4, 9.2e-5, 1.0, 0.5497, 5.5e-4, 3e-9)]
    assert times == ["58.6 µs", "134.5 µs", "92.0 µs", "1.000 s", "550 ms", "550 µs", "3.00 ns"]


def test_the_command_fills_files_and_refuses_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.md"
    file.write_text("Before.\n\n<!-- results: mean-s4 -->\n<!-- end -->\n\nAfter.\n")
    assert main(["tables", "--write", str(file)]) == 0 and "rewritten" in capsys.readouterr().out
    text = file.read_text()
    assert "| 1 naive | 58.6 µs | 0.638 |" in text and text.startswith("Before.") and text.endswith("After.\n")
    assert main(["tables", "--write", str(file)]) == 0 and "up to date" in capsys.readouterr().out
    assert file.read_text() == text
    assert main(["tables", "mean-s5"]) == 2 and "mean-s4" in capsys.readouterr().err
    assert main(["tables", "mean-s4", "--write", str(file)]) == 2
    assert main(["tables", "--write", str(tmp_path / "b.md")]) == 2


# ---------------------------------------------------------------- links


def _targets(path: Path) -> list[str]:
    text = re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
    return re.findall(r"\]\(([^)]+)\)", text)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_and_pictures_lead_somewhere(path: Path) -> None:
    anchors = {page.name: {heading.anchor for heading in page.headings} for page in guide_pages()}
    for target in _targets(path):
        name, _, anchor = target.partition("#")
        assert (path.parent / name).is_file(), target
        assert not anchor or anchor in anchors[Path(name).name], target


def test_every_page_is_in_the_index() -> None:
    assert {page.name for page in guide_pages()} == {path.name for path in DOCUMENTS[1:]}
    for page in guide_pages():
        assert [heading.level for heading in page.headings].count(1) == 1 and page.headings[0].level == 1


def test_files_that_the_documents_name_exist() -> None:
    named = {
        n for path in DOCUMENTS for n in re.findall(r"`((?:app|gpu_ops|resources|tests)/[\w/.]+)`", path.read_text())
    }
    assert len(named) > 30 and [name for name in sorted(named) if not (ROOT / name).exists()] == []
