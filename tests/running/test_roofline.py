"""How much memory the roofs of a CPU are measured on."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from gpu_ops.devices.cpu import last_level_cache
from gpu_ops.running import roofline
from gpu_ops.running.roofline import Roofs, roofs

MIB = 1 << 20


@pytest.mark.parametrize(
    "cache, free, buffer", [(4, 8192, 256), (32, 8192, 512), (260, 65536, 2048), (260, 4096, 1024), (4, 512, 128)]
)
def test_a_cpus_buffers_are_sixteen_caches_where_there_is_the_memory(
    monkeypatch: pytest.MonkeyPatch, cache: int, free: int, buffer: int
) -> None:
    """In MiB: at least 256, at most 2048, and a quarter of what is free."""
    device = SimpleNamespace(kind="cpu", limits=SimpleNamespace(l2_bytes=cache * MIB), free_bytes=lambda: free * MIB)
    monkeypatch.setattr(roofline, "open_device", lambda name: device)
    monkeypatch.setattr(roofline, "_measure", lambda device, nbytes: Roofs(1.0, 1.0, nbytes))
    monkeypatch.setattr(roofline, "CPU_SMALLEST", 256 * MIB)
    assert roofs.__wrapped__("cpu").nbytes == buffer * MIB


def test_this_machines_last_cache_is_known() -> None:
    assert 1 * MIB <= last_level_cache() <= 4096 * MIB
