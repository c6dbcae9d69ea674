"""Judgments kept in memory and brought up to date are those that the database has."""

import random
import uuid

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.access import ANNOTATOR
from annotation.models import Annotator, Assignment, Campaign, Judgment
from annotation.quality import current, read_columns
from annotation.quality.current import Table, current_judgments
from annotation.quality.exclusions import exclude_annotator, include_annotator
from core.caching import Cache
from tests.planting import plant
from tests.world import make_user

PEOPLE, ITEMS = 3, 12


@pytest.fixture
def campaign(db: None) -> Campaign:
    """Everybody is given every output; nobody has answered."""
    found = plant("segment-da", sources=["源文。"] * ITEMS, outputs=[["A text."] * ITEMS])
    for number in range(PEOPLE):
        user = make_user(f"P{number}", ANNOTATOR)
        annotator = Annotator.objects.create(campaign=found, user=user, label=f"P{number}")
        for position, item in enumerate(found.items.order_by("pk")):
            Assignment.objects.create(annotator=annotator, item=item, position=position)
    return found


def answer(assignment: Assignment, score: int) -> Judgment:
    """As a submit does: the older answer loses its mark, the newer one is added."""
    own = Judgment.objects.filter(assignment=assignment)
    own.filter(is_current=True).update(is_current=False)
    return Judgment.objects.create(
        assignment=assignment, revision=own.count() + 1, score=score, submit_key=uuid.uuid4()
    )


def same(found: Table, expected: Table) -> None:
    for name in expected.dtype.names:
        np.testing.assert_array_equal(found[name], expected[name], name)


def read_anew(campaign: Campaign) -> Table:
    rows = current._table(list(current._values(current._current(campaign))))
    return rows[np.lexsort((rows["position"], rows["annotator"]))]


def turn(rng: random.Random, person: Annotator) -> None:
    """Leave somebody out of the analysis, or take them in again."""
    person.refresh_from_db()
    change = include_annotator if person.excluded_at else exclude_annotator
    change(annotator=person, actor=None, reason="by chance")


@pytest.mark.parametrize("seed", range(3))
def test_a_random_sequence_ends_where_reading_anew_does(campaign: Campaign, seed: int) -> None:
    rng = random.Random(seed)
    given = list(Assignment.objects.filter(annotator__campaign=campaign).order_by("pk"))
    people = list(campaign.annotators.order_by("pk"))
    for _ in range(12):
        for _ in range(rng.randint(0, 6)):
            answer(rng.choice(given), rng.randint(0, 100))
        if rng.random() < 0.3:
            turn(rng, rng.choice(people))
        same(current_judgments(campaign), read_anew(campaign))
        counted = set(campaign.annotators.filter(excluded_at=None).values_list("pk", flat=True))
        assert set(read_columns(campaign).annotator.tolist()) <= counted


def test_a_new_judgment_reads_few_rows(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation.quality.current.OVERLAP", 0)
    given = list(Assignment.objects.filter(annotator__campaign=campaign).order_by("pk"))
    for assignment in given[:20]:
        answer(assignment, 50)
    before = current_judgments(campaign)
    assert current_judgments(campaign) is before
    latest = answer(given[30], 77)
    with CaptureQueriesContext(connection) as queries:
        after = current_judgments(campaign)
    reading = [each["sql"] for each in queries if "time_doubt" in each["sql"]]
    assert len(reading) == 1
    assert f'"id" > {before["pk"].max()}' in reading[0]
    assert set(after["pk"]) - set(before["pk"]) == {latest.pk}


def test_a_row_that_was_numbered_earlier_and_committed_later_is_found(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.quality.current.OVERLAP", 0)
    given = list(Assignment.objects.filter(annotator__campaign=campaign).order_by("pk"))
    late = answer(given[0], 10)
    Judgment.objects.filter(pk=late.pk).update(is_current=False)  # Not yet to be seen.
    answer(given[1], 20)
    assert len(current_judgments(campaign)) == 1
    Judgment.objects.filter(pk=late.pk).update(is_current=True)
    answer(given[2], 30)
    assert current_judgments(campaign)["score"].tolist() == [10, 20, 30]


def test_what_is_used_least_is_forgotten_first() -> None:
    cache: Cache[str] = Cache(10)
    cache.put("a", "first", 4)
    cache.put("b", "second", 4)
    assert cache.get("a") == "first"
    cache.put("c", "third", 4)
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == ("first", None, "third")
    cache.put("d", "larger than all", 11)
    assert [cache.get(key) for key in "acd"] == [None] * 3


def test_the_newest_is_kept_where_it_is_larger_than_all() -> None:
    cache: Cache[str] = Cache(10, keeps_newest=True)
    for key in "ab":
        cache.put(key, "larger than all", 11)
    assert [cache.get(key) for key in "ab"] == [None, "larger than all"]


def test_a_campaign_larger_than_the_cache_is_read_once(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.quality.current._cache.limit", 1)
    monkeypatch.setattr("annotation.quality.current.CHUNK", 3)
    given = list(Assignment.objects.filter(annotator__campaign=campaign).order_by("pk"))
    for number, assignment in enumerate(given[:10]):
        answer(assignment, number)
    before = current_judgments(campaign)
    assert sorted(before["score"].tolist()) == list(range(10))
    assert current_judgments(campaign) is before
