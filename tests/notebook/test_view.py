"""The view for notebooks: what the page gets and sends, what is refused, and that closing frees the engine."""

from __future__ import annotations

import base64
import io
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from PIL import Image

import gpu_ops as ks
from gpu_ops.errors import LibraryMissing
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.notebook import shared_engine
from gpu_ops.notebook import view as module
from gpu_ops.notebook.panes import SAME, Shown, difference
from gpu_ops.notebook.pictures import WHOLE, Ends, Window, curve_png, image_png
from gpu_ops.output_kinds import Form
from gpu_ops.version import install

widget = pytest.importorskip("gpu_ops.notebook.widget", reason="anywidget is missing: install kernelscope[notebook]")
SCRIPT = "import numpy, gpu_ops\ngpu_ops.view(numpy.zeros((4, 4), numpy.uint8), 'mean')\n"
RESOURCES = Path(widget.PAGE)
IMAGE = np.random.default_rng(1).integers(0, 256, (60, 80), np.uint8)
View = Callable[..., Any]


@pytest.fixture(scope="module")
def engine() -> Iterator[shared_engine.SharedEngine]:
    """One engine for all tests, which takes seconds to start."""

    def user(answer: Any) -> None:
        pass

    running = shared_engine.acquire(user)
    yield running
    shared_engine.release(running, user)


@pytest.fixture
def view(engine: shared_engine.SharedEngine) -> Iterator[View]:
    """`ks.view`, whose views are closed at the end."""
    made: list[Any] = []

    def make(*args: Any, **named: Any) -> Any:
        made.append(ks.view(*args, **named))
        return made[-1]

    yield make
    for one in made:
        one.close()


def pixels(png: bytes) -> np.ndarray[Any, Any]:
    return np.asarray(Image.open(io.BytesIO(png)))


def pane(view: Any, key: str) -> dict[str, Any]:
    return next(p for p in view.panes if p["key"] == key)


def test_the_page_gets_pictures_controls_and_the_ladder(view: View) -> None:
    one = view(IMAGE, "mean", variants=["scipy", "serial"], window=5)
    one.wait()
    expected = ks.apply("mean", IMAGE, window=5, variant="scipy")
    np.testing.assert_array_equal(one.results["scipy"], expected)
    np.testing.assert_array_equal(pixels(pane(one, "input")["png"]), IMAGE)
    np.testing.assert_array_equal(pixels(pane(one, "scipy image")["png"]), expected)
    assert pane(one, "scipy image")["title"] == "SciPy = CPU, one core"  # the same bits share a pane
    assert [c["name"] for c in one.controls] == ["window", "border"] and one.wanted["window"] == 5
    assert [c["kind"] for c in one.controls] == ["slider", "list"]
    assert [(row["kind"], row["verdict"]) for row in one.rows] == [("timed", "✓ right")] * 2
    assert max(row["share"] for row in one.rows) == 1.0 and not one.fault and not one.status
    most = np.abs(expected.astype(int) - IMAGE).max()
    assert pane(one, "difference")["caption"].startswith(f"largest difference {most} at y ")
    json.dumps([one.rows, one.controls, one.choices, one.wanted, one.pair])  # all that is sent is JSON, or bytes


def test_the_newest_values_win(view: View) -> None:
    one = view(np.tile(IMAGE, (8, 8)), "mean", variants=["scipy"])
    for window in (3, 5, 7, 9, 11, 13):
        one.wanted = {**one.wanted, "window": window}  # as the page does it while a slider moves
    one.wait()
    assert one.params["window"] == 13 and one.earlier == [] and not one.status
    expected = ks.apply("mean", np.tile(IMAGE, (8, 8)), window=13, variant="scipy")
    np.testing.assert_array_equal(one.results["scipy"], expected)


def test_a_wrong_value_of_the_page_is_a_sentence(view: View) -> None:
    one = view(IMAGE, "mean", variants=["scipy"])
    one.wait()
    for values in ({"window": 4}, {"window": "wide"}, {"windows": 3}, {"window": None}):
        one.fault = ""
        one.wanted = values
        assert re.search(r"window must be .* from 3 to 63|no parameter 'windows'.*window", one.fault), values
        assert one.params["window"] == 3
    one.wanted = {"window": 7, "border": "wrap"}
    assert one.fault == "" and one.params == {"window": 7, "border": "wrap"}
    one.shown = ["nonsense"]
    assert "nonsense" in one.fault and "scipy" in one.fault


@pytest.mark.parametrize(
    ("args", "named", "words"),
    [
        ((IMAGE, "meen"), {}, "no filter 'meen'; choose from mean, box"),
        ((IMAGE, "scan1d"), {}, "takes a signal"),
        ((np.zeros((2, 2, 2, 2)), "mean"), {}, "4 dimensions"),
        ((IMAGE.astype(complex), "mean"), {}, "only real numbers"),
        (("/nowhere/photo.png", "mean"), {}, "/nowhere/photo.png"),
        ((IMAGE, "mean"), {"windows": 3}, "no parameter 'windows'"),
        ((IMAGE, "mean"), {"window": 4}, "window must be"),
        ((IMAGE, "mean"), {"variants": []}, "choose from"),
        ((IMAGE, "mean"), {"variants": ["fast"]}, "fast"),
        ((IMAGE, "mean"), {"variants": ["naive"], "device": "cpu"}, "does not run on cpu"),
        ((IMAGE, "mean"), {"device": 3}, "device must be a name"),
        ((IMAGE, "mean"), {"rate": -1}, "rate must be a positive number"),
        (("photo.png", "mean"), {"rate": 100}, "A file has its own rate"),
        ((IMAGE, 7), {}, "filter must be a name"),
    ],
)
def test_what_is_refused(engine: shared_engine.SharedEngine, args: Any, named: Any, words: str) -> None:
    users = list(engine._users)
    with pytest.raises(ks.KernelscopeError) as caught:
        ks.view(*args, **named)
    assert words in str(caught.value) and "\n" not in str(caught.value)
    assert engine._users == users  # nothing is left over


def test_without_the_library_a_sentence_has_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(LibraryMissing, match=re.escape(install("notebook"))):
        ks.view(IMAGE, "mean")


def test_closing_frees_the_engine_with_the_last_view(view: View, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_engine, "_shared", None)  # one of its own
    first, second = view(IMAGE, "mean", variants=["scipy"]), view(IMAGE, "box", variants=["serial"])
    first.wait()
    engine = first._live._engine
    pid, names = engine.client.pid, list(engine.pool._segments)
    assert pid and names and engine is second._live._engine
    first.close()
    assert engine.client.pid == pid and first.closed and first.panes
    second.wait()
    assert "serial" in second.results
    second.close()
    until = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not Path(f"/proc/{pid}").exists() or os.name == "nt"
    assert engine.pool.nbytes == 0 and shared_engine._shared is None
    first.wanted = {**first.wanted, "window": 9}
    assert "closed; run its cell again" in first.fault


def test_of_many_views_the_first_one_is_closed(view: View, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(widget, "MOST_OPEN", 2)
    made = [view(IMAGE, "mean", variants=["scipy"]) for _ in range(3)]
    assert [one.closed for one in made] == [True, False, False]


def test_an_engine_that_dies_is_a_sentence_and_the_next_values_run(view: View) -> None:
    one = view(IMAGE, "mean", variants=["scipy"])
    one.wait()
    engine = one._live._engine
    one.set(window=9)
    os.kill(engine.client.pid, 9)
    one.wait()
    assert "The engine was killed" in one.fault or "scipy" in one.results  # it died at work, or between two jobs
    one.set(window=11)
    one.wait()
    assert one.fault == ""
    np.testing.assert_array_equal(one.results["scipy"], ks.apply("mean", IMAGE, window=11, variant="scipy"))


def test_a_saved_notebook_has_a_picture_and_a_text(view: View) -> None:
    one = view(IMAGE, "mean", variants=["scipy"])
    data, _ = one._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert data["text/plain"].startswith("Mean (image) of array; window 3, border reflect\nSciPy on cpu: ")
    still = pixels(base64.b64decode(data["image/png"]))
    assert still.shape[2] == 3 and min(still.shape[:2]) > 80 and (still != 255).mean() > 0.05
    one.close()
    assert pixels(one.picture()).shape == still.shape  # it stays


def test_a_part_is_sent_as_it_is_when_someone_looks_closer(view: View) -> None:
    large = np.random.default_rng(2).integers(0, 256, (1500, 2000), np.uint8)
    one = view(large, "mean", variants=["scipy"])
    one.wait()
    assert max(pixels(pane(one, "input")["png"]).shape) == widget.SIDE and one.details == {}
    one.window = {"place": [0.25, 0.5, 0.35, 0.6], "pixels": 400}
    assert set(one.details) == {"input", "scipy image", "difference"}
    np.testing.assert_array_equal(pixels(one.details["input"]["png"]), large[750:900, 500:700])
    assert one.details["input"]["place"] == [0.25, 0.5, 0.1, 0.1]
    one.window = {"place": ["far"], "pixels": 400}  # nonsense changes nothing
    assert set(one.details) == {"input", "scipy image", "difference"}
    one.window = {"place": list(WHOLE), "pixels": 400}
    assert one.details == {}


@pytest.mark.parametrize(
    ("array", "filter", "drawn"),
    [
        (IMAGE, "fft", "picture"),
        (IMAGE[0], "fft", "curve"),
        (IMAGE, "histogram", "curve"),
        (IMAGE[0], "reduce", "text"),
    ],
)
def test_each_kind_of_result_is_shown(view: View, array: Any, filter: str, drawn: str) -> None:
    one = view(array.astype(np.float32), filter, variants=["serial"])
    one.wait()
    found = next(p for p in one.panes if p["key"].startswith("serial"))
    assert found["drawn"] == drawn and found["caption"] and ("png" in found) == (drawn != "text")
    assert one.pair == [] and all(p["key"] != "difference" for p in one.panes)  # of another kind than the input
    if drawn == "text":
        assert found["table"][0][0] == "sum"
    else:
        assert pixels(found["png"]).std() > 0


# ---------------------------------------------------------------- pictures and panes by themselves


def form(array: np.ndarray[Any, Any], kind: Any = "image") -> Form:
    return Form(array.shape, array.dtype.name, INPUT_KINDS[kind].axes_of(array.shape))


def shown(array: np.ndarray[Any, Any], kind: Any = "image", **more: Any) -> Shown:
    return Shown("x image", "x", array, kind, form(array, kind), "", "text", **more)


def test_a_large_image_is_reduced_by_its_means_and_a_difference_by_its_largest() -> None:
    spot = np.zeros((512, 512))
    spot[100, 200] = 255.0
    assert pixels(image_png(spot, Ends(0, 255), 64)).max() == 4  # 255 / 64, rounded
    hot = pixels(image_png(spot, Ends(0, 255), 64, heat=True))
    assert np.argwhere(hot.sum(axis=2) > 600).tolist() == [[100 // 8, 200 // 8]]


def test_a_curve_keeps_a_single_sample() -> None:
    samples = np.zeros((100_000, 1))
    samples[70_007] = 1.0
    alpha = pixels(curve_png(samples, Ends(0, 1), 200, 100))[..., 3]
    assert alpha[:50].any(axis=0).nonzero()[0].tolist() == [140, 141] and alpha[-1].any()
    for size in (1, 2, 150, 300, 399):  # fewer samples than columns, and up to two in each
        for place in {0, size // 3, size - 1}:
            samples = np.zeros((size, 1))
            samples[place] = 1.0
            drawn = pixels(curve_png(samples, Ends(0, 1), 200, 100))[0, :, 3].nonzero()[0]
            assert drawn.size and abs(drawn - place * 200 / max(size - 1, 1)).min() <= 1, (size, place)


def test_what_is_not_finite_does_not_spoil_a_picture() -> None:
    odd = np.array([[np.nan, 1.0], [np.inf, -np.inf]])
    assert Ends.of(odd) == Ends(1.0, 2.0)
    assert pixels(image_png(odd, Ends(0, 2), 8)).tolist() == [[0, 128], [255, 0]]
    assert pixels(curve_png(np.full((9, 1), np.nan), Ends(0, 1), 20, 10))[..., 3].max() == 0


def test_a_part_lies_at_its_place_and_is_compared_there() -> None:
    whole, part = IMAGE.astype(np.float64), IMAGE[20:30, 40:60].astype(np.float64)
    piece = shown(part, place=(20, 40), whole=(60, 80))
    assert piece.pane(64)["place"] == [0.5, 20 / 60, 0.25, 10 / 60] and piece.pane(64)["ratio"] == 60 / 80
    for a, b in ((piece, shown(whole)), (shown(whole), piece)):
        found = difference(a, b)
        assert found is not None and found.caption == SAME and found.place == (20, 40)
    part[3, 5] += 7
    found = difference(piece, shown(whole))
    assert found is not None and found.array[3, 5] == 7 and "largest difference 7 at y 3" in found.caption
    line = shown(np.arange(10.0), "signal", place=(30,), whole=(100,))
    assert line.pane(64)["place"] == [0.3, 0.0, 0.1, 1.0]
    assert difference(shown(whole), shown(whole[:9])) is None


def test_a_window_covers_whole_pixels() -> None:
    assert Window(0.0, 0.0, 0.001, 0.001).columns(10) == slice(0, 1)
    assert Window(0.26, 0.0, 0.52, 1.0).columns(10) == slice(2, 6)
    assert Window(0.99, 0.0, 1.0, 1.0).columns(10) == slice(9, 10)
    assert Window(0.25, 0.5, 0.75, 1.0).shares(4, 8) == [0.25, 0.5, 0.5, 0.5]


# ---------------------------------------------------------------- the page


def test_the_page_needs_nothing_from_elsewhere() -> None:
    for path in RESOURCES.iterdir():
        assert not re.search(r"https?:|//cdn|import\s.*from|@import|url\(", path.read_text()), path.name


NODE = """
import { moved, newest, placed, zoomed } from "VIEW";
const close = (a, b) => a.every((x, k) => Math.abs(x - b[k]) < 1e-9) && a.length === b.length;
const check = (name, a, b) => { if (!close(a, b)) throw new Error(`${name}: ${a} and not ${b}`); };
check("closer about a point", zoomed([0, 0, 1, 1], 2, 0.5, 0.25), [0.25, 0.125, 0.75, 0.625]);
check("no farther than all", zoomed([0.25, 0.25, 0.75, 0.75], 0.1, 0.5, 0.5), [0, 0, 1, 1]);
check("back and forth", zoomed(zoomed([0, 0, 1, 1], 4, 0.9, 0.1), 0.25, 0.9, 0.1), [0, 0, 1, 1]);
check("closer within a part", zoomed([0.2, 0.2, 0.6, 0.6], 2, 0.3, 0.5), [0.25, 0.35, 0.45, 0.55]);
check("moved to the edge", moved([0.5, 0, 0.75, 0.25], 1, -1), [0.75, 0, 1, 0.25]);
check("the whole picture, seen closely", placed([0, 0, 1, 1], [0.25, 0.5, 0.75, 1], 200, 100), [-100, -100, 400, 200]);
const sent = [];
const send = newest((value) => sent.push(value), 20);
for (let k = 0; k < 10; k++) send(k);
await new Promise((done) => setTimeout(done, 60));
send(99);
check("the newest values only", sent, [0, 9, 99]);
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="node runs the page's functions, and is not installed")
def test_the_functions_of_the_page() -> None:
    code = NODE.replace("VIEW", (RESOURCES / "view.js").as_uri())
    done = subprocess.run(["node", "--input-type=module", "-e", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_a_drag_does_not_wait_for_a_slow_run(view: View) -> None:
    """The run of older values is stopped as soon as its first results have come, or after a moment."""
    one = view(np.tile(IMAGE, (4, 4)), "mean", variants=["scipy"])
    one._live.wait(60)
    cancelled: list[int] = []
    client = one._live._engine.client
    original, client.cancel = client.cancel, lambda job, kill=True: (cancelled.append(job), original(job, kill))[1]
    one.set(window=5)
    job = one._live._job
    one._live._unseen.clear()  # its pictures have come, its times have not
    one.set(window=7)
    assert cancelled == [job]
    one.wait()
    assert one.params["window"] == 7 and one.earlier == []


def test_a_script_without_a_guard_starts_an_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    monkeypatch.setattr(shared_engine, "_shared", None)
    started = RuntimeError("the engine starts")

    def start() -> None:
        raise started

    monkeypatch.setattr(shared_engine, "SharedEngine", start)
    main = ModuleType("__main__")
    main.__file__ = str(tmp_path / "script.py")
    monkeypatch.setitem(sys.modules, "__main__", main)
    with pytest.raises(RuntimeError) as caught:
        exec(compile(SCRIPT, main.__file__, "exec"), vars(main))
    assert caught.value is started
