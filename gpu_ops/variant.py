"""A variant of a filter: what it runs, which tasks it takes, what it counts and how exact it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from gpu_ops.input_kinds import Shape
from gpu_ops.params import Param
from gpu_ops.plan import Device, Limits, Plan
from gpu_ops.task import Task, Trial

Range = Callable[[Task], float]
"""The largest magnitude of samples with which nothing overflows in a task; infinite where nothing can."""
Trials = Callable[[Limits], tuple[Trial, ...]]
"""Long cases on a device of these limits."""


@dataclass(frozen=True)
class Rule:
    """What a variant does not take. `test(task)` is true of a task that breaks the rule: True, or what it found, such
    as the bytes that are too many. `words` say why and what to choose instead: "{found}" stands for that, the like of
    "{meta.channels}" for what the task's meta or limits know, "{window}" for the value of a parameter or knob.

    `never` are choices of the contract that it, or a rule before it, always rules out, by axis:
    {"param border": ("wrap",)}. Where the first broken rule is one that is said `also`, so are all others of these that
    are broken.
    """

    test: Callable[[Task], Any]
    words: str
    never: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    also: bool = False

    def said(self, task: Task) -> str:
        """The words for a task that breaks it."""
        found = self.test(task)
        return self.words.format(found=found, meta=task.meta, limits=task.limits, **task.params, **task.knobs)


@dataclass(frozen=True)
class Accesses:
    """Expected thread-level global loads: of the first block, an inner one, the last one, and of the whole launch."""

    first: int
    inner: int
    last: int
    total: int


@dataclass(frozen=True)
class Counts:
    """What is known of a variant's work beforehand.

    `accesses(task)` are the global loads it should make; `uncounted` says why a variant with kernels declares none.
    `predicts(task)` are the counters that its samples let expect, by id, and `transactions(task, rule)` those by the
    coalescing rule of an older GPU. `operations(task)` is its number of operations where that is more than the filter's
    least work.
    """

    accesses: Callable[[Task], Accesses] | None = None
    uncounted: str = ""
    predicts: Callable[[Task], Mapping[str, int]] | None = None
    transactions: Callable[[Task, Any], Mapping[str, int]] | None = None
    operations: Callable[[Task], int] | None = None


NO_COUNTS = Counts()


@dataclass(frozen=True)
class Exactness:
    """A `tolerance` that is wider than the output's, and the `caveat` that is printed beside results and says why."""

    tolerance: Callable[[Task], float]
    caveat: str


def no_trials(limits: Limits) -> tuple[Trial, ...]:
    """The trials of a variant without long cases."""
    return ()


@dataclass(frozen=True)
class Variant:
    """One way to do a filter's job.

    What it runs: `plan(device, task)` allocates and returns a Plan; `idea` says what changed from the variant before.
    Of its `kernels` the first file holds what it is about; a person's kernel takes that one's place. `knobs` change the
    speed, and the result only within the tolerance.

    What it takes: all tasks that break none of the `rules`, with floating samples up to `largest(task)`, beyond which
    something overflows; None: any. The contract tries `shapes` beside those of the kind of input, and `trials(limits)`,
    long cases in which every loop of its kernels runs more than once on such a device, or launches take part that short
    ones do not need.

    What it counts, and where the output's tolerance does not hold for it, how exact it is.
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

    def refusal(self, task: Task) -> str | None:
        """None, or the reason why it cannot do this task: a broken rule, or samples outside its range."""
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
