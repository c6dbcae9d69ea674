"""Random clicking does not pass as a result: on no page, and in no file."""

import io
import re
import zipfile
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.axe import violations
from tests.browser.conftest import Visitor
from tests.dashboards.clicking import make_clicked
from tests.world import make_user

CODES = {"impossible_speed", "controls_failed", "agreement_none", "few_systems", "few_segments"}
HEIGHT = 900
PAGES = (
    "results",
    "correlations",
    "significance",
    "systems",
    "dashboard",
    "scatter",
    "whatif",
    "report",
)


def expect_banner_first(page: Page) -> None:
    """The verdict is there, in sight, and above every number."""
    banner = page.locator("#trust section")
    expect(banner).to_contain_text("Do not use")
    expect(banner).to_contain_text("0 of 9 traps")
    expect(banner).to_contain_text("0.3 s per item")
    place = banner.bounding_box()
    assert place is not None
    assert place["y"] < HEIGHT
    for table in page.locator("[data-document] table").all():
        box = table.bounding_box()
        assert box is None or box["y"] > place["y"] + place["height"]


def expect_no_mark(page: Page) -> None:
    """Nothing bold, outlined, ranked or marked."""
    expect(page.locator(".dots .lead")).to_have_count(0)
    expect(
        page.locator("td.best, td .best, td.pa, td.pb, td.pc, td.pd, td.pe, td sup")
    ).to_have_count(0)
    weights = page.locator("[data-document] tbody td").evaluate_all(
        "cells => cells.map(cell => getComputedStyle(cell).fontWeight)"
    )
    assert {int(weight) for weight in weights} <= {400}
    for cell in page.locator("[data-name=rank]").all():
        expect(cell).to_have_text("–")


def test_random_clicks_are_no_result(visitor: Callable[..., Visitor]) -> None:
    make_user("reader", "researcher")
    address = f"/campaigns/{make_clicked().slug}"
    someone = visitor(height=HEIGHT)
    someone.enter("reader")
    for name in PAGES:
        page = someone.open(f"{address}/{name}/")
        expect_banner_first(page)
        expect_no_mark(page)
    page = someone.open(f"{address}/correlations/?statistic=systems")
    expect_no_mark(page)
    expect(page.locator("p[data-name=marks]")).to_contain_text("Nothing is ranked or bold")
    assert violations(page) == []
    mark = page.locator("#trust details", has_text="control items failed")
    mark.locator("summary").press("Enter")
    expect(mark.get_by_role("link", name="Progress and people")).to_be_visible()
    assert violations(page) == []
    files_say_so(someone, address)
    report = someone.open(f"{address}/report.html")
    assert report.locator("article section").first.get_attribute("data-verdict") == "do-not-use"
    assert violations(report) == []


def files_say_so(someone: Visitor, address: str) -> None:
    """JSON has the reasons, LaTeX comments and no bold, the bundle a README that begins so."""
    get = someone.page.request.get
    base = f"{someone.address}{address}"
    for name in ("correlations", "systems", "dashboard", "report"):
        document: dict[str, Any] = get(f"{base}/{name}.json").json()
        assert document["trust"]["verdict"] == "do-not-use"
        assert {reason["code"] for reason in document["trust"]["reasons"]} >= CODES
    for name in ("correlations", "systems", "significance"):
        source = get(f"{base}/{name}.tex").text()
        assert re.search("^% Trust: Do not use", source, re.M)
        assert r"\textbf" not in source
        assert "dagger" not in source.split(r"\begin{tabular}")[1].split(r"\end{tabular}")[0]
    with zipfile.ZipFile(io.BytesIO(get(f"{base}/bundle.zip").body())) as bundle:
        readme = next(name for name in bundle.namelist() if name.endswith("/README.md"))
        assert "**Trust: Do not use" in bundle.read(readme).decode().split("## Reproduce")[0]
