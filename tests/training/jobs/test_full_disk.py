"""A disk that is full, as people meet it: on the page, by command, in a job; nothing is faked."""

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from benchmarks.gpu import small
from core import disk
from tests.metrics.sites import ROOT
from tests.refusals import refused, tells
from tests.small_disk import SmallDisk
from tests.training.doing import parts_of
from training.models import TrainingJob
from training.parallel import corpora
from training.parallel.reading import Row

LANGUAGES = {"source_language": "de", "target_language": "en"}


def random_pairs(n: int) -> str:
    """TSV that does not compress well."""
    draw = random.Random(1)
    side = "abcdefghijklmnopqrstuvwxyz     "
    texts = ["".join(draw.choices(side, k=400)) for _ in range(2 * n)]
    return "".join(f"{s} s\t{t} t\n" for s, t in zip(texts[::2], texts[1::2], strict=True))


def test_a_job_says_so_on_its_page_and_by_command(
    as_researcher: Client, tmp_path: Path, small_disk: SmallDisk, settings: Any
) -> None:
    """The mapping takes 8 kB; once there is room, the same command makes the metric."""
    lines = [("港 口 安 静", "the quiet harbour"), ("港 口", "harbour"), ("安 静", "quiet")]
    rows = [Row(str(n), *pair) for n, pair in enumerate(lines)]
    corpora.add(name="port", source_language="zh", target_language="en", rows=rows)
    encoder = small.bert(tmp_path / "bert", [text for pair in lines for text in pair])
    settings.TRAINED_DIR = small_disk.folder / "trained"
    command = ["train", "remap", "--name", "Port", "--corpus", "port", "--here"]
    command += ["--option", f"checkpoint={encoder}", "--option", "layer=1"]
    small_disk.leave(6_000)
    with refused("command.ended", "job.errors", kind=CommandError, first=small_disk.code):
        call_command(*command)
    job = TrainingJob.objects.get()
    page = as_researcher.get(job.get_absolute_url()).text
    assert str(small_disk.folder) in page
    assert [each.code for each in parts_of(job.message)] == [small_disk.code, "saving.checkpoint"]
    assert [path.name for path in job.folder.iterdir()] == ["lock"]
    small_disk.leave(1_000_000)
    call_command(*command)
    job.refresh_from_db()
    assert (job.status, TrainingJob.objects.count()) == ("done", 1)


def test_a_full_database_is_a_sentence_by_command(
    small_disk: SmallDisk, tmp_path: Path, request: pytest.FixtureRequest, migrated: Path
) -> None:
    """A database of its own on the disk that fills up; it stays whole."""
    taken = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    environment = taken | {"TOUCHSTONE_VAR": str(small_disk.inside)}

    database = Path(shutil.copy(migrated, small_disk.folder))
    file = tmp_path / "news.tsv"
    file.write_text(random_pairs(4_000), encoding="utf-8")
    is_limit = "limit" in request.node.name
    small_disk.leave(500_000 + (database.stat().st_size if is_limit else 0))
    command = [*small_disk.enter, sys.executable, str(ROOT / "manage.py"), "import_parallel"]
    command += ["news", str(file), "--source-language", "de", "--target-language", "en"]
    command += ["--skip-checks"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert tells(done.stderr, "command.none-stored")
    shutil.copy(database, tmp_path / "copy.sqlite3")
    with sqlite3.connect(tmp_path / "copy.sqlite3") as kept:
        assert kept.execute("SELECT COUNT(*) FROM training_parallelcorpus").fetchone() == (0,)
        assert kept.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    kept.close()


def test_databases_have_their_own_error_numbers(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "small.sqlite3") as database:
        database.execute("PRAGMA max_page_count = 3")
        database.execute("CREATE TABLE kept (text)")
        with pytest.raises(sqlite3.OperationalError) as full:
            database.execute("INSERT INTO kept VALUES (?)", ["x" * 100_000])
    database.close()
    assert str(disk.refusal(full.value, tmp_path)) == "The disk of the database is full."
    assert disk.refusal(ValueError("x"), tmp_path) is None
