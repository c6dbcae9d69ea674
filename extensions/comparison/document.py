"""Compute a campaign's side of a comparison: quality, correlations, systems, and their samples.

The samples draw segments of the *test set* with one seed per test set, so differences of campaigns
over the same test set are paired; others are drawn independently.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.filters import Filters
from annotation.filters.chosen import read_judgments
from annotation.models import Campaign
from annotation.quality import quality_report
from dashboards.documents.head import CampaignDocument, Ends, Estimate, head
from dashboards.documents.reasons import Number
from dashboards.panel.human import Floats, HumanScores
from dashboards.panel.panel import Panel, each_on_its_own, read_panel
from dashboards.trust.agreement import WITH_TRAPS, agreement
from metaeval import Interval
from metaeval.correlation import kendall, pearson
from metaeval.correlation.intervals import jackknife_interval, mean_interval
from metaeval.correlation.intervals.crossed import FEWEST_SEGMENTS
from metaeval.correlation.intervals.jackknife import FEWEST
from metaeval.documents import few_documents, has_enough_documents
from metaeval.messages import Message, message, plural
from metaeval.results import Notes
from metaeval.scores.oriented import OrientedScores
from metaeval.sensitivity import LEVELS, draw_segments, level_correlations, resampled_levels

VERSION = 8
SEED = 20_230
FEWEST_SAMPLES, MOST_SAMPLES = 100, 400
BUDGET = 60_000_000
DIGITS = 6
QUALITY = {
    "n_judgments": message("compare.judgments", "Judgments"),
    "n_annotators": message("compare.annotators", "Annotators"),
    "seconds_mean": message("compare.seconds", "Seconds per item, all"),
    "seconds_mean_cut": message("compare.seconds-cut", "Seconds per item, up to 600 s"),
    "traps_zero": message("compare.traps-zero", "Traps rated 0"),
    "traps_low": message("compare.traps-low", "Traps rated 1 to 20"),
    "traps_high": message("compare.traps-high", "Traps rated above 20"),
    "r_with_traps": message("compare.r-with-traps", "One-vs-rest r, with traps"),
    "r_without_traps": message("compare.r-without-traps", "One-vs-rest r, without traps"),
    "alpha_z_with_traps": message("compare.alpha-z-with-traps", "α on z, with traps"),
    "alpha_z_without_traps": message("compare.alpha-z-without-traps", "α on z, without traps"),
    "alpha_raw_without_traps": message(
        "compare.alpha-raw-without-traps", "α on raw scores, without traps"
    ),
}
AGREEMENT = {"one_vs_rest": "r", "alpha_z": "alpha_z", "alpha_raw": "alpha_raw"}


@dataclass(frozen=True, kw_only=True)
class Line:
    """The subject of a number: a statistic of judgments, of a measure's `key` or of a system's."""

    section: str
    statistic: str
    key: str
    label: Message | str


@dataclass(frozen=True, kw_only=True)
class Known(Line):
    """One number of a campaign with its interval, and bootstrap samples where it has some."""

    value: Number
    low: Number = None
    high: Number = None
    samples: Sequence[Number] = ()


@dataclass(frozen=True, kw_only=True)
class Side(CampaignDocument):
    """All numbers of a campaign, with the largest number of samples."""

    test_set: str
    n_samples: int
    numbers: Sequence[Known]


DOCUMENT = Side


def compute(campaign: Campaign, filters: Filters) -> Side:
    """Return the campaign's side."""
    panel = read_panel(campaign, filters)
    human = panel.human
    cells = human.n * max(1, len(panel.measures) if human.is_there else 0)
    n = int(min(MOST_SAMPLES, max(FEWEST_SAMPLES, BUDGET // max(1, cells))))
    rng = np.random.default_rng([SEED, campaign.test_set_id])
    size = len(human.segments)
    clusters = panel.scored.human.clusters
    counts = draw_segments(rng, n, size, size, clusters) if size else np.empty((n, 0))
    quality, warnings = _quality(campaign, filters)
    correlations = _correlations(panel, counts) if human.is_there else ()
    return Side(
        **head(campaign, human),
        test_set=campaign.test_set.slug,
        n_samples=n,
        numbers=[*quality, *correlations, *_systems(human, counts)],
        warnings=[*human.warnings, *_too_few(human), *each_on_its_own(panel), *warnings],
    )


def _quality(campaign: Campaign, filters: Filters) -> tuple[list[Known], list[Message]]:
    """Return numbers, and warnings on the intervals of agreement."""
    columns, _ = read_judgments(campaign, filters)
    if not len(columns):
        return [], []
    report = quality_report(campaign, columns)
    found: dict[str, Estimate] = {
        "n_judgments": (report.n_judgments, None),
        "n_annotators": (sum(one.n > 0 for one in report.annotators), None),
    }
    if times := report.times:
        found |= {
            "seconds_mean": (times.mean, None),
            "seconds_mean_cut": (times.mean_dropped, None),
        }
    if traps := report.traps:
        levels = ("zero", "low", "high")
        found |= {f"traps_{name}": (getattr(traps, name), None) for name in levels}
    warnings: dict[Message, None] = {}
    for part in agreement(campaign, columns):
        where = "with_traps" if part.items == WITH_TRAPS else "without_traps"
        found |= {f"{name}_{where}": getattr(part, key) for key, name in AGREEMENT.items()}
        without = [
            message("compare.no-interval", "{cause}.", cause=part.basis[key])
            for key in AGREEMENT
            if getattr(part, key)[1] is None
        ]
        warnings |= dict.fromkeys([*part.warnings, *without])
    about: dict[str, Any] = {"section": "quality", "key": ""}
    return [
        Known(**about, statistic=name, label=label, value=value, **_ends(interval))
        for name, label in QUALITY.items()
        if name in found
        for value, interval in [found[name]]
    ], list(warnings)


def _ends(interval: Interval | Ends | None) -> dict[str, Any]:
    return dict(zip(("low", "high"), interval, strict=False)) if interval else {}


def _correlations(panel: Panel, counts: Floats) -> Iterator[Known]:
    """Yield every measure's statistics; hybrids have no interval and no samples."""
    scored, human = panel.scored, panel.human
    hybrids = scored.oriented_hybrids()
    metrics = [scored.oriented(key) for key in panel.measures]
    samples = resampled_levels(human.values, metrics, counts)
    for (key, measure), turned, drawn in zip(panel.measures.items(), metrics, samples, strict=True):
        about: dict[str, Any] = {"section": "correlations", "key": key, "label": measure.label}
        yield Known(
            **about, statistic="r_hybrid", value=hybrids[key][0] if key in hybrids else None
        )
        values, ends = level_correlations(scored.humans, turned), _intervals(panel, key)
        for name, value, column in zip(LEVELS, values.tolist(), drawn.T, strict=True):
            chosen = _short(column) if _is_drawn(name, human, turned) else ()
            known: dict[str, Any] = {"statistic": name, "value": value, "samples": chosen}
            yield Known(**about, **known, **_ends(ends[name]))


def _intervals(panel: Panel, key: str) -> dict[str, Interval | None]:
    """Return intervals of LEVELS: over outputs clustered by segment; jackknife over systems."""
    ours = panel.scored.human
    theirs = ours.with_values(panel.scored.oriented(key).values)
    return {
        "tau": kendall(ours, theirs).interval,
        "r_segment": pearson(ours, theirs).interval,
        "r_system": jackknife_interval(*panel.scored.system_level(key)),
    }


def _n_judged(human: HumanScores) -> int:
    return int((~np.isnan(human.values)).any(axis=0).sum())


def _too_few(human: HumanScores) -> list[Message]:
    """Return why intervals are missing."""
    n, systems = _n_judged(human), int((~np.isnan(human.values)).any(axis=1).sum())
    notes = [few.message] if (few := few_documents(human.clusters)) else []
    if n < FEWEST_SEGMENTS:
        notes.append(
            plural(
                "compare.few-segments",
                "{n} judged segment is too few for intervals, which need {least}.",
                "{n} judged segments are too few for intervals, which need {least}.",
                n=n,
                least=FEWEST_SEGMENTS,
            )
        )
    if systems < FEWEST:
        notes.append(
            plural(
                "compare.few-systems",
                "{n} system is too few for the interval of r over systems, which needs {least}.",
                "{n} systems are too few for the interval of r over systems, which needs {least}.",
                n=systems,
                least=FEWEST,
            )
        )
    return notes if n else []


def _is_drawn(statistic: str, human: HumanScores, one: OrientedScores) -> bool:
    """Return whether samples are stored, for differences.

    Published or imported scores of whole systems cannot be resampled, and samples of few segments
    give intervals that are too narrow.
    """
    if not _has_samples(human):
        return False
    return statistic != "r_system" or (human.published_systems is None and one.systems is None)


def _has_samples(human: HumanScores) -> bool:
    """Return whether there are enough segments, and documents where they are the unit."""
    is_enough = has_enough_documents(human.clusters, Notes())
    return is_enough and _n_judged(human) >= FEWEST_SEGMENTS


def _systems(human: HumanScores, counts: Floats) -> Iterator[Known]:
    """Yield every system's mean human score over its segments."""
    own, clusters = OrientedScores(human.values), human.matrix().clusters
    once, drawn = own.over(own.mask), own.over(own.mask, counts)
    has_samples = _has_samples(human)
    for at, name in enumerate(human.names):
        if not np.isnan(once[at]):
            about: dict[str, Any] = {"section": "systems", "statistic": "mean", "key": name}
            known: dict[str, Any] = {"label": name, "value": float(once[at])}
            known["samples"] = _short(drawn[:, at]) if has_samples else ()
            yield Known(
                **about, **known, **_ends(mean_interval(human.values[at], clusters=clusters))
            )


def _short(samples: Floats) -> list[float]:
    return np.round(samples, DIGITS).tolist()  # type: ignore[no-any-return]
