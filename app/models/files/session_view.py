"""A window's view of the experiment, as a session file keeps it: panes, board, probe, channels, panels. No
widgets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, cast

from app.models.curves.lanes import ChannelChoice
from app.models.experiment.board import MOST_OUTPUT_PANES, PANES, Board, OutputOf
from app.models.experiment.differences import MINUS, MOST_DIFFERENCES, DifferenceOf
from app.models.files.json_text import Fields
from app.models.pictures.comparing import MODES
from app.models.pictures.comparing import Mode as PaneMode
from app.models.pictures.difference_style import GAINS, MEASURES, SHARES, DifferenceLook, Measure
from app.models.pictures.display import COLORMAPS
from app.models.pictures.display import Mode as LevelMode
from app.models.pictures.probe import Extent, Line, Probe, Tool
from app.models.pictures.viewport import Rect
from app.models.results.view_data import INPUT
from app.models.timing.timelines import QueueModel, read_queue_model
from app.models.xray.drafts import Draft
from app.models.xray.kept_drafts import draft_json, read_drafts
from gpu_ops.counters import COUNTERS, FIGURES
from gpu_ops.lessons.lesson import TABS

LEVELS: tuple[LevelMode, ...] = ("auto", "range", "percentile", "manual")
TOOLS: tuple[Tool, ...] = ("region", "profile")


class Offered(NamedTuple):
    """The names that a session may refer to: `tabs` are the panels that share an area, `scales` those of values."""

    tabs: tuple[str, ...] = ()
    scales: tuple[str, ...] = ()


@dataclass(frozen=True)
class View:
    """`mode` and `pair` are how pictures are compared, `scale` is that of values, "" for the default. `region`, `line`
    and `span` are those of a Probe, in coordinates of the input after its steps; `tool` is what a drag draws, and
    `front` what is in the foreground. `only` and `stacked` are those of a ChannelChoice.

    `levels` are how black and white are set, with `low` and `high` where by hand; "" where the view has none.
    `tab` is the panel in front, `layout` the panels' positions and sizes as Qt writes them, in base64. `xray` and
    `against` are the variants in the X-ray panel, `counter` is that of each line there, "" for any, `xray_tab` the tab
    below them, "" for the present one, `timeline` the queues of a simulated GPU in the Timeline panel.
    `drafts` are the edited kernels, of any filter; `editing` says that the panel shows the one of its variant.
    """

    mode: PaneMode = "side by side"
    pair: tuple[str, str] = ("", "")
    scale: str = ""
    colormap: str = "gray"
    levels: LevelMode | Literal[""] = ""
    low: float = 0.0
    high: float = 0.0
    region: Rect | None = None
    line: Line | None = None
    span: tuple[int, int] | None = None
    tool: Tool = ""
    front: Tool = "region"
    scale_bar: bool = True
    only: int | None = None
    stacked: bool = False
    tab: str = ""
    layout: str = ""
    presenter: bool = False
    xray: str = ""
    against: str = ""
    counter: str = ""
    xray_tab: str = ""
    timeline: QueueModel = QueueModel()
    drafts: tuple[Draft, ...] = ()
    editing: bool = False

    def as_json(self) -> dict[str, Any]:
        """The content of a session file's "view"."""
        levels: dict[str, Any] = {"mode": self.levels} if self.levels else {}
        levels |= {"low": self.low, "high": self.high} if self.levels == "manual" else {}
        return {
            "compare": {"mode": self.mode, "first": self.pair[0], "second": self.pair[1]},
            "scale": self.scale,
            "colour_map": self.colormap,
            **({"levels": levels} if levels else {}),
            "region": _list(self.region),
            "line": _list(self.line),
            "interval": _list(self.span),
            "tool": self.tool,
            "front": self.front,
            "scale_bar": self.scale_bar,
            "channels": {"only": self.only, "stacked": self.stacked},
            "xray": {
                "variant": self.xray,
                "against": self.against,
                "counter": self.counter,
                "tab": self.xray_tab,
                "editing": self.editing,
            },
            "edited": [draft_json(draft) for draft in self.drafts],
            "timeline": self.timeline.as_json(),
            "presenter": self.presenter,
            "tab": self.tab,
            "layout": self.layout,
        }


def _list(values: tuple[Any, ...] | None) -> list[Any] | None:
    return None if values is None else list(values)


def read_view(fields: Fields, variants: tuple[str, ...], pinned: tuple[str, ...], offered: Offered) -> View:
    """The View of a session file, all of it checked; `variants` are those of its filter, `pinned` the ids of its pinned
    results. Raises InputError."""
    compare, levels, channels = (fields.fields(name) for name in ("compare", "levels", "channels"))
    xray, plain = fields.fields("xray"), View()
    panes, level = ("", INPUT, *variants, *pinned), levels.one_of("mode", ("", *LEVELS), "")
    region, line, span = fields.whole("region", 4), fields.numbers("line", 4), fields.whole("interval", 2)
    low, high = (levels.number(name) for name in ("low", "high")) if level == "manual" else (0.0, 0.0)
    return View(
        mode=cast(PaneMode, compare.one_of("mode", MODES, plain.mode)),
        pair=(compare.one_of("first", panes, ""), compare.one_of("second", panes, "")),
        scale=fields.one_of("scale", ("", *offered.scales), ""),
        colormap=fields.one_of("colour_map", COLORMAPS, plain.colormap),
        levels=cast(LevelMode, level) or "",
        low=low,
        high=high,
        region=None if region is None else Rect(*region),
        line=None if line is None else Line(*map(float, line)),
        span=None if span is None else (span[0], span[1]),
        tool=cast(Tool, fields.one_of("tool", ("", *TOOLS), "")),
        front=cast(Tool, fields.one_of("front", TOOLS, plain.front)),
        scale_bar=fields.flag("scale_bar", True),
        only=channels.count("only", 0) if channels.has("only") else None,
        stacked=channels.flag("stacked", False),
        tab=fields.one_of("tab", ("", *offered.tabs), ""),
        layout=fields.text("layout", ""),
        presenter=fields.flag("presenter", False),
        xray=xray.one_of("variant", ("", *variants), ""),
        against=xray.one_of("against", ("", *variants), ""),
        counter=xray.one_of("counter", ("", *COUNTERS, *FIGURES), ""),
        xray_tab=xray.one_of("tab", ("", *TABS), ""),
        timeline=read_queue_model(fields.fields("timeline")),
        drafts=read_drafts(fields.objects("edited")),
        editing=xray.flag("editing", False),
    )


# The board


def board_json(board: Board, names: Mapping[str, str]) -> dict[str, Any]:
    """The content of a session file's "board"; `names` are those of results whose ids depend on this version."""
    look = board.look
    levels = []
    for key, level in board.levels:
        first, _, second = key.partition(MINUS)
        levels.append({"first": names.get(first, first), "second": names.get(second, second), "level": level})
    return {
        "panes": board.panes,
        "difference": {
            "measure": look.measure,
            "percentile": look.share,
            "gain": look.gain,
            "enlarge": look.grow,
            "levels": levels,
        },
        "outputs": [{"result": names.get(pane.id, pane.id), "output": pane.output} for pane in board.outputs],
    }


def read_board(fields: Fields, keys: Mapping[str, str], outputs: tuple[str, ...]) -> Board:
    """The Board of a session file, all of it checked; `keys` are those of panes by their names in the file, `outputs`
    those of the filter. Raises InputError."""
    own, plain = fields.fields("difference"), DifferenceLook()
    look = DifferenceLook(
        cast(Measure, own.one_of("measure", MEASURES, plain.measure)),
        own.number_of("percentile", SHARES, plain.share),
        own.number_of("gain", GAINS, plain.gain),
        own.flag("enlarge", plain.grow),
    )
    levels = []
    for item in own.objects("levels")[:MOST_DIFFERENCES]:
        level = Fields(item, "board.difference.levels")
        first, second = (keys[level.one_of(side, tuple(keys))] for side in ("first", "second"))
        levels.append((DifferenceOf(first, second).key, abs(level.number("level"))))
    panes = []
    for item in fields.objects("outputs")[:MOST_OUTPUT_PANES]:
        pane = Fields(item, "board.outputs")
        panes.append(OutputOf(keys[pane.one_of("result", tuple(keys))], pane.one_of("output", outputs)))
    count = int(fields.number_of("panes", PANES, 0))
    return Board(count, look, tuple(dict(levels).items()), tuple(dict.fromkeys(panes)))


# Taking and giving


def fits(view: View, extent: Extent) -> bool:
    """Whether region, line and interval are within an input of this extent: (H, W) or (N,)."""
    places: list[tuple[float, float, int]] = []  # first, last, end of the axis
    if view.region is not None or view.line is not None:
        if len(extent) != 2:
            return False
        height, width = extent
        if view.region is not None:
            left, top, right, bottom = view.region
            if left >= right or top >= bottom:
                return False
            places += [(left, right, width), (top, bottom, height)]
        if view.line is not None:
            x0, y0, x1, y1 = view.line
            places += [(min(x0, x1), max(x0, x1), width), (min(y0, y1), max(y0, y1), height)]
    if view.span is not None:
        if len(extent) != 1 or view.span[0] >= view.span[1]:
            return False
        places.append((*view.span, extent[0]))
    return all(first >= 0 and last <= end for first, last, end in places)


def put_probe(view: View, probe: Probe, extent: Extent) -> bool:
    """Restore region, line and interval in an input of this extent. Returns False, and restores none of them, where
    they do not fit."""
    probe.remove_all()
    probe.set_extent(extent)
    probe.set_scale_bar(view.scale_bar)
    fitting = fits(view, extent)
    if fitting:
        probe.set_region(view.region)
        probe.set_line(view.line)
        probe.set_span(view.span)
        if view.tool != "profile" or len(extent) == 2:
            probe.set_tool(view.tool)
        probe.bring(view.front)
    return fitting


def put_channels(view: View, choice: ChannelChoice) -> bool:
    """Show the same channels. Returns False, and shows all, where the input has fewer."""
    choice.show_all(view.stacked)
    if view.only is not None and view.only >= len(choice.names):
        return False
    choice.show_only(view.only)
    return True
