"""How many small faults the tests find: python -m tests.mutation map | run | show (pip install cosmic-ray coverage)

`map` runs every test file under coverage, child processes as well, and keeps which tests run which function. `run`
takes a seeded sample of the mutants that Cosmic Ray's operators make of PACKAGES, applies each to a clone of this
repository, and runs the tests of its function there, the fastest first, until one fails. `show` prints the score and
the mutants that live. What is not committed is not looked at. All is kept in FOLDER, and a second `run` goes on.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "build" / "mutation"
PACKAGES = (
    *(
        "gpu_ops/running",
        "gpu_ops/report",
        "gpu_ops/batch",
        "gpu_ops/explaining",
        "gpu_ops/engine",
        "gpu_ops/io",
        "gpu_ops/devices/sim",
    ),
    *("app/models", "app/controllers"),
)
OPERATORS = (
    *("AddNot", "NumberReplacer", "ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "ReplaceAndWithOr"),
    *("ReplaceOrWithAnd", "ReplaceBreakWithContinue", "ReplaceContinueWithBreak", "ZeroIterationForLoop"),
    *("ReplaceUnaryOperator_Delete_USub", "ReplaceUnaryOperator_Delete_Not"),
    *(
        f"ReplaceComparisonOperator_{pair}"
        for pair in ("Eq_NotEq", "NotEq_Eq", "Lt_LtE", "LtE_Lt", "Gt_GtE", "GtE_Gt", "Lt_Gt", "Gt_Lt", "Is_IsNot")
    ),
    *("ReplaceComparisonOperator_IsNot_Is", "ReplaceComparisonOperator_LtE_Gt", "ReplaceComparisonOperator_GtE_Lt"),
    *(
        f"ReplaceBinaryOperator_{pair}"
        for pair in ("Add_Sub", "Sub_Add", "Mul_Div", "Mul_Add", "Div_Mul", "FloorDiv_Mul", "Mod_FloorDiv", "Pow_Mul")
    ),
    *(
        f"ReplaceBinaryOperator_{pair}"
        for pair in ("RShift_LShift", "LShift_RShift", "BitOr_BitAnd", "BitAnd_BitOr", "BitXor_BitOr")
    ),
)
"""Of Cosmic Ray's, those whose mutants are mistakes that people make."""
LONGEST = 120.0
"""Seconds of tests for one mutant. One that lives through the tests that fit is counted as alive."""
PATIENCE = 5.0
"""A mutant whose tests take this many times as long as without it, and a minute, is dead: it loops or waits."""
COVERAGE = """
[run]
branch = False
dynamic_context = test_function
context = {name}
source = app,gpu_ops
data_file = {data}
parallel = True
concurrency = thread,multiprocessing
patch = subprocess
"""


@dataclass(frozen=True)
class Mutant:
    """One small fault: an operator of Cosmic Ray at its `occurrence` in a module, in a function of it."""

    path: str
    operator: str
    occurrence: int
    line: int
    function: str

    @property
    def id(self) -> str:
        return f"{self.path}:{self.operator}:{self.occurrence}"


def functions(source: str) -> dict[int, str]:
    """The qualified name of the outermost function or method around each line; "" for a module's own lines."""
    names: dict[int, str] = {}

    def visit(node: ast.AST, prefix: str, inside: str) -> None:
        for child in ast.iter_child_nodes(node):
            name = inside
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                full = f"{prefix}{child.name}"
                if not isinstance(child, ast.ClassDef) and not inside:
                    name = full
                    names.update(dict.fromkeys(range(child.lineno, (child.end_lineno or child.lineno) + 1), full))
                visit(child, f"{full}.", name)
            else:
                visit(child, prefix, name)

    visit(ast.parse(source), "", "")
    return names


def equivalent_places(source: str) -> set[tuple[int, int]]:
    """(line, column) where no fault can be: annotations are never evaluated."""
    found: set[tuple[int, int]] = set()
    for node in ast.walk(ast.parse(source)):
        notes = [node.annotation] if isinstance(node, ast.AnnAssign | ast.arg) and node.annotation else []
        notes += [node.returns] if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns else []
        for part in (part for note in notes for part in ast.walk(note)):
            if isinstance(part, ast.expr):
                ends = range(part.lineno, (part.end_lineno or part.lineno) + 1)
                columns = range(part.col_offset, (part.end_col_offset or part.col_offset) + 1)
                found |= {(line, column) for line in ends for column in columns}
    return found


# ---------------------------------------------------------------- which tests run what


def make_map(jobs: int) -> None:
    """Run every test file under coverage, `jobs` at a time."""
    files = sorted(p for p in (ROOT / "tests").rglob("test_*.py") if "gpu" not in p.relative_to(ROOT).parts[1:2])
    FOLDER.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(jobs) as pool:
        found = dict(zip([str(f.relative_to(ROOT)) for f in files], pool.map(_covered, files), strict=True))
    merged: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for by_path in found.values():
        for path, by_function in by_path["tests"].items():
            for name, tests in by_function.items():
                merged[path][name] += tests
    content = {"tests": merged, "seconds": {file: by_path["seconds"] for file, by_path in found.items()}}
    (FOLDER / "map.json").write_text(json.dumps(content, indent=0))


def _covered(file: Path) -> dict[str, Any]:
    """{"tests": {module: {function: tests}}, "seconds": how long the file took} of one test file."""
    import coverage

    name = str(file.relative_to(ROOT))
    with tempfile.TemporaryDirectory() as folder:
        data, config = Path(folder) / "data", Path(folder) / "rc"
        config.write_text(COVERAGE.format(name=name, data=data))
        start = time.monotonic()
        words = [sys.executable, "-m", "coverage", "run", f"--rcfile={config}", "-m", "pytest", "-q", "-p"]
        subprocess.run([*words, "no:cacheprovider", name], cwd=ROOT, stdout=subprocess.DEVNULL, check=False)
        seconds = time.monotonic() - start
        subprocess.run([sys.executable, "-m", "coverage", "combine", "-q", f"--rcfile={config}"], cwd=ROOT, check=False)
        read = coverage.CoverageData(str(data))
        read.read()
        tests: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        for path in read.measured_files():
            relative = os.path.relpath(path, ROOT)
            if not relative.startswith(PACKAGES):
                continue
            names = functions(Path(path).read_text(encoding="utf-8"))
            for line, contexts in read.contexts_by_lineno(path).items():
                tests[relative][names.get(line, "")] |= {_test(name, context) for context in contexts}
    print(f"{name}: {seconds:.1f} s", flush=True)
    plain = {path: {f: sorted(t) for f, t in by_function.items()} for path, by_function in tests.items()}
    return {"tests": plain, "seconds": seconds}


def _test(file: str, context: str) -> str:
    """The id of a test for pytest, from "file|module.Class.test"; the file where a fixture or a child ran the line."""
    _, _, function = context.partition("|")
    parts = function.split(".")
    first = next(
        (k for k, part in enumerate(parts) if part.startswith(("Test", "test_")) and part != Path(file).stem), 0
    )
    return "::".join((file, *parts[first:])) if function and first else file


# ---------------------------------------------------------------- mutants


def mutants() -> list[Mutant]:
    """All mutants of PACKAGES that are not known to be equivalent."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator

    found = []
    for path in (path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))):
        text, name = path.read_text(encoding="utf-8"), str(path.relative_to(ROOT))
        never, names, nodes = equivalent_places(text), functions(text), list(ast_nodes(get_ast(text)))
        for word in OPERATORS:
            operator = get_operator(f"core/{word}")()
            places = (start for node in nodes for start, _ in operator.mutation_positions(node))
            for occurrence, (line, column) in enumerate(places):
                if (line, column) not in never:
                    found.append(Mutant(name, word, occurrence, line, names.get(line, "")))
    return found


def sample(seed: int, number: int) -> list[Mutant]:
    """So many mutants, each of another line where that is possible: an operator makes ten of one `+`."""
    by_line: dict[tuple[str, int], list[Mutant]] = defaultdict(list)
    for mutant in mutants():
        by_line[mutant.path, mutant.line].append(mutant)
    generator = random.Random(seed)
    lines = sorted(by_line)
    generator.shuffle(lines)
    return [generator.choice(by_line[line]) for line in lines[:number]]


def run(seed: int, number: int, jobs: int) -> None:
    """Run the tests on a sample of mutants; results of an earlier call are kept."""
    results = _results()
    left = [mutant for mutant in sample(seed, number) if mutant.id not in results]
    tests = json.loads((FOLDER / "map.json").read_text())
    known = _collected()
    for by_function in tests["tests"].values():
        by_function.update({name: [t for t in found if t in known] for name, found in by_function.items()})
    with tempfile.TemporaryDirectory() as folder:
        clones = [Path(folder) / str(k) for k in range(jobs)]
        for clone in clones:
            subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
        free = list(clones)

        def one(mutant: Mutant) -> None:
            clone = free.pop()
            outcome = _try(mutant, clone, tests)
            free.append(clone)
            results[mutant.id] = {**asdict(mutant), **outcome}
            (FOLDER / "results.json").write_text(json.dumps(results, indent=1))
            print(
                f"{len(results)} {outcome['outcome']:9} {outcome['seconds']:5.0f} s  {mutant.id} line {mutant.line}",
                flush=True,
            )

        with ThreadPoolExecutor(jobs) as pool:
            list(pool.map(one, left))


def _collected() -> set[str]:
    """The ids of the tests that there are, without parameters, and their files: a map may be older than the tests."""
    words = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-m", ""]
    made = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    tests = {line.partition("[")[0] for line in made.splitlines() if "::" in line}
    return tests | {test.partition("::")[0] for test in tests}


def _results() -> dict[str, Any]:
    path = FOLDER / "results.json"
    return dict(json.loads(path.read_text())) if path.exists() else {}


def chosen(mutant: Mutant, content: dict[str, Any]) -> Iterator[str]:
    """The tests that run the mutant's function, or for a module's own lines any function of it: the fastest files
    first, as many as fit into LONGEST. Whole files, which import the module or run it in a child, where no single test
    is known to run it."""
    by_function = content["tests"].get(mutant.path, {})
    own = [mutant.function] if mutant.function in by_function and mutant.function else list(by_function)
    tests = list(dict.fromkeys(test for name in own for test in by_function[name]))
    single = [test for test in tests if "::" in test]
    files: dict[str, list[str]] = defaultdict(list)
    for test in single or tests:
        files[test.partition("::")[0]].append(test)
    spent = 0.0
    for file in sorted(files, key=lambda file: content["seconds"][file]):
        spent += content["seconds"][file]
        if spent > LONGEST and spent > content["seconds"][file]:
            return
        yield from files[file]


def _try(mutant: Mutant, clone: Path, content: dict[str, Any]) -> dict[str, Any]:
    """{"outcome": killed, alive, timeout or untested, "seconds", "diff"} of one mutant in a clone."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    path, start = clone / mutant.path, time.monotonic()
    before = path.read_text(encoding="utf-8")
    after = mutate_code(before, get_operator(f"core/{mutant.operator}")(), mutant.occurrence)
    assert after is not None and after != before, mutant
    path.write_text(after, encoding="utf-8")
    try:
        diff = subprocess.run(["git", "diff", "-U0"], cwd=clone, capture_output=True, text=True, check=True).stdout
        outcome = _outcome(clone, list(chosen(mutant, content)), content)
    finally:
        path.write_text(before, encoding="utf-8")
    return {"outcome": outcome, "seconds": time.monotonic() - start, "diff": "\n".join(diff.splitlines()[5:])}


def _outcome(clone: Path, tests: Sequence[str], content: dict[str, Any]) -> str:
    if not tests:
        return "untested"
    expected = sum(content["seconds"][file] for file in {test.partition("::")[0] for test in tests})
    words = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:randomly", *tests]
    environment = {**os.environ, "PYTHONPATH": str(clone), "PYTHONDONTWRITEBYTECODE": "1"}
    started = subprocess.Popen(
        words, cwd=clone, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        code = started.wait(60 + PATIENCE * expected)
    except subprocess.TimeoutExpired:
        os.killpg(started.pid, 9)
        started.wait()
        return "timeout"
    return "alive" if code == 0 else "killed"


def show() -> None:
    """The score, by package, and what lives."""
    results = _results().values()
    for package in (*PACKAGES, ""):
        own = [r for r in results if r["path"].startswith(package)]
        dead = sum(r["outcome"] in ("killed", "timeout") for r in own)
        if own:
            print(f"{package or 'all':24} {dead} of {len(own)} found ({dead / len(own):.0%})")
    for r in sorted(results, key=lambda r: (r["path"], r["line"])):
        if r["outcome"] in ("alive", "untested"):
            print(f"\n{r['outcome']}: {r['path']}:{r['line']} in {r['function']}\n{r['diff']}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("what", choices=("map", "run", "show"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--number", type=int, default=400)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    if given.what == "map":
        make_map(given.jobs)
    elif given.what == "run":
        run(given.seed, given.number, given.jobs)
    show() if given.what != "map" else None


if __name__ == "__main__":
    main()
