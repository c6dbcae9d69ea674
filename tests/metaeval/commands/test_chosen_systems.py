"""Which systems the command line compares: human translations, named ones, outliers."""

import csv
import json
from functools import cache

import numpy as np
import pytest
import sacrebleu
from django.conf import settings

from metaeval.commands import main
from metaeval.files import write_evalset
from metaeval.scores.human_systems import (
    find_reference,
    looks_human,
    references_read,
    scored_against_itself,
)
from tests.metaeval.commands.test_commands import PUBLISHED, wmt23
from tests.metaeval.systems.test_outliers import WMT19
from tests.refusals import tells

FOLDER = settings.DATA_DIR / "mqm-ted" / "zh-en"


def rows_of(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


@cache
def ted() -> dict[str, tuple[float, float]]:
    """Human score and BLEU of every system of TED zh-en, with both references."""
    texts: dict[str, list[str]] = {}
    for row in rows_of("outputs.tsv"):
        texts.setdefault(row["system"], []).append(row["output"])
    human = {row["system"]: -float(row["mean_penalty"]) for row in rows_of("sys-scores.tsv")}
    references = [texts["ref"], texts["refB"]]
    return {
        name: (human[name], sacrebleu.corpus_bleu(own, references).score)
        for name, own in texts.items()
    }


@pytest.fixture
def table(tmp_path):
    def write(scores, metric="bleu"):
        path = tmp_path / "scores.tsv"
        lines = [f"{name}\t{human}\t{value}" for name, (human, value) in scores.items()]
        path.write_text("\n".join([f"system\tmqm\t{metric}", *lines]) + "\n", encoding="utf-8")
        return str(path)

    return write


def correlate(capsys, *arguments):
    """The first metric's row of the document, the document, and the standard error."""
    options = ["--human", "mqm", "--higher", "mqm", "--grouping", "system-level"]
    options += ["--output", "json"]
    assert main(["correlate", *arguments, *options]) == 0
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    return document["metrics"], document, captured.err


def test_human_translations_are_left_out_of_ted(table, capsys):
    """BLEU's r over systems is -.230 with both references among them, .185 without."""
    path = table(ted())
    (bleu,), document, said = correlate(capsys, path)
    assert (round(bleu["statistic"], 3), bleu["n"]) == (0.185, 13)
    assert document["human_systems"] == ["ref", "refB"]
    assert tells(said, "command.human-excluded", systems="ref and refB")
    (bleu,), document, said = correlate(capsys, path, "--with-human")
    assert (round(bleu["statistic"], 3), bleu["n"]) == (-0.230, 15)
    assert tells(said, "command.human-included", systems="ref and refB")
    (bleu,), _, _ = correlate(capsys, path, "--human-systems", "ref")
    assert bleu["n"] == 14


def test_a_system_that_is_named_is_there_whoever_made_it(table, capsys):
    path = table(ted())
    named = ["ref", "NiuTrans", "SMU", "MiSS"]
    chosen = [word for name in named for word in ("--systems", name)]
    (bleu,), document, _ = correlate(capsys, path, *chosen)
    expected = np.corrcoef(np.array([ted()[name] for name in named]).T)[0, 1]
    assert bleu["statistic"] == pytest.approx(expected)
    assert sorted(document["systems"]) == sorted(named)
    for option in ("--without-systems", "--without"):
        (bleu,), _, _ = correlate(capsys, path, option, "SMU", option, "ref")
        assert bleu["n"] == 12


@pytest.mark.parametrize("option", ["--systems", "--without-systems", "--human-systems"])
def test_an_unknown_system_is_refused_by_name(table, capsys, option):
    path = table(ted())
    assert main(["correlate", path, "--human", "mqm", option, "nobody"]) == 2
    said = capsys.readouterr().err
    assert f"has no nobody, which {option} names." in said


def test_outliers_are_named_and_shown_beside(table, capsys):
    path = table(WMT19)
    (bleu,), document, said = correlate(capsys, path)
    assert (round(bleu["statistic"], 2), bleu["n"]) == (0.97, 22)
    assert round(bleu["without_outliers"], 2) == 0.81
    assert document["outlier_systems"] == ["en_de_task", "online-X"]
    outliers = "en_de_task and online-X"
    assert tells(said, "command.outliers-included", systems=outliers)
    (bleu,), _, said = correlate(capsys, path, "--outliers", "out")
    assert (round(bleu["statistic"], 2), bleu["n"]) == (0.81, 20)
    assert "without_outliers" not in bleu
    assert tells(said, "command.outliers-excluded", systems=outliers)


def test_the_published_values_of_wmt23_need_no_name_of_a_reference(tmp_path, capsys):
    write_evalset(wmt23(), tmp_path / "wmt23")
    folder = str(tmp_path / "wmt23")
    metrics, document, _ = correlate(capsys, folder, "--language-pair", "en-de")
    assert {row["metric"]: round(row["statistic"], 3) for row in metrics} == PUBLISHED
    assert document["human_systems"] == ["refA"]


def test_a_reference_is_never_compared_with_itself(table, capsys):
    """With the humans in, refB enters a metric that reads refA, and both enter one of sources."""
    scores = ted()
    for metric, n in (("BLEU-ref", 14), ("BLEU-refB", 14), ("BLEU-ref.refB", 13), ("BLEU-src", 15)):
        (row,), _, said = correlate(capsys, table(scores, metric), "--with-human")
        assert row["n"] == n, metric
        assert (tells(said, "command.own-reference")) == (n < 15)


@pytest.mark.parametrize("command", ["correlations", "systems"])
def test_tables_of_outputs_leave_human_translations_out(command, tmp_path, capsys):
    rng = np.random.default_rng(5)
    path = tmp_path / "scores.tsv"
    lines = ["system\tsegment\thuman\tchrf"]
    for name in ("A", "B", "C", "Human-A.0"):
        lines += [f"{name}\t{n}\t{x:.3f}\t{y:.3f}" for n, (x, y) in enumerate(rng.random((30, 2)))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = {}
    for arguments in ((), ("--with-human",), ("--without-systems", "Human-A.0")):
        options = ["--human", "human", "--output", "json", *arguments]
        assert main([command, str(path), *options]) == 0
        captured = capsys.readouterr()
        found[arguments] = captured.out
        assert (tells(captured.err, "command.human-excluded", systems="Human-A.0")) == (
            not arguments
        )
    assert found[()] == found["--without-systems", "Human-A.0"] != found["--with-human",]


def test_names_of_human_translations_in_releases_of_wmt():
    for name in ("ref", "refA", "ref-B", "REF", "Human-A.0", "Human-P.0", "HUMAN.0", "reference"):
        assert looks_human(name), name
    # Systems of WMT17 to WMT24.
    for name in ("online-A", "HW-TSC", "Human2Machine", "Refine-MT", "Online-Y.0", "UEDIN.6534"):
        assert not looks_human(name), name


def test_references_by_texts_and_by_the_names_of_metrics():
    references = {"refB": ("a", "b", "c", None), "refA": ("a", "x", "y", "z")}
    assert find_reference(("a", "b", "c", None), references) == "refB"
    assert find_reference(("a", "x", "other", "z"), references) == ""
    assert find_reference(("", None), {"refA": ("", None)}) == ""
    assert references_read("chrF-refA.refB") == {"a", "b"}
    assert references_read("BLEU") == references_read("COMETKiwi-src") == frozenset()
    humans = {"ref": "A", "refB": "B"}
    assert scored_against_itself("BLEU-refA", humans) == ["ref"]
    assert scored_against_itself("BLEU-all", humans) == ["ref", "refB"]
