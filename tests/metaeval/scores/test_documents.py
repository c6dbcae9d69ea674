"""Documents travel with scores: through subsets, alignment, files and counts."""

from pathlib import Path

import numpy as np

from metaeval import ScoreMatrix
from metaeval.correlation.panel import panel
from metaeval.files.tables import read_score_table, write_score_table
from metaeval.files.text import FormatError
from metaeval.messages import DataError
from metaeval.results import Notes
from metaeval.scores import CorpusStatistics
from tests.refusals import refused

DOCUMENTS = ("a", "a", "b", "", "")


def matrix(documents: tuple[str, ...] | None = DOCUMENTS) -> ScoreMatrix:
    return ScoreMatrix(np.arange(10.0).reshape(2, 5), "AB", "12345", documents)


def test_a_segment_without_a_document_is_one_of_its_own() -> None:
    assert matrix().clusters.tolist() == [0, 0, 1, 2, 3]
    assert matrix(None).clusters.tolist() == [0, 1, 2, 3, 4]
    assert matrix().by_segment().clusters.tolist() == [0, 1, 2, 3, 4]


def test_documents_follow_their_segments() -> None:
    part = matrix().subset(segments=["3", "1"])
    assert part.documents == ("b", "a")
    assert part.with_values(part.values * 2).documents == ("b", "a")
    assert CorpusStatistics.of(matrix()).clusters.tolist() == [0, 0, 1, 2, 3]


def test_a_panel_takes_the_documents_that_its_matrices_agree_on() -> None:
    scored = panel(matrix(None), {"m": matrix()}, Notes())
    assert scored.documents == DOCUMENTS
    assert scored.human_matrix.documents == scored.matrix(0).documents == DOCUMENTS
    with refused("data.documents-differ", kind=DataError):
        panel(matrix(), {"m": matrix(("a", "b", "b", "", ""))}, Notes())


def test_documents_are_read_and_written(tmp_path: Path) -> None:
    path = tmp_path / "scores.tsv"
    write_score_table(path, {"m": matrix()})
    read = read_score_table(path)
    assert list(read) == ["m"]
    assert read["m"].documents == DOCUMENTS


def test_a_segment_of_two_documents_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "scores.tsv"
    path.write_text("system\tseg\tdoc\tm\nA\t1\tx\t1\nB\t1\ty\t2\n")
    with refused("table.two-documents", kind=FormatError, segment="1") as caught:
        read_score_table(path)
    assert caught.value.line == 3


def test_a_wrong_number_of_documents_is_refused() -> None:
    with refused(
        "argument.lengths", kind=DataError, names=["documents", "segments"], lengths=[1, 2]
    ):
        ScoreMatrix([[1.0, 2.0]], "A", "12", ["x"])
