"""The preference analysis from files to W2W, with a metric whose values are known."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Output, Reference
from benchmarks.gpu import small
from extensions.neural.encoding import encoders
from metrics import registry
from metrics.models import MetricRun, SegmentScore
from tests.metrics import fakes
from tests.refusals import refused
from tests.world import World, make_test_set
from training.perturbations.files import GivenFile
from training.preferences import altering


@pytest.fixture(autouse=True)
def _ordered(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = fakes.make_info("ordered"), "tests.metrics.fakes:Ordered"
    monkeypatch.setitem(registry.METRICS, "ordered", entry)


@pytest.fixture
def texts(world: World) -> list[str]:
    """References in alphabetical order, one word, and one in the opposite order."""
    found = ["a b c d e f", "a b c d", "word", "c b a"]
    for reference, text in zip(Reference.objects.order_by("segment"), found, strict=True):
        reference.text = text
        reference.save()
    return found


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("preferences", "harbour", "--metric", "ordered", *arguments, stdout=out)
    return out.getvalue()


def test_texts_by_people(texts: list[str], tmp_path: Path) -> None:
    file, output = tmp_path / "texts", tmp_path / "out.json"
    file.write_text("f e d c b a\na b c d\n\na b c\n")
    out = run("--condition", "texts", "--texts", str(file), "--output", str(output), "--histogram")
    first, second, *_ = out.splitlines()
    assert first == "3 segments, 1 excluded."
    assert (
        second
        == "Output length: W2W 0.333 (0.061 to 0.792), mean d −1.0000, median +0.0000, ties 0.333"
    )
    document = json.loads(output.read_text())
    assert document["measures"]["ordered-output"]["differences"] == [-5, 0, 2]
    assert document["measures"]["ordered-source"]["differences"] == [5, 0, -2]
    assert document["segments"][2] == {"key": "4", "original": "c b a", "altered": "a b c"}
    assert out.count("█" * 40) == 2 * 3


def test_a_random_order_is_the_same_for_the_same_seed(texts: list[str]) -> None:
    out = run("--condition", "reorder")
    assert out.startswith("3 segments, 1 excluded.")
    assert run("--condition", "reorder", "--seed", "0") == out
    outs = {run("--condition", "reorder", "--seed", str(seed)) for seed in range(8)}
    assert len(outs) > 1


def test_nothing_is_stored(texts: list[str]) -> None:
    before = Output.objects.count()
    run("--condition", "reorder")
    assert Output.objects.count() == before
    assert not MetricRun.objects.exists()
    assert not SegmentScore.objects.exists()


def test_source_order(texts: list[str], tmp_path: Path) -> None:
    file = tmp_path / "links"
    file.write_text("5-0 4-1 3-2 2-3 1-4 0-5\n0-0 1-1\n\n2-0 1-1 0-2\n")
    out = run("--condition", "source-order", "--alignments", str(file))
    assert out.startswith("2 segments, 2 excluded.")
    assert "W2W 0.500" in out
    assert "mean d −1.5000" in out
    file.write_text("0-0\n0-9\n\n\n")
    with refused("preferences.link", kind=CommandError):
        run("--condition", "source-order", "--alignments", str(file))


def test_word_by_word(world: World, tmp_path: Path) -> None:
    file = tmp_path / "words.tsv"
    file.write_text("源文\tsource\n港口\tharbour\n很\tvery\n安静\tquiet\n")
    given = GivenFile("words.tsv", file.read_bytes())
    altered = altering.alter(world.test_set, "word-by-word", file=given)
    assert altered.texts[0] == "source 第 0 句， harbour very quiet。"
    assert "57.1%" in run("--condition", "word-by-word", "--dictionary", str(file))


def test_a_dictionary_that_knows_few_words(world: World, tmp_path: Path) -> None:
    """Of nine words it knows one; a number of such texts would say nothing of a metric."""
    file, out = tmp_path / "words.tsv", tmp_path / "d.json"
    file.write_text("港口\tharbour\n")
    shown = run("--condition", "word-by-word", "--dictionary", str(file), "--output", str(out))
    assert "W2W undefined" in shown
    assert "50%" in shown
    document = json.loads(out.read_text())
    assert document["coverage"] == pytest.approx(1 / 9)
    for measure in document["measures"].values():
        assert measure["statistic"] is None
        assert [warning["code"] for warning in measure["warnings"]] == ["too_few"]


def test_xmoverscore_prefers_the_reference_to_itself_nowhere(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOUCHSTONE_MODELS", str(tmp_path))
    encoders.forget()
    texts = list(Reference.objects.values_list("text", flat=True))
    small.bert(tmp_path / "bert-base-multilingual-cased", texts, layers=12)
    file = tmp_path / "texts"
    file.write_text("\n".join(texts))
    out = StringIO()
    call_command(
        "preferences", "harbour", "--metric", "xmoverscore-head-2022", "--condition", "texts",
        "--texts", str(file), stdout=out,
    )  # fmt: skip
    assert "XMoverScore 2022 bigrams: W2W 0.000" in out.getvalue()
    assert "mean d +0.0000" in out.getvalue()


@pytest.mark.parametrize(
    ("arguments", "codes"),
    [
        (["--condition", "word-by-word"], "preferences.needs-file"),
        (["--condition", "texts", "--texts", "/nowhere"], "command.file"),
        (["--condition", "reorder", "--metric", "bleu"], "preferences.one-reference"),
        (["--condition", "reorder", "--metric", "meteor"], "metric.unknown command.known"),
        (["--condition", "reorder", "--output", "/nowhere/x"], "command.file"),
    ],
)
def test_what_cannot_be_compared(texts: list[str], arguments: list[str], codes: str) -> None:
    with refused(*codes.split(), kind=CommandError):
        run(*arguments)


def test_lines_must_be_as_many_as_segments(texts: list[str], tmp_path: Path) -> None:
    file = tmp_path / "texts"
    file.write_text("one\n")
    with refused("preferences.file-length", kind=CommandError):
        run("--condition", "texts", "--texts", str(file))


@pytest.mark.django_db
def test_a_test_set_without_references() -> None:
    make_test_set(references=False)
    with refused("preferences.none-altered", kind=CommandError):
        run("--condition", "reorder")


@pytest.mark.django_db
def test_a_test_set_that_is_missing() -> None:
    with refused("command.no-test-set", "command.none-known", kind=CommandError):
        run("--condition", "reorder")
