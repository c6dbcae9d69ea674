"""Shorter forms judged in campaigns of their own: against a join of the database's rows."""

import json
import random
from collections.abc import Iterator
from functools import partial
from statistics import mean

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.test import Client
from sacrebleu.metrics import CHRF

from annotation.access import RESEARCHER
from annotation.filters import FilterError
from annotation.models import Annotator, Campaign, Item, Judgment, Membership, Output
from dashboards.documents import kinds
from dashboards.documents.computing import state_of, states
from extensions.shortness.across_page import AcrossChoice, AcrossForms, compute
from tests.refusals import tells
from tests.shared import SharedRows
from tests.world import make_scored_demo, make_user

LONG, SHORT = "demo-en-zh-80", "demo-en-zh-50"


@pytest.fixture(scope="module")
def demo_rows(shared_rows: SharedRows[None]) -> Iterator[None]:
    with shared_rows(partial(make_scored_demo, "chrf")):
        yield


@pytest.fixture
def pair(demo_rows: None, db: None) -> list[Campaign]:
    return [Campaign.objects.get(slug=slug) for slug in (LONG, SHORT)]


@pytest.fixture
def document(pair: list[Campaign]) -> AcrossForms:
    return compute(pair[0], AcrossChoice(shorter=SHORT))


def raw_means(campaign: Campaign) -> dict[tuple[str, int], float]:
    """Mean raw score of every (system, segment) from the judgments' own rows."""
    rows = Judgment.objects.filter(
        assignment__annotator__campaign=campaign, is_current=True,
        assignment__item__kind__in=(Item.Kind.TARGET, Item.Kind.REPEAT),
    )  # fmt: skip
    found: dict[tuple[str, int], list[float]] = {}
    for name, segment, score in rows.values_list(
        "assignment__item__output__system__name", "assignment__item__output__segment", "score"
    ):
        found.setdefault((name, segment), []).append(float(score))
    return {key: mean(values) for key, values in found.items()}


def chrf(campaign: Campaign) -> dict[tuple[str, int], float]:
    """sacreBLEU's chrF of every output."""
    score = CHRF().sentence_score
    rows = Output.objects.filter(system__campaigns=campaign)
    return {
        (each.system.name, each.segment_id): score(
            each.text, [one.text for one in each.segment.references.all()]
        ).score
        for each in rows.select_related("system").prefetch_related("segment__references")
    }


def test_losses_are_those_of_a_join_over_both_campaigns(
    pair: list[Campaign], document: AcrossForms
) -> None:
    human = [raw_means(each) for each in pair]
    metric = [chrf(each) for each in pair]
    both = sorted(set(human[0]) & set(human[1]) & set(metric[0]) & set(metric[1]))
    losses = []
    for kind in (metric, human):
        long, short = (np.array([side[key] for key in both]) for side in kind)
        losses.append((long - short).mean() / np.concatenate([long, short]).std(ddof=1))
    (row,) = document.rows
    assert row.n == len(both)
    assert [row.metric_loss, row.human_loss] == pytest.approx(losses, abs=1e-6)
    assert row.excess == pytest.approx(losses[0] - losses[1], abs=1e-6)
    assert (row.long, row.short) == ("0.80", "0.50")
    assert list(row.systems) == list(document.systems)
    assert row.low is not None
    assert row.high is not None
    assert row.excess is not None
    assert row.low < row.excess < row.high


def test_other_people_and_other_questions_are_told(
    pair: list[Campaign], document: AcrossForms
) -> None:
    n = Annotator.objects.filter(campaign__in=pair).count()
    assert (document.n_annotators, document.n_both) == (n, 0)
    codes = [each.code for each in document.warnings]
    assert "forms.other-annotators" in codes
    assert "forms.other-questions" in codes


def test_people_with_accounts_in_both_are_one(pair: list[Campaign]) -> None:
    for number, campaign in enumerate(pair):
        for place, annotator in enumerate(campaign.annotators.all()):
            user = User.objects.get_or_create(username=f"rater-{place}")[0]
            Annotator.objects.filter(pk=annotator.pk).update(user=user)
        Campaign.objects.filter(pk=campaign.pk).update(question=f"How good is it? {number // 2}")
    long = Campaign.objects.get(slug=LONG)
    found = compute(long, AcrossChoice(shorter=SHORT))
    assert found.n_both == found.n_annotators == long.annotators.count()
    assert not any(each.code.startswith("forms.") for each in found.warnings)


def test_it_is_old_when_either_campaign_changes(pair: list[Campaign]) -> None:
    filters = AcrossChoice(shorter=SHORT)
    before = states("forms", pair[0], filters, state_of)
    assert len(before) == 2
    Campaign.objects.filter(slug=SHORT).update(seed=99)
    after = states("forms", Campaign.objects.get(slug=LONG), filters, state_of)
    assert before[0] == after[0]
    assert before[1] != after[1]


@pytest.mark.parametrize("shorter", ["", LONG, "demo-zh-en-50"])
def test_the_other_campaign_is_one_over_the_same_test_set(
    pair: list[Campaign], shorter: str
) -> None:
    with pytest.raises(FilterError) as caught:
        kinds.others("forms", pair[0], AcrossChoice(shorter=shorter))
    assert caught.value.message.code == "forms.no-campaign"


def test_the_page_and_its_data(pair: list[Campaign], client: Client) -> None:
    client.force_login(make_user("reader", RESEARCHER))
    page = client.get("/studies/demo/shortness/").content.decode()
    assert page.count('aria-labelledby="pair-') == 2
    assert tells(page, "forms.other-annotators")
    data = json.loads(client.get("/studies/demo/shortness.json").content)
    assert [each["shorter"] for each in data["pairs"]] == [SHORT, "demo-zh-en-50"]
    table = b"".join(client.get("/studies/demo/shortness.csv")).decode().splitlines()
    assert table[0].lstrip("\ufeff").startswith("longer,shorter,key,label,long,short,excess")
    assert len(table) == 3
    assert client.get("/studies/demo/shortness.tex").status_code == 200
    assert client.get("/studies/demo/shortness/?scores=z").status_code == 400
    assert (
        "/studies/demo/shortness/" in client.get(f"/campaigns/{LONG}/shortness/").content.decode()
    )


def test_random_clicks_are_no_result(pair: list[Campaign], client: Client) -> None:
    """Scores that nobody read for: the page tells no count of metrics."""
    dice = random.Random(7)
    for judgment in Judgment.objects.filter(assignment__annotator__campaign__in=pair):
        Judgment.objects.filter(pk=judgment.pk).update(score=dice.randint(0, 100))
    client.force_login(make_user("reader", RESEARCHER))
    page = client.get("/studies/demo/shortness/").content.decode()
    assert not tells(page, "forms.counts")
    assert tells(page, "forms.distrusted")


def test_a_campaign_that_the_reader_may_not_see_tells_nothing(
    pair: list[Campaign], client: Client
) -> None:
    """Of two campaigns one is private: no pair, and no number of it."""
    Campaign.objects.filter(slug=SHORT).update(is_private=True)
    reader = make_user("reader", RESEARCHER)
    client.force_login(reader)
    assert SHORT not in client.get("/studies/demo/shortness.json").content.decode()
    role = Membership.Role.RESEARCHER
    Membership.objects.create(campaign=pair[1], user=reader, role=role)
    assert SHORT in client.get("/studies/demo/shortness.json").content.decode()
