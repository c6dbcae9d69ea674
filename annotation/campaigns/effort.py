"""What a design takes and can detect before anybody has rated: hours and the least difference.

Times and variances come from published data, with their sources, or from this site's own judgments.
`static/js/campaign-cost.js` computes the same when the numbers of the form change.
"""

from dataclasses import dataclass
from math import ceil, sqrt
from statistics import NormalDist

from django.db.models import Avg, Count

from annotation.models import Campaign, Judgment, Output, TestSet
from annotation.protocols import Protocol
from annotation.protocols.published import PACES, Pace
from metaeval.messages import Message, message, plural

# A two-sided test of one pair of systems at .05, with 80% power.
LEVEL, POWER = 0.05, 0.8
# How many of this site's judgments a mean time needs, and how many of the newest are read.
ENOUGH, NEWEST = 100, 20_000


@dataclass(frozen=True)
class Spread:
    """Variances of one judgment: of a system's outputs over segments, and of the annotators."""

    output: float
    residual: float
    unit: Message
    source: Message


SCORES = Spread(
    98.3,
    219.2,
    message("spread.points", "points of 100"),
    message("spread.esa", "ESA of WMT23 en–de, 4,968 judgments in two rounds"),
)
# With one judgment per output the variance of annotators is unknown; it is included in `output`.
MQM = Spread(
    59.9,
    0.0,
    message("spread.penalty-points", "penalty points"),
    message("spread.mqm", "MQM of WMT23 en–de, 5,520 judgments in one round"),
)


def spread_of(protocol: Protocol) -> Spread | None:
    """Return the assumed variances of a protocol's judgments; None for a campaign's own scales."""
    if protocol.has_score:
        return SCORES if protocol.has_usual_score else None
    return MQM if protocol.spans else None


def paces() -> dict[str, Pace]:
    """Return the known time of each protocol, this site's if there is one (one query)."""
    newest = Judgment.objects.filter(paid_ms__isnull=False).order_by("-pk")[:NEWEST]
    rows = Judgment.objects.filter(pk__in=newest.values("pk"), is_current=True)
    rows = rows.filter(assignment__annotator__is_simulated=False)
    name = "assignment__item__campaign__protocol"
    found = rows.values_list(name).annotate(n=Count("pk"), mean=Avg("paid_ms")).order_by()
    own = {
        protocol: Pace(
            mean / 1000,
            mean / 1000,
            message("pace.own", "mean of {n} judgments on this site", n=n),
        )
        for protocol, n, mean in found
        if n >= ENOUGH
    }
    return PACES | own


def least_difference(spread: Spread, *, n_segments: int, annotators: int) -> float | None:
    """Return the difference of two systems' means that is detected with probability .8.

    For a t-test at .05, paired over segments, on z-scores, which remove annotators' habits:
    (t_.975 + t_.8) · √((2 output + 2 residual / annotators) / n). None below 5 segments, where the
    approximation does not hold.
    """
    if n_segments < 5 or annotators < 1:
        return None
    sd = sqrt(2 * spread.output + 2 * spread.residual / annotators)
    freedom = float(n_segments - 1)
    t = sum(term / freedom**power for terms in QUANTILES for power, term in enumerate(terms))
    return float(t * sd / sqrt(n_segments))


def expansion(share: float) -> tuple[float, float, float, float]:
    """Return the terms of a quantile of Student's t, to be divided by 1, ν, ν², ν³.

    Abramowitz and Stegun (1964), 26.7.5.
    """
    z = NormalDist().inv_cdf(share)
    return (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )


QUANTILES = (expansion(1 - LEVEL / 2), expansion(POWER))


def outputs_of(test_set: TestSet) -> dict[str, dict[str, int]]:
    """Return how many outputs each system has, by length ratio (one query)."""
    rows = Output.objects.filter(system__test_set=test_set).order_by()
    found: dict[str, dict[str, int]] = {}
    counted = rows.values_list("system__length_ratio", "system__name").annotate(n=Count("pk"))
    for ratio, name, n in counted:
        found.setdefault(str(ratio), {})[name] = n
    return found


def describe_effort(campaign: Campaign) -> list[tuple[Message, Message]]:
    """Return what a campaign takes and can detect, as names and values."""
    of_system = campaign.outputs.order_by().values_list("system").annotate(n=Count("pk"))
    counted = dict(of_system)
    counts = [counted.get(pk, 0) for pk in campaign.systems.values_list("pk", flat=True)]
    annotators = campaign.annotators_per_item
    n = annotators * (sum(counts) + controls(campaign))
    if not n:
        return []
    pace, spread = paces().get(campaign.protocol), spread_of(campaign.judging)
    least = (
        least_difference(spread, n_segments=min(counts), annotators=annotators) if spread else None
    )
    if pace is None:
        return [(TIME, UNKNOWN), *_detectable(spread, least, len(counts))]
    hours = n * pace.low / 3600, n * pace.high / 3600
    lines = [(TIME, _time(*hours, pace.source))]
    if campaign.hourly_rate is not None:
        rate = float(campaign.hourly_rate)
        costs = message(
            "effort.costs",
            "{costs} {currency} at {rate} per hour",
            costs=_range(*(each * rate for each in hours)),
            currency=campaign.currency,
            rate=str(campaign.hourly_rate),
        )
        lines.append((COST, costs))
    return [*lines, *_detectable(spread, least, len(counts))]


TIME = message("effort.time", "Estimated time")
COST = message("effort.cost", "Estimated pay")
DIFFERENCE = message("effort.difference", "Detectable difference between two systems")
UNKNOWN = message("effort.unknown", "not known")


def _time(low: float, high: float, source: Message) -> Message:
    """Return an estimate in hours, or in minutes if it is shorter than an hour."""
    if high < 1.0:
        minutes = _range(60 * low, 60 * high)
        return message("effort.minutes", "{minutes} min ({source})", minutes=minutes, source=source)
    hours = _range(low, high)
    return plural(
        "effort.hours",
        "{hours} hour ({source})",
        "{hours} hours ({source})",
        n=1 if hours == 1 else max(2, ceil(high)),
        hours=hours,
        source=source,
    )


def _detectable(
    spread: Spread | None, least: float | None, n_systems: int
) -> list[tuple[Message, Message]]:
    if not spread or not least or n_systems < 2:
        return []
    found = message(
        "effort.detectable",
        "{difference:.2g} {unit} ({source})",
        difference=least,
        unit=spread.unit,
        source=spread.source,
    )
    return [(DIFFERENCE, found)]


def controls(campaign: Campaign) -> int:
    """Return how many control items each annotator gets in addition."""
    return (
        campaign.traps_per_annotator
        + campaign.bad_references_per_annotator
        + campaign.repeats_per_annotator
        + campaign.references_per_annotator
    )


def _range(low: float, high: float) -> Message | float:
    """Return a range with two significant digits; a single number if both ends are equal."""
    ends = [float(f"{value:.2g}") for value in (low, high)]
    if ends[0] == ends[1]:
        return ends[0]
    return message("effort.range", "{low}–{high}", low=ends[0], high=ends[1])
