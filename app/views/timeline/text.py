"""Timelines as text: their lanes, and the meaning of their times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from PySide6.QtCore import QCoreApplication

from app.base.numbers import number, seconds, shown
from app.controllers.timeline import Timelines
from app.models.timing.timelines import GB, Lane, Lanes, Look, Piece
from app.views.results.reading import with_unit
from gpu_ops import DEFAULT_STREAM, Span
from gpu_ops.explaining.spans import Timeline

translate = QCoreApplication.translate


def look_names() -> dict[Look, str]:
    """The engines that execute steps, as in the legend."""
    return {
        "upload": translate("Timeline", "copy to device"),
        "kernel": translate("Timeline", "kernel"),
        "download": translate("Timeline", "copy to host"),
        "device": translate("Timeline", "copy in device"),
        "host": translate("Timeline", "host"),
    }


def figures(one: Timeline) -> tuple[str, str]:
    """The time in all of a variant with its overlap, and alone."""
    unit = one.unit if one.elapsed != 1 else one.unit.removesuffix("s")
    whole = seconds(one.elapsed) if one.unit == "s" else with_unit(number(one.elapsed), unit)
    overlap = shown(one.overlap, "f", 2)
    return translate("Timeline", "{time}, overlap {overlap}").format(time=whole, overlap=overlap), whole


def lanes_of(shown: Timelines) -> Lanes:
    """All variants, one below the other."""
    found = shown.found
    rows = [row for id, one in found.items() for row in _rows(one, shown.titles.get(id, id))]
    return Lanes(tuple(rows), next((one.unit for one in found.values()), "s"))


def _rows(one: Timeline, title: str) -> Iterator[Lane]:
    yield Lane(title, heading=True, notes=figures(one))
    for lane in one.lanes:
        spans = one.of_lane(lane)
        pieces = (Piece(s.start, s.end, s.nbytes, s.engine, s.name) for s in spans)
        yield Lane(_lane_title(spans[0]), tuple(pieces))


def _lane_title(span: Span) -> str:
    if span.engine == "host":
        return translate("Timeline", "host")
    if span.stream == DEFAULT_STREAM:
        return translate("Timeline", "default stream")
    text = translate("Spans", "stream {number}, second GPU") if span.peer else translate("Spans", "stream {number}")
    return text.format(number=number(span.stream))


def basis_text(shown: Timelines) -> str:
    """The meaning of the times."""
    one = next(iter(shown.found.values()), None)
    if one is None:
        return ""
    if one.basis == "order":
        return translate("Timeline", "Order alone, by a model of the queues: every step is as long as the others.")
    if one.rates is not None:
        text = translate(
            "Timeline",
            "Predicted by a model of the queues from {upload} GB/s to the device, {download} GB/s to the host, and "
            "{kernel} GB/s for kernels.",
        )
        rates = {"upload": one.rates.upload, "download": one.rates.download, "kernel": one.rates.kernel}
        if one.rates.machine:
            text += " " + translate("Timeline", "They were recorded on {machine}.")
        return text.format(machine=one.rates.machine, **{name: number(rate / GB) for name, rate in rates.items()})
    fewest = min(one.runs for one in shown.found.values())
    text = translate("Timeline", "Measured by events around each step, in the median of {count} runs.")
    if fewest < 2:
        text = translate("Timeline", "Measured by events around each step, in a single run, because a run takes long.")
    if one.launch_blocking:
        text += " " + translate("Timeline", "The host waited for each kernel.")
    return text.format(count=number(fewest))


def left_out(reasons: Mapping[str, str], titles: Mapping[str, str], on_cpu: tuple[str, ...]) -> str:
    """The variants without a timeline, each with its reason."""
    text = translate("Timeline", "{title} is left out: {reason}")
    lines = [text.format(title=titles.get(id, id), reason=reason) for id, reason in reasons.items()]
    if on_cpu:
        cpu = translate("Timeline", "Left out, because the CPU runs them as a whole: {titles}.")
        lines.append(cpu.format(titles=", ".join(on_cpu)))
    return "\n".join(lines)
