"""Pages of models and of workers."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from metrics.runs import starting
from metrics.stock import hosts
from metrics.workers.signatures import CODE_HASH
from tests.house.templates.seen import seen
from tests.metrics.fleet import (
    empty_models,
    encoder,
    found,
    make_child,
    make_worker,
    put_to_work,
)
from tests.refusals import tells
from tests.world import World

FRAGMENT = {"HTTP_HX_REQUEST": "true"}
NAME = "roberta-large-mnli"


@pytest.fixture(autouse=True)
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return empty_models(tmp_path, monkeypatch)


def card(page: str, name: str) -> str:
    """The part of the page of models that is about one checkpoint."""
    return page.split(f">{name} <")[1].split("</section>")[0]


@pytest.mark.needs("extensions.neural")
def test_without_workers_the_web_server_counts(as_researcher: Client, models: Path) -> None:
    encoder(models / NAME)
    page = as_researcher.get("/models/").text
    assert 'data-case="no-workers"' in page
    assert tells(card(page, NAME), "checkpoint.this-web-server")
    assert "python manage.py models --fetch facebook/bart-large-mnli" in page


@pytest.mark.needs("extensions.neural")
def test_what_hosts_have_and_lack(as_researcher: Client) -> None:
    make_worker("gpu0@one", checkpoints={NAME: found(fingerprint="ab12", size=3 * 2**30)})
    make_worker("gpu0@two")
    make_worker("gpu0@gone", checkpoints={NAME: found()}, silent=60)
    page = as_researcher.get("/models/").text
    assert "Workers on 2 hosts report" in page
    about = card(page, NAME)
    assert "3 GiB" in about
    assert "ab12" in about
    assert 'data-lacking="two"' in about
    assert "gone" not in about
    assert "Check hashes" not in page


@pytest.mark.needs("extensions.neural")
def test_different_files_and_damaged_files_are_told(as_researcher: Client) -> None:
    problem = "config.json is not what SHA256SUMS says."
    make_worker("gpu0@one", checkpoints={NAME: found(fingerprint="a", problems=[problem])})
    make_worker("gpu0@two", checkpoints={NAME: found(fingerprint="b", checked_at=60, problems=[])})
    about = card(as_researcher.get("/models/").text, NAME)
    assert "data-differ" in about
    assert problem in about
    assert "1 Jan 1970, 00:01" in about


@pytest.mark.needs("extensions.neural")
def test_an_admin_has_hashes_compared(as_admin: Client) -> None:
    make_worker("gpu0@one", checkpoints={NAME: found()})
    assert "data-live" not in as_admin.get("/models/").text
    response = as_admin.post("/models/check/", {"name": NAME}, follow=True)
    assert f"Started checking {NAME} on one." in response.text
    assert "data-live" in response.text
    assert hosts.checks_under_way() == {("one", NAME)}
    again = as_admin.get("/models/", **FRAGMENT)
    assert "<html" not in again.text
    assert "being checked" in again.text


def test_nobody_can_be_asked(as_admin: Client) -> None:
    make_worker("gpu0@gone", checkpoints={NAME: found()}, silent=60)
    response = as_admin.post("/models/check/", {"name": NAME}, follow=True)
    assert tells(response.text, "checkpoint.no-host", checkpoint=NAME)
    assert as_admin.post("/models/check/").status_code == 404


def test_no_worker_yet(as_researcher: Client) -> None:
    page = as_researcher.get("/workers/").text
    assert 'id="no-workers"' in page
    assert "python manage.py worker" in page


def test_a_worker_at_work(world: World, as_researcher: Client) -> None:
    gpu = {"kind": "gpu", "name": "NVIDIA H100 80GB HBM3", "total": 80 * 2**30, "free": 2**30}
    worker = make_worker(
        devices=[gpu, {"kind": "cpu", "name": "16 cores", "total": None, "free": None}],
        versions={"touchstone": CODE_HASH, "torch": "2.13.0"},
        checkpoints={"acme/x": found()},
    )  # fmt: skip
    [run] = starting.start(test_set=world.test_set, metrics=["chrf"], enqueue=False).runs
    put_to_work(run, "gpu0@one", 412.0)
    make_child(worker, resident=["acme/x"], device="NVIDIA H100 80GB HBM3 0", memory=3 * 2**30)
    make_child(worker, 9)
    page = seen(as_researcher.get("/workers/").text)
    for text in (
        "NVIDIA H100 80GB HBM3", "1 GiB free of 80 GiB", "16 cores", "acme/x", "412/s",
        "1 checkpoint on disk", "NVIDIA H100 80GB HBM3 0, 3 GiB, acme/x",
        "no model in memory", "torch 2.13.0", run.get_absolute_url(), ">working<",
    ):  # fmt: skip
        assert text in page
    assert not attention_of(as_researcher)
    fragment = as_researcher.get("/workers/", **FRAGMENT).text
    assert "<html" not in fragment
    assert "data-live" in fragment


def attention_of(client: Client) -> dict[str, Any]:
    found = client.get("/workers/").context["attention"]
    return {each.code: each.parameters["workers"] for each in found}


@pytest.mark.needs("extensions.neural")
def test_what_needs_attention(world: World, as_researcher: Client) -> None:
    lacks = {"chrf": ["The package sacrebleu is not installed."]}
    make_worker("celery@one", queues=["cpu"], versions={"touchstone": "old"}, lacks=lacks)
    make_worker("gpu0@gone", silent=3 * 3600)
    starting.start(test_set=world.test_set, metrics=["bleurt-20"], enqueue=False)
    page = seen(as_researcher.get("/workers/").text)
    assert "cannot run 1 metric<" in page
    assert "The package sacrebleu is not installed." in page
    assert attention_of(as_researcher) == {
        "workers.silent": ["gpu0@gone"],
        "workers.other-code": ["celery@one"],
    }
    assert 'data-idle="absent" data-queue="gpu"' in page


@pytest.mark.needs("extensions.judges")
def test_pages_lead_to_their_neighbours(as_admin: Client) -> None:
    server = {"/judges/", "/models/", "/workers/"}
    for name, addresses in {"Metrics": {"/metrics/", "/runs/"}, "Server": server}.items():
        for address in addresses:
            page = seen(as_admin.get(address).text)
            tabs = page.split(f'<nav class="tabs" aria-label="{name}">')[1].split("</nav>")[0]
            assert addresses <= set(re.findall(r'<a href="([^"]+)"', tabs))
            assert f'href="{address}" aria-current="page"' in tabs
