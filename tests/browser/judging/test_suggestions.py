"""Errors marked beforehand: kept, moved, changed, removed and had back, by keyboard and by hand."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from annotation.models import Campaign, Item, SuggestionFate
from tests.browser.axe import violations
from tests.browser.conftest import Visitor
from tests.browser.planting import expect_item, plant, press, spans, start

TEXT = "The old harbour was quiet 😀 all morning long."
WORDS = {"old": "minor", "quiet": "major", "😀": "minor", "long": "minor"}


def place(word: str) -> tuple[int, int]:
    return TEXT.index(word), TEXT.index(word) + len(word)


def opened(visitor: Callable[..., Visitor], protocol: str = "esa", **options: object) -> Page:
    plant(protocol, outputs=[(TEXT, "Next.")])
    rows = [["target", *place(word), severity, "", ""] for word, severity in WORDS.items()]
    # One of them is planted; nothing on the page may tell.
    rows[1][5] = "planted"
    first = Item.objects.order_by("pk").first()
    Item.objects.filter(pk=first.pk).update(suggestions={"spans": rows, "known": None})
    first.assignments.update(condition="planted")
    Campaign.objects.update(is_prefilled=True)
    return start(visitor(**options))


def submit(page: Page) -> None:
    page.get_by_role("slider").focus()
    press(page, "5", "Enter")
    expect_item(page, "Item 2 of 2")


def fates() -> list[str]:
    return list(SuggestionFate.objects.order_by("number").values_list("fate", flat=True))


def test_by_keyboard_alone(visitor: Callable[..., Visitor], transactional_db: None) -> None:
    page = opened(visitor)
    lines = page.locator(".spans > li")
    expect(lines).to_have_count(4)
    expect(lines.first).to_contain_text("suggested")
    expect(page.locator("#item")).to_contain_text("They can be wrong")
    # “old” is moved to “old harbour”.
    press(page, "Home", *["Control+ArrowRight"] * 1, *["Control+Shift+ArrowRight"] * 2)
    press(page, "v")
    expect(page.locator("#said")).to_contain_text("Moved to “")
    expect(lines.first).to_contain_text("suggested, changed")
    # “quiet” is deleted, and “long” becomes major.
    press(page, "Home", *["ArrowRight"] * TEXT.index("uiet"), "Delete")
    expect(page.locator(".gone li")).to_have_count(1)
    press(page, "End", "ArrowLeft", "ArrowLeft", "Enter", "ArrowDown", "Escape")
    # What is there is kept over a reload, with what it was.
    page.reload()
    expect(page.locator("[data-restored]")).to_be_visible()
    expect(page.locator(".gone li")).to_have_count(1)
    submit(page)
    assert fates() == ["moved", "deleted", "kept", "severity"]
    moved, kept, changed = spans()
    assert TEXT[moved[1] : moved[2]].strip() == "old harbour"
    assert (TEXT[kept[1] : kept[2]], changed[3]) == ("😀", "major")


def test_in_columns(visitor: Callable[..., Visitor], transactional_db: None) -> None:
    """Each text of a grid has its own; what is missing is suggested as a token."""
    outputs = [(TEXT, "Next."), ("Another one.", "And its next.")]
    plant("contrastive-esa", outputs=outputs)
    items = list(Item.objects.order_by("place")[:2])
    first = next(item for item in items if item.output.text == TEXT)
    rows = [["target", *place("old"), "minor", "", ""],
            ["target", len(TEXT), len(TEXT) + 1, "major", "", ""]]  # fmt: skip
    Item.objects.filter(pk=first.pk).update(suggestions={"spans": rows, "known": None})
    Campaign.objects.update(is_prefilled=True)
    page = start(visitor())
    cell = page.locator("[data-cell]").filter(has_text=TEXT[:20]).first
    expect(cell.locator("ol.spans > li")).to_have_count(2)
    expect(page.locator("ol.spans > li")).to_have_count(2)
    assert violations(page) == []
    cell.get_by_role("button", name=re.compile("^Delete: .*issing")).click()
    expect(cell.locator(".gone li")).to_have_count(1)
    assert violations(page) == []
    for slider in page.get_by_role("slider").all():
        slider.focus()
        press(page, "5")
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/done/**")
    assert fates() == ["kept", "deleted"]


def test_by_hand_on_a_phone(visitor: Callable[..., Visitor], transactional_db: None) -> None:
    page = opened(visitor, width=360, height=740, has_touch=True, is_mobile=True)
    page.get_by_role("button", name="Delete: old").tap()
    page.get_by_role("button", name="Delete: long").tap()
    page.get_by_role("button", name="Restore: long").tap()
    expect(page.locator(".gone li")).to_have_count(1)
    page.get_by_role("button", name=re.compile("^quiet")).first.tap()
    page.get_by_role("radio", name="Minor").check()
    page.get_by_role("button", name="Done").tap()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert violations(page) == []
    submit(page)
    assert fates() == ["deleted", "severity", "kept", "kept"]
    # The planted one, changed or not, is no error that somebody found.
    assert [TEXT[each[1] : each[2]] for each in spans()] == ["😀", "long"]
    page.get_by_role("link", name="Back to the previous item").click()
    expect_item(page, "Item 1 of 2")
    expect(page.locator("ol.spans > li")).to_have_count(3)
    expect(page.locator("ol.spans > li").nth(0)).to_contain_text("quiet")
