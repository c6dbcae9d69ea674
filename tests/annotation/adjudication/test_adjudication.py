"""Items on which annotators differ: found, decided by a reviewer, given on as gold."""

import io
import json
import re
import uuid
import zipfile
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from scipy.stats import mannwhitneyu

from annotation import protocols
from annotation.access import ADMIN, ANNOTATOR, RESEARCHER
from annotation.adjudication import disagreements, give, gold_targets, least_overlap
from annotation.campaigns import add_annotators, open_campaign
from annotation.exports.rows import judgments_of
from annotation.models import (
    Adjudication,
    Annotator,
    Assignment,
    Campaign,
    ErrorSpan,
    Item,
    Judgment,
    Membership,
)
from annotation.pool.claiming import give_next
from annotation.protocols import Span
from annotation.protocols.base import Piece, cut
from annotation.views.adjudicating.deciding import case_of
from lifecycle.resources.test_sets import Campaigns
from tests.addresses import fill, routes
from tests.house.templates.seen import seen
from tests.planting import plant
from tests.refusals import refused, tells
from tests.world import add_system, make_campaign, make_test_set, make_user

TEXTS = ("One two three.", "Four five six.", "Seven eight.")
SOURCES = ("源文一。", "源文二。", "源文三。")
MARKED = {"side": "target", "start": 4, "end": 7, "severity": "major", "category": ""}


def judge(annotator: Annotator, item: Item, score: int | None, *spans: tuple[int, int]) -> None:
    row, _ = Assignment.objects.get_or_create(
        annotator=annotator, item=item, defaults={"position": item.pk}
    )
    Assignment.objects.filter(pk=row.pk).update(completed_at="2026-03-02T09:00:00Z")
    given: dict[str, Any] = {"score": score} if score is not None else {"penalty": len(spans)}
    made = Judgment.objects.create(assignment=row, submit_key=uuid.uuid4(), **given)
    for start, end in spans:
        ErrorSpan.objects.create(
            judgment=made, side="target", start=start, end=end, severity="minor"
        )


@pytest.fixture
def campaign(db: None) -> Campaign:
    """Three outputs: one apart in points, one in marked errors, one agreed on."""
    made = plant("esa", sources=SOURCES, outputs=[TEXTS], seed=3)
    people = [made.annotators.get()]
    for n in (2, 3):
        user = make_user(f"annotator-{n}", ANNOTATOR)
        people.append(Annotator.objects.create(campaign=made, user=user, label=f"B{n}"))
    far, apart, agreed = made.items.order_by("segment__position")
    for person, score in zip(people, (90, 40, 80), strict=True):
        judge(person, far, score, (0, 3))
        judge(person, agreed, 70)
    for person, spans in zip(people, ([(0, 4)], [(5, 9)], []), strict=True):
        judge(person, apart, 60, *spans)
    # Nobody counts the excluded, and a control is nobody's to decide.
    judge(
        Annotator.objects.create(campaign=made, label="X", excluded_at=made.created_at), agreed, 0
    )
    trap = Item.objects.create(
        campaign=made, kind=Item.Kind.TRAP, segment=far.segment, text="One", partner=far
    )
    judge(people[0], trap, 100)
    judge(people[1], trap, 0)
    return made


def signed(name: str, *roles: str) -> Client:
    user = User.objects.filter(username=name).first() or make_user(name, *roles)
    client = Client()
    client.force_login(user)
    return client


def reviewer(campaign: Campaign) -> Client:
    client = signed("reviewer", RESEARCHER)
    user = User.objects.get(username="reviewer")
    Membership.objects.create(campaign=campaign, user=user, role=Membership.Role.REVIEWER)
    return client


def queue(campaign: Campaign) -> str:
    return reverse("adjudication", args=[campaign.slug])


def looked(client: Client, campaign: Campaign, **limits: str) -> list[tuple[str, float, Any]]:
    assert client.post(queue(campaign), limits).status_code == 302
    rows = disagreements(campaign).values_list("item__segment__key", "gap", "overlap")
    return list(rows)


def test_the_order_of_answers_depends_on_the_secret(campaign: Campaign) -> None:
    """Whoever knows the source code, and who answered when, cannot tell whose answer is first."""
    item = campaign.items.select_related("segment", "output").order_by("segment__position").first()
    orders = set()
    for n in range(20):
        campaign.secret = f"secret {n}"
        scores = tuple(each.score for each in case_of(campaign, item).given)
        assert scores == tuple(each.score for each in case_of(campaign, item).given)
        orders.add(scores)
    assert {sorted(order) == [40, 80, 90] for order in map(list, orders)} == {True}
    assert {order[0] for order in orders} == {40, 80, 90}


@pytest.mark.django_db
def test_numbers_and_ids_before_reviewers_say_nothing_about_systems() -> None:
    """Items are stored system by system; whoever sees their order has the systems."""
    test_set = make_test_set("queued", segments=15, systems=("one", "two"))
    made = make_campaign(test_set, "queued", protocol="esa", traps_per_annotator=0,
                         shown_text="source", annotators_per_item=2)  # fmt: skip
    add_annotators(campaign=made, users=[make_user(f"annotator-{n}", ANNOTATOR) for n in (1, 2)])
    made = open_campaign(campaign=made)
    for n, person in enumerate(made.annotators.all()):
        for row in person.assignments.all():
            Judgment.objects.create(assignment=row, score=100 * n, submit_key=uuid.uuid4())
    client = reviewer(made)
    looked(client, made, gap="30")
    found = list(disagreements(made).select_related("item__output").order_by("pk"))
    ranks = {system: [] for system in made.systems.all()}
    for place, row in enumerate(found):
        ranks[row.item.output.system].append(place)
    assert mannwhitneyu(*ranks.values()).pvalue > 0.05
    page = client.get(reverse("adjudicate", args=[made.slug, found[0].pk])).text
    ids = {UUID(each) for each in re.findall(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", page)}
    assert ids
    assert {each.version for each in ids} == {4}


def test_the_overlap_is_an_f1_of_characters() -> None:
    # By hand: 2 · 2 / (3 + 4); nothing in common; a text where only one marked anything.
    first, second = {("target", n) for n in (0, 1, 2)}, {("target", n) for n in (1, 2, 3, 4)}
    assert least_overlap([first, second]) == pytest.approx(4 / 7)
    assert least_overlap([first, second, {("source", 0)}]) == 0
    assert least_overlap([first, set()]) == 0
    assert least_overlap([set(), set()]) is None


def test_pieces_are_the_text_once(db: None) -> None:
    scheme = protocols.get("esa").spans
    spans = [Span("target", 0, 5, "minor"), Span("target", 3, 7, "major")]
    found = cut(scheme, "abcdefghi", spans)
    assert found == (
        Piece("abc", "mark mark-minor", "minor"),
        Piece("de", "mark mark-major mark-many", "minor; major"),
        Piece("fg", "mark mark-major", "major"),
        Piece("hi"),
    )


def test_what_differs_comes_into_the_queue(campaign: Campaign) -> None:
    client = reviewer(campaign)
    assert looked(client, campaign, gap="30", overlap="") == [("1", 50, 1)]
    assert looked(client, campaign, gap="30", overlap="0.5") == [("1", 50, 1), ("2", 0, 0)]
    assert looked(client, campaign, gap="51", overlap="0.5") == [("2", 0, 0)]
    for limits in ({}, {"gap": "0"}, {"overlap": "2"}, {"gap": "x"}):
        assert client.post(queue(campaign), limits).status_code == 422
    campaign.refresh_from_db()
    assert (campaign.review_gap, campaign.review_overlap) == (51, 0.5)


def fields(page: str) -> dict[str, str]:
    found = dict(re.findall(r'name="(submit_key|revision|started)" value="([^"]*)"', page))
    assert set(found) == {"submit_key", "revision", "started"}
    return found


def test_a_decision_is_the_reviewers_and_counts_as_nobodys(campaign: Campaign) -> None:
    client = reviewer(campaign)
    looked(client, campaign, gap="30", overlap="0.5")
    first, second = disagreements(campaign)
    here = reverse("adjudicate", args=[campaign.slug, first.pk])
    page = client.get(here).text
    main = page.split("<main")[1]
    assert not re.search(r"annotator-\d|>A1<|\bB[23]\b|system 0", main)
    shown = sorted(re.findall(r"<strong>Answer \d</strong>\s*<span>(\d+)</span>", page))
    assert shown == ["40", "80", "90"]
    taken = client.get(f"{here}?answer=2").text
    given = re.findall(r"<strong>Answer 2</strong>\s*<span>(\d+)</span>", taken)[0]
    assert f'value="{given}"' in taken
    before = [vars(row) | {"_state": 0} for row in Judgment.objects.order_by("pk")]
    counted = judgments_of(campaign).count()
    sent = fields(page) | {"score": "55", "spans": json.dumps([MARKED]), "comment": "Not said."}
    done = client.post(here, sent)
    assert done["Location"] == reverse("adjudicate", args=[campaign.slug, second.pk])
    # The same form twice stores once; another window's is refused and then replaces it.
    client.post(here, sent)
    stored = Adjudication.objects.get()
    assert (stored.score, stored.spans, stored.revision) == (
        55, [["target", 4, 7, "major", ""]], 1,
    )  # fmt: skip
    other = fields(page) | {"score": "60", "submit_key": str(uuid.uuid4())}
    conflict = client.post(here, other)
    assert conflict.status_code == 409
    assert tells(conflict.text, "adjudication.changed")
    client.post(here, fields(conflict.text) | {"score": "60"})
    assert list(Adjudication.objects.values_list("score", "revision", "is_current")) == [
        (55, 1, False), (60, 2, True),
    ]  # fmt: skip
    assert [vars(row) | {"_state": 0} for row in Judgment.objects.order_by("pk")] == before
    assert judgments_of(campaign).count() == counted
    for wrong in ({"score": "101"}, {"score": ""}, {"score": "5", "spans": "[{}]"}):
        assert client.post(here, fields(client.get(here).text) | wrong).status_code == 422
    looked(client, campaign, gap="99")
    assert disagreements(campaign).get().item_id == first.item_id


def test_only_reviewers_and_admins_decide(campaign: Campaign) -> None:
    client = reviewer(campaign)
    looked(client, campaign, gap="30")
    here = reverse("adjudicate", args=[campaign.slug, disagreements(campaign).get().pk])
    reader = signed("reader", RESEARCHER)
    assert reader.get(queue(campaign)).status_code == 200
    assert [reader.get(here).status_code, reader.post(queue(campaign)).status_code] == [403, 403]
    assert signed("annotator-1").get(queue(campaign)).status_code == 403
    assert signed("boss", ADMIN).get(here).status_code == 200
    gold = reverse("adjudication-gold", args=[campaign.slug])
    assert client.post(gold).status_code == 403


def test_reviewers_see_the_adjudication_and_nothing_else_of_the_campaign(
    campaign: Campaign, unlogged: None
) -> None:
    client = reviewer(campaign)
    looked(client, campaign, gap="30")
    known = {"slug": [campaign.slug], "pk": [str(disagreements(campaign).get().pk)]}
    known |= {"fmt": ["csv"], "figure": ["intervals"], "which": [campaign.slug]}
    known |= {"kind": ["campaign"], "verb": ["exclude"]}
    status = {
        name: client.get(address).status_code
        for name, route in routes()
        if re.match("/(api/)?(campaigns|results|manage|things?)/<", route)
        for address in fill(route, known)
    }
    assert len(status) > 60
    opened = {name for name, code in status.items() if code < 400}
    assert opened == {"campaign", "adjudication", "adjudicate"}
    assert client.get(campaign.get_absolute_url())["Location"] == queue(campaign)
    refused = client.get(f"{queue(campaign)[:-13]}monitor/", headers={"accept": "application/json"})
    assert refused.json()["message"]["code"] == "access.only-adjudication"
    page = client.get(queue(campaign)).text
    assert re.findall(f'href="/campaigns/{campaign.slug}/([^"]*)"', page) == [
        f"adjudication/{known['pk'][0]}/"
    ] * 2  # fmt: skip
    home = client.get("/campaigns/").text
    assert tells(home, "need.to-decide", n=1)
    assert re.findall(f'href="([^"]*{campaign.slug}[^"]*)"', home) == [queue(campaign)]
    assert client.get("/api/campaigns/").json()["count"] == 0


@pytest.fixture
def decided(campaign: Campaign) -> Campaign:
    client = reviewer(campaign)
    looked(client, campaign, gap="30", overlap="0.5")
    here = reverse("adjudicate", args=[campaign.slug, disagreements(campaign).first().pk])
    sent = {"score": "55", "spans": json.dumps([MARKED]), "comment": "“two” is wrong."}
    client.post(here, fields(client.get(here).text) | sent)
    return campaign


def test_gold_for_the_next_campaign(decided: Campaign) -> None:
    boss = signed("boss", ADMIN)
    draft = make_campaign(decided.test_set, "next", protocol="esa")
    make_campaign(decided.test_set, "other-way", protocol="mqm")
    address = reverse("adjudication-gold", args=[decided.slug])
    given = {"target": "next", "kind": "tutorial", "tolerance": "10"}
    assert boss.post(address, given | {"target": "other-way"}).status_code == 422
    assert boss.post(address, given | {"tolerance": "51"}).status_code == 422
    for _ in range(2):
        page = boss.post(address, given, follow=True).text
        assert tells(page, "gold.rated-twice", n=1)
    item = draft.items.get()
    assert (item.kind, item.text, item.low, item.high, item.feedback, item.gold) == (
        "tutorial", TEXTS[0], 45, 65, "“two” is wrong.", [["target", 4, 7, "major", ""]],
    )  # fmt: skip
    draft.systems.clear()
    page = boss.post(address, given | {"kind": "gold"}, follow=True).text
    assert "Added 1 item to" in page
    assert not tells(page, "gold.rated-twice")


def test_decisions_keep_a_campaign_like_judgments(decided: Campaign) -> None:
    kept = Campaigns().judgments(decided)
    assert kept == Judgment.objects.count() + Adjudication.objects.count()
    assert Adjudication.objects.count() == 1


def test_an_open_pool_draws_gold_that_comes_late(decided: Campaign) -> None:
    boss, test_set = signed("boss", ADMIN), decided.test_set
    rest = add_system(test_set, "rest")
    made = {
        slug: make_campaign(
            test_set, slug, protocol="esa", assignment_mode=mode,
            traps_per_annotator=0, shown_text="source", annotators_per_item=1,
            items_per_annotator=4,
        )
        for slug, mode in (("pool", "pool"), ("shares", "static"), ("same", "pool"))
    }  # fmt: skip
    for slug, each in made.items():
        each.systems.set(test_set.systems.all() if slug == "same" else [rest])
        add_annotators(campaign=each, users=[User.objects.get(username="annotator-1")])
        open_campaign(campaign=each)
    assert [each.slug for each in gold_targets(decided, User.objects.get(username="boss"))] == [
        "pool", "same",
    ]  # fmt: skip
    address = reverse("adjudication-gold", args=[decided.slug])
    given = {"target": "pool", "kind": "gold", "tolerance": "10"}
    assert boss.post(address, given | {"target": "shares"}).status_code == 422
    for other in (given | {"kind": "tutorial"}, given | {"target": "same"}):
        boss.post(address, other)
    assert not Item.objects.filter(campaign__in=made.values(), kind__in=("gold", "tutorial"))
    person = Annotator.objects.get(campaign=made["pool"])
    give_next(annotator=person)
    before = list(person.assignments.values_list("pk", "item", "position"))
    for _ in range(2):
        boss.post(address, given)
    gold = made["pool"].items.get(kind="gold")
    assert (gold.text, gold.low, gold.high) == (TEXTS[0], 45, 65)
    # What somebody has stays; the gold comes among what they are given from now on.
    assert list(person.assignments.values_list("pk", "item", "position")) == before
    for _ in range(4):
        person.assignments.update(completed_at="2026-03-02T09:00:00Z")
        give_next(annotator=person)
    assert sorted(person.assignments.values_list("item__kind", flat=True)) == [
        "gold", "target", "target", "target",
    ]  # fmt: skip
    entry = made["pool"].audit.get(action="gold added")
    assert (entry.actor.username, entry.details) == ("boss", {"items": 1, "from": decided.slug})
    with refused("gold.assigned"):
        give(campaign=decided, target=made["shares"], kind="gold", tolerance=10)


def test_practice_shows_the_right_errors(decided: Campaign) -> None:
    client, person = signed("annotator-1"), Annotator.objects.get(user__username="annotator-1")
    practice = Item.objects.create(
        campaign=decided, kind=Item.Kind.TUTORIAL, segment=decided.items.first().segment,
        text=TEXTS[0], low=45, high=65, gold=[["target", 4, 7, "major", ""]],
    )  # fmt: skip
    row = Assignment.objects.create(annotator=person, item=practice, position=9_000)
    after = Assignment.objects.create(
        annotator=person, position=9_001,
        item=Item.objects.create(campaign=decided, kind="gold", segment=practice.segment, text="x"),
    )  # fmt: skip
    page = client.get(reverse("item", args=[row.public_id])).text
    sent = client.post(reverse("item", args=[row.public_id]), fields(page) | {"score": "60"})
    assert sent.headers["Location"] == reverse("item", args=[row.public_id])
    assert "Good." not in client.get(reverse("item", args=[after.public_id])).text
    told = seen(client.get(reverse("item", args=[row.public_id])).text)
    assert "Good." in told
    assert '<mark class="mark mark-major" title="major">two' in told
    own = client.get(reverse("annotate-own", args=[decided.slug])).json()
    assert 'title="major">two' in own["examples"]


def test_decisions_are_files_of_their_own(decided: Campaign) -> None:
    client = signed("reader", RESEARCHER)
    made = client.get(reverse("adjudication-file", args=[decided.slug, "csv"]))
    lines = b"".join(made.streaming_content).decode().splitlines()
    assert (len(lines), "“two” is wrong." in lines[1]) == (2, True)
    made = client.get(reverse("adjudication-file", args=[decided.slug, "mtme"]))
    archive = zipfile.ZipFile(io.BytesIO(b"".join(made.streaming_content)))
    scores = archive.read("texts/human-scores/zh-en.esa-adjudicated.seg.score").decode()
    assert scores.splitlines() == ["system_0\t55.0", "system_0\tNone", "system_0\tNone"]
    rating = archive.read("texts/human-scores/zh-en.esa-adjudicated.seg.rating").decode()
    name, errors, rater = rating.splitlines()[0].split("\t")
    assert (name, rater) == ("system_0", "adjudicated")
    assert json.loads(errors)["errors"][0] | {"score": 0} == {
        "start": 4, "end": 7, "category": None, "severity": "major", "score": 0,
        "is_source_error": False,
    }  # fmt: skip
    assert client.get(reverse("adjudication-file", args=[decided.slug, "xml"])).status_code == 404


def test_corrections_where_the_admin_wants_them(decided: Campaign) -> None:
    client, address = signed("annotator-2"), reverse("annotate-corrections", args=[decided.slug])
    history = reverse("annotate-history", args=[decided.slug])
    assert (client.get(address).status_code, address in client.get(history).text) == (404, False)
    Campaign.objects.filter(pk=decided.pk).update(shows_corrections=True)
    assert address in client.get(history).text
    page = client.get(address).text
    assert page.count("<article") == 1
    assert re.findall(r"<strong>(\d+)</strong>", page) == ["40", "55"]
    assert not re.search(r"reviewer<|system 0|annotator-[13]", page)


@pytest.mark.django_db
@pytest.mark.parametrize("protocol", sorted(protocols.PROTOCOLS))
def test_every_protocol_can_be_decided(protocol: str) -> None:
    judging = protocols.get(protocol)
    systems = 2 if judging.layout.has_systems else 1
    made = plant(protocol, sources=SOURCES, outputs=[TEXTS, TEXTS[::-1]][:systems])
    item = made.items.filter(kind="target").order_by("pk").first()
    scale = next(iter(judging.scales), None)
    judge(made.annotators.get(label="A1"), item, scale.low if scale else None)
    other = Annotator.objects.create(campaign=made, label="B")
    judge(other, item, scale.high if scale else None, *([] if scale else [(0, 3), (4, 7)]))
    client = signed("boss", ADMIN)
    assert len(looked(client, made, gap="2")) == 1
    here = reverse("adjudicate", args=[made.slug, disagreements(made).get().pk])
    page = client.get(here).text
    assert f'action="{here}"' in page
    sent = dict(re.findall(r'name="([\d-]*(?:submit_key|revision|started))" value="([^"]*)"', page))
    before = "0-" if judging.layout.has_several else ""
    for number, each in enumerate(judging.scales):
        sent[f"{before}{f's{number}-' * (number > 0)}score"] = str(each.low)
    if judging.text:
        sent[f"{before}text"] = TEXTS[0]
    assert client.post(here, sent)["Location"] == queue(made)
    assert Adjudication.objects.get().value == (scale.low if scale else 0)
