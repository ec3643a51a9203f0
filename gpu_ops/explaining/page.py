"""A report for people: one HTML file with pictures, times, counts, kernels, claims and provenance, which needs nothing
else and no script, and prints on A4. Every text that comes from files is escaped by the template."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpu_ops.explaining.page_kernels import Kernel
from gpu_ops.explaining.page_rows import RowsOnPage, value_text
from gpu_ops.io import replacing
from gpu_ops.report.about import SEVERAL
from gpu_ops.report.bounds import roofs_text

if TYPE_CHECKING:
    from markupsafe import Markup

TEMPLATE = Path(__file__).resolve().parent.parent.parent / "resources" / "templates" / "report.html"


@dataclass(frozen=True)
class Picture:
    """A picture as HTML of our own, an <img> with a data URI or an <svg>; a `wide` one takes the page's width."""

    html: Markup
    title: str = ""
    caption: str = ""
    wide: bool = False


def png_picture(png: bytes, title: str = "", caption: str = "", wide: bool = True) -> Picture:
    """A picture of the bytes of a PNG file."""
    from markupsafe import Markup

    source = base64.b64encode(png).decode("ascii")
    image = Markup('<img alt="{}" src="data:image/png;base64,{}">').format(printable(title or caption), source)
    return Picture(image, title, caption, wide)


def drawn_picture(html: str, title: str, caption: str = "") -> Picture:
    """A picture that gpu_ops.html drew."""
    from markupsafe import Markup

    return Picture(Markup(html), title, caption)  # noqa: S704 - it holds numbers and base64 only


@dataclass(frozen=True)
class Page:
    """What a report shows. `facts` are those of the input and the job, `provenance` those of the machine and the
    program; both may hold lists and objects."""

    title: str
    lead: str
    facts: Mapping[str, Any]
    provenance: Mapping[str, Any]
    rows: RowsOnPage
    pictures: Sequence[Picture] = ()
    charts: Sequence[Picture] = ()
    kernels: Sequence[Kernel] = ()
    claims: Sequence[Mapping[str, Any]] = ()
    part: str = ""

    def html(self) -> str:
        """The whole file."""
        from jinja2 import Environment, StrictUndefined

        environment = Environment(
            autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=printable
        )
        template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
        shown = ("title", "lead", "pictures", "charts", "kernels", "claims", "part")
        page = {name: getattr(self, name) for name in shown}
        page |= {
            "facts": _lines(self.facts),
            "provenance": list(_machine_lines(self.provenance)),
            **self.rows.content(),
        }
        return template.render(page=page)

    def write(self, path: str | Path) -> None:
        """Write the file, whole or not at all. Raises InputError."""
        with replacing(path) as file:
            file.write(self.html().encode())


def printable(value: Any) -> Any:
    """A value of the template without control characters, which HTML does not allow."""
    from markupsafe import Markup

    if isinstance(value, Markup) or not isinstance(value, str) or value.isprintable():
        return value
    return "".join(c if c.isprintable() or c in "\n\t" else f"\\x{ord(c):02x}" for c in value)


def _lines(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """A name and a text for each fact that is not empty and the same for all."""
    return [(name, text) for name, value in facts.items() if value != SEVERAL and (text := _words(value))]


def _machine_lines(provenance: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The provenance with lines of its own for each device and for the roofs that were measured on it."""
    for name, value in provenance.items():
        if name != "devices":
            yield from _lines({name: value})
            continue
        for device, about in value.items():
            plain = {name: fact for name, fact in about.items() if name not in ("device", "roofs")}
            yield from _lines({device: plain})
            yield from _lines({f"roofs of {device}": roofs_text(about.get("roofs", {}))})


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {text}" for name, inner in value.items() if (text := _words(inner)))
    if isinstance(value, list | tuple):
        return "; ".join(map(_words, value))
    return "" if value is None or value == SEVERAL else value_text(value)
