"""Filters: from the address, back into it, and onto every number."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from django.http import QueryDict
from django.test import Client
from django.urls import reverse

from annotation.filters import FilterError, Filters
from annotation.filters.chosen import filtered
from annotation.models import Annotator, Campaign, Judgment
from dashboards.panel.human import HumanScores, human_scores
from tests.dashboards import raw
from tests.world import World, make_user

FULL = (
    "scores=raw&without=S1&without=S3&traps=out&documents=clinic&since=2026-03-02"
    "&until=2026-03-09&min_seconds=2.5&max_seconds=600"
)


def test_an_address_comes_back_as_it_was() -> None:
    filters = Filters.from_query(QueryDict(FULL))
    assert filters.without == ("S1", "S3")
    assert filters.query() == f"?{FULL}"
    assert Filters.from_json(filters.as_json()) == filters
    assert Filters.from_query(QueryDict(filters.query()[1:])) == filters


def test_the_order_of_boxes_asks_the_same_question() -> None:
    one, other = (Filters(without=names) for names in (("S1", "S3"), ("S3", "S1", "S3", "")))
    assert one == other
    assert one.query() == other.query()


def test_an_empty_form_is_the_default() -> None:
    sent = QueryDict("scores=&traps=in&since=&until=&min_seconds=&max_seconds=&page=2")
    assert Filters.from_query(sent) == Filters()
    assert Filters().words == []
    chosen = Filters(traps="out", min_seconds=2).words
    assert [each.code for each in chosen] == ["filter.without-controls", "filter.min-seconds"]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("traps=maybe", "filter.not-one-of"),
        ("since=yesterday", "filter.not-a-day"),
        ("until=2026-02-30", "filter.not-a-day"),
        ("since=2026-03-09&until=2026-03-02", "filter.since-after-until"),
        ("min_seconds=-1", "filter.not-seconds"),
        ("max_seconds=nan", "filter.not-seconds"),
        ("max_seconds=soon", "filter.not-seconds"),
        ("min_seconds=9&max_seconds=3", "filter.min-above-max"),
    ],
)
def test_bad_values_are_refused(query: str, code: str) -> None:
    with pytest.raises(FilterError) as caught:
        Filters.from_query(QueryDict(query))
    assert caught.value.message.code == code


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("without=nobody", "nobody"),
        ("documents=no-such", "no-such"),
        ("domains=no-such", "no-such"),
        ("scores=median", "z and raw"),
    ],
)
def test_pages_refuse_what_they_do_not_know(
    world: World, as_researcher: Client, query: str, named: str
) -> None:
    page = as_researcher.get(f"{reverse('dashboard', args=[world.campaign.slug])}?{query}")
    assert page.status_code == 400
    assert named in page.text
    data = as_researcher.get(f"/campaigns/{world.campaign.slug}/dashboard.json?{query}")
    assert (data.status_code, named in data.json()["error"]) == (400, True)


def by_output(campaign: Campaign, human: HumanScores) -> dict[int, float]:
    found = {}
    for r, system in enumerate(human.systems):
        places = dict(system.outputs.values_list("segment_id", "pk"))
        for c, segment in enumerate(human.segments):
            if not np.isnan(human.values[r, c]):
                found[places[segment]] = float(human.values[r, c])
    return found


def seconds(row: Judgment) -> float:
    assert row.submitted_at is not None
    assert row.started_at is not None
    return (row.submitted_at - row.started_at).total_seconds()


@pytest.mark.parametrize(
    ("filters", "keep"),
    [
        (Filters(without=("S2",)), lambda row: raw.label(row) != "S2"),
        (
            Filters(documents=("clinic", "market")),
            lambda row: row.assignment.item.segment.document in ("clinic", "market"),
        ),
        (Filters(min_seconds=20), lambda row: seconds(row) >= 20),
        (Filters(max_seconds=30), lambda row: seconds(row) <= 30),
        (Filters(traps="out"), lambda row: row.assignment.item.kind == "target"),
    ],
)
def test_human_scores_are_those_of_the_rest(
    rated: Campaign, filters: Filters, keep: raw.Keep
) -> None:
    expected = raw.z_by_output(raw.judged(rated, keep))
    found = by_output(rated, human_scores(rated, filters))
    assert found == pytest.approx(expected, abs=1e-12)
    assert len(found) > 0


def test_days_are_both_included(rated: Campaign) -> None:
    late = raw.judged(rated, raw.outputs_only)[-1]
    assert late.submitted_at is not None
    Judgment.objects.filter(pk=late.pk).update(submitted_at=late.submitted_at + timedelta(days=1))
    days = sorted({row.submitted_at.date() for row in raw.judged(rated) if row.submitted_at})
    first = days[0]
    on_the_day = raw.judged(rated, lambda row: row.submitted_at.date() == first)  # type: ignore[union-attr]
    wanted = {row.assignment.item.output_id for row in on_the_day if raw.outputs_only(row)}
    filters = Filters(since=first.isoformat(), until=first.isoformat(), scores="raw")
    assert set(by_output(rated, human_scores(rated, filters))) == wanted
    next_day = Filters(since=days[1].isoformat())
    assert set(by_output(rated, human_scores(rated, replace(next_day, scores="raw")))) == {
        late.assignment.item.output_id
    }
    (selected,) = human_scores(rated, Filters(since="2099-01-01")).warnings
    assert (selected.code, selected.parameters["n"]) == ("filter.selected", 0)


def test_annotators_by_id_or_by_name(rated: Campaign) -> None:
    pk = rated.annotators.get(label="S2").pk
    one, other = (human_scores(rated, Filters(without=(name,))).values for name in ("S2", str(pk)))
    np.testing.assert_array_equal(one, other)


def test_judgments_without_times_are_left_out_and_counted(rated: Campaign) -> None:
    row = raw.judged(rated, raw.outputs_only)[0]
    Judgment.objects.filter(pk=row.pk).update(started_at=None, submitted_at=None)
    human = human_scores(rated, Filters(min_seconds=0))
    assert [(each.code, each.parameters["n"]) for each in human.warnings] == [
        ("filter.no-times", 1),
        ("filter.selected", 179),
    ]
    assert human_scores(rated, Filters()).warnings == ()


def test_a_day_needs_the_end_alone(rated: Campaign) -> None:
    """As in a table that somebody else made, with one time per row."""
    ends = Judgment.objects.filter(assignment__annotator__campaign=rated)
    ends.update(started_at=None)
    first = min(row.submitted_at for row in ends if row.submitted_at).date().isoformat()
    days = Filters(since=first, scores="raw")
    assert human_scores(rated, days).warnings == ()
    assert len(by_output(rated, human_scores(rated, days))) > 0
    assert filtered(ends, rated, days).count() == ends.count() > 0
    seconds = replace(days, min_seconds=0)
    missing = human_scores(rated, seconds).warnings[0]
    assert (missing.code, missing.parameters["n"]) == ("filter.no-times", 180)
    assert not filtered(ends, rated, seconds).exists()


def test_published_scores_say_what_filters_cannot_do(world: World) -> None:
    output = world.test_set.systems.get(name="strong").outputs.first()
    assert output is not None
    world.campaign.published_scores.create(output=output, value=0.5)
    human = human_scores(world.campaign, Filters(traps="out"))
    assert human.n == 1
    assert human.warnings[0].code == "human.published-only"


def test_the_form_offers_what_there_is_and_keeps_the_rest(rated: Campaign, client: Client) -> None:
    client.force_login(make_user("reader", "researcher"))
    page = client.get(f"{reverse('whatif', args=[rated.slug])}?of=r_system&without=S2").text
    assert '<input type="checkbox" name="without" value="S2" checked>' in page
    assert '<input type="checkbox" name="without" value="S1">' in page
    assert '<option value="r_system" selected>' in page
    assert "<option>clinic</option>" in page
    assert "without annotators: S2" in page
    assert '/whatif.csv?of=r_system&amp;without=S2">CSV</a>' in page


def test_a_crowd_is_a_list_and_its_names_are_text(rated: Campaign, client: Client) -> None:
    client.force_login(make_user("reader", "researcher"))
    crowd = [Annotator(campaign=rated, label=f"W{n}") for n in range(30)]
    Annotator.objects.bulk_create([*crowd, Annotator(campaign=rated, label="<b>&")])
    page = client.get(f"{reverse('whatif', args=[rated.slug])}?without=W7&without=<b>%26").text
    assert '<select id="filter-without" name="without" multiple size="4">' in page
    assert "<option selected>W7</option><option>W8</option>" in page
    assert "<option selected>&lt;b&gt;&amp;</option>" in page
