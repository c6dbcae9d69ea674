"""WMT21's crowd workers: every judgment, and their published z-scores, tests and classes."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command

from annotation.imports import tables
from annotation.models import Campaign, Item, Judgment
from annotation.quality import Verdict, quality_report, read_columns, standardise
from tests.shared import SharedRows
from tests.world import make_dataset


@pytest.fixture(scope="module")
def rows(shared_rows: SharedRows[None], data_dir: Path) -> Iterator[None]:
    with shared_rows(lambda: make_dataset("wmt21-ru-en")):
        yield


@pytest.fixture
def ru_en(rows: None, db: None) -> Campaign:
    return Campaign.objects.get(slug="wmt21-ru-en")


def test_wmt21_has_every_judgment_of_every_worker(ru_en: Campaign, data_dir: Path) -> None:
    kinds = Counter(Item.objects.values_list("kind", flat=True))
    assert kinds == {"target": 10087, "repeat": 1412, "ref": 1403, "bad_ref": 1403}
    assert not Item.objects.exclude(kind="target").filter(partner=None).exists()
    published = {
        row["worker"]: (row.whole("n_judgments"), row.real("mean_raw"))
        for row in tables.read_table(data_dir / "raw-crowd-da/wmt21-ru-en/workers.tsv")
    }
    scores: dict[str, list[int]] = {}
    rows = Judgment.objects.values_list("assignment__annotator__label", "score")
    for label, score in rows:
        scores.setdefault(label, []).append(score)
    assert len(scores) == 96
    for label, (count, mean) in published.items():
        assert len(scores[label]) == count
        assert np.mean(scores[label]) == pytest.approx(mean, abs=1e-5)
    call_command("import_dataset", "wmt21-ru-en", data=data_dir)
    assert Judgment.objects.count() == 14305


def test_published_tests_of_crowd_workers(ru_en: Campaign, data_dir: Path) -> None:
    """Published: each worker's p for BAD_REF < SYSTEM, exact for workers of this pair only."""
    report = quality_report(ru_en)
    published = {
        row["worker"]: (row.real("qc_p"), row.whole("qc_n_pairs"))
        for row in tables.read_table(data_dir / "raw-crowd-da/wmt21-ru-en/workers.tsv")
        if row["qc_p"]
    }
    same = [
        person
        for person in report.annotators
        if person.bad_references and person.bad_references.n == published[person.label][1]
    ]
    assert len(same) >= 40  # the others' published test includes other language pairs
    for person in same:
        assert person.bad_references is not None
        assert person.bad_references.pvalue == pytest.approx(published[person.label][0], rel=1e-4)
    means = {kind.kind: round(kind.mean, 1) for kind in report.kinds}
    assert list(means.values()) == [70.5, 42.7, 71.4, 82.6]  # the data set's own README


def test_published_z_scores(ru_en: Campaign, data_dir: Path) -> None:
    columns = read_columns(ru_en)
    ours = np.sort(standardise(columns, "all").z)
    rows = tables.read_table(data_dir / "raw-crowd-da/wmt21-ru-en/judgments.tsv")
    theirs = np.sort([row.real("z") for row in rows])
    assert np.abs(ours - theirs).max() < 2e-5


def test_published_workers_of_one_pair(ru_en: Campaign, data_dir: Path) -> None:
    """All workers of this release had passed; here those with five pairs or more do."""
    people = quality_report(ru_en).annotators
    published = {
        row["worker"]: row.whole("qc_n_pairs")
        for row in tables.read_table(data_dir / "raw-crowd-da/wmt21-ru-en/workers.tsv")
        if row["qc_p"]
    }
    whole = [p for p in people if p.bad_references and p.bad_references.n == published[p.label]]
    assert len(whole) >= 40
    enough = {person.label for person in whole if published[person.label] >= 5}
    assert len(enough) >= 35
    assert {person.label for person in whole if person.checks.verdict == Verdict.PASSES} == enough
    assert all(person.checks.repeats for person in whole)
