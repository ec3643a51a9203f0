"""The actions of the View menu."""

from __future__ import annotations

from app.base.translate import QT_TRANSLATE_NOOP
from app.models.pictures.comparing import Mode
from app.models.pictures.display import Display
from app.shell.action_spec import ActionSpec
from app.views.window import handlers
from app.views.window.window_parts import WindowParts


def _mode(parts: WindowParts) -> str:
    """The mode of comparison; "" where the view cannot compare pictures."""
    grid = parts.pictures.view.grid
    return grid.mode if grid is not None else ""


def _display(parts: WindowParts) -> Display:
    """The levels and colours of the view, else those of pictures."""
    return parts.pictures.display or parts.context.display


def _levelled(parts: WindowParts) -> bool:
    """Whether the view has levels and colours."""
    return parts.pictures.display is not None


def _paged(parts: WindowParts) -> bool:
    """Whether the view can have several pages of results."""
    return parts.pictures.view.pager is not None


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
        do=lambda parts: parts.pictures.compare(mode),
        able=lambda parts: bool(_mode(parts)),
        on=lambda parts: _mode(parts) == mode,
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
        do=lambda parts: _display(parts).set_colormap(name),
        able=lambda parts: _levelled(parts) and parts.pictures.looked_at.levels is None,
        on=lambda parts: _display(parts).colormap == name,
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
        do=lambda parts: parts.context.look.choose(choice),
        on=lambda parts: parts.context.look.choice == choice,
    )


VIEW = (
    ActionSpec(
        "fit",
        QT_TRANSLATE_NOOP("Actions", "&Fit"),
        "view",
        ("Ctrl+0",),
        QT_TRANSLATE_NOOP("Actions", "Show the whole picture or signal"),
        "fit",
        do=lambda parts: parts.pictures.view.fit(),
    ),
    ActionSpec(
        "one_to_one",
        QT_TRANSLATE_NOOP("Actions", "&One to one"),
        "view",
        ("Ctrl+1",),
        QT_TRANSLATE_NOOP("Actions", "One image pixel per screen pixel"),
        "one-to-one",
        do=lambda parts: parts.pictures.view.one_to_one(),
    ),
    ActionSpec(
        "zoom_in",
        QT_TRANSLATE_NOOP("Actions", "Zoom &in"),
        "view",
        ("Ctrl++", "Ctrl+="),
        QT_TRANSLATE_NOOP("Actions", "Show less, larger"),
        do=lambda parts: parts.pictures.view.zoom(1.25),
    ),
    ActionSpec(
        "zoom_out",
        QT_TRANSLATE_NOOP("Actions", "Zoom o&ut"),
        "view",
        ("Ctrl+-",),
        QT_TRANSLATE_NOOP("Actions", "Show more, smaller"),
        do=lambda parts: parts.pictures.view.zoom(0.8),
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
        do=lambda parts: parts.pictures.swap(),
        able=lambda parts: _mode(parts) not in ("", "side by side"),
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
        on=lambda parts: parts.pictures.looked_at.difference in parts.context.session.choice.differences,
    ),
    ActionSpec(
        "jump_to_largest",
        QT_TRANSLATE_NOOP("Actions", "&Jump to the largest"),
        "view/compare",
        ("J",),
        QT_TRANSLATE_NOOP("Actions", "Show the pixel with the largest difference in the middle, in all panes"),
        do=handlers.jump_to_largest,
        why=handlers.why_no_jump,
    ),
    ActionSpec(
        "compare_next",
        QT_TRANSLATE_NOOP("Actions", "&Next results"),
        "view/compare",
        ("Ctrl+PgDown",),
        QT_TRANSLATE_NOOP("Actions", "Show the next page of results"),
        separator=True,
        do=lambda parts: parts.pictures.turn(1),
        able=_paged,
    ),
    ActionSpec(
        "compare_previous",
        QT_TRANSLATE_NOOP("Actions", "P&revious results"),
        "view/compare",
        ("Ctrl+PgUp",),
        QT_TRANSLATE_NOOP("Actions", "Show the previous page of results"),
        do=lambda parts: parts.pictures.turn(-1),
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
        do=lambda parts: parts.context.playback.toggle(),
    ),
    ActionSpec(
        "levels_auto",
        QT_TRANSLATE_NOOP("Actions", "&Automatic levels"),
        "view",
        ("Ctrl+L",),
        QT_TRANSLATE_NOOP("Actions", "Set black and white from the input's type and values"),
        separator=True,
        do=lambda parts: (parts.pictures.looked_at.levels or _display(parts)).auto_levels("auto"),
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
        do=lambda parts: parts.docks.toggle("xray"),
        on=lambda parts: parts.docks.is_open("xray"),
    ),
    ActionSpec(
        "block_steps",
        QT_TRANSLATE_NOOP("Actions", "&Block steps"),
        "view",
        ("Ctrl+Shift+B",),
        QT_TRANSLATE_NOOP("Actions", "Follow one block of a kernel step by step: its lanes, barriers, memory, races"),
        checkable=True,
        do=handlers.toggle_block_steps,
        on=lambda parts: parts.docks.is_open("block_steps"),
    ),
    ActionSpec(
        "traffic",
        QT_TRANSLATE_NOOP("Actions", "Traffic on t&he picture"),
        "view",
        ("Ctrl+Shift+F",),
        QT_TRANSLATE_NOOP("Actions", "Tint each picture by how often its kernel fetches every part of the input"),
        checkable=True,
        do=lambda parts: parts.context.traffic.watch(not parts.context.traffic.on),
        on=lambda parts: parts.context.traffic.on,
    ),
    ActionSpec(
        "edit_kernel",
        QT_TRANSLATE_NOOP("Actions", "Edit the ker&nel"),
        "view",
        ("Ctrl+Shift+L",),
        QT_TRANSLATE_NOOP("Actions", "Edit the kernel of the variant in the X-ray panel"),
        do=handlers.edit_kernel,
        why=handlers.why_no_kernel,
    ),
    ActionSpec(
        "own_kernel",
        QT_TRANSLATE_NOOP("Actions", "Own &kernel"),
        "view",
        ("Ctrl+Shift+K",),
        QT_TRANSLATE_NOOP("Actions", "Launch a kernel of any file on a simulated GPU, with the counts of each line"),
        do=handlers.show_own_kernel,
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
        "full_screen",
        QT_TRANSLATE_NOOP("Actions", "Full scr&een"),
        "view",
        ("F",),
        QT_TRANSLATE_NOOP("Actions", "Show one result, or the panel with the focus, alone on the whole screen"),
        "full-screen",
        checkable=True,
        separator=True,
        do=lambda parts: parts.full_screen.toggle(),
        on=lambda parts: parts.full_screen.active,
    ),
    ActionSpec(
        "presenter",
        QT_TRANSLATE_NOOP("Actions", "&Presenter size"),
        "view",
        ("F11",),
        QT_TRANSLATE_NOOP("Actions", "Make everything larger, for presentations"),
        checkable=True,
        do=lambda parts: parts.context.look.set_presenter(not parts.context.look.presenter),
        on=lambda parts: parts.context.look.presenter,
    ),
    ActionSpec(
        "reset_layout",
        QT_TRANSLATE_NOOP("Actions", "&Reset layout"),
        "view",
        (),
        QT_TRANSLATE_NOOP("Actions", "Put every panel back in its place"),
        do=lambda parts: parts.docks.reset(),
    ),
)
