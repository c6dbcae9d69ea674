"""Every protocol by keyboard alone, from the first item to the last, checked in the database."""

import re
from collections.abc import Callable

from playwright.sync_api import Locator, expect

from annotation.models import Judgment
from tests.browser.conftest import Visitor
from tests.browser.planting import current, expect_item, plant, press, spans, start

SOURCES = ("源文一。", "源文二。")


def test_segment_da(visitor: Callable[..., Visitor], transactional_db: None) -> None:
    plant("segment-da", sources=SOURCES, outputs=[("One.", "Two.")])
    page = start(visitor())
    press(page, "7", "3", "ArrowLeft", "Enter")
    expect_item(page, "Item 2 of 2")
    press(page, "1", "0", "0", "Enter")
    page.wait_for_url("**/done/")
    assert [judgment.score for judgment in current()] == [72, 100]


def test_side_by_side(visitor: Callable[..., Visitor], transactional_db: None) -> None:
    plant("side-by-side", sources=SOURCES, outputs=[("A1.", "A2."), ("B1.", "B2.")])
    page = start(visitor())
    sliders = page.get_by_role("slider")
    press(page, "7", "Enter")  # the second text is not rated yet
    expect(page.get_by_role("alert").first).to_contain_text("You have not chosen a score")
    expect(sliders.nth(1)).to_be_focused()
    assert not Judgment.objects.exists()
    press(page, "7")
    expect(page.locator("[data-ranking] strong")).to_have_text("Text 1 = Text 2")
    press(page, "ArrowRight")
    expect(page.locator("[data-ranking] strong")).to_have_text("Text 2 > Text 1")
    press(page, "Enter")
    expect_item(page, "Items 3–4 of 4")
    expect(sliders.first).to_be_focused()
    press(page, "0", "Tab", "End", "Enter")
    page.wait_for_url("**/done/")
    assert [judgment.score for judgment in current()] == [70, 71, 0, 100]


def test_nobody_rates_what_lies_behind_the_foot(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    long = "Some words of a text that is long. " * 12
    plant("side-by-side", sources=SOURCES, outputs=[(long, "A2."), (long, "B2.")])
    page = start(visitor(800, 500))
    track, foot = page.get_by_role("slider").first, page.locator(".foot")
    page.evaluate("scrollTo(0, 0)")
    assert bottom(track) > 500
    press(page, "7")
    expect(track).to_have_attribute("aria-valuetext", re.compile("^70%"))
    assert bottom(track) <= foot.bounding_box()["y"]  # type: ignore[index]


def bottom(element: Locator) -> float:
    box = element.bounding_box()
    assert box
    return box["y"] + box["height"]


def test_a_document(visitor: Callable[..., Visitor], transactional_db: None) -> None:
    """Enter leads from segment to segment, to what is not rated yet, and submits at the end."""
    plant("document-da", sources=SOURCES, outputs=[("One.", "Two.")])
    one = visitor()
    page = start(one)
    segments = page.locator("[data-cell]")
    expect(segments).to_have_count(3)
    press(page, "8", "Enter")
    expect(segments.nth(1).get_by_role("slider")).to_be_focused()
    expect(page.locator("[data-todo]")).to_have_text("1 of 3 rated")
    press(page, "Enter")  # not left where something is missing
    expect(page.get_by_role("alert").first).to_contain_text(
        "Segment 2: You have not chosen a score"
    )
    expect(segments.nth(1).get_by_role("slider")).to_be_focused()
    # Past a segment and back to it: skipped segments come at the end.
    segments.nth(2).get_by_role("slider").focus()
    press(page, "4", "Enter")
    expect(segments.nth(1).get_by_role("slider")).to_be_focused()
    assert not Judgment.objects.exists()
    press(page, "0", "Enter")
    page.wait_for_url("**/done/")
    assert [judgment.score for judgment in current()] == [80, 0, 40]
    # One of them is changed, and revised alone.
    page = one.open(f"/item/{current()[0].assignment.public_id}/")
    page.locator("#item.is-ready").wait_for()
    expect(segments.nth(0).get_by_role("slider")).to_be_focused()
    press(page, "9", "Enter")
    page.wait_for_url("**/done/")
    assert [judgment.score for judgment in current()] == [90, 0, 40]
    assert Judgment.objects.filter(is_current=False).get().score == 80
    assert all(not judgment.time_doubt for judgment in current())


def test_any_item_of_a_document_shows_all_of_it(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    count = 8
    texts = [f"Sentence {n}. " * 20 for n in range(count)]
    campaign = plant("document-da", sources=texts, outputs=[texts])
    one = visitor()
    start(one)
    asked = campaign.items.get(place=5).assignments.get()
    page = one.open(f"/item/{asked.public_id}/")
    page.locator("#item.is-ready").wait_for()
    segments = page.locator("[data-cell]")
    expect(segments).to_have_count(count + 1)
    expect(segments.nth(5)).to_be_in_viewport()
    expect(segments.nth(0)).not_to_be_in_viewport()
    expect(segments.nth(5).get_by_role("slider")).to_be_focused()


def test_esa(visitor: Callable[..., Visitor], transactional_db: None) -> None:
    plant("esa", sources=SOURCES, outputs=[("The quick brown fox.", "No error here.")])
    page = start(visitor())
    text = page.get_by_role("textbox", name="Black text")
    expect(text).to_be_focused()
    press(page, "m")  # nothing is selected
    expect(page.locator("#said")).to_contain_text("Select words in a text first")
    press(page, "Control+ArrowRight", "Control+Shift+ArrowRight", "m")
    expect(page.locator("#said")).to_have_text("Marked as Minor: “quick”.")
    press(page, "Control+ArrowRight", "Shift+End", "Shift+M")
    expect(page.get_by_role("list", name="Marked errors").get_by_role("listitem")).to_have_count(2)
    # Open the first one by its button, make it major, and come back to the text.
    page.get_by_role("button", name="quick Minor").focus()
    press(page, "Enter", "ArrowRight", "Enter")
    expect(page.get_by_role("button", name="quick Major")).to_be_visible()
    expect(text).to_be_focused()
    # An omission is marked in the source.
    press(page, "Shift+Tab", "End", "Shift+ArrowLeft", "Shift+ArrowLeft", "Enter")
    expect(page.get_by_role("button", name="一。 Minor · in the source")).to_be_visible()
    page.get_by_role("slider").focus()
    press(page, "Enter")
    expect(page.get_by_role("alert").first).to_contain_text("You have not chosen a score")
    press(page, "6", "Enter")
    expect_item(page, "Item 2 of 2")
    press(page, "9")  # digits rate from within a text, too
    page.get_by_role("slider").focus()
    press(page, "Enter")
    page.wait_for_url("**/done/")
    assert [judgment.score for judgment in current()] == [60, 90]
    assert spans() == [
        ("source", 2, 4, "minor", ""),
        ("target", 4, 9, "major", ""),
        ("target", 10, 20, "major", ""),
    ]


def test_mqm(visitor: Callable[..., Visitor], transactional_db: None) -> None:
    plant("mqm", sources=SOURCES, outputs=[("The quick brown fox.", "No error here.")])
    page = start(visitor())
    press(page, "Control+ArrowRight", "Control+Shift+ArrowRight", "Shift+M")
    category = page.get_by_role("group", name="Category")
    expect(category.get_by_role("button", name="Accuracy")).to_be_focused()
    press(page, "Escape")
    page.get_by_role("button", name="Submit").focus()
    press(page, "Enter")  # refused: to the category that is missing
    expect(page.get_by_role("alert").first).to_contain_text("has no category yet")
    expect(category.get_by_role("button", name="Accuracy")).to_be_focused()
    # First level, then second; Backspace goes up again.
    press(page, "1", "Backspace", "2", "3")
    expect(page.get_by_role("textbox", name="Black text")).to_be_focused()
    expect(page.get_by_role("button", name="quick Major · Fluency: Grammar")).to_be_visible()
    expect(page.locator(".penalty")).to_contain_text("5")
    press(page, "End", "Shift+ArrowLeft", "m")
    expect(category.get_by_role("paragraph").first).to_contain_text("Fluency: Grammar")
    press(page, "2", "1")
    expect(page.locator(".penalty")).to_contain_text("5.1")
    page.get_by_role("button", name="Submit").focus()
    press(page, "Enter")
    expect_item(page, "Item 2 of 2")
    # An answer without errors has to be confirmed.
    page.locator("body").click(position={"x": 5, "y": 5})
    press(page, "Enter")
    expect(page.get_by_role("alert").first).to_contain_text("You have not marked any errors")
    expect(page.get_by_role("button", name="No errors – submit")).to_be_focused()
    assert Judgment.objects.count() == 1
    press(page, "Enter")
    page.wait_for_url("**/done/")
    assert [(judgment.score, judgment.penalty) for judgment in current()] == [
        (None, 5.1), (None, 0),
    ]  # fmt: skip
    assert spans() == [
        ("target", 4, 9, "major", "fluency/grammar"),
        ("target", 19, 20, "minor", "fluency/punctuation"),
    ]


def test_help_names_the_keys_of_the_protocol(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    plant("mqm", sources=SOURCES, outputs=[("One.", "Two.")])
    page = start(visitor())
    press(page, "?")
    dialog = page.get_by_role("dialog", name="Rating with the keyboard")
    expect(dialog).to_contain_text("mark as Minor")
    expect(dialog).not_to_contain_text("10 less")
