"""Named sets of parameter values in the experiment panel."""

from __future__ import annotations

import itertools

import pytest
from PySide6.QtCore import QPoint, Qt

from app.models.experiment.session import Session
from app.views.dialogs.catalogue import Catalogue
from app.views.experiment.form import label_text
from app.views.experiment.panel import ExperimentPanel
from gpu_ops import FILTERS, find_filter
from gpu_ops.engine.shared import SharedArray, SharedInput, Statistics
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.task import Meta, Task
from gpu_ops.types import Filter


@pytest.fixture
def session(qtbot) -> Session:
    session = Session()
    session.set_filter("conv3x3")
    return session


@pytest.fixture
def panel(qtbot, session: Session) -> ExperimentPanel:
    panel = ExperimentPanel(session)
    qtbot.addWidget(panel)
    panel.resize(panel.fontMetrics().averageCharWidth() * 44, 480)
    panel.show()
    qtbot.waitExposed(panel)
    return panel


def choose(panel: ExperimentPanel, name: str) -> None:
    """Pick an entry as a person would."""
    combo = panel.presets.combo
    combo.setCurrentIndex(combo.findText(name))
    combo.activated.emit(combo.currentIndex())


def test_every_preset_is_offered_and_the_one_of_now_is_named(panel: ExperimentPanel, session: Session) -> None:
    combo, names = panel.presets.combo, list(session.filter.presets)
    assert [combo.itemText(i) for i in range(combo.count())] == [*names, "custom"]
    for name in names:
        choose(panel, name)
        assert session.choice.params == {**session.choice.params, **session.filter.preset(name)}
        assert combo.currentText() == name


def test_a_preset_is_one_step_to_undo_and_leaves_the_rest(panel: ExperimentPanel, session: Session) -> None:
    session.set_params({**session.choice.params, "border": "wrap"})
    before = session.choice.params
    choose(panel, "gaussian")
    assert session.choice.params["divisor"] == 16.0 and session.choice.params["border"] == "wrap"
    assert panel.form.values() == session.choice.params
    session.undo()
    assert session.choice.params == before and panel.presets.combo.currentText() == "sharpen"


def test_a_value_that_no_preset_has_makes_it_custom(panel: ExperimentPanel, session: Session, qtbot) -> None:
    spin = panel.form.editor("matrix").spins[4]
    spin.setFocus()
    spin.selectAll()
    qtbot.keyClicks(spin, "7")
    qtbot.keyClick(spin, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: session.choice.params["matrix"][4] == 7.0)
    combo = panel.presets.combo
    assert combo.currentText() == "custom"
    assert not combo.model().item(combo.currentIndex()).isEnabled()
    choose(panel, "custom")
    assert session.choice.params["matrix"][4] == 7.0
    session.undo()
    assert combo.currentText() == "sharpen"


def test_a_filter_without_presets_has_no_chooser(panel: ExperimentPanel, session: Session) -> None:
    assert panel.presets.isVisible()
    session.set_filter("mean2d")
    assert not panel.presets.isVisible()
    session.set_filter("conv3x3")
    assert panel.presets.isVisible()


def test_the_grid_fits_the_panel_and_nothing_is_squeezed(panel: ExperimentPanel, qtbot) -> None:
    spins = panel.form.editor("matrix").spins
    qtbot.waitUntil(lambda: spins[0].height() >= spins[0].minimumSizeHint().height())
    places = [spin.mapTo(panel, QPoint(0, 0)) for spin in spins]
    assert len({p.y() for p in places}) == 3 and len({p.x() for p in places}) == 3
    last = spins[2].mapTo(panel, spins[2].rect().bottomRight())
    assert last.x() < panel.width()
    text = spins[0].fontMetrics().horizontalAdvance("-0.125")
    assert all(spin.lineEdit().width() >= text for spin in spins)


def test_no_two_labels_of_the_panel_share_the_presets_key(panel: ExperimentPanel) -> None:
    from PySide6.QtWidgets import QLabel

    texts = [label.text() for label in panel.form.findChildren(QLabel)]
    keys = [text[text.index("&") + 1].lower() for text in texts if "&" in text]
    assert len(keys) == len(find_filter("conv3x3").params) and "p" not in keys


def test_a_preset_of_the_palette_is_one_step_to_undo(qtbot, session: Session) -> None:
    session.set_filter("mean2d")
    catalogue = Catalogue(session, session)
    offer = next(o for o in catalogue.offers() if o.name == "Convolution 3×3: gaussian")
    offer.action.trigger()
    assert session.filter.id == "conv3x3" and session.choice.params["divisor"] == 16.0
    session.undo()
    assert session.filter.id == "mean2d"
    session.redo()
    session.set_params({**session.choice.params, "border": "wrap", "divisor": 2.0})
    offer.action.trigger()
    assert (session.choice.params["divisor"], session.choice.params["border"]) == (16.0, "wrap")


def shared(kind: str, shape: tuple[int, ...], dtype: str) -> SharedInput:
    array = SharedArray("s", shape, dtype)
    axes = INPUT_KINDS[kind].axes_of(shape)
    figures = Statistics(0.0, 1.0, 0.5, {0.1: 0.0, 1: 0.0, 50: 0.5, 99: 1.0, 99.9: 1.0}, (1,) * 256, 0, 0)
    return SharedInput(kind, array, axes, "x", {}, None, True, figures)


@pytest.mark.parametrize("filter", FILTERS, ids=lambda f: f.id)
def test_what_is_ticked_at_first_can_run(qtbot, filter: Filter) -> None:
    shapes = {"image": ((64, 48), (60, 90, 3)), "signal": ((300,), (200, 2))}
    for shape, dtype in itertools.product(shapes[filter.accepts], ("uint8", "float32", "float64")):
        session = Session()
        session.set_devices(("cuda:0",))
        session.set_input(shared(filter.accepts, shape, dtype))
        session.set_filter(filter.id)
        assert "serial" in session.choice.picks and len(session.choice.picks) > 1
        for id in session.choice.picks:
            variant = filter.variant(id)
            knobs = {k.name: k.default for k in variant.knobs}
            task = Task.of(Meta(filter.accepts, shape, dtype), session.params, knobs)
            assert not variant.refusal(task), (id, shape, dtype)


def test_ticks_that_nobody_touched_follow_the_type_of_another_input(qtbot) -> None:
    session = Session()
    session.set_devices(("cuda:0",))
    session.set_input(shared("signal", (300,), "float64"))
    session.set_filter("layout")
    assert "packed" not in session.choice.picks
    session.set_input(shared("signal", (300,), "float32"))
    assert "packed" in session.choice.picks
    session.set_picks(("serial", "packed"))
    session.set_input(shared("signal", (300,), "float64"))
    assert session.choice.picks == ("serial", "packed"), "a person chose them"


def test_no_label_of_a_form_is_that_of_the_bar_of_outputs() -> None:
    """One control called Result above the pictures and one in the form were two different things."""
    titles = {"output", "scale"}
    assert not titles & {label_text(p.name).replace("&", "").lower() for f in FILTERS for p in f.params}
