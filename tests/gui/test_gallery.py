"""The gallery of memory layouts: its order, its costs, and what happens when rule and width change."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from app.models.xray.gallery import RULES, TIME, cards
from app.views.xray.gallery_page import GalleryPage
from gpu_ops.report.rows import Row
from gpu_ops.types import Timing


def _costs(rule: str) -> dict[str, str]:
    return {card.title: f"{card.cost}, {card.loads}" for card in cards(rule)}


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
    assert today["6 array of structures"] == "36 sectors for 32 values, in 3 loads"
    assert today["7 aligned structures"] == "16 sectors for 32 values, in 1 load"
    assert today["8 structure of arrays"].startswith("12 sectors for 32 values")
    assert today["9 vectors – values 3"] == "12 sectors for 32 values, 36 sectors in 3 loads, for 96 values"
    assert today["3 permuted lanes"] == "4 sectors for 32 values, in 1 load"
    assert old["3 permuted lanes"] == "32 transactions for 32 values, in 1 load"
    assert old["8 structure of arrays"] == "6 transactions for 32 values, in 3 loads"
    assert _costs("1.2")["3 permuted lanes"].startswith("2 transactions for 32 values")


def test_each_card_tells_what_the_other_rules_count() -> None:
    others = {rule: {card.title: card.others for card in cards(rule)} for rule in RULES}
    assert (
        others["today"]["3 permuted lanes"]
        == "on compute capability 1.2: 2 transactions\non compute capability 1.0: 32 transactions"
    )
    assert others["1.0"]["3 permuted lanes"] == "today: 4 sectors\non compute capability 1.2: 2 transactions"
    assert others["1.2"]["12 bytes in shared memory – bytes adjacent"].endswith(
        "\non compute capability 1.0: 32 passes over 16 banks"
    )
    assert all(text for own in others.values() for text in own.values())


def _row(variant: str, seconds: float, device: str = "cuda:0", **knobs: int) -> Row:
    timing = Timing("kernel", "cuda-event", seconds, seconds, seconds, seconds, 20, "", "stream")
    return Row("layout", variant, device, {}, knobs, (4096,), "float32", "stream", {"kernel": timing})


def test_times_of_the_session_are_an_order_of_their_own(qtbot) -> None:
    rows = [_row("order", 3e-6, block=192), _row("stride", 2e-6, stride=8), _row("packed", 1e-6, "sim")]
    session: list[Row] = []
    page = GalleryPage(lambda: session)
    qtbot.addWidget(page)
    page.show()
    place = page.rules.findData(TIME)
    assert not page.rules.model().item(place).isEnabled() and "none is measured yet" in page.rules.itemText(place)
    page.hide()
    session += rows
    page.show()
    assert page.rules.model().item(place).isEnabled()
    assert {c.title: c.time for c in page.shown}["1 coalesced"] == "kernel time here: 3 µs"
    page.rules.setCurrentIndex(place)
    assert [c.title for c in page.shown][:2] == ["5 stride – stride 8", "1 coalesced"], "stride 2 has another knob"
    assert [c.seconds is None for c in page.shown].count(False) == 2, "a simulated GPU has no time"
    assert page.shown[0].level == pytest.approx(2 / 3) and page.shown[2].level == 0


def test_pictures_draw_what_the_cost_counts() -> None:
    """Where one load is all, the sectors or wavefronts of its picture are the cost."""
    alone = [card for card in cards("today") if card.loads == "in 1 load"]
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
