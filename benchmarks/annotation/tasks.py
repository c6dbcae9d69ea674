"""What six tasks ask of a newcomer: clicks, keys, pages and seconds, in a real browser.

    python -m benchmarks.annotation.tasks --site http://localhost:8000 [--way before]

The site is `manage.py demo`, fresh: the tasks change it. `--way before` goes the way of the pages
before there was a guided one (commit 7edf942), for a site of that time. Seconds are those that the
site and the browser need; nobody reads or thinks.
"""

import argparse
import re
import shutil
import time
from collections.abc import Callable

from playwright.sync_api import Browser, Locator, Page, sync_playwright

from metaeval.repeats import refuse_repeats

PASSWORD = "touchstone-demo"  # noqa: S105 (of the demo, as printed)
RATINGS = (73, 45, 88)
HAND_MS = 150


class ImpossibleError(Exception):
    """A task that the pages of that time have no way to do."""


class Person:
    """Somebody at a browser who counts what they do."""

    def __init__(self, browser: Browser, site: str, name: str) -> None:
        self.page: Page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        self.page.goto(f"{site}/login/")
        self.page.get_by_label("User name").or_(self.page.get_by_label("Username")).fill(name)
        self.page.get_by_label("Password").fill(PASSWORD)
        self.page.keyboard.press("Enter")
        self.page.wait_for_url(lambda url: "login" not in url)
        if name == "admin":
            self.page.goto(f"{site}/campaigns/")
        self.clicks = self.keys = self.pages = 0
        self.page.on("framenavigated", self._turn)

    def _turn(self, frame: object) -> None:
        self.pages += frame == self.page.main_frame

    def link(self, name: str, *, exact: bool = False) -> None:
        """Follow a link."""
        self.click(self.page.get_by_role("link", name=name, exact=exact).first)

    def button(self, name: str) -> None:
        """Press a button."""
        self.click(self.page.get_by_role("button", name=name).first)

    def click(self, what: Locator) -> None:
        """Click, and wait for the page that may come of it."""
        self.clicks += 1
        what.click()
        self.page.wait_for_load_state()

    def type(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            self.keys += 1
            self.page.keyboard.press(key)

    def sees(self, text: str | re.Pattern[str]) -> None:
        """Wait until a text stands there."""
        self.page.get_by_text(text).locator("visible=true").first.wait_for()

    def is_ready(self) -> None:
        """Wait until an item takes keys; nobody presses one in the same moment."""
        self.page.locator("#item.is-ready").wait_for()
        self.page.wait_for_timeout(HAND_MS)


class Now:
    """The ways of today's pages."""

    def opens(self, admin: Person) -> None:
        """Open a campaign over a test set that is there, with three links to send."""
        admin.link("New campaign")
        admin.link("Demo Chinese–English", exact=True)
        admin.button("Next: people")
        admin.button("Add annotators and open campaign")
        admin.sees("The campaign is open")

    def renews(self, admin: Person) -> None:
        """Give the second of them another link."""
        admin.link("People", exact=True)
        row = admin.page.get_by_role("region", name="Table of annotators").get_by_role("row").nth(2)
        admin.click(row.locator("summary"))
        admin.click(admin.page.get_by_role("button", name="New link for A2"))
        admin.sees(re.compile("old link of A2 no longer works"))

    def judges(self, admin: Person) -> None:
        """Find out which annotators of a finished campaign fail the checks."""
        admin.link("Campaigns", exact=True)
        # The list folds the campaigns of a study.
        admin.click(admin.page.locator("[data-unfolds]", has_text="demo"))
        admin.link("Demo Chinese–English, 80%", exact=True)
        admin.link("Monitor", exact=True)
        admin.page.get_by_role("columnheader", name="Verdict").wait_for()

    def rates(self, annotator: Person) -> None:
        """Rate three items with numbers that are no tens."""
        annotator.link("rate translations")
        for place, value in enumerate(RATINGS, 1):
            annotator.sees(f"Item {place} of")
            annotator.is_ready()
            self.enter(annotator, value)
            annotator.type("Enter")
        annotator.sees(f"Item {len(RATINGS) + 1} of")

    def enter(self, annotator: Person, value: int) -> None:
        """Set a number by keys."""
        annotator.type(*str(value))

    def corrects(self, annotator: Person) -> None:
        """Change the first rating, and go on where one was."""
        annotator.is_ready()
        annotator.link("Item 1: rated")
        annotator.sees("Item 1 of")
        annotator.is_ready()
        self.enter(annotator, 50)
        annotator.type("Enter")
        annotator.sees(f"Item {len(RATINGS) + 1} of")

    def reads(self, annotator: Person) -> None:
        """Read the instructions again, with an item open, and go on."""
        annotator.is_ready()
        annotator.type("i")
        annotator.page.get_by_role("dialog").wait_for()
        annotator.type("Escape")


class Before(Now):
    """The ways of the pages before."""

    def opens(self, admin: Person) -> None:
        """Links vanished when the campaign was opened, so they are copied before."""
        admin.link("New campaign")
        admin.link("Demo Chinese–English", exact=True)
        page = admin.page
        admin.click(page.get_by_label("Name", exact=True))
        page.keyboard.type("Harbour")
        admin.keys += len("Harbour")
        for number in range(
            page.get_by_role("group", name="Systems").get_by_role("checkbox").count()
        ):
            box = page.get_by_role("group", name="Systems").get_by_role("checkbox").nth(number)
            if not box.is_checked():
                admin.click(box)
        admin.button("Save as draft")
        admin.link("People", exact=True)
        admin.click(page.get_by_label("How many people"))
        admin.type("Control+A", "3")
        admin.button("Make personal links")
        admin.link("Setup", exact=True)
        admin.button("Open campaign")
        admin.sees("open")

    def renews(self, admin: Person) -> None:
        """The forms stood in the row."""
        admin.link("People", exact=True)
        admin.click(admin.page.get_by_role("button", name="New link for A2"))

    def enter(self, annotator: Person, value: int) -> None:
        """A digit was its ten, arrows went on by one."""
        annotator.type(str(value // 10), *["ArrowRight"] * (value % 10))

    def corrects(self, annotator: Person) -> None:
        """By the list of one's answers."""
        annotator.is_ready()
        annotator.click(annotator.page.get_by_role("link", name=re.compile("rated")))
        annotator.link("the rating of item 1")
        annotator.sees("Item 1 of")
        annotator.is_ready()
        self.enter(annotator, 50)
        annotator.type("Enter")
        annotator.page.wait_for_load_state()
        if "history" in annotator.page.url:
            annotator.link("Continue rating")
        annotator.sees(f"Item {len(RATINGS) + 1} of")

    def reads(self, annotator: Person) -> None:
        """An item's page had none."""
        raise ImpossibleError


def run_task(name: str, person: Person, task: Callable[[Person], None]) -> str:
    """Do a task, and return its line."""
    before = (person.clicks, person.keys, person.pages)
    began = time.perf_counter()
    try:
        task(person)
    except ImpossibleError:
        return f"{name}: cannot be done"
    seconds = time.perf_counter() - began
    now = (person.clicks, person.keys, person.pages)
    clicks, keys, pages = (b - a for a, b in zip(before, now, strict=True))
    return f"{name}: {clicks} clicks, {keys} keys, {pages} pages, {seconds:.1f} s"


def main() -> None:
    """Do all six."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--site", default="http://localhost:8000")
    parser.add_argument("--way", choices=("now", "before"), default="now")
    args = refuse_repeats(parser).parse_args()
    way = Before() if args.way == "before" else Now()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium-headless-shell") or shutil.which("chromium"),
            args=["--no-sandbox"],
        )
        for name, tasks in (
            ("admin", (way.opens, way.renews, way.judges)),
            ("annotator1", (way.rates, way.corrects, way.reads)),
        ):
            person = Person(browser, args.site, name)
            for task in tasks:
                print(run_task(task.__name__, person, task), flush=True)
        browser.close()


if __name__ == "__main__":
    main()
