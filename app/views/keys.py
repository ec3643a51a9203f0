"""Assigns mnemonic letters: each belongs to one menu, label or button, and menus come first."""

from __future__ import annotations

from collections.abc import Iterable, Set

from PySide6.QtCore import QCoreApplication

from app.shell.menus import MENUS

ELSEWHERE = "k"
"""The letter of the X-ray panel, which forms must not use."""


def letter(text: str) -> str:
    """The mnemonic of a text in lower case; empty without one."""
    place = text.replace("&&", "  ").find("&")
    return text[place + 1 : place + 2].lower() if place >= 0 else ""


def menu_letters() -> set[str]:
    """The keys of the menus in the bar."""
    titles = (QCoreApplication.translate("Actions", title) for path, title, _ in MENUS if "/" not in path)
    return {letter(title) for title in titles} - {""}


def yielding(text: str, taken: Set[str]) -> str:
    """The text, without its mnemonic if that is taken."""
    return text if letter(text) not in taken else text.replace("&&", "\0").replace("&", "").replace("\0", "&&")


def keyed(names: Iterable[str], taken: Set[str]) -> list[str]:
    """Each name as a label with a key that neither `taken` nor another name has: an early letter, for as many names as
    possible. A name for which no letter is left has none."""
    names, owners = list(names), dict[str, int]()

    def find(number: int, tried: set[str]) -> bool:
        """Give this name a free letter, else one whose owner can use another."""
        able = [sign for sign in names[number].lower() if sign.isalnum() and sign not in taken]
        for sign in sorted(able, key=owners.__contains__):
            if sign not in tried:
                tried.add(sign)
                if sign not in owners or find(owners[sign], tried):
                    owners[sign] = number
                    return True
        return False

    for number in range(len(names)):
        find(number, set())
    keys = {number: sign for sign, number in owners.items()}
    return [_marked(name, keys.get(number, "")) for number, name in enumerate(names)]


def _marked(name: str, key: str) -> str:
    place = name.lower().index(key) if key else len(name)
    mark = "&" if key else ""
    return name[:place].replace("&", "&&") + mark + name[place:].replace("&", "&&")
