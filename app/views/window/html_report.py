"""Writes what the window shows as one HTML file: the view, the ladder, a sweep, kernels, claims and provenance."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, Qt, QUrl
from PySide6.QtGui import QDesktopServices

import gpu_ops
from app.controllers.kernels.varied import present_picks, write_running_report
from app.models.background import Background
from app.models.experiment.refusal import refusal_sentence, refuses
from app.models.experiment.shown import edited_title
from app.models.experiment.steps import title_with_steps
from app.models.files.facts import size_text
from app.models.results.entry import Entry
from app.models.xray.drafts import Draft
from app.views.dialogs.running_report import RunningReportDialog
from app.views.picture_file import sheet_png
from app.views.window.panels import SWEEP, XRAY
from app.views.window.window_parts import WindowParts
from gpu_ops.run_key import hash_of_edits

if TYPE_CHECKING:
    from gpu_ops.explaining.page import Page, Picture
    from gpu_ops.explaining.page_kernels import Kernel


def _tr(text: str) -> str:
    return QCoreApplication.translate("Report", text)


def why_no_report(parts: WindowParts) -> str:
    """Why there is nothing to report; "" where there is an input."""
    return "" if parts.context.session.input is not None else _tr("there is no input yet; open a file or a sample")


def export_report(parts: WindowParts) -> None:
    """Ask for a name and write the report."""
    _write_report(parts, parts.context.files.say_written)


def why_no_running_report(parts: WindowParts) -> str:
    """Why no report can run; "" where one can."""
    context, input = parts.context, parts.context.session.input
    if input is None:
        return why_no_report(parts)
    if refuses(context.session.filter, input):
        return refusal_sentence(context.session.filter, input)
    if not present_picks(context.controller, context.xray):
        return _tr("no ticked variant has a kernel; tick one that runs on a GPU")
    return ""


def export_running_report(parts: WindowParts) -> None:
    """Ask what varies and for a name, and have the engine count and write the report."""
    context, files = parts.context, parts.context.files
    picks = present_picks(context.controller, context.xray)
    gpu = context.xray.gpu_choice.gpu.model
    dialog = RunningReportDialog(context.session.filter, picks, context.session.choice.params, gpu, parts.window)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

    def write() -> None:
        path = files.ask_target(
            _tr("Save a report that runs as HTML"), files.proposed("report-runs", ".html"), _tr("HTML (*.html)")
        )
        if path:
            how = dialog.over, dialog.predicted.isChecked()
            write_running_report(context.controller, context.xray, path, *how)

    dialog.accepted.connect(write)
    dialog.open()


def print_report(parts: WindowParts) -> None:
    """Ask for a name, write the report, and open it in the browser, which fits it to A4 and prints it or makes a
    PDF."""

    def show(path: str) -> None:
        name, messages = Path(path).name, parts.context.messages
        messages.settle("export")
        if open_in_browser(path):
            text = _tr("{name} opens in the browser. Press Ctrl+P there, and choose a printer or Save as PDF.")
        else:
            text = _tr("{name} is saved, but there is no browser to open it. Open it in one and print it from there.")
        messages.show_message("info", text.format(name=name), path, "written")

    _write_report(parts, show)


def open_in_browser(path: str) -> bool:
    """Open a file in the program that the system has for it; False where there is none."""
    return QDesktopServices.openUrl(QUrl.fromLocalFile(str(Path(path).absolute())))


def _write_report(parts: WindowParts, then: Callable[[str], object]) -> None:
    """Ask for a name and write the report, in the background: all recorded reports are read to judge the claims."""
    files = parts.context.files
    kinds = _tr("HTML (*.html)")
    path = files.ask_target(_tr("Save a report as HTML"), files.proposed("report", ".html"), kinds)
    if not path:
        return
    page, claims = page_of(parts), parts.context.session.filter.claims

    def write(stopped: Callable[[], bool]) -> str:
        judged = gpu_ops.judge_by_reports(claims, gpu_ops.recorded_reports())
        if not stopped():
            replace(page, claims=[judgement.as_dict() for judgement in judged]).write(path)
        return path

    writing = Background(parts.window)
    writing.finished.connect(then)
    writing.failed.connect(files.say_not_written)
    for ended in (writing.finished, writing.failed):
        ended.connect(writing.deleteLater)
    writing.start(write)


def page_of(parts: WindowParts) -> Page:
    """What the window shows as a page, without the claims."""
    from gpu_ops.explaining.page import Page, png_picture  # templates are not needed to begin
    from gpu_ops.explaining.page_rows import PageRow, RowsOnPage

    context = parts.context
    session, results, filter = context.session, context.results, context.session.filter
    assert session.input is not None
    entries = [entry for entry in results.entries() if entry.row is not None and entry.current]
    rows = [
        PageRow(row, results.machine(e) if e.recorded else "", results.pinned(e))
        for e in entries
        if (row := _row(e)) is not None
    ]
    slot = results.baseline
    base = results.entry(slot).timed if slot is not None and slot in results else None
    pinned = _tr("the pinned times") if any(one.change for one in rows) else ""
    return Page(
        title=f"{filter.title}: {title_with_steps(session.input)}",
        lead=filter.summary,
        facts={"size": size_text(session.input), "type": session.input.array.dtype, **context.files.facts()},
        provenance=dict(results.provenance),
        rows=RowsOnPage(rows, base, pinned, results.provenance),
        pictures=[png_picture(sheet_png(parts.pictures.view.sheet), caption=_tr("the view, as the window shows it"))],
        charts=[*_charts(parts), *_predicted(parts)],
        kernels=list(_kernels(parts, entries)),
        part=next((note for one in rows for note in one.row.notes if one.row.simulated), ""),
    )


def _row(entry: Entry) -> Any:
    """The row of an entry with its times: the last timed one while a newer result has none."""
    return entry.row if entry.simulated else entry.timed


def _charts(parts: WindowParts) -> Iterator[Picture]:
    """The sweep or the laws that the Sweep tab shows, unless it is a sweep of an earlier setting."""
    from gpu_ops.explaining.page import png_picture

    panel = parts.docks.existing(SWEEP)
    law = panel is not None and panel.controller.law is not None
    if panel is None or not panel.subject or not (law or panel.controller.current):
        return
    sheet = panel.laws if law else panel.sheet
    title = _tr("Laws") if law else _tr("Sweep")
    yield png_picture(sheet_png(sheet), title, sheet.heading.text(), wide=False)


def _predicted(parts: WindowParts) -> Iterator[Picture]:
    """The predicted times that the X-ray panel shows, unless they belong to an earlier setting."""
    from gpu_ops.explaining.page_predicted import Rung, predicted_picture

    panel = parts.docks.existing(XRAY)
    controller = panel.prediction.controller if panel is not None else None
    if controller is not None and controller.state == "shown":
        jobs = controller.ladder or list(reversed(controller.jobs))  # the compared variant comes first
        gpu = controller.counted_gpu
        rungs = [
            Rung(job.name, job.counted.launches, job.counted.recorded if gpu.measured else None, job.counted.reason)
            for job in jobs
        ]
        yield predicted_picture(rungs, gpu)


def _kernels(parts: WindowParts, entries: list[Entry]) -> Iterator[Kernel]:
    """The kernels of the rows, edited ones with their own text and name; that of the X-ray panel with its counters."""
    from gpu_ops.explaining.page_kernels import counted_kernels, plain_kernels

    session, xray = parts.context.session, parts.context.xray
    shown, filter = session.shown, session.filter
    results = ((entry.slot, shown.id_of(entry.slot)) for entry in entries)
    texts = {slot: shown.pick(name).edits if name else {} for slot, name in results}
    own = {(slot.variant, hash_of_edits(edits)): edits for slot, edits in texts.items()}
    chosen = (xray.variant, hash_of_edits(xray.edits)) if xray.state == "shown" else None
    if chosen is not None and any(entry.variant == xray.variant for entry in entries):
        own.setdefault(chosen, xray.edits)
    for key, edits in own.items():
        variant = next((v for v in filter.variants if v.id == key[0] and v.kernels), None)
        if variant is not None:
            draft = replace(xray.drafts.of(filter.id, variant.id), texts=edits)
            titled = replace(variant, title=edited_title(variant.title)) if edits else variant
            content = _with_chosen_code(parts, xray.content) if key == chosen else None
            for kernel in counted_kernels(content) if content else plain_kernels(filter, titled, edits):
                yield _in_own_names(kernel, draft)


def _in_own_names(kernel: Kernel, draft: Draft) -> Kernel:
    """A kernel with the names of the edited files."""
    code = [replace(line, source=draft.in_own_names(line.source)) for line in kernel.code]
    return replace(kernel, file=draft.in_own_names(kernel.file), code=code)


def _with_chosen_code(parts: WindowParts, content: dict[str, Any]) -> dict[str, Any]:
    """An X-ray without machine code, unless the panel shows it."""
    panel = parts.docks.existing(XRAY)
    if panel is not None and panel.shows_machine_code:
        return content
    kernels = [{name: value for name, value in kernel.items() if name != "code"} for kernel in content["kernels"]]
    return {**content, "kernels": kernels}
