"""Inputs in bands on a device: the same result as from the whole, and how much memory it takes."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gpu_ops import from_array
from gpu_ops.devices import cpu
from gpu_ops.devices.sim.memory import Memory
from gpu_ops.filters import FILTERS, find_filter
from gpu_ops.filters.kit import bands
from gpu_ops.filters.kit.bands import Band
from gpu_ops.filters.registry import Registry
from gpu_ops.running import device_bands, runner
from gpu_ops.running.runner import run_experiment
from gpu_ops.task import Task
from gpu_ops.types import BORDERS, Experiment, Pick, Run

LOCAL = [f for f in FILTERS if f.locality.kind != "global"]
HOSTS = [(f.id, v.id) for f in LOCAL for v in f.variants if v.device == "cpu"]
SHAPES = {"signal": (211,), "image": (37, 23)}
RNG = np.random.default_rng(5)
VALUES = {kind: RNG.integers(0, 256, shape).astype(np.uint8) for kind, shape in SHAPES.items()}
INPUTS = {
    (kind, dtype): from_array(values if dtype == "uint8" else (values / 7).astype(dtype), kind)
    for kind, values in VALUES.items()
    for dtype in ("uint8", "float32")
}
CHOSEN = {"mean1d": {"window": 9}, "mean2d": {"window": 5}, "box": {"radius": 4}, "conv3x3": {"passes": 2}}
CHOSEN |= {"histogram1d": {"bins": 16}, "histogram2d": {"bins": 16}}


def run(experiment: Experiment) -> Run:
    *_, last = run_experiment(experiment)
    return last


def cases(filter):
    """Experiments on whole inputs, for every border and an integer and a floating type."""
    has_border = any(p.name == "border" for p in filter.params)
    for dtype in filter.dtypes:
        for border in BORDERS if has_border else (None,):
            if (filter.accepts, dtype) in INPUTS:
                known = {p.name for p in filter.params}
                params = {k: v for k, v in CHOSEN.get(filter.id, {}).items() if k in known}
                params |= {"border": border} if border else {}
                yield Experiment(filter.id, INPUTS[filter.accepts, dtype], params, (), "none")


def check_same(filter, whole: Run, parts: Run) -> None:
    assert parts.ok and not parts.failure, parts.failure
    for output in filter.given(whole.params):
        a, b = whole.outputs[output.id], parts.outputs[output.id]
        if a.dtype.kind in "ui":
            assert a.dtype == b.dtype and np.array_equal(a, b), output.id
        else:
            error = parts.errors[output.id]
            np.testing.assert_allclose(a, b, rtol=0, atol=2 * max(error.tolerance * error.scale, 0), equal_nan=True)


def check_bands(filter, case: Experiment, pick: Pick) -> bool:
    """Whether the pick takes the case, in bands as well."""
    experiment = replace(case, picks=(pick,))
    whole = run(experiment)
    if whole.failure_kind == "unsupported":
        return False
    task = Task.of(case.input.meta, whole.params)
    several = 1 if pick.device == "cpu" else 3  # bands at a time
    room = 6 * several * bands.footprint(filter, task, 2 * bands.reach(filter, task) + 2)
    parts = run(replace(experiment, memory=min(room, bands.footprint(filter, task) - 1)))
    check_same(filter, whole, parts)
    assert "bands of" in parts.notes[-1] and not any("bands of" in note for note in whole.notes)
    return True


@pytest.mark.parametrize("id, variant", HOSTS)
def test_bands_give_what_the_whole_gives(id, variant):
    """Every variant with two borders, in turn; the thorough lane has them all."""
    filter, turn = find_filter(id), HOSTS.index((id, variant))
    borders = (None, BORDERS[turn % 4], BORDERS[(turn + 2) % 4])
    chosen = [case for case in cases(filter) if case.params.get("border") in borders]
    assert any([check_bands(filter, case, Pick(variant, "cpu")) for case in chosen])


@pytest.mark.thorough
@pytest.mark.parametrize("id, variant", HOSTS)
def test_bands_give_what_the_whole_gives_with_every_border(id, variant):
    filter = find_filter(id)
    assert any([check_bands(filter, case, Pick(variant, "cpu")) for case in cases(filter)])


@pytest.mark.parametrize("filter", [f for f in LOCAL if not f.end_to_end], ids=lambda f: f.id)
def test_bands_on_a_simulated_gpu(filter):
    first = next(v.id for v in filter.variants if v.device == "cuda" and not v.library)
    dtype = "uint8" if "uint8" in filter.dtypes else filter.dtypes[0]
    *_, last = (c for c in cases(filter) if c.input.array.dtype == dtype)  # the border wrap, where there is one
    assert check_bands(filter, last, Pick(first, "sim"))


@pytest.mark.parametrize("result", ["counts", "statistics"])
def test_histograms_of_parts_share_the_range_of_the_whole(result):
    values = np.arange(-500, 500, dtype=np.float64) ** 3
    case = Experiment("histogram1d", from_array(values), {"result": result}, (Pick("serial", "cpu"),), "none")
    whole, parts = run(case), run(replace(case, memory=3000))
    for name, array in whole.outputs.items():
        assert np.array_equal(array, parts.outputs[name])
    assert parts.ok and "bands of" in parts.notes[-1]


class TestGeometry:
    MEAN, BOX = find_filter("mean1d"), find_filter("box")

    def task(self, count: int, window: int, border: str) -> Task:
        return Task.of(from_array(np.zeros(count)).meta, {"window": window, "border": border})

    def test_halos_end_at_the_edges_and_go_on_with_wrap(self):
        assert bands.split(self.MEAN, self.task(10, 5, "reflect"), 4) == [
            Band(0, 4, 0, 6),
            Band(4, 8, 2, 10),
            Band(8, 10, 5, 10),
        ]
        wrapped = bands.split(self.MEAN, self.task(10, 5, "wrap"), 4)
        assert [(b.low, b.high) for b in wrapped] == [(-2, 6), (2, 10), (6, 12)]
        assert [b.inner for b in wrapped] == [slice(2, 6)] * 2 + [slice(2, 4)]

    @pytest.mark.parametrize("border", ["zero", "wrap"])
    def test_the_largest_band_that_fits(self, border):
        task = self.task(64, 9, border)
        for nbytes in range(0, 1300, 8):
            rows = bands.rows_within(self.MEAN, task, nbytes)
            if not rows:
                assert nbytes < bands.narrowest(self.MEAN, task)
                continue
            most = max(b.high - b.low for b in bands.split(self.MEAN, task, rows))
            assert bands.footprint(self.MEAN, task, most) <= nbytes
            assert rows == 64 or bands.footprint(self.MEAN, task, rows + 9) > nbytes

    def test_a_halo_larger_than_the_bands(self):
        picture = from_array(np.random.default_rng(1).integers(0, 65536, (41, 9)).astype(np.uint16))
        case = Experiment("box", picture, {"radius": 12}, (Pick("serial", "cpu"),), "none")
        for border in BORDERS:
            case = replace(case, params={"radius": 12, "border": border})
            parts = run(replace(case, memory=4 * 9 * 26))
            assert "of 2 rows" in parts.notes[-1] and parts.ok
            assert np.array_equal(parts.outputs["image"], run(case).outputs["image"])


class TestRefusals:
    PICTURE = INPUTS["image", "float32"]

    def refused(self, filter: str, memory: int, params: dict | None = None, **how: str) -> str:
        pick = Pick("serial", how.pop("device", "cpu"))
        result = run(
            Experiment(filter, self.PICTURE, params or {}, (pick,), how.pop("protocol", "none"), memory=memory)
        )
        assert result.failure_kind == "memory" and not result.outputs
        return result.failure

    def test_a_global_filter_names_what_it_needs(self):
        for filter, params in (("fft2d", {}), ("wavelet2d", {"levels": 1})):
            said = self.refused(filter, 5000, params)
            assert "needs its whole input at once, because each value of its result depends on the whole" in said
            assert "cpu has 5,000 free. Use a smaller input." in said
            assert self.refused(filter, 5000, params, protocol="quick") == said

    @pytest.mark.parametrize(
        "filter, variant, device, params",
        [
            ("fft2d", "scipy", "cpu", {"window": "Hann"}),
            pytest.param("wavelet2d", "shared", "sim", {"levels": 1}, marks=pytest.mark.thorough),
        ],
    )
    def test_the_bytes_that_a_global_filter_names_are_those_that_it_needs(self, filter, variant, device, params):
        case = Experiment(filter, self.PICTURE, params, (Pick(variant, device),), "none", checks="off")
        said = run(replace(case, memory=5000)).failure
        needed = int(
            re.search(rf"([0-9,]+) bytes for input, outputs and what {variant} keeps", said)[1].replace(",", "")
        )
        assert not run(replace(case, memory=needed)).failure
        assert f" {needed:,} bytes for" in run(replace(case, memory=needed - 1)).failure

    def test_a_library_of_a_gpu_does_not_say_what_it_needs(self):
        filter = find_filter("fft2d")
        task = Task.of(self.PICTURE.meta, {p.name: p.default for p in filter.params})
        attempt = SimpleNamespace(
            filter=filter, variant=filter.variant("cupy"), task=task, device=SimpleNamespace(kind="cuda")
        )
        words = "10,212 bytes for input and outputs, and more between them"
        assert device_bands._bytes_of_whole(attempt) == words

    def test_transfers_have_their_own_host_memory_for_the_whole(self):
        failure = run(
            Experiment("transfer2d", self.PICTURE, {}, (Pick("streams", "sim"),), "none", memory=5000)
        ).failure
        assert "because its plan has host memory for the whole" in failure

    def test_equalised_samples_need_all_counts(self):
        said = self.refused("histogram2d", 5000, {"result": "equalised"})
        assert "an equalised sample depends on the counts of all samples (choose result statistics or counts)" in said

    def test_a_simulated_gpu_is_named_beside_the_host(self):
        filter = find_filter("fft2d")
        pick = Pick(next(v.id for v in filter.variants if v.kernels), "sim")
        failure = run(Experiment("fft2d", self.PICTURE, {}, (pick,), "none", memory=5000)).failure
        assert "sim has 5,000 free and this machine" in failure and "(--device cpu)" in failure

    def test_not_even_one_row_fits(self):
        said = self.refused("box", 700, {"radius": 4})
        assert "One of the rows with the 4 rows on either side that it reads needs 1,656 bytes" in said
        assert "cpu has 700 free" in said

    def test_what_is_timed_does_not_go_in_bands(self):
        said = self.refused("mean2d", 5000, protocol="quick")
        assert said.endswith("5,000 are allowed. A run that is not timed goes in bands.")
        assert "bands" not in self.refused("fft2d", 5000, protocol="quick")

    def test_a_device_that_is_full_goes_on_in_bands(self, monkeypatch):
        """Without a stated limit, the device itself says that it is full."""
        experiment = Experiment("mean2d", self.PICTURE, {}, (Pick("naive", "sim"),), "none")
        whole = run(experiment)
        opened = runner.open_device("sim")
        monkeypatch.setattr(opened, "_memory", Memory((1 << 17) + 2 * self.PICTURE.array.nbytes - 1))
        parts = run(experiment)
        assert parts.ok and "sim has" in parts.notes[-1] and "bands of" in parts.notes[-1]
        assert np.array_equal(whole.outputs["image"], parts.outputs["image"])

    def test_a_machine_that_is_nearly_full(self, monkeypatch):
        """The system grants memory that it does not have; the device looks first."""
        monkeypatch.setattr(cpu, "LARGE", 0)
        monkeypatch.setattr(cpu, "free_memory", lambda: (1 << 17) + self.PICTURE.array.nbytes - 1)
        parts = run(Experiment("mean2d", self.PICTURE, {}, (Pick("serial", "cpu"),), "none"))
        assert parts.ok and "bands of 18 rows: cpu has" in parts.notes[-1]


def test_faults_of_a_band_are_those_of_the_run(monkeypatch):
    """What a kernel does to memory that is not its own condemns the run, in bands as in the whole."""
    monkeypatch.setattr(device_bands.GuardedSession, "damaged", lambda self: True)
    case = next(cases(find_filter("mean2d")))
    last = run(replace(case, picks=(Pick("serial", "cpu"),), memory=500))
    assert last.ok is False and "memory outside the arrays was written" in last.notes[-1]


class TestMemoryOfBands:
    """Each band runs over memory of which every byte is known, twice, and its input is looked at afterwards."""

    CASE = Experiment("mean2d", INPUTS["image", "uint8"], {"window": 3}, (Pick("serial", "cpu"),), "none", memory=900)

    def run_with(self, monkeypatch, wrap) -> Run:
        """The mean filter whose variant does what `wrap` makes of its function."""
        filter = find_filter("mean2d")
        serial = filter.variant("serial")

        def plan(device, task):
            made = serial.plan(device, task)
            (step,) = made.steps
            return replace(made, steps=(replace(step, function=wrap(step.function)),))

        changed = replace(filter, variants=(replace(serial, plan=plan),))
        monkeypatch.setattr(Registry, "find", lambda self, name, kind=None: changed)
        return run(self.CASE)

    def test_right_bands_are_right(self, monkeypatch):
        assert "bands of" in (last := self.run_with(monkeypatch, lambda function: function)).notes[-1] and last.ok

    @pytest.mark.parametrize("kept", [0x00, 0xFF])
    def test_an_element_that_no_band_writes_is_found_whatever_it_should_be(self, monkeypatch, kept):
        """In one of the two runs it cannot look right."""

        def wrap(function):
            def leaves_one(*arrays):
                out = next(a for a in arrays if isinstance(a, np.ndarray) and a is not arrays[0])
                before = out[0, 0].copy()
                function(*arrays)
                out[0, 0] = before

            return leaves_one

        values = np.full(VALUES["image"].shape, kept, np.uint8)
        monkeypatch.setattr(type(self), "CASE", replace(self.CASE, input=from_array(values)))
        last = self.run_with(monkeypatch, wrap)
        assert "bands of" in last.notes[0] and last.ok is False

    def test_every_band_finds_the_same_bytes_in_its_outputs(self, monkeypatch):
        """All bits set in the first run, none in the second."""
        found = []

        def wrap(function):
            def noting(x, out, *more):
                found.append(set(out.reshape(-1).view(np.uint8).tolist()))
                function(x, out, *more)

            return noting

        assert self.run_with(monkeypatch, wrap).ok
        half = len(found) // 2
        assert half > 2 and found == [{0xFF}] * half + [{0}] * half

    def test_an_input_that_is_overwritten_is_found(self, monkeypatch):
        def wrap(function):
            def spoils(x, *arrays):
                function(x, *arrays)
                x[-1, -1] ^= 1

            return spoils

        last = self.run_with(monkeypatch, wrap)
        assert last.ok is False and "the input was overwritten" in last.notes

    def test_all_bands_read_as_many_rows(self, monkeypatch):
        """37 rows are no multiple of the bands' rows: the last one reads more from inside, and has the others' plan."""
        sizes = []

        def wrap(function):
            def noting(x, *arrays):
                sizes.append(len(x))
                function(x, *arrays)

            return noting

        last = self.run_with(monkeypatch, wrap)
        assert last.ok and len(set(sizes)) == 1 and 37 % (sizes[0] - 2)
