"""The words of the engine's catalogues in the window: in the reader's language, the same wherever they stand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QTranslator
from result_rows import rows

from app.base.terms import counter_name, counter_tip, stage_column, stage_name, stage_tip
from app.models.results.results import Results
from app.models.results.row_cells import CSV_COLUMNS
from app.models.xray.xray import Figure
from app.views.timing.ladder_axis import BAR_STAGES, MARKS
from app.views.timing.ladder_layout import legend_texts
from app.views.timing.result_table import columns
from gpu_ops.counters import CATALOGUE
from gpu_ops.stages import STAGES


class Upper(QTranslator):
    """Says the words of the catalogues in capitals, and all else as it is."""

    def translate(self, context: str, source: str, disambiguation: str | None = None, n: int = -1) -> str:
        return source.upper() if context == "Catalogue" else source


@pytest.fixture
def capitals(qapp: QCoreApplication) -> Iterator[None]:
    translator = Upper()
    qapp.installTranslator(translator)
    yield
    qapp.removeTranslator(translator)


def test_every_word_of_the_catalogues_is_translated(capitals: None) -> None:
    for c in CATALOGUE:
        assert counter_name(c.id) == c.name.upper()
        assert counter_tip(c.id) == f"{c.description.upper()}\nUnit: {c.unit.upper()}"
    for s in STAGES.values():
        assert (stage_name(s.id), stage_column(s.id), stage_tip(s.id)) == tuple(
            text.upper() for text in (s.name, s.column, s.description)
        )
    assert stage_name("kernel", "cpu") == "COMPUTING"


def test_tables_and_texts_read_them(capitals: None) -> None:
    assert {"KERNEL", "END TO END", "PINNED"} <= {c.heading for c in columns()}
    results = Results()
    results.load(rows(), "NVIDIA H200")
    legend = dict(legend_texts(results.entries()))
    assert legend["kernel"].startswith("KERNEL, GPU") and legend["elapsed_pinned"].startswith("END TO END, PINNED")
    assert Figure("global_load_sectors", 12, 3).text == "12 GLOBAL LOAD SECTORS; 3 ideal"


def test_bars_marks_and_columns_of_a_file_are_stages_of_the_catalogue() -> None:
    assert set(BAR_STAGES) | set(MARKS) <= set(STAGES)
    timed = {name.removesuffix("_s") for name in CSV_COLUMNS if name.endswith("_s")}
    assert timed - {"q1", "q3"} <= set(STAGES) and "kernel" in timed


def test_what_the_catalogue_does_not_have_is_told_by_its_own_words(qapp: QCoreApplication) -> None:
    assert (counter_name("l1_wavefronts"), counter_tip("l1_wavefronts")) == ("l1 wavefronts", "")
