"""The actions of the View menu."""

from __future__ import annotations

from app.base.translate import QT_TRANSLATE_NOOP
from app.models.pictures.comparing import Mode
from app.models.pictures.display import Display
from app.shell.action_spec import ActionSpec
from app.views.window import handlers
from app.views.window.desk import WindowParts


def _mode(desk: WindowParts) -> str:
    """The mode of comparison; "" where the view cannot compare pictures in one place."""
    grid = desk.pictures.view.grid
    return grid.mode if grid is not None else ""


def _display(desk: WindowParts) -> Display:
    """The levels and colours of the view, else those of pictures."""
    return desk.pictures.display or desk.context.display


def _levelled(desk: WindowParts) -> bool:
    """Whether the view has levels and colours."""
    return desk.pictures.display is not None


def _paged(desk: WindowParts) -> bool:
    """Whether the view may have several pages of results."""
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
        do=lambda desk: _display(desk).set_colormap(name),
        able=lambda desk: _levelled(desk) and desk.pictures.looked_at.levels is None,
        on=lambda desk: _display(desk).colormap == name,
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
        QT_TRANSLATE_NOOP("Actions", "One image pixel per screen pixel"),
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
        QT_TRANSLATE_NOOP("Actions", "Show two pictures in one place, with a divider to drag"),
    ),
    _compare(
        "flicker",
        QT_TRANSLATE_NOOP("Actions", "&Flicker"),
        "Alt+3",
        QT_TRANSLATE_NOOP("Actions", "Show one picture, and the other while Space is held"),
    ),
    _compare(
        "difference",
        QT_TRANSLATE_NOOP("Actions", "&Difference"),
        "Alt+4",
        QT_TRANSLATE_NOOP("Actions", "Show the first picture minus the second, with colours for the sign"),
    ),
    ActionSpec(
        "swap",
        QT_TRANSLATE_NOOP("Actions", "S&wap pictures"),
        "view/compare",
        ("Ctrl+T",),
        QT_TRANSLATE_NOOP("Actions", "Swap the two pictures"),
        "compare",
        separator=True,
        do=lambda desk: desk.pictures.swap(),
        able=lambda desk: _mode(desk) not in ("", "side by side"),
    ),
    ActionSpec(
        "keep_difference",
        QT_TRANSLATE_NOOP("Actions", "&Keep beside"),
        "view/compare",
        ("Ctrl+K",),
        QT_TRANSLATE_NOOP("Actions", "Keep the difference beside the results, or remove it there"),
        checkable=True,
        do=handlers.keep_difference,
        why=handlers.why_not_kept,
        on=lambda desk: desk.pictures.looked_at.difference in desk.context.session.choice.differences,
    ),
    ActionSpec(
        "compare_next",
        QT_TRANSLATE_NOOP("Actions", "&Next results"),
        "view/compare",
        ("Ctrl+PgDown",),
        QT_TRANSLATE_NOOP("Actions", "Show the next page of results"),
        separator=True,
        do=lambda desk: desk.pictures.turn(1),
        able=_paged,
    ),
    ActionSpec(
        "compare_previous",
        QT_TRANSLATE_NOOP("Actions", "P&revious results"),
        "view/compare",
        ("Ctrl+PgUp",),
        QT_TRANSLATE_NOOP("Actions", "Show the previous page of results"),
        do=lambda desk: desk.pictures.turn(-1),
        able=_paged,
    ),
    ActionSpec(
        "play",
        QT_TRANSLATE_NOOP("Actions", "&Play"),
        "view/sound",
        ("Ctrl+P",),
        QT_TRANSLATE_NOOP("Actions", "Play the signal as sound, or stop"),
        "sound",
        checkable=True,
        do=lambda desk: desk.context.playback.toggle(),
    ),
    ActionSpec(
        "levels_auto",
        QT_TRANSLATE_NOOP("Actions", "&Automatic levels"),
        "view",
        ("Ctrl+L",),
        QT_TRANSLATE_NOOP("Actions", "Set black and white from the input's type and values"),
        separator=True,
        do=lambda desk: (desk.pictures.looked_at.levels or _display(desk)).auto_levels("auto"),
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
        QT_TRANSLATE_NOOP("Actions", "Like the &system"),
        QT_TRANSLATE_NOOP("Actions", "Follow the desktop"),
        True,
    ),
    _scheme(
        "light", QT_TRANSLATE_NOOP("Actions", "&Light"), QT_TRANSLATE_NOOP("Actions", "Dark text on a light background")
    ),
    _scheme(
        "dark", QT_TRANSLATE_NOOP("Actions", "&Dark"), QT_TRANSLATE_NOOP("Actions", "Light text on a dark background")
    ),
    ActionSpec(
        "xray",
        QT_TRANSLATE_NOOP("Actions", "&X-ray"),
        "view",
        ("Ctrl+Shift+X",),
        QT_TRANSLATE_NOOP("Actions", "Show a kernel's source with the memory accesses of each line"),
        "xray",
        checkable=True,
        separator=True,
        do=lambda desk: desk.docks.toggle("xray"),
        on=lambda desk: desk.docks.is_open("xray"),
    ),
    ActionSpec(
        "timeline",
        QT_TRANSLATE_NOOP("Actions", "&Timeline"),
        "view",
        ("Ctrl+Shift+T",),
        QT_TRANSLATE_NOOP("Actions", "Show which copies and kernels of the ticked variants run beside which"),
        do=handlers.show_timeline,
    ),
    ActionSpec(
        "presenter",
        QT_TRANSLATE_NOOP("Actions", "&Presenter size"),
        "view",
        ("F11",),
        QT_TRANSLATE_NOOP("Actions", "Make everything larger, for presentations"),
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
