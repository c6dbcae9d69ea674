"""Read the leading metrics of campaigns from stored documents, without computing anything."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.http import QueryDict

from annotation.filters import Filters
from annotation.models import Campaign
from dashboards.comparisons import statistics
from dashboards.correlations.document import DEFAULT
from dashboards.documents import kinds
from dashboards.documents.computing import data_of
from dashboards.documents.reasons import LABELS, Verdict
from dashboards.documents.stored import digest, unpack
from dashboards.models import Analysis
from metaeval.messages import Message

TABLE, TRUST = f"correlations:{statistics.parse(DEFAULT).key}", "trust"


@dataclass
class Leader:
    """The metric with the largest τ of a campaign's results as they were last computed.

    `verdict` is that on its judgments, `states` are those of the data behind both. There is no
    leader where the judgments do not support the numbers.
    """

    label: str = ""
    value: float | None = None
    verdict: Verdict | None = None
    states: set[str] = field(default_factory=set)

    @property
    def is_apart(self) -> bool:
        """Whether the verdict and the number use different states of the data."""
        return len(self.states) > 1

    @property
    def is_refused(self) -> bool:
        """Whether the judgments do not support any number."""
        return self.verdict == Verdict.DO_NOT_USE

    @property
    def trust(self) -> Message | None:
        """The label of the verdict."""
        return LABELS[self.verdict] if self.verdict else None


def read_leaders(campaigns: Sequence[Campaign]) -> dict[int, Leader]:
    """Return the leaders of campaigns by primary key, from stored default results. One query."""
    filters = Filters.from_query(QueryDict()).as_json()
    asked = [digest(kind, row.pk, filters) for row in campaigns for kind in (TABLE, TRUST)]
    rows = Analysis.objects.filter(question__in=asked).exclude(as_of=None)
    found: dict[int, Leader] = {}
    stored = rows.values_list("campaign_id", "kind", "payload", "basis")
    for pk, kind, payload, basis in stored:
        document = unpack(payload, kinds.load(kind).DOCUMENT)
        if pk is None or document is None:
            continue
        leader = found.setdefault(pk, Leader())
        leader.states.add(data_of(basis))
        if kind == TRUST:
            leader.verdict = document.verdict
            continue
        known = [metric for metric in document.metrics if metric.value is not None]
        if known:
            first = max(known, key=lambda metric: metric.value)
            leader.label, leader.value = first.label, first.value
    return found
