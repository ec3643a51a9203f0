"""Faults of wavelets: filter.variant.fault, what is wrong, and edits of the shipped text."""

WAVELETS = {
    "wavelet1d.constant.wrap_missing": (
        "beyond the end lies the last sample, not what the border says",
        (
            "        const T value = x[inside(first + t, n) * step];\n",
            "        const Index i = first + t < n ? inside(first + t, n) : n - 1;\n"
            "        const T value = x[i * step];\n",
        ),
    ),
    "wavelet1d.levels.odd_extent_lost": (
        "where details begin comes from halves of the length, as if no level were odd",
        (
            "    for (int l = together; l > 0; --l) axis.details[l - 1] = axis.details[l] + axis.n[l] * channels;\n",
            "    for (int l = together; l > 0; --l) axis.details[l - 1] = axis.details[l] + (n >> l) * channels;\n",
        ),
    ),
    "wavelet1d.lifting.missing_barrier": (
        "a step reads what the one before has not changed yet",
        (
            "            target[q] += sign * addition(source + q, channels, step, m.count);\n"
            "    }\n"
            "    __syncthreads();\n",
            "            target[q] += sign * addition(source + q, channels, step, m.count);\n    }\n",
        ),
    ),
    "wavelet1d.recomputed_blocks.border_lost": (
        "beyond the end of a level lie zeros, not what the border says",
        (
            "    ForwardStrip strip(x, e, shift, left, 2 * (half - 1) - REACH + TAPS - left);\n"
            "    strip.fetch(0, 0, 1);\n",
            "    ForwardStrip strip(x, e, shift, left, n - left);\n    strip.fetch(0, 0, 1);\n",
        ),
    ),
    "wavelet1d.recomputed_blocks.first_level_only": (
        "a tile shrinks the details of its first level alone",
        (
            "    for (int level = 1; level <= levels; ++level) split_level(tile, spans, level, level == levels, "
            "threshold, how);\n",
            "    for (int level = 1; level <= levels; ++level) split_level(tile, spans, level, level == levels, "
            "level == 1 ? threshold : 0, how);\n",
        ),
    ),
    "wavelet1d.recomputed_blocks.odd_details_kept": (
        "every other detail of a level is left as it is",
        (
            "        for (int i = 0; i < 2; ++i) high.v[i] = shrunk(high.v[i], threshold, how);\n",
            "        for (int i = 0; i < 1; ++i) high.v[i] = shrunk(high.v[i], threshold, how);\n",
        ),
    ),
    "wavelet1d.scatter.scatter_race": (
        "coefficients are added to the samples that they meet without atomics",
        (
            "                atomicAdd(&x[r * x_pitch + i * channels + p.channel],\n"
            "                          bank[2 * MOST_TAPS + t] * l + bank[3 * MOST_TAPS + t] * h);\n",
            "                x[r * x_pitch + i * channels + p.channel] +=\n"
            "                    bank[2 * MOST_TAPS + t] * l + bank[3 * MOST_TAPS + t] * h;\n",
        ),
    ),
    "wavelet1d.warp_registers.lane_too_many": (
        "the first lane that a warp stores lacks samples around its own",
        (
            "constexpr int HALO = whole((BEFORE + 2 * EARLIER) * AROUND, EACH);\n",
            "constexpr int HALO = whole((BEFORE + 2 * EARLIER) * AROUND, EACH) - 1;\n",
        ),
    ),
    "wavelet2d.blocks.odd_row_lost": (
        "below the last of an odd number of rows lie zeros, not that row again",
        (
            "    const T top = right ? b : a, bottom = below ? c : a, corner = below ? (right ? d : c) : top;\n",
            "    const T top = right ? b : a, bottom = c, corner = right ? d : c;\n",
        ),
    ),
    "wavelet2d.fused.diagonal_as_vertical": (
        "diagonal details are shrunk by the threshold of the vertical ones",
        (
            "    return {(T)thresholds[channel], (T)thresholds[channels + channel], (T)thresholds[2 * channels + "
            "channel]};\n",
            "    return {(T)thresholds[channel], (T)thresholds[channels + channel], (T)thresholds[channels + "
            "channel]};\n",
        ),
    ),
    "wavelet2d.levels.missing_barrier": (
        "the columns of a level are read before all its rows are there",
        (
            "            __syncthreads();\n            const Level below = level_of(along, l);\n",
            "            const Level below = level_of(along, l);\n",
        ),
    ),
    "wavelet2d.lifting.undone_in_order": (
        "in the inverse, the steps across lines are undone in the order of the forward transform",
        (
            "        for (int step = steps; step-- > 0;)\n"
            "            across_lines(tile, width, 0, values, values, pairs_down, down.own, INVERSE, step, -1);\n",
            "        for (int step = 0; step < steps; ++step)\n"
            "            across_lines(tile, width, 0, values, values, pairs_down, down.own, INVERSE, step, -1);\n",
        ),
    ),
    "wavelet2d.recomputed_blocks.last_row_lost": (
        "a segment there ends a row of coefficients too early",
        (
            "            if (row >= count) break;\n",
            "            if (row >= count - 1) break;\n",
        ),
    ),
    "wavelet2d.recomputed_blocks.missing_barrier": (
        "rows are joined while other threads still make their halves",
        (
            "        if (start < FILLED) continue; // uniform across the block\n        __syncthreads();\n",
            "        if (start < FILLED) continue; // uniform across the block\n",
        ),
    ),
    "wavelet2d.shared.missing_barrier": (
        "the columns are read before all rows are there",
        (
            "        __syncthreads();\n        const Index k = top + ty;\n",
            "        const Index k = top + ty;\n",
        ),
    ),
    "wavelet2d.two_levels.unscaled": (
        "the approximation goes on to the second level without its unit",
        (
            "                made[i] *= unit(OF_LOW, OF_LOW);\n",
            "                made[i] *= 1;\n",
        ),
    ),
    "wavelet2d.warp_recomputed.first_row_lost": (
        "a segment begins a row of samples too late",
        (
            "            if (step >= 2 * (HALF - 1)) written.store(l, h, first_k + step - (HALF - 1));\n",
            "            if (step > 2 * (HALF - 1)) written.store(l, h, first_k + step - (HALF - 1));\n",
        ),
    ),
    "wavelet2d.warp_strips.wrong_band": (
        "the details that are high both ways come from the band of the approximation",
        (
            "        coefficients.prefetch(finest, first + step, copies[slot][2] + own_pair());\n",
            "        coefficients.prefetch(restored, first + step, copies[slot][2] + own_pair());\n",
        ),
    ),
}
