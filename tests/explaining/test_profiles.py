"""Reports of Nsight Compute next to the simulated counts. The profiles are of one launch on an NVIDIA H200 with Nsight
Compute 2025.3: `kernelscope run mean1d --variant shared --sample noise --length 3000 --device cuda:0`."""

from __future__ import annotations

import csv
import io
import lzma
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpu_ops import ParamError, find_filter, from_array
from gpu_ops.cli import main
from gpu_ops.devices.nvrtc import nvrtc_version
from gpu_ops.devices.sass.listing import SassLine, control_of
from gpu_ops.errors import ReportError
from gpu_ops.explaining.machine_code import KernelCode
from gpu_ops.explaining.profiler.comparing import (
    AGAIN,
    DIVERGED,
    MOVED,
    OTHER,
    OTHER_CODE,
    TURNS,
    KernelProfile,
    compare_with_profile,
)
from gpu_ops.explaining.profiler.instructions import profiled_instructions, simulated_instructions
from gpu_ops.explaining.profiler.launches import IDEAL, SECTORS, WAVEFRONTS, ProfiledLaunch
from gpu_ops.explaining.profiler.reading import read_profile
from gpu_ops.explaining.xray import XRay, xray
from gpu_ops.version import exact, install

FOLDER = Path(__file__).parent / "profiles"
REPORT = FOLDER / "mean1d_shared.ncu-rep"


def counted(length: int = 3000, architecture: str = "sm_90", variant: str = "shared") -> XRay:
    found = find_filter("mean1d")
    return xray(found, found.variant(variant), from_array(np.ones(length, np.float32)), {}, {}, architecture)


@pytest.fixture(scope="module")
def simulated() -> XRay:
    return counted()


def table(kind: str, folder: Path, before: str = "", after: str = "") -> Path:
    """A table of ncu, with one text replaced."""
    path = folder / f"{kind}.csv"
    text = lzma.decompress((FOLDER / f"mean1d_shared-{kind}.csv.xz").read_bytes()).decode()
    assert before in text
    path.write_text(text.replace(before, after) if before else text)
    return path


def grouped(text: str, thousands: str, decimal: str) -> str:
    """A table in which numbers of three digits or more are a thousand times as large, with these marks."""
    number = re.compile(r'"(\d{3,}|\d+\.\d+)"')

    def other(found: re.Match[str]) -> str:
        whole, _, rest = found[1].partition(".")
        extent = f"{int(whole) * 1000:,}".replace(",", thousands) if not rest else whole
        return f'"{extent}{decimal + rest if rest else ""}"'

    head, units, row = text.splitlines()
    return "\n".join((head, units, number.sub(other, row)))


def only(profiles: list[KernelProfile]) -> KernelProfile:
    (one,) = profiles
    return one


def test_every_line_of_a_report_has_the_simulated_counts(simulated: XRay) -> None:
    pytest.importorskip("ncu_report")
    found = only(compare_with_profile(simulated, REPORT))
    assert found.notes == () and len(found.lines) == 8 and len(found.totals) == 4
    assert all(one.equal and not one.why for one in (*found.lines, *found.totals))
    assert {(one.line, one.counter): one.profiled for one in found.lines}[26, "sectors"] == 490
    (launch,) = read_profile(REPORT)
    assert (launch.card, launch.architecture, launch.grid, launch.block) == (
        *("NVIDIA H200", "sm_90"),
        *((12, 1, 1), (128, 1, 1)),
    )


def test_a_table_of_lines_is_compared_by_line(simulated: XRay, tmp_path: Path) -> None:
    found = only(compare_with_profile(simulated, table("lines", tmp_path)))
    assert [one.equal for one in found.lines] == [True] * 8
    assert found.notes == ("The profile does not say which GPU it is of, so no difference is explained.",)


def test_a_raw_table_has_totals_alone(simulated: XRay, tmp_path: Path) -> None:
    found = only(compare_with_profile(simulated, table("totals", tmp_path)))
    assert found.notes == ("The profile has totals, but no lines.",) and found.lines == ()
    assert {one.counter: one.profiled for one in found.totals if one.equal} == {
        **{"sectors": 865, "ideal sectors": 762, "wavefronts": 575, "ideal wavefronts": 575}
    }


@pytest.mark.parametrize("word", ["nan", "n/a", "inf", ""])
def test_a_counter_that_is_no_number_is_missing(simulated: XRay, tmp_path: Path, word: str) -> None:
    found = only(compare_with_profile(simulated, table("totals", tmp_path, '"865"', f'"{word}"')))
    assert "totals.csv has no sectors: profile with ncu --section SourceCounters." in found.notes
    (sectors,) = [one for one in found.totals if one.counter == "sectors"]
    assert sectors.profiled is None and not sectors.equal and not sectors.why


def test_a_line_whose_counter_is_no_number_has_none(simulated: XRay, tmp_path: Path) -> None:
    found = only(compare_with_profile(simulated, table("lines", tmp_path, '"490"', '"nan"')))
    assert "lines.csv has no sectors: profile with ncu --section SourceCounters." in found.notes
    missing = {(one.line, one.counter) for one in found.lines if one.profiled is None}
    assert missing == {(26, "sectors"), (33, "sectors")} and all(one.equal for one in found.lines if one.profiled)


MARKS = {
    "plain": ("", "."),
    "English": (",", "."),
    "German": (".", ","),
    "French": ("\u202f", ","),
    "Swiss": ("’", "."),
}


@pytest.mark.parametrize("language", MARKS)
def test_numbers_of_other_languages_are_read(tmp_path: Path, language: str) -> None:
    path = table("totals", tmp_path)
    path.write_text(grouped(path.read_text(), *MARKS[language]), encoding="utf-8")
    (launch,) = read_profile(path)
    assert [launch.totals[name] for name in (SECTORS, IDEAL, WAVEFRONTS)] == [865_000, 762_000, 575_000]
    assert launch.grid == (12, 1, 1) and launch.block == (128, 1, 1) and launch.architecture == "sm_90"


def rewritten(text: str, separator: str) -> str:
    """A table with this separator, and with quotes where they are needed."""
    written = io.StringIO()
    csv.writer(written, delimiter=separator).writerows(csv.reader(io.StringIO(text)))
    return written.getvalue()


SAVED = {
    "Windows shell": lambda text: text.replace("\n", "\r\n").encode("utf-16"),
    "spreadsheet": lambda text: ("sep=;\r\n" + rewritten(text, ";")).encode("utf-8-sig"),
    "no quotes": lambda text: rewritten(text, ",").encode(),
    "lines of ncu": lambda text: f'==PROF== Connected to "python"\nok\n{text}==PROF== Disconnected\n'.encode(),
    "lines below": lambda text: f"{text}done\n\0\n".encode(),
}


@pytest.mark.parametrize("saved", SAVED)
@pytest.mark.parametrize("kind", ["totals", "lines"])
def test_a_table_that_came_another_way_is_the_same(tmp_path: Path, kind: str, saved: str) -> None:
    path = table(kind, tmp_path)
    before = read_profile(path)
    path.write_bytes(SAVED[saved](path.read_text()))
    assert read_profile(path) == before


def test_a_list_of_metrics_has_totals(tmp_path: Path) -> None:
    names = "ID,Kernel Name,Block Size,Grid Size,CC,Metric Name,Metric Unit,Metric Value"
    launch = '0,mean1d_shared,"(128, 1, 1)","(1,024, 1, 1)",10.0'
    path = tmp_path / "list.csv"
    path.write_text(f'{names}\n{launch},{SECTORS},sectors,"1,865"\n{launch},{WAVEFRONTS},,575\n')
    (found,) = read_profile(path)
    assert found.totals == {SECTORS: 1865, WAVEFRONTS: 575}
    assert (found.grid, found.architecture) == ((1024, 1, 1), "sm_100")
    german = launch.replace("1,024", "1.024").replace("10.0", '"10,0"')
    path.write_text(f'{names}\n{german},{SECTORS},sectors,"1.865"\n{german},{WAVEFRONTS},,"57,5"\n')
    (found,) = read_profile(path)
    assert found.totals == {SECTORS: 1865, WAVEFRONTS: 57.5}, "as in German"
    path.write_text(f"{names}\n{launch},{SECTORS},sectors,865\n{launch},{WAVEFRONTS},\n")
    with pytest.raises(ReportError, match="list.csv ends within the launch 0"):
        read_profile(path)
    path.write_text(f"{names}\n{launch},Duration,usecond,3.5\n")
    with pytest.raises(ReportError, match="list.csv has the page details.* --page raw"):
        read_profile(path)


def test_rounded_and_cut_off_tables_are_refused(tmp_path: Path) -> None:
    for unit in ("Ksectors", "Msectors", "Gsectors", "Tsectors"):
        with pytest.raises(ReportError, match=f"has rounded counters, in {unit}; print it with ncu --print-units base"):
            read_profile(table("totals", tmp_path, '"sectors"', f'"{unit}"'))
    path = table("totals", tmp_path)
    path.write_text(path.read_text()[:-3000])
    with pytest.raises(ReportError, match="ends within the launch 0"):
        read_profile(path)
    path.write_text('"ID","Kernel Name","' + 200_000 * "x")
    with pytest.raises(ReportError, match="is no table .field larger"):
        read_profile(path)


def test_a_launch_that_a_profile_repeats_is_compared_once(simulated: XRay, tmp_path: Path) -> None:
    path = table("totals", tmp_path)
    head, units, row = path.read_text().splitlines()
    path.write_text("\n".join([head, units, *[row] * 200]))
    found = only(compare_with_profile(simulated, path))
    assert all(one.equal for one in found.totals) and found.notes == (
        "The profile has totals, but no lines.",
        "The profile has the same counts 200 times; those of once are compared.",
    )
    path.write_text("\n".join([head, units, row, row.replace('"865"', '"866"')]))
    found = only(compare_with_profile(simulated, path))
    assert "The profile has 2 launches of this kernel, the simulation 1." in found.notes


def test_of_many_other_kernels_a_few_are_named(simulated: XRay, tmp_path: Path) -> None:
    path = table("totals", tmp_path)
    head, units, row = path.read_text().splitlines()
    path.write_text("\n".join([head, units, *(row.replace("mean1d_shared", f"other{n}") for n in range(200))]))
    with pytest.raises(ParamError, match="is of other0, other1, other2, other3, other4 and 195 others, the X-ray of"):
        compare_with_profile(simulated, path)


def test_another_card_and_another_grid_are_said_and_nothing_is_explained(tmp_path: Path) -> None:
    found = only(compare_with_profile(counted(2000, "sm_75"), table("totals", tmp_path)))
    assert found.notes[:2] == (
        "The profile is of NVIDIA H200 (sm_90), the simulation of sm_75: simulate sm_90.",
        "The profile has a grid of 12 x 1 x 1, the simulation of 8 x 1 x 1: take the same input.",
    )
    assert not any(one.equal or one.why for one in found.totals)


def test_a_count_that_another_line_has_is_explained_by_the_equal_total(simulated: XRay, tmp_path: Path) -> None:
    pytest.importorskip("ncu_report")
    lines = {place: dict(one) for (launch,) in [read_profile(REPORT)] for place, one in launch.lines.items()}
    moved = next(place for place in lines if place[1] == 33)
    lines[moved[0], 30] = {**lines.get((moved[0], 30), {}), SECTORS: lines[moved].pop(SECTORS)}
    from gpu_ops.explaining.profiler import comparing

    (launch,) = read_profile(REPORT)
    other = ProfiledLaunch(**{**vars(launch), "lines": lines})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparing, "read_profile", lambda path: [other])
        found = only(compare_with_profile(simulated, REPORT))
    assert {one.line: one.why for one in found.lines if not one.equal} == {30: MOVED, 33: MOVED}


@pytest.mark.parametrize(("atomics", "unsettled", "why"), [(0, 0, OTHER), (3, 0, AGAIN), (3, 2, TURNS)])
def test_a_line_with_atomic_operations_has_a_reason_of_its_own(
    simulated: XRay, atomics: int, unsettled: int, why: str
) -> None:
    pytest.importorskip("ncu_report")
    (kernel,) = simulated.kernels
    counts = {**kernel.totals, "atomics": atomics, "unsettled_requests": unsettled, "shared_wavefronts": 1}
    (found,) = compare_with_profile(replace(simulated, kernels=(replace(kernel, totals=counts),)), REPORT)
    assert {one.why for one in found.totals if not one.equal} == {why}


def sass(*texts: str) -> tuple[SassLine, ...]:
    """Machine code of these texts, each with the label of its place."""
    return tuple(SassLine(16 * at, text, 0, control_of(0), {}, f".L_x_{at}") for at, text in enumerate(texts))


CODE = ("LDC R1, c[0x0][0x28]", "@!P0 LDG.E.128 R8, desc[UR4][R2.64]", "BRA `(.L_x_0)", "@P1 EXIT", "BRA `(.L_x_4)")


def test_the_same_machine_code_is_the_same_in_the_words_of_both_tools() -> None:
    texts = (
        "      LDC R1, c[0x0][0x28]",
        "@!P0  LDG.E.128 R9.reuse, desc[UR4][R2.64]",
        "      BRA 0x7fe000",
        "@P1   EXIT",
    )
    filled = (*texts, "      BRA 0x7fe040", "      NOP", "      NOP")
    expected = ("LDC", "LDG.E.128", "BRA", "EXIT")
    for listed in (texts, filled):
        code = [(0x7FE000 + 16 * at, text) for at, text in enumerate(listed)]
        assert profiled_instructions(reversed(code)) == simulated_instructions(sass(*CODE)) == expected
    for other in ("LDG.E.64 R8, desc[UR4][R2.64]", "@!P0 LDS.128 R8, [R2]"):
        assert simulated_instructions(sass(CODE[0], other, *CODE[2:])) != expected
    assert simulated_instructions(sass(*CODE[:-1], "BRA `(.L_x_0)")) == (*expected, "BRA"), "a loop"
    assert profiled_instructions([(0x7FE000, "")]) == () == simulated_instructions(sass("CALL.ABS.NOINC R2", *CODE))


@pytest.mark.parametrize(
    ("texts", "atomics", "unsettled", "why"),
    [
        *((CODE, 0, 0, DIVERGED), (CODE, 3, 0, AGAIN), (CODE, 3, 2, TURNS), ((), 0, 0, OTHER), ((), 3, 0, AGAIN)),
        *((CODE[:2], 0, 0, OTHER_CODE), (CODE[:2], 3, 0, OTHER_CODE), (CODE[:2], 3, 2, TURNS)),
    ],
)
def test_a_difference_is_explained_by_the_machine_code_of_both(
    simulated: XRay,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    texts: tuple[str, ...],
    atomics: int,
    unsettled: int,
    why: str,
) -> None:
    from gpu_ops.explaining.profiler import comparing

    (launch,) = read_profile(table("totals", tmp_path))
    file = simulated.kernels[0].file
    there = {(file, 26): {SECTORS: 491.0}, (file, 33): {WAVEFRONTS: 1.0}}
    launch = replace(launch, lines=there, instructions=simulated_instructions(sass(*CODE)))
    monkeypatch.setattr(comparing, "read_profile", lambda path: [launch])
    (kernel,) = simulated.kernels
    own, *headers = kernel.files
    counts = {place: {**one, "atomics": atomics, "unsettled_requests": unsettled} for place, one in own.lines.items()}
    totals = {**kernel.totals, "global_load_sectors": 0, "atomics": atomics, "unsettled_requests": unsettled}
    code = KernelCode("sm_90", (), sass(*texts))
    changed = replace(kernel, code=code, totals=totals, files=(replace(own, lines=counts), *headers))
    found = only(compare_with_profile(replace(simulated, kernels=(changed,)), "a.ncu-rep"))
    (sectors,) = [one for one in found.lines if (one.line, one.counter) == (26, "sectors")]
    assert (sectors.simulated, sectors.profiled, sectors.why) == (490, 491, why)
    assert next(one for one in found.totals if one.counter == "sectors").why == why
    moved = next(one for one in found.lines if (one.line, one.counter) == (33, "wavefronts"))
    version = ".".join(map(str, nvrtc_version()))
    if texts != CODE[:2]:
        assert moved.why == MOVED and found.notes == ()
        return
    assert moved.why == why and found.notes == (
        f"The profile has other machine code, 4 instructions, than the simulation, 2 by NVRTC {version}: make the "
        f"profile with NVRTC {version}, or install the version that compiled the profiled kernel "
        f"({exact('nvidia-cuda-nvrtc', 'VERSION')}); take the same source and defines.",
    )


def test_machine_code_that_cannot_be_compared_explains_nothing(
    simulated: XRay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gpu_ops.explaining.profiler import comparing

    (launch,) = read_profile(table("totals", tmp_path, '"865"', '"866"'))
    launch = replace(launch, instructions=simulated_instructions(sass(*CODE)))
    other = replace(launch, instructions=("EXIT",))
    (kernel,) = simulated.kernels
    kernel = replace(kernel, code=KernelCode("sm_90", (), sass(*CODE)))
    cases = (
        ([launch], replace(kernel, defines=({}, {"A": 1})), "sm_90", OTHER),
        ([launch, other], replace(kernel, launches=2), "sm_90", OTHER),
        ([other], kernel, "sm_75", ""),
    )
    for launches, own, architecture, why in cases:
        monkeypatch.setattr(comparing, "read_profile", lambda path, found=launches: found)
        x = replace(simulated, kernels=(own,), architecture=architecture)
        found = only(compare_with_profile(x, "a.ncu-rep"))
        assert not any("machine code" in note for note in found.notes)
        assert {one.why for one in found.totals if not one.equal} == {why}


@pytest.mark.thorough
def test_the_machine_code_of_a_report_is_that_of_its_compiler() -> None:
    pytest.importorskip("ncu_report")
    found = find_filter("mean1d")
    x = xray(found, found.variant("shared"), from_array(np.ones(3000, np.float32)), {}, {}, "sm_90", code=True)
    (launch,) = read_profile(REPORT)
    assert len(launch.instructions) == 327 and launch.instructions[-1] == "RET.REL.NODEC"
    notes = only(compare_with_profile(x, REPORT)).notes
    other = "The profile has other machine code, 327 instructions, than the simulation"
    assert [other in note for note in notes] == ([] if nvrtc_version() == (13, 0) else [True])


def test_a_profile_of_another_kernel_is_refused(tmp_path: Path) -> None:
    sentence = (
        "totals.csv is of mean1d_shared, the X-ray of mean1d_naive; choose the variant or the kernel of the profile."
    )
    with pytest.raises(ParamError, match=sentence):
        compare_with_profile(counted(variant="naive"), table("totals", tmp_path))


def test_what_is_no_profile_is_refused_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, content in (("a.csv", b"a,b\n1,2\n"), ("b.csv", b""), ("c.csv", b'"Line No","Source"\n"1"\n')):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ReportError, match=f"{name} .*; print one by ncu"):
            read_profile(tmp_path / name)
    with pytest.raises(ReportError, match=r"must end in .ncu-rep or .csv"):
        read_profile(tmp_path / "a.txt")
    monkeypatch.setitem(sys.modules, "ncu_report", None)
    with pytest.raises(ReportError, match=f"needs NVIDIA's module ncu_report: {re.escape(install('ncu'))}; or read"):
        read_profile(REPORT)


def test_a_damaged_report_is_refused_in_one_sentence(tmp_path: Path) -> None:
    pytest.importorskip("ncu_report")
    for name, content in (
        ("a.ncu-rep", b""),
        ("b.ncu-rep", b"NVR\0" * 99),
        ("c.ncu-rep", REPORT.read_bytes()[:99_000]),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ReportError, match="cannot be read|has no kernel"):
            read_profile(tmp_path / name)


def test_the_command_prints_both_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["xray", "mean1d", "shared", "--sample", "noise", "--length", "3000", "--gpu", "sm_90"]
    assert main([*command, "--ncu", str(table("lines", tmp_path, '"490"', '"491"'))]) == 0
    text = capsys.readouterr().out
    (line,) = [line for line in text.splitlines() if line.startswith("mean1d/3_shared.cu:26  sectors ")]
    assert line.split()[2:5] == ["490", "491", "≠"] and "7 of 8 counts of lines are equal." in text
