"""pytest plug-in: tests that say that a kernel file is right, and what its counters must keep. pytest loads this module
at its start, so it imports the engine only where a test uses it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


class Kernels:
    """The fixture `kernels`. File names are relative to the test's folder. Every kernel is compiled and simulated in a
    process that is ended at its limits, `seconds` and `mebibytes` for each case of the contract; no GPU is needed. A
    test fails with the line that `kernelscope check` prints."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def check(self, file: str | Path, filter: str, variant: str | None = None, gate: str = "", **limits: Any) -> Any:
        """The file in place of the first kernel file of a filter's variant, such as "mean1d" and "shared" (None: the
        first), held to the filter's whole contract, and to the conditions of `gate`, if any. Returns the verdict, with
        its counters. `limits` are architecture, seconds and mebibytes."""
        return self._verdict(file, filter, variant, gate=gate, **limits)

    def gate(self, file: str | Path, conditions: str, filter: str, variant: str | None = None, **limits: Any) -> Any:
        """The same for conditions alone, such as "races == 0, sectors_per_load <= 4.5", on one launch: much faster."""
        return self._verdict(file, filter, variant, gate=conditions, contract=False, **limits)

    def _verdict(self, file: str | Path, filter: str, variant: str | None, **how: Any) -> Any:
        __tracebackhide__ = True
        from gpu_ops.errors import KernelscopeError
        from gpu_ops.own_kernels.checking import check_files, check_of
        from gpu_ops.own_kernels.sources import read_kernel

        fault = ""
        try:
            check = check_of(filter, variant, **how)
            (verdict,) = check_files(check, {str(file): read_kernel(self._folder / file)}, jobs=1)
        except KernelscopeError as error:
            fault = str(error)
        if fault:
            pytest.fail(fault, pytrace=False)
        if verdict.status != "right":
            pytest.fail(str(verdict), pytrace=False)
        return verdict


@pytest.fixture
def kernels(request: pytest.FixtureRequest) -> Kernels:
    """Checks kernel files next to the test: see gpu_ops.own_kernels.pytest_plugin.Kernels."""
    return Kernels(request.path.parent)
