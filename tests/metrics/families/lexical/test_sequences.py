"""Bit-parallel sequence comparison against nltk's dynamic programming."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.metrics.distance import edit_distance as nltk_edit_distance

from metrics.families.lexical.sequences import edit_distance, lcs_length, positions

TOKENS = st.lists(st.sampled_from("abcd"), max_size=80)


@given(TOKENS, TOKENS)
def test_edit_distance_equals_nltk(left, right):
    assert edit_distance(left, right) == nltk_edit_distance(left, right)


@given(TOKENS, TOKENS)
def test_lcs_length_equals_nltk(left, right):
    # without substitutions, the distance counts what is outside the common subsequence
    outside = nltk_edit_distance(left, right, substitution_cost=2)
    length = lcs_length(positions(left), len(left), right)
    assert length == (len(left) + len(right) - outside) / 2


@pytest.mark.parametrize(
    ("left", "right", "distance"),
    [
        ("kitten", "sitting", 3),
        ("", "abc", 3),
        ("abc", "", 3),
        ("", "", 0),
        ("intention", "execution", 5),
    ],
)
def test_textbook_distances(left, right, distance):
    assert edit_distance(left, right) == distance


def test_positions_are_bits():
    assert positions("abca") == {"a": 0b1001, "b": 0b10, "c": 0b100}
