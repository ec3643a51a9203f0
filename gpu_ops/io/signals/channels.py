"""Channels of a record that each have a name, a unit and a rate: the selection to read, and their description."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gpu_ops.errors import InputError, plain
from gpu_ops.io.inputs import Array, check_channels, check_limit
from gpu_ops.io.opening import Decoded, Opening, Survey
from gpu_ops.io.signals.columns import chosen_columns, hertz, labels_of, length_words, listed
from gpu_ops.types import Facts


class Channel(NamedTuple):
    """One channel of a record. `rate` is in hertz, `unit` that of the physical values."""

    name: str
    unit: str
    rate: float
    samples: int

    @property
    def label(self) -> str:
        return f"{self.name} ({self.unit})" if self.unit else self.name


def choose(opening: Opening, channels: Sequence[Channel]) -> list[int]:
    """The indices of the channels to read: the chosen ones, or all. Raises InputError where their rates differ,
    ParamError for a missing channel."""
    name = opening.name
    places = chosen_columns(opening, [channel.name for channel in channels]) or list(range(len(channels)))
    rates = {(channels[k].rate, channels[k].samples) for k in places}
    if len(rates) > 1:
        raise InputError(f"{name} has channels of {_rates(channels, places)}; choose those of one with --columns.")
    check_channels(len(places), name)
    check_limit(name, len(places) * channels[places[0]].samples, opening.limit)
    return places


def decoded_channels(
    array: Array, channels: Sequence[Channel], steps: tuple[dict[str, Any], ...] = (), **more: Any
) -> Decoded:
    """The physical values (N, C) of channels of one rate, with their names and units; (N,) of a single channel. `more`
    is recorded in their step."""
    units = tuple(channel.unit for channel in channels)
    labels = labels_of([channel.label for channel in channels])
    facts = Facts(labels=labels, units=units if any(units) else ())
    physical = {"step": "physical", "units": list(units), **more}
    return Decoded(array[:, 0] if len(channels) == 1 else array, channels[0].rate, (*steps, physical), facts)


def _rates(channels: Sequence[Channel], places: Sequence[int]) -> str:
    """The rates and their channels, such as "256 Hz (1, 2) and 1 Hz (3)"."""
    groups: dict[str, list[str]] = {}
    for k in places:
        groups.setdefault(hertz(channels[k].rate), []).append(str(k + 1))
    if len(groups) == 1:
        return "several lengths"
    return " and ".join(f"{rate} ({listed(numbers)})" for rate, numbers in groups.items())


def survey_of(opening: Opening, title: str, channels: Sequence[Channel]) -> Survey:
    """The channels in rows; a choice is needed where their rates differ and none are chosen."""
    chosen = chosen_columns(opening, [channel.name for channel in channels])
    kinds = [(channel.rate, channel.samples) for channel in channels]
    asks = len(set(kinds)) > 1 and not chosen
    places = chosen or list(range(len(channels)))
    first = channels[places[0]]
    seconds = max(channels[k].samples / channels[k].rate for k in places)
    facts = (
        ("channels", f"{len(channels)}: {listed([channel.name for channel in channels])}"),
        ("rate", hertz(first.rate) if len(set(kinds)) == 1 else _rates(channels, range(len(channels)))),
        ("length", f"{seconds:,.6g} s" if asks else length_words(first.samples, first.rate)),
    )
    rows = tuple(
        (str(k + 1), plain(c.name, 40), plain(c.unit, 20), hertz(c.rate), f"{c.samples:,}")
        for k, c in enumerate(channels)
    )
    return Survey(
        title,
        facts,
        allowed={"columns": tuple(channel.name for channel in channels)},
        found={} if asks else {"columns": ",".join(str(k + 1) for k in places)},
        asks=asks,
        heading=("channel", "name", "unit", "rate", "samples"),
        rows=rows,
    )
