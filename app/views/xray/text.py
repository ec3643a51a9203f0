"""The report of an X-ray as HTML: findings, sentences, totals, and the kernel's resources."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import quote

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QPalette

from app.base.numbers import count, number, percent, seconds, short_count, times
from app.base.terms import counter_name, stage_name
from app.base.theme import colours_of, fixed_font
from app.models.results.entry import Entry
from app.models.xray.xray import KernelView, figures
from app.views.timing.row_text import clock_name
from gpu_ops.own_kernels.mending import advice_on

MEND, SHIPPED = "mend", "shipped"
"""What links of a report lead to, before the kind of a finding: advice, and the line of a shipped kernel."""
MOST_SPILLS = 8
"""The most source lines with spills that are shown."""


def tr(text: str) -> str:
    return QCoreApplication.translate("XRay", text)


def title(content: Mapping[str, Any], gpu: str = "", where: str = "") -> str:
    """What was simulated: "simulated for sm_75 on the centre 256 × 256 of camera (512 × 512)", and `where` if that is
    to be said. `gpu` is that of the measurements, if any."""
    whole, named = content["whole"], {"name": content["name"], "architecture": content["architecture"]}
    sizes = {"part": _sides(content["shape"][: len(whole)]), "whole": _sides(whole)}
    if content["place"]:
        text = tr("simulated for {architecture} on the centre {part} of {name} ({whole})")
    else:
        text = tr("simulated for {architecture} on the whole of {name} ({whole})")
    texts = with_place(text.format(**named, **sizes), where)
    return tr("{text}; the times shown with it were measured on {gpu}").format(text=texts, gpu=gpu) if gpu else texts


def with_place(text: str, where: str) -> str:
    """A text followed by the machine that has computed it, if that is to be said: "text, computed on gpu-host"."""
    return tr("{text}, {where}").format(text=text, where=where) if where else text


def measured(entry: Entry | None, gpu: str) -> str:
    """The kernel time that was measured on a GPU, with its clock: "Measured on NVIDIA H200: 12.3 µs per run (kernel,
    event clock)."; "" without one."""
    stage = entry.stage("kernel") if entry else None
    if not entry or not stage:
        return ""
    text = tr("Measured on {gpu}: {time} per run ({stage}, {clock}).").format(
        gpu=gpu,
        stage=stage_name("kernel"),
        time=seconds(stage.median),
        clock=clock_name(stage.clock, stage.mode),
    )
    states = {"stale": tr("This belongs to an earlier setting."), "running": tr("A new measurement is running.")}
    return f"{text} {states[entry.state]}" if entry.state in states else text


def _sides(shape: Sequence[int]) -> str:
    """Extents along the spatial axes, x first."""
    return "\u00a0×\u00a0".join(map(count, reversed(shape)))


def launch_extents(extents: Sequence[int]) -> str:
    """The extents of a grid or a block in CUDA's order, x first; ones at the end are left out."""
    last = max((place for place, extent in enumerate(extents) if extent > 1), default=0)
    return "\u00a0×\u00a0".join(map(count, extents[: last + 1]))


def report(
    content: Mapping[str, Any],
    kernels: Sequence[KernelView],
    palette: QPalette,
    head: str = "",
    mended: Collection[str] = (),
) -> str:
    """The report below the source, after a first sentence. Links "#kernel-file-line" lead to lines. Advice is shown on
    the `mended` kinds of findings."""
    muted, filter = colours_of(palette).muted.name(), str(content.get("filter", ""))
    sentences = [escape(s["text"]) + _mending(s["rule"], filter, mended) for s in content["sentences"]]
    parts = [
        f"<p style='margin-top:0; margin-bottom:2px'>{escape(head)}</p>" if head else "",
        _heading(tr("Errors and warnings")) + _findings(kernels, palette, filter, mended),
        _changes(content),
        _heading(tr("Findings")) + _list(sentences) if sentences else "",
        _heading(tr("Resources")) + "".join(_resources(k) for k in kernels),
        _heading(tr("Totals")) + _totals(content, muted),
    ]
    if content["printed"]:
        parts.append(_heading(tr("Printed by the kernel")) + _list(escape(line) for line in content["printed"]))
    return "".join(parts)


def _changes(content: Mapping[str, Any]) -> str:
    """What an edited kernel changed against its own shipped one."""
    found = content.get("shipped")
    if not found:
        return ""
    heading = tr("What the edit changes against {variant} as shipped").format(variant=found["before"]["title"])
    return _heading(heading) + _list([_no_comparison(found)] if "reason" in found else _told(found))


def _no_comparison(found: Mapping[str, Any]) -> str:
    text = tr("{variant} cannot be compared: {reason}")
    return escape(text.format(variant=found["before"]["title"], reason=found["reason"]))


def _told(found: Mapping[str, Any]) -> list[str]:
    """What changed, in sentences; where a change is too small for each of them, the counters that differ."""
    told = [str(s["text"]) for s in found["sentences"]]
    if not told:
        text = tr("{counter}: {before} → {after} per {unit}")
        for row in found["rows"]:
            if row["before"] != row["after"]:
                before, after = _apart(row["before"], row["after"])
                counter = counter_name(row["counter"])
                told.append(text.format(counter=counter, before=before, after=after, unit=found["unit"]))
    return [escape(text) for text in told or [tr("No counter changed.")]]


def _apart(before: float, after: float) -> tuple[str, str]:
    """Two values as texts with three digits, or with as many as it takes until the texts differ."""
    texts = ((number(before, digits), number(after, digits)) for digits in range(3, 18))
    return next((pair for pair in texts if pair[0] != pair[1]), (number(before, 3), number(after, 3)))


def _difference(lines: Sequence[str], palette: QPalette) -> str:
    """A difference of sources: lines that were removed and added have a sign and a colour."""
    colours = colours_of(palette)
    inks = {"+": colours.ok.colour.name(), "-": colours.error.colour.name(), "@": colours.muted.name()}
    rows = "\n".join(f"<span style='color:{inks.get(line[:1], '')}'>{escape(line)}</span>" for line in lines)
    return _heading(tr("What was edited")) + f"<pre style='font-family:{fixed_font()}'>{rows}</pre>"


def _heading(text: str) -> str:
    return f"<p style='margin-top:0.7em; margin-bottom:2px'><b>{escape(text)}</b></p>"


def _list(items: Iterable[str]) -> str:
    return "".join(f"<p style='margin-top:0; margin-bottom:3px'>• {text}</p>" for text in items)


def _mending(kind: str, filter: str, mended: Collection[str]) -> str:
    """A link to the advice on a finding; the advice after it, and a link to an example, where it is wanted."""
    advice = advice_on(kind)
    if advice is None:
        return ""
    wanted = kind in mended
    link = tr("Hide advice") if wanted else tr("How to mend")
    text = f"&nbsp; <a href='#{MEND}-{quote(kind)}'>{escape(link)}</a>"
    if wanted:
        text += f"<br><i>{escape(advice.text)}</i>"
        if example := advice.example(filter):
            title = tr("Show a shipped kernel that does this: {variant}").format(variant=example.title)
            text += f"<br><a href='#{SHIPPED}-{quote(kind)}'>{escape(title)}</a>"
    return text


def _findings(kernels: Sequence[KernelView], palette: QPalette, filter: str, mended: Collection[str]) -> str:
    colours, found = colours_of(palette), []
    for place, kernel in enumerate(kernels):
        files = [f.file for f in kernel.files]
        for mark in sorted(kernel.findings, key=lambda m: (files.index(m.file), m.line)):
            role = colours.error if mark.severity == "error" else colours.warn
            text = escape(mark.text)
            if mark.line:
                text = f"<a href='#{place}-{files.index(mark.file)}-{mark.line}'>{text}</a>"
            text += _mending(mark.kind, filter, mended)
            found.append(f"<span style='color:{role.colour.name()}'><b>{role.symbol}</b></span> {text}")
    none = f"<span style='color:{colours.ok.colour.name()}'>{colours.ok.symbol}</span> {escape(tr('none'))}"
    rows = found or [none]
    return "".join(f"<p style='margin-top:0; margin-bottom:3px'>{row}</p>" for row in rows)


def _resources(kernel: KernelView) -> str:
    """Registers, spills, shared memory, and the resident warps per multiprocessor that they allow."""
    data, held = kernel.kernel, kernel.kernel["occupancy"]
    resources = data["resources"]
    spilled = resources.get("spill_store_bytes", 0) + resources.get("spill_load_bytes", 0)
    grid, block = (launch_extents(data[what]) for what in ("grid", "block"))
    texts = [
        (tr("1 block of {block} threads") if grid == "1" else tr("{grid} blocks of {block} threads")).format(
            grid=grid, block=block
        ),
        tr("{count} registers per thread").format(count=count(resources.get("registers", 0))),
        tr("{count} bytes spilled").format(count=count(spilled)),
        tr("{count} bytes of shared memory per block").format(count=count(data["shared_bytes"])),
    ]
    if data["launches"] > 1:
        texts.insert(0, tr("{count} launches; the first:").format(count=count(data["launches"])))
    if held:
        text = tr(
            "occupancy {share}: {blocks} blocks, {warps} of {most} warps per multiprocessor, limited by {limiter}"
        )
        figures = {"blocks": held["blocks"], "warps": held["warps"], "most": held["most_warps"]}
        texts.append(text.format(share=percent(held["share"]), limiter=held["limiter"], **figures))
    else:
        texts.append(tr("occupancy: unknown for this GPU"))
    texts += (data.get("cliffs") or {}).get("texts", ())
    texts += [tr("spilled at {place}").format(place=one["text"]) for one in data.get("spills", ())[:MOST_SPILLS]]
    if counted := data.get("counted_as"):
        texts.append(counted)
    if own := kernel.without_line:
        text = tr("{count} of its instructions have no source line: the compiler added them")
        texts.append(text.format(count=count(own)))
    return f"<p style='margin-top:0; margin-bottom:2px'>{escape(kernel.name)}</p>{_list(map(escape, texts))}"


def _totals(content: Mapping[str, Any], muted: str) -> str:
    """Every counter with its ideal value, also per element of the result, and the value expected from the samples."""
    each, predicted = tr("per {unit}").format(unit=content["unit"]), content.get("predicted") or {}
    heads = ["", tr("count"), each, tr("ideal"), tr("ratio"), *([tr("predicted")] if predicted else [])]
    rows = _head_row(heads, muted)
    for f in figures(content["totals"]):
        best, ratio = (short_count(f.best), times(f.value / f.best)) if f.best else ("", "")
        cells = (short_count(f.value), number(f.value / content["outputs"], 3), best, ratio)
        beside = (short_count(predicted[f.counter]),) if f.counter in predicted else ()
        rows += _row(counter_name(f.counter), (*cells, *beside))
    return f"<table cellpadding='1'>{rows}</table>"


def _head_row(cells: Iterable[str], muted: str) -> str:
    heads = "".join(f"<td align='right' style='color:{muted}; padding-left:0.8em'>{escape(c)}</td>" for c in cells)
    return f"<tr>{heads}</tr>"


def _row(name: str, cells: Iterable[str]) -> str:
    right = "".join(f"<td align='right' style='padding-left:0.8em'>{escape(c)}</td>" for c in cells)
    return f"<tr><td>{escape(name)}</td>{right}</tr>"


def comparison(title: str, found: Mapping[str, Any], palette: QPalette, difference: Sequence[str] = ()) -> str:
    """What changed from another variant to the variant with this title, per element of the result, and the difference
    of an edited kernel from the shipped one."""
    before = str(found["before"]["title"])
    if "reason" in found:
        return _no_comparison(found)
    rows = _head_row(
        [tr("per {unit}").format(unit=found["unit"]), "A", "B", tr("B / A")], colours_of(palette).muted.name()
    )
    for row in found["rows"]:
        cells = *_apart(row["before"], row["after"]), times(row["ratio"]) if row["ratio"] else ""
        rows += _row(counter_name(row["counter"]), cells)
    names = [tr("A: {variant}").format(variant=before), tr("B: {variant}").format(variant=title)]
    faults = [escape(f["text"]) for f in found["before"]["findings"]]
    parts = [
        "<br>".join(f"<b>{escape(name)}</b>" for name in names),
        _heading(tr("What changed from A to B and what it should bring")) + _list(_told(found)),
        _heading(tr("Counted")) + f"<table cellpadding='1'>{rows}</table>",
        _heading(tr("Findings in A")) + _list(faults) if faults else "",
        _difference(difference, palette) if difference else "",
    ]
    return "".join(parts)
