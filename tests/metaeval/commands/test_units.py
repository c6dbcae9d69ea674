"""Documents of a table are the unit of commands, of a bundle's questions and of their floors."""

from pathlib import Path

import numpy as np
import pytest

from metaeval import ScoreMatrix
from metaeval.commands import main, run_command
from metaeval.files.tables import write_score_table
from metaeval.replication.questions import STATISTICS

DOCUMENTS = np.random.default_rng(1).permutation(np.arange(48) // 2 * 2 // 6)
N = len(np.unique(DOCUMENTS))
QUESTIONS = [
    (name, test) for name, each in STATISTICS.items() for test in each.tests if name != "hybrids"
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """scores.tsv and floors.tsv with documents; plain.tsv is the same without."""
    folder = tmp_path_factory.mktemp("units")
    rng = np.random.default_rng(2)
    shared = rng.normal(size=(7, N))[:, DOCUMENTS]
    # Wide enough for the threshold of daRR, 25 points.
    human = 40 * (rng.normal(size=shared.shape) + shared)
    named = {"human": human} | {
        name: human + 40 * (rng.normal(size=human.shape) + rng.normal(size=(7, N))[:, DOCUMENTS])
        for name in ("good", "poor")
    }
    systems, segments = [f"S{k}" for k in range(7)], [str(k) for k in range(48)]
    for file, documents in (("scores", [f"d{k}" for k in DOCUMENTS]), ("plain", None)):
        matrices = {
            name: ScoreMatrix(values, systems, segments, documents)
            for name, values in named.items()
        }
        write_score_table(folder / f"{file}.tsv", matrices)
    noise = ScoreMatrix(rng.normal(size=human.shape), systems, segments, DOCUMENTS.astype(str))
    write_score_table(folder / "floors.tsv", {"floor-random": noise})
    return folder


def asked(folder: Path, file: str, *words: str) -> dict:
    return run_command([words[0], file, "--human", "human", *words[1:]], folder)


@pytest.mark.parametrize(("statistic", "test"), QUESTIONS)
def test_a_question_names_its_unit_and_segments_are_those_of_a_file_without_documents(
    folder: Path, statistic: str, test: str
) -> None:
    words = ("question", "--statistic", statistic, "--test", test, "--floors", "floors.tsv")
    of_documents = asked(folder, "scores.tsv", *words)
    of_segments = asked(folder, "plain.tsv", *words)
    chosen = asked(folder, "scores.tsv", *words, "--unit", "segments")
    # repr: nan is equal to itself.
    assert repr(chosen) == repr(of_segments)
    is_of_systems = STATISTICS[statistic].is_of_systems or statistic == "cells"
    units = ("systems", 7) if is_of_systems else ("documents", N)
    assert (of_documents["unit"], of_documents["n_units"]) == units
    if is_of_systems:
        return
    assert (of_segments["unit"], of_segments["n_units"]) == ("segments", 48)
    counts = [
        each["interval"].parameters["method"].parameters["n"]
        for each in (of_documents, of_segments)
    ]
    assert counts == [N, 48]
    assert of_documents["test"] != of_segments["test"]
    if test == "segments":
        codes = [each["floor_test"].code for each in (of_documents, of_segments)]
        assert codes == ["test.cautious-documents", "test.cautious-segments"]


def test_correlations_and_comparisons_name_their_unit(folder: Path, capsys) -> None:
    path = str(folder / "scores.tsv")
    for words in (["correlate", "--resamples", "50"], ["compare", "--resamples", "50"]):
        assert main([words[0], path, "--human", "human", *words[1:], "--output", "json"]) == 0
        told = capsys.readouterr()
        assert '"unit": "documents"' in told.out
        assert f'"n_units": {N}' in told.out
        assert f"The unit of intervals and tests is the document: {N} documents." in told.err
        assert main([words[0], path, "--human", "human", *words[1:], "--unit", "segments"]) == 0
        chosen = capsys.readouterr()
        plain = [words[0], str(folder / "plain.tsv"), "--human", "human", *words[1:]]
        assert main(plain) == 0
        assert chosen.out == capsys.readouterr().out
        assert "document" not in chosen.err.replace("whole segments or documents", "")


def test_soft_accuracy_of_a_file_with_documents_says_so(folder: Path, capsys) -> None:
    words = ["--human", "human", "--correlation", "soft_pairwise_accuracy"]
    assert main(["correlate", str(folder / "scores.tsv"), *words]) == 0
    assert "the document" in capsys.readouterr().err
