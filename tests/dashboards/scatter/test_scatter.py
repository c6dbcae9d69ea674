"""The scatter plot: statistics by scipy on rows read here, subsets, bins, paradox, texts."""

from dataclasses import replace

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from scipy import stats

from annotation.filters import FilterError, Filters
from annotation.models import Annotator, Campaign, Item, Judgment, Output
from annotation.models.corpus import content_key
from dashboards.scatter import points as module
from dashboards.scatter.document import ScatterChoice, compute
from dashboards.scatter.page import points as drawing
from dashboards.scatter.points import Points, drawn, worst
from metaeval.results import ConstantInputWarning
from metaeval.sensitivity import gaps, pooled, within_systems
from metrics.runs import scoring, starting
from tests.world import World

SCORES = {"strong": (90, 70, 40, 80), "weak": (60, 20, 30, 55)}


@pytest.fixture
def campaign(world: World) -> Campaign:
    """One annotator has rated everything; chrF has scored it."""
    annotator = Annotator.objects.create(campaign=world.campaign, label="A1")
    outputs = Output.objects.filter(system__campaigns=world.campaign)
    for position, output in enumerate(outputs.select_related("segment", "system")):
        vary(output, position)
        item = Item.objects.create(campaign=world.campaign, segment=output.segment, output=output)
        row = annotator.assignments.create(item=item, position=position)
        given = SCORES[output.system.name][output.segment.position]
        Judgment.objects.create(
            assignment=row,
            score=given,
            submit_key=f"00000000-0000-4000-8000-{position:012}",
            started_at="2026-01-01T10:00:00Z",
            submitted_at="2026-01-01T10:00:09.5Z",
        )
    for run in starting.start(test_set=world.test_set, metrics=["chrf", "ter"], enqueue=False).runs:
        scoring.drain(run.pk, worker="test")
    return world.campaign


def vary(output: Output, position: int) -> None:
    """Make the outputs differ in quality: every one leaves other words out."""
    output.text = " ".join(output.text.split()[: 3 + position * 5 % 7])
    references = [reference.text for reference in output.segment.references.all()]
    output.content_key = content_key(output.segment.source, references, output.text)
    output.save()


def scored(metric: str) -> dict[int, float]:
    """Scores by output straight from sacrebleu."""
    from sacrebleu.metrics import CHRF, TER

    scorer = {"chrf": CHRF(), "ter": TER()}[metric]
    return {
        output.pk: scorer.sentence_score(
            output.text, [reference.text for reference in output.segment.references.all()]
        ).score
        for output in Output.objects.all()
    }


def test_statistics_by_scipy_from_raw_rows(campaign: Campaign) -> None:
    document = compute(campaign, ScatterChoice(metric="ter", scores="raw"))
    theirs = scored("ter")
    outputs = list(Output.objects.select_related("segment", "system").order_by("pk"))
    x = [SCORES[output.system.name][output.segment.position] for output in outputs]
    y = [-theirs[output.pk] for output in outputs]
    found = {point[2]: point[:2] for point in document.points}
    assert found == {
        output.pk: (a, pytest.approx(b)) for output, a, b in zip(outputs, x, y, strict=True)
    }
    assert document.statistics.r == pytest.approx(stats.pearsonr(x, y).statistic)
    assert document.statistics.tau == pytest.approx(stats.kendalltau(x, y).statistic)
    for row in document.by_system:
        own = [i for i, output in enumerate(outputs) if output.system.name == row.system]
        r = stats.pearsonr([x[i] for i in own], [y[i] for i in own]).statistic
        assert (row.r, row.n) == (pytest.approx(r), 4)


def test_the_worst_disagreement_is_the_largest_difference_of_z(campaign: Campaign) -> None:
    document = compute(campaign, ScatterChoice(metric="chrf", scores="raw"))
    x, y = (np.array([point[i] for point in document.points]) for i in (0, 1))
    gaps = stats.zscore(y, ddof=1) - stats.zscore(x, ddof=1)
    by_output = {p[2]: gap for p, gap in zip(document.points, gaps, strict=True)}
    first = next(row for row in document.rows if row.side == "metric higher")
    last = next(row for row in document.rows if row.side == "metric lower")
    assert by_output[first.output] == pytest.approx(gaps.max()) == pytest.approx(first.gap)
    assert by_output[last.output] == pytest.approx(gaps.min()) == pytest.approx(last.gap)


def test_subsets_by_system_length_and_document(campaign: Campaign) -> None:
    one = compute(campaign, ScatterChoice(system="weak"))
    assert {point[3] for point in one.points} == {"weak"}
    # Every source has 12 characters.
    assert compute(campaign, ScatterChoice(shortest="12", longest="12")).n == 8
    assert compute(campaign, ScatterChoice(shortest="13")).problem
    segment = campaign.test_set.segments.first()
    assert segment is not None
    segment.document = "port"
    segment.save()
    document = compute(campaign, ScatterChoice(document="port"))
    assert (document.n, document.documents) == (2, ["port"])


def test_systems_as_points(campaign: Campaign) -> None:
    document = compute(campaign, ScatterChoice(metric="chrf", scores="raw", level="system"))
    found = {point[3]: point[0] for point in document.points}
    assert found == {name: np.mean(scores) for name, scores in SCORES.items()}
    assert document.n == 2


def test_metric_against_metric_needs_no_humans(world: World) -> None:
    for run in starting.start(test_set=world.test_set, metrics=["chrf", "ter"], enqueue=False).runs:
        scoring.drain(run.pk, worker="test")
    problem = compute(world.campaign, ScatterChoice(metric="chrf")).problem
    assert problem is not None
    assert problem.code == "outputs.no-human-scores"
    assert compute(world.campaign, ScatterChoice(metric="chrf", against="ter")).n == 8


def made(x: list[float], y: list[float], system: list[int]) -> Points:
    n = len(x)
    return Points(np.array(x), np.array(y), np.array(system), np.arange(n), [""] * n, [""] * n,
                  ["A", "B"])  # fmt: skip


def test_simpson_s_paradox_is_told_and_only_then() -> None:
    # Within each system y falls as x rises; the better system has more of both.
    turned = made([1, 2, 3, 11, 12, 13], [3, 2, 1, 13, 12, 11], [0, 0, 0, 1, 1, 1])
    found = pooled(turned.x, turned.y, turned.system)
    assert found.r > 0.9
    assert found.r_within == pytest.approx(-1)
    assert found.is_paradox
    assert (found.n_opposite, found.n_known) == (2, 2)
    rows = within_systems(turned.x, turned.y, turned.system)
    assert [row.is_opposite for row in rows] == [True, True]
    same = made([1, 2, 3, 11, 12, 13], [1, 2, 3, 11, 12, 13], [0, 0, 0, 1, 1, 1])
    found = pooled(same.x, same.y, same.system)
    assert (found.is_paradox, found.warnings) == (False, ())


def test_constant_scores_have_no_disagreement_and_a_warning() -> None:
    flat = made([1, 2, 3, 4], [5, 5, 5, 5], [0, 0, 1, 1])
    with pytest.warns(ConstantInputWarning):
        found = pooled(flat.x, flat.y, flat.system)
    assert (np.isnan(found.r), worst(flat, gaps(flat.x, flat.y), np.ones(4, dtype=bool))) == (
        True,
        [],
    )
    assert found.warnings


def test_many_points_become_counts_that_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    many = made(rng.normal(size=500).tolist(), rng.normal(size=500).tolist(), [0, 1] * 250)
    monkeypatch.setattr(module, "MOST_POINTS", 499)
    _, bins = drawn(many)
    assert sum(n for _, _, n, _ in bins) == 500
    counts, *_ = np.histogram2d(many.x, many.y, bins=module.BINS)
    assert sorted(n for _, _, n, _ in bins) == sorted(counts[counts > 0].astype(int).tolist())
    half = np.ptp(many.x) / module.BINS / 2
    assert all(abs(many.x[output] - x) <= half + 1e-9 for x, _, _, output in bins)


def test_the_figure_says_what_it_shows(campaign: Campaign) -> None:
    document = compute(campaign, ScatterChoice(metric="ter"))
    spec = drawing(document)
    assert spec is not None
    assert len(spec["data"]["values"]) == 8
    assert spec["description"].parameters["r"] == document.statistics.r
    assert spec["encoding"]["y"]["title"].code == "scatter.sign-reversed"
    assert drawing(replace(document, n=0)) is None


def test_choices_come_from_the_address_and_go_back_there() -> None:
    chosen = ScatterChoice.from_query({"metric": "ter", "longest": "9", "scores": "raw", "x": "y"})
    assert chosen.query() == "?scores=raw&metric=ter&longest=9"
    assert ScatterChoice.from_json(chosen.as_json()) == chosen
    assert chosen.shared() == Filters(scores="raw")
    for query in ({"level": "word"}, {"shortest": "-1"}, {"shortest": "9", "longest": "2"}):
        with pytest.raises(FilterError):
            ScatterChoice.from_query(query)


def test_an_output_shows_its_judgments_and_scores(
    campaign: Campaign, as_researcher: Client
) -> None:
    output = Output.objects.get(system__name="weak", segment__position=1)
    page = as_researcher.get(reverse("output", args=[campaign.slug, output.pk])).text
    own = np.array([score for row in SCORES.values() for score in row], float)
    z = (20 - own.mean()) / own.std(ddof=1)
    assert f">{z:.2f}<".replace("-", "−") in page
    assert ">9.5<" in page
    assert f"{scored('chrf')[output.pk]:.3f}" in page
    assert '<dd lang="zh" dir="ltr">' in page
    fragment = as_researcher.get(
        reverse("output", args=[campaign.slug, output.pk]), headers={"X-Fragment": "output"}
    ).text
    assert "<html" not in fragment
    linked = as_researcher.get(reverse("scatter", args=[campaign.slug]), {"output": output.pk})
    assert 'id="output-title"' in linked.text


def test_strangers_outputs_and_unknown_measures(campaign: Campaign, as_researcher: Client) -> None:
    address = reverse("scatter", args=[campaign.slug])
    assert as_researcher.get(address, {"output": "999999"}).status_code == 400
    assert as_researcher.get(address, {"output": "x"}).status_code == 400
    assert as_researcher.get(address, {"level": "word"}).status_code == 400
    page = as_researcher.get(address, {"metric": "guess"})
    assert (page.status_code, "“guess”" in page.text) == (400, True)
    data = as_researcher.get(reverse("scatter-data", args=[campaign.slug, "json"])).json()
    assert data["n"] == 8
