"""The monitor keeps itself fresh while somebody looks, and only then; power by keyboard."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from annotation.campaigns import add_annotators, open_campaign
from annotation.models import Campaign
from tests.annotation.quality.test_monitor import of, rate
from tests.browser.conftest import Visitor
from tests.world import make_world

OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def opened() -> Campaign:
    world = make_world()
    add_annotators(campaign=world.campaign, users=world.annotators)
    return open_campaign(campaign=world.campaign)


def watch(visitor: Callable[..., Visitor], campaign: Campaign, width: int = 1280) -> Page:
    """The monitor, with the page's clock in our hands."""
    somebody = visitor(width=width)
    somebody.enter("researcher")
    somebody.page.clock.install()
    page = somebody.open(f"/campaigns/{campaign.slug}/monitor/")
    page.wait_for_function("window.htmx !== undefined")
    return page


def test_new_answers_appear_without_a_reload(visitor: Callable[..., Visitor]) -> None:
    campaign = opened()
    page = watch(visitor, campaign)
    row = page.get_by_role("row", name="A1")
    expect(row).to_contain_text("not started")
    rate(of(campaign, "A1")[0], 50, comment="No verb.")
    with page.expect_response(lambda answer: "/monitor/" in answer.url):
        page.clock.run_for(10_000)
    expect(row).to_contain_text("active")
    link = page.get_by_role("link", name="1 by A1")
    link.focus()
    for assignment in of(campaign, "A2")[:2]:
        rate(assignment, 50)
    page.clock.run_for(10_000)
    expect(page.get_by_role("row", name="A2")).to_contain_text("active")
    expect(link).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("row", name="A1")).to_contain_text("No verb.")


def test_completion_is_said_aloud(visitor: Callable[..., Visitor]) -> None:
    campaign = opened()
    page = watch(visitor, campaign)
    for label in ("A1", "A2", "A3"):
        for assignment in of(campaign, label):
            rate(assignment, 50)
    page.clock.run_for(10_000)
    expect(page.locator("#monitor-status")).to_have_text("The campaign is complete.")


def test_a_reason_is_not_taken_from_its_writer(visitor: Callable[..., Visitor]) -> None:
    campaign = opened()
    somebody = visitor()
    somebody.enter("admin")
    somebody.page.clock.install()
    page = somebody.open(f"/campaigns/{campaign.slug}/monitor/")
    page.wait_for_function("window.htmx !== undefined")
    row = page.get_by_role("row", name="A1")
    row.get_by_text("Exclude").first.click()
    row.get_by_label("Reason").fill("did not read")
    page.clock.run_for(30_000)
    expect(row.get_by_label("Reason")).to_have_value("did not read")
    row.get_by_role("button", name="Exclude A1").click()
    expect(row).to_contain_text("excluded")
    assert page.url.endswith("/monitor/")


def test_nothing_is_asked_while_the_tab_is_hidden(visitor: Callable[..., Visitor]) -> None:
    campaign = opened()
    page = watch(visitor, campaign)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.evaluate("Object.defineProperty(document, 'hidden', {value: true, configurable: true})")
    asked.clear()  # the page's clock goes on until here
    page.clock.run_for(60_000)
    assert asked == []
    page.evaluate("Object.defineProperty(document, 'hidden', {value: false, configurable: true})")
    with page.expect_request(lambda request: "/monitor/" in request.url):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def test_the_pages_fit_a_phone(visitor: Callable[..., Visitor]) -> None:
    campaign = opened()
    rate(of(campaign, "A1")[0], 50, comment="No verb.")
    page = watch(visitor, campaign, width=360)
    base = page.url.split("/campaigns/")[0]
    for path in ("monitor/", "remarks/", "power/"):
        page.goto(f"{base}/campaigns/{campaign.slug}/{path}")
        assert page.evaluate(OVERFLOW) <= 0, path


def test_power_is_asked_for_by_keyboard(visitor: Callable[..., Visitor]) -> None:
    opened()
    somebody = visitor()
    somebody.enter("researcher")
    page = somebody.open("/power/")
    page.get_by_label("Difference to detect").focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("8")
    page.keyboard.press("Enter")
    expect(
        page.get_by_text("a difference of 8 points between two systems with 80% power")
    ).to_be_visible()
    expect(page.get_by_role("region", name="Power")).to_contain_text("★")
