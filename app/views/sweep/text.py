"""The texts of a sweep: titles, values and findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase

from PySide6.QtCore import QCoreApplication

from app.base.numbers import count
from app.base.terms import counter_name, stage_name
from app.models.experiment.job_text import value_text as value_words
from app.models.results.row_differences import settings_text
from app.models.timing.ghosts import TYPE
from app.models.timing.sweep import Option, Sweep
from app.views.timing.row_text import clock_name, device_name
from gpu_ops.input_kinds import InputKind
from gpu_ops.report.sweeps import DISTINCT, SIZE, WIDTH, BreakEven, Crossing, Line, Varied
from gpu_ops.stages import STAGES
from gpu_ops.types import Filter

translate = QCoreApplication.translate
MOST_FAILURES = 3


def quantity(varied: Varied) -> str:
    """The name of a parameter, a knob, the size or the width."""
    names = {SIZE: translate("Sweep", "size"), WIDTH: translate("Sweep", "width")}
    names[DISTINCT] = translate("Sweep", "distinct values")
    return names.get(varied, varied.name.replace("_", " "))


def elements(kind: InputKind) -> str:
    """The elements of a kind of input: pixels or samples."""
    return translate("Kinds", f"{kind.element}s")


def extent(kind: InputKind, size: str) -> str:
    """A size along every axis: "256 × 256", or "256 samples" where there is one axis only."""
    if kind.rank > 1:
        return " × ".join([size] * kind.rank)
    return translate("Sweep", "{size} {elements}").format(size=size, elements=elements(kind))


def option_title(option: Option, kind: InputKind) -> str:
    """The chooser's entry for an option."""
    if option.where == "middle":
        middle = translate("Sweep", "size: the centre {size}")
        return (middle if kind.rank > 1 else translate("Sweep", "size: the first {size}")).format(
            size=extent(kind, "N")
        )
    if option.where == "noise":
        return translate("Sweep", "size: noise of {size}").format(size=extent(kind, "N"))
    if option.varied == DISTINCT:
        return translate("Sweep", "distinct values of noise (entropy is their log₂)")
    text = translate("Sweep", "{name} (knob)") if option.varied.kind == "knob" else "{name}"
    return text.format(name=quantity(option.varied))


def axis_title(sweep: Sweep) -> str:
    """The varied quantity, with its unit."""
    if sweep.varied.kind != "size":
        params = [*sweep.filter.params, *(k for v in sweep.filter.variants for k in v.knobs)]
        if sweep.varied == DISTINCT:
            return translate("Sweep", "distinct values of the input: its entropy in bits is their log₂")
        unit = next((p.unit for p in params if p.name == sweep.varied.name), "")
        unit = translate("Sweep", "pixels") if sweep.varied == WIDTH else unit
        name = quantity(sweep.varied)
        return name if unit in ("", name) else translate("Sweep", "{name}, {unit}").format(name=name, unit=unit)
    if sweep.kind.rank == 1:
        return elements(sweep.kind)
    if all(row.shape[0] == row.shape[1] for row in sweep.rows):
        return translate("Sweep", "side of the image, pixels")
    return translate("Sweep", "side of a square with as many pixels")


def heading(sweep: Sweep) -> str:
    """The heading of a sweep: filter, input, and the machine of a recorded one, with what has changed since."""
    texts = [sweep.filter.title, where_text(sweep), _timed(sweep)]
    texts += _fixed(sweep)
    if sweep.machine:
        texts.append(translate("Sweep", "◉ recorded on {machine}").format(machine=sweep.machine))
    if older := sweep.older():
        names = ", ".join(map(sweep.title, older))
        texts.append(translate("Sweep", "with an older kernel: {variants}").format(variants=names))
    return " · ".join(text for text in texts if text)


def _timed(sweep: Sweep) -> str:
    """The quantity of the lines."""
    return shown_title(sweep.filter, sweep.shown)


def shown_title(filter: Filter, shown: str) -> str:
    """The name of what a sweep shows."""
    if shown not in STAGES:
        return counter_name(shown)
    if shown == "kernel" and not filter.end_to_end:
        return translate("Sweep", "kernel alone")
    if shown == "elapsed":
        return translate("Sweep", "end to end, pageable")
    return stage_name(shown, end_to_end=filter.end_to_end)


def where_text(sweep: Sweep) -> str:
    """The input of a sweep over sizes."""
    if sweep.where == "noise":
        return translate("Sweep", "noise")
    if sweep.where == "middle":
        middle, beginning = (
            translate("Sweep", "the centre of the input"),
            translate("Sweep", "the beginning of the input"),
        )
        return middle if sweep.kind.rank > 1 else beginning
    return ""


def recorded_title(sweep: Sweep) -> str:
    """The chooser's entry for a recorded sweep."""
    values = [value for row in sweep.rows if (value := sweep.value(row)) is not None]
    over = translate("Sweep", "{quantity} {first} to {last}").format(
        quantity=quantity(sweep.varied), first=count(min(values)), last=count(max(values))
    )
    what = ", ".join([over, *_fixed(sweep)])
    return translate("Sweep", "{machine}: {what}").format(machine=sweep.machine, what=what)


def _fixed(sweep: Sweep) -> list[str]:
    """The settings that are fixed here but vary in other sweeps, and the input of a recorded sweep."""
    texts = [
        f"{quantity(q)} {value_words(value)}" for q, value in sweep.fixed.items() if q.name not in ("channels", "dtype")
    ]
    if not sweep.machine:
        return texts
    dtypes = {row.dtype for row in sweep.rows}
    return texts + _shape_texts(sweep) + (list(dtypes) if len(dtypes) == 1 else [])


def _shape_texts(sweep: Sweep) -> list[str]:
    """What all inputs of the sweep have in common."""
    shapes = {row.shape for row in sweep.rows}
    first, axes = min(shapes), sweep.kind.rank
    if len(shapes) == 1:
        sides = " × ".join(count(n) for n in sweep.kind.width_first(first))
        return [sides if axes > 1 else extent(sweep.kind, sides)]
    rows = [translate("Sweep", "{count} rows").format(count=count(first[0]))] if sweep.varied == WIDTH else []
    if len({shape[axes:] for shape in shapes}) == 1 and len(first) > axes:
        rows.append(translate("Sweep", "{count} channels").format(count=first[axes]))
    return rows


def value_text(sweep: Sweep, value: float, with_unit: bool = True) -> str:
    """A value of the varied quantity; an interpolated one has two digits."""
    number = count(value if value < 100 or float(value).is_integer() else float(f"{value:.2g}"))
    if sweep.varied.kind != "size":
        name = quantity(sweep.varied)
        return translate("Sweep", "{name} {value}").format(name=name, value=number) if with_unit else number
    sides = " × ".join([number] * sweep.kind.rank)
    text = translate("Sweep", "{size} {elements}")
    return text.format(size=sides, elements=elements(sweep.kind)) if with_unit else sides


def group_title(line: Line) -> str:
    """The legend's heading for the lines of one device."""
    texts = {"device": device_name(line.device), "clock": clock_name(line.clock)}
    if line.machine:
        return translate("Sweep", "◉ recorded on {machine}, {clock}").format(machine=line.machine, clock=texts["clock"])
    if line.clock == "simulated":  # it has none
        return translate("Sweep", "{device}, filled marks").format(**texts)
    if line.cpu:
        return translate("Sweep", "{device}, {clock}, hollow marks").format(**texts)
    return translate("Sweep", "{device}, {clock}, filled marks").format(**texts)


def line_title(sweep: Sweep, line: Line) -> str:
    """A variant's name, with a note if it does not depend on the varied quantity."""
    title = sweep.name(line)
    if not line.level:
        return title
    text = translate("Sweep", "{title} (has no {name})")
    return text.format(title=title, name=quantity(sweep.varied))


@dataclass(frozen=True)
class Mark:
    """Crossings that share a sentence and a letter."""

    letter: str
    text: str
    crossings: tuple[Crossing, ...]


def marks(sweep: Sweep) -> tuple[Mark, ...]:
    """Where lines cross, by increasing value; GPU variants that cross the same line at the same displayed value share
    one."""
    crossings = sorted((c for b in sweep.break_even() for c in b.crossings), key=lambda c: c.value)
    groups: dict[tuple[str, str, bool], list[Crossing]] = {}
    for c in crossings:
        cpu = c.slower if c.slower.cpu else c.faster
        groups.setdefault((value_text(sweep, c.value), cpu.variant, c.slower.cpu), []).append(c)
    letters = [*ascii_uppercase, *(a + b for a in ascii_uppercase for b in ascii_uppercase)]
    return tuple(
        Mark(letter, f"{letter}: {_crossing_text(sweep, value, found)}", tuple(found))
        for letter, ((value, _, _), found) in zip(letters, groups.items(), strict=False)
    )


def _crossing_text(sweep: Sweep, value: str, crossings: Sequence[Crossing]) -> str:
    """The sentence on which variant overtakes which."""
    names = {
        "faster": ", ".join(dict.fromkeys(sweep.name(c.faster) for c in crossings)),
        "slower": ", ".join(dict.fromkeys(sweep.name(c.slower) for c in crossings)),
    }
    if len({c.faster for c in crossings}) > 1:
        return translate("Sweep", "{faster} overtake {slower} from about {value} ({timed}).").format(
            value=value, timed=_timed(sweep), **names
        )
    return translate("Sweep", "{faster} overtakes {slower} from about {value} ({timed}).").format(
        value=value, timed=_timed(sweep), **names
    )


def findings(sweep: Sweep) -> list[str]:
    """All findings of a sweep, a sentence each; those on crossings begin with the letter of their mark."""
    lines, found = sweep.lines(), sweep.break_even()
    crossings = [mark.text for mark in marks(sweep)]
    return [*crossings, *_occupied(sweep), *_throughout(sweep, found), *_missing_side(sweep, lines), *_left_out(sweep)]


def _occupied(sweep: Sweep) -> list[str]:
    """The variant of the occupancy, and where blocks leave lanes without a thread."""
    if not sweep.occupied.variants:
        return []
    text = translate("Sweep", "Theoretical occupancy on {gpu}, calculated: resident warps per multiprocessor.")
    sentences = [text.format(gpu=sweep.occupied.architecture)]
    points = [point for line in sweep.occupied_lines() for point in sweep.occupied.points(line.variant)]
    part = sorted({value for value, found in points if found.share < found.occupancy.share})
    if part:
        text = translate(
            "Sweep", "Hollow rings: the share of threads, where the last warp of a block is not full ({at})."
        )
        sentences.append(text.format(at=", ".join(value_text(sweep, value, with_unit=False) for value in part)))
    return sentences


def _throughout(sweep: Sweep, points: Sequence[BreakEven]) -> list[str]:
    """The variants that are faster or slower at every value."""
    texts = {
        True: translate("Sweep", "Faster than the best CPU variant throughout ({timed}): {names}."),
        False: translate("Sweep", "Slower than the best CPU variant throughout ({timed}): {names}."),
        None: translate("Sweep", "No value in common with a CPU variant: {names}."),
    }
    sentences = []
    for faster, text in texts.items():
        names = [sweep.name(b.gpu) for b in points if not b.crossings and b.gpu_faster is faster]
        if names:
            sentences.append(text.format(names=", ".join(dict.fromkeys(names)), timed=_timed(sweep)))
    return sentences


def _missing_side(sweep: Sweep, lines: Sequence[Line]) -> list[str]:
    """Why there cannot be a break-even point."""
    if any(line.clock == "simulated" for line in lines):
        return [translate("Sweep", "Counts of a simulated GPU say nothing about time.")]
    if lines and all(line.cpu for line in lines):
        return [translate("Sweep", "No GPU variant was timed here, so there is no break-even point."), *_ghosts(sweep)]
    if lines and not any(line.cpu for line in lines):
        return [translate("Sweep", "No CPU variant was timed here, so there is no break-even point.")]
    return []


def _ghosts(sweep: Sweep) -> list[str]:
    """How to see the lines of a recorded GPU next to those of a CPU."""
    if sweep.ghosts:
        return [translate("Sweep", "Choose a recorded GPU to see one.")]
    if not sweep.for_ghosts:
        return []
    text = translate("Sweep", "A recorded GPU can be drawn beside a sweep with {settings}.")
    if TYPE in sweep.for_ghosts:
        text = translate("Sweep", "{text} Add step, Convert the type changes the type.").format(text=text)
    return [text.format(settings=settings_text(sweep.for_ghosts))]


def _left_out(sweep: Sweep) -> list[str]:
    """The variants without times, which are not drawn, and the failures."""
    sentences = []
    without = sweep.without_time()
    full = [title for title in without if title in map(sweep.title, sweep.occupied.variants)]
    none = translate("Sweep", "A simulated GPU counts work and has no times, so these are not drawn: {names}.")
    counts = translate("Sweep", "These run no kernel on a simulated GPU, so nothing is counted of them: {names}.")
    texts = {
        translate("Sweep", "A simulated GPU counts work, so these have an occupancy and no times: {names}."): full,
        counts if sweep.counts else none: [title for title in without if title not in full],
    }
    sentences += [text.format(names=", ".join(titles)) for text, titles in texts.items() if titles]
    failed = [
        translate("Sweep", "{title} at {value}: {reason}").format(
            title=name,
            value=value_text(sweep, sweep.value(row) or 0),
            reason=row.failure or translate("Sweep", "the result is wrong"),
        )
        for name, row in zip(sweep.names(), sweep.rows, strict=True)
        if row.failure or row.ok is False
    ]
    failed += [f"{value_text(sweep, value)}: {reason}" for value, reason in sweep.failures.items()]
    if len(failed) > MOST_FAILURES:
        rest = translate("Sweep", "and {count} more without a time").format(count=count(len(failed) - MOST_FAILURES))
        failed = [*failed[:MOST_FAILURES], rest]
    return sentences + failed
