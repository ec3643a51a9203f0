"""The entries of the command palette."""

from __future__ import annotations

from app.views.dialogs.catalogue import Offer
from app.views.window.window_parts import WindowParts

REASON = "reason"
"""The property of an action that says why it is disabled."""


def palette_offers(parts: WindowParts) -> list[Offer]:
    """An entry for every action, named by its submenu's title, if any, and its text; then all
    filters and presets, and the headings of the guide."""
    offers, places = [], {action: path for path, menu in parts.menus.items() for action in menu.actions()}
    for id, action in parts.actions.items():
        if id != "palette":
            path = places[action]
            menu = f"{_plain(parts.menus[path].title())}: " if "/" in path else ""
            words, reason = f"{id} {action.statusTip()}", action.property(REASON) or ""
            offers.append(Offer(menu + _plain(action.text()), action, words, reason))
    for path in ("file/samples", "file/recent"):
        title = _plain(parts.menus[path].title())
        named = [a for a in parts.menus[path].actions() if a.objectName().startswith(("action.sample", "action.rec"))]
        offers += [Offer(f"{title}: {_plain(a.text())}", a, a.objectName().replace(".", " ")) for a in named]
    return offers + parts.catalogue.offers() + parts.guide.offers()


def _plain(text: str) -> str:
    """A text without its mnemonic mark."""
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&")
