"""Work is never lost: answers that could not be sent, drafts, reloads, sign-ins, two tabs."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Request, Route, expect

from annotation.models import Campaign, Judgment
from tests.browser.conftest import Visitor
from tests.browser.planting import (
    WAITS,
    break_server,
    current,
    expect_item,
    plant,
    press,
    spans,
    start,
    wait_for_screens,
    wait_until_sent,
)
from tests.world import make_user

OUTPUTS = [("One two three.", "Four five six.")]


def test_offline_then_a_reload_then_online_sends_once(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    plant("esa", outputs=OUTPUTS)
    one = visitor().without_ahead()
    page = start(one)
    press(page, "Control+Shift+ArrowRight", "Shift+M")
    page.get_by_role("slider").focus()
    press(page, "7")
    one.context.set_offline(True)
    press(page, "Enter")
    expect(page.get_by_role("alert").first).to_contain_text("There is no connection")
    expect(page.get_by_text(WAITS)).to_be_visible()
    break_server(page)
    one.context.set_offline(False)
    page.reload()
    page.locator("#item.is-ready").wait_for()
    expect(page.get_by_text(WAITS)).to_be_visible()
    expect(page.get_by_role("slider")).to_have_attribute("aria-valuetext", re.compile("^70%"))
    expect(page.get_by_role("button", name="One Major")).to_be_visible()
    assert not Judgment.objects.exists()
    page.unroute("**/item/**")
    page.evaluate("window.dispatchEvent(new Event('online'))")
    expect_item(page, "Item 2 of 2")
    expect(page.get_by_text(WAITS)).to_be_hidden()
    assert [judgment.score for judgment in current()] == [70]
    assert spans() == [("target", 0, 3, "major", "")]
    page.reload()
    expect_item(page, "Item 2 of 2")
    assert Judgment.objects.count() == 1


@pytest.mark.parametrize("place", ["", "annotate/segment-da/history/"])
def test_any_page_of_an_annotator_sends_what_waits(
    visitor: Callable[..., Visitor], transactional_db: None, place: str
) -> None:
    plant("segment-da", outputs=OUTPUTS)
    one = visitor().without_retries()
    page = start(one)
    break_server(page)
    press(page, "3", "Enter")
    expect(page.get_by_text(WAITS)).to_be_visible()
    page.unroute("**/item/**")
    with page.expect_response(lambda response: response.request.method == "POST") as sent:
        one.open(f"/{place}")
    assert sent.value.status == 200
    expect(page.get_by_text(WAITS)).to_be_hidden()
    assert [judgment.score for judgment in current()] == [30]


def test_signed_out_then_in_again_in_another_tab_sends_once(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    plant("segment-da", outputs=OUTPUTS)
    one = visitor()
    page = start(one)
    one.context.clear_cookies()
    press(page, "8", "Enter")
    expect(page.get_by_role("alert")).to_contain_text("You are signed out")
    expect(page.get_by_text(WAITS)).to_be_visible()
    Visitor(one.context, one.address).sign_in_by_form("annotator-1")
    # The first tab is notified, and continues without input.
    expect_item(page, "Item 2 of 2")
    assert [judgment.score for judgment in current()] == [80]
    assert Judgment.objects.count() == 1


def test_what_one_person_left_is_never_sent_as_another(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    plant("segment-da", outputs=OUTPUTS)
    make_user("annotator-2", "annotator")
    one = visitor().without_retries()
    page = start(one)
    one.context.clear_cookies()
    press(page, "8", "Enter")
    expect(page.get_by_text(WAITS)).to_be_visible()
    posts: list[str] = []
    page.on("request", lambda request: posts.append(request.url) if is_answer(request) else None)
    one.sign_in_by_form("annotator-2")
    expect(
        page.get_by_text("Ratings from another account are waiting in this browser")
    ).to_be_visible()
    assert posts == []
    assert not Judgment.objects.exists()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("User name").wait_for()
    with page.expect_response(lambda response: is_answer(response.request)):
        one.sign_in_by_form("annotator-1")
    expect(page.get_by_text("Ratings from another account")).to_be_hidden()
    assert [judgment.score for judgment in current()] == [80]


def is_answer(request: object) -> bool:
    return request.method == "POST" and "/item/" in request.url


def test_a_conflict_keeps_the_answer_and_leads_to_the_item(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    plant("segment-da", outputs=OUTPUTS)
    one = visitor()
    page = start(one)
    address = page.url
    break_server(page)
    press(page, "3", "Enter")
    expect(page.get_by_text(WAITS)).to_be_visible()
    # Meanwhile the item is answered elsewhere, on another device.
    other = start(visitor())
    press(other, "9", "Enter")
    expect_item(other, "Item 2 of 2")
    page.unroute("**/item/**")
    one.open("/")
    line = page.locator("#outbox li")
    expect(line).to_contain_text("You already rated this item 90 in another window")
    assert [judgment.score for judgment in current()] == [90]
    line.get_by_role("link", name="Item 1 of 2").click()
    page.locator("#item.is-ready").wait_for()
    assert page.url == address
    expect(page.get_by_role("slider")).to_have_attribute("aria-valuetext", re.compile("^30%"))
    expect(page.get_by_role("alert")).to_contain_text("already rated this item 90")
    press(page, "Enter")
    expect_item(page, "Item 2 of 2")
    wait_until_sent(page)
    assert [judgment.score for judgment in current()] == [30]
    assert Judgment.objects.count() == 2


def test_what_cannot_be_taken_any_more_can_be_discarded(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    plant("segment-da", outputs=OUTPUTS)
    one = visitor()
    page = start(one)
    Campaign.objects.update(status=Campaign.Status.CLOSED)
    press(page, "3", "Enter")
    expect(page.get_by_role("alert")).to_contain_text("closed")
    one.open("/")
    expect(page.locator("#outbox li")).to_contain_text("This campaign is closed")
    page.get_by_role("button", name="Discard").click()
    page.get_by_role("button", name="Discard permanently?").click()
    expect(page.locator("#outbox")).to_be_hidden()
    page.reload()
    expect(page.locator("#outbox")).to_be_hidden()
    assert not Judgment.objects.exists()


def test_drafts_come_back_until_they_are_submitted(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    plant("mqm", outputs=OUTPUTS)
    one = visitor()
    held: list[Route] = []
    one.page.route("**/span-editor*", lambda route: held.append(route), times=1)
    page = start(one)
    press(page, "Control+Shift+ArrowRight", "m")
    press(page, "2", "3")  # faster than the editor comes
    expect(page.get_by_role("button", name="One Minor")).to_be_visible()
    held.pop().continue_()
    expect(page.get_by_role("button", name="One Minor · Fluency: Grammar")).to_be_visible()
    page.get_by_text("Comment or flag").click()
    page.get_by_label("Comment", exact=True).fill("Is this a name?")
    page.get_by_label("Flag").check()
    page.reload()
    page.locator("#item.is-ready").wait_for()
    expect(page.get_by_text("They are not submitted yet")).to_be_visible()
    expect(page.get_by_role("button", name="One Minor · Fluency: Grammar")).to_be_visible()
    expect(page.get_by_label("Comment", exact=True)).to_have_value("Is this a name?")
    page.get_by_role("button", name="Submit").click()
    expect_item(page, "Item 2 of 2")
    expect(page.get_by_text("They are not submitted yet")).to_be_hidden()
    judgment = current()[0]
    assert (judgment.comment, judgment.is_flagged) == ("Is this a name?", True)
    page.get_by_role("link", name="Back to the previous item").click()
    expect_item(page, "Item 1 of 2")
    expect(page.get_by_text("They are not submitted yet")).to_be_hidden()
    page.get_by_role("link", name="1 rated").click()
    expect(page.get_by_text("Is this a name?")).to_be_visible()
    expect(page.get_by_text("Flagged")).to_be_visible()
    expect(page.get_by_text("Penalty 1")).to_be_visible()


FULL = "IDBObjectStore.prototype.put = () => { throw new DOMException('', 'QuotaExceededError') }"
BLOCKED = "IDBFactory.prototype.open = () => { throw new DOMException('', 'SecurityError') }"
NOTHING_OLD = "Object.defineProperty(window, 'localStorage', { get() { throw new Error() } })"


def spoiled_and_waiting(one: Visitor, spoil: str) -> tuple[Visitor, Page]:
    """Somebody whose browser keeps nothing, with an answer that could not be sent."""
    plant("segment-da", outputs=OUTPUTS)
    one.without_retries().page.add_init_script(spoil)
    page = start(one)
    break_server(page)
    press(page, "7", "Enter")
    expect(page.get_by_text(WAITS)).to_be_visible()
    return one, page


@pytest.mark.parametrize("spoil", [FULL, BLOCKED, NOTHING_OLD])
def test_a_full_or_blocked_storage_breaks_nothing(
    visitor: Callable[..., Visitor], transactional_db: None, spoil: str
) -> None:
    _, page = spoiled_and_waiting(visitor(), spoil)
    page.unroute("**/item/**")
    # Another request may succeed at the same moment and send it first.
    page.get_by_role("button", name="Send now", include_hidden=True).dispatch_event("click")
    expect_item(page, "Item 2 of 2")
    press(page, "0", "Enter")
    page.wait_for_url("**/done/")
    assert [judgment.score for judgment in current()] == [70, 0]


@pytest.mark.parametrize("spoil", [FULL, BLOCKED])
def test_who_would_lose_an_answer_is_asked_before_leaving(
    visitor: Callable[..., Visitor], transactional_db: None, spoil: str
) -> None:
    """And nobody else: see Visitor."""
    one, page = spoiled_and_waiting(visitor(), spoil)
    page.get_by_role("link", name="Touchstone").click()
    page.wait_for_url("**/")
    assert [each.partition(":")[0] for each in one.complaints] == ["beforeunload"]
    one.complaints.clear()


def test_a_document_goes_out_with_the_connection(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    """It is sent with a segment that an earlier version of the page stored alone."""
    plant("document-da", outputs=OUTPUTS)
    one = visitor().without_retries()
    page = start(one)
    for key in ("7", "8"):
        press(page, key, "Enter")
    break_server(page)
    press(page, "9", "Enter")
    expect(page.get_by_role("alert").first).to_contain_text("The server could not save the rating")
    expect(page.get_by_text(WAITS)).to_be_visible()
    keep_alone(page, 1, "80")
    page.reload()
    page.locator("#item.is-ready").wait_for()
    assert page.locator(".score").evaluate_all("all => all.map(({value}) => value)") == [
        "70", "80", "90",
    ]  # fmt: skip
    expect(page.get_by_text("2 ratings are waiting to be sent.")).to_be_visible()
    assert not Judgment.objects.exists()
    page.unroute("**/item/**")
    sent: list[Request] = []
    held: list[Route] = []

    def leave() -> None:
        """The page is left once both answers have come, and asked for nothing meanwhile."""
        if len(sent) == 2 and held:
            held.pop().continue_()

    def came(request: Request) -> None:
        if is_answer(request):
            sent.append(request)
            leave()

    page.on("requestfinished", came)
    page.route("**/done/", lambda route: (held.append(route), leave()))
    page.get_by_role("button", name="Send now").click(no_wait_after=True)
    page.wait_for_url("**/done/")
    wait_until_sent(page)
    assert [judgment.score for judgment in current()] == [70, 80, 90]
    assert Judgment.objects.count() == 3


def keep_alone(page: Page, place: int, score: str) -> None:
    """Put the answer to one segment into the outbox as pages of before did."""
    page.evaluate(
        """async ([place, score]) => {
          const cell = document.querySelectorAll("[data-cell]")[place];
          const started = cell.querySelector("[name$=started]").value;
          const fields = { score, submit_key: crypto.randomUUID(), revision: "0", started };
          const { keep } = await import(document.querySelector("[href*=outbox]").href);
          await keep({ key: fields.submit_key, path: cell.dataset.path, fields, title: "Segment" });
        }""",
        [place, score],
    )


@pytest.mark.database
def test_two_tabs_of_one_document(visitor: Callable[..., Visitor], transactional_db: None) -> None:
    plant("document-da", outputs=OUTPUTS)
    one = visitor()
    first = start(one)
    second = one.context.new_page()
    second.goto(first.url)
    second.locator("#item.is-ready").wait_for()
    for page in (first, second):
        for slider in page.get_by_role("slider").all():
            slider.focus()
            press(page, "3")
    press(first, "Enter")
    first.wait_for_url("**/done/")
    press(second, "ArrowRight", "Enter")
    expect(second.get_by_role("alert").first).to_contain_text("already rated this item 30")
    assert [judgment.score for judgment in current()] == [30, 30, 30]
    press(second, "Enter")
    second.wait_for_url("**/done/")
    assert [judgment.score for judgment in current()] == [30, 30, 31]
    assert Judgment.objects.count() == 4


@pytest.mark.database
@pytest.mark.parametrize("protocol", ["esa", "mqm", "side-by-side", "document-da"])
def test_a_double_click_is_one_judgment(
    visitor: Callable[..., Visitor], transactional_db: None, protocol: str
) -> None:
    outputs = [*OUTPUTS, *OUTPUTS] if protocol == "side-by-side" else OUTPUTS
    plant(protocol, outputs=outputs)
    page = start(visitor())
    for slider in page.get_by_role("slider").all():
        slider.focus()
        press(page, "0")
    heading = page.locator("h1").inner_text()
    page.get_by_role("button", name="submit").first.dblclick()
    expect(page.locator("h1")).not_to_have_text(heading)
    page.reload()  # the server has answered everything that was sent before
    page.locator("#item.is-ready, h1:not(#item *)").first.wait_for()
    expected = {"side-by-side": 2, "document-da": 3}.get(protocol, 1)
    assert Judgment.objects.count() == expected
    assert not Judgment.objects.exclude(score=0, penalty=None).exclude(score=None, penalty=0)


def test_a_change_while_the_answer_goes_out_is_kept(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    """The waiting answer is stored; the change since then stays in the form, to be submitted."""
    plant("segment-da", outputs=OUTPUTS)
    page = start(visitor().without_retries().without_ahead())
    break_server(page)
    press(page, "8", "Enter")
    expect(page.get_by_text(WAITS)).to_be_visible()
    press(page, "3")
    page.unroute("**/item/**")
    page.get_by_role("button", name="Send now").click()
    expect(page.locator("[name=revision]")).to_have_value("1")
    assert [judgment.score for judgment in current()] == [80]
    expect(page.get_by_role("slider")).to_have_attribute("aria-valuetext", re.compile("^30%"))
    page.get_by_role("slider").focus()
    press(page, "Enter")
    expect_item(page, "Item 2 of 2")
    assert [judgment.score for judgment in current()] == [30]


def test_a_change_before_the_reply_is_kept(
    visitor: Callable[..., Visitor], transactional_db: None
) -> None:
    plant("segment-da", outputs=OUTPUTS)
    page = start(visitor())
    wait_for_screens(page)
    held: list[Route] = []
    page.route("**/item/**", lambda route: held.append(route), times=1)
    with page.expect_request(is_answer):
        press(page, "8", "Enter")
    press(page, "ArrowRight")
    held.pop().continue_()
    expect(page.locator("[name=revision]")).to_have_value("1")
    expect(page.get_by_role("slider")).to_have_attribute("aria-valuetext", re.compile("^81%"))
    press(page, "Enter")
    expect_item(page, "Item 2 of 2")
    assert [(judgment.score, judgment.revision) for judgment in current()] == [(81, 2)]


@pytest.mark.database
@pytest.mark.parametrize("arrives", [True, False])
def test_a_page_left_in_the_middle_of_a_submit(
    visitor: Callable[..., Visitor], transactional_db: None, arrives: bool
) -> None:
    """The answer was written down before it was sent, so the next page sends it: once."""
    plant("esa", outputs=OUTPUTS)
    one = visitor()
    page = start(one)
    press(page, "Control+Shift+ArrowRight", "m")
    page.get_by_role("slider").focus()

    def hang(route: Route) -> None:
        """No reply comes while the page is open, whether the server has the answer or not."""
        if arrives:
            route.fetch()

    wait_for_screens(page)
    page.route("**/item/**", hang, times=1)
    with page.expect_request(is_answer):
        press(page, "6", "Enter")
    with page.expect_response(lambda response: is_answer(response.request)) as sent:
        one.open("/")
    assert sent.value.status == 200
    page.get_by_role("link", name="Continue").or_(page.get_by_role("link", name="Start")).click()
    expect_item(page, "Item 2 of 2")
    assert [judgment.score for judgment in current()] == [60]
    assert spans() == [("target", 0, 3, "minor", "")]
    assert Judgment.objects.count() == 1
