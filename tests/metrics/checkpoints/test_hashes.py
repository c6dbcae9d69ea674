"""Digests against hashlib, and when a file is read again."""

import hashlib
import os
import time
from pathlib import Path

import pytest

from metrics.base import MetricError
from metrics.checkpoints import hashes
from tests.refusals import refused

OLD = 1_700_000_000


@pytest.fixture(autouse=True)
def _fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOUCHSTONE_VAR", str(tmp_path))
    monkeypatch.setattr(hashes, "_known", {})


def write(path: Path, content: bytes, changed: float = OLD) -> Path:
    path.write_bytes(content)
    os.utime(path, (changed, changed))
    return path


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_the_digest_is_sha256(tmp_path: Path) -> None:
    assert hashes.of_file(write(tmp_path / "a", b"weights")) == sha256(b"weights")
    assert hashes.of_text("é") == sha256("é".encode())


def test_a_file_of_the_same_size_and_time_is_not_read_again(tmp_path: Path) -> None:
    path = write(tmp_path / "a", b"old")
    hashes.of_file(path)
    write(path, b"new")
    assert hashes.of_file(path) == sha256(b"old")
    assert hashes.of_file(path, again=True) == sha256(b"new")


@pytest.mark.parametrize(("content", "changed"), [(b"new", OLD + 1), (b"longer", OLD)])
def test_a_file_of_another_time_or_size_is_read(
    tmp_path: Path, content: bytes, changed: float
) -> None:
    path = write(tmp_path / "a", b"old")
    hashes.of_file(path)
    assert hashes.of_file(write(path, content, changed)) == sha256(content)


def test_the_next_process_knows_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a", b"old")
    hashes.of_file(path)
    monkeypatch.setattr(hashes, "_known", {})
    write(path, b"new")
    assert hashes.of_file(path) == sha256(b"old")


def test_a_file_just_written_is_read_every_time(tmp_path: Path) -> None:
    """Its time is that of the clock, here an hour ahead so that the test cannot be too slow."""
    soon = time.time() + 3600
    path = write(tmp_path / "a", b"old", soon)
    hashes.of_file(path)
    assert hashes.of_file(write(path, b"new", soon)) == sha256(b"new")


@pytest.mark.parametrize("text", ["", "not json", "[1, 2]", '{"a": 1}', '{"a": ["x", 1, "y"]}'])
def test_a_broken_list_is_made_anew(tmp_path: Path, text: str) -> None:
    (tmp_path / "checkpoint-hashes.json").write_text(text)
    assert hashes.of_file(write(tmp_path / "a", b"weights")) == sha256(b"weights")


def test_a_folder_that_cannot_be_written_is_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOUCHSTONE_VAR", str(tmp_path / "missing"))
    assert hashes.of_file(write(tmp_path / "a", b"weights")) == sha256(b"weights")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with refused("checkpoint.file-unreadable", kind=MetricError) as caught:
        hashes.of_file(tmp_path / "weights.bin")
    assert caught.value.permanent
