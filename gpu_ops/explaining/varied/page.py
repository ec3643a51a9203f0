"""X-rays for every combination of some values as one HTML file: a slider or a list for each parameter chooses which
counts are shown. The file needs nothing else, and holds every count once."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpu_ops.counters import CATALOGUE, COUNTERS, Counter
from gpu_ops.explaining.page import printable
from gpu_ops.explaining.page_kernels import about_launch
from gpu_ops.explaining.sentences import explain, number
from gpu_ops.explaining.xray import KernelXRay, XRay, add_up, kernel_dict
from gpu_ops.io import replacing

TEMPLATE = Path(__file__).resolve().parents[3] / "resources" / "templates" / "xray.html"
SHOWN = tuple(c for c in CATALOGUE if c.hint != "best" and "samples" not in (c.id, *c.over))
"""The counters of a page."""


@dataclass(frozen=True)
class Axis:
    """A parameter and its values. `unit` and `help` are the parameter's."""

    name: str
    values: tuple[Any, ...]
    unit: str = ""
    help: str = ""


@dataclass(frozen=True)
class Setting:
    """The X-ray of one combination of values, or the reason why there is none, with the findings until then."""

    xray: XRay | None = None
    reason: str = ""
    findings: tuple[str, ...] = ()


@dataclass
class _Pool:
    """Different items, each once, and their places."""

    items: list[Any] = field(default_factory=list)
    places: dict[Hashable, int] = field(default_factory=dict)

    def place(self, item: Any) -> int:
        key = json.dumps(item)
        if key not in self.places:
            self.places[key] = len(self.items)
            self.items.append(item)
        return self.places[key]


def content(axes: Sequence[Axis], settings: Sequence[Setting], start: Sequence[int]) -> dict[str, Any]:
    """What the page's script reads. The settings are in the order of the product of the axes, the last one fastest;
    `start` are the places of the values that are shown first."""
    texts, rows, files = _Pool(), _Pool(), _Pool()
    found = [_setting(one, texts, rows, files) for one in settings]
    return {
        "axes": [{**vars(a), "values": [_plain(v) for v in a.values]} for a in axes],
        "start": list(start),
        "counters": [{"name": c.name, "unit": c.unit, "description": c.description} for c in SHOWN],
        "settings": found,
        "texts": texts.items,
        "rows": rows.items,
        "files": files.items,
    }


def _plain(value: Any) -> Any:
    return value if isinstance(value, int | float | str) and not isinstance(value, bool) else str(value)


def _setting(one: Setting, texts: _Pool, rows: _Pool, files: _Pool) -> dict[str, Any]:
    findings = [f"{f.severity}: {f}" for f in one.xray.findings] if one.xray else list(one.findings)
    about = {"reason": printable(one.reason), "findings": [texts.place(printable(f)) for f in findings]}
    if one.xray is None:
        return about
    x = one.xray
    return about | {
        "idea": texts.place(f"{x.title}: {x.idea}"),
        "unit": x.unit,
        "outputs": x.outputs,
        "totals": rows.place(_row(x.totals)),
        "ideal": rows.place(_ideal(x.totals)),
        "sentences": [texts.place(printable(s.text)) for s in explain(x)],
        "kernels": [_kernel(k, texts, rows, files) for k in x.kernels],
    }


def _kernel(kernel: KernelXRay, texts: _Pool, rows: _Pool, files: _Pool) -> dict[str, Any]:
    lines = []
    for file in kernel.files:
        # A line has its own counts and those of the lines that it calls, as in the command's output.
        counts = {n: add_up((file.lines.get(n, {}), file.calls.get(n, {}))) for n in sorted({*file.lines, *file.calls})}
        source = [printable(file.file), [printable(line) for line in file.text.expandtabs(4).splitlines()]]
        lines.append([files.place(source), [[n, rows.place(_row(own))] for n, own in counts.items()]])
    return {"about": texts.place(printable(about_launch(kernel_dict(kernel, False)))), "files": lines}


def _row(counts: Mapping[str, int]) -> list[list[Any]]:
    """[place of the counter, value, short text] of each counter that is not 0."""
    values = ((place, counter.value(counts)) for place, counter in enumerate(SHOWN))
    return [[place, value, number(value)] for place, value in values if value]


def _ideal(counts: Mapping[str, int]) -> list[list[Any]]:
    """The same of the ideal values of the counters that have one."""
    return [[p, counts[c.best], number(counts[c.best])] for p, c in enumerate(SHOWN) if counts.get(_best(c), 0)]


def _best(counter: Counter) -> str:
    return COUNTERS[counter.id].best if counter.id in COUNTERS else ""


@dataclass(frozen=True)
class VariedPage:
    """The page. `facts` say how it was made."""

    title: str
    facts: Mapping[str, str]
    axes: Sequence[Axis]
    settings: Sequence[Setting]
    start: Sequence[int]

    def html(self) -> str:
        """The whole file. The browser runs its one script, known by its hash, and nothing else."""
        from jinja2 import Environment, StrictUndefined
        from markupsafe import Markup

        environment = Environment(autoescape=True, undefined=StrictUndefined, finalize=printable)
        text = TEMPLATE.read_text(encoding="utf-8")
        script = text.partition("<script>")[2].partition("</script>")[0]
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
        data = json.dumps(content(self.axes, self.settings, self.start), separators=(",", ":")).replace("<", "\\u003c")
        template = environment.from_string(text.replace(script, "{{ script }}"))
        parts = {"script": Markup(script), "data": Markup(data)}  # noqa: S704 - our own, and JSON without "<"
        return template.render(title=self.title, facts=self.facts, digest=digest, **parts)

    def write(self, path: str | Path) -> None:
        """Write the file, whole or not at all. Raises InputError."""
        with replacing(path) as file:
            file.write(self.html().encode())
