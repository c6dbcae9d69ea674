"""What a design takes and can tell, before anybody has rated: hours, and the least difference.

Times and spreads are of published data, the source beside each, or of this site's own judgments.
`static/js/campaign-cost.js` computes the same as the numbers change.
"""

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

from django.db.models import Avg, Count

from annotation.models import Campaign, Judgment, Output, TestSet
from annotation.protocols import Protocol
from annotation.protocols.published import PACES, Pace

# A two-sided test of one pair of systems at .05 that finds the difference in four cases of five.
LEVEL, POWER = 0.05, 0.8
# So many judgments of this site are enough to go by, of the newest.
ENOUGH, NEWEST = 100, 20_000


@dataclass(frozen=True)
class Spread:
    """Variances of one judgment: what a system does on one segment, and all that people add."""

    output: float
    residual: float
    unit: str
    source: str


SCORES = Spread(98.3, 219.2, "points of 100", "ESA of WMT23 en–de, 4,968 judgments in two rounds")
# One judgment an output: what people add cannot be told apart, so more people gain nothing here.
MQM = Spread(59.9, 0.0, "penalty points", "MQM of WMT23 en–de, 5,520 judgments in one round")


def spread_of(protocol: Protocol) -> Spread | None:
    """Return what judgments of a protocol are taken to vary by; None on scales of its own."""
    if protocol.has_score:
        return SCORES if protocol.has_usual_score else None
    return MQM if protocol.spans else None


def paces() -> dict[str, Pace]:
    """Return what is known of each protocol's time (one query); this site's own comes first."""
    newest = Judgment.objects.filter(paid_ms__isnull=False).order_by("-pk")[:NEWEST]
    rows = Judgment.objects.filter(pk__in=newest.values("pk"), is_current=True)
    rows = rows.filter(assignment__annotator__is_simulated=False)
    name = "assignment__item__campaign__protocol"
    found = rows.values_list(name).annotate(n=Count("pk"), mean=Avg("paid_ms")).order_by()
    own = {
        protocol: Pace(mean / 1000, mean / 1000, f"mean of {n:,} judgments on this site")
        for protocol, n, mean in found
        if n >= ENOUGH
    }
    return PACES | own


def least_difference(spread: Spread, *, n_segments: int, raters: int) -> float | None:
    """Return the difference of two systems' means that is found with probability .8.

    Paired over segments, t-test at .05, people's habits taken out by z-scores: (t_.975 + t_.8) ·
    √((2 output + 2 residual / raters) / n). None below 5 segments, where that is no approximation.
    """
    if n_segments < 5 or raters < 1:
        return None
    sd = sqrt(2 * spread.output + 2 * spread.residual / raters)
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


def describe_effort(campaign: Campaign) -> list[tuple[str, str]]:
    """Return what a campaign takes and can tell, as names and values."""
    of_length = outputs_of(campaign.test_set).get(str(campaign.length_ratio), {})
    counts = [of_length.get(name, 0) for name in campaign.systems.values_list("name", flat=True)]
    raters = campaign.annotators_per_item
    n = raters * (sum(counts) + controls(campaign))
    if not n:
        return []
    pace, spread = paces().get(campaign.protocol), spread_of(campaign.judging)
    least = spread and least_difference(spread, n_segments=min(counts), raters=raters)
    time = "not known"
    if pace:
        hours = _range(n * pace.low / 3600, n * pace.high / 3600)
        time = " · ".join((f"{hours} hours", pace.source))
    lines = [("Time it takes", time)]
    if pace and campaign.hourly_rate is not None:
        rate = float(campaign.hourly_rate)
        costs = _range(n * pace.low / 3600 * rate, n * pace.high / 3600 * rate)
        paid = f"{costs} {campaign.currency}, at {campaign.hourly_rate} an hour"
        lines.append(("Pay for it", paid))
    if spread and least and len(counts) > 1:
        told = (f"{least:.2g}", spread.unit, spread.source)
        lines.append(("Tells systems apart from", " · ".join(told)))
    return lines


def controls(campaign: Campaign) -> int:
    """Return how many control items each annotator gets besides."""
    return (
        campaign.traps_per_annotator
        + campaign.bad_references_per_annotator
        + campaign.repeats_per_annotator
        + campaign.references_per_annotator
    )


def _range(low: float, high: float) -> str:
    ends = list(dict.fromkeys(f"{value:.2g}" for value in (low, high)))
    return "–".join(f"{float(end):,g}" for end in ends)
