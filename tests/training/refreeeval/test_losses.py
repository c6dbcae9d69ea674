"""Losses: the literal checks with gradients, a plain loop over tokens, and bounds."""

import math

import numpy as np
import pytest
import torch

from training.refreeeval import losses


def test_sentence_losses_and_their_gradient(checks):
    check = checks["B1-sentence-losses"]
    given, expected = check["inputs"], check["expected"]
    scores = torch.tensor(given["student_f1"], dtype=torch.float64, requires_grad=True)
    teacher = torch.tensor(given["teacher_cosine"], dtype=torch.float64)
    fluency = losses.fluency(scores, torch.tensor(given["labels"]))
    distilled = losses.distillation(scores, teacher)
    total = fluency + given["alpha"] * distilled
    total.backward()
    assert fluency.item() == pytest.approx(expected["L_fl"], abs=1e-6)
    assert distilled.item() == pytest.approx(expected["L_fa"], abs=1e-6)
    assert total.item() == pytest.approx(expected["L_sent"], abs=1e-5)
    np.testing.assert_allclose(scores.grad, expected["grad_wrt_scores"], atol=1e-5)


def test_chance(checks):
    expected = checks["B2-chance"]["expected"]
    flat = torch.full((3, 8), 0.9)
    assert losses.fluency(flat, torch.tensor([0, 4, 7])).item() == pytest.approx(expected["L_fl"])
    assert losses.distillation(flat, flat).item() == pytest.approx(expected["L_fa"], abs=1e-7)


def test_learning_rate(checks):
    check = checks["B3-lr"]
    for case, expected in zip(check["inputs"]["cases"], check["expected"], strict=True):
        assert losses.rate_factor(*case) == pytest.approx(expected, abs=1e-9)


@pytest.fixture
def words(checks):
    """Hidden states and masks of the check: one text, start and end special, one padding."""
    given = checks["B4-word-level"]["inputs"]
    special = given["special_ids"].values()

    def real(ids):
        return torch.tensor([[each not in special for each in ids]])

    return {
        "source": torch.tensor([given["source_hidden"]]),
        "target": torch.tensor([given["target_hidden"]]),
        "real_source": real(given["source_ids"]),
        "real_target": real(given["target_ids"]),
    }


# The check's c2 of 0 belongs to its last value; its mask B is that of the paper's 1e-20.
C2 = 1e-20


def test_word_level(checks, words):
    check = checks["B4-word-level"]
    expected = check["expected"]
    aligned, allowed = losses.guide(**words, c1=check["inputs"]["c1"], c2=C2)
    inner = (0, slice(1, 4), slice(1, 3))
    assert aligned[inner].int().tolist() == expected["A"]
    assert allowed[inner].int().tolist() == expected["B"]
    loss = losses.alignment(**words, aligned=aligned, allowed=allowed)
    assert loss.item() == pytest.approx(expected["L_word"], abs=1e-5)
    everything = losses.alignment(**words, aligned=aligned, allowed=allowed, every=True)
    assert everything.item() == pytest.approx(expected["L_word_c2_zero_all_negatives"], abs=1e-5)


def test_word_expansion(checks, words):
    aligned, allowed = losses.guide(**words, c1=1e-3, c2=C2)
    source_words = torch.tensor([[-1, 0, 1, 1, -1]])
    target_words = torch.tensor([[-1, 0, 1, -1, -1]])
    n_words = 1 + int(max(source_words.max(), target_words.max()))
    expanded = losses.expand_words(aligned, source_words, target_words, n_words)
    assert losses.alignment(**words, aligned=expanded, allowed=allowed).item() == pytest.approx(
        checks["B4-word-level"]["expected"]["L_word_after_word_expansion_src_words_0_1_1"],
        abs=1e-5,
    )


def by_token(source, target, real_source, real_target, aligned, allowed):
    """Token by token, as the released code goes about it."""
    total = 0.0
    for text in range(len(source)):
        for x, y, real, a, b in (
            (source, target, real_source, aligned, allowed),
            (target, source, real_target, aligned.mT, allowed.mT),
        ):
            shares = []
            for i in range(x.shape[1]):
                if not real[text, i]:
                    continue
                cosines = [
                    torch.cosine_similarity(x[text, i], y[text, j], dim=0).exp()
                    for j in range(y.shape[1])
                ]
                above = sum(c for j, c in enumerate(cosines) if a[text, i, j])
                below = sum(c for j, c in enumerate(cosines) if a[text, i, j] or b[text, i, j])
                shares.append(above / (below + 1e-9))
            total = total - sum(shares) / max(1, len(shares)) / len(source)
    return total


def test_equal_to_a_loop_over_tokens_with_its_gradient():
    generator = torch.Generator().manual_seed(3)
    source = torch.randn(3, 7, 5, dtype=torch.float64, generator=generator).requires_grad_()
    target = torch.randn(3, 6, 5, dtype=torch.float64, generator=generator).requires_grad_()
    real_source = torch.tensor(
        [[0, 1, 1, 1, 1, 1, 0], [0, 1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0]]
    ).bool()
    real_target = torch.tensor([[0, 1, 1, 1, 1, 0], [0, 1, 0, 0, 0, 0], [0, 1, 1, 0, 0, 0]]).bool()
    with torch.no_grad():
        aligned, allowed = losses.guide(source, target, real_source, real_target, 0.05, 1e-3)
    assert 0 < aligned.sum() < allowed.sum()
    given = (source, target, real_source, real_target, aligned, allowed)
    ours = losses.alignment(*given)
    gradients = torch.autograd.grad(ours, [source, target])
    theirs = by_token(*given)
    expected = torch.autograd.grad(theirs, [source, target])
    assert ours.item() == pytest.approx(theirs.item(), abs=1e-12)
    for left, right in zip(gradients, expected, strict=True):
        torch.testing.assert_close(left, right, atol=1e-12, rtol=0)


def test_word_level_bounds(checks):
    expected = checks["B5-word-level-bounds"]["expected"]
    vectors, real = torch.eye(4)[None], torch.ones(1, 4).bool()
    one_to_one = torch.eye(4)[None].bool()
    best = losses.alignment(vectors, vectors, real, real, one_to_one, one_to_one)
    assert best.item() == pytest.approx(expected["min"], abs=1e-6)
    none = torch.zeros(1, 4, 4).bool()
    assert (
        losses.alignment(vectors, vectors, real, real, none, one_to_one).item() == expected["max"]
    )


def test_f1_is_that_of_greedy_matching():
    """Against metrics' scorer, which equals bert-score."""
    from extensions.neural.on_encoder import greedy_match

    generator = torch.Generator().manual_seed(1)
    states = torch.randn(4, 6, 8, generator=generator)
    mask = torch.tensor([[1] * 6, [1] * 4 + [0] * 2, [1] * 5 + [0], [1] * 3 + [0] * 3]).bool()
    weights = mask.float()
    weights[:, 0] = 0
    left, right = torch.tensor([0, 2]), torch.tensor([1, 3])
    expected = greedy_match(states, mask, weights, left, right)[:, 2]
    unit = torch.nn.functional.normalize(states, dim=-1)
    ours = losses.greedy_f1(
        unit[right], unit[left], mask[right], mask[left], (weights[right], weights[left])
    )
    torch.testing.assert_close(ours, expected)
    assert not math.isnan(ours.sum().item())


def test_texts_without_anything_in_common_have_a_score_and_a_gradient():
    """Precision and recall are 0: the metric says 0, and the gradient must be a number."""
    left = torch.tensor([[[1.0, 0.0]]], requires_grad=True)
    right = torch.tensor([[[0.0, 1.0]]], requires_grad=True)
    mask = torch.ones(1, 1).bool()
    score = losses.greedy_f1(left, right, mask, mask, (mask.float(), mask.float()))
    score.sum().backward()
    assert score.item() == 0
    assert torch.isfinite(left.grad).all()
    assert torch.isfinite(right.grad).all()
