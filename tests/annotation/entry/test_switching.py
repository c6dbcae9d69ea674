"""A link opened in a browser in which somebody else is signed in."""

import re
import uuid

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.campaigns import add_annotators, open_campaign
from annotation.models import Annotator, Campaign, Judgment
from annotation.web.password import is_recent
from tests.annotation.entry.test_links import PROLIFIC, make_link, make_open
from tests.world import PASSWORD, World, make_campaign, make_user

ASKS = 'name="switch" value="open"'
Link = tuple[Annotator, str]


@pytest.fixture
def campaign(world: World) -> Campaign:
    return make_campaign(
        world.test_set, "links", annotators_per_item=1, asks_background=True, is_private=True
    )


@pytest.fixture
def two(campaign: Campaign) -> list[Link]:
    """Two annotators of one campaign, with their links."""
    made = add_annotators(campaign=campaign, links=2)
    open_campaign(campaign=campaign)
    return [(each.annotator, reverse("personal-link", args=[each.token])) for each in made]


def signed_in(client: Client) -> User | None:
    user = client.get(reverse("own-account")).wsgi_request.user
    return user if user.is_authenticated else None


def with_password(user: User) -> Client:
    client = Client()
    assert client.login(username=user.username, password=PASSWORD)
    return client


def test_a_session_with_a_password_ends_only_by_the_button(world: World, two: list[Link]) -> None:
    (annotator, address), (other, _) = two
    for user in (world.admin, make_user("rater", "annotator")):
        client = with_password(user)
        page = client.get(address)
        assert (page.status_code, ASKS in page.text) == (200, True)
        assert "no-store" in page["Cache-Control"]
        shown = {annotator.label, annotator.user.username, "links", "Links", other.label}
        assert [word for word in shown if re.search(rf">[^<]*\b{word}\b", page.text)] == []
        assert address not in page.text.replace(f'name="next" value="{address}"', "")
        assert signed_in(client) == user
        client.post(address, {"switch": "elsewhere"})
        assert signed_in(client) == user
        answer = client.post(address, {"switch": "open"})
        assert answer["Location"] == reverse("annotate", args=["links"])
        assert signed_in(client) == annotator.user
        assert client.get(reverse("campaigns")).status_code == 403


def test_who_stays_sees_the_campaign_only_if_they_may(world: World, two: list[Link]) -> None:
    address = two[0][1]
    for user, target in ((world.admin, "/campaigns/links/"), (world.researcher, "/")):
        client = with_password(user)
        assert client.post(address, {"switch": "stay"})["Location"] == target
        assert signed_in(client) == user


def test_the_button_needs_a_token_of_its_form(world: World, two: list[Link]) -> None:
    client = Client(enforce_csrf_checks=True)
    assert client.login(username=world.admin.username, password=PASSWORD)
    assert client.post(two[0][1], {"switch": "open"}).status_code == 403
    assert signed_in(client) == world.admin


def test_links_replace_links_without_asking(two: list[Link], client: Client) -> None:
    for annotator, address in (two[0], two[0], two[1]):
        assert client.get(address).status_code == 302
        assert signed_in(client) == annotator.user


def test_ones_own_link_goes_straight_in(two: list[Link]) -> None:
    annotator, address = two[0]
    annotator.user.set_password(PASSWORD)
    annotator.user.save()
    client = with_password(annotator.user)
    assert client.get(address)["Location"] == reverse("annotate", args=["links"])


@pytest.mark.parametrize("provider", ["open", "prolific"])
def test_access_links_ask_before_anybody_takes_a_place(world: World, provider: str) -> None:
    campaign = make_open(world)
    _, address = make_link(world, campaign, provider=provider)
    client = with_password(world.admin)
    query = PROLIFIC if provider == "prolific" else {}
    path = f"{address}?" + "&".join(f"{name}={value}" for name, value in query.items())
    page = client.post(path) if provider == "open" else client.get(path)
    assert (ASKS in page.text, campaign.annotators.count()) == (True, 0)
    assert signed_in(client) == world.admin
    client.post(path, {"switch": "open"})
    assert signed_in(client) == campaign.annotators.get().user
    # Who has come in goes on without another question.
    assert client.get(path)["Location"] == reverse("annotate", args=[campaign.slug])


def test_forms_of_the_first_tab_are_not_stored_as_the_second_persons(two: list[Link]) -> None:
    """Plain forms carry the token of the first session; the address of a form names a campaign."""
    (first, first_link), (second, second_link) = two
    browser = Client(enforce_csrf_checks=True)
    browser.get(first_link)
    address = reverse("background", args=["links"])
    form = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', browser.get(address).text)
    assert form
    browser.get(second_link)
    sent = {"expertise": "none", "csrfmiddlewaretoken": form[1]}
    assert browser.post(address, sent).status_code == 403
    for annotator in (first, second):
        annotator.refresh_from_db()
        assert annotator.background is None


def test_scripts_of_the_first_tab_learn_that_the_item_is_not_theirs(two: list[Link]) -> None:
    """Scripts take the token of the moment, so the item itself must be the person's."""
    (first, first_link), (_, second_link) = two
    Annotator.objects.update(background={})
    browser = Client()
    names = []
    for link in (first_link, second_link):
        page = browser.get(link, follow=True)
        names.append(re.search(r'data-person="(\w+)"', page.text)[1])  # type: ignore[index]
    item = reverse("item", args=[first.assignments.order_by("position")[0].public_id])
    sent = {"score": "50", "submit_key": str(uuid.uuid4()), "started": "x"}
    answer = browser.post(item, sent, headers={"Accept": "application/json"})
    assert (answer.status_code, answer.json()["person"]) == (404, names[1])
    assert names[0] != names[1]
    assert not Judgment.objects.exists()


def test_a_link_does_not_count_as_the_password(two: list[Link]) -> None:
    annotator, address = two[0]
    annotator.user.set_password(PASSWORD)
    annotator.user.save()
    client = with_password(annotator.user)
    assert is_recent(client.session)
    client.get(address)
    assert signed_in(client) == annotator.user
    assert not is_recent(client.session)
