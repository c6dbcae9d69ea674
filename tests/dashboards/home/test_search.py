"""The search finds what a reader may open, and nothing else."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.models import Campaign
from core import extensions
from dashboards.home.search import PAGES
from tests.world import World, make_campaign

STUDIES = pytest.mark.needs("extensions.studies")


def found(client: Client, asked: str) -> str:
    return client.get("/search/", {"q": asked}).text.split("<h1>")[1]


@pytest.mark.parametrize(
    ("asked", "address"),
    [
        ("harbour 80", "/campaigns/harbour-80/"),
        pytest.param("PORT", "/studies/port/", marks=STUDIES),
        ("harbour", "/testsets/harbour/"),
        ("bleu*", "/metrics/bleu-star/"),
        ("krippendorff", "/glossary/#alpha"),
        pytest.param("studies", "/studies/", marks=STUDIES),
    ],
)
def test_what_is_found_by_words_of_its_name(
    world: World, as_researcher: Client, asked: str, address: str
) -> None:
    Campaign.objects.update(study="port")
    assert f'href="{address}"' in found(as_researcher, asked)


def test_every_page_without_a_campaign_is_found_by_its_heading(as_researcher: Client) -> None:
    for page in extensions.places("pages", PAGES):
        assert f'href="{reverse(page.name)}"' in found(as_researcher, str(page.label)), page


@pytest.mark.needs("extensions.studies")
def test_a_private_campaign_is_found_by_its_members_alone(world: World, client: Client) -> None:
    make_campaign(world.test_set, "secret-plan", is_private=True, study="hidden")
    for user, may in ((world.researcher, False), (world.admin, True)):
        client.force_login(user)
        assert ("secret-plan" in found(client, "secret")) is may
        assert ('href="/studies/hidden/"' in found(client, "hidden")) is may


def test_nothing_is_said_plainly_and_escaped(world: World, as_researcher: Client) -> None:
    text = found(as_researcher, "<b>nowhere</b>")
    assert "&lt;b&gt;nowhere&lt;/b&gt;" in text
    assert "<b>nowhere" not in text


def test_annotators_have_no_search(world: World, client: Client) -> None:
    client.force_login(User.objects.get(username="annotator-1"))
    assert client.get("/search/?q=harbour").status_code == 403
    assert 'role="search"' not in client.get("/").text
