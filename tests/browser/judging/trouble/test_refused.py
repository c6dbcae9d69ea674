"""Answers that were refused: what may pass is tried again, and the bar keeps its place."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Assignment, Campaign, Judgment
from tests.browser.conftest import Visitor
from tests.browser.planting import (
    WAITS,
    break_server,
    current,
    expect_item,
    plant,
    press,
    start,
    wait_for_screens,
    wait_until_sent,
)

OUTPUTS = [("One two three.", "Four five six.")]
SAVED = "All ratings are saved"


def refused(page: Page, key: str) -> None:
    """Answer while the campaign is closed."""
    Campaign.objects.update(status=Campaign.Status.CLOSED)
    press(page, key, "Enter")
    expect(page.get_by_role("alert")).to_contain_text("This campaign is closed")
    Campaign.objects.update(status=Campaign.Status.OPEN)


@pytest.mark.database
def test_what_a_closed_campaign_refused_is_sent_once_it_is_open_again(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    plant("segment-da", outputs=OUTPUTS)
    one = visitor()
    refused(start(one), "3")
    page = one.open("/")
    wait_until_sent(page)
    assert [judgment.score for judgment in current()] == [30]
    page.reload()
    wait_until_sent(page)
    assert Judgment.objects.count() == 1


@pytest.mark.database
def test_a_refused_item_that_can_be_answered_again_sends_its_answer(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    """The page is the same all the time: only the item came anew."""
    plant("segment-da", outputs=OUTPUTS)
    page = start(visitor())
    wait_for_screens(page)
    refused(page, "3")
    page.get_by_role("link", name="Item 2: not rated yet").click()
    expect_item(page, "Item 2 of 2")
    expect(page.locator("#outbox li")).to_contain_text("This campaign is closed")
    with page.expect_response(lambda reply: reply.request.method == "POST"):
        page.get_by_role("link", name="Item 1: not rated yet").click()
    expect_item(page, "Item 2 of 2")
    wait_until_sent(page)
    assert [judgment.score for judgment in current()] == [30]
    assert Judgment.objects.count() == 1


@pytest.mark.database
def test_what_was_refused_replaces_nothing_that_was_answered_since(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    plant("segment-da", outputs=OUTPUTS)
    one = visitor()
    refused(start(one), "3")
    other = start(visitor())
    press(other, "9", "Enter")
    expect_item(other, "Item 2 of 2")
    page = one.open("/")
    expect(page.locator("#outbox li")).to_contain_text("You already rated this item 90")
    assert [judgment.score for judgment in current()] == [90]
    assert Judgment.objects.count() == 1


@pytest.mark.database
def test_of_two_refused_answers_to_an_item_the_last_one_counts(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    plant("segment-da", outputs=OUTPUTS)
    one = visitor()
    first = start(one)
    second = one.context.new_page()
    second.goto(first.url)
    second.locator("#item.is-ready").wait_for()
    refused(first, "3")
    refused(second, "9")
    first.close()
    second.close()
    page = one.context.new_page()
    page.goto(f"{one.address}/")
    wait_until_sent(page)
    assert [judgment.score for judgment in current()] == [90]
    assert Judgment.objects.count() == 1


def test_a_refused_answer_keeps_its_question_and_then_gives_the_focus_to_the_item(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    plant("segment-da", outputs=OUTPUTS)
    one = visitor()
    page = start(one)
    break_server(page)
    press(page, "3", "Enter")
    expect(page.get_by_text(WAITS)).to_be_visible()
    Assignment.objects.filter(position=0).delete()
    page.unroute("**/item/**")
    one.open("/annotate/segment-da/")
    expect(page.locator("#outbox li")).to_contain_text("no longer assigned to you")
    page.get_by_role("button", name="Discard").focus()
    press(page, "Enter")
    sure = page.get_by_role("button", name="Discard permanently?")
    expect(sure).to_be_focused()
    page.evaluate("window.dispatchEvent(new Event('focus'))")
    expect(sure).to_be_focused()
    press(page, "Enter")
    expect(page.locator("#outbox")).to_be_hidden()
    expect(page.locator("#item h1")).to_be_focused()
    press(page, "5", "Enter")  # work goes on from there
    page.wait_for_url("**/done/")
    assert [judgment.score for judgment in current()] == [50]


def test_send_now_gives_the_focus_to_the_item(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    plant("segment-da", outputs=OUTPUTS)
    page = start(visitor().without_retries())
    wait_for_screens(page)
    break_server(page)
    press(page, "3", "Enter")
    expect_item(page, "Item 2 of 2")
    expect(page.get_by_text(WAITS)).to_be_visible()
    send = page.get_by_role("button", name="Send now")
    send.focus()  # the window may get the focus, too, upon which the page sends
    expect(page.get_by_text(WAITS)).to_be_visible()
    page.unroute("**/item/**")
    send.press("Enter")
    wait_until_sent(page)
    expect(page.locator("#item h1")).to_be_focused()
    assert [judgment.score for judgment in current()] == [30]


def test_the_last_page_says_that_all_is_saved_only_where_it_is(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    plant("segment-da", outputs=OUTPUTS)
    one = visitor().without_retries()
    page = start(one)
    press(page, "3", "Enter")
    expect_item(page, "Item 2 of 2")
    press(page, "4", "Enter")
    page.wait_for_url("**/done/")
    expect(page.get_by_text(SAVED)).to_be_visible()
    page.go_back()
    expect_item(page, "Item 2 of 2")
    break_server(page)
    press(page, "8", "Enter")
    expect(page.get_by_text(WAITS)).to_be_visible()
    one.open("/annotate/segment-da/done/")
    expect(page.get_by_text(WAITS)).to_be_visible()
    expect(page.get_by_role("heading", name="All 2 items are rated")).to_be_visible()
    expect(page.get_by_text(SAVED)).to_be_hidden()
    page.unroute("**/item/**")
    page.get_by_role("button", name="Send now").click()
    wait_until_sent(page)
    expect(page.get_by_text(SAVED)).to_be_visible()
    assert [judgment.score for judgment in current()] == [30, 80]
