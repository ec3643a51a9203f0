"""Many choices in families, with the functions that the chosen one represents."""

from __future__ import annotations

from typing import Any

import pytest
import pywt
from PySide6.QtCore import Qt

from app.views.experiment.form import ParameterForm
from app.views.experiment.look_editor import LookEditor
from gpu_ops.errors import LibraryMissing
from gpu_ops.filters.wavelet.bases import FAMILIES, LOOK, curves, family
from gpu_ops.params import Look, Param

NAMES = ("haar", "db2", "db4", "sym4", "coif1", "bior1.3", "bior2.2", "rbio1.3")
WAVELET = Param("wavelet", "db4", choices=NAMES, look=LOOK)


@pytest.fixture
def form(qtbot: Any) -> Any:
    form: Any = ParameterForm((WAVELET, Param("levels", 4, 1, 8)))
    qtbot.addWidget(form)
    form.events = []
    form.changed.connect(form.events.append)
    form.show()
    qtbot.waitExposed(form)
    return form


def drawn(qtbot: Any, form: Any, name: str) -> list[str]:
    """The names of the functions once those of this wavelet are drawn."""
    sketch = form.editor("wavelet").curves
    qtbot.waitUntil(lambda: sketch.drawn == name, timeout=20_000)
    return [curve.name for curve in sketch.curves]


def test_every_wavelet_has_a_family_and_its_functions() -> None:
    for name in pywt.wavelist(kind="discrete"):
        if name.rstrip("0123456789.") in FAMILIES:
            assert family(name) in FAMILIES.values()
    phi, psi = curves("haar")
    assert {round(y, 9) for y in phi.y} == {0, 1} and {round(y, 9) for y in psi.y} == {-1, 0, 1}
    assert phi.x[0] == 0 and phi.x[-1] == pytest.approx(1, abs=0.01)
    wave = curves("db4")[1]
    step = wave.x[1] - wave.x[0]
    assert abs(sum(wave.y) * step) < 1e-3 and abs(sum(y * y for y in wave.y) * step - 1) < 1e-3
    assert [c.name for c in curves("bior2.2")] == ["analysis φ", "analysis ψ", "synthesis φ", "synthesis ψ"]
    assert max(len(c.x) for c in curves("db20")) < 1100


def test_typed_letters_choose_a_wavelet_and_its_functions_follow(qtbot: Any, form: Any) -> None:
    chooser = form.editor("wavelet")
    assert isinstance(chooser, LookEditor)
    assert drawn(qtbot, form, "db4") == ["scaling φ", "wavelet ψ"]
    chooser.combo.setFocus()
    qtbot.keyClicks(chooser.combo, "db2")
    qtbot.waitUntil(lambda: form.events != [])
    assert form.events == [{"wavelet": "db2", "levels": 4}]
    drawn(qtbot, form, "db2")
    qtbot.keyClicks(chooser.combo, "reverse")
    qtbot.waitUntil(lambda: form.values()["wavelet"] == "rbio1.3")
    assert len(drawn(qtbot, form, "rbio1.3")) == 4


def test_arrow_keys_pass_over_the_headings(qtbot: Any, form: Any) -> None:
    chooser = form.editor("wavelet")
    for name in ("sym4", "coif1", "bior1.3"):
        qtbot.keyClick(chooser.combo, Qt.Key.Key_Down)
        assert form.values()["wavelet"] == name
    form.set_values({"wavelet": "haar"})
    qtbot.keyClick(chooser.combo, Qt.Key.Key_Up)
    assert form.values()["wavelet"] == "haar" and chooser.value() == "haar", "above it there is only a heading"


def test_values_from_outside_are_drawn_without_a_word_back(qtbot: Any, form: Any) -> None:
    form.set_values({"wavelet": "bior2.2"})
    assert len(drawn(qtbot, form, "bior2.2")) == 4 and form.events == []
    form.reset()
    assert len(drawn(qtbot, form, "db4")) == 2


def test_functions_are_computed_when_they_are_to_be_seen(qtbot: Any) -> None:
    asked: list[str] = []

    def missing(name: str) -> Any:
        asked.append(name)
        raise LibraryMissing("pywt cannot be imported; install PyWavelets.")

    form: Any = ParameterForm((Param("wavelet", "db4", choices=NAMES, look=Look(family, missing)),))
    qtbot.addWidget(form)
    form.set_values({"wavelet": "db2"})
    assert asked == []
    form.show()
    sketch = form.editor("wavelet").curves
    qtbot.waitUntil(lambda: "install PyWavelets" in sketch.failure, timeout=20_000)
    sketch.grab()
    assert asked == ["db2"] and form.values()["wavelet"] == "db2", "it can be chosen all the same"
