"""What a campaign brings to a comparison: its quality, correlations, systems, and their samples.

The samples draw segments of the *test set* with a seed of its own: campaigns over one test set are
drawn alike, so differences of their samples are paired; others are drawn independently.
"""

from typing import Any

import numpy as np

import metaeval
from annotation.filters import Filters
from annotation.filters.chosen import read_judgments
from annotation.models import Campaign
from annotation.quality import QualityReport, quality_report
from dashboards import brief
from dashboards.analyses import overview
from dashboards.correlations import correlate
from dashboards.plain import plain
from dashboards.selectors import Floats, HumanScores, human_scores
from metaeval.correlation_intervals import FEWEST_SEGMENTS
from metaeval.jackknife import FEWEST

VERSION = 3
SEED = 20_230
FEWEST_SAMPLES, MOST_SAMPLES = 100, 400
BUDGET = 60_000_000
TAIL = 2.5
DIGITS = 6
QUALITY = {
    "n_judgments": "Judgments",
    "n_annotators": "Annotators",
    "seconds_mean": "Seconds an item, all",
    "seconds_mean_cut": "Seconds an item, up to 600 s",
    "traps_zero": "Traps rated 0",
    "traps_low": "Traps rated 1–20",
    "traps_high": "Traps rated above 20",
    "r_with_traps": "One-vs-rest r, with traps",
    "r_without_traps": "One-vs-rest r, without traps",
    "alpha_z_with_traps": "α on z, with traps",
    "alpha_z_without_traps": "α on z, without traps",
    "alpha_raw_without_traps": "α on raw scores, without traps",
}
AGREEMENT = {"one_vs_rest": "r", "alpha_z": "alpha_z", "alpha_raw": "alpha_raw"}


def compute(campaign: Campaign, filters: Filters) -> dict[str, Any]:
    """Return the campaign's side; every estimate is [value, interval or None]."""
    human = human_scores(campaign, filters)
    measures = brief.read_measures(campaign, human) if human.is_there else []
    cells = human.n * max(1, len(measures))
    n = int(min(MOST_SAMPLES, max(FEWEST_SAMPLES, BUDGET // max(1, cells))))
    rng = np.random.default_rng([SEED, campaign.test_set_id])
    size = len(human.segments)
    counts = brief.draw(rng, n, size, size) if size else np.empty((n, 0))
    correlations, samples = _correlations(campaign, filters, human, measures, counts)
    systems, drawn = _systems(human, counts)
    quality, doubts = _quality(campaign, filters)
    few = _too_few(human)
    document = {
        "campaign": campaign.slug,
        "test_set": campaign.test_set.slug,
        "human_scores": human.source,
        "n_samples": n,
        "quality": quality,
        "correlations": correlations,
        "systems": systems,
        "samples": {"correlations": samples, "systems": drawn},
        "warnings": [*human.warnings, *few, *doubts],
    }
    result: dict[str, Any] = plain(document)
    return result


def _quality(campaign: Campaign, filters: Filters) -> tuple[dict[str, Any], list[str]]:
    """Return estimates by name, and what must be known of the intervals of agreement."""
    columns, _ = read_judgments(campaign, filters)
    if not len(columns):
        return {}, []
    report = quality_report(campaign, columns)
    found = {
        "n_judgments": report.n_judgments,
        "n_annotators": sum(one.n > 0 for one in report.annotators),
        "seconds_mean": report.times.mean if report.times else None,
        "seconds_mean_cut": report.times.mean_dropped if report.times else None,
        **_traps(report),
    }
    estimates: dict[str, Any] = {
        name: [value, None] for name, value in found.items() if value is not None
    }
    doubts: dict[str, None] = {}
    for part in overview.agreement(campaign, columns):
        traps = "with_traps" if part["items"] == overview.WITH_TRAPS else "without_traps"
        estimates |= {f"{name}_{traps}": part[key] for key, name in AGREEMENT.items()}
        without = [f"{part['basis'][key]}." for key in AGREEMENT if part[key][1] is None]
        doubts |= dict.fromkeys([*part["doubts"], *without])
    return estimates, list(doubts)


def _traps(report: QualityReport) -> dict[str, Any]:
    names = ("zero", "low", "high")
    return {f"traps_{name}": getattr(report.traps, name) for name in names if report.traps}


def _correlations(
    campaign: Campaign,
    filters: Filters,
    human: HumanScores,
    measures: list[brief.Brief],
    counts: Floats,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return estimates and samples by measure and statistic; hybrids have no samples."""
    hybrids = {row.key: row.r_hybrid for row in correlate(campaign, filters).rows}
    estimates, samples = {}, {}
    for one in measures:
        values = brief.correlations(human.values, one, human.published_systems)
        drawn = brief.resampled(human.values, one, counts)
        named = zip(brief.STATISTICS, values, drawn.T, strict=True)
        samples[one.key] = {
            name: column for name, _, column in named if _is_drawn(name, human, one)
        }
        ends = _intervals(human, one)
        estimates[one.key] = {
            "label": one.label,
            "r_hybrid": [hybrids.get(one.key), None],
            **{
                name: [float(value), ends[name]]
                for name, value in zip(brief.STATISTICS, values, strict=True)
            },
        }
    stored = {
        key: {name: _short(column) for name, column in parts.items()}
        for key, parts in samples.items()
    }
    return estimates, stored


def _intervals(human: HumanScores, one: brief.Brief) -> dict[str, metaeval.Interval | None]:
    """Intervals of brief.STATISTICS: over outputs clustered by segment, over systems jackknifed."""
    ours, theirs = human.matrix(), human.matrix(one.values)
    means = brief.sides(human.values, one, human.published_systems)
    found = {
        "tau": metaeval.kendall(ours, theirs).interval,
        "r_segment": metaeval.pearson(ours, theirs).interval,
        "r_system": metaeval.jackknife_interval(*means),
    }
    return {name: _known(ends) for name, ends in found.items()}


def _known(ends: metaeval.Interval | None) -> metaeval.Interval | None:
    return ends if ends and ends.low == ends.low else None


def _n_judged(human: HumanScores) -> int:
    return int((~np.isnan(human.values)).any(axis=0).sum())


def _too_few(human: HumanScores) -> list[str]:
    """Say why intervals are missing."""
    n, systems = _n_judged(human), int((~np.isnan(human.values)).any(axis=1).sum())
    notes = []
    if n < FEWEST_SEGMENTS:
        notes.append(f"{n} segments are judged: intervals need {FEWEST_SEGMENTS}.")
    if systems < FEWEST:
        notes.append(f"{systems} systems: the interval of r over systems needs {FEWEST}.")
    return notes if n else []


def _is_drawn(statistic: str, human: HumanScores, one: brief.Brief) -> bool:
    """Whether samples are kept, for differences.

    Published or imported scores of whole systems cannot be drawn again, and samples of few segments
    cover less than they say.
    """
    if _n_judged(human) < FEWEST_SEGMENTS:
        return False
    return statistic != "r_system" or (human.published_systems is None and one.systems is None)


def _systems(human: HumanScores, counts: Floats) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return every system's mean human score over its segments, and the samples of it."""
    once = brief.system_means(human.values, np.ones((1, human.values.shape[1])))[0]
    drawn = brief.system_means(human.values, counts)
    ends = [_known(metaeval.mean_interval(row)) for row in human.values]
    judged = [(at, name) for at, name in enumerate(human.names) if once[at] == once[at]]
    estimates = {name: [float(once[at]), ends[at]] for at, name in judged}
    enough = _n_judged(human) >= FEWEST_SEGMENTS
    return estimates, {name: _short(drawn[:, at]) for at, name in judged if enough}


def interval(samples: Floats | None) -> metaeval.Interval | None:
    """The percentile interval of samples; None where hardly one is defined."""
    known = np.empty(0) if samples is None else samples[~np.isnan(samples)]
    if len(known) < FEWEST_SAMPLES // 2:
        return None
    low, high = np.percentile(known, [TAIL, 100 - TAIL])
    return metaeval.Interval(float(low), float(high), 0.95)


def _short(samples: Floats) -> list[float]:
    return np.round(samples, DIGITS).tolist()  # type: ignore[no-any-return]
