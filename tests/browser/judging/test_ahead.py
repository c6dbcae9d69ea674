"""Work goes on without a connection: screens are there ahead, and answers wait in order."""

import re
from collections.abc import Callable
from itertools import pairwise

from playwright.sync_api import Page, expect

from annotation.models import Assignment, Campaign, Item, Judgment
from tests.browser.conftest import Visitor
from tests.browser.planting import (
    WAITS,
    break_server,
    expect_item,
    plant,
    press,
    start,
    wait_for_screens,
    wait_until_sent,
)

N = 60
# A third of the time, in stretches as on a train: from which screen, and for how many.
AWAY = {5: 8, 20: 6, 40: 6}
WAITING = {first + n - 1: n for first, n in AWAY.items()}


def score_of(number: int) -> int:
    return number % 100


def rate(page: Page, number: int) -> None:
    """Type a score of two digits and submit."""
    expect_item(page, f"Item {number} of {N}")
    press(page, *f"{score_of(number):02d}", "Enter")


def plant_texts(n: int) -> None:
    texts = tuple(f"Sentence {number} is here." for number in range(n))
    plant("segment-da", sources=texts, outputs=[texts])


def stored() -> list[tuple[int, int, int]]:
    """Place, score and revision of every judgment, in the order in which they were stored."""
    rows = Judgment.objects.order_by("pk")
    found = rows.values_list("assignment__position", "score", "revision")
    return [(position + 1, score, revision) for position, score, revision in found]


def test_sixty_screens_with_the_network_away_for_a_third_of_them(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    plant_texts(N)
    one = visitor()
    page = start(one)
    wait_for_screens(page)
    back = 0
    for number in range(1, N + 1):
        if number in AWAY:
            expect_item(page, f"Item {number} of {N}")
            one.context.set_offline(True)
            back = number + AWAY[number]
        rate(page, number)
        if number + 1 == back:
            expect_item(page, f"Item {number + 1} of {N}")
            expect(page.get_by_text("ratings are waiting to be sent.")).to_be_visible()
            assert Judgment.objects.count() == number - WAITING[number]
            one.context.set_offline(False)
            expect(page.locator("#outbox")).to_be_hidden()
            wait_for_screens(page)
    page.wait_for_url("**/done/")
    assert stored() == [(number, score_of(number), 1) for number in range(1, N + 1)]
    times = list(Judgment.objects.order_by("pk").values_list("started_at", "submitted_at"))
    assert all(ended <= began for (_, ended), (began, _) in pairwise(times))


def test_a_server_that_is_busy_is_asked_again_while_the_first_item_is_read(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    plant_texts(5)
    one = visitor()
    later = {"screens": [], "later": True}
    one.page.route("**/ahead/**", lambda route: route.fulfill(json=later), times=1)
    with one.page.expect_response(
        lambda reply: "/ahead/" in reply.url and "Sentence 1" in reply.text()
    ):
        start(one)
    one.context.set_offline(True)
    for number in (1, 2, 3):
        expect_item(one.page, f"Item {number} of 5")
        press(one.page, "4", str(number), "Enter")
    expect(one.page.get_by_text("3 ratings are waiting to be sent.")).to_be_visible()


def test_answers_outlive_their_tab_and_another_one_sends_them_once(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    plant_texts(6)
    one = visitor().without_retries()
    page = start(one)
    wait_for_screens(page)
    one.context.set_offline(True)
    for number in (1, 2, 3):
        expect_item(page, f"Item {number} of 6")
        press(page, "4", str(number), "Enter")
    expect(page.get_by_text("3 ratings are waiting to be sent.")).to_be_visible()
    assert not Judgment.objects.exists()
    page.close(run_before_unload=False)
    # Chromium is online for a tab that closes: what it is just trying to send gets through.
    assert Judgment.objects.count() < 3
    one.context.set_offline(False)
    tabs = [one.context.new_page() for _ in range(2)]
    for tab in tabs:
        tab.goto(f"{one.address}/annotate/segment-da/")
    for tab in tabs:
        expect(tab.locator("#outbox")).to_be_hidden()
    tabs[0].goto(f"{one.address}/annotate/segment-da/")
    expect_item(tabs[0], "Item 4 of 6")
    assert stored() == [(1, 41, 1), (2, 42, 1), (3, 43, 1)]


def test_a_campaign_that_closed_meanwhile_keeps_what_it_does_not_take(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    plant_texts(4)
    one = visitor()
    page = start(one)
    wait_for_screens(page)
    one.context.set_offline(True)
    for number in (1, 2):
        expect_item(page, f"Item {number} of 4")
        press(page, "5", "Enter")
    Campaign.objects.update(status=Campaign.Status.CLOSED)
    one.context.set_offline(False)
    lines = page.locator("#outbox li")
    expect(lines).to_have_count(2)
    expect(lines.first).to_contain_text("This campaign is closed")
    assert not Judgment.objects.exists()
    assert not Assignment.objects.exclude(completed_at=None).exists()


def test_a_session_that_ended_meanwhile_is_said_and_nothing_is_lost(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    plant_texts(5)
    one = visitor()
    page = start(one)
    wait_for_screens(page)
    one.context.set_offline(True)
    for number in (1, 2):
        expect_item(page, f"Item {number} of 5")
        press(page, "6", str(number), "Enter")
    expect_item(page, "Item 3 of 5")
    one.context.clear_cookies()
    one.context.set_offline(False)
    expect(page.get_by_role("alert").first).to_contain_text("You are signed out")
    Visitor(one.context, one.address).sign_in("annotator-1")
    expect(page.locator("#outbox")).to_be_hidden()
    assert stored() == [(1, 61, 1), (2, 62, 1)]


def test_back_to_an_answer_that_waits_and_it_is_changed(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    """A failure pulls nobody away; a change after the answer went out becomes a revision."""
    plant_texts(4)
    page = start(visitor().without_retries())
    wait_for_screens(page)
    break_server(page)
    press(page, "8", "Enter")
    expect_item(page, "Item 2 of 4")
    expect(page.get_by_text(WAITS)).to_be_visible()
    expect(page.locator(".where progress")).to_have_js_property("value", 1)
    expect(page.locator(".where progress")).to_have_text("1 of 4")
    page.go_back()
    expect_item(page, "Item 1 of 4")
    expect(page.get_by_role("slider")).to_have_attribute("aria-valuetext", re.compile("^80%"))
    wait_for_screens(page)
    page.get_by_role("button", name="Send now").click()
    expect(page.get_by_role("alert")).to_contain_text("could not save the rating")
    press(page, "3")
    page.unroute("**/item/**")
    page.get_by_role("button", name="Send now").click()
    expect(page.locator("[name=revision]")).to_have_value("1")
    assert stored() == [(1, 80, 1)]
    expect(page.get_by_role("slider")).to_have_attribute("aria-valuetext", re.compile("^30%"))
    page.get_by_role("slider").focus()
    press(page, "Enter")
    expect_item(page, "Item 2 of 4")
    expect(page.locator("#outbox")).to_be_hidden()
    assert stored() == [(1, 80, 1), (1, 30, 2)]


def test_a_revision_leads_back_to_the_item_left_open(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    plant_texts(4)
    page = start(visitor())
    wait_for_screens(page)
    press(page, "8", "Enter")
    expect_item(page, "Item 2 of 4")
    with page.expect_response("**/ahead/**"):
        page.go_back()
    expect_item(page, "Item 1 of 4")
    press(page, "4", "Enter")
    expect_item(page, "Item 2 of 4")
    press(page, "5", "Enter")
    expect_item(page, "Item 3 of 4")
    assert stored() == [(1, 80, 1), (1, 40, 2), (2, 50, 1)]


def test_a_reply_that_is_lost_while_work_goes_on(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    plant_texts(3)
    page = start(visitor().without_retries())
    wait_for_screens(page)
    page.route("**/item/**", lambda route: (route.fetch(), route.abort()), times=1)
    press(page, "8", "Enter")
    expect_item(page, "Item 2 of 3")
    expect(page.get_by_text(WAITS)).to_be_visible()
    press(page, "9", "Enter")
    expect_item(page, "Item 3 of 3")
    expect(page.locator("#outbox")).to_be_hidden()
    assert stored() == [(1, 80, 1), (2, 90, 1)]


def test_a_double_click_submits_one_screen_of_those_ahead(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    """Without a connection the next screen is there at once, with its button in the same place."""
    texts = [f"Sentence {number} is here." for number in range(4)]
    plant("mqm", sources=texts, outputs=[texts])
    one = visitor().without_retries()
    page = start(one)
    wait_for_screens(page)
    one.context.set_offline(True)
    page.get_by_role("button", name="No errors – submit").click()
    expect_item(page, "Item 2 of 4")
    page.get_by_role("button", name="No errors – submit").dblclick(delay=200)
    expect_item(page, "Item 3 of 4")
    expect(page.get_by_text("2 ratings are waiting to be sent.")).to_be_visible()
    one.context.set_offline(False)
    wait_until_sent(page)
    expect_item(page, "Item 3 of 4")
    assert Judgment.objects.count() == 2


def test_an_item_that_is_gone_holds_up_no_other_answer(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    """Its campaign was deleted: that answer is named, and those to another campaign are stored."""
    plant_texts(6)
    one = visitor()
    page = start(one)
    break_server(page)
    press(page, "3", "Enter")
    expect(page.get_by_text(WAITS)).to_be_visible()
    Assignment.objects.filter(position=0).delete()
    page.unroute("**/item/**")
    page.goto(f"{one.address}/annotate/segment-da/")
    page.locator("#item.is-ready").wait_for()
    wait_for_screens(page)
    for number in (2, 3, 4):
        expect_item(page, f"Item {number} of 5")
        press(page, "5", str(number), "Enter")
    expect_item(page, "Item 5 of 5")
    expect(page.locator("#outbox li")).to_contain_text("no longer assigned to you")
    expect(page.locator("[data-waiting]")).to_be_empty()
    assert stored() == [(2, 52, 1), (3, 53, 1), (4, 54, 1)]


def test_right_behind_practice_work_goes_on_without_a_connection(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    texts = ("One.", "Two.", "Three.")
    campaign = plant("segment-da", sources=texts, outputs=[texts])
    Assignment.objects.filter(position=0).update(item=practice(campaign))
    one = visitor()
    page = start(one)
    press(page, "7", "3", "Enter")
    page.get_by_role("link", name="Next item").click()
    expect_item(page, "Item 2 of 3")
    wait_for_screens(page)
    one.context.set_offline(True)
    press(page, "8", "4", "Enter")
    expect_item(page, "Item 3 of 3")


def practice(campaign: Campaign) -> Item:
    return campaign.items.create(
        kind="tutorial", segment=campaign.test_set.segments.first(), text="One.", low=70, high=90
    )
