"""A region of the scatter plot: by bounds, disagreement and error category; saved and shared."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.test import Client
from scipy import stats

from annotation.filters import FilterError
from annotation.models import Campaign, ErrorSpan, Judgment
from dashboards.models import Selection
from dashboards.scatter.document import ScatterChoice, compute
from tests.dashboards.conftest import make_rated
from tests.shared import SharedRows
from tests.world import World, make_user


@pytest.fixture(scope="module")
def rated_rows(shared_rows: SharedRows[Campaign]) -> Iterator[int]:
    with shared_rows(lambda: make_rated(segments=24)) as made:
        yield made.pk


@pytest.fixture
def reader(client: Client, world: World) -> User:
    user = make_user("reader", "researcher")
    client.force_login(user)
    return user


def chosen(campaign: Campaign, **fields: Any) -> Any:
    return compute(campaign, ScatterChoice(metric="chrf", **fields))


def test_tables_are_of_the_points_within_the_bounds(rated: Campaign) -> None:
    every = chosen(rated)
    x, y = (np.array([point[place] for point in every.points]) for place in (0, 1))
    low, high = float(np.median(x)), float(np.quantile(y, 0.9))
    found = chosen(rated, x_from=str(low), y_to=str(high))
    inside = (x >= low) & (y <= high)
    assert found.selected == np.flatnonzero(inside).tolist()
    assert (found.n, found.n_selected) == (len(x), int(inside.sum()))
    assert found.statistics.r == pytest.approx(stats.pearsonr(x[inside], y[inside]).statistic)
    assert found.overall.r == pytest.approx(stats.pearsonr(x, y).statistic)
    assert sum(line.n for line in found.by_system) == found.n_selected
    outputs = {every.points[place][2] for place in found.selected}
    assert {row.output for row in found.rows} <= outputs


def test_disagreement_is_measured_over_all_points(rated: Campaign) -> None:
    every = chosen(rated)
    x, y = (stats.zscore([p[place] for p in every.points], ddof=1) for place in (0, 1))
    higher = chosen(rated, apart="0.5", side="higher")
    assert higher.selected == np.flatnonzero(y - x >= 0.5).tolist()
    assert {row.side for row in higher.rows} == {"metric higher"}
    both = chosen(rated, apart="0.5")
    assert both.n_selected == int((np.abs(y - x) >= 0.5).sum())


def test_without_a_region_everything_is_chosen(rated: Campaign) -> None:
    found = chosen(rated)
    assert (found.n_selected, list(found.selected)) == (found.n, [])
    assert found.statistics == found.overall
    nothing = chosen(rated, x_from="1000")
    assert (nothing.n_selected, nothing.by_system, nothing.rows) == (0, [], [])
    assert nothing.n == found.n


def test_outputs_with_an_error_of_a_category(rated: Campaign, client: Client, reader: User) -> None:
    judgments = Judgment.objects.filter(
        assignment__annotator__campaign=rated, assignment__item__kind="target"
    ).order_by("pk")[:3]
    for judgment, category in zip(judgments, ("style", "style", "term"), strict=True):
        ErrorSpan.objects.create(
            judgment=judgment, side="target", start=0, end=2, severity="minor", category=category
        )
    found = chosen(rated, category="style")
    marked = {judgment.assignment.item.output_id for judgment in judgments[:2]}
    assert {point[2] for point in found.points} == marked
    assert found.categories == ["style", "term"]
    page = client.get(f"/campaigns/{rated.slug}/scatter/?category=nothing")
    assert page.status_code == 400


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"x_from": "2", "x_to": "1"}, "scatter.empty-region"),
        ({"y_from": "a"}, "filter.number"),
        ({"x_to": "nan"}, "filter.number"),
        ({"apart": "-1"}, "scatter.negative-distance"),
        ({"side": "left"}, "filter.choice"),
    ],
)
def test_what_is_no_region_is_refused(fields: dict[str, str], code: str) -> None:
    with pytest.raises(FilterError) as caught:
        ScatterChoice(**fields)  # type: ignore[arg-type]
    assert caught.value.message.code == code


def save(client: Client, campaign: Campaign, **data: str) -> Any:
    return client.post(f"/campaigns/{campaign.slug}/selections/", data)


def test_a_selection_is_saved_shared_and_deleted_by_its_owner(
    rated: Campaign, client: Client, reader: User
) -> None:
    query = "?metric=chrf&x_from=0.5&output=1"
    answer = save(client, rated, name="Good ones", note="Look <here>", query=query)
    found = Selection.objects.get()
    assert (found.owner, found.query) == (reader, "?metric=chrf&x_from=0.5")
    plot = f"/campaigns/{rated.slug}/scatter/?metric=chrf&x_from=0.5&selection={found.pk}"
    assert answer["Location"] == plot
    client.force_login(make_user("another", "researcher"))
    assert client.get(found.get_absolute_url())["Location"] == plot
    page = client.get(plot).text
    assert "Look &lt;here&gt;" in page
    assert f"{found.get_absolute_url()}delete/" not in page
    assert client.post(f"{found.get_absolute_url()}delete/").status_code == 403
    client.force_login(reader)
    assert client.post(f"{found.get_absolute_url()}delete/").status_code == 302
    assert not Selection.objects.exists()
    assert client.get(found.get_absolute_url()).status_code == 404


@pytest.mark.parametrize(
    ("name", "status"), [("output", 400), ("shortest", 400), ("selection", 200)]
)
def test_a_number_of_thousands_of_digits_is_none(
    rated: Campaign, client: Client, reader: User, name: str, status: int
) -> None:
    plot = client.get(f"/campaigns/{rated.slug}/scatter/?{name}={'9' * 5000}")
    assert plot.status_code == status
    assert "9" * 600 not in plot.text.partition("<main")[2]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"name": "", "query": ""}, "name: "),
        ({"name": "a", "query": "?metric=chrf&x_from=b"}, "x_from"),
        ({"name": "a", "query": "?against=nothing"}, "nothing"),
        ({"name": "a", "query": "?nonsense=1"}, "the parameter nonsense"),
        ({"name": "a" * 81, "query": ""}, "at most 80 characters"),
        ({"name": "taken", "query": ""}, "“taken”"),
    ],
)
def test_what_cannot_be_saved_is_refused(
    rated: Campaign, client: Client, reader: User, data: dict[str, str], sentence: str
) -> None:
    Selection.objects.create(campaign=rated, owner=reader, name="taken", query="")
    answer = save(client, rated, **data)
    assert answer.status_code == 400
    assert sentence in answer.text
    assert Selection.objects.count() == 1


def test_strangers_neither_see_nor_save(rated: Campaign, client: Client, reader: User) -> None:
    found = Selection.objects.create(campaign=rated, owner=reader, name="mine", query="")
    client.force_login(make_user("annotator", "annotator"))
    assert save(client, rated, name="x", query="").status_code == 403
    assert client.get(found.get_absolute_url()).status_code == 403
    client.force_login(reader)
    Campaign.objects.filter(pk=rated.pk).update(is_private=True)
    assert client.get(found.get_absolute_url()).status_code == 404
    assert client.post(f"{found.get_absolute_url()}delete/").status_code == 404
