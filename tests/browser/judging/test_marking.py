"""How errors are marked: whole words by pointer, exactly by keys, categories as a tree."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import EVERY_RULE, violations
from tests.browser.conftest import Visitor
from tests.browser.judging.test_protocols_spans import box_of, opened, submit
from tests.browser.planting import expect_item, plant, press, spans, start

TEXT = "The old fish-market, near the harbour."
CHOSEN = "[data-chosen]"


def sweep(page: Page, text: str, first: str, last: str) -> None:
    """Drag from within one stretch of a text into another."""
    one, other = box_of(page, text, first), box_of(page, text, last)
    begin, end = (0.3, 0.8) if text.index(first) <= text.index(last) else (0.8, 0.3)
    page.mouse.move(one["x"] + one["width"] * begin, one["y"] + one["height"] / 2)
    page.mouse.down()
    page.mouse.move(other["x"] + other["width"] * end, other["y"] + other["height"] / 2, steps=4)
    page.mouse.up()


@pytest.mark.parametrize(
    ("text", "language", "first", "last", "wanted"),
    [
        (TEXT, "en", "old", "market", "old fish-market"),
        (TEXT, "en", "market", "old", "old fish-market"),  # backwards
        ("Sie läuft schnell.", "de", "läuft", "läuft", "läuft"),
        ("وصلت السفينة إلى الميناء.", "ar", "السفينة", "الميناء", "السفينة إلى الميناء"),
        ("港口很安静的早晨。", "zh", "安", "早", "安静的早"),  # character by character
        ("It can't float.", "en", "can", "can", "can't"),
    ],
)
def test_a_drag_takes_whole_words(
    visitor: Callable[..., Visitor],
    transactional_db: None,
    text: str,
    language: str,
    first: str,
    last: str,
    wanted: str,
) -> None:
    page = opened(visitor, text, language)
    sweep(page, text, first, last)
    expect(page.locator(CHOSEN)).to_have_text(f"“{wanted}”")
    assert page.evaluate("String(getSelection())") == wanted
    page.get_by_role("button", name="Major").click()
    submit(page, "Item 2 of 2")
    ((_, begin, end, *_),) = spans()
    assert text[begin:end] == wanted


def test_whole_words_can_be_switched_off_for_good(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    one = visitor()
    plant("esa", outputs=[(TEXT, "Next.")])
    page = start(one)
    whole = page.get_by_role("button", name="Whole words")
    expect(whole).to_have_attribute("aria-pressed", "true")
    whole.click()
    sweep(page, TEXT, "old", "market")
    expect(page.locator(CHOSEN)).not_to_have_text("“old fish-market”")
    page.reload()
    page.locator("#item.is-ready").wait_for()
    expect(whole).to_have_attribute("aria-pressed", "false")


def test_a_double_click_marks_a_word_and_nothing_overlaps_after_removal(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    page = opened(visitor, TEXT)
    box = box_of(page, TEXT, "old")
    place = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.dblclick(*place)
    minor = page.get_by_role("button", name="old Minor")
    expect(minor).to_be_visible()
    press(page, "Shift+M")  # still taken: the same word, otherwise
    expect(page.get_by_role("button", name="old Major")).to_be_visible()
    page.mouse.dblclick(*place)  # what is marked is not marked anew
    expect(page.get_by_role("list", name="Marked errors").get_by_role("listitem")).to_have_count(1)
    page.get_by_role("button", name="Delete: old").click()
    expect(page.locator("#rated .mark")).to_have_count(0)
    sweep(page, TEXT, "The", "market")
    page.locator(".mark-button", has_text="Minor").click()
    expect(page.locator("#rated .mark-minor")).to_have_text("The old fish-market")
    expect(page.locator("#rated .mark-many")).to_have_count(0)
    submit(page, "Item 2 of 2")
    assert spans() == [("target", 0, 19, "minor", "")]


def test_what_is_marked_is_said_as_it_is(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    text = "It pays $& and $' for {quote} or {severity} of it."
    page = opened(visitor, text)
    sweep(page, text, "pays", "severity")
    chosen = page.locator(CHOSEN).inner_text()
    assert "$& and $' for {quote} or {severity" in chosen
    page.locator(".mark-button", has_text="Major").click()
    expect(page.locator("#said")).to_have_text(f"Marked as Major: {chosen}.")


def test_categories_by_touch_on_a_phone(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    plant("mqm", outputs=[("One two.", "Three four.")])
    page = start(visitor(360, 740, has_touch=True, is_mobile=True))
    page.locator("#rated .text").tap(position={"x": 15, "y": 14})
    page.locator(".mark-button", has_text="Major").tap()
    tree = page.get_by_role("group", name="Category")
    tree.get_by_role("button", name="Locale convention").tap()
    expect(tree.get_by_role("button", name="Locale convention")).to_have_attribute(
        "aria-expanded", "true"
    )
    assert violations(page, EVERY_RULE) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    tree.get_by_role("button", name="Currency format").tap()
    expect(tree).to_be_hidden()
    page.get_by_role("button", name="Submit").tap()
    expect_item(page, "Item 2 of 2")
    # What was used last is on top, one key away.
    press(page, "Control+Shift+ArrowRight", "m", "0")
    expect(page.get_by_role("button", name="Locale convention: Currency format")).to_be_visible()
    # A second tap at one place would count as the other half of a double one.
    page.get_by_role("button", name="Submit").press("Enter")
    page.wait_for_url("**/done/")
    assert [span[3:] for span in spans()] == [
        ("major", "locale/currency"), ("minor", "locale/currency"),
    ]  # fmt: skip
