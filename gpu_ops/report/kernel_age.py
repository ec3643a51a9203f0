"""Whether recorded rows are of the kernels as they are today: a time says nothing of code that has changed since."""

from __future__ import annotations

from functools import lru_cache

from gpu_ops.devices.kernel_source import source_hash
from gpu_ops.errors import KernelscopeError
from gpu_ops.filters import FILTERS
from gpu_ops.report.rows import Row

OLDER = "older kernel"
"""What a file says of a recorded row whose kernels have changed since."""


def of_older_code(row: Row) -> bool:
    """Whether the kernels of a row are not those that its variant has today. A file that a variant got since made
    nothing of what was recorded, and stands after those that did. Of rows without kernels, or with kernels that
    somebody edited, nothing is said."""
    return bool(row.source_hash) and not row.edits and row.source_hash not in _todays(row.filter, row.variant)


@lru_cache(512)
def _todays(filter: str, variant: str) -> frozenset[str]:
    """The hashes that rows of today's code may have; none if there is no such variant any more."""
    try:
        kernels = FILTERS.find(filter).variant(variant).kernels
    except KernelscopeError:
        return frozenset()
    hashes = [source_hash(kernel) for kernel in kernels]
    return frozenset("-".join(hashes[:count]) for count in range(1, len(hashes) + 1))
