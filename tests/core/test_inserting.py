"""Plain rows are stored as a model would store them, on either database."""

import uuid
from datetime import UTC, datetime

import pytest
from django.db import IntegrityError, transaction

from annotation.models import Annotator, Assignment, Item, Judgment
from core.database.inserting import insert, reserve
from tests.world import World

TIME = datetime(2024, 2, 29, 12, 30, 1, 250_000, tzinfo=UTC)
COLUMNS = ("id", "assignment_id", "score", "ratings", "submit_key", "started_at", "submitted_at")


def assignment(world: World, number: int) -> Assignment:
    annotator = Annotator.objects.create(campaign=world.campaign, label=f"I{number}")
    item = Item.objects.create(campaign=world.campaign, segment=world.test_set.segments.all()[0])
    return Assignment.objects.create(annotator=annotator, item=item, position=0)


def test_rows_are_as_a_model_stores_them(world: World) -> None:
    one, two = assignment(world, 1), assignment(world, 2)
    own = {"score": 7, "ratings": {"a": 1}, "submit_key": uuid.uuid4(), "started_at": TIME,
           "submitted_at": TIME, "comment": "tab\tline\nback\\slash"}  # fmt: skip
    Judgment.objects.create(assignment=one, **own)
    with transaction.atomic():
        (pk,) = reserve(Judgment, 1)
        key = uuid.uuid4()
        row = (pk, two.pk, own["score"], own["ratings"], key, TIME, TIME, own["comment"])
        insert(Judgment, (*COLUMNS, "comment"), [row])
    names = [
        field.attname
        for field in Judgment._meta.local_concrete_fields
        if field.attname not in ("id", "assignment_id", "submit_key", "created_at")
    ]
    first, second = Judgment.objects.filter(assignment__in=[one, two]).order_by("assignment")
    assert [getattr(first, n) for n in names] == [getattr(second, n) for n in names]
    assert (second.pk, second.submit_key) == (pk, key)
    assert second.created_at is not None
    # A row that a model stores afterwards has another key.
    later = Judgment.objects.create(
        assignment=two, revision=2, is_current=False, score=1, submit_key=uuid.uuid4()
    )
    assert later.pk > pk


def test_reserved_keys_are_new_and_in_order(world: World) -> None:
    known = set(Item.objects.values_list("pk", flat=True))
    with transaction.atomic():
        Item.objects.create(campaign=world.campaign, segment=world.test_set.segments.all()[0])
        pks = list(reserve(Item, 5))
    assert (len(set(pks)), sorted(pks)) == (5, pks)
    assert not known & set(pks)


def test_the_rules_of_the_database_hold(world: World) -> None:
    own = assignment(world, 1)
    row = (reserve(Judgment, 1)[0], own.pk, 5_000, {}, uuid.uuid4(), None, None)
    with pytest.raises(IntegrityError), transaction.atomic():
        insert(Judgment, COLUMNS, [row])
    assert not Judgment.objects.filter(assignment=own).exists()
    insert(Judgment, COLUMNS, [])
