"""A researcher's table goes in by keyboard on a phone's width, and no page excludes anybody."""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from annotation.models import Judgment
from tests.browser.axe import violations
from tests.browser.conftest import Visitor
from tests.world import make_world

TABLE = (
    "wer\tSatz\tSystem\tNote\thyp\tsrc\n"
    "R1\t1\talpha\t4\tThe harbour.\tDer Hafen.\n"
    "R2\t1\talpha\t6\tThe harbour.\tDer Hafen.\n"
)


def fits(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert violations(page) == []


def test_from_the_file_to_the_campaign(visitor: Callable[..., Visitor], tmp_path: Path) -> None:
    make_world()
    path = tmp_path / "pilot.tsv"
    path.write_text(TABLE, encoding="utf-8")
    someone = visitor(360, 800)
    someone.enter("admin")
    page = someone.open("/campaigns/import/")
    fits(page)
    page.get_by_role("heading", name="A table of judgments").click()
    card = page.get_by_role("form", name="A table of judgments")
    card.get_by_label("Tables", exact=True).set_input_files(path)
    card.get_by_label("Source language").fill("de")
    card.get_by_label("Target language").fill("en")
    card.get_by_label("Target language").press("Enter")
    expect(page.get_by_text("No column names the annotators")).to_be_visible()
    fits(page)
    page.get_by_label("wer", exact=True).select_option("annotator")
    page.get_by_label("Satz", exact=True).select_option("segment")
    page.get_by_label("Note", exact=True).select_option("score")
    page.get_by_label("Scale of the scores").fill("0-6")
    page.get_by_role("button", name="Read again").press("Enter")
    expect(page.get_by_text("Mapped 2 scores from 0–6 to 0–100")).to_be_visible()
    fits(page)
    page.get_by_role("button", name="Import 1 campaign").press("Enter")
    page.locator("[href='/campaigns/pilot/']").wait_for()
    fits(page)
    assert list(Judgment.objects.order_by("pk").values_list("score", flat=True)) == [67, 100]
