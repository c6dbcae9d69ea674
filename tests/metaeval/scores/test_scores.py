import numpy as np
import pytest

from metaeval import ScoreMatrix
from metaeval.judgments import mean_scores
from metaeval.messages import DataError
from metaeval.results import MissingDataWarning
from metaeval.scores import align
from tests.metaeval.published import numbers, table
from tests.refusals import refused

NAN = float("nan")


def test_means_skip_missing_cells():
    matrix = ScoreMatrix([[1, 2, NAN], [NAN, NAN, NAN]], ["A", "B"], "xyz")
    assert matrix.system_means()[0] == 1.5
    assert np.isnan(matrix.system_means()[1])
    assert matrix.segment_means()[:2].tolist() == [1.0, 2.0]
    assert matrix.mask.tolist() == [[True, True, False], [False, False, False]]


def test_values_are_a_read_only_copy():
    source = np.ones((1, 2))
    matrix = ScoreMatrix(source, ["A"], ["s", "t"])
    source[:] = 5
    assert matrix.values.tolist() == [[1.0, 1.0]]
    with pytest.raises(ValueError, match="read-only"):
        matrix.values[0, 0] = 2


@pytest.mark.parametrize(
    ("arguments", "code", "about"),
    [
        (([[1, 2]], ["A"], ["s"]), "argument.lengths", {"lengths": [1, 2]}),
        (([[1, 2]], ["A"], ["s", "s"]), "data.twice", {"name": "segments", "double": "s"}),
        (([[1, np.inf]], ["A"], ["s", "t"]), "argument.infinite", {"where": [0, 1]}),
        (([1, 2], ["A"], ["s"]), "argument.axes", {"axes": 2, "got": 1}),
        (([["a", "b"]], ["A"], ["s", "t"]), "argument.numbers", {"name": "values"}),
    ],
)
def test_bad_matrices_are_refused(arguments, code, about):
    with refused(code, kind=DataError, **about):
        ScoreMatrix(*arguments)


def test_subset_keeps_the_order_asked_for_and_names_strangers():
    matrix = ScoreMatrix([[1, 2], [3, 4]], ["A", "B"], ["s", "t"])
    assert matrix.subset(systems=["B", "A"], segments=["t"]).values.tolist() == [[4.0], [2.0]]
    with refused("data.unknown", kind=DataError, name="systems", label="C"):
        matrix.subset(systems=["C"])


def test_align_keeps_what_all_have_in_the_first_order():
    first = ScoreMatrix([[1, 2], [3, 4]], ["B", "A"], ["s", "t"])
    second = ScoreMatrix([[5, 6, 7]], ["A"], ["t", "u", "s"])
    left, right = align(first, second)
    assert left.values.tolist() == [[3.0, 4.0]]
    assert right.values.tolist() == [[7.0, 5.0]]


def test_from_mapping_refuses_ragged_rows():
    with pytest.raises(DataError) as caught:
        ScoreMatrix.from_mapping({"A": [1, 2], "B": [1]})
    assert caught.value.message.code == "data.lengths-differ"
    assert caught.value.message.parameters == {"one": "A", "n_one": 2, "other": "B", "n_other": 1}


def test_redundant_judgments_are_averaged_once_per_segment():
    with pytest.warns(MissingDataWarning):
        result = mean_scores(
            [10, 20, 60, NAN, 5], ["A", "A", "A", "C", "B"], ["s1", "s1", "s2", "s1", "s2"]
        )
    assert result.counts.tolist() == [[2, 1], [0, 1], [0, 0]]
    assert result.system_scores[:2].tolist() == [37.5, 5.0]
    assert result.judgment_means[0] == 30.0
    assert dict(result.reasons) == {"missing-score": 1}


def test_published_wmt21_segment_and_system_scores():
    judgments = table("raw-crowd-da/wmt21-ru-en/judgments.tsv")
    kept = [i for i, kind in enumerate(judgments["type"]) if kind in ("SYSTEM", "REPEAT")]
    result = mean_scores(
        numbers(judgments["z"])[kept],
        [judgments["system"][i] for i in kept],
        [judgments["sid"][i] for i in kept],
    )
    row = {name: i for i, name in enumerate(result.matrix.systems)}
    column = {name: j for j, name in enumerate(result.matrix.segments)}
    published = table("raw-crowd-da/wmt21-ru-en/published-segment-scores.tsv")
    cells = (
        [row[name] for name in published["system"]],
        [column[name] for name in published["sid"]],
    )
    assert len(cells[0]) == 9832
    np.testing.assert_allclose(result.matrix.values[cells], numbers(published["z_mean"]), atol=1e-6)
    assert result.counts[cells].tolist() == numbers(published["n"]).tolist()
    systems = table("raw-crowd-da/wmt21-ru-en/published-system-scores.tsv")
    own = result.system_scores[[row[name] for name in systems["system"]]]
    assert len(own) == 11
    np.testing.assert_array_equal(own.round(3), numbers(systems["z_mean"]))
