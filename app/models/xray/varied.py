"""What varies in a report that runs: parameters and knobs of the ticked variants, with proposed values. No widgets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.models.experiment.session import Session
from gpu_ops.errors import ParamError
from gpu_ops.explaining.varied.axes import axes_of, varying
from gpu_ops.params import Param
from gpu_ops.report.sweeps import proposed_values
from gpu_ops.types import Filter, Pick

PROPOSED = 4
"""The most values that are proposed, and the present one."""


@dataclass(frozen=True)
class Varying:
    """A parameter or knob that may vary, and the proposed values as text; a `ticked` one varies unless the user says
    otherwise."""

    param: Param
    proposed: str
    ticked: bool


def ticked_picks(session: Session, edits: Mapping[str, Mapping[str, str]]) -> tuple[Pick, ...]:
    """The ticked variants that have kernels, in the filter's order; `edits` are the edited files by variant."""
    ids = [v.id for v in session.filter.variants if v.kernels and v.id in session.choice.picks]
    return tuple(replace(session.shown.pick(id), device="sim", edits=edits.get(id, {})) for id in ids)


def varying_of(filter: Filter, picks: Sequence[Pick], params: Mapping[str, Any]) -> tuple[Varying, ...]:
    """What may vary: parameters that matter with these values, then the knobs. The first parameter and the first knob
    whose values are numbers are ticked."""
    found, ticked = list[Varying](), set[bool]()
    own = {param.name for param in filter.params}
    for name, param in varying(filter, [pick.variant for pick in picks]).items():
        if isinstance(param.default, tuple) or (name in own and not param.matters(params)):
            continue
        present = params.get(name, next((p.knobs[name] for p in picks if name in p.knobs), param.default))
        values = _proposed(param, present)
        first = len(values) > 1 and not isinstance(param.default, str | bool) and (name in own) not in ticked
        ticked |= {name in own} if first else set()
        found.append(Varying(param, ", ".join(map(str, values)), first))
    return tuple(found)


def _proposed(param: Param, present: Any) -> list[Any]:
    if isinstance(param.default, bool):
        return [False, True]
    if isinstance(param.default, str):
        return list(param.choices) or [present]
    return sorted({*proposed_values(param)[:PROPOSED], present})


def parse_over(texts: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The values of each parameter out of texts such as "3, 5, 9". Raises ParamError for one without values."""
    over = {name: tuple(v.strip() for v in text.split(",") if v.strip()) for name, text in texts.items()}
    for name, values in over.items():
        if not values:
            raise ParamError(f"{name} has no values; enter some, such as 4, 8, or untick it.")
    return over


def combinations(filter: Filter, picks: Sequence[Pick], over: Mapping[str, tuple[str, ...]]) -> int:
    """How many combinations there are. Raises ParamError for too many."""
    count = 1
    for axis in axes_of(filter, [pick.variant for pick in picks], over):
        count *= len(axis.values)
    return count
