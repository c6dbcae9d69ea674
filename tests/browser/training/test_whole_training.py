"""From parallel text to a metric beside BLEU, through the pages alone."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from playwright.sync_api import Page, expect

from annotation.access import RESEARCHER
from annotation.demo import load_demo
from core.work import sending
from metrics.models import ConfiguredMetric, MetricRun
from metrics.runs import scoring
from tests.browser.conftest import Visitor
from tests.training import doing
from tests.world import make_user
from training.models import ParallelCorpus, TrainingJob

PARALLEL = Path(django_settings.DATA_DIR) / "parallel" / "zh-en.wmt17-unscored.tsv"


@pytest.fixture
def researcher(
    visitor: Callable[..., Visitor],
    settings: object,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Page:
    """Signed in; whatever is started waits until the test works it off."""
    make_user("reader", RESEARCHER)
    settings.TRAINED_DIR = tmp_path / "trained"
    monkeypatch.setattr(sending, "send", lambda *_: True)
    return visitor().sign_in("reader")


@pytest.fixture
def encoder(tmp_path: Path) -> str:
    """To import torch takes seconds, which the other browser's process saves."""
    from benchmarks.gpu import small

    texts = PARALLEL.read_text(encoding="utf-8").splitlines()[1:400]
    plain = [text for line in texts for text in line.split("\t")[1:]]
    return str(small.bert(tmp_path / "encoder", plain, positions=256))


def upload(page: Page, name: str, *files: Path) -> None:
    page.get_by_text("Server", exact=True).click()
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Training").click()
    page.get_by_role("link", name="Parallel text", exact=True).click()
    page.get_by_role("link", name="Upload", exact=True).click()
    page.get_by_label("Name").fill(name)
    page.get_by_label("Source language").fill("zh")
    page.get_by_label("Target language").fill("en")
    for label, file in zip(("File", "Target side"), files, strict=False):
        page.get_by_label(label, exact=True).set_input_files(file)
    page.get_by_role("button", name="Check the files").click()


def run_jobs() -> None:
    for job in TrainingJob.objects.filter(status="queued"):
        doing.run_job(job)
    for run in MetricRun.objects.filter(status="queued"):
        scoring.drain(run.pk, worker="test")


def upload_news(page: Page, folder: Path) -> None:
    """Upload some of the parallel text, read its cleaning report, and store it."""
    lines = PARALLEL.read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "news.tsv").write_text("".join(lines[:301]), encoding="utf-8")
    upload(page, "news", folder / "news.tsv")
    expect(page.get_by_role("region", name="Cleaning")).to_contain_text("300")
    page.get_by_role("button", name="Store this corpus").click()
    expect(page.locator("#messages")).to_contain_text("Stored news with 300 pairs.")


def start_job(page: Page, kind: str, settings: dict[str, str], *ticked: str) -> None:
    """Start a job on the stored text; settings by the labels of the form, some only to say yes."""
    page.get_by_role("link", name="Start a job").click()
    page.get_by_role("link", name=kind).click()
    page.get_by_label("Name").fill("News")
    page.get_by_label("news").check()
    for folded in page.locator("details.advanced summary").all():
        folded.click()
    for label, value in settings.items():
        page.get_by_label(label, exact=True).fill(value)
    for label in ticked:
        page.get_by_label(label, exact=True).select_option("yes")
    page.get_by_label("Start anyway").check()  # no worker of this test reports
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.locator("#job")).to_contain_text("Queued")


def expect_beside_bleu(page: Page, measure: str) -> None:
    """Score the demo's test set with the new metric and BLEU, and read both rows."""
    metric = ConfiguredMetric.objects.get().name
    page.goto(f"{page.url.split('/training')[0]}/testsets/demo-zh-en/score/")
    # No worker of this test says what it can run.
    page.get_by_text("Metrics that cannot run now").click()
    for name in (metric, "bleu"):
        box = page.locator(f"input[value={name}]")
        family = page.locator("details:not([open]):not(#elsewhere)").filter(has=box)
        if family.count():
            family.locator("summary").click()
        box.check()
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_role("heading", name="Metric runs").wait_for()
    run_jobs()
    page.goto(f"{page.url.split('/runs')[0]}/campaigns/demo-zh-en-80/correlations/")
    for name in ("bleu", f"{metric}-{measure}"):
        cell = page.locator(f"tr[data-measure='{name}'] td[data-name=value]")
        assert -1 < float(cell.inner_text().replace("−", "-")) < 1


def test_from_parallel_text_to_a_row_beside_bleu(
    researcher: Page, encoder: str, tmp_path: Path
) -> None:
    load_demo()
    upload_news(researcher, tmp_path)
    settings = {"Encoder": encoder, "Layer": "1", "Sentence pairs": "200"}
    start_job(researcher, "Projection for XMoverScore", settings, "Curve of held-out cosines")
    run_jobs()
    job = researcher.locator("#job")
    expect(job).to_contain_text("XMoverScore CLP zh-en layer 1")
    expect(job.locator("#verdict")).to_contain_text("A projection of layer 1")
    job.get_by_text("Measurements and curves").click()
    expect(job.get_by_text("With the projection: cosine of pairs")).to_be_visible()
    job.get_by_text("By the number of pairs").click()
    sizes = job.get_by_role("region", name="By the number of pairs").locator(
        "tbody tr td:first-child"
    )
    # One pair has 100 words or more; a fifth of the others is held out.
    expect(sizes).to_have_text(["100", "200", "239"])
    expect(job.locator("svg polyline")).not_to_have_count(0)
    expect_beside_bleu(researcher, "2")


def test_a_training_without_judgments_to_a_row_beside_bleu(
    researcher: Page, encoder: str, tmp_path: Path
) -> None:
    load_demo()
    upload_news(researcher, tmp_path)
    start_job(
        researcher,
        "ReFreeEval",
        {
            "Encoder": encoder,
            "Sentence encoder": encoder,
            "Layer": "2",
            "Pairs from each corpus": "100",
            "Held-out share": "0.2",
            "Updates per level": "3",
            "Updates between validations": "3",
        },
    )
    run_jobs()
    job = researcher.locator("#job")
    expect(job).to_contain_text("ReFreeEval full (seed 42)")
    expect(job.locator("#verdict")).to_contain_text("before the training")
    expect_beside_bleu(researcher, "f")


def test_wrong_files_are_named_by_line(researcher: Page, tmp_path: Path) -> None:
    file, other = tmp_path / "a.tsv", tmp_path / "b.txt"
    file.write_text("one\teins\nno tab here\n", encoding="utf-8")
    upload(researcher, "bad", file)
    expect(researcher.locator("#id_file_errors")).to_contain_text("a.tsv, line 2")
    file.write_bytes("one\teins\ntwo\tzw\xf6lf\n".encode("latin-1"))
    upload(researcher, "bad", file)
    expect(researcher.locator("#id_file_errors")).to_contain_text("line 2: not UTF-8")
    file.write_text("one\ntwo\n", encoding="utf-8")
    other.write_text("eins\n", encoding="utf-8")
    upload(researcher, "bad", file, other)
    expect(researcher.locator("#id_file_errors")).to_contain_text(
        "a.tsv has 2 lines and b.txt has 1"
    )
    assert not ParallelCorpus.objects.exists()


def test_a_sweep_is_a_table_and_can_be_cancelled(
    researcher: Page, encoder: str, tmp_path: Path
) -> None:
    file = tmp_path / "bars.txt"
    file.write_text("港口 ||| the harbour\n很安静 ||| is quiet\n", encoding="utf-8")
    upload(researcher, "bars", file)
    researcher.get_by_role("button", name="Store this corpus").click()
    researcher.get_by_role("link", name="Start a job").click()
    researcher.get_by_role("link", name="Projection for XMoverScore").click()
    researcher.get_by_label("Name").fill("Layers")
    researcher.get_by_role("button", name="Start", exact=True).click()
    expect(researcher.get_by_role("alert")).to_contain_text("Nothing was started.")
    expect(researcher.locator("#id_option-checkpoint_errors")).to_contain_text("Enter a value.")
    researcher.get_by_label("bars").check()
    researcher.get_by_label("Encoder").fill(encoder)
    researcher.get_by_label("Layer", exact=True).fill("1, 2, x")
    researcher.get_by_role("button", name="Start", exact=True).click()
    expect(researcher.locator("#id_option-layer_errors")).to_contain_text(
        "“x” is not a whole number."
    )
    researcher.get_by_label("Layer", exact=True).fill("1, 2")
    researcher.get_by_label("Start anyway").check()
    researcher.get_by_role("button", name="Start", exact=True).click()
    researcher.get_by_role("heading", name="Sweep layers").wait_for()
    expect(researcher.locator("tbody tr")).to_have_count(2)
    researcher.locator("tbody tr a").first.click()
    researcher.get_by_role("button", name="Cancel").click()
    expect(researcher.locator("#job")).to_contain_text("Cancelled")
    assert TrainingJob.objects.filter(status="cancelled").count() == 1
