"""What a campaign brings to a comparison: its quality, correlations, systems, and their samples.

The samples draw segments of the *test set* with a seed of its own: campaigns over one test set are
drawn alike, so differences of their samples are paired; others are drawn independently.
"""

from typing import Any

import numpy as np

from annotation.counted import counted
from annotation.filters import Filters
from annotation.filters.chosen import read_judgments
from annotation.models import Campaign
from annotation.quality import QualityReport, quality_report
from dashboards.documents.plain import plain
from dashboards.overview import document as overview
from dashboards.panel.human import Floats, HumanScores
from dashboards.panel.panel import Panel, read_panel
from metaeval import Interval
from metaeval.correlation import kendall, pearson
from metaeval.correlation.intervals import jackknife_interval, mean_interval
from metaeval.correlation.intervals.crossed import FEWEST_SEGMENTS
from metaeval.correlation.intervals.jackknife import FEWEST
from metaeval.scores.turned import TurnedScores
from metaeval.sensitivity import LEVELS, draw_segments, level_correlations, resampled_levels

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
    panel = read_panel(campaign, filters)
    human = panel.human
    cells = human.n * max(1, len(panel.measures) if human.is_there else 0)
    n = int(min(MOST_SAMPLES, max(FEWEST_SAMPLES, BUDGET // max(1, cells))))
    rng = np.random.default_rng([SEED, campaign.test_set_id])
    size = len(human.segments)
    counts = draw_segments(rng, n, size, size) if size else np.empty((n, 0))
    correlations, samples = _correlations(panel, counts) if human.is_there else ({}, {})
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
        traps = "with_traps" if part.items == overview.WITH_TRAPS else "without_traps"
        estimates |= {f"{name}_{traps}": getattr(part, key) for key, name in AGREEMENT.items()}
        without = [f"{part.basis[key]}." for key in AGREEMENT if getattr(part, key)[1] is None]
        doubts |= dict.fromkeys([*part.doubts, *without])
    return estimates, list(doubts)


def _traps(report: QualityReport) -> dict[str, Any]:
    names = ("zero", "low", "high")
    return {f"traps_{name}": getattr(report.traps, name) for name in names if report.traps}


def _correlations(panel: Panel, counts: Floats) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return estimates and samples by measure and statistic; hybrids have no samples."""
    scored, human = panel.scored, panel.human
    hybrids = scored.turned_hybrids()
    estimates, stored = {}, {}
    for key, measure in panel.measures.items():
        turned = scored.turned(key)
        values = level_correlations(scored.humans, turned)
        drawn = resampled_levels(human.values, turned, counts)
        stored[key] = {
            name: _short(column)
            for name, column in zip(LEVELS, drawn.T, strict=True)
            if _is_drawn(name, human, turned)
        }
        ends = _intervals(panel, key)
        estimates[key] = {
            "label": measure.label,
            "r_hybrid": [hybrids[key][0] if key in hybrids else None, None],
            **{
                name: [float(value), ends[name]] for name, value in zip(LEVELS, values, strict=True)
            },
        }
    return estimates, stored


def _intervals(panel: Panel, key: str) -> dict[str, Interval | None]:
    """Intervals of LEVELS: over outputs clustered by segment, over systems jackknifed."""
    ours = panel.scored.human
    theirs = ours.with_values(panel.scored.turned(key).values)
    found = {
        "tau": kendall(ours, theirs).interval,
        "r_segment": pearson(ours, theirs).interval,
        "r_system": jackknife_interval(*panel.scored.system_level(key)),
    }
    return {name: _known(ends) for name, ends in found.items()}


def _known(ends: Interval | None) -> Interval | None:
    return ends if ends and ends.low == ends.low else None


def _n_judged(human: HumanScores) -> int:
    return int((~np.isnan(human.values)).any(axis=0).sum())


def _too_few(human: HumanScores) -> list[str]:
    """Say why intervals are missing."""
    n, systems = _n_judged(human), int((~np.isnan(human.values)).any(axis=1).sum())
    notes = []
    if n < FEWEST_SEGMENTS:
        notes.append(
            f"{counted(n, 'segment is', 'segments are')} judged: intervals need {FEWEST_SEGMENTS}."
        )
    if systems < FEWEST:
        notes.append(
            f"{counted(systems, 'system')}: the interval of r over systems needs {FEWEST}."
        )
    return notes if n else []


def _is_drawn(statistic: str, human: HumanScores, one: TurnedScores) -> bool:
    """Whether samples are kept, for differences.

    Published or imported scores of whole systems cannot be drawn again, and samples of few segments
    cover less than they say.
    """
    if _n_judged(human) < FEWEST_SEGMENTS:
        return False
    return statistic != "r_system" or (human.published_systems is None and one.systems is None)


def _systems(human: HumanScores, counts: Floats) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return every system's mean human score over its segments, and the samples of it."""
    own = TurnedScores(human.values)
    once, drawn = own.over(own.mask), own.over(own.mask, counts)
    ends = [_known(mean_interval(row)) for row in human.values]
    judged = [(at, name) for at, name in enumerate(human.names) if once[at] == once[at]]
    estimates = {name: [float(once[at]), ends[at]] for at, name in judged}
    enough = _n_judged(human) >= FEWEST_SEGMENTS
    return estimates, {name: _short(drawn[:, at]) for at, name in judged if enough}


def interval(samples: Floats | None) -> Interval | None:
    """The percentile interval of samples; None where hardly one is defined."""
    known = np.empty(0) if samples is None else samples[~np.isnan(samples)]
    if len(known) < FEWEST_SAMPLES // 2:
        return None
    low, high = np.percentile(known, [TAIL, 100 - TAIL])
    return Interval(float(low), float(high), 0.95)


def _short(samples: Floats) -> list[float]:
    return np.round(samples, DIGITS).tolist()  # type: ignore[no-any-return]
