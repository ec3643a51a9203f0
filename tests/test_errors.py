"""Errors as a Python program gets them: their sentences name arguments, and the command line's name options."""

from __future__ import annotations

import ast
import inspect
import pickle
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sources import nodes

import gpu_ops as ks
from gpu_ops.batch.run import BatchSpec
from gpu_ops.cli import main
from gpu_ops.errors import ELSEWHERE, InputError, KernelscopeError, NonFiniteError, ParamError, in_python
from gpu_ops.io.opening import CHOICES
from gpu_ops.io.steps.noise import NOISE

ROOT = Path(ks.__file__).parent
SENTENCES = {
    "x holds 9 values, over the limit of 8; add --limit 9 to load it.": "add limit=9 to load it.",
    "x holds NaN; add --nonfinite keep to use them or --nonfinite zero to replace them.": (
        'add nonfinite="keep" to use them or nonfinite="zero" to replace them.'
    ),
    "choose fewer --header lines, or another --separator or --decimal.": (
        "choose fewer header= lines, or another separator= or decimal=."
    ),
    "add --member=first.npy or such.": 'add member="first.npy" or such.',
    "add --map-levels=3.5.": "add map_levels=3.5.",
    "give --h2d 12 in GB/s.": "give h2d=12 in GB/s.",
    "mean1d takes uint8, x is int64; convert it (--dtype).": "convert it (convert(input, dtype)).",
    "run it in a shell: kernelscope run FILTER --input x.npy --limit 9.": "FILTER --input x.npy --limit 9.",
    "x--y is no name, and 5 -- 3 is no option.": "x--y is no name, and 5 -- 3 is no option.",
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_options_become_arguments(sentence: str) -> None:
    assert in_python(sentence).endswith(SENTENCES[sentence])
    assert in_python(in_python(sentence)) == in_python(sentence)


def holed(tmp_path: Path) -> str:
    path = tmp_path / "holed.npy"
    np.save(path, np.array([1.0, np.nan, 3.0]))
    return str(path)


def test_a_public_function_names_arguments_and_a_command_names_options(tmp_path: Path, capsys: Any) -> None:
    path = holed(tmp_path)
    with pytest.raises(NonFiniteError) as caught:
        ks.load(path)
    assert 'add nonfinite="keep"' in str(caught.value) and "--" not in str(caught.value)
    assert "--nonfinite keep" in caught.value.sentence() and "nonfinite" not in caught.value.problem
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert main(["run", "mean", "--input", path, "--device", "cpu"]) == 2
    assert "add --nonfinite keep" in capsys.readouterr().err


def test_a_generator_does_so_too() -> None:
    picks = (ks.Pick("serial", "cpu"),)
    with pytest.raises(ParamError, match=r'convert it to float32, .* \(convert\(input, "float32"\)\)') as caught:
        list(ks.run_experiment(ks.Experiment("mean1d", ks.from_array(np.arange(9)), {}, picks)))
    assert "--" not in str(caught.value)


def test_public_functions_are_what_they_were() -> None:
    import gpu_ops.io.files

    assert ks.load.__doc__ == gpu_ops.io.files.load.__doc__ and ks.load is not gpu_ops.io.files.load
    assert inspect.signature(ks.load) == inspect.signature(gpu_ops.io.files.load)
    assert pickle.loads(pickle.dumps(ks.load)) is ks.load
    assert inspect.isgeneratorfunction(ks.run_experiment) and inspect.isclass(ks.Input)


def options() -> dict[str, str]:
    """Options that sentences of the engine name, whole commands aside, with a file that does."""
    found: dict[str, str] = {}
    for path in ROOT.rglob("*.py"):
        if path.is_relative_to(ROOT / "cli"):
            continue
        for node in nodes(path):
            raised = node.exc if isinstance(node, ast.Raise) else node if _is_error(node) else None
            for text in ast.walk(raised) if raised is not None else ():
                if isinstance(text, ast.Constant) and isinstance(text.value, str) and "kernelscope " not in text.value:
                    found |= dict.fromkeys(re.findall(r"--([a-z][a-z0-9-]*)", text.value), path.name)
    return found


def _is_error(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.endswith("Error")


def test_each_option_in_a_sentence_is_an_argument_in_python() -> None:
    public = (getattr(ks, name) for name in ks.__all__)
    arguments = {name for value in public if inspect.isfunction(value) for name in inspect.signature(value).parameters}
    arguments |= {param.name for param in (*CHOICES, *NOISE)} | {field.name for field in fields(BatchSpec)}
    arguments |= {*ELSEWHERE, *IN_A_SHELL}
    named = options()
    unknown = {name: file for name, file in named.items() if name.replace("-", "_") not in arguments}
    assert len(named) > 5 and not unknown, f"no public function takes {unknown}: add it to ELSEWHERE, or say it so"


IN_A_SHELL = (
    *("page", "import", "csv", "print_units"),
    "frames",
    "rates",
    "h2d",
    "d2h",
    "kernel_rate",
    "kernel",
    "arg",
    "symbol",
    "include",
    "cluster",
    "session",
)
"""Options of errors that only commands can meet, and of ncu."""


def test_every_error_is_one_sentence_either_way() -> None:
    for error in (InputError("no"), KernelscopeError("no; add --limit 5."), NonFiniteError("x holds NaN", 1, 0)):
        assert "--" in error.sentence() or str(error) == "no"
        error.for_python = True
        assert "--" not in str(error)
