"""Which tests have their turn on which day."""

from __future__ import annotations

import pytest
from lanes import DAY, DAYS, TESTS, TURNS, _has_turn, _turn


@pytest.mark.parametrize("days", TURNS)
def test_each_test_has_its_turn_once_in_so_many_days_and_with_every_value(
    days: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the test has one value a day of a list, whose length has a factor in common with the days."""
    lengths = 2, 3, 4, 6, 9, 12
    met = set()
    for first in range(0, 100 * days, days):
        turns = []
        for day in range(first, first + days):
            monkeypatch.setenv(DAY, str(day))
            places = [place for place in range(days) if _has_turn(place, days)]
            met |= {(p, n, value) for p in places for n in lengths for value in _turn(n, 1)}
            turns += places
        assert sorted(turns) == list(range(days))
    assert len(met) == days * sum(lengths)


def test_folders_and_modules_that_take_turns_are_there() -> None:
    assert [name for name in DAYS if not (TESTS / name).is_dir() and not (TESTS / f"{name}.py").is_file()] == []
