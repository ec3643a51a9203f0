"""The roofs of a device, and the bound of a row by them, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_ops.report.rows import Row

GB, MICRO = 1e9, 1e-6


def bound_note(row: Row) -> str:
    """What holds for all rows of a job whose buffers stay in L2, in words; "" for others."""
    if row.bound is None or row.roof is None or row.bound.memory != "L2":
        return ""
    launch = f"a launch alone takes {row.bound.launch_s / MICRO:.3g} µs"
    return f"The buffers fit into L2: its {row.roof.kind} roof is {row.bound.bytes_s / GB:.4g} GB/s; {launch}"


def bound_text(row: Row) -> str:
    """The bound of a row and its share of that, in words; "" where it has none."""
    if row.bound is None or row.share_bound is None or row.shortest is None:
        return ""
    shortest, launch = row.shortest / MICRO, row.bound.launch_s / MICRO
    return (
        f"{row.share_bound:.0%} of the bound: one launch ({launch:.3g} µs) and the minimum of bytes at "
        f"{row.bound.bytes_s / GB:.4g} GB/s ({row.bound.memory}) take {shortest:.4g} µs"
    )


def roofs_text(found: Mapping[str, Any]) -> list[str]:
    """The roofs of a device in a report (`gpu_ops.report.provenance.ROOFS`), as lines of text. What was not measured is
    left out; a device that is not in the table of data sheets says so."""
    if not found:
        return []

    def rate(name: str) -> str:
        return f"{found[f'{name}_bytes_s'] / GB:.4g} GB/s"

    size = f"buffers of {found['buffer_bytes'] / 2**20:.0f} MiB"
    lines = [f"copy {rate('copy')}, read {rate('read')} ({size})"]
    if "l2_copy_bytes_s" in found:
        lines.append(f"within L2 ({found['l2_bytes'] / 2**20:.0f} MiB): copy {rate('l2_copy')}, read {rate('l2_read')}")
        lines.append(f"all multiprocessors: read {rate('l1_read')} from L1, {rate('shared_read')} from shared memory")
        graph = f"{found['graph_launch_s'] / MICRO:.3g} µs in a graph"
        lines.append(f"launch latency {found['launch_s'] / MICRO:.3g} µs in a stream, {graph}")
    if "peak_bytes_s" in found:
        share = found["copy_bytes_s"] / found["peak_bytes_s"]
        return [*lines, f"peak by the data sheet {rate('peak')}; the copy roof is {share:.0%} of it"]
    return [*lines, "its peak is not known: it is not in the table of data sheets"]
