"""Messages as JSON. Only the dataclasses and named tuples that the engine's messages are declared with can be made from
it, and no code runs that the other side names: nothing is unpickled.

A list, a text, a bool, null and a finite number are themselves. Everything else is an object with one key: "d" a
dictionary as pairs, "t" a tuple, "f" a float that JSON does not have, and the name of a type with its fields.
"""

from __future__ import annotations

import dataclasses
import json
import math
import typing
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import PurePath
from typing import Any

import numpy as np

from gpu_ops.engine import messages
from gpu_ops.errors import plain
from gpu_ops.remote.wire import WireError

DEEPEST = 64
"""How deep values may be nested."""
Change = Callable[[Any], Any]


def _same(value: Any) -> Any:
    return value


@cache
def known_types() -> Mapping[str, type]:
    """The types that messages consist of, by name."""
    found: dict[str, type] = {}
    roots = (*typing.get_args(messages.Request), *typing.get_args(messages.Answer), messages.OwnVariants)
    waiting = list(roots)
    while waiting:
        hint = waiting.pop()
        waiting += typing.get_args(hint)
        if isinstance(hint, type) and (dataclasses.is_dataclass(hint) or hasattr(hint, "_fields")):
            if hint.__name__ not in found:
                found[hint.__name__] = hint
                waiting += [typing.get_type_hints(hint)[name] for name in _fields(hint)]
            elif found[hint.__name__] is not hint:
                raise TypeError(f"two types of messages are called {hint.__name__}")
    return found


@cache
def _fields(kind: Any) -> tuple[str, ...]:
    """The names of the fields that the constructor takes."""
    named: tuple[str, ...] | None = getattr(kind, "_fields", None)
    return named or tuple(f.name for f in dataclasses.fields(kind) if f.init)


def _fields_of(value: Any) -> tuple[str, ...]:
    kind: Any = type(value)
    return _fields(kind)


def encoded(message: Any, change: Change = _same) -> bytes:
    """A message as JSON. `change` may replace each value of a known type before it is encoded. Raises WireError for a
    value that cannot travel."""
    return json.dumps(_plain(message, change, DEEPEST), allow_nan=False, separators=(",", ":")).encode()


def decoded(text: bytes, change: Change = _same) -> Any:
    """The message of such a JSON text. `change` may replace each value of a known type. Raises WireError for anything
    else."""
    try:
        return _value(json.loads(text, parse_constant=_no_constant), change, DEEPEST)
    except WireError:
        raise
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError) as error:
        raise WireError(f"a message is no JSON of Kernelscope ({plain(error, 80)})") from None


def _no_constant(name: str) -> None:
    raise WireError(f"a message has {name} in place of a number")


def _plain(value: Any, change: Change, deep: int) -> Any:
    """A value in the form that JSON has."""
    if deep == 0:
        raise WireError(f"a message has more than {DEEPEST} values within one another")
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"f": repr(value)}
    if isinstance(value, PurePath):
        return str(value)
    if known_types().get(type(value).__name__) is type(value):
        value = change(value)
        fields = [_plain(getattr(value, name), change, deep - 1) for name in _fields_of(value)]
        return {type(value).__name__: fields}
    if isinstance(value, Mapping):
        return {"d": [[_plain(k, change, deep - 1), _plain(v, change, deep - 1)] for k, v in value.items()]}
    if type(value) is tuple:
        return {"t": [_plain(v, change, deep - 1) for v in value]}
    if type(value) is list:
        return [_plain(v, change, deep - 1) for v in value]
    raise WireError(f"a {type(value).__name__} cannot travel to another machine")


def _value(content: Any, change: Change, deep: int) -> Any:
    """The value that `_plain` made this of."""
    if deep == 0:
        raise WireError(f"a message has more than {DEEPEST} values within one another")
    if isinstance(content, list):
        return [_value(v, change, deep - 1) for v in content]
    if not isinstance(content, dict):
        return content
    if len(content) != 1:
        raise WireError("an object in a message has not one key")
    ((name, inner),) = content.items()
    if name == "f":
        return float(inner)
    if not isinstance(inner, list):
        raise WireError(f"{plain(name, 40)!r} in a message has no list")
    if name == "d":
        return {_value(k, change, deep - 1): _value(v, change, deep - 1) for k, v in inner}
    if name == "t":
        return tuple(_value(v, change, deep - 1) for v in inner)
    kind: Any = known_types().get(name)
    names = _fields(kind) if kind is not None else ()
    if kind is None or len(inner) != len(names):
        raise WireError(f"a message has an unknown {plain(name, 40)!r}; both machines need the same Kernelscope")
    values = {field: _value(v, change, deep - 1) for field, v in zip(names, inner, strict=True)}
    return change(kind(**values))
