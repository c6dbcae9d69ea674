"""The scatter plot by keyboard alone: to a point, to its texts and judgments, and by link again."""

import re

import pytest
from playwright.sync_api import expect

from annotation.demo import load_demo
from annotation.models import Campaign, Judgment, Output
from metrics.runs import scoring, starting
from tests.browser.conftest import Visitor
from tests.world import make_user

ADDRESS = "/campaigns/demo-en-zh-80/scatter/?metric=chrf&scores=raw"


@pytest.fixture
def demo(transactional_db: None) -> Campaign:
    load_demo()
    make_user("reader", "researcher")
    campaign = Campaign.objects.get(slug="demo-en-zh-80")
    for run in starting.start(test_set=campaign.test_set, metrics=["chrf"], enqueue=False).runs:
        scoring.drain(run.pk, worker="test")
    return campaign


def test_a_point_opens_its_judgments_by_keyboard(demo: Campaign, visitor: type[Visitor]) -> None:
    someone = visitor()
    someone.enter("reader")
    page = someone.open(ADDRESS)
    plot = page.locator("#plot[data-ready]")
    expect(plot.locator(".point")).to_have_count(132)
    plot.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    told = page.locator("#plot-now").inner_text()
    system, segment, human = re.match(r"(\S+), segment (\S+): Human score ([−\d.]+)", told).groups()  # type: ignore[union-attr]
    page.keyboard.press("Enter")
    heading = page.locator("#output-title")
    expect(heading).to_have_text(f"{system}, segment {segment}")
    expect(heading).to_be_focused()
    output = Output.objects.get(system__campaigns=demo, system__name=system, segment__key=segment)
    judged = Judgment.objects.filter(is_current=True, assignment__item__output=output)
    raw = sorted(judged.values_list("score", flat=True))
    cells = page.locator("[data-judgments] tbody td:nth-child(2)").all_inner_texts()
    assert sorted(map(int, cells)) == raw
    assert float(human.replace("−", "-")) == pytest.approx(sum(raw) / len(raw), abs=5e-4)
    expect(page.locator("#output dd").last).to_have_text(output.text)
    assert page.url.endswith(f"&output={output.pk}")
    page.reload()
    expect(page.locator("#output-title")).to_have_text(f"{system}, segment {segment}")


def test_a_row_of_the_worst_opens_beside_the_plot(demo: Campaign, visitor: type[Visitor]) -> None:
    someone = visitor(width=360)
    someone.enter("reader")
    page = someone.open(ADDRESS)
    page.locator("#plot[data-ready]").wait_for()
    link = page.locator("a[data-output]").first
    link.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#output-title")).to_be_focused()
    assert page.url.endswith(f"output={link.get_attribute('data-output')}")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
