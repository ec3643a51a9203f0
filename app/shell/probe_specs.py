"""The actions that measure in a picture or a signal: region, profile, scale bar."""

from __future__ import annotations

from app.base.translate import QT_TRANSLATE_NOOP
from app.shell.action_spec import ActionSpec
from app.views.window import probing

PROBE = (
    ActionSpec(
        "region",
        QT_TRANSLATE_NOOP("Actions", "&Region"),
        "view/probe",
        ("R",),
        QT_TRANSLATE_NOOP(
            "Actions", "Draw a region and compare its statistics: a rectangle, or an interval of a signal"
        ),
        "region",
        checkable=True,
        do=lambda parts: probing.turn_tool(parts, "region"),
        able=lambda parts: len(parts.probe.extent) in (1, 2),
        on=lambda parts: parts.probe.tool == "region",
    ),
    ActionSpec(
        "profile",
        QT_TRANSLATE_NOOP("Actions", "&Line profile"),
        "view/probe",
        ("P",),
        QT_TRANSLATE_NOOP("Actions", "Draw a line on a picture and see the values along it"),
        "profile",
        checkable=True,
        do=lambda parts: probing.turn_tool(parts, "profile"),
        able=lambda parts: len(parts.probe.extent) == 2,
        on=lambda parts: parts.probe.tool == "profile",
    ),
    ActionSpec(
        "levels_region",
        QT_TRANSLATE_NOOP("Actions", "L&evels from the region"),
        "view/probe",
        (),
        QT_TRANSLATE_NOOP("Actions", "Set black and white to the lowest and highest value in the region"),
        separator=True,
        do=probing.level_region,
        able=lambda parts: parts.probe.region is not None,
    ),
    ActionSpec(
        "crop_region",
        QT_TRANSLATE_NOOP("Actions", "&Crop to the region"),
        "view/probe",
        (),
        QT_TRANSLATE_NOOP("Actions", "Use only the region (R) as the input, as a step Crop, which undo removes"),
        do=lambda parts: parts.probe.crop(),
        able=lambda parts: parts.probe.region is not None or parts.probe.span is not None,
    ),
    ActionSpec(
        "remove_region",
        QT_TRANSLATE_NOOP("Actions", "Re&move region and profile"),
        "view/probe",
        (),
        QT_TRANSLATE_NOOP("Actions", "Remove the drawing and close the tool"),
        do=lambda parts: parts.probe.remove_all(),
        able=lambda parts: parts.probe.any or bool(parts.probe.tool),
    ),
    ActionSpec(
        "scale_bar",
        QT_TRANSLATE_NOOP("Actions", "&Scale bar"),
        "view/probe",
        (),
        QT_TRANSLATE_NOOP("Actions", "Show a bar of a round length on pictures of known pixel size"),
        checkable=True,
        checked=True,
        separator=True,
        do=lambda parts: parts.probe.set_scale_bar(not parts.probe.scale_bar),
        able=probing.is_sized,
        on=lambda parts: parts.probe.scale_bar,
    ),
)
