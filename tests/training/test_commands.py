"""`manage.py import_parallel` and `manage.py train`."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from benchmarks.gpu import small
from tests.refusals import refused
from training.models import ParallelCorpus, TrainingJob

LANGUAGES = {"source_language": "zh", "target_language": "en"}


def manage(*arguments: str, **options: Any) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out, stderr=out, **options)
    return out.getvalue()


def write(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def test_a_file_is_cleaned_and_stored(db: None, tmp_path: Path) -> None:
    file = write(tmp_path, "a.txt", "港口 ||| harbour\n ||| quiet\n")
    assert "Dry run" in manage("import_parallel", "port", file, dry_run=True, **LANGUAGES)
    assert not ParallelCorpus.objects.exists()
    assert "such as a.txt:2" in manage("import_parallel", "port", file, **LANGUAGES)
    assert ParallelCorpus.objects.get().n_pairs == 1


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"a": "one\n", "b": "eins\nzwei\n"}, "corpus.lengths-differ"),
        ({"a": "one\n"}, "corpus.no-tab"),
        ({"a": "1\t2\n"}, "corpus.empty"),
    ],
)
def test_wrong_files_are_named(db: None, tmp_path: Path, files: dict[str, str], code: str) -> None:
    paths = [write(tmp_path, name, text) for name, text in files.items()]
    with refused(code, kind=CommandError):
        manage("import_parallel", "port", *paths, **LANGUAGES)


def test_a_file_that_is_not_there_and_a_wrong_language(db: None, tmp_path: Path) -> None:
    with refused("command.file", kind=CommandError, path="/nowhere"):
        manage("import_parallel", "port", "/nowhere", **LANGUAGES)
    file = write(tmp_path, "a", "a\tb\n")
    with refused("language.unknown", kind=CommandError):
        manage("import_parallel", "port", file, source_language="q!", target_language="en")


def test_a_projection_is_fitted_here(db: None, tmp_path: Path, settings: Any) -> None:
    settings.TRAINED_DIR = tmp_path / "trained"
    lines = [("港 口 安 静", "the quiet harbour"), ("港 口", "harbour"), ("安 静", "quiet")]
    file = write(tmp_path, "a.tsv", "".join(f"{s}\t{t}\n" for s, t in lines))
    manage("import_parallel", "port", file, **LANGUAGES)
    encoder = small.bert(tmp_path / "bert", [text for pair in lines for text in pair])
    shown = manage(
        "train", "remap", name="Port", corpus=["port"], here=True,
        option=[f"checkpoint={encoder}", "layer=1"],
    )  # fmt: skip
    job = TrainingJob.objects.get()
    assert job.metric is not None
    assert job.metric.name in shown


def test_what_fails_here_fails_the_command(db: None, tmp_path: Path) -> None:
    file = write(tmp_path, "a.tsv", "a\tb\n")
    manage("import_parallel", "port", file, **LANGUAGES)
    given = {"name": "x", "corpus": ["port"], "here": True, "option": ["checkpoint=acme/none"]}
    given_up = ("command.ended", "checkpoint.missing")
    with refused(*given_up, kind=CommandError, checkpoint="acme/none"):
        manage("train", "remap", **given)


def test_settings_are_listed_and_mistakes_named(db: None) -> None:
    assert "--option layer=…" in manage("train", "remap")
    with refused("command.no-corpus", "command.none-known", kind=CommandError, name="nowhere"):
        manage("train", "remap", name="x", corpus=["nowhere"], option=["checkpoint=x"])
    with refused("training.no-corpus", kind=CommandError):
        manage("train", "remap", name="x", option=["checkpoint=x"])
