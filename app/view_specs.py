"""The actions that change what is seen and how."""

from __future__ import annotations

from app.action_spec import QT_TRANSLATE_NOOP, ActionSpec


def _compare(id: str, text: str, keys: str, tip: str, checked: bool = False) -> ActionSpec:
    name, menu = f"compare_{id.replace(' ', '_')}", "view/compare"
    return ActionSpec(name, text, menu, (keys,), tip, checkable=True, checked=checked, group="compare", data=id)


def _colour_map(id: str, text: str, tip: str, checked: bool = False) -> ActionSpec:
    return ActionSpec(f"map_{id}", text, "view/colours", (), tip, checkable=True, checked=checked, group="map", data=id)


def _scheme(id: str, text: str, tip: str, checked: bool = False) -> ActionSpec:
    return ActionSpec(
        f"scheme_{id}", text, "view/scheme", (), tip, checkable=True, checked=checked, group="scheme", data=id
    )


VIEW = (
    ActionSpec(
        "fit",
        QT_TRANSLATE_NOOP("Actions", "&Fit"),
        "view",
        ("Ctrl+0",),
        QT_TRANSLATE_NOOP("Actions", "Show the whole picture or signal"),
        "fit",
    ),
    ActionSpec(
        "one_to_one",
        QT_TRANSLATE_NOOP("Actions", "&One to one"),
        "view",
        ("Ctrl+1",),
        QT_TRANSLATE_NOOP("Actions", "One pixel a pixel"),
        "one-to-one",
    ),
    ActionSpec(
        "zoom_in",
        QT_TRANSLATE_NOOP("Actions", "Zoom &in"),
        "view",
        ("Ctrl++", "Ctrl+="),
        QT_TRANSLATE_NOOP("Actions", "Show less, larger"),
    ),
    ActionSpec(
        "zoom_out",
        QT_TRANSLATE_NOOP("Actions", "Zoom o&ut"),
        "view",
        ("Ctrl+-",),
        QT_TRANSLATE_NOOP("Actions", "Show more, smaller"),
    ),
    _compare(
        "side by side",
        QT_TRANSLATE_NOOP("Actions", "&Side by side"),
        "Alt+1",
        QT_TRANSLATE_NOOP("Actions", "Show the pictures side by side, linked"),
        True,
    ),
    _compare(
        "swipe",
        QT_TRANSLATE_NOOP("Actions", "Swi&pe"),
        "Alt+2",
        QT_TRANSLATE_NOOP("Actions", "Two pictures with a movable edge between them"),
    ),
    _compare(
        "flicker",
        QT_TRANSLATE_NOOP("Actions", "&Flicker"),
        "Alt+3",
        QT_TRANSLATE_NOOP("Actions", "Two pictures in turn while a key is held"),
    ),
    _compare(
        "difference",
        QT_TRANSLATE_NOOP("Actions", "&Difference"),
        "Alt+4",
        QT_TRANSLATE_NOOP("Actions", "The first picture minus the second, in colours around zero"),
    ),
    ActionSpec(
        "swap",
        QT_TRANSLATE_NOOP("Actions", "S&wap pictures"),
        "view/compare",
        ("Ctrl+T",),
        QT_TRANSLATE_NOOP("Actions", "Exchange the two pictures"),
        "compare",
        separator=True,
    ),
    ActionSpec(
        "compare_next",
        QT_TRANSLATE_NOOP("Actions", "&Next results"),
        "view/compare",
        ("Ctrl+PgDown",),
        QT_TRANSLATE_NOOP("Actions", "Where there are more results than fit: those after the ones in sight"),
        separator=True,
    ),
    ActionSpec(
        "compare_previous",
        QT_TRANSLATE_NOOP("Actions", "P&revious results"),
        "view/compare",
        ("Ctrl+PgUp",),
        QT_TRANSLATE_NOOP("Actions", "Where there are more results than fit: those before the ones in sight"),
    ),
    ActionSpec(
        "play",
        QT_TRANSLATE_NOOP("Actions", "&Play"),
        "view/sound",
        ("Ctrl+P",),
        QT_TRANSLATE_NOOP("Actions", "Hear the signal, or stop"),
        "sound",
        checkable=True,
    ),
    ActionSpec(
        "levels_auto",
        QT_TRANSLATE_NOOP("Actions", "&Automatic levels"),
        "view",
        ("Ctrl+L",),
        QT_TRANSLATE_NOOP("Actions", "Set black and white as the input's type and values ask for"),
        separator=True,
    ),
    _colour_map(
        "gray", QT_TRANSLATE_NOOP("Actions", "&Gray"), QT_TRANSLATE_NOOP("Actions", "From black to white"), True
    ),
    _colour_map(
        "viridis",
        QT_TRANSLATE_NOOP("Actions", "&Viridis"),
        QT_TRANSLATE_NOOP("Actions", "Even steps, readable without colour vision"),
    ),
    _colour_map(
        "cividis",
        QT_TRANSLATE_NOOP("Actions", "&Cividis"),
        QT_TRANSLATE_NOOP("Actions", "Even steps in blue and yellow"),
    ),
    _colour_map(
        "magma",
        QT_TRANSLATE_NOOP("Actions", "&Magma"),
        QT_TRANSLATE_NOOP("Actions", "Even steps, from black through purple to white"),
    ),
    _scheme(
        "system",
        QT_TRANSLATE_NOOP("Actions", "As the &system"),
        QT_TRANSLATE_NOOP("Actions", "Follow the desktop"),
        True,
    ),
    _scheme(
        "light", QT_TRANSLATE_NOOP("Actions", "&Light"), QT_TRANSLATE_NOOP("Actions", "Dark text on a light ground")
    ),
    _scheme("dark", QT_TRANSLATE_NOOP("Actions", "&Dark"), QT_TRANSLATE_NOOP("Actions", "Light text on a dark ground")),
    ActionSpec(
        "xray",
        QT_TRANSLATE_NOOP("Actions", "&X-ray"),
        "view",
        ("Ctrl+Shift+X",),
        QT_TRANSLATE_NOOP("Actions", "Show a kernel's source with what each line does to memory"),
        "xray",
        checkable=True,
        separator=True,
    ),
    ActionSpec(
        "presenter",
        QT_TRANSLATE_NOOP("Actions", "&Presenter size"),
        "view",
        ("F11",),
        QT_TRANSLATE_NOOP("Actions", "Everything larger, for a room"),
        checkable=True,
        separator=True,
    ),
    ActionSpec(
        "reset_layout",
        QT_TRANSLATE_NOOP("Actions", "&Reset layout"),
        "view",
        (),
        QT_TRANSLATE_NOOP("Actions", "Put every panel back in its place"),
    ),
)
