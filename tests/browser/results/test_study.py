"""A study's matrix by keyboard and at 360 px, and a region of the scatter plot by dragging."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from dashboards.models import Selection
from tests.browser.axe import violations
from tests.browser.conftest import Visitor
from tests.dashboards.conftest import make_rated
from tests.shared import Snapshots
from tests.world import make_user

NEEDS = {"extensions.studies", "extensions.paper"}


def make_study() -> None:
    make_user("reader", "researcher")
    make_rated("first", segments=24, study="port")
    make_rated("second", segments=24, study="port")


@pytest.fixture
def sign_in(visitor: Callable[..., Visitor], snapshots: Snapshots) -> Callable[..., Visitor]:
    snapshots.load(make_study)

    def come(width: int = 1280, height: int = 800) -> Visitor:
        someone = visitor(width, height)
        someone.enter("reader")
        return someone

    return come


def opened(someone: Visitor, address: str) -> Page:
    page = someone.open(address)
    expect(page.locator("#result-state[data-fresh-at]")).to_have_count(0)
    return page


def test_the_matrix_is_one_stop_of_the_tab_key(sign_in: Callable[..., Visitor]) -> None:
    page = opened(sign_in(), "/studies/port/")
    expect(page.locator("h2.answer")).to_be_visible()
    cells = page.locator("table.matrix tbody a")
    expect(cells).to_have_count(4)
    expect(page.locator("table.matrix tbody a[tabindex='0']")).to_have_count(1)
    cells.first.focus()
    for key, place in (("ArrowRight", 1), ("ArrowDown", 3), ("Home", 2), ("ArrowUp", 0)):
        page.keyboard.press(key)
        expect(cells.nth(place)).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/campaigns/first/results/")


def test_on_a_phone_every_metric_is_a_card(sign_in: Callable[..., Visitor]) -> None:
    page = opened(sign_in(360, 740), "/studies/port/?beside=cheng2023")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    boxes = [each.bounding_box() for each in page.locator("table.matrix tbody tr").first
             .locator("td:not(.avg) a").all()]  # fmt: skip
    assert all(box and box["x"] >= 0 and box["x"] + box["width"] <= 360 for box in boxes)
    assert violations(page) == []


def test_the_level_is_a_switch_and_the_address_follows(sign_in: Callable[..., Visitor]) -> None:
    page = opened(sign_in(), "/studies/port/?correction=bh")
    page.get_by_role("link", name="system", exact=True).click()
    page.wait_for_url("**/studies/port/?correction=bh&statistic=limit")
    expect(page.locator("table.matrix")).to_be_visible()


def test_dragging_chooses_a_region_that_is_saved_and_shared(
    sign_in: Callable[..., Visitor],
) -> None:
    someone = sign_in()
    page = opened(someone, "/campaigns/first/scatter/?metric=chrf")
    expect(page.locator("#plot[data-ready] .point")).to_have_count(72)
    area = page.locator("#plot svg").bounding_box()
    assert area is not None
    page.mouse.move(area["x"] + area["width"] * 0.5, area["y"] + area["height"] * 0.05)
    page.mouse.down()
    page.mouse.move(area["x"] + area["width"] * 0.75, area["y"] + area["height"] * 0.4)
    page.mouse.move(area["x"] + area["width"] * 0.96, area["y"] + area["height"] * 0.6)
    page.mouse.up()
    page.wait_for_url("**&x_from=*")
    expect(page.locator("h2.answer")).to_contain_text(" of 72 outputs")
    chosen = int(page.locator("h2.answer").inner_text().split(" of ")[0])
    expect(page.locator(".point:not(.is-out)")).to_have_count(chosen)
    numbers = page.locator(".beside-plot tbody td:nth-child(2)").all_inner_texts()
    assert sum(map(int, numbers)) == chosen
    page.get_by_label("Name", exact=True).fill("Upper right")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#selections-title")).to_have_text("Upper right")
    page = opened(someone, Selection.objects.get().get_absolute_url())
    expect(page.locator("#selections-title")).to_have_text("Upper right")
    expect(page.locator("h2.answer")).to_contain_text(f"{chosen} of 72 outputs")


def test_texts_that_differ_most_are_side_by_side(sign_in: Callable[..., Visitor]) -> None:
    page = opened(sign_in(360, 740), "/campaigns/first/systems-pair/?first=weak&second=strong")
    expect(page.locator("details.texts[open] mark").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert violations(page) == []


def test_what_the_first_numbers_bring_comes_beside_a_list_in_focus(
    sign_in: Callable[..., Visitor],
) -> None:
    """The page restores the focus to the list that was chosen from, before there are numbers."""
    page = opened(sign_in(), "/studies/port/paper/")
    metrics, layers = page.locator("#table9"), page.locator("#layers")
    expect(metrics).to_have_count(1)
    layers.focus()
    page.evaluate(
        "() => { document.querySelector('#table9').remove();"
        " document.querySelector('#result-state').dataset.tag = 'an older one'; }"
    )
    expect(metrics).to_have_count(1, timeout=15_000)
    expect(layers).to_be_focused()
