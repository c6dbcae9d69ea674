"""The client against a running server: the whole way, requests that are repeated, refusals."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.live_server_helper import LiveServer
from touchstone_client import NoWorkerWarning, Touchstone, TouchstoneError, WaitError
from touchstone_client.command import main
from touchstone_client.requests import ATTEMPTS, Session
from touchstone_client.tables import Table, read_csv
from touchstone_client.waiting import PAUSES

from annotation.accounts import tokens
from annotation.api.judgments import JudgmentSerializer
from annotation.imports import background
from annotation.models import Annotator, Assignment, Campaign, Judgment, TestSet
from core.work import sending, working
from metrics.models import MetricRun
from metrics.models.fleet import Worker
from tests.annotation.campaign_files.test_round_trip import smallest
from tests.world import World, make_world

DEMO = Path(__file__).parents[2] / "annotation" / "demo"
NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebooks" / "first_campaign.ipynb"
TABLES = [DEMO / "zh-en.segments.tsv", DEMO / "zh-en.outputs.tsv"]


@pytest.fixture
def world(transactional_db: None) -> World:
    return make_world()


@pytest.fixture
def token(world: World) -> str:
    scopes = ["read", "annotate-admin", "score"]
    return tokens.make(user=world.admin, name="client", scopes=scopes, days=1)


@pytest.fixture
def touchstone(live_server: LiveServer, token: str) -> Iterator[Touchstone]:
    with Touchstone(live_server.url, token, sleep=lambda _: None) as client:
        yield client


def rate(campaign: Campaign) -> int:
    """Rate everything as the demo's table says, which has the true quality of each output."""
    with TABLES[1].open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    named = ("segment", "system", "length_ratio")
    quality = {tuple(row[name] for name in named): row["adequacy"] for row in rows}
    assignments = Assignment.objects.filter(annotator__campaign=campaign)
    for number, each in enumerate(assignments.select_related("item__output__system"), start=1):
        output = each.item.output
        known = None
        if output is not None:
            system = output.system
            known = quality.get((output.segment.key, system.name, str(system.length_ratio)))
        score = int(known) if known else 10
        key = f"00000000-0000-4000-8000-{number:012}"
        Judgment.objects.create(assignment=each, score=score, submit_key=key)
    assignments.update(completed_at=campaign.opened_at)
    return assignments.count()


def test_the_notebook_runs(
    live_server: LiveServer, token: str, monkeypatch: pytest.MonkeyPatch, world: World
) -> None:
    pytest.importorskip("pandas")
    monkeypatch.setenv("TOUCHSTONE_URL", live_server.url)
    monkeypatch.setenv("TOUCHSTONE_TOKEN", token)
    monkeypatch.chdir(NOTEBOOK.parent)
    cells = [c for c in json.loads(NOTEBOOK.read_text())["cells"] if c["cell_type"] == "code"]
    code = ["".join(cell["source"]) for cell in cells]
    assert len([line for each in code for line in each.splitlines() if line]) <= 16
    names: dict[str, Any] = {}
    for cell, text in zip(cells, code, strict=True):
        if "after-rating" in cell["metadata"].get("tags", ()):
            n = rate(Campaign.objects.get(slug=names["campaign"].slug))
        exec(compile(text, "notebook", "exec"), names)  # noqa: S102
    names["touchstone"].close()
    assert list(names["runs"].frame()["status"]) == ["done", "done"]
    judgments = names["judgments"]
    assert len(judgments) == n
    assert set(judgments["annotator"]) == {"A1", "A2"}
    page = Client()
    page.force_login(world.admin)
    shown = page.get(f"/campaigns/{names['campaign'].slug}/correlations.csv")
    expected = list(csv.DictReader(io.StringIO(b"".join(shown).decode("utf-8-sig"))))
    assert len(names["correlations"]) == len(expected) > 0
    assert list(names["correlations"].columns) == list(expected[0])


def losing(live_server: LiveServer, faults: Iterator[str]) -> httpx.BaseTransport:
    """The server over a line that fails: before it, after it, or with an overloaded server."""

    def answer(request: httpx.Request) -> httpx.Response:
        fault = next(faults, "")
        if fault == "before":
            raise httpx.ConnectError("refused", request=request)
        if fault == "busy":
            return httpx.Response(503, headers={"Retry-After": "7"}, request=request)
        with httpx.HTTPTransport() as real:
            response = real.handle_request(request)
            response.read()
        if fault == "after":
            raise httpx.ReadError("lost", request=request)
        return response

    return httpx.MockTransport(answer)


@pytest.mark.parametrize("faults", [["after"], ["before", "busy", "after", "after"]])
def test_what_is_repeated_is_done_once(
    live_server: LiveServer, token: str, world: World, faults: list[str]
) -> None:
    pauses: list[float] = []

    def client() -> Touchstone:
        transport = losing(live_server, iter(faults))
        return Touchstone(live_server.url, token, transport=transport, sleep=pauses.append)

    made = client().upload("Harbour news", "zh", "en", tables=TABLES)
    assert made["is_new"]
    campaign = client().create_campaign("harbour-news", traps_per_annotator=0)
    campaign.session = client().session
    links = campaign.add_annotators(3)
    started = client().start_runs(world.test_set.slug, ["bleu"])
    assert TestSet.objects.filter(slug__startswith="harbour-news").count() == 1
    assert Campaign.objects.filter(test_set__slug="harbour-news").count() == 1
    assert Annotator.objects.filter(campaign__slug=campaign.slug).count() == 3
    assert httpx.get(links[0]["link"]).status_code == 302, "the links of the lost answer work"
    assert MetricRun.objects.count() == len(started) == 1
    assert ("busy" in faults) == (7.0 in pauses)


def test_it_gives_up_and_says_why(token: str) -> None:
    calls: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        calls.append(request.headers["Idempotency-Key"])
        return httpx.Response(503, json={"detail": "away", "code": "x"})

    session = Session(
        "http://test", token, transport=httpx.MockTransport(answer), sleep=lambda _: None
    )
    with pytest.raises(TouchstoneError, match="away") as caught:
        session.post("/api/runs/", {})
    assert (caught.value.status, caught.value.code) == (503, "x")
    assert (len(calls), len(set(calls))) == (ATTEMPTS, 1)


def test_refusals_name_file_row_and_field(touchstone: Touchstone, tmp_path: Path) -> None:
    table = tmp_path / "ratings.tsv"
    table.write_text("annotator\tsegment\tsystem\tscore\nA\t1\tnew\tfifty\n")
    with pytest.raises(TouchstoneError) as caught:
        touchstone.import_judgments([table], name="x", source_language="zh", target_language="en")
    (error,) = caught.value.errors
    assert (error["file"], error["row"], error["field"]) == ("ratings.tsv", 2, "score")
    assert "ratings.tsv, 2, score" in str(caught.value)
    with pytest.raises(TouchstoneError) as caught:
        touchstone.campaign("none")
    assert caught.value.status == 404
    with (
        Touchstone(str(touchstone.session.http.base_url), "touchstone_wrong") as wrong,
        pytest.raises(TouchstoneError) as caught,
    ):
        wrong.campaigns()
    assert caught.value.status == 401


def test_pages_are_followed_and_progress_is_shown(
    touchstone: Touchstone, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("touchstone_client.requests.PAGE", 1)
    campaign = touchstone.campaign(world.campaign.slug)
    campaign.add_annotators(3)
    assert [row["annotator"] for row in campaign.annotators()] == ["A1", "A2", "A3"]
    seen: list[tuple[int, int]] = []
    runs = touchstone.start_runs(world.test_set.slug, ["bleu"])
    (run,) = touchstone.wait(runs, progress=lambda done, total: seen.append((done, total)))
    assert run["status"] == "done"
    assert seen[-1] == (8, 8)


def test_a_table_without_rows_has_the_columns_of_one_with_rows(
    touchstone: Touchstone, world: World
) -> None:
    campaign = touchstone.campaign(world.campaign.slug)
    campaign.add_annotators(1)
    lists = {
        "/api/test-sets/": touchstone.test_sets(),
        "/api/campaigns/": touchstone.campaigns(),
        campaign.address: Table([touchstone.session.get(campaign.address)]),
        f"{campaign.address}people/": campaign.annotators(),
    }
    for address, rows in lists.items():
        assert rows
        assert touchstone.session.columns(address) == rows.columns, address
    empty = campaign.judgments()
    assert empty == []
    assert empty.columns == list(JudgmentSerializer().fields)
    assert read_csv("system,tau\r\n").columns == ["system", "tau"]
    assert all(each == [] and each.columns for each in (campaign.notices(), touchstone.wait([])))
    pytest.importorskip("pandas")
    assert list(empty.frame().columns) == empty.columns


def test_the_command(
    live_server: LiveServer, token: str, world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*words: str) -> str:
        assert main(["--url", live_server.url, "--token", token, *words]) == 0, words
        return capsys.readouterr().out

    table = ["--table", *map(str, TABLES)]
    tried = json.loads(run("upload", "Harbour news", "zh", "en", "--dry-run", *table))
    assert (tried["is_new"], TestSet.objects.filter(name="Harbour news").exists()) == (True, False)
    run("upload", "Harbour news", "zh", "en", *table)
    made = json.loads(run("create", "harbour-news", "--set", "annotators_per_item=2", "name=CLI"))
    assert made["annotators_per_item"] == 2
    people = list(csv.DictReader(io.StringIO(run("people", made["slug"], "2"))))
    assert [row["annotator"] for row in people] == ["A1", "A2"]
    assert json.loads(run("open", made["slug"]))["status"] == "open"
    n = rate(Campaign.objects.get(slug=made["slug"]))
    assert len(list(csv.DictReader(io.StringIO(run("judgments", made["slug"]))))) == n
    assert "bleu" in run("score", "harbour-news", "bleu", "--wait")
    assert json.loads(run("close", made["slug"]))["status"] == "closed"
    assert main(["--url", live_server.url, "--token", token, "open", "none"]) == 1
    assert "404" not in capsys.readouterr().out


def add_worker(queue: str) -> None:
    now, name = timezone.now(), f"{queue}@lab"
    Worker.objects.create(
        uid=f"of-{queue}", name=name, host="lab", pid=7, queues=[queue], started_at=now, seen_at=now
    )


def test_a_wait_without_a_worker_says_so_and_ends(
    live_server: LiveServer,
    token: str,
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sending, "send", lambda *_: True)
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == PAUSES + 1:
            raise InterruptedError

    add_worker("mail")
    with Touchstone(live_server.url, token, sleep=sleep) as client:
        runs = client.start_runs(world.test_set.slug, ["bleu"])
        assert runs[0]["turn"]["queue"] == "cpu"
        with pytest.warns(NoWorkerWarning) as warned, pytest.raises(InterruptedError):
            client.wait(runs)  # Asks twice and warns once.
        assert ["--queues cpu" in str(each.message) for each in warned] == [True]
        with pytest.raises(WaitError) as caught:
            client.wait(runs, timeout=0)
        assert "--queues cpu" in str(caught.value)
        add_worker("cpu")
        with pytest.raises(WaitError) as caught:
            client.wait(runs, timeout=0)
        assert "--queues" not in str(caught.value)
    given = ["--url", live_server.url, "--token", token, "--wait-limit", "0"]
    Worker.objects.all().delete()
    assert main([*given, "score", world.test_set.slug, "bleu", "--wait"]) == 1
    assert "--queues cpu" in capsys.readouterr().err


def test_an_import_and_a_document_without_a_worker_end(
    live_server: LiveServer,
    token: str,
    world: World,
    settings: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings.VAR_DIR, settings.IMPORT_IN_REQUEST_ROWS = tmp_path / "var", 1
    settings.ANALYSES_IN_PLACE = False
    monkeypatch.setattr(sending, "send", lambda *_: True)
    with Touchstone(live_server.url, token, wait_limit=0) as client:
        with pytest.raises(WaitError) as caught:
            client.upload("Harbour news", "zh", "en", tables=TABLES)
        assert "--queues slow" in str(caught.value)
        with pytest.raises(WaitError) as caught:
            client.campaign(world.campaign.slug).results()
        assert "--queues documents" in str(caught.value)


@pytest.fixture
def beside_a_worker(
    live_server: LiveServer,
    token: str,
    world: World,
    settings: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Touchstone]:
    """A client whose files are all large; a worker works whenever the client waits."""
    settings.VAR_DIR, settings.IMPORT_IN_REQUEST_ROWS = tmp_path / "var", 1
    monkeypatch.setattr(sending, "send", lambda *_: True)
    TestSet.objects.update(created_by=world.admin)
    add_worker(background.QUEUE)
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        working.drain(background.file_imports)

    with Touchstone(live_server.url, token, sleep=sleep) as client:
        yield client
    assert waits


def test_a_large_upload_is_waited_for(beside_a_worker: Touchstone) -> None:
    words = ("Harbour news", "zh", "en")
    tried = beside_a_worker.upload(*words, tables=TABLES, dry_run=True)
    assert not any(each["severity"] == "error" for each in tried["problems"])
    assert not TestSet.objects.filter(name=words[0]).exists()
    made = beside_a_worker.upload(*words, tables=TABLES)
    assert TestSet.objects.get(slug=made["slug"]).segments.count() == made["n_segments"] > 0
    assert beside_a_worker.create_campaign(made).facts["test_set"] == made["slug"]


IMPORTED = {
    "judgments": ("annotator\tsegment\tsystem\tscore", "A\t1\tstrong\t{}", "50"),
    "human-scores": ("segment\tsystem\tscore", "1\tstrong\t{}", "50"),
    "metric-scores": ("segment\tsystem\tMyMetric", "1\tstrong\t{}", "0.5"),
    "metric-spans": ("segment\tsystem\tstart\tend\tseverity", "1\tstrong\t0\t{}\tmajor", "3"),
}


@pytest.mark.parametrize("kind", IMPORTED)
def test_a_large_import_is_waited_for_and_its_refusal_raised(
    beside_a_worker: Touchstone, world: World, tmp_path: Path, kind: str
) -> None:
    header, row, value = IMPORTED[kind]
    words: dict[str, Any] = {"test_set": world.test_set.slug}
    words |= {"higher_is_better": ["MyMetric"]} if kind == "metric-scores" else {"name": "Later"}
    words |= {"ends": "excluded"} if kind == "metric-spans" else {}
    table = tmp_path / "own.tsv"
    rows = (f"{header}\tunheard_of", f"{row.format(value)}\tx", f"{row.format('many')}\ty", "")
    table.write_text("\n".join(rows))
    with pytest.raises(TouchstoneError) as caught:
        beside_a_worker.import_files(kind, [table], **words)
    first = caught.value.errors[0]
    assert (first["file"], first["row"], caught.value.code) == ("own.tsv", 3, first["code"])
    problems = caught.value.problem["problems"]
    assert {each["severity"] for each in problems} >= {"error", "warning"}
    table.write_text("\n".join([header, row.format(value), ""]))
    answer = beside_a_worker.import_files(kind, [table], **words)
    assert answer["stored"], answer


def test_a_draft_is_changed(touchstone: Touchstone, world: World) -> None:
    campaign = touchstone.create_campaign(world.test_set.slug).change(annotators_per_item=5)
    assert campaign.facts["annotators_per_item"] == 5
    with pytest.raises(TouchstoneError) as caught:
        campaign.change(colour="red")
    assert caught.value.errors[0]["field"] == "colour"


def test_without_an_address_or_a_token_it_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("TOUCHSTONE_URL", raising=False)
    assert main(["close", "x"]) == 1
    assert "TOUCHSTONE_URL" in capsys.readouterr().err


def test_a_large_campaign_file_is_waited_for(beside_a_worker: Touchstone, tmp_path: Path) -> None:
    path = tmp_path / "campaign.json"
    path.write_text(json.dumps(smallest(), indent=1))
    made = beside_a_worker.open_file(path, open=True)
    stored = Campaign.objects.latest("pk")
    assert (made.facts["slug"], made.facts["status"]) == (stored.slug, stored.status)
    assert len({each["link"] for each in made.facts["links"]}) == smallest()["people"]
