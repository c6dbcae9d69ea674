"""What axe-core finds on a page."""

from pathlib import Path
from typing import Any

import axe_playwright_python
from playwright.sync_api import Page

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
OPTIONS = {"runOnly": {"type": "tag", "values": RULES}, "resultTypes": ["violations"]}
EVERY_RULE = {"resultTypes": ["violations"]}
# The live server has the script: a browser reads it once, not half a megabyte a page.
SCRIPT = Path(axe_playwright_python.__file__).with_name("axe.min.js")
ADDRESS = f"/axe/{SCRIPT.name}"
RUN = Path(__file__).with_suffix(".js").read_text("utf-8")
# Looks of texts whose contrast has sufficed on some page.
SUFFICIENT: set[str] = set()


def violations(page: Page, options: dict[str, Any] = OPTIONS) -> list[str]:
    """Rules and the elements that break them."""
    if not page.evaluate("'axe' in window"):
        page.add_script_tag(url=ADDRESS)
    result = page.evaluate(RUN, [options, sorted(SUFFICIENT)])
    assert result["passed"]
    SUFFICIENT.update(result["contrast"])
    found: list[str] = result["found"]
    return found
