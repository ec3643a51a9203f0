"""Two pictures that are compared pixel by pixel in a background thread. No widgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal, Slot

from app.models.background import Background
from app.models.pictures.layer import Layer
from app.models.pictures.pyramid import Array
from app.models.results.origin import Origin


class Pair(QObject):
    """Follows two layers and begins again whenever one of them has another array; the latest wins. `failure` says why
    they cannot be compared. While it is not `active`, because nobody sees it, nothing is computed, and nothing is kept
    of pictures that are gone. `changed`: what was found, the failure or a title changed.

    A kind of comparison says what is computed of both (`_begin`), and forgets what it has (`_clear`).
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.failure = ""
        self._active = True
        self._layers: list[Layer] = []
        self._sources: list[object] = []
        self._origin = Origin()
        self._background = Background(self)
        self._background.failed.connect(self._reset)

    @property
    def layers(self) -> tuple[Layer, ...]:
        """A and B; () while it follows none."""
        return tuple(self._layers)

    @property
    def busy(self) -> bool:
        """Whether something is being computed."""
        return self._background.busy

    @property
    def waits_for(self) -> Layer | None:
        """The first of the pair that has no picture."""
        return next((layer for layer in self._layers if layer.pyramid is None), None)

    def set_active(self, active: bool) -> None:
        """Begin or stop to follow the pair."""
        if active == self._active:
            return
        self._active = active
        if active:
            self._follow()
        elif self._background.busy:
            self._release()

    def of(self, layers: Sequence[Layer]) -> None:
        """Follow A and B; with fewer than two layers, follow none and release the arrays."""
        wanted = list(layers) if len(layers) == 2 else []
        if wanted == self._layers:
            return
        for layer in set(self._layers):
            layer.changed.disconnect(self._follow)
            layer.described.disconnect(self._update_title)
        self._layers = wanted
        for layer in set(wanted):
            layer.changed.connect(self._follow)
            layer.described.connect(self._update_title)
        self._reset()  # what was found of another pair must not stand under the new names
        self._follow()

    def _clear(self) -> None:
        """Forget what was found."""
        raise NotImplementedError

    def _begin(self, a: Array, b: Array) -> None:
        """Compute in the background; `a` and `b` are the values of both in the same places."""
        raise NotImplementedError

    def _restart(self) -> None:
        """Compute again, though both are what they were."""
        self._sources = []
        self._follow()

    def _release(self) -> None:
        """Keep nothing of pictures that are gone."""
        self._background.cancel()
        self._sources, self.failure = [], ""
        self._clear()
        self.changed.emit()

    @Slot(str)
    def _reset(self, failure: str = "") -> None:
        self.failure = failure
        self._clear()
        self.changed.emit()

    @Slot()
    def _update_title(self) -> None:
        self.changed.emit()

    @Slot()
    def _follow(self) -> None:
        """Start again if a layer has another array; new levels or colours of the same array do not matter."""
        sources = [layer.pyramid for layer in self._layers]
        self._update_title()
        if sources == self._sources:
            return
        if not self._active:
            self._release()
            return
        self._sources = list(sources)
        self._background.cancel()
        if not sources or None in sources:
            self._reset()
            return
        a, b, self._origin = in_common(*self._layers)
        if refusal := self._refusal(a, b):
            self._reset(refusal)
        else:
            self._begin(a, b)

    def _refusal(self, a: Array, b: Array) -> str:
        """Why the two cannot be compared; "" where they can."""
        one, other = self._layers
        units = [layer.drawn.unit for layer in self._layers if layer.drawn is not None]
        if one.origin.exact != other.origin.exact:
            return self._exactness_text()
        if a.shape != b.shape:
            text = self.tr(
                "no difference of {a} and {b}: choose two pictures with the same size and number of channels"
            )
            return text.format(a=self._size(a), b=self._size(b))
        if len(set(units)) > 1:
            text = self.tr("no difference of values in {a} and in {b}: choose two pictures of one unit")
            return text.format(a=units[0] or "1", b=units[1] or "1")
        return ""

    def _exactness_text(self) -> str:
        part = next(layer.title for layer in self._layers if not layer.origin.exact)
        text = self.tr(
            "no difference: {part} was computed from the simulated part alone, because the filter reaches too far;"
            " choose a shorter window or radius"
        )
        return text.format(part=part)

    def _size(self, array: Array) -> str:
        height, width = array.shape[:2]
        text = self.tr("{width} × {height} × {channels}") if array.ndim == 3 else self.tr("{width} × {height}")
        return text.format(width=width, height=height, channels=array.shape[-1])


def in_common(one: Layer, other: Layer) -> tuple[Array, Array, Origin]:
    """The part of one input that both layers cover, and its origin; both as a whole where their inputs differ."""
    assert one.pyramid is not None and other.pyramid is not None
    both, simulated = one.rect.intersection(other.rect), one.origin.simulated or other.origin.simulated
    if one.extent != other.extent or one.rect == other.rect or not both.area:
        origin = replace(one.origin, simulated=simulated)
        return one.compared, other.compared, origin
    return (
        one.part(both, one.compared),
        other.part(both, other.compared),
        Origin(simulated, (both.top, both.left), one.extent or ()),
    )
