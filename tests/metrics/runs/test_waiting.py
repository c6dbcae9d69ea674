"""What runs wait for: hosts, turns and times; on pages and in the API."""

from typing import Any

import pytest
from django.test import Client

from annotation.models import Output
from metrics.contents import failed_outputs, failed_texts
from metrics.models import FailedText, MetricRun, MetricSignature, RunWorker
from metrics.models.fleet import Worker
from metrics.runs import starting, waiting
from metrics.workers import capability
from tests.metrics.fleet import make_child, make_worker, put_to_work
from tests.world import World

LACKS = {"bleurt-20": ["The checkpoint is missing: fetch it."]}
GPU = [{"kind": "gpu", "name": "NVIDIA A100", "total": 1, "free": 1}]


def _texts(lacking: Any) -> dict[str, list[str]]:
    return {host: [str(each) for each in missing] for host, missing in lacking.items()}


def begin(world: World, *metrics: str) -> list[MetricRun]:
    """Runs that wait."""
    return starting.start(test_set=world.test_set, metrics=metrics, enqueue=False).runs


def seen(run: MetricRun, device: str, segments: int, seconds: float) -> RunWorker:
    """What a worker did in a run."""
    part = {"name": "w", "process": device, "device": device}
    return RunWorker.objects.create(run=run, segments=segments, seconds=seconds, **part)


@pytest.mark.needs("extensions.neural")
def test_hosts_that_can_and_what_others_lack(world: World) -> None:
    make_worker("gpu0@able")
    make_worker("gpu0@poor", lacks=LACKS)
    make_worker("cpu0@other", queues=["cpu"])
    make_worker("gpu0@gone", silent=60)
    (run,) = begin(world, "bleurt-20")
    hosts = waiting.turns()[run.pk].hosts
    assert (hosts.able, _texts(hosts.lacking)) == (("able",), {"poor": LACKS["bleurt-20"]})
    assert not hosts.is_stuck
    Worker.objects.filter(host="able").delete()
    assert waiting.turns()[run.pk].hosts.is_stuck
    Worker.objects.all().delete()
    hosts = waiting.turns()[run.pk].hosts
    assert (hosts.able, hosts.is_stuck) == ((), False)


def test_a_host_may_lack_what_one_language_takes(world: World) -> None:
    lacks = {capability.into("bleu", "en-GB"): ["The tokenizer is missing."]}
    make_worker("cpu0@poor", lacks=lacks)
    world.test_set.target_language = "eng"
    world.test_set.save()
    bleu, chrf = begin(world, "bleu", "chrf")
    turns = waiting.turns()
    assert _texts(turns[bleu.pk].hosts.lacking) == {"poor": ["The tokenizer is missing."]}
    assert turns[chrf.pk].hosts.able == ("poor",)
    infos = [run.info for run in (bleu, chrf)]
    assert waiting.hosts_for(infos)["bleu"].able == ("poor",)
    assert waiting.hosts_for(infos, "en")["bleu"].is_stuck


def test_nobody_knows_how_long_what_never_ran_takes(world: World) -> None:
    make_worker("cpu@one")
    (run,) = begin(world, "chrf")
    turn = waiting.turns()[run.pk]
    assert (turn.place, turn.begins_in, turn.takes, turn.ends_in) == (1, 0.0, None, None)


def test_times_follow_from_the_rates_of_the_devices(world: World) -> None:
    """Eight texts each; chrF does 2/s in each of two processes, TER 1/s."""
    worker = make_worker("cpu@one")
    make_child(worker, 1)
    make_child(worker, 2)
    (past,) = begin(world, "chrf")
    seen(past, "cpu", 200, 100)
    MetricRun.objects.update(status="done")
    (ter_past,) = begin(world, "ter")
    seen(ter_past, "cpu", 100, 100)
    MetricRun.objects.update(status="done")
    found = waiting.turns
    runs = {run.metric: run.pk for run in begin(world, "chrf", "ter", "rouge")}
    chrf, ter, rouge = (found()[runs[name]] for name in ("chrf", "ter", "rouge"))
    assert (chrf.takes, ter.takes, rouge.takes) == (2.0, 4.0, None)
    assert {chrf.place, ter.place, rouge.place} == {1, 2, 3}
    first, second = sorted((chrf, ter), key=lambda turn: turn.place)
    if first.place == 1 and second.place == 2:
        assert (first.begins_in, second.begins_in) == (0.0, first.takes)
    after = [turn for turn in (chrf, ter) if turn.place > rouge.place]
    assert all(turn.begins_in is None for turn in after)


@pytest.mark.needs("extensions.neural")
def test_a_gpu_has_its_own_rate(world: World) -> None:
    make_worker("gpu0@one", devices=GPU)
    (past,) = begin(world, "bleurt-20")
    seen(past, "cuda (NVIDIA A100)", 80, 10)
    seen(past, "cpu", 1, 10)
    MetricRun.objects.update(status="done")
    (run,) = begin(world, "bleurt-20")
    assert waiting.turns()[run.pk].takes == 1.0
    Worker.objects.update(devices=[])
    assert waiting.turns()[run.pk].takes == 80.0


@pytest.mark.needs("extensions.neural")
def test_what_no_host_can_run_holds_nobody_up(world: World) -> None:
    make_worker("gpu0@one", lacks=LACKS, queues=["cpu", "gpu"])
    stuck, other = begin(world, "bleurt-20", "bertscore-mbert")
    seen(other, "cpu", 80, 10)
    turns = waiting.turns()
    assert turns[stuck.pk].begins_in is None
    assert turns[other.pk].begins_in == 0.0


def test_a_run_at_work_comes_first_at_its_own_rate(world: World) -> None:
    make_worker("cpu@one")
    first, second = begin(world, "chrf", "ter")
    put_to_work(second, "cpu@one", 4.0)
    turns = waiting.turns()
    assert (turns[second.pk].place, turns[second.pk].ends_in) == (1, 2.0)
    assert (turns[first.pk].place, turns[first.pk].begins_in) == (2, 2.0)


def test_ended_runs_have_no_turn(world: World) -> None:
    (run,) = begin(world, "chrf")
    MetricRun.objects.update(status="done")
    run.refresh_from_db()
    waiting.attach([run])
    assert run.turn is None  # type: ignore[attr-defined]


@pytest.mark.needs("extensions.neural")
def test_what_lacks_is_told_before_a_run_is_started(as_researcher: Client, world: World) -> None:
    make_worker("gpu0@poor", lacks=LACKS)
    page = as_researcher.get("/testsets/harbour/score/").text
    about = page.split('value="bleurt-20"')[1].split("</li>\n")[0]
    assert "data-no-worker" in about
    assert "poor: The checkpoint is missing: fetch it." in about
    assert "disabled" not in about.split("</label>")[0]
    about = page.split('value="chrf"')[1].split("</label>")[1].split("<label")[0]
    assert "data-no-worker" not in about
    Worker.objects.all().delete()
    assert 'id="missing"' in as_researcher.get("/testsets/harbour/score/").text


@pytest.mark.needs("extensions.neural")
def test_the_page_of_a_run_says_what_it_waits_for(as_researcher: Client, world: World) -> None:
    make_worker("gpu0@poor", lacks=LACKS)
    stuck, other = begin(world, "bleurt-20", "chrf")
    page = as_researcher.get(stuck.get_absolute_url()).text
    assert "poor: The checkpoint is missing: fetch it." in page
    assert 'data-case="stuck"' in page
    page = as_researcher.get(other.get_absolute_url()).text
    assert 'data-place="1"' in page
    assert 'data-takes="unknown"' in page
    listed = as_researcher.get("/runs/").text
    assert 'data-case="stuck"' in listed
    assert 'data-place="1"' in listed


@pytest.mark.needs("extensions.neural")
def test_the_api_says_the_same(as_researcher: Client, world: World) -> None:
    make_worker("gpu0@poor", lacks=LACKS)
    stuck, other = begin(world, "bleurt-20", "chrf")
    found: dict[int, Any] = {
        run["id"]: run["turn"] for run in as_researcher.get("/api/runs/").json()["results"]
    }
    hosts = found[stuck.pk]["hosts"]
    assert (hosts["able"], hosts["is_stuck"]) == ([], True)
    assert [each["text"] for each in hosts["lacking"]["poor"]] == LACKS["bleurt-20"]
    assert found[other.pk] == {
        "queue": other.queue,
        "place": 1,
        "begins_in": 0.0,
        "takes": None,
        "ends_in": None,
        "hosts": {"able": ["poor"], "lacking": {}, "is_stuck": False},
    }
    MetricRun.objects.update(status="done")
    assert as_researcher.get(f"/api/runs/{other.pk}/").json()["turn"] is None


@pytest.fixture
def failed(world: World) -> MetricRun:
    """A run that is done but for two texts."""
    (run,) = begin(world, "chrf")
    rows = Output.objects.order_by("-segment__position", "pk")[:2]
    for output in rows:
        FailedText.objects.create(run=run, output=output, error="It is no text.", attempts=3)
    MetricRun.objects.filter(pk=run.pk).update(status="done", done=6, failed=2, total=8)
    return MetricRun.objects.get(pk=run.pk)


def test_texts_that_failed_are_listed(as_researcher: Client, failed: MetricRun) -> None:
    page = as_researcher.get(failed.get_absolute_url()).text
    assert "Done, 2 texts failed" in page
    table = page.split('class="failed"')[1].split("</table>")[0]
    assert table.count("It is no text.") == 2
    assert ">4</th>" in table
    assert "Done, 2 texts failed" in as_researcher.get("/runs/").text
    told = as_researcher.get(f"/api/runs/{failed.pk}/").json()
    assert (told["status"], told["failed"], told["done"]) == ("done", 2, 6)
    rows = as_researcher.get(f"/api/runs/{failed.pk}/failed/").json()["results"]
    assert [row["attempts"] for row in rows] == [3, 3]
    assert rows[0]["segment"] == "4"
    assert {row["system"] for row in rows} <= {"strong", "weak"}


def test_outputs_of_the_same_text_failed_too(failed: MetricRun) -> None:
    failed.signature = MetricSignature.objects.create(
        metric="chrf", signature="chrf|1", measures=["chrf"]
    )
    failed.save()
    listed = [text.output for text in failed_texts(failed)]
    other = Output.objects.exclude(pk__in=[output.pk for output in listed]).first()
    assert other is not None
    Output.objects.filter(pk=other.pk).update(content_key=listed[0].content_key)
    expected = {other.pk, *(output.pk for output in listed)}
    assert set(failed_outputs("chrf|1")) == expected
    assert failed_outputs("chrf|2") == []


def test_the_number_of_queries_does_not_grow_with_the_runs(
    world: World, django_assert_max_num_queries: Any
) -> None:
    make_worker("cpu@one")
    begin(world, "chrf", "ter", "rouge", "bleu", "sentbleu")
    with django_assert_max_num_queries(8):
        waiting.turns()
