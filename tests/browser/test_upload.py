"""A researcher's own table through the upload page: odd names, corrections, and the way back."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from annotation.access import ADMIN
from annotation.models import Output, TestSet
from tests.browser.axe import violations
from tests.browser.conftest import Visitor
from tests.world import make_user

TABLE = (
    "Satz,docid,Quelltext,human ref,Online-B,opus\n"
    "s1,n1,Er sagt &quot;ja&quot;,He says yes,He says &quot;yes&quot;,Yes he says\n"
    "s2,n1,Es regnet seit gestern,It has rained since yesterday,It rains since yesterday,Rain\n"
    "s3,n2,Der Hund schläft,The dog sleeps,The dog is asleep,Dog sleeps\n"
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "haus.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


def sign_in(visitor: Callable[..., Visitor], width: int) -> Page:
    make_user("admin", ADMIN)
    visiting = visitor(width=width)
    visiting.enter("admin")
    return visiting.open("/testsets/upload/")


def fill(page: Page, table: Path) -> None:
    page.get_by_label("Name").fill("Haus")
    page.get_by_label("Source language").fill("German")
    page.get_by_label("Target language").fill("Englsh")
    page.locator("summary", has_text="Description").click()
    page.get_by_label("Description").fill("By hand")
    page.get_by_label("Tables", exact=True).set_input_files(table)
    page.get_by_role("button", name="Check the files").click()


def no_sideways_scrolling(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("width", [1280, 360])
def test_a_table_of_odd_names(visitor: Callable[..., Visitor], table: Path, width: int) -> None:
    page = sign_in(visitor, width)
    fill(page, table)

    expect(page.get_by_text("The closest are English (en)")).to_be_visible()
    expect(page.get_by_label("Table: haus.csv")).to_be_checked()
    expect(page.get_by_label("Description")).to_have_value("By hand")
    assert violations(page) == []
    no_sideways_scrolling(page)
    page.get_by_label("Target language").fill("English")
    page.get_by_role("button", name="Check the files").click()

    expect(
        page.get_by_text("The columns human ref, Online-B and opus are not used.")
    ).to_be_visible()
    expect(page.get_by_label("docid")).to_have_value("document")
    assert violations(page) == []
    no_sideways_scrolling(page)
    page.get_by_label("Satz").select_option("segment")
    page.get_by_label("Quelltext").select_option("source")
    page.get_by_label("human ref").select_option("reference")
    page.get_by_label("Online-B").select_option("outputs of the system “Online-B”")
    page.get_by_label("opus").select_option("outputs of the system “opus”")
    page.get_by_role("button", name="Read again").click()

    expect(page.get_by_text("1 segment contains HTML entities such as &quot;")).to_be_visible()
    store, read = (
        page.get_by_role("button", name=name) for name in ("Store test set", "Read again")
    )
    expect(store).to_be_visible()
    expect(read).to_be_hidden()
    page.get_by_label("Decode HTML entities").check()
    expect(store).to_be_hidden()
    page.get_by_label("Decode HTML entities").uncheck()
    expect(store).to_be_visible()
    page.get_by_label("Decode HTML entities").check()
    page.get_by_role("button", name="Read again").click()
    page.locator("details.note > summary").click()
    expect(page.get_by_text("Decoded HTML entities in 2 texts")).to_be_visible()
    assert violations(page) == []
    no_sideways_scrolling(page)

    page.get_by_role("link", name="Change the names or the files").click()
    expect(page.get_by_label("Name")).to_have_value("Haus")
    expect(page.get_by_label("Source language")).to_have_value("German")
    expect(page.get_by_label("Table: haus.csv")).to_be_checked()
    page.get_by_label("Name").fill("Haus 2")
    page.get_by_role("button", name="Check the files").click()
    page.get_by_role("button", name="Store test set and set up a campaign").click()

    expect(
        page.get_by_text("Created “Haus 2”. Segments: 3, systems: 2, outputs: 6.")
    ).to_be_visible()
    assert TestSet.objects.get().name == "Haus 2"
    assert Output.objects.filter(text='He says "yes"', system__name="Online-B").exists()


def test_the_browsers_way_back_keeps_what_was_typed(
    visitor: Callable[..., Visitor], table: Path
) -> None:
    page = sign_in(visitor, 1280)
    page.get_by_label("Name").fill("Haus")
    page.get_by_label("Source language").fill("German")
    page.get_by_label("Target language").fill("English")
    page.get_by_label("Tables", exact=True).set_input_files(table)
    page.get_by_role("button", name="Check the files").click()
    page.get_by_text("The columns human ref").wait_for()
    page.go_back()
    expect(page.get_by_label("Name")).to_have_value("Haus")
    expect(page.get_by_label("Source language")).to_have_value("German")
    page.get_by_role("button", name="Check the files").click()
    expect(
        page.get_by_text("The columns human ref, Online-B and opus are not used.")
    ).to_be_visible()
