"""Check and store drafts of evaluations: one language pair, all of it or nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from annotation import uploads
from annotation.imports import CampaignDraft, CampaignImport, store_campaign
from annotation.imports.sameness import find_same
from annotation.models import Campaign, TestSet
from annotation.uploads import Changes, TestSetDraft
from annotation.uploads.problems import Place, Report
from core.messages import messages_of
from metaeval.messages import Message, message, truncated
from metrics.imported.held import MetricScores, Part, names_of
from metrics.imported.naming import check_name
from metrics.imported.storing import Draft, Outcome, resolve, store_all

# Hold a published set of one language pair before it is stored.


@dataclass(frozen=True)
class MetricDraft:
    """Scores of one metric that were computed elsewhere.

    `outputs` maps a system to its scores, one for each of `keys`, the keys of segments; nan where
    there is none. `systems` are the scores of whole systems, where the metric has its own, and
    `parts` those of documents and domains by system. `note` is stored after the provenance.
    """

    name: str
    keys: Sequence[str] = ()
    outputs: Mapping[str, Sequence[float]] = field(default_factory=dict)
    systems: Mapping[str, float] = field(default_factory=dict)
    parts: Mapping[tuple[str, Part], float] = field(default_factory=dict)
    higher_is_better: bool = True
    note: Message | None = None

    @property
    def segment_scores(self) -> dict[tuple[str, str], float]:
        """(system, segment key) -> score, of the outputs that have one."""
        return {
            (system, key): float(score)
            for system, scores in self.outputs.items()
            for key, score in zip(self.keys, scores, strict=True)
            if score == score
        }


@dataclass(frozen=True)
class EvaluationDraft:
    """A test set with its human scores, a campaign each, and its metrics.

    `provenance` is the origin of the metrics' scores.
    """

    test_set: TestSetDraft
    campaigns: Sequence[CampaignDraft] = ()
    metrics: Sequence[MetricDraft] = ()
    provenance: Message | str = ""


@dataclass(frozen=True)
class Stored:
    """The result of storing a draft."""

    test_set: TestSet
    changes: Changes
    campaigns: Sequence[CampaignImport]
    metrics: Sequence[Outcome]


def examine(draft: EvaluationDraft, report: Report, *, user: Any = None) -> None:
    """Check a draft on its own and against stored rows; all violations go to the report."""
    uploads.examine(draft.test_set, report, user=user)
    slugs = [campaign.slug for campaign in draft.campaigns]
    if twice := sorted({slug for slug in slugs if slugs.count(slug) > 1}):
        report.error(
            message(
                "datasets.same-address",
                "Two human scores would have the same address: {addresses}.",
                addresses=truncated(twice),
            )
        )
    for campaign in draft.campaigns:
        try:
            find_same(campaign)
        except ValidationError as error:
            for refusal in messages_of(error):
                report.error(refusal)
    others = Campaign.objects.filter(slug__in=slugs).exclude(test_set__slug=draft.test_set.slug)
    for slug in others.order_by("slug").values_list("slug", flat=True):
        report.error(
            message(
                "datasets.address-taken",
                "There is already a campaign “{campaign}” on another test set.",
                campaign=slug,
            )
        )
    for metric in draft.metrics:
        for system, score in metric.systems.items():
            if score in (float("inf"), float("-inf")):
                report.error(
                    message("datasets.infinite", "The score is infinite."),
                    Place(field=f"{metric.name}, {system}"),
                )


@transaction.atomic
def store(draft: EvaluationDraft, *, user: Any = None) -> Stored:
    """Store test set, campaigns and metric scores, all or nothing; repeating changes nothing.

    Raises ValidationError with every error.
    """
    result = uploads.store(draft.test_set, user=user)
    test_set = result.test_set
    campaigns = [store_campaign(each, test_set, user=user) for each in draft.campaigns]
    metrics: list[Outcome] = []
    if draft.metrics:
        names = names_of(test_set)
        drafts = [
            Draft(check_name(m.name), _held(m, names), m.higher_is_better, note=m.note)
            for m in draft.metrics
        ]
        metrics = store_all(test_set, drafts, provenance=draft.provenance, user=user)
    return Stored(test_set, result.changes, campaigns, metrics)


def _held(metric: MetricDraft, names: Any) -> MetricScores:
    return resolve(names, metric.segment_scores, metric.systems, metric.parts)
