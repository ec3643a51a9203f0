"""DICOM: each frame with its own rescale; folders of slices in the order of the patient, with values of one type."""

import sys

import numpy as np
import pytest

from gpu_ops.errors import InputError
from gpu_ops.io import from_origin, load, survey
from gpu_ops.types import FrameAxes, Pixel

pydicom = pytest.importorskip("pydicom")
AXIAL, SAGITTAL = [1, 0, 0, 0, 1, 0], [0, 1, 0, 0, 0, -1]


def head_of(array, frames=1, **tags):
    head = pydicom.Dataset()
    head.file_meta = pydicom.dataset.FileMetaDataset()
    head.file_meta.TransferSyntaxUID = pydicom.uid.ExplicitVRLittleEndian
    head.file_meta.MediaStorageSOPClassUID = head.SOPClassUID = pydicom.uid.CTImageStorage
    head.file_meta.MediaStorageSOPInstanceUID = head.SOPInstanceUID = pydicom.uid.generate_uid()
    head.Rows, head.Columns = array.shape[-2:]
    head.SamplesPerPixel, head.PhotometricInterpretation, head.NumberOfFrames = 1, "MONOCHROME2", frames
    head.BitsAllocated = head.BitsStored = array.dtype.itemsize * 8
    head.HighBit, head.PixelRepresentation = head.BitsStored - 1, int(array.dtype.kind == "i")
    for name, value in tags.items():
        setattr(head, name, value)
    head.add_new("PixelData", "OW", array.tobytes())
    return head


def group(**sequences):
    """Functional groups of a frame: each sequence with one item of these tags."""
    item = pydicom.Dataset()
    for name, tags in sequences.items():
        inner = pydicom.Dataset()
        for tag, value in tags.items():
            setattr(inner, tag, value)
        setattr(item, name, pydicom.Sequence([inner]))
    return item


def scale(slope, intercept):
    return {"PixelValueTransformationSequence": {"RescaleSlope": slope, "RescaleIntercept": intercept}}


def frames_of(path):
    return np.stack([load(path, frame=k).array for k in range(load(path).facts.frames)])


def write_slices(folder, slices, kind=np.uint16):
    """Files a.dcm, b.dcm …, each with its number in every pixel."""
    for k, tags in enumerate(slices):
        head = head_of(np.full((5, 6), 100 + k, kind), **tags)
        head.save_as(folder / f"{'abcdefgh'[k]}.dcm", enforce_file_format=True)


def order(folder):
    """The letters of the files in the order of the frames, for unscaled ones."""
    return "".join("abcdefgh"[int(frame[0, 0]) - 100] for frame in frames_of(folder))


def ordered_by(folder):
    return [step["by"] for step in load(folder).origin["steps"] if step["step"] == "order"]


# Frames of one file


def test_each_frame_has_its_own_rescale(tmp_path):
    array = np.random.default_rng(1).integers(0, 1000, (3, 5, 6), np.uint16)
    scales = ((3, -1), (7, -3), (1, 0))
    head = head_of(array, 3, PerFrameFunctionalGroupsSequence=pydicom.Sequence([group(**scale(*s)) for s in scales]))
    head.save_as(tmp_path / "x.dcm", enforce_file_format=True)
    expected = np.stack([values * s + i for values, (s, i) in zip(array.astype(np.float32), scales, strict=True)])
    found = load(tmp_path / "x.dcm", frame=2)
    assert found.array.dtype == np.float32 and found.origin["steps"] == [{"step": "rescale", "by": "frame"}]
    assert np.array_equal(frames_of(tmp_path / "x.dcm"), expected)
    assert np.array_equal(load(tmp_path / "x.dcm", project="max").array, expected.max(axis=0))
    assert np.array_equal(from_origin(found.origin).array, expected[2])


def test_frames_without_their_own_take_the_shared_one(tmp_path):
    array = np.arange(60, dtype=np.uint16).reshape(2, 5, 6)
    own = [group(**scale(2, 5)), pydicom.Dataset()]
    shared = pydicom.Sequence([group(**scale(4, 0))])
    head = head_of(
        array, 2, PerFrameFunctionalGroupsSequence=pydicom.Sequence(own), SharedFunctionalGroupsSequence=shared
    )
    head.save_as(tmp_path / "x.dcm", enforce_file_format=True)
    assert np.array_equal(frames_of(tmp_path / "x.dcm"), [array[0] * 2 + 5.0, array[1] * 4.0])


def test_one_scale_for_all_frames_is_named_and_none_changes_nothing(tmp_path):
    array = np.arange(60, dtype=np.uint16).reshape(2, 5, 6)
    for own, steps, dtype in (
        ((2, 5), [{"step": "rescale", "slope": 2.0, "intercept": 5.0}], np.float32),
        ((1, 0), [], np.uint16),
    ):
        each = pydicom.Sequence([group(**scale(*own)) for _ in range(2)])
        head = head_of(array, 2, PerFrameFunctionalGroupsSequence=each)
        head.save_as(tmp_path / "x.dcm", enforce_file_format=True)
        found = load(tmp_path / "x.dcm", frame=1)
        assert found.origin["steps"] == steps and found.array.dtype == dtype


def test_a_frame_whose_slope_is_zero_is_damaged(tmp_path):
    each = pydicom.Sequence([group(**scale(2, 0)), group(**scale(0, 3))])
    head = head_of(np.zeros((2, 5, 6), np.uint16), 2, PerFrameFunctionalGroupsSequence=each)
    head.save_as(tmp_path / "x.dcm", enforce_file_format=True)
    with pytest.raises(InputError, match="is a damaged DICOM file"):
        load(tmp_path / "x.dcm")


@pytest.mark.parametrize(("second", "expected"), [((0.5, 0.25), Pixel(0.5, 0.25, "mm")), ((0.5, 0.5), None)])
def test_the_pixel_size_of_frames_is_that_of_all_of_them(tmp_path, second, expected):
    each = [group(PixelMeasuresSequence={"PixelSpacing": list(size)}) for size in ((0.5, 0.25), second)]
    head = head_of(np.zeros((2, 5, 6), np.uint16), 2, PerFrameFunctionalGroupsSequence=pydicom.Sequence(each))
    head.save_as(tmp_path / "x.dcm", enforce_file_format=True)
    assert load(tmp_path / "x.dcm").facts.pixel == expected


def test_billions_of_frames_that_are_not_there_cost_nothing(tmp_path):
    each = pydicom.Sequence([group(**scale(2, 0))])
    head = head_of(np.zeros((2, 5, 6), np.uint16), 2**31 - 1, PerFrameFunctionalGroupsSequence=each)
    head.save_as(tmp_path / "x.dcm", enforce_file_format=True)
    with pytest.raises(InputError, match="is cut short: it has"):
        load(tmp_path / "x.dcm")


def test_the_time_of_a_frame_is_that_of_the_file(tmp_path):
    head_of(np.zeros((3, 5, 6), np.uint16), 3, FrameTime=40).save_as(tmp_path / "x.dcm", enforce_file_format=True)
    assert load(tmp_path / "x.dcm").facts.frame_axes == FrameAxes("T", (3,), 0.04)


# Folders of slices


def at(*positions, orientation=None, axis=2):
    """Tags of slices at these places along an axis."""
    found = []
    for place in positions:
        position = [0.0, 0.0, 0.0]
        position[axis] = place
        found.append({"ImagePositionPatient": position})
        if orientation:
            found[-1]["ImageOrientationPatient"] = orientation
    return found


@pytest.mark.parametrize(
    "slices",
    [
        at(3, 9, -2, 6),
        at(3, 9, -2, 6, orientation=AXIAL),
        at(-3, -9, 2, -6, orientation=SAGITTAL, axis=0),
        at(3, 9, -2, 6, axis=1),
        [{"InstanceNumber": n} for n in (2, 10, 1, 3)],
        [{"InstanceNumber": n, "ImagePositionPatient": [0, 0, 5]} for n in (2, 10, 1, 3)],
        [{**tags, "InstanceNumber": n} for n, tags in enumerate(at(3, 9, -2, 6, orientation=AXIAL))],
    ],
    ids=["z", "axial", "sagittal", "y", "number", "one place", "position first"],
)
def test_slices_come_in_the_order_of_the_patient(tmp_path, slices):
    write_slices(tmp_path, slices)
    assert order(tmp_path) == "cadb"
    way = "position" if len({str(s.get("ImagePositionPatient")) for s in slices}) == 4 else "instance number"
    assert ordered_by(tmp_path) == [way] and ("order", f"by {way}") in survey(tmp_path).facts
    found = load(tmp_path, frame=3)
    assert from_origin(found.origin).array[0, 0] == 101


@pytest.mark.parametrize(
    "slices",
    [
        [{}, {}, {}],
        [{"InstanceNumber": 2}, {"InstanceNumber": 2}, {"InstanceNumber": 1}],
        [{"InstanceNumber": 2}, {}, {}],
    ],
)
def test_without_an_order_names_decide(tmp_path, slices):
    write_slices(tmp_path, slices)
    assert order(tmp_path) == "abc" and ordered_by(tmp_path) == []


@pytest.mark.parametrize(("places", "distance"), [((3, 9, 6), 3.0), ((3, 9, 5), 0.0)])
def test_slices_at_even_places_have_a_distance(tmp_path, places, distance):
    write_slices(tmp_path, at(*places))
    expected = FrameAxes("Z", (3,), distance=distance) if distance else FrameAxes()
    assert load(tmp_path).facts.frame_axes == expected


def test_slices_of_two_series_stay_together(tmp_path):
    tags = [{"SeriesNumber": n, "SeriesInstanceUID": f"1.2.{n}"} for n in (7, 3, 7, 3)]
    write_slices(tmp_path, [one | place for one, place in zip(tags, at(5, 4, 3, 9), strict=True)])
    assert order(tmp_path) == "bdca"


@pytest.mark.parametrize("first", [True, False])
def test_slices_with_and_without_rescale_are_of_one_type(tmp_path, first):
    scaled = {"RescaleSlope": 2.5, "RescaleIntercept": -7}
    write_slices(tmp_path, [place | (scaled if (k == 0) == first else {}) for k, place in enumerate(at(1, 2, 3))])
    expected = [(100 + k) * 2.5 - 7 if (k == 0) == first else 100 + k for k in range(3)]
    frames = frames_of(tmp_path)
    assert frames.dtype == np.float32 and [frame[0, 0] for frame in frames] == expected
    assert {"step": "rescale", "by": "slice"} in load(tmp_path).origin["steps"]


def test_scaled_neighbours_leave_low_values_of_a_slice_low(tmp_path):
    """Where low values are white, unscaled slices alone are turned round."""
    white = {"PhotometricInterpretation": "MONOCHROME1"}
    write_slices(tmp_path, [one | white for one in at(1, 2)])
    assert load(tmp_path).array[0, 0] == 65535 - 100
    write_slices(tmp_path, [at(1)[0] | white, at(2)[0] | white | {"RescaleSlope": 2, "RescaleIntercept": 0}])
    assert [frame[0, 0] for frame in frames_of(tmp_path)] == [100, 202]


def test_signed_and_unsigned_slices_are_still_refused(tmp_path):
    write_slices(tmp_path, at(1, 2))
    head_of(np.full((5, 6), -3, np.int16), **at(3)[0]).save_as(tmp_path / "c.dcm", enforce_file_format=True)
    with pytest.raises(InputError, match="a folder opens as a stack if its images have one size and type"):
        load(tmp_path, frame=2)


def test_without_the_library_a_folder_says_so(tmp_path, monkeypatch):
    write_slices(tmp_path, at(1, 2))
    monkeypatch.setattr("gpu_ops.io.decoder_process.here", True)
    monkeypatch.setitem(sys.modules, "pydicom", None)
    with pytest.raises(InputError, match="a.dcm is DICOM, which needs the library pydicom"):
        load(tmp_path)


def test_without_all_headers_there_is_no_distance(tmp_path):
    write_slices(tmp_path, at(3, 2, 1))
    (tmp_path / "b.dcm").write_bytes(b"no header")
    found = load(tmp_path)
    assert found.array[0, 0] == 100 and found.facts.frame_axes == FrameAxes()


def test_a_damaged_slice_is_named(tmp_path):
    write_slices(tmp_path, at(3, 2, 1))
    (tmp_path / "b.dcm").write_bytes(bytes(128) + b"DICM" + bytes(40))
    assert load(tmp_path).array[0, 0] == 100
    with pytest.raises(InputError, match="b.dcm"):
        load(tmp_path, frame=1)
