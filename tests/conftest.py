"""Devices for the tests. A missing GPU skips; with --require-gpu it fails."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--require-gpu", action="store_true", help="a missing CUDA device fails instead of skipping")


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


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The whole product runs only when it is asked for with -m full."""
    if "full" in (config.getoption("-m") or ""):
        return
    skip = pytest.mark.skip(reason="the whole product runs with -m full")
    for item in items:
        if "full" in item.keywords:
            item.add_marker(skip)
