"""What is in reach without leaving an item: instructions, practice, the scale, all own items."""

from collections.abc import Callable
from itertools import pairwise

import pytest
from playwright.sync_api import expect

from annotation.models import Assignment, Item, Judgment
from tests.browser.axe import EVERY_RULE, violations
from tests.browser.conftest import Visitor
from tests.browser.planting import current, expect_item, plant, press, start

PROTOCOLS = ["segment-da", "document-da", "side-by-side", "esa", "mqm", "contrastive-esa"]
TWO = [("One two.", "Three four."), ("Five six.", "Seven eight.")]
TOLD = "Read to **the end**."


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_instructions_on_a_key_and_a_button(
    visitor: Callable[..., Visitor], transactional_db: None, protocol: str
) -> None:
    has_systems = protocol in ("side-by-side", "contrastive-esa")
    plant(protocol, outputs=TWO if has_systems else TWO[:1], instructions=TOLD)
    page = start(visitor(360, 740))
    if protocol == "mqm":
        press(page, "Control+Shift+ArrowRight", "m", "Escape")
    else:
        press(page, "7", "3")
    before = page.evaluate("[...new FormData(document.querySelector('#item form'))].join()")
    focused = page.evaluate("document.activeElement.outerHTML")
    dialog = page.get_by_role("dialog", name="Instructions")
    press(page, "i")
    expect(dialog).to_contain_text("Read to the end.")
    press(page, "Escape")
    expect(dialog).to_be_hidden()
    assert page.evaluate("document.activeElement.outerHTML") == focused
    page.mouse.wheel(0, 4_000)
    page.get_by_role("button", name="Instructions").click()
    expect(dialog).to_contain_text("Read to the end.")
    assert violations(page, EVERY_RULE) == []
    dialog.get_by_role("button", name="Close").click()
    assert page.evaluate("[...new FormData(document.querySelector('#item form'))].join()") == before
    assert not Judgment.objects.exists()


def test_practice_can_be_read_again(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    plant("segment-da", outputs=TWO[:1])
    first = Assignment.objects.get(position=0).item
    Item.objects.filter(pk=first.pk).update(
        kind=Item.Kind.TUTORIAL, low=20, high=40, feedback="The second half is missing."
    )
    page = start(visitor())
    press(page, "9", "Enter")
    page.get_by_role("link", name="Next item").click()
    expect_item(page, "Item 2 of 2")
    expect(page.get_by_role("link", name="Item 1: rated")).to_be_visible()
    press(page, "i")
    dialog = page.get_by_role("dialog", name="Instructions")
    for words in ("One two.", "You gave 90", "The second half is missing.", "some of it"):
        expect(dialog).to_contain_text(words)


def test_any_own_item_in_one_click(visitor: Callable[..., Visitor], transactional_db: None) -> None:
    plant("segment-da", sources=["源文。"] * 6, outputs=[[f"Text {n}." for n in range(1, 7)]])
    page = start(visitor(360, 740))
    press(page, "4")  # typed and not sent: it is here again when one comes back
    page.get_by_role("link", name="Item 5: not rated yet").click()
    expect_item(page, "Item 5 of 6")
    expect(page.locator("#rated")).to_contain_text("Text 5.")
    page.get_by_role("slider").focus()
    press(page, "9", "Enter")
    expect_item(page, "Item 6 of 6")  # work goes on from there, and then with what is open
    press(page, "2", "Enter")
    expect_item(page, "Item 1 of 6")
    expect(page.get_by_role("slider")).to_have_attribute("aria-valuetext", "40% · some of it")
    press(page, "Enter")
    expect_item(page, "Item 2 of 6")
    # By keyboard: one stop, then arrows.
    page.get_by_role("link", name="Item 2: not rated yet").focus()
    press(page, "ArrowLeft", "Enter")
    expect_item(page, "Item 1 of 6")
    expect(page.get_by_text("You rated this item 40")).to_be_visible()
    page.get_by_role("slider").focus()
    press(page, "6", "Enter")
    expect_item(page, "Item 2 of 6")
    assert [judgment.score for judgment in current()] == [60, 90, 20]
    assert Judgment.objects.get(is_current=False).score == 40


@pytest.mark.parametrize("width", [1280, 360])
def test_the_scale_says_what_scores_mean(
    visitor: Callable[..., Visitor], transactional_db: None, width: int
) -> None:
    plant("esa", outputs=TWO[:1], length_ratio=1)
    page = start(visitor(width, 800))
    press(page, "3")
    slider = page.get_by_role("slider")
    # The words are those of the nearest mark, also where that is above.
    expect(slider).to_have_attribute("aria-valuetext", "30% · some of the meaning")
    slider.focus()
    press(page, "End")
    expect(page.locator("output").first).to_have_text("100% · perfect")
    words = page.locator(".words button")
    expect(words.last).to_contain_text("perfect")
    boxes = [word.bounding_box() or {} for word in words.all()]
    assert len(boxes) == 4
    for one, other in pairwise(boxes):  # nothing lies over anything else
        is_beside = one["x"] + one["width"] <= other["x"] + 1
        assert is_beside or one["y"] + one["height"] <= other["y"] + 1
    cut = "(words) => words.filter((word) => word.scrollWidth > word.clientWidth + 1).length"
    assert words.evaluate_all(cut) == 0
    # A mark is where the thumb is at its score.
    mark = page.locator(".marks i").first.bounding_box() or {}
    box = slider.bounding_box() or {}
    assert abs(mark["x"] - (box["x"] + 14 + (box["width"] - 28) * 0.33)) < 2


@pytest.mark.parametrize(("width", "height"), [(1366, 650), (1280, 800), (360, 740)])
def test_submit_is_in_sight_once_all_scales_are_rated(
    visitor: Callable[..., Visitor], transactional_db: None, width: int, height: int
) -> None:
    plant("adequacy-fluency", outputs=TWO[:1])
    page = start(visitor(width, height))
    for slider in page.get_by_role("slider").all():
        slider.focus()
        press(page, "3")
    page.evaluate("scrollTo(0, 0)")
    expect(page.get_by_role("button", name="Submit")).to_be_in_viewport(ratio=1)


def test_the_source_stays_in_sight_on_a_phone(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    long = "One two three four five six seven eight nine ten. " * 12
    plant("contrastive-esa", sources=["源文。" * 60, "源文二。"], outputs=[(long, "b")] * 3)
    page = start(visitor(360, 740))
    assert (page.locator(".where").bounding_box() or {})["height"] < 60
    assert (page.locator("header.site").bounding_box() or {})["height"] < 60
    page.locator("[data-cell]").nth(2).get_by_role("slider").scroll_into_view_if_needed()
    source = page.locator(".source").first
    expect(source).to_be_in_viewport()
    assert (source.bounding_box() or {})["height"] <= 740 * 0.25 + 1
    expect(source).to_have_attribute("tabindex", "0")  # scrolls in itself, by keyboard too
