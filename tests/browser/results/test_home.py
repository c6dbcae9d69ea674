"""Somebody who has read no documentation finds on one page which metric, how sure, what limits it.

Of a good campaign, a sparse one, one of random clicks and an empty one.
"""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Assignment, Item
from tests.browser.axe import violations
from tests.browser.conftest import Visitor
from tests.dashboards.clicking import make_clicked
from tests.dashboards.conftest import make_rated
from tests.refusals import tells
from tests.shared import Snapshots
from tests.world import make_campaign, make_test_set, make_user

WIDE, HIGH = 1280, 800
# Moves of what is there while a page loads, as the browser adds them up.
SHIFTS = """
  window.shifts = 0;
  new PerformanceObserver((list) => {
    for (const each of list.getEntries()) if (!each.hadRecentInput) window.shifts += each.value;
  }).observe({ type: "layout-shift", buffered: true });
"""


def is_alone(assignment: Assignment) -> bool:
    """Whether its segment is this system's turn: so no segment has two judged systems."""
    item = assignment.item
    if item.kind != Item.Kind.TARGET or item.output is None:
        return True
    names = sorted(item.output.segment.test_set.systems.values_list("name", flat=True))
    return names.index(item.output.system.name) == item.segment.position % len(names)


def make_four() -> None:
    make_user("reader", "researcher")
    make_rated("good", segments=30)
    make_clicked("sparse", seconds=40, keep=is_alone, traps_per_annotator=0)
    make_clicked("random")
    make_campaign(make_test_set("nothing", segments=3), "empty")


@pytest.fixture
def reader(visitor: Callable[..., Visitor], snapshots: Snapshots) -> Visitor:
    snapshots.load(make_four)
    someone = visitor(WIDE, HIGH)
    someone.enter("reader")
    return someone


def opened(reader: Visitor, slug: str) -> Page:
    """The first page of a campaign's results, with all its numbers."""
    page = reader.open(f"/campaigns/{slug}/results/")
    expect(page.locator("#result-state[data-fresh-at]")).to_have_count(0)
    return page


def in_sight(page: Page, *places: str) -> None:
    """Everything is on the first screen."""
    for place in places:
        box = page.locator(place).first.bounding_box()
        assert box is not None, place
        assert box["y"] + min(box["height"], 100) < HIGH, place


def marks(page: Page) -> str:
    return " · ".join(page.locator("#trust summary").all_inner_texts())


def test_a_good_campaign_answers(reader: Visitor) -> None:
    page = opened(reader, "good")
    answer = page.locator("h2.answer")
    data = page.request.get(f"{reader.address}/campaigns/good/results.json").json()
    best = max(data["rows"], key=lambda row: row["value"])
    expect(answer).to_contain_text(best["label"])
    low, high = (f"{best[end]:.2f}".removeprefix("0") for end in ("low", "high"))
    expect(answer).to_contain_text(f"[{low},\N{NO-BREAK SPACE}{high}]")
    assert "Limited" in marks(page)
    assert "agreement α" in marks(page)
    in_sight(page, "h2.answer", "#trust", "table.dots tbody tr", "#systems-title", "#steps-title")
    # Below a name may stand that it is not above the floor.
    names = [each.split("\n")[0] for each in page.locator(".both tbody th").all_inner_texts()]
    assert names == [row["label"] for row in data["rows"]]
    # A mark opens its reason over the page, by keyboard; Tab and Enter lead on.
    page.locator("#trust details", has_text="simulated annotators").locator("summary").press(
        "Enter"
    )
    expect(page.get_by_text("these numbers do not describe people")).to_be_visible()
    assert violations(page) == []
    page.locator("table.dots tbody th a").first.press("Enter")
    page.wait_for_url("**/significance/?row=**")


def test_a_sparse_campaign_says_what_limits_it(reader: Visitor) -> None:
    page = opened(reader, "sparse")
    # Which metric, and how sure: a name with its interval, or that none can be named.
    data = page.request.get(f"{reader.address}/campaigns/sparse/results.json").json()
    answer = page.locator("h2.answer")
    shown = answer.inner_text() + page.locator("p.detail").first.inner_text()
    assert (
        any(row["label"] in shown for row in data["rows"])
        or answer.get_attribute("data-case") == "distrusted"
    )
    assert re.search(r"\[.+,.+\]|interval", shown)
    assert tells(marks(page), "mark.sparse")
    assert tells(marks(page), "mark.controls-none")
    expect(page.locator("#steps-title")).to_be_visible()
    expect(page.get_by_text("judge the same segments for all")).to_have_count(2)
    in_sight(page, "h2.answer", "#trust", "#steps-title")
    assert violations(page) == []


def test_random_clicks_are_no_answer(reader: Visitor) -> None:
    page = opened(reader, "random")
    expect(page.locator("h2.answer")).to_have_text(
        "These judgments cannot show which metric agrees with the humans."
    )
    # How sure: not at all, and why, in the same place.
    reasons = page.locator("#trust .reason").all_text_contents()
    assert any("chance" in each or "agree" in each for each in reasons)
    expect(page.get_by_role("link", name="Review annotators")).to_be_visible()
    assert tells(marks(page), "verdict.do-not-use")
    expect(page.locator(".dots .lead")).to_have_count(0)
    in_sight(page, "h2.answer", "#trust")


def test_an_empty_campaign_has_one_sentence_and_one_action(reader: Visitor) -> None:
    page = opened(reader, "empty")
    expect(page.locator("h2.answer")).to_contain_text("Nobody has judged an output yet")
    expect(page.locator("table.dots")).to_have_count(0)
    page.get_by_role("link", name="Open campaign").press("Enter")
    page.wait_for_url("**/campaigns/empty/setup/")
    # A campaign that somebody has judged is entered by its results.
    reader.open("/campaigns/good/")
    assert reader.page.url.endswith("/campaigns/good/results/")


def test_controls_act_at_once_and_the_address_follows(reader: Visitor) -> None:
    page = opened(reader, "good")
    before = page.locator("h2.answer").inner_text()
    page.get_by_label("raw scores").check()
    page.wait_for_url("**/results/?scores=raw")
    expect(page.get_by_label("raw scores")).to_be_focused()
    page.get_by_label("Statistic", exact=True).select_option("limit")
    page.wait_for_url("**statistic=limit**")
    # A short name stands for it, with one line on what it is.
    statistic = page.get_by_label("Statistic", exact=True)
    expect(statistic).to_have_accessible_description(re.compile("^Pearson r over hybrids"))
    expect(statistic).to_have_css("text-overflow", "ellipsis")
    expect(page.locator("h2.answer")).not_to_have_text(before)
    # The next page takes the choice along.
    pages = page.get_by_role("navigation", name="Pages")
    pages.get_by_role("link", name="Metrics", exact=True).click()
    page.wait_for_url("**/correlations/?**statistic=limit**")
    assert "scores=raw" in page.url


def test_tabs_stay_where_they_are_and_nothing_moves(reader: Visitor) -> None:
    reader.page.add_init_script(SHIFTS)
    places = []
    for name in ("results", "correlations", "monitor", "access", "setup", "export"):
        page = reader.open(f"/campaigns/good/{name}/")
        page.wait_for_load_state("load")
        boxes = [tab.bounding_box() for tab in page.locator(".subject .tabs a").all()]
        places.append([box and (box["x"], box["y"], box["width"]) for box in boxes])
        assert page.evaluate("window.shifts") < 0.02, name
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        assert len(page.content().encode()) < 100 * 1024, name
    assert len(places[0]) == 5
    assert all(each == places[0] for each in places)


def test_on_a_phone_the_controls_fold_and_no_figure_is_cropped(reader: Visitor) -> None:
    page = opened(reader, "good")
    page.set_viewport_size({"width": 360, "height": 740})
    page.reload()
    fold = page.locator(".fold")
    expect(fold).to_contain_text("τ-b · z-scores · 2 metrics · no filters")
    expect(page.get_by_label("Statistic", exact=True)).to_be_hidden()
    fold.press("Enter")
    expect(page.get_by_label("Statistic", exact=True)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    widths = page.locator("table.dots:visible").evaluate_all(
        "tables => tables.map((table) => table.getBoundingClientRect().right)"
    )
    assert len(widths) == 3
    assert max(widths) <= 360
    assert violations(page) == []
    # Nothing on the other pages has to be pushed sideways either: tables are cards there.
    for name in ("correlations", "significance", "systems", "dashboard", "quality", "monitor"):
        reader.open(f"/campaigns/good/{name}/")
        hidden = page.locator(".scroll").evaluate_all(
            "all => all.filter((each) => each.scrollWidth > each.clientWidth + 1).length"
        )
        assert hidden == 0, name
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
