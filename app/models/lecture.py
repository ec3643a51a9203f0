"""The lecture that is being held: its scene, and the hands that were counted. No widgets."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from gpu_ops.lessons.lecture import Lecture, Scene

MOST_HANDS = 999


class LectureState(QObject):
    """One lecture, or none. `place_changed`: another scene or lecture is shown; `poll_changed`: the question of the
    scene is asked, answered or hidden, or hands were counted."""

    place_changed = Signal()
    poll_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.lecture: Lecture | None = None
        self.place = 0
        self.asked = self.revealed = False
        self._hands: dict[tuple[int, int], int] = {}

    @property
    def scene(self) -> Scene | None:
        """The present scene."""
        return self.lecture.scenes[self.place] if self.lecture is not None else None

    @property
    def next_scene(self) -> Scene | None:
        """The scene after this one; None after the last one."""
        scenes = self.lecture.scenes if self.lecture is not None else ()
        return scenes[self.place + 1] if self.place + 1 < len(scenes) else None

    def open(self, lecture: Lecture | None) -> None:
        """Begin a lecture with its first scene, or end it (None)."""
        self.lecture, self.place, self._hands = lecture, 0, {}
        self.asked = self.revealed = False
        self.place_changed.emit()

    def go(self, place: int) -> bool:
        """Show the scene at this place, counted from 0. Returns whether there is one."""
        if self.lecture is None or not 0 <= place < len(self.lecture.scenes):
            return False
        self.place, self.asked, self.revealed = place, False, False
        self.place_changed.emit()
        return True

    def ask(self) -> None:
        """Show the question of the scene to the class, or hide it."""
        if self.scene is not None and self.scene.poll is not None:
            self.asked, self.revealed = not self.asked, False
            self.poll_changed.emit()

    def reveal(self) -> None:
        """Show the answer of the question, with the question where it is hidden."""
        if self.scene is not None and self.scene.poll is not None:
            self.asked = self.revealed = True
            self.poll_changed.emit()

    @property
    def hands(self) -> tuple[int, ...]:
        """The hands that were counted for each choice of the scene's question."""
        poll = self.scene.poll if self.scene is not None else None
        return tuple(self._hands.get((self.place, n), 0) for n in range(len(poll.choices))) if poll is not None else ()

    def count(self, choice: int, hands: int) -> None:
        """So many hands were raised for a choice."""
        self._hands[self.place, choice] = hands
        self.poll_changed.emit()
