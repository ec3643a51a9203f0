"""The system libraries that Qt's window needs: checked before Qt starts, because Qt aborts the program if one is
missing.

Only on Linux these libraries come from the system. This module does not import Qt.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

LIBRARIES: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "": {
        "libEGL.so.1": ("libegl1", "libglvnd-egl"),
        "libGL.so.1": ("libgl1", "libglvnd-glx"),
        "libX11.so.6": ("libx11-6", "libX11"),
        "libglib-2.0.so.0": ("libglib2.0-0", "glib2"),
        "libxkbcommon.so.0": ("libxkbcommon0", "libxkbcommon"),
        "libfontconfig.so.1": ("libfontconfig1", "fontconfig"),
        "libfreetype.so.6": ("libfreetype6", "freetype"),
        "libdbus-1.so.3": ("libdbus-1-3", "dbus-libs"),
    },
    "xcb": {
        "libX11-xcb.so.1": ("libx11-xcb1", "libX11-xcb"),
        "libxkbcommon-x11.so.0": ("libxkbcommon-x11-0", "libxkbcommon-x11"),
        "libxcb-cursor.so.0": ("libxcb-cursor0", "xcb-util-cursor"),
        "libxcb-icccm.so.4": ("libxcb-icccm4", "xcb-util-wm"),
        "libxcb-image.so.0": ("libxcb-image0", "xcb-util-image"),
        "libxcb-keysyms.so.1": ("libxcb-keysyms1", "xcb-util-keysyms"),
        "libxcb-render-util.so.0": ("libxcb-render-util0", "xcb-util-renderutil"),
        "libxcb-util.so.1": ("libxcb-util1", "xcb-util"),
        "libxcb.so.1": ("libxcb1", "libxcb"),
        "libxcb-randr.so.0": ("libxcb-randr0", "libxcb"),
        "libxcb-render.so.0": ("libxcb-render0", "libxcb"),
        "libxcb-shape.so.0": ("libxcb-shape0", "libxcb"),
        "libxcb-shm.so.0": ("libxcb-shm0", "libxcb"),
        "libxcb-sync.so.1": ("libxcb-sync1", "libxcb"),
        "libxcb-xfixes.so.0": ("libxcb-xfixes0", "libxcb"),
        "libxcb-xkb.so.1": ("libxcb-xkb1", "libxcb"),
    },
    "wayland": {
        "libwayland-client.so.0": ("libwayland-client0", "libwayland-client"),
        "libwayland-cursor.so.0": ("libwayland-cursor0", "libwayland-cursor"),
        "libwayland-egl.so.1": ("libwayland-egl1", "libwayland-egl"),
    },
}
"""By Qt platform, "" for all of them: each library, and its package in Debian and in Fedora."""
SCREENLESS = "draw into a file with --screenshot FILE.png, or use a command (kernelscope list, run, bench …)"

Load = Callable[[str], object]


def window_fault() -> str:
    """Why the window cannot open on this machine and the remedy, in a sentence; "" if no problem is known."""
    if find_spec("PySide6") is None:
        return "The window needs Qt, which is not installed: pip install PySide6-Essentials."
    if sys.platform != "linux":
        return ""
    return platform_fault() or display_fault() or library_fault(platforms()) or connection_fault()


def screen_fault() -> str:
    """Why no display can be used, as the beginning of a sentence; "" if one can, and if the problem is another one: Qt,
    its libraries or its settings."""
    if find_spec("PySide6") is None or sys.platform != "linux" or platform_fault():
        return ""
    return _no_display() or ("" if library_fault(platforms()) else _no_answer())


def faults() -> list[str]:
    """All problems that prevent the window from opening, for `doctor`: it checks libraries even without a display."""
    fault = window_fault()
    result = [fault] if fault else []
    if fault and fault == display_fault():
        result += [text for text in [library_fault(("xcb",))] if text]
    return result


def platforms() -> tuple[str, ...]:
    """The Qt platforms to try: those named by the environment, else those with a display."""
    names = os.environ.get("QT_QPA_PLATFORM")
    if names:
        return tuple(part.partition(":")[0].removesuffix("-egl") for part in names.split(";"))
    displays = {"wayland": os.environ.get("WAYLAND_DISPLAY"), "xcb": os.environ.get("DISPLAY")}
    return tuple(name for name, display in displays.items() if display)


def _plugins() -> Path | None:
    """The folder of Qt's platform plugins inside PySide6."""
    spec = find_spec("PySide6")
    places = (spec.submodule_search_locations if spec else None) or ()
    folders = [Path(place) / "Qt" / "plugins" / "platforms" for place in places]
    return next((f for f in folders if f.is_dir()), None)


def platform_fault() -> str:
    """The problem with QT_QPA_PLATFORM, if any."""
    folder = _plugins()
    names = sorted(p.stem.removeprefix("libq") for p in folder.glob("libq*.so")) if folder else []
    if not names or not os.environ.get("QT_QPA_PLATFORM") or set(platforms()) & set(names):
        return ""
    return (
        f"QT_QPA_PLATFORM names {os.environ['QT_QPA_PLATFORM']!r}, and Qt's platforms here are {', '.join(names)}; "
        "name one of them, or leave it out."
    )


def display_fault() -> str:
    """The message that there is no display, with the remedy; "" if there is one."""
    reason = _no_display()
    return f"{reason}; {SCREENLESS}." if reason else ""


def _no_display() -> str:
    return "" if platforms() else "There is no display here"


def library_fault(candidates: Sequence[str], load: Load | None = None) -> str:
    """The libraries that are missing on every platform, with the command that installs them."""
    load = load or _load
    missing = [_missing(name, load) for name in candidates]
    if not all(missing):
        return ""
    # The message names the libraries of the last platform, because Qt tries it when the others fail.
    names = missing[-1]
    packages = [_package(name) for name in names]
    if not all(packages):
        return f"Qt cannot start: {', '.join(names)} cannot be loaded; install the package that brings it."
    debian, fedora = (" ".join(dict.fromkeys(p[system] for p in packages if p)) for system in (0, 1))
    return (
        f"Qt cannot start, because {', '.join(names)} {'are' if len(names) > 1 else 'is'} missing: on Debian or Ubuntu "
        f"sudo apt install {debian}, on Fedora sudo dnf install {fedora}."
    )


def _package(library: str) -> tuple[str, str] | None:
    return next((packages[library] for packages in LIBRARIES.values() if library in packages), None)


def _missing(platform: str, load: Load) -> list[str]:
    """The libraries of a platform that cannot be loaded; its plugin comes last, because it may depend on others as
    well."""
    missing = [name for name in (*LIBRARIES[""], *LIBRARIES.get(platform, {})) if not _loads(name, load)]
    folder = _plugins()
    plugin = folder / f"libq{platform}.so" if folder else None
    if missing or plugin is None or not plugin.exists():
        return missing
    try:
        load(str(plugin))
    except OSError as error:
        return [str(error).partition(":")[0]]
    return []


def _loads(name: str, load: Load) -> bool:
    try:
        load(name)
    except OSError:
        return False
    return True


def _load(name: str) -> ctypes.CDLL:
    return ctypes.CDLL(name, os.RTLD_LAZY)


def connection_fault() -> str:
    """The message that no display responds, with the remedy; "" if one does."""
    reason = _no_answer()
    return f"{reason}; check that it runs and that you may use it, or {SCREENLESS}." if reason else ""


def _no_answer() -> str:
    displays = {"wayland": "WAYLAND_DISPLAY", "xcb": "DISPLAY"}
    names = platforms()
    if not set(names) <= set(displays) or any(_answers(name) for name in names):
        return ""
    settings = " and ".join(f"{displays[name]}={os.environ.get(displays[name], '')}" for name in names)
    return f"The display does not answer ({settings})"


def _answers(platform: str) -> bool:
    try:
        return _wayland_answers() if platform == "wayland" else _xcb_answers()
    except OSError:
        return False


def _wayland_answers() -> bool:
    wayland = _load("libwayland-client.so.0")
    wayland.wl_display_connect.restype = ctypes.c_void_p
    display = wayland.wl_display_connect(None)
    if display:
        wayland.wl_display_disconnect(ctypes.c_void_p(display))
    return bool(display)


def _xcb_answers() -> bool:
    xcb = _load("libxcb.so.1")
    xcb.xcb_connect.restype = ctypes.c_void_p
    connection = ctypes.c_void_p(xcb.xcb_connect(None, None))
    error = xcb.xcb_connection_has_error(connection)
    xcb.xcb_disconnect(connection)
    return not error
