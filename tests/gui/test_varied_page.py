"""A page with sliders: its script shows what a fresh X-ray counts, and every text of strangers is only text."""

from __future__ import annotations

import base64
import io
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page_script import Page
from PIL import Image

from gpu_ops import FILTERS, ParamError, from_array
from gpu_ops.cli import main
from gpu_ops.counters import UNKNOWN, add_up
from gpu_ops.devices.kernel_source import read_source
from gpu_ops.errors import LimitReached
from gpu_ops.explaining.prediction.counting import count_launches
from gpu_ops.explaining.prediction.gpus import find_gpu
from gpu_ops.explaining.prediction.model import predict
from gpu_ops.explaining.result_tables import duration
from gpu_ops.explaining.sentences import explain
from gpu_ops.explaining.traffic.recording import record_traffic
from gpu_ops.explaining.varied import making, page
from gpu_ops.explaining.varied.axes import axes_of
from gpu_ops.explaining.varied.making import Job, count_settings, page_of
from gpu_ops.explaining.xray import XRay, xray
from gpu_ops.types import Pick

EVIL = "</script><script>alert(1)</script><img src=x>.npy"
FILTER, GPU = FILTERS.find("mean1d"), find_gpu("t4")
OVER = {"window": ["9", "3"], "block": ["128", "32", "1100"]}
SIGNAL = from_array(np.arange(600, dtype=np.float32), kind="signal", name=EVIL)


def job(input: Any = SIGNAL, **more: Any) -> Job:
    picks = [Pick("naive", "sim"), Pick("scan", "sim")]
    return Job(FILTER, picks, {}, input, input, "sm_75", **more)


def write(path: Path, job: Job, over: dict[str, list[str]]) -> Path:
    axes = axes_of(FILTER, [pick.variant for pick in job.picks], over)
    page_of(job, axes, count_settings(job, axes, lambda *_: nullcontext())).write(path)
    return path


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("page") / "a.html", job(gpus=(GPU,)), OVER)


@pytest.fixture
def opened(qapp: object, file: Path) -> Page:
    return Page(file)


def fresh(variant: str, window: int, **knobs: int) -> XRay:
    return xray(FILTER, FILTER.variant(variant), SIGNAL, {"window": window}, knobs, "sm_75", code=True)


def grouped(counts: dict[str, int], id: str) -> str:
    return f"{counts.get(id, 0):,}"


@pytest.mark.parametrize("window, block", [(3, 32), (3, 128), (9, 32), (9, 128)])
def test_a_slider_shows_what_a_fresh_xray_counts(opened: Page, window: int, block: int) -> None:
    opened.move("window", window)
    opened.move("block", block)
    found = fresh("naive", window, block=block)
    totals = {name: (count, ideal) for name, count, ideal in opened.rows("totals")[1:]}
    for id in ("warp_instructions", "global_load_requests", "global_store_sectors"):
        assert totals[page.COUNTERS[id].name][0] == grouped(found.totals, id)
    both = totals["global load sectors"]
    assert both == (grouped(found.totals, "global_load_sectors"), grouped(found.totals, "global_load_ideal_sectors"))
    assert opened.shown("sentences").split("\n") == [s.text for s in explain(found)]
    held = found.kernels[0].occupancy
    assert held is not None and f"{held.share:.0%}: {held.blocks} block" in opened.shown("launches")
    launches = count_launches(FILTER, FILTER.variant("naive"), SIGNAL, {"window": window}, {"block": block}, GPU)
    time = predict(launches, GPU)
    assert opened.rows("times")[1][:2] == [GPU.model, f"{duration(time.low)} to {duration(time.high)}"]
    assert opened.shown("summary") == f"variant naive, window {window}, block {block}: {both[0]} global load sectors"


def test_each_source_line_has_its_counts(opened: Page) -> None:
    opened.choose_counter("warp instructions")
    opened.move("window", 9)
    (own, *_) = fresh("naive", 9, block=32).kernels[0].files
    lines = {row[0]: row[2] for row in opened.rows("kernels")[1 : 1 + len(own.text.splitlines())]}
    for number in range(1, 1 + len(own.text.splitlines())):
        count = add_up((own.lines.get(number, {}), own.calls.get(number, {}))).get("warp_instructions", 0)
        assert lines[str(number)] == (f"{count:,}" if count else "")


def test_a_count_that_depends_on_which_thread_comes_first_has_no_number(
    qapp: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor a bar; instructions are known."""
    unsettled = {"unsettled_requests": 1}
    monkeypatch.setattr(page, "add_up", lambda counts: add_up((*counts, unsettled)))
    opened = Page(write(tmp_path / "a.html", job(), {"window": ["3"]}))
    lines = len(fresh("naive", 3).kernels[0].files[0].text.splitlines())
    for counter, known in (("warp instructions", True), ("global load sectors", False), ("active lanes per", True)):
        opened.choose_counter(next(c.name for c in page.SHOWN if c.name.startswith(counter)))
        found = {row[2] for row in opened.rows("kernels")[1 : 1 + lines]} - {""}
        assert found and (found == {UNKNOWN}) != known and (UNKNOWN in found) != known, counter


def test_sliders_go_from_the_smallest_value_on_and_begin_at_one_that_was_counted(opened: Page) -> None:
    assert [axis["values"] for axis in opened.data["axes"]] == [["naive", "scan"], [3, 9], [32, 128, 1100]]
    assert opened.run("labelled('block').max") == "2" and opened.run("labelled('block').type") == "range"
    assert opened.run("labelled('block').attributes['aria-valuetext']") == "32 threads"
    assert [row[0] for row in opened.rows("along")] == ["▸ naive", "scan", "▸ 3", "9", "▸ 32", "128", "1100"]


def test_what_is_not_allowed_says_why(opened: Page) -> None:
    opened.move("block", 1100)
    assert "block must be an integer from 16 to 1024 in steps of 16, not 1100" in opened.shown("reason")
    assert opened.run("byId.counted.hidden") == "true" and "not counted" in opened.shown("summary")
    opened.move("block", 128)
    assert opened.shown("reason") == "" and opened.run("byId.counted.hidden") == "false"
    opened.move("variant", "scan")
    assert "scan" in opened.shown("summary") and "not counted" not in opened.shown("summary")
    opened.move("block", 32)  # which the scan does not take
    assert "block must be one of 128, 256" in opened.shown("reason")


def test_a_knob_that_a_variant_lacks_changes_nothing_and_is_counted_once(qapp: object, tmp_path: Path) -> None:
    seen = []
    axes = axes_of(FILTER, ["naive", "scan"], {"outputs": ["1", "2"]})
    settings = count_settings(
        job(), axes, lambda pick, place, count: seen.append((pick.variant, place, count)) or nullcontext()
    )
    assert seen == [("naive", 0, 4), ("naive", 1, 4), ("scan", 2, 4)]
    assert [one.idle for one in settings] == [(), (), ("outputs",), ("outputs",)]
    opened = Page(write(tmp_path / "a.html", job(), {"outputs": ["1", "2"]}))
    assert opened.shown("idle") == ""
    opened.move("variant", "scan")
    assert opened.shown("idle") == "scan has no outputs: changing it changes nothing here."


def test_the_traffic_is_what_is_recorded(opened: Page) -> None:
    opened.move("window", 9)
    traffic = record_traffic(FILTER, FILTER.variant("naive"), SIGNAL, {"window": 9}, {"block": 32}).traffic()
    counts = traffic.painted("sectors")
    assert opened.shown("fetched") == (
        f"The sector of a sample is fetched {counts.min()} to {counts.max()} times in this setting."
    )
    assert opened.run("byId.picture.src").startswith("data:image/png;base64,iVBOR")
    assert opened.run("byId.picture.className") == "strip"
    source = opened.run("byId.picture.src").partition(",")[2]
    pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(source))))
    light = 255 * np.log2(1 + counts[:3]) / np.log2(1 + opened.data["most"])
    assert pixels.shape == (1, 512) and pixels[0, :3].tolist() == np.rint(light).tolist()


def test_texts_of_strangers_are_only_texts(file: Path, opened: Page) -> None:
    html5lib = pytest.importorskip("html5lib")  # a GPU host may lack it
    tree = html5lib.HTMLParser(namespaceHTMLElements=False).parse(file.read_text())
    assert EVIL in " ".join(tree.itertext()) and len(tree.findall(".//script")) == 2
    assert {image.get("id") for image in tree.findall(".//img")} == {"picture"}
    policy = tree.find(".//meta[@http-equiv]").get("content")
    assert "default-src 'none'" in policy and "http" not in file.read_text().replace("http-equiv", "")


def test_a_page_is_the_same_every_time(file: Path, tmp_path: Path) -> None:
    assert write(tmp_path / "b.html", job(gpus=(GPU,)), OVER).read_bytes() == file.read_bytes()


def test_too_much_is_refused_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = ",".join(str(n) for n in range(3, 3 + 2 * 401, 2))
    with pytest.raises(ParamError, match=r"1 of variant × 401 of window are 401 combinations, and a page holds 400"):
        axes_of(FILTER, ["naive"], {"window": many.split(",")})
    with pytest.raises(ParamError, match="height is nothing that varies; choose from window, border, block, outputs"):
        axes_of(FILTER, ["naive"], {"height": ["3"]})
    monkeypatch.setattr(page, "MOST_BYTES", 1 << 14)
    with pytest.raises(ParamError, match=r"The page would have 0\.\d MiB.*2 combinations: name fewer values"):
        write(tmp_path / "a.html", job(), {})
    assert not list(tmp_path.iterdir())
    with pytest.raises(ParamError, match=r"No combination can be counted\. The first one: window must be"):
        write(tmp_path / "a.html", job(), {"window": ["4"]})


def test_the_command_writes_a_page_that_names_a_kernel_of_its_own(
    qapp: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = Path(making.__file__).parents[2] / "kernels" / FILTER.variant("naive").kernels[0]
    own, target, input = tmp_path / "<b>mine.cu", tmp_path / "a.html", tmp_path / "x.npy"
    own.write_text(source.read_text())
    np.save(input, np.arange(64, dtype=np.float32))
    call = ["xray", "mean", "naive", "--input", str(input), "--html", str(target), "--kernel", str(own)]
    assert main([*call, "--over", "window=3,5"]) == 0
    assert "2 combinations counted" in capsys.readouterr().out
    opened = Page(target)
    assert [file[0] for file in opened.data["files"]][0] == "<b>mine.cu" and "<b>mine" not in opened.text
    assert main([*call, "--over", "window=3,5", "--over", "window=7"]) == 2
    assert "window is given twice" in capsys.readouterr().err
    assert main([*call, "--json", "-"]) == 2 and "--html writes a page of its own" in capsys.readouterr().err
    assert main(["xray", "mean", "naive", "--over", "window=3"]) == 2
    assert "--over is for --html FILE" in capsys.readouterr().err


def test_a_kernel_that_stops_is_a_reason_with_its_findings(qapp: object, tmp_path: Path) -> None:
    file = FILTER.variant("naive").kernels[0]
    head, brace, rest = read_source(file).partition("const long long first")
    text = head + "if (x[0] == 0) y[-(1 << 28)] = 0, __trap();\n" + brace + rest
    assert brace
    stopped = replace(job(), picks=[Pick("scan", "sim"), Pick("naive", "sim", {}, {file: text})])
    opened = Page(write(tmp_path / "a.html", stopped, {}))
    assert opened.shown("reason") == "" and opened.shown("findings") == "none"
    opened.move("variant", "naive")
    assert "trap" in opened.shown("reason") and "out of bounds" in opened.shown("findings")


def test_traffic_that_takes_too_long_leaves_the_counts(
    qapp: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def record(*about: object) -> None:
        raise LimitReached("6 s", "", "The edited kernel of naive")

    monkeypatch.setattr(making, "record_traffic", record)
    opened = Page(write(tmp_path / "a.html", job(), {}))
    assert opened.shown("reason") == "The traffic was not recorded: The edited kernel of naive took more than 6 s."
    opened.move("variant", "scan")
