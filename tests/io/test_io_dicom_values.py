"""Values of DICOM files: bits that are stored, signs, and low values that are white."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_io_frames import make_dicom

from gpu_ops import InputError, load
from gpu_ops.io.files import survey
from gpu_ops.types import Pixel

pytest.importorskip("pydicom")
WHITE, STRETCH = {"step": "white is zero"}, {"step": "stretch", "bits": 1}


def written(tmp_path: Any, array: np.ndarray, meaning: str, stored: int, **tags: Any) -> Any:
    return load(make_dicom(tmp_path / "x.dcm", array, meaning, BitsStored=stored, HighBit=stored - 1, **tags))


@pytest.mark.parametrize("stored", [10, 12, 16])
def test_white_is_zero_within_the_bits_that_are_stored(tmp_path, stored):
    """Of 12 bits, 4095 is black and 0 is white, not 65535."""
    array = np.array([[0, 1, 77], [(1 << stored) - 1, (1 << stored) - 2, 500]], np.uint16)
    found = written(tmp_path, array, "MONOCHROME1", stored)
    np.testing.assert_array_equal(found.array, (1 << stored) - 1 - array)
    assert found.array.dtype == np.uint16 and found.origin["steps"] == [WHITE]


def test_signed_values_are_turned_round_within_their_range(tmp_path):
    array = np.array([[-32768, -1, 0], [1, 300, 32767]], np.int16)
    found = written(tmp_path, array, "MONOCHROME1", 16)
    np.testing.assert_array_equal(found.array, [[32767, 0, -1], [-2, -301, -32768]])
    assert found.array.dtype == np.int16 and found.origin["steps"] == [WHITE]


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.uint32])
def test_signed_and_wide_values_stay_what_they_are(tmp_path, dtype):
    info = np.iinfo(dtype)
    array = np.array([[info.min, info.max, 0], [1, 2, 100]], dtype)
    found = written(tmp_path, array, "MONOCHROME2", info.bits)
    assert found.array.dtype == dtype and found.origin["steps"] == []
    np.testing.assert_array_equal(found.array, array)


def test_twelve_signed_bits_have_their_sign(tmp_path):
    array = np.array([[-2048, -1, 0], [1, 2, 2047]], np.int16)
    found = written(tmp_path, array & 0xFFF, "MONOCHROME2", 12)
    np.testing.assert_array_equal(found.array, array)


@pytest.mark.parametrize("meaning, ends", [("MONOCHROME2", (0, 255)), ("MONOCHROME1", (255, 0))])
def test_single_bits_are_black_and_white(tmp_path, meaning, ends):
    bits = np.random.default_rng(2).integers(0, 2, (8, 24), np.uint8)
    packed = np.packbits(bits.reshape(-1), bitorder="little")
    tags = {"Rows": 8, "Columns": 24, "BitsAllocated": 1, "PixelData": packed.tobytes(), "PixelRepresentation": 0}
    found = written(tmp_path, bits, meaning, 1, **tags)
    np.testing.assert_array_equal(found.array, np.where(bits, ends[1], ends[0]))
    assert found.array.dtype == np.uint8 and len(found.origin["steps"]) == 1 + (meaning == "MONOCHROME1")


def test_what_is_scaled_is_not_turned_round_and_says_so(tmp_path):
    """Scaled values have a unit, as Hounsfield's: low ones stay low."""
    array = np.array([[0, 1], [2, 4095]], np.uint16)
    found = written(tmp_path, array, "MONOCHROME1", 12, RescaleSlope=2, RescaleIntercept=-1024)
    np.testing.assert_array_equal(found.array, 2.0 * array - 1024)
    assert found.origin["steps"] == [{"step": "rescale", "slope": 2.0, "intercept": -1024.0}]


def test_an_intercept_alone_scales(tmp_path):
    array = np.array([[0, 1], [2, 3]], np.uint16)
    found = written(tmp_path, array, "MONOCHROME2", 16, RescaleIntercept=-7)
    np.testing.assert_array_equal(found.array, array - 7.0)


def test_the_size_of_a_pixel_is_that_of_the_patient_before_that_of_the_detector(tmp_path):
    array = np.zeros((4, 5), np.uint16)
    found = written(tmp_path, array, "MONOCHROME2", 16, PixelSpacing=[0.5, 0.25], ImagerPixelSpacing=[2, 3])
    assert found.facts.pixel == Pixel(0.5, 0.25, "mm")
    found = written(tmp_path, array, "MONOCHROME2", 16, ImagerPixelSpacing=[2, 3])
    assert found.facts.pixel == Pixel(2.0, 3.0, "mm")


def test_a_survey_names_the_bits_that_are_stored(tmp_path):
    path = make_dicom(tmp_path / "x.dcm", np.zeros((4, 5), np.uint16), "MONOCHROME1", BitsStored=12, HighBit=11)
    facts = dict(survey(path).facts)
    assert facts["size"] == "5 × 4, uint16" and facts["stored as"].startswith("MONOCHROME1, 12 bits, Explicit VR")


def test_a_picture_that_is_cut_short_by_one_byte_is_refused(tmp_path):
    array = np.random.default_rng(1).integers(0, 999, (64, 64), np.uint16)
    path = make_dicom(tmp_path / "x.dcm", array)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) - 400])
    with pytest.raises(InputError, match="damaged DICOM file|is cut short"):
        load(path)
