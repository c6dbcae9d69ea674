"""The command does what the page does."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Output, TestSet
from tests.refusals import refused, tells


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "source.txt").write_text("Das Haus.\nDer Hund.\n")
    (tmp_path / "reference.txt").write_text("The house.\nThe dog.\n")
    (tmp_path / "base.txt").write_text("House.\nDog.\n")
    return tmp_path


def run(folder: Path, *arguments: str, languages: tuple[str, ...] = ("de", "en")) -> str:
    out = StringIO()
    source, target = languages
    call_command(
        "import_testset", "animals", "--source-language", source, "--target-language", target,
        "--source", str(folder / "source.txt"), "--reference", str(folder / "reference.txt"),
        *arguments, stdout=out, stderr=out,
    )  # fmt: skip
    return out.getvalue()


def test_import_twice(db: None, folder: Path) -> None:
    system = f"strong@0.8={folder / 'base.txt'}"
    assert "2 segments" in run(folder, "--system", system, "--dry-run")
    assert not TestSet.objects.exists()
    assert "Created “animals”. Segments: 2, systems: 1, outputs: 2." in run(
        folder, "--system", system
    )
    assert "nothing changed" in run(folder, "--system", system)
    assert Output.objects.count() == 2


def test_a_table_of_outputs(db: None, folder: Path) -> None:
    run(folder)
    (folder / "out.tsv").write_text(
        "segment\tsystem\tlength_ratio\toutput\n1\tcut\t0.5\tHouse\n2\tcut\t0.5\tDog\n"
    )
    out = StringIO()
    call_command("import_testset", "animals", "--outputs", str(folder / "out.tsv"), stdout=out)
    assert tells(out.getvalue(), "import.added", name="animals", systems=1, outputs=2)
    system = TestSet.objects.get().systems.get()
    assert (system.name, str(system.length_ratio)) == ("cut", "0.50")


@pytest.mark.parametrize(
    ("text", "message"),
    [("one line\n", "1"), ("a\n\xff\n", "not UTF-8")],
)
def test_errors_store_nothing(db: None, folder: Path, text: str, message: str) -> None:
    (folder / "base.txt").write_bytes(text.encode("latin-1"))
    out = StringIO()
    with refused("command.errors", kind=CommandError, n=1):
        call_command(
            "import_testset", "animals", "--source-language=de", "--target-language=en",
            "--source", str(folder / "source.txt"), "--system", str(folder / "base.txt"),
            stdout=out, stderr=out,
        )  # fmt: skip
    assert "base.txt" in out.getvalue()
    assert message in out.getvalue()
    assert not TestSet.objects.exists()


def test_wrong_arguments(db: None, folder: Path) -> None:
    with refused("language.unknown-near", kind=CommandError):
        run(folder, languages=("de", "klingonese"))
    with refused("command.file", kind=CommandError, reason="reason.not-found"):
        run(folder, "--system", str(folder / "missing.txt"))
    with refused("command.errors", kind=CommandError, n=1):
        call_command("import_testset", "new")


def test_columns_and_entities_by_command(db: None, folder: Path) -> None:
    (folder / "a.tsv").write_text("Kennung\tsrc\tOnline-B\nx\t&lt;Eins&gt;\t&lt;One&gt;\n")
    (folder / "b.tsv").write_text("nr\tsys\tmt\nx\tc\tUno\n")
    out = StringIO()
    tables = ["--table", str(folder / "a.tsv"), "--table", str(folder / "b.tsv")]
    columns = ["--column", "Kennung=segment", "--column", "a.tsv:Online-B=system:Online-B",
               "--column", "b.tsv:nr=segment"]  # fmt: skip
    call_command(
        "import_testset", "odd", "--source-language=German", "--target-language=English",
        *tables, *columns, "--decode-entities", stdout=out, stderr=out,
    )  # fmt: skip
    assert "“src” as source" in out.getvalue()
    found = Output.objects.order_by("system__name").values_list("system__name", "text")
    assert list(found) == [("Online-B", "<One>"), ("c", "Uno")]
    assert TestSet.objects.get().source_language == "de"


def test_a_column_without_a_field(db: None, folder: Path) -> None:
    with refused("command.column", kind=CommandError, text="sid"):
        run(folder, "--column", "sid")
