"""Saves a result; where the format cannot keep its values, a message lets the user choose how to convert them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Slot

from app.base.numbers import number
from app.controllers.chosen import Chosen
from app.controllers.session import SessionController
from app.models.experiment.shown import variant_of
from app.models.files.facts import facts_of_result
from app.models.files.file_names import save_kinds, save_suffix
from app.views.window.message_bar import MessageBar
from gpu_ops import Saving, maps_for
from gpu_ops.engine.shared import SharedResult
from gpu_ops.errors import either
from gpu_ops.output_kinds import OUTPUT_KINDS

if TYPE_CHECKING:
    from app.models.pictures.display import Display


class Saver(QObject):
    """Saves the controller's results, and remembers how the values of each file were converted."""

    def __init__(
        self,
        parent: QObject,
        controller: SessionController,
        messages: MessageBar,
        target: Callable[[str, str, str], str],
        name: Callable[[str, str, Mapping[str, Any]], str],
    ) -> None:
        """`target(title, name, kinds)` asks for a path, "" for none; `name(what, suffix, params)` proposes a file
        name."""
        super().__init__(parent)
        self._controller, self._messages, self._target, self._name = controller, messages, target, name
        self._mappings: dict[str, str] = {}
        controller.saved.connect(self._take_saved)

    def ask(self, looked_at: str, display: Display | None) -> None:
        """Ask for a name and save a result to it. A result of only a part of the input is saved only if the user
        confirms it."""
        what = self._controller.result_to_save(looked_at)
        if what is not None and what.partial:
            self._ask_about_part(what, display)
        elif what is not None:
            self._ask_name(what, display)

    def _ask_about_part(self, what: Chosen, display: Display | None) -> None:
        shown = self._controller.session.shown
        whole = self._controller.result_to_save()
        choices = {self.tr("Save the part"): lambda: self._ask_name(what, display)}
        if whole is not None and not whole.partial:
            text = self.tr("Save {variant} instead").format(variant=shown.name(whole.variant))
            choices[text] = lambda: self._ask_name(whole, display)
        text = self.tr("A simulated GPU ran {variant} on a part of the input only{size}. It is not saved yet.")
        text = text.format(variant=shown.name(what.variant), size=self._size(what))
        self._messages.show_message("warning", text, "", "save", choices=choices)

    def _size(self, what: Chosen) -> str:
        """How much of the input a result covers, for the middle of a sentence; "" for a result without a position in
        it."""
        if what.part is None:
            return ""
        there, whole = (
            " × ".join(number(n) for n in reversed(extents)) for extents in (what.part.extents, what.part.whole)
        )
        return self.tr(": its result has {there} of {whole}").format(there=there, whole=whole)

    def _ask_name(self, what: Chosen, display: Display | None) -> None:
        """Ask for a name and save this result, or the one that has replaced it meanwhile."""
        kind, dtype, session = what.result.kind, what.result.form.dtype, self._controller.session
        name = variant_of(what.variant)
        name = name if len(session.filter.outputs) == 1 else f"{name}-{session.output.id}"
        params = session.shown.key(what.variant).params
        name = self._name(f"{name}-part" if what.partial else name, save_suffix(kind, dtype, what.rate), params)
        title = self.tr("Save the result of {variant}").format(variant=session.shown.name(what.variant))
        path = self._target(title, name, save_kinds(kind, dtype, what.rate))
        if path:
            self.save(path, what.variant, display)

    def save(self, path: str, looked_at: str, display: Display | None) -> None:
        """Save the result of the variant that is `looked_at` to this file at once, or ask how to convert values that
        the format cannot keep. `display` has the levels of a picture."""
        what = self._controller.result_to_save(looked_at)
        if what is None:
            return
        maps = _maps(path, what.result, display)
        if not maps:
            self._controller.save_result(path, what, Saving(about=self._facts(what)))
            return
        levels = (display.low, display.high) if display is not None else None

        def saving(map: str) -> Callable[[], None]:
            return lambda: self._save_as(path, what, map, levels)

        titles = {
            "scale": self.tr("Scale to the full range"),
            "clip": self.tr("Clip"),
            "levels": self.tr("As shown"),
        }
        choices = {titles[map]: saving(map) for map in maps}
        self._messages.show_message("warning", self._question(path, what.result), "", "save", choices=choices)

    def _question(self, path: str, result: SharedResult) -> str:
        """What the format can keep, what the result has, and which formats can keep that."""
        name, dtype, formats = Path(path).name, result.form.dtype, OUTPUT_KINDS[result.kind].formats
        others = [other for other in formats if not maps_for(other, dtype, *_ends(result))]
        sound = self.tr("The format of {name} holds sound from −1 to 1, and this result has {values}.")
        whole = self.tr("The format of {name} holds whole numbers from 0 on, and this result has {values}.")
        some = self.tr("The format of {name} does not hold every type, and this result has {values}.")
        picture = whole if name.lower().endswith(".png") else some
        values = dtype
        if result.statistics is not None:
            low, high = number(result.statistics.minimum), number(result.statistics.maximum)
            values = self.tr("{dtype} from {low} to {high}").format(dtype=dtype, low=low, high=high)
        text = (sound if OUTPUT_KINDS[result.kind].heard else picture).format(name=name, values=values)
        asked = self.tr("{text} It is not saved yet: choose what becomes of its values, or save it as {formats}.")
        return asked.format(text=text, formats=either(others))

    def _save_as(self, path: str, what: Chosen, map: str, levels: tuple[float, float] | None) -> None:
        """Save with this mapping, unless another result has arrived since the question."""
        present = self._controller.result_to_save(what.variant)
        if present is None:
            return
        if present.result is not what.result:
            text = self.tr("{name} is not saved, because the result has changed since; save it again.")
            self._messages.show_message("warning", text.format(name=Path(path).name), "", "save")
            return
        saving = Saving(map, levels if map == "levels" else None, self._facts(what))
        self._controller.save_result(path, what, saving)

    def _facts(self, what: Chosen) -> dict[str, Any]:
        controller = self._controller
        return facts_of_result(controller.session, controller.results, what.variant, what.part)

    @Slot(object)
    def _take_saved(self, answer: Any) -> None:
        self._mappings[answer.path] = answer.mapping

    def mapping_of(self, path: str) -> str:
        """How the values of a saved file were converted, in words; "" where they are unchanged."""
        return self._mappings.pop(path, "")


def _maps(path: str, result: SharedResult, display: Display | None) -> tuple[str, ...]:
    """The mappings to choose from; () where the format keeps the values unchanged, or cannot store the result at
    all."""
    suffix = Path(path).suffix.lower()
    if suffix not in OUTPUT_KINDS[result.kind].formats:
        return ()
    maps = maps_for(suffix, result.form.dtype, *_ends(result))
    return maps if display is not None else tuple(map for map in maps if map != "levels")


def _ends(result: SharedResult) -> tuple[float, float]:
    """The smallest and the largest value; (0, 0) without values."""
    figures = result.statistics
    return (figures.minimum, figures.maximum) if figures is not None else (0.0, 0.0)
