"""Settings that somebody else has written: words that Qt makes other types of, and those of other windows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from fake_engine import FakeEngine, make

from app.models.settings import Settings
from app.views.dialogs.recent_menu import RecentMenu

ROOT = Path(__file__).parents[2]
ODD = [
    "@Point(1 2)",
    "@Rect(1 2 3 4)",
    "@Size(1 2)",
    "@ByteArray(x)",
    "@Invalid()",
    "@Variant(\\0\\0\\0\\x4)",
    "1, 2",
    "@String(x)",
]
KEYS = {
    "look": ("scheme", "presenter", "colormap"),
    "window": ("restored", "reopened", "geometry", "layout"),
    "run": ("timed",),
    "files": ("most", "recent", "choices", "open_folder", "save_folder"),
}


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


def odd(path: Path, text: str) -> Settings:
    """Settings of which every one is this text."""
    lines = [line for group, keys in KEYS.items() for line in (f"[{group}]", *(f"{key}={text}" for key in keys))]
    path.write_text("\n".join(lines) + "\n")
    return Settings(path)


@pytest.mark.parametrize("text", ODD)
def test_a_setting_of_another_type_counts_as_none(tmp_path: Path, text: str) -> None:
    settings, plain = odd(tmp_path / "window.ini", text), Settings()
    for name in ("scheme", "presenter", "colormap", "restored", "reopened", "timed", "most_recent", "open_folder"):
        assert getattr(settings, name) == getattr(plain, name)
    assert all(isinstance(path, str) for path in settings.recent) and settings.imports == 0
    assert all(isinstance(part.size(), int) for part in settings.window())
    settings.add_recent("/a.png")
    assert settings.recent[0] == "/a.png"


def test_a_window_starts_with_odd_settings(qtbot, engine, tmp_path: Path) -> None:
    window = make(qtbot, engine, odd(tmp_path / "window.ini", "@Point(1 2)"))
    assert window.isVisible() and window.parts.recent.actions == []
    window.controller.cancel()


def test_choices_that_are_nested_too_deeply_are_none(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "window.ini")
    settings._put("files/choices", "[" * 100_000)
    assert settings.imports == 0


WINDOW = """
import sys
from app.models.settings import Settings
settings = Settings(sys.argv[1])
settings.recent
print("ready", flush=True)
for line in sys.stdin:
    settings.add_recent(line.strip())
    print("added", flush=True)
"""


def other_window(path: Path) -> subprocess.Popen[str]:
    """Another process with the same settings, which adds the files that it gets."""
    command = [sys.executable, "-c", WINDOW, str(path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=ROOT, **pipes)  # type: ignore[call-overload, no-any-return]


def add(window: subprocess.Popen[str], name: str) -> None:
    assert window.stdin is not None
    window.stdin.write(f"{name}\n")
    window.stdin.flush()


def said(window: subprocess.Popen[str]) -> str:
    assert window.stdout is not None
    return window.stdout.readline().strip()


def test_windows_beside_each_other_keep_one_list_of_files(tmp_path: Path) -> None:
    path = tmp_path / "window.ini"
    here = Settings(path)
    here.add_recent("/first.png")
    with other_window(path) as there:
        assert said(there) == "ready"
        here.add_recent("/here.png")
        add(there, "/there.png")
        assert said(there) == "added"
        here.add_recent("/again.png")
        assert here.recent == ("/again.png", "/there.png", "/here.png", "/first.png")
        add(there, "/last.png")
        assert said(there) == "added"
        here.refresh()
        assert here.recent[0] == "/last.png"
        there.stdin.close()  # type: ignore[union-attr]


@pytest.mark.thorough  # six processes
def test_six_windows_at_once_lose_no_file(tmp_path: Path) -> None:
    path = tmp_path / "window.ini"
    windows = [other_window(path) for _ in range(6)]
    assert [said(w) for w in windows] == ["ready"] * 6
    for number, window in enumerate(windows):
        add(window, f"/{number}.png")
    assert [said(w) for w in windows] == ["added"] * 6
    for window in windows:
        window.stdin.close()  # type: ignore[union-attr]
        window.stdout.close()  # type: ignore[union-attr]
        window.wait()
    assert sorted(Settings(path).recent) == [f"/{n}.png" for n in range(6)]


def test_the_menu_shows_what_other_windows_opened(qtbot, engine, tmp_path: Path) -> None:
    path = tmp_path / "window.ini"
    window = make(qtbot, engine, Settings(path))
    with other_window(path) as there:
        assert said(there) == "ready"
        add(there, str(tmp_path / "other.png"))
        assert said(there) == "added"
        there.stdin.close()  # type: ignore[union-attr]
    recent = window.parts.recent
    assert isinstance(recent, RecentMenu)
    recent.fill()
    assert [action.data() for action in recent.actions] == [str(tmp_path / "other.png")]
    window.controller.cancel()
