"""An annotator's page comes without a connection, for its own person alone."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from annotation.models import Annotator, Assignment, Campaign, Judgment
from tests.browser.conftest import Visitor
from tests.browser.judging.offline.conftest import Line
from tests.browser.planting import (
    current,
    expect_item,
    plant,
    press,
    start,
    wait_for,
    wait_for_screens,
    wait_until_sent,
)
from tests.world import make_user

MakeVisitor = Callable[..., Visitor]
TEXTS = tuple(f"Sentence {number} is here." for number in range(1, 7))
PAGES = """async () => {
  const names = (await caches.keys()).filter((name) => name.startsWith("touchstone-pages-"));
  const all = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
  return all.flat().map(({ url }) => new URL(url).pathname);
}"""

# The items that are marked as answered; the second takes the marks away.
ANSWERED = """async () => {
  const found = [];
  for (const name of await caches.keys()) {
    const cache = await caches.open(name);
    for (const each of await cache.keys()) {
      if ((await cache.match(each)).headers.has("X-Answered")) found.push([name, each.url]);
    }
  }
  return found;
}"""
UNMARK = f"""async () => {{
  const found = await ({ANSWERED})();
  for (const [name, url] of found) {{
    const cache = await caches.open(name);
    const headers = {{ "Content-Type": "text/html; charset=utf-8" }};
    await cache.put(url, new Response(await (await cache.match(url)).text(), {{ headers }}));
  }}
  return found;
}}"""

# What was begun and not submitted.
DRAFTS = """async () => {
  const ask = (request) =>
    new Promise((resolve) => (request.onsuccess = () => resolve(request.result)));
  const database = await ask(indexedDB.open("touchstone"));
  const names = await ask(database.transaction("kept").objectStore("kept").getAllKeys());
  database.close();
  return names.filter((name) => name.startsWith("touchstone:draft:"));
}"""


def begin(visitor: MakeVisitor, line: Line) -> tuple[Visitor, Page]:
    """Somebody at the first item, with all that follows in their browser."""
    one = visitor(service_workers="allow")
    one.address = line.address
    page = start(one)
    wait_for_pages(page, len(TEXTS) + 1)
    return one, page


def wait_for_pages(page: Page, count: int) -> None:
    """Wait until `n` screens are cached, with the page around them and its static files."""
    page.evaluate("async () => { await navigator.serviceWorker.ready }")
    expect_kept(page, count)


def expect_kept(page: Page, count: int) -> None:
    wait_for(page, f"async () => (await ({PAGES})()).length === {count}")


def test_a_reload_without_a_connection_shows_the_item_and_loses_nothing(
    visitor: MakeVisitor, line: Line, transactional_db: None
) -> None:
    plant("segment-da", sources=TEXTS, outputs=[TEXTS])
    one, page = begin(visitor, line)
    line.cut()
    for number in (1, 2):
        expect_item(page, f"Item {number} of 6")
        press(page, "4", str(number), "Enter")
    expect_item(page, "Item 3 of 6")
    press(page, "7")
    page.reload()
    expect_item(page, "Item 3 of 6")
    expect(page.get_by_text("Sentence 3 is here.").first).to_be_visible()
    expect(page.get_by_role("slider")).to_have_attribute("aria-valuetext", re.compile("^70%"))
    expect(page.get_by_text("2 ratings are waiting to be sent.")).to_be_visible()
    expect(page.get_by_text("Items that you can still rate: 4.")).to_be_visible()
    press(page, "4", "3", "Enter")
    expect_item(page, "Item 4 of 6")
    wait_for(page, f"async () => (await ({ANSWERED})()).length === 3")
    page.goto(f"{one.address}/annotate/segment-da/")
    expect_item(page, "Item 4 of 6")
    assert not Judgment.objects.exists()
    line.restore()
    page.get_by_role("button", name="Send now").click()
    wait_until_sent(page)
    expect(page.locator("#left")).to_be_hidden()
    for number in (4, 5, 6):
        expect_item(page, f"Item {number} of 6")
        press(page, "4", str(number), "Enter")
    page.wait_for_url("**/done/")
    stored = [(row.assignment.position, row.score) for row in Judgment.objects.order_by("pk")]
    assert stored == [(number, 41 + number) for number in range(6)]
    # The work is over.
    expect_kept(page, 0)


def test_what_a_page_had_no_time_to_mark_as_answered_is_not_shown_again(
    visitor: MakeVisitor, line: Line, transactional_db: None
) -> None:
    plant("segment-da", sources=TEXTS, outputs=[TEXTS])
    one, page = begin(visitor, line)
    line.cut()
    for number in (1, 2):
        expect_item(page, f"Item {number} of 6")
        press(page, "4", str(number), "Enter")
    expect_item(page, "Item 3 of 6")
    wait_for(page, f"async () => (await ({ANSWERED})()).length === 2")
    assert len(page.evaluate(UNMARK)) == 2
    page.reload()
    expect_item(page, "Item 3 of 6")
    wait_for(page, f"async () => (await ({ANSWERED})()).length === 2")
    page.goto(f"{one.address}/annotate/segment-da/")
    expect_item(page, "Item 3 of 6")


def test_how_many_items_are_left_is_said_before_there_are_none(
    visitor: MakeVisitor, transactional_db: None
) -> None:
    plant("segment-da", sources=TEXTS[:3], outputs=[TEXTS[:3]])
    one = visitor()
    page = start(one)
    wait_for_screens(page)
    left = page.locator("#left")
    expect(left).to_be_hidden()
    one.context.set_offline(True)
    expect(left).to_contain_text("still rate: 3.")
    press(page, "4", "1", "Enter")
    expect_item(page, "Item 2 of 3")
    expect(left).to_contain_text("still rate: 2.")
    press(page, "4", "2", "Enter")
    expect_item(page, "Item 3 of 3")
    expect(left).to_contain_text("This is the last item")
    press(page, "4", "3", "Enter")
    expect(left).to_contain_text("More items follow when")
    one.context.set_offline(False)
    page.wait_for_url("**/done/")
    wait_until_sent(page)
    assert [judgment.score for judgment in current()] == [41, 42, 43]


def test_nothing_is_kept_of_somebody_who_signed_out(
    visitor: MakeVisitor, line: Line, transactional_db: None
) -> None:
    plant("segment-da", sources=TEXTS, outputs=[TEXTS])
    one, page = begin(visitor, line)
    address = page.url
    other = one.context.new_page()
    other.goto(address)
    expect_item(other, "Item 1 of 6")
    press(page, "7")
    wait_for(page, f"async () => (await ({DRAFTS})()).length === 1")
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("User name").wait_for()
    expect_kept(page, 0)
    wait_for(page, f"async () => !(await ({DRAFTS})()).length")
    # A page that stayed open goes on, and keeps nothing.
    press(other, "4", "2", "Enter")
    expect(other.get_by_role("alert").first).to_contain_text("You are signed out")
    expect_kept(other, 0)
    line.cut()
    assert fails(page, address)


def fails(page: Page, address: str) -> bool:
    """Whether the browser shows its own error."""
    try:
        page.goto(address)
    except Exception as error:
        return "net::ERR" in str(error)
    return False


def test_nobody_sees_the_pages_of_another_person(
    visitor: MakeVisitor, line: Line, transactional_db: None
) -> None:
    """Also where the second one came in without the sign-in page."""
    campaign = plant("segment-da", sources=TEXTS, outputs=[TEXTS])
    second = Annotator.objects.create(campaign=campaign, user=make_user("annotator-2", "annotator"))
    for row in Assignment.objects.filter(position__lt=2):
        Assignment.objects.create(annotator=second, item=row.item, position=row.position)
    one, page = begin(visitor, line)
    first_address = page.url
    one.enter("annotator-2")
    page.goto(f"{one.address}/annotate/segment-da/")
    expect_item(page, "Item 1 of 2")
    assert page.url != first_address
    own = {f"/item/{row.public_id}/" for row in second.assignments.all()}
    wait_for_pages(page, 3)
    assert set(page.evaluate(PAGES)) == own | {"/annotate/segment-da/"}
    line.cut()
    page.reload()
    expect_item(page, "Item 1 of 2")
    assert fails(page, first_address)


def test_what_the_server_says_comes_first(
    visitor: MakeVisitor, line: Line, transactional_db: None
) -> None:
    plant("segment-da", sources=TEXTS, outputs=[TEXTS])
    one, page = begin(visitor, line)
    address = page.url
    Campaign.objects.update(status=Campaign.Status.CLOSED)
    page.reload()
    expect(page.get_by_text("This campaign is closed")).to_be_visible()
    assert address.removeprefix(one.address) not in page.evaluate(PAGES)
    page.goto(f"{one.address}/annotate/segment-da/")
    expect_kept(page, 0)
    Campaign.objects.update(status=Campaign.Status.OPEN)
    page.goto(address)
    wait_for_pages(page, len(TEXTS) + 1)
    one.context.clear_cookies()
    page.reload()
    page.get_by_label("User name").wait_for()
    expect_kept(page, 0)
