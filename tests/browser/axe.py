"""What axe-core finds on a page."""

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
OPTIONS = {"runOnly": {"type": "tag", "values": RULES}, "resultTypes": ["violations"]}
# Two thirds of the time go into contrast, which a narrower window does not change.
LESS_CONTRAST = OPTIONS | {"rules": {"color-contrast": {"enabled": False}}}
SCRIPT = Axe().axe_script
# A table's later rows are like those before them.
RUN = """options =>
  axe.run({exclude: ["tbody tr:nth-child(n+9)"]}, options).then(({violations, passes}) => ({
  passed: passes.length,
  found: violations.flatMap(each =>
    each.nodes.map(node => `${each.id}: ${node.html.slice(0, 150)}`)),
}))"""


def violations(page: Page, options: dict[str, Any] = OPTIONS) -> list[str]:
    """Rules and the elements that break them; half a megabyte of script is read once a page."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(SCRIPT)
    result = page.evaluate(RUN, options)
    assert result["passed"]
    found: list[str] = result["found"]
    return found
