"""Faults of transforms: filter.variant.fault, what is wrong, and edits of the shipped text."""

TRANSFORMS = {
    "fft_mask.fused.mirrored": (
        "the mask is read from its last row to its first",
        ("mask[(long long)row * width", "mask[(long long)((height - row) % height) * width"),
    ),
    "wavelet1d.constant.eight_taps": (
        "the transform takes eight taps of a longer filter",
        (
            "t < taps; ++t) {\n        const T value = x[inside(",
            "t < min(taps, 8); ++t) {\n        const T value = x[inside(",
        ),
    ),
    "wavelet1d.levels.third_level_lost": (
        "the details of a third level in one launch are those of the second",
        ("if (owns(begin, many, together - l, k)) pyramid", "if (l < 3 && owns(begin, many, together - l, k)) pyramid"),
    ),
}
