"""Annotators read a campaign's title, and its name only if there is no title."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.campaign_files import to_values
from annotation.campaigns import add_annotators, open_campaign
from annotation.campaigns.readiness import title_warnings
from annotation.models import Campaign, ChangeEntry, System
from annotation.notifications.letters import personal_words
from tests.annotation.entry.test_links import make_link, make_open
from tests.world import World, make_campaign

NAME, TITLE = "ACL27 MQM, NLLB against ours", "Nachrichten: wie gut?"
# What an annotator meets before, between and after the items.
PAGES = (
    "consent", "background", "annotate-history", "annotate-done", "annotate-stopped",
    "annotate-corrections",
)  # fmt: skip


@pytest.fixture
def campaign(world: World) -> Campaign:
    made = make_campaign(
        world.test_set,
        "titled",
        name=NAME,
        public_title=TITLE,
        consent="Agreed?",
        asks_background=True,
        shows_corrections=True,
    )
    add_annotators(campaign=made, users=world.annotators)
    return open_campaign(campaign=made)


def read(client: Client, address: str) -> str:
    answer = client.get(address, follow=True)
    assert answer.status_code == 200
    return answer.text


def test_annotators_read_the_title_everywhere(
    world: World, campaign: Campaign, client: Client
) -> None:
    client.force_login(world.annotators[0])
    slug = campaign.slug
    texts = [read(client, reverse("home")), read(client, reverse("consent", args=[slug]))]
    client.post(reverse("consent", args=[slug]), {"decision": "agree"})
    texts.append(read(client, reverse("background", args=[slug])))
    client.post(reverse("background", args=[slug]), {"expertise": "student"})
    texts.append(read(client, reverse("annotate", args=[slug])))
    texts += [read(client, reverse(name, args=[slug])) for name in PAGES]
    for text in texts:
        assert NAME not in text
        assert TITLE in text


def test_the_way_in_and_its_mail_have_the_title(world: World, client: Client) -> None:
    campaign = make_open(world, name=NAME, public_title=TITLE)
    _link, address = make_link(world, campaign, provider="open")
    page = read(client, address)
    assert TITLE in page
    assert NAME not in page
    words = personal_words(campaign, "de")
    assert TITLE in words.subject
    assert NAME not in words.subject + words.text


def test_without_a_title_it_is_the_name(world: World) -> None:
    assert Campaign(name=NAME).title == NAME
    assert NAME in personal_words(make_campaign(world.test_set, "plain", name=NAME), "en").subject


def test_researchers_set_it_with_the_task_and_in_a_file(as_admin: Client, world: World) -> None:
    sent: dict[str, Any] = {
        "test_set": world.test_set.slug, "preset": "da", "public_title": f" {TITLE} ",
    }  # fmt: skip
    made = as_admin.post("/api/campaigns/", sent, content_type="application/json").json()
    assert made["public_title"] == TITLE
    campaign = Campaign.objects.get(slug=made["slug"])
    assert to_values(campaign)["task"]["public_title"] == TITLE
    assert campaign.title == TITLE
    assert TITLE in as_admin.get(reverse("campaign-edit", args=[campaign.slug])).text


def test_it_changes_while_the_campaign_is_open(
    as_admin: Client, world: World, campaign: Campaign
) -> None:
    address = reverse("manage-act", args=["campaign", campaign.slug, "title"])
    page = as_admin.post(address, {"title": "News"}, follow=True)
    assert [each.level_tag for each in page.context["messages"]] == ["success"]
    campaign.refresh_from_db()
    assert (campaign.title, campaign.name) == ("News", NAME)
    page = as_admin.post(address, {"title": "x" * 121}, follow=True)
    assert [each.level_tag for each in page.context["messages"]] == ["error"]
    program = f"/api/things/campaign/{campaign.slug}/title/"
    answer = as_admin.post(program, {"title": ""}, content_type="application/json")
    assert answer.status_code == 200
    campaign.refresh_from_db()
    assert campaign.title == NAME
    assert ChangeEntry.objects.filter(action="renamed").count() == 2
    other = f"/api/things/test-set/{world.test_set.slug}/title/"
    refused = as_admin.post(other, {"title": "x"}, content_type="application/json")
    assert refused.status_code == 403


@pytest.mark.parametrize(
    ("title", "is_warned"),
    [
        ("Harbour news", False),
        ("Is {system} better?", True),
        ("{SYSTEM}-like outputs", True),
        ("A{system}", False),
        ("评价{system}的译文", True),
    ],
)
def test_a_title_that_names_a_system_is_warned_of(
    world: World, title: str, is_warned: bool
) -> None:
    campaign = world.campaign
    name = campaign.systems.order_by("name")[0].name
    campaign.public_title = title.format(system=name, SYSTEM=name.upper())
    codes = [each.code for each in title_warnings(campaign)]
    assert codes == ["design.title-names-system"] * is_warned


@pytest.mark.parametrize(
    ("slug", "is_warned"),
    [("news", False), ("news--1", False), ("{}-against-ours", True), ("news-{}s", False)],
)
def test_an_address_that_names_a_system_is_warned_of(
    world: World, slug: str, *, is_warned: bool
) -> None:
    campaign = world.campaign
    System.objects.filter(pk=campaign.systems.order_by("name")[0].pk).update(name="GPT 4o")
    System.objects.filter(pk=campaign.systems.order_by("name")[1].pk).update(name="译者")
    campaign.name, campaign.slug = "News", slug.format("gpt-4o")
    codes = [each.code for each in title_warnings(campaign)]
    assert codes == ["design.address-names-system"] * is_warned


def test_addresses_are_made_of_the_title(as_admin: Client, world: World) -> None:
    sent = {"test_set": world.test_set.slug, "preset": "da", "name": NAME, "public_title": TITLE}
    as_admin.post("/api/campaigns/", sent, content_type="application/json")
    as_admin.post("/manage/campaign/nachrichten-wie-gut/copy/")
    made = Campaign.objects.exclude(pk=world.campaign.pk).values_list("slug", flat=True)
    assert set(made) == {"nachrichten-wie-gut", "nachrichten-wie-gut-2"}
