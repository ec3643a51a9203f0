"""Variants that a person makes while the program runs: they are listed, run, checked and explained like any other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from gpu_ops import Experiment, Pick, from_array, run_experiment
from gpu_ops.devices.kernel_source import read_source, source_hash
from gpu_ops.errors import KernelError, ParamError
from gpu_ops.explaining.xray import xray
from gpu_ops.filters import FILTERS
from gpu_ops.filters.own import OwnVariant
from gpu_ops.types import Run

SHIPPED = "mean1d/2_constant.cu"
SIGNAL = from_array(np.random.default_rng(1).random(1000, np.float32), "signal")


def own(id: str = "mine", edit: tuple[str, str] = ("sum", "total"), **given: str) -> OwnVariant:
    text = read_source(SHIPPED).replace(*edit)
    return replace(OwnVariant("mean1d", "constant", id, "mine", text), **given)


@pytest.fixture(autouse=True)
def shipped_again() -> Iterator[None]:
    yield
    FILTERS.set_own(())


def ran(variant: str, filter: str = "mean1d") -> Run:
    *_, run = run_experiment(Experiment(filter, SIGNAL, {}, (Pick(variant, "sim"),), "none"))
    return run


def test_it_runs_beside_the_shipped_ones_and_has_a_file_of_its_own() -> None:
    before = FILTERS.find("mean1d")
    FILTERS.set_own([own(), own("other", title="another")])
    filter = FILTERS.find("mean1d")
    assert [v.id for v in filter.variants] == [*(v.id for v in before.variants), "mine", "other"]
    run, shipped = ran("mine"), ran("constant")
    assert run.ok and np.array_equal(run.outputs["signal"], shipped.outputs["signal"])
    assert run.source_hash == source_hash("own/mean1d_mine.cu") != shipped.source_hash
    FILTERS.set_own(())
    assert FILTERS.find("mean1d") is before
    with pytest.raises(KernelError, match=r"no kernel file own/mean1d_mine\.cu"):
        read_source("own/mean1d_mine.cu")


def test_a_wrong_one_is_wrong_and_the_shipped_one_stays_right() -> None:
    FILTERS.set_own([own(edit=("- window / 2", "- window / 2 + 1"))])
    assert not ran("mine").ok and ran("constant").ok


def test_an_xray_shows_its_text() -> None:
    one = own()
    FILTERS.set_own([one])
    filter = FILTERS.find("mean1d")
    seen = xray(filter, filter.variant("mine"), SIGNAL, {}, {})
    assert [kernel.text for kernel in seen.kernels] == [one.text]


@pytest.mark.parametrize(
    "given, message",
    [
        ({"filter": "nothing"}, "There is no filter 'nothing'; choose from mean1d, mean2d"),
        ({"like": "nothing"}, "nothing"),
        ({"like": "serial"}, "serial of mean1d has no kernel to replace; choose one of naive, constant"),
        ({"id": "Two words"}, "'Two words' is no id; use lower-case letters, digits and underscores"),
        ({"id": "shared"}, "mean1d has a variant 'shared' already; give yours another id"),
        ({"text": "/" * ((1 << 20) + 1)}, "has 1,048,577 characters, and may have 1,048,576"),
    ],
)
def test_what_suits_no_filter_is_refused_and_changes_nothing(given: dict[str, str], message: str) -> None:
    FILTERS.set_own([own()])
    before = FILTERS.own
    with pytest.raises(ParamError, match=message):
        FILTERS.set_own([own(), own("second", **given) if "id" not in given else own(**given)])
    assert FILTERS.own == before and ran("mine").ok


def test_watchers_are_told() -> None:
    events: list[tuple[OwnVariant, ...]] = []
    watcher = lambda: events.append(FILTERS.own)  # noqa: E731
    FILTERS.watchers.append(watcher)
    try:
        FILTERS.set_own([own()])
        FILTERS.set_own(())
    finally:
        FILTERS.watchers.remove(watcher)
    assert [len(own) for own in events] == [1, 0]
