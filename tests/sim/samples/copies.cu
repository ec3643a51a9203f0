#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
extern "C" __global__ void awbarrier(const float* x, float* out, int n)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ float box[256];
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0) init(&bar, block.size());
    cg::sync(block);
    int i = threadIdx.x;
    for (int base = 0; base < n; base += 256) {
        box[i] = x[base + i];
        auto token = bar.arrive();
        float own = x[base + i] * 2;
        bar.wait(std::move(token));
        out[base + i] = own + box[255 - i];
        bar.arrive_and_wait();
    }
}
extern "C" __global__ void pipe(const float* x, float* out, int n)
{
    constexpr int stages = 2;
    __shared__ float box[stages][128];
    cuda::pipeline<cuda::thread_scope_thread> p = cuda::make_pipeline();
    int i = threadIdx.x;
    int fetch = 0;
    for (int s = 0; s < n / 128; s++) {
        for (; fetch < s + stages; fetch++) {
            p.producer_acquire();
            if (fetch < n / 128)
                cuda::memcpy_async(&box[fetch % stages][i], x + fetch * 128 + i, cuda::aligned_size_t<4>(4), p);
            p.producer_commit();
        }
        cuda::pipeline_consumer_wait_prior<stages - 1>(p);
        __syncthreads();
        out[s * 128 + i] = box[s % stages][127 - i];
        p.consumer_release();
        __syncthreads();
    }
}
extern "C" __global__ void shared_pipe(const float* x, float* out, int n)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ float box[2][128];
    auto block = cg::this_thread_block();
    auto p = cuda::make_pipeline(block, &state);
    for (int s = 0, fetch = 0; s < n / 128; s++) {
        for (; fetch < n / 128 && fetch < s + 2; fetch++) {
            p.producer_acquire();
            cuda::memcpy_async(block, box[fetch % 2], x + fetch * 128, sizeof(float) * 128, p);
            p.producer_commit();
        }
        p.consumer_wait();
        out[s * 128 + threadIdx.x] = box[s % 2][127 - threadIdx.x];
        p.consumer_release();
    }
}
extern "C" __global__ void cgcopy(const float* x, float* out, int n)
{
    __shared__ float box[256];
    auto block = cg::this_thread_block();
    for (int base = 0; base < n; base += 256) {
        cg::memcpy_async(block, box, x + base, sizeof(float) * 256);
        cg::wait(block);
        out[base + threadIdx.x] = box[255 - threadIdx.x];
        block.sync();
    }
}
