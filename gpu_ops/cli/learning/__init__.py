"""Commands for lessons, lectures and exercises, and for the words that they use."""

from __future__ import annotations

from typing import Any

from gpu_ops.cli.learning import exercises, explain, lectures, lessons


def add_learning(commands: Any) -> None:
    """Add these commands, with their arguments."""
    lessons.add_lesson(commands)
    exercises.add_exercise(commands)
    lectures.add_lecture(commands)
    explain.add_explain(commands)
