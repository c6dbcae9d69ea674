"""What drawing systems by their standing does to their scores, on simulated judgments.

``PYTHONPATH=. python -m benchmarks.metaeval.drawn [replicates]``. Three systems a screen are drawn
as `metaeval.judgments.planning.drawing` says, the standing renewed every five screens, after a cold
start of five documents each. A score is the system's quality, how hard the document is (SD 12),
how well the system did on it (8), and noise (10). Prints, a design a line, how often intervals of
95% hold the truth, of systems and of the difference of the first and the last; and the largest
mean error over systems of the plain means and of the reweighted ones, in points, with the standard
error of such a mean.
"""

import sys
import warnings
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from metaeval import StatisticsWarning
from metaeval.arrays import FloatArray
from metaeval.judgments.planning import draw, inclusion, standing_weights
from metaeval.judgments.planning.reweighted import reweighted_means

SIZE, COLD, EVERY = 3, 5, 5
HARD_SD, OWN_SD, NOISE_SD = 12.0, 8.0, 10.0


class Design(NamedTuple):
    """`gap` is between neighbouring systems, in points; documents are shown `visits` times."""

    systems: int
    screens: int
    gap: float = 1.0
    exploration: float = 0.2
    visits: int = 1


DESIGNS = (
    Design(4, 60),
    Design(4, 200),
    Design(6, 100),
    Design(6, 300, visits=3),
    Design(10, 100),
    Design(10, 300),
    Design(10, 300, gap=0.0),
    Design(10, 300, gap=4.0),
    Design(10, 300, exploration=0.0),
    Design(10, 300, exploration=0.5),
)


@cache
def by_rank(n: int, exploration: float) -> tuple[FloatArray, FloatArray]:
    """Weights of ranks, and the probabilities that they make."""
    weights = standing_weights(-np.arange(n))
    return weights, inclusion(weights, SIZE, exploration=exploration)


class Outcome(NamedTuple):
    """Of one campaign: errors of both means, and which intervals hold the truth."""

    plain: FloatArray
    reweighted: FloatArray
    holds: FloatArray
    holds_difference: bool


def campaign(design: Design, seed: int) -> Outcome:
    """Collect a campaign's judgments and estimate its systems' means."""
    n, n_documents = design.systems, design.screens // design.visits
    rng = np.random.default_rng(seed)
    truth = 70 - design.gap * np.arange(n)
    cells = truth[:, None] + rng.normal(0, OWN_SD, (n, n_documents))
    cells += rng.normal(0, HARD_SD, n_documents)
    total, count = np.zeros(n), np.zeros(n)
    weights, chances = np.ones(n), np.full(n, SIZE / n)
    rows = []
    for screen in range(design.screens):
        if screen % EVERY == 0 and count.min() >= COLD:
            places = np.empty(n, dtype=int)
            places[np.argsort(-total / count)] = np.arange(n)
            weights, chances = (each[places] for each in by_rank(n, design.exploration))
        document = screen % n_documents
        for system in draw(weights, SIZE, rng=rng, exploration=design.exploration):
            score = cells[system, document] + rng.normal(0, NOISE_SD)
            rows.append((score, system, document, chances[system]))
            total[system] += score
            count[system] += 1
    scores, systems, documents, probabilities = map(np.array, zip(*rows, strict=True))
    return judged(scores, systems, documents, probabilities, truth)


def judged(
    scores: FloatArray,
    systems: FloatArray,
    documents: FloatArray,
    probabilities: FloatArray,
    truth: FloatArray,
) -> Outcome:
    """Set the estimates against the truth."""
    found = reweighted_means(scores, systems, documents, probabilities)
    errors, covariance = found.means - truth, found.covariance
    spread = np.sqrt(covariance[0, 0] + covariance[-1, -1] - 2 * covariance[0, -1])
    reach = stdtrit(found.effective.min() - 1, 0.975) * spread
    holds = (found.lows <= truth) & (truth <= found.highs)
    return Outcome(found.plain - truth, errors, holds, abs(errors[0] - errors[-1]) <= reach)


def largest(errors: FloatArray) -> str:
    """The mean error of the system that is off most, with the standard error of a mean."""
    means = errors.mean(axis=0)
    worst = np.argmax(np.abs(means))
    return f"{means[worst]:+.2f} ± {errors[:, worst].std() / np.sqrt(len(errors)):.2f}"


def main(replicates: int) -> None:
    """Print a line a design."""
    warnings.simplefilter("ignore", StatisticsWarning)
    for design in DESIGNS:
        found = [campaign(design, seed) for seed in range(replicates)]
        plain, reweighted, holds, difference = (np.array(each) for each in zip(*found, strict=True))
        rmse = [np.sqrt((each**2).mean()) for each in (plain, reweighted)]
        print(
            f"{design}: holds {100 * holds.mean():.1f} (one system at least "
            f"{100 * holds.mean(axis=0).min():.1f}), difference {100 * difference.mean():.1f}; "
            f"plain {largest(plain)} (all {plain.mean():+.2f}), reweighted {largest(reweighted)} "
            f"(all {reweighted.mean():+.2f}); RMSE {rmse[0]:.2f}, {rmse[1]:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
