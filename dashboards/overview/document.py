"""The state of a campaign at a glance: progress, time, traps, agreement, annotators, drift.

Everything but the progress rests on the judgments that the filters choose.
"""

from typing import Any

import numpy as np

from annotation.filters import Filters
from annotation.filters.chosen import read_judgments
from annotation.models import Campaign, Item, Output
from annotation.monitor.completion import wanted
from annotation.quality import (
    Agreement,
    AnnotatorQuality,
    JudgmentColumns,
    QualityReport,
    agreement_of,
    quality_report,
    standardise,
)
from annotation.quality.agreement import N_RESAMPLES
from annotation.quality.columns import Floats, Mask
from dashboards.documents.plain import plain
from dashboards.overview import annotators
from dashboards.panel.human import human_scores
from metaeval.judgments.controls import WorkerFlags, pass_rate, trap_levels

VERSION = 2
WITH_TRAPS = "outputs and traps"
# Charts of more people than this cannot be read; the tables have everybody.
CHARTED = 16


def compute(campaign: Campaign, filters: Filters) -> dict[str, Any]:
    """Return the overview; `rows` has a dict for every annotator."""
    everybody, notes = read_judgments(campaign, filters, with_excluded=True)
    report = quality_report(campaign, everybody)
    people = report.annotators
    counted = [one.pk for one in people if one.excluded_at is None]
    columns = everybody.select(np.isin(everybody.annotator, counted))
    z = standardise(columns, campaign.z_pool).z if len(columns) else np.empty(0)
    trends = annotators.trends(columns, z, {one.pk: one.label for one in people})
    flags = annotators.longest_runs(columns) if campaign.judging.has_score else None
    rows = [_row(campaign, one, columns, z, trends, flags, report) for one in people]
    by_size = sorted(people, key=lambda one: (-one.n, one.label))[:CHARTED]
    document = {
        "campaign": campaign.slug,
        "origin": campaign.origin,
        "filters": filters.as_json(),
        "progress": _progress(campaign, filters),
        "n_judgments": len(columns),
        "times": _times(report, columns),
        "traps": _traps(columns) if campaign.judging.has_score else None,
        "agreement": agreement(campaign, columns),
        "n_resamples": N_RESAMPLES,
        "seed": campaign.seed,
        "rows": rows,
        "tested": report.tested.values(),
        "series": _series([one for one in by_size if one.pk in counted], columns, z),
        "warnings": list(dict.fromkeys([*notes, *report.warnings])),
        "drift_warnings": trends.warnings,
    }
    document["suspects"] = [row["annotator"] for row in rows if row["is_suspect"]]
    result: dict[str, Any] = plain(document)
    return result


def _progress(campaign: Campaign, filters: Filters) -> dict[str, Any]:
    done, total, is_complete = wanted(campaign)
    outputs = Output.objects.filter(system__campaigns=campaign).count()
    human = human_scores(campaign, filters)
    return {
        "ratings": done,
        "wanted": total,
        "is_complete": is_complete,
        "outputs": outputs,
        "outputs_judged": human.n,
        "human_scores": human.source,
    }


def _times(report: QualityReport, columns: JudgmentColumns) -> dict[str, Any] | None:
    if report.times is None:
        return None
    found, clocks = report.times, report.clocks
    active = columns.active[~columns.doubted & ~np.isnan(columns.active)]
    return {
        "n": found.n,
        "mean": found.mean,
        "median": found.median,
        "mean_cut": found.mean_dropped,
        "mean_clipped": found.mean_clipped,
        "n_above": found.n_above,
        "cap": found.cap,
        "paid": clocks.paid if clocks else None,
        "active": clocks.active if clocks else None,
        "active_n": len(active),
        "active_median": float(np.median(active)) if len(active) else None,
        "doubted": clocks.doubted if clocks else None,
    }


def _traps(columns: JudgmentColumns) -> dict[str, Any] | None:
    scores = columns.score[columns.is_kind(Item.Kind.TRAP)]
    if not len(scores):
        return None
    levels = trap_levels(scores)
    rate = pass_rate(levels.zero + levels.low, levels.n)
    return {
        **{name: getattr(levels, name) for name in ("n", "zero", "low", "high")},
        "share_low": rate.statistic,
        "interval": rate.interval,
    }


def agreement(campaign: Campaign, columns: JudgmentColumns) -> list[dict[str, Any]]:
    """One dict for outputs alone and, where there are traps, one for both; z as computed there."""
    targets, traps = columns.is_kind(Item.Kind.TARGET), columns.is_kind(Item.Kind.TRAP)
    sets = {"outputs": targets} | ({WITH_TRAPS: targets | traps} if traps.any() else {})
    found = {
        name: agreement_of(columns, chosen, seed=campaign.seed) for name, chosen in sets.items()
    }
    return [{"items": name, **_told(each)} for name, each in found.items() if each is not None]


def _told(found: Agreement) -> dict[str, Any]:
    figures = found.figures
    return {
        "n_units": found.n_units,
        **{name: [each.statistic, each.interval] for name, each in figures.items()},
        "basis": {name: each.basis for name, each in figures.items()},
        "doubts": found.doubts,
    }


def _row(
    campaign: Campaign,
    one: AnnotatorQuality,
    columns: JudgmentColumns,
    z: Floats,
    trends: annotators.Trends,
    flags: WorkerFlags | None,
    report: QualityReport,
) -> dict[str, Any]:
    own = (columns.annotator == one.pk) & columns.is_target
    usual = report.times.median if report.times else float("nan")
    signs = annotators.signs(one, flags, usual)
    return {
        "campaign": campaign.slug,
        "annotator": one.label,
        "is_simulated": one.is_simulated,
        "is_excluded": one.excluded_at is not None,
        "n": one.n,
        "n_outputs": int(own.sum()),
        **_spread("raw", columns.score, own),
        **_spread("z", z, own),
        "seconds_mean": one.times.mean if one.times else None,
        "seconds_mean_cut": one.times.mean_dropped if one.times else None,
        "seconds_median": one.times.median if one.times else None,
        "seconds_active_mean": one.clocks.active if one.clocks else None,
        "traps_n": one.checks.traps.n if one.checks.traps else None,
        "traps_low_share": one.checks.traps.statistic if one.checks.traps else None,
        "r_without_traps": one.r_without,
        **_drift("z", trends.of(one.label)["z"]),
        **_drift("seconds", trends.of(one.label)["seconds"]),
        "verdict": one.checks.verdict.value,
        "signs": "; ".join(signs),
        "is_suspect": annotators.is_suspect(one, signs),
    }


def _spread(name: str, values: Floats, own: Mask) -> dict[str, Any]:
    known = values[own & ~np.isnan(values)]
    found = annotators.quantiles(known) or dict.fromkeys(annotators.QUANTILES)
    return {
        f"{name}_mean": float(known.mean()) if len(known) else None,
        f"{name}_sd": float(known.std(ddof=1)) if len(known) > 1 else None,
        **{f"{name}_{key}": value for key, value in found.items()},
    }


def _drift(name: str, trend: dict[str, Any] | None) -> dict[str, Any]:
    keys = ("tau", "pvalue", "adjusted", "first", "last", "is_drifting")
    return {f"{name}_drift_{key}": (trend or {}).get(key) for key in keys}


def _series(
    people: list[AnnotatorQuality], columns: JudgmentColumns, z: Floats
) -> list[dict[str, Any]]:
    """Rolling means of z and of seconds by place in the annotator's own order, on outputs."""
    series = []
    for one in people:
        own = (columns.annotator == one.pk) & columns.is_target
        series += [
            {"annotator": one.label, "value": name, "points": annotators.rolling(values[own])}
            for name, values in (("z", z), ("seconds", columns.seconds))
            if (own & ~np.isnan(values)).any()
        ]
    return series
