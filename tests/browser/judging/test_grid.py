"""Contrastive ESA: a document by several systems in columns, each with errors and a score."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Campaign, Judgment
from tests.browser.axe import EVERY_RULE, violations
from tests.browser.conftest import Visitor
from tests.browser.planting import current, plant, press, spans, start

SOURCES = ("源文一。", "源文二。")
# The emoji is one code point and two UTF-16 units.
OUTPUTS = [("The 😀 quick brown fox.", "It sleeps."), ("A fast brown fox.", "It rests.")]
WIDE, NARROW = (1280, 800), (360, 740)


def grid(visitor: Visitor) -> tuple[Campaign, Page]:
    campaign = plant("contrastive-esa", sources=SOURCES, outputs=OUTPUTS)
    return campaign, start(visitor)


def cells(page: Page):
    return page.locator("[data-cell]")


def test_by_keyboard_alone(visitor: Callable[..., Visitor], transactional_db: None) -> None:
    _, page = grid(visitor(*WIDE))
    text = page.get_by_role("textbox", name="Segment 1 Text 1")
    expect(text).to_be_focused()
    around, caret = text.bounding_box(), cells(page).nth(0).locator(".caret").bounding_box()
    assert around is not None
    assert caret is not None
    assert around["x"] <= caret["x"] <= around["x"] + around["width"]
    assert around["y"] <= caret["y"] <= around["y"] + around["height"]
    press(page, "Control+ArrowRight", "Control+Shift+ArrowRight", "m")
    expect(page.locator("#said")).to_have_text("Marked as Minor: “quick”.")
    press(page, "6")
    expect(page.locator("#value0-")).to_have_text("60% · acceptable")
    # From a text over its token, its error and its slider to the next text.
    press(page, "Tab")
    token = cells(page).nth(0).get_by_role("button", name="Something is missing", exact=True)
    expect(token).to_be_focused()
    press(page, "Shift+M")
    expect(token).to_have_attribute("aria-pressed", "true")
    expect(token).to_be_focused()
    cells(page).nth(0).get_by_role("slider").focus()
    press(page, "Tab", "Tab")
    expect(page.get_by_role("textbox", name="Segment 1 Text 2")).to_be_focused()
    press(page, "9", "Enter")  # with nothing selected Enter in a text tells what to do
    page.locator("h1").click()
    press(page, "Enter")
    expect(page.get_by_role("alert").first).to_contain_text(
        "Segment 2, Text 1: You have not chosen a score"
    )
    expect(cells(page).nth(2).get_by_role("slider")).to_be_focused()
    expect(page.locator("[data-todo]")).to_have_text("2 of 4 rated")
    assert not Judgment.objects.exists()
    press(page, "0")
    page.get_by_role("button", name="Next one without a score").focus()
    press(page, "Enter")
    expect(cells(page).nth(3).get_by_role("slider")).to_be_focused()
    press(page, "1", "0", "0", "Enter")
    page.wait_for_url("**/done/")
    assert [judgment.score for judgment in current()] == [60, 90, 0, 100]
    # The output has 22 code points, and the token follows them.
    assert spans() == [("target", 6, 11, "minor", ""), ("target", 22, 23, "major", "")]
    assert {judgment.sent_together for judgment in current()} == {4}


def test_by_mouse(visitor: Callable[..., Visitor], transactional_db: None) -> None:
    _, page = grid(visitor(*WIDE))
    first, second = cells(page).nth(0), cells(page).nth(1)
    first.locator(".text").dblclick(position={"x": 55, "y": 12})
    expect(first.get_by_role("listitem")).to_have_count(1)
    # What is selected in one text ends what was selected in another.
    box = second.locator(".text").bounding_box() or {}
    page.mouse.move(box["x"] + 5, box["y"] + 12)
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] + 12, steps=3)
    page.mouse.up()
    expect(page.locator("[data-chosen]")).to_contain_text("“A fast")
    first.get_by_role("button", name="Something is missing", exact=True).click()
    page.locator(".mark-button", has_text="Major").click()
    expect(first.get_by_role("listitem")).to_have_count(2)
    expect(second.get_by_role("listitem")).to_have_count(0)
    expect(first.locator(".doubt")).to_be_hidden()
    second.get_by_role("slider").click()
    expect(second.locator(".doubt")).to_be_visible()
    differences = page.get_by_role("button", name="Show differences")
    differences.click()
    expect(differences).to_have_attribute("aria-pressed", "true")  # its script is there
    own = "[...CSS.highlights.get('differs')].map(String)"
    assert page.evaluate(own) == ["The", "quick", "A", "fast", "sleeps", "rests"]
    # Marks are drawn anew, and the differences stay.
    second.get_by_role("button", name="Something is missing", exact=True).click()
    page.locator(".mark-button", has_text="Minor").click()
    expect(second.locator(".doubt")).to_be_hidden()
    page.evaluate("new Promise(requestAnimationFrame)")
    assert page.evaluate(own) == ["The", "quick", "A", "fast", "sleeps", "rests"]


def test_on_a_phone_by_touch(visitor: Callable[..., Visitor], transactional_db: None) -> None:
    _, page = grid(visitor(*NARROW, has_touch=True))
    assert page.evaluate("document.documentElement.scrollWidth") == NARROW[0]
    boxes = [cells(page).nth(n).bounding_box() or {} for n in range(2)]
    assert boxes[0]["x"] == boxes[1]["x"]
    assert boxes[1]["y"] >= boxes[0]["y"] + boxes[0]["height"]
    cells(page).nth(0).locator(".text").tap(position={"x": 80, "y": 14})
    major = page.locator(".mark-button", has_text="Major")
    expect(major).to_be_in_viewport()
    major.tap()
    for n in range(4):
        cells(page).nth(n).get_by_role("slider").tap()
    page.get_by_role("button", name="Submit").tap()
    page.wait_for_url("**/done/")
    assert spans() == [("target", 6, 11, "major", "")]


def test_what_was_entered_comes_back(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    _, page = grid(visitor(*WIDE))
    press(page, "Control+Shift+ArrowRight", "m", "7")
    cells(page).nth(3).get_by_role("slider").focus()
    press(page, "3")
    cells(page).nth(2).get_by_role("button", name="Something is missing", exact=True).focus()
    press(page, "m")
    cells(page).nth(2).get_by_text("Comment or flag").click()
    cells(page).nth(2).get_by_label("Comment", exact=True).fill("Odd.")
    page.reload()
    page.locator("#item.is-ready").wait_for()
    expect(page.get_by_text("Your earlier entries have been restored.")).to_be_visible()
    assert [page.locator(f"[name='{n}-score']").input_value() for n in range(4)] == [
        "70", "", "", "30",
    ]  # fmt: skip
    expect(cells(page).nth(0).get_by_role("listitem")).to_have_count(1)
    expect(cells(page).nth(2).get_by_role("listitem")).to_contain_text("Something is missing")
    expect(cells(page).nth(2).get_by_label("Comment", exact=True)).to_have_value("Odd.")


def test_an_answer_given_is_shown_and_changed(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    campaign, page = grid(visitor(*WIDE))
    press(page, "Control+Shift+ArrowRight", "m")
    for n in range(4):
        cells(page).nth(n).get_by_role("slider").focus()
        press(page, "5")
    press(page, "Enter")
    page.wait_for_url("**/done/")
    first = campaign.items.get(place=0).assignments.get()
    page.goto(page.url.split("/annotate")[0] + f"/item/{first.public_id}/")
    page.locator("#item.is-ready").wait_for()
    expect(cells(page).nth(0).get_by_role("listitem")).to_contain_text("The")
    cells(page).nth(1).get_by_role("slider").focus()
    press(page, "8", "Enter")
    page.wait_for_url("**/done/")
    assert [judgment.score for judgment in current()] == [50, 80, 50, 50]
    assert Judgment.objects.get(is_current=False).score == 50  # what was not changed stands


def test_an_answer_whose_time_is_over_is_shown(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    campaign, page = grid(visitor(*WIDE))
    press(page, "Control+Shift+ArrowRight", "m")
    for n in range(4):
        cells(page).nth(n).get_by_role("slider").focus()
        press(page, "5")
    press(page, "Enter")
    page.wait_for_url("**/done/")
    Campaign.objects.update(edit_minutes=0)
    first = campaign.items.get(place=0).assignments.get()
    page.goto(page.url.split("/annotate")[0] + f"/item/{first.public_id}/")
    page.locator("#item.is-ready").wait_for()
    expect(cells(page).nth(0).get_by_role("listitem")).to_contain_text("The")
    expect(cells(page).nth(0)).to_contain_text("You rated this 50.")
    expect(page.get_by_role("slider")).to_have_count(0)
    expect(page.get_by_role("button", name="Submit")).to_have_count(0)


@pytest.mark.parametrize("size", [NARROW, WIDE])
def test_no_violation(
    visitor: Callable[..., Visitor], transactional_db: None, size: tuple[int, int]
) -> None:
    _, page = grid(visitor(*size))
    press(page, "Control+Shift+ArrowRight", "m", "3")
    cells(page).nth(1).get_by_role("button", name="Something is missing", exact=True).focus()
    press(page, "Shift+M")
    for summary in page.locator("#item summary").all():
        summary.click()
    assert violations(page, EVERY_RULE) == []
