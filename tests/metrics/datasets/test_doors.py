"""Pages and API through which whole sets come in."""

import io
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.imports import background
from annotation.imports.background import file_imports, preview_of
from annotation.models import Campaign, FileImport, TestSet
from core.work import reconciling, working
from metrics.datasets import door
from tests.metrics.datasets.test_mtme import written
from tests.refusals import tells
from tests.world import World, make_user

PAGE = "/campaigns/import/mt-metrics-eval/"
API = "/api/imports/mt-metrics-eval/"
SETS = "/api/imports/data-sets/"
FILES = "/api/imports/files/"
State = FileImport.State


def archive(tmp_path: Path, **wrong: str) -> SimpleUploadedFile:
    folder = written(tmp_path)
    for name, text in wrong.items():
        (folder / name).write_text(text)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as into:
        for path in sorted(folder.rglob("*.*")):
            if path.is_file():
                into.write(path, path.relative_to(tmp_path))
    return SimpleUploadedFile("set.zip", buffer.getvalue())


def test_a_folder_is_checked_by_a_worker_shown_and_then_stored(
    as_admin: Client, tmp_path: Path
) -> None:
    answer = as_admin.post(PAGE, {"archive": archive(tmp_path)})
    row = FileImport.objects.get()
    assert answer["Location"] == row.get_absolute_url()
    assert 'data-case="queued"' in as_admin.get(row.get_absolute_url()).text
    working.drain(file_imports)
    preview = as_admin.get(row.get_absolute_url())["Location"]
    page = as_admin.get(preview).text
    assert "m-refA" in page
    assert "(MQM)" in page
    assert not TestSet.objects.filter(slug="set-en-de").exists()
    assert as_admin.post(preview)["Location"] == row.get_absolute_url()
    assert 'data-case="queued"' in as_admin.get(row.get_absolute_url()).text
    working.drain(file_imports)
    row.refresh_from_db()
    assert (row.state, row.stored["test_sets"]) == (State.STORED, ["set-en-de"])
    assert not list(background.waiting._folder().iterdir())
    page = as_admin.get(row.get_absolute_url()).text
    assert reverse("results", args=["set-en-de-mqm"]) in page
    scores = next(each for each in row.stored["sentences"] if "new" in each["parameters"])
    assert (scores["parameters"]["n"], scores["parameters"]["new"]) == (1, 1)
    assert as_admin.post(preview)["Location"] == PAGE
    assert Campaign.objects.get(slug="set-en-de-mqm").created_by is not None


def test_errors_are_shown_and_nothing_is_stored(as_admin: Client, tmp_path: Path) -> None:
    wrong = {"human-scores/en-de.mqm.seg.score": "A\tx\n", "documents/en-de.docs": "a b c\n"}
    as_admin.post(PAGE, {"archive": archive(tmp_path, **wrong)})
    working.drain(file_imports)
    row = FileImport.objects.get()
    assert row.state == State.REFUSED
    assert not list(background.waiting._folder().iterdir())
    page = as_admin.get(row.get_absolute_url()).text
    assert [each["severity"] for each in row.report].count("error") == 2
    assert "human-scores/en-de.mqm.seg.score, row 1" in page
    lines = as_admin.get(f"{row.get_absolute_url()}?problems").text.splitlines()
    assert [line.split("\t")[0] for line in lines[:2]] == ["error", "error"]
    assert not Campaign.objects.filter(study="set").exists()


def sent(folder: Path) -> list[SimpleUploadedFile]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return [SimpleUploadedFile(path.name, path.read_bytes()) for path in paths]


@pytest.mark.parametrize("has_script", [True, False])
def test_the_files_of_a_folder_are_chosen_together(
    as_admin: Client, tmp_path: Path, has_script: bool
) -> None:
    folder = written(tmp_path)
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    data: dict[str, Any] = {"folder": sent(folder), "name": "set"}
    if has_script:
        data["path"] = [str(path.relative_to(tmp_path)) for path in paths]
    as_admin.post(PAGE, data)
    working.drain(file_imports)
    row = FileImport.objects.get()
    assert row.state == State.CHECKED, row.report
    (found,) = row.stored["sets"]
    assert (found["test_set"], found["segments"], found["metrics"]) == ("set-en-de", 3, ["m-refA"])


def test_a_form_says_what_is_missing(as_admin: Client) -> None:
    answer = as_admin.post(PAGE, {"language_pair": "xx"})
    assert answer.status_code == 422
    assert tells(answer.text, "dataset.archive-or-folder")
    assert "“xx”" in answer.text
    assert not FileImport.objects.exists()


def test_an_import_is_seen_by_who_began_it_and_by_site_admins(
    world: World, client: Client, tmp_path: Path
) -> None:
    client.force_login(make_user("first", "campaign admin"))
    client.post(PAGE, {"archive": archive(tmp_path)})
    row = FileImport.objects.get()
    address, api = row.get_absolute_url(), f"{FILES}{row.pk}/"
    assert client.get(address).status_code == client.get(api).status_code == 200
    for name, role, code in (
        ("second", "campaign admin", 404), ("boss", "admin", 200), ("reader", "researcher", 403),
    ):  # fmt: skip
        client.force_login(make_user(name, role))
        assert client.get(address).status_code == (200 if code == 200 else 404)
        assert client.get(api).status_code == code
    assert client.post(PAGE, {}).status_code == 403
    assert client.post(API, {}).status_code == 403


def test_nobody_adds_to_the_test_set_of_another(
    world: World, client: Client, tmp_path: Path
) -> None:
    """The folder holds a system more than the stored set of the same name."""
    for name in ("first", "second"):
        client.force_login(make_user(name, "campaign admin"))
        (tmp_path / name).mkdir()
        folder = written(tmp_path / name)
        if name == "second":
            outputs = folder / "system-outputs/en-de"
            (outputs / "More.txt").write_text((outputs / "A.txt").read_text())
        files = {"folder": sent(folder), "name": "set"}
        paths = sorted(path for path in folder.rglob("*") if path.is_file())
        relative = [str(path.relative_to(tmp_path / name)) for path in paths]
        client.post(PAGE, {**files, "path": relative})
        working.drain(file_imports)
        row = FileImport.objects.latest("pk")
        if row.state == State.CHECKED:
            client.post(preview_of(row))
            working.drain(file_imports)
    row.refresh_from_db()
    assert row.state == State.REFUSED
    codes = [each["code"] for each in row.report if each["severity"] == "error"]
    assert "test-set.not-shared" in codes
    assert not TestSet.objects.get(slug="set-en-de").systems.filter(name="More").exists()


def test_programs_try_and_store(as_admin: Client, tmp_path: Path) -> None:
    answer = as_admin.post(API, {"archive": archive(tmp_path), "dry_run": "true"})
    assert answer.status_code == 202
    first = answer.json()
    assert first["state"] == "checking"
    working.drain(file_imports)
    first = as_admin.get(answer["Location"]).json()
    assert (first["state"], set(first["stored"])) == ("checked", {"sets"})
    assert first["stored"]["sets"][0]["campaigns"][0]["judgments"] == 3
    (note, missing, *_) = first["report"]
    assert (note["severity"], note["parameters"]["name"]) == ("note", "mqm")
    assert (missing["code"], missing["severity"]) == ("mtme.missing-scores", "note")
    (tmp_path / "again").mkdir()
    data = {"archive": archive(tmp_path / "again"), "human": ["mqm"], "language_pair": "en-de"}
    second = as_admin.post(API, data).json()
    working.drain(file_imports)
    second = as_admin.get(f"{FILES}{second['id']}/").json()
    assert second["state"] == "stored"
    assert [each["slug"] for each in second["stored"]["results"]] == ["set-en-de-mqm"]
    wrong = as_admin.post(API, {"language_pair": "q"}).json()["errors"]
    assert {error["field"] for error in wrong} == {"archive", "language_pair"}


def test_published_sets_come_in_on_a_page_and_by_programs(as_admin: Client, data_dir: Path) -> None:
    page = as_admin.get("/datasets/").text
    assert 'value="wmt23-meta-en-de"' in page
    assert 'value="graham2015-cs-en"' in page
    answer = as_admin.post("/datasets/", {"dataset": "length-control-en-de"})
    working.drain(file_imports)
    row = FileImport.objects.get()
    assert answer["Location"] == row.get_absolute_url()
    assert row.stored["sets"][0]["segments"] == 200
    assert as_admin.post("/datasets/", {"dataset": "nope"})["Location"] == "/datasets/"
    begun = as_admin.post(SETS, {"dataset": "length-control"}, "application/json").json()
    working.drain(file_imports)
    done = as_admin.get(f"{FILES}{begun['id']}/").json()
    assert done["state"] == "stored"
    assert TestSet.objects.get(slug="isometric-en-de").systems.count() == 6
    assert as_admin.post(SETS, {"dataset": "nope"}, "application/json").status_code == 400


def test_a_set_that_is_not_on_the_server_is_refused(
    as_admin: Client, settings: Any, tmp_path: Path
) -> None:
    settings.DATA_DIR = tmp_path
    assert "data-absent" in as_admin.get("/datasets/").text
    as_admin.post(SETS, {"dataset": "wmt17"}, "application/json")
    working.drain(file_imports)
    row = FileImport.objects.get()
    assert row.state == State.REFUSED
    assert str(tmp_path) in row.report[0]["text"]


def test_an_import_that_nobody_confirms_expires(
    as_admin: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_admin.post(PAGE, {"archive": archive(tmp_path)})
    working.drain(file_imports)
    row = FileImport.objects.get()
    monkeypatch.setattr(background, "EXPIRES", -background.EXPIRES)
    as_admin.post(SETS, {"dataset": "wmt15-cs-en"}, "application/json")
    assert not FileImport.objects.filter(pk=row.pk).exists()
    assert as_admin.post(preview_of(row))["Location"] == PAGE


def test_whoever_lost_the_import_stores_nothing(
    as_admin: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_admin.post(API, {"archive": archive(tmp_path)})
    monkeypatch.setattr(background.claims, "finish", lambda *_, **__: False)
    assert working.do_one(file_imports)
    assert not TestSet.objects.filter(slug="set-en-de").exists()


def test_an_import_that_kills_its_workers_is_refused(as_admin: Client, tmp_path: Path) -> None:
    as_admin.post(API, {"archive": archive(tmp_path)})
    past = timezone.now() - timedelta(seconds=1)
    for status in ("queued", "queued", "failed"):
        FileImport.objects.update(status="running", owner="x.1.1", expires_at=past)
        reconciling.reconcile()
        assert FileImport.objects.get().status == status
    row = FileImport.objects.get()
    assert row.state == State.REFUSED
    assert row.message
    assert str(row.message) in as_admin.get(row.get_absolute_url()).text


def test_an_unexpected_error_refuses_the_import(
    as_admin: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    as_admin.post(API, {"archive": archive(tmp_path)})
    monkeypatch.setattr(door, "summary", fail)
    for _ in range(file_imports.max_attempts):
        FileImport.objects.update(not_before=timezone.now())
        working.drain(file_imports)
    row = FileImport.objects.get()
    assert row.state == State.REFUSED


def test_a_name_that_no_database_takes_is_refused(as_admin: Client, tmp_path: Path) -> None:
    folder = written(tmp_path)
    for path in (folder / "system-outputs/en-de").iterdir():
        path.unlink()
    for name in ("mqm.merged.seg.rating", "wmt-z.sys.score"):
        (folder / f"human-scores/en-de.{name}").unlink()
    (folder / "metric-scores/en-de/m-refA.seg.score").unlink()
    (folder / "metric-scores/en-de/m-refA.sys.score").unlink()
    (folder / "human-scores/en-de.mqm.seg.score").write_text("A\x00B\t1\n" * 3)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as into:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            into.write(path, path.relative_to(tmp_path))
    as_admin.post(PAGE, {"archive": SimpleUploadedFile("set.zip", buffer.getvalue())})
    working.drain(file_imports)
    row = FileImport.objects.get()
    assert (row.state, row.stored) == (State.REFUSED, {})
    assert row.report[0]["severity"] == "error"
    assert "U+0000" in row.report[0]["text"]


def test_missing_parts_of_a_folder_give_warnings(as_admin: Client, tmp_path: Path) -> None:
    """No sources, and human scores that are all missing."""
    folder = written(tmp_path)
    (folder / "sources/en-de.txt").unlink()
    for name in ("mqm.seg.score", "mqm.sys.score", "mqm.merged.seg.rating"):
        (folder / f"human-scores/en-de.{name}").unlink(missing_ok=True)
    texts = (folder / "system-outputs/en-de").iterdir()
    lines = [path.stem for path in texts for _ in path.read_text().splitlines()]
    (folder / "human-scores/en-de.esa.seg.score").write_text("".join(f"{s}\tNone\n" for s in lines))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as into:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            into.write(path, path.relative_to(tmp_path))
    as_admin.post(PAGE, {"archive": SimpleUploadedFile("set.zip", buffer.getvalue())})
    working.drain(file_imports)
    codes = {each["code"] for each in FileImport.objects.get().report}
    assert {"mtme.no-sources", "mtme.no-scores"} <= codes


def test_an_archive_of_something_else_is_called_by_its_name(as_admin: Client) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as into:
        into.writestr("README", "nothing")
    as_admin.post(PAGE, {"archive": SimpleUploadedFile("other.zip", buffer.getvalue())})
    working.drain(file_imports)
    row = FileImport.objects.get()
    assert row.state == State.REFUSED
    assert row.report[0]["code"] == "mtme.other-layout"
    assert row.report[0]["parameters"] == {"folder": "other"}
