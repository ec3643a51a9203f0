"""How far two compared pictures agree, below them."""

from __future__ import annotations

import math

from PySide6.QtCore import QCoreApplication, Slot
from PySide6.QtWidgets import QWidget

from app.base.numbers import shown
from app.models.pictures.agreement import Agreement, Figures
from app.views.boxes import in_row
from app.views.experiment.spins import FloatSpin
from app.views.flow import FlowLayout
from app.views.labels import buddy, named
from app.views.parts import ElidedLabel, number
from gpu_ops.params import Param

MOST = 1e12


class AgreementLabel(ElidedLabel):
    """The figures of two compared pictures in one line; hidden where there are none."""

    def __init__(self, agreement: Agreement, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._agreement = agreement
        unit = self.fontMetrics().averageCharWidth()
        self.setContentsMargins(unit, 0, unit, 0)
        named(self, "agreementWords")
        agreement.changed.connect(self._show)

    @Slot()
    def _show(self) -> None:
        figures = self._agreement.figures
        self.setText("" if figures is None else figures_text(figures))
        self.setVisible(figures is not None or self._agreement.busy)


class AgreementLimits(QWidget):
    """The range that PSNR and SSIM use, and the tolerance that pixels may differ by. A range of 0 means the default for
    the pictures' type or values."""

    def __init__(self, agreement: Agreement, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("agreementLimits")
        self._agreement = agreement
        self.span = self._spin("agreementSpan", self.tr("Range of values that PSNR and SSIM use; 0 is automatic"))
        self.tolerance = self._spin("agreementTolerance", self.tr("Pixels that differ by more than this are counted"))
        unit = self.fontMetrics().averageCharWidth()
        row = FlowLayout(self, gap=unit, wide=True)
        row.setContentsMargins(0, 0, 0, 0)
        for text, spin in ((self.tr("Range"), self.span), (self.tr("Tolerance"), self.tolerance)):
            part = QWidget(self)
            in_row(buddy(text, spin), spin, on=part, gap=unit)
            row.addWidget(part)
        agreement.changed.connect(self._show)
        self.span.setSpecialValueText(self.tr("auto"))

    def _spin(self, name: str, tip: str) -> FloatSpin:
        spin = named(FloatSpin(Param(name, 0.0, 0.0, MOST), self), name, title=tip, tip=tip)
        spin.setMinimum(0.0)
        spin.valueChanged.connect(self._choose)
        return spin

    @Slot()
    def _choose(self) -> None:
        self._agreement.set_limits(self.span.value() or None, self.tolerance.value())

    @Slot()
    def _show(self) -> None:
        figures = self._agreement.figures
        if figures is not None and self._agreement.span is None:
            self.span.setSpecialValueText(self.tr("auto: {span}").format(span=number(float(f"{figures.span:.4g}"))))


def figures_text(figures: Figures) -> str:
    """ "RMSE 3.21 · PSNR 38.00 dB · SSIM 0.9812 · 1203 of 262144 pixels over 10"; what is not defined is left out."""
    texts = []
    if figures.rmse is not None:
        texts.append(_tr("RMSE {rmse}").format(rmse=number(float(f"{figures.rmse:.4g}"))))
    if figures.psnr is not None:
        psnr = "∞" if math.isinf(figures.psnr) else shown(figures.psnr, "f", 2)
        texts.append(_tr("PSNR {psnr} dB").format(psnr=psnr))
    if figures.ssim is not None:
        texts.append(_tr("SSIM {ssim}").format(ssim=shown(figures.ssim, "f", 4)))
    over = _tr("{over} of {pixels} pixels over {tolerance}")
    values = number(figures.over), number(figures.pixels), number(figures.tolerance)
    texts.append(over.format(**dict(zip(("over", "pixels", "tolerance"), values, strict=True))))
    return " · ".join(texts)


def _tr(text: str) -> str:
    return QCoreApplication.translate("Agreement", text)
