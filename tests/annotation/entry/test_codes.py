"""Completion codes: told to those who are done, to nobody before, and checked on the server."""

import re
import uuid

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.campaigns import close_campaign
from annotation.models import Annotator, Assignment, Campaign, Judgment
from annotation.qualification import codes
from tests.annotation.entry.test_links import PROLIFIC, make_link, make_open
from tests.refusals import tells
from tests.world import World

FIXED = "C0MPLETE1"
JSON = {"accept": "application/json"}


@pytest.fixture
def campaign(world: World) -> Campaign:
    return make_open(world, mode="static")


def rate(annotator: Annotator, n: int | None = None) -> None:
    """Answer the first n open items, or all."""
    rows = list(annotator.assignments.filter(completed_at=None).order_by("position")[:n])
    for row in rows:
        Judgment.objects.create(assignment=row, score=50, submit_key=uuid.uuid4())
    Assignment.objects.filter(pk__in=[row.pk for row in rows]).update(completed_at=timezone.now())


def enter(world: World, campaign: Campaign, client: Client, **fields: object) -> Annotator:
    address = make_link(world, campaign, **({"provider": "prolific"} | fields))[1]
    assert client.get(address, PROLIFIC).status_code == 302
    return campaign.annotators.get(external_id="prolific:5f00aa")


def pages(client: Client, campaign: Campaign, annotator: Annotator) -> str:
    """Everything that an annotator gets to read, in one text."""
    names = ("annotate", "annotate-done", "annotate-history")
    addresses = ["/", *(reverse(name, args=[campaign.slug]) for name in names)]
    addresses += [reverse("item", args=[row.public_id]) for row in annotator.assignments.all()]
    texts = []
    for address in addresses:
        for headers in ({}, JSON):
            response = client.get(address, headers=headers, follow=True)
            texts.append(response.text + str(response.headers))
    return " ".join(texts)


def done_page(client: Client, campaign: Campaign) -> str:
    return client.get(reverse("annotate-done", args=[campaign.slug]), follow=True).text


def test_admins_find_the_codes_that_were_told_in_the_table_of_hours(
    world: World, campaign: Campaign, client: Client
) -> None:
    def table(user: User) -> list[str]:
        reader = Client()
        reader.force_login(user)
        answer = reader.get(reverse("hours", args=[campaign.slug]))
        return b"".join(answer.streaming_content).decode().splitlines()  # type: ignore[attr-defined]

    annotator = enter(world, campaign, client)
    code = codes.personal_code(annotator.pk)
    head, *rest = table(world.admin)
    assert head.endswith(",completion_code")
    assert all(line.endswith(",") for line in rest)
    rate(annotator)
    assert code in done_page(client, campaign)
    (told,) = [line for line in table(world.admin) if line.endswith(f",{code}")]
    assert told.startswith(f"{annotator.label},")
    assert not any("completion_code" in line or code in line for line in table(world.researcher))


def test_a_campaign_has_its_own_words_at_the_end(
    world: World, campaign: Campaign, client: Client
) -> None:
    Campaign.objects.update(goodbye="Thanks, ${USER_ID}.\n\nHand in ${TOKEN} <at> the desk.")
    annotator = enter(world, campaign, client)
    rate(annotator, 1)
    assert "the desk" not in pages(client, campaign, annotator)
    rate(annotator)
    text, code = done_page(client, campaign), codes.personal_code(annotator.pk)
    assert f"<p>Thanks, {annotator.label}.</p>" in text
    assert f"<p>Hand in {code} &lt;at&gt; the desk.</p>" in text


def test_the_code_of_the_link(world: World, campaign: Campaign, client: Client) -> None:
    annotator = enter(world, campaign, client, completion_code=FIXED)
    rate(annotator)
    text = done_page(client, campaign)
    assert FIXED in text
    assert f'href="https://app.prolific.com/submissions/complete?cc={FIXED}"' in text


def test_told_in_two_windows_at_once(world: World, campaign: Campaign, client: Client) -> None:
    annotator = enter(world, campaign, client, completion_code=FIXED)
    rate(annotator)
    for _ in range(2):
        annotator.audit.create(campaign=campaign, action=codes.TOLD)
    assert FIXED in done_page(client, campaign)
    assert annotator.audit.filter(action=codes.TOLD).count() == 2


def test_a_code_of_ones_own(world: World, campaign: Campaign, client: Client) -> None:
    annotator = enter(world, campaign, client)
    rate(annotator)
    text = done_page(client, campaign)
    (code,) = re.findall(r"\b[A-Z2-7]{4}(?:-[A-Z2-7]{4}){3}\b", text)
    assert code == codes.personal_code(annotator.pk)
    assert "prolific.com" not in text


def test_codes_differ_and_follow_from_the_secret_key(settings: object) -> None:
    made = {codes.personal_code(number) for number in range(1, 2001)}
    assert len(made) == 2000
    settings.SECRET_KEY = "another"  # type: ignore[attr-defined]
    assert codes.personal_code(1) not in made


@pytest.mark.parametrize("fixed", [FIXED, ""])
def test_no_code_before_the_last_item(
    world: World, campaign: Campaign, client: Client, fixed: str
) -> None:
    annotator = enter(world, campaign, client, completion_code=fixed)
    own = codes.personal_code(annotator.pk)
    text = pages(client, campaign, annotator)
    rate(annotator, annotator.assignments.count() - 1)
    text += pages(client, campaign, annotator)
    close_campaign(campaign=campaign)
    text += pages(client, campaign, annotator)
    assert own not in text
    assert FIXED not in text


def test_without_an_access_link_there_is_no_code(
    world: World, campaign: Campaign, client: Client
) -> None:
    annotator = campaign.annotators.first()
    rate(annotator)
    client.force_login(annotator.user)
    assert "completion code" not in done_page(client, campaign)


def test_done_in_a_pool_is_the_number_that_the_campaign_sets(world: World, client: Client) -> None:
    campaign = make_open(world)
    Campaign.objects.update(items_per_annotator=2)
    campaign.refresh_from_db()
    campaign.items.update(wanted=1)
    annotator = enter(world, campaign, client, completion_code=FIXED)
    items = list(campaign.items.filter(kind="target")[:2])
    for position, item in enumerate(items):
        Assignment.objects.create(annotator=annotator, item=item, position=position)
        rate(annotator)
        assert codes.is_finished(annotator) == (position == 1)
    assert FIXED in client.get(reverse("annotate-done", args=[campaign.slug])).text


def test_done_in_a_pool_without_a_number_is_when_nothing_is_left(world: World) -> None:
    campaign = make_open(world)
    person = Annotator.objects.create(campaign=campaign, label="P", user=world.annotators[0])
    first, second = campaign.items.filter(kind="target")[:2]
    campaign.items.filter(pk__in=[second.pk]).update(wanted=1)
    Assignment.objects.create(annotator=person, item=first, position=0)
    rate(person)
    assert not codes.is_finished(person)
    campaign.items.update(wanted=0)
    assert codes.is_finished(person)


def test_who_was_told_stays_done(world: World, client: Client) -> None:
    """A pool may have nothing for somebody now, and again later when a claim comes back."""
    campaign = make_open(world)
    annotator = enter(world, campaign, client)
    first, second = campaign.items.filter(kind="target")[:2]
    Assignment.objects.create(annotator=annotator, item=first, position=0)
    rate(annotator)
    text = client.get(reverse("annotate-done", args=[campaign.slug])).text
    assert codes.personal_code(annotator.pk) in text
    campaign.items.filter(pk=second.pk).update(wanted=1)
    assert codes.is_finished(annotator)
    assert annotator.audit.filter(action=codes.TOLD).count() == 1


def test_who_is_excluded_is_not_done_for_want_of_items(world: World, client: Client) -> None:
    campaign = make_open(world)
    annotator = enter(world, campaign, client, completion_code=FIXED)
    campaign.items.update(wanted=1)
    Assignment.objects.create(annotator=annotator, item=campaign.items.first(), position=0)
    rate(annotator)
    Annotator.objects.filter(pk=annotator.pk).update(excluded_at=timezone.now())
    assert FIXED not in client.get(reverse("annotate-done", args=[campaign.slug])).text


def test_released_items_are_not_waited_for(world: World) -> None:
    campaign = make_open(world)
    person = Annotator.objects.create(campaign=campaign, label="P", user=world.annotators[0])
    first, second = campaign.items.filter(kind="target")[:2]
    Assignment.objects.create(annotator=person, item=first, position=0)
    rate(person)
    open_one = Assignment.objects.create(annotator=person, item=second, position=1)
    assert not codes.is_finished(person)
    Assignment.objects.filter(pk=open_one.pk).update(released_at=timezone.now())
    assert codes.is_finished(person)


def verdicts(client: Client, campaign: Campaign, *lines: str) -> list[tuple[str, str]]:
    address = reverse("codes-check", args=[campaign.slug])
    response = client.post(address, {"codes": "\n".join(lines)}, headers=JSON)
    assert response.status_code == 200
    return [(row["verdict"], row["label"]) for row in response.json()["codes"]]


def test_pasted_codes(world: World, campaign: Campaign, client: Client) -> None:
    address = make_link(world, campaign, provider="prolific")[1]
    for pid in ("p1", "p2", "p3"):
        Client().get(address, {"PROLIFIC_PID": pid})
    first, second, third = (campaign.annotators.get(external_id=f"prolific:p{n}") for n in "123")
    rate(first)
    rate(third)
    Annotator.objects.filter(pk=third.pk).update(excluded_at=timezone.now())
    own, unfinished, excluded = (codes.personal_code(row.pk) for row in (first, second, third))
    client.force_login(world.admin)
    lines = [own, own.lower().replace("-", " "), unfinished, excluded, "AAAA-BBBB-CCCC-DDDD"]
    assert verdicts(client, campaign, *lines, "", f"p1 {own}", f"p2, {own}") == [
        ("valid", first.label),
        ("valid", first.label),
        ("not finished", second.label),
        ("excluded", third.label),
        ("wrong", ""),
        ("valid", first.label),
        ("wrong", second.label),
    ]


def test_a_shared_code_needs_the_person(world: World, campaign: Campaign, client: Client) -> None:
    annotator = enter(world, campaign, client, completion_code=FIXED)
    rate(annotator)
    client.force_login(world.admin)
    lines = (FIXED, f"5f00aa {FIXED}", f"5f00aa {FIXED}x", f"5f00bb {FIXED}")
    assert verdicts(client, campaign, *lines) == [
        ("wrong", ""),
        ("valid", annotator.label),
        ("wrong", annotator.label),
        ("wrong", ""),
    ]
    page = client.post(reverse("codes-check", args=[campaign.slug]), {"codes": f"5f00aa {FIXED}"})
    assert tells(page.text, "code.all-rated")


def test_codes_of_another_campaign_are_wrong(
    world: World, campaign: Campaign, client: Client
) -> None:
    annotator = enter(world, campaign, client)
    rate(annotator)
    client.force_login(world.admin)
    assert verdicts(client, world.campaign, codes.personal_code(annotator.pk)) == [("wrong", "")]


def test_nothing_pasted(world: World, campaign: Campaign, as_admin: Client) -> None:
    address = reverse("codes-check", args=[campaign.slug])
    assert as_admin.post(address, {"codes": " "}).status_code == 422
    assert as_admin.post(address, {"codes": ""}, headers=JSON).json().keys() == {"error"}
