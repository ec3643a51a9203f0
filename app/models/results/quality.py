"""How close the input and a result are to the original without noise, in words. No widgets."""

from __future__ import annotations

import math

from PySide6.QtCore import QCoreApplication

from app.base.numbers import shown
from gpu_ops.types import Quality

translate = QCoreApplication.translate


def quality_text(quality: Quality | None) -> str:
    """The measure to compare first, before and after: PSNR of images, SNR of signals; "" for none."""
    if quality is None:
        return ""
    image = quality.after.ssim is not None
    name, figure = ("PSNR", "psnr") if image else ("SNR", "snr")
    change = _change(getattr(quality.before, figure), getattr(quality.after, figure), 1)
    return translate("Quality", "{name} {change} dB").format(name=name, change=change) if change else ""


def quality_lines(output: str, quality: Quality) -> list[str]:
    """All measures of an output, one per line."""
    figures = (("SNR", "snr", 2, " dB"), ("PSNR", "psnr", 2, " dB"), ("SSIM", "ssim", 4, ""))
    lines = []
    for name, figure, digits, unit in figures:
        change = _change(getattr(quality.before, figure), getattr(quality.after, figure), digits)
        if change:
            text = translate("Quality", "{output}: {name} {change}{unit} against the original without noise")
            lines.append(text.format(output=output, name=name, change=change, unit=unit))
    return lines


def gain(quality: Quality) -> float:
    """How much closer an output is to the original than the input is, in dB; 0 where that is not defined."""
    before, after = quality.before.snr, quality.after.snr
    return 0.0 if before is None or after is None or before == after else after - before


def _change(before: float | None, after: float | None, digits: int) -> str:
    """ "28.1 → 33.4"; "" where one is not defined."""
    return "" if before is None or after is None else f"{_figure(before, digits)} → {_figure(after, digits)}"


def _figure(value: float, digits: int) -> str:
    return "∞" if math.isinf(value) else shown(value, "f", digits)
