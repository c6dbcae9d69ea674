"""axe-core finds nothing on the item page of any protocol, at rest and at work."""

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.browser.conftest import Visitor
from tests.browser.planting import plant, press, start


def violations(page: Page) -> list[object]:
    result = Axe().run(page).response
    assert result["passes"]
    return [(each["id"], [node["html"] for node in each["nodes"]]) for each in result["violations"]]


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("protocol", ["segment-da", "document-da", "side-by-side", "esa", "mqm"])
def test_no_violation(
    visitor: Callable[..., Visitor], transactional_db: None, protocol: str, width: int
) -> None:
    plant(protocol, outputs=[("One two.", "Three.")] * (2 if protocol == "side-by-side" else 1))
    page = start(visitor(width, 800))
    if protocol in ("esa", "mqm"):
        # An error of each severity, one over the other, and an editor that is open.
        press(page, "Shift+End", "Shift+M", "Escape", "Home", "Control+Shift+ArrowRight", "m")
        page.get_by_role("button", name="One two. Major").click()
    for summary in page.locator("#item summary").all():
        summary.click()
    assert violations(page) == []
    page.locator("h1").click()
    press(page, "?")
    page.get_by_role("dialog").wait_for()
    assert violations(page) == []
