"""Whether the kernels of recorded rows are unchanged: the time of an older kernel says nothing about the present
one."""

from __future__ import annotations

from functools import lru_cache

from gpu_ops.devices.kernel_source import source_hash
from gpu_ops.errors import KernelscopeError
from gpu_ops.filters import FILTERS
from gpu_ops.report.rows import Row

OLDER = "older kernel"
"""The remark in a file about a recorded row whose kernels have changed since."""


def has_older_kernels(row: Row) -> bool:
    """Whether the kernels of a row differ from those of its variant now. Kernel files that a variant has got since are
    last in its list and do not count. False for rows without kernels, or with edited kernels."""
    return bool(row.source_hash) and not row.edits and row.source_hash not in _todays(row.filter, row.variant)


@lru_cache(512)
def _todays(filter: str, variant: str) -> frozenset[str]:
    """The possible hashes of rows of the present code; none if the variant no longer exists."""
    try:
        kernels = FILTERS.find(filter).variant(variant).kernels
    except KernelscopeError:
        return frozenset()
    hashes = [source_hash(kernel) for kernel in kernels]
    return frozenset("-".join(hashes[:count]) for count in range(1, len(hashes) + 1))
