"""Access links: who gets in, as whom, and who does not."""

import re
import threading
from datetime import timedelta

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.access import ANNOTATOR, RESEARCHER
from annotation.campaigns import add_annotators, close_campaign, open_campaign
from annotation.entry import links
from annotation.entry.places import free_places, invite, revoke
from annotation.models import AccessLink, Annotator, AuditEntry, Campaign
from tests.refusals import has
from tests.world import World, make_campaign, make_world

PROLIFIC = {"PROLIFIC_PID": "5f00aa", "STUDY_ID": "study7", "SESSION_ID": "session9"}
MTURK = {"workerId": "A1B2C3", "assignmentId": "3XYZ", "hitId": "H1"}


def make_open(world: World, *, mode: str = "pool", places: int = 3, **fields: object) -> Campaign:
    """An open campaign; with fixed shares its places are those of personal links."""
    campaign = make_campaign(world.test_set, "linked", assignment_mode="static", **fields)
    add_annotators(campaign=campaign, links=places)
    opened = open_campaign(campaign=campaign)
    if mode != "static":
        accounts = list(opened.annotators.values_list("user", flat=True))
        opened.annotators.all().delete()
        User.objects.filter(pk__in=accounts).delete()
        Campaign.objects.filter(pk=opened.pk).update(assignment_mode=mode)
        opened.refresh_from_db()
    return opened


def make_link(world: World, campaign: Campaign, **fields: object) -> tuple[AccessLink, str]:
    """A link with its address."""
    link, token = links.create_link(campaign=campaign, actor=world.admin, **fields)
    return link, reverse("access-link", args=[token])


@pytest.fixture
def campaign(world: World) -> Campaign:
    return make_open(world)


def test_only_the_hash_of_a_token_is_stored(world: World, campaign: Campaign) -> None:
    link, address = make_link(world, campaign)
    token = address.split("/")[2]
    assert len(token) >= 43  # 256 bits
    stored = " ".join(str(value) for value in AccessLink.objects.values().get().values())
    assert token not in stored
    assert links.find_link(token) == link


@pytest.mark.parametrize(
    ("provider", "query", "person"),
    [("prolific", PROLIFIC, "prolific:5f00aa"), ("mturk", MTURK, "mturk:A1B2C3")],
)
def test_a_platform_sends_somebody(
    world: World, campaign: Campaign, client: Client, provider: str, query: dict, person: str
) -> None:
    link, address = make_link(world, campaign, provider=provider)
    response = client.get(address, query)
    assert response["Location"] == reverse("annotate", args=[campaign.slug])
    assert response["Referrer-Policy"] == "strict-origin"
    annotator = Annotator.objects.get(external_id=person)
    assert client.session["_auth_user_id"] == str(annotator.user_id)
    assert list(annotator.user.groups.values_list("name", flat=True)) == [ANNOTATOR]
    assert not annotator.user.has_usable_password()
    assert annotator.access_link == link
    details = AuditEntry.objects.get(annotator=annotator).details
    assert set(query.values()) - {person.split(":")[1]} <= set(details.values())


def test_the_same_person_in_another_browser(world: World, campaign: Campaign) -> None:
    _, address = make_link(world, campaign, provider="prolific", quota=1)
    for _ in range(2):
        assert Client().get(address, PROLIFIC).status_code == 302
    assert campaign.annotators.count() == 1


def test_another_link_of_the_platform_finds_the_same_person(
    world: World, campaign: Campaign, client: Client
) -> None:
    for _ in range(2):
        client.get(make_link(world, campaign, provider="prolific")[1], PROLIFIC)
    assert campaign.annotators.count() == 1


def test_ids_of_two_platforms_are_two_people(
    world: World, campaign: Campaign, client: Client
) -> None:
    client.get(make_link(world, campaign, provider="prolific")[1], {"PROLIFIC_PID": "same"})
    client.get(make_link(world, campaign, provider="mturk")[1], {"workerId": "same"})
    assert campaign.annotators.count() == 2


def test_an_open_link_asks_before_it_takes_a_place(
    world: World, campaign: Campaign, client: Client
) -> None:
    _, address = make_link(world, campaign)
    page = client.get(address)
    assert (page.status_code, "Take part" in page.text) == (200, True)
    assert campaign.annotators.count() == 0
    assert client.post(address).status_code == 302
    # The session is known, and after signing out the browser still is.
    assert client.get(address).status_code == 302
    client.post(reverse("logout"))
    assert "_auth_user_id" not in client.session
    assert client.get(address).status_code == 302
    assert campaign.annotators.count() == 1
    assert Client().post(address).status_code == 302
    assert campaign.annotators.count() == 2


def test_an_open_link_knows_who_takes_part_already(
    world: World, campaign: Campaign, client: Client
) -> None:
    Annotator.objects.create(campaign=campaign, user=world.annotators[0], label="account")
    _, address = make_link(world, campaign)
    client.force_login(world.annotators[0])
    assert client.post(address)["Location"] == reverse("annotate", args=[campaign.slug])
    assert campaign.annotators.count() == 1


def test_looking_at_an_open_link_signs_nobody_out(
    world: World, campaign: Campaign, as_admin: Client
) -> None:
    _, address = make_link(world, campaign)
    assert "Take part" in as_admin.get(address).text
    assert as_admin.head(address).status_code == 405
    assert as_admin.session["_auth_user_id"] == str(world.admin.pk)


def test_a_forged_memory_is_nobody(world: World, campaign: Campaign, client: Client) -> None:
    _, address = make_link(world, campaign)
    client.post(address)
    person = campaign.annotators.get().external_id
    thief = Client()
    thief.cookies["touchstone_place"] = person
    assert "Take part" in thief.get(address).text


def test_the_quota(world: World, campaign: Campaign, client: Client) -> None:
    _, address = make_link(world, campaign, provider="prolific", quota=2)
    codes = [client.get(address, {"PROLIFIC_PID": f"p{n}"}).status_code for n in range(3)]
    assert codes == [302, 302, 403]
    # Those who are in come back.
    assert client.get(address, {"PROLIFIC_PID": "p0"}).status_code == 302
    assert campaign.annotators.count() == User.objects.filter(annotators__campaign=campaign).count()


@pytest.mark.parametrize(
    ("provider", "query", "says"),
    [
        ("prolific", {}, "entry.parameter-missing"),
        ("prolific", {"PROLIFIC_PID": ""}, "entry.parameter-missing"),
        ("prolific", {"PROLIFIC_PID": "x" * 101}, "entry.parameter-too-long"),
        ("prolific", {"PROLIFIC_PID": "{{%PROLIFIC_PID%}}"}, "entry.parameter-invalid"),
        ("prolific", PROLIFIC | {"SESSION_ID": "x" * 101}, "entry.parameter-too-long"),
        ("mturk", {"assignmentId": "3X"}, "entry.parameter-missing"),
        ("mturk", {"workerId": "a\x01b"}, "entry.parameter-invalid"),
    ],
)
def test_bad_parameters(
    world: World, campaign: Campaign, client: Client, provider: str, query: dict, says: str
) -> None:
    _, address = make_link(world, campaign, provider=provider)
    response = client.get(address, query)
    assert (response.status_code, has(response.text, says)) == (400, True)
    assert campaign.annotators.count() == 0


def test_a_preview_on_mechanical_turk_creates_nobody(
    world: World, campaign: Campaign, client: Client
) -> None:
    _, address = make_link(world, campaign, provider="mturk")
    page = client.get(address, {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": "H1"})
    assert page.status_code == 200
    assert campaign.question_text in page.text
    assert "Take part" not in page.text
    assert (campaign.annotators.count(), "_auth_user_id" in client.session) == (0, False)


def test_an_expired_link_lets_in_nobody_new(
    world: World, campaign: Campaign, client: Client
) -> None:
    _, address = make_link(world, campaign, provider="prolific")
    client.get(address, PROLIFIC)
    AccessLink.objects.update(expires_at=timezone.now() - timedelta(minutes=1))
    assert client.get(address, PROLIFIC).status_code == 302
    response = client.get(address, {"PROLIFIC_PID": "new"})
    assert (response.status_code, "has expired" in response.text) == (410, True)


def test_a_revoked_link_lets_in_nobody(world: World, campaign: Campaign, client: Client) -> None:
    link, address = make_link(world, campaign, provider="prolific")
    client.get(address, PROLIFIC)
    links.revoke_link(link=link, actor=world.admin)
    response = client.get(address, PROLIFIC)
    assert (response.status_code, "withdrawn" in response.text) == (410, True)


@pytest.mark.parametrize("mode", ["pool", "static"])
def test_names_say_nothing_about_campaign_and_position(world: World, mode: str) -> None:
    """Annotators see the name of their account, and another's may tell them theirs."""
    campaign = make_open(world, mode=mode)
    _, address = make_link(world, campaign, provider="prolific")
    shown = []
    for person in ("p0", "p1", "p2"):
        client = Client()
        client.get(address, {"PROLIFIC_PID": person})
        shown.append(client.get("/").text)
    people = list(campaign.annotators.order_by("pk").select_related("user"))
    names = [person.user.username for person in people]
    for page, name in zip(shown, names, strict=True):
        assert name in page
    assert all(re.fullmatch("annotator-[0-9a-f]{12}", name) for name in names)
    assert not any(re.search(r"\bA\d\b", page) for page in shown)


def test_a_wrong_link(world: World, campaign: Campaign, client: Client) -> None:
    assert client.get("/enter/guess/", PROLIFIC).status_code == 404


def test_a_campaign_that_is_not_open(world: World, client: Client) -> None:
    draft = make_campaign(world.test_set, "linked", assignment_mode="pool")
    _, address = make_link(world, draft, provider="prolific")
    response = client.get(address, PROLIFIC, headers={"Accept": "application/json"})
    assert (response.status_code, response.json()["message"]["code"]) == (
        409,
        "rating.not-yet-open",
    )
    assert draft.annotators.count() == 0


def test_a_closed_campaign_lets_its_people_see_their_ratings(
    world: World, campaign: Campaign, client: Client
) -> None:
    _, address = make_link(world, campaign, provider="prolific")
    client.get(address, PROLIFIC)
    close_campaign(campaign=campaign)
    assert client.get(address, PROLIFIC).status_code == 302
    assert client.get(address, {"PROLIFIC_PID": "new"}).status_code == 409


def test_a_link_opens_no_account_that_can_do_more_than_rate(
    world: World, campaign: Campaign, client: Client
) -> None:
    _, address = make_link(world, campaign, provider="prolific")
    client.get(address, PROLIFIC)
    campaign.annotators.get().user.groups.add(Group.objects.get(name=RESEARCHER))
    other = Client()
    assert other.get(address, PROLIFIC).status_code == 403
    assert "_auth_user_id" not in other.session


def test_fixed_shares_are_filled_and_no_more(world: World, client: Client) -> None:
    campaign = make_open(world, mode="static", annotators_per_item=2)
    entered = campaign.annotators.order_by("pk")[0]
    entered.user.last_login = timezone.now()
    entered.user.save()
    _, address = make_link(world, campaign, provider="prolific")
    pages = [client.get(address, {"PROLIFIC_PID": f"p{n}"}) for n in range(3)]
    assert [page.status_code for page in pages] == [302, 302, 403]
    assert campaign.annotators.count() == 3
    assert campaign.annotators.get(external_id="prolific:p0").assignments.count() > 0
    entered.refresh_from_db()
    assert (entered.external_id, bool(entered.token_hash)) == ("", True)


def test_a_personal_link_dies_when_its_place_is_taken(world: World, client: Client) -> None:
    campaign = make_campaign(world.test_set, "linked", annotators_per_item=1)
    (invitation,) = add_annotators(campaign=campaign, links=1)
    open_campaign(campaign=campaign)
    _, address = make_link(world, campaign, provider="prolific")
    assert client.get(address, PROLIFIC).status_code == 302
    personal = reverse("personal-link", args=[invitation.token])
    assert Client().get(personal).status_code == 404


def test_a_place_that_was_entered_is_not_free(world: World, client: Client) -> None:
    campaign = make_campaign(world.test_set, "linked", annotators_per_item=1)
    (invitation,) = add_annotators(campaign=campaign, links=1)
    add_annotators(campaign=campaign, users=[world.annotators[0]])
    open_campaign(campaign=campaign)
    assert free_places(campaign).count() == 1
    client.get(reverse("personal-link", args=[invitation.token]))
    assert free_places(campaign).count() == 0
    _, address = make_link(world, campaign, provider="prolific")
    assert client.get(address, PROLIFIC).status_code == 403


def test_personal_links_into_an_open_pool(world: World, campaign: Campaign, client: Client) -> None:
    soon = timezone.now() + timedelta(days=1)
    first, second = invite(campaign=campaign, count=2, expires_at=soon)
    address = reverse("personal-link", args=[first.token])
    assert client.get(address).status_code == 302
    task = reverse("annotate", args=[campaign.slug])
    assert client.get(task).status_code == 302
    assert "login" not in client.get(task).url
    revoke(annotator=first.annotator)
    assert client.get(address).status_code == 404
    # Those who entered by it before are refused, too.
    assert "login" in client.get(task).url
    Annotator.objects.update(token_expires_at=timezone.now() - timedelta(seconds=1))
    expired = client.get(reverse("personal-link", args=[second.token]))
    assert (expired.status_code, "has expired" in expired.text) == (410, True)


@pytest.fixture
def shared_world(transactional_db: None) -> World:
    return make_world()


def at_once(n: int, address: str, query: object) -> list[int]:
    """The statuses of n requests sent together, each from a browser of its own."""
    statuses: list[int] = []
    gate = threading.Barrier(n)

    def visit(number: int) -> None:
        gate.wait()
        try:
            statuses.append(Client().get(address, query(number)).status_code)  # type: ignore[operator]
        finally:
            connection.close()

    threads = [threading.Thread(target=visit, args=(number,)) for number in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(statuses)


@pytest.mark.parametrize("mode", ["pool", "static"])
def test_the_quota_holds_when_all_come_at_once(shared_world: World, mode: str) -> None:
    campaign = make_open(shared_world, mode=mode, places=5)
    _, address = make_link(shared_world, campaign, provider="prolific", quota=3)
    statuses = at_once(10, address, lambda number: {"PROLIFIC_PID": f"p{number}"})
    assert statuses == [302] * 3 + [403] * 7
    assert campaign.annotators.exclude(external_id="").count() == 3


def test_nobody_who_clicks_often_becomes_two_people(shared_world: World) -> None:
    campaign = make_open(shared_world)
    _, address = make_link(shared_world, campaign, provider="prolific")
    assert at_once(8, address, lambda _: PROLIFIC) == [302] * 8
    assert campaign.annotators.count() == 1
