"""One list per kind of thing, compared with the files and with itself."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import combinations

import pytest

from gpu_ops.devices.instruments import INSTRUMENTS
from gpu_ops.devices.kernel_source import code_of, header_fields, kernel_files, read_source
from gpu_ops.errors import DeclarationError, ParamError
from gpu_ops.filters import FILTERS, find_filter
from gpu_ops.filters.registry import check_filters
from gpu_ops.output_kinds import Marks
from gpu_ops.params import Handle, Place, Ring, Threshold, check_values
from gpu_ops.types import BORDERS

VARIANTS = [(f, v) for f in FILTERS for v in f.variants]


def test_every_kernel_file_belongs_to_a_variant_and_every_variant_has_its_files() -> None:
    declared = {k for _, v in VARIANTS for k in v.kernels} | {i.source for i in INSTRUMENTS}
    assert declared == set(kernel_files())


def test_ids_of_claims_are_unique() -> None:
    claims = [c.id for c in FILTERS.claims]
    assert len(set(claims)) == len(claims)


HANDLES: list[tuple[Handle, str]] = [
    (Ring("spectra"), "low of fft_mask has a handle over 'spectra'; choose from image, spectrum"),
    (Ring("spectrum", about="fx"), "low of fft_mask is a ring about 'fx'; choose from fy"),
    (Ring("spectrum", beyond="lower"), "low of fft_mask is a ring beyond 'lower'; choose from shape, low"),
    (Place("spectrum", "fz"), "low of fft_mask is a place with 'fz'; choose from shape, low"),
    (Threshold("spectrum", "figures"), "low of fft_mask is a threshold with 'figures'; choose from image, spectrum"),
]


@pytest.mark.parametrize(("handle", "words"), HANDLES, ids=[words for _, words in HANDLES])
def test_a_handle_names_what_there_is(handle: Handle, words: str) -> None:
    mask = find_filter("fft_mask")
    params = tuple(replace(p, handle=handle) if p.name == "low" else p for p in mask.params)
    with pytest.raises(DeclarationError, match=f"^gpu_ops/filters/fft/reference.py: {re.escape(words)}"):
        check_filters([replace(mask, params=params)])


def test_marks_name_the_outputs_that_they_are_over() -> None:
    mask = find_filter("fft_mask")
    outputs = tuple(replace(o, marks=Marks(("image", "peaks"), "x", "y")) for o in mask.outputs)
    with pytest.raises(DeclarationError, match="image of fft_mask marks 'peaks'; choose from image, spectrum[.]"):
        check_filters([replace(mask, outputs=outputs)])


def test_filters_of_a_family_differ_in_what_they_accept() -> None:
    assert len({(f.family, f.accepts) for f in FILTERS}) == len(FILTERS)


OWN_TOKENS = 6
"""Tokens by which two kernel files differ at least: a template argument or a flag is no idea of its own."""
ENTRY = re.compile(r"__global__ void (?:__launch_bounds__ \(.*?\) )?(\w+)", re.S)


def tokens_of(text: str) -> list[str]:
    """The tokens of a file without comments and includes, its kernels' names all alike."""
    code = re.sub(r"^# include.*$", "", code_of(text), flags=re.M)
    names = set(ENTRY.findall(code))
    return ["kernel" if token in names else token for token in code.split()]


def are_alike(one: list[str], other: list[str]) -> bool:
    """Whether all but a few tokens are in runs that both have in the same order."""
    counts, others = Counter(one), Counter(other)
    if (counts - others).total() + (others - counts).total() >= OWN_TOKENS:
        return False
    runs = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    return len(one) + len(other) - 2 * sum(run.size for run in runs) < OWN_TOKENS


def test_no_two_kernel_files_have_the_same_code() -> None:
    code = {source: tokens_of(read_source(source)) for source in kernel_files()}
    alike = [f"{a} and {b}" for a, b in combinations(code, 2) if are_alike(code[a], code[b])]
    assert alike == [], "the idea of each stands in its comments alone: write it out in the file"


@pytest.mark.parametrize(
    ("written", "instead", "alike"),
    [
        ("fft_columns_lines", "fft_other_lines", True),
        ("// Load", "// Fetch", True),
        ('#include "fft_lines.cuh"', '#include "fft_others.cuh"', True),
        ("Along<LANES, LANES>", "Along<ALONG_POINTS, ALONG_LINES>", True),
        ("if (!inside) return;", "if (!inside || lane.t >= N / LAST) return;", False),
    ],
)
def test_files_that_differ_by_names_comments_or_a_flag_are_alike(written: str, instead: str, alike: bool) -> None:
    text = read_source("fft/9_columns.cu")
    assert written in text
    assert are_alike(tokens_of(text), tokens_of(text.replace(written, instead))) == alike


@pytest.mark.parametrize("source", kernel_files())
def test_kernel_headers_are_complete(source: str) -> None:
    fields = header_fields(read_source(source))
    assert {"What", "Idea", "Shapes", "Launch", "Traffic", "Source"} <= set(fields)
    assert all(fields.values())
    text = read_source(source)
    assert 'extern "C" __global__' in text
    assert "__restrict__" in text or source in ("measure/hold.cu", "measure/empty.cu")


def test_variants_and_filters_explain_themselves() -> None:
    for filter, variant in VARIANTS:
        assert variant.title and variant.idea.endswith(".")
        with_kernels = variant.device == "cuda" and not variant.library and not filter.end_to_end
        assert bool(variant.kernels) == with_kernels, (filter.id, variant.id)
        counted = variant.counts.accesses is not None or bool(variant.counts.uncounted)
        assert counted == bool(variant.kernels), (filter.id, variant.id)
    for filter in FILTERS:
        assert filter.summary.endswith(".") and filter.variants[0].id == "serial"
        assert all(p.help for p in filter.params)


def test_rules_advise_variants_of_the_same_filter() -> None:
    advised = {
        (filter.id, name)
        for filter, variant in VARIANTS
        for rule in variant.rules
        for name in re.findall(r"the variant (\w+)", rule.words)
    }
    assert len(advised) > 15
    assert not {(filter, name) for filter, name in advised if name not in {v.id for v in find_filter(filter).variants}}


def test_presets_are_sets_of_the_same_parameters_with_allowed_values() -> None:
    for filter in FILTERS:
        assert len({frozenset(values) for values in filter.presets.values()}) <= 1, filter.id
        for values in filter.presets.values():
            checked = check_values(filter.params, values, filter.id)
            assert {name: checked[name] for name in values} == dict(values)


def test_border_codes_are_those_of_the_kernels() -> None:
    text = read_source("include/border.cuh")
    listed = ", ".join(f"{i} {name}" for i, name in enumerate(BORDERS))
    assert listed.replace("1 reflect", "1 reflect (d c b a | a b c d)") in text


def test_a_family_resolves_by_the_kind_of_input() -> None:
    assert find_filter("mean", "signal").id == "mean1d"
    assert find_filter("mean", "image").id == "mean2d"
    assert find_filter("mean2d").id == "mean2d"


@pytest.mark.parametrize(
    "name, kind, words",
    [("meen", None, "choose from mean"), ("mean", "stack", "takes a signal (mean1d) or image (mean2d)")],
)
def test_unknown_filters_are_named(name: str, kind: str | None, words: str) -> None:
    with pytest.raises(ParamError, match="no filter|takes a") as error:
        find_filter(name, kind)
    assert words in str(error.value)
