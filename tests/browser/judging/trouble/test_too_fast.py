"""Answers faster than anyone can read: the page keeps them, says so, and sends them in time.

How long reading takes is set here, to next to nothing or to an hour and more, so that no test
depends on how fast the machine is.
"""

import os
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Judgment
from core import text
from tests.browser.axe import violations
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

N = 5
TEXTS = tuple(f"Sentence {number} is here." for number in range(N))
TAKE_TIME = "Please take the time to read"


def let_read(monkeypatch: pytest.MonkeyPatch, *, is_long: bool) -> None:
    """A text takes 70 minutes, or no time."""
    monkeypatch.setattr(text, "GENEROUS", 3e-4 if is_long else 1e12)


@pytest.fixture
def long_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    let_read(monkeypatch, is_long=True)


def made() -> None:
    plant("segment-da", sources=TEXTS, outputs=[TEXTS], languages=("de", "en"), speed_rule="slow")


def picture(page: Page, name: str) -> None:
    """For those who want to look: PICTURES names a folder."""
    if folder := os.environ.get("PICTURES"):
        page.screenshot(path=Path(folder) / f"{name}.png")


@pytest.mark.parametrize("is_ahead", [True, False])
@pytest.mark.parametrize(("width", "height"), [(1280, 800), (360, 740)])
def test_the_page_waits_and_then_goes_on(
    visitor: Callable[..., Visitor],
    transactional_db: None,
    monkeypatch: pytest.MonkeyPatch,
    long_reads: None,
    is_ahead: bool,
    width: int,
    height: int,
) -> None:
    made()
    one = visitor(width=width, height=height)
    one.page.clock.install()
    page = start(one if is_ahead else one.without_ahead())
    wait_for_screens(page)
    for key in ("7", "8"):
        # The second time, too, nobody goes past the item.
        press(page, key, "Enter")
        expect(page.get_by_role("alert")).to_contain_text(TAKE_TIME)
        expect(page.get_by_role("button", name="Submit")).not_to_have_attribute(
            "aria-disabled", "true"
        )
    expect_item(page, f"Item 1 of {N}")
    expect(page.locator("#outbox")).to_be_hidden()
    assert violations(page) == []
    picture(page, f"too-fast-{width}")
    assert not Judgment.objects.exists()

    let_read(monkeypatch, is_long=False)
    page.clock.fast_forward("03:00:00")
    expect_item(page, f"Item 2 of {N}")
    wait_until_sent(page)
    assert [judgment.score for judgment in current()] == [80]
    press(page, "5", "Enter")
    expect_item(page, f"Item 3 of {N}")
    assert [judgment.score for judgment in current()] == [80, 50]


def test_what_is_kept_outlives_its_tab_and_is_stored_once(
    visitor: Callable[..., Visitor],
    transactional_db: None,
    monkeypatch: pytest.MonkeyPatch,
    long_reads: None,
) -> None:
    made()
    one = visitor().without_retries()
    page = start(one)
    other = one.context.new_page()
    other.goto(page.url)
    other.locator("#item.is-ready").wait_for()
    press(page, "7", "Enter")
    expect(page.get_by_role("alert")).to_contain_text(TAKE_TIME)
    page.close()
    let_read(monkeypatch, is_long=False)
    other.reload()
    wait_until_sent(other)
    expect_item(other, f"Item 2 of {N}")
    assert [(judgment.score, judgment.revision) for judgment in current()] == [(70, 1)]
    assert Judgment.objects.count() == 1


def test_a_hasty_queue_is_sent_in_its_order(
    visitor: Callable[..., Visitor],
    transactional_db: None,
    monkeypatch: pytest.MonkeyPatch,
    long_reads: None,
) -> None:
    made()
    one = visitor().without_retries()
    page = start(one)
    wait_for_screens(page)
    one.context.set_offline(True)
    for number in (1, 2, 3):
        expect_item(page, f"Item {number} of {N}")
        press(page, str(number), "Enter")
    expect(page.get_by_text("3 ratings are waiting to be sent.")).to_be_visible()
    with page.expect_response(lambda reply: reply.status == 429):
        one.context.set_offline(False)
    # They go on waiting, and whoever continues sees a message.
    expect(page.get_by_text("3 ratings are waiting to be sent.")).to_be_visible()
    press(page, "4", "Enter")
    expect(page.get_by_role("alert")).to_contain_text(TAKE_TIME)
    assert not Judgment.objects.exists()
    let_read(monkeypatch, is_long=False)
    page.get_by_role("button", name="Send now").click()
    wait_until_sent(page)
    expect_item(page, f"Item 5 of {N}")
    rows = Judgment.objects.order_by("pk")
    assert [row.score for row in rows] == [10, 20, 30, 40]
    assert all(one.submitted_at <= other.started_at for one, other in pairwise(rows))


def test_without_scripts_the_form_is_as_it_was(
    visitor: Callable[..., Visitor],
    transactional_db: None,
    monkeypatch: pytest.MonkeyPatch,
    long_reads: None,
) -> None:
    made()
    page = start(visitor(java_script_enabled=False), has_scripts=False)
    page.get_by_label("Your score, from 0 to 100").fill("37")
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("alert")).to_contain_text(TAKE_TIME)
    expect(page.get_by_label("Your score, from 0 to 100")).to_have_value("37")
    picture(page, "too-fast-without-scripts")
    assert not Judgment.objects.exists()
    let_read(monkeypatch, is_long=False)
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("h1")).to_contain_text(f"Item 2 of {N}")
    assert [judgment.score for judgment in current()] == [37]
