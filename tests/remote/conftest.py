"""The machines of these tests are for all of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from remote_machines import fake, machine, open_window, own_folders, real

from gpu_ops.remote.host import Host

__all__ = ["fake", "machine", "open_window", "own_folders", "real"]


@pytest.fixture
def path(own_folders: None, tmp_path: Path) -> Path:
    """That of the other side's socket."""
    return tmp_path / "socket"


@pytest.fixture
def host(path: Path) -> Iterator[Host]:
    """The other side, with neither an engine nor a connection."""
    made = Host(path)
    yield made
    made._sending.close()
    made._turns.close()
    made._client.close()
