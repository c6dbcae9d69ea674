"""A quality report as plain values, for JSON and CSV."""

from typing import Any

from annotation.models import Campaign
from annotation.quality.agreement import Agreement
from annotation.quality.people import AnnotatorQuality
from annotation.quality.report import QualityReport

HEADER = (
    "campaign",
    "annotator",
    "is_simulated",
    "n",
    "mean",
    "sd",
    "seconds_mean",
    "seconds_mean_cut",
    "traps_zero",
    "traps_low",
    "traps_high",
    "r_with_traps",
    "r_without_traps",
    "bad_reference_pairs",
    "bad_reference_difference",
    "bad_reference_effect",
    "bad_reference_p",
    "bad_reference_signed_rank_p",
    "traps_n",
    "traps_pass_rate",
    "gold_n",
    "gold_pass_rate",
    "repeat_pairs",
    "repeat_mean_absolute_difference",
    "verdict",
    "failed_checks",
    "excluded_at",
    "seconds_paid_mean",
    "seconds_active_mean",
    "doubted_times",
)


def annotator_row(campaign: Campaign, person: AnnotatorQuality) -> dict[str, Any]:
    """Return one annotator under the columns of HEADER, and how many traps and gold items were
    passed; None where there is no value."""
    times, traps, control = person.times, person.traps, person.bad_references
    checks, clocks = person.checks, person.clocks
    row: dict[str, Any] = {
        "campaign": campaign.slug,
        "annotator": person.label,
        "is_simulated": person.is_simulated,
        "n": person.n,
        "mean": person.mean,
        "sd": person.sd,
        "seconds_mean": times.mean if times else None,
        "seconds_mean_cut": times.mean_cut if times else None,
        "traps_zero": traps.zero if traps else None,
        "traps_low": traps.low if traps else None,
        "traps_high": traps.high if traps else None,
        "r_with_traps": person.r_with if traps else None,
        "r_without_traps": person.r_without,
        "bad_reference_pairs": control.n if control else None,
        "bad_reference_difference": control.mean_difference if control else None,
        "bad_reference_effect": control.effect_size if control else None,
        "bad_reference_p": control.pvalue if control else None,
        "bad_reference_signed_rank_p": checks.signed_rank.pvalue if checks.signed_rank else None,
        "traps_n": checks.traps.n if checks.traps else None,
        "traps_pass_rate": checks.traps.statistic if checks.traps else None,
        "gold_n": checks.gold.n if checks.gold else None,
        "gold_pass_rate": checks.gold.statistic if checks.gold else None,
        "repeat_pairs": checks.repeats.n if checks.repeats else None,
        "repeat_mean_absolute_difference": checks.repeats.mean_absolute if checks.repeats else None,
        "verdict": checks.verdict.value,
        "failed_checks": ", ".join(checks.failed),
        "excluded_at": person.excluded_at.isoformat() if person.excluded_at else None,
        "seconds_paid_mean": clocks.paid if clocks else None,
        "seconds_active_mean": clocks.active if clocks else None,
        "doubted_times": clocks.doubted if clocks else None,
        "traps_passed": checks.traps.passed if checks.traps else None,
        "gold_passed": checks.gold.passed if checks.gold else None,
    }
    return {name: finite(value) for name, value in row.items()}


def finite(value: Any) -> Any:
    """Return None for nan, which JSON cannot write."""
    return None if isinstance(value, float) and value != value else value


def as_json(campaign: Campaign, report: QualityReport) -> dict[str, Any]:
    """Return the whole report."""
    return {
        "campaign": campaign.slug,
        "direction": campaign.test_set.direction,
        "length_ratio": str(campaign.length_ratio),
        "origin": campaign.origin,
        "as_of": report.as_of.isoformat(),
        "n_judgments": report.n_judgments,
        "seconds": report.times.to_dict() if report.times else None,
        "traps": report.traps.to_dict() if report.traps else None,
        "trap_rates": [
            {"segment": each.segment, "text": each.text, **each.rate.to_dict()}
            for each in report.trap_rates
        ],
        "with_traps": _agreement(report.with_traps),
        "without_traps": _agreement(report.without_traps),
        "kinds": [{"kind": k.kind, "n": k.n, "mean": k.mean} for k in report.kinds],
        "annotators": [annotator_row(campaign, person) for person in report.annotators],
        "tested": report.tested.values(),
        "warnings": list(report.warnings),
    }


def _agreement(agreement: Agreement | None) -> dict[str, Any] | None:
    if agreement is None:
        return None
    figures = {name: figure.to_dict() for name, figure in agreement.figures.items()}
    return {"n": agreement.n, "n_items": agreement.n_units, **figures}
