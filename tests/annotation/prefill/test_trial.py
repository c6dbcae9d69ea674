"""A trial over stored outputs: what is drawn holds for everybody, and nothing is seen twice."""

from collections import Counter, defaultdict
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction

from annotation.access import ANNOTATOR
from annotation.campaigns import add_annotators, describe, open_campaign
from annotation.models import Assignment, Campaign, Item, Output, Segment
from annotation.prefill import suggestions
from annotation.prefill.balance import FIRST_ITEMS, MOST_PLANTED
from annotation.prefill.suggestions import Condition, offered
from annotation.prefill.trial import set_shares
from annotation.protocols import Span
from tests.refusals import refused
from tests.world import make_campaign, make_test_set, make_user, make_users

SHARES = {
    Condition.BLANK: 40, Condition.PREFILLED: 40, Condition.PLANTED: 10, Condition.WITHHELD: 10,
}  # fmt: skip
N_PEOPLE = 4
# "Sentence 0 by gnorts: the harbour was quiet."
SUGGESTED = [Span("target", 0, 8, "minor"), Span("target", 32, 37, "major")]


def drafted(protocol: str = "esa", segments: int = 30, **fields: Any) -> Campaign:
    """Two systems, thirty documents of one segment, half of whose outputs are adjudicated."""
    test_set = make_test_set(segments=segments, references=False)
    for segment in Segment.objects.all():
        Segment.objects.filter(pk=segment.pk).update(document=f"d{segment.position}")
    plain = {"traps_per_annotator": 0, "shown_text": "source", "annotators_per_item": 2}
    campaign = make_campaign(test_set, protocol=protocol, **(plain | fields))
    outputs = list(Output.objects.order_by("pk"))
    about = {"source": "file", "label": "x", "details": {}}
    suggestions.keep_suggestions(campaign, {o.pk: SUGGESTED for o in outputs}, **about)
    gold = {o.pk: SUGGESTED[1:] if n % 4 else [] for n, o in enumerate(outputs) if n % 2}
    suggestions.keep_gold(campaign, gold, label="gold")
    people = make_users({f"annotator-{n}": (ANNOTATOR,) for n in range(N_PEOPLE)})
    add_annotators(campaign=campaign, users=people)
    return campaign


def shown(row: Assignment) -> list[str]:
    return [each.origin for each in offered(row.item.suggestions, row.condition)]


@pytest.mark.parametrize("protocol", ["esa", "contrastive-esa"])
@pytest.mark.django_db
def test_what_is_drawn_holds_for_everybody(protocol: str) -> None:
    campaign = drafted(protocol)
    set_shares(campaign, SHARES, seed=11)
    design = {name.code: value for name, value in describe(Campaign.objects.get())}
    shares = design["design.trial"]
    assert [(each.parameters["share"], each.parameters["condition"].code) for each in shares] == [
        (40, "condition.blank"),
        (40, "condition.prefilled"),
        (10, "condition.planted"),
        (10, "condition.withheld"),
    ]
    open_campaign(campaign=campaign)
    rows = list(
        Assignment.objects.select_related("item__segment").order_by("annotator", "position")
    )
    assert len(rows) == 60 * 2
    for person in {row.annotator_id for row in rows}:
        own = [row for row in rows if row.annotator_id == person]
        # Nobody sees an output twice.
        assert len({row.item.output_id for row in own}) == len(own)
        origins = [shown(row) for row in own]
        n_planted = sum(each.count("planted") for each in origins)
        assert n_planted <= MOST_PLANTED * sum(map(len, origins))
        assert not any("planted" in each for each in origins[:FIRST_ITEMS])
        # A document is in one condition.
        conditions: dict[object, set[str]] = defaultdict(set)
        for row in own:
            system = None if protocol != "esa" else row.item.output.system_id
            conditions[row.item.segment.document, system, row.item.screen].add(row.condition)
        assert {len(each) for each in conditions.values()} == {1}
    counts = Counter(row.condition for row in rows)
    assert counts["blank"] == pytest.approx(48, abs=5)
    design = Campaign.objects.get().prefill.design
    assert sum(design["ratings"].values()) == len(rows) / (2 if protocol != "esa" else 1)
    assert any("planted" in shown(row) for row in rows)
    withheld = [row for row in rows if row.condition == "withheld"]
    assert withheld
    assert any(len(shown(row)) == 1 for row in withheld)
    assert all(not shown(row) for row in rows if row.condition == "blank")


@pytest.mark.django_db
def test_the_seed_draws_all_of_it() -> None:
    campaign = drafted()
    set_shares(campaign, SHARES, seed=11)
    drawn = []
    for _ in range(2):
        with transaction.atomic():
            open_campaign(campaign=campaign)
            rows = Assignment.objects.order_by("annotator", "position")
            drawn.append(
                (
                    list(rows.values_list("item__output", "condition")),
                    list(Item.objects.order_by("output").values_list("suggestions", flat=True)),
                )
            )
            transaction.set_rollback(True)
    assert drawn[0] == drawn[1]


@pytest.mark.django_db
def test_what_makes_no_trial_is_refused_with_the_reason() -> None:
    campaign = drafted(segments=4)
    prefilled = {Condition.PREFILLED: 100, Condition.BLANK: 0, Condition.PLANTED: 0,
                 Condition.WITHHELD: 0}  # fmt: skip
    with refused("trial.shares"):
        set_shares(campaign, SHARES | {Condition.BLANK: 50}, seed=1)
    with refused("trial.no-blank"):
        set_shares(campaign, prefilled | {Condition.PREFILLED: 90, Condition.PLANTED: 10}, seed=1)
    assert not set_shares(campaign, prefilled, seed=1).is_trial
    Campaign.objects.get().prefill.outputs.update(gold=None)
    with refused("trial.needs-gold"):
        set_shares(campaign, SHARES, seed=1)
    half = prefilled | {Condition.PREFILLED: 50, Condition.BLANK: 50}
    assert set_shares(campaign, half, seed=1).is_trial
    Campaign.objects.update(repeats_per_annotator=1)
    with refused("trial.with-controls"):
        open_campaign(campaign=campaign)
    Campaign.objects.update(repeats_per_annotator=0, assignment_mode="pool")
    with refused("trial.not-fixed"):
        open_campaign(campaign=campaign)
    for protocol in ("segment-da", "mqm"):
        Campaign.objects.update(protocol=protocol, assignment_mode="static")
        if protocol == "mqm":
            Campaign.objects.get().prefill.outputs.update(spans=[["target", 0, 3, "critical", ""]])
        with refused("prefill.not-fitting"):
            open_campaign(campaign=campaign)
    assert User.objects.count() == N_PEOPLE
    assert make_user("late")
