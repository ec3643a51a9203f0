"""Handlers of actions that need more than one line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QApplication

from app.controllers.timeline import TIMELINES
from app.models.experiment.experiment_text import python_text, reason_against, results_before
from app.models.experiment.session import Session
from app.models.files.file_names import frames_kinds
from app.views.dialogs.diagnostics import DiagnosticsPage
from app.views.dialogs.offers import palette_offers
from app.views.results.probe_bar import ProbeBar
from app.views.window.difference_saver import save_difference
from app.views.window.panels import BLOCK_STEPS, OWN_KERNEL, SWEEP, TIMELINE, XRAY
from app.views.window.window_parts import WindowParts
from gpu_ops import FILTERS, ParamError, __version__
from gpu_ops.explaining.transfers.rates import recorded_rates

STREAMS_CLAIM = "S1-streams"
"""The claim whose experiment is the exercise."""
EXERCISE = "pinned", "streams", "default_stream"
"""One after the other, overlapped, and with an overlap that breaks: the source's figures 5.3 and 5.4."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("Handlers", text)


# Files


def export_figures(parts: WindowParts) -> None:
    """Save the statistics of the region, or the profile of the line, whichever is visible."""
    bar = parts.window.findChild(ProbeBar)
    parts.context.files.export_figures(bar.copied(True) if bar is not None and bar.filled else "")


def show_own_kernel(parts: WindowParts) -> None:
    """Show the panel of kernels from elsewhere, with the keyboard on what comes next."""
    parts.docks.show(OWN_KERNEL.dock)
    panel = parts.docks[OWN_KERNEL]
    (panel.run if panel.run.isVisibleTo(panel) else panel.open_button).setFocus(Qt.FocusReason.ShortcutFocusReason)


def toggle_block_steps(parts: WindowParts) -> None:
    """Show or close the panel that follows a block; its arrow keys step at once."""
    parts.docks.toggle(BLOCK_STEPS.dock)
    if parts.docks.is_open(BLOCK_STEPS.dock):
        parts.docks[BLOCK_STEPS].take_keys()


def run_now(parts: WindowParts) -> None:
    """Run what has the keyboard: the kernel from elsewhere in its panel, else the ticked variants."""
    panel, focused = parts.docks.existing(OWN_KERNEL), QApplication.focusWidget()
    if panel is not None and focused is not None and panel.isAncestorOf(focused) and panel.run.isVisibleTo(panel):
        panel.run.click()
    else:
        parts.context.controller.run_live()


def open_kernel(parts: WindowParts) -> None:
    """Show the panel of kernels from elsewhere, and ask for a file."""
    parts.docks.show(OWN_KERNEL.dock)
    parts.docks[OWN_KERNEL].open()


def reset_params(parts: WindowParts) -> None:
    """Set every parameter of the filter to its default."""
    session = parts.context.session
    session.set_params({p.name: p.default for p in session.filter.params})


def open_profile(parts: WindowParts) -> None:
    """Show the X-ray, and ask for a profile to compare with."""
    parts.docks.show(XRAY.dock)
    parts.docks[XRAY].open_profile()


def save(parts: WindowParts) -> None:
    """Save the result, or the difference, that was clicked last; else the last result of the whole input."""
    kept, grid = parts.pictures.looked_at.difference, parts.pictures.view.grid
    if kept is None or grid is None or not parts.pictures.looked_at.kept:
        parts.context.files.save_result(parts.pictures.looked_at.variant, parts.pictures.view.display)
    else:
        save_difference(parts, kept, grid.differences[kept].difference)


# The clipboard


def copy_image(parts: WindowParts) -> None:
    """Copy the picture with the focus, or the last result's; other views are copied as drawn."""
    image = parts.pictures.picture()
    if image is not None:
        QApplication.clipboard().setImage(image)
    else:
        text = _tr("There is no picture to copy yet; open one first.")
        parts.context.messages.show_message("warning", text, "", "clipboard")


def copy_experiment(parts: WindowParts, text_of: Callable[[Session], str]) -> None:
    """Copy the experiment on the screen as `text_of` writes it: as commands, or as a program."""
    session, messages, program = parts.context.session, parts.context.messages, text_of is python_text
    text, first = text_of(session), results_before(session)
    if text:
        QApplication.clipboard().setText(text)
        messages.settle("clipboard")
        said = _tr("The experiment is on the clipboard ({count} characters).").format(count=len(text))
        if first and not program:
            more = _tr("{said} The input is a result, so it takes several commands: the first {count} make it.")
            more = (
                more
                if first > 1
                else _tr("{said} The input is a result, so it takes two commands: the first makes it.")
            )
            said = more.format(said=said, count=first)
        messages.show_message("info", said, "", "copied", passing=True)
    else:
        messages.show_message("warning", reason_against(session, program), "", "clipboard")


def paste_image(parts: WindowParts) -> None:
    """Open the picture on the clipboard as the input."""
    image, messages = QApplication.clipboard().image(), parts.context.messages
    if image.isNull():
        text = _tr("There is no picture on the clipboard; copy one first.")
        messages.show_message("warning", text, "", "clipboard")
    elif parts.pasted.write(image):
        messages.settle("clipboard")
        parts.context.controller.open_file(parts.pasted.path)
    else:
        text = _tr(
            "The picture cannot be pasted: no temporary file can be written; check the space in the temporary folder."
        )
        messages.show_message("error", text, "", "clipboard")


# Pinned results


def pin(parts: WindowParts) -> None:
    """Pin the result that was clicked last, else the last one, and explain pinning."""
    session, messages, looked_at = parts.context.session, parts.context.messages, parts.pictures.looked_at.variant
    id = looked_at if looked_at in session.shown.ids else next(reversed(session.choice.picks), "")
    if not id:
        return
    title = session.shown.name(id)
    if session.shown.pin_of(id).id in session.shown.pins:
        text = _tr("The result of {title} is pinned already: change a parameter to compare both side by side.")
        messages.show_message("info", text.format(title=title), "", "pin", passing=True)
        return
    try:
        session.pin(id)
    except ParamError as error:
        messages.show_message("warning", str(error), "", "pin")
        return
    text = _tr("The result of {title} is pinned: change a parameter to compare both side by side.")
    messages.show_message("info", text.format(title=title), "", "pin", passing=True)


# Differences


def why_not_kept(parts: WindowParts) -> str:
    """Why there is no difference to show next to the results, or to remove there; "" where there is one."""
    shown = parts.pictures.looked_at.difference
    if parts.pictures.view.grid is None:
        return _tr("this view has no difference of two results; images, their spectra and coefficients have")
    if shown is None:
        return _tr("show a difference first, or click one beside the results")
    return _tr("a picture minus itself is nothing to keep; choose two") if shown.first == shown.second else ""


def keep_difference(parts: WindowParts) -> None:
    """Show the present difference next to the results, and say how to see it; or remove it there."""
    session, messages, shown = parts.context.session, parts.context.messages, parts.pictures.looked_at.difference
    grid = parts.pictures.view.grid
    if shown is None or grid is None:
        return
    if shown in session.choice.differences:
        session.drop_difference(shown)
        messages.settle("difference")
        return
    try:
        session.keep_difference(shown)
    except ParamError as error:
        parts.actions["keep_difference"].setChecked(False)  # the click has checked the action
        messages.show_message("warning", str(error), "", "difference")
        return
    text = _tr("The difference {title} is kept beside the results: press {keys} to see them side by side.")
    keys = parts.actions["compare_side_by_side"].shortcut().toString(QKeySequence.SequenceFormat.NativeText)
    text = text.format(title=grid.difference.layer.title, keys=keys)
    messages.show_message("info", text, "", "difference", passing=True)


def pin_times(parts: WindowParts) -> None:
    """Pin the rows' times and counts, and say how many."""
    count = parts.context.results.pin_times()
    text = _tr("{count} rows are pinned: run or measure again, with other knobs or kernels, to see what changes.")
    parts.context.messages.show_message("info", text.format(count=count), "", "pinned", passing=True)


def why_no_jump(parts: WindowParts) -> str:
    """Why there is no largest difference to go to; "" where a difference is shown."""
    none = parts.pictures.looked_at.found is None
    return _tr("show a difference first, or click one beside the results") if none else ""


def jump_to_largest(parts: WindowParts) -> None:
    """Show the pixel with the largest difference, in all panes, with their values; or say that nothing differs."""
    grid, found, messages = parts.pictures.view.grid, parts.pictures.looked_at.found, parts.context.messages
    if grid is None or found is None:
        return
    if found.place is not None:
        messages.settle("jump")
        grid.display.go_to(*found.place)
        return
    equal = found.distance is not None
    text = _tr("{title}: nothing differs.") if equal else _tr("{title} is not known yet.")
    messages.show_message("info", text.format(title=found.layer.title), "", "jump", passing=True)


def why_no_result(parts: WindowParts) -> str:
    """Why there is no result to act on: a difference was clicked last; else ""."""
    text = _tr("a difference was clicked last, which is no result of a variant; click a result")
    return text if parts.pictures.looked_at.kept else ""


# Frames


def run_over_frames(parts: WindowParts) -> None:
    """Ask for a file and run the filter over all frames of the stack into it."""
    frames, files = parts.context.frames, parts.context.files
    pick = frames.pick()
    if pick is None:
        text = _tr("No variant can run over all frames; tick one that runs on the CPU or on a real GPU.")
        parts.context.messages.show_message("warning", text, "", "frames")
        return
    parts.context.messages.settle("frames")
    kinds = frames_kinds(parts.context.controller.session.output.kind)
    path = files.ask_target(
        _tr("Save the results of all frames"), files.proposed(f"{pick.variant}-frames", ".npy"), kinds
    )
    if path:
        frames.run_all(path)


# Panels and pages


def start_sweep(parts: WindowParts) -> None:
    """Show the sweep panel and start the sweep that is set up there."""
    parts.docks.turn_to(SWEEP)
    parts.docks[SWEEP].start()


def show_timeline(parts: WindowParts) -> None:
    """Show the timeline panel and its tab."""
    place = parts.docks.places[TIMELINE.dock]
    place.show()
    place.raise_()
    parts.docks.turn_to(TIMELINE)


def open_streams_exercise(parts: WindowParts) -> None:
    """Open the source's exercise: the 3×3 convolution of a large image with and without streams, as timelines."""
    session, timeline = parts.context.session, parts.context.timeline
    experiment = next(claim.experiment for claim in FILTERS.claims if claim.id == STREAMS_CLAIM)
    sample = dict(experiment["sample"])
    parts.context.controller.open_sample(sample.pop("id"), sample)
    session.set_filter(experiment["filter"], experiment["params"])
    session.set_picks(EXERCISE)
    timeline.set_view(TIMELINES)
    machine = next(iter(recorded_rates()), "")
    timeline.set_model(replace(timeline.model, predicted=True, machine=machine))
    show_timeline(parts)


def show_palette(parts: WindowParts) -> None:
    """Open the command palette."""
    parts.recent.fill()
    parts.palette.present(palette_offers(parts))


def show_diagnostics(parts: WindowParts, log: bool = False) -> None:
    """Show the machine's devices and libraries, or the log."""
    page = parts.pages["diagnostics"].page
    assert isinstance(page, DiagnosticsPage)
    page.show_log(log)
    parts.pages.present("diagnostics")
    parts.context.controller.ask_doctor()


def leave_remotes(parts: WindowParts) -> None:
    """End the engines on other machines."""
    for label in list(parts.context.remotes.machines):
        parts.context.remotes.leave(label)


def open_guide(parts: WindowParts, name: str, anchor: str) -> None:
    """Show the guide at a heading."""
    from app.views.dialogs.guide_page import GuidePage  # the page is created at first use

    window = parts.pages["guide"]
    assert isinstance(window.page, GuidePage)
    window.present()
    window.page.open(name, anchor)


def show_about(parts: WindowParts) -> None:
    """Show version and licence."""
    text = _tr("Kernelscope {version}, BSD 3-Clause licence: an image and signal lab that shows why a GPU is fast.")
    parts.context.messages.show_message("info", text.format(version=__version__))


def edit_kernel(parts: WindowParts) -> None:
    """Open the X-ray panel with the editor of its variant's kernel."""
    if not parts.docks.is_open("xray"):
        parts.docks.toggle("xray")
    parts.context.xray.set_editing(True)
    parts.docks[XRAY].code.setFocus()


def why_no_kernel(parts: WindowParts) -> str:
    """Why there is no kernel to edit; "" where there is one."""
    text = QCoreApplication.translate("Actions", "No variant of this filter has a kernel of its own.")
    return "" if parts.context.xray.variant else text
