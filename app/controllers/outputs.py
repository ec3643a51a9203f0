"""The outputs that the window keeps in shared memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from app.base.worker import Engine
from app.controllers.queue import RunQueue
from app.models.experiment.session import Session
from app.models.experiment.subject import Subject
from app.models.results.origin import Origin
from app.models.results.view_data import OutputData
from gpu_ops.device_names import is_simulated
from gpu_ops.engine.messages import RunUpdate
from gpu_ops.engine.shared import SharedArray, SharedResult
from gpu_ops.remote.news import Arrived


class Outputs:
    """`results` and their `origins` by the id of the result and the output's name. A pinned result and a ticked variant
    may share a segment: it is released with the last of them. `show(id, name, shown)` draws one. `queue` knows what is
    in view."""

    def __init__(
        self, engine: Engine, session: Session, queue: RunQueue, show: Callable[[str, str, OutputData], None]
    ) -> None:
        self._engine, self._session, self._queue, self._show = engine, session, queue, show
        self.results: dict[tuple[str, str], SharedResult] = {}
        self.origins: dict[tuple[str, str], Origin] = {}

    def take(self, update: RunUpdate, ids: Sequence[str]) -> None:
        """Show the outputs of a run in the results that it updates; the choice may ask for fewer outputs by now."""
        input, wanted = self._session.input, {output.id for output in self._session.given}
        whole = input.array.shape[: len(update.place)] if input is not None else ()
        subject = Subject(self._session.inputs, update.key)
        origin = Origin(is_simulated(update.key.device), update.place, whole, update.exact, subject, update.part, whole)
        for name, shared in update.outputs.items():
            if not ids or name not in wanted:
                self._engine.release(shared.array.segment)
                continue
            for id in ids:
                self._hold((id, name), shared, origin)

    def take_arrived(self, arrived: Arrived) -> None:
        """More of a result of another machine is here: show it."""
        for key, shared in list(self.results.items()):
            if shared.array.segment == arrived.segment:
                self._draw(key, shared, self.origins[key])

    def fetch(self) -> None:
        """Let the values of all results come that are still on other machines."""
        for shared in self.results.values():
            self._engine.fetch(shared.array)

    def look_again(self) -> None:
        """Another part of the pictures is in view."""
        if self._session.input is not None:
            self.look(self._session.input.array)
        for shared in self.results.values():
            self.look(shared.array)

    def look(self, array: SharedArray) -> None:
        """A pane shows this array. What is in view is a part of the input and of what has its shape."""
        view, input = self._queue.in_view(), self._session.input
        alike = input is not None and array.shape[: len(view)] == input.array.shape[: len(view)]
        self._engine.look(array, view if alike else (), self._queue.pixels())

    def keep(self, ids: Sequence[str]) -> None:
        """Release the outputs of all results but these."""
        for key in [key for key in self.results if key[0] not in ids]:
            self._drop(key)

    def share(self) -> None:
        """Show in newly pinned results the outputs of the run that they were pinned from."""
        for id in self._session.shown.pins:
            subject = self._session.shown.subject_of_run(id)
            for key, shared in list(self.results.items()):
                if (id, key[1]) not in self.results and self.origins[key].subject == subject:
                    self._hold((id, key[1]), shared, self.origins[key])

    def _hold(self, key: tuple[str, str], shared: SharedResult, origin: Origin) -> None:
        self._draw(key, shared, origin)
        self.look(shared.array)
        # The view has the new array now, and nothing draws from the old segment any more.
        self._drop(key)
        self.results[key], self.origins[key] = shared, origin

    def _draw(self, key: tuple[str, str], shared: SharedResult, origin: Origin) -> None:
        coarse = replace(origin, step=self._engine.step(shared.array))
        self._show(*key, OutputData(shared, self._engine.array(shared.array), coarse))

    def _drop(self, key: tuple[str, str]) -> None:
        before = self.results.pop(key, None)
        held = {other.array.segment for other in self.results.values()}
        if before is not None and before.array.segment not in held:
            self._engine.release(before.array.segment)
