"""Two hosts with folders of their own and one bucket, on a server of S3's protocol here."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from annotation.models import SiteMark
from annotation.uploads import waiting
from annotation.uploads.files import InputFile
from annotation.uploads.media import storage as media
from config import backups, checks, health
from config.environment import bucket
from core import shared_files
from tests.buckets import Hosts, s3_server, two_hosts

PNG = b"\x89PNG\r\n\x1a\n" + b"picture" * 5_000


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with s3_server() as address:
        yield address


@pytest.fixture
def hosts(
    server: str, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Hosts]:
    with two_hosts(server, settings, tmp_path, monkeypatch) as made:
        yield made


def picture(content: bytes = PNG) -> InputFile:
    return InputFile("a.png", len(content), lambda: BytesIO(content))


def test_a_picture_of_one_host_is_shown_by_another(hosts: Hosts) -> None:
    stored = media.store_file(picture())
    hosts.on("b")
    assert media.recall(stored.sha256) == stored
    assert media.path_of(stored.sha256).read_bytes() == PNG
    assert hosts.keys() == {f"media/{stored.sha256}"}
    assert not media.path_of("0" * 64).exists()


@pytest.mark.django_db
def test_pictures_that_nobody_uses_leave_the_bucket(
    hosts: Hosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    media.store_file(picture())
    media.forget_unused()
    assert len(hosts.keys()) == 1
    hosts.on("b")  # which never had it
    monkeypatch.setattr(media, "MAX_AGE", -60)
    media.forget_unused()
    assert hosts.keys() == set()


def sent(content: bytes = b"1\t2") -> waiting.Sent:
    file = InputFile.holding("rows.tsv", content)
    return waiting.Sent.of("judgments", [("tables", file)], {"n": 7})


def test_what_waits_on_one_host_is_confirmed_once_on_another(hosts: Hosts) -> None:
    token = waiting.keep(sent(), 1)
    hosts.on("b")
    found = waiting.recall(token, 1, "judgments")
    assert (found.words, found.files["tables"].name) == ({"n": 7}, "rows.tsv")
    with found.files["tables"].open() as file:
        assert file.read() == b"1\t2"
    waiting.forget(token, 1)
    assert hosts.keys() == set()
    hosts.on("a")  # which still has a copy
    with pytest.raises(waiting.ExpiredError):
        waiting.recall(token, 1)


def test_a_worker_elsewhere_imports_what_is_held(
    hosts: Hosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = waiting.keep(sent(), 1)
    hosts.on("b")
    held = waiting.hold(token, 1)
    waiting.add(held, "shown", b"{}")
    lost = hosts.keys()
    waiting.keep(sent(b"2"), 1)
    lost = hosts.keys() - lost
    hosts.on("c")
    assert waiting.recall(waiting.token_of(held, user_id=1), 1).words == {"n": 7}
    monkeypatch.setattr(waiting, "MAX_AGE", -60)
    waiting.keep(sent(b"3"), 1)  # deletes what was not confirmed in time, and copies of this host
    assert waiting.added(held, "shown") == b"{}"
    assert waiting.added(held, "0") == b"1\t2"
    assert (len(lost), lost & hosts.keys()) == (2, set())
    waiting.release(held)
    assert not any(held["name"] in key for key in sorted(hosts.keys()))


def test_what_is_held_keeps_its_attachments_without_a_bucket(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.VAR_DIR = tmp_path
    held = waiting.hold(waiting.keep(sent(), 1), 1)
    monkeypatch.setattr(waiting, "MAX_AGE", -60)
    waiting.keep(sent(b"2"), 1)
    assert waiting.added(held, "0") == b"1\t2"


def test_a_bucket_that_is_gone_is_an_error_of_files(hosts: Hosts, settings: Any) -> None:
    health.storage()
    settings.STORAGES = settings.STORAGES | {"files": bucket("gone", "http://127.0.0.1:9")}
    for write in (health.storage, lambda: media.store_file(picture())):
        with pytest.raises(OSError) as caught:  # noqa: PT011  any error of files
            write()
        assert not isinstance(caught.value, FileNotFoundError)


def test_a_backup_has_what_only_the_bucket_has(hosts: Hosts, tmp_path: Path) -> None:
    stored = media.store_file(picture())
    hosts.on("b")
    names: dict[str, bytes] = {}

    class Archive:
        def add(self, path: Path, name: str) -> None:
            names[name] = path.read_bytes()

    backups._add_shared(Archive(), tmp_path)  # type: ignore[arg-type]
    assert names == {f"media/{stored.sha256}": PNG}


@pytest.mark.django_db
def test_a_host_with_another_folder_is_noticed(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "_is_alone", shared_files.is_shared)
    settings.VAR_DIR = tmp_path
    assert checks.other_folder_errors() == []
    checks.mark_folder()
    checks.mark_folder()
    assert (SiteMark.objects.count(), checks.other_folder_errors()) == (1, [])
    settings.VAR_DIR = tmp_path / "other"
    settings.VAR_DIR.mkdir()
    checks.mark_folder()
    (error,) = checks.other_folder_errors()
    assert error.id == "touchstone.E010"
    checks.mark_folder(is_restored=True)
    assert (SiteMark.objects.count(), checks.other_folder_errors()) == (1, [])
    settings.FILES_S3_BUCKET = "files"
    assert checks.other_folder_errors() == []
