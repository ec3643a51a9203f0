"""A variant of a filter: what it runs, which tasks it takes, what it counts and how exact it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from string import Formatter
from typing import Any, Literal

from gpu_ops.errors import grouped
from gpu_ops.input_kinds import Shape
from gpu_ops.params import Param
from gpu_ops.plan import Device, Limits, Plan
from gpu_ops.task import Task, Trial

Range = Callable[[Task], float]
"""The largest magnitude of samples for which nothing overflows in a task; infinite if nothing can."""
Trials = Callable[[Limits], tuple[Trial, ...]]
"""Large test cases for a device with these limits."""


class _Words(Formatter):
    """Fills values into texts; whole numbers have thousands separators."""

    def format_field(self, value: Any, format_spec: str) -> Any:
        return format(value, format_spec) if format_spec else grouped(value)


@dataclass(frozen=True)
class Rule:
    """A restriction on tasks. `test(task)` is true for a task that violates the rule: True, or what it found, such as
    the bytes that are too many. `words` state the reason and the alternative: "{found}" is replaced by what was found,
    "{meta.channels}" by an attribute of the task's meta or limits, "{window}" by the value of a parameter or knob.

    `never` are choices of the contract that this rule, or an earlier one, always excludes, by axis: {"param border":
    ("wrap",)}. If the first violated rule has `also` set, the other violated rules that have it are reported too.
    """

    test: Callable[[Task], Any]
    words: str
    never: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    also: bool = False

    def said(self, task: Task) -> str:
        """The message for a task that violates it."""
        found = self.test(task)
        return _Words().format(self.words, found=found, meta=task.meta, limits=task.limits, **task.params, **task.knobs)


@dataclass(frozen=True)
class Accesses:
    """Expected thread-level global loads: of the first block, an inner one, the last one, and of the whole launch."""

    first: int
    inner: int
    last: int
    total: int


@dataclass(frozen=True)
class Counts:
    """What is known about a variant's work before it runs.

    `accesses(task)` are the expected global loads; `uncounted` is the reason why a variant with kernels declares none.
    `predicts(task)` are the counter values predicted from the input, by id, and `transactions(task, rule)` those by the
    coalescing rule of an older GPU. `operations(task)` is its number of operations if that exceeds the filter's minimum
    work.
    """

    accesses: Callable[[Task], Accesses] | None = None
    uncounted: str = ""
    predicts: Callable[[Task], Mapping[str, int]] | None = None
    transactions: Callable[[Task, Any], Mapping[str, int]] | None = None
    operations: Callable[[Task], int] | None = None


NO_COUNTS = Counts()


@dataclass(frozen=True)
class Exactness:
    """A `tolerance` that is wider than the output's, and the `caveat` that is printed next to results and gives the
    reason."""

    tolerance: Callable[[Task], float]
    caveat: str


def no_trials(limits: Limits) -> tuple[Trial, ...]:
    """The trials of a variant without large test cases."""
    return ()


def always(task: Task) -> bool:
    """It suits every task."""
    return True


@dataclass(frozen=True)
class Variant:
    """One implementation of a filter.

    What it runs: `plan(device, task)` allocates and returns a Plan; `idea` says what changed from the previous variant.
    The first file of `kernels` is its main file, which a user's own kernel replaces. `knobs` change the speed, and the
    result only within the tolerance.

    What it supports: all tasks that violate none of the `rules`, with floating-point samples up to `largest(task)`,
    above which something overflows; None: no limit. The contract tests `shapes` in addition to those of the kind of
    input, and `trials(limits)`, large cases in which every loop of its kernels runs more than once on such a device, or
    which need additional launches.

    What it `suits`: tasks for which it is expected to be faster than the variants before it. The default is the last
    variant that suits a task, or the last that supports it where none does.

    What it counts, and how exact it is if the output's tolerance does not apply.
    """

    id: str
    title: str
    idea: str
    plan: Callable[[Device, Task], Plan]
    device: Literal["cpu", "cuda"]
    kernels: tuple[str, ...] = ()
    knobs: tuple[Param, ...] = ()
    library: str = ""
    source: str = ""
    rules: tuple[Rule, ...] = ()
    largest: Range | None = None
    shapes: tuple[Shape, ...] = ()
    trials: Trials = no_trials
    counts: Counts = NO_COUNTS
    exactness: Exactness | None = None
    suits: Callable[[Task], bool] = always

    def refusal(self, task: Task) -> str | None:
        """None, or the reason why it does not support this task: a violated rule, or samples outside its range."""
        broken = (rule for rule in self.rules if rule.test(task))
        if (first := next(broken, None)) is not None:
            others = (rule for rule in broken if rule.also) if first.also else ()
            return "; ".join(rule.said(task) for rule in (first, *others))
        if not task.meta.largest or self.largest is None:
            return None
        most = self.largest(task)
        if task.meta.largest <= most:
            return None
        return f"it holds for values up to {most:.4g}, this input has {task.meta.largest:.4g}: scale the input down"
