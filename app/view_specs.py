"""The actions that change what is seen and how."""

from __future__ import annotations

from app.action_spec import ActionSpec
from app.translate import QT_TRANSLATE_NOOP
from app.views.results.panes import Mode
from app.views.window.desk import Desk


def _mode(desk: Desk) -> str:
    """How pictures are compared; "" where nothing can be compared in one place."""
    grid = desk.pictures.view.grid
    return grid.mode if grid is not None else ""


def _levelled(desk: Desk) -> bool:
    """Whether there are levels and colours to choose."""
    return desk.pictures.display is not None


def _paged(desk: Desk) -> bool:
    """Whether results may be on several pages."""
    return desk.pictures.view.pager is not None


def _compare(mode: Mode, text: str, keys: str, tip: str, checked: bool = False) -> ActionSpec:
    return ActionSpec(
        f"compare_{mode.replace(' ', '_')}",
        text,
        "view/compare",
        (keys,),
        tip,
        checkable=True,
        checked=checked,
        group="compare",
        data=mode,
        do=lambda desk: desk.pictures.compare(mode),
        able=lambda desk: bool(_mode(desk)),
        on=lambda desk: _mode(desk) == mode,
    )


def _colour_map(name: str, text: str, tip: str, checked: bool = False) -> ActionSpec:
    return ActionSpec(
        f"map_{name}",
        text,
        "view/colours",
        (),
        tip,
        checkable=True,
        checked=checked,
        group="map",
        data=name,
        do=lambda desk: desk.pictures.set_colormap(name),
        able=_levelled,
        on=lambda desk: (desk.pictures.display or desk.context.display).colormap == name,
    )


def _scheme(choice: str, text: str, tip: str, checked: bool = False) -> ActionSpec:
    return ActionSpec(
        f"scheme_{choice}",
        text,
        "view/scheme",
        (),
        tip,
        checkable=True,
        checked=checked,
        group="scheme",
        data=choice,
        do=lambda desk: desk.context.look.choose(choice),
        on=lambda desk: desk.context.look.choice == choice,
    )


VIEW = (
    ActionSpec(
        "fit",
        QT_TRANSLATE_NOOP("Actions", "&Fit"),
        "view",
        ("Ctrl+0",),
        QT_TRANSLATE_NOOP("Actions", "Show the whole picture or signal"),
        "fit",
        do=lambda desk: desk.pictures.view.fit(),
    ),
    ActionSpec(
        "one_to_one",
        QT_TRANSLATE_NOOP("Actions", "&One to one"),
        "view",
        ("Ctrl+1",),
        QT_TRANSLATE_NOOP("Actions", "One pixel a pixel"),
        "one-to-one",
        do=lambda desk: desk.pictures.view.one_to_one(),
    ),
    ActionSpec(
        "zoom_in",
        QT_TRANSLATE_NOOP("Actions", "Zoom &in"),
        "view",
        ("Ctrl++", "Ctrl+="),
        QT_TRANSLATE_NOOP("Actions", "Show less, larger"),
        do=lambda desk: desk.pictures.view.zoom(1.25),
    ),
    ActionSpec(
        "zoom_out",
        QT_TRANSLATE_NOOP("Actions", "Zoom o&ut"),
        "view",
        ("Ctrl+-",),
        QT_TRANSLATE_NOOP("Actions", "Show more, smaller"),
        do=lambda desk: desk.pictures.view.zoom(0.8),
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
        do=lambda desk: desk.pictures.swap(),
        able=lambda desk: _mode(desk) not in ("", "side by side"),
    ),
    ActionSpec(
        "compare_next",
        QT_TRANSLATE_NOOP("Actions", "&Next results"),
        "view/compare",
        ("Ctrl+PgDown",),
        QT_TRANSLATE_NOOP("Actions", "Where there are more results than fit: those after the ones in sight"),
        separator=True,
        do=lambda desk: desk.pictures.turn(1),
        able=_paged,
    ),
    ActionSpec(
        "compare_previous",
        QT_TRANSLATE_NOOP("Actions", "P&revious results"),
        "view/compare",
        ("Ctrl+PgUp",),
        QT_TRANSLATE_NOOP("Actions", "Where there are more results than fit: those before the ones in sight"),
        do=lambda desk: desk.pictures.turn(-1),
        able=_paged,
    ),
    ActionSpec(
        "play",
        QT_TRANSLATE_NOOP("Actions", "&Play"),
        "view/sound",
        ("Ctrl+P",),
        QT_TRANSLATE_NOOP("Actions", "Hear the signal, or stop"),
        "sound",
        checkable=True,
        do=lambda desk: desk.context.playback.toggle(),
    ),
    ActionSpec(
        "levels_auto",
        QT_TRANSLATE_NOOP("Actions", "&Automatic levels"),
        "view",
        ("Ctrl+L",),
        QT_TRANSLATE_NOOP("Actions", "Set black and white as the input's type and values ask for"),
        separator=True,
        do=lambda desk: desk.pictures.auto_levels(),
        able=_levelled,
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
        do=lambda desk: desk.docks.toggle("xray"),
        on=lambda desk: desk.docks.is_open("xray"),
    ),
    ActionSpec(
        "presenter",
        QT_TRANSLATE_NOOP("Actions", "&Presenter size"),
        "view",
        ("F11",),
        QT_TRANSLATE_NOOP("Actions", "Everything larger, for a room"),
        checkable=True,
        separator=True,
        do=lambda desk: desk.context.look.set_presenter(not desk.context.look.presenter),
        on=lambda desk: desk.context.look.presenter,
    ),
    ActionSpec(
        "reset_layout",
        QT_TRANSLATE_NOOP("Actions", "&Reset layout"),
        "view",
        (),
        QT_TRANSLATE_NOOP("Actions", "Put every panel back in its place"),
        do=lambda desk: desk.docks.reset(),
    ),
)
