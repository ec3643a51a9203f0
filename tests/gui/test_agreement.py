"""RMSE, PSNR, SSIM and pixels above a tolerance, of two pictures that are compared in one place."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from pytestqt.qtbot import QtBot
from test_panes import shown

from app.models.pictures.agreement import agreement_of
from app.views.comparing.agreement_bar import AgreementLabel, figures_text
from app.views.pictures.panes import PaneGrid
from gpu_ops import structural_similarity
from gpu_ops.running.quality import compare


def compared(qtbot: QtBot, a: Any, b: Any, mode: Any = "swipe") -> tuple[PaneGrid, AgreementLabel]:
    grid = shown(qtbot, ["a", "b"])
    grid.set_array("a", a, None, "Result a")
    grid.set_array("b", b, None, "Result b")
    grid.set_mode(mode)
    qtbot.waitUntil(lambda: not grid.computing)
    return grid, grid.findChild(AgreementLabel)


@pytest.mark.parametrize("shape", [(40, 50), (40, 50, 3)])
def test_figures_are_those_of_numpy_and_of_the_engine(shape: tuple[int, ...]) -> None:
    random = np.random.default_rng(0)
    a = random.integers(0, 256, shape).astype(np.uint8)
    b = np.clip(a.astype(int) + random.integers(-9, 10, shape), 0, 255).astype(np.uint8)
    found, far = agreement_of(a, b, None, 5), np.abs(a.astype(int) - b)
    rmse, over = math.sqrt(np.mean(far.astype(float) ** 2)), far > 5
    assert found is not None and found.rmse == pytest.approx(rmse) and found.span == 255
    assert found.psnr == pytest.approx(20 * math.log10(255 / rmse))
    assert found.ssim == pytest.approx(compare(a, b, image=True).ssim)
    assert found.over == (over.any(axis=2) if a.ndim == 3 else over).sum() and found.pixels == 2000
    wide = agreement_of(a, b, 510, 5)
    assert wide is not None and wide.psnr == pytest.approx(found.psnr + 20 * math.log10(2))
    assert wide.ssim > found.ssim


def test_what_is_not_defined_is_left_out() -> None:
    one = np.full((20, 20), 3.0)
    same, broken = agreement_of(one, one.copy(), None, 0), one.copy()
    assert same is not None and (same.rmse, same.psnr, same.ssim, same.over) == (0, math.inf, None, 0)
    assert figures_text(same) == "RMSE 0 · PSNR ∞ dB · 0 of 400 pixels over 0"
    broken[3, 4] = np.nan
    found = agreement_of(broken, one, None, 1)
    assert found is not None and (found.rmse, found.psnr, found.ssim, found.over) == (None, None, None, 1)
    assert figures_text(found) == "1 of 400 pixels over 1"
    dot = agreement_of(one[:1, :1], one[:1, :1] + 1, 8, 0)
    assert dot is not None and (dot.rmse, dot.over, dot.ssim) == (1, 1, None) and dot.psnr == pytest.approx(18.0618)
    assert agreement_of(one, one, None, 0, lambda: True) is None
    assert (
        structural_similarity(broken, broken, 1.0) is None
        and structural_similarity(one, one, 1.0, lambda: True) is None
    )


def test_range_and_tolerance_are_set_below_the_pictures(qtbot: QtBot) -> None:
    a = np.zeros((30, 40), np.uint8)
    b = a.copy()
    b[:3] = 10
    grid, words = compared(qtbot, a, b)
    limits = grid.limits
    assert words.isVisible() and words.text().startswith("RMSE 3.162 · PSNR 38.13 dB · SSIM 0.")
    assert words.text().endswith(" · 120 of 1200 pixels over 0") and limits.span.text() == "auto: 255"
    limits.tolerance.setValue(10)
    limits.span.setValue(10)
    qtbot.waitUntil(lambda: not grid.computing)
    assert " · PSNR 10.00 dB · " in words.text() and words.text().endswith("0 of 1200 pixels over 10")
    grid.set_array("b", a + 5, None, "Newer b")
    qtbot.waitUntil(lambda: "RMSE 5 ·" in words.text())
    grid.set_array("b", np.zeros((3, 3), np.uint8), None, "Smaller b")
    assert not words.isVisible() and grid.agreement.failure.startswith("no difference of 40 × 30 and 3 × 3")  # noqa: RUF001
    grid.set_mode("side by side")
    assert grid.agreement.figures is None and not grid.agreement.layers
