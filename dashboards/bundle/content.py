"""Read the content of a bundle from the database at one moment."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from annotation.exports.mtme import ordered, unique_names
from annotation.filters import FilterError, Filters
from annotation.filters.systems import systems_of
from annotation.models import Campaign, Reference, Segment
from annotation.quality import JudgmentColumns, read_columns
from dashboards.comparisons import selection, statistics
from dashboards.panel.choice import Choice
from dashboards.panel.human import Floats, read_ratings
from dashboards.panel.panel import Panel, floor_panel, read_panel
from dashboards.spans.found import Detector, Gold, read_detectors, read_gold
from metaeval.messages import Message, message
from metaeval.replication.bounds import Ratings
from metaeval.replication.questions import STATISTICS, Question
from metaeval.scores import FORMULAS
from metrics.scores import MeasureScores

# The choices of a bundle: filters, and the questions that pages answer under them.

DEFAULT = "tau-b"
# Parameters that an address may repeat; no key contains a blank.
REPEATED = ("statistic", "metric")


@dataclass(frozen=True)
class BundleChoice(Choice):
    """The choices of the correlation and significance pages, with their names in the address.

    `statistic` and `metric` are keys separated by blanks: several statistics, and the metrics that
    are shown (empty: all). A statistic without the chosen grouping or test uses its first one.
    """

    statistic: str = ""
    grouping: str = ""
    test: str = ""
    correction: str = "holm"
    scope: str = "table"
    metric: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.one_of("correction", *selection.CORRECTIONS)
        self.one_of("scope", *selection.SCOPES)
        self.one_of("grouping", "", *statistics.GROUPINGS)
        self.one_of("test", "", *statistics.TESTS)
        if unknown := [key for key in self.statistic.split() if key not in STATISTICS]:
            raise FilterError(
                message(
                    "filter.choice",
                    "{name} must be one of {choices}, not “{value}”.",
                    name="statistic",
                    choices=list(STATISTICS),
                    value=unknown[0],
                )
            )

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> Self:
        """Read an address's query. Raises FilterError."""
        together: dict[str, Any] = {name: query[name] for name in query}
        if hasattr(query, "getlist"):
            together |= {name: query.getlist(name) for name in ("without", "documents")}
            together |= {name: " ".join(query.getlist(name)) for name in REPEATED}
        return super().from_query(together)

    @property
    def questions(self) -> list[Question]:
        """The questions as the pages ask them, each once."""
        found = [self._question(key) for key in self.statistic.split() or [DEFAULT]]
        return list({question.key: question for question in found}.values())

    def _question(self, key: str) -> Question:
        statistic = STATISTICS[key]
        is_grouped = self.grouping in statistic.groupings
        return Question(
            statistic,
            self.grouping if is_grouped else statistic.groupings[0],
            self.test if self.test in statistic.tests else statistic.tests[0],
        )


# By metric: the formula that computes a system's score from its summed counts.
FORMULA_OF = {
    "bleu": "bleu",
    "bleu-star": "bleu-star",
    "chrf": "chrf",
    "chrf++": "chrf",
    "ter": "ter",
}


@dataclass(frozen=True, eq=False)
class Content:
    """A campaign's rows and arrays.

    `names` and `numbers` are the systems and segments in files, `every_name` the names of all
    systems by primary key, which judgments need. `lines` is the position of each segment in the
    mt-metrics-eval files, which keep documents together. `references` are texts by the primary key
    of their segment and by name. `marks` are the annotators' spans, None
    where the protocol has no spans. `excluded` are the measures that are not in the tables, with
    the reason.
    """

    campaign: Campaign
    filters: BundleChoice
    panel: Panel
    segments: Sequence[Segment]
    references: Mapping[int, Mapping[str, str]]
    names: Sequence[str]
    every_name: Mapping[int, str]
    lines: Sequence[int]
    judgments: JudgmentColumns
    excluded: dict[str, Message]
    floors: Mapping[str, Floats]
    ratings: Ratings | None
    marks: Gold | None
    detectors: Sequence[Detector]

    @cached_property
    def numbers(self) -> list[str]:
        """Segments in files: 1, 2, … in the order of the test set."""
        return [str(place + 1) for place in range(len(self.segments))]

    @cached_property
    def documents(self) -> list[str] | None:
        """The document of each segment by its first segment's number, as files name it.

        None where segments are the unit of intervals and tests.
        """
        if self.panel.human.documents is None:
            return None
        clusters = self.panel.human.matrix().clusters
        _, first = np.unique(clusters, return_index=True)
        return [self.numbers[place] for place in first[clusters].tolist()]

    @property
    def measures(self) -> Mapping[str, MeasureScores]:
        """The measures of the tables."""
        return self.panel.measures

    @property
    def given(self) -> Mapping[str, Floats]:
        """System scores by measure, where they were imported."""
        return self.panel.scored.given

    @property
    def counted(self) -> dict[str, str]:
        """Formula by measure, where a system's score is computed from summed counts."""
        return {
            key: FORMULA_OF[each.metric]
            for key, each in self.measures.items()
            if each.corpus is not None
        }


def read_content(campaign: Campaign, filters: Filters) -> Content:
    """Read a campaign; filters without choices of a bundle mean its defaults."""
    if not isinstance(filters, BundleChoice):
        filters = BundleChoice(**vars(filters))
    panel = read_panel(campaign, filters)
    excluded = _excluded(panel)
    segments, every = list(campaign.test_set.segments.order_by("position")), systems_of(campaign)
    names = dict(zip((s.pk for s in every), unique_names(every), strict=True))
    places = {segment.pk: place for place, segment in enumerate(ordered(segments))}
    panel = panel.only([key for key in panel.measures if key not in excluded])
    is_compared = bool(panel.measures) and panel.human.is_there
    return Content(
        campaign,
        filters,
        panel,
        segments,
        _references(campaign),
        [names[system.pk] for system in panel.human.systems],
        names,
        [places[segment.pk] + 1 for segment in segments],
        read_columns(campaign, with_excluded=True),
        excluded,
        {k: each.values for k, each in floor_panel(panel).measures.items()} if is_compared else {},
        read_ratings(campaign, filters, panel.human) if is_compared else None,
        read_gold(campaign, filters)[0] if campaign.judging.spans else None,
        read_detectors(campaign),
    )


def _references(campaign: Campaign) -> Mapping[int, Mapping[str, str]]:
    references: defaultdict[int, dict[str, str]] = defaultdict(dict)
    rows = Reference.objects.filter(segment__test_set=campaign.test_set).order_by("name")
    for segment, name, text in rows.values_list("segment_id", "name", "text"):
        references[segment][name] = text
    return references


def _excluded(panel: Panel) -> dict[str, Message]:
    return {
        key: message(
            "bundle.no-formula",
            "{metric} is not in the tables, because metaeval lacks the formula that computes its "
            "system score from counts.",
            metric=key,
        )
        for key, measure in panel.measures.items()
        if measure.corpus is not None and not _has_formula(measure)
    }


def _has_formula(measure: MeasureScores) -> bool:
    """Return whether metaeval computes the same system scores, to the last bit."""
    formula = FORMULAS.get(FORMULA_OF.get(measure.metric, ""))
    if formula is None or measure.statistics is None or measure.corpus is None:
        return False
    sums = np.nan_to_num(measure.statistics).sum(axis=1)
    return np.array_equal(formula(sums), measure.corpus(sums))
