"""Samples, arrays, conversion, and inputs made again from their origin."""

import json
import tracemalloc

import numpy as np
import pytest
import pywt.data

from gpu_ops.errors import InputError, ParamError
from gpu_ops.io import SAMPLES, convert, crop, from_array, from_origin, sample
from gpu_ops.types import DTYPES

IDS = [entry.id for entry in SAMPLES]


class TestEverySample:
    @pytest.mark.parametrize("id", IDS)
    def test_defaults(self, id):
        entry = SAMPLES[IDS.index(id)]
        found = sample(id)
        assert (found.kind, found.name, found.finite) == (entry.kind, id, True)
        assert (found.clean is not None) == (id in ("waves", "tones"))
        assert len(found.axes) == found.array.ndim and found.array.flags.c_contiguous
        assert np.isfinite(found.array).all()
        assert found.origin == {"generator": id, **{p.name: p.default for p in entry.params}, "steps": []}

    @pytest.mark.parametrize("id", IDS)
    def test_every_type_and_the_way_back(self, id):
        (param,) = (p for p in SAMPLES[IDS.index(id)].params if p.name == "dtype")
        for dtype in param.choices:
            found = sample(id, dtype=dtype)
            again = from_origin(json.loads(json.dumps(found.origin)))
            assert found.array.dtype == again.array.dtype == dtype
            assert again.origin == found.origin
            np.testing.assert_array_equal(again.array, found.array)

    def test_ids_are_unique(self):
        assert len(set(IDS)) == len(IDS)

    def test_unknown(self):
        with pytest.raises(ParamError, match="no sample 'nose'; choose from camera, ascent"):
            sample("nose")
        with pytest.raises(ParamError, match="sample ecg has no parameter 'size'; it has dtype"):
            sample("ecg", size="3x3")
        with pytest.raises(ParamError, match="dtype must be one of float32, float64, not 'uint8'"):
            sample("blocks", dtype="uint8")

    def test_text_options_as_a_command_line_gives_them(self):
        assert sample("noise", length="1e3", seed="7", dtype="uint16").array.shape == (1000,)

    def test_too_large_for_memory(self):
        with pytest.raises(InputError, match="Sample noise does not fit in memory; make it smaller"):
            sample("noise", size="1048576x1048576", channels=4, dtype="float64")


class TestStored:
    @pytest.mark.parametrize("id", ["camera", "ascent", "aero"])
    def test_pictures_keep_their_values(self, id):
        expected = getattr(pywt.data, id)()
        for dtype in DTYPES:
            np.testing.assert_array_equal(sample(id, dtype=dtype).array, expected)

    def test_ecg(self):
        found = sample("ecg")
        assert (found.rate, found.array.dtype) == (360.0, np.float64)
        np.testing.assert_array_equal(found.array, pywt.data.ecg())


class TestClassic:
    @pytest.mark.parametrize("name", ["Blocks", "Bumps", "HeaviSine", "Doppler"])
    @pytest.mark.parametrize("length", [1, 64, 4096])
    def test_equals_pywavelets(self, name, length):
        found = sample(name.lower(), length=length).array
        np.testing.assert_allclose(found, pywt.data.demo_signal(name, length), rtol=1e-12, atol=1e-12)

    @pytest.mark.parametrize("name", ["blocks", "bumps", "heavisine", "doppler"])
    def test_any_length(self, name):
        for length in (2, 49, 103, 196, 1009):  # at some of these PyWavelets gives one sample too many, or NaN
            found = sample(name, length=length).array
            assert found.shape == (length,) and np.isfinite(found).all()

    def test_blocks_of_the_computation_leave_no_trace(self, monkeypatch):
        expected = sample("doppler", length=1000).array
        monkeypatch.setattr("gpu_ops.io.steps.samples.BLOCK", 7)
        np.testing.assert_array_equal(sample("doppler", length=1000).array, expected)


class TestGenerators:
    @pytest.mark.parametrize(
        ("options", "low", "high"),
        [({"dtype": "float32"}, -1, 1), ({"dtype": "float64"}, -1, 1), ({"dtype": "uint8"}, 0, 255),
         ({"dtype": "uint16"}, 0, 65535), ({"dtype": "float32", "size": "400x300"}, 0, 1),
         ({"dtype": "uint8", "size": "400x300", "channels": 4}, 0, 255)],
    )  # fmt: skip
    def test_noise_fills_its_range(self, options, low, high):
        array = sample("noise", length=200_000, **options).array
        assert low <= array.min() < low + (high - low) / 100 + 1e-9
        assert high - (high - low) / 100 < array.max() <= high
        assert array.max() < high or array.dtype.kind == "u"
        assert abs(array.mean() - (low + high) / 2) < (high - low) / 100

    def test_noise_shapes(self):
        assert sample("noise", length=5, channels=3).axes == "tc"
        found = sample("noise", size="7x5", channels=3)
        assert (found.kind, found.axes, found.array.shape) == ("image", "yxc", (5, 7, 3))
        assert sample("noise", size=" 7X5 ").array.shape == (5, 7)

    def test_noise_is_set_by_its_seed(self):
        expected = np.random.Generator(np.random.PCG64(5)).random(100, np.float32) * 2 - 1
        np.testing.assert_array_equal(sample("noise", length=100, seed=5).array, expected)

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_noise_needs_little_more_memory_than_itself(self, dtype):
        tracemalloc.start()
        nbytes = sample("noise", length=2**20, dtype=dtype).array.nbytes
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 1.1 * nbytes + 200_000

    @pytest.mark.parametrize("size", ["5", "5x", "0x3", "3x-1", "axb", "1048577x2", "5x5x3", "2.5x3"])
    def test_bad_sizes(self, size):
        with pytest.raises(ParamError, match="size must be WxH such as 768x512"):
            sample("noise", size=size)

    def test_chirp(self):
        found = sample("chirp", length=8192, rate=1000, dtype="float64")
        assert found.rate == 1000.0 and np.abs(found.array).max() <= 1
        for eighth in range(8):
            part = found.array[eighth * 1024 : (eighth + 1) * 1024]
            peak = np.abs(np.fft.rfft(part * np.hanning(1024)))
            centre = (peak * np.arange(513)).sum() / peak.sum() / 1024 * 1000
            assert abs(centre - (eighth + 0.5) * 500 / 8) < 8

    def test_chirp_as_integers_fills_the_range(self):
        array = sample("chirp", dtype="uint8").array
        assert (array.min(), array.max(), array[0]) == (0, 255, 128)

    @pytest.mark.parametrize(("length", "levels"), [(1, 16), (2, 2), (5, 16), (1000, 16), (1000, 1)])
    def test_steps(self, length, levels):
        array = sample("steps", length=length, plateaus=levels, dtype="float64").array
        assert array.shape == (length,) and np.abs(array).max() <= 1
        assert np.count_nonzero(np.diff(array)) == min(levels, length) - 1

    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    def test_tones_are_two_lines_and_the_noise_over_them_is_known(self, dtype):
        found = sample("tones", length=5000, dtype=dtype)
        lines = np.abs(np.fft.rfft(found.clean)) / 2500
        assert found.rate == 1000 and np.flatnonzero(lines > 0.01).tolist() == [250, 600]  # 50 and 120 Hz
        assert lines[[250, 600]] == pytest.approx([0.7, 1.0], rel=1e-3)
        noise = found.array - found.clean
        assert abs(noise.std() - 1) < 0.03 and abs(noise.mean()) < 0.05
        assert not np.array_equal(found.array, sample("tones", length=5000, dtype=dtype, seed=1).array)
        np.testing.assert_array_equal(found.clean, sample("tones", length=5000, dtype=dtype, seed=1).clean)

    def test_waves_are_four_points_of_the_spectrum(self):
        found = sample("waves", dtype="float64")
        assert found.array.min() >= 0 and found.array.max() <= 255
        spectrum = np.abs(np.fft.fft2(found.array - found.clean)) / found.array.size
        assert np.argwhere(spectrum > 1).tolist() == [[32, 48], [64, 496], [448, 16], [480, 464]]
        assert spectrum[32, 48] == pytest.approx(10, rel=1e-2)  # half the amplitude; the other half is opposite

    def test_images_of_noise_and_of_one_value(self):
        noise, flat = sample("noise_image"), sample("flat_image")
        assert noise.array.shape == flat.array.shape == (512, 512) and noise.array.dtype == flat.array.dtype == np.uint8
        assert np.unique(noise.array).size == 256 and np.unique(flat.array).tolist() == [128]
        with pytest.raises(ParamError, match="size must be WxH"):
            sample("noise_image", size="")

    def test_levels_are_as_many_as_asked_for_and_reach_both_ends(self):
        few = sample("levels_image", distinct=5).array
        assert (
            np.unique(few).tolist() == [0, 64, 128, 191, 255]
            and np.ptp(np.bincount(few.ravel())[np.unique(few)]) < 2000
        )
        assert np.unique(sample("levels_image", distinct=1).array).tolist() == [0]
        assert np.unique(sample("levels_image", distinct=3, dtype="float32").array).tolist() == [0, 0.5, 1]
        with pytest.raises(ParamError, match="256 levels at most, not 257"):
            sample("levels_image", distinct=257)

    def test_constant(self):
        assert sample("constant", length=3, level=-2.5).array.tolist() == [-2.5] * 3
        assert sample("constant", size="2x2", level=7, dtype="uint8").array.tolist() == [[7, 7], [7, 7]]
        with pytest.raises(InputError, match="not whole numbers"):
            sample("constant", level=0.5, dtype="uint8")
        with pytest.raises(InputError, match="from 300 to 300, but uint8 takes 0 to 255"):
            sample("constant", level=300, dtype="uint8")


class TestChart:
    @pytest.mark.parametrize("channels", [1, 3])
    @pytest.mark.parametrize("size", ["1x1", "1x7", "7x1", "2x2", "3x5", "17x33", "64x64", "301x200"])
    def test_any_size(self, size, channels):
        width, height = map(int, size.split("x"))
        array = sample("chart", size=size, channels=channels).array
        assert array.shape == ((height, width) if channels == 1 else (height, width, 3))
        assert array.min() >= 0 and array.max() <= 1 and np.isfinite(array).all()

    def test_parts(self):
        chart = sample("chart", size="256x256").array
        assert (np.diff(chart[0, :128]) > 0).all() and (np.diff(chart[64:128, 0]) > 0).all()
        band = chart[:32, 128:]
        np.testing.assert_array_equal(band, np.indices((32, 128)).sum(axis=0) % 2)
        coarse = np.kron(np.indices((4, 16)).sum(axis=0) % 2, np.ones((8, 8)))
        np.testing.assert_array_equal(chart[96:128, 128:], coarse)
        circle = chart[192, 0:128]
        assert set(np.unique(circle)) == {0.0, 1.0} and chart[255, 0] == 0.5
        assert np.flatnonzero(chart[130, 128:192])[:5].tolist() == [0, 2, 5, 9, 14]
        around = chart[222:225, 222:225].copy()
        assert around[1, 1] == 1
        around[1, 1] = 0
        assert not around.any()

    def test_colour_differs_in_the_gradients_only(self):
        chart = sample("chart", size="64x64", channels=3).array
        assert (chart[1:31, 1:31, 0] != chart[1:31, 1:31, 2]).any()
        np.testing.assert_array_equal(chart[:, 32:, 0], chart[:, 32:, 2])

    def test_integers_take_the_full_range(self):
        assert sample("chart", dtype="uint16").array.max() == 65535


class TestFromArray:
    def test_plain(self):
        array = np.arange(6.0)
        found = from_array(array, rate=10.0)
        assert np.shares_memory(found.array, array)
        assert (found.kind, found.name, found.rate) == ("signal", "array", 10.0)
        assert from_array(array, rate=1e-300).rate == 1e-300
        assert set(found.origin) == {"array", "hash", "steps"} and json.dumps(found.origin)

    def test_hash_follows_the_values(self):
        first, second = from_array(np.arange(3)), from_array(np.arange(3) + 1)
        assert first.origin["hash"] != second.origin["hash"]

    def test_order_and_byte_order_are_put_right(self):
        found = from_array(np.asfortranarray(np.arange(6, dtype=">f4").reshape(2, 3)))
        assert found.array.flags.c_contiguous and found.array.dtype.isnative
        assert found.array.tolist() == [[0, 1, 2], [3, 4, 5]]

    def test_zero_leaves_the_callers_array_alone(self):
        array = np.array([1.0, np.nan])
        assert from_array(array, nonfinite="zero").array.tolist() == [1, 0]
        assert np.isnan(array[1])

    @pytest.mark.parametrize(
        ("array", "pattern"),
        [(np.array([None, 1]), "holds Python objects"), (np.zeros(3, complex), "values of type complex128"),
         (np.array(["a"]), "values of type <U1"), (np.zeros(0), "is empty"), (3.0, "single number"),
         (np.zeros((1, 1, 1, 1)), "4 dimensions"), ([[1, 2], [3]], "not a regular array"),
         ([1.0, np.inf], "1 infinite")],
    )  # fmt: skip
    def test_refused(self, array, pattern):
        with pytest.raises(InputError, match=pattern):
            from_array(array)

    def test_wrong_choices(self):
        with pytest.raises(ParamError, match="kind must be one of"):
            from_array(np.zeros(3), kind="movie")
        with pytest.raises(ParamError, match="nonfinite must be one of"):
            from_array(np.zeros(3), nonfinite="")

    def test_has_no_way_back(self):
        with pytest.raises(InputError, match=r"made from an array, .*; save it to a file first"):
            from_origin(from_array(np.zeros(3)).origin)


class TestConvert:
    @pytest.mark.parametrize("source", ["bool", "uint8", "int16", "uint64", "float16", "float32", "float64"])
    @pytest.mark.parametrize("dtype", DTYPES)
    def test_values_are_kept(self, source, dtype):
        array = np.array([0, 1, 1, 0]).astype(source)
        found = convert(from_array(array, kind="signal"), dtype)
        assert found.array.dtype == dtype
        np.testing.assert_array_equal(found.array, array)

    def test_step_and_clean(self):
        found = convert(sample("tones"), "float32")
        assert found.origin["steps"] == [{"step": "convert", "dtype": "float32"}]
        assert found.clean.dtype == np.float32
        again = from_origin(found.origin)
        np.testing.assert_array_equal(again.array, found.array)
        np.testing.assert_array_equal(again.clean, found.clean)

    def test_same_type_changes_nothing(self):
        found = sample("camera")
        assert convert(found, "uint8") is found

    @pytest.mark.parametrize(
        ("values", "dtype", "pattern"),
        [([0.0, 0.5], "uint8", "not whole numbers, which uint8 cannot keep; round it first"),
         ([0.0, 256.0], "uint8", "from 0 to 256, but uint8 takes 0 to 255; scale it first"),
         ([-1, 3], "uint16", "from -1 to 3, but uint16 takes 0 to 65535"),
         ([1e300, 0.0], "float32", "beyond the range of float32"),
         ([1.0, np.nan], "uint8", "from nan to nan, but uint8")],
    )  # fmt: skip
    def test_refused(self, values, dtype, pattern):
        with pytest.raises(InputError, match=pattern):
            convert(from_array(np.array(values), nonfinite="keep"), dtype)

    def test_nan_and_infinity_stay_in_floats(self):
        found = convert(from_array(np.array([np.nan, -np.inf, 1.0]), nonfinite="keep"), "float32")
        assert not found.finite
        np.testing.assert_array_equal(found.array, np.array([np.nan, -np.inf, 1], np.float32))

    def test_unknown_type(self):
        with pytest.raises(ParamError, match="dtype must be one of uint8, uint16, float32, float64, not 'int8'"):
            convert(sample("camera"), "int8")


def test_unknown_step():
    with pytest.raises(
        InputError,
        match="step blur of .* is unknown; choose from upright, .*, palette, .*, crop, resize, .*, convert, noise",
    ):
        from_origin({"generator": "camera", "steps": [{"step": "blur"}]})


def test_a_part_can_be_cut_out_again():
    noisy = sample("tones", length=64, dtype="float32")
    part = crop(noisy, [10], [20])
    again = from_origin(part.origin)
    assert part.clean is not None and (part.clean == noisy.clean[10:30]).all()
    assert (part.array == noisy.array[10:30]).all()
    assert (again.array == part.array).all() and again.origin == part.origin and (again.clean == part.clean).all()
    picture = crop(convert(sample("camera"), "float32"), (3, 5), (40, 30))
    assert (from_origin(picture.origin).array == picture.array).all()


OUTSIDE = [((), ()), ((0,), (4, 4)), ((0, 0), (0, 4)), ((510, 0), (4, 4)), ((-1, 0), (4, 4))]


@pytest.mark.parametrize("start, shape", OUTSIDE)
def test_a_part_lies_inside(start, shape):
    with pytest.raises(InputError, match="camera has 512 x 512 pixels, and no part of .*; choose a part inside"):
        crop(sample("camera"), start, shape)
