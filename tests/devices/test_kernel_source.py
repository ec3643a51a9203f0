"""What a kernel's hash covers – the code of the files that it includes – and the recordings that it belongs to."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from gpu_ops import recorded_reports
from gpu_ops.devices.compiler import compile_kernel
from gpu_ops.devices.kernel_source import (
    KERNELS,
    code_of,
    header_files,
    included_headers,
    kernel_files,
    read_source,
    source_hash,
)
from gpu_ops.errors import KernelError
from gpu_ops.filters import find_filter
from gpu_ops.report.kernel_age import has_older_kernels

SOURCE = "mean1d/4_vector.cu"
NAIVE = "mean1d/1_naive.cu"
OLDER: dict[tuple[str, str], int] = {
    ("h100-defaults-fft-mask.json", "fast"): 1,
    ("h100-defaults-fft1d.json", "fast"): 1,
    ("h100-defaults-fft1d.json", "four_step"): 1,
    ("h100-defaults-fft2d.json", "fast"): 1,
    ("h100-defaults-mean1d.json", "vector"): 1,
    ("h100-defaults-mean2d.json", "rows"): 1,
    ("h100-defaults-wavelet1d.json", "global"): 1,
    ("h100-defaults-wavelet1d.json", "warp_registers"): 1,
    ("h100-defaults-wavelet2d.json", "global"): 1,
    ("h100-defaults-wavelet2d.json", "two_levels"): 1,
    ("h100-defaults-wavelet2d.json", "warp_recomputed"): 1,
    ("h100-samples-conv3x3.json", "rows"): 1,
    ("h100-samples-fft-mask.json", "fast"): 1,
    ("h100-samples-fft1d.json", "fast"): 1,
    ("h100-samples-fft1d.json", "four_step"): 1,
    ("h100-samples-fft2d.json", "fast"): 1,
    ("h100-samples-mean1d.json", "vector"): 1,
    ("h100-samples-mean2d.json", "packed"): 1,
    ("h100-samples-mean2d.json", "rows"): 1,
    ("h100-samples-wavelet1d.json", "constant"): 2,
    ("h100-samples-wavelet1d.json", "global"): 2,
    ("h100-samples-wavelet1d.json", "scatter"): 2,
    ("h100-samples-wavelet1d.json", "shared"): 2,
    ("h100-samples-wavelet1d.json", "warp_registers"): 2,
    ("h100-samples-wavelet2d.json", "constant"): 2,
    ("h100-samples-wavelet2d.json", "global"): 2,
    ("h100-samples-wavelet2d.json", "shared"): 2,
    ("h100-samples-wavelet2d.json", "two_levels"): 2,
    ("h100-samples-wavelet2d.json", "warp_recomputed"): 2,
    ("h100-samples-wavelet2d.json", "warp_strips"): 2,
    ("h100-wavelet-claims.json", "global"): 1,
    ("h100-wavelet-claims.json", "shared"): 1,
    ("h100-wavelet-claims.json", "warp_registers"): 1,
    ("h100-wavelet-levels.json", "two_levels"): 3,
    ("h100-wavelet-levels.json", "warp_recomputed"): 1,
    ("h100-wavelet1d-db4.json", "constant"): 1,
    ("h100-wavelet1d-db4.json", "global"): 1,
    ("h100-wavelet1d-db4.json", "scatter"): 1,
    ("h100-wavelet1d-db4.json", "shared"): 1,
    ("h100-wavelet1d-db4.json", "warp_registers"): 1,
    ("h100-wavelet1d-haar.json", "constant"): 1,
    ("h100-wavelet1d-haar.json", "global"): 1,
    ("h100-wavelet1d-haar.json", "scatter"): 1,
    ("h100-wavelet1d-haar.json", "shared"): 1,
    ("h100-wavelet1d-haar.json", "warp_registers"): 1,
    ("h100-wavelet2d-db4.json", "constant"): 1,
    ("h100-wavelet2d-db4.json", "global"): 1,
    ("h100-wavelet2d-db4.json", "shared"): 1,
    ("h100-wavelet2d-db4.json", "two_levels"): 1,
    ("h100-wavelet2d-details.json", "two_levels"): 2,
    ("h100-wavelet2d-details.json", "warp_strips"): 2,
    ("h100-wavelet2d-haar.json", "constant"): 1,
    ("h100-wavelet2d-haar.json", "global"): 1,
    ("h100-wavelet2d-haar.json", "shared"): 1,
    ("h100-wavelet2d-haar.json", "two_levels"): 1,
    ("h100-wavelet2d-others.json", "two_levels"): 3,
}
"""Rows recorded of code that has changed since, by report and variant: record them anew, or list them here."""
AWAITED: set[tuple[str, str]] = set()
"""Variants whose only rows are of older code: the next run of `bench` on a GPU records them."""


def test_a_recorded_row_is_of_todays_code_or_listed_as_older() -> None:
    older: Counter[tuple[str, str]] = Counter()
    recorded, current = set(), set()
    for name, report in recorded_reports().items():
        for row in report.rows:
            variant = find_filter(row.filter).variant(row.variant)
            assert bool(row.source_hash) == bool(variant.kernels)
            if variant.kernels:
                recorded.add((row.filter, variant.id))
                if has_older_kernels(row):
                    older[name, variant.id] += 1
                else:
                    current.add((row.filter, variant.id))
    assert dict(older) == OLDER, f"{older.total()} rows are of older code: record them anew, or list them here"
    assert recorded - current == AWAITED, "each other variant that was ever recorded has a row of today's code"


def test_a_row_is_of_older_code_when_a_kernel_changed_and_not_when_a_file_was_added() -> None:
    rows = (row for report in recorded_reports().values() for row in report.rows)
    row = next(r for r in rows if r.source_hash.count("-") > 1 and not has_older_kernels(r))
    hashes = row.source_hash.split("-")
    assert not has_older_kernels(replace(row, source_hash="-".join(hashes[:2])))
    assert has_older_kernels(replace(row, source_hash="-".join([*hashes[:-1], "0" * 16])))
    assert has_older_kernels(replace(row, variant="gone"))
    assert not has_older_kernels(replace(row, source_hash="1" * 16, edits={"mine.cu": "1" * 16}))
    assert not has_older_kernels(replace(row, variant="serial", source_hash=""))


@pytest.mark.parametrize("source", kernel_files())
def test_a_comment_a_blank_line_an_indentation_keep_the_hash(source: str) -> None:
    text = read_source(source)
    dressed = "\n".join(f"  {line}   // seen" if line.strip()[-1:] in ("{", ";") else line for line in text.split("\n"))
    edits = {source: dressed + "\n\n/* the end\n\n */\n"}
    paths = header_files()
    edits |= {paths[name]: f"// first\n\n{header}\n" for name, header in included_headers(source).items()}
    assert edits[source] != text
    assert source_hash(source, edits) == source_hash(source)
    assert source_hash(source, {source: text + "\nint more;"}) != source_hash(source)


@pytest.mark.parametrize(
    "one, other",
    [
        ("a  =  b ; // c", "a=b;"),
        ("a /* not\n here */ b", "a b"),
        ("f(x,\n  y);", "f(x, y);"),
        ("#if A // why\nx", "#  if A\n\nx"),
        ("#define A \\\n  b", "#define A b"),
        ("// one \\\n still one\nx", "x"),
        ("x\r\ny\r\n", "x\ny\n"),
        ("1'000 /* ' */", "1'000"),
    ],
)
def test_the_same_code(one: str, other: str) -> None:
    assert code_of(one) == code_of(other)


@pytest.mark.parametrize(
    "one, other",
    [
        ('"a  b"', '"a b"'),
        ('"// a"', '"// b"'),
        ('"/* a */"', '"/* b */"'),
        (r'"\"// a"', r'"\"// b"'),
        ('\'"\' // a\n"b // c"', '\'"\' // a\n"b // d"'),
        ('R"x(a // b)x"', 'R"x(a // c)x"'),
        ('R"(a\\\nb)"', 'R"(ab)"'),
        ("a - -b", "a--b"),
        ("a + b", "ab"),
        ("1'000", "1'001"),
        ("1 . 5", "1.5"),
        ("#define F (x)", "#define F(x)"),
        ("#define F\nx", "#define F x"),
        ("x /", "x"),
    ],
)
def test_other_code(one: str, other: str) -> None:
    assert code_of(one) != code_of(other)


def test_only_the_headers_that_a_kernel_includes_count_through_others_too() -> None:
    assert list(included_headers(NAIVE)) == ["border.cuh", "mean.cuh"]
    changed = {"include/row_span.cuh": read_source("include/row_span.cuh") + "\nint more;"}
    assert source_hash(NAIVE, changed) == source_hash(NAIVE)
    assert source_hash(SOURCE, changed) != source_hash(SOURCE)
    border = {"include/border.cuh": read_source("include/border.cuh") + "\nint more;"}
    assert source_hash(NAIVE, border) != source_hash(NAIVE)


def test_a_shipped_text_is_read_once_and_again_when_its_file_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpu_ops.devices.kernel_source.KERNELS", tmp_path)
    (tmp_path / "own1").mkdir()
    file = tmp_path / "own1" / "1_a.cu"
    file.write_text("int a;")
    assert read_source("own1/1_a.cu") == "int a;"
    with monkeypatch.context() as patched:
        patched.setattr(Path, "read_text", None)
        assert read_source("own1/1_a.cu") == "int a;"
    file.write_text("int more;")
    assert read_source("own1/1_a.cu") == "int more;"
    file.unlink()
    with pytest.raises(KernelError, match="no kernel file"):
        read_source("own1/1_a.cu")


def test_a_header_counts_behind_a_condition_and_by_a_macro_and_when_only_an_edit_has_it() -> None:
    text = '#if 0\n#include "row_span.cuh"\n#endif\n#define MEAN "mean.cuh"\n#include MEAN\n#include <new.cuh>\n'
    text += '#include "missing.cuh"\n// #include "box.cuh"\n'
    edits = {NAIVE: text, "include/new.cuh": "int seven = 7;"}
    assert list(included_headers(NAIVE, edits)) == [
        *("border.cuh", "edge_pixels.cuh", "mean.cuh", "new.cuh"),
        *("row_span.cuh", "shifted_words.cuh", "unaligned_words.cuh"),
    ]


def test_a_header_lies_in_the_folder_that_alone_includes_it_and_has_a_name_of_its_own() -> None:
    names = [path.name for path in KERNELS.glob("*/*.cuh")]
    assert len(names) == len(set(names)) == len(header_files())
    folders: dict[str, set[str]] = {name: set() for name in names}
    for source in kernel_files():
        for name in included_headers(source):
            folders[name].add(source.partition("/")[0])
    for name, path in header_files().items():
        alone = next(iter(folders[name])) if len(folders[name]) == 1 else "include"
        assert path == f"{alone}/{name}", f"{name} is included by kernels of {', '.join(sorted(folders[name]))}"


def test_a_header_that_an_edit_brings_is_compiled() -> None:
    text = '#include "new.cuh"\nextern "C" __global__ void f(int* a) { a[0] = SEVEN; }'
    compiled = compile_kernel(NAIVE, "sm_90", {}, {NAIVE: text, "include/new.cuh": "#define SEVEN 7\n"}, assemble=False)
    assert "f" in compiled.entries


def test_a_header_that_is_not_included_does_not_compile_a_kernel_anew() -> None:
    text = {NAIVE: 'extern "C" __global__ void f(int* a) { a[0] = 1; }'}
    first = compile_kernel(NAIVE, "sm_90", {}, text, assemble=False)
    edits = {**text, "include/mean.cuh": "int more;"}
    assert compile_kernel(NAIVE, "sm_90", {}, edits, assemble=False) is first


def test_flags_in_the_leading_comment_count_and_its_other_words_do_not() -> None:
    text = 'extern "C" __global__ void f(float* a) { a[0] = sinf(a[0]); }'
    plain, events, fast = (
        source_hash(NAIVE, {NAIVE: head + text}) for head in ("", "// What: a sine.\n", "// Flags: -use_fast_math\n")
    )
    assert plain == events != fast


def test_raw_strings_and_continued_lines_are_read_as_cpp_reads_them() -> None:
    for text, code in (
        ('a R"x(\\\n)" )x" b', 'a R"x(\\\n)" )x" b'),  # a raw string keeps its line ends
        ('// R"(\n#a\\\nb\n// )"', "# ab"),
        ("/\\\n* c */ d", "d"),
        ('"R\\"(" e', '"R\\"(" e'),
        ('R"(f', 'R"( f'),  # one that does not end is no string
        ('u8R"a(g)a"h', 'u8R"a(g)a" h'),
    ):
        assert code_of(text) == code, text
