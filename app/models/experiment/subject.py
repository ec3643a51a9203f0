"""The input and the run that a result belongs to. No Qt."""

from __future__ import annotations

from dataclasses import dataclass

from gpu_ops.run_key import RunKey


@dataclass(frozen=True)
class Subject:
    """Everything that a variant's result depends on: the number of the session's input and the run's key. A picture,
    its verdict and its times belong together exactly when their subjects are equal."""

    input: int
    key: RunKey
