"""A process with limits: whatever its work does, there is a result or one sentence, and the next request is done."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gpu_ops.own_kernels import kernel_process
from gpu_ops.own_kernels.kernel_process import KernelProcess, Outcome, piece


@pytest.fixture(scope="module")
def process() -> Iterator[KernelProcess]:
    made = KernelProcess("works:misbehave")
    yield made
    made.close()


def outcome(process: KernelProcess, what: str) -> Outcome:
    process.start({"what": what}, "a.cu")
    found = process.poll(60)
    assert found is not None and not process.busy
    return found


@pytest.mark.parametrize(
    "what, reason",
    [
        ("spin", "spin: case 1 took more than 0.5 s; --deadline allows more."),
        ("crash", "crash: case 1 ended its process by signal 11. Look for very large arrays, tables and output."),
        ("exit", "exit: case 1 ended its process with code 3. Look for very large arrays, tables and output."),
        ("memory", "memory: case 1 took more than 64 MiB of memory; --memory allows more."),
        ("output", "The result takes more than 64 MiB; print less."),
        ("fault", "an illegal address"),
        ("mistake", "TypeError: an argument"),
    ],
)
def test_what_goes_wrong_is_one_sentence_and_the_next_request_is_done(
    process: KernelProcess, what: str, reason: str
) -> None:
    found = outcome(process, what)
    assert (found.result, found.reason) == (None, reason) and found.reached == (what in ("spin", "memory"))
    assert outcome(process, "right").result


def test_a_process_does_one_request_after_another_and_a_new_one_after_a_fault(process: KernelProcess) -> None:
    first, second = (outcome(process, "right").result for _ in range(2))
    assert first == second and first is not None
    outcome(process, "fault")
    assert outcome(process, "right").result != first


def test_a_start_ends_what_goes_on(process: KernelProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_process, "GRACE", 100.0)
    process.start({"what": "spin"}, "a.cu")
    assert process.poll(1.0) is None and process.busy
    assert outcome(process, "right").result and process.poll() is None


def test_nothing_changes_where_nobody_watches() -> None:
    with piece("what", 1.0, 1):
        bytearray(1 << 24)
