"""Kernels of a bench are compiled before its runs, as the device's own limits ask for them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpu_ops.devices import compiler, nvrtc
from gpu_ops.devices.offline import OfflineDevice
from gpu_ops.errors import ParamError
from gpu_ops.filters import find_filter
from gpu_ops.io import from_array
from gpu_ops.plan import Limits
from gpu_ops.running import precompile
from gpu_ops.running.declared import offline_plan
from gpu_ops.running.verify import full_meta
from gpu_ops.types import Experiment, Pick

LIMITS = Limits((9, 0), 1024, 227 << 10, 132, 50 << 20, 80 << 30, 2)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A GPU that only says what it is, an empty cache of kernels, and the files that are compiled."""
    files: list[str] = []
    real = compiler._compile

    def compile(request: nvrtc.Request, *more: Any) -> Any:
        files.append(request.source)
        return real(request, *more)

    monkeypatch.setattr(compiler, "_CACHE", {})
    monkeypatch.setattr(compiler, "_compile", compile)
    status = SimpleNamespace(name="cuda:0", kind="cuda", available=True, architecture="sm_90")
    monkeypatch.setattr(precompile, "device_statuses", lambda: [status])
    monkeypatch.setattr(precompile, "open_device", lambda name: SimpleNamespace(limits=LIMITS))
    return files


def _experiment(*picks: Pick) -> Experiment:
    return Experiment("histogram2d", from_array(np.zeros((64, 64), np.uint8)), {}, picks)


def test_a_run_finds_its_kernels_compiled(compiled: list[str]) -> None:
    picks = [Pick(v.id, "cuda:0") for v in find_filter("histogram2d").variants if v.device == "cuda" and not v.library]
    experiment = _experiment(*picks)
    precompile.compile_ahead([(experiment, experiment.picks)])
    assert len(compiled) >= len(picks)
    found, filter = list(compiled), find_filter("histogram2d")
    for pick in picks:
        offline_plan(filter, pick, {}, full_meta(experiment.input), OfflineDevice("sm_90", limits=LIMITS))
    assert compiled == found


def test_a_pick_is_compiled_for_parameters_of_its_own(compiled: list[str]) -> None:
    other = Pick("shared", "cuda:0", params={"border": "zero"})
    experiment = Experiment("mean2d", from_array(np.zeros((64, 64), np.uint8)), {"border": "reflect"}, (other,))
    precompile.compile_ahead([(experiment, experiment.picks)])
    found, meta = list(compiled), full_meta(experiment.input)
    params = {p.name: p.default for p in find_filter("mean2d").params} | {"border": "zero"}
    offline_plan(find_filter("mean2d"), other, params, meta, OfflineDevice("sm_90", limits=LIMITS))
    assert found and compiled == found
    offline_plan(
        find_filter("mean2d"), other, params | {"border": "reflect"}, meta, OfflineDevice("sm_90", limits=LIMITS)
    )
    assert compiled != found, "the border is compiled in"


def test_what_does_not_compile_is_left_to_its_run(compiled: list[str]) -> None:
    filter = find_filter("histogram2d")
    first, second = [v for v in filter.variants if v.kernels][:2]
    broken = Pick(first.id, "cuda:0", {}, {first.kernels[0]: "this is no kernel"})
    experiment = _experiment(broken, Pick(second.id, "cuda:0"), Pick(second.id, "cpu"))
    precompile.compile_ahead([(experiment, experiment.picks)])
    assert sorted(set(compiled)) == sorted({first.kernels[0], *second.kernels})


def test_results_keep_their_order_and_errors_come_out() -> None:
    assert precompile.side_by_side(lambda n: n * n, range(20)) == [n * n for n in range(20)]

    def refuse(n: int) -> int:
        raise ParamError(f"no {n}")

    with pytest.raises(ParamError, match="no 3"):
        precompile.side_by_side(refuse, [3, 4])
