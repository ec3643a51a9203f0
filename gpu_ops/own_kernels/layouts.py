"""Runs of a kernel from elsewhere with other layouts of shared memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gpu_ops.explaining.cliffs.bank_conflicts import Conflicts, Ran, find_layout
from gpu_ops.own_kernels.launching import OwnLaunch, simulate


def layout_of_launch(own: OwnLaunch, architecture: str) -> Conflicts:
    """A layout of shared memory without conflicts for a kernel from elsewhere. Raises as `simulate` does."""

    def run(texts: Mapping[str, str], other: Mapping[str, Any]) -> Ran:
        file = replace(own.file, texts={**own.file.texts, **texts})
        found = simulate(replace(own, file=file), architecture, code=True)
        assert found.xray is not None
        return Ran(found.outputs, found.xray.kernels, found.xray.faulty)

    return find_layout(run, own.file.texts, {})
