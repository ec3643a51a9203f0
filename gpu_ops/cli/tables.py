"""Figures as text: aligned columns, each with its unit, every speed-up naming both sides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from gpu_ops.measuring.explain import number
from gpu_ops.stages import STAGES, stage_name
from gpu_ops.types import Claim


def seconds(value: float | None) -> str:
    """A time with a unit that suits it."""
    if value is None:
        return ""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= scale:
            return f"{value / scale:.4g} {unit}"
    return f"{value / 1e-9:.4g} ns"


PRINTERS: Mapping[str, Callable[[float], str]] = {
    "count": number,
    "best": number,
    "ratio": lambda value: f"{value:.3g}",
    "duration": seconds,
}


def printed(value: float, hint: str) -> str:
    """A value of a counter or a stage, as the catalogue's hint says."""
    return PRINTERS[hint](value)


def align(rows: Iterable[Sequence[str]], numbers: frozenset[int] = frozenset()) -> str:
    """Columns of equal width; those in `numbers` to the right. The first row is the heading."""
    rows = [list(r) for r in rows]
    widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [c.rjust(w) if i in numbers else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))]
        lines.append("  ".join(cells).rstrip())
    lines.insert(1, "  ".join("-" * w for w in widths))
    return "\n".join(lines)


def _time(row: Mapping[str, Any], stage: str) -> str:
    median = _median(row, stage)
    return "" if median is None else printed(median, STAGES[stage].hint)


def _median(row: Mapping[str, Any], stage: str) -> float | None:
    found = row["stages"].get(stage)
    return found["median_s"] if found else None


def bench_table(rows: Sequence[Mapping[str, Any]], claim: Claim | None, baseline: str) -> str:
    """A comparison: time, spread, bandwidth, share of roof, speed-up, end-to-end times, error, verdict, published."""
    kernel, pageable, pinned = (STAGES[id].column for id in ("kernel", "elapsed", "elapsed_pinned"))
    heading = ["variant", "device", kernel, "q1 … q3", "n", "GB/s", "share", f"× {baseline}"]
    heading += [pageable, pinned, "error", "verdict"]
    if claim:
        heading.append(f"{claim.source} published")
    lines = [heading]
    for row in rows:
        line = [row["variant"], row["device"], *_timing_cells(row)]
        line += [_time(row, "elapsed"), _time(row, "elapsed_pinned")]
        line += [_error(row), _verdict(row)]
        if claim:
            line.append(_published(row, claim, baseline))
        lines.append(line)
    filled = [i for i in range(len(heading)) if any(line[i] for line in lines[1:])]
    shown = [[line[i] for i in filled] for line in lines]
    numbers = {kernel, "n", "GB/s", "share", f"× {baseline}", pageable, pinned, "error"}
    return align(shown, frozenset(place for place, i in enumerate(filled) if heading[i] in numbers))


def _timing_cells(row: Mapping[str, Any]) -> list[str]:
    kernel = row["stages"].get("kernel")
    if not kernel:
        return [""] * 6
    speedup = row.get("speedup", {}).get("kernel")
    spread = f"{seconds(kernel['q1_s'])} … {seconds(kernel['q3_s'])}"
    share = f"{row['share']:.3f}" if "share" in row else ""
    gbps = f"{row['gbps']:.4g}" if "gbps" in row else ""
    against = "unsure" if kernel.get("doubt") else f"{speedup:.4g}" if speedup else ""
    return [seconds(kernel["median_s"]), spread, str(kernel["n"]), gbps, share, against]


def _error(row: Mapping[str, Any]) -> str:
    value = row["error_max"]
    if value is None:
        return ""
    return value if isinstance(value, str) else f"{value:.2g}"


def _verdict(row: Mapping[str, Any]) -> str:
    if row["failure"]:
        return str(row["failure_kind"])
    return {True: "right", False: "WRONG", None: "unverified"}[row["ok"]]


def _published(row: Mapping[str, Any], claim: Claim, baseline: str) -> str:
    figure = claim.figures.get(row["variant"])
    base = claim.figures.get(baseline)
    if figure is None:
        return ""
    ratio = f" (×{base / figure:.4g})" if base and row["variant"] != baseline else ""
    return seconds(figure) + ratio


def footnotes(rows: Sequence[Mapping[str, Any]]) -> str:
    """Failures, notes and flags, each once, naming the variants they belong to."""
    said: dict[str, list[str]] = {}
    for row in rows:
        texts = [row["failure"]] if row["failure"] else row["notes"]
        texts = [*texts, *(f["text"] for f in row.get("findings", ()))]
        texts += [f"{stage_name(stage)}: {t['doubt']}" for stage, t in row["stages"].items() if t.get("doubt")]
        for text in [*texts, *([row["flag"]] if "flag" in row else [])]:
            said.setdefault(text, []).append(row["variant"])
    return "\n".join(f"  {', '.join(dict.fromkeys(who))}: {text}" for text, who in said.items())


def five_bars(rows: Sequence[Mapping[str, Any]]) -> str:
    """The fair comparison: one core, the best of the CPU, the GPU's kernel, and the GPU from and to host memory."""
    timed = [r for r in rows if "kernel" in r["stages"] and r["ok"] is not False]
    cpu = [r for r in timed if r["device"] == "cpu"]
    gpu = [r for r in timed if r["device"] != "cpu"]
    bars = [("CPU, one core", [r for r in cpu if r["variant"] == "serial"], "kernel"), ("CPU, best", cpu, "kernel")]
    bars += [("GPU, kernel", gpu, "kernel"), ("GPU, from pageable memory", gpu, "elapsed")]
    bars.append(("GPU, from pinned memory", gpu, "elapsed_pinned"))
    lines = []
    for title, candidates, stage in bars:
        times = {r["variant"]: s for r in candidates if (s := _median(r, stage)) is not None}
        if times:
            best = min(times, key=lambda v: times[v])
            lines.append(f"  {title:26}{seconds(times[best]):>10}  {best}")
    return "\n".join(lines)
