"""The comprehension test, a stop that is answered, the limit of paid time, and a review."""

import os
import uuid
from collections.abc import Callable
from pathlib import Path

from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from annotation.adjudication import disagreements, find
from annotation.models import Adjudication, Annotator, Assignment, Campaign, Judgment, Stop
from annotation.qualification.comprehension import read_lines
from tests.browser.axe import violations
from tests.browser.conftest import Visitor
from tests.browser.planting import expect_item, plant, press
from tests.world import make_user

QUESTIONS = """Two outputs say the same. Which one is better?
- The longer one
* Neither
> Length is not what you rate.

What does 0 mean?
* Nothing of the meaning is there
- I do not know"""


def picture(page: Page, name: str) -> None:
    """For those who want to look: PICTURES names a folder."""
    if folder := os.environ.get("PICTURES"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def fits(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def test_a_test_first_and_a_stop_that_is_heard(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    plant("segment-da", instructions="Rate the meaning.")
    questions = read_lines(QUESTIONS)
    Campaign.objects.update(comprehension=questions, test_attempts=2, instructions="Rate *it*.")
    slug = Campaign.objects.get().slug
    phone = visitor(width=360, height=740)
    phone.enter("annotator-1")
    page = phone.open(f"/annotate/{slug}/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Before you begin")
    # By keyboard alone: the first choice of each question, sent with Enter.
    page.get_by_role("radio").first.focus()
    press(page, "Space", "Tab", "Space", "Enter")
    expect(page.get_by_role("status")).to_contain_text("You answered 1 of 2 questions correctly.")
    expect(page.get_by_text("Length is not what you rate.")).to_be_visible()
    assert (violations(page), fits(page)) == ([], True)
    picture(page, "test-360")
    page.get_by_label("The longer one").check()
    page.get_by_label("I do not know").check()
    page.get_by_role("button", name="Send answers").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Your work has been paused")
    assert (violations(page), fits(page)) == ([], True)
    picture(page, "stopped-360")
    page.get_by_label("Your message").fill("I had misread the second question.")
    page.get_by_role("button", name="Send the message").click()
    expect(page.get_by_role("status")).to_contain_text("Your message has been sent.")

    make_user("boss", "admin")
    office = visitor()
    office.enter("boss")
    desk = office.open(f"/campaigns/{slug}/access/")
    expect(desk.locator(".stops")).to_contain_text("misread the second question")
    picture(desk, "people-1280")
    assert violations(desk) == []
    desk.get_by_label("Answer to").fill("Welcome back.")
    desk.get_by_role("button", name="Continue").click()
    expect(desk.locator(".stops")).to_contain_text("continues")
    assert Stop.objects.get().may_go_on

    Campaign.objects.update(time_cap_seconds=10, hourly_rate="12.00", shows_pay=True)
    page.clock.install()
    phone.open(f"/annotate/{slug}/")
    expect_item(page, "Item 1 of 2")
    expect(page.locator("#item")).to_contain_text("Working time is paid at 12.00 EUR per hour.")
    # Half of ten seconds later the page says that the limit is near.
    page.clock.fast_forward(6_000)
    expect(page.locator("#limit")).to_contain_text("no longer paid")
    picture(page, "limit-360")
    page.get_by_role("slider").focus()
    press(page, "5", "Enter")
    expect_item(page, "Item 2 of 2")
    expect(page.locator("#limit")).to_be_hidden()


def test_a_review_by_keyboard(visitor: Callable[..., Visitor], transactional_db: None) -> None:
    text = "The old harbour was quiet all morning long."
    plant("esa", outputs=[(text, text.replace("morning", "evening"))])
    campaign = Campaign.objects.get()
    Assignment.objects.update(completed_at="2026-03-02T09:00:00Z")
    other = Annotator.objects.create(campaign=campaign, label="Zoe")
    for item in campaign.items.all():
        theirs = Assignment.objects.create(annotator=other, item=item, position=item.pk)
        for row, score in ((item.assignments.order_by("pk").first(), 20), (theirs, 90)):
            made = Judgment.objects.create(assignment=row, score=score, submit_key=uuid.uuid4())
            made.spans.create(side="target", start=4, end=4 + score // 5, severity="major")
    find(campaign=campaign, gap=30, overlap=None)
    make_user("boss", "admin")
    for size in ((1280, 900), (360, 740)):
        office = visitor(width=size[0], height=size[1])
        office.enter("boss")
        desk = office.open(f"/campaigns/{campaign.slug}/adjudication/")
        picture(desk, f"queue-{size[0]}")
        assert (violations(desk), fits(desk)) == ([], True)
        desk.get_by_role("link", name="Decide the next one").click()
        expect(desk.locator("#item.is-ready")).to_be_visible()
        picture(desk, f"review-{size[0]}")
        assert (violations(desk), fits(desk)) == ([], True)
        assert "Zoe" not in desk.locator("main").inner_text()
    press(desk, "1")
    desk.wait_for_url("**answer=1*")
    expect(desk.locator("#item.is-ready .spans > li")).to_have_count(1)
    press(desk, "Enter")
    desk.wait_for_url("**/adjudication/*/")
    expect(desk.locator("main")).to_contain_text("1 of 2 decided")
    stored = Adjudication.objects.get()
    assert (stored.score in (20, 90), len(stored.spans)) == (True, 1)
    assert stored.reviewer == User.objects.get(username="boss")
    Campaign.objects.update(shows_corrections=True)
    reader = visitor(width=360, height=740)
    reader.enter("annotator-1")
    page = reader.open(f"/annotate/{campaign.slug}/history/")
    page.get_by_role("link", name="Decisions").click()
    expect(page.get_by_role("article")).to_have_count(1)
    picture(page, "corrections-360")
    assert (violations(page), fits(page)) == ([], True)
    assert disagreements(campaign).filter(is_decided=True).count() == 1
