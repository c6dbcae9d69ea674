"""Pages of metrics: list, detail, configure, retire."""

from html import unescape
from pathlib import Path

import pytest
from django.test import Client

from metrics import catalogue
from metrics.models import ConfiguredMetric
from metrics.registry import METRICS, get_family
from metrics.runs import scoring, starting
from tests.house.templates.seen import seen
from tests.metrics.fleet import empty_models, encoder, found, make_worker
from tests.refusals import tells
from tests.world import World

SENT = {"name": "bs-x", "label": "BERTScore X", "option-checkpoint": "acme/x", "option-layer": "3"}
FORM = "/metrics/add/bertscore/"


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = empty_models(tmp_path, monkeypatch)
    encoder(folder / "acme" / "x")
    return folder


@pytest.mark.needs("extensions.neural")
def test_the_list_names_every_metric_and_what_it_needs(as_researcher: Client, models: Path) -> None:
    encoder(models / "roberta-large-mnli", layers=24)
    page = unescape(as_researcher.get("/metrics/").text)
    for info, _ in METRICS.values():
        assert info.label in page
        assert info.citation in page
        assert info.checkpoint in page
    assert page.count(">present<") == 1
    assert "Add a metric" not in page


def test_a_metric_with_its_signature_and_runs(world: World, as_researcher: Client) -> None:
    [run] = starting.start(test_set=world.test_set, metrics=["chrf++"], enqueue=False).runs
    scoring.drain(run.pk, worker="test")
    page = as_researcher.get("/metrics/chrf++/").text
    assert "<dt>version</dt><dd>2.6.0</dd>" in seen(page)
    assert f'href="{run.get_absolute_url()}"' in page
    assert as_researcher.get("/metrics/nothing/").status_code == 404


@pytest.mark.needs("extensions.neural")
@pytest.mark.parametrize(
    ("metric", "reading"),
    [
        ("bleu", "all references are used at once"),
        ("chrf", "each value is the best over all references"),
        ("wmt22-comet-da", "only the first by name is used"),
        ("bleurt-20", "each value is the mean over all references"),
        ("wmt22-cometkiwi-da", None),
    ],
)
def test_the_page_says_which_references_are_read(
    as_researcher: Client, metric: str, reading: str | None
) -> None:
    page = seen(unescape(as_researcher.get(f"/metrics/{metric}/").text))
    line = f"<dt>Several references</dt><dd>{reading}</dd>"
    assert (line in page) == (reading is not None)


@pytest.mark.parametrize(
    ("page", "family"),
    [
        ("bleu", "lexical"),
        pytest.param("wmt22-comet-da", "comet", marks=pytest.mark.needs("extensions.neural")),
        ("add/lexical", "lexical"),
    ],
)
def test_pages_say_how_a_family_fails(as_admin: Client, page: str, family: str) -> None:
    assert str(get_family(family).limits) in seen(unescape(as_admin.get(f"/metrics/{page}/").text))


def test_the_page_of_rouge_tells_its_tokens(as_researcher: Client) -> None:
    page = unescape(as_researcher.get("/metrics/rouge/").text)
    assert tells(page, "lexical.rouge-notes")


@pytest.mark.needs("extensions.neural")
def test_references_are_chosen_on_the_form(as_admin: Client, models: Path) -> None:
    form = as_admin.get(FORM).text
    assert "Several references" in form
    as_admin.post(FORM, SENT | {"option-references": "mean", "add": "yes"})
    page = as_admin.get("/metrics/bs-x/").text
    assert page.count("Several references") == 1
    assert tells(page, "references.mean")


@pytest.mark.needs("extensions.neural")
def test_where_its_checkpoint_is_and_how_to_get_it(as_researcher: Client, models: Path) -> None:
    make_worker("gpu0@far", checkpoints={"acme/other": found()})
    page = as_researcher.get("/metrics/bertscore-roberta/").text
    assert "Run on far:" in page
    assert "python manage.py models --fetch roberta-large-mnli" in page


@pytest.mark.needs("extensions.neural")
def test_a_preview_stores_nothing(as_admin: Client, models: Path) -> None:
    response = as_admin.post(FORM, SENT | {"preview": "yes"})
    assert response.status_code == 200
    assert "Preview of BERTScore X" in response.text
    assert "BERTScore X 3-F1" in response.text
    assert not ConfiguredMetric.objects.exists()


@pytest.mark.needs("extensions.neural")
def test_adding_one(as_admin: Client, models: Path, world: World) -> None:
    response = as_admin.post(FORM, SENT | {"add": "yes"}, follow=True)
    assert response.redirect_chain == [("/metrics/bs-x/", 302)]
    assert "Added BERTScore X." in response.text
    row = ConfiguredMetric.objects.get()
    assert (row.name, row.created_by) == ("bs-x", world.admin)
    assert row.info.shown == ("bs-x-3-f",)
    start = as_admin.get(f"/testsets/{world.test_set.slug}/score/").text
    assert 'value="bs-x"' in start


@pytest.mark.needs("extensions.neural")
def test_adding_it_twice_is_refused(as_admin: Client, models: Path) -> None:
    """As in two tabs, or by a second click."""
    as_admin.post(FORM, SENT | {"add": "yes"})
    response = as_admin.post(FORM, SENT | {"add": "yes"})
    assert response.status_code == 422
    assert tells(response.text, "metric.name-taken", metric="bs-x")
    assert ConfiguredMetric.objects.count() == 1


@pytest.mark.needs("extensions.neural")
def test_errors_stand_at_their_fields(as_admin: Client, models: Path) -> None:
    response = as_admin.post(FORM, SENT | {"option-layer": "-1", "add": "yes"})
    assert response.status_code == 422
    assert tells(
        response.text.split('id="id_option-layer_errors"')[1][:40], "option.minimum", minimum=0
    )
    response = as_admin.post(FORM, SENT | {"option-checkpoint": "acme/none", "add": "yes"})
    assert "hf download acme/none" in response.text
    assert not ConfiguredMetric.objects.exists()


@pytest.mark.needs("extensions.neural")
def test_the_form_offers_checkpoints_of_all_hosts(as_admin: Client, models: Path) -> None:
    make_worker("gpu0@far", checkpoints={"acme/far": found()})
    page = as_admin.get(f"{FORM}?checkpoint=acme/far").text
    assert '<option value="acme/far">' in page
    assert '<option value="acme/x">' in page
    assert 'value="acme/far" list="known-checkpoints"' in page


@pytest.mark.needs("extensions.neural")
def test_a_family_that_nobody_knows(as_admin: Client) -> None:
    assert as_admin.get("/metrics/add/nothing/").status_code == 404
    assert "BERTScore" in as_admin.get("/metrics/add/").text


@pytest.mark.needs("extensions.neural")
def test_retiring_keeps_the_page_and_ends_new_runs(
    as_admin: Client, models: Path, world: World
) -> None:
    as_admin.post(FORM, SENT | {"add": "yes"})
    response = as_admin.post("/manage/metric/bs-x/archive/", follow=True)
    assert "Archived BERTScore X" in response.text
    assert "data-retired" in as_admin.get("/metrics/bs-x/").text
    assert "bs-x" not in as_admin.get(f"/testsets/{world.test_set.slug}/score/").text
    assert "Retired" in as_admin.get("/metrics/").text
    as_admin.post("/manage/metric/bs-x/restore/")
    assert "bs-x" in catalogue.infos()
    assert as_admin.post("/manage/metric/chrf/archive/").status_code == 404


def test_only_site_admins_configure(as_researcher: Client, models: Path, world: World) -> None:
    assert as_researcher.post(FORM, SENT | {"add": "yes"}).status_code == 403
    assert not ConfiguredMetric.objects.exists()
