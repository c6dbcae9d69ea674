"""Marked errors by mouse and touch in any script: offsets are code points, clusters stay whole."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visitor
from tests.browser.planting import current, expect_item, plant, press, spans, start

FAMILY = "👩‍👩‍👧"  # five code points, eight UTF-16 units, one cluster
ACUTE = "e\u0301"  # e and a combining accent
ARABIC = "وصلت السَّفينة إلى الميناء."
HINDI = "जहाज़ क्षतिग्रस्त हुआ।"


def submit(page: Page, title: str) -> None:
    page.get_by_role("slider").focus()
    press(page, "5", "Enter")
    expect_item(page, title)


def opened(
    visitor: Callable[..., Visitor], text: str, language: str = "en", **options: object
) -> Page:
    plant("esa", outputs=[(text, "Next.")], languages=("zh", language))
    return start(visitor(**options))


@pytest.mark.parametrize(
    ("text", "language", "keys", "wanted"),
    [
        # The family is one step of the caret; what comes after counts five code points more.
        (f"a{FAMILY}b", "en", ["ArrowRight", "Shift+ArrowRight"], FAMILY),
        (f"a{FAMILY}b", "en", ["ArrowRight", "ArrowRight", "Shift+ArrowRight"], "b"),
        (f"caf{ACUTE}s", "fr", ["End", "ArrowLeft", "Shift+ArrowLeft"], ACUTE),
        # Right to left: the left arrow goes on in the text.
        (ARABIC, "ar", ["Control+ArrowLeft", "Control+Shift+ArrowLeft"], "السَّفينة"),
        (ARABIC, "ar", [*["ArrowLeft"] * 7, "Shift+ArrowLeft"], "سَّ"),
        (HINDI, "hi", ["Control+ArrowRight", "Shift+ArrowRight"], "क्ष"),
        ("港口很安静。", "zh", ["ArrowRight", "Shift+ArrowRight"], "口"),
    ],
)
def test_offsets_are_code_points(
    visitor: Callable[..., Visitor],
    transactional_db: None,
    text: str,
    language: str,
    keys: list[str],
    wanted: str,
) -> None:
    page = opened(visitor, text, language)
    press(page, *keys, "m")
    expect(page.locator("#said")).to_contain_text(f"“{wanted}”")
    submit(page, "Item 2 of 2")
    ((side, start_, end, *_),) = spans()
    assert (side, text[start_:end]) == ("target", wanted)


def test_a_cut_cluster_is_made_whole(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    """A selection from outside, such as a browser's own, may begin within an emoji."""
    text = f"to {FAMILY} caf{ACUTE}"
    page = opened(visitor, text)
    page.evaluate(
        """([start, end]) => {
          const node = document.querySelector("#rated .text").firstChild;
          getSelection().setBaseAndExtent(node, start, node, end);
        }""",
        [5, 16],  # from within the family to before the accent
    )
    page.get_by_role("button", name="Major").click()
    submit(page, "Item 2 of 2")
    ((_, start_, end, *_),) = spans()
    assert text[start_:end] == f"{FAMILY} caf{ACUTE}"


def box_of(page: Page, text: str, word: str) -> dict[str, float]:
    """Where a word is on the screen."""
    return page.evaluate(
        """([start, end]) => {
          const walker = document.createTreeWalker(
            document.querySelector("#rated .text"), NodeFilter.SHOW_TEXT);
          const range = document.createRange();
          let at = 0;
          for (let node = walker.nextNode(); node; node = walker.nextNode()) {
            if (start >= at && start <= at + node.length) range.setStart(node, start - at);
            if (end >= at && end <= at + node.length) { range.setEnd(node, end - at); break; }
            at += node.length;
          }
          return range.getBoundingClientRect().toJSON();
        }""",
        [text.index(word), text.index(word) + len(word)],
    )


def drag(page: Page, text: str, word: str) -> None:
    box = box_of(page, text, word)
    height = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 1, height)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 1, height, steps=4)
    page.mouse.up()


def test_by_mouse_with_overlaps(visitor: Callable[..., Visitor], transactional_db: None) -> None:
    text = "The old fish market near the harbour."
    page = opened(visitor, text)
    drag(page, text, "old fish market")
    page.get_by_role("button", name="Minor").click()
    drag(page, text, "market near")
    page.get_by_role("button", name="Major").click()
    expect(page.locator("#rated .mark-many")).to_have_text("market")
    # A click opens the smallest error there.
    box = box_of(page, text, "near")
    page.mouse.click(box["x"] + 5, box["y"] + box["height"] / 2)
    editor = page.get_by_role("group", name="This error")
    expect(editor.get_by_label("Major")).to_be_checked()
    editor.get_by_label("Minor").check()
    editor.get_by_role("button", name="Done").click()
    expect(page.get_by_role("button", name="market near Minor")).to_be_visible()
    page.get_by_role("button", name="Delete: old fish market").click()
    submit(page, "Item 2 of 2")
    ((_, start_, end, severity, _),) = spans()
    assert (text[start_:end], severity) == ("market near", "minor")


def test_the_same_words_twice_are_one_error(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    page = opened(visitor, "One two three.")
    press(page, "Control+Shift+ArrowRight", "m", "Home", "Control+Shift+ArrowRight", "Shift+M")
    expect(page.get_by_role("list", name="Marked errors").get_by_role("listitem")).to_have_count(1)
    submit(page, "Item 2 of 2")
    assert spans() == [("target", 0, 3, "major", "")]


@pytest.mark.parametrize(
    ("text", "language", "first", "last", "wanted"),
    [
        ("The old fish market.", "en", "old", "market", "old fish market"),
        (ARABIC, "ar", "السَّفينة", "الميناء", "السَّفينة إلى الميناء"),
    ],
)
def test_by_touch(
    visitor: Callable[..., Visitor],
    transactional_db: None,
    text: str,
    language: str,
    first: str,
    last: str,
    wanted: str,
) -> None:
    page = opened(visitor, text, language, width=360, height=740, has_touch=True, is_mobile=True)
    page.locator("#rated .text").scroll_into_view_if_needed()

    def tap(word: str) -> None:
        box = box_of(page, text, word)
        page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    tap(first)
    expect(page.locator("[data-chosen]")).to_have_text(f"“{first}”")
    tap(last)
    expect(page.locator("[data-chosen]")).to_have_text(f"“{wanted}”")
    page.get_by_role("button", name="Major").tap()
    expect(page.locator("#rated .mark-major")).to_have_text(wanted)
    tap(last)
    expect(page.get_by_role("group", name="This error")).to_be_visible()
    page.get_by_role("button", name="Done").tap()
    page.get_by_role("slider").tap()
    page.get_by_role("button", name="Submit").tap()
    expect_item(page, "Item 2 of 2")
    ((_, start_, end, severity, _),) = spans()
    assert (text[start_:end], severity) == (wanted, "major")


def test_stored_marks_come_back_and_can_be_changed(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    text = f"{FAMILY} two\r\nthree four"
    page = opened(visitor, text)
    press(page, "End", "Control+Shift+ArrowLeft", "m")
    submit(page, "Item 2 of 2")
    assert [text[span[1] : span[2]] for span in spans()] == ["four"]
    page.get_by_role("link", name="Back to the previous item").click()
    page.locator("#item.is-ready").wait_for()
    expect(page.get_by_role("button", name="four Minor")).to_be_visible()
    expect(page.locator("#rated .mark-minor")).to_have_text("four")
    press(page, "End", "Delete")
    submit(page, "Item 2 of 2")
    assert spans() == []
    assert [judgment.revision for judgment in current()] == [2]


def test_a_locked_answer_is_shown_and_not_offered(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    campaign = plant("esa", outputs=[("One two.", "Next.")], edit_minutes=0)
    one = visitor()
    page = start(one)
    press(page, "Shift+End", "m")
    submit(page, "Item 2 of 2")
    first = campaign.items.first().assignments.get()
    page = one.open(f"/item/{first.public_id}/")
    page.locator("#item.is-ready").wait_for()
    expect(page.get_by_text("This rating can no longer be changed")).to_be_visible()
    expect(page.locator("#rated .mark-minor")).to_have_text("One two.")
    expect(page.get_by_role("button", name="Submit")).to_have_count(0)
    press(page, "Home", "Control+Shift+ArrowRight", "Shift+M", "5", "Enter")
    assert len(spans()) == 1
    one.open(f"/annotate/{campaign.slug}/history/")
    expect(page.get_by_role("link", name="Change")).to_have_count(0)
