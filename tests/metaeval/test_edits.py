"""Edits with shifts: sacrebleu's counts, whatever the texts."""

import csv
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.lib_ter import translation_edit_rate

from metaeval.edits import BEAM, FARTHEST, LONGEST_BLOCK, MOST_SHIFTS, edit_count

TOKENS = st.lists(st.sampled_from("abcdefgh"), max_size=24)


def moved(tokens: list[str], blocks: list[tuple[int, int, int]]) -> list[str]:
    """Blocks (start, length, target) moved one after the other."""
    for start, length, target in blocks:
        block, tokens = tokens[start : start + length], tokens[:start] + tokens[start + length :]
        tokens = tokens[:target] + block + tokens[target:]
    return tokens


@settings(max_examples=300)
@given(text=TOKENS, reference=TOKENS)
def test_few_words_in_any_order(text: list[str], reference: list[str]) -> None:
    assert edit_count(text, reference) == translation_edit_rate(text, reference)[0]


@settings(max_examples=8)
@given(
    blocks=st.lists(st.tuples(*[st.integers(0, 70)] * 3), max_size=4),
    wrong=st.lists(st.integers(0, 69), max_size=8),
)
def test_blocks_that_moved_farther_than_the_limits(
    blocks: list[tuple[int, int, int]], wrong: list[int]
) -> None:
    assert max(LONGEST_BLOCK, FARTHEST, BEAM) < 70
    reference = [f"w{number % 60}" for number in range(70)]
    text = moved([f"x{n}" if n in wrong else each for n, each in enumerate(reference)], blocks)
    assert edit_count(text, reference) == translation_edit_rate(text, reference)[0]


@pytest.mark.parametrize(("n_text", "n_reference"), [(3, 150), (150, 3), (0, 5), (5, 0), (0, 0)])
def test_lengths_that_have_nothing_in_common(n_text: int, n_reference: int) -> None:
    text, reference = ([str(n % 7) for n in range(size)] for size in (n_text, n_reference))
    assert edit_count(text, reference) == translation_edit_rate(text, reference)[0]


def test_more_shifts_than_are_tried() -> None:
    """Every third word anywhere: the search ends where sacrebleu's does."""
    text, reference = ([str(n * step % 11) for n in range(60)] for step in (3, 7))
    assert edit_count(text, reference) == translation_edit_rate(text, reference)[0]
    assert MOST_SHIFTS == 1_000


def test_outputs_of_newstest2017(data_dir: Path) -> None:
    def read(name: str) -> list[dict[str, str]]:
        with (data_dir / f"wmt17/zh-en/{name}.tsv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))

    references = {row["sid"]: row["reference"].split() for row in read("segments")}
    for row in islice(read("outputs"), 0, None, 97):
        text, reference = row["output"].split(), references[row["sid"]]
        assert edit_count(text, reference) == translation_edit_rate(text, reference)[0]
