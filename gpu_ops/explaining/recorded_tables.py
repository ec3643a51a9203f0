"""The tables of the guide and the README, by name, with the recorded rows that each shows."""

from __future__ import annotations

from gpu_ops.explaining.result_tables import Ahead, Contest, Details, Grid, Overview, Recorded, Table, swept

SIDES = {f"{side}²": (side, side) for side in (4096, 8192)}
BYTES, FLOATS = {"dtype": "uint8"}, {"dtype": "float32"}
WAVELETS = tuple(
    Recorded(f"{wavelet}, {size}", f"h100-wavelet{dimensions}-{wavelet}")
    for dimensions, size in (("2d", "4096²"), ("1d", "10⁷ samples"))
    for wavelet in ("haar", "db4")
)
FAMILIES = {
    "mean": "mean",
    "conv3x3": "3×3 convolution",
    "box": "box",
    "histogram": "histogram",
    "reduce": "sum",
    "scan": "prefix sum",
    "fft": "Fourier transform",
    "fft-mask": "frequency mask",
}
USUAL = (
    (
        "512² bytes",
        "samples",
        "2d",
        ("mean2d", "conv3x3", "box", "histogram2d", "reduce2d", "scan2d", "fft2d", "fft-mask"),
    ),
    ("4096² floats", "defaults", "2d", ("mean2d", "histogram2d", "reduce2d", "scan2d", "fft2d", "fft-mask")),
    ("1024 doubles", "samples", "1d", ("mean1d", "histogram1d", "reduce1d", "scan1d", "fft1d")),
    ("10⁷ floats", "defaults", "1d", ("mean1d", "histogram1d", "fft1d")),
)
"""Sizes that people use: of the shipped samples, and of large inputs, with the filters that were recorded at them."""
SIZES = (256, 512, 1024, 2048, 4096, 8192, 16384)


def _sizes(report: str) -> Grid:
    """Times over the side of a square image."""
    jobs = tuple(Recorded(f"{side:,}²", report, {"shape": (side, side)}) for side in SIZES)
    return Grid(jobs, turned=True, corner="pixels")


def _lengths(report: str) -> Grid:
    """Times over the length of a signal."""
    lengths = (10**4, 3 * 10**4, 10**5, 3 * 10**5, 10**6, 3 * 10**6, 10**7)
    return Grid(swept(report, "length", lengths), turned=True, corner="samples")


def _pairs(jobs: tuple[Recorded, ...]) -> Grid:
    """The fast transform next to cuFFT."""
    return Grid(jobs, ("fast", "cupy"), turned=True, corner="transform")


TABLES: dict[str, Table] = {
    "overview": Overview(
        (
            Recorded("3×3 mean, 4096² floats", "h200-mean2d-sizes", {"shape": (4096, 4096)}),
            Recorded("3×3 convolution, 4096² floats", "h200-conv3x3-4096"),
            Recorded("box of radius 4, 4096² floats", "h200-box-4096"),
            Recorded("histogram, 8192² random bytes", "h200-histogram-uniform"),
            Recorded("sum of 10⁷ floats", "h200-reduce-sizes", {"length": 10**7}),
            Recorded("prefix sum of 10⁷ floats", "h200-scan-sizes", {"length": 10**7}),
            Recorded("Fourier transform of 4096², complex", "h200-s2", {"shape": (4096, 8192)}),
            Recorded("denoising with Haar wavelets, 4096² floats, H100", "h100-wavelet2d-haar"),
        )
    ),
    "other-sizes": Contest(
        (
            Recorded("mean of 5 taps, 10⁷ floats, H100", "h100-defaults-mean1d"),
            Recorded("3×3 mean, 1080 × 1920 floats", "h200-mean2d", {**FLOATS, "shape": (1080, 1920)}),
            Recorded("histogram, 10⁷ floats, H100", "h100-defaults-histogram1d"),
            *(
                Recorded(f"{words}, 10⁸ {dtype}, H100", "h100-reduce-1e8", {"statistic": name, "dtype": dtype})
                for words, name, dtype in (
                    ("sum", "sum", "float32"),
                    ("maximum", "max", "float32"),
                    ("sum", "sum", "uint8"),
                )
            ),
            *(
                Recorded(f"prefix sum, 10⁸ {dtype}, H100", "h100-scan-1e8", {"dtype": dtype})
                for dtype in ("float32", "float64")
            ),
            Recorded("Fourier transform, 10⁷ floats, H100", "h100-defaults-fft1d"),
            *(
                Recorded(f"Fourier transforms of {n} real points", "h200-fft-mixed", {"points": n})
                for n in (1000, 1920)
            ),
        )
    ),
    "usual-sizes": Contest(
        tuple(
            Recorded(f"{FAMILIES[name.removesuffix(rank)]}, {size}", f"h100-{kind}-{name}")
            for size, kind, rank, names in USUAL
            for name in names
        )
    ),
    "library-ahead": Ahead(),
    "mean-s4": Details(Recorded("10⁷ doubles", "h200-mean1d-s4", {"block": 128})),
    "mean-images": Grid(
        tuple(
            Recorded(title, "h200-mean2d", {**FLOATS, "shape": shape})
            for title, shape in {"1080 × 1920": (1080, 1920), **SIDES}.items()
        )
    ),
    "mean-signals-fast": Grid(
        (
            *(Recorded(f"float32, {n} taps", "h200-mean1d-1e8", {**FLOATS, "window": n}) for n in (5, 63, 1023)),
            Recorded("float64, 5 taps", "h200-mean1d-1e8", {"dtype": "float64"}),
        )
    ),
    "mean-images-fast": Grid(
        (Recorded("float32", "h200-mean2d-8192", FLOATS), Recorded("RGB uint8", "h200-mean2d-8192", BYTES))
    ),
    "mean-sizes": _sizes("h200-mean2d-sizes"),
    "mean-blocks": Grid(
        swept("h200-mean1d-blocks", "block", (64, 128, 256, 512, 1024), {"outputs": 1}),
        turned=True,
        corner="threads per block",
    ),
    "conv3x3": Grid(
        (Recorded("float32", "h200-conv3x3-8192", FLOATS), Recorded("RGB uint8", "h200-conv3x3-8192", BYTES))
    ),
    "conv3x3-sizes": _sizes("h200-conv3x3-sizes"),
    "conv3x3-blocks": Grid(
        swept("h200-conv3x3-blocks", "block_y", (1, 2, 4, 8, 16, 32)),
        turned=True,
        corner="rows of 32 threads per block",
    ),
    "conv3x3-widths": Grid(
        tuple(
            Recorded(f"{width:,}", "h200-conv3x3-pitch", {"shape": (4096, width)})
            for width in (4064, 4095, 4096, 4097, 4099, 4100, 4112, 4128, 4160, 4224)
        ),
        turned=True,
        corner="width",
    ),
    "box": Grid(
        (
            *(Recorded(f"radius {r}, float32", "h200-box-8192", {**FLOATS, "radius": r}) for r in (4, 16, 64)),
            *(Recorded(f"radius {r}, RGBA uint8", "h200-box-8192", {**BYTES, "radius": r}) for r in (4, 16, 64)),
        )
    ),
    "box-sizes": _sizes("h200-box-sizes"),
    "box-radii": Grid(
        swept("h200-box-radius", "radius", (1, 2, 4, 8, 16, 32, 64, 128, 256)), turned=True, corner="radius"
    ),
    "histogram": Grid(
        (
            Recorded("uniform, uint8", "h200-histogram-uniform"),
            Recorded("photograph, uint8", "h200-histogram-camera"),
            Recorded("constant, uint8", "h200-histogram-constant"),
            Recorded("uniform, float32", "h200-histogram-float32"),
        )
    ),
    "histogram-h100": Grid(
        (
            Recorded("uniform, uint8", "h100-histogram-uniform"),
            Recorded("photograph, uint8", "h100-histogram-camera"),
            Recorded("constant, uint8", "h100-histogram-constant"),
            Recorded("uniform, float32", "h100-histogram-float32"),
        )
    ),
    "histogram-distinct": Grid(
        swept("h200-histogram-entropy", "distinct", (1, 2, 4, 16, 64, 256)), turned=True, corner="distinct values"
    ),
    "histogram-bins": Grid(swept("h200-histogram-bins", "bins", (16, 64, 256, 1024, 4096)), turned=True, corner="bins"),
    "reduce": Grid(
        tuple(
            Recorded(title, f"{machine}-reduce-1e8", {**FLOATS, "statistic": "sum"})
            for title, machine in (("H200", "h200"), ("H100", "h100"))
        )
    ),
    "reduce-statistics": Grid(
        tuple(
            Recorded(f"{words}, {name}", f"{machine}-reduce-1e8", {"statistic": statistic, "dtype": dtype})
            for name, machine in (("H200", "h200"), ("H100", "h100"))
            for words, statistic, dtype in (
                ("maximum", "max", "float32"),
                ("mean", "mean", "float32"),
                ("all statistics", "all", "float32"),
                ("sum of bytes", "sum", "uint8"),
            )
        ),
        ("one_pass", "cupy"),
        turned=True,
        corner="statistic",
    ),
    "reduce-lengths": _lengths("h200-reduce-sizes"),
    "scan": Grid(
        tuple(
            Recorded(f"{dtype}, {name}", f"{machine}-scan-1e8", {"dtype": dtype})
            for name, machine in (("H200", "h200"), ("H100", "h100"))
            for dtype in ("float32", "float64")
        )
    ),
    "scan-lengths": _lengths("h200-scan-sizes"),
    "fft": Grid(
        (
            Recorded("spectrum of 4096²", "h200-fft2d-4096"),
            Recorded("spectrum of 16,777,216 samples", "h200-fft1d-16777216"),
            Recorded("spectrogram, 8192 rows of 4096", "h200-fft1d-rows-4096"),
            Recorded("mask, 4096²", "h200-fft-mask-4096"),
            Recorded("levels, 4096² bytes", "h200-fft-level"),
        )
    ),
    "fft-peers": Grid(
        tuple(
            Recorded(title, f"h100-{report}")
            for title, report in {
                "spectrum, 4096² floats": "defaults-fft2d",
                "spectrum, 512² bytes": "samples-fft2d",
                "spectrum, 10⁷ floats": "defaults-fft1d",
                "spectrum, 1024 doubles": "samples-fft1d",
                "mask, 4096² floats": "defaults-fft-mask",
                "mask, 512² bytes": "samples-fft-mask",
            }.items()
        ),
        ("fast", "four_step", "cupy", "scipy"),
        turned=True,
        corner="transform",
    ),
    "fft-lines": _pairs(
        (
            *(Recorded(f"{n:,} points", "h200-fft-lines", {"points": n}) for n in (128, 512, 1024, 4096)),
            *(Recorded(f"{n:,} points", "h200-fft-long", {"points": n}) for n in (8192, 65_536, 1_048_576, 16_777_216)),
            *(Recorded(f"real, {n:,} points", "h200-fft-mixed", {"points": n}) for n in (1000, 1920)),
        )
    ),
    "fft-images": _pairs(
        (
            *(Recorded(f"{n}²", "h200-fft-images", {"shape": (n, 2 * n)}) for n in (1024, 2048, 4096, 8192)),
            *(
                Recorded(f"{count} tiles of {n}²", "h200-fft-tiles", {"tile": n})
                for n, count in ((128, 1024), (256, 256), (512, 64))
            ),
            *(Recorded(f"real, {n}²", "h200-fft-real-images", {"shape": (n, n)}) for n in (1024, 2048, 4096)),
        )
    ),
    "wavelet": Grid(WAVELETS),
    "wavelet-levels": Grid(swept("h100-wavelet-levels", "levels", (1, 2, 4, 6)), turned=True, corner="levels of db4"),
    "wavelet-others": Grid(
        swept("h100-wavelet2d-others", "wavelet", ("sym8", "bior4.4", "coif2")), turned=True, corner="wavelet"
    ),
    "wavelet-details": Grid(
        tuple(Recorded(wavelet, "h100-wavelet2d-details", {"wavelet": wavelet}) for wavelet in ("db4", "sym8")),
        turned=True,
        corner="wavelet",
    ),
    "wavelet-h200": Grid(
        (
            Recorded("haar", "h200-wavelet2d-haar"),
            Recorded("db4", "h200-wavelet2d-db4"),
            *swept("h200-wavelet2d-others", "wavelet", ("sym8", "bior4.4", "coif2")),
        )
    ),
    "layout": Grid(
        (Recorded("16,777,216 floats", "h200-layout", {"block": 192, "stride": 2, "padding": 0, "side": 32}),)
    ),
    "layout-strides": Grid(
        swept("h200-layout", "stride", (1, 2, 4, 8, 16, 32), {"block": 192, "padding": 0, "side": 32}),
        ("stride", "shared_stride"),
        turned=True,
        corner="stride",
    ),
    "layout-tiles": Grid(
        tuple(
            Recorded(
                f"{side} × {side} + {padding}",
                "h200-layout",
                {"side": side, "padding": padding, "block": 192, "stride": 2},
            )
            for side in (16, 32)
            for padding in (0, 1, 2)
        ),
        ("tiles",),
        turned=True,
        corner="tile + extra columns",
    ),
    "layout-blocks": Grid(
        swept("h200-layout", "block", (16, 32, 64, 96, 100, 128, 192, 256, 512, 1024), {"variant": "order"}),
        turned=True,
        corner="threads per block",
    ),
}
