"""Baselines and human ceiling as rows of results, and the mark of metrics that are not above."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from scipy import stats

from annotation.filters import Filters
from annotation.imports import CampaignDraft, store_campaign
from annotation.models import Campaign, Judgment, Output
from dashboards.comparisons import document as significance
from dashboards.comparisons.document import Comparison
from dashboards.comparisons.statistics import Against, Bounds, FloorValue, bounds_of
from dashboards.correlations import document as correlations
from dashboards.correlations.document import CEILING, values_of
from dashboards.documents.computing import settled
from dashboards.panel.panel import read_panel
from dashboards.scatter import document as scatter
from dashboards.scatter.document import ScatterChoice
from dashboards.trust import marks
from metaeval.messages import message
from metaeval.replication.questions import parse
from metrics.catalogue import infos
from metrics.scores import MeasureScores
from tests.dashboards import typed
from tests.dashboards.documents.working import compute_waiting
from tests.dashboards.imported import make_set
from tests.metaeval.published import numbers, table
from tests.refusals import tells
from tests.world import score

BOUNDED = ("results", "correlations", "significance")


def lengths_of_wmt17() -> dict[str, float]:
    """Kendall's τ of lengths with the published z-scores, from the files by scipy."""
    human = table("wmt17/zh-en/seg-human.tsv")
    outputs, segments = table("wmt17/zh-en/outputs.tsv"), table("wmt17/zh-en/segments.tsv")
    text = dict(zip(zip(outputs["sid"], outputs["system"], strict=True), outputs["output"],
                    strict=True))  # fmt: skip
    source = dict(zip(segments["sid"], segments["source"], strict=True))
    cells = list(zip(human["sid"], human["system"], strict=True))
    found = {
        "floor-output": [-len(text[cell]) for cell in cells],
        "floor-source": [-len(source[sid]) for sid, _ in cells],
    }
    z = numbers(human["human_z"])
    return {key: stats.kendalltau(values, z).statistic for key, values in found.items()}


def test_floors_of_wmt17_by_scipy(db: None, data_dir: Path) -> None:
    call_command("import_dataset", "wmt17", data=data_dir)
    campaign = Campaign.objects.get(slug="wmt17-zh-en")
    score(campaign.test_set, "sentbleu", "chrf")
    found = correlations.compute(campaign, Filters())
    floors = {row.key: row for row in found.floors}
    for key, tau in lengths_of_wmt17().items():
        assert floors[key].value == pytest.approx(tau, abs=1e-12), key
        assert floors[key].n == 560
    compared = significance.compute(campaign, Filters())
    assert compared.bounds is not None
    assert {each.key: each.state for each in compared.bounds.against} == {
        "sentbleu": "above",
        "chrf": "above",
    }
    assert compared.bounds.ceiling is None
    assert [each.code for each in compared.bounds.notes] == ["ceiling.published"]


def test_people_of_a_campaign_are_its_ceiling(rated: Campaign) -> None:
    compared = significance.compute(rated, Filters(), "pearson")
    assert compared.bounds is not None
    ceiling = compared.bounds.ceiling
    assert ceiling is not None
    # All three judged all 54 outputs; each against the mean of the two others.
    assert [each.n for each in ceiling.people] == [54, 54, 54]
    people = [each.value for each in ceiling.people]
    assert ceiling.value == pytest.approx(np.mean(people))
    assert [each.key for each in ceiling.metrics] == list(read_panel(rated, Filters()).measures)
    # The range of three people is no interval, and is drawn as none.
    assert values_of(compared.bounds)[CEILING] == (ceiling.value, None, None)


def test_a_sentinel_is_a_floor_and_not_above_itself(
    rated: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = read_panel(rated, Filters())
    key = next(iter(panel.measures))
    family = infos()[panel.measures[key].metric].family
    monkeypatch.setattr("dashboards.panel.panel.SENTINELS", (family,))
    compared = significance.compute(rated, Filters(), "pearson")
    assert compared.bounds is not None
    added = {each.key: each for each in compared.bounds.floors}
    assert added[f"floor:{key}"].label == f"Baseline: {panel.measures[key].label}"
    against = {each.key: each for each in compared.bounds.against}
    assert against[key].above == 1.0
    assert against[key].state != "above"


@pytest.mark.parametrize("name", BOUNDED)
def test_every_page_shows_them_where_the_address_says_so(
    rated: Campaign, as_researcher: Client, name: str
) -> None:
    address = reverse(name, args=[rated.slug])
    as_researcher.get(address)
    compute_waiting()
    assert "Baseline: random" not in as_researcher.get(address).text
    assert "Baseline: random" in as_researcher.get(address, {"bounds": "shown"}).text
    for fmt in ("csv", "tex"):
        data = reverse(f"{name}-data", args=[rated.slug, fmt])
        assert b"aseline" in as_researcher.get(data, {"bounds": "shown"}).getvalue()
        assert b"aseline" not in as_researcher.get(data).getvalue()
    assert as_researcher.get(address, {"bounds": "perhaps"}).status_code == 400


def rows_of(client: Client, address: str, query: dict[str, str]) -> list[dict[str, str]]:
    """The lines of a CSV file."""
    return list(csv.DictReader(client.get(address, query).getvalue().decode().splitlines()))


def test_floors_and_people_on_the_same_points(rated: Campaign, as_researcher: Client) -> None:
    document = scatter.compute(rated, ScatterChoice(scores="raw"))
    texts = dict(Output.objects.values_list("pk", "text"))
    bounds = {each.key: each for each in document.bounds}
    x, lengths = [p[0] for p in document.points], [-len(texts[p[2]]) for p in document.points]
    floor = bounds["floor-output"]
    assert floor.n == document.n == 54
    assert floor.tau == pytest.approx(stats.kendalltau(x, lengths).statistic, abs=1e-12)
    given: dict[str, dict[int, float]] = {}
    for row in Judgment.objects.filter(is_current=True, assignment__item__kind="target"):
        scores = given.setdefault(row.assignment.annotator.label, {})
        scores[row.assignment.item.output_id] = row.score
    rs = []
    for label, own in given.items():
        rest = [np.mean([v[pk] for k, v in given.items() if k != label]) for pk in own]
        rs.append(stats.pearsonr(list(own.values()), rest).statistic)
        assert bounds[f"person:{label}"].r == pytest.approx(rs[-1], abs=1e-12)
    assert bounds["ceiling"].r == pytest.approx(np.mean(rs), abs=1e-12)
    # Of a region only its points; over systems people are not compared.
    region = scatter.compute(rated, ScatterChoice(scores="raw", x_from=str(np.median(x))))
    assert {each.n for each in region.bounds if each.kind == "floor"} == {region.n_selected}
    systems = scatter.compute(rated, ScatterChoice(level="system"))
    assert {each.kind for each in systems.bounds} == {"floor"}

    page, shown = reverse("scatter", args=[rated.slug]), {"bounds": "shown"}
    as_researcher.get(page)
    compute_waiting()
    assert not tells(as_researcher.get(page).text, "baseline.short-outputs")
    assert tells(as_researcher.get(page, shown).text, "baseline.short-outputs")
    data = reverse("scatter-data", args=[rated.slug, "tex"])
    assert tells(as_researcher.get(data, shown).text, "baseline.short-outputs")
    assert "Baseline: " not in as_researcher.get(data).text
    address = reverse("scatter-data", args=[rated.slug, "csv"])
    plain, bounded = (rows_of(as_researcher, address, query) for query in ({}, shown))
    assert {row["side"] for row in plain} == {"metric higher", "metric lower"}
    of_z = {str(each.label): each for each in scatter.compute(rated, ScatterChoice()).bounds}
    added = {row["label"]: row for row in bounded[len(plain) :]}
    assert set(added) == set(of_z)
    for label, row in added.items():
        assert (row["side"], int(row["n"])) == (of_z[label].kind, of_z[label].n)
        assert [float(row[name]) if row[name] else None for name in ("r", "tau")] == [
            of_z[label].r, of_z[label].tau,
        ]  # fmt: skip


def test_programs_get_the_rows_and_the_marks(rated: Campaign, as_researcher: Client) -> None:
    address = f"/api/results/{rated.slug}/"
    as_researcher.get(address)
    compute_waiting()
    plain, shown = (
        as_researcher.get(address, query).json()["correlations"]["rows"]
        for query in ({}, {"bounds": "shown"})
    )
    assert {row["kind"] for row in plain} == {"metric"}
    assert {row["kind"] for row in shown} == {"metric", "floor", "ceiling", "person"}
    page = reverse("correlations-data", args=[rated.slug, "json"])
    assert plain == as_researcher.get(page).json()["rows"]
    assert as_researcher.get(address, {"bounds": "perhaps"}).status_code == 400


@pytest.mark.needs("extensions.trials")
def test_the_switch_goes_along_and_no_page_is_offered_that_says_nothing(
    rated: Campaign, as_researcher: Client
) -> None:
    page = as_researcher.get(reverse("correlations", args=[rated.slug]), {"bounds": "shown"}).text
    for other in ("results", "significance"):
        assert f'{reverse(other, args=[rated.slug])}?bounds=shown"' in page
    assert reverse("trial", args=[rated.slug]) not in page
    Campaign.objects.update(is_prefilled=True)
    assert (
        reverse("trial", args=[rated.slug])
        in as_researcher.get(reverse("results", args=[rated.slug])).text
    )


def compared_as(
    *states: str, values: tuple[float | None, ...] = (0.5, 0.4), baseline: float | None = 0.0
) -> Comparison:
    """A comparison of metrics that stand so against the floor."""
    against = [Against(f"m{place}", 0.5, 0.5, state) for place, state in enumerate(states)]
    measured = {"key": "floor", "label": "F", "signature": "", "origin": "", "is_turned": False}
    floors = [FloorValue(**measured, value=baseline)]
    return typed.comparison(
        metrics=[typed.metric(f"m{place}", value) for place, value in enumerate(values)],
        bounds=Bounds(floors, against, message("test", "t"), None, []),
        n_informative=12,
        n_systems=9,
    )


@pytest.mark.parametrize(
    ("compared", "codes"),
    [
        (compared_as("above", "above"), ["all-above"]),
        (compared_as("above", "not-above"), ["not-above", "about"]),
        (compared_as("below", "not-above"), ["below", "not-above", "about"]),
        (compared_as("below", "below"), ["below", "about"]),
        # Each metric that is not tested has its own cause, with its numbers.
        (compared_as("", "", baseline=None), ["undefined"]),
        (compared_as("", ""), ["no-p-value"]),
        (
            compared_as("above", "", values=(0.5, None)),
            ["rest-above", "no-value", "about"],
        ),
        (
            compared_as("above", values=(0.5,)),
            ["rest-above", "not-compared", "about"],
        ),
    ],
)
def test_the_mark_has_an_explanation(compared: Comparison, codes: list[str]) -> None:
    labels = {"m0": "A", "m1": "B"}
    found = marks.against_floor(typed.trusted(), compared, labels)[1]
    assert [each.code for each in found] == [f"baselines.{code}" for code in codes]


def test_a_set_without_texts_has_no_baseline_for_accuracy(db: None) -> None:
    """All baselines are made of texts: they are constant, however many segments there are."""
    rng = np.random.default_rng(4)
    keys = [str(n) for n in range(60)]
    test_set = make_set("no-texts", "en-de", "ABCD", keys)
    truth = rng.normal(size=(4, 60)) + np.arange(4)[:, None]
    scores = {
        (system, key): float(truth[row, place])
        for row, system in enumerate("ABCD")
        for place, key in enumerate(keys)
    }
    draft = CampaignDraft(slug="no-texts", name="N", question="?", output_scores=scores)
    campaign = store_campaign(draft, test_set).campaign
    panel = read_panel(campaign, Filters())
    metric = MeasureScores(
        key="m", label="M", metric="m", signature="m", higher_is_better=True, corpus=None,
        values=truth + rng.normal(size=truth.shape), statistics=None, n_outputs=240, n_missing=0,
    )  # fmt: skip
    panel = replace(panel, measures={"m": metric})
    found = settled(bounds_of(campaign, Filters(), panel, parse("acc-eq")))
    assert [each.value for each in found.floors[1:]] == [None] * 4
    compared = typed.comparison(metrics=[typed.metric("m")], bounds=found)
    _, said = marks.against_floor(typed.trusted(), compared, {"m": "M"})
    assert said == [marks.NO_BASELINE]


def test_what_may_not_be_ranked_is_not_marked() -> None:
    assert marks.against_floor(None, compared_as("below", ""), {"m0": "A"}) == ({}, [])
