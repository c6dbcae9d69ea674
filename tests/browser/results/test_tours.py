"""The tours of a demo, from the sign-in page to where real work starts, by keyboard."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Page, expect

from annotation.demo.load import DEMO_PASSWORD
from annotation.demo.tours import FOR_ANNOTATORS, FOR_RESEARCHERS, Tour
from tests.browser import axe
from tests.browser.conftest import Visitor
from tests.world import make_demo

STUDY = "/studies/demo/"
# Steps about numbers, which no worker computes here.
COMPUTED = {f"#tour-results-{place}" for place in range(1, 7)}


@pytest.fixture
def is_demo(transactional_db: None, settings: Any) -> None:
    make_demo()
    settings.DEMO = STUDY


def take(page: Page, tour: Tour) -> None:
    """Go through a tour by pressing Enter on its button, and end it by Escape."""
    page.get_by_role("navigation", name="Tours").get_by_role("link", name=str(tour.label)).click()
    box = page.get_by_role("region", name="Tour", exact=True)
    for place, step in enumerate(tour.steps, 1):
        expect(box).to_contain_text(str(step.words))
        expect(box).to_contain_text(f"{place} of {len(tour.steps)}")
        if f"#tour-{tour.name}-{place}" not in COMPUTED:
            expect(page.locator("[data-toured]")).to_have_count(1)
        if place < len(tour.steps):
            box.get_by_role("button", name="Next").focus()
            page.keyboard.press("Enter")
    assert axe.violations(page) == []
    box.focus()
    page.keyboard.press("Escape")
    expect(box).to_be_hidden()
    expect(page.locator("[data-toured]")).to_have_count(0)


@pytest.mark.usefixtures("is_demo")
def test_a_researcher_takes_three_tours(visitor: Callable[..., Visitor]) -> None:
    guest = visitor()
    page = guest.open("/")
    expect(page.get_by_text(DEMO_PASSWORD)).to_be_visible()
    guest.sign_in_here("demo-admin", DEMO_PASSWORD)
    assert page.url.endswith(STUDY)
    for tour in FOR_RESEARCHERS:
        guest.open("/campaigns/")
        take(page, tour)
    guest.open(STUDY)
    banner = page.get_by_role("navigation", name="Tours")
    banner.get_by_role("button", name="Close").click()
    guest.open("/campaigns/")
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()
    expect(banner).to_be_hidden()


@pytest.mark.usefixtures("is_demo")
def test_an_annotator_ends_at_an_item(visitor: Callable[..., Visitor]) -> None:
    guest = visitor(width=360, height=740)
    page = guest.sign_in_by_form("demo-annotator1", DEMO_PASSWORD)
    take(page, *FOR_ANNOTATORS)
    page.keyboard.press("7")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Item 2 of")).to_be_visible()


def test_nothing_of_it_is_on_other_sites(client: Client, db: None) -> None:
    make_demo()
    client.force_login(User.objects.get(username="demo-admin"))
    assert "tour" not in client.get("/campaigns/").text
