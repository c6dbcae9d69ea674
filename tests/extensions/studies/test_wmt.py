"""The WMT tasks of a study against the figures of mt-metrics-eval on the same scores."""

import csv
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.models import Campaign
from dashboards.documents.computing import settled
from dashboards.pages.page import campaigns_in_order
from extensions.studies.wmt import WmtChoice, WmtTasks, compute, without_ranks
from tests.dashboards.documents.working import compute_waiting
from tests.dashboards.tex import problems
from tests.metaeval.wmt.laid_out import figures, lay_out, lay_out_years
from tests.shared import SharedRows

NEEDS = {"extensions.studies"}
# Sign flips and thresholds that tie in single precision there and not here.
SLACK = {"spa": 2e-3, "acc-eq": 1e-4}
METRICS = ["BLEU-refA", "chrF-refA", "YiSi-1-refA"]
PAIRS = {"en-cs_CZ": "esa-human1", "en-it_IT": "esa-human1", "ja-zh_CN": "mqm"}


def bring_in(folder: Path) -> None:
    lay_out_years(folder)
    lay_out(folder / "whole" / "wmt23", "en-de")
    several = {("wmt25", pair): (human, METRICS) for pair, human in PAIRS.items()}
    for (name, pair), (human, metrics) in {
        **several, ("whole/wmt23", "en-de"): ("mqm", ["all"])
    }.items():  # fmt: skip
        call_command(
            "import_mtme", folder / name, language_pair=pair, human=[human],
            study=name.rpartition("/")[2], metrics=metrics, stdout=StringIO(), stderr=StringIO(),
        )  # fmt: skip


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory, shared_rows: SharedRows[None]) -> Iterator[None]:
    with shared_rows(lambda: bring_in(tmp_path_factory.mktemp("years"))):
        yield


def run(study: str, **choices: object) -> WmtTasks:
    campaigns = campaigns_in_order(Campaign.objects.filter(study=study))
    return settled(compute(campaigns[0], WmtChoice(**choices).over(campaigns)))


def check(found: WmtTasks, name: str, task_name: str, statistic: str, slug: str = "") -> None:
    expected = figures(name)[f"{task_name} {statistic}"]
    (task,) = [t for t in found.tasks if (t.statistic, t.campaign) == (statistic, slug)]
    own = {place.label.removesuffix("-refA").replace("-src", "[noref]"): place.value
           for place in task.places}  # fmt: skip
    assert own.keys() <= expected.keys()
    chosen = {metric: expected[metric] for metric in own}
    assert own == pytest.approx(chosen, abs=SLACK.get(statistic, 2e-6)), task.name


def test_tasks_of_several_campaigns(rows: None, db: None) -> None:
    found = run("wmt25")
    assert [round(task.weight, 6) for task in found.tasks] == [round(1 / 6, 6)] * 6
    for pair, human in PAIRS.items():
        for statistic in ("spa", "acc-eq"):
            check(found, "2025 years", pair, statistic, f"wmt25-{pair}-{human}")
    average = figures("2025 years")["average"]
    labels = [each.label.removesuffix("-refA") for each in found.ranking]
    assert labels == list(average)
    assert [each.value for each in found.ranking] == pytest.approx(
        list(average.values()), abs=SLACK["spa"]
    )
    assert found.ranking[0].rank == 1
    known = [p for task in found.tasks for p in task.places if p.low is not None]
    assert len(known) >= 4 * len(METRICS)
    assert all(p.low < p.own_value < p.high for p in known)
    assert [(each.unit, each.n_units) for each in found.units][-1] == ("documents", 5)


def test_the_statistics_of_2023_and_one_domain(rows: None, db: None) -> None:
    slug = "wmt23-en-de-mqm"
    found = run("wmt23", year="2023")
    assert len(found.ranking) == len(figures("2023 en-de")["average"])
    check(found, "2023 en-de", "all", "accuracy")
    for statistic in ("sys-pearson", "seg-pearson", "acc-eq"):
        check(found, "2023 en-de", "en-de", statistic, slug)
    # System scores are those imported for the domain.
    news = run("wmt23", year="2023", domains=("news",))
    for statistic in ("sys-pearson", "seg-pearson", "acc-eq"):
        check(news, "news en-de", "en-de", statistic, slug)


def test_a_refused_campaign_has_no_rank_and_no_average_has_one(rows: None, db: None) -> None:
    found = run("wmt25")
    refused = without_ranks(found, frozenset({"wmt25-ja-zh_CN-mqm"}))
    for before, task in zip(found.tasks, refused.tasks, strict=True):
        kept = task.campaign != "wmt25-ja-zh_CN-mqm"
        assert [p.rank for p in task.places] == [p.rank if kept else None for p in before.places]
        assert [p.value for p in task.places] == [p.value for p in before.places]
    assert {each.rank for each in refused.ranking} == {None}


def test_statistics_over_few_systems_are_not_ranked(rows: None, db: None) -> None:
    found = run("wmt25")
    assert without_ranks(found, frozenset()) == found
    small = replace(
        found,
        tasks=[
            replace(t, n_systems=5) if t.campaign == "wmt25-en-it_IT-esa-human1" else t
            for t in found.tasks
        ],
    )
    refused = without_ranks(small, frozenset())
    for before, task in zip(found.tasks, refused.tasks, strict=True):
        is_small = task.n_systems == 5 and task.statistic == "spa"
        assert [p.rank for p in task.places] == [
            None if is_small else p.rank for p in before.places
        ]
    assert {each.rank for each in refused.ranking} == {None}
    assert [each.value for each in refused.ranking] == [each.value for each in found.ranking]
    assert refused.warnings[-1].code == "wmt-task.few-systems-to-rank"


def test_page_and_files(
    rows: None, db: None, settings: LazySettings, as_researcher: Client
) -> None:
    settings.ANALYSES_IN_PLACE = False
    page = reverse("study-wmt", args=["wmt25"])
    files = {fmt: reverse("study-wmt-data", args=["wmt25", fmt]) for fmt in ("json", "csv", "tex")}
    assert as_researcher.get(page).status_code == 200
    assert {as_researcher.get(each).status_code for each in files.values()} == {202}
    compute_waiting()
    document = as_researcher.get(files["json"]).json()
    assert len(document["tasks"]) == 6
    assert "others" not in document["filters"]
    table = as_researcher.get(files["csv"]).getvalue().decode("utf-8-sig")
    lines = list(csv.DictReader(StringIO(table)))
    assert len(lines) == 3 + 6 * 3
    assert float(lines[0]["value"]) == document["ranking"][0]["value"]
    tex = as_researcher.get(files["tex"]).text
    assert problems(tex) == []
    assert "as of 20" in tex
    assert b'data-statistic="ranking"' in as_researcher.get(page).content
    for query in ("?others=1", "?year=1999"):
        assert as_researcher.get(page + query).status_code == 400
