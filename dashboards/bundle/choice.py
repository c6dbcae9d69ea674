"""The choices of a bundle: filters, and the questions that pages answer under them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from annotation.filters import FilterError
from dashboards.comparisons import selection, statistics
from dashboards.panel.choice import Choice
from metaeval.messages import message
from metaeval.replication.questions import STATISTICS, Question

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
