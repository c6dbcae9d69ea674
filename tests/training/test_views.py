"""Pages of corpora and jobs: what is stored, refused, started; the rest is in tests/browser."""

import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.models import TestSet
from core.work import sending
from metrics import catalogue
from metrics.models import MetricRun
from metrics.options import Option
from tests.house.templates.seen import seen
from tests.metrics.fleet import make_worker
from tests.refusals import tells
from tests.training.doing import run_job
from tests.world import World, make_test_set
from training.contract import KINDS, TrainingKind
from training.models import ParallelCorpus, TrainingJob
from training.parallel import corpora
from training.parallel.reading import Row

TSV = "source\ttarget\n港口\tharbour\n港口\tharbour\n\tnothing\n安静\tquiet\n"
UPLOAD = "/training/corpora/upload/"


@pytest.fixture(autouse=True)
def no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "send", lambda *_: True)


@pytest.fixture
def corpus(world: World) -> ParallelCorpus:
    rows = [Row("a:1", "港口", "harbour"), Row("a:2", "安静", "quiet")]
    return corpora.add(name="port", source_language="zh", target_language="en", rows=rows)


def send(client: Client, *contents: bytes, **changes: str) -> Any:
    fields = {"name": "port", "source_language": "zh", "target_language": "en"} | changes
    files = {
        name: SimpleUploadedFile(f"{name}.txt", content)
        for name, content in zip(("file", "target_file"), contents, strict=False)
    }
    return client.post(UPLOAD, {**fields, **files})


def test_nothing_is_stored_before_the_confirmation(as_researcher: Client) -> None:
    answer = send(as_researcher, TSV.encode())
    preview = as_researcher.get(answer["Location"])
    assert not ParallelCorpus.objects.exists()
    report = preview.context["report"]
    assert (report["read"], report["kept"], report["left_out"]) == (
        4,
        2,
        {"repeated": 1, "empty": 1},
    )
    assert "file.txt:4" in preview.content.decode()
    as_researcher.post(answer["Location"])
    corpus = ParallelCorpus.objects.get()
    assert corpora.pairs_of(corpus) == [("港口", "harbour"), ("安静", "quiet")]
    assert as_researcher.get(corpus.get_absolute_url()).status_code == 200
    again = as_researcher.post(answer["Location"], follow=True)
    assert [each.level_tag for each in again.context["messages"]] == ["error"]


def test_two_files_are_pairs_line_by_line(as_researcher: Client) -> None:
    answer = send(as_researcher, "港口\n安静\n".encode(), b"harbour\nquiet\n")
    as_researcher.post(answer["Location"])
    assert ParallelCorpus.objects.get().n_pairs == 2


@pytest.mark.parametrize(
    ("content", "changes", "message"),
    [
        (b"", {}, "file.txt is empty"),
        (b"\xff\xfe", {}, "file.txt, line 1"),
        (b"a\tb\nc\n", {}, "file.txt, line 2"),
        (b"a\tb\n", {"source_language": "xx-nowhere"}, "“xx-nowhere”"),
        (b"a\tb\n", {"source_language": "en"}, "must differ"),
        (b"a\tb\n", {"name": "upload"}, "already"),
    ],
)
def test_what_cannot_be_stored_says_why(
    as_researcher: Client, content: bytes, changes: dict[str, str], message: str
) -> None:
    answer = send(as_researcher, content, **changes)
    assert answer.status_code == 422
    assert message in answer.content.decode()


def test_text_without_a_pair_cannot_be_confirmed(as_researcher: Client) -> None:
    address = send(as_researcher, b"a\t\n")["Location"]
    preview = as_researcher.get(address)
    assert (preview.status_code, preview.context["sample"]) == (422, [])
    as_researcher.post(address)
    assert not ParallelCorpus.objects.exists()


def test_another_person_cannot_confirm(as_researcher: Client, world: World) -> None:
    address = send(as_researcher, b"a\tb\n")["Location"]
    as_researcher.force_login(world.admin)
    as_researcher.post(address)
    assert not ParallelCorpus.objects.exists()


def test_a_name_taken_in_the_meantime_is_refused(as_researcher: Client) -> None:
    addresses = [send(as_researcher, content)["Location"] for content in (b"a\tb\n", b"c\td\n")]
    answers = [as_researcher.post(each, follow=True) for each in addresses]
    assert "already exists" in answers[1].content.decode()
    assert corpora.pairs_of(ParallelCorpus.objects.get()) == [("a", "b")]


def test_only_unread_corpora_are_deleted(
    as_admin: Client, as_researcher: Client, world: World, corpus: ParallelCorpus
) -> None:
    address = f"/manage/corpus/{corpus.name}/delete/"
    as_researcher.force_login(world.researcher)
    assert as_researcher.post(address).status_code == 403
    job = TrainingJob.objects.create(kind="remap", name="fit", status="done")
    job.corpora.add(corpus)
    as_admin.force_login(world.admin)
    assert as_admin.post(address).context["blocks_deletion"].code == "lifecycle.corpus-read"
    job.delete()
    as_admin.post(address, {"seen": as_admin.get(address).context["seen"]})
    assert not ParallelCorpus.objects.exists()


def start(client: Client, **changes: str) -> Any:
    fields = {"name": "Fit", "corpora": "port", "option-checkpoint": "acme/x", "anyway": "on"}
    fields |= changes
    sent = {name: value for name, value in fields.items() if name != "corpora" or value}
    return client.post("/training/start/remap/", sent)


def test_a_job_starts_with_its_defaults(as_researcher: Client, corpus: ParallelCorpus) -> None:
    answer = start(as_researcher)
    job = TrainingJob.objects.get()
    assert answer["Location"] == job.get_absolute_url()
    assert (job.name, job.sweep, job.options["pairs"]) == ("fit", "", 2000)
    assert list(job.corpora.all()) == [corpus]
    assert job.created_by is not None


def missing_in(page: Any) -> list[str]:
    return [each.code for each in page.context["form"].missing]


def test_a_form_says_before_the_start_what_no_worker_has(
    as_researcher: Client, corpus: ParallelCorpus
) -> None:
    page = as_researcher.get("/training/start/remap/?option-checkpoint=acme/x")
    assert missing_in(page) == ["start.no-worker"]
    make_worker("gpu0@one", queues=["gpu"], checkpoints={"acme/y": {}})
    refused = start(as_researcher, anyway="", **{"option-layer": "8, 9"})
    assert (refused.status_code, missing_in(refused)) == (422, ["start.no-checkpoint"])
    assert set(refused.context["form"].errors) == {"anyway"}
    assert 'value="8, 9"' in refused.text
    assert not TrainingJob.objects.exists()
    assert start(as_researcher, anyway="", **{"option-checkpoint": "acme/y"}).status_code == 302


def test_a_head_needs_a_campaign_that_exists(as_researcher: Client, world: World) -> None:
    sent = {"name": "head", "option-campaign": "nowhere", "anyway": "on"}
    page = as_researcher.post("/training/start/head/", sent)
    assert set(page.context["form"].errors) == {"option-campaign"}


def test_several_values_start_a_sweep(as_researcher: Client, corpus: ParallelCorpus) -> None:
    address = start(as_researcher, **{"option-layer": "8, 12", "option-pairs": "100,500,500"})
    jobs_ = TrainingJob.objects.order_by("pk")
    points = [(job.options["layer"], job.options["pairs"]) for job in jobs_]
    assert points == [(8, 100), (8, 500), (12, 100), (12, 500)]
    assert {job.sweep for job in jobs_} == {"fit"}
    page = as_researcher.get(address["Location"]).content.decode()
    assert page.count("/training/jobs/") == 4
    start(as_researcher, **{"option-layer": "8, 12"})
    assert set(TrainingJob.objects.values_list("sweep", flat=True)) == {"fit", "fit-2"}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"option-layer": "8, x"}, "option-layer"),
        ({"option-pairs": "0"}, "option-pairs"),
        ({"option-checkpoint": ""}, "option-checkpoint"),
        ({"option-alignments": "here.txt"}, "option-alignments"),
        ({"corpora": ""}, "corpora"),
        ({"corpora": "nowhere"}, "corpora"),
        ({"name": "!!"}, "name"),
    ],
)
def test_errors_are_at_their_field(
    as_researcher: Client, corpus: ParallelCorpus, changes: dict[str, str], field: str
) -> None:
    answer = start(as_researcher, **changes)
    assert answer.status_code == 422
    assert set(answer.context["form"].errors) == {field}
    assert not TrainingJob.objects.exists()


def test_a_sweep_has_a_limit(as_researcher: Client, corpus: ParallelCorpus) -> None:
    many = ",".join(map(str, range(1, 202)))
    answer = start(as_researcher, **{"option-pairs": many})
    (error,) = answer.context["form"].non_field_errors().as_data()
    assert error.message.parameters["n"] == 201


def test_ten_seeds_are_ten_jobs(
    as_researcher: Client, corpus: ParallelCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The seeds are those of table 14 of the ReFreeEval paper."""
    seed = Option("seed", "Seed", "integer", 42, minimum=0)
    kind = TrainingKind("seeded", "Seeded", "Draws.", "nowhere:run", "cpu", True, (seed,))
    monkeypatch.setitem(KINDS, "seeded", kind)
    page = as_researcher.get("/training/start/seeded/?option-seed=ten")
    seeds = page.context["form"]["option-seed"].value()
    as_researcher.post(
        "/training/start/seeded/",
        {"name": "ten", "corpora": "port", "option-seed": seeds, "anyway": "on"},
    )
    found = TrainingJob.objects.order_by("pk").values_list("options__seed", flat=True)
    assert list(found) == [19, 27, 42, 55, 76, 80, 99, 153, 178, 200]


def test_one_click_scores_a_test_set_with_what_came_of_it(
    as_researcher: Client, world: World, corpus: ParallelCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "_send_all", lambda rows: None)
    TestSet.objects.filter(pk=world.test_set.pk).update(source_language="zh", target_language="en")
    make_test_set("elsewhere", languages=("de", "en"))
    metric = catalogue.configure(family="sentbleu-wmt", name="trained", label="Trained", options={})
    job = TrainingJob.objects.create(kind="remap", name="fit", status="done", metric=metric)
    job.corpora.add(corpus)
    page = as_researcher.get(job.get_absolute_url()).text
    assert "/testsets/elsewhere/score/" not in page
    (form,) = re.findall(
        r'<form method="post" action="(/testsets/\w+/score/)">(.*?)</form>', page, re.S
    )
    sent = re.findall(r'name="(metrics|systems)" value="([^"]+)"', form[1])
    systems = [value for name, value in sent if name == "systems"]
    answer = as_researcher.post(form[0], {"metrics": ["trained"], "systems": systems})
    run = MetricRun.objects.get()
    assert answer.headers["Location"] == run.get_absolute_url()
    assert (run.metric, set(run.systems.all())) == ("trained", set(world.test_set.systems.all()))


def test_htmx_gets_what_changes_alone(as_researcher: Client, corpus: ParallelCorpus) -> None:
    start(as_researcher)
    for address in ("/training/", TrainingJob.objects.get().get_absolute_url()):
        part = as_researcher.get(address, headers={"HX-Request": "true"}).content.decode()
        assert "<html" not in part
        assert "data-live" in part


def test_a_failed_job_says_why(as_researcher: Client, corpus: ParallelCorpus) -> None:
    start(as_researcher)
    job = TrainingJob.objects.get()
    run_job(job)
    page = as_researcher.get(job.get_absolute_url()).content.decode()
    assert "acme/x" in page
    assert "Failed" in page
    assert "data-live" not in page


def test_progress_without_losses_names_what_is_done(as_researcher: Client, world: World) -> None:
    """Before the first update the sentence encoder reads the texts, which may take long."""
    job = TrainingJob.objects.create(kind="refreeeval", name="long", status="running")
    job.progress = {"level": "teacher", "step": 256, "total": 1024}
    job.save()
    for address in (job.get_absolute_url(), "/training/"):
        page = as_researcher.get(address).content.decode()
        assert '<progress max="1" value="0.2500"' in seen(page)
        assert "256 of 1,024 · " in seen(page)
        assert tells(page, "level.teacher")
        assert 'id="so-far"' not in page


def test_progress_before_the_first_validation_has_no_empty_curve(
    as_researcher: Client, world: World
) -> None:
    told = {"level": "word", "step": 1, "total": 50, "curve": [], "losses": {"word": -0.5}}
    job = TrainingJob.objects.create(
        kind="refreeeval", name="long", status="running", progress=told
    )
    page = as_researcher.get(job.get_absolute_url())
    (fact,) = page.context["progress"].facts
    assert (fact.code, fact.value) == ("losses.word", -0.5)
    assert "1 of 50 · " in seen(page.content.decode())
    assert tells(page.content.decode(), "level.word")
