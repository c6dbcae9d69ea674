"""Tables and figures in a real browser: the heat map by keyboard, Explore under the policy."""

import os
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from annotation.demo import load_demo
from annotation.models import Campaign
from core.numbers import bare
from dashboards.comparisons import document as significance
from metrics.runs import scoring, starting
from tests.browser.axe import violations
from tests.browser.conftest import Visitor
from tests.dashboards.significance.test_heat_map import many
from tests.shared import Snapshots
from tests.world import make_user

ADDRESS = "/campaigns/demo-zh-en-80"


@pytest.fixture
def reader(visitor: Callable[..., Visitor], snapshots: Snapshots) -> Visitor:
    snapshots.load(make_scored)
    someone = visitor()
    someone.enter("reader")
    return someone


def make_scored() -> None:
    make_user("reader", "researcher")
    load_demo()
    test_set = Campaign.objects.get(slug="demo-zh-en-80").test_set
    names = ["chrf", "ter", "sentbleu"]
    for run in starting.start(test_set=test_set, metrics=names, enqueue=False).runs:
        scoring.drain(run.pk, worker="test")


def sentence(row: dict[str, Any]) -> str:
    """What the line above a heat map says of a pair."""
    gap, low, high = (bare(row[name], 3) for name in ("difference", "low", "high"))
    p = "p < .001" if row["pvalue"] < 0.001 else f"p = {bare(row['pvalue'], 3)}"
    names = f"{row['label']} against {row['other_label']}"
    return f"{names}: Δ {gap}, {p}. 95% interval of Δ: {low} to {high}."


def test_a_heat_map_is_read_by_keyboard(reader: Visitor) -> None:
    page = reader.open(f"{ADDRESS}/significance/")
    data = reader.page.request.get(f"{reader.address}{ADDRESS}/significance.json").json()
    said = page.locator("#pair")
    page.locator("table.heatmap td[tabindex='0']").focus()
    expect(said).to_contain_text(sentence(data["rows"][0]), timeout=60_000)
    # The pairs are half a square: nothing stands below the first row's first cell.
    for key in ("ArrowDown", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    labels = [metric["label"] for metric in data["metrics"]]
    wanted = next(
        row for row in data["rows"] if (row["label"], row["other_label"]) == (labels[1], labels[2])
    )
    expect(said).to_contain_text(sentence(wanted), timeout=60_000)
    expect(page.locator("table.heatmap td[tabindex='0']")).to_have_count(1)


def test_a_picture_of_many_metrics_is_read_by_keyboard(
    reader: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(significance, "compute", lambda *_, **__: many(111))
    page = reader.open(f"{ADDRESS}/significance/")
    data = reader.page.request.get(f"{reader.address}{ADDRESS}/significance.json").json()
    page.locator("#heat").focus()
    said = page.locator("#pair")
    expect(said).to_contain_text(sentence(data["rows"][0]), timeout=60_000)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    row = data["rows"][2 * 110 + 1]
    expect(said).to_contain_text(sentence(row), timeout=60_000)
    # One pixel of the row's first cell has the colour of its step.
    shade = page.evaluate(
        """() => {
          const canvas = document.querySelector("#heat");
          const size = canvas.width / 111;
          return [...canvas.getContext("2d").getImageData(size * 50.5, size * 0.5, 1, 1).data];
        }"""
    )
    colours = [(8, 48, 107), (42, 111, 176), (127, 179, 217), (188, 212, 232), (245, 247, 249)]
    letter = data["steps"][0][50]
    at = "01234".find(letter) if letter in "01234" else "abcde".find(letter)
    assert tuple(shade[:3]) == colours[at]
    if folder := os.environ.get("SHOTS"):
        page.screenshot(path=f"{folder}/heat.png", full_page=True)
        page.set_viewport_size({"width": 360, "height": 740})
        page.reload()
        page.screenshot(path=f"{folder}/heat360.png", full_page=True)
    assert violations(page) == []
    page.locator("#heat").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**row=**", timeout=60_000)
    assert violations(page) == []
    expect(page.locator("#one tbody tr")).to_have_count(110)
    if folder:
        page.screenshot(path=f"{folder}/one.png")


def test_explore_draws_in_the_browser_without_a_violation(reader: Visitor) -> None:
    """Complaints of the policy fail the fixture; Vega is loaded only when it is asked for."""
    requests: list[str] = []
    reader.page.on("request", lambda request: requests.append(request.url))
    page = reader.open(f"{ADDRESS}/significance/")
    # Newer numbers would take the place of the figure before somebody is in it.
    expect(page.locator("#result-state[data-fresh-at]")).to_have_count(0)
    page.get_by_text("As a figure").click()
    page.get_by_role("button", name="Explore").wait_for()
    assert not [url for url in requests if "/vendor/vega" in url]
    page.get_by_role("button", name="Explore").click()
    page.locator(".drawing .vega-embed svg").wait_for()
    assert len([url for url in requests if "/vendor/vega" in url]) == 3
    # Focus goes into the figure, so no newer numbers take its place.
    expect(page.locator(".figure .drawing")).to_be_focused()
    marks = page.locator(".drawing .vega-embed svg .mark-rect.role-mark path")
    # Its number lies over it and has no tooltip of its own.
    marks.first.hover(force=True, position={"x": 3, "y": 3})
    page.locator("#vg-tooltip-element.visible").wait_for()
    assert page.locator("style").count() == 0


def test_the_table_sorts_by_interval_and_a_form_changes_the_statistic(reader: Visitor) -> None:
    page = reader.open(f"{ADDRESS}/correlations/")
    page.get_by_label("Statistic", exact=True).select_option("pearson")
    page.wait_for_url("**statistic=pearson**")
    expect(page.get_by_label("Statistic", exact=True)).to_be_focused()
    page.get_by_label("Grouping", exact=True).select_option("item")
    page.wait_for_url("**grouping=item**")
    data = reader.page.request.get(
        f"{reader.address}{ADDRESS}/correlations.json?statistic=pearson&grouping=item"
    ).json()
    shown = page.locator("td[data-name='value']").all_inner_texts()
    assert shown == [f"{row['value']:.3f}".replace("-", "−") for row in data["rows"]]
    page.get_by_role("button", name="Value").click()
    ordered = [
        float(text.replace("−", "-"))
        for text in page.locator("td[data-name='value']").all_inner_texts()
    ]
    assert ordered == sorted(ordered, reverse=True)
