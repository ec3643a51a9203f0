"""All test kernels: importing the modules puts their rows into the table."""

from __future__ import annotations

from tests.sim import (
    cases_atomics,
    cases_control,
    cases_convert,
    cases_float,
    cases_functions,
    cases_integer,
    cases_memory,
    cases_threads,
)
from tests.sim.table import TABLE

MODULES = (
    *(cases_integer, cases_float, cases_convert, cases_functions),
    *(cases_memory, cases_control, cases_atomics, cases_threads),
)
__all__ = ["MODULES", "TABLE"]
