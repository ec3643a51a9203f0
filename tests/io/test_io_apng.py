"""Animated PNG: frames compared with Pillow's and with the formula of the specification, and damage in its own
chunks."""

import itertools
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from gpu_ops.errors import InputError, ParamError
from gpu_ops.io import decoder_process, from_origin, load, survey

CHANCE = np.random.default_rng(8)
KEEP, CLEAR, RESTORE = 0, 1, 2
REPLACE, OVER = 0, 1
SIZE = 9, 11


@pytest.fixture(autouse=True)
def _decode_here(monkeypatch):
    monkeypatch.setattr(decoder_process, "here", True)


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def packed(values, depth):
    """Rows without filters, compressed; values under a byte are packed."""
    if depth == 16:
        rows = [row.astype(">u2").tobytes() for row in values]
    elif depth == 8:
        rows = [row.astype(np.uint8).tobytes() for row in values]
    else:
        bits = np.unpackbits(values.astype(np.uint8)[..., None], axis=-1)[..., 8 - depth :]
        rows = [np.packbits(row.reshape(-1)).tobytes() for row in bits]
    return zlib.compress(b"".join(b"\0" + row for row in rows))


def animation(frames, depth, colour, extra=b"", still=None, said=None):
    """Frames are (values, left, top, dispose, blend); with `still` that picture is none of them."""
    number = itertools.count()
    body = chunk(b"acTL", struct.pack(">II", len(frames) if said is None else said, 0)) + extra
    height, width = (still if still is not None else frames[0][0]).shape[:2]
    if still is not None:
        body += chunk(b"IDAT", packed(still, depth))
    for k, (values, left, top, dispose, blend) in enumerate(frames):
        place = values.shape[1], values.shape[0], left, top
        body += chunk(b"fcTL", struct.pack(">IIIIIHHBB", next(number), *place, 1, 10, dispose, blend))
        data = packed(values, depth)
        if k == 0 and still is None:
            body += chunk(b"IDAT", data[:20]) + chunk(b"IDAT", data[20:])
        else:
            for piece in (data[:15], data[15:]):
                body += chunk(b"fdAT", struct.pack(">I", next(number)) + piece)
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + body + chunk(b"IEND", b"")


def write(tmp_path, content, name="x.png"):
    (tmp_path / name).write_bytes(content)
    return tmp_path / name


def all_frames(path):
    return [load(path, frame=k).array for k in range(load(path).facts.frames)]


def shown(frames, top):
    """What the specification says is on the canvas after each frame, value by value, as fractions of `top`."""
    height, width = SIZE
    canvas, result = np.zeros((height, width, 4)), []
    for k, (values, left, upper, dispose, blend) in enumerate(frames):
        before, after = canvas.copy(), canvas.copy()
        for y, x in np.ndindex(values.shape[:2]):
            f, b = values[y, x] / top, before[upper + y, left + x] / top
            if blend == OVER:
                alpha = f[3] + b[3] * (1 - f[3])
                colours = (f[:3] * f[3] + b[:3] * b[3] * (1 - f[3])) / alpha if alpha else b[:3]
                f = np.append(colours, alpha)
            after[upper + y, left + x] = np.rint(f * top)
        result.append(after.copy())
        canvas = after
        rectangle = slice(upper, upper + values.shape[0]), slice(left, left + values.shape[1])
        if dispose == CLEAR or (dispose == RESTORE and k == 0):
            canvas[rectangle] = 0
        elif dispose == RESTORE:
            canvas = before
    return result


@pytest.mark.parametrize("depth", [8, 16])
def test_every_way_to_draw_and_to_put_away_is_that_of_the_specification(tmp_path, depth):
    top = 2**depth - 1
    frames = [(CHANCE.integers(0, top, (*SIZE, 4), endpoint=True), 0, 0, RESTORE, REPLACE)]
    for dispose, blend in itertools.product((KEEP, RESTORE, CLEAR), (REPLACE, OVER)):
        values = CHANCE.integers(0, top, (5, 6, 4), endpoint=True)
        values[..., 3] = CHANCE.choice([0, top // 3, top], (5, 6))
        frames.append((values, int(CHANCE.integers(6)), int(CHANCE.integers(5)), dispose, blend))
    path = write(tmp_path, animation(frames, depth, 6))
    found = all_frames(path)
    assert len(found) == 7 and found[0].dtype == f"uint{depth}"
    for k, (one, expected) in enumerate(zip(found, shown(frames, top), strict=True)):
        np.testing.assert_array_equal(one, expected, err_msg=f"frame {k}")


@pytest.mark.parametrize("blend", [REPLACE, OVER])
@pytest.mark.parametrize("dispose", [KEEP, CLEAR, RESTORE])
def test_frames_are_those_that_pillow_shows(tmp_path, dispose, blend):
    """Opaque and wholly transparent pixels: of those between, Pillow computes no opacity."""
    base = CHANCE.integers(0, 256, (*SIZE, 4), np.uint8)
    pictures = []
    for k in range(5):
        picture = base.copy()
        picture[k : k + 4, k : k + 5] = CHANCE.integers(0, 256, (4, 5, 4), np.uint8)
        picture[..., 3] = np.where(picture[..., 3] > 90, 255, 0)
        pictures.append(Image.fromarray(picture))
    how = {"save_all": True, "append_images": pictures[1:], "disposal": dispose, "blend": blend}
    pictures[0].save(tmp_path / "x.png", **how)
    for k, one in enumerate(all_frames(tmp_path / "x.png")):
        with Image.open(tmp_path / "x.png") as image:  # again, for it puts away what was looked at otherwise
            assert image.n_frames == 5
            image.seek(k)
            theirs = np.asarray(image.convert("RGBA"))
            np.testing.assert_array_equal(one[..., 3], theirs[..., 3], err_msg=f"frame {k}")
            np.testing.assert_array_equal(one[one[..., 3] > 0], theirs[theirs[..., 3] > 0], err_msg=f"frame {k}")


class TestStack:
    GRAYS = CHANCE.integers(0, 256, (4, *SIZE, 1), np.uint8)

    @pytest.fixture
    def path(self, tmp_path):
        frames = [(values, 0, 0, KEEP, REPLACE) for values in self.GRAYS]
        return write(tmp_path, animation(frames, 8, 0))

    def test_in_any_order(self, path):
        for k in (2, 0, 3, 1):
            found = load(path, frame=k)
            np.testing.assert_array_equal(found.array, self.GRAYS[k, ..., 0])
        assert found.axes == "yx" and found.facts.frames == 4 and found.origin["steps"] == []
        np.testing.assert_array_equal(from_origin(found.origin).array, found.array)
        np.testing.assert_array_equal(load(path, project="max").array, self.GRAYS.max(axis=0)[..., 0])
        with pytest.raises(ParamError, match="has 4 frames; choose one from 0 to 3, not 4"):
            load(path, frame=4)
        assert survey(path).facts[:2] == (("size", "11 × 9, uint8"), ("frames", "4"))

    def test_a_still_picture_that_is_no_frame_is_left_out_and_said(self, tmp_path):
        frames = [(values, 0, 0, KEEP, REPLACE) for values in self.GRAYS[1:]]
        path = write(tmp_path, animation(frames, 8, 0, still=self.GRAYS[0]))
        np.testing.assert_array_equal(np.stack(all_frames(path)), self.GRAYS[1:, ..., 0])
        assert ("still picture", "separate from the frames; it is not read") in survey(path).facts

    def test_one_frame_and_none(self, tmp_path):
        path = write(tmp_path, animation([(self.GRAYS[1], 0, 0, KEEP, REPLACE)], 8, 0))
        assert load(path).facts.frames == 1
        Image.fromarray(self.GRAYS[0, ..., 0]).save(path)
        assert load(path).facts.frames == 1 and survey(path).facts[0] == ("size", "11 × 9, uint8")
        with pytest.raises(ParamError, match="choose one from 0 to 0, not 1"):
            load(path, frame=1)

    @pytest.mark.parametrize("place, alpha", [((0, 0), False), ((1, 0), True)])
    def test_alpha_comes_where_a_part_of_the_canvas_is_empty(self, tmp_path, place, alpha):
        """What is cleared is covered by the next frame, or is not."""
        small = self.GRAYS[1][:4, :5]
        second = (small, *place, CLEAR, REPLACE)
        frames = [(self.GRAYS[0], 0, 0, KEEP, REPLACE), second, (self.GRAYS[2][:5, :5], 0, 0, KEEP, REPLACE)]
        if alpha:
            frames[2] = (small, 0, 0, KEEP, REPLACE)
        found = load(write(tmp_path, animation(frames, 8, 0)), frame=2)
        assert found.array.shape == (*SIZE, *((4,) if alpha else ()))
        assert found.origin["steps"] == ([{"step": "gray alpha"}] if alpha else [])
        if alpha:
            assert (found.array[:4, 5, 3] == 0).all() and np.count_nonzero(found.array[..., 3] == 0) == 4
            np.testing.assert_array_equal(found.array[:4, :5, 1], small[..., 0])

    def test_alpha_comes_where_the_first_frame_is_smaller_than_the_canvas(self, tmp_path):
        small = self.GRAYS[1][:4, :5]
        found = load(write(tmp_path, animation([(small, 2, 1, KEEP, REPLACE)], 8, 0, still=self.GRAYS[0]))).array
        np.testing.assert_array_equal(found[1:5, 2:7, 0], small[..., 0])
        assert found.shape == (*SIZE, 4) and np.count_nonzero(found[..., 3]) == 4 * 5

    @pytest.mark.parametrize("depth", [2, 8])
    def test_one_gray_that_is_transparent(self, tmp_path, depth):
        values = CHANCE.integers(0, 2**depth, (2, *SIZE, 1)) % 4
        frames = [(values[0], 0, 0, KEEP, REPLACE), (values[1], 0, 0, KEEP, OVER)]
        path = write(tmp_path, animation(frames, depth, 0, chunk(b"tRNS", b"\0\3")))
        scaled = values[..., 0] * (85 if depth == 2 else 1)
        expected = np.where(values[1, ..., 0] == 3, scaled[0], scaled[1])
        np.testing.assert_array_equal(load(path, frame=1).array[..., 2], expected)
        np.testing.assert_array_equal(load(path, frame=1).array[..., 3], 255 * (values != 3).any(axis=0)[..., 0])

    def test_colours_of_a_palette_turned_upright(self, tmp_path):
        colours = CHANCE.integers(0, 256, (8, 4), np.uint8)
        numbers = CHANCE.integers(0, 8, (2, *SIZE, 1))
        exif = b"II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0\0\0\0\0"
        extra = (
            chunk(b"eXIf", exif) + chunk(b"PLTE", colours[:, :3].tobytes()) + chunk(b"tRNS", colours[:, 3].tobytes())
        )
        path = write(tmp_path, animation([(n, 0, 0, KEEP, REPLACE) for n in numbers], 8, 3, extra))
        found = load(path, frame=1)
        np.testing.assert_array_equal(found.array, np.rot90(colours[numbers[1, ..., 0]], -1))
        assert found.origin["steps"] == [{"step": "palette"}, {"step": "upright", "orientation": 6}]


class TestDamage:
    FRAMES = tuple((CHANCE.integers(0, 256, (*SIZE, 3), np.uint8), 0, 0, KEEP, REPLACE) for _ in range(3))

    def content(self, **how):
        return animation(self.FRAMES, 8, 2, **how)

    def test_a_frame_that_is_missing(self, tmp_path):
        path = write(tmp_path, self.content(said=4))
        with pytest.raises(InputError, match="is cut short: it says 4 frames and has 3; copy"):
            load(path)
        with pytest.raises(InputError, match="is a damaged animated PNG"):
            load(write(tmp_path, self.content(said=2), "y.png"))

    def test_frames_out_of_order_outside_and_of_unknown_ways(self, tmp_path):
        content, start = self.content(), self.content().rindex(b"fcTL")
        for place, value in ((4, 7), (8, 0), (8, 200), (16, 1), (28, 3), (29, 2)):
            size = 1 if place >= 28 else 4
            changed = content[start + 4 : start + 30]
            changed = changed[: place - 4] + value.to_bytes(size, "big") + changed[place - 4 + size :]
            whole = content[: start - 4] + chunk(b"fcTL", changed) + content[start + 34 :]
            with pytest.raises(InputError, match="is a damaged animated PNG file; copy"):
                load(write(tmp_path, whole, f"{place}-{value}.png"))

    def test_few_bytes_for_a_large_canvas(self, tmp_path):
        content = self.content(still=np.zeros((2, 2, 3), np.uint8))
        large = chunk(b"IHDR", struct.pack(">IIBBBBB", 9000, 9000, 8, 2, 0, 0, 0))
        with pytest.raises(InputError, match="bytes cannot hold 9000 × 9000 pixels"):
            load(write(tmp_path, content[:8] + large + content[33:]))
        with pytest.raises(InputError, match="over the limit of 100"):
            load(write(tmp_path, self.content()), limit=100)

    def test_a_frame_that_cannot_be_decoded_leaves_the_others(self, tmp_path):
        content, start = self.content(), self.content().rindex(b"fdAT")
        length = int.from_bytes(content[start - 4 : start], "big")
        broken = chunk(b"fdAT", content[start + 4 : start + 8] + bytes(length - 4))
        path = write(tmp_path, content[: start - 4] + broken + content[start + 8 + length :])
        with pytest.raises(InputError, match="is a damaged PNG"):
            load(path, frame=2)
        np.testing.assert_array_equal(load(path, frame=1).array, self.FRAMES[1][0])
