"""A researcher filters, and every number on the page moves; without script and with."""

from collections.abc import Callable

from django.utils.timezone import now
from playwright.sync_api import Page, Response, expect

from annotation.filters import Filters
from annotation.models import Campaign
from dashboards.overview import document as overview
from dashboards.whatif import document as whatif
from tests.browser.conftest import Visitor
from tests.dashboards.conftest import make_rated
from tests.world import make_world


def shows(page: Page, campaign: Campaign, filters: Filters) -> None:
    """The numbers on the page are those of the analysis under these filters."""
    document = overview.compute(campaign, filters)
    assert document.times
    judgments = page.locator("[data-name=n_judgments]")
    expect(judgments).to_have_text(f"{document.n_judgments:,}")
    mean = page.locator("[data-name=seconds_mean]")
    expect(mean).to_have_text(f"{document.times.mean:.2f} s")


def test_filters_move_the_numbers(visitor: Callable[..., Visitor]) -> None:
    make_world()
    campaign = make_rated()
    someone = visitor()
    page = someone.enter("researcher")
    someone.open(f"/campaigns/{campaign.slug}/quality/")
    shows(page, campaign, Filters())
    page.get_by_text("Filters: none").click()
    page.get_by_label("S3").check()
    page.wait_for_url("**without=S3**")
    # What was open stays open, and what was pressed has the focus.
    expect(page.get_by_label("S3")).to_be_focused()
    page.get_by_label("Traps and other control items").select_option("out")
    page.wait_for_url("**traps=out**")
    page.get_by_label("Maximum seconds per item").fill("60")
    page.keyboard.press("Enter")
    page.wait_for_url("**max_seconds=60**")
    expect(
        page.get_by_text(
            "Filters: without annotators: S3; without control items; at most 60 s per item"
        )
    ).to_be_visible()
    chosen = Filters(without=("S3",), traps="out", max_seconds=60)
    shows(page, campaign, chosen)
    # The next page takes the choice along, in its form and its files.
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").first.click()
    lines = download.value.path().read_text("utf-8").splitlines()
    assert [line.split(",")[1] for line in lines[1:]] == ["S1", "S2"]
    page.get_by_role("link", name="Clear filters").click()
    shows(page, campaign, Filters())


def test_newer_numbers_come_by_themselves_and_take_no_focus(
    visitor: Callable[..., Visitor],
) -> None:
    make_world()
    campaign = make_rated()
    reader, answers = visitor(), list[int]()
    reader.enter("researcher")
    page, address = reader.page, f"/campaigns/{campaign.slug}/quality/"
    page.clock.install()

    def answered(status: int) -> Callable[[Response], bool]:
        return lambda answer: answer.url.endswith(address) and answer.status == status

    page.on("response", lambda one: one.url.endswith(address) and answers.append(one.status))
    with page.expect_response(answered(304)):
        reader.open(address)
    answers.clear()
    with page.expect_response(answered(304)):
        page.reload()
    assert answers == [200, 304], "the first look knows what is shown"
    button = page.locator("[data-document]").get_by_role("button").first
    button.focus()
    campaign.annotators.filter(label="S3").update(excluded_at=now())
    page.clock.run_for(10_000)
    # Nothing is taken from under somebody's hands, and nothing is missed by that.
    expect(button).to_be_focused()
    button.blur()
    with page.expect_response(answered(200)):
        page.clock.run_for(10_000)
    shows(page, campaign, Filters())
    with page.expect_response(answered(304)):
        page.clock.run_for(10_000)


def test_filters_work_without_script(visitor: Callable[..., Visitor]) -> None:
    make_world()
    campaign = make_rated()
    someone = visitor(java_script_enabled=False)
    page = someone.enter("researcher")
    someone.open(f"/campaigns/{campaign.slug}/quality/")
    page.get_by_text("Filters: none").click()
    page.get_by_label("S1").check()
    page.get_by_role("button", name="Apply").click()
    shows(page, campaign, Filters(without=("S1",)))


def test_what_if_is_sorted_and_read_by_keyboard(visitor: Callable[..., Visitor]) -> None:
    make_world()
    campaign = make_rated()
    document = whatif.compute(campaign, Filters())
    someone = visitor(360)
    page = someone.enter("researcher")
    someone.open(f"/campaigns/{campaign.slug}/whatif/")
    table = page.locator("table").first
    changes = {one.left_out: one.tau.change for one in document.scenarios}
    largest = max(changes, key=lambda name: abs(changes[name]))
    expect(table.locator("tbody tr").first.locator("th")).to_have_text(largest)
    button = table.get_by_role("button", name="Excluded")
    button.focus()
    page.keyboard.press("Enter")
    names = table.locator("tbody th").all_inner_texts()
    assert names == sorted(changes, key=str.casefold)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
