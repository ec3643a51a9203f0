"""The messages of a window, each one once: a success removes the errors about its subject. No widgets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

Kind = Literal["info", "warning", "error"]
MOST_MESSAGES = 200
UNDER = "/"
"""Separates a subject from a narrower one: "run/naive" is under "run"."""


@dataclass(frozen=True)
class Message:
    """One sentence with its details and its subject. `count` is how often it was added. A `passing` message needs no
    answer and disappears by itself. `choices` maps the label of each answer to the function that carries it out."""

    kind: Kind
    text: str
    details: str = ""
    subject: str = ""
    passing: bool = False
    count: int = 1
    choices: Mapping[str, Callable[[], object]] = field(default_factory=dict)

    def same(self, other: Message) -> bool:
        """Whether both say the same about the same subject; details may differ."""
        return (self.kind, self.text, self.subject) == (other.kind, other.text, other.subject)

    def about(self, subject: str) -> bool:
        """Whether the message is about this subject or one under it."""
        return self.subject == subject or self.subject.startswith(subject + UNDER)


class Messages:
    """`items` are the newest MOST_MESSAGES messages, the newest last."""

    def __init__(self) -> None:
        self.items: tuple[Message, ...] = ()

    def add(self, message: Message) -> Message:
        """Add a message. A repeated one replaces the earlier one and counts up. Returns the message as stored."""
        before = [m.count for m in self.items if m.same(message)]
        message = replace(message, count=message.count + sum(before))
        self.items = (*(m for m in self.items if not m.same(message)), message)[-MOST_MESSAGES:]
        return message

    def settle(self, subject: str) -> None:
        """Remove the messages about this subject and those under it: they no longer apply."""
        self.items = tuple(m for m in self.items if not (subject and m.about(subject)))

    def drop(self, message: Message) -> None:
        """Remove a message that the user has read."""
        self.items = tuple(m for m in self.items if m is not message)

    def pass_by(self) -> None:
        """Remove the messages that disappear without an answer."""
        self.items = tuple(m for m in self.items if not m.passing)

    def clear(self) -> None:
        self.items = ()
