// The values beyond an edge. BORDER: 0 zero, 1 reflect (d c b a | a b c d), 2 nearest, 3 wrap - SciPy's conventions.
#pragma once

// Position i on an axis of n elements, mapped to inside; -1 where the value is zero. Any i and any n >= 1.
template <typename Index>
__device__ __forceinline__ Index border_index(Index i, Index n)
{
    if (i >= 0 && i < n) return i;
#if BORDER == 0
    return -1;
#elif BORDER == 1
    const Index period = 2 * n;
    i %= period;
    if (i < 0) i += period;
    return i < n ? i : period - 1 - i;
#elif BORDER == 2
    return i < 0 ? 0 : n - 1;
#elif BORDER == 3
    i %= n;
    return i < 0 ? i + n : i;
#else
#error "BORDER must be 0, 1, 2 or 3"
#endif
}
