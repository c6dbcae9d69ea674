"""The document of the quality page: agreement, control items and times of a campaign."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.filters import Filters
from annotation.filters.chosen import filtered_report, read_judgments
from annotation.models import Campaign
from annotation.quality import Agreement, AnnotatorQuality
from annotation.quality.options import ChoiceTable, choices_of
from annotation.quality.reach import Tested
from annotation.quality.report import KindMean
from dashboards.documents.head import OfCampaign, WithUnits, about, units_of
from dashboards.documents.reasons import Counted, Number
from dashboards.quality.agreement import Figure, figures_of
from metaeval.messages import Message, message

VERSION = 8
# Labels of the checks, by their names in the data.
CHECKS = {
    "bad references": message("check.bad-references", "bad references"),
    "traps": message("check.traps", "traps"),
    "gold items": message("check.gold-items", "gold items"),
}


@dataclass(frozen=True, kw_only=True)
class Seconds(Counted):
    """Seconds per item (`metaeval.judgments.controls.AnnotationTimes`)."""

    mean: Number
    median: Number
    mean_cut: Number
    mean_dropped: Number
    mean_clipped: Number
    n_above: int
    cap: float
    cut: str


@dataclass(frozen=True, kw_only=True)
class Traps(Counted):
    """Traps by score (`metaeval.judgments.controls.TrapLevels`)."""

    zero: int
    low: int
    high: int
    threshold: float


@dataclass(frozen=True, kw_only=True)
class TrapRate(Counted):
    """The share of annotators who passed a trap (`metaeval.judgments.controls.PassRate`)."""

    segment: str
    text: str
    statistic: Number
    passed: int
    method: Message | str
    interval: tuple[float, float, float] | None
    pvalue: Number
    alternative: str | None
    n_resamples: int | None
    seed: int | None


@dataclass(frozen=True)
class Clocks:
    """Mean seconds per item by the other clocks (`annotation.quality.people.Clocks`)."""

    paid: Number
    active: Number
    doubted: int


@dataclass(frozen=True)
class Agreed:
    """Agreement on `n_items` units with two or more ratings, which are `n` judgments."""

    n: int
    n_items: int
    one_vs_rest: Figure
    alpha_z: Figure
    alpha_raw: Figure

    @property
    def methods(self) -> list[Message | None]:
        """How the intervals were computed; None where there is none."""
        return [each.method for each in (self.one_vs_rest, self.alpha_z, self.alpha_raw)]


@dataclass(frozen=True, kw_only=True)
class Line:
    """One annotator; None where there is no value."""

    campaign: str
    annotator: str
    is_simulated: bool
    n: int
    mean: Number
    sd: Number
    seconds_mean: Number
    seconds_mean_cut: Number
    traps_zero: int | None
    traps_low: int | None
    traps_high: int | None
    r_with_traps: Number
    r_without_traps: Number
    bad_reference_pairs: int | None
    bad_reference_difference: Number
    bad_reference_effect: Number
    bad_reference_p: Number
    bad_reference_signed_rank_p: Number
    traps_n: int | None
    traps_pass_rate: Number
    gold_n: int | None
    gold_pass_rate: Number
    repeat_pairs: int | None
    repeat_mean_absolute_difference: Number
    verdict: str
    failed_checks: str
    excluded_at: str | None
    seconds_paid_mean: Number
    seconds_active_mean: Number
    doubted_times: int | None
    traps_passed: int | None
    gold_passed: int | None
    screens: int | None
    screen_agreement: Number
    is_unlikely: bool | None

    @property
    def failed(self) -> list[Message | str]:
        """The control items that the annotator failed, for pages."""
        found = self.failed_checks.split(", ") if self.failed_checks else []
        return [CHECKS.get(each, each) for each in found]


@dataclass(frozen=True, kw_only=True)
class Quality(WithUnits, OfCampaign):
    """The document; `with_traps` is on outputs and traps, `without_traps` on outputs alone."""

    as_of: str
    n_judgments: int
    seconds: Seconds | None
    clocks: Clocks | None
    traps: Traps | None
    trap_rates: Sequence[TrapRate]
    with_traps: Agreed | None
    without_traps: Agreed | None
    kinds: Sequence[KindMean]
    annotators: Sequence[Line]
    tested: Tested
    has_bad_references: bool
    has_repeats: bool
    has_gold: bool
    has_screens: bool
    choices: Sequence[ChoiceTable] = ()

    @property
    def has_equal_methods(self) -> bool:
        """Whether no line has intervals by another method than the line without traps."""
        with_traps, without = self.with_traps, self.without_traps
        return with_traps is None or (without is not None and with_traps.methods == without.methods)


DOCUMENT = Quality


def compute(campaign: Campaign, filters: Filters) -> Quality:
    """Return the report; without filters, annotators without judgments have a line as well."""
    report = filtered_report(campaign, filters)
    clocks, columns = report.clocks, read_judgments(campaign, filters)[0]
    return Quality(
        **about(campaign),
        **units_of(columns.clusters),
        as_of=report.as_of.isoformat(),
        n_judgments=report.n_judgments,
        seconds=Seconds.of(report.times) if report.times else None,
        clocks=Clocks(**vars(clocks)) if clocks else None,
        traps=Traps.of(report.traps) if report.traps else None,
        trap_rates=[
            TrapRate.of(each.rate, segment=each.segment, text=each.text)
            for each in report.trap_rates
        ],
        with_traps=_agreed(report.with_traps),
        without_traps=_agreed(report.without_traps),
        kinds=report.kinds,
        annotators=[_line(campaign, person) for person in report.annotators],
        tested=report.tested,
        has_bad_references=report.has_bad_references,
        has_repeats=report.has_repeats,
        has_gold=report.has_gold,
        has_screens=report.has_screens,
        choices=choices_of(campaign, columns),
        warnings=report.warnings,
    )


def _agreed(found: Agreement | None) -> Agreed | None:
    return Agreed(found.n, found.n_units, **figures_of(found)) if found else None


def _line(campaign: Campaign, person: AnnotatorQuality) -> Line:
    times, traps, control = person.times, person.traps, person.bad_references
    checks, clocks = person.checks, person.clocks
    return Line(
        campaign=campaign.slug,
        annotator=person.label,
        is_simulated=person.is_simulated,
        n=person.n,
        mean=person.mean,
        sd=person.sd,
        seconds_mean=times.mean if times else None,
        seconds_mean_cut=times.mean_cut if times else None,
        traps_zero=traps.zero if traps else None,
        traps_low=traps.low if traps else None,
        traps_high=traps.high if traps else None,
        r_with_traps=person.r_with if traps else None,
        r_without_traps=person.r_without,
        bad_reference_pairs=control.n if control else None,
        bad_reference_difference=control.mean_difference if control else None,
        bad_reference_effect=control.effect_size if control else None,
        bad_reference_p=control.pvalue if control else None,
        bad_reference_signed_rank_p=checks.signed_rank.pvalue if checks.signed_rank else None,
        traps_n=checks.traps.n if checks.traps else None,
        traps_pass_rate=checks.traps.statistic if checks.traps else None,
        gold_n=checks.gold.n if checks.gold else None,
        gold_pass_rate=checks.gold.statistic if checks.gold else None,
        repeat_pairs=checks.repeats.n if checks.repeats else None,
        repeat_mean_absolute_difference=checks.repeats.mean_absolute if checks.repeats else None,
        verdict=checks.verdict.value,
        failed_checks=", ".join(map(str, checks.failed)),
        excluded_at=person.excluded_at.isoformat() if person.excluded_at else None,
        seconds_paid_mean=clocks.paid if clocks else None,
        seconds_active_mean=clocks.active if clocks else None,
        doubted_times=clocks.doubted if clocks else None,
        traps_passed=checks.traps.passed if checks.traps else None,
        gold_passed=checks.gold.passed if checks.gold else None,
        screens=person.likely.screens if person.likely else None,
        screen_agreement=person.likely.agreement if person.likely else None,
        is_unlikely=person.likely.is_unlikely if person.likely else None,
    )
