"""Files of this host hold what took long to read, for this site and version alone."""

from pathlib import Path
from typing import Any

import pytest

from core import host_files
from core.host_files import read_host_file, write_host_file

VALUE = {1: (2, "three")}


class Moved:
    """A class that another version does not have."""


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    settings.VAR_DIR = tmp_path
    return tmp_path / "sums"


def test_a_value_is_read_under_its_name_and_key() -> None:
    assert read_host_file("one", (1,)) is None
    write_host_file("one", (1,), VALUE)
    assert read_host_file("one", (1,)) == VALUE
    assert read_host_file("one", (2,)) is None
    assert read_host_file("two", (1,)) is None


def test_another_version_reads_nothing(settings: Any) -> None:
    write_host_file("one", (), VALUE)
    settings.VERSION = "another"
    assert read_host_file("one", ()) is None


def test_a_value_of_a_class_that_is_gone_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    write_host_file("one", (), Moved())
    assert isinstance(read_host_file("one", ()), Moved)
    monkeypatch.delattr(f"{__name__}.Moved")
    assert read_host_file("one", ()) is None


def test_only_what_this_site_signed_is_read(settings: Any, folder: Path) -> None:
    write_host_file("one", (), VALUE)
    raw = (folder / "one").read_bytes()
    for changed in (b"", raw[:20], raw[:-1], raw[:32] + b"x" + raw[33:]):
        (folder / "one").write_bytes(changed)
        assert read_host_file("one", ()) is None
    (folder / "one").write_bytes(raw)
    settings.SECRET_KEY = "another"
    assert read_host_file("one", ()) is None


def test_a_host_without_room_does_without(settings: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    settings.VAR_DIR = tmp_path / "file"
    write_host_file("one", (), VALUE)
    assert read_host_file("one", ()) is None


def test_what_nobody_writes_any_more_is_deleted(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_host_file("old", (), VALUE)
    monkeypatch.setattr(host_files, "time", lambda: 1e11)
    monkeypatch.setattr(host_files, "UNUSED_SECONDS", 1e9)
    write_host_file("new", (), VALUE)
    assert not (folder / "old").exists()
