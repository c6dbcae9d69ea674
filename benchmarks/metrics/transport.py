"""The matching stage of XMoverScore and MoverScore against the released per-pair loop, same run.

    python -m benchmarks.metrics.transport [--pairs 300]

Vectors of 30–50 tokens a side, 768 wide, on one CPU thread; from vectors to scores, encoding not
counted. The peer does what the releases do: an n-gram loop in Python for each text (2020), one
distance matrix over both texts together, (m + n) × (m + n), and one call of pyemd for each pair
with histograms padded by zeros. pyemd runs on its default backend, in 1.1.0 the faster one by far;
where it is not installed POT's emd2 solves the same padded problem, which is faster still. Both
programs must agree within 1e-4, as pyemd rounds. Exit status 1 where they differ or, with pyemd, a
ratio is below 5.
"""

import argparse
import sys
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.ratios import row, status
from extensions.neural import transport
from extensions.neural.mover import matching
from extensions.neural.mover.options import Definition
from metaeval.repeats import refuse_repeats

try:
    import pyemd
except ImportError:
    pyemd = None

BOUND = 5.0
# pyemd rounds masses and distances to a millionth of the largest.
TOLERANCE = 1e-4
WIDTH = 768
DEFINITIONS = {
    "2020 release": Definition(True, "squared", "difference"),
    "later head": Definition(False, "euclidean", "inverse"),
}
Pair = tuple[torch.Tensor, torch.Tensor]
Scores = NDArray[np.float64]
T = TypeVar("T")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=300)
    options = refuse_repeats(parser).parse_args()
    torch.set_num_threads(1)
    kept = []
    for kind in ("random", "related"):
        pairs = draw(options.pairs, related=kind == "related")
        for name, definition in DEFINITIONS.items():
            kept += [compare(f"{kind}, {name}", definition, n, pairs) for n in (1, 2)]
        solver(kind, pairs)
    return status(kept)


def draw(count: int, *, related: bool) -> list[Pair]:
    """Token vectors of two texts; related ones share the directions of most tokens."""
    generator = torch.Generator().manual_seed(7)
    sizes = torch.randint(30, 51, (count, 2), generator=generator).tolist()
    pairs = []
    for m, n in sizes:
        left = torch.randn(m, WIDTH, generator=generator)
        right = torch.randn(n, WIDTH, generator=generator)
        if related:
            right += left[torch.randint(0, m, (n,), generator=generator)]
        pairs.append((left, right))
    return pairs


def compare(label: str, definition: Definition, n: int, pairs: list[Pair]) -> bool:
    """Score the pairs with both programs; True where the bound is kept."""
    ours, seconds = timed(lambda: match(pairs, n, definition))
    theirs, peer_seconds = timed(lambda: released(pairs, n, definition))
    if not np.allclose(ours, theirs, atol=TOLERANCE, rtol=0):
        sys.exit(f"{label}: the scores differ by {np.abs(ours - theirs).max():.2g}")
    job = f"matching of MoverScore and XMoverScore: {label}, {n}-grams, {len(pairs)} pairs"
    peer = "released code, pyemd" if pyemd else "released code, POT"
    bound = BOUND if pyemd else None
    return row(job, peer, (seconds, peer_seconds), bound=bound, limit="arithmetic")


def solver(kind: str, pairs: list[Pair]) -> None:
    """Time what is left of the matching stage when the distances are there."""
    bags = [(matching.make_bag(left, 1), matching.make_bag(right, 1)) for left, right in pairs]
    costs = matching.distances(bags, "euclidean")
    _, seconds = timed(lambda: [transport.transport_cost(each) for each in costs])
    print(f"{kind}, transport alone: {seconds / len(pairs) * 1e6:.0f} us a pair")


def match(pairs: list[Pair], n: int, definition: Definition) -> Scores:
    """The matching stage as the metrics run it."""
    bags = [(matching.make_bag(left, n), matching.make_bag(right, n)) for left, right in pairs]
    return matching.score_pairs(bags, definition)


def released(pairs: list[Pair], n: int, definition: Definition) -> Scores:
    """The matching stage as the releases run it, batches of 64 with padding."""
    scores = []
    for start in range(0, len(pairs), 64):
        batch = pairs[start : start + 64]
        left = [ngrams(text, n, definition) for text, _ in batch]
        right = [ngrams(text, n, definition) for _, text in batch]
        both = torch.cat([pad(left), pad(right)], dim=1)
        both = both / (both.norm(dim=-1, keepdim=True) + 1e-30)
        width = both.shape[1] - max(map(len, right))
        for place in range(len(batch)):
            matrix = pairwise(both[place])
            if definition.distance == "euclidean":
                matrix = matrix.sqrt()
            sides = torch.zeros(2, both.shape[1], dtype=torch.float64)
            sides[0, : len(left[place])] = 1 / len(left[place])
            sides[1, width : width + len(right[place])] = 1 / len(right[place])
            flows = definition.form == "inverse"
            cost = solve(sides[0].numpy(), sides[1].numpy(), matrix.double().numpy(), flows=flows)
            scores.append(definition.score(cost))
    return np.array(scores)


def ngrams(vectors: torch.Tensor, n: int, definition: Definition) -> torch.Tensor:
    """The later head averages plainly, without the loop."""
    if definition.form == "inverse":
        return vectors.unfold(0, n, 1).mean(-1)
    return loop_ngrams(vectors, n)


def loop_ngrams(vectors: torch.Tensor, n: int) -> torch.Tensor:
    """Weighted means over windows of n tokens, one window after the other."""
    weights = torch.ones(len(vectors))
    grams = []
    for start in range(len(vectors) - n + 1):
        window = slice(start, start + n)
        scale = (weights[window] / (weights[window].sum() + 1e-5))[:, None]
        grams.append((scale * vectors[window]).sum(0))
    return torch.stack(grams)


def pad(texts: list[torch.Tensor]) -> torch.Tensor:
    return torch.nn.utils.rnn.pad_sequence(texts, batch_first=True)


def pairwise(vectors: torch.Tensor) -> torch.Tensor:
    """Squared distances of all vectors of both texts to one another."""
    squares = (vectors**2).sum(-1)
    return (squares[:, None] + squares[None] - 2 * vectors @ vectors.T).clamp_min(0)


def solve(left: Scores, right: Scores, matrix: Scores, *, flows: bool) -> float:
    """One call of the solver; the later head asks for the flows and sums up the cost itself."""
    if pyemd is not None and flows:
        _, flow = pyemd.emd_with_flow(left, right, matrix)
        return float((np.array(flow) * matrix).sum())
    if pyemd is not None:
        return float(pyemd.emd(left, right, matrix))
    import ot

    return float(ot.emd2(left, right, matrix))


def timed(action: Callable[[], T]) -> tuple[T, float]:
    """Return what it gives, and the best of three times."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        result = action()
        times.append(time.perf_counter() - start)
    return result, min(times)


if __name__ == "__main__":
    sys.exit(main())
