"""What Prometheus reads, as its own client library parses it."""

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from annotation.models import Judgment
from core.caching import clear_ttl_cache
from core.work.models import Work
from dashboards.models import Analysis
from metrics.models.fleet import Worker
from tests.world import World

TOKEN = "of-prometheus"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def counting(settings: Any) -> None:
    clear_ttl_cache()
    settings.PROMETHEUS_TOKEN = TOKEN


def read(client: Client) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """The value of each sample by its name and labels."""
    answer = client.get("/prometheus", headers=BEARER)
    assert answer.status_code == 200
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def labels(**values: str) -> frozenset[tuple[str, str]]:
    return frozenset(values.items())


def test_without_a_token_the_address_is_not_there(db: None, client: Client) -> None:
    assert client.get("/prometheus", headers=BEARER).status_code == 404


@pytest.mark.parametrize("given", ["", "Bearer", "Bearer other", f"Basic {TOKEN}"])
def test_only_the_token_opens_it(
    db: None, counting: None, admin_client: Client, given: str
) -> None:
    answer = admin_client.get("/prometheus", headers={"Authorization": given})
    assert (answer.status_code, answer.content) == (401, b"")


def test_requests_are_counted_by_view_and_no_link_is_told(
    db: None, counting: None, client: Client
) -> None:
    link = "k" * 43
    key = "touchstone_requests_total"
    asked = labels(method="GET", view="personal-link", status="404")
    timed = labels(view="personal-link")
    before = read(client)
    client.get(f"/a/{link}/")
    client.get("/nowhere/")
    client.generic("PURGE", "/nowhere/")
    after = read(client)
    assert after[key, asked] == before.get((key, asked), 0) + 1
    seconds = "touchstone_request_seconds_count"
    assert after[seconds, timed] == before.get((seconds, timed), 0) + 1
    assert after[key, labels(method="other", view="none", status="404")] >= 1
    assert link not in client.get("/prometheus", headers=BEARER).text


def test_work_workers_and_judgments(world: World, counting: None, client: Client) -> None:
    long_ago = timezone.now() - timedelta(hours=1)
    about = {"kind": "people", "queue": "documents"}
    queued = Analysis.objects.create(question="a", status=Work.Status.QUEUED, **about)
    Analysis.objects.filter(pk=queued.pk).update(not_before=long_ago)
    Analysis.objects.create(question="b", status=Work.Status.FAILED, **about)
    gpu = {"kind": "gpu", "name": "H200", "total": 8 << 30, "free": 3 << 30}
    common = {"host": "one", "devices": [gpu], "started_at": long_ago}
    for name, seen in (("w1", timezone.now()), ("w2", timezone.now()), ("old", long_ago)):
        Worker.objects.create(
            uid=name, name=name, pid=1, queues=["gpu", "own"], memory=5, seen_at=seen, **common
        )
    found = read(client)
    items = "touchstone_work_items"
    documents = {"kind": "document", "queue": "documents"}
    assert found[items, labels(**documents, status="queued")] == 1
    assert found[items, labels(**documents, status="failed")] == 1
    waited = found["touchstone_work_oldest_seconds", labels(**documents)]
    assert 3600 <= waited < 3700
    workers = {dict(k[1])["queue"]: v for k, v in found.items() if k[0] == "touchstone_workers"}
    assert (workers["gpu"], workers["own"], workers["documents"]) == (2, 2, 0)
    memory = {k[1]: v for k, v in found.items() if k[0] == "touchstone_gpu_memory_bytes"}
    one = {"host": "one", "gpu": "0 H200"}
    assert memory == {labels(**one, state="total"): 8 << 30, labels(**one, state="free"): 3 << 30}
    assert found["touchstone_judgments", frozenset()] == Judgment.objects.count()


COUNTED_TOGETHER = """
import django, os
django.setup()
from django.test import Client
answer = Client().get("/healthz")
assert answer.status_code == 200
if os.fork():
    os.wait()
    told = Client().get("/prometheus", headers={"Authorization": "Bearer of-prometheus"})
    print(told.text)
else:
    Client().get("/healthz")
    os._exit(0)
"""


def test_the_processes_of_a_web_server_count_together(tmp_path: Path) -> None:
    (tmp_path / "counts").mkdir()
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "ALLOWED_HOSTS": "testserver",
        "PROMETHEUS_TOKEN": TOKEN,
        "PROMETHEUS_MULTIPROC_DIR": str(tmp_path / "counts"),
        "TOUCHSTONE_VAR": str(tmp_path),
        "DATABASE_URL": f"sqlite:///{tmp_path / 'none.sqlite3'}",
    }
    root = Path(__file__).parents[2]
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "-v0", "--skip-checks"],
        cwd=root, env=environment, check=True,
    )  # fmt: skip
    told = subprocess.run(
        [sys.executable, "-c", COUNTED_TOGETHER],
        cwd=root, env=environment, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    samples = {
        frozenset(sample.labels.items()): sample.value
        for family in text_string_to_metric_families(told)
        for sample in family.samples
        if sample.name == "touchstone_requests_total"
    }
    assert samples[labels(method="GET", view="healthz", status="200")] == 2
