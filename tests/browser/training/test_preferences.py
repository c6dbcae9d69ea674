"""From a test set's page to W2W: chosen, sent, worked off, read, taken away."""

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from annotation.access import RESEARCHER
from annotation.models import Reference, TestSet
from core.work import sending
from metrics import registry
from tests.browser.axe import violations
from tests.browser.conftest import Visitor
from tests.metrics import fakes
from tests.training import doing
from tests.world import make_test_set, make_user
from training.models import TrainingJob

TEXTS = ["a b c d e f", "a b c d", "b a d c", "c b a"]


@pytest.fixture
def reader(
    visitor: Callable[..., Visitor],
    settings: object,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., Visitor]:
    """Sign in; whatever is started waits until the test works it off."""
    make_user("reader", RESEARCHER)
    settings.TRAINED_DIR = tmp_path / "trained"
    monkeypatch.setattr(sending, "send", lambda *_: True)
    entry = fakes.make_info("ordered"), "tests.metrics.fakes:Ordered"
    monkeypatch.setitem(registry.METRICS, "ordered", entry)
    make_test_set()
    for reference, text in zip(Reference.objects.order_by("segment"), TEXTS, strict=True):
        reference.text = text
        reference.save()

    def enter(**size: int) -> Visitor:
        someone = visitor(**size)
        someone.sign_in("reader")
        return someone

    return enter


def run_jobs() -> None:
    for job in TrainingJob.objects.filter(status="queued"):
        doing.run_job(job)


def choose(page: Page, *conditions: str) -> None:
    """Come to the form over the test set's page, and choose the metric and conditions."""
    page.get_by_role("link", name="Test sets").first.click()
    page.get_by_role("link", name="Harbour").click()
    page.get_by_role("link", name="Preferences").click()
    page.get_by_role("link", name="Start an analysis").click()
    page.get_by_label("Ordered", exact=True).check()
    for condition in conditions:
        page.get_by_label(condition, exact=True).check()


def start(page: Page) -> None:
    page.get_by_label("Start anyway").check()  # no worker of this test reports
    page.get_by_role("button", name="Start", exact=True).click()


@pytest.mark.parametrize("width", [1280, 360])
def test_from_the_form_to_the_histograms(
    reader: Callable[..., Visitor], tmp_path: Path, width: int
) -> None:
    visitor = reader(width=width)
    page = visitor.page
    choose(page, "Random order", "Texts by annotators")
    file = tmp_path / "people.txt"
    file.write_text("f e d c b a\na b c d\n\na b c\n", encoding="utf-8")
    page.get_by_label("File for “Texts by annotators”").set_input_files(file)
    start(page)
    expect(page.locator("#messages")).to_contain_text("Started an analysis of 1 metric.")
    expect(page.locator("#jobs")).to_contain_text("Queued")
    run_jobs()
    # The page polls, and is replaced once the job has ended.
    row = page.locator("section", has_text="Texts by annotators").locator(
        "tr[data-measure=ordered-output]"
    )
    row.wait_for()
    assert row.locator("td[data-name=w2w]").inner_text() == "0.333"
    assert row.locator("td[data-name=mean]").inner_text() == "−1.0000"
    assert row.locator("td[data-name=n]").inner_text() == "3"
    expect(row).to_contain_text("people.txt")
    drawing = page.locator("#figure-texts .drawing")
    drawing.scroll_into_view_if_needed()
    image = drawing.locator("img")
    image.wait_for()
    page.wait_for_function("() => document.querySelector('#figure-texts img').naturalWidth > 0")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.screenshot(path=tmp_path / f"preferences-{width}.png", full_page=True)


def test_files_hold_what_the_page_shows(reader: Callable[..., Visitor]) -> None:
    visitor = reader()
    choose(visitor.page, "Random order")
    start(visitor.page)
    expect(visitor.page.locator("#jobs")).to_contain_text("Queued")
    run_jobs()
    visitor.page.get_by_role("link", name="CSV").wait_for()
    get = visitor.page.request.get
    address = f"{visitor.address}/testsets/harbour/preferences"
    document = get(f"{address}.json").json()
    shown = visitor.page.locator("#summary tbody tr").all_inner_texts()
    rows = list(csv.DictReader(io.StringIO(get(f"{address}.csv").text())))
    assert [row["label"] for row in rows] == [row["label"] for row in document["rows"]]
    assert {f"{each['label']}\t{float(each['w2w']):.3f}" for each in rows} == set(shown)
    assert r"\toprule" in get(f"{address}.tex").text()
    for fmt, start_of in (("svg", b"<svg"), ("pdf", b"%PDF"), ("png", b"\x89PNG")):
        assert get(f"{address}/figures/reorder.{fmt}").body().startswith(start_of)
    visitor.page.get_by_role("button", name="Explore").click()
    visitor.page.locator(".drawing .vega-embed svg").wait_for()
    page = visitor.open("/preferences/")
    cell = page.locator("tr[data-measure=ordered-output] td")
    expect(cell).to_contain_text(f"{document['rows'][0]['w2w']:.3f}")
    assert violations(page) == []


def test_a_wrong_file_is_named_by_line_and_field_and_starts_nothing(
    reader: Callable[..., Visitor], tmp_path: Path
) -> None:
    page = reader().page
    choose(page)
    file = tmp_path / "words.tsv"
    file.write_text("源文\tsource\n港口\t\n", encoding="utf-8")
    page.get_by_label("File for “Word by word”").set_input_files(file)
    start(page)
    expect(page.get_by_role("alert")).to_contain_text("words.tsv, line 2")
    expect(page.get_by_label("Ordered", exact=True)).to_be_checked()
    assert violations(page) == []
    start(page)
    expect(page.get_by_role("alert")).to_contain_text("Choose at least one condition.")
    assert not TrainingJob.objects.exists()


def test_a_job_is_cancelled_from_the_page(reader: Callable[..., Visitor]) -> None:
    visitor = reader()
    choose(visitor.page, "Random order")
    start(visitor.page)
    visitor.page.get_by_role("button", name="Cancel").click()
    expect(visitor.page.locator("#job")).to_contain_text("Cancelled")
    visitor.page.get_by_role("link", name="Preferences on harbour").click()
    expect(visitor.page.locator("main")).to_contain_text("There are no results yet.")
    assert TestSet.objects.get().preferences.count() == 0
