"""The gallery of memory layouts: its order, its costs, and what happens when rule and width change."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from app.models.gallery import RULES, cards
from app.views.xray.gallery_page import GalleryPage


def _costs(rule: str) -> dict[str, str]:
    return {card.title: card.cost for card in cards(rule)}


@pytest.mark.parametrize("rule", RULES)
def test_the_cheapest_comes_first_in_each_memory(rule: str) -> None:
    shown = cards(rule)
    spaces = [card.space for card in shown]
    assert spaces == sorted(spaces) and set(spaces) == {"global", "shared"}
    for space in set(spaces):
        levels = [card.level for card in shown if card.space == space]
        assert levels == sorted(levels) and levels[-1] == 1 and levels[0] > 0


def test_costs_are_those_of_the_source_and_the_rule_changes_them() -> None:
    today, old = _costs("today"), _costs("1.0")
    assert today["6 packed structures"] == "36 sectors in 3 loads, for 32 values"
    assert today["7 aligned structures"].startswith("16 sectors in 1 load,")
    assert today["8 separate arrays"].startswith("12 sectors in 3 loads,")
    assert today["9 vectors – values 3"].endswith("for 96 values: 12 for 32")
    assert today["3 swapped lanes"] == "4 sectors in 1 load, for 32 values"
    assert old["3 swapped lanes"] == "32 transactions in 1 load, for 32 values"
    assert old["8 separate arrays"].startswith("6 transactions in 3 loads,")
    assert _costs("1.2")["3 swapped lanes"].startswith("2 transactions in 1 load")


def test_pictures_draw_what_the_cost_counts() -> None:
    """Where one load is all, the sectors or wavefronts of its picture are the cost."""
    alone = [card for card in cards("today") if " 1 load," in card.cost]
    assert len(alone) > 5
    for card in alone:
        access = card.access
        drawn = len(access.pieces.pieces) if card.space == "global" else len(access.banks.wavefronts)
        assert card.cost.split()[0] == str(drawn), card.title


def test_another_rule_and_another_width_lay_the_cards_out_anew(qtbot) -> None:
    page = GalleryPage()
    qtbot.addWidget(page)
    page.resize(1200, 600)
    page.show()
    wide, before = page.grid.columnCount(), [card.title for card in page.shown]
    assert wide > 1 and page.rule == "today"
    first = page.views[0]
    page.rules.setCurrentIndex(page.rules.findData("1.0"))
    after = [card.title for card in page.shown]
    assert sorted(after) == sorted(before) and after != before
    assert first.isHidden() and all(view.isVisible() for view in page.views)
    page.resize(400, 600)
    places = [page.grid.getItemPosition(page.grid.indexOf(view)) for view in page.views]
    assert {column for _, column, _, _ in places} == {0}, "a narrow page has one column"
    assert len({row for row, _, _, _ in places}) == len(page.views)
    qtbot.mouseClick(page.copy_button, Qt.MouseButton.LeftButton)
    lines = QGuiApplication.clipboard().text().splitlines()
    assert len(lines) == len(page.views) + 1 and lines[1].split("\t")[1] == after[0]
