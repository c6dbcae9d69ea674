"""Collect the documents behind a paper: of one state of each campaign, or not at all."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from django.http.request import QueryDict

from annotation.filters import FilterError
from annotation.filters.chosen import fitted
from annotation.models import Campaign
from dashboards.comparisons.selection import no_scores
from dashboards.comparisons.statistics import from_query, not_one_of
from dashboards.documents import kinds, results
from dashboards.documents.reasons import CampaignTrust, StudyTrust
from dashboards.papers.averages import direction_name
from dashboards.published import published
from dashboards.trust.marks import forbidden
from dashboards.trust.shown import worst_of
from extensions.layers.document import has_layers
from extensions.paper.choices import HYBRIDS, Choices
from metaeval.messages import Message
from metrics.scores import measure_keys

LAYERS = {"system": "limit", "segment": "kendall"}


@dataclass(frozen=True, kw_only=True)
class Paper:
    """The documents of a study: `found` has those of each part, one per campaign in their order.

    `parts` are named `quality`, `system`, `segment`, `standings`, `zou`, `perm`, and where
    encoders have layers `layers-system` and `layers-segment`.
    """

    study: str
    choices: Choices
    campaigns: Sequence[Campaign]
    found: Mapping[str, Sequence[Any]]
    trusts: Sequence[CampaignTrust]
    trust: StudyTrust | None

    def of(self, part: str) -> Sequence[Any]:
        """Return the documents of a part; none where the study has no such part."""
        return self.found.get(part, ())

    def refused(self, place: int) -> Message | None:
        """Return why nothing of a campaign may be marked or bold; None where it may."""
        return forbidden(self.trusts[place])

    def in_order(self, order: Sequence[str]) -> list[int]:
        """Return the positions of the campaigns, by language pairs in this order, then as usual."""
        known = [each.test_set.direction for each in self.campaigns]
        wanted = [*order, *(each for each in known if each not in order)]
        return sorted(range(len(known)), key=lambda place: wanted.index(known[place]))

    @property
    def directions(self) -> list[tuple[str, list[int]]]:
        """The language pairs in the chosen order, each with the positions of its campaigns."""
        found: dict[str, list[int]] = {}
        for place in self.in_order(self.choices.order):
            found.setdefault(self.campaigns[place].test_set.direction, []).append(place)
        return [(direction_name(key), places) for key, places in found.items()]


def gather(study: str, campaigns: Sequence[Campaign], query: QueryDict) -> results.Result[Paper]:
    """Return the documents of a study, requesting those that are missing. Raises FilterError.

    The result is whole where all exist, and of one state where those of each campaign use the same
    data.
    """
    choices = Choices.from_query(query)
    _check(choices, campaigns)
    parts = _parts(campaigns, choices)
    found: dict[str, list[results.Result[Any]]] = {
        part: [_latest(kind, each, campaigns, query) for each in campaigns]
        for part, kind in parts.items()
    }
    every = [result for of_part in found.values() for result in of_part]
    states = [{own[place].data for own in found.values()} for place in range(len(campaigns))]

    def combined(_: object) -> Paper:
        documents = {part: [each.document for each in own] for part, own in found.items()}
        trusts: list[Any] = documents.pop("trust")
        return Paper(
            study=study,
            choices=choices,
            campaigns=campaigns,
            found=documents,
            trusts=trusts,
            trust=worst_of(trusts),
        )

    whole = results.together(every, combined)
    return replace(whole, is_of_one_state=all(len(own) == 1 for own in states))


def _check(choices: Choices, campaigns: Sequence[Campaign]) -> None:
    """Raise FilterError for a language pair or a metric that the study does not have."""
    pairs = list(dict.fromkeys(each.test_set.direction for each in campaigns))
    for name in ("order", "layer_order"):
        for pair in getattr(choices, name):
            if pair not in pairs:
                raise not_one_of(name, pair, pairs)
    keys = {key for each in campaigns for key in measure_keys(each.test_set)}
    if strangers := set(choices.table9) - keys:
        raise FilterError(no_scores("table9", min(strangers)))


def _parts(campaigns: Sequence[Campaign], choices: Choices) -> dict[str, str]:
    """Return the analysis of each part, with its question."""
    parts = {
        "trust": "trust",
        "quality": "quality",
        "system": f"correlations:{_question(choices.level)}",
        "segment": f"correlations:{_question('tau-b')}",
        "standings": "standings",
        "zou": f"significance:{_question(HYBRIDS, 'zou')}",
        "perm": f"significance:{_question('tau-b', 'perm')}",
    }
    if any(map(has_layers, campaigns)):
        parts |= {f"layers-{level}": f"layers:{name}" for level, name in LAYERS.items()}
    return parts


def _question(statistic: str, test: str = "") -> str:
    return from_query(QueryDict(f"statistic={statistic}&test={test}"), statistic).key


def _latest(
    kind: str, campaign: Campaign, campaigns: Sequence[Campaign], query: QueryDict
) -> results.Result[Any]:
    filters = kinds.filters_of(kind).from_query(query)
    return results.latest(kind, campaign, fitted(campaign, campaigns, filters))


# The numbers of the tables of layers; further encoders get the numbers after `LAST_TABLE`.
ENCODERS = {
    "bert-base-multilingual-cased": 11,
    "bart-large-mnli": 12,
    "deberta-xlarge-mnli": 13,
    "roberta-large-mnli": 14,
}
LAST_TABLE = 14
# The metrics of table 9 by our keys, as it names them.
STANDING = {"bleurt-20": "BLEURT", "wmt20-comet-da": "wmt20-comet-da"}
# Headings of tables 6 and 7, in their order, with the names of their metrics; others have none.
GROUPS = {
    "ROUGE": re.compile(r"rouge", re.IGNORECASE),
    "COMET": re.compile(r".*comet", re.IGNORECASE),
    "BERTScore": re.compile(r"bertscore|(m?bert|bart|x?l?m?-?roberta|deberta)-", re.IGNORECASE),
}
# A metric of whole systems: its segments are no scores of their own.
OF_SYSTEMS = frozenset({"bleu-star", "BLEU*"})
_COLUMN = "cheng2023/en-zh-80"


def encoder_name(encoder: object) -> str:
    """Return the name of an encoder in the tables: the last part of its checkpoint."""
    return str(getattr(encoder, "checkpoint", encoder)).rsplit("/", 1)[-1]


def group_of(name: str) -> str:
    """Return the heading above a metric; empty for one without."""
    return next((each for each, pattern in GROUPS.items() if pattern.match(name)), "")


@cache
def names(statistic: str) -> dict[str, str]:
    """Return the names of the rows of table 6 (`r_hybrid`) or 7 (`tau`) by our keys, in order."""
    column = published()[_COLUMN]
    return {key: column.measures[key] for found, key in column.values if found == statistic}


def place_of(name: str, order: Mapping[str, object] | Iterable[str]) -> int:
    """Return the place of a name in an order; names that it lacks come last."""
    known = list(order)
    return known.index(name) if name in known else len(known)
