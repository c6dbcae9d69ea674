"""The main job through the pages alone, with its clicks counted: own files to a LaTeX table."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from annotation.access import ADMIN
from annotation.models import Campaign, Judgment, Output
from metaeval.correlation import kendall
from metaeval.judgments import z_scores
from metrics.models import MetricRun
from metrics.runs import scoring
from tests.browser.conftest import Visitor
from tests.world import make_user

SEGMENTS = [
    (
        "港口今天早上很安静，渔船都没有出海。",
        "The harbour was quiet this morning, no boat went out.",
    ),
    (
        "图书馆本周延长开放时间到晚上十点。",
        "The library is open until ten in the evening this week.",
    ),
    ("面包师凌晨三点开始和面。", "The baker starts kneading at three in the morning."),
    ("台风在午夜前登陆，风速很高。", "The typhoon landed before midnight with very high winds."),
    ("博物馆展出了一艘修复的木船。", "The museum shows a restored wooden boat from the river."),
]
GOOD = [reference.replace("The ", "This ") for _, reference in SEGMENTS]
POOR = ["The boat.", "Library open week ten.", "Baker morning.", "Midnight wind.", "A boat shows."]


# Counts clicks of one tab, across its pages; the keyboard's count as well.
COUNT = """addEventListener("click", (event) => {
  if (event.isTrusted) sessionStorage.clicks = Number(sessionStorage.clicks ?? 0) + 1;
}, true);"""
# Of the admin, from the first page to the copied table.
MOST_CLICKS = 21


def people() -> None:
    make_user("admin", ADMIN)


def files(folder: Path) -> dict[str, Path | list[Path]]:
    def write(name: str, lines: list[str]) -> Path:
        path = folder / name
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return {
        "source": write("source.zh", [source for source, _ in SEGMENTS]),
        "reference": write("reference.en", [reference for _, reference in SEGMENTS]),
        "systems": [write("good@0.8.txt", GOOD), write("poor@0.8.txt", POOR)],
    }


def upload(page: Page, folder: Path) -> None:
    sent = files(folder)
    # Without a test set, a campaign begins with one.
    page.get_by_role("link", name="New campaign").click()
    page.get_by_label("Name").fill("Towns")
    page.get_by_label("Source language").fill("zh")
    page.get_by_label("Target language").fill("en")
    page.get_by_label("Source", exact=False).and_(page.locator("#id_source")).set_input_files(
        sent["source"]
    )
    page.locator("#id_references").set_input_files(sent["reference"])
    page.locator("#id_systems").set_input_files(sent["systems"])
    page.get_by_role("button", name="Check the files").click()
    expect(page.get_by_text("Nothing is stored yet")).to_be_visible()
    expect(page.get_by_text(SEGMENTS[0][0])).to_be_visible()
    page.get_by_role("button", name="Store test set and set up a campaign").click()
    expect(
        page.get_by_text("Created “Towns”. Segments: 5, systems: 2, outputs: 10.")
    ).to_be_visible()


def open_campaign(page: Page) -> list[str]:
    """Open the campaign with its annotators, and return their personal links."""
    page.locator("[data-group=checked] > summary").click()
    page.get_by_label("Traps per annotator").fill("2")
    page.get_by_label("Two practice items first").uncheck()
    page.get_by_role("button", name="Next: people").click()
    page.get_by_role("button", name="Add annotators and open campaign").click()
    expect(page.get_by_text("The campaign is open")).to_be_visible()
    return page.locator(".fresh td [data-copy]").evaluate_all(
        "buttons => buttons.map(each => each.dataset.copy)"
    )


def rate_everything(page: Page, link: str, strictness: int) -> None:
    """Rate by what an annotator sees: nearly the whole gray text is good, little of it is not."""
    page.goto(link)
    for place in range(1, 13):
        page.get_by_role("heading", name=f"Item {place} of 12").wait_for()
        page.locator("#item.is-ready").wait_for()
        gray = page.locator("#context p").inner_text().split()
        black = page.locator("#rated p").inner_text().split()
        if gray[: len(black)] == black:
            score = 0  # a trap: the beginning of the gray text and nothing more
        else:
            score = max(0, 100 * len(black) // len(gray) // 10 * 10 - 10 * strictness)
        page.keyboard.press(str(min(9, score // 10)))
        for _ in range(place % 3):
            page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
    page.wait_for_url("**/done/")


def run_metrics(page: Page) -> None:
    page.get_by_role("button", name="Score with").click()
    page.locator("main form[method=post] button[type=submit]").first.click()
    page.wait_for_url("**/runs/**")
    # The live server has no worker beside it: this is what a worker would do.
    for run in MetricRun.objects.all():
        scoring.drain(run.pk, worker="test")
    assert set(MetricRun.objects.values_list("status", flat=True)) == {"done"}


def expected_tau() -> float:
    """Kendall's τ of chrF with mean z, by metaeval on rows that no page code has touched."""
    import numpy as np
    from sacrebleu.metrics import CHRF

    rows = Judgment.objects.filter(is_current=True, assignment__item__kind="target")
    columns = list(rows.values_list("assignment__annotator", "assignment__item__output", "score"))
    annotator, output, score = (np.array(column) for column in zip(*columns, strict=True))
    z = z_scores(score.astype(float), annotator).z
    human, metric = [], []
    for row in Output.objects.prefetch_related("segment__references"):
        human.append(float(z[output == row.pk].mean()))
        references = [reference.text for reference in row.segment.references.all()]
        metric.append(CHRF().sentence_score(row.text, references).score)
    return kendall(human, metric).statistic


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
def test_from_upload_to_correlation(visitor: Callable[..., Visitor], tmp_path: Path) -> None:
    people()
    admin = visitor()
    admin.context.grant_permissions(["clipboard-write"])
    admin.page.add_init_script(COUNT)
    page = admin.sign_in_by_form("admin")
    upload(page, tmp_path)
    links = open_campaign(page)
    campaign = Campaign.objects.get()
    assert len(links) == 3
    for strictness, link in enumerate(links):
        rate_everything(visitor().page, link, strictness)
    assert Judgment.objects.count() == 36
    page.get_by_role("navigation", name="Campaign", exact=True).get_by_role(
        "link", name="Monitor"
    ).click()
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Agreement").click()
    expect(page.get_by_role("region", name="Agreement")).to_contain_text("Without traps")
    page.get_by_text("Judgments, scores and times by annotator").click()
    row = page.get_by_role("region", name="Annotators").get_by_role("row", name="A1")
    expect(row).to_contain_text("12")
    page.get_by_role("navigation", name="Campaign", exact=True).get_by_role(
        "link", name="Results"
    ).click()
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Metrics").click()
    run_metrics(page)
    # The page of a run leads to the results that get its scores.
    page.get_by_role("link", name=campaign.name, exact=True).first.click()
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Metrics").click()
    cell = page.locator("tr[data-measure=chrf] td[data-name=value]")
    expect(cell).to_have_text(f"{expected_tau():.3f}".replace("-", "−"))
    page.locator("th").get_by_role("button", name="Value").click()
    values = page.locator("td[data-name=value]").evaluate_all(
        "cells => cells.map(cell => Number.parseFloat(cell.dataset.value))"
    )
    assert values == sorted(values, reverse=True)
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    assert "rougel-f" in Path(download.value.path()).read_text()
    page.get_by_role("link", name="Table for the paper").first.click()
    page.get_by_role("button", name="Copy LaTeX").click()
    table = page.locator("#source-tex").inner_text()
    assert table.count("\\\\") > 3
    assert "\\toprule" in table
    assert f"{expected_tau():.3f}".lstrip("-") in table
    assert int(page.evaluate("sessionStorage.clicks")) <= MOST_CLICKS, page.evaluate(
        "sessionStorage.clicks"
    )
