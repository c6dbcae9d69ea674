"""The way in by a link, and the access tab, in a browser."""

import re
from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation.access import CAMPAIGN_ADMIN
from annotation.campaigns import add_annotators, open_campaign
from annotation.models import Annotator, Campaign
from tests.annotation.entry.test_links import make_link
from tests.browser.conftest import Visitor
from tests.world import World, make_campaign, make_user, make_world

CONSENT = "You take part in a study of translations.\n\nYou may stop at any time."
Visitors = Callable[..., Visitor]


@pytest.fixture
def world(transactional_db: None) -> World:
    return make_world()


def make_asking(world: World, **fields: object) -> Campaign:
    campaign = make_campaign(
        world.test_set, "asking", consent=CONSENT, asks_background=True, annotators_per_item=1,
        traps_per_annotator=0, **fields,
    )  # fmt: skip
    add_annotators(campaign=campaign, links=2)
    return open_campaign(campaign=campaign)


def fits(page: object) -> bool:
    script = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    return bool(page.evaluate(script))  # type: ignore[attr-defined]


@pytest.mark.parametrize("width", [1280, 360])
def test_from_an_open_link_to_the_first_item_by_keyboard(
    world: World, visitor: Visitors, width: int
) -> None:
    _, address = make_link(world, make_asking(world))
    page = visitor(width=width).open(address)
    assert fits(page)
    page.get_by_role("button", name="Take part").press("Enter")
    page.wait_for_url("**/consent/")
    assert fits(page)
    page.get_by_role("button", name="I agree").press("Enter")
    page.wait_for_url("**/background/")
    assert fits(page)
    page.get_by_label("Your native language or languages").fill("Czech")
    for question in ("What describes you best?", "Experience with translation"):
        group = page.get_by_role("group", name=question)
        group.get_by_role("radio").first.press("Space")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/item/"))
    stored = Annotator.objects.get(external_id__startswith="open:")
    assert stored.background == {
        "native_languages": ["Czech"],
        "expertise": "translator",
        "experience": "0",
    }


def test_an_admin_makes_a_link_and_somebody_takes_it(world: World, visitor: Visitors) -> None:
    user = make_user("campaign-admin", CAMPAIGN_ADMIN)
    campaign = make_asking(world, created_by=user, is_private=True)
    admin = visitor()
    admin.enter("campaign-admin")
    page = admin.open(reverse("access", args=[campaign.slug]))
    page.get_by_text("New access link").click()
    page.get_by_label("Annotators come from").select_option("prolific")
    page.get_by_role("textbox", name="Completion code").fill("C0DE")
    page.get_by_role("button", name="Make access link").click()
    shown = page.get_by_label("New links").inner_text()
    path = re.search(r"/enter/[^?]+", shown).group()  # type: ignore[union-attr]
    with page.expect_download() as download:
        page.get_by_role("link", name="Download as CSV").click()
    assert path in download.value.path().read_text()
    person = visitor()
    person.open(f"{path}?PROLIFIC_PID=5f00aa&STUDY_ID=s&SESSION_ID=t")
    person.page.wait_for_url("**/consent/")
    page.reload()
    expect(page.get_by_text("5f00aa")).to_be_visible()
    expect(page.get_by_label("New links")).to_contain_text(path)
    page.get_by_role("button", name=re.compile("Hide")).click()
    expect(page.get_by_label("New links")).to_have_count(0)


def test_the_access_tab_fits_a_phone(world: World, visitor: Visitors) -> None:
    campaign = make_asking(world)
    make_link(world, campaign, provider="prolific", completion_code="C0DE")
    admin = visitor(width=360)
    admin.enter("admin")
    assert fits(admin.open(reverse("access", args=[campaign.slug])))
