// Thresholding of a coefficient: soft, hard or garrote. REAL names its type T.
#pragma once

typedef REAL T;
typedef long long Index;

#define SOFT 0
#define HARD 1
#define GARROTE 2

// A magnitude within this relative distance above a hard threshold counts as equal to it, so all ties are decided
// alike.
#define AT ((T)1 / (1LL << 40))

__device__ __forceinline__ T shrunk(T value, T threshold, int how)
{
    const T size = value < 0 ? -value : value;
    if (how == HARD) return size > threshold * (1 + AT) ? value : 0;
    if (size <= threshold) return 0;
    if (how == SOFT) return value < 0 ? value + threshold : value - threshold;
    return value - threshold * (threshold / value);
}
