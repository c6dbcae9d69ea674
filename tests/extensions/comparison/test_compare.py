"""Campaigns side by side, and beside published tables."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from scipy import stats

from annotation.filters import Filters
from annotation.models import Campaign
from dashboards.published import published
from extensions.comparison import differences
from extensions.comparison import document as compare
from tests.dashboards.conftest import make_rated, rate
from tests.refusals import has
from tests.shared import SharedRows
from tests.world import World, make_campaign, make_dataset

ADDRESS = "/compare/"
TABLES = {"r_hybrid": "table6_system_pearson", "tau": "table7_segment_kendall"}


@pytest.fixture(scope="module")
def rated_rows(shared_rows: SharedRows[Campaign]) -> Iterator[int]:
    """As many segments as intervals need."""
    with shared_rows(lambda: make_rated(segments=24)) as made:
        yield made.pk


def columns(*campaigns: Campaign, **filters: Any) -> list[differences.Column]:
    found = [(one, compare.compute(one, Filters(**filters))) for one in campaigns]
    return [differences.Column(one.slug, one.name, document) for one, document in found]


def pick(rows: Any, column: str, statistic: str, key: str = "") -> dict[str, Any]:
    """The row of a number as programs get it."""
    plain = [row if isinstance(row, dict) else vars(row) for row in rows]
    (found,) = [
        row
        for row in plain
        if (row["column"], row["statistic"], row["key"]) == (column, statistic, key)
    ]
    return found


def samples(side: differences.Column, *place: str) -> Any:
    return np.array(side.numbers[place].samples)  # type: ignore[index]


def twin(campaign: Campaign, slug: str) -> Campaign:
    """Another campaign over the same outputs, rated by other people."""
    copy = make_campaign(campaign.test_set, slug, traps_per_annotator=6, seed=99)
    rate(copy)
    return copy


def test_published_tables_are_those_of_the_paper(data_dir: Path) -> None:
    cells = json.loads((data_dir.parent / "specs/study-tables.json").read_text("utf-8"))
    places = ["en-zh-80", "en-zh-50", "zh-en-80", "zh-en-50"]
    for at, place in enumerate(places):
        one = published()[f"cheng2023/{place}"]
        for statistic, table in TABLES.items():
            printed = [
                float(re.sub("<.*?>", "", line[at + 1])) for line in cells[table][2:] if line[1]
            ]
            ours = [v for (name, _), v in one.values.items() if name == statistic]
            assert ours == printed
        assert one.values["seconds_mean", ""] == float(cells["table2_time"][at + 1][2])
        assert one.values["r_without_traps", ""] == float(cells["table4_one_vs_rest"][at + 2][3])
        assert one.values["alpha_z_with_traps", ""] == float(cells["table5_alpha"][at + 2][2])
    assert published()["cheng2023/zh-en-50"].values["traps_low", ""] == 28


def test_published_reference_free_metrics_are_those_of_the_paper(data_dir: Path) -> None:
    path = data_dir.parent / "specs" / "reference-free-checks.json"
    reported = json.loads(path.read_text(encoding="utf-8"))["reported"]
    for year, table, statistic in (("18", 1, "darr"), ("19", 2, "darr"), ("21", 3, "tau")):
        rows = reported[f"refreeeval_table{table}_wmt{year}"]["rows"]
        first = published()[f"refreeeval-wmt{year}/zh-en"].values
        for row, measure in (("ReFreeEval", "refreeeval"), ("XBERTScore", "xbertscore-f")):
            assert first[statistic, measure] == rows[row][0]


def test_metrics_without_a_release_have_numbers_where_they_took_part() -> None:
    took_part = {
        "ibm1-morpheme": {"de-en", "fi-en", "lt-en", "en-cs", "en-de", "en-fi", "en-lt"},
        "lasim": {"de-en", "ru-en", "en-de", "en-ru"},
        "lp": {"de-en", "ru-en", "en-de", "en-ru"},
        "yisi-2-srl": {"de-en", "zh-en", "en-de", "en-zh"},
    }
    for measure, pairs in took_part.items():
        columns = [one for one in published().values() if ("r_system", measure) in one.values]
        assert {one.direction for one in columns} == pairs


def test_every_published_table_names_its_source_and_licence() -> None:
    for one in published().values():
        assert one.source
        assert one.licence
        assert {statistic for statistic, key in one.values if not key} <= set(compare.QUALITY)
        assert {s for s, key in one.values if key} <= set(differences.CORRELATIONS)


def test_wmt17_comes_out_as_computed_elsewhere(db: None, data_dir: Path) -> None:
    make_dataset("wmt17-de-en", "sentbleu", "chrf", "bleu")
    campaign = Campaign.objects.get(slug="wmt17-de-en")
    table = published()["wmt17/de-en"]
    rows = differences.rows_of([*columns(campaign), differences.Column("w", "W", published=table)])
    for statistic, key in (("r_segment", "chrf"), ("r_segment", "sentbleu"), ("r_system", "bleu")):
        found = pick(rows, "w", statistic, key)
        assert found["difference"] == pytest.approx(0, abs=5e-5)
        assert np.isnan(found["difference_low"])


def test_differences_on_one_test_set_are_paired(rated: Campaign) -> None:
    first, second = columns(rated, twin(rated, "again"))
    rows = differences.rows_of([first, second])
    found = pick(rows, "again", "tau", "chrf")
    assert found["difference"] == pytest.approx(
        found["value"] - pick(rows, "rated", "tau", "chrf")["value"]
    )
    drawn = [samples(side, "correlations", "tau", "chrf") for side in (first, second)]
    low, high = np.percentile(drawn[1] - drawn[0], [2.5, 97.5])
    assert found["difference_low"] == pytest.approx(low)
    assert found["difference_high"] == pytest.approx(high)
    # The same segments make the same system good or bad in both.
    means = [samples(side, "systems", "mean", "weak") for side in (first, second)]
    assert np.corrcoef(means)[0, 1] > 0.3
    itself = differences.rows_of([first, differences.Column("copy", "Copy", first.document)])
    same = pick(itself, "copy", "r_segment", "chrf")
    assert [same[f"difference{end}"] for end in ("", "_low", "_high")] == [0, 0, 0]


def test_other_test_sets_are_drawn_independently(world: World) -> None:
    one, other = make_rated("one", segments=24), make_rated("other", segments=24)
    first, second = columns(one, other)
    means = [samples(side, "systems", "mean", "weak") for side in (first, second)]
    assert abs(np.corrcoef(means)[0, 1]) < 0.2


def test_systems_side_by_side(rated: Campaign) -> None:
    rows = differences.rows_of(columns(rated, scores="raw"))
    found = pick(rows, "rated", "mean", "strong")
    scores = [
        np.mean(
            list(
                output.items.filter(
                    kind="target", assignments__judgments__is_current=True
                ).values_list("assignments__judgments__score", flat=True)
            )
        )
        for output in rated.systems.get(name="strong").outputs.all()
    ]
    assert found["value"] == pytest.approx(np.mean(scores))
    # Six documents: t with five degrees of freedom, of errors that are summed over a document.
    errors = np.bincount(np.arange(len(scores)) % 6, np.array(scores) - np.mean(scores))
    half = (found["high"] - found["low"]) / 2
    spread = np.sqrt((errors**2).sum() * 6 / 5) / len(scores)
    assert half == pytest.approx(stats.t.ppf(0.975, 5) * spread, rel=0.25)


def test_the_page_shows_campaign_and_table(rated: Campaign, as_researcher: Client) -> None:
    query = {"campaign": rated.slug, "published": "cheng2023/zh-en-80", "of": "tau"}
    page = as_researcher.get(ADDRESS, query).text
    data = as_researcher.get("/compare.json", query).json()
    paper = pick(data["rows"], "cheng2023/zh-en-80", "alpha_z_without_traps")
    assert paper["value"] == 0.2259
    assert "0.226" in page
    assert f"Δ {paper['difference']:+.3f}".replace("-", "−") in page
    assert "CC BY 4.0" in page
    assert "samples" not in data["columns"][0]
    lines = as_researcher.get("/compare.csv", query).getvalue().decode().splitlines()
    assert len(lines) == 1 + len(data["rows"])


def test_a_study_and_its_length_ratios(rated: Campaign, as_researcher: Client) -> None:
    Campaign.objects.filter(pk=rated.pk).update(study="port")
    half = twin(rated, "half")
    Campaign.objects.filter(pk=half.pk).update(study="port", length_ratio="0.50")
    both = as_researcher.get(ADDRESS, {"study": "port"})
    assert [one.key for one in both.context["document"].columns] == ["rated", "half"]
    assert "length=0.50" in both.text
    one = as_researcher.get(ADDRESS, {"study": "port", "length": "0.5"})
    assert [each.key for each in one.context["document"].columns] == ["half"]
    assert f"{reverse('compare')}?study=port" in as_researcher.get("/studies/port/quality/").text


@pytest.mark.parametrize(
    ("query", "status", "sentence"),
    [
        ("campaign=nowhere", 404, "does not exist"),
        ("study=nowhere", 404, "does not exist"),
        ("published=nowhere", 400, "nowhere"),
        ("study=port&length=half", 400, "compare.length"),
        ("campaign=harbour-80&of=rho", 400, "rho"),
        ("campaign=harbour-80&without=X", 400, "annotator X"),
        ("campaign=harbour-80&documents=X", 400, "filter.none-here"),
        ("&".join(f"published={key}" for key in sorted(published())) + "&campaign=harbour-80",
         400, "compare.too-many-columns"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared(
    world: World, as_researcher: Client, query: str, status: int, sentence: str
) -> None:
    Campaign.objects.filter(pk=world.campaign.pk).update(study="port")
    page = as_researcher.get(f"{ADDRESS}?{query}")
    assert (page.status_code, has(page.text, sentence)) == (status, True)


def test_private_campaigns_are_not_to_be_seen(world: World, as_researcher: Client) -> None:
    Campaign.objects.update(is_private=True, status="closed")
    assert as_researcher.get(ADDRESS, {"campaign": world.campaign.slug}).status_code == 404
    assert as_researcher.get("/compare.json", {"campaign": "harbour-80"}).status_code == 404
    assert world.campaign.slug not in as_researcher.get(ADDRESS).text


def test_numbers_are_waited_for(
    rated: Campaign, as_researcher: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "ANALYSES_IN_PLACE", False)
    page = as_researcher.get(ADDRESS, {"campaign": rated.slug})
    assert 'data-case="computing"' in page.text
    waiting = as_researcher.get("/compare.json", {"campaign": rated.slug})
    assert (waiting.status_code, waiting["Retry-After"]) == (202, "2")


def test_filters_reach_every_campaign(rated: Campaign, as_researcher: Client) -> None:
    again = twin(rated, "again")
    again.annotators.filter(label="S3").update(label="T3")
    query = {"campaign": [rated.slug, "again"], "without": "S3", "scores": "raw"}
    rows = as_researcher.get("/compare.json", query).json()["rows"]
    assert pick(rows, "rated", "n_annotators")["value"] == 2
    assert pick(rows, "again", "n_annotators")["value"] == 3
