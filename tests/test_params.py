"""Parameters: conversion, limits, and messages that name them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_ops.errors import ParamError
from gpu_ops.params import Param, check_values

WINDOW = Param("window", 5, 3, 4095, 2)
CUTOFF = Param("cutoff", 0.5, 0.0, 1.0)
BORDER = Param("border", "zero", choices=("zero", "wrap"))
FLAG = Param("normalise", True)
MATRIX = Param("matrix", (0.0, 1.0, 0.0))
LIMITED = Param("weights", (0.0, 1.0), -1000.0, 1000.0)


@pytest.mark.parametrize(
    "param, given_value, value",
    [
        (WINDOW, 7, 7),
        (WINDOW, "7", 7),
        (WINDOW, 7.0, 7),
        (WINDOW, "1e3", None),
        (CUTOFF, "0.25", 0.25),
        (CUTOFF, 1, 1.0),
        (BORDER, "wrap", "wrap"),
        (FLAG, "no", False),
        (FLAG, True, True),
        (MATRIX, "1, 2 3", (1.0, 2.0, 3.0)),
        (MATRIX, [1, 2, 3], (1.0, 2.0, 3.0)),
        (LIMITED, "-1000 1000", (-1000.0, 1000.0)),
    ],
)
def test_values_come_in_the_parameters_own_type(param: Param, given_value: object, value: object) -> None:
    if value is None:
        with pytest.raises(ParamError):
            param.check(given_value)
        return
    found = param.check(given_value)
    assert found == value
    assert type(found) is type(param.default)


@pytest.mark.parametrize(
    "param, bad",
    [
        (WINDOW, 4),
        (WINDOW, 1),
        (WINDOW, 4097),
        (WINDOW, 5.5),
        (WINDOW, "five"),
        (WINDOW, None),
        (WINDOW, True),
        (WINDOW, float("nan")),
        (WINDOW, float("inf")),
        (CUTOFF, 1.5),
        (CUTOFF, "nan"),
        (BORDER, "mirror"),
        (BORDER, 3),
        (FLAG, "perhaps"),
        (FLAG, 1),
        (MATRIX, (1, 2)),
        (MATRIX, "1 2 x"),
        (MATRIX, (1, 2, float("nan"))),
        (LIMITED, (0, 1001)),
        (LIMITED, "-1000.5 0"),
    ],
)
def test_bad_values_are_refused_with_what_is_allowed(param: Param, bad: object) -> None:
    with pytest.raises(ParamError) as error:
        param.check(bad)
    assert str(error.value).startswith(f"{param.name} must be {param.allowed}, not ")
    assert str(param.default) in str(error.value)


def test_the_limits_are_named_in_words() -> None:
    assert WINDOW.allowed == "an integer from 3 to 4095 in steps of 2"
    assert BORDER.allowed == "one of zero, wrap"
    many = Param("samples", 4096, 1, 1 << 24)
    assert many.allowed == "an integer from 1 to 16777216", "as one types it"
    assert Param("x", 0.0, -1e300, 2.5).allowed == "a number from -1e+300 to 2.5"
    assert LIMITED.allowed == "2 numbers from -1000 to 1000"


@given(st.integers(-10_000, 10_000))
def test_integers_are_accepted_exactly_when_allowed(value: int) -> None:
    allowed = 3 <= value <= 4095 and value % 2 == 1
    if allowed:
        assert WINDOW.check(value) == value
    else:
        with pytest.raises(ParamError):
            WINDOW.check(value)


def test_defaults_are_filled_in_and_strangers_named() -> None:
    assert check_values((WINDOW, BORDER), {"window": "9"}, "mean1d") == {"window": 9, "border": "zero"}
    with pytest.raises(ParamError, match="mean1d has no parameter 'radius'; it has window, border"):
        check_values((WINDOW, BORDER), {"radius": 3}, "mean1d")
