"""The actions that run, time and compare."""

from __future__ import annotations

from app.base.translate import QT_TRANSLATE_NOOP
from app.models.experiment.refusal import untimed_reason
from app.shell.action_spec import ActionSpec
from app.views.window import handlers

DEVICES = (
    ActionSpec(
        "add_remote",
        QT_TRANSLATE_NOOP("Actions", "&Add remote…"),
        "devices",
        (),
        QT_TRANSLATE_NOOP("Actions", "Use the GPUs of another machine, which ssh reaches"),
        do=lambda parts: parts.pages.present("remote"),
    ),
    ActionSpec(
        "leave_remotes",
        QT_TRANSLATE_NOOP("Actions", "&Disconnect all"),
        "devices",
        (),
        QT_TRANSLATE_NOOP("Actions", "End the engines on other machines"),
        do=handlers.leave_remotes,
        able=lambda parts: bool(parts.context.remotes.machines),
    ),
)
RUN = (
    ActionSpec(
        "run",
        QT_TRANSLATE_NOOP("Actions", "&Run now"),
        "run",
        ("F5", "Ctrl+Return"),
        QT_TRANSLATE_NOOP("Actions", "Compute the ticked variants"),
        "run",
        do=handlers.run_now,
    ),
    ActionSpec(
        "measure",
        QT_TRANSLATE_NOOP("Actions", "&Measure"),
        "run",
        ("Ctrl+M",),
        QT_TRANSLATE_NOOP("Actions", "Time the ticked variants with care"),
        "measure",
        do=lambda parts: parts.context.controller.measure(),
        why=lambda parts: untimed_reason(parts.context.session.shown),
    ),
    ActionSpec(
        "sweep",
        QT_TRANSLATE_NOOP("Actions", "S&weep"),
        "run",
        ("Ctrl+Shift+M",),
        QT_TRANSLATE_NOOP("Actions", "Time the ticked variants at several values of one quantity"),
        do=handlers.start_sweep,
    ),
    ActionSpec(
        "run_frames",
        QT_TRANSLATE_NOOP("Actions", "Run over &all frames…"),
        "run",
        (),
        QT_TRANSLATE_NOOP("Actions", "Run the filter over every frame of the stack and save the results as one stack"),
        do=handlers.run_over_frames,
        able=lambda parts: parts.context.frames.of_stack,
    ),
    ActionSpec(
        "cancel",
        QT_TRANSLATE_NOOP("Actions", "&Cancel"),
        "run",
        ("Esc",),
        QT_TRANSLATE_NOOP("Actions", "Stop the running job"),
        "cancel",
        separator=True,
        do=lambda parts: parts.context.controller.cancel(),
    ),
    ActionSpec(
        "pin_times",
        QT_TRANSLATE_NOOP("Actions", "&Pin times and counts"),
        "run",
        ("Ctrl+B",),
        QT_TRANSLATE_NOOP("Actions", "Show from now on by how much each row differs from what it is now"),
        separator=True,
        do=handlers.pin_times,
        able=lambda parts: len(parts.context.results) > 0,
    ),
    ActionSpec(
        "unpin_times",
        QT_TRANSLATE_NOOP("Actions", "U&npin times and counts"),
        "run",
        (),
        QT_TRANSLATE_NOOP("Actions", "Show no changes against pinned times and counts any more"),
        do=lambda parts: parts.context.results.unpin_times(),
        able=lambda parts: parts.context.results.has_pinned,
    ),
    ActionSpec(
        "recorded",
        QT_TRANSLATE_NOOP("Actions", "&Show recorded runs"),
        "run",
        (),
        QT_TRANSLATE_NOOP("Actions", "Show runs of the same job on other machines beside your own"),
        checkable=True,
        separator=True,
        do=lambda parts: parts.context.recorded.show(not parts.context.recorded.shown),
    ),
)
