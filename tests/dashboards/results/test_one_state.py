"""A headline, its figure and its table are of one state, or the page says which part is older."""

from collections.abc import Iterator

import numpy as np
import pytest
from django.conf import LazySettings
from django.http import QueryDict
from django.test import Client
from django.urls import reverse

from annotation.filters import Filters
from annotation.models import Campaign, Judgment, Output
from annotation.uploads import InputFile
from dashboards.charts.files import in_language
from dashboards.correlations.page import CORRELATIONS
from dashboards.documents.results import latest
from dashboards.results.figures import metrics as drawn
from dashboards.results.page import RESULTS
from metrics.imported.checking import bring_in, check
from metrics.imported.files import Choices
from tests.dashboards.conftest import make_rated
from tests.dashboards.documents.working import compute_waiting
from tests.shared import SharedRows

NEW = "BLEURT-20"


@pytest.fixture(scope="module")
def rows(shared_rows: SharedRows[Campaign]) -> Iterator[int]:
    with shared_rows(lambda: make_rated("state", segments=24, study="states")) as made:
        yield made.pk


@pytest.fixture
def campaign(rows: int, db: None, settings: LazySettings) -> Campaign:
    settings.ANALYSES_IN_PLACE = False
    return Campaign.objects.get(pk=rows)


def add_best(campaign: Campaign) -> None:
    """A metric that agrees better than all others: the humans' mean scores themselves."""
    totals: dict[int, list[float]] = {}
    for row in Judgment.objects.filter(is_current=True, assignment__item__kind="target"):
        totals.setdefault(row.assignment.item.output_id, []).append(row.score)
    outputs = Output.objects.select_related("system", "segment").in_bulk(totals)
    lines = [f"system\tsegment\t{NEW}"] + [
        f"{outputs[pk].system.name}\t{outputs[pk].segment.key}\t{np.mean(scores)}"
        for pk, scores in totals.items()
    ]
    table = InputFile.holding("scores.tsv", "\n".join(lines).encode())
    checked = check(campaign.test_set, [table], Choices())
    assert not checked.report.errors
    bring_in(checked)


def shown(campaign: Campaign):
    """The first page's document, and whether all its parts are there."""
    found = RESULTS.latest(QueryDict(), campaign, Filters())
    assert found.document is not None
    return RESULTS.choose(found.document, QueryDict()), found


def test_a_metric_that_the_intervals_lack_is_not_in_the_headline(
    campaign: Campaign, as_researcher: Client
) -> None:
    page = reverse("results", args=[campaign.slug])
    as_researcher.get(page)
    compute_waiting()
    before, found = shown(campaign)
    assert found.is_of_one_state
    assert before.older == []
    add_best(campaign)
    shown(campaign)
    compute_waiting(only_quick=True)

    home, found = shown(campaign)
    assert not found.is_of_one_state
    lines = {line.label.removesuffix(" (imported)"): line for line in home.rows}
    assert lines[NEW].value > max(line.value for name, line in lines.items() if name != NEW)
    # The answer is that of the metrics with intervals, as are value, interval and rank.
    assert (home.answer.case, home.answer.sentence) == (before.answer.case, before.answer.sentence)
    assert NEW not in home.answer.sentence.text
    for line in before.rows:
        now = lines[line.label]
        assert (now.value, now.low, now.high, now.rank) == (
            line.value, line.low, line.high, line.rank,
        )  # fmt: skip
        assert now.low <= now.value <= now.high
    assert (lines[NEW].low, lines[NEW].rank, lines[NEW].is_best) == (None, None, False)
    (intervals, second) = home.older
    assert NEW in intervals.text
    assert second.code == "results.older-level"
    assert in_language(drawn(home))["description"].startswith(home.answer.sentence.text)
    text = as_researcher.get(page).text
    assert text.count('data-name="older"') == 2

    compute_waiting()
    home, found = shown(campaign)
    assert found.is_of_one_state
    assert home.older == []
    assert NEW in home.answer.sentence.text
    assert lines[NEW].value == next(line.value for line in home.rows if NEW in line.label)


def test_new_judgments_move_values_and_intervals_together(campaign: Campaign) -> None:
    CORRELATIONS.latest(QueryDict(), campaign, Filters())
    compute_waiting()
    old = latest("significance:tau-b/none/segments", campaign, Filters()).document
    first = Judgment.objects.filter(is_current=True, assignment__item__kind="target")
    annotator = first.first().assignment.annotator
    annotator.excluded_at = "2026-01-01T00:00:00Z"
    annotator.save(update_fields=["excluded_at"])
    CORRELATIONS.latest(QueryDict(), campaign, Filters())
    compute_waiting(only_quick=True)
    table = latest("correlations:tau-b/none/segments", campaign, Filters()).document
    found = CORRELATIONS.latest(QueryDict(), campaign, Filters())
    document = CORRELATIONS.choose(found.document, QueryDict())
    values = {metric.key: metric.value for metric in old.metrics}
    assert {metric.key: metric.value for metric in table.metrics} != values
    assert {row.key: row.value for row in document.rows} == values
    assert document.intervals_note


def test_a_verdict_of_older_data_says_so(campaign: Campaign, as_researcher: Client) -> None:
    CORRELATIONS.latest(QueryDict(), campaign, Filters())
    compute_waiting()
    add_best(campaign)
    # The table is newer, the verdict rests.
    found = latest("correlations:tau-b/none/segments", campaign, Filters())
    assert not found.is_fresh
    compute_waiting(only_quick=True)
    trust = latest("trust", campaign, Filters())
    table = CORRELATIONS.latest(QueryDict(), campaign, Filters())
    assert trust.data != latest("correlations:tau-b/none/segments", campaign, Filters()).data
    assert [each.code for each in table.document.trust.older] == ["trust.older"]
