import re
from datetime import timedelta

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.models import Output
from metrics.base import MetricInfo
from metrics.models import ConfiguredMetric, MetricRun, RunWorker, Slice
from metrics.registry import METRICS
from metrics.runs import starting
from tests.house.templates.seen import seen
from tests.metrics.conftest import reread
from tests.metrics.fleet import make_worker
from tests.refusals import has, tells
from tests.world import World, make_campaign, make_test_set

FRAGMENT = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture
def run(world: World) -> MetricRun:
    return starting.start(
        test_set=world.test_set, metrics=["chrf"], user=world.researcher, enqueue=False
    ).runs[0]


def start_page(world: World) -> str:
    return reverse("run-start", args=[world.test_set.slug])


def choices(world: World, *metrics: str) -> dict[str, list[object]]:
    systems = [system.pk for system in world.test_set.systems.all()]
    return {"metrics": list(metrics), "systems": list(systems)}


def test_a_researcher_starts_runs(
    world: World, as_researcher: Client, django_capture_on_commit_callbacks: object
) -> None:
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
        response = as_researcher.post(
            start_page(world), choices(world, "chrf", "rouge"), follow=True
        )
    assert "Started ROUGE and chrF." in response.text or "Started chrF and ROUGE." in response.text
    assert set(MetricRun.objects.values_list("metric", "status", "created_by__username")) == {
        ("chrf", "done", "researcher"),
        ("rouge", "done", "researcher"),
    }
    assert response.redirect_chain == [("/runs/?testset=harbour", 302)]


def test_a_single_run_is_shown_at_once(world: World, as_researcher: Client) -> None:
    response = as_researcher.post(start_page(world), choices(world, "chrf"))
    assert response.headers["Location"] == MetricRun.objects.get().get_absolute_url()


def ticked(page: str) -> set[str]:
    return set(re.findall(r'name="metrics" value="([^"]+)"[^>]* checked', page))


@pytest.mark.needs("extensions.neural")
def test_sets_are_chosen_in_one_click(world: World, as_researcher: Client) -> None:
    page = as_researcher.get(start_page(world) + "?set=lexical").text
    assert ticked(page) == {"bleu", "sentbleu", "chrf", "chrf++", "ter", "rouge"}
    # The button of a set says how many of it can run: beside it, readers took it for all metrics.
    sets = re.search(r'href="\?set=study"[^>]*>(.*?)</a>', page)
    assert sets is not None
    assert re.search(r"&nbsp;<span[^>]*>[^<]* can run now</span>$", sets[1])
    study = ticked(as_researcher.get(start_page(world) + "?set=study").text)
    # Nine of ROUGE and one of each other make the 18 measures of the study.
    assert sum(9 if name == "rouge" else 1 for name in study) == 18
    assert ticked(as_researcher.get(start_page(world) + "?set=nonsense").text) == set()


@pytest.mark.needs("extensions.neural")
def test_metrics_that_cannot_run_stand_apart_and_say_how(
    world: World, as_researcher: Client
) -> None:
    make_worker(lacks={"wmt22-comet-da": ["Fetch it: manage.py models --fetch"]})
    page = as_researcher.get(start_page(world) + "?set=here").text
    here, apart = page.split("Metrics that cannot run now")
    assert "fetch" not in here.lower()
    assert "Fetch it: manage.py models --fetch" in apart
    assert {"chrf", "bleurt-20"} <= ticked(page)
    assert "wmt22-comet-da" not in ticked(page)


def test_a_run_leads_back_to_its_campaigns(
    world: World, as_researcher: Client, run: MetricRun
) -> None:
    results = reverse("results", args=[world.campaign.slug])
    for address in (run.get_absolute_url(), reverse("runs") + "?testset=harbour"):
        assert "<strong>Next:</strong>" in as_researcher.get(address).text
        assert results in as_researcher.get(address).text
    world.campaign.is_private = True
    world.campaign.save()
    assert results not in as_researcher.get(run.get_absolute_url()).text


def test_the_form_says_what_cannot_run_and_why(as_researcher: Client) -> None:
    make_test_set("bare", references=False)
    page = as_researcher.get(reverse("run-start", args=["bare"]))
    boxes = re.findall(r'<input type="checkbox" name="metrics"[^>]*>', page.text)
    free = {name for name, (info, _) in METRICS.items() if not info.needs_reference}
    for box in boxes:
        name = re.search(r'value="([^"]*)"', box)[1]
        assert ("disabled" in box) == (name not in free)
    assert len(boxes) == len(METRICS)
    assert tells(page.text, "run.no-references")


def test_the_list_asks_once_for_all_metrics(world: World, as_researcher: Client) -> None:
    """Metrics that were configured here, waiting for a worker: the page names their queues."""
    past = timezone.now() - timedelta(seconds=60)

    def add(number: int) -> int:
        info = MetricInfo(f"m{number}", f"M {number}", ("m",), ("M",), False, False, queue="gpu")
        document = {**vars(info), "options": {}}
        ConfiguredMetric.objects.create(name=info.name, label=info.label, description=document)
        row = MetricRun.objects.create(test_set=world.test_set, metric=info.name)
        MetricRun.objects.filter(pk=row.pk).update(created_at=past)
        with CaptureQueriesContext(connection) as queries:
            assert f"M {number}" in as_researcher.get("/runs/").text
        return len(queries)

    assert add(1) == add(2) == add(3)


def test_refused_metrics_are_told_and_the_others_start(
    world: World, as_researcher: Client, fake_metrics: object
) -> None:
    bare = make_test_set("bare", references=False)
    systems = [system.pk for system in bare.systems.all()]
    response = as_researcher.post(
        reverse("run-start", args=["bare"]),
        {"metrics": ["ter", "counting"], "systems": systems},
        follow=True,
    )
    assert tells(response.text, "run.no-references")
    assert [row.metric for row in MetricRun.objects.all()] == ["counting"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"metrics": []}, "run.choose-metric"),
        ({"systems": []}, "run.choose-system"),
        ({"metrics": ["meteor"]}, "meteor is not one of the available choices"),
        ({"systems": ["99999"]}, "99999 is not one of the available choices"),
    ],
)
def test_bad_choices_are_refused(
    world: World, as_researcher: Client, fields: dict[str, list[str]], message: str
) -> None:
    response = as_researcher.post(start_page(world), choices(world, "chrf") | fields)
    assert response.status_code == 422
    assert has(response.text, message)
    assert not MetricRun.objects.exists()


def test_what_was_chosen_survives_a_mistake(world: World, as_researcher: Client) -> None:
    page = as_researcher.post(start_page(world), {"metrics": ["ter"], "systems": []}).text
    ticked = re.findall(r'name="(\w+)" value="(\w+)"[^>]*\bchecked', page)
    assert ticked == [("metrics", "ter")]


def test_a_test_set_without_outputs_says_so(as_researcher: Client) -> None:
    make_test_set("empty", systems=())
    page = as_researcher.get(reverse("run-start", args=["empty"]))
    assert 'data-case="no-outputs"' in page.text


def test_a_run_under_way_is_not_started_again(
    world: World, as_researcher: Client, run: MetricRun
) -> None:
    page = as_researcher.post(start_page(world), choices(world, "chrf"), follow=True)
    assert tells(page.text, "run.active", metric="chrF")
    assert MetricRun.objects.count() == 1


def test_cancelling_and_running_again(world: World, as_researcher: Client, run: MetricRun) -> None:
    page = as_researcher.post(reverse("run-cancel", args=[run.pk]), follow=True)
    assert "Cancelled chrF." in page.text
    assert "data-next" not in page.text
    assert reread(run).status == "cancelled"
    hidden = re.findall(r'name="(metrics|systems)" value="([^"]+)"', page.text)
    sent = {name: [value for key, value in hidden if key == name] for name, _ in hidden}
    as_researcher.post(start_page(world), sent)
    again = MetricRun.objects.get(status="queued")
    assert (again.metric, again.systems.count()) == ("chrf", 2)


def test_a_length_is_not_taken_for_progress(as_researcher: Client) -> None:
    """A length ratio of 100% was shown beside a system's name, below a bar that said 11."""
    for slug, ratio in (("whole", "1"), ("short", "0.80")):
        test_set = make_test_set(slug, ratio=ratio)
        run = starting.start(test_set=test_set, metrics=["chrf"], enqueue=False).runs[0]
        for address in (run.get_absolute_url(), reverse("run-start", args=[slug])):
            page = as_researcher.get(address).text
            assert ("length 80%" in page) == (slug == "short")
            assert "100%" not in page


def test_a_run_that_has_ended_cannot_be_cancelled(as_researcher: Client, run: MetricRun) -> None:
    MetricRun.objects.update(status="done")
    page = as_researcher.post(reverse("run-cancel", args=[run.pk]), follow=True)
    assert tells(page.text, "run.had-ended")
    assert reread(run).status == "done"


def test_an_active_run_is_live_and_a_finished_one_is_not(
    as_researcher: Client, run: MetricRun
) -> None:
    for address in (run.get_absolute_url(), reverse("runs")):
        assert "data-live" in as_researcher.get(address, **FRAGMENT).text
    MetricRun.objects.update(status="done")
    for address in (run.get_absolute_url(), reverse("runs")):
        assert "data-live" not in as_researcher.get(address, **FRAGMENT).text


def test_htmx_gets_what_changes_alone(as_researcher: Client, run: MetricRun) -> None:
    for address, name in ((run.get_absolute_url(), "run"), (reverse("runs"), "runs")):
        fragment = as_researcher.get(address, **FRAGMENT)
        assert fragment.text.strip().startswith(f'<div id="{name}"')
        assert "<html" not in fragment.text
        assert "HX-Request" in fragment.headers["Vary"]
        assert "<html" in as_researcher.get(address).text


def test_a_running_run_shows_rate_and_time_left(as_researcher: Client, run: MetricRun) -> None:
    MetricRun.objects.update(
        status="running", total=5000, done=1000, rate=50.0, worker="w1@host",
    )  # fmt: skip
    page = seen(as_researcher.get(run.get_absolute_url()).text)
    assert '<progress max="5000" value="1000"' in page
    assert "1,000 of 5,000 · 50/s · 1 min 20 s left" in page


def test_the_log_of_the_workers_is_shown(as_researcher: Client, run: MetricRun) -> None:
    assert 'data-case="no-scores"' in as_researcher.get(run.get_absolute_url()).text
    first = RunWorker.objects.create(
        run=run, name="w1@<host>", host="gpu-7", device="cuda:0 (NVIDIA H100)", segments=12_345,
        precision="bfloat16", batch="32,768 tokens", seconds=61.7, peak_bytes=700 * 2**20,
        device_peak_bytes=3 * 2**30,
    )  # fmt: skip
    Slice.objects.create(run=run, worker=first, status="running")
    RunWorker.objects.create(run=run, name="w2", host="cpu-1", is_lost=True)
    page = seen(as_researcher.get(run.get_absolute_url(), **FRAGMENT).text)
    for text in ("w1@&lt;host&gt;", "on gpu-7", "cuda:0 (NVIDIA H100), bfloat16", "12,345", "200/s",
                 "batches of 32,768 tokens", "1 min 2 s", "700 MiB, device 3 GiB", "scoring",
                 "stopped responding"):  # fmt: skip
        assert text in page


def test_a_failed_run_shows_its_message_as_text(as_researcher: Client, run: MetricRun) -> None:
    MetricRun.objects.update(status="failed", message="broken (segment 1 of <b>weak</b>)")
    page = as_researcher.get(run.get_absolute_url()).text
    assert "broken (segment 1 of &lt;b&gt;weak&lt;/b&gt;)" in page


def test_a_queue_without_a_worker_shows_how_to_start_one(
    as_researcher: Client, run: MetricRun
) -> None:
    command = "python manage.py worker"
    assert command not in as_researcher.get(run.get_absolute_url()).text
    past = timezone.now() - timedelta(seconds=16)
    MetricRun.objects.update(created_at=past)
    Slice.objects.update(not_before=past)
    for address in (run.get_absolute_url(), reverse("runs")):
        assert command in as_researcher.get(address).text


def test_a_silent_worker_is_shown(as_researcher: Client, run: MetricRun) -> None:
    MetricRun.objects.update(status="running", worker="w1@host")
    ends = timezone.now() + timedelta(seconds=settings.RUN_STALE_SECONDS - 40)
    Slice.objects.create(run=run, status="running", expires_at=ends)
    page = as_researcher.get(run.get_absolute_url()).text
    assert re.search(r"w1@host has not responded for [45]\d s", page)


def test_runs_are_filtered(world: World, as_researcher: Client, run: MetricRun) -> None:
    other = make_test_set("other")
    late = starting.start(test_set=other, metrics=["ter"], enqueue=False).runs[0]
    MetricRun.objects.filter(pk=late.pk).update(status="done")

    def listed(query: str) -> set[str]:
        return set(re.findall(r'href="(/runs/\d+/)"', as_researcher.get(f"/runs/?{query}").text))

    assert listed("") == {run.get_absolute_url(), late.get_absolute_url()}
    assert listed("testset=other") == {late.get_absolute_url()}
    assert listed("status=queued") == {run.get_absolute_url()}
    assert listed("testset=other&status=queued") == set()
    assert as_researcher.get("/runs/?page=99").status_code == 404
    assert as_researcher.get("/runs/?status=lost").status_code == 400


def test_a_finished_run_leads_to_the_results(
    world: World, as_researcher: Client, run: MetricRun
) -> None:
    make_campaign(world.test_set, "harbour-50")
    page = as_researcher.get(run.get_absolute_url()).text
    for slug in ("harbour-80", "harbour-50"):
        assert reverse("results", args=[slug]) in page


def test_the_list_costs_the_same_for_many_runs(
    world: World, as_researcher: Client, django_assert_max_num_queries: object
) -> None:
    for _ in range(8):
        starting.start(test_set=world.test_set, metrics=["chrf", "ter", "bleu"], enqueue=False)
        MetricRun.objects.update(status="done")
    with django_assert_max_num_queries(9):  # type: ignore[operator]
        as_researcher.get(reverse("runs"))


def test_only_researchers_see_runs(world: World, client: Client, run: MetricRun) -> None:
    addresses = [reverse("runs"), run.get_absolute_url(), start_page(world)]
    for address in addresses:
        assert client.get(address).headers["Location"].startswith("/login/")
    client.force_login(world.annotators[0])
    for address in addresses:
        assert client.get(address).status_code == 403
    assert client.post(reverse("run-cancel", args=[run.pk])).status_code == 403
    assert client.post(start_page(world), choices(world, "ter")).status_code == 403
    assert reread(run).status == "queued"
    assert MetricRun.objects.count() == 1


def test_changes_need_a_post_and_a_token(world: World, run: MetricRun) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.researcher)
    assert client.get(reverse("run-cancel", args=[run.pk])).status_code == 405
    assert client.post(reverse("run-cancel", args=[run.pk])).status_code == 403
    assert client.post(start_page(world), choices(world, "ter")).status_code == 403
    assert reread(run).status == "queued"


def test_what_does_not_exist_is_404(as_researcher: Client) -> None:
    assert as_researcher.get("/runs/12345/").status_code == 404
    assert as_researcher.get("/testsets/nowhere/score/").status_code == 404


def test_metrics_are_found_by_any_of_their_words(world: World, as_researcher: Client) -> None:
    address = reverse("run-start", args=[world.test_set.slug])

    def found(query: str) -> list[str]:
        page = as_researcher.get(address, {"q": query}).text
        return re.findall(r'name="metrics" value="([^"]*)"', page)

    assert {"chrf", "chrf++"} <= set(found("CHRF"))
    assert "bleu" not in found("CHRF")
    assert found("chrf no-such-word") == []


def test_too_many_metrics_are_folded_but_for_what_is_chosen(
    world: World, as_researcher: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = reverse("run-start", args=[world.test_set.slug])
    assert (
        "<details><summary>" not in seen(as_researcher.get(address).text).split('id="elsewhere"')[0]
    )
    monkeypatch.setattr("metrics.forms.runs.FEW", 2)
    page = as_researcher.get(address, {"metric": "chrf"}).text
    assert ", 1 chosen" in page
    opened = re.findall(r"<details open>.*?</details>", page, re.DOTALL)
    assert [fold for fold in opened if 'value="chrf"' in fold]


def test_a_metric_that_ran_says_how_long_it_takes(
    world: World, as_researcher: Client, run: MetricRun
) -> None:
    address = reverse("run-start", args=[world.test_set.slug])
    make_worker()
    assert "measured here" not in as_researcher.get(address).text
    RunWorker.objects.create(run=run, name="w", process="p", segments=60, seconds=60)
    texts = Output.objects.filter(system__test_set=world.test_set)
    n = len(set(texts.values_list("content_key", flat=True)))
    told = f"About {n} s for {n} texts, at the measured speed of 1/s."
    assert told in as_researcher.get(address).text
