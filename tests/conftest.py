"""Devices for the tests. A missing GPU skips; with --require-gpu it fails."""

from __future__ import annotations

import compileall
import gc
import hashlib
import os
import pickle
import signal
import sys
import time
import zlib
from collections.abc import Generator, Iterator
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from lanes import DAY, UNASKED, take_turns, unasked
from small_machine import make_small

from gpu_ops.devices import compiler, nvrtc
from gpu_ops.io import decoder_process
from gpu_ops.processes import importing

ROOT = Path(__file__).parent.parent
CALM = {"OPENBLAS_NUM_THREADS": "1", "GOMP_SPINCOUNT": "0"}
"""Threads of OpenBLAS and OpenMP spin where they wait for one that has no processor."""
KEPT_SECONDS = 7 * 86400
"""How long what NVRTC has made is kept where no test needs it."""

sys.dont_write_bytecode = False
"""Rewriting the asserts of all modules is two thirds of the time until the first test. The results are cached, also
where PYTHONDONTWRITEBYTECODE is set."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--require-gpu", action="store_true", help="a missing CUDA device fails instead of skipping")


def pytest_configure(config: pytest.Config) -> None:
    """The modules of the product are compiled once, before the workers begin: a hundred processes of the tests would
    each compile them again in a new checkout, wherever Python writes no bytecode of its own. All of them have the same
    day, by which some tests are chosen, and libraries whose threads do not wait busily for those of other processes."""
    if not any("::" in arg for arg in config.args):  # who names a test reads that it is deselected
        UNASKED.update(unasked(config.getoption("-m")))
    if not hasattr(config, "workerinput"):
        os.environ.setdefault(DAY, str(date.today().toordinal()))
        os.environ.update(CALM)  # also what the product has set as it was imported
        for package in ("gpu_ops", "app"):
            compileall.compile_dir(ROOT / package, quiet=2)
        for path in _compiled(config).iterdir() if hasattr(config, "cache") else ():
            with suppress(FileNotFoundError):  # other tests of this checkout delete the same
                if path.stat().st_mtime < time.time() - KEPT_SECONDS:
                    path.unlink()


def _compiled(config: pytest.Config) -> Path:
    """The folder of what NVRTC has made: one for each checkout, whose path stands in the PTX."""
    assert config.cache is not None
    return config.cache.mkdir("compiled")


@pytest.fixture(scope="session")
def cuda(request: pytest.FixtureRequest) -> str:
    """The name of the CUDA device under test."""
    from gpu_ops.devices import cuda_devices

    status = cuda_devices()[0]
    if not status.available:
        if request.config.getoption("--require-gpu"):
            pytest.fail(f"no CUDA device: {status.reason}")
        pytest.skip(status.reason)
    return status.name


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Filter and variant of the plans that are made to be kept."""
    from gpu_ops.running import reusable_plan

    made: list[str] = []
    real = reusable_plan.make_plan

    def make(filter: Any, variant: Any, *rest: Any) -> Any:
        made.append(f"{filter.id} {variant.id}")
        return real(filter, variant, *rest)

    monkeypatch.setattr(reusable_plan, "make_plan", make)
    return made


@pytest.fixture
def pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The toy filter of images of many types, among all others with its kernel."""
    from toys.pieces import PIECES

    from gpu_ops.devices import kernel_source
    from gpu_ops.filters import FILTERS, registry

    folder = tmp_path / "kernels"
    (folder / "pieces").mkdir(parents=True)
    for shipped in kernel_source.KERNELS.iterdir():
        (folder / shipped.name).symlink_to(shipped)
    (folder / "pieces" / "1_points.cu").symlink_to(ROOT / "tests" / "toys" / "1_points.cu")
    for module in (kernel_source, registry):
        monkeypatch.setattr(module, "KERNELS", folder)
    with_toy = registry.Registry((*FILTERS, PIECES))
    monkeypatch.setattr(FILTERS, "_filters", tuple(with_toy))
    return FILTERS.find("pieces")


@pytest.fixture(autouse=True, scope="session")
def readers_here() -> Iterator[None]:
    """Files are read in the process of the test, where it can replace what readers call."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoder_process, "here", True)
        yield


@pytest.fixture(autouse=True, scope="session")
def compiled_once(request: pytest.FixtureRequest) -> Iterator[None]:
    """What NVRTC made of a program is kept for the tests of all processes and for later runs, by all that it depends
    on. A sixth of the time goes to it otherwise."""
    real, folder = compiler._made, _compiled(request.config) if hasattr(request.config, "cache") else None

    def made(isolated: bool, *program: Any) -> nvrtc.CompileResult:
        assert folder is not None
        name = hashlib.sha256(repr((program, nvrtc.nvrtc_version())).encode()).hexdigest()
        path = folder / name
        with suppress(FileNotFoundError):
            os.utime(path)
            return nvrtc.CompileResult(*pickle.loads(zlib.decompress(path.read_bytes())))
        answer = real(False, *program)  # a process for each worker would compile no less
        part = path.with_suffix(f".{os.getpid()}")
        part.write_bytes(zlib.compress(pickle.dumps(tuple(answer)), 1))
        part.replace(path)
        return answer

    with pytest.MonkeyPatch.context() as patch:
        if folder is not None:
            patch.setattr(compiler, "_made", made)
        yield


@pytest.fixture(autouse=True, scope="session")
def ctrl_c() -> None:
    """Ctrl-C interrupts: a shell that starts the tests in the background has them ignore it, and what a test then
    waits for never ends."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def own_plans() -> Iterator[None]:
    """No test runs a plan of another one, whose libraries and devices may have been replaced."""
    yield
    if kept := sys.modules.get("gpu_ops.running.kept_plans"):
        kept.forget()


@pytest.fixture(autouse=True, scope="session")
def small_machine() -> Iterator[None]:
    """Times are taken as on a machine with a small cache."""
    with pytest.MonkeyPatch.context() as patch:
        make_small(patch.setattr)
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(name: str, obj: object) -> list[pytest.Item] | None:
    """The cases of a test that this run leaves out are not made."""
    marks = getattr(obj, "pytestmark", ()) if name.startswith("test") else ()
    return [] if any(mark.name in UNASKED for mark in marks) else None


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, pytest.CollectReport, Any]:
    """Two workers begin at either end: the asserts of each file are rewritten by the one that comes first, and the
    other finds them made."""
    report = yield
    worker = getattr(collector.config, "workerinput", {"workerid": "gw0"})["workerid"]
    if isinstance(collector, (pytest.Session, pytest.Directory)) and int(worker.removeprefix("gw")) % 2:
        report.result.reverse()
    return report


@pytest.hookimpl(tryfirst=True)  # before pytest orders what shares a fixture
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What takes long is there only when it is asked for: with -m full, or -m thorough as .ci/run does. A thorough test
    with a value that only the full lane has belongs to that. Who names files or folders has all of their tests; in a
    run of all they take turns."""
    if {Path(arg).resolve() for arg in config.args} <= {ROOT, ROOT / "tests"}:
        take_turns(items)
    # Markers and not keywords, which have the names of folders as well.
    lanes = unasked(config.getoption("-m"))
    left_out = {item for item in items if any(item.get_closest_marker(mark) for mark in lanes)}
    if left_out:
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: item.path.parts)  # stable: the same order for all workers


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Thousands of tests are objects that no collection of garbage need look at, now or later."""
    with importing():
        found = yield
    gc.collect()
    gc.freeze()
    return found


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With -n, an idle worker takes over tests of another, so that all end together: the test sets of the contract are
    contiguous, and shares of a fixed size would give all of them to one worker."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log) if config.getoption("dist") == "load" else None
