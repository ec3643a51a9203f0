"""A row's job as cells of a CSV table: the C locale, and JSON where one word is not enough.

No Qt.
"""

from __future__ import annotations

import json

from gpu_ops.report.about import input_name
from gpu_ops.report.rows import Row


def job_cells(row: Row) -> dict[str, str]:
    """The parameters, knobs, shape and input of a row; empty where the row does not say."""
    cells = {"params": json.dumps(row.params), "knobs": json.dumps(row.knobs), "shape": "x".join(map(str, row.shape))}
    return {**cells, "input": input_name(row.input), "input_hash": str(row.input.get("hash", ""))}
