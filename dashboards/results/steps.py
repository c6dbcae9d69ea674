"""What would make the answer surer, and where that is done."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from urllib.parse import urlencode

from django.urls import reverse

from annotation.models import Campaign
from core.text import pluralize
from dashboards.documents.reasons import Severity
from dashboards.results.document import Home, Rival
from dashboards.trust.amount import MIN_SYSTEMS
from metrics.base import MetricInfo

POWER, LEVEL = 0.8, 0.95
# More segments than these nobody judges.
MOST = 100_000
# So many steps are shown, so many metrics named in one.
STEPS, NAMES = 4, 3


@dataclass(frozen=True)
class Step:
    """One sentence, and the link that does it."""

    text: str
    label: str
    address: str


# What there is to do where there is no answer: where, by the name of its address, and in words.
ACTIONS = {
    "unjudged": ("monitor", "See who is at work"),
    "unusable": ("quality", "Look at the annotators"),
    "distrusted": ("quality", "Look at the annotators"),
    "constant": ("scatter", "Look at the scores"),
}


def action(campaign: Campaign, home: Home) -> Step | None:
    """Return the one thing to do where there is no answer; None where there is one."""
    if campaign.status == Campaign.Status.DRAFT:
        return Step("", "Open the campaign", reverse("campaign-setup", args=[campaign.slug]))
    if home.answer.case == "whole":
        address = reverse("results", args=[campaign.slug])
        return Step("", "Compare them over systems", f"{address}?statistic=systems")
    if home.answer.case not in ACTIONS:
        return None
    if home.answer.case == "unjudged" and campaign.status == Campaign.Status.CLOSED:
        return Step("", "Open it again", reverse("campaign-setup", args=[campaign.slug]))
    name, label = ACTIONS[home.answer.case]
    return Step("", label, reverse(name, args=[campaign.slug]))


def steps(campaign: Campaign, home: Home, unscored: Sequence[MetricInfo]) -> list[Step]:
    """Return what to do next, the gravest first."""
    # Where the ratings give no score, there is nothing that more metrics could be compared with.
    infos = [] if home.answer.case == "unusable" else unscored
    found = [
        *_score(campaign, infos, is_first=not home.metrics),
        *_advice(campaign, home),
        *_segments(campaign, home),
        *_systems(campaign, home),
    ]
    # Scoring is the least of it where there are metrics to compare.
    ordered = found if not home.metrics else [*found[1:], *found[:1]] if infos else found
    return ordered[:STEPS]


def _score(campaign: Campaign, infos: Sequence[MetricInfo], *, is_first: bool) -> list[Step]:
    if not infos:
        return []
    names = ", ".join(info.label for info in infos[:NAMES])
    if (more := len(infos) - NAMES) > 0:
        rest = pluralize(more, "more metric")
        names = f"{names} and {rest}"
    query = urlencode([("metric", info.name) for info in infos])
    address = f"{reverse('run-start', args=[campaign.test_set.slug])}?{query}"
    said = f"No scores yet by {names}." if is_first else f"No scores of these outputs by {names}."
    return [Step(said, "Score", address)]


def _advice(campaign: Campaign, home: Home) -> list[Step]:
    """What to do about that which limits trust; systems and segments have steps of their own."""
    if home.trust is None:
        return []
    return [
        Step(reason.advice, reason.tab, reverse(reason.page, args=[campaign.slug]))
        for reason in home.trust.reasons
        if reason.severity != Severity.NOTE
        and reason.code not in ("few_systems", "few_segments", "simulated")
    ]


def _systems(campaign: Campaign, home: Home) -> list[Step]:
    n = home.trust.n_systems if home.trust else 0
    # Without scores of outputs there are no hybrids that systems could take the place of.
    if not 0 < n < MIN_SYSTEMS or not home.n_judged:
        return []
    missing = pluralize(MIN_SYSTEMS - n, "more system")
    said = f"{missing} would let metrics be compared over systems, not hybrids of {n}."
    if n == 1:
        said = f"{missing} would let metrics be compared over systems."
    return [Step(said, "Add systems", campaign.test_set.get_absolute_url())]


def _segments(campaign: Campaign, home: Home) -> list[Step]:
    leader = next((line for line in home.metric_rows if line.value is not None), None)
    if home.rival is None or leader is None or home.answer.case not in ("group", "indistinct"):
        return []
    n = home.n_segments
    needed = segments_needed(home.rival, n)
    plan = reverse("samplesize", args=[campaign.slug])
    one, other = leader.label, home.rival.label
    if needed > MOST:
        said = f"{one} and {other} are too alike to be told apart by more segments."
        return [Step(said, "See", plan)]
    if needed <= n:
        return []
    is_corrected = home.correction != "none"
    corrected = f"{home.correction_label}’s correction" if is_corrected else "no correction"
    return [Step(planned(one, other, home.rival.difference, needed - n, corrected), "Plan", plan)]


def planned(one: str, other: str, difference: float, n: int, corrected: str) -> str:
    """What more segments would do, in as few digits as the difference that it is reckoned from."""
    more = pluralize(roughly(n), "more segment")
    return (
        f"If {one} and {other} differ by the {small(abs(difference))} seen here, about {more} "
        f"would tell them apart with power .8, with {corrected}, as ranks are."
    )


def roughly(n: int) -> int:
    """A count with two significant digits: 5,767 is 5,800."""
    return round(n, min(0, 2 - len(str(n))))


def small(difference: float) -> str:
    """A difference with two places, or with as many as show its first digit: .01, .003."""
    places = max(2, -math.floor(math.log10(difference)))
    return f"{difference:.{places}f}".removeprefix("0")


def segments_needed(rival: Rival, n_segments: int) -> int:
    """Return how many segments find the difference that there is in 8 of 10 studies.

    By the normal approximation for a one-sided test at the rival's level; the standard error, which
    is that of the interval, shrinks with the root of the number of segments.
    """
    normal = NormalDist()
    error = (rival.high - rival.low) / (2 * normal.inv_cdf((1 + LEVEL) / 2))
    if not rival.difference:
        return MOST + 1
    reach = (
        (normal.inv_cdf(1 - rival.level) + normal.inv_cdf(POWER)) * error / abs(rival.difference)
    )
    return math.ceil(n_segments * reach**2)
