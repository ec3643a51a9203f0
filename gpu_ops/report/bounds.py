"""What a time is compared with: the roof of DRAM, the data sheet's peak, and the shortest time that the launch and the
memory that holds the buffers allow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_ops.report.row_kinds import Bound, Roof
from gpu_ops.report.rows import Row
from gpu_ops.running.roofline import Roofs, roofs, roofs_at
from gpu_ops.running.timing import rotated
from gpu_ops.types import Run, Timing, Work

IMPOSSIBLE = 1.05
GB, MICRO = 1e9, 1e-6


def against_roofs(run: Run, kernel: Timing, mode: str) -> dict[str, Any]:
    """The fields of a row that compare its bandwidth, from the minimum bytes of the job, with the device's roofs."""
    work = run.work
    kind = "read" if work.bytes_written * 20 < work.bytes_read else "copy"
    large, same = roofs(run.pick.device), roofs_at(run.pick.device, work.bytes_read)
    roof, rate = getattr(large, kind), work.bytes / kernel.median
    shares = {"share": rate / roof, "share_same_size": rate / getattr(same, kind)}
    fields: dict[str, Any] = {**shares, "roof": Roof(kind, roof)}
    if large.peak is not None:
        fields["share_peak"] = rate / large.peak
    bound = bound_of(large, kind, work, mode)
    if bound is not None:
        fields |= {"bound": bound, "share_bound": bound.seconds(work.bytes) / kernel.median}
    if min(*shares.values(), fields.get("share_bound", min(shares.values()))) > IMPOSSIBLE:
        fields["flag"] = "faster than its roof: the data stayed in a cache, or the kernel skips work"
    return fields


def bound_of(roofs: Roofs, kind: str, work: Work, mode: str) -> Bound | None:
    """The bound of a job: the memory that holds all buffers through which its timing rotates, and one launch. None
    where only DRAM was measured, as on a CPU."""
    launch = roofs.graph_launch if mode == "hot" else roofs.launch
    l2 = roofs.l2_read if kind == "read" else roofs.l2_copy
    if launch is None or l2 is None or roofs.l2_bytes is None:
        return None
    copies = {"stream": rotated(roofs.l2_bytes, work.bytes_read), "hot": 1}.get(mode)
    fits = copies is not None and copies * work.bytes <= roofs.l2_bytes
    return Bound("L2", l2, launch) if fits else Bound("DRAM", getattr(roofs, kind), launch)


def bound_note(row: Row) -> str:
    """What holds for all rows of a job whose buffers stay in L2, in words; "" for others."""
    if row.bound is None or row.roof is None or row.bound.memory != "L2":
        return ""
    launch = f"a launch alone takes {row.bound.launch_s / MICRO:.3g} µs"
    return f"the buffers fit into L2: its {row.roof.kind} roof is {row.bound.bytes_s / GB:.4g} GB/s; {launch}"


def bound_text(row: Row) -> str:
    """The bound of a row and its share of that, in words; "" where it has none."""
    if row.bound is None or row.share_bound is None:
        return ""
    shortest, launch = row.bound.seconds(row.bytes) / MICRO, row.bound.launch_s / MICRO
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
