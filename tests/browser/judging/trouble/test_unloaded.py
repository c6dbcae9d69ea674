"""A script that did not come: it is fetched anew where it is wanted, or the page says so."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import EVERY_RULE, violations
from tests.browser.conftest import Visitor
from tests.browser.planting import expect_item, plant, press, spans, start

ONE = [("One two.", "Three four.")]
TWO = [*ONE, ("Five six.", "Seven eight.")]
TOLD = "Read to **the end**."
RELOAD = "The page did not load completely. Reload it."


def start_without(one: Visitor, script: str) -> Page:
    """Come to the first item, and one script does not."""
    one.page.route(f"**/{script}*.js", lambda route: route.abort())
    with one.page.expect_event("requestfailed", lambda request: script in request.url):
        page = start(one)
    return page


@pytest.mark.parametrize(
    ("protocol", "outputs", "script"),
    [
        ("mqm", ONE, "span-editor"),
        ("mqm", ONE, "taxonomy"),
        ("side-by-side-mqm", TWO, "span-editor"),
        ("esa", ONE, "span-editor"),
    ],
)
def test_the_editor_of_an_error_is_fetched_anew(
    visitor: Callable[..., Visitor],
    transactional_db: None,
    protocol: str,
    outputs: list[tuple[str, str]],
    script: str,
) -> None:
    plant(protocol, outputs=outputs)
    page = start_without(visitor(), script)
    press(page, "Control+Shift+ArrowRight", "m")
    line = page.locator(".spans .span")
    if protocol == "esa":
        line.click()
    said = page.locator(".spans").get_by_role("alert")
    expect(said).to_have_text(RELOAD)
    assert violations(page, EVERY_RULE) == []
    page.unroute(f"**/{script}*.js")
    line.click()
    editor = page.get_by_role("group", name="This error")
    expect(editor).to_be_visible()
    expect(said).to_have_count(0)
    editor.get_by_role("radio", name="Major").check()
    expect(line).to_contain_text("Major")
    line.click()
    expect(editor).to_have_count(0)


def test_keys_reach_an_editor_that_came_late(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    plant("mqm", outputs=ONE)
    page = start_without(visitor(), "span-editor")
    page.unroute("**/span-editor*.js")
    press(page, "Control+Shift+ArrowRight", "m", "2", "3")
    expect(page.get_by_role("button", name="One Minor · Fluency: Grammar")).to_be_visible()
    page.get_by_role("button", name="Submit").click()
    expect_item(page, "Item 2 of 2")
    assert [span[:4] for span in spans()] == [("target", 0, 3, "minor")]


@pytest.mark.parametrize("script", ["later", "own"])
def test_instructions_and_a_break_are_fetched_anew(
    visitor: Callable[..., Visitor], transactional_db: None, script: str
) -> None:
    plant("segment-da", outputs=ONE, instructions=TOLD)
    page = start_without(visitor(), script)
    press(page, "7", "Enter")
    expect_item(page, "Item 2 of 2")
    told, said = page.locator(".instructions"), page.locator("#still")
    expect(told).to_be_hidden()
    page.get_by_role("button", name="Take a break").click()
    expect(said).to_have_text(RELOAD)
    press(page, "i")
    expect(told).to_contain_text("Read to the end.")
    expect(told.locator(".prose")).to_be_in_viewport()
    assert violations(page, EVERY_RULE) == []
    page.unroute(f"**/{script}*.js")
    press(page, "i")
    dialog = page.get_by_role("dialog", name="Instructions")
    expect(dialog).to_contain_text("Read to the end.")
    expect(said).to_be_hidden()
    press(page, "Escape")
    expect(page.get_by_role("link", name="Item 1: rated")).to_be_visible()
    page.get_by_role("button", name="Take a break").click()
    expect(page.get_by_role("dialog", name="A break")).to_be_visible()


@pytest.mark.parametrize("protocol", ["esa", "mqm", "contrastive-esa"])
@pytest.mark.parametrize("has_scripts", [True, False])
def test_why_nothing_can_be_marked_is_said(
    visitor: Callable[..., Visitor], transactional_db: None, protocol: str, has_scripts: bool
) -> None:
    plant(protocol, outputs=TWO if protocol == "contrastive-esa" else ONE)
    one = visitor(java_script_enabled=has_scripts)
    one.page.route("**/span-list*.js", lambda route: route.abort())
    page = start(one, has_scripts=False)
    expect(page.get_by_text(RELOAD)).to_be_visible(visible=has_scripts)
    expect(page.get_by_text("Turn it on in this browser")).to_be_visible(visible=not has_scripts)
    expect(page.get_by_role("button", name="Submit")).to_be_hidden()
    one.complaints.clear()


def test_instructions_that_were_read_are_there_without_the_script(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    plant("esa", outputs=ONE, instructions=TOLD)
    one = visitor()
    page = start(one)
    page.get_by_role("slider").focus()
    press(page, "7", "Enter")
    expect_item(page, "Item 2 of 2")
    expect(page.locator(".instructions")).to_be_hidden()
    again = Visitor(one.context, one.address)
    again.page.route("**/annotate*.js", lambda route: route.abort())
    again.page.goto(page.url)
    expect(again.page.locator(".instructions summary")).to_be_visible()
