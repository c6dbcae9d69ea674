"""The item page in a real browser: keys, mouse, lost connections, two tabs, a phone."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from annotation.campaigns import add_annotators, close_campaign, open_campaign
from annotation.models import Assignment, Campaign, Judgment
from tests.browser import planting
from tests.browser.conftest import Visitor
from tests.world import World, make_world


@pytest.fixture
def opened(transactional_db: None) -> World:
    world = make_world()
    add_annotators(campaign=world.campaign, users=world.annotators)
    world.campaign = open_campaign(campaign=world.campaign)
    return world


def start(visitor: Visitor, world: World, *, has_scripts: bool = True) -> Page:
    page = planting.start(visitor, has_scripts=has_scripts)
    page.get_by_role("heading", name="Item 1 of 10").wait_for()
    return page


def scores(world: World) -> list[int]:
    rows = Judgment.objects.filter(is_current=True).order_by("assignment__position")
    return list(rows.values_list("score", flat=True))


def test_a_whole_campaign_by_keyboard_alone(visitor: Callable[..., Visitor], opened: World) -> None:
    page = start(visitor(), opened)
    slider = page.get_by_role("slider")
    expect(slider).to_have_attribute("aria-valuetext", "not rated yet")
    page.keyboard.press("Enter")  # nothing chosen: refused, in words
    expect(page.get_by_role("alert")).to_contain_text("You have not chosen a score")
    expect(slider).to_be_focused()
    assert scores(opened) == []
    for keys, value in [
        (["7"], 70),
        (["7", "ArrowRight"], 71),
        (["5", "PageUp"], 60),
        (["Home"], 0),
        (["End"], 100),
        (["3", "ArrowLeft"], 29),
        (["0"], 0),
        (["9", "PageDown"], 80),
        (["1"], 10),
        (["2"], 20),
    ]:
        place = page.locator("h1").inner_text()
        for key in keys:
            page.keyboard.press(key)
        expect(slider).to_have_attribute("aria-valuetext", re.compile(f"^{value}%"))
        page.keyboard.press("Enter")
        expect(page.locator("h1")).not_to_have_text(place)
    assert scores(opened) == [70, 71, 60, 0, 100, 29, 0, 80, 10, 20]
    assert "done" in page.url


def test_mouse_reset_back_and_revise(visitor: Callable[..., Visitor], opened: World) -> None:
    page = start(visitor(), opened)
    box = page.get_by_role("slider").bounding_box()
    assert box
    page.mouse.click(box["x"] + box["width"] * 0.5, box["y"] + box["height"] / 2)
    page.get_by_role("button", name="Reset").click()
    expect(page.get_by_role("slider")).to_have_attribute("aria-valuetext", "not rated yet")
    page.mouse.click(box["x"] + box["width"] - 2, box["y"] + box["height"] / 2)
    page.get_by_role("button", name="Submit").dblclick()
    page.get_by_role("heading", name="Item 2 of 10").wait_for()
    assert scores(opened) == [100]
    page.go_back()
    page.get_by_role("heading", name="Item 1 of 10").wait_for()
    expect(page.get_by_text("You rated this item 100")).to_be_visible()
    page.keyboard.press("4")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Item 2 of 10").wait_for()
    history = Judgment.objects.order_by("revision").values_list("score", "revision", "is_current")
    assert list(history) == [(100, 1, False), (40, 2, True)]


def test_leave_and_resume(visitor: Callable[..., Visitor], opened: World) -> None:
    page = start(visitor(), opened)
    page.keyboard.press("6")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Item 2 of 10").wait_for()
    again = visitor().sign_in("annotator-1")
    expect(again.get_by_text("1 of 10 rated")).to_be_visible()
    again.get_by_role("link", name="Continue").click()
    again.get_by_role("heading", name="Item 2 of 10").wait_for()


def test_no_connection_keeps_the_score(visitor: Callable[..., Visitor], opened: World) -> None:
    one = visitor().without_ahead()
    page = start(one, opened)
    page.keyboard.press("8")
    one.context.set_offline(True)
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("There is no connection")
    assert scores(opened) == []
    expect(page.get_by_text("1 rating is waiting to be sent.")).to_be_visible()
    one.context.set_offline(False)
    page.get_by_role("heading", name="Item 2 of 10").wait_for()
    assert scores(opened) == [80]


def test_an_expired_session_keeps_the_score(visitor: Callable[..., Visitor], opened: World) -> None:
    one = visitor()
    page = start(one, opened)
    page.keyboard.press("8")
    one.context.clear_cookies()
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("You are signed out")
    page.get_by_role("link", name="Sign in again").click()
    page.get_by_label("User name").fill("annotator-1")
    page.get_by_label("Password").fill("correct horse")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="Item 2 of 10").wait_for()
    assert scores(opened) == [80]


@pytest.mark.database
def test_two_tabs_never_overwrite_unseen(visitor: Callable[..., Visitor], opened: World) -> None:
    one = visitor()
    first = start(one, opened)
    second = one.context.new_page()
    second.goto(first.url)
    second.locator("#item.is-ready").wait_for()
    first.keyboard.press("3")
    first.keyboard.press("Enter")
    first.get_by_role("heading", name="Item 2 of 10").wait_for()
    second.keyboard.press("9")
    second.keyboard.press("Enter")
    expect(second.get_by_role("alert")).to_contain_text("already rated this item 30")
    assert scores(opened) == [30]
    second.keyboard.press("Enter")
    second.get_by_role("heading", name="Item 2 of 10").wait_for()
    assert scores(opened) == [90]
    assert Judgment.objects.count() == 2


def test_a_closed_campaign_says_so(visitor: Callable[..., Visitor], opened: World) -> None:
    page = start(visitor(), opened)
    page.keyboard.press("5")
    close_campaign(campaign=opened.campaign)
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("closed")
    assert scores(opened) == []


def test_signed_in_again_in_another_tab(visitor: Callable[..., Visitor], opened: World) -> None:
    """What the first tab asked before comes late, and does not spoil the form of the second."""
    one = visitor()
    asked: list[Route] = []
    one.page.route(re.compile("/(own|ahead)/"), lambda route: asked.append(route))
    with one.page.expect_request("**/own/"), one.page.expect_request("**/ahead/**"):
        page = start(one, opened)
    page.keyboard.press("8")
    late = [(route, route.fetch()) for route in asked]
    one.context.clear_cookies()
    other = Visitor(one.context, one.address)
    other.open("/login/")
    for route, reply in late:
        with page.expect_response(route.request.url):
            route.fulfill(response=reply)
    other.sign_in_here("annotator-1")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Item 2 of 10").wait_for()
    assert scores(opened) == [80]


@pytest.mark.database
def test_a_lost_reply_is_not_a_lost_score(visitor: Callable[..., Visitor], opened: World) -> None:
    """The server stores the answer, its reply never arrives, the annotator sends again."""
    page = start(visitor().without_retries().without_ahead(), opened)
    page.wait_for_load_state("networkidle")  # the page itself is fetched once more, to be kept

    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route("**/item/**", lose, times=1)
    page.keyboard.press("8")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("may not be saved yet")
    assert scores(opened) == [80]
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Item 2 of 10").wait_for()
    assert Judgment.objects.count() == 1


@pytest.mark.parametrize(
    ("status", "words"),
    [(500, "could not save the rating"), (404, "another account"), (502, "could not save")],
)
def test_a_failing_server_keeps_the_score(
    visitor: Callable[..., Visitor], opened: World, status: int, words: str
) -> None:
    page = start(visitor().without_retries().without_ahead(), opened)
    page.wait_for_load_state("networkidle")  # the page itself is fetched once more, to be kept
    page.route("**/item/**", lambda route: route.fulfill(status=status, body="<html>"), times=1)
    page.keyboard.press("8")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text(words)
    expect(page.get_by_role("slider")).to_have_attribute("aria-valuetext", re.compile("^80%"))
    expect(page.get_by_role("button", name="Submit")).to_be_enabled()
    page.get_by_role("button", name="Submit").click()
    page.get_by_role("heading", name="Item 2 of 10").wait_for()
    assert scores(opened) == [80]


def test_by_touch(visitor: Callable[..., Visitor], opened: World) -> None:
    page = start(visitor(360, 640, has_touch=True, is_mobile=True), opened)
    slider = page.get_by_role("slider")
    box = slider.bounding_box()
    assert box
    slider.tap(position={"x": box["width"] - 3, "y": box["height"] / 2})
    expect(slider).to_have_attribute("aria-valuetext", re.compile("^100%"))
    page.get_by_role("button", name="Reset").tap()
    # A touch of the very place where the unset slider rests changes no value, but is an answer.
    slider.dispatch_event("pointerup")
    expect(slider).to_have_attribute("aria-valuetext", re.compile("^50%"))
    page.get_by_role("button", name="Submit").tap()
    page.get_by_role("heading", name="Item 2 of 10").wait_for()
    assert scores(opened) == [50]


def test_help_and_skip_link_touch_no_score(visitor: Callable[..., Visitor], opened: World) -> None:
    page = start(visitor(height=240), opened)
    page.keyboard.press("8")
    page.keyboard.press("?")
    # It is longer than the window, begins at its beginning, and is closed by Enter.
    keys = page.get_by_role("dialog", name="Rating with the keyboard")
    expect(keys).to_be_visible()
    assert keys.evaluate("each => each.scrollHeight > each.clientHeight && each.scrollTop === 0")
    expect(keys.get_by_role("button", name="Close")).to_be_focused()
    expect(keys.get_by_role("button", name="Close")).to_be_in_viewport(ratio=1)
    page.keyboard.press("3")
    page.keyboard.press("Escape")
    expect(page.get_by_role("slider")).to_be_focused()
    page.get_by_role("link", name="Skip to content").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("slider")).to_have_attribute("aria-valuetext", re.compile("^80%"))
    assert scores(opened) == []


def test_the_slider_moves_nothing(visitor: Callable[..., Visitor], opened: World) -> None:
    """The script's slider takes exactly the room of the number field."""
    places = []
    for has_scripts in (True, False):
        one = visitor(360, 640, java_script_enabled=has_scripts)
        page = start(one, opened, has_scripts=has_scripts)
        page.wait_for_load_state()  # with the style sheet
        places.append(page.get_by_role("button", name="Submit").bounding_box())
    assert places[0] == places[1]


def test_a_phone_without_scripts(visitor: Callable[..., Visitor], opened: World) -> None:
    page = start(visitor(320, 640, java_script_enabled=False), opened, has_scripts=False)
    page.get_by_label("Your score, from 0 to 100").fill("42")
    page.get_by_role("button", name="Submit").click()
    page.get_by_role("heading", name="Item 2 of 10").wait_for()
    assert scores(opened) == [42]


def test_nothing_is_cut_off(visitor: Callable[..., Visitor], opened: World) -> None:
    page = start(visitor(320, 640), opened)
    button = page.get_by_role("button", name="Submit")
    for width in (320, 360, 1280):
        page.set_viewport_size({"width": width, "height": 640})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        button.scroll_into_view_if_needed()
        expect(button).to_be_in_viewport()


def test_personal_link(visitor: Callable[..., Visitor], opened: World) -> None:
    campaign = Campaign.objects.create(
        slug="links", name="Links", test_set=opened.test_set, length_ratio="0.80",
        annotators_per_item=1, traps_per_annotator=0,
    )  # fmt: skip
    campaign.systems.set(opened.test_set.systems.all())
    (invitation,) = add_annotators(campaign=campaign, links=1)
    open_campaign(campaign=campaign)
    page = visitor().open(f"/a/{invitation.token}/")
    page.get_by_role("heading", name="Item 1 of 8").wait_for()
    assert Assignment.objects.filter(annotator=invitation.annotator).count() == 8
    stranger = visitor().open(f"/a/{invitation.token}x/")
    expect(stranger.get_by_role("heading")).to_have_text("This link does not work")
