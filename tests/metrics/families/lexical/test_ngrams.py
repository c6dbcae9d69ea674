from collections import Counter

import numpy as np
import pytest

from metrics.families.lexical import ngrams

RNG = np.random.default_rng(3)


def counter(text, n):
    return Counter(zip(*(text[k:] for k in range(n)), strict=False))


def text_of(words, longest):
    return [words[k] for k in RNG.zipf(1.2, RNG.integers(longest + 1)) % len(words)]


# Codes of 70,000 words do not fit into 64 bits from four words on.
@pytest.mark.parametrize("n_words", [3, 70_000])
@pytest.mark.parametrize("cells", [1, 2**16])
def test_matches_are_those_of_counters(n_words, cells, monkeypatch):
    monkeypatch.setattr(ngrams, "CELLS", cells)
    words = [str(k) for k in range(n_words)]
    references = RNG.integers(1, 4, 40)
    sizes = references + RNG.integers(0, 6, 40)
    groups = [[text_of(words, longest) for _ in range(size)]
              for size, longest in zip(sizes, RNG.choice([0, 2, 30], 40), strict=True)]  # fmt: skip
    # All words occur, so that the numbers of words are large.
    groups[7][0] = words[::-1]
    tokens = ngrams.of_words([text for group in groups for text in group])
    found = ngrams.matches(tokens, sizes, references, 6)
    expected = []
    for group, size in zip(groups, references, strict=True):
        for place, text in enumerate(group):
            row = []
            for n in range(1, 7):
                most = Counter()
                for reference in group[:size]:
                    most |= counter(reference, n)
                row.append((counter(text, n) & most).total() if place >= size else 0)
            expected.append(row)
    assert found.tolist() == expected


def test_characters_are_numbered_without_gaps():
    texts = ["aé😀", "", "\ud800a"]
    codes, lengths = ngrams.of_characters(texts)
    assert lengths.tolist() == [3, 0, 2]
    assert sorted(set(codes.tolist())) == [0, 1, 2, 3]
    assert [codes.tolist().index(code) for code in codes] == [0, 1, 2, 3, 0]
