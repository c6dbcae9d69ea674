"""Documents as units: sums, sizes and the warnings that few of them call for."""

import warnings

import numpy as np
import pytest

from metaeval.documents import (
    documents_of,
    effective_clusters,
    few_documents,
    has_enough_documents,
    recoded,
    sizes_of,
    sum_by,
    unit_of,
    units_message,
)
from metaeval.messages import DataError
from metaeval.results import Notes, TooFewWarning
from tests.refusals import refused


def test_sums_by_document_are_those_of_a_loop_wherever_its_segments_stand() -> None:
    rng = np.random.default_rng(5)
    clusters, values = recoded(rng.integers(7, size=40)), rng.normal(size=(3, 2, 40))
    by_loop = [values[..., clusters == number].sum(axis=-1) for number in range(7)]
    np.testing.assert_allclose(sum_by(values, clusters), np.stack(by_loop, axis=-1), atol=1e-12)


def test_a_part_of_the_segments_has_its_documents_in_order_of_appearance() -> None:
    assert sum_by([1.0, 2.0, 4.0, 8.0], np.array([5, 2, 5, 9])).tolist() == [5.0, 2.0, 8.0]
    assert sizes_of(np.array([5, 2, 5, 9])).tolist() == [2, 1, 1]


@pytest.mark.parametrize("clusters", [np.arange(4), np.array([0, 3, 5, 9]), np.array([3, 0, 9, 5])])
def test_singleton_documents_are_segments_and_leave_values_as_they_are(clusters) -> None:
    values = np.random.default_rng(0).normal(size=(2, 4))
    assert unit_of(clusters) == "segments"
    assert (sum_by(values, clusters) == values).all()
    assert few_documents(clusters) is None
    assert has_enough_documents(clusters, Notes())


def test_effective_number_of_clusters() -> None:
    assert effective_clusters([3, 3, 3, 3]) == 4.0
    assert effective_clusters([1, 2, 3]) == pytest.approx(36 / 14)
    assert effective_clusters([]) == 0.0


@pytest.mark.parametrize(
    ("sizes", "is_enough", "code"),
    [
        ([10] * 5, False, "documents.no-interval"),
        ([100], False, "documents.no-interval"),
        ([10] * 6, True, "documents.approximate"),
        ([10] * 20, True, ""),
        ([900] + [2] * 40, True, "documents.approximate"),
    ],
    ids=["five", "one", "six", "twenty", "one-holds-most"],
)
def test_few_documents_give_no_interval_or_a_warning(sizes, is_enough, code) -> None:
    notes, clusters = Notes(), np.repeat(np.arange(len(sizes)), sizes)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert has_enough_documents(clusters, notes) is is_enough
    assert len(caught) == len(notes.warnings) == bool(code)
    assert all(isinstance(each, TooFewWarning) for each in notes.warnings)
    assert all(each.message.code == code for each in notes.warnings)


def test_the_count_names_the_unit_and_the_effective_number() -> None:
    assert units_message(np.repeat(np.arange(3), [1, 1, 4])).parameters == {
        "n": 3,
        "effective": 2.0,
    }
    assert units_message(np.arange(3)).code == "units.segments"


def test_documents_of_whole_numbers_are_those_of_names() -> None:
    """A number below 0 is no label, as an empty name is none."""
    rng = np.random.default_rng(4)
    for most in (1, 5, 40):
        of_item = rng.integers(-1, most, 30)
        items = np.concatenate([np.arange(30), rng.integers(0, 30, 50)])
        labels = of_item[items]
        names = ["" if each < 0 else f"d{each}" for each in labels.tolist()]
        expected = documents_of(names, items, range(30))
        assert documents_of(labels, items, range(30)).tolist() == expected.tolist()


def test_an_item_of_two_numbered_documents_is_refused() -> None:
    for labels, other in (([3, 4, 5], "5"), ([3, 4, -1], "-1")):
        with refused("data.two-documents", kind=DataError, name="u", one="3", other=other):
            documents_of(np.array(labels), np.array([0, 1, 0]), "uv")
