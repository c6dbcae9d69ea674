"""MQM of TED talks: penalties and spans as published."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from annotation.imports import tables
from annotation.models import ErrorSpan, Judgment, System
from tests.shared import SharedRows
from tests.world import make_dataset


@pytest.fixture(scope="module")
def rows(shared_rows: SharedRows[None], data_dir: Path) -> Iterator[None]:
    with shared_rows(lambda: make_dataset("mqm-ted")):
        yield


@pytest.fixture
def mqm(rows: None, db: None) -> None:
    """The rows, in a transaction of the test."""


def test_mqm_penalties_are_the_published_ones(mqm: None, data_dir: Path) -> None:
    rows = Judgment.objects.values_list(
        "assignment__item__segment__key",
        "assignment__item__output__system__name",
        "assignment__annotator__label",
        "penalty",
    )
    ours = {(segment, system, rater): penalty for segment, system, rater, penalty in rows}
    assert len(ours) == 7935
    folder = data_dir / "mqm-ted/zh-en"
    for row in tables.read_table(folder / "seg-scores.tsv"):
        penalty = ours[row["seg_id"], row["system"], row["rater"]]
        assert penalty == pytest.approx(-row.real("published_mqm"), abs=1e-9)
    for row in tables.read_table(folder / "sys-scores.tsv"):
        of_system = [penalty for key, penalty in ours.items() if key[1] == row["system"]]
        assert len(of_system) == 529
        assert np.mean(of_system) == pytest.approx(row.real("mean_penalty"), abs=5e-5)
        assert np.mean(of_system) == pytest.approx(row.real("published_penalty"), abs=0.0055)


def test_mqm_spans_are_what_the_raters_marked(mqm: None, data_dir: Path) -> None:
    spans = ErrorSpan.objects.select_related(
        "judgment__assignment__item__output", "judgment__assignment__item__segment"
    )
    marked: Counter[tuple[str, int, str]] = Counter()
    for span in spans:
        item = span.judgment.assignment.item
        text = item.segment.source if span.side == "source" else item.output.text
        marked[item.segment.key, item.output.system_id, text[span.start : span.end].strip()] += 1
    systems = dict(System.objects.values_list("name", "pk"))
    published = Counter(
        (row["seg_id"], systems[row["system"]], row["span"])
        for row in tables.read_table(data_dir / "mqm-ted/zh-en/annotations.tsv")
        if row["side"] != "none"
    )
    assert spans.count() == 9915 - 4297
    assert sum((published - marked).values()) == 0
