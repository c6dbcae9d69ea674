"""Return how to strengthen the result, and where to do that."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from annotation.models import Campaign
from dashboards.documents.reasons import Severity
from dashboards.results.document import Home, Rival
from dashboards.trust.amount import MIN_SYSTEMS
from dashboards.trust.marks import corrected
from metaeval.messages import Message, message, plural, truncated
from metrics.base import MetricInfo

POWER, LEVEL = 0.8, 0.95
# A difference below this needs three decimals.
SMALL = 0.01
# More segments than this cannot be judged.
MOST = 100_000
# The most steps that are shown, and metrics that a step names.
STEPS, NAMES = 4, 3


@dataclass(frozen=True)
class Step:
    """A sentence, and the link to the page where it is done."""

    text: Message | None
    label: Message | None
    address: str


# The page where there is something to do without an answer, and the label of its link.
ACTIONS = {
    "unjudged": ("monitor", message("action.progress", "View progress")),
    "unusable": ("monitor", message("action.annotators", "Review annotators")),
    "distrusted": ("monitor", message("action.annotators", "Review annotators")),
    "constant": ("scatter", message("action.scores", "View scores")),
}


def action(campaign: Campaign, home: Home) -> Step | None:
    """Return the one thing to do where there is no answer; None where there is one."""
    setup = reverse("campaign-setup", args=[campaign.slug])
    if campaign.status == Campaign.Status.DRAFT:
        return Step(None, message("action.open", "Open campaign"), setup)
    if home.answer.case == "whole":
        address = reverse("results", args=[campaign.slug])
        label = message("action.over-systems", "Compare metrics over systems")
        return Step(None, label, f"{address}?statistic=systems")
    if home.answer.case not in ACTIONS:
        return None
    if home.answer.case == "unjudged" and campaign.status == Campaign.Status.CLOSED:
        return Step(None, message("action.reopen", "Reopen campaign"), setup)
    name, label = ACTIONS[home.answer.case]
    return Step(None, label, reverse(name, args=[campaign.slug]))


def steps(campaign: Campaign, home: Home, unscored: Sequence[MetricInfo]) -> list[Step]:
    """Return what to do next, the most important first."""
    # Without human scores, more metrics would not help.
    infos = [] if home.answer.case == "unusable" else unscored
    found = [
        *_score(campaign, infos, is_first=not home.metrics),
        *_advice(campaign, home),
        *_segments(campaign, home),
        *_systems(campaign, home),
    ]
    # Scoring is the least important step where there are metrics to compare.
    ordered = found if not home.metrics else [*found[1:], *found[:1]] if infos else found
    return ordered[:STEPS]


def _score(campaign: Campaign, infos: Sequence[MetricInfo], *, is_first: bool) -> list[Step]:
    if not infos:
        return []
    names = truncated([info.label for info in infos], NAMES)
    query = urlencode([("metric", info.name) for info in infos])
    address = f"{reverse('run-start', args=[campaign.test_set.slug])}?{query}"
    if is_first:
        text = message("step.no-scores", "There are no scores by {metrics} yet.", metrics=names)
    else:
        text = message("step.unscored", "These outputs have no scores by {metrics}.", metrics=names)
    return [Step(text, message("action.score", "Score"), address)]


def _advice(campaign: Campaign, home: Home) -> list[Step]:
    """Return advice on reasons of the verdict; systems and segments have their own steps."""
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
    # Without scores of outputs there are no hybrids that systems could replace.
    if not 0 < n < MIN_SYSTEMS or not home.n_judged:
        return []
    if n == 1:
        text = plural(
            "step.systems",
            "{n} more system would let you compare metrics over systems.",
            "{n} more systems would let you compare metrics over systems.",
            n=MIN_SYSTEMS - n,
        )
    else:
        text = plural(
            "step.systems-not-hybrids",
            "{n} more system would let you compare metrics over systems instead of hybrids of "
            "{known} systems.",
            "{n} more systems would let you compare metrics over systems instead of hybrids of "
            "{known} systems.",
            n=MIN_SYSTEMS - n,
            known=n,
        )
    label = message("action.add-systems", "Add systems")
    return [Step(text, label, campaign.test_set.get_absolute_url())]


def _segments(campaign: Campaign, home: Home) -> list[Step]:
    leader = next((line for line in home.metric_rows if line.value is not None), None)
    if home.rival is None or leader is None or home.answer.case not in ("group", "indistinct"):
        return []
    n = home.n_segments
    needed = segments_needed(home.rival, n)
    address = reverse("samplesize", args=[campaign.slug])
    if needed > MOST:
        text = message(
            "step.too-alike",
            "{first} and {second} are too similar to be distinguished by more segments.",
            first=leader.label,
            second=home.rival.label,
        )
        return [Step(text, message("action.sample-size", "View sample size"), address)]
    if needed <= n:
        return []
    text = planned(
        str(leader.label),
        home.rival.label,
        home.rival.difference,
        needed - n,
        corrected(home.correction),
    )
    return [Step(text, message("action.plan", "Plan"), address)]


def planned(
    first: Message | str,
    second: Message | str,
    difference: float,
    n: int,
    correction: Message,
) -> Message:
    """Return how many more segments are needed, with as few digits as the difference allows."""
    size = abs(difference)
    known: dict[str, Any] = {
        "first": first,
        "second": second,
        "difference": size,
        "correction": correction,
    }
    if size < SMALL:
        return plural(
            "step.segments-small",
            "If {first} and {second} differ by {difference:r3} as observed here, about {n} more "
            "segment is needed to distinguish them with 80% power ({correction}, as for ranks).",
            "If {first} and {second} differ by {difference:r3} as observed here, about {n} more "
            "segments are needed to distinguish them with 80% power ({correction}, as for ranks).",
            n=roughly(n),
            **known,
        )
    return plural(
        "step.segments",
        "If {first} and {second} differ by {difference:r} as observed here, about {n} more segment "
        "is needed to distinguish them with 80% power ({correction}, as for ranks).",
        "If {first} and {second} differ by {difference:r} as observed here, about {n} more "
        "segments are needed to distinguish them with 80% power ({correction}, as for ranks).",
        n=roughly(n),
        **known,
    )


def roughly(n: int) -> int:
    """Return a count with two significant digits: 5,767 is 5,800."""
    return round(n, min(0, 2 - len(str(n))))


def segments_needed(rival: Rival, n_segments: int) -> int:
    """Return the number of segments with which 8 of 10 studies find the observed difference.

    Uses the normal approximation of a one-sided test at the rival's level. The standard error,
    taken from the interval, decreases with the root of the number of segments.
    """
    normal = NormalDist()
    error = (rival.high - rival.low) / (2 * normal.inv_cdf((1 + LEVEL) / 2))
    if not rival.difference:
        return MOST + 1
    reach = (
        (normal.inv_cdf(1 - rival.level) + normal.inv_cdf(POWER)) * error / abs(rival.difference)
    )
    return math.ceil(n_segments * reach**2)
