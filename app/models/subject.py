"""What a result is of. No Qt."""

from __future__ import annotations

from dataclasses import dataclass

from gpu_ops.run_key import RunKey


@dataclass(frozen=True)
class Subject:
    """Everything that a variant's result depends on: the input, which a session counts, and the run's key. Two results
    are of the same where their subjects are equal; a picture, its verdict and its times belong together exactly
    then."""

    input: int
    key: RunKey
