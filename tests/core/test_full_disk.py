"""A disk that is full, behind pages and the API: the kernel refuses, nothing is faked."""

import gc
import random
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.models import TestSet
from config import refusals
from tests.refusals import tells
from tests.small_disk import SmallDisk
from tests.world import World, make_user
from training.models import ParallelCorpus

LANGUAGES = {"source_language": "de", "target_language": "en"}
N_ROWS = 3_000
# Django closes half a file, which flushes it, which the disk refuses once more.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(autouse=True)
def _half_files() -> Iterator[None]:
    """They go with what holds them, before their disk does."""
    yield
    gc.collect()


@pytest.fixture
def careful(world: World, client: Client) -> Client:
    """The admin, who sees what a browser sees where a request fails."""
    client.raise_request_exception = False
    client.force_login(world.admin)
    return client


def file(head: str, n_rows: int = N_ROWS) -> SimpleUploadedFile:
    """A table that does not compress well: a segment, a system and a sentence in a row."""
    draw = random.Random(1)
    rows = [f"{n}\tstrong\t{''.join(draw.choices('abcdefgh ', k=60))}.\n" for n in range(n_rows)]
    return SimpleUploadedFile("news.tsv", (head + "".join(rows)).encode())


def uploads() -> dict[str, tuple[str, dict[str, Any]]]:
    """Every upload whose files wait for a confirmation: address and what is sent."""
    tables = {"judgments-tables": file("segment\tsystem\tannotator\n"), "judgments-name": "Own"}
    texts = {"tables": file("segment\tsystem\tsource\n"), "name": "News"}
    return {
        "test set": ("/testsets/upload/", LANGUAGES | texts),
        "judgments": ("/campaigns/import/", {"tool": "judgments"} | tables),
        "metric scores": ("/testsets/harbour/scores/", {"tables": file("segment\tsystem\tmt\n")}),
        "corpus": ("/training/corpora/upload/", LANGUAGES | {"name": "news", "file": pairs()}),
    }


def pairs() -> SimpleUploadedFile:
    """Parallel text."""
    draw = random.Random(2)
    sides = ["".join(draw.choices("abcdefgh ", k=60)) for _ in range(2 * N_ROWS)]
    lines = [f"{a} s\t{b} t\n" for a, b in zip(sides[::2], sides[1::2], strict=True)]
    return SimpleUploadedFile("news.tsv", "".join(lines).encode())


@pytest.mark.parametrize("which", ["test set", "judgments", "metric scores", "corpus"])
def test_an_upload_ends_with_a_sentence_and_leaves_nothing(
    careful: Client, small_disk: SmallDisk, settings: Any, which: str
) -> None:
    address, sent = uploads()[which]
    settings.VAR_DIR = small_disk.folder
    small_disk.leave(50_000)
    answer = careful.post(address, sent)
    assert answer.status_code == 507
    assert str(small_disk.folder) in answer.text
    assert not list((small_disk.folder / "uploads").iterdir())
    assert not ParallelCorpus.objects.exists()
    small_disk.leave(4_000_000)
    assert careful.post(address, uploads()[which][1]).status_code in (200, 302, 422)


@pytest.mark.parametrize("address", ["/testsets/upload/", "/login/", "/api/imports/judgments/"])
def test_files_that_go_to_the_disk_while_the_form_is_read(
    careful: Client, small_disk: SmallDisk, settings: Any, address: str
) -> None:
    """Files go to the disk before any view runs; programs get JSON."""
    settings.FILE_UPLOAD_TEMP_DIR = str(small_disk.folder)
    settings.FILE_UPLOAD_MAX_MEMORY_SIZE = 50_000
    small_disk.leave(50_000)
    answer = careful.post(address, {"tables": file("segment\n")})
    assert answer.status_code == 507
    told = answer.json()["error"] if address.startswith("/api") else answer.text
    assert tells(told, small_disk.code) or str(refusals.FULL) in told
    assert TestSet.objects.count() == 1


def test_only_researchers_see_folders_of_the_server(
    careful: Client, small_disk: SmallDisk, settings: Any
) -> None:
    careful.force_login(make_user("rater", "annotator"))
    settings.FILE_UPLOAD_TEMP_DIR = str(small_disk.folder)
    settings.FILE_UPLOAD_MAX_MEMORY_SIZE = 50_000
    small_disk.leave(50_000)
    answer = careful.post("/login/", {"tables": file("segment\n")})
    assert answer.status_code == 507
    assert str(refusals.FULL) in answer.text
    assert str(small_disk.folder) not in answer.text


def test_other_errors_are_no_full_disk(tmp_path: Any) -> None:
    for error in (FileExistsError(17, "there"), PermissionError(13, "no"), ValueError("no")):
        assert refusals.disk_refusal(error) is None
