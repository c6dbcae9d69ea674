"""axe-core finds nothing on the item page of any protocol, at rest and at work."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from tests.browser.axe import EVERY_RULE, violations
from tests.browser.conftest import Visitor
from tests.browser.planting import plant, press, start

WIDE, NARROW = (1280, 800), (360, 800)


def violations_at_all_widths(page: Page) -> list[str]:
    found: list[str] = []
    for width, height in (NARROW, WIDE):
        page.set_viewport_size({"width": width, "height": height})
        found += violations(page, EVERY_RULE)
    return found


@pytest.mark.parametrize("protocol", ["segment-da", "document-da", "side-by-side", "esa", "mqm"])
def test_no_violation(
    visitor: Callable[..., Visitor], transactional_db: None, protocol: str
) -> None:
    plant(protocol, outputs=[("One two.", "Three.")] * (2 if protocol == "side-by-side" else 1))
    page = start(visitor(*WIDE))
    if protocol in ("esa", "mqm"):
        # An error of each severity, one over the other, and an editor that is open.
        press(page, "Shift+End", "Shift+M", "Escape", "Home", "Control+Shift+ArrowRight", "m")
        page.get_by_role("button", name="One two. Major").click()
    for summary in page.locator("#item summary").all():
        summary.click()
    assert violations_at_all_widths(page) == []
    page.locator("h1").click()
    press(page, "?")
    page.get_by_role("dialog").wait_for()
    assert violations_at_all_widths(page) == []
