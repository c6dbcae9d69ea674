"""Compare the same systems at two length ratios that were judged in different campaigns."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotation.filters import RAW, FilterError, Filters
from annotation.filters.chosen import fitted, read_judgments
from annotation.models import Annotator, Campaign
from dashboards.documents.head import OfCampaign, WithUnits, about, units_of
from dashboards.panel.choice import Choice, general
from dashboards.panel.human import ALL
from dashboards.panel.panel import Panel, read_panel
from extensions.shortness.losses import N_RESAMPLES, Forms, Side, loss_rows, side_of
from metaeval.messages import Message, message

VERSION = 4
OTHER_QUESTIONS = message(
    "forms.other-questions",
    "The two campaigns ask different questions, so the humans’ losses compare judgments of "
    "different questions.",
)
UNKNOWN_ANNOTATORS = message(
    "forms.unknown-annotators",
    "It is not known which annotators judged in both campaigns, so severity may differ between "
    "them. The intervals are over segments and do not cover this.",
)


@dataclass(frozen=True)
class AcrossChoice(Choice):
    """`shorter` is the campaign of the shorter forms, by its slug."""

    shorter: str = ""


FILTERS = AcrossChoice


@dataclass(frozen=True, kw_only=True)
class AcrossForms(WithUnits, OfCampaign):
    """Longer forms of one campaign and shorter forms of another, over the same test set.

    `n_annotators` judged in at least one of them, and `n_both` (identified by accounts) in both.
    """

    shorter: str
    shorter_name: str
    systems: Sequence[str]
    n_annotators: int
    n_both: int
    n_resamples: int = N_RESAMPLES
    seed: int
    rows: Sequence[Forms]


DOCUMENT = AcrossForms


def others(campaign: Campaign, filters: Filters) -> list[Campaign]:
    """Return the other campaign, whose judgments are also used. Raises FilterError."""
    if not isinstance(filters, AcrossChoice):
        return []
    rows = Campaign.objects.filter(test_set=campaign.test_set).exclude(pk=campaign.pk)
    if not (found := rows.filter(slug=filters.shorter).first()):
        raise FilterError(
            message(
                "forms.no-campaign",
                "shorter: this test set has no other campaign “{campaign}”.",
                campaign=filters.shorter,
            )
        )
    return [found]


def compute(campaign: Campaign, filters: Filters) -> AcrossForms:
    """Return the losses from raw scores, because z-scores of each campaign have a mean of 0."""
    (shorter,) = others(campaign, filters)
    raw = replace(general(filters), scores=RAW)
    pair = (campaign, shorter)
    long, short = (read_panel(each, fitted(each, pair, raw)) for each in pair)
    names = _names(long, short)
    rows, notes = _losses(long, short, names, campaign.seed)
    n_annotators, n_both = _people(pair)
    warnings = [*long.human.warnings, *short.human.warnings, *_cautions(pair, n_annotators, n_both)]
    return AcrossForms(
        **about(campaign),
        **units_of(long.human.clusters),
        shorter=shorter.slug,
        shorter_name=shorter.name,
        systems=names,
        n_annotators=n_annotators,
        n_both=n_both,
        seed=campaign.seed,
        rows=rows,
        warnings=list(dict.fromkeys([*warnings, *notes])),
    )


def _names(long: Panel, short: Panel) -> list[str]:
    """Return the systems of both campaigns that have a smaller length ratio in the second."""
    shorter = {each.name: each.length_ratio for each in short.human.systems}
    systems = long.human.systems
    return [s.name for s in systems if shorter.get(s.name, s.length_ratio) < s.length_ratio]


def _losses(
    long: Panel, short: Panel, names: Sequence[str], seed: int
) -> tuple[list[Forms], list[Message]]:
    return loss_rows(_only(long, names), _only(short, names), seed) if names else ([], [])


def _only(panel: Panel, names: Sequence[str]) -> Side:
    place = {each.name: n for n, each in enumerate(panel.human.systems)}
    return side_of(panel, [place[name] for name in names])


def _people(pair: Sequence[Campaign]) -> tuple[int, int]:
    """Return how many annotators judged in either campaign, and in both.

    Annotators without an account count once per campaign.
    """
    judged = [key for each in pair for key in np.unique(read_judgments(each, ALL)[0].annotator)]
    rows = Annotator.objects.filter(pk__in=map(int, judged)).values_list("user", "pk")
    people = Counter(("user", user) if user else ("only", pk) for user, pk in rows)
    return len(people), sum(n > 1 for n in people.values())


def _cautions(pair: Sequence[Campaign], n_annotators: int, n_both: int) -> list[Message]:
    found = [OTHER_QUESTIONS] if pair[0].question_text != pair[1].question_text else []
    if not n_annotators:
        return [*found, UNKNOWN_ANNOTATORS]
    if n_both < n_annotators:
        found.append(
            message(
                "forms.other-annotators",
                "Only {both} of {annotators} annotators are known to have judged in both "
                "campaigns. If one group is more severe than the other, this changes the humans’ "
                "losses, and the intervals, which are over segments, do not cover it. Losses of "
                "measures are not affected.",
                both=n_both,
                annotators=n_annotators,
            )
        )
    return found
