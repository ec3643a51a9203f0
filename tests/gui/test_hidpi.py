"""A screen with two pixels to the point."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from PySide6.QtGui import QImage


def test_a_screenshot_is_twice_as_large_and_as_sharp(tmp_path: Path) -> None:
    target = tmp_path / "window.png"
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "QT_SCALE_FACTOR": "2"}
    command = [sys.executable, "-m", "app", "--sample", "camera", "--size", "1000x700", "--screenshot", str(target)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    picture = QImage(str(target)).convertToFormat(QImage.Format.Format_Grayscale8)
    assert (picture.width(), picture.height()) == (2000, 1400)
    seen = {picture.pixelColor(x, y).lightness() for x in range(0, 2000, 7) for y in range(0, 1400, 7)}
    assert len(seen) > 50
    pairs = [(x, y) for x in range(700, 1900, 2) for y in range(200, 700, 10)]
    apart = sum(picture.pixelColor(x, y) != picture.pixelColor(x + 1, y) for x, y in pairs)
    assert apart > len(pairs) / 50  # drawn at full resolution, not small and then blown up
