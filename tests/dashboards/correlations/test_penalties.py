"""Penalties are not standardised per annotator unless somebody asks: the published order stands."""

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from scipy import stats

from annotation.filters import IN, Filters
from annotation.models import Campaign
from annotation.quality import quality_report
from annotation.quality.columns import PENALTIES
from dashboards.bundle.archive import readme
from dashboards.bundle.content import read_content
from dashboards.bundle.manifest import manifest_of, tables_of
from dashboards.panel.human import PENALTIES_STANDARDISED, human_scores, read_ratings
from dashboards.panel.panel import floor_panel, read_panel
from dashboards.report.parts import parts
from dashboards.systems import document as systems
from dashboards.trust import verdict
from metaeval.replication import JudgmentFile, human_rows
from metaeval.replication.bounds import NoOverlapWarning, ceiling
from metaeval.replication.questions import parse, values_of
from tests.dashboards.conftest import make_rated
from tests.shared import SharedRows
from tests.world import World, make_dataset, make_user


@pytest.fixture(scope="module")
def mqm_rows(shared_rows: SharedRows[None], data_dir: Path) -> Iterator[None]:
    with shared_rows(lambda: make_dataset("mqm-ted")):
        yield


@pytest.fixture
def mqm(mqm_rows: None, db: None) -> Campaign:
    """15 systems, each output annotated by one of nine annotators: 7,935 judgments."""
    return Campaign.objects.get(slug="mqm-ted-zh-en")


def published(data_dir: Path) -> list[str]:
    """The systems by their published penalty, the lowest first."""
    with (data_dir / "mqm-ted/zh-en/sys-scores.tsv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    return [row["system"] for row in sorted(rows, key=lambda row: float(row["mean_penalty"]))]


def test_the_published_order_of_mqm(mqm: Campaign, data_dir: Path, client: Client) -> None:
    order = published(data_dir)
    document = systems.compute(mqm, Filters(humans=IN))
    assert [row.system for row in document.human] == order
    assert document.human_scores.code == "human.raw-penalties"
    assert PENALTIES_STANDARDISED not in document.warnings
    asked = systems.compute(mqm, Filters(scores="z", humans=IN))
    moved = [row.system for row in asked.human]
    assert moved != order
    # The thirteenth of the publication would be the seventh, the tenth the last but one.
    assert [order.index(name) for name in ("Online-W", "Borderline")] == [12, 9]
    assert [moved.index(name) for name in ("Online-W", "Borderline")] == [6, 13]
    assert PENALTIES_STANDARDISED in asked.warnings
    client.force_login(make_user("reader", "researcher"))
    page = client.get(reverse("systems", args=[mqm.slug])).text
    assert "not standardised per annotator" in page
    _bundle_says_so(mqm)


def _bundle_says_so(mqm: Campaign) -> None:
    content = read_content(mqm, Filters())
    tables = tables_of(content)
    command = next(table.arguments for table in tables if table.name == "human-scores")
    assert command[command.index("--form") + 1] == "raw"
    assert manifest_of(content, tables)["filters"]["scores"] == "raw"
    trust = verdict.compute(mqm, Filters())
    assert "not standardised per annotator" in readme(content, tables, trust)


def test_scores_are_standardised_as_before(world: World) -> None:
    campaign = make_rated()
    usual, z, raw = (human_scores(campaign, scores) for scores in ("", "z", "raw"))
    assert np.array_equal(usual.values, z.values)
    assert not np.array_equal(usual.values, raw.values)
    assert (usual.source, usual.warnings) == (z.source, z.warnings)


def test_the_report_follows_the_protocol(world: World) -> None:
    campaign = make_rated()
    points = campaign.protocol
    Campaign.objects.filter(pk=campaign.pk).update(protocol="mqm")
    campaign.refresh_from_db()
    assert parts(campaign, Filters())["facts"].human_scores.code == "human.raw-penalties"
    assert PENALTIES_STANDARDISED in parts(campaign, Filters(scores="z"))["warnings"]
    # Only agreement on z-scores of penalties has a warning.
    assert PENALTIES in quality_report(campaign).warnings
    Campaign.objects.filter(pk=campaign.pk).update(protocol=points)
    assert PENALTIES not in quality_report(Campaign.objects.get(pk=campaign.pk)).warnings


@pytest.mark.parametrize(("score", "means"), [(1.0, [-0.5, 0.5]), (-1.0, [-5.0, -1.0])])
def test_human_scores_of_a_file(score: float, means: list[float]) -> None:
    """Two annotators, one stricter than the other: z-scores of points, penalties as they are."""
    scores = np.array([1.0, 2, 10, 20, 30]) if score > 0 else np.array([-1.0, -1, -5, -5])
    people = ("A", "A", "B", "B", "B")[: len(scores)]
    output = np.array([1, 2, 1, 2, 2])[: len(scores)] if score > 0 else np.array([2, 2, 1, 1])
    judged = JudgmentFile(
        ("A", "B"), people, ("target",) * len(scores), ("s",) * len(scores),
        tuple(map(str, output)), np.arange(len(scores)), output, scores, scores * 0 + 9,
        np.ones(len(scores), dtype=bool),
    )  # fmt: skip
    rows = human_rows(judged, form="", pool="all")
    if score < 0:
        assert [row["human"] for row in rows] == means
    else:
        spread = (scores[:2].std(ddof=1), scores[2:].std(ddof=1))
        first = np.mean([(1 - 1.5) / spread[0], (10 - 20) / spread[1]])
        assert rows[0]["human"] == pytest.approx(first)


def test_floors_by_scipy_and_no_ceiling_of_mqm(mqm: Campaign, data_dir: Path) -> None:
    """Each output has one annotator, so nobody can be compared with the others."""
    with (data_dir / "mqm-ted/zh-en/seg-scores.tsv").open(encoding="utf-8") as lines:
        reader = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        mqm_of = {(row["seg_id"], row["system"]): float(row["mqm"]) for row in reader}
    with (data_dir / "mqm-ted/zh-en/outputs.tsv").open(encoding="utf-8") as lines:
        reader = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        length = {(row["seg_id"], row["system"]): len(row["output"]) for row in reader}
    cells = list(mqm_of)
    ours = [mqm_of[cell] for cell in cells]
    tau = stats.kendalltau([-length[cell] for cell in cells], ours).statistic
    panel = floor_panel(read_panel(mqm, Filters(humans=IN)))
    values, _ = values_of(panel.scored, parse("tau-b"))
    found = dict(zip(panel.measures, values, strict=True))
    # Sums of weights such as 0.1 differ in their last digits, which makes some ties of none.
    assert found["floor-output"] == pytest.approx(tau, abs=1e-6)
    # A long text has more errors: length alone is no small floor.
    assert found["floor-output"] > 5 * abs(found["floor-random"])
    ratings = read_ratings(mqm, Filters(humans=IN), panel.human)
    assert ratings is not None
    with pytest.warns(NoOverlapWarning):
        assert ceiling(ratings, panel.scored, parse("tau-b")).n == 0
