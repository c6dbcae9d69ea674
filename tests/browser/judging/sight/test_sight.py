"""What is in sight: the texts at every size of the window, the way to submit, and marked words."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation import protocols
from annotation.models import Assignment, Item
from annotation.protocols import Layout
from tests.browser.conftest import Visitor
from tests.browser.planting import current, expect_item, plant, press, spans, start

SIZES = [(1280, 800), (1366, 650), (1920, 950), (360, 740)]
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
# What of the texts is within the window, and what of that lies under something else. A text that
# scrolls in itself ends where its box does.
LOOK = """() => {
  let [seen, covered] = [0, []];
  for (const text of document.querySelectorAll("#item :is(.gray, .black).text")) {
    const range = document.createRange();
    range.selectNodeContents(text);
    let [top, bottom] = [0, innerHeight - 1];
    for (let box = text.parentElement; box; box = box.parentElement) {
      if (box === document.body || getComputedStyle(box).overflowY === "visible") continue;
      const edges = box.getBoundingClientRect();
      [top, bottom] = [Math.max(top, edges.top), Math.min(bottom, edges.bottom)];
    }
    for (const line of range.getClientRects()) {
      for (let y = Math.max(top, line.top) + 1; y < Math.min(bottom, line.bottom); y += 5) {
        for (let x = line.left + 1; x < Math.min(innerWidth, line.right); x += 9) {
          const box = text.closest(".rows")?.getBoundingClientRect();
          if (box && x >= box.right) continue;
          const over = document.elementFromPoint(x, y);
          if (text.contains(over) || over?.contains(text)) seen += 1;
          else covered.push([x, y, over?.className]);
        }
      }
    }
  }
  return { seen, covered: covered.slice(0, 5) };
}"""


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
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.reload()
        page.locator("#item.is-ready").wait_for()
        sight = page.evaluate(LOOK)
        assert sight["covered"] == [], (width, height)
        assert sight["seen"], (width, height)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.locator("#item form [type=submit]").evaluate(
            "(button) => button.scrollIntoView({ block: 'nearest' })"
        )
        assert in_reach(page), (width, height)
        assert page.evaluate(LOOK)["seen"], (width, height)


@pytest.mark.parametrize("protocol", ["segment-da", "esa", "mqm", "adequacy-fluency"])
def test_submit_is_in_reach_at_once_on_a_phone(
    visitor: Callable[..., Visitor], transactional_db: None, protocol: str
) -> None:
    plant(protocol, sources=("源文一。", "源文二。"), outputs=[("One two.", "Three four.")])
    page = start(visitor(360, 740))
    assert in_reach(page)
    foot = page.locator(".foot").bounding_box() or {}
    assert foot["height"] <= 64


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
        expect(page.get_by_role("region", name="On your answer")).to_contain_text("You gave 90")
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
        # The last pixels of a word are nearer to what stands behind it.
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
    plant("mqm", sources=("源文一。", "源文二。"), outputs=[(long.strip(), "b")])
    page = start(visitor(360, 740))
    press(page, "End", "Control+Shift+ArrowLeft", "m")
    expect(page.locator(".editor button").first).to_be_focused()
    mark, editor = (page.locator(each).bounding_box() or {} for each in (".mark-open", ".editor"))
    assert mark["y"] >= 40
    assert mark["y"] + mark["height"] <= editor["y"]
