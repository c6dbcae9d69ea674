"""Without a connection: pictures and recordings beside texts, and items that were answered."""

import re
from base64 import b64decode
from collections.abc import Callable

from playwright.sync_api import Page, expect

from annotation.models import Judgment, Segment
from annotation.uploads import InputFile
from annotation.uploads.media.storage import store_file
from tests.browser.conftest import Visitor
from tests.browser.judging.offline.conftest import Line
from tests.browser.judging.offline.test_reload import expect_kept, wait_for_pages
from tests.browser.planting import current, expect_item, plant, press, start, wait_until_sent
from tests.browser.test_recordings import tone

MakeVisitor = Callable[..., Visitor]
TEXTS = tuple(f"Sentence {number} is here." for number in range(1, 7))
# A picture of one pixel.
PICTURE = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
TOO_LONG = PICTURE + bytes(4 * 2**20)


def add_files(*files: bytes) -> None:
    """Put a file beside each of the first segments, by what it is."""
    segments = Segment.objects.order_by("position")
    for number, (segment, data) in enumerate(zip(segments, files, strict=False)):
        is_sound = data.startswith(b"RIFF")
        name, kind, content_type = (
            ("talk.wav", "audio", "audio/wav") if is_sound else ("seen.png", "image", "image/png")
        )
        # A byte of its own: the same file would be one for all.
        stored = store_file(InputFile.holding(f"{number}-{name}", data + bytes([number])))
        beside = {"file": stored.sha256, "kind": kind, "type": content_type}
        Segment.objects.filter(pk=segment.pk).update(beside=beside)


def expect_picture(page: Page) -> None:
    page.wait_for_function("() => document.querySelector('img.media').naturalWidth > 0")


def test_pictures_and_recordings_come_without_a_connection(
    visitor: MakeVisitor, line: Line, transactional_db: None
) -> None:
    plant("segment-da", sources=TEXTS, outputs=[TEXTS])
    add_files(PICTURE, PICTURE, tone(), TOO_LONG, PICTURE)
    one = visitor(service_workers="allow")
    one.address = line.address
    page = start(one)
    # Item 4 has a picture that is too long to be kept.
    wait_for_pages(page, 1 + (len(TEXTS) - 1) + 4)
    line.cut()
    expect_picture(page)
    press(page, "4", "1", "Enter")
    expect_item(page, "Item 2 of 6")
    expect_picture(page)
    left = page.locator("#left")
    expect(left).to_contain_text("still rate: 4.")
    page.get_by_role("link", name="Item 4: not rated yet").click()
    expect(page.get_by_role("alert").first).to_contain_text("cannot be shown without")
    expect_item(page, "Item 2 of 6")
    page.reload()
    expect_item(page, "Item 2 of 6")
    expect_picture(page)
    expect(left).to_contain_text("still rate: 4.")
    press(page, "4", "2", "Enter")
    expect_item(page, "Item 3 of 6")
    # A player asks for parts.
    page.wait_for_function("() => document.querySelector('audio').readyState >= 1")
    page.evaluate("() => { document.querySelector('audio').currentTime = 3 }")
    page.wait_for_function(
        """() => {
          const { seeking, readyState, currentTime } = document.querySelector("audio");
          return !seeking && readyState >= 2 && currentTime === 3;
        }"""
    )
    press(page, "4", "3", "Enter")
    expect_item(page, "Item 5 of 6")
    expect_picture(page)
    press(page, "4", "5", "Enter")
    expect_item(page, "Item 6 of 6")
    expect(left).to_contain_text("This is the last item")
    press(page, "4", "6", "Enter")
    expect(left).to_contain_text("More items follow when")
    line.restore()
    page.get_by_role("button", name="Send now").click()
    expect_item(page, "Item 4 of 6")
    expect_picture(page)
    press(page, "4", "4", "Enter")
    page.wait_for_url("**/done/")
    wait_until_sent(page)
    assert [judgment.score for judgment in current()] == [41, 42, 43, 44, 45, 46]
    # The work is over.
    expect_kept(page, 0)


def test_back_to_what_was_answered_without_a_connection(
    visitor: MakeVisitor, transactional_db: None
) -> None:
    plant("segment-da", sources=TEXTS, outputs=[TEXTS])
    one = visitor()
    page = start(one)
    slider, left = page.get_by_role("slider"), page.locator("#left")
    expect_kept(page, 1 + len(TEXTS))
    press(page, "4", "1", "Enter")
    expect_item(page, "Item 2 of 6")
    wait_until_sent(page)
    one.context.set_offline(True)
    for number in (2, 3):
        press(page, "4", str(number), "Enter")
        expect_item(page, f"Item {number + 1} of 6")
    expect(left).to_contain_text("still rate: 3.")
    page.get_by_role("link", name="Back to the previous item").click()
    expect_item(page, "Item 3 of 6")
    expect(slider).to_have_attribute("aria-valuetext", re.compile("^43%"))
    expect(page.get_by_text("Your earlier entries have been restored.")).to_be_visible()
    expect(left).to_contain_text("still rate: 3.")
    slider.focus()
    press(page, "7", "Enter")
    expect_item(page, "Item 4 of 6")
    page.get_by_role("link", name="Item 2: rated").click()
    expect_item(page, "Item 2 of 6")
    expect(slider).to_have_attribute("aria-valuetext", re.compile("^42%"))
    # The answer to this one is stored, and the server alone knows it.
    page.get_by_role("link", name="Item 1: rated").click()
    problem = page.get_by_role("alert").first
    expect(problem).to_contain_text("change your rating when you are online again")
    expect_item(page, "Item 2 of 6")
    page.go_back()
    expect_item(page, "Item 4 of 6")
    one.context.set_offline(False)
    wait_until_sent(page)
    assert [judgment.score for judgment in current()] == [41, 42, 70]
    assert Judgment.objects.count() == 3
