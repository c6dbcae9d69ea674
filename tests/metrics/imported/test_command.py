"""`manage.py import_scores`."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from metrics.models import MetricImport
from tests.refusals import refused
from tests.world import World


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("import_scores", *arguments, stdout=out, stderr=out)
    return out.getvalue()


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "scores.tsv"
    path.write_text("Seg\tsystem\tCOMET\tTER\n1\tstrong\t0.5\t30\n", encoding="utf-8")
    return str(path)


def test_dry_run_then_import(world: World, file: str) -> None:
    output = run(
        "harbour", file, "--dry-run", "--lower-is-better", "TER", "--column", "Seg=segment"
    )
    assert "COMET: 1 of 8 outputs, 0 systems, 0 without a score; New." in output
    assert not MetricImport.objects.exists()
    output = run("harbour", file, "--metric", "TER", "--lower-is-better", "TER", "--name", "TER=T")
    assert "Imported 1 metric: 1 scores" in output
    assert [row.metric for row in MetricImport.objects.all()] == ["imported-t-lower"]
    again = run("harbour", file, "--metric", "TER", "--lower-is-better", "TER", "--name", "TER=T")
    assert "Nothing changed" in again


def test_many_metrics_with_the_same_counts_are_one_line(world: World, tmp_path: Path) -> None:
    names = [f"layer.{n}" for n in range(300)]
    path = tmp_path / "scores.tsv"
    rows = ["\t".join(("1", "strong", *["0.5"] * 300)), "\t".join(("2", "strong", "0.5"))]
    path.write_text("\n".join(["\t".join(("segment", "system", *names)), *rows]), encoding="utf-8")
    output = run("harbour", str(path), "--dry-run", "--skip", "torn")
    assert len(output.splitlines()) < 10
    assert "300 metrics" in output


@pytest.mark.parametrize(
    ("arguments", "codes"),
    [
        (["nowhere", "FILE"], ["command.no-test-set", "command.known"]),
        (["harbour", "/nowhere.tsv"], ["command.file"]),
        (["harbour", "FILE", "--column", "x"], ["command.pair"]),
        (["harbour", "FILE", "--metric", "BLEU"], ["command.errors"]),
    ],
)
def test_refusals(world: World, file: str, arguments: list[str], codes: list[str]) -> None:
    with refused(*codes, kind=CommandError):
        run(*[file if each == "FILE" else each for each in arguments])
    assert not MetricImport.objects.exists()


def test_score_says_why_it_cannot_run_one(world: World, file: str) -> None:
    run("harbour", file)
    with refused("metric.imported", "command.known", kind=CommandError):
        call_command("score", "harbour", "--metric", "imported-comet")


def test_the_hardest_segments_by_a_metric_that_may_be_better_when_lower(
    world: World, tmp_path: Path
) -> None:
    """The order of the means over systems that have a score; the worst come first."""
    scores = {("1", "strong"): 0.9, ("1", "weak"): 0.1, ("2", "strong"): 0.2, ("3", "weak"): 0.6}
    path = tmp_path / "scores.tsv"
    rows = [f"{key}\t{system}\t{value}\t{value}" for (key, system), value in scores.items()]
    path.write_text("\n".join(["segment\tsystem\tease\tTER", *rows]), encoding="utf-8")
    run("harbour", str(path), "--lower-is-better", "TER")

    def hardest(*arguments: str) -> list[str]:
        out = StringIO()
        call_command("hardest", "harbour", *arguments, stdout=out)
        return out.getvalue().split()

    assert hardest("--metric", "imported-ease") == ["2", "1", "3"]
    assert hardest("--metric", "imported-ter-lower", "--size", "2") == ["3", "1"]
    with refused("hardest.no-scores", "command.known", kind=CommandError):
        hardest("--metric", "none")
    with refused("argument.integer", kind=CommandError):
        hardest("--metric", "imported-ease", "--size", "-1")
