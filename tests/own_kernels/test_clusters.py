"""Clusters that a launch asks for, where the kernel does not declare them, and clusters of one block."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_ops.errors import KernelError, ParamError
from gpu_ops.own_kernels.launching import OwnLaunch, OwnRun, simulate
from gpu_ops.own_kernels.sources import OwnFile

RING = """__device__ void meet() { __cluster_barrier_arrive(); __cluster_barrier_wait(); }

__global__ void other(int* out) {}
template <class T> __global__ void __launch_bounds__(64) ring(T* out)
{
    __shared__ T box[64];
    unsigned rank = __clusterRelativeBlockRank(), blocks = __clusterSizeInBlocks();
    box[threadIdx.x] = blockIdx.x * 100 + threadIdx.x;
    meet();
    T* there = (T*)__cluster_map_shared_rank(box, (rank + 1) % blocks);
    out[blockIdx.x * 64 + threadIdx.x] = there[63 - threadIdx.x];
    meet();
}
"""


def launch(text: str, cluster: int | None, architecture: str = "sm_90", blocks: int = 8) -> OwnRun:
    extents = (cluster, 1, 1) if cluster else None
    arguments = (f"zeros:int32:{64 * blocks}",)
    file = OwnFile("own.cu", {"own.cu": text})
    own = OwnLaunch(file, "ring<int>", (blocks, 1, 1), (64, 1, 1), arguments, cluster=extents)
    return simulate(own, architecture)


@pytest.mark.parametrize("cluster", [None, 1, 4])
def test_each_block_reads_what_the_next_one_of_its_cluster_has(cluster: int | None) -> None:
    found = launch(RING, cluster)
    size = cluster or 1
    block, thread = np.divmod(np.arange(512), 64)
    right = (block // size * size + (block % size + 1) % size) * 100 + 63 - thread
    np.testing.assert_array_equal(found.outputs["out"], right)
    assert found.xray is not None and not found.xray.findings
    (file,) = found.xray.kernels[0].files
    assert file.text == RING and file.lines[11]["global_store_sectors"] == 64


@pytest.mark.parametrize(
    ("cluster", "kind"), [(None, "read-after-write hazard"), (4, "read-after-write hazard in a cluster")]
)
def test_a_missing_barrier_is_named_by_its_line(cluster: int | None, kind: str) -> None:
    found = launch(RING.replace("    meet();\n", "\n", 1), cluster)
    assert found.xray is not None
    assert [(f.kind, f.line) for f in found.xray.findings if f.severity == "error"] == [(kind, 11)]


def test_what_does_not_fit_is_said() -> None:
    with pytest.raises(ParamError, match="A grid of 6x1x1 blocks has no whole clusters of 4x1x1; give multiples"):
        launch(RING, 4, blocks=6)
    with pytest.raises(ParamError, match="Clusters need sm_90 or later, and this is sm_75; choose sm_90 or sm_120"):
        launch(RING, 4, "sm_75")
    with pytest.raises(ParamError, match="ring declares its clusters itself, with __cluster_dims__; leave --cluster"):
        launch(RING.replace("__launch_bounds__(64)", "__cluster_dims__(2, 1, 1)"), 4)
    with pytest.raises(KernelError, match=r'own.cu:4:\d+: error: identifier "wrong" is undefined') as with_clusters:
        launch(RING.replace("T* out)", "T* out, wrong w)"), 4)
    with pytest.raises(KernelError) as without:
        launch(RING.replace("T* out)", "T* out, wrong w)"), None)
    assert str(with_clusters.value) == str(without.value)
