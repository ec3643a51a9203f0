"""The handout of a lecture: one HTML file with its pictures, counts and questions, and the answers at its end."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gpu_ops.counters import COUNTERS, counter_name
from gpu_ops.explaining.page import printable
from gpu_ops.html import drawn, drawn_output
from gpu_ops.io import SAMPLES
from gpu_ops.lessons.checking import ray_of
from gpu_ops.lessons.experiments import filter_of, input_of
from gpu_ops.lessons.lecture import Lecture, Scene
from gpu_ops.lessons.lesson import Setup, Trial
from gpu_ops.params import check_values
from gpu_ops.running.affordable import cut_note, part_spans
from gpu_ops.running.runner import run_experiment
from gpu_ops.types import Experiment, Pick

TEMPLATE = Path(__file__).parents[2] / "resources" / "templates" / "lecture.html"
MOST_PICTURES = 2
"""So many are side by side on a page."""
COUNTED = ("global_load_sectors", "global_store_sectors", "shared_wavefronts", "atomic_collisions", "warp_instructions")
"""The counters of the tables, where a kernel of the scene has them."""


def handout(lecture: Lecture) -> str:
    """The handout in HTML, which needs no other file and no script. Computes the pictures on the CPU and the counts on
    the simulated GPU. Raises KernelscopeError."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=printable
    )
    template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
    shown = set[str]()
    return template.render(lecture=lecture, scenes=[_content(scene, shown) for scene in lecture.scenes])


def _content(scene: Scene, shown: set[str]) -> dict[str, Any]:
    """What the template needs of a scene. Pictures that are `shown` already are not repeated."""
    about = _about(scene.setup) if scene.setup is not None else f"session {scene.session and scene.session.name}"
    new = about not in shown
    shown.add(about)
    return {
        "title": scene.title,
        "paragraphs": [" ".join(part.split()) for part in scene.text.split("\n\n")],
        "poll": scene.poll,
        "about": about,
        "pictures": list(_pictures(scene.setup))[:MOST_PICTURES] if scene.setup is not None and new else [],
        "table": _counts(scene.setup) if scene.setup is not None else [],
        "counted": _counted(scene.setup) if scene.setup is not None else "",
    }


def _about(setup: Setup) -> str:
    settings = {**setup.options, **setup.params, **setup.knobs}
    shown = ", ".join(f"{name} = {value}" for name, value in settings.items())
    steps = f"; steps: {'; '.join(setup.steps)}" if setup.steps else ""
    return f"{filter_of(setup).title} of {setup.sample}" + (f", {shown}" if shown else "") + steps


def _pictures(setup: Setup) -> Iterator[dict[str, Any]]:
    """The input, and the outputs of the first variant of the CPU."""
    from markupsafe import Markup

    input, filter = input_of(setup), filter_of(setup)
    entry = next(one for one in SAMPLES if one.id == setup.sample)
    name = entry.title.partition(",")[0]  # without the size of the sample: the scene may have another one
    size = input.meta.of_kind.size_text(input.array.shape, " × ")
    steps = f", after {'; '.join(setup.steps)}" if setup.steps else ""
    picture = _image(drawn(input.array, input.meta.of_kind.rank))
    yield {"title": f"Input: {name}, {size}{steps}", "html": Markup(picture)}  # noqa: S704 - numbers and base64 only
    params = check_values(filter.params, setup.params, filter.id)
    picks = [Pick(v.id, "cpu") for v in filter.variants if v.device == "cpu"][:1]
    runs = list(run_experiment(Experiment(filter.id, input, params, tuple(picks), protocol="none"))) if picks else []
    for output in (o for o in filter.outputs if runs and o.id in runs[-1].outputs):
        picture = drawn_output(runs[-1].outputs[output.id], runs[-1].forms[output.id], output)
        if picture:
            title = f"Result: {filter.title}, {output.id}, by {picks[0].variant} on the CPU"
            yield {"title": title, "html": Markup(_image(picture))}  # noqa: S704 - it holds numbers and base64 only


def _image(html: str) -> str:
    """A picture as an image: Qt, which writes PDF files, draws no SVG elements in a page."""
    if not html.startswith("<svg"):
        return html
    file = html.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1).encode()
    return f'<img src="data:image/svg+xml;base64,{base64.b64encode(file).decode()}"/>'


def _counted(setup: Setup) -> str:
    """What the counts of a scene belong to: the same part of the input as in the window's X-ray."""
    whole = input_of(setup)
    spans = part_spans(whole)
    return cut_note(whole, spans).replace(" x ", " × ") if spans else "simulated on the whole input"


def _counts(setup: Setup) -> list[list[str]]:
    """A row for each kernel variant, below the names of the counters; [] where there is none."""
    filter = filter_of(setup)
    rays = {v.title: ray_of(Trial(v.id, v.id, setup)).totals for v in map(filter.variant, setup.variants) if v.kernels}
    ids = [id for id in COUNTED if any(totals.get(id) for totals in rays.values())]
    if not ids:
        return []
    rows = [[title, *(f"{COUNTERS[id].value(totals):,.0f}" for id in ids)] for title, totals in rays.items()]
    return [["", *map(counter_name, ids)], *rows]
