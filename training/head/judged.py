"""Split outputs of a campaign with human scores by source text, so that nothing leaks.

Also measures the agreement of predictions with the scores of held-out outputs, with intervals.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotation.models import Campaign, Output, PublishedScore
from annotation.quality import read_columns
from metaeval import ScoreMatrix
from metaeval.correlation.intervals import correlation_intervals
from metaeval.correlation.intervals.crossed import FEWEST_SEGMENTS
from metaeval.judgments import z_scores
from metaeval.messages import Message, message, plural
from training.contract import JobError

FEWEST_SOURCES = 10


@dataclass(frozen=True)
class Judged:
    """An output with its human score."""

    system: str
    segment: int
    source: str
    text: str
    score: float


@dataclass(frozen=True)
class Split:
    """Training outputs and held-out outputs; no source text is in both."""

    train: list[Judged]
    held_out: list[Judged]
    n_excluded: int


def split(campaign: Campaign, share: float, seed: int) -> Split:
    """Read and split; JobError if too few source texts are judged.

    Judgments become z-scores with the mean and standard deviation of the annotator's judgments of
    training texts. Held-out judgments of annotators without any are excluded and counted. Scores
    published with a data set are not changed.
    """
    outputs, rows = _read(campaign)
    sources = sorted({outputs[output].segment.source for _, output, _ in rows})
    n_held = min(max(2, round(share * len(sources))), len(sources) // 2)
    held = set(random.Random(seed).sample(sources, n_held))
    return _split(campaign, outputs, rows, held)


def folds(campaign: Campaign, n: int, seed: int) -> list[Split]:
    """Hold out each of `n` parts of the sources in turn; JobError as :func:`split`.

    Texts of a document are in one part if there are at least as many documents as parts.
    """
    outputs, rows = _read(campaign)
    segments = [outputs[output].segment for _, output, _ in rows]
    group = {each.source: each.document or each.source for each in segments}
    if len(set(group.values())) < n:
        group = {source: source for source in group}
    names = sorted(set(group.values()))
    random.Random(seed).shuffle(names)
    part = {name: place % n for place, name in enumerate(names)}
    return [
        _split(campaign, outputs, rows, {source for source in group if part[group[source]] == fold})
        for fold in range(n)
    ]


def _read(campaign: Campaign) -> tuple[dict[int, Output], "list[Row]"]:
    """Return the outputs of a campaign by key, and their judgments or published scores."""
    outputs = {
        output.pk: output
        for output in Output.objects.filter(system__in=campaign.systems.all()).select_related(
            "segment", "system"
        )
    }
    rows = _published(campaign) or _collected(campaign)
    rows = [row for row in rows if row[1] in outputs]
    n_sources = len({outputs[output].segment.source for _, output, _ in rows})
    if n_sources < FEWEST_SOURCES:
        raise JobError(
            plural(
                "head.too-few-judged",
                "{n} source text of {campaign} has judgments: at least {fewest} are needed.",
                "{n} source texts of {campaign} have judgments: at least {fewest} are needed.",
                n=n_sources,
                campaign=campaign.slug,
                fewest=FEWEST_SOURCES,
            )
        )
    return outputs, rows


def too_few_sources(n: int) -> Message:
    """Return the message that there are too few source texts for intervals."""
    return plural(
        "head.too-few-for-intervals",
        "{n} source text is too few for intervals: {fewest} are needed.",
        "{n} source texts are too few for intervals: {fewest} are needed.",
        n=n,
        fewest=FEWEST_SEGMENTS,
    )


def _split(
    campaign: Campaign, outputs: dict[int, Output], rows: "list[Row]", held: set[str]
) -> Split:
    is_held = np.array([outputs[output].segment.source in held for _, output, _ in rows])
    means, n_excluded = _means(rows, is_held)
    judged = [_judged(outputs[output], score) for output, score in sorted(means.items())]
    parts = [[each for each in judged if (each.source in held) == is_out] for is_out in (0, 1)]
    if len(parts[0]) < 2 or len({each.score for each in parts[1]}) < 2:
        raise JobError(
            message(
                "head.not-standardised",
                "Too few judgments of {campaign} can be standardised.",
                campaign=campaign.slug,
            )
        )
    return Split(parts[0], parts[1], n_excluded)


Row = tuple[int, int, float]


def _published(campaign: Campaign) -> list[Row]:
    """Return (−1, output, score) of every published score of an output."""
    rows = PublishedScore.objects.filter(campaign=campaign, output__isnull=False).order_by("pk")
    return [(-1, int(row.output_id or 0), campaign.published_sign * row.value) for row in rows]


def _collected(campaign: Campaign) -> list[Row]:
    """Return (annotator, output, score) of every judgment of an output, without control items."""
    columns = read_columns(campaign)
    wanted = columns.is_target & (columns.output >= 0) & ~np.isnan(columns.score)
    rows = zip(
        columns.annotator[wanted], columns.output[wanted], columns.score[wanted], strict=True
    )
    return [(int(annotator), int(output), float(score)) for annotator, output, score in rows]


def _means(rows: list[Row], is_held: NDArray[np.bool_]) -> tuple[dict[int, float], int]:
    """Return the mean score by output, and how many judgments have no z-score."""
    annotator, output = np.array([row[:2] for row in rows]).T
    score = np.array([row[2] for row in rows])
    if (annotator >= 0).all():
        score = z_scores(score, annotator, pool=~is_held).z
    defined = ~np.isnan(score)
    found: dict[int, list[float]] = {}
    for pk, value in zip(output[defined].tolist(), score[defined].tolist(), strict=True):
        found.setdefault(pk, []).append(value)
    return {pk: float(np.mean(values)) for pk, values in found.items()}, int((~defined).sum())


def _judged(output: Output, score: float) -> Judged:
    segment = output.segment
    return Judged(str(output.system_id), segment.pk, segment.source, output.text, score)


Array = NDArray[np.float64]
CORRELATIONS = ("pearson", "kendall")
Estimate = dict[str, float | None]


def compare(rows: Sequence[Judged], values: Mapping[str, Array]) -> dict[str, dict[str, Estimate]]:
    """Return by correlation and name the agreement of (rows,) values with judgments.

    Intervals are 95% intervals over source segments. For two, includes the gain of the first over
    the second.
    """
    human = _matrix(rows, np.array([each.score for each in rows]))
    metrics = {name: _matrix(rows, each) for name, each in values.items()}
    return {name: estimates(human, metrics, name) for name in CORRELATIONS}


def estimates(
    human: ScoreMatrix, metrics: Mapping[str, ScoreMatrix], correlation: str
) -> dict[str, Estimate]:
    """Return correlations and their difference; no ends if there are too few source texts."""
    found = correlation_intervals(human, dict(metrics), correlation)
    estimated = {
        name: _estimate(found.values[place], found.lows[place], found.highs[place])
        for place, name in enumerate(metrics)
    }
    if len(metrics) == 2:
        gain = (found.differences, found.difference_lows, found.difference_highs)
        estimated["gain"] = _estimate(*(part[0, 1] for part in gain))
    return estimated


def _matrix(rows: Sequence[Judged], values: Array) -> ScoreMatrix:
    """Return (systems, segments), nan for an output without judgment."""
    row = {name: n for n, name in enumerate(dict.fromkeys(each.system for each in rows))}
    column = {key: n for n, key in enumerate(dict.fromkeys(str(each.segment) for each in rows))}
    grid = np.full((len(row), len(column)), np.nan)
    for each, value in zip(rows, values, strict=True):
        grid[row[each.system], column[str(each.segment)]] = value
    return ScoreMatrix(grid, list(row), list(column))


def _estimate(value: float, low: float, high: float) -> Estimate:
    ends = {"low": float(low), "high": float(high)} if np.isfinite([low, high]).all() else {}
    return {"value": float(value) if np.isfinite(value) else None, **ends}
