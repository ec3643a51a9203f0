"""The glossary: each term is used and leads to a heading of the guide, and every counter has one."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.base.terms import counter_help, counter_tip
from app.models.guide import guide_page
from gpu_ops.cli import main
from gpu_ops.counters import CATALOGUE
from gpu_ops.errors import ParamError
from gpu_ops.lessons.glossary import find_term, glossary, term_at, terms_in

ROOT = Path(__file__).parents[2]


def test_every_term_is_used_and_leads_to_the_guide() -> None:
    places = [*(ROOT / "resources/guide").glob("*.md"), *(ROOT / "resources/lessons").rglob("*.toml")]
    places += (ROOT / "resources/lectures").rglob("*.toml")
    used = {term.name for place in places for _, _, term in terms_in(place.read_text(encoding="utf-8"))}
    assert {term.name for term in glossary()} - used == set()
    for term in glossary():
        name, _, anchor = term.guide.partition("#")
        page = guide_page(name)
        assert page.name == name and anchor in [heading.anchor for heading in page.headings], term


def test_terms_are_short_and_no_form_has_two_meanings() -> None:
    forms = [form.lower() for term in glossary() for form in (term.name, *term.also)]
    assert len(glossary()) >= 80 and len(forms) == len(set(forms))
    for term in glossary():
        assert term.text.endswith(".") and len(term.text) < 240 and term.text.count(". ") < 3, term


def test_every_counter_has_a_term() -> None:
    for counter in CATALOGUE:
        assert list(terms_in(counter.name)), counter.id
        assert counter_help(counter.id).startswith(counter_tip(counter.id) + "\n\n")
    assert "\n\nsector: 32 bytes" in counter_help("global_load_sectors")


def test_a_term_is_found_at_a_position_in_any_form() -> None:
    text = "Two Bank conflicts per request, subwarp"
    assert [text[a:b] for a, b, _ in terms_in(text)] == ["Bank conflicts", "request"]
    found = [term_at(text, position) for position in (0, 4, 17, 18, 23, 36)]
    assert [term and term.name for term in found] == [None, "bank conflict", "bank conflict", None, "request", None]


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "bank", "Conflicts"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("bank conflict: Lanes of a warp") and said.endswith("Guide: filters.md#layout\n")
    assert main(["explain"]) == 0
    said = capsys.readouterr().out.replace("\n", " ")
    assert all(term.name in said for term in glossary())
    assert main(["explain", "sectr"]) == 2
    assert "did you mean sector?" in capsys.readouterr().err
    with pytest.raises(ParamError):
        find_term("")
