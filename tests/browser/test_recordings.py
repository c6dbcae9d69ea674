"""Recordings beside a text: heard by keyboard and by thumb, logged, fetched only to be kept."""

import math
import struct
from collections.abc import Callable

from playwright.sync_api import Page, Request, expect

from annotation.models import Campaign, Playback, Segment
from annotation.uploads import InputFile
from annotation.uploads.media.storage import store_file
from tests.annotation.uploads.test_media import wav
from tests.browser.axe import violations
from tests.browser.conftest import Visitor
from tests.browser.planting import current, expect_item, plant, press, start


def tone(seconds: float = 4.0) -> bytes:
    """A recording long enough to be stopped in the middle."""
    frames = (int(9_000 * math.sin(n / 6)) for n in range(int(8_000 * seconds)))
    body = b"".join(struct.pack("<h", frame) for frame in frames)
    head = wav(seconds)[:44]
    return (
        head[:4]
        + struct.pack("<I", 36 + len(body))
        + head[8:40]
        + struct.pack("<I", len(body))
        + body
    )


def with_sound(protocol: str = "esa") -> Campaign:
    campaign = plant(protocol, outputs=[("The first output.", "The second output.")])
    kept = store_file(InputFile.holding("talk.wav", tone()))
    for segment in Segment.objects.filter(test_set=campaign.test_set):
        beside = {
            "file": kept.sha256, "kind": "audio", "type": "audio/wav", "start": 1, "end": 3,
            "transcript": "0:01 Good morning.\n0:02 And good night.", "is_source": True,
            "glossary": "Morgen = morning", "register": "formal",
        }  # fmt: skip
        Segment.objects.filter(pk=segment.pk).update(beside=beside)
    return campaign


def state(page: Page) -> tuple[bool, float]:
    found = page.locator("audio").evaluate("each => [each.paused, each.currentTime]")
    return found[0], found[1]


def test_played_by_keyboard_and_logged(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    campaign = with_sound()
    asked: list[str] = []
    own = visitor(1280, 900)
    own.page.on("request", lambda each: _note(each, asked))
    page = start(own)
    page.wait_for_function("() => document.querySelector('audio').readyState >= 1")
    page.wait_for_load_state("networkidle")
    # Without a service worker nothing can be kept: the screens that came ahead fetch nothing before
    # they are shown.
    assert {each.split("/")[-3] for each in asked} == {page.url.split("/")[-2]}
    expect(page.get_by_text("plays and pauses")).to_be_visible()
    press(page, "p")
    page.wait_for_function("() => !document.querySelector('audio').paused")
    page.wait_for_function("() => document.querySelector('audio').currentTime > 1.2")
    press(page, "p")
    assert state(page)[0]
    page.get_by_text("Transcript").click()
    page.get_by_role("button", name="Play from 0:02").click()
    page.wait_for_function("() => document.querySelector('audio').currentTime >= 2")
    page.locator("h1").click()
    press(page, "p", "8", "Enter")
    page.wait_for_url(lambda url: asked[0].split("/")[-3] not in url)
    (stored,) = current()
    assert stored.score == 80
    what = [event[1] for event in Playback.objects.get(judgment=stored).events]
    assert what[:2] == ["play", "pause"]
    assert "seek" in what
    assert campaign.items.count() == 2


def _note(request: Request, asked: list[str]) -> None:
    if request.url.endswith("/media/"):
        asked.append(request.url)


def test_rated_on_a_phone(visitor: Callable[..., Visitor], transactional_db: None) -> None:
    with_sound("segment-da")
    page = start(visitor(360, 740))
    page.wait_for_function("() => document.querySelector('audio').readyState >= 1")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    box = page.locator("audio").bounding_box()
    assert box is not None
    assert box["height"] >= 44
    page.get_by_text("Transcript").click()
    assert violations(page) == []
    page.get_by_role("slider").click()
    page.get_by_role("button", name="Submit").click()
    expect_item(page, "Item 2")
    (stored,) = current()
    assert stored.score is not None
    assert not Playback.objects.exists()
