"""A person compares two thresholds of a wavelet denoising by clicks and keys, with a real engine."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QComboBox, QStyle, QStyleOptionComboBox
from test_walk_through import Walk, engine, walk  # noqa: F401

from app.views.comparing.agreement_bar import AgreementLabel
from app.views.window.main_window import INPUT


def click(walk: Walk, button: Any) -> None:  # noqa: F811
    walk.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def press(walk: Walk, key: Qt.Key, modifier: Any = Qt.KeyboardModifier.NoModifier) -> None:  # noqa: F811
    focus = QApplication.focusWidget() or walk.window
    walk.qtbot.keyClick(focus, key, modifier)


def choose(walk: Walk, box: QComboBox, key: str) -> None:  # noqa: F811
    box.setCurrentIndex(box.findData(key))
    box.activated.emit(box.currentIndex())
    walk.qtbot.waitUntil(lambda: not walk.window.panes.computing)


def option_of(box: QComboBox) -> QStyleOptionComboBox:
    option = QStyleOptionComboBox()
    box.initStyleOption(option)
    return option


def alone(walk: Walk) -> list[str]:  # noqa: F811
    return [pane.title.text() for pane in walk.window.panes.every.values() if pane.isVisible()]


def test_two_thresholds_are_compared(walk: Walk) -> None:  # noqa: F811
    window, panes, qtbot = walk.window, walk.window.panes, walk.qtbot
    walk.open("camera")
    walk.noise()
    walk.filter("wavelet2d")
    walk.set("rule", "manual")
    walk.set("value", 20.0)
    press(walk, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    walk.set("value", 60.0)
    (pinned,) = walk.session.shown.pins
    titles = {key: panes.pane(key).layer.title for key in ("serial", pinned)}
    assert titles == {"serial": "value 60", pinned: "value 20 · pinned"}
    weak, strong = (walk_array(walk, id) for id in (pinned, "serial"))

    # A swipe: each side shows its own result, and the numbers say how far both are from each other.
    click(walk, panes.bar.modes.button(1))
    choose(walk, panes.first, pinned)
    choose(walk, panes.second, "serial")
    for box in (panes.first, panes.second):
        field = box.style().subElementRect(QStyle.SubElement.SE_ComboBoxFocusRect, option_of(box), box)
        assert box.fontMetrics().horizontalAdvance(box.currentText()) <= field.width(), "one reads which two they are"
    words, canvas = panes.findChild(AgreementLabel), panes.compare
    far = weak.astype(float) - strong
    rmse = np.sqrt(np.mean(far**2))
    assert words.text().startswith(f"RMSE {float(f'{rmse:.4g}'):g} · PSNR {20 * np.log10(255 / rmse):.2f} dB · SSIM 0.")
    middle = canvas.width() // 2
    qtbot.mousePress(canvas, Qt.MouseButton.LeftButton, pos=QPoint(middle, 40))
    qtbot.mouseMove(canvas, QPoint(middle - 60, 40))
    qtbot.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=QPoint(middle - 60, 40))
    assert canvas.side(1).left() == middle - 60 and [layer.title for layer in canvas.layers] == [*titles.values()][::-1]

    # Where they differ, by how much, and the worst pixel.
    click(walk, panes.bar.modes.button(3))
    qtbot.waitUntil(lambda: not panes.computing)
    sizes = np.abs(far)
    row, column = (int(at) for at in np.unravel_index(np.argmax(sizes), sizes.shape))
    assert panes.difference.distance.differing == np.count_nonzero(far)
    assert f"largest {far[row, column]:g} at x {column}, y {row}" in canvas.notes
    assert f"{np.count_nonzero(far)} of 262144 pixels differ" in canvas.notes
    press(walk, Qt.Key.Key_J)
    assert window.display.centre == (column + 0.5, row + 0.5)
    said = panes.values.text()
    assert said.startswith(f"x {column}, y {row}") and said.endswith(f"difference: {far[row, column]:g}")
    assert f"value 20 · pinned: {weak[row, column]}" in said and f"value 60: {strong[row, column]}" in said

    # One picture on the whole screen, and the others by keys.
    click(walk, panes.bar.modes.button(0))
    window.display.refit()
    panes.pane("serial").canvas.setFocus()
    press(walk, Qt.Key.Key_F)
    assert window.isFullScreen() and alone(walk) == ["value 60"] and not window.menuBar().isVisible()
    press(walk, Qt.Key.Key_Right)
    assert alone(walk) == ["value 20 · pinned"]
    press(walk, Qt.Key.Key_1)
    assert alone(walk) == [panes.pane(INPUT).layer.title] == ["camera + noise σ 20"]
    press(walk, Qt.Key.Key_Escape)
    assert len(alone(walk)) == 3 and not window.isFullScreen()


def walk_array(walk: Walk, id: str) -> np.ndarray:  # noqa: F811
    shown = walk.window.stack.shown(id, "image")
    assert shown is not None
    return np.array(shown.array)
