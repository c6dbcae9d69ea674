"""Choosing a language in the browser, and the item page from right to left."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.campaigns import add_annotators, open_campaign
from annotation.models import Annotator, Judgment
from tests.browser.conftest import Visitor
from tests.world import World, make_world


@pytest.fixture
def opened(transactional_db: None) -> World:
    world = make_world()
    add_annotators(campaign=world.campaign, users=world.annotators)
    world.campaign = open_campaign(campaign=world.campaign)
    return world


def choose(page: Page, name: str) -> None:
    """By keyboard alone: open the list, go to the language, press Enter."""
    page.locator("details.languages summary").focus()
    page.keyboard.press("Enter")
    button = page.get_by_role("button", name=name, exact=True)
    for _ in range(6):
        page.keyboard.press("Tab")
        if button.evaluate("each => each === document.activeElement"):
            break
    expect(button).to_be_focused()
    page.keyboard.press("Enter")


def test_a_language_is_chosen_by_keyboard_and_stays(
    opened: World, visitor: Callable[..., Visitor]
) -> None:
    someone = visitor()
    page = someone.sign_in("annotator-1")
    choose(page, "Deutsch")
    expect(page.get_by_role("heading", level=1)).to_have_text("Ihre Aufgaben")
    expect(page.locator("html")).to_have_attribute("lang", "de")
    assert Annotator.objects.get(user=opened.annotators[0]).language == "de"
    page.get_by_role("link", name="Beginnen").click()
    page.locator("#item.is-ready").wait_for()
    expect(page.locator("html")).to_have_attribute("lang", "de")
    choose(page, "English")
    page.get_by_role("heading", name="Item 1 of 10").wait_for()


def test_languages_go_by_their_own_names(opened: World, visitor: Callable[..., Visitor]) -> None:
    page = visitor(locale="ar").open("/login/")
    names = page.locator("details.languages button").all_text_contents()
    assert names == ["English", "简体中文", "Deutsch", "Čeština", "العربية"]


def test_the_item_page_is_mirrored_and_takes_the_same_scores(
    opened: World, visitor: Callable[..., Visitor]
) -> None:
    someone = visitor()
    page = someone.sign_in("annotator-1")
    choose(page, "العربية")
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    brand = page.locator(".brand").bounding_box()
    assert brand is not None
    assert brand["x"] > 1280 / 2
    page.locator("a.button.primary").click()
    page.locator("#item.is-ready").wait_for()
    slider = page.get_by_role("slider")
    # 100% is on the left now, so the arrow to the left gives more, as the slider shows it.
    page.keyboard.press("7")
    page.keyboard.press("ArrowLeft")
    expect(slider).to_have_value("71")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(slider).to_have_value("69")
    side = slider.evaluate("each => getComputedStyle(each).getPropertyValue('--to')")
    assert side.strip() == "left"
    # The texts keep the direction of their own languages.
    expect(page.locator(".black")).to_have_attribute("dir", "ltr")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="العنصر 2 من 10").wait_for()
    assert Judgment.objects.get().score == 69


def test_the_help_names_the_arrows_as_they_work(
    opened: World, visitor: Callable[..., Visitor]
) -> None:
    someone = visitor()
    page = someone.sign_in("annotator-1")
    choices = (("العربية", "ar", ["→", "←"]), ("English", "en", ["←", "→"]))
    for name, code, keys in choices:
        choose(page, name)
        expect(page.locator("html")).to_have_attribute("lang", code)
        someone.open(f"/annotate/{opened.campaign.slug}/")
        page.locator("#item.is-ready").wait_for()
        page.keyboard.press("?")
        row = page.locator("#keys dl > div").filter(has_text="←").filter(has_text="→")
        assert row.locator("kbd").all_text_contents() == keys
        page.keyboard.press("Escape")
