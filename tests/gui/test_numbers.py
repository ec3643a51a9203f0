"""Numbers on the screen: the locale's digits, and one minus sign everywhere."""

from __future__ import annotations

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from app.base import numbers
from app.models.experiment.job_text import value_text
from app.views.experiment.spins import FloatSpin, IntSpin, LevelSpin
from app.views.parts import number
from app.views.results.reading import values_text
from gpu_ops.params import Param

MANY = -(10**20) - 1
"""More than Qt's 63 bits."""


def test_negative_numbers_have_the_minus_sign() -> None:
    assert numbers.number(-1.5e-9) == "−1.5e−09" and numbers.count(-7.2) == "−7"
    assert numbers.shown(np.int64(-12_345_678)).replace(",", "") == "−12345678", "an integer is never rounded"
    assert number(-0.5) == "−0.5" and number(MANY).replace(",", "") == "−100000000000000000001"
    assert values_text(np.array([-1.0, 2.0, -3 - 4j]), "mV") == "−1 + 0i, 2 + 0i, −3 − 4i mV"
    assert value_text([[0, -1], [-1, 4.5]]) == "0 −1 −1 4.5"


def test_copied_numbers_have_the_hyphen_and_differences_keep_the_minus() -> None:
    assert numbers.copied("A − B\t−3.5\t−∞\t−1.5e−09") == "A − B\t-3.5\t-∞\t-1.5e-09"


@pytest.mark.parametrize("text", ["−3", "-3"])
def test_a_number_box_shows_the_minus_sign_and_reads_both(qtbot: QtBot, text: str) -> None:
    boxes = IntSpin(Param("shift", 0, -9, 9)), FloatSpin(Param("offset", 0.0, -9.0, 9.0)), LevelSpin()
    for box in boxes:
        qtbot.addWidget(box)
        box.setMinimum(-9)
        box.lineEdit().setText(text)
        box.interpretText()
        assert box.value() == -3, type(box)
        box.setValue(-5)
        assert box.text().startswith("−5"), type(box)
