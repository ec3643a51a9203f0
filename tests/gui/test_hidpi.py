"""A screen with two pixels to the point."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

ROOT = Path(__file__).parents[2]


@pytest.mark.thorough  # processes of its own
def test_a_screenshot_is_twice_as_large_and_as_sharp(tmp_path: Path) -> None:
    target = tmp_path / "window.png"
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "QT_SCALE_FACTOR": "2"}
    command = [sys.executable, "-m", "app", "--sample", "camera", "--variant", "serial", "--size", "1000x700"]
    command += ["--screenshot", str(target)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    picture = QImage(str(target)).convertToFormat(QImage.Format.Format_Grayscale8)
    assert (picture.width(), picture.height()) == (2000, 1400)
    seen = {picture.pixelColor(x, y).lightness() for x in range(0, 2000, 7) for y in range(0, 1400, 7)}
    assert len(seen) > 50
    pairs = [(x, y) for x in range(700, 1900, 2) for y in range(200, 700, 10)]
    apart = sum(picture.pixelColor(x, y) != picture.pixelColor(x + 1, y) for x, y in pairs)
    assert apart > len(pairs) / 50  # drawn at full resolution, not small and then blown up


def run_on_a_fine_screen(code: str) -> None:
    """Run Python in a process of its own, with two device pixels to a screen pixel."""
    environment = os.environ | {"QT_SCALE_FACTOR": "2", "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_a_walk_on_a_fine_screen() -> None:
    code = """
import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication
app = QApplication([])
from app.models.pictures.display import Display
from app.models.pictures.viewport import Viewport
from app.views.pictures.image_pane import ImagePane
rng = np.random.default_rng(1)
array = rng.standard_normal((700, 800)).astype(np.float32)
array[300:320, 400:700:9] = np.nan
pane = ImagePane(Display())
pane.resize(231, 257)
pane.set_array(array, None, "fine")
pane.show()
canvas, display = pane.canvas, pane.display
assert canvas.devicePixelRatioF() == 2
seen = 0
for step in range(120):
    if step % 30 == 0:
        display.fit(800, 700, *(np.array([800, 700]) / (0.21, 1, 2.7, 6.2)[step // 30]))
    reach = (5, 60, 400)[rng.integers(3)]
    display.pan(*(rng.integers(-reach, reach, 2) * display.scale / 2))
    if step % 10 == 9:
        display.fit(800, 700, 800 / display.scale, 700 / display.scale)
    pane.grab()
    fresh = Viewport().picture(pane.layer.pyramid, canvas._frame(), pane.layer.tone_in(display))
    assert (fresh is None) == (canvas.images[0] is None)
    if fresh is None:
        continue
    image, x, y = canvas.images[0]
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    assert np.array_equal(rows, fresh.array.reshape(len(fresh.array), -1)), (step, display.scale)
    seen += 1
    if display.scale < 0.5:
        for _ in range(5):
            column, row = rng.integers(image.width()), rng.integers(image.height())
            value = pane.layer.value(*canvas.pixel_at(QPointF((x + column) / 2, (y + row) / 2)))[0]
            byte = fresh.array[row, column]
            wanted = 255 * (value - display.low) / (display.high - display.low)
            assert np.isnan(value) or np.abs(byte.flat[0] - wanted) < 0.51, (value, byte)
assert seen > 60, seen
"""
    run_on_a_fine_screen(code)


def test_twice_the_pixels_on_a_fine_screen() -> None:
    code = """
import numpy as np
from PySide6.QtWidgets import QApplication
app = QApplication([])
from app.models.pictures.display import Display
from app.views.pictures.image_pane import ImagePane
pane = ImagePane(Display())
pane.resize(400, 400)
pane.set_array(np.arange(1000 * 1000, dtype=np.uint32).astype(np.uint16).reshape(1000, 1000), None, "fine")
pane.show()
pane.display.one_to_one()
pane.grab()
image, x, y = pane.canvas.images[0]
assert pane.devicePixelRatioF() == 2 and image.devicePixelRatio() == 2
assert (image.width(), image.height()) == (2 * pane.canvas.width(), 2 * pane.canvas.height()), image.size()
assert (x, y) == (0, 0) and image.deviceIndependentSize().toSize() == pane.canvas.size()
"""
    run_on_a_fine_screen(code)
