"""What is to be said, each thing once: a success takes back the errors about its subject. No widgets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

Kind = Literal["info", "warning", "error"]
KEPT = 200
UNDER = "/"
"""Stands between a subject and what belongs to it: "run/naive" is under "run"."""


@dataclass(frozen=True)
class Message:
    """One sentence, what more there is to say, and what it is about. `count` is how often it came; one that is
    `passing` needs no answer and goes by itself. `choices` are answers that it asks for: what is done, by its words."""

    kind: Kind
    text: str
    details: str = ""
    subject: str = ""
    passing: bool = False
    count: int = 1
    choices: Mapping[str, Callable[[], object]] = field(default_factory=dict)

    def same(self, other: Message) -> bool:
        """Whether both say the same of the same, whatever their details."""
        return (self.kind, self.text, self.subject) == (other.kind, other.text, other.subject)

    def about(self, subject: str) -> bool:
        """Whether it is about this subject or one under it."""
        return self.subject == subject or self.subject.startswith(subject + UNDER)


class Messages:
    """The newest KEPT messages, the newest last."""

    def __init__(self) -> None:
        self.kept: tuple[Message, ...] = ()

    def add(self, message: Message) -> Message:
        """Say it now. The same again takes the place of the one before and counts up; returns what is kept."""
        before = [m.count for m in self.kept if m.same(message)]
        message = replace(message, count=message.count + sum(before))
        self.kept = (*(m for m in self.kept if not m.same(message)), message)[-KEPT:]
        return message

    def settle(self, subject: str) -> None:
        """What was said about this subject, and what is under it, holds no longer."""
        self.kept = tuple(m for m in self.kept if not (subject and m.about(subject)))

    def drop(self, message: Message) -> None:
        """Somebody has read it."""
        self.kept = tuple(m for m in self.kept if m is not message)

    def pass_by(self) -> None:
        """What needs no answer has stood there for long enough."""
        self.kept = tuple(m for m in self.kept if not m.passing)

    def clear(self) -> None:
        self.kept = ()
