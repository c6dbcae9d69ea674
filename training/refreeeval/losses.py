"""The losses of ReFreeEval over given scores and token vectors, with no loop over tokens.

Numbers in square brackets are equations of the paper. Scores and cosines carry no temperature.
"""

import torch
from torch.nn.functional import cross_entropy, kl_div, log_softmax, normalize, softmax

Tensor = torch.Tensor
# Keeps the quotient of a token without candidates defined (as in the published code).
TINY = 1e-9


def fluency(scores: Tensor, labels: Tensor) -> Tensor:
    """Compute L_fl [7]: cross-entropy of finding the original text among (texts, k + 1) scores."""
    return cross_entropy(scores, labels)


def distillation(scores: Tensor, teacher: Tensor) -> Tensor:
    """Compute L_fa [8]: KL(teacher ‖ student) over the k + 1 candidates, mean over texts.

    Both are (texts, k + 1): the student's scores, and cosines of the sentence encoder.
    """
    return kl_div(log_softmax(scores, dim=1), softmax(teacher, dim=1), reduction="batchmean")


def greedy_f1(
    left: Tensor,
    right: Tensor,
    left_mask: Tensor,
    right_mask: Tensor,
    weights: tuple[Tensor, Tensor],
) -> Tensor:
    """Compute F1 of greedy matching of (pairs, m, d) and (pairs, n, d) unit vectors.

    Masks say which are tokens, ``weights`` which of them count (special tokens are matched but do
    not count). Returns (pairs,); 0 where precision and recall add up to 0, as in the metric.
    """
    similarity = left @ right.transpose(1, 2)
    to_right = similarity.masked_fill(~right_mask[:, None, :], -2.0).amax(dim=2)
    to_left = similarity.masked_fill(~left_mask[:, :, None], -2.0).amax(dim=1)
    recall = (to_right * weights[0]).sum(1) / weights[0].sum(1).clamp_min(1)
    precision = (to_left * weights[1]).sum(1) / weights[1].sum(1).clamp_min(1)
    total = precision + recall
    # Divided by 1 where there is nothing to divide: its gradient must be a number, too.
    return 2 * precision * recall / torch.where(total == 0, 1.0, total)


def guide(
    source: Tensor, target: Tensor, real_source: Tensor, real_target: Tensor, c1: float, c2: float
) -> tuple[Tensor, Tensor]:
    """Compute the masks A and B [2, 3]: aligned pairs of pieces, and pairs that may compete.

    ``source`` is (texts, m, d), ``target`` (texts, n, d), both raw; the ``real`` masks exclude
    special pieces and padding. Returns two (texts, m, n) boolean tensors, A contained in B.
    """
    product = source @ target.transpose(1, 2)
    over_target = _softmax(product, real_target[:, None, :], dim=2)
    over_source = _softmax(product, real_source[:, :, None], dim=1)
    both = real_source[:, :, None] & real_target[:, None, :]
    weaker = torch.minimum(over_target, over_source)
    return both & (weaker > c1), both & (weaker > c2)


def _softmax(product: Tensor, real: Tensor, dim: int) -> Tensor:
    """Compute the softmax over real pieces; 0 for texts without any."""
    masked = product.masked_fill(~real, float("-inf"))
    return torch.nan_to_num(torch.softmax(masked, dim=dim), nan=0.0)


def expand_words(
    aligned: Tensor, source_words: Tensor, target_words: Tensor, n_words: int
) -> Tensor:
    """Make all piece pairs of two words positive where one of them is (released code, not paper).

    ``source_words`` is (texts, m) and ``target_words`` (texts, n): the word of each piece, negative
    for special pieces and padding. No text has more than ``n_words`` words: a GPU would be waited
    for to count them.
    """
    left, right = _members(source_words, n_words), _members(target_words, n_words)
    words = left.transpose(1, 2) @ aligned.to(left.dtype) @ right
    return (left @ words.clamp(max=1) @ right.transpose(1, 2)) > 0


def _members(words: Tensor, n_words: int) -> Tensor:
    """Return which piece belongs to which word: (texts, pieces, words) of 0 and 1."""
    numbers = torch.arange(n_words, device=words.device)
    return (words[:, :, None] == numbers).float()


def alignment(
    source: Tensor,
    target: Tensor,
    real_source: Tensor,
    real_target: Tensor,
    aligned: Tensor,
    allowed: Tensor,
    *,
    every: bool = False,
    temperature: float = 1.0,
) -> Tensor:
    """Compute L_word [4–6]: minus the share of aligned pieces among those allowed, no logarithm.

    For each real piece the exponentials of its cosines with aligned pieces, over those with aligned
    or allowed ones; mean over the pieces of each side, summed over both sides, mean over texts, so
    within [−2, 0]. With ``every`` (c2 = 0) all real pieces of the other side compete, and the
    temperature is not applied to them.
    """
    cosines = normalize(source, dim=-1) @ normalize(target, dim=-1).transpose(1, 2)
    scaled = (cosines / temperature).exp()
    positive = scaled * aligned
    if every:
        rivals = cosines.exp() * (real_source[:, :, None] & real_target[:, None, :])
    else:
        rivals = scaled * (aligned | allowed)
    sides = (
        _share(positive.sum(2), rivals.sum(2), real_source),
        _share(positive.sum(1), rivals.sum(1), real_target),
    )
    return -(sides[0] + sides[1]).mean()


def _share(positive: Tensor, rivals: Tensor, real: Tensor) -> Tensor:
    return (positive / (rivals + TINY) * real).sum(1) / real.sum(1).clamp_min(1)


def rate_factor(step: int, warmup: int, total: int) -> float:
    """Return the factor of the learning rate: linear warm-up and linear decay to 0 at ``total``."""
    if step < warmup:
        return step / max(1, warmup)
    return max(0.0, (total - step) / max(1, total - warmup))
