"""The same systems at two lengths, each judged in a campaign of its own."""

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

VERSION = 3
OTHER_QUESTIONS = (
    "The two campaigns ask different questions, so what humans take off is between answers to "
    "different questions."
)
OTHER_PEOPLE = (
    "{n_both} of {n_annotators} annotators are known to have judged in both campaigns: a group "
    "that rates more severely than the other adds to what humans take off, and the intervals, "
    "over segments, do not know of it. Losses of measures are not touched by it."
)
UNKNOWN_PEOPLE = (
    "Who judged in both campaigns is not known, so severity may differ between them; the "
    "intervals, over segments, do not know of it."
)


@dataclass(frozen=True)
class AcrossChoice(Choice):
    """`shorter` is the campaign of the shorter forms, by its slug."""

    shorter: str = ""


FILTERS = AcrossChoice


@dataclass(frozen=True, kw_only=True)
class AcrossForms(WithUnits, OfCampaign):
    """Longer forms of one campaign beside the shorter ones of another, over one test set.

    `n_annotators` judged in either of them, `n_both`, known by their accounts, in both.
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
    """Return the other campaign, on whose judgments the numbers rest too. Raises FilterError."""
    if not isinstance(filters, AcrossChoice):
        return []
    rows = Campaign.objects.filter(test_set=campaign.test_set).exclude(pk=campaign.pk)
    if not (found := rows.filter(slug=filters.shorter).first()):
        raise FilterError(f"shorter: no other campaign {filters.shorter!r} over this test set")
    return [found]


def compute(campaign: Campaign, filters: Filters) -> AcrossForms:
    """Return the losses from raw scores: z-scores of each campaign have a mean of 0 in it."""
    (shorter,) = others(campaign, filters)
    raw = replace(general(filters), scores=RAW)
    pair = (campaign, shorter)
    long, short = (read_panel(each, fitted(each, pair, raw)) for each in pair)
    names = _names(long, short)
    rows, notes = _losses(long, short, names, campaign.seed)
    n_annotators, n_both = _people(pair)
    told = [*long.human.warnings, *short.human.warnings, *_cautions(pair, n_annotators, n_both)]
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
        warnings=list(dict.fromkeys([*told, *notes])),
    )


def _names(long: Panel, short: Panel) -> list[str]:
    """Systems that stand in both campaigns, in the second at a smaller length."""
    shorter = {each.name: each.length_ratio for each in short.human.systems}
    systems = long.human.systems
    return [s.name for s in systems if shorter.get(s.name, s.length_ratio) < s.length_ratio]


def _losses(
    long: Panel, short: Panel, names: Sequence[str], seed: int
) -> tuple[list[Forms], list[str]]:
    return loss_rows(_only(long, names), _only(short, names), seed) if names else ([], [])


def _only(panel: Panel, names: Sequence[str]) -> Side:
    place = {each.name: n for n, each in enumerate(panel.human.systems)}
    return side_of(panel, [place[name] for name in names])


def _people(pair: Sequence[Campaign]) -> tuple[int, int]:
    """How many people judged in either campaign and in both; who has no account is one each."""
    judged = [key for each in pair for key in np.unique(read_judgments(each, ALL)[0].annotator)]
    rows = Annotator.objects.filter(pk__in=map(int, judged)).values_list("user", "pk")
    people = Counter(("user", user) if user else ("only", pk) for user, pk in rows)
    return len(people), sum(n > 1 for n in people.values())


def _cautions(pair: Sequence[Campaign], n_annotators: int, n_both: int) -> list[str]:
    said = [OTHER_QUESTIONS] if pair[0].question_text != pair[1].question_text else []
    if not n_annotators:
        return [*said, UNKNOWN_PEOPLE]
    if n_both < n_annotators:
        said.append(OTHER_PEOPLE.format(n_both=n_both, n_annotators=n_annotators))
    return said
