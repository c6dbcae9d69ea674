"""Annotators of known bias come out as they were made, and nothing planted goes out as judged."""

import json
import random
from collections.abc import Iterator

import pytest
from django.test import Client
from django.urls import reverse

from annotation.campaigns import close_campaign, open_campaign
from annotation.exports.formats import declared
from annotation.filters import EVERYTHING
from annotation.models import (
    Annotator,
    Assignment,
    Campaign,
    ErrorSpan,
    SuggestionFate,
)
from annotation.prefill.suggestions import Condition
from annotation.prefill.trial import set_shares
from extensions.trials.document import Trial, compute
from tests.annotation.prefill.test_trial import SUGGESTED, drafted
from tests.extensions.trials.simulated import Bias, rate_all
from tests.shared import SharedRows
from tests.world import make_user

SHARES = {
    Condition.BLANK: 40, Condition.PREFILLED: 36, Condition.PLANTED: 12, Condition.WITHHELD: 12,
}  # fmt: skip
BIAS = Bias()


def rated() -> int:
    campaign = drafted(segments=18, annotators_per_item=4)
    set_shares(campaign, SHARES, seed=3)
    open_campaign(campaign=campaign)
    for person in campaign.annotators.select_related("user"):
        rate_all(person.user, BIAS, random.Random(person.label))
    return campaign.pk


@pytest.fixture(scope="module")
def rows(shared_rows: SharedRows[int]) -> Iterator[int]:
    with shared_rows(rated) as pk:
        yield pk


@pytest.fixture
def campaign(rows: int, db: None) -> Campaign:
    return Campaign.objects.get(pk=rows)


def effects(document: Trial) -> dict[str, tuple[float, float, float]]:
    return {row.name: (row.estimate, row.low, row.high) for row in document.rows}


def test_biases_come_out_as_they_were_made(campaign: Campaign) -> None:
    document = compute(campaign, EVERYTHING)
    assert (document.n, document.n_annotators) == (144, 4)
    assert sum(n for _, n in document.counts) == 144
    found = effects(document)
    wanted = {
        "time": BIAS.time,
        "time-apart": BIAS.time,
        "score": BIAS.shift,
        "accepted": BIAS.takes - BIAS.marks,
        "missed": BIAS.misses_withheld - BIAS.misses,
    }
    for name, truth in wanted.items():
        estimate, low, high = found[name]
        assert low <= truth <= high, (name, found[name])
        assert abs(estimate - truth) < {"score": 2, "time": 0.1, "time-apart": 0.1}.get(name, 0.35)
    close_campaign(campaign=campaign)
    over = compute(Campaign.objects.get(pk=campaign.pk), EVERYTHING)
    assert over.verdict == "stop"
    assert {each.code for each in over.reasons} & {"trial.false-accepted", "trial.more-missed"}


def test_what_more_people_and_more_outputs_would_buy(campaign: Campaign) -> None:
    now, people, items = compute(campaign, EVERYTHING).reach
    assert people.n_annotators == 2 * now.n_annotators
    assert items.n_items == 2 * now.n_items
    # Shares, not differences in percent: nearer to 1 is a smaller change.
    assert people.time > items.time > now.time
    assert people.accepted < items.accepted < now.accepted


def test_the_page_and_its_data(campaign: Campaign, client: Client) -> None:
    client.force_login(make_user("reader", "researcher"))
    assert client.get(reverse("trial", args=[campaign.slug])).status_code == 200
    assert client.get(reverse("trial-data", args=[campaign.slug, "json"])).status_code in (200, 202)


@pytest.mark.needs("extensions.formats")
def test_nothing_planted_goes_out_as_judged(campaign: Campaign) -> None:
    """Whatever the format: no planted place that nobody marked by hand is in it."""
    planted = SuggestionFate.objects.filter(origin="planted").exclude(fate="deleted")
    assert planted.count() >= 5
    for fate in planted:
        assert not ErrorSpan.objects.filter(
            judgment=fate.judgment, side=fate.side, start=fate.start, end=fate.end
        ).exists()
    fates = SuggestionFate.objects.count()
    rows = b"".join(declared()["suggestions"].pieces(campaign)).decode().splitlines()
    assert len(rows) - 1 == fates
    assert sum(",planted," in row for row in rows) >= planted.count()
    n_spans = ErrorSpan.objects.count()
    lines = "".join(piece.decode() for piece in declared()["spans"].pieces(campaign)).splitlines()
    assert len(lines) - 1 == n_spans
    assert lines[0].endswith("origin,fate")
    assert not any(line.endswith("planted") or ",planted," in line for line in lines)
    origins = [line.rsplit(",", 2)[1] for line in lines[1:]]
    kept = SuggestionFate.objects.filter(origin="suggested").exclude(fate="deleted").count()
    assert origins.count("suggested") == kept
    assert origins.count("own") == n_spans - kept > 0
    log = b"".join(declared()["pearmut-log"].pieces(campaign)).decode().splitlines()
    answers = [answer for line in log for row in json.loads(line)["annotation"]
               for answer in row.values()]  # fmt: skip
    assert sum(len(answer["error_spans"]) for answer in answers) == n_spans
    (given,) = [json.loads(text) for text in [b"".join(declared()["pearmut"].pieces(campaign))]]
    offered = [spans for document in given["data"] for row in document
               for spans in row["error_spans"].values()]  # fmt: skip
    assert {len(spans) for spans in offered} == {len(SUGGESTED)}
    judged = b"".join(declared()["csv"].pieces(campaign)).decode()
    assert judged.count('""side""') == n_spans


def test_the_attitude_is_asked_once_and_afterwards(campaign: Campaign) -> None:
    person = Annotator.objects.filter(campaign=campaign).order_by("pk")[0]
    client = Client()
    client.force_login(person.user)
    done = reverse("annotate-done", args=[campaign.slug])
    address = reverse("annotate-attitude", args=[campaign.slug])
    assert "attitude" in client.get(done).text
    for given in ("6", "4", "1"):
        assert client.post(address, {"attitude": given}).status_code == 302
    person.refresh_from_db()
    assert person.attitude == 4
    assert "attitude" not in client.get(done).text
    assert compute(campaign, EVERYTHING).attitudes == [0, 0, 0, 1, 0]
    other = Annotator.objects.filter(campaign=campaign).order_by("pk")[1]
    Assignment.objects.filter(annotator=other).update(completed_at=None)
    client.force_login(other.user)
    client.post(address, {"attitude": "2"})
    other.refresh_from_db()
    assert other.attitude is None


def test_without_a_trial_it_says_that_nothing_can_be_known(campaign: Campaign) -> None:
    campaign.prefill.blank, campaign.prefill.prefilled = 0, 100
    document = compute(campaign, EVERYTHING)
    assert document.warnings[0].code == "trial.no-trial"
    assert document.fates
    campaign.is_prefilled = False
    warnings = compute(campaign, EVERYTHING).warnings
    assert [each.code for each in warnings] == ["trial.no-suggestions"]


def test_one_person_and_no_two_conditions_are_told(campaign: Campaign) -> None:
    keep = Annotator.objects.filter(campaign=campaign).order_by("pk").first()
    Annotator.objects.filter(campaign=campaign).exclude(pk=keep.pk).update(
        excluded_at=campaign.opened_at
    )
    document = compute(campaign, EVERYTHING)
    assert {row.low for row in document.rows} == {None}
    assert all(row.warnings for row in document.rows)
    assert document.verdict == "open"
    Assignment.objects.filter(annotator=keep).update(condition="blank")
    assert [each.code for each in compute(campaign, EVERYTHING).warnings] == ["trial.not-yet"]
