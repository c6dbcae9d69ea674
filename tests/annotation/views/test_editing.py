"""Drafts are edited in the form that made them; other campaigns are not."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.campaigns import add_annotators, open_campaign
from annotation.models import AccessLink, Campaign, Item
from tests.refusals import tells
from tests.world import World

ADDRESS = "/campaigns/harbour-80/edit/"


def sent(client: Client, address: str = ADDRESS, **changes: Any) -> dict[str, Any]:
    """The form as it comes, with changes, as a browser would send it."""
    form = client.get(address).context["form"]
    data = {name: form.get_initial_for_field(field, name) for name, field in form.fields.items()}
    return {name: value for name, value in (data | changes).items() if value not in (None, False)}


def test_what_is_not_touched_stays(as_admin: Client, world: World) -> None:
    Campaign.objects.update(
        question="How good is it?", time_cap_seconds=77, control_spacing=3, is_private=True
    )
    before = Campaign.objects.values().get()
    response = as_admin.post(ADDRESS, sent(as_admin))
    assert response.status_code == 302, response.context["form"].errors
    assert Campaign.objects.values().get() == before
    assert set(world.campaign.systems.all()) == set(world.test_set.systems.all())


def test_a_change_is_stored(as_admin: Client, world: World) -> None:
    as_admin.post(ADDRESS, sent(as_admin, name="Pier", systems=["weak"], traps_per_annotator=1))
    campaign = Campaign.objects.get()
    assert (campaign.name, campaign.slug, campaign.traps_per_annotator) == ("Pier", "harbour-80", 1)
    assert [system.name for system in campaign.systems.all()] == ["weak"]


def test_too_many_traps_change_nothing(as_admin: Client, world: World) -> None:
    data = sent(as_admin, name="Pier", traps_per_annotator=50)
    assert as_admin.post(ADDRESS, data).status_code == 422
    assert Campaign.objects.get().name == "Harbour-80"


def test_what_is_open_or_imported_stays(as_admin: Client, world: World) -> None:
    data = sent(as_admin, name="Pier")
    output = world.test_set.systems.first().outputs.first()
    item = Item.objects.create(
        campaign=world.campaign, kind="target", batch="1", segment=output.segment, output=output
    )
    assert "were imported" in as_admin.post(ADDRESS, data, follow=True).text
    item.delete()
    add_annotators(campaign=world.campaign, users=world.annotators)
    open_campaign(campaign=world.campaign)
    assert tells(as_admin.post(ADDRESS, data, follow=True).text, "campaign.opened")
    assert Campaign.objects.get().name == "Harbour-80"


@pytest.mark.parametrize(
    ("slug", "follows", "name", "title", "expected"),
    [
        ("harbour-80", True, "Pier", "", "pier"),
        ("harbour-80-2", True, "harbour 80", "", "harbour-80-2"),  # fits already
        ("harbour-80", True, "Harbour 80", "Pier", "pier"),  # annotators see it
        ("harbour-80", False, "Pier", "", "harbour-80"),  # somebody chose it
    ],
)
def test_the_address_of_a_draft_follows_its_title(
    as_admin: Client,
    world: World,
    slug: str,
    name: str,
    title: str,
    expected: str,
    *,
    follows: bool,
) -> None:
    Campaign.objects.update(slug=slug, slug_follows=follows)
    address = reverse("campaign-edit", args=[slug])
    named = {"name": name, "public_title": title}
    typed = sent(as_admin, address, **named)
    as_admin.post(address, typed, headers={"Accept": "application/json"})
    assert Campaign.objects.get().slug == slug  # while it is typed, perhaps in two tabs
    left = as_admin.post(address, sent(as_admin, address, **named))
    assert left.headers["Location"] == reverse("access", args=[expected])
    assert as_admin.get(left.headers["Location"]).status_code == 200
    if expected != slug:
        now = reverse("campaign-edit", args=[expected])
        assert as_admin.get(f"{address}?a=1").headers["Location"] == f"{now}?a=1"
        assert as_admin.post(address, typed).status_code == 404


def test_an_old_address_reveals_nothing(world: World, as_admin: Client, client: Client) -> None:
    Campaign.objects.update(slug_follows=True, is_private=True)
    as_admin.post(ADDRESS, sent(as_admin, name="Pier"))
    old = reverse("campaign-setup", args=["harbour-80"])
    for user, status in ((None, 302), (world.researcher, 404), (world.annotators[0], 403)):
        client.logout()
        if user is not None:
            client.force_login(user)
        answer = client.get(old)
        assert (answer.status_code, "pier" in answer.headers.get("Location", "")) == (status, False)
        assert "pier" not in answer.text.lower()


@pytest.mark.parametrize("by", ["annotators", "access links"])
def test_an_address_that_somebody_may_have_stays(as_admin: Client, world: World, by: str) -> None:
    Campaign.objects.update(slug_follows=True)
    if by == "annotators":
        add_annotators(campaign=world.campaign, links=1)
    else:
        AccessLink.objects.create(campaign=world.campaign, token_hash="x")
    as_admin.post(ADDRESS, sent(as_admin, name="Pier"))
    campaign = Campaign.objects.get()
    assert (campaign.name, campaign.slug) == ("Pier", "harbour-80")


def test_slugs_that_were_chosen_do_not_follow(as_admin: Client, world: World) -> None:
    made = {"test_set": world.test_set.slug, "preset": "da", "name": "Pier"}
    as_admin.post("/api/campaigns/", made, content_type="application/json")
    as_admin.post("/manage/campaign/pier/copy/")
    follows = dict(Campaign.objects.values_list("slug", "slug_follows"))
    assert follows == {"harbour-80": False, "pier": True, "pier-copy": True}
