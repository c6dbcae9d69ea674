"""Metrics, models and workers as an admin and a researcher use them."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from core.messages import as_json
from core.work.models import Now
from metaeval.messages import message
from metrics.models import ConfiguredMetric, HashCheck
from metrics.models.fleet import Worker
from tests.browser.conftest import Visitor
from tests.metrics.fleet import empty_models, encoder, found, make_worker
from tests.world import make_world


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return empty_models(tmp_path, monkeypatch)


@pytest.fixture
def admin(visitor: Callable[..., Visitor], models: Path) -> Page:
    make_world()
    return visitor().sign_in("admin")


def test_the_way_from_a_missing_encoder_to_a_metric(admin: Page, models: Path) -> None:
    """By keyboard and labels alone: the form says what is missing, then what there would be."""
    admin.get_by_role("link", name="Metrics", exact=True).click()
    admin.get_by_role("link", name="Add a metric").click()
    admin.get_by_role("link", name="BERTScore", exact=True).click()
    admin.get_by_label("Name").fill("bs-harbour")
    admin.get_by_label("Label").fill("BERTScore Harbour")
    admin.get_by_label("Encoder").fill("acme/harbour")
    admin.get_by_label("Layer shown").fill("5")
    admin.get_by_label("Layer shown").press("Enter")
    field = admin.get_by_label("Encoder")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(admin.locator("#id_option-checkpoint_errors")).to_contain_text("acme/harbour")
    expect(admin.get_by_role("alert")).to_contain_text("Nothing was added.")
    encoder(models / "acme" / "harbour", layers=6)
    admin.get_by_role("button", name="Preview").click()
    preview = admin.get_by_role("region", name="Preview of BERTScore Harbour")
    expect(preview).to_contain_text("BERTScore Harbour 5-F1")
    expect(preview).to_contain_text("21 values per segment")
    admin.get_by_role("button", name="Add metric").click()
    expect(admin.locator("#messages")).to_contain_text("Added BERTScore Harbour.")
    admin.get_by_role("link", name="Rename, copy, archive or delete this metric").click()
    admin.get_by_role("button", name="Archive").click()
    expect(admin.locator("#messages")).to_contain_text("Archived BERTScore Harbour.")
    assert ConfiguredMetric.objects.get().retired_at is not None


def test_the_page_of_workers_follows_what_happens(
    visitor: Callable[..., Visitor], models: Path
) -> None:
    make_world()
    someone = visitor()
    someone.enter("researcher")
    page = someone.open("/workers/")
    expect(page.get_by_text("There are no workers")).to_be_visible()
    row = make_worker("gpu0@one", lacks={"comet": ["It has no GPU."]})
    table = page.locator("#workers")
    expect(table).to_contain_text("gpu0@one")
    expect(table).to_contain_text("idle")
    page.get_by_text("cannot run 1 metric").click()
    link = page.get_by_role("link", name="0 checkpoints on disk")
    link.focus()
    Worker.objects.filter(pk=row.pk).update(is_stopping=True)
    expect(table).to_contain_text("stopping")
    expect(link).to_be_focused()
    expect(page.get_by_text("It has no GPU.")).to_be_visible()
    Worker.objects.all().delete()
    expect(page.get_by_text("There are no workers")).to_be_visible()


def test_a_comparison_of_hashes_shows_its_end_by_itself(admin: Page, models: Path) -> None:
    name = "roberta-large-mnli"
    make_worker("gpu0@one", checkpoints={name: found()})
    admin.goto(admin.url.split("/campaigns")[0].rstrip("/") + "/models/")
    card = admin.get_by_role("region", name=re.compile(f"^{name}"))
    expect(card).to_contain_text("not checked yet")
    card.get_by_role("button", name="Check hashes").click()
    expect(card).to_contain_text("being checked")
    problem = message("test.changed-file", "{file} was changed.", file="model.safetensors")
    told = {"problems": [as_json(problem)], "size": found()["size"]}
    HashCheck.objects.update(status="done", checked_at=Now(), **told)
    expect(card).to_contain_text("model.safetensors was changed.")


def test_pages_fit_a_phone(visitor: Callable[..., Visitor], models: Path) -> None:
    make_world()
    make_worker("gpu0@a-host-with-a-long-name.example.org", checkpoints={
        "roberta-large-mnli": found(path="/srv/models/" + "deep/" * 12, problems=["x is missing."]),
    })  # fmt: skip
    someone = visitor(width=360)
    someone.enter("admin")
    for path in ("/metrics/", "/metrics/bertscore-roberta/", "/models/", "/workers/"):
        page = someone.open(path)
        assert not page.evaluate("document.documentElement.scrollWidth > innerWidth"), path
