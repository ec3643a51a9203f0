"""Wrong kernels are shipped kernels with a fault: edits fit the text of today, change it, and no two are the same."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from wrong import RACES, TABLES, WRONG, Wrong, find_wrong

from gpu_ops.devices.kernel_source import read_source
from gpu_ops.filters import FILTERS, find_filter


@pytest.mark.parametrize("wrong", WRONG, ids=lambda w: w.name)
def test_the_fault_has_a_reason_and_changes_the_shipped_text(wrong: Wrong) -> None:
    assert wrong.reason and all(old != new for old, new in wrong.edits)
    assert wrong.text() != read_source(wrong.file)


def test_no_two_are_the_same() -> None:
    assert [text for text, count in Counter(wrong.text() for wrong in WRONG).items() if count > 1] == []
    assert [reason for reason, count in Counter((w.file, w.reason) for w in WRONG).items() if count > 1] == []
    assert len({wrong.name for wrong in WRONG}) == len(WRONG) >= sum(map(len, TABLES)) > 0
    assert {wrong.name for wrong in WRONG} >= set(RACES)


def test_every_family_with_kernels_has_one() -> None:
    with_kernels = {f.family for f in FILTERS if any(v.kernels for v in f.variants)}
    assert {find_filter(wrong.filter).family for wrong in WRONG} == with_kernels


@pytest.mark.parametrize("old, found", [("no such text", 0), ("__global__ void", 3)])
def test_an_edit_without_a_place_of_its_own_is_an_error(old: str, found: int) -> None:
    wrong = replace(find_wrong("scan1d.warp.chunk_forgotten"), edits=((old, "else"),))
    with pytest.raises(AssertionError, match=f"no longer applies: scan/4_warp.cu has this text {found} times"):
        wrong.text()
