"""The widget: what the page shows is in its traits, and what a person does there arrives as changes of them."""

from __future__ import annotations

import asyncio
import base64
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from gpu_ops.errors import KernelscopeError, ParamError, in_python
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.notebook.controls import control, ladder, plain_values
from gpu_ops.notebook.live import PATIENCE, Live, current
from gpu_ops.notebook.panes import DIFFERENCE, Shown, difference, input_ends, table_lines
from gpu_ops.notebook.pictures import WHOLE, Window, mosaic
from gpu_ops.types import Filter, Input

PAGE = Path(__file__).resolve().parent.parent.parent / "resources" / "notebook"
MOST_OPEN = 8
"""The most views whose results are kept; the one that was opened first is closed, as a cell that is run again and again
opens a new one each time."""
SIDE = 640
"""Pixels of the picture of a whole result along its longer axis."""
STILL = 10.0
"""The longest time in seconds that a cell waits for the pictures of a saved notebook."""
INPUT = "input"
_open: deque[View] = deque()


class View(anywidget.AnyWidget):  # type: ignore[misc]
    """See `gpu_ops.view`. `values` are the parameters, `rows` the ladder, `status` and `fault` what goes on and what
    went wrong; `results` are the outputs as arrays."""

    _esm = PAGE / "view.js"
    _css = PAGE / "view.css"
    title = traitlets.Unicode().tag(sync=True)
    controls = traitlets.List().tag(sync=True)
    choices = traitlets.List().tag(sync=True)
    wanted = traitlets.Dict().tag(sync=True)
    active = traitlets.List().tag(sync=True)
    shown = traitlets.List().tag(sync=True)
    compared = traitlets.List().tag(sync=True)
    pair = traitlets.List().tag(sync=True)
    window = traitlets.Dict().tag(sync=True)
    panes = traitlets.List().tag(sync=True)
    details = traitlets.Dict().tag(sync=True)
    rows = traitlets.List().tag(sync=True)
    earlier = traitlets.List().tag(sync=True)
    status = traitlets.Unicode().tag(sync=True)
    fault = traitlets.Unicode().tag(sync=True)
    closed = traitlets.Bool(False).tag(sync=True)

    def __init__(
        self, filter: Filter, input: Input, params: Mapping[str, Any], variants: Sequence[str], device: str | None
    ) -> None:
        try:
            self._loop: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
        except RuntimeError:
            self._loop = None  # a terminal: only `wait` takes results in
        self._live = Live(filter, input, params, variants, device, self._wake)
        self._ends = input_ends(input.array)
        self._known: dict[str, Shown] = {}
        self._seen: dict[str, Shown] = {}
        self._twins: dict[str, list[str]] = {}
        self._checking = False
        super().__init__(
            title=f"{filter.title} of {input.name}",
            controls=[control(p) for p in filter.params],
            choices=[{"value": v.id, "text": f"{v.title} ({v.device})", "help": v.idea} for v in filter.all_variants],
            wanted=plain_values(self._live.values),
            shown=list(self._live.variants),
            window={"place": list(WHOLE), "pixels": SIDE},
        )
        self.observe(self._on_wanted, ["wanted", "shown"])
        self.observe(self._on_compared, "compared")
        self.observe(self._on_window, "window")
        _open.append(self)
        while len(_open) > MOST_OPEN:
            _open[0].close()
        self._refresh()

    # ---------------------------------------------------------------- for Python

    @property
    def params(self) -> dict[str, Any]:
        """The values of the parameters, by name."""
        return dict(self._live.values)

    @property
    def results(self) -> dict[str, Any]:
        """A copy of the first output of each variant whose result is there, by the variant's id."""
        found = {id: next(iter(r.outputs.values()), None) for id, r in self._live.results.items()}
        return {id: self._live.array(output.array).copy() for id, output in found.items() if output is not None}

    def set(self, **params: Any) -> None:
        """Change parameters, as the controls do. Raises ParamError."""
        self._live.set({**self._live.values, **params})
        self._publish_values()
        self._refresh()

    def wait(self, seconds: float = 60.0) -> None:
        """Wait until all results, times and counters have come, for so many seconds at most."""
        self._live.wait(seconds)
        self._refresh()

    def picture(self) -> bytes:
        """What is shown, as the bytes of a PNG file: the panes and the ladder."""
        parts = [(pane["title"], pane["png"]) for pane in self.panes if "png" in pane]
        return mosaic(parts, self._lines())

    def close(self) -> None:
        """Free the memory, and the engine where this was the last view; the page keeps the pictures."""
        if "_live" not in vars(self) or not self._live.open:  # without it, what it was given was refused
            return
        if self in _open:
            _open.remove(self)
        self._live.close()
        self._known.clear()
        self._seen.clear()
        self.closed, self.status = True, ""

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The live view, and for a saved notebook a picture and a text, for which the results are waited for."""
        if self._live.open:
            self.wait(STILL)
        made = super()._repr_mimebundle_(**kwargs)
        data, more = made if isinstance(made, tuple) else (made, {})
        png = base64.b64encode(self.picture()).decode("ascii")
        return {**(data or {}), "image/png": png, "text/plain": "\n".join(self._lines())}, more

    def _lines(self) -> list[str]:
        """The job, the results that are no pictures, the ladder and the fault in words."""
        values = ", ".join(f"{name} {value}" for name, value in plain_values(self._live.values).items())
        texts = [f"{pane['title']}: {pane['caption']}" for pane in self.panes if "png" not in pane]
        job = f"{self.title}; {values}" if values else self.title
        return [job, *texts, *table_lines(self.rows), *([self.fault] if self.fault else [])]

    # ---------------------------------------------------------------- from the page

    def _on_wanted(self, change: Any) -> None:
        """A control has moved: the page may send anything, and a wrong value is answered by a sentence."""
        if self._checking:
            return
        try:
            if not self._live.open:
                raise ParamError("This view is closed; run its cell again.")
            self._live.set(dict(self.wanted), list(self.shown))
            self._publish_values()
            self._refresh()
        except (KernelscopeError, TypeError, AttributeError) as error:
            self.fault = in_python(str(error))

    def _publish_values(self) -> None:
        """The page gets the values as they were understood."""
        self._checking = True
        try:
            self.wanted = plain_values(self._live.values)
        finally:
            self._checking = False

    def _on_compared(self, change: Any) -> None:
        if not self._checking and self._live.open:
            self._refresh()

    def _on_window(self, change: Any) -> None:
        """Another part is looked at, or the panes have another size."""
        if self._live.open:
            with suppress(TypeError, ValueError, KeyError):  # the page sends numbers; what is none changes nothing
                self._show_details()

    # ---------------------------------------------------------------- news

    def _wake(self) -> None:
        """Called in the engine's thread: the thread that the widgets belong to takes the news in."""
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._take_news)

    def _take_news(self) -> None:
        if self._live.settle():
            self._refresh()
        if self._live.busy and self._loop is not None:
            self._loop.call_later(PATIENCE, self._live.hurry)

    def _refresh(self) -> None:
        """Bring the traits up to date; what is unchanged is not sent."""
        live = self._live
        if not live.open:
            return
        self.status, self.fault = live.status if live.busy else "", in_python(live.fault)
        self.active = [p.name for p in live.filter.params if p.matters(live.values)]
        self.rows = ladder(live.filter, live.results, live.variants)
        self.earlier = [id for id, one in live.results.items() if not current(one, live.values)]
        panes, twins = self._find_shown()
        if {k: (id(one), twins[k]) for k, one in panes.items()} != {
            k: (id(one), self._twins[k]) for k, one in self._seen.items()
        }:
            kept = {pane["key"]: pane for pane in self.panes}
            old, before, self._seen, self._twins = self._seen, self._twins, panes, twins
            same = {k for k, one in panes.items() if old.get(k) is one and before[k] == twins[k]}
            self.panes = [kept[k] if k in same else one.pane(SIDE, twins[k]) for k, one in panes.items()]
            self._show_details()

    def _find_shown(self) -> tuple[dict[str, Shown], dict[str, list[str]]]:
        """Each array to show by its key, the same object where it is unchanged; and the titles of further variants
        whose result has the same bits, which share its pane."""
        live, found, twins = self._live, dict[str, Shown](), dict[str, list[str]]()
        result = live.input.result
        about = (INPUT, live.input.name, result, live.array(result.array))
        found[INPUT] = self._seen.get(INPUT) or Shown.of(*about, ends=self._ends)
        first: dict[Any, str] = {}
        for id in live.variants:
            for name in live.results[id].outputs if id in live.results else ():
                shown = self._result(id, name)
                key = first.setdefault(shown.digest, shown.key)
                if key != shown.key:
                    twins.setdefault(key, []).append(live.filter.variant(id).title)
                else:
                    found[key] = shown
        pair = self._pair(found)
        new = None
        if pair is not None:
            old = self._seen.get(DIFFERENCE)
            same = old is not None and all(self._seen.get(one.key) is one for one in pair)
            same = same and old is not None and old.title == f"{pair[0].title} − {pair[1].title}"
            new = old if same else difference(*pair)
            found |= {new.key: new} if new is not None else {}
        self.pair = [one.key for one in pair] if pair is not None and new is not None else []
        return found, {key: twins.get(key, []) for key in found}

    def _result(self, id: str, name: str) -> Shown:
        live = self._live
        one, shared = live.results[id], live.results[id].outputs[name]
        key, output = f"{id} {name}", next(o for o in live.filter.outputs if o.id == name)
        alone = len(one.outputs) == 1
        title = live.filter.variant(id).title + ("" if alone else f": {name}")
        old, array = self._known.get(key), live.array(shared.array)
        if old is not None and old.form is shared.form and old.title == title:
            return old
        input = live.input
        alike = shared.kind == input.result.kind
        of_input = alike and not output.unit and not output.signed and not output.labels
        about: dict[str, Any] = {"ends": self._ends if of_input else None, "signed": output.signed}
        if one.place and alike:
            whole = INPUT_KINDS[input.kind].spatial(input.array.shape)
            about |= {"place": tuple(one.place), "whole": whole, "note": "a part of the input"}
        self._known[key] = Shown.of(key, title, shared, array, **about)
        return self._known[key]

    def _pair(self, found: Mapping[str, Shown]) -> tuple[Shown, Shown] | None:
        """The two whose difference is shown: those that were chosen, else the last result and the first one, or the
        input where there is one result only."""
        if self.compared == ["", ""]:
            return None
        chosen = [found[key] for key in self.compared if key in found]
        if len(chosen) == 2 and chosen[0] is not chosen[1]:
            return chosen[0], chosen[1]
        first: dict[str, Shown] = {}
        for key, one in found.items():
            first.setdefault(key.partition(" ")[0], one)
        names = list(first.values())
        return (names[-1], names[1] if len(names) > 2 else names[0]) if len(names) > 1 else None

    def _show_details(self) -> None:
        """The pictures of the part that is looked at, of those panes that have more pixels there."""
        window, pixels = Window(*map(float, self.window["place"])), int(self.window["pixels"])
        shown = {k: one for k, one in self._seen.items() if one.is_detailed(window, SIDE)}
        self.details = {k: one.detail(window, pixels) for k, one in shown.items()}
