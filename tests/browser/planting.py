"""Ways through the item page that the browser tests share, and what is stored in the end."""

from contextlib import suppress

from django.urls import reverse
from playwright.sync_api import Error, Page, Route, expect

from annotation.models import Campaign, Judgment
from tests.browser.conftest import PATIENCE, Visitor
from tests.planting import plant

__all__ = [
    "WAITS",
    "break_server",
    "current",
    "expect_item",
    "plant",
    "press",
    "spans",
    "start",
    "wait_for",
    "wait_for_screens",
]


WAITS = "1 rating is waiting to be sent."
POLL_MS = 50


def start(visitor: Visitor, *, has_scripts: bool = True) -> Page:
    """Be signed in, and come to the first item as *Start* leads there."""
    visitor.enter("annotator-1")
    page = visitor.open(reverse("annotate", args=[Campaign.objects.get().slug]))
    if has_scripts:
        page.locator("#item.is-ready").wait_for()
    return page


def break_server(page: Page) -> None:
    """Posts fail as with a dead server; pages still load."""
    page.route("**/item/**", lambda route: refuse_posts(route))


def refuse_posts(route: Route) -> None:
    if route.request.method == "POST":
        route.fulfill(status=503, body="<html>")
    else:
        route.fallback()


def wait_for_screens(page: Page) -> None:
    """Wait until the screens that follow are there."""
    page.wait_for_load_state("networkidle")


def wait_until_sent(page: Page) -> None:
    """Wait until the browser keeps no answer: the bar is hidden already while one is sent."""
    expect(page.locator("#outbox")).to_be_hidden()
    wait_for(
        page,
        """() => new Promise((resolve) => {
          const request = indexedDB.open("touchstone");
          request.onupgradeneeded = () => request.transaction.abort();
          request.onerror = () => resolve(true);
          request.onsuccess = () => {
            const names = request.result.transaction("kept").objectStore("kept").getAllKeys();
            request.result.close(); // once that is done
            names.onsuccess = () =>
              resolve(!names.result.some((name) => name.startsWith("touchstone:answer:")));
          };
        })""",
    )


def wait_for(page: Page, promise: str) -> None:
    """Wait until a function's promise brings true, also past another page.

    Playwright's `wait_for_function` takes the promise itself for true.
    """
    for _ in range(PATIENCE // POLL_MS):
        with suppress(Error):  # the page is on its way to another one
            if page.evaluate(promise):
                return
        page.wait_for_timeout(POLL_MS)
    raise AssertionError(promise)


def press(page: Page, *keys: str) -> None:
    """Press keys one after the other; nothing but the keyboard."""
    for key in keys:
        page.keyboard.press(key)


def current() -> list[Judgment]:
    """The current judgments in the annotator's order."""
    rows = Judgment.objects.filter(is_current=True).order_by("assignment__position")
    return list(rows.prefetch_related("spans"))


def spans() -> list[tuple[object, ...]]:
    """All marked errors of current judgments as (side, start, end, severity, category)."""
    return [
        (span.side, span.start, span.end, span.severity, span.category)
        for judgment in current()
        for span in judgment.spans.all()
    ]


def expect_item(page: Page, title: str) -> None:
    """Wait until the item with this heading has come and works."""
    expect(page.locator("#item.is-ready h1")).to_contain_text(title)
