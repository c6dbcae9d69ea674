"""New presets and combinations: an item each by keyboard, by mouse and by touch; and axe-core."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Judgment
from tests.browser.axe import EVERY_RULE, violations
from tests.browser.conftest import Visitor
from tests.browser.judging.test_protocols_axe import violations_at_all_widths
from tests.browser.planting import current, plant, press, spans, start, wait_until_sent

SOURCES = ("源文一。", "源文二。", "源文三。")
ONE = [("The old fish.", "A new boat.", "No fault.")]
TWO = [*ONE, ("That old fish.", "The new boat.", "All well.")]
PHONE: dict[str, Any] = {"width": 360, "height": 740, "has_touch": True, "is_mobile": True}
FISH = ("target", 0, 3, "major", "accuracy/mistranslation")


def click(page: Page, tap: bool, name: str, at: int = 0) -> None:
    """Press a button as a mouse or a finger does."""
    button = page.get_by_role("button", name=name).nth(at)
    button.tap() if tap else button.click()


def mark_side_by_side(page: Page, hand: str) -> None:
    if hand == "keyboard":
        press(page, "Home", "Control+Shift+ArrowRight", "Shift+ArrowLeft", "Shift+M", "1", "3")
        expect(page.locator(".one .penalty").first).to_contain_text("5")
        page.get_by_role("button", name="Submit").focus()
        press(page, "Enter")
        return
    tap = hand == "touch"
    # What is missing from the second text has no place in it.
    click(page, tap, "Something is missing", 1)
    click(page, tap, "Minor")
    for category in ("Accuracy", "Omission"):
        click(page, tap, category, -1)  # before it, the one used last
    click(page, tap, "Submit")


def rate_twice(page: Page, hand: str) -> None:
    if hand == "keyboard":
        press(page, "4", "Enter")  # the second is missing, and named
        expect(page.get_by_role("alert").first).to_contain_text("Fluency: you have not chosen a score")
        press(page, "5", "Enter")
        return
    for slider, share in zip(page.get_by_role("slider").all(), (0.02, 0.98), strict=True):
        box = slider.bounding_box()
        assert box
        place: Any = {"x": box["width"] * share, "y": box["height"] / 2}
        slider.tap(position=place) if hand == "touch" else slider.click(position=place)
    click(page, hand == "touch", "Submit")


def correct(page: Page, hand: str) -> None:
    field = page.get_by_role("textbox", name="Your version")
    if hand == "keyboard":
        expect(field).to_be_focused()
        press(page, "Control+End", "Backspace", "!", "Control+Enter")
        return
    field.tap() if hand == "touch" else field.click()
    press(page, "Control+End", "?")
    click(page, hand == "touch", "Submit")


WAYS: dict[str, tuple[Any, Callable[[Page, str], None]]] = {
    "side-by-side-mqm": (TWO, mark_side_by_side),
    "adequacy-fluency": (ONE, rate_twice),
    "post-editing": (ONE, correct),
}


@pytest.mark.parametrize("preset", WAYS)
def test_by_keyboard_mouse_and_touch(
    visitor: Callable[..., Visitor], transactional_db: None, preset: str
) -> None:
    outputs, answer = WAYS[preset]
    plant(preset, sources=SOURCES, outputs=outputs)
    page = start(visitor())
    assert violations_at_all_widths(page) == []
    page.set_viewport_size({"width": 1280, "height": 800})
    for n, hand in enumerate(("keyboard", "mouse"), 1):
        before = page.url
        answer(page, hand)
        page.wait_for_function("before => location.href !== before", arg=before)
        wait_until_sent(page)
        assert Judgment.objects.count() == n * len(outputs)
    one = visitor(**PHONE)
    one.enter("annotator-1")
    phone = one.open(f"/annotate/{preset}/")
    phone.locator("#item.is-ready").wait_for()
    width = phone.evaluate("document.documentElement.scrollWidth")
    assert width <= 360
    answer(phone, "touch")
    phone.wait_for_url("**/done/")
    check_stored(preset)


def check_stored(preset: str) -> None:
    found = current()
    if preset == "side-by-side-mqm":
        assert [each.penalty for each in found] == [5, 0, 0, 1, 0, 1]
        lengths = [len(TWO[1][n]) for n in (1, 2)]
        missing = [("target", n, n + 1, "minor", "accuracy/omission") for n in lengths]
        assert spans() == [FISH, *missing]
    elif preset == "adequacy-fluency":
        assert [each.ratings for each in found] == [
            {"adequacy": 4, "fluency": 5}, {"adequacy": 1, "fluency": 5},
            {"adequacy": 1, "fluency": 5},
        ]  # fmt: skip
    else:
        edits = [each.post_edit for each in found]
        assert edits == ["The old fish!", "A new boat.?", "No fault.?"]
        assert all(each.score is None and each.hter for each in found)


COMPOSED = {
    "a document with errors": ("esa", {"segments": "document"}, ONE),
    "a document by systems": (
        "document-da",
        {
            "systems": "several",
            "scales": [{"name": "Mood", "min": -2, "max": 2, "labels": {"-2": "bad", "2": "good"}}],
            "choices": [{"name": "Usable", "options": ["yes", "no"]}],
        },
        TWO,
    ),
}


@pytest.mark.parametrize("name", COMPOSED)
def test_combinations_work_by_keyboard(
    visitor: Callable[..., Visitor], transactional_db: None, name: str
) -> None:
    base, answers, outputs = COMPOSED[name]
    plant(base, sources=SOURCES, outputs=outputs, answers=answers)
    page = start(visitor())
    assert violations(page, EVERY_RULE) == []
    if base == "esa":
        cells = page.locator("[data-cell]")
        for n in range(3):
            expect(cells.nth(n).get_by_role("textbox", name="Black text")).to_be_focused()
            press(page, "Home", "Shift+End", "m", "7", "Control+Enter")
        expect(cells.nth(3).get_by_role("slider")).to_be_focused()
        press(page, "4", "Enter")
        page.wait_for_url("**/done/")
        assert [each.score for each in current()] == [70, 70, 70, 40]
        assert [each[:4] for each in spans()] == [
            ("target", 0, len(text), "minor") for text in outputs[0]
        ]
        return
    for slider in page.get_by_role("slider").all():
        slider.focus()
        press(page, "-", "2")
    press(page, "Enter")
    expect(page.locator("#problems")).to_contain_text(
        "Segment 1, Text 1: Usable: you have not chosen an option."
    )
    for group in page.get_by_role("group", name="Usable").all():
        group.get_by_role("radio", name="no").check()
    # What was entered and not sent comes back.
    page.reload()
    page.locator("#item.is-ready").wait_for()
    expect(page.get_by_role("radio", name="no", checked=True)).to_have_count(6)
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/done/")
    assert {(each.score, each.choices["Usable"]) for each in current()} == {(-2, "no")}
