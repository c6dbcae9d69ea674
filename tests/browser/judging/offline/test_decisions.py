"""Answers of one person from two browsers, and answers on their way to a slow server."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from annotation.models import Judgment
from tests.browser.axe import EVERY_RULE, violations
from tests.browser.conftest import Visitor
from tests.browser.planting import (
    current,
    expect_item,
    plant,
    press,
    start,
    wait_for_screens,
    wait_until_sent,
)

MakeVisitor = Callable[..., Visitor]
N = 8
TEXTS = tuple(f"Sentence {number} is here." for number in range(1, N + 1))


def rate_seven(page: Page, tens: str) -> None:
    for number in range(1, N):
        expect_item(page, f"Item {number} of {N}")
        press(page, tens, str(number), "Enter")
    expect_item(page, f"Item {N} of {N}")


@pytest.mark.database
@pytest.mark.parametrize("saves", [True, False])
def test_two_browsers_take_one_decision(
    visitor: MakeVisitor, transactional_db: None, saves: bool
) -> None:
    plant("segment-da", sources=TEXTS, outputs=[TEXTS])
    first, second = visitor(), visitor()
    pages = [start(one) for one in (first, second)]
    for page in pages:
        wait_for_screens(page)
    for one, tens in ((first, "2"), (second, "3")):
        one.context.set_offline(True)
        rate_seven(one.page, tens)
    first.context.set_offline(False)
    wait_until_sent(first.page)
    second.context.set_offline(False)
    page = second.page
    expect(page.locator("#outbox li")).to_have_count(7)
    expect(page.get_by_text("Ratings that were not saved: 7.")).to_be_visible()
    assert violations(page, EVERY_RULE) == []
    assert [judgment.score for judgment in current()] == [21, 22, 23, 24, 25, 26, 27]
    if saves:
        page.get_by_role("button", name="Save all of them instead").click()
    else:
        page.get_by_role("button", name="Discard all of them").click()
        assert page.locator("#outbox li").count() == 7
        page.get_by_role("button", name="Discard permanently?").first.click()
    wait_until_sent(page)
    tens = 30 if saves else 20
    assert [judgment.score for judgment in current()] == [tens + n for n in range(1, N)]
    assert Judgment.objects.count() == (14 if saves else 7)
    page.reload()
    expect_item(page, f"Item {N} of {N}")
    expect(page.locator("#outbox")).to_be_hidden()


def hold_answer(page: Page) -> list[Route]:
    held: list[Route] = []
    page.route(
        "**/item/**",
        lambda route: held.append(route) if route.request.method == "POST" else route.fallback(),
        times=1,
    )
    return held


def test_work_goes_on_while_an_answer_is_on_its_way(
    visitor: MakeVisitor, transactional_db: None
) -> None:
    plant("segment-da", sources=TEXTS, outputs=[TEXTS])
    page = start(visitor())
    wait_for_screens(page)
    held = hold_answer(page)
    press(page, "4", "1", "Enter")
    expect_item(page, f"Item 2 of {N}")
    sending = page.locator("#sending")
    expect(sending).to_be_visible()
    expect(page.locator("#outbox")).to_be_hidden()
    assert violations(page, EVERY_RULE) == []
    assert not Judgment.objects.exists()
    press(page, "4", "2", "Enter")
    expect_item(page, f"Item 3 of {N}")
    held.pop().continue_()
    wait_until_sent(page)
    expect(sending).to_be_hidden()
    expect_item(page, f"Item 3 of {N}")
    assert [judgment.score for judgment in current()] == [41, 42]


def test_any_request_that_succeeds_sends_what_waits(
    visitor: MakeVisitor, transactional_db: None
) -> None:
    """The browser does not say that it is online again."""
    plant("segment-da", sources=TEXTS, outputs=[TEXTS])
    one = visitor().without_retries()
    page = start(one)
    wait_for_screens(page)
    page.route("**/item/**", lambda route: route.abort())
    page.route("**/ahead/**", lambda route: route.abort())
    press(page, "4", "1", "Enter")
    expect_item(page, f"Item 2 of {N}")
    expect(page.locator("#left")).to_contain_text(f"still rate: {N - 1}.")
    page.unroute("**/item/**")
    page.unroute("**/ahead/**")
    # Back: the screens ahead are asked for anew.
    page.get_by_role("link", name="Item 3: not rated yet").click()
    wait_until_sent(page)
    expect(page.locator("#left")).to_be_hidden()
    assert [judgment.score for judgment in current()] == [41]
