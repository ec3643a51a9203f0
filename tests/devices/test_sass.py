"""The machine code of kernels: control codes, live registers, and the PTX and source lines that it comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest

from gpu_ops import find_filter, from_array
from gpu_ops.cli.kernel.listing import listing
from gpu_ops.devices.sass import disassembler
from gpu_ops.devices.sass.listing import Control, SassLine, control_of
from gpu_ops.errors import DeviceError
from gpu_ops.explaining.machine_code import KernelCode
from gpu_ops.explaining.xray import KernelXRay, as_dict, xray
from gpu_ops.version import install

try:
    disassembler.program()
    REASON = ""
except DeviceError as error:
    REASON = str(error)
needs_nvdisasm = pytest.mark.skipif(bool(REASON), reason=REASON or "nvdisasm is there")
ARCHITECTURES = ("sm_75", "sm_90", "sm_120")


def kernel(architecture: str, filter: str = "mean1d", variant: str = "shared") -> KernelXRay:
    signal = from_array(np.arange(700, dtype=np.float32))
    found = find_filter(filter)
    return xray(found, found.variant(variant), signal, {}, {}, architecture, code=True).kernels[0]


@pytest.fixture(scope="module", params=ARCHITECTURES)
def code(request: pytest.FixtureRequest) -> KernelCode:
    found = kernel(request.param).code
    assert found is not None
    return found


def test_the_bits_of_a_control_code() -> None:
    bits = 5 | 0 << 4 | 2 << 5 | 7 << 8 | 0b001001 << 11
    assert control_of(bits << 41) == Control(5, True, (0, 3), 2, -1)
    bits = 11 | 1 << 4 | 7 << 5 | 4 << 8
    assert control_of(bits << 41 | (1 << 41) - 1) == Control(11, False, (), -1, 4)


def registers(text: str) -> set[str]:
    return set(re.findall(r"\bR\d+\b", text))


def straight(lines: tuple[SassLine, ...], start: int) -> Iterator[SassLine]:
    """The instructions after one, up to a jump or a label."""
    for line in lines[start + 1 :]:
        if line.label or re.search(r"\b(BRA|BRX|RET|CALL|EXIT)\b", line.text):
            return
        yield line


def target(line: SassLine) -> str:
    """The first register that an instruction without a predicate writes."""
    match = re.match(r"[A-Z][\w.]* (R\d+),", line.text)
    return match[1] if match else ""


@needs_nvdisasm
def test_who_reads_what_was_loaded_waits_for_a_barrier_that_the_load_releases(code: KernelCode) -> None:
    """Loads of one kind end in their order, so one may leave the barrier to a later one."""
    checked = 0
    for place, line in enumerate(code.sass):
        if (kind := _operation(line)) not in ("LDG", "LDS") or not target(line):
            continue
        releases, waited = {line.control.written}, set()
        for later in straight(code.sass, place):
            waited |= set(later.control.waits)
            if target(line) in registers(later.text):
                assert waited & releases - {-1}, (line, later)
                checked += 1
                break
            releases |= {later.control.written} if _operation(later) == kind else set()
    assert checked > 3


@needs_nvdisasm
def test_who_reads_a_sum_at_once_waits_at_least_four_cycles(code: KernelCode) -> None:
    pairs = [
        (line, after)
        for line, after in zip(code.sass, code.sass[1:], strict=False)
        if re.match(r"(FFMA|FADD|IADD3|LEA)\b", line.text)
        and not after.label
        and target(line) in registers(after.text.partition(",")[2])
    ]
    assert len(pairs) > 3
    assert {line.control.stall >= 4 for line, _ in pairs} == {True}, pairs


@needs_nvdisasm
def test_live_registers_fit_into_those_that_a_thread_has(code: KernelCode) -> None:
    most = max(line.live["GPR"] for line in code.listed if line.live)
    (entry,) = (k.resources["registers"] for k in [kernel(code.architecture)])
    assert entry - 10 <= most <= entry
    assert sum(not line.live for line in code.listed) <= 1, "the jump to itself at the end has none"


OPERATIONS = {"LDG": "ld.global", "STG": "st.global", "LDS": "ld.shared", "STS": "st.shared", "BAR": "bar"}


@needs_nvdisasm
def test_each_access_comes_from_such_an_access_of_the_ptx_and_from_its_source_line(code: KernelCode) -> None:
    texts, places = {line.row: line.text for line in code.ptx}, code.places()
    source = kernel(code.architecture).text.splitlines()
    found = [(line, OPERATIONS[name]) for line in code.sass if (name := _operation(line)) in OPERATIONS]
    assert {operation for _, operation in found} == set(OPERATIONS.values())
    for line, operation in found:
        assert operation.split(".")[0] in texts[line.ptx] and operation.split(".")[-1] in texts[line.ptx], line
        ((file, number), *_) = places[line.ptx]
        if file == "mean1d/3_shared.cu" and operation == "bar":
            assert "__syncthreads" in source[number - 1]


def _operation(line: SassLine) -> str:
    """The name of an instruction, without its predicate and its modifiers."""
    match = re.match(r"(?:@!?U?P\d+ )?([A-Z0-9]+)", line.text)
    return match[1] if match else ""


@needs_nvdisasm
def test_text_and_json_have_the_source_above_its_code() -> None:
    one = kernel("sm_90")
    text = listing(one, "sass")
    number = next(n for n, t in enumerate(one.text.splitlines(), 1) if "__syncthreads" in t)
    below = text[text.index(f"mean1d/3_shared.cu:{number}  __syncthreads();") :].splitlines()[1]
    assert "BAR.SYNC" in below
    assert "bar.sync" in listing(one, "ptx").split(f":{number}  __syncthreads();")[1].splitlines()[1]
    signal = from_array(np.arange(700, dtype=np.float32))
    found = as_dict(xray(find_filter("mean1d"), find_filter("mean1d").variant("shared"), signal, {}, {}, code=True))
    own = found["kernels"][0]["code"]
    assert {p for _, _, p in own["ptx"]} <= set(range(len(own["places"]))) and own["sass"][0]["address"] == 0


@needs_nvdisasm
def test_nvdisasm_runs_once_for_a_cubin_and_once_more_when_live_registers_are_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs: list[str] = []
    run = disassembler._run

    def counted_run(command: list[str]) -> str:
        runs.append(" ".join(command[1:-1]))
        return run(command)

    monkeypatch.setattr(disassembler, "_run", counted_run)
    monkeypatch.setattr(disassembler, "_LISTINGS", disassembler.OrderedDict())
    image = from_array(np.zeros((64, 64), np.float32))
    found = find_filter("box")
    several = xray(found, found.variant("separable"), image, {}, {}, "sm_90", code=True).kernels
    assert len(several) == 2 and all(one.code is not None and one.code.sass for one in several)
    assert runs == ["-c -hex -gp -ndf"], "both kernels are in one cubin"
    for one in several:
        listing(one, "sass")
    assert runs == ["-c -hex -gp -ndf", "-c -lrm count"]


def test_without_the_disassembler_a_sentence_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    import cuda.pathfinder

    monkeypatch.setattr(cuda.pathfinder, "find_nvidia_binary_utility", lambda name: None)
    monkeypatch.setattr(disassembler.shutil, "which", lambda name: None)
    monkeypatch.setattr(disassembler, "_LISTINGS", disassembler.OrderedDict())
    disassembler.program.cache_clear()
    try:
        one = kernel("sm_75")
    finally:
        disassembler.program.cache_clear()
    assert one.code is not None and not one.code.sass and one.code.ptx
    sentence = f"Machine code needs NVIDIA's disassembler nvdisasm; install it: {install('sass')}."
    assert one.code.missing == sentence and listing(one, "sass") == f"mean1d_shared: {sentence}"
    assert "ld.global" in listing(one, "ptx")


@needs_nvdisasm
def test_the_report_has_the_code_when_it_is_asked_for(tmp_path) -> None:
    from gpu_ops.cli import main

    for flags, there in (([], False), (["--code"], True)):
        page = tmp_path / "mean.html"
        command = [
            "report",
            "mean1d",
            "--sample",
            "noise",
            "--length",
            "700",
            "--gpu",
            "sim:sm_90",
        ]
        assert main([*command, *flags, "--output", str(page)]) == 0
        text = page.read_text()
        assert ("BAR.SYNC" in text) is there and ("stall: cycles" in text) is there
