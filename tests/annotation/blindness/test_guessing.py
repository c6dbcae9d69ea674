"""The guesser finds what is planted, from the other half of the items, and nothing else."""

import random
from uuid import UUID

import pytest

from tests.annotation.blindness.guessing import Look, guess
from tests.annotation.blindness.reading import Received, Seen, bits, phases, tokens_in_order

N = 120


def labels(seed: int, share: float = 0.3) -> list[bool]:
    rng = random.Random(seed)
    return [rng.random() < share for _ in range(N)]


def ids(seed: int) -> list[UUID]:
    rng = random.Random(f"ids:{seed}")
    return [UUID(int=rng.getrandbits(128), version=4) for _ in range(N)]


def looks(found: list[bool], tokens: list[set[str]]) -> list[Look]:
    return [Look(n, label, each) for n, (label, each) in enumerate(zip(found, tokens, strict=True))]


@pytest.mark.parametrize("seed", range(20))
def test_nothing_is_found_where_there_is_nothing(seed: int) -> None:
    tokens = [{*bits(each), *phases(n)} for n, each in enumerate(ids(seed))]
    assert guess(looks(labels(seed), tokens)).is_chance


def test_an_id_that_is_odd_for_controls_is_found() -> None:
    found = labels(1)
    odd = [
        UUID(int=each.int | 1 if label else each.int & ~1)
        for label, each in zip(found, ids(1), strict=True)
    ]
    told = guess(looks(found, [set(bits(each)) for each in odd]))
    assert told.accuracy == 1
    assert not told.is_chance


def test_a_rhythm_is_found() -> None:
    found = [n % 7 == 3 for n in range(N)]
    told = guess(looks(found, [set(phases(n)) for n in range(N)]))
    assert not told.is_chance
    assert "place 3 of every 7" in told.tokens


def page(n: int, extra: str = "", words: str = "") -> Received:
    text = f'<p class="black text" lang="en">{words}</p>'
    html = f'<article id="item"><h1>Item {n}</h1>{text}{extra}</article>'
    return Received("page", 200, {"Content-Length": str(len(html))}, [], html)


def tokens_of(pages: list[Received]) -> list[set[str]]:
    seen = []
    for each in pages:
        seen.append(Seen())
        seen[-1].read(each)
    return tokens_in_order(seen)


@pytest.mark.parametrize("extra", ["<i></i>", " ", "<!-- -->"])
def test_one_more_character_of_a_page_is_found(extra: str) -> None:
    found = labels(2)
    pages = [page(n, extra if label else "") for n, label in enumerate(found)]
    told = guess(looks(found, tokens_of(pages)))
    assert not told.is_chance, told


def test_texts_are_no_part_of_what_is_looked_at() -> None:
    """A control may be short: that is its text. Everything else of these pages is the same."""
    found = labels(3)
    pages = [page(n, words="word " * (3 if label else 9)) for n, label in enumerate(found)]
    assert guess(looks(found, tokens_of(pages))).is_chance


def test_looks_of_one_label_are_refused() -> None:
    with pytest.raises(ValueError, match="one label only"):
        guess([Look(n, True, set()) for n in range(9)])
