"""Pages of researchers on a phone: the tabs of a campaign, the form of a metric."""

import os
from collections.abc import Callable

import pytest
from django.conf import settings
from playwright.sync_api import Page, expect

from annotation.access import ADMIN
from tests.browser.conftest import Visitor
from tests.browser.full_world import screens_of
from tests.dashboards.conftest import make_rated
from tests.world import make_campaign, make_test_set, make_user, make_world

WIDTH = 360
PAGES = ("", "access/", "access/mail/", "export/", "dashboard/", "results/", "systems/")


@pytest.fixture
def enter(visitor: Callable[..., Visitor]) -> Callable[..., Visitor]:
    """Sign somebody in on a phone, with scripts or without."""
    make_user("chief", ADMIN)
    make_campaign(make_test_set("small", segments=2), "small")

    def sign_in(**options: object) -> Visitor:
        someone = visitor(width=WIDTH, height=740, **options)
        someone.enter("chief")
        return someone

    return sign_in


def wait_until_in_sight(page: Page, selector: str) -> None:
    """Wait until all of a tab is within its line."""
    page.wait_for_function(
        """selector => {
          const tab = document.querySelector(selector);
          const [own, line] = [tab, tab.parentElement].map((each) => each.getBoundingClientRect());
          return own.left >= line.left - 1 && own.right <= line.right + 1;
        }""",
        arg=selector,
        timeout=60_000,
    )


@pytest.mark.parametrize("scripts", [True, False])
def test_a_campaign_s_tabs_take_one_line_and_begin_where_the_reader_is(
    enter: Callable[..., Visitor], *, scripts: bool
) -> None:
    someone = enter(java_script_enabled=scripts)
    for place in PAGES:
        page = someone.open(f"/campaigns/small/{place}")
        tabs = page.get_by_role("navigation", name="Campaign", exact=True)
        box = tabs.bounding_box()
        assert box is not None
        assert box["height"] <= 50
        assert page.locator(".tabs a[aria-current]").count() == 1
        assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH
        if scripts:
            wait_until_in_sight(page, ".tabs a[aria-current]")


def test_every_tab_is_reached_by_keyboard_and_seen(enter: Callable[..., Visitor]) -> None:
    page = enter().open("/campaigns/small/")
    links = page.locator(".tabs a")
    links.first.focus()
    for number in range(links.count()):
        assert links.nth(number).evaluate("link => link === document.activeElement")
        wait_until_in_sight(page, ".tabs a:focus")
        page.keyboard.press("Tab")


def test_a_metric_s_form_shows_what_matters(enter: Callable[..., Visitor]) -> None:
    page = enter().open("/metrics/add/xmoverscore/")
    expect(page.get_by_label("Encoder")).to_be_visible()
    expect(page.get_by_label("Flow dropout")).to_be_hidden()
    page.get_by_text("More options").click()
    page.get_by_label("Flow dropout").fill("7")
    page.get_by_role("button", name="Preview").click()
    # What is wrong is not hidden.
    expect(page.locator("#id_option-flow-dropout_errors")).to_contain_text("at most 0.9")
    if folder := os.environ.get("SHOTS"):
        page.screenshot(path=f"{folder}/form.png", full_page=True)
        page.goto(page.url.split("/metrics")[0] + "/campaigns/small/systems/")
        page.screenshot(path=f"{folder}/tabs.png")


def test_a_refusal_that_repeats_a_long_value_stays_within_the_page(
    enter: Callable[..., Visitor],
) -> None:
    page = enter().open(f"/campaigns/small/scatter/?shortest={'9' * 1500}")
    expect(page.get_by_text("shortest must be a whole number")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH


def test_no_page_of_results_is_wider_than_a_phone(enter: Callable[..., Visitor]) -> None:
    """Marks and notes beside long names: human translations, baselines, warnings."""
    campaign = make_rated(segments=24)
    campaign.systems.filter(name="weak").update(is_human=True)
    someone = enter()
    for place in ("results", "correlations", "systems", "quality", "dashboard", "setup", "monitor"):
        page = someone.open(f"/campaigns/{campaign.slug}/{place}/")
        assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH, place


SCROLLS = """() => [...document.querySelectorAll("main .scroll")]
  .filter((each) => each.checkVisibility() && each.scrollWidth > each.clientWidth + 1)
  .map((each) => each.getAttribute("aria-label"))"""


def test_no_list_scrolls_sideways(enter: Callable[..., Visitor]) -> None:
    """A row is a card, whose cells name their columns."""
    campaign = make_rated(segments=24)
    someone = enter()
    places = ("access", "export", "setup")
    lists = ("workers", "runs", "metrics", "testsets", "accounts", "studies", "training")
    own = [f"/campaigns/{campaign.slug}/{place}/" for place in places]
    for address in [*own, *(f"/{name}/" for name in lists), campaign.test_set.get_absolute_url()]:
        page = someone.open(address)
        assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH, address
        assert page.evaluate(SCROLLS) == [], address
    cell = someone.open("/testsets/").locator("td").first
    label = cell.evaluate("each => getComputedStyle(each, '::before').content")
    assert label == '"Direction"'


def test_no_button_beside_the_answer_is_cut(visitor: Callable[..., Visitor]) -> None:
    world = make_world()
    screens_of(world, "document-da")
    someone = visitor(width=WIDTH, height=740)
    someone.enter("annotator-1")
    for code, _ in settings.LANGUAGES:
        someone.context.add_cookies(
            [{"name": "django_language", "value": code, "url": someone.address}]
        )
        page = someone.open("/annotate/document-da-task/")
        button = page.locator("[data-next]")
        assert button.evaluate("each => each.scrollWidth <= each.clientWidth + 1"), code


@pytest.mark.parametrize("place", ["metrics/", "workers/", "campaigns/small/access/"])
def test_the_terms_of_a_head_stand_below_the_cards_of_a_phone_alone(
    enter: Callable[..., Visitor], place: str
) -> None:
    page = enter().open(f"/{place}")
    terms = page.locator(".cards + .terms").first
    if place.startswith("campaigns"):  # a page with a stylesheet of its own
        page.locator("main").evaluate(
            "main => main.insertAdjacentHTML('beforeend',"
            " '<table class=cards></table><p class=terms>term</p>')"
        )
    expect(terms).to_be_visible()
    page.set_viewport_size({"width": 1280, "height": 800})
    expect(terms).to_be_hidden()
