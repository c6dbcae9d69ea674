"""Tables and figures in a real browser: the heat map by keyboard, Explore under the policy."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import Group
from playwright.sync_api import expect

from annotation.access import ADMIN, ANNOTATOR, CAMPAIGN_ADMIN, RESEARCHER
from annotation.demo import load_demo
from annotation.models import Campaign
from metrics import runs, scoring
from tests.browser.conftest import Visitor
from tests.world import make_user

ADDRESS = "/campaigns/demo-zh-en-80"


@pytest.fixture
def reader(visitor: Callable[..., Visitor]) -> Visitor:
    for role in (ADMIN, CAMPAIGN_ADMIN, RESEARCHER, ANNOTATOR):
        Group.objects.get_or_create(name=role)
    make_user("reader", "researcher")
    load_demo()
    test_set = Campaign.objects.get(slug="demo-zh-en-80").test_set
    names = ["chrf", "ter", "sentbleu"]
    for run in runs.start(test_set=test_set, metrics=names, enqueue=False).runs:
        scoring.work_off(run.pk, worker="test")
    someone = visitor()
    someone.sign_in("reader")
    return someone


def test_a_heat_map_is_read_by_keyboard(reader: Visitor) -> None:
    page = reader.open(f"{ADDRESS}/significance/")
    data = reader.page.request.get(f"{reader.address}{ADDRESS}/significance.json").json()
    said = page.locator("#pair")
    page.locator("td[data-pair]").first.focus()
    first = data["rows"][0]
    expect(said).to_contain_text(f"{first['label']} against {first['other_label']}: Δ")
    expect(said).to_contain_text(f"{first['difference']:.3f}".replace("-", "−"))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    labels = [metric["label"] for metric in data["metrics"]]
    wanted = next(
        row for row in data["rows"] if (row["label"], row["other_label"]) == (labels[2], labels[1])
    )
    difference = f"{wanted['difference']:.3f}".replace("-", "−")
    expect(said).to_contain_text(f"{labels[2]} against {labels[1]}: Δ {difference}")
    low, high = (f"{wanted[name]:.3f}".replace("-", "−") for name in ("low", "high"))
    expect(said).to_contain_text(f"95 % interval {low} to {high}")
    expect(page.locator("td[data-pair][tabindex='0']")).to_have_count(1)


def test_explore_draws_in_the_browser_without_a_violation(reader: Visitor) -> None:
    """Complaints of the policy fail the fixture; Vega is loaded only when it is asked for."""
    requests: list[str] = []
    reader.page.on("request", lambda request: requests.append(request.url))
    page = reader.open(f"{ADDRESS}/correlations/")
    page.get_by_role("button", name="Explore").wait_for()
    assert not [url for url in requests if "/vendor/vega" in url]
    page.get_by_role("button", name="Explore").click()
    page.locator(".drawing .vega-embed svg").wait_for()
    assert len([url for url in requests if "/vendor/vega" in url]) == 3
    marks = page.locator(".drawing .vega-embed svg .mark-symbol.role-mark path")
    expect(marks).to_have_count(3)
    marks.first.hover()
    page.locator("#vg-tooltip-element.visible").wait_for()
    assert page.locator("style").count() == 0


def test_the_table_sorts_by_interval_and_a_form_changes_the_statistic(reader: Visitor) -> None:
    page = reader.open(f"{ADDRESS}/correlations/")
    page.get_by_label("Statistic", exact=True).select_option("pearson")
    page.get_by_label("Grouping", exact=True).select_option("item")
    page.get_by_role("button", name="Show", exact=True).click()
    page.wait_for_url("**statistic=pearson**")
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
