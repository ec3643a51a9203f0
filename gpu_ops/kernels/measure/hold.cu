// What:    holds a stream until the host releases it, or a time limit has passed
// Idea:    all timed work is enqueued before it starts, so host latency does not enter the measurement
// Shapes:  go, expired (1) in pinned host memory
// Launch:  one thread
// Traffic: none
// Source:  own
extern "C" __global__ void hold(const volatile int* go, volatile int* expired, long long limit_ns)
{
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    while (!*go) {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
        if ((long long)(now - start) > limit_ns) {
            *expired = 1;
            return;
        }
    }
}
