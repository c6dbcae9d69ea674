"""Degraded translations: the published code's outputs, and what every order must keep."""

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.perturbations import rules
from training.perturbations.rules import RULES, negatives

WORDS = st.lists(
    st.sampled_from(["a", "bb", "ccc", "dd", "e", "3,5", "10:30", "U.S.", "我", "们"]),
    min_size=1,
    max_size=4,
)
SENTENCES = st.tuples(
    st.lists(WORDS, min_size=1, max_size=8),
    st.sampled_from([" , ", ", ", "; ", "，", " ： "]),
    st.sampled_from(["", ".", " .", "。", "?!", "”。", '."']),
).map(lambda parts: parts[1].join(" ".join(words) for words in parts[0]) + parts[2])
LANGUAGES = st.sampled_from(["en", "de", "zh", "zh-Hant", "ar", "xx"])


def test_outputs_of_the_published_code(checks):
    check = checks["B6-permutation-sets"]
    for line in check["inputs"]["lines"]:
        outputs = {
            text
            for seed in range(400)
            for text in rules.by_release(line, "zh", 1, random.Random(seed))
        }
        assert outputs == set(check["expected"][line]), line


def test_seven_passes_of_the_published_code(checks):
    check = checks["B7-permutation-seed42"]
    found = negatives(check["inputs"]["line"], "en", 7, "released", random.Random(42))
    assert list(found.texts) == check["expected"]["outputs"]
    assert found.n_repeated == 7 - check["expected"]["distinct"]


def test_every_order_of_three_clauses_once():
    found = negatives("a b, c d, e f.", "en", 7, "clauses", random.Random(1))
    orders = {
        "a b, e f, c d.",
        "c d, a b, e f.",
        "c d, e f, a b.",
        "e f, a b, c d.",
        "e f, c d, a b.",
    }
    assert orders < set(found.texts)
    assert (len(set(found.texts)), found.n_repeated) == (7, 0)


def test_two_clauses_change_places():
    (text,) = negatives(
        "when it rained, we stayed home.", "en", 1, "clauses", random.Random(1)
    ).texts
    assert text == "we stayed home, when it rained."


def test_chinese_clauses_change_places():
    found = negatives("下雨时，我们在家，我们读书。", "zh", 5, "clauses", random.Random(1))
    assert "我们读书，下雨时，我们在家。" in found.texts
    assert all(text.endswith("。") for text in found.texts)


def test_one_clause_is_cut_and_swapped():
    found = negatives("we read books .", "en", 7, "clauses", random.Random(1))
    assert set(found.texts) == {"read books we .", "books we read ."}
    assert found.n_repeated == 5


def test_decimals_times_and_abbreviations_stay_whole():
    assert len(rules.split("it cost 3,50 at 10:30 in the U.S. then", "en").clauses) == 1


@pytest.mark.parametrize("text", ["word", "word.", "。", "", "a a a"])
def test_nothing_to_reorder(text):
    assert negatives(text, "en", 7, "clauses", random.Random(1)) is None


def test_one_token_gives_nothing_where_the_published_code_repeated_another_line():
    assert negatives("下雨时我们在家", "zh", 7, "released", random.Random(1)) is None


def units(text: str) -> Counter[str]:
    return Counter(text.replace(" ", ""))


@given(SENTENCES, LANGUAGES, st.integers(1, 9), st.integers(0, 99))
def test_an_order_is_never_the_text_and_keeps_its_tokens_and_its_stop(text, language, k, seed):
    found = negatives(text, language, k, "clauses", random.Random(seed))
    if found is None:
        return
    stop = rules.split(text, language).stop
    assert len(found.texts) == k
    assert len(set(found.texts)) == k - found.n_repeated
    for each in found.texts:
        assert each != text
        assert units(each) == units(text)
        assert each.endswith(stop)


@given(SENTENCES, LANGUAGES)
def test_a_split_sentence_joins_to_itself(text, language):
    sentence = rules.split(text, language)
    assert sentence.joined(sentence.clauses) == text.lstrip().rstrip() + text[
        len(text.rstrip()) :
    ] or (sentence.joined(sentence.clauses).strip() == text.strip())


@given(SENTENCES, st.integers(0, 99))
def test_shuffling_moves_at_most_half_of_the_tokens(text, seed):
    found = negatives(text, "en", 3, "shuffle", random.Random(seed))
    if found is None:
        return
    original = text.split()
    for each in found.texts:
        moved = sum(a != b for a, b in zip(original, each.split(), strict=True))
        assert 0 < moved <= len(original) // 2
        assert Counter(each.split()) == Counter(original)


@given(SENTENCES, st.integers(0, 99))
def test_repetition_lengthens_by_its_share(text, seed):
    found = negatives(text, "en", 3, "repeat", random.Random(seed))
    if found is None:
        assert int(0.4 * len(text.split())) == 0
        return
    original = text.split()
    for each in found.texts:
        assert len(each.split()) == len(original) + int(0.4 * len(original))


@pytest.mark.parametrize(
    ("rule", "fewest"), [("shuffle", 4), ("repeat", 3), ("reorder", 2), ("clauses", 2)]
)
def test_the_fewest_words_that_a_rule_alters(rule, fewest):
    """int(0.5 t) words change places, so two of four; int(0.4 t) stand twice, so one of three."""
    words = "abcdefgh"
    assert rules.alter(" ".join(words[: fewest - 1]), "en", rule, random.Random(1)) is None
    assert rules.alter(" ".join(words[:fewest]), "en", rule, random.Random(1)) is not None


@pytest.mark.parametrize("rule", ["reorder", "shuffle", "clauses"])
@pytest.mark.parametrize("seed", range(5))
def test_tokens_move_and_none_is_lost(rule, seed):
    for text, language in [
        ("Nobody saw the ships , which left early , and nobody asked .", "en"),
        ("港口整个上午都很安静，2026年没有人看见ship。", "zh"),
        ("港口 整个 上午 都 很 安静 ， 没有 人 看见 船 。", "zh"),
    ]:
        found = rules.alter(text, language, rule, random.Random(seed))
        assert found not in (None, text)
        assert Counter(found) == Counter(text)
        pieces, _ = rules.tokens(text, language)
        assert all(each in found for each in pieces)


def test_all_orders_of_three_words_but_the_first_occur():
    found = {rules.alter("a b c", "en", "reorder", random.Random(seed)) for seed in range(200)}
    assert found == {"a c b", "b a c", "b c a", "c a b", "c b a"}


def test_half_of_the_words_are_exchanged_wherever_two_differ():
    found = {rules.alter("a a a b", "en", "shuffle", random.Random(seed)) for seed in range(99)}
    assert found == {"b a a a", "a b a a", "a a b a"}


def test_clauses_that_are_equal_are_cut_like_one():
    found = {rules.alter("no, no", "en", "clauses", random.Random(seed)) for seed in range(9)}
    assert found == {"no no,"}
    assert rules.alter("no no", "en", "reorder", random.Random(1)) is None


def test_every_rule_is_reproducible():
    for rule in RULES:
        first, second = (
            negatives("a b , c d , e f .", "en", 7, rule, random.Random(5)) for _ in range(2)
        )
        assert first == second


def test_a_language_without_rules_says_so():
    assert rules.has_rules("zh-Hant")
    assert not rules.has_rules("xx")
