"""The key of a run, shared by its result, its report row, its times and its picture."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Items = tuple[tuple[str, Any], ...]
"""Names with values, sorted by name; a list of values is a tuple."""
EDITS = "edits"
"""The name of the edits of kernel files in `differences`."""
HASH_DIGITS = 12


def items_of(values: Mapping[str, Any]) -> Items:
    """Values by name in a form that hashes and compares equal, whether they come from a form or from JSON."""
    return tuple(sorted(with_tuples(values).items(), key=lambda item: item[0]))


def with_tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    """The same values in the same order, with tuples for lists."""
    return {name: _tuples(value) for name, value in values.items()}


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list | tuple) else value


def hash_of_edits(edits: Mapping[str, str]) -> str:
    """A hash, in hexadecimal digits, of the edited kernel files {file: text}; "" if none is edited."""
    if not edits:
        return ""
    digest = hashlib.sha256()
    for file in sorted(edits):
        for part in (file, edits[file]):
            data = part.encode()
            digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()[:HASH_DIGITS]


@dataclass(frozen=True)
class RunKey:
    """Everything that distinguishes two runs on one input. Two that differ in a knob, or in the text of a kernel, are
    two runs with a row each. `edits` is the hash of the edited kernel files, "" for the shipped ones."""

    filter: str
    variant: str
    device: str
    param_items: Items = ()
    knob_items: Items = ()
    edits: str = ""

    @classmethod
    def of(
        cls,
        filter: str,
        variant: str,
        device: str,
        params: Mapping[str, Any],
        knobs: Mapping[str, Any],
        edits: Mapping[str, str] | str = "",
    ) -> RunKey:
        """The key of a run with these parameters and knobs, which must be complete; `edits` are {file: text} or their
        hash."""
        edits_hash = edits if isinstance(edits, str) else hash_of_edits(edits)
        return cls(filter, variant, device, items_of(params), items_of(knobs), edits_hash)

    @property
    def params(self) -> dict[str, Any]:
        return dict(self.param_items)

    @property
    def knobs(self) -> dict[str, Any]:
        return dict(self.knob_items)

    def unlike(self, other: RunKey) -> dict[str, Any]:
        """The parameters and knobs, by name, in which this key differs from another, with the values of this key; the
        device under "device" and edits under EDITS."""
        own, others = _settings(self), _settings(other)
        result = {name: value for name, value in own.items() if value != others.get(name)}
        return result | ({"device": self.device} if self.device != other.device else {})


def _settings(key: RunKey) -> dict[str, Any]:
    return {**key.params, **key.knobs} | ({EDITS: key.edits} if key.edits else {})


def differences(keys: Sequence[RunKey]) -> list[dict[str, Any]]:
    """For each key its values of the parameters and knobs in which these keys differ, and its hash under EDITS if it
    has edits and the keys differ in them. Titles include these, so that no two are identical."""
    settings = [_settings(key) for key in keys]
    names = _names_that_differ(settings)
    return [{name: own[name] for name in names if name in own} for own in settings]


def _names_that_differ(settings: Iterable[Mapping[str, Any]]) -> list[str]:
    """Names whose values differ between settings, in order of occurrence."""
    all_settings = list(settings)
    names = dict.fromkeys(name for own in all_settings for name in own)
    return [
        name
        for name in names
        if any(own.get(name, _MISSING) != all_settings[0].get(name, _MISSING) for own in all_settings)
    ]


_MISSING = object()
