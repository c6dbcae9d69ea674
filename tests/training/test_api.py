"""The API of training."""

from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from core.work import sending
from tests.refusals import has
from training.models import ParallelCorpus, TrainingJob
from training.parallel import corpora
from training.parallel.reading import Row


@pytest.fixture
def api(as_researcher: Client, monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setattr(sending, "send", lambda *_: True)
    rows = [Row("a:1", "港口", "harbour"), Row("a:2", "", "quiet")]
    corpora.add(name="port", source_language="zh", target_language="en", rows=rows)
    return as_researcher


def start(api: Client, **changes: Any) -> Any:
    body = {
        "kind": "remap", "name": "Fit", "corpora": ["port"], "options": {"checkpoint": "acme/x"},
    }  # fmt: skip
    return api.post("/api/jobs/", body | changes, content_type="application/json")


def test_corpora_are_listed_with_their_report(api: Client) -> None:
    (corpus,) = api.get("/api/corpora/").json()["results"]
    assert (corpus["name"], corpus["n_pairs"]) == ("port", 1)
    assert corpus["report"]["left_out"] == {"empty": 1}
    assert api.get("/api/corpora/port/").json() == corpus


def test_a_job_is_started_watched_and_cancelled(api: Client) -> None:
    made = start(api)
    assert made.status_code == 201
    pk = made.json()["id"]
    (listed,) = api.get("/api/jobs/").json()["results"]
    assert (listed["corpora"], listed["status"], listed["options"]["pairs"]) == (
        ["port"],
        "queued",
        2000,
    )
    assert api.post(f"/api/jobs/{pk}/cancel/").json()["status"] == "cancelled"
    assert api.post(f"/api/jobs/{pk}/cancel/").status_code == 409


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "flying"}, "training.unknown-kind"),
        ({"options": {"checkpoint": "x", "layer": "y"}}, "is not a whole number"),
        ({"options": {"checkpoint": "x", "wings": 2}}, "wings"),
        ({"corpora": []}, "training.no-corpus"),
        ({"corpora": ["nowhere"]}, "nowhere"),
        ({"name": ""}, "name"),
    ],
)
def test_what_cannot_be_started_says_why(
    api: Client, changes: dict[str, Any], message: str
) -> None:
    answer = start(api, **changes)
    assert answer.status_code == 400
    assert has(answer.content.decode(), message)
    assert not TrainingJob.objects.exists()


def test_jobs_of_one_sweep(api: Client) -> None:
    start(api)
    TrainingJob.objects.update(sweep="layers")
    start(api)
    assert len(api.get("/api/jobs/?sweep=layers").json()["results"]) == 1


@pytest.mark.parametrize(("file", "usable"), [
    ("en-zh.tatoeba.tsv", 8000),
    ("zh-en.wmt17-unscored.tsv", 1154),
    ("zh-en.word-aligned.tsv", 450),
])  # fmt: skip
def test_parallel_text_comes_in_by_programs(
    api: Client, data_dir: Path, file: str, usable: int
) -> None:
    sent = SimpleUploadedFile(file, (data_dir / "parallel" / file).read_bytes())
    data = {"name": "sent", "source_language": "zh", "target_language": "en", "file": sent}
    tried = api.post("/api/corpora/", {**data, "dry_run": "true"})
    assert (tried.status_code, tried.json()["report"]["kept"]) == (200, usable)
    assert not ParallelCorpus.objects.filter(name="sent").exists()
    sent.seek(0)
    answer = api.post("/api/corpora/", data)
    assert (answer.status_code, answer.json()["n_pairs"]) == (201, usable)
    sent.seek(0)
    assert api.post("/api/corpora/", data).json()["name"] == [
        "There is already a corpus named sent."
    ]
    assert api.post("/api/corpora/", {"name": "x"}).status_code == 400
