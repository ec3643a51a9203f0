"""Stacks of frames: NPY files of three and four axes, folders of images, and videos."""

from __future__ import annotations

import builtins
import os
import re
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from gpu_ops import load, save
from gpu_ops.errors import InputError, ParamError
from gpu_ops.io import files, from_origin, known, survey
from gpu_ops.progress import Cancelled, listening
from gpu_ops.version import install

LONG_AGO = 10**18
"""Nanoseconds since 1970: a file of this time is not fresh, so that what is known of it is kept."""


def frames(*shape: int, dtype: str = "uint16") -> np.ndarray:
    return np.random.default_rng(7).integers(0, 250, shape).astype(dtype)


def old(path: Path) -> Path:
    os.utime(path, ns=(LONG_AGO, LONG_AGO))
    return path


def npy(folder: Path, array: np.ndarray, name: str = "stack.npy") -> Path:
    np.save(folder / name, array)
    return old(folder / name)


class TestArrays:
    @pytest.mark.parametrize("order", ["C", "F"])
    @pytest.mark.parametrize("dtype", ["u1", "<u2", ">u2", "<f4", ">f8", "?"])
    @pytest.mark.parametrize("shape", [(5, 6, 7), (5, 4, 6, 3), (1, 8, 9), (3, 1, 5), (2, 6, 7, 1)])
    def test_every_frame_is_bit_for_bit_what_was_stored(self, tmp_path, order, dtype, shape):
        stored = np.asarray(frames(*shape) % 2 if dtype == "?" else frames(*shape), dtype=dtype, order=order)
        path = npy(tmp_path, stored)
        for k in range(shape[0]):
            found = load(path, frame=k)
            wanted = stored[k].astype(np.uint8) * 255 if dtype == "?" else stored[k]
            assert np.array_equal(found.array, wanted) and found.array.dtype == wanted.dtype.newbyteorder("=")
            assert found.kind == "image" and found.facts.frames == shape[0]
            assert found.origin.get("choices", {}) == ({"frame": k} if k else {})

    def test_a_pass_through_a_file_in_fortran_order_keeps_neighbours_and_gives_copies(self, tmp_path, monkeypatch):
        stored = np.asfortranarray(frames(70, 20, 30))
        monkeypatch.setattr("gpu_ops.io.arrays.BLOCK", 2 * 4 * 600)
        monkeypatch.setattr("gpu_ops.io.arrays.PASS", 1000)
        path = npy(tmp_path, stored)
        for k in (8, 0, 3, 3, 4, 64, 69, 4, 16):
            array = load(path, frame=k).array
            assert np.array_equal(array, stored[k])
            array[:] = 0

    def test_colours_are_an_image_unless_a_stack_is_asked_for(self, tmp_path):
        stored = frames(5, 6, 3)
        path = npy(tmp_path, stored)
        assert load(path).array.shape == (5, 6, 3) and load(path).facts.frames == 1
        found = load(path, kind="stack", frame=4)
        assert np.array_equal(found.array, stored[4]) and found.facts.frames == 5
        again = from_origin(found.origin)
        assert np.array_equal(again.array, stored[4]) and again.origin == found.origin

    def test_what_is_no_stack(self, tmp_path):
        with pytest.raises(InputError, match=r"shape .5, 6., and a stack is .D, H, W. or .* leave the kind out"):
            load(npy(tmp_path, frames(5, 6)), kind="stack")
        with pytest.raises(ParamError, match="which is no stack of frames; leave the frame out"):
            load(npy(tmp_path, frames(5, 6)), frame=1)
        save(tmp_path / "x.png", frames(5, 6, dtype="uint8"))
        with pytest.raises(InputError, match="is a PNG image, which holds no stack; leave the kind out"):
            load(tmp_path / "x.png", kind="stack")

    def test_a_frame_that_is_not_there(self, tmp_path):
        with pytest.raises(ParamError, match="has 5 frames; choose one from 0 to 4, not 5"):
            load(npy(tmp_path, frames(5, 6, 7)), frame=5)

    def test_a_file_that_is_cut_short_before_and_while_it_is_open(self, tmp_path):
        path = npy(tmp_path, frames(5, 6, 7))
        load(path)
        os.truncate(path, path.stat().st_size - 1)
        with pytest.raises(InputError, match="is cut short: it holds 419 of 420 bytes"):
            load(path)

    def test_the_limit_is_that_of_a_frame(self, tmp_path):
        path = npy(tmp_path, frames(50, 6, 7))
        assert load(path, limit=42).array.size == 42
        with pytest.raises(InputError, match="holds 42 values, over the limit of 41"):
            load(path, limit=41)

    def test_the_survey(self, tmp_path):
        found = survey(npy(tmp_path, frames(5, 6, 7)))
        assert found.frames == 5 and dict(found.facts)["shape"] == "5 × 6 × 7, uint16" and not found.asks


class TestProjections:
    @pytest.mark.parametrize("order", ["C", "F"])
    @pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64"])
    @pytest.mark.parametrize("shape", [(7, 5, 6), (4, 5, 6, 3)])
    def test_they_equal_numpy(self, tmp_path, order, dtype, shape):
        stored = np.asarray(frames(*shape), dtype, order=order)
        path = npy(tmp_path, stored)
        largest, mean = load(path, project="max"), load(path, project="mean")
        assert np.array_equal(largest.array, stored.max(axis=0)) and largest.array.dtype == dtype
        kind = "float64" if dtype == "float64" else "float32"
        assert np.array_equal(mean.array, stored.mean(axis=0, dtype="float64").astype(kind))
        assert mean.array.dtype == kind and mean.facts.frames == shape[0]
        assert mean.origin["choices"] == {"project": "mean"}
        assert np.array_equal(from_origin(mean.origin).array, mean.array)

    def test_they_can_be_cancelled(self, tmp_path):
        path, asked = npy(tmp_path, frames(9, 6, 7)), []

        def stop() -> bool:
            asked.append(1)
            return len(asked) > 6

        with pytest.raises(Cancelled), listening(stop):
            load(path, project="mean")


class TestFolders:
    def fill(self, folder: Path, names: tuple[str, ...], *shape: int) -> np.ndarray:
        stored = frames(len(names), *shape)
        for name, frame in zip(names, stored, strict=True):
            save(folder / name, frame)
        return stored

    def test_names_in_natural_order(self, tmp_path):
        names = ("frame 1.png", "frame 2.png", "Frame 10.png", "frame 100.png")
        stored = self.fill(tmp_path, names, 6, 7)
        (tmp_path / "notes.txt").write_text("1\n")
        (tmp_path / ".hidden.png").write_bytes(b"no image")
        for k in range(4):
            found = load(tmp_path, frame=k)
            assert np.array_equal(found.array, stored[k]) and found.facts.frames == 4
        assert found.name == tmp_path.name and found.array.dtype == np.uint16
        assert np.array_equal(load(tmp_path, project="max").array, stored.max(axis=0))
        assert np.array_equal(from_origin(found.origin).array, stored[3])
        assert survey(tmp_path).frames == 4 and dict(survey(tmp_path).facts)["size"] == "7 × 6, uint16"

    def test_the_first_two_sizes_that_differ_are_named(self, tmp_path):
        self.fill(tmp_path, ("a.png", "b.png"), 6, 7)
        self.fill(tmp_path, ("c.png", "d.png"), 6, 8)
        with pytest.raises(InputError, match=r"a\.png is 7 x 6 and .*c\.png is 8 x 6; .* move the others elsewhere"):
            load(tmp_path)

    def test_other_types_are_named_when_they_are_read(self, tmp_path):
        self.fill(tmp_path, ("a.png", "b.png"), 6, 7)
        save(tmp_path / "c.png", frames(6, 7, dtype="uint8"))
        assert load(tmp_path, frame=1).array.dtype == np.uint16
        for how in ({"frame": 2}, {"project": "mean"}):
            with pytest.raises(InputError, match=r"a\.png is 7 x 6 of uint16 and .*c\.png is 7 x 6 of uint8"):
                load(tmp_path, **how)

    def test_what_is_no_frame(self, tmp_path):
        with pytest.raises(InputError, match="is a folder without images; name a file in it, or a folder of images"):
            load(tmp_path)
        np.save(tmp_path / "a.npy", frames(5, 6, 7))
        with pytest.raises(InputError, match=r"a\.npy is a stack itself; a folder of frames holds one image per file"):
            load(tmp_path)
        np.save(tmp_path / "a.npy", frames(9))
        with pytest.raises(InputError, match=r"a\.npy is no image"):
            load(tmp_path)

    def test_a_damaged_image_is_named(self, tmp_path):
        self.fill(tmp_path, ("a.png", "b.png"), 6, 7)
        whole = (tmp_path / "b.png").read_bytes()
        (tmp_path / "b.png").write_bytes(whole[:-20])
        assert load(tmp_path).facts.frames == 2
        with pytest.raises(InputError, match=r"b\.png is cut short"):
            load(tmp_path, frame=1)

    def test_a_new_image_is_seen_at_once(self, tmp_path):
        self.fill(tmp_path, ("a.png", "b.png"), 6, 7)
        for name in ("a.png", "b.png"):
            old(tmp_path / name)
        first = load(tmp_path)
        self.fill(tmp_path, ("c.png",), 6, 7)
        assert load(tmp_path).facts.frames == 3 and load(tmp_path).origin["hash"] != first.origin["hash"]
        with pytest.raises(InputError, match="has changed since"):
            from_origin(first.origin)


class TestKnown:
    def test_a_file_is_hashed_once_until_it_is_written(self, tmp_path, monkeypatch):
        path, hashed = npy(tmp_path, frames(5, 6, 7)), []
        hash_files = known.hash_files
        monkeypatch.setattr(known, "hash_files", lambda *a, **k: hashed.append(1) or hash_files(*a, **k))
        found = [load(path, frame=k).origin["hash"] for k in range(5)]
        assert len(set(found)) == len(hashed) == 1
        path.write_bytes(path.read_bytes()[:-1] + b"\xff")  # as long as before
        os.utime(path, ns=(LONG_AGO + 1, LONG_AGO + 1))
        assert load(path).origin["hash"] != found[0] and len(hashed) == 2

    def test_a_fresh_file_is_hashed_again(self, tmp_path):
        np.save(tmp_path / "x.npy", frames(5, 6, 7))
        times = (tmp_path / "x.npy").stat()
        first = load(tmp_path / "x.npy").origin["hash"]
        np.save(tmp_path / "x.npy", frames(5, 6, 7) + 1)
        os.utime(tmp_path / "x.npy", ns=(times.st_atime_ns, times.st_mtime_ns))  # as a coarse clock would
        assert load(tmp_path / "x.npy").origin["hash"] != first

    def test_large_files_have_a_sampled_hash_and_origins_with_a_whole_one_still_open(self, tmp_path, monkeypatch):
        path = npy(tmp_path, frames(5, 60, 70))
        whole = load(path, frame=1).origin
        monkeypatch.setattr(known, "LARGE", 1000)
        monkeypatch.setattr(known, "PIECE_BYTES", 16)
        monkeypatch.setattr(known, "_hashes", known._Recent(4))
        sampled = load(path, frame=1).origin
        assert sampled["hash"].startswith(known.SAMPLED) and not whole["hash"].startswith(known.SAMPLED)
        for origin in (whole, sampled):
            assert np.array_equal(from_origin(origin).array, frames(5, 60, 70)[1])
        data = bytearray(path.read_bytes())
        data[-1] ^= 1  # the last byte is in a piece
        path.write_bytes(data)
        for origin in (whole, sampled):
            with pytest.raises(InputError, match="has changed since"):
                from_origin(origin)

    def test_a_sampled_hash_is_of_all_sizes(self, tmp_path, monkeypatch):
        monkeypatch.setattr(known, "LARGE", 1000)
        monkeypatch.setattr(known, "PIECE_BYTES", 16)
        one, two = tmp_path / "a", tmp_path / "b"
        one.write_bytes(bytes(4000))
        two.write_bytes(bytes(4001))
        assert known.hash_files([one]) != known.hash_files([two])
        assert known.hash_files([one, two]) != known.hash_files([two, one])

    def test_only_the_last_two_stacks_are_kept(self, tmp_path):
        made = []

        def ask(name: str) -> None:
            known.kept_stack([tmp_path / name], "test", lambda: made.append(name))

        for name in "abc":
            old(npy(tmp_path, frames(2, 3, 5), f"{name}.npy"))
        for name in ("a.npy", "b.npy", "a.npy", "c.npy", "a.npy", "b.npy"):
            ask(name)
        assert made == ["a.npy", "b.npy", "c.npy", "b.npy"]

    def test_a_file_that_changes_while_it_is_read(self, tmp_path, monkeypatch):
        path = npy(tmp_path, frames(5, 6, 7))
        hash_file = files.hash_file

        def write_meanwhile(file: Path) -> str:
            np.save(file, frames(5, 6, 8))
            return hash_file(file)

        monkeypatch.setattr(files, "hash_file", write_meanwhile)
        with pytest.raises(InputError, match="changed while it was read; load it again"):
            load(path)


class TestVideos:
    def write(self, path: Path, count: int = 50, codec: str = "mpeg4", pixels: str = "yuv420p") -> Path:
        """A video whose frame k has the brightness 5k, with one key frame in twelve."""
        av = pytest.importorskip("av")
        with av.open(str(path), "w") as container:
            stream = container.add_stream(codec, rate=Fraction(25))
            stream.width, stream.height, stream.pix_fmt = 48, 32, pixels
            stream.codec_context.gop_size = 12
            for k in range(count):
                picture = av.VideoFrame.from_ndarray(np.full((32, 48, 3), 5 * k, np.uint8), format="rgb24")
                container.mux(stream.encode(picture))
            container.mux(stream.encode(None))
        return old(path)

    @pytest.mark.parametrize("suffix", [".mp4", ".avi", ".mov", ".mkv"])
    def test_a_frame_is_the_same_by_playing_and_by_a_jump(self, tmp_path, suffix):
        path = self.write(tmp_path / f"film{suffix}")
        found = load(path)
        assert found.array.shape == (32, 48, 3) and found.array.dtype == np.uint8 and found.facts.frames == 50
        assert found.facts.frame_axes.letters == "T" and found.facts.frame_axes.interval == pytest.approx(
            0.04, rel=0.01
        )
        with pytest.importorskip("av").open(str(path)) as container:
            played = [picture.to_ndarray(format="rgb24") for picture in container.decode(video=0)]
        assert len(played) == 50 and abs(float(played[40].mean()) - 200) < 9
        for k in (*range(5), 40, 41, 3, 49, 48, 0, 25):
            assert np.array_equal(load(path, frame=k).array, played[k]), k
        facts = dict(survey(path).facts)
        assert facts["rate"] == "25 frames a second" and facts["size"] == "48 × 32, uint8"
        with pytest.raises(ParamError, match="has 50 frames"):
            load(path, frame=50)

    def test_gray_frames_have_two_axes(self, tmp_path):
        found = load(self.write(tmp_path / "gray.mkv", 3, "ffv1", "gray"), frame=2)
        assert found.array.shape == (32, 48) and (found.array == 10).all()

    def test_projections(self, tmp_path):
        path = self.write(tmp_path / "film.mkv", 5, "ffv1", "gray")
        assert (load(path, project="max").array == 20).all() and (load(path, project="mean").array == 10).all()

    def test_a_damaged_video(self, tmp_path):
        path = self.write(tmp_path / "film.mp4")
        path.write_bytes(path.read_bytes()[:40])
        with pytest.raises(InputError, match="is a damaged video or no video"):
            load(path)

    def test_without_the_library_a_sentence_says_what_to_install(self, tmp_path, monkeypatch):
        path = self.write(tmp_path / "film.mp4")
        imported = builtins.__import__

        def without(name: str, *rest: object) -> object:
            if name == "av":
                raise ImportError
            return imported(name, *rest)

        monkeypatch.delitem(sys.modules, "av")
        monkeypatch.setattr(builtins, "__import__", without)
        with pytest.raises(
            InputError, match=re.escape(f"which the library PyAV reads; install it with: {install('formats')}.")
        ):
            load(path)
