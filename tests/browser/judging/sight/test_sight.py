"""What is in sight: the texts at every size of the window, the way to submit, and marked words."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from annotation import protocols
from annotation.models import Assignment, Item
from annotation.protocols import Layout
from tests.browser.conftest import Visitor
from tests.browser.planting import current, expect_item, plant, press, spans, start

WIDE = [(1280, 800), (1366, 650), (1920, 950)]
# The last one is a window of 1280 pixels at twice its size.
NARROW = [(360, 740), (390, 844), (320, 640), (640, 512)]
SOURCES = (
    "Die Hafenbehörde kündigte an, die Wasserqualität wöchentlich zu prüfen und die Arbeiten "
    "sofort zu stoppen, falls die Messwerte den gesetzlichen Grenzwert überschreiten.",
    "Anwohner fordern einen Bericht.",
)
OUTPUTS = (
    "The port authority said it would monitor water quality every week and stop work immediately "
    "if the measured values exceeded the limit.",
    "Residents demand a report.",
)
TOLD = "Read both texts to the end before you rate. " * 30
# What of texts, question and controls is in the window at each of some positions, and what of that
# lies under something else than `behind`. What scrolls in itself ends where its box does. What has
# been scrolled past lies behind the head of the screen, and behind the source, which stays above
# its texts.
LOOK = """([positions, behind]) => {
  const WHAT = ".text, .question, .slider, .words button, .choice label, textarea, .token";
  const seen = new Set(), covered = [];
  const pieces = (element) => {
    if (!element.matches(".text, .question")) return [element.getBoundingClientRect()];
    const range = document.createRange();
    range.selectNodeContents(element);
    return [...range.getClientRects()];
  };
  const edges = (element) => {
    let { top, bottom, left, right } =
      { top: 0, bottom: innerHeight - 1, left: 0, right: innerWidth - 1 };
    for (let box = element.parentElement; box; box = box.parentElement) {
      if (box === document.body || getComputedStyle(box).overflowY === "visible") continue;
      const own = box.getBoundingClientRect();
      [top, bottom] = [Math.max(top, own.top), Math.min(bottom, own.bottom)];
      [left, right] = [Math.max(left, own.left), Math.min(right, own.right)];
    }
    const heads = [...document.querySelectorAll(".where"), element.closest(".row")?.children[0]];
    for (const head of heads) {
      if (!head || head.contains(element) || scrollY === 0) continue;
      const [own, other] = [head, element].map((each) => each.getBoundingClientRect());
      if (own.right > other.left) top = Math.max(top, own.bottom);
    }
    return { top, bottom, left, right };
  };
  for (const position of positions) {
    scrollTo({ top: position, behavior: "instant" });
    for (const element of document.querySelectorAll(`#item :is(${WHAT})`)) {
      const box = element.getBoundingClientRect();
      if (box.bottom < 0 || box.top > innerHeight || !element.checkVisibility()) continue;
      const { top, bottom, left, right } = edges(element);
      for (const piece of pieces(element)) {
        const [first, last] = [Math.max(top, piece.top) + 1, Math.min(bottom, piece.bottom) - 1];
        for (const y of [first, (first + last) / 2, last]) {
          if (last < first || !piece.width) continue;
          for (let x = Math.max(left, piece.left) + 2; x < Math.min(right, piece.right); x += 60) {
            const over = document.elementFromPoint(x, y);
            if (behind && over?.closest(behind)) continue;
            if (element.contains(over) || over?.contains(element)) seen.add(element.className);
            else covered.push([scrollY, element.outerHTML.slice(0, 30), y, over?.className]);
          }
        }
      }
    }
  }
  return { seen: [...seen].join(" "), covered: covered.slice(0, 5) };
}"""
THROUGHOUT = """() => {
  const step = 0.4 * innerHeight;
  return Array.from({ length: 1 + document.body.scrollHeight / step }, (_, n) => n * step);
}"""


# One item with one scale: a tap rates it.
RATED_AT_ONCE = ("segment-da", "esa")


def look(page: Page, positions: list[float], behind: str = "") -> dict[str, Any]:
    """Look for what is covered, but by what matches `behind`, at each scroll position."""
    seen: dict[str, Any] = page.evaluate(LOOK, [positions, behind])
    return seen


def in_reach(page: Page) -> bool:
    """Whether Submit is in the window with nothing over it."""
    return bool(
        page.evaluate(
            """() => {
              const button = document.querySelector("#item form [type=submit]");
              const { left, top, width, height } = button.getBoundingClientRect();
              return button.contains(
                document.elementFromPoint(left + width / 2, top + height / 2));
            }"""
        )
    )


@pytest.mark.parametrize("protocol", protocols.PROTOCOLS)
def test_nothing_covers_the_texts(
    visitor: Callable[..., Visitor], transactional_db: None, protocol: str
) -> None:
    is_alone = protocols.get(protocol).layout in (Layout.SINGLE, Layout.DOCUMENT)
    outputs = [OUTPUTS] * (1 if is_alone else 3)
    plant(protocol, sources=SOURCES, outputs=outputs, languages=("de", "en"), instructions=TOLD)
    page = start(visitor())
    for width, height in WIDE:
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate("scrollTo(0, 0)")
        sight = look(page, [0])
        assert sight["covered"] == [], (width, height)
        assert "text" in sight["seen"], (width, height)
        page.locator("#item form [type=submit]").evaluate(
            "(button) => button.scrollIntoView({ block: 'nearest' })"
        )
        assert in_reach(page), (width, height)
        assert "text" in look(page, [page.evaluate("scrollY")])["seen"], (width, height)
    # On a phone nothing is covered however far one has scrolled, before and after the first answer.
    page.set_viewport_size({"width": 360, "height": 740})
    page.reload()
    page.locator("#item.is-ready").wait_for()
    for is_begun in (False, True):
        if is_begun:
            begin(page)
        for width, height in NARROW:
            page.set_viewport_size({"width": width, "height": height})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            is_rated = is_begun and protocol in RATED_AT_ONCE
            if is_rated:  # then Submit is in reach beside the scale, and texts pass behind it
                page.get_by_role("slider").evaluate("(e) => e.scrollIntoView({ block: 'center' })")
                assert in_reach(page), (width, height)
            sight = look(page, page.evaluate(THROUGHOUT), ".foot" if is_rated else "")
            assert sight["covered"] == [], (width, height, is_begun)
            assert "question" in sight["seen"]
            end = page.evaluate("document.body.scrollHeight")
            assert look(page, [end])["covered"] == [], (width, height, is_begun)
            assert in_reach(page), (width, height, is_begun)


def begin(page: Page) -> None:
    """Give a first score; where there is none, mark a first error."""
    if page.locator(".words button").count():
        page.locator(".words button").first.click()
    elif page.locator("[data-severity]").count():
        page.locator("#item .black.text").first.press("Control+Shift+ArrowRight")
        press(page, "m", "Escape")


@pytest.mark.parametrize("protocol", ["segment-da", "adequacy-fluency", "contrastive-esa"])
def test_what_is_missing_is_said_in_sight_on_a_phone(
    visitor: Callable[..., Visitor], transactional_db: None, protocol: str
) -> None:
    n_texts = 4 if protocol == "contrastive-esa" else 1
    plant(
        protocol, sources=("源文一。", "源文二。"), outputs=[("One two.", "Three four.")] * n_texts
    )
    page = start(visitor(360, 740))
    if protocol == "segment-da":
        assert in_reach(page)  # short as it is, all of it fits
    page.get_by_role("button", name="Submit").click()
    problem, slider = page.locator(".foot .problem"), page.get_by_role("slider").first
    expect(problem).to_contain_text("have not chosen")
    expect(problem).to_be_in_viewport(ratio=1)
    expect(slider).to_be_focused()
    assert top(slider) >= 40
    assert bottom(slider) <= top(page.locator(".foot"))
    page.locator(".words button").first.click()
    expect(problem).to_be_empty()
    behind = ".foot" if protocol == "segment-da" else ""
    assert look(page, page.evaluate(THROUGHOUT), behind)["covered"] == []


@pytest.mark.parametrize("width", [1280, 360])
def test_texts_come_before_answers_and_these_before_submit(
    visitor: Callable[..., Visitor], transactional_db: None, width: int
) -> None:
    plant("esa", sources=("源文一。", "源文二。"), outputs=[("One two.", "Three four.")])
    page = start(visitor(width, 800))
    page.locator("#rated .text").focus()
    passed = []
    for _ in range(12):
        press(page, "Tab")
        passed.append(page.evaluate("document.activeElement.type ?? document.activeElement.role"))
    assert passed.index("range") < passed.index("submit")


@pytest.mark.parametrize("protocol", ["segment-da", "contrastive-esa", "side-by-side"])
def test_the_words_of_the_scale_are_a_tap_away_on_a_phone(
    visitor: Callable[..., Visitor], transactional_db: None, protocol: str
) -> None:
    is_alone = protocol == "segment-da"
    texts = [("One two.", "Three four.")] * (1 if is_alone else 2)
    plant(protocol, sources=("源文一。", "源文二。"), outputs=texts)
    page = start(visitor(360, 740))
    slider = page.get_by_role("slider").first
    words = slider.locator("xpath=ancestor::*[contains(@class, 'by-slider')]").locator(".words *")
    anchors = protocols.get(protocol).anchors_at(0.8 if is_alone else 1)
    buttons = page.locator(".answer").first.locator(".words button")
    expect(buttons).to_have_count(len(anchors))
    assert words.count()
    for button in buttons.all():
        box = button.bounding_box() or {}
        assert min(box["width"], box["height"]) >= 24
    buttons.nth(2).click()
    expect(slider).to_have_value(str(anchors[2].low))
    expect(slider).to_be_focused()


def test_feedback_stays_with_its_item(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    plant("segment-da", outputs=[("One two three.", "Four five six.")])
    first = Assignment.objects.get(position=0).item
    Item.objects.filter(pk=first.pk).update(
        kind=Item.Kind.TUTORIAL, low=20, high=40, feedback="Half is missing."
    )
    for has_scripts in (True, False):
        page = start(visitor(java_script_enabled=has_scripts), has_scripts=has_scripts)
        if has_scripts:
            press(page, "9", "Enter")
        else:
            page.goto(page.url.split("/item")[0] + f"/item/{first.assignments.get().public_id}/")
            page.get_by_label("Your score").fill("90")
            page.get_by_role("button", name="Submit").click()
        expect(page.get_by_role("region", name="Feedback on your rating")).to_contain_text(
            "You gave 90"
        )
        expect(page.locator("#rated .text")).to_have_text("One two three.")
        going = page.get_by_role("link", name="Next item")
        if has_scripts:
            expect(going).to_be_focused()
            press(page, "Enter")
            expect_item(page, "Item 2 of 2")
        else:
            going.click()
        expect(page.locator("#rated .text")).to_have_text("Four five six.")
        expect(page.locator("[data-feedback]")).to_have_count(0)
    assert [judgment.score for judgment in current()] == [90]


def test_a_double_click_takes_the_word_under_the_pointer(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    text = "A cat sits by it near home."
    plant("esa", sources=("源文一。", "源文二。"), outputs=[(text, "b")])
    page = start(visitor())
    ends = [word.span() for word in re.finditer(r"\w+", text)][1:]
    for first, end in ends:
        # The last pixels of a word are nearer to what follows it.
        box = page.locator("#rated .text").evaluate(
            """(text, [first, end]) => {
              const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
              let [before, node] = [0, walker.nextNode()];
              while (before + node.length < end) {
                [before, node] = [before + node.length, walker.nextNode()];
              }
              const range = document.createRange();
              range.setStart(node, end - 1 - before);
              range.setEnd(node, end - before);
              const { right, top, height } = range.getBoundingClientRect();
              return [right - 1, top + height / 2];
            }""",
            [first, end],
        )
        page.mouse.dblclick(*box)
        press(page, "Escape")
    page.get_by_role("slider").focus()
    press(page, "7", "Enter")
    expect_item(page, "Item 2 of 2")
    assert [(start, end) for _, start, end, _, _ in spans()] == ends


def test_the_editor_of_an_error_leaves_its_words_in_sight(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    long = "Some words of a text that is long. " * 25
    outputs = [("a", "b"), (long.strip(), "b")]
    plant("side-by-side-mqm", sources=("源文一。", "源文二。"), outputs=outputs)
    page = start(visitor(360, 740))
    text, end = page.locator(".black.text").last, "scrollTo(0, document.body.scrollHeight)"
    text.press("End")
    press(page, "Control+Shift+ArrowLeft")
    page.evaluate(end)
    assert bottom(text) <= top(page.locator(".mark-buttons"))
    press(page, "m")
    editor = page.locator(".editor")
    expect(editor.get_by_role("button").first).to_be_focused()
    mark = page.locator(".mark-open")
    assert top(mark) >= 40
    assert bottom(mark) <= top(editor)
    page.evaluate(end)
    assert bottom(text) <= top(editor)


def top(element: Locator) -> float:
    box = element.bounding_box()
    assert box
    return box["y"]


def bottom(element: Locator) -> float:
    return top(element) + element.evaluate("(element) => element.getBoundingClientRect().height")
