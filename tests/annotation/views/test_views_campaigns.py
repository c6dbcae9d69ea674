"""Campaigns on the page: who may, what is refused, and links that stay until they are hidden."""

import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.campaigns import add_annotators, open_campaign
from annotation.models import Assignment, Campaign, Item
from tests.annotation.pools import add_control
from tests.house.templates.seen import seen
from tests.refusals import has, tells
from tests.world import World, add_system, make_campaign, make_user

FORM = {
    "name": "Harbour, 80%",
    "study": "harbour",
    "length_ratio": "0.80",
    "systems": ["strong", "weak"],
    "shown_text": "reference",
    "question": "Does the black text say {percent} of the gray one?",
    "instructions": "",
    "annotators_per_item": "3",
    "traps_per_annotator": "2",
    "trap_ratio": "0.8",
    "seed": "5",
}


def new_address(world: World) -> str:
    return f"{reverse('campaign-new')}?testset={world.test_set.slug}"


def test_create_staff_and_open(world: World, as_admin: Client) -> None:
    page = as_admin.get(new_address(world))
    assert page.status_code == 200
    response = as_admin.post(new_address(world), FORM, follow=True)
    campaign = Campaign.objects.get(name="Harbour, 80%")
    assert campaign.slug == "harbour-80-percent"
    assert campaign.question_text == "Does the black text say 80% of the gray one?"
    assert sorted(campaign.systems.values_list("name", flat=True)) == ["strong", "weak"]
    assert "Open campaign" in response.text
    as_admin.post(
        reverse("people-add", args=[campaign.slug]),
        {"users": [user.pk for user in world.annotators]},
    )
    as_admin.post(reverse("campaign-open", args=[campaign.slug]))
    campaign.refresh_from_db()
    assert campaign.status == Campaign.Status.OPEN
    as_admin.post(reverse("campaign-close", args=[campaign.slug]))
    campaign.refresh_from_db()
    assert campaign.status == Campaign.Status.CLOSED


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"systems": []}, "campaign-form.choose-system"),
        ({"question": "{ratio}?"}, "unknown placeholders: {ratio}"),
        ({"question": "{percent?"}, "campaign-form.braces"),
        ({"trap_ratio": "1"}, "between 0.01 and 0.99"),
        ({"traps_per_annotator": "60"}, "controls.too-few-traps"),
        ({"length_ratio": "0.33"}, "Select a valid choice"),
        ({"annotators_per_item": "0"}, "greater than or equal to 1"),
        ({"name": ""}, "This field is required"),
        ({"seed": "-1"}, "greater than or equal to 0"),
    ],
)
def test_refusals(world: World, as_admin: Client, change: dict[str, object], message: str) -> None:
    response = as_admin.post(new_address(world), FORM | change)
    assert response.status_code == 422
    assert has(response.text, message)
    assert Campaign.objects.count() == 1


def test_systems_must_have_the_chosen_length(world: World, as_admin: Client) -> None:
    add_system(world.test_set, "half", "0.50")
    response = as_admin.post(new_address(world), FORM | {"systems": ["strong", "half"]})
    assert response.status_code == 422
    assert tells(response.text, "campaign-form.no-outputs")


def test_opening_too_early_says_why(world: World, as_admin: Client) -> None:
    response = as_admin.post(reverse("campaign-open", args=[world.campaign.slug]), follow=True)
    assert tells(response.text, "design.too-few-annotators", n=0)


def test_links_stay_until_they_are_hidden(world: World, as_admin: Client) -> None:
    address = reverse("people-add", args=[world.campaign.slug])
    assert as_admin.post(address, {"count": "0"}).status_code == 422
    page = as_admin.post(address, {"count": "3"}, follow=True)
    assert page.text.count("<code>http://testserver/a/") == 3
    opened = as_admin.post(reverse("campaign-open", args=[world.campaign.slug]), follow=True)
    assert Campaign.objects.get().status == Campaign.Status.OPEN
    assert opened.text.count("<code>http://testserver/a/") == 3
    assert "mailto:?subject=" in opened.text
    page = as_admin.post(reverse("links-hide", args=[world.campaign.slug]), follow=True)
    assert "http://testserver/a/" not in page.text


def test_nobody_else_sees_new_links(world: World, as_admin: Client, client: Client) -> None:
    as_admin.post(reverse("people-add", args=[world.campaign.slug]), {"count": "3"})
    client.force_login(make_user("second", "admin"))
    page = client.get(reverse("access", args=[world.campaign.slug]))
    assert (page.status_code, "http://testserver/a/" in page.text) == (200, False)


def test_people_and_opening_in_one_step(world: World, as_admin: Client) -> None:
    address = reverse("people-add", args=[world.campaign.slug])
    page = as_admin.post(address, {"count": "2", "open": "1"}, follow=True)
    assert tells(page.text, "design.too-few-annotators", n=2)
    page = as_admin.post(address, {"count": "1", "open": "1"}, follow=True)
    assert Campaign.objects.get().status == Campaign.Status.OPEN
    assert page.text.count("<code>http://testserver/a/") == 3


def test_what_must_fail_cannot_be_pressed(world: World, as_admin: Client) -> None:
    page = as_admin.get(reverse("campaign-setup", args=[world.campaign.slug])).text
    button = re.search(r"<button[^>]*>Open campaign", page)
    assert button
    assert "disabled" in button[0]
    assert tells(page, "design.too-few-annotators", wanted=3, n=0)
    assert "needs 3, has 0" in page
    add_annotators(campaign=world.campaign, links=3)
    page = as_admin.get(reverse("campaign-setup", args=[world.campaign.slug])).text
    assert '<button class="primary" type="submit">Open campaign' in page


def test_accounts_behind_links_are_not_offered_elsewhere(world: World, as_admin: Client) -> None:
    invitation = add_annotators(campaign=world.campaign, links=1)[0]
    page = as_admin.get(reverse("access", args=[world.campaign.slug]))
    assert "annotator-1" in page.text
    assert f'value="{invitation.annotator.user_id}"' not in page.text


ADMIN_ONLY = ["campaign-open", "campaign-close", "people-add", "links-hide"]


def test_roles(world: World, client: Client) -> None:
    detail = reverse("campaign", args=[world.campaign.slug])
    for user, expected in [
        (world.researcher, (200, 200, 403)),
        (world.annotators[0], (403, 403, 403)),
    ]:
        client.force_login(user)
        pages = (reverse("campaigns"), detail, new_address(world))
        assert tuple(client.get(page).status_code for page in pages) == expected
        for name in ADMIN_ONLY:
            address = reverse(name, args=[world.campaign.slug])
            assert client.post(address).status_code == 403
            assert client.get(address).status_code in (403, 405)
    client.logout()
    assert client.get(detail).status_code == 302


def test_home_shows_annotators_their_tasks_only(world: World, client: Client) -> None:
    client.force_login(world.annotators[0])
    assert 'id="no-tasks"' in client.get("/").text
    add_annotators(campaign=world.campaign, users=world.annotators)
    assert 'id="no-tasks"' in client.get("/").text  # a draft is nobody's business yet
    open_campaign(campaign=world.campaign)
    page = client.get("/").text
    assert "0 of 10 rated" in page
    assert "Campaigns</a>" not in page
    client.force_login(world.outsider)
    assert 'id="no-tasks"' in client.get("/").text
    client.force_login(world.researcher)
    assert client.get("/").url == reverse("campaigns")


def test_people_join_an_open_pool_on_its_page(world: World, as_admin: Client) -> None:
    as_admin.post(new_address(world), FORM | {"assignment_mode": "pool"})
    campaign = Campaign.objects.get(name="Harbour, 80%")
    page = as_admin.get(reverse("access", args=[campaign.slug])).text
    assert 'data-case="may-join"' in page
    as_admin.post(reverse("campaign-open", args=[campaign.slug]))
    as_admin.post(reverse("people-add", args=[campaign.slug]), {"count": "2"})
    assert campaign.annotators.count() == 2
    as_admin.post(reverse("campaign-close", args=[campaign.slug]))
    page = as_admin.post(reverse("people-add", args=[campaign.slug]), {"count": "1"})
    assert page.status_code == 422
    assert campaign.annotators.count() == 2


def test_practice_is_counted_nowhere(world: World, as_admin: Client) -> None:
    campaign = make_campaign(world.test_set, "counted", annotators_per_item=1)
    for _ in range(2):
        add_control(campaign, Item.Kind.TUTORIAL)
    add_annotators(campaign=campaign, links=1)
    open_campaign(campaign=campaign)
    first = Assignment.objects.filter(item__kind=Item.Kind.TUTORIAL).first()
    Assignment.objects.filter(pk=first.pk).update(completed_at=timezone.now())
    n_outputs = campaign.items.filter(kind=Item.Kind.TARGET).count()
    setup = seen(as_admin.get(reverse("campaign-setup", args=["counted"])).text)
    assert f"0 of {n_outputs + 2}" in setup
    assert f"{n_outputs} outputs, 2 control items, 2 practice items" in setup
    people = as_admin.get(reverse("access", args=["counted"])).text
    assert f"0 of {n_outputs + 2}" in people
    assert "At work" in people
    monitor = as_admin.get(reverse("monitor-data", args=["counted"])).json()
    assert (monitor["done"], monitor["total"]) == (0, n_outputs + 2)
    (person,) = monitor["annotators"]
    assert (person["state"], person["done"], person["total"]) == ("idle", 0, n_outputs + 2)
