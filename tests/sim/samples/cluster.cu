#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2, 1, 1) histogram(int* bins, const int* x, int n, int half)
{
    extern __shared__ int own[];
    cg::cluster_group cluster = cg::this_cluster();
    int rank = cluster.block_rank();
    for (int i = threadIdx.x; i < half; i += blockDim.x) own[i] = 0;
    cluster.sync();
    for (int i = cg::this_grid().thread_rank(); i < n; i += blockDim.x * gridDim.x) {
        int bin = x[i];
        int* there = cluster.map_shared_rank(own, bin / half);
        atomicAdd(there + bin % half, 1);
    }
    cluster.sync();
    for (int i = threadIdx.x; i < half; i += blockDim.x) atomicAdd(&bins[rank * half + i], own[i]);
}
extern "C" __global__ void __cluster_dims__(4, 1, 1) ring(int* out)
{
    __shared__ int box[64];
    cg::cluster_group cluster = cg::this_cluster();
    box[threadIdx.x] = blockIdx.x * 100 + threadIdx.x;
    cluster.sync();
    int next = (cluster.block_rank() + 1) % cluster.num_blocks();
    out[blockIdx.x * 64 + threadIdx.x] = cluster.map_shared_rank(box, next)[63 - threadIdx.x] + cluster.dim_blocks().x;
    cluster.sync();
}
