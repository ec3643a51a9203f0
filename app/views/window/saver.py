"""Saves a result; where the format cannot hold its values, the user chooses in a message what becomes of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Slot

from app.controllers.session import SessionController
from app.figures import number
from app.models.facts import facts_of_result
from app.views.window.message_bar import MessageBar
from gpu_ops import Saving, maps_for
from gpu_ops.engine.shared import SharedResult
from gpu_ops.output_kinds import OUTPUT_KINDS

if TYPE_CHECKING:
    from app.models.display import Display


class Saver(QObject):
    """Saves the result that the controller has, and remembers what became of the values of each file."""

    def __init__(self, parent: QObject, controller: SessionController, messages: MessageBar) -> None:
        super().__init__(parent)
        self._controller, self._messages = controller, messages
        self._mappings: dict[str, str] = {}
        controller.saved.connect(self._take_saved)

    def save(self, path: str, display: Display | None) -> None:
        """Save the result to this file at once, or ask what becomes of values that the format cannot hold. `display`
        has the levels of a picture."""
        to_save = self._controller.result_to_save()
        if to_save is None:
            return
        result, maps = to_save[1], _maps(path, to_save[1], display)
        if not maps:
            self._controller.save_result(path, Saving(about=self._facts()))
            return
        levels = (display.low, display.high) if display is not None else None

        def saving(map: str) -> Callable[[], None]:
            return lambda: self._save_as(path, result, map, levels)

        titles = {
            "scale": self.tr("Scale to the full range"),
            "clip": self.tr("Clip"),
            "levels": self.tr("As shown"),
        }
        choices = {titles[map]: saving(map) for map in maps}
        self._messages.show_message("warning", self._question(path, result), "", "save", choices=choices)

    def _question(self, path: str, result: SharedResult) -> str:
        """What the format holds and what the result has."""
        name, dtype = Path(path).name, result.form.dtype
        sound = self.tr("The format of {name} holds sound from −1 to 1, and this result has {values}.")
        picture = self.tr("The format of {name} holds whole numbers from 0 on, and this result has {values}.")
        values = dtype
        if result.statistics is not None:
            low, high = number(result.statistics.minimum), number(result.statistics.maximum)
            values = self.tr("{dtype} from {low} to {high}").format(dtype=dtype, low=low, high=high)
        text = (sound if OUTPUT_KINDS[result.kind].heard else picture).format(name=name, values=values)
        return self.tr("{text} It is not saved yet: choose what becomes of its values.").format(text=text)

    def _save_as(self, path: str, result: SharedResult, map: str, levels: tuple[float, float] | None) -> None:
        """Save with this mapping, unless another result has come since the question."""
        present = self._controller.result_to_save()
        if present is None:
            return
        if present[1] is not result:
            text = self.tr("{name} is not saved, because the result has changed since; save it again.")
            self._messages.show_message("warning", text.format(name=Path(path).name), "", "save")
            return
        saving = Saving(map, levels if map == "levels" else None, self._facts())
        self._controller.save_result(path, saving)

    def _facts(self) -> dict[str, Any]:
        to_save = self._controller.result_to_save()
        variant = to_save[0] if to_save else ""
        return facts_of_result(self._controller.session, self._controller.results, variant)

    @Slot(object)
    def _take_saved(self, answer: Any) -> None:
        self._mappings[answer.path] = answer.mapping

    def mapping_of(self, path: str) -> str:
        """What became of the values of a file that was just saved, in words; "" where they are as they were."""
        return self._mappings.pop(path, "")


def _maps(path: str, result: SharedResult, display: Display | None) -> tuple[str, ...]:
    """The mappings to choose from; () where the format holds the values as they are, or no such result at all."""
    suffix, figures = Path(path).suffix.lower(), result.statistics
    if suffix not in OUTPUT_KINDS[result.kind].formats:
        return ()
    low, high = (figures.minimum, figures.maximum) if figures is not None else (0.0, 0.0)
    maps = maps_for(suffix, result.form.dtype, low, high)
    return maps if display is not None else tuple(map for map in maps if map != "levels")
