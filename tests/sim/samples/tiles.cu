#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
extern "C" __global__ void wide(const int* x, int* out, int* scan, int* rank)
{
    __shared__ cg::block_tile_memory<512> scratch;
    cg::thread_block block = cg::this_thread_block(scratch);
    auto tile = cg::tiled_partition<128>(block);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = cg::reduce(tile, x[i], cg::plus<int>());
    scan[i] = cg::inclusive_scan(tile, x[i], cg::plus<int>());
    rank[i] = tile.meta_group_rank() * 1000 + tile.shfl(x[i], 5) ;
    tile.sync();
}
extern "C" __global__ void parts(const int* x, int* odd, int* label, int* leader)
{
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    auto half = cg::binary_partition(tile, (x[i] & 1) != 0);
    odd[i] = cg::reduce(half, x[i], cg::plus<int>());
    auto group = cg::labeled_partition(tile, x[i] % 5);
    label[i] = cg::reduce(group, x[i], cg::greater<int>()) * 100 + group.size();
    leader[i] = 0;
    if (x[i] > 100) {
        cg::coalesced_group on = cg::coalesced_threads();
        leader[i] = on.shfl(x[i], 0) * 100 + on.thread_rank();
    }
}
extern "C" __global__ void aggregated(const int* x, int* count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 128) {
        cg::coalesced_group on = cg::coalesced_threads();
        int before = 0;
        if (on.thread_rank() == 0) before = atomicAdd(count, on.size());
        before = on.shfl(before, 0) + on.thread_rank();
        count[1 + before] = i;
    }
}
extern "C" __global__ void small(const float* x, float* out, int* any)
{
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    for (int d = tile.size() / 2; d > 0; d /= 2) v += tile.shfl_down(v, d);
    out[i] = cg::exclusive_scan(tile, x[i]);
    any[i] = tile.any(x[i] > 0.9f) * 2 + tile.all(x[i] < 0.95f) + 4 * __popc(tile.ballot(x[i] > 0.5f));
    if (tile.thread_rank() == 0) out[i] = v;
}
