"""Faults of reductions and scans: filter.variant.fault, what is wrong, and edits of the shipped text."""

SUMS = {
    "reduce1d.first_add.last_sample_lost": (
        "the second sample of a thread must lie before the last one, which nobody adds",
        ("if (i + blockDim.x < n)", "if (i + blockDim.x < n - 1)"),
    ),
    "reduce1d.sequential.missing_barrier": (
        "no barrier between the steps of the fan-in, so that a warp joins what another has not written",
        ("        __syncthreads();\n", ""),
    ),
    "reduce1d.two_phase.float_sums": (
        "a thread adds its samples in float, which drops the last digits of integers and of doubles",
        (
            "    Part mine = Part::none();\n",
            """\
    Part mine = Part::none();
#if FIRST && (STATISTIC == 0 || STATISTIC == 3)
    float sum = 0;
    for (long long i = (long long)blockIdx.x * blockDim.x + t; i < n; i += threads)
        sum += (float)x[i * gridDim.y + blockIdx.y];
    mine.value = sum;
#else
""",
        ),
        ("mine = mine.combine(read(x, i));\n", "mine = mine.combine(read(x, i));\n#endif\n"),
    ),
    "reduce1d.two_phase.nan_lost": (
        "a minimum leaves NaN out",
        (
            'extern "C"',
            """\
template <typename State>
__device__ __forceinline__ bool odd(const State&) { return false; }
__device__ __forceinline__ bool odd(const Minimum& state) { return state.value != state.value; }

extern "C\"""",
        ),
        (
            "i += threads) mine = mine.combine(read(x, i));",
            "i += threads) if (!odd(read(x, i))) mine = mine.combine(read(x, i));",
        ),
    ),
    "reduce2d.adjacent.one_block_only": (
        "every block reads what the first one reads",
        ("i = (long long)blockIdx.x * blockDim.x + t;", "i = t;"),
    ),
    "reduce1d.one_pass.missing_fence": (
        "a block takes its ticket with no fence after its state, which the last block may not see yet",
        (
            'extern "C"',
            """\
__device__ __forceinline__ bool is_last(unsigned* ticket)
{
    __shared__ bool last;
    if (threadIdx.x == 0) last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    return last;
}

extern "C\"""",
        ),
        ("is_last_block(ticket)", "is_last(ticket)"),
    ),
    "reduce1d.one_pass.early_ticket": (
        "a block takes its ticket before it stores its state",
        (
            "        if (threadIdx.x == 0) {\n            if (own) partial",
            "        const bool is_last = step != CHANNELS - 1 || is_last_block(ticket);\n"
            "        if (threadIdx.x == 0) {\n            if (own) partial",
        ),
        ("else if (!is_last_block(ticket)) return;", "else if (!is_last) return;"),
    ),
    "reduce2d.one_pass.rest_lost": (
        "the samples that fill no read of 16 bytes are lost",
        ("rest = (long long)groups * EACH + thread;", "rest = n;"),
    ),
    "reduce2d.warp_shuffle.bytes_overflow": (
        "sums of integers are kept in their own type, in which those of bytes overflow with the second sample",
        (
            "    Part mine = Part::none();\n",
            """\
    Part mine = Part::none();
#if FIRST && INTEGER && (STATISTIC == 0 || STATISTIC == 3)
    T sum = 0;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads)
        sum += x[i * gridDim.y + blockIdx.y];
    mine.value = sum;
#else
""",
        ),
        ("mine = mine.combine(read(x, i));\n", "mine = mine.combine(read(x, i));\n#endif\n"),
    ),
    "scan1d.blelloch_padded.root_without_gaps": (
        "the root is looked for where it would lie without gaps, so a sum in the middle of the tile is lost",
        ("root = index(2 * threads - 1);", "root = 2 * threads - 1;"),
    ),
    "scan1d.hillis_steele.missing_barrier": (
        "no barrier after a step, so that a step adds sums which other warps have not written yet",
        ("        __syncthreads();\n", ""),
    ),
    "scan1d.look_back.adds_too_far": (
        "sums of tiles that lie before one that knows all are added as well",
        ("if (lane <= last) before += sum;", "before += sum;"),
    ),
    "scan1d.look_back.lane_left_out": (
        "the last lane of a window is left out, which counts only where 32 tiles know no more than their own sums",
        ("if (lane <= last) before += sum;", "if (lane <= last && lane < 31) before += sum;"),
    ),
    "scan1d.look_back.first_window_only": (
        "the look-back ends after one window, although no tile in it knows the sum of all before",
        ("if (ends) return warp_total(before);", "return warp_total(before);"),
    ),
    "scan1d.look_back.does_not_wait": (
        "a tile adds what its predecessors have published so far",
        ("while (__any_sync(WHOLE_WARP, status == 0));", "while (__any_sync(WHOLE_WARP, false));"),
    ),
    "scan1d.look_back.prefix_too_early": (
        "a tile publishes its own sum as if it were that of all tiles before it as well",
        (
            "publish(own + tile * SLOT, (double)all, first + AGGREGATE);",
            "publish(own + tile * SLOT, (double)all, first + INCLUSIVE_PREFIX);",
        ),
    ),
    "scan1d.warp.carry_in_float": (
        "the sum before a tile passes through float",
        ("? offsets[blockIdx.x]", "? (R)(float)offsets[blockIdx.x]"),
    ),
    "scan1d.warp.chunk_forgotten": (
        "the sums of the first 1024 tiles are missing from those after them",
        ("carry += all;", "carry = all;"),
    ),
    "scan1d.warp.last_offset_forgotten": (
        "the last tile does not get the sum of the tiles before it",
        ("tiles > 1 ? offsets", "tiles > 1 && blockIdx.x < gridDim.x - 1 ? offsets"),
    ),
    "scan2d.blelloch.off_by_one": (
        "the second half of a tile is inclusive where it should be exclusive, and the other way round",
        (
            "(exclusive ? tile[t + threads] : tile[t + threads] + other)",
            "(exclusive ? tile[t + threads] + other : tile[t + threads])",
        ),
    ),
}
