"""Large files: a worker checks and stores them, the page and the API say how far it is."""

import hashlib
import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation.imports import background
from annotation.models import Campaign, FileImport, Judgment, Output, TestSet
from core.work import claims, working
from tests.refusals import tells
from tests.world import World, make_user

PAGE, API = "/campaigns/import/", "/api/imports/judgments/"
JOBS = "/api/imports/files/"
ROWS = 40
State = FileImport.State


@pytest.fixture(autouse=True)
def everything_is_large(settings: Any, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path
    settings.IMPORT_IN_REQUEST_ROWS = ROWS // 2


def table(score: object = 7, rows: int = ROWS, name: str = "rater") -> SimpleUploadedFile:
    lines = [f"R{n}\t1\tstrong\t{score if n == rows - 1 else n}\n" for n in range(rows)]
    text = f"{name}\tseg\tsystem\tscore\n" + "".join(lines)
    return SimpleUploadedFile("own.tsv", text.encode())


def send(client: Client, *tables: SimpleUploadedFile, **words: str) -> Any:
    words = {"test_set": "harbour", "name": "Later", **words}
    data = {f"judgments-{name}": value for name, value in words.items()}
    data |= {"tool": "judgments", "judgments-tables": list(tables)}
    return client.get(client.post(PAGE, data)["Location"])


def work() -> None:
    working.drain(background.file_imports)


def held() -> list[Path]:
    return list(background.waiting._folder().iterdir())


def test_a_worker_checks_the_page_asks_and_a_worker_stores(world: World, as_admin: Client) -> None:
    address = send(as_admin, table())["Location"]
    row = FileImport.objects.get()
    assert address == row.get_absolute_url()
    assert 'data-case="queued"' in as_admin.get(address).text
    # A second tab, and the same files once more, find this import.
    assert address in as_admin.get(PAGE).text
    assert send(as_admin, table())["Location"] == address
    work()
    part = as_admin.get(address, headers={"HX-Request": "true"})
    preview = as_admin.get(address)["Location"]
    assert part["HX-Redirect"].partition("?")[0] == preview.partition("?")[0] == PAGE
    page = as_admin.get(preview).text
    assert f"a finished campaign with {ROWS} judgments" in page
    assert not Campaign.objects.filter(slug="later").exists()
    assert as_admin.post(preview)["Location"] == address
    work()
    done = as_admin.get(address).text
    assert f"{ROWS} annotators, 1 system, 1 segment, 1 item, {ROWS} judgments" in done
    assert reverse("results", args=["later"]) in done
    assert Campaign.objects.get(slug="later").created_by == world.admin
    assert held() == []
    # Imported once more, it changes nothing.
    again = send(as_admin, table())["Location"]
    assert again != address
    work()
    as_admin.post(as_admin.get(again)["Location"])
    work()
    assert Judgment.objects.filter(assignment__item__campaign__slug="later").count() == ROWS


def test_an_import_of_many_files_has_a_name_of_whole_names(world: World, as_admin: Client) -> None:
    tables = [table() for _ in range(9)]
    for n, each in enumerate(tables):
        each.name = f"ratings of system {n} by the second group.tsv"
    send(as_admin, *tables)
    name = FileImport.objects.get().name
    assert name == ", ".join(str(each.name) for each in tables[:4]) + "…"


def test_errors_and_choices_are_on_the_same_preview(world: World, as_admin: Client) -> None:
    address = send(as_admin, table("much", name="wer"))["Location"]
    work()
    preview = as_admin.get(address)["Location"]
    page = as_admin.get(preview)
    assert page.status_code == 422
    words = {"change": "1", "words-test_set": "harbour", "words-name": "Later"}
    fields = ("annotator", "segment", "system", "score")
    columns = {f"column-{n}": name for n, name in enumerate(fields)}
    again = as_admin.get(as_admin.post(preview, words | columns)["Location"])["Location"]
    assert again != address
    work()
    page = as_admin.get(as_admin.get(again)["Location"])
    assert (page.status_code, f"own.tsv, row {ROWS + 1}, score" in page.text) == (422, True)
    assert not Campaign.objects.filter(slug="later").exists()
    as_admin.post(f"{again}cancel/")
    assert held() == []


@pytest.mark.parametrize("when", ["waiting", "checked", "running"])
def test_nothing_is_left_of_a_cancelled_import(world: World, as_admin: Client, when: str) -> None:
    address = send(as_admin, table())["Location"]
    row = FileImport.objects.get()
    if when == "checked":
        work()
    if when == "running":
        assert working.take(background.file_imports)
    assert as_admin.post(f"{address}cancel/")["Location"] == address
    work()
    row.refresh_from_db()
    assert (row.state, row.status) == (State.CANCELLED, FileImport.Status.CANCELLED)
    assert 'data-case="cancelled"' in as_admin.get(address).text
    assert not Campaign.objects.filter(slug="later").exists()
    assert held() == []


def test_an_import_that_is_cancelled_while_it_is_stored_stores_nothing(world: World) -> None:
    client = Client()
    client.force_login(world.admin)
    address = send(client, table())["Location"]
    work()
    row = background.confirm(FileImport.objects.get())
    taken = working.take(background.file_imports)
    assert taken is not None
    claims.cancel(FileImport.objects.filter(pk=row.pk))
    working.do(background.file_imports, taken)
    assert not Campaign.objects.filter(slug="later").exists()
    assert client.get(address).status_code == 200


def test_the_api_answers_with_the_address_of_the_import(world: World, as_admin: Client) -> None:
    sent = {"test_set": "harbour", "name": "Later"}
    begun = as_admin.post(API, {**sent, "tables": table()})
    assert (begun.status_code, int(begun["Retry-After"]) > 0) == (202, True)
    job = begun["Location"]
    assert as_admin.get(job).json()["state"] == "checking"
    assert as_admin.post(API, {**sent, "tables": table()})["Location"] == job
    work()
    found = as_admin.get(job)
    assert "Retry-After" not in found
    assert found.json()["state"] == "stored"
    (campaign,) = found.json()["stored"]["campaigns"]
    assert (campaign["slug"], campaign["n_judgments"]) == ("later", ROWS)
    assert as_admin.delete(job).status_code == 409


def test_the_api_says_what_is_wrong_and_what_a_dry_run_finds(
    world: World, as_admin: Client
) -> None:
    sent = {"test_set": "harbour", "name": "Later"}
    wrong = as_admin.post(API, {**sent, "tables": table("much")})["Location"]
    dry = as_admin.post(API, {**sent, "tables": table(), "dry_run": "true"})["Location"]
    given_up = as_admin.post(API, {**sent, "tables": table(rows=30)})["Location"]
    assert as_admin.delete(given_up).json()["state"] == "cancelled"
    work()
    refused = as_admin.get(wrong).json()
    problem = refused["report"][0]
    assert refused["state"] == "refused"
    assert (problem["code"], problem["row"]) == ("cell.not-a-number", ROWS + 1)
    found = as_admin.get(dry).json()
    assert (found["state"], found["stored"]["campaigns"][0]["n_judgments"]) == ("checked", ROWS)
    assert not Campaign.objects.filter(slug="later").exists()
    assert json.loads(as_admin.get(JOBS).text)["count"] == 3


def test_only_its_owner_and_site_admins_see_an_import(world: World, client: Client) -> None:
    client.force_login(world.admin)
    address = send(client, table())["Location"]
    pk = FileImport.objects.get().pk
    for name, code in (("other", 404), ("site", 200)):
        user = make_user(name, "campaign admin")
        user.is_superuser = name == "site"
        user.save()
        client.force_login(user)
        assert client.get(address).status_code == code
        assert client.get(f"{JOBS}{pk}/").status_code == code
        if code == 404:
            assert client.post(f"{address}cancel/").status_code == 404
            assert client.delete(f"{JOBS}{pk}/").status_code == 404


class Planted:
    """What runs a command when it is unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return open, ("unpickled", "w")


@pytest.mark.parametrize("content", [pickle.dumps(Planted()), b"[]", b"{", b'{"reading": 1}'])
def test_a_preview_of_an_earlier_version_is_refused(
    world: World, as_admin: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    monkeypatch.chdir(tmp_path)
    address = send(as_admin, table())["Location"]
    work()
    row = FileImport.objects.get()
    background.waiting.add(row.held, background.SHOWN, content)
    row.held[background.SHOWN] = hashlib.sha256(content).hexdigest()
    row.save()
    preview = as_admin.get(address)["Location"]
    assert as_admin.get(preview)["Location"] == PAGE
    assert tells(as_admin.get(PAGE).text, "import.expired")
    row.refresh_from_db()
    assert row.state == State.CANCELLED
    assert not (tmp_path / "unpickled").exists()
    # The same files are then read anew.
    assert send(as_admin, table())["Location"] != address


def upload(client: Client, extra: str = "", **words: str) -> str:
    """Send a test set, and return the address of its import."""
    rows = "".join(f"{n}\tSatz {n}\tSentence {n}\tPhrase {n}\n" for n in range(ROWS))
    text = f"segment\tsource\tsystem:amber\tsystem:birch\n{rows}{extra}"
    words = {"name": "Quay", "source_language": "de", "target_language": "en", **words}
    tables = SimpleUploadedFile("quay.tsv", text.encode())
    preview = client.post("/testsets/upload/", {**words, "tables": tables})["Location"]
    address: str = client.get(preview)["Location"]
    return address


def test_a_test_set_is_checked_shown_and_stored_once(world: World, as_admin: Client) -> None:
    address = upload(as_admin)
    assert address == upload(as_admin)
    work()
    preview = as_admin.get(address)["Location"]
    page = as_admin.get(preview)
    assert page.status_code == 200
    assert f"Satz {4}" in page.text
    assert not TestSet.objects.filter(slug="quay").exists()
    assert as_admin.post(preview)["Location"] == address
    work()
    done = as_admin.get(address).text
    assert f'href="{reverse("testset", args=["quay"])}"' in done
    stored = TestSet.objects.get(slug="quay")
    assert (stored.segments.count(), stored.created_by) == (ROWS, world.admin)
    assert Output.objects.filter(system__test_set=stored).count() == 2 * ROWS
    assert held() == []
    again = upload(as_admin)
    work()
    as_admin.post(as_admin.get(again)["Location"])
    work()
    assert Output.objects.filter(system__test_set=stored).count() == 2 * ROWS


def test_rows_of_a_test_set_are_skipped_after_the_preview(world: World, as_admin: Client) -> None:
    address = upload(as_admin, extra="0\tSatz 0\tTwice\tTwice\n")
    work()
    preview = as_admin.get(address)["Location"]
    page = as_admin.get(preview)
    assert page.status_code == 422
    tables = page.context["understanding"].tables
    fields = [(form.add_prefix(n), each) for form in tables for n, each in form.fields.items()]
    chosen = {name: each.initial for name, each in fields} | {"skip": "duplicate"}
    anew = as_admin.post(preview, {"change": "1", **chosen})["Location"]
    read = as_admin.get(anew)["Location"]
    assert read != address
    work()
    as_admin.post(as_admin.get(read)["Location"], chosen)
    work()
    assert TestSet.objects.get(slug="quay").segments.count() == ROWS
    skipped = TestSet.objects.get(slug="quay").skipped_rows.get().sentence
    assert tells(str(skipped), "skip.rows", n=1)
    assert held() == []
