"""TIFF files that are not what they say: thumbnails first, planes and files that are missing, descriptions that promise
other numbers of frames. What is there is read, and a note says the rest."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import tifffile

from gpu_ops.cli import main
from gpu_ops.errors import InputError
from gpu_ops.io import from_origin, load, survey
from gpu_ops.io.images.tiff_series import elsewhere, files_of_set
from gpu_ops.io.rows import open_rows

FRAMES = np.arange(5 * 12 * 16, dtype=np.uint16).reshape(5, 12, 16) * 60
OME = "http://www.openmicroscopy.org/Schemas/OME/2016-06"


def notes(input):
    return [step["words"] for step in input.origin["steps"] if step["step"] == "note"]


def frames_of(path, **how):
    first = load(path, **how)
    return np.stack([load(path, frame=k, **how).array for k in range(first.facts.frames)])


def write_pages(path, frames, description=None, **how):
    """Pages one after the other, with their directories between them."""
    with tifffile.TiffWriter(path) as writer:
        for k, frame in enumerate(frames):
            writer.write(frame, description=None if k else description, metadata=None, contiguous=False, **how)


def ome(planes, files, depth=4, name=""):
    """OME's XML of `depth` planes; `planes` are (depth, file, directory), with the file's name where there are some."""
    data = ""
    for z, file, place in planes:
        inner = f'<UUID FileName="{files[file]}">urn:uuid:0000000{file}</UUID>' if files else ""
        data += f'<TiffData IFD="{place}" FirstZ="{z}" PlaneCount="1">{inner}</TiffData>'
    pixels = f'DimensionOrder="XYZCT" Type="uint16" SizeX="16" SizeY="12" SizeZ="{depth}" SizeC="1" SizeT="1"'
    channel = '<Channel ID="Channel:0:0" SamplesPerPixel="1"/>'
    image = f'<Image ID="Image:0"><Pixels ID="Pixels:0" {pixels}>{channel}{data}</Pixels></Image>'
    return f'<?xml version="1.0" encoding="UTF-8"?><OME xmlns="{OME}"{name}>{image}</OME>'


def write_set(folder, names=("a.ome.tif", "b.ome.tif"), **how):
    """Four planes over two files."""
    xml = ome([(0, 0, 0), (1, 0, 1), (2, 1, 0), (3, 1, 1)], names)
    for k, name in enumerate(names):
        write_pages(folder / name, FRAMES[2 * k : 2 * k + 2], xml, **how)


# Thumbnails


@pytest.mark.parametrize("tags", [{"subfiletype": 1}, {"subfiletype": 4}, {"extratags": [(255, 3, 1, 2, True)]}])
def test_a_thumbnail_or_mask_before_the_image_does_not_hide_it(tmp_path, tags):
    with tifffile.TiffWriter(tmp_path / "x.tif") as writer:
        small = FRAMES[0, ::2, ::2] > 9000 if tags.get("subfiletype") == 4 else FRAMES[0, ::2, ::2]
        writer.write(small, metadata=None, **tags)
        writer.write(FRAMES[0], metadata=None)
    assert np.array_equal(load(tmp_path / "x.tif").array, FRAMES[0])
    found = survey(tmp_path / "x.tif")
    assert (
        found.found == {"series": 1}
        and ("series 0", f"6 × 8, {small.dtype}, a smaller version or a mask") in found.facts
    )
    assert np.array_equal(load(tmp_path / "x.tif", series=0).array > 0, small > 0)


def test_a_file_of_thumbnails_alone_opens(tmp_path):
    tifffile.imwrite(tmp_path / "x.tif", FRAMES[0], metadata=None, subfiletype=1)
    assert np.array_equal(load(tmp_path / "x.tif").array, FRAMES[0])


# Descriptions


@pytest.mark.parametrize("packed", [{}, {"compression": "deflate"}])
@pytest.mark.parametrize(("axis", "said"), [("frames", 10), ("slices", 7), ("frames", 3), ("", 9)])
def test_imagej_says_other_numbers_of_frames(tmp_path, axis, said, packed):
    words = f"ImageJ=1.52a\nimages={said}\n" + (f"{axis}={said}\n" if axis else "")
    write_pages(tmp_path / "x.tif", FRAMES, words, **packed)
    assert np.array_equal(frames_of(tmp_path / "x.tif"), FRAMES)
    found = load(tmp_path / "x.tif")
    assert notes(found) == [f"Its description says {said} frames, and it has 5."]
    assert ("note", notes(found)[0]) in survey(tmp_path / "x.tif").facts
    assert np.array_equal(from_origin(found.origin).array, FRAMES[0])


@pytest.mark.parametrize("packed", [{}, {"compression": "deflate"}])
def test_tifffile_notes_a_larger_shape(tmp_path, packed):
    write_pages(tmp_path / "x.tif", FRAMES, '{"shape": [10, 12, 16]}', **packed)
    assert np.array_equal(frames_of(tmp_path / "x.tif"), FRAMES)
    assert notes(load(tmp_path / "x.tif")) == ["Its description says 10 frames, and it has 5."]
    tifffile.imwrite(tmp_path / "y.tif", FRAMES, photometric="minisblack", **packed)
    assert not notes(load(tmp_path / "y.tif"))


def test_levels_of_a_pyramid_are_no_frames(tmp_path):
    with tifffile.TiffWriter(tmp_path / "x.tif") as writer:
        writer.write(np.tile(FRAMES[0], (4, 4)), tile=(16, 16), photometric="minisblack")
        writer.write(np.tile(FRAMES[0], (2, 2)), tile=(16, 16), photometric="minisblack", subfiletype=1)
    found = load(tmp_path / "x.tif")
    assert found.facts.frames == 1 and found.array.shape == (48, 64) and not notes(found)


def test_pages_that_ome_does_not_name_are_counted(tmp_path):
    write_pages(tmp_path / "x.ome.tif", FRAMES, ome([(0, 0, 0), (1, 0, 1), (2, 0, 2)], (), depth=3))
    assert np.array_equal(frames_of(tmp_path / "x.ome.tif"), FRAMES[:3])
    words = "2 pages belong to no image of its description and stay unread."
    assert notes(load(tmp_path / "x.ome.tif")) == [words]


def test_imagej_says_the_right_number(tmp_path):
    write_pages(tmp_path / "x.tif", FRAMES, "ImageJ=1.52a\nimages=5\nframes=5\n")
    tifffile.imwrite(tmp_path / "y.tif", FRAMES, imagej=True)
    for name in "xy":
        assert not notes(load(tmp_path / f"{name}.tif")) and np.array_equal(frames_of(tmp_path / f"{name}.tif"), FRAMES)


@pytest.mark.parametrize("words", ["images=7\nslices=7\n", "images=7\n"])
def test_one_page_with_all_frames_behind_it_keeps_those_that_are_whole(tmp_path, words):
    write_pages(tmp_path / "x.tif", FRAMES[:1], f"ImageJ=1.52a\n{words}")
    (tmp_path / "x.tif").write_bytes((tmp_path / "x.tif").read_bytes() + FRAMES[1:].tobytes())
    assert np.array_equal(frames_of(tmp_path / "x.tif"), FRAMES)
    assert notes(load(tmp_path / "x.tif")) == ["Its description says 7 frames, and it has 5."]


# Missing planes


def test_a_missing_plane_is_zero_and_named(tmp_path):
    write_pages(tmp_path / "x.ome.tif", FRAMES[:3], ome([(0, 0, 0), (1, 0, 1), (3, 0, 2)], ()))
    expected = np.stack([FRAMES[0], FRAMES[1], np.zeros_like(FRAMES[0]), FRAMES[2]])
    assert np.array_equal(frames_of(tmp_path / "x.ome.tif"), expected)
    found = load(tmp_path / "x.ome.tif", project="max")
    assert notes(found) == ["1 of 4 frames is missing (2, counted from 0) and filled with 0."]
    assert np.array_equal(found.array, expected.max(axis=0))
    assert not open_rows(tmp_path / "x.ome.tif", frame=2).read(3, 7).any()


def test_many_missing_planes_are_one_sentence(tmp_path):
    write_pages(tmp_path / "x.ome.tif", FRAMES[:1], ome([(0, 0, 0)], (), depth=2000))
    assert notes(load(tmp_path / "x.ome.tif")) == [
        "1,999 of 2,000 frames are missing (1, 2, 3, …, counted from 0) and filled with 0."
    ]


# Sets of files


@pytest.mark.parametrize("how", [{}, {"compression": "deflate"}, {"byteorder": ">"}], ids=str)
@pytest.mark.parametrize("opened", ["a.ome.tif", "b.ome.tif"])
def test_a_set_opens_from_either_file(tmp_path, opened, how):
    if "byteorder" in how:
        xml = ome([(0, 0, 0), (1, 0, 1), (2, 1, 0), (3, 1, 1)], ("a.ome.tif", "b.ome.tif"))
        for name, part, order in (("a", FRAMES[:2], ">"), ("b", FRAMES[2:4], "<")):
            with tifffile.TiffWriter(tmp_path / f"{name}.ome.tif", byteorder=order) as writer:
                for k, frame in enumerate(part):
                    writer.write(frame, description=None if k else xml, metadata=None, contiguous=False)
    else:
        write_set(tmp_path, **how)
    assert np.array_equal(frames_of(tmp_path / opened), FRAMES[:4]) and not notes(load(tmp_path / opened))
    rows = [open_rows(tmp_path / opened, frame=k).read(5, 9) for k in range(4)]
    assert np.array_equal(np.stack(rows), FRAMES[:4, 5:9])


def test_the_set_is_known_by_all_of_its_files(tmp_path):
    write_set(tmp_path)
    found = load(tmp_path / "a.ome.tif")
    write_pages(tmp_path / "b.ome.tif", FRAMES[3:5], ome([], ()))
    with pytest.raises(InputError, match="a.ome.tif has changed since"):
        from_origin(found.origin)


def test_a_missing_file_of_a_set_is_named(tmp_path):
    write_set(tmp_path)
    os.remove(tmp_path / "b.ome.tif")
    assert np.array_equal(frames_of(tmp_path / "a.ome.tif")[:2], FRAMES[:2])
    missing = "2 of 4 frames are missing (2, 3, counted from 0)"
    words = f"{missing} and filled with 0: put b.ome.tif into the same folder."
    assert notes(load(tmp_path / "a.ome.tif", frame=3)) == [words]


def test_a_file_of_another_size_in_a_set_is_refused(tmp_path):
    write_set(tmp_path)
    write_pages(tmp_path / "b.ome.tif", np.zeros((2, 5, 5), np.uint16))
    assert np.array_equal(load(tmp_path / "a.ome.tif", frame=1).array, FRAMES[1])
    with pytest.raises(InputError, match="are files of one set, and their frames are of different sizes"):
        load(tmp_path / "a.ome.tif", frame=2)


@pytest.mark.parametrize("bad", ["../b.ome.tif", "/etc/passwd", "C:\\b.tif", "..", "x/b.tif"])
def test_names_outside_the_folder_are_never_opened(tmp_path, bad):
    (tmp_path / "inner").mkdir()
    write_pages(tmp_path / "inner" / "a.ome.tif", FRAMES[:2], ome([(0, 0, 0), (2, 1, 0)], ("a.ome.tif", bad)))
    write_pages(tmp_path / "b.ome.tif", FRAMES[:2])
    with pytest.raises(InputError, match="as a file of its set, and such a file lies in the same folder"):
        load(tmp_path / "inner" / "a.ome.tif")


@pytest.mark.parametrize("words", ["<UUID", "<OME", "<BinaryOnly", "<UUID FileName="])
def test_a_description_made_to_do_harm_is_read_once(words):
    """A search that goes to the end from every beginning would take an hour."""
    xml = words * 60_000
    assert files_of_set(xml, Path("a.ome.tif"), "a.ome.tif") == () and elsewhere(xml) == ""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes in folders")
def test_a_pipe_or_text_in_a_set_is_named(tmp_path):
    write_set(tmp_path)
    os.remove(tmp_path / "b.ome.tif")
    os.mkfifo(tmp_path / "b.ome.tif")
    with pytest.raises(InputError, match=r"b\.ome\.tif is a pipe"):
        load(tmp_path / "a.ome.tif")
    os.remove(tmp_path / "b.ome.tif")
    (tmp_path / "b.ome.tif").write_text("no picture at all, and long enough")
    with pytest.raises(InputError, match=r"b\.ome\.tif is a damaged TIFF|b\.ome\.tif is cut short"):
        load(tmp_path / "a.ome.tif")


def test_a_file_that_another_one_describes_says_so(tmp_path):
    xml = f'<OME xmlns="{OME}"><BinaryOnly MetadataFile="set.companion.ome" UUID="urn:uuid:1"/></OME>'
    write_pages(tmp_path / "x.ome.tif", FRAMES[:2], f'<?xml version="1.0" encoding="UTF-8"?>{xml}')
    found = load(tmp_path / "x.ome.tif")
    assert found.facts.frames == 2
    assert notes(found) == ["It is one file of a set that set.companion.ome describes; open that one for all frames."]


def test_a_set_without_names_says_so(tmp_path):
    xml = ome([(0, 0, 0), (1, 0, 1), (2, 1, 0), (3, 1, 1)], ("", ""))
    write_pages(tmp_path / "x.ome.tif", FRAMES[:2], xml.replace(' FileName=""', ""))
    words = "It is one file of a set that does not name its other files, so only the frames in this one are read."
    assert notes(load(tmp_path / "x.ome.tif")) == [words] and load(tmp_path / "x.ome.tif").facts.frames == 2


def test_a_renamed_file_is_known_by_its_own_identifier(tmp_path):
    names = ("old.ome.tif", "b.ome.tif")
    xml = ome([(0, 0, 0), (1, 0, 1), (2, 1, 0), (3, 1, 1)], names, name=' UUID="urn:uuid:00000000"')
    write_pages(tmp_path / "new.ome.tif", FRAMES[:2], xml)
    write_pages(tmp_path / "b.ome.tif", FRAMES[2:4])
    assert np.array_equal(frames_of(tmp_path / "new.ome.tif"), FRAMES[:4]) and not notes(load(tmp_path / "new.ome.tif"))


def test_a_renamed_copy_of_a_set_is_still_one(tmp_path):
    write_set(tmp_path)
    shutil.copy(tmp_path / "a.ome.tif", tmp_path / "copy.ome.tif")
    assert np.array_equal(frames_of(tmp_path / "copy.ome.tif"), FRAMES[:4])


# What a person reads


def test_the_command_line_says_a_note_once(tmp_path, capsys):
    write_pages(tmp_path / "x.tif", FRAMES, "ImageJ=1.52a\nimages=10\nframes=10\n")
    path = str(tmp_path / "x.tif")
    words = f"kernelscope: {path}: Its description says 10 frames, and it has 5.\n"
    run = ["run", "mean", "--input", path, "--device", "cpu", "--variant", "serial"]
    assert main(run) == 0 and capsys.readouterr().err == words
    assert main([*run, "--frames", "all", "--output", str(tmp_path / "out.npy")]) == 0
    assert capsys.readouterr().err.startswith(words) and np.load(tmp_path / "out.npy").shape == (5, 12, 16)


def test_bands_say_it_too_and_take_the_series(tmp_path, capsys):
    with tifffile.TiffWriter(tmp_path / "x.tif") as writer:
        for frame in (np.full((600, 700), 7, np.uint16), np.full((800, 700), 9, np.uint16)):
            writer.write(frame, metadata=None, description="ImageJ=1.52a\nimages=10\nframes=10\n")
    out = tmp_path / "out.npy"
    run = ["run", "mean", "--input", str(tmp_path / "x.tif"), "--device", "cpu", "--variant", "serial"]
    assert main([*run, "--memory", "4", "--series", "1", "--output", str(out)]) == 0
    assert "Its description says 10 frames, and it has 1." in capsys.readouterr().err
    assert np.array_equal(np.load(out), np.full((800, 700), 9, np.uint16))
