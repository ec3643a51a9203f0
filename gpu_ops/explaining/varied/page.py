"""X-rays for every combination of some values as one HTML file: a slider or a list for each parameter chooses which
counts are shown. The file needs nothing else, and holds every row of counts, text and picture once."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gpu_ops.counters import CATALOGUE, COUNTERS, UNKNOWN, Counter, add_up
from gpu_ops.errors import ParamError
from gpu_ops.explaining.page import printable
from gpu_ops.explaining.prediction.model import LIMITS, Limit
from gpu_ops.explaining.result_tables import duration
from gpu_ops.explaining.sentences import explain
from gpu_ops.explaining.spills import spilled_bytes
from gpu_ops.explaining.varied.axes import Axis
from gpu_ops.explaining.xray import KernelXRay, XRay
from gpu_ops.html import png
from gpu_ops.io import replacing

TEMPLATE = Path(__file__).resolve().parents[3] / "resources" / "templates" / "xray.html"
SHOWN = tuple(c for c in CATALOGUE if c.hint != "best" and "samples" not in (c.id, *c.over))
"""The counters of a page."""
FIRST = "global_load_sectors"
"""The counter that a page shows at first, where a kernel has it."""
MOST_BYTES = 16 << 20
"""The largest page: mail programs take about 20 MiB."""


@dataclass(frozen=True)
class Time:
    """The interval that is predicted for a GPU, in seconds, and what decides; or the `reason` why there is none."""

    gpu: str
    low: float = 0.0
    high: float = 0.0
    limit: Limit | None = None
    reason: str = ""


@dataclass(frozen=True, eq=False)
class Fetched:
    """How often the sectors of the samples are fetched: means of a coarse grid (rows, columns), and the `least` and the
    `most` of a sample."""

    means: np.ndarray[Any, Any]
    least: int
    most: int


@dataclass(frozen=True, eq=False)
class Setting:
    """The X-ray of one combination of values, or the reason why there is none, with the findings until then. With an
    X-ray, `reason` says why its traffic is missing. `idle` are the names of knobs that its variant does not have;
    `edited`: the kernel is the user's own."""

    xray: XRay | None = None
    reason: str = ""
    findings: tuple[str, ...] = ()
    times: tuple[Time, ...] = ()
    fetched: Fetched | None = None
    idle: tuple[str, ...] = ()
    edited: bool = False


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


class _Content:
    """What the page's script reads of the settings. `named` gives a text the names of the user's own files."""

    def __init__(self, named: Callable[[str], str], most: int) -> None:
        self.texts, self.rows, self.files, self.pictures = _Pool(), _Pool(), _Pool(), _Pool()
        self._own_names, self._most = named, most
        self._named = named

    def text(self, text: str) -> int:
        return self.texts.place(str(printable(self._named(text))))

    def setting(self, one: Setting) -> dict[str, Any]:
        self._named = self._own_names if one.edited else str
        findings = [f"{f.severity}: {f}" for f in one.xray.findings] if one.xray else one.findings
        about = {"reason": self.text(one.reason), "findings": [self.text(f) for f in findings], "idle": one.idle}
        if one.xray is None:
            return about
        x = one.xray
        return about | {
            "idea": self.text(f"{x.title}{', edited' if one.edited else ''}: {x.idea}"),
            "totals": self.rows.place(_row(x.totals)),
            "ideal": self.rows.place(_ideal(x.totals)),
            "sentences": [self.text(s.text) for s in explain(x)],
            "kernels": [self._kernel(k) for k in x.kernels],
            "times": [self._time(time) for time in one.times],
            "fetched": self._fetched(one.fetched) if one.fetched is not None else None,
        }

    def _kernel(self, kernel: KernelXRay) -> dict[str, Any]:
        lines = []
        for file in kernel.files:
            # A line has its own counts and those of the lines that it calls, as in the command's output.
            both = {n: (file.lines.get(n, {}), file.calls.get(n, {})) for n in sorted({*file.lines, *file.calls})}
            text = [printable(line) for line in file.text.expandtabs(4).splitlines()]
            source = [printable(self._named(file.file)), text]
            lines.append([self.files.place(source), [[n, self.rows.place(_line(add_up(b)))] for n, b in both.items()]])
        held = kernel.occupancy
        return {
            "name": self.text(kernel.name),
            "facts": [[self.text(name), self.text(value)] for name, value in _facts(kernel).items()],
            "share": 0 if held is None else held.share,
            "files": lines,
        }

    def _time(self, time: Time) -> dict[str, Any]:
        if time.limit is None:
            return {"gpu": self.text(time.gpu), "text": self.text(time.reason), "limit": self.text(""), "span": [0, 0]}
        text = f"{duration(time.low)} to {duration(time.high)}"
        words = self.text(LIMITS[time.limit])
        return {"gpu": self.text(time.gpu), "text": self.text(text), "limit": words, "span": [time.low, time.high]}

    def _fetched(self, fetched: Fetched) -> dict[str, Any]:
        """The picture, whose brightness grows with the logarithm up to the most of all settings."""
        light = np.log2(1 + fetched.means) / np.log2(1 + max(self._most, 1))
        pixels = np.rint(255 * light).astype(np.uint8)
        text = f"The sector of a sample is fetched {fetched.least:,} to {fetched.most:,} times in this setting."
        place = self.pictures.place(base64.b64encode(png(pixels)).decode("ascii"))
        return {"picture": place, "strip": len(pixels) == 1, "text": self.text(text)}


def _facts(kernel: KernelXRay) -> dict[str, str]:
    """The launch, the resources and the occupancy of a kernel, as named texts."""
    own, times = kernel.resources, f"{kernel.launches} launches, the first: " if kernel.launches > 1 else ""
    grid, block = (" × ".join(str(n) for n in shape) for shape in (kernel.grid, kernel.block))
    found = {
        "launch": f"{times}grid {grid}, block {block}",
        "per thread": f"{own.get('registers', 0)} registers, {spilled_bytes(own):,} bytes spilled",
        "per block": f"{kernel.shared_bytes:,} bytes of shared memory",
    }
    held = kernel.occupancy
    if held is None:
        return {**found, "occupancy": "not known for this GPU"}
    blocks = f"{held.blocks} block{'' if held.blocks == 1 else 's'}"
    warps = f"{held.share:.0%}: {blocks}, {held.warps} of {held.most} warps per multiprocessor"
    return {**found, "occupancy": f"{warps}, limited by {held.limiter}"}


def _row(counts: Mapping[str, int]) -> list[list[Any]]:
    """[place of the counter, count] of each counter that is not 0, or [place, value, text] of a ratio."""
    values = ((place, counter, counter.value(counts)) for place, counter in enumerate(SHOWN))
    return [[p, value] if c.hint == "count" else [p, value, f"{value:.3g}"] for p, c, value in values if value]


def _line(counts: Mapping[str, int]) -> list[list[Any]]:
    """The same for a source line, where some counts are unknown."""
    return [[p, 0, UNKNOWN] if SHOWN[p].is_unknown(counts) else [p, *one] for p, *one in _row(counts)]


def _ideal(counts: Mapping[str, int]) -> list[list[Any]]:
    """The ideal values of the counters that have one."""
    return [[p, counts[_best(c)]] for p, c in enumerate(SHOWN) if counts.get(_best(c), 0)]


def _best(counter: Counter) -> str:
    return COUNTERS[counter.id].best if counter.id in COUNTERS else ""


def _plain(value: Any) -> Any:
    return value if isinstance(value, int | float | str) and not isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class VariedPage:
    """The page. `facts` say how it was made; the `settings` are in the order of the product of the axes, the last one
    fastest. `named` gives a text the names of the user's own files."""

    title: str
    facts: Mapping[str, str]
    axes: Sequence[Axis]
    settings: Sequence[Setting]
    named: Callable[[str], str] = str

    def content(self) -> dict[str, Any]:
        """What the page's script reads."""
        most = max((one.fetched.most for one in self.settings if one.fetched is not None), default=0)
        content = _Content(self.named, most)
        found = [content.setting(one) for one in self.settings]
        return {
            "axes": [{**vars(a), "values": [_plain(v) for v in a.values]} for a in self.axes],
            "first": next((place for place, one in enumerate(self.settings) if one.xray is not None), 0),
            "counters": [{"name": c.name, "description": c.description, "first": c.id == FIRST} for c in SHOWN],
            "most": most,
            "settings": found,
            "texts": content.texts.items,
            "rows": content.rows.items,
            "files": content.files.items,
            "pictures": content.pictures.items,
        }

    def html(self) -> str:
        """The whole file. The browser runs its one script, known by its hash, and nothing else. Raises ParamError where
        it would be too large."""
        from jinja2 import Environment, StrictUndefined
        from markupsafe import Markup

        environment = Environment(autoescape=True, undefined=StrictUndefined, finalize=printable)
        text = TEMPLATE.read_text(encoding="utf-8")
        script = text.partition("<script>")[2].partition("</script>")[0]
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
        data = json.dumps(self.content(), separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
        template = environment.from_string(text.replace(script, "{{ script }}"))
        parts = {"script": Markup(script), "data": Markup(data)}  # noqa: S704 - our own, and JSON without "<"
        page = template.render(title=self.title, facts=self.facts, digest=digest, **parts)
        if (size := len(page.encode())) > MOST_BYTES:
            raise ParamError(
                f"The page would have {size / (1 << 20):.1f} MiB, and it may have {MOST_BYTES >> 20} MiB to fit into a "
                f"mail; it has {len(self.settings)} combinations: name fewer values or variants."
            )
        return page

    def write(self, path: str | Path) -> int:
        """Write the file, whole or not at all. Returns its bytes. Raises InputError, ParamError."""
        content = self.html().encode()
        with replacing(path) as file:
            file.write(content)
        return len(content)
