"""The guide's tables of the fields of lessons and lectures have what the readers read, and their examples are right."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from gpu_ops.lessons.fields import Fields
from gpu_ops.lessons.lecture import read_lecture
from gpu_ops.lessons.reading import read_lesson

GUIDE = Path(__file__).parents[2] / "resources/guide/window.md"
ROW = re.compile(r"^\| ([\w.]+) \| `(\w+)` \| (yes|no) \| `(.+?)` \| ", re.MULTILINE)
SETUP = 'setup = {sample = "noise", filter = "mean", variants = ["naive"]}\n'
HEAD = 'title = "T"\nabout = "A"\nminutes = 1\n'
PAGE = '[[page]]\ntitle = "P"\ntext = "X"\n' + SETUP
LESSON = (
    HEAD
    + PAGE
    + '[page.runs.a]\n[page.question]\nkind = "choice"\nask = "?"\nchoices = ["a"]\nanswer = "a"\n'
    + 'computed = "1"\nwhy = "."\n'
    + PAGE
    + '[page.action]\nask = "?"\nparams = {window = 5}\n'
    + PAGE
    + '[page.exercise]\nvariant = "naive"\nfind = "a"\nask = "?"\n'
)
SCENE = '[[scene]]\ntitle = "S"\ntext = "X"\n'
LECTURE = (
    HEAD
    + SCENE
    + SETUP
    + '[scene.runs.a]\n[scene.question]\nask = "?"\nchoices = ["a"]\nanswer = "a"\n'
    + SCENE
    + 'session = "a.kernelscope"\n'
)


def read_by(reader: Any, text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], bool]:
    """The tables and names that a reader asks for, and whether it needs them."""
    found: dict[tuple[str, str], bool] = {}
    value, has = Fields._value, Fields.has

    def note(fields: Fields, name: str, required: bool) -> None:
        place = [part for part in fields._place if isinstance(part, str)]
        if place[-1:] == ["runs"] or (place[-2:-1] == ["runs"] and name != "variant"):
            return  # names of runs, and what a setup has
        table = (
            "runs" if "runs" in place else ".".join(place[-2:]) if place[:1] == ["scene"] else (place or ["lesson"])[-1]
        )
        table = "setup" if table == "scene.setup" else table
        table = "lecture" if not place and reader is read_lecture else table
        found[table, name] = found.get((table, name), True) and required

    def noted_value(self: Fields, name: str, default: Any, *more: Any) -> Any:
        note(self, name, default is None)
        return value(self, name, default, *more)

    def noted_has(self: Fields, name: str) -> bool:
        if name not in self._read:
            note(self, name, False)
        return has(self, name)

    with monkeypatch.context() as patch:
        patch.setattr(Fields, "_value", noted_value)
        patch.setattr(Fields, "has", noted_has)
        path = folder / "own.toml"
        path.write_text(text, encoding="utf-8")
        reader(path)
    return found


def test_the_guide_has_every_field(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = ROW.findall(GUIDE.read_text(encoding="utf-8"))
    written = {(table, name): required == "yes" for table, name, required, _ in rows}
    lesson = read_by(read_lesson, LESSON, tmp_path, monkeypatch)
    lecture = read_by(read_lecture, LECTURE, tmp_path, monkeypatch)
    read = {**lecture, **lesson}
    assert written == read
    assert len(rows) == len(written)
    for table, name, _, example in rows:
        assert name in tomllib.loads(example), (table, name)
