"""What the item pages of all protocols share: clocks, breaks, practice, width, no scripts."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Assignment, Item, Judgment
from tests.browser.conftest import Visitor
from tests.browser.planting import current, expect_item, plant, press, start

PROTOCOLS = ["segment-da", "document-da", "side-by-side", "esa", "mqm"]
OUTPUTS = [("One two three.", "Four five six.")]


def hide(page: Page, is_hidden: bool) -> None:
    page.evaluate(
        """(isHidden) => {
          Object.defineProperty(document, "hidden", { value: isHidden, configurable: true });
          document.dispatchEvent(new Event("visibilitychange"));
        }""",
        is_hidden,
    )


def test_clocks_count_from_the_first_sight(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    """Reading counts though nothing is touched; being away does not; a pause is not work."""
    plant("esa", outputs=OUTPUTS)
    one = visitor()
    one.page.clock.install()
    page = start(one)
    page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 10)
    page.get_by_role("slider").focus()
    press(page, "7")
    page.clock.fast_forward(20_000)  # reading: visible and active
    press(page, "8")
    page.clock.fast_forward(100_000)  # asleep: 30 seconds of it are active
    hide(page, True)
    page.clock.fast_forward(500_000)  # elsewhere: nothing
    hide(page, False)
    page.clock.resume()
    press(page, "Enter")
    expect_item(page, "Item 2 of 2")
    judgment = current()[0]
    before = judgment.visible_ms - 120_000
    assert 0 < before < 300_000
    assert judgment.active_ms - 50_000 <= before
    # The browser reports more time than passed on the server: stored with a warning, never paid.
    assert judgment.time_doubt == Judgment.TimeDoubt.LONGER
    assert judgment.paid_ms < 100_000


def test_one_is_asked_before_time_stops_counting(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    """Reading for a minute and a half is work; being away is not, and the page says both."""
    plant("segment-da", outputs=OUTPUTS)
    one = visitor()
    one.page.clock.install()
    page = start(one)
    notice = page.locator("#still")
    page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 1)
    page.clock.run_for(61_000)
    expect(notice).to_contain_text("Are you still working?")
    press(page, "7")
    expect(notice).to_be_hidden()
    assert page.evaluate("document.querySelector('.score').value") == "70"
    page.clock.run_for(61_000)
    expect(notice).to_contain_text("Are you still working?")
    page.clock.run_for(30_000)
    expect(notice).to_contain_text("Your time is paused.")
    page.clock.run_for(121_000)
    press(page, "ArrowRight")
    expect(notice).to_contain_text("2:0")
    page.clock.resume()
    with page.expect_request(lambda request: request.method == "POST") as sent:
        press(page, "Enter")
    expect_item(page, "Item 2 of 2")
    expect(notice).to_be_hidden()
    # The server takes it off what it saw itself, which were some real seconds.
    assert "idle_ms=12" in (sent.value.post_data or "")
    assert [(judgment.score, judgment.paid_ms) for judgment in current()] == [(71, 0)]


def test_a_break_counts_nothing_and_keeps_everything(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    plant("segment-da", outputs=OUTPUTS)
    one = visitor()
    one.page.clock.install()
    page = start(one)
    before = page.locator("[name=started]").input_value()
    press(page, "7")
    page.get_by_role("button", name="Take a break").click()
    expect(page.get_by_role("dialog", name="A break")).to_contain_text("Your time is paused")
    page.clock.fast_forward(400_000)
    page.get_by_role("button", name="Continue").click()
    expect(page.locator("[name=started]")).not_to_have_value(before)
    page.get_by_role("slider").focus()
    press(page, "Enter")
    expect_item(page, "Item 2 of 2")
    (judgment,) = current()
    assert (judgment.score, judgment.visible_ms < 100_000) == (70, True)


def test_practice_says_so_and_tells_afterwards(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    campaign = plant("segment-da", outputs=OUTPUTS)
    first = Assignment.objects.get(position=0).item
    Item.objects.filter(pk=first.pk).update(
        kind=Item.Kind.TUTORIAL, low=20, high=40, feedback="The second half is <missing>."
    )
    page = start(visitor())
    expect(page.get_by_text("This is practice,")).to_be_visible()
    press(page, "9", "Enter")
    said = page.get_by_role("region", name="Feedback on your rating")
    expect(said).to_contain_text("You gave 90; a good rating is between 20 and 40.")
    expect(said).to_contain_text("The second half is <missing>.")
    expect_item(page, "Item 1 of 2")
    expect(page.get_by_text("This is practice,")).to_be_hidden()
    expect(page.get_by_role("link", name="Next item")).to_be_focused()
    press(page, "Enter")
    expect_item(page, "Item 2 of 2")
    expect(said).to_be_hidden()
    assert campaign.items.count() == 2


def test_paid_time_is_shown_quietly(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    plant("segment-da", outputs=OUTPUTS)
    page = start(visitor())
    expect(page.get_by_text("Working time")).to_have_count(0)
    press(page, "7", "Enter")
    expect_item(page, "Item 2 of 2")
    Judgment.objects.update(paid_ms=72 * 60_000)
    page.reload()
    expect(page.locator(".sofar")).to_contain_text("1 h 12 min")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_nothing_is_cut_off(
    visitor: Callable[..., Visitor], transactional_db: None, protocol: str
) -> None:
    long = "Donaudampfschifffahrtsgesellschaftskapitänsmützenfabrik " * 4 + "x" * 200
    outputs = [(long, "b")] * (3 if protocol == "side-by-side" else 1)
    plant(protocol, sources=(long, "b"), outputs=outputs)
    page = start(visitor(320, 640))
    if protocol in ("esa", "mqm"):
        press(page, "Shift+End", "m")
    button = page.locator("#item form [type=submit]").last
    for width in (320, 360, 1280):
        page.set_viewport_size({"width": width, "height": 640})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        button.scroll_into_view_if_needed()
        expect(button).to_be_in_viewport()


@pytest.mark.parametrize("protocol", ["segment-da", "document-da", "side-by-side"])
def test_sliders_work_without_scripts(
    visitor: Callable[..., Visitor], transactional_db: None, protocol: str
) -> None:
    outputs = OUTPUTS * 2 if protocol == "side-by-side" else OUTPUTS
    plant(protocol, outputs=outputs)
    one = visitor(java_script_enabled=False)
    page = start(one, has_scripts=False)
    for _ in range(4):
        fields = page.get_by_label("Your score, from 0 to 100")
        button = page.get_by_role("button", name="Submit")
        for field in fields.all():
            field.fill("42")
        with page.expect_event("load"):
            button.click()
        if "done" in page.url:
            break
    assert "done" in page.url
    assert {judgment.score for judgment in current()} == {42}
    assert Judgment.objects.count() == Assignment.objects.count()


@pytest.mark.parametrize("protocol", ["esa", "mqm"])
def test_marking_without_scripts_is_not_offered(
    visitor: Callable[..., Visitor], transactional_db: None, protocol: str
) -> None:
    plant(protocol, outputs=OUTPUTS)
    page = start(visitor(java_script_enabled=False), has_scripts=False)
    expect(page.get_by_text("Marking errors requires JavaScript")).to_be_visible()
    expect(page.get_by_role("button", name="Submit")).to_have_count(0)
