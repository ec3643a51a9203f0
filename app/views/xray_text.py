"""What an X-ray says beside the source, as HTML: findings, sentences, totals, and what the kernel takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QPalette

from app.figures import count, number, percent, short_count, times
from app.models.xray import KernelView, figures, words
from app.theme import colours_of


def tr(text: str) -> str:
    return QCoreApplication.translate("XRay", text)


def title(content: Mapping[str, Any]) -> str:
    """What was simulated: "simulated on the middle 256 × 256 of camera (512 × 512), sm_75"."""
    whole, named = content["whole"], {"name": content["name"], "gpu": content["architecture"]}
    sizes = {"part": _sides(content["shape"][: len(whole)]), "whole": _sides(whole)}
    if content["place"]:
        text = tr("simulated on the middle {part} of {name} ({whole}), {gpu}")
    else:
        text = tr("simulated on the whole of {name} ({whole}), {gpu}")
    return text.format(**named, **sizes)


def _sides(shape: Sequence[int]) -> str:
    return "\u00a0×\u00a0".join(map(count, shape))


def report(content: Mapping[str, Any], kernels: Sequence[KernelView], palette: QPalette) -> str:
    """All that stands below the source. Links "#kernel-line" lead to lines of it."""
    muted = colours_of(palette).muted.name()
    sentences = [escape(s["text"]) for s in content["sentences"]]
    parts = [
        _heading(tr("Findings")) + _findings(kernels, palette),
        _heading(tr("What stands out")) + _list(sentences) if sentences else "",
        _heading(tr("What the kernel takes")) + "".join(_resources(k) for k in kernels),
        _heading(tr("Counted in all")) + _totals(content, muted),
    ]
    if content["printed"]:
        parts.append(_heading(tr("Printed by the kernel")) + _list(escape(line) for line in content["printed"]))
    return "".join(parts)


def _heading(text: str) -> str:
    return f"<p style='margin-top:0.7em; margin-bottom:2px'><b>{escape(text)}</b></p>"


def _list(items: Iterable[str]) -> str:
    return "".join(f"<p style='margin-top:0; margin-bottom:3px'>• {text}</p>" for text in items)


def _findings(kernels: Sequence[KernelView], palette: QPalette) -> str:
    colours, found = colours_of(palette), []
    for place, kernel in enumerate(kernels):
        for mark in (m for line in sorted(kernel.marks) for m in kernel.marks[line]):
            role = colours.error if mark.severity == "error" else colours.warn
            text = escape(mark.text)
            if mark.line:
                text = f"<a href='#{place}-{mark.line}'>{text}</a>"
            found.append(f"<span style='color:{role.colour.name()}'><b>{role.symbol}</b></span> {text}")
    none = f"<span style='color:{colours.ok.colour.name()}'>{colours.ok.symbol}</span> {escape(tr('none'))}"
    rows = found or [none]
    return "".join(f"<p style='margin-top:0; margin-bottom:3px'>{row}</p>" for row in rows)


def _resources(kernel: KernelView) -> str:
    """Registers, spills, shared memory, and how many warps these let a multiprocessor hold."""
    data, held = kernel.kernel, kernel.kernel["occupancy"]
    resources = data["resources"]
    spilled = resources.get("spill_store_bytes", 0) + resources.get("spill_load_bytes", 0)
    grid, block = (_sides([n for n in data[what] if n > 1] or [1]) for what in ("grid", "block"))
    said = [
        tr("{grid} blocks of {block} threads").format(grid=grid, block=block),
        tr("{count} registers a thread").format(count=count(resources.get("registers", 0))),
        tr("{count} bytes spilled").format(count=count(spilled)),
        tr("{count} bytes of shared memory a block").format(count=count(data["shared_bytes"])),
    ]
    if data["launches"] > 1:
        said.insert(0, tr("{count} launches; the first:").format(count=count(data["launches"])))
    if held:
        text = tr("occupancy {share}: {blocks} blocks, {warps} of {most} warps a multiprocessor, limited by {limiter}")
        figures = {"blocks": held["blocks"], "warps": held["warps"], "most": held["most_warps"]}
        said.append(text.format(share=percent(held["share"]), limiter=held["limiter"], **figures))
    else:
        said.append(tr("occupancy: not known for this GPU"))
    if own := kernel.lines.get(0, {}).get("warp_instructions"):
        said.append(tr("{count} of its instructions belong to no line: the compiler's own").format(count=count(own)))
    return f"<p style='margin-top:0; margin-bottom:2px'>{escape(kernel.name)}</p>{_list(map(escape, said))}"


def _totals(content: Mapping[str, Any], muted: str) -> str:
    """Every counter against its best case, and for each element of the result."""
    each = tr("a {unit}").format(unit=content["unit"])
    heads = ["", tr("count"), each, tr("at best"), tr("ratio")]
    rows = "".join(f"<td align='right' style='color:{muted}; padding-left:0.8em'>{escape(h)}</td>" for h in heads)
    rows = f"<tr>{rows}</tr>"
    for f in figures(content["totals"]):
        best, ratio = (short_count(f.best), times(f.value / f.best)) if f.best else ("", "")
        cells = (short_count(f.value), number(f.value / content["outputs"], 3), best, ratio)
        right = "".join(f"<td align='right' style='padding-left:0.8em'>{escape(c)}</td>" for c in cells)
        rows += f"<tr><td>{escape(words(f.counter))}</td>{right}</tr>"
    return f"<table cellpadding='1'>{rows}</table>"
