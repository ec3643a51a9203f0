"""Every variant against its filter's reference, over awkward shapes, all dtypes, parameters, knobs and data.

The tests and `kernelscope run FILTER --kernel mine.cu` use the same cases: small ones that cover every pair of choices,
and long ones in which every loop of a kernel runs more than once.
"""

from __future__ import annotations

from gpu_ops.running.contract.cases import Case as Case
from gpu_ops.running.contract.cases import all_cases as all_cases
from gpu_ops.running.contract.cases import end_cases as end_cases
from gpu_ops.running.contract.cases import heavier as heavier
from gpu_ops.running.contract.cases import long_cases as long_cases
from gpu_ops.running.contract.cases import takes as takes
from gpu_ops.running.contract.cases import task_of as task_of
from gpu_ops.running.contract.checking import case_data as case_data
from gpu_ops.running.contract.checking import case_input as case_input
from gpu_ops.running.contract.checking import check_case as check_case
from gpu_ops.running.contract.choices import axes_of as axes_of
from gpu_ops.running.contract.choices import settings_of as settings_of
from gpu_ops.running.contract.choices import values_of as values_of
from gpu_ops.running.contract.covering import covering_cases as covering_cases
from gpu_ops.running.contract.covering import each_setting as each_setting

SIMULATED_WORK = 1_000_000
"""The most operations of a case on a simulated GPU, which then takes seconds."""
