"""What connects the visible results with the picture beside them, and with parameters."""

from __future__ import annotations

from app.models.results import Results
from app.models.session import Session
from app.views.results.companion import Companion
from app.views.results.mask_link import MaskLink
from app.views.results.peak_link import PeakLink
from app.views.results.pictures import Pictures
from app.views.results.range_link import RangeLink
from app.views.results.wave_link import WaveLink


class Links:
    """Each listens to the signals of the Pictures and works by itself."""

    def __init__(self, pictures: Pictures, session: Session, results: Results) -> None:
        self.waves, self.ranges = WaveLink(pictures, session), RangeLink(pictures)
        self.masks = MaskLink(pictures, session)
        self.peaks = PeakLink(pictures, session)
        self.companion = Companion(pictures, session, results)
