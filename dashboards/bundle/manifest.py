"""Write the manifest of a bundle: metrics, settings, versions and files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from django.utils import translation

from annotation.models import Item
from dashboards.bundle.content import Content
from dashboards.bundle.tables import BundleTable
from metaeval.documents import sizes_of, unit_of
from metaeval.messages import Message
from metaeval.replication import FORMAT, versions
from metrics.workers import builds, reporter

PACKAGES = ("sacrebleu", "Django")


def manifest_of(
    content: Content, tables: Sequence[BundleTable], files: Mapping[str, str]
) -> dict[str, Any]:
    """Return the manifest; it has no time, so that the same data give the same bytes."""
    measures, facts = content.measures, campaign_facts(content)
    computed_on = reporter.of_signatures([each.signature for each in measures.values()])
    return {
        "format": FORMAT,
        "campaign": vars(facts) | {"human_scores": facts.human_scores.text},
        "filters": content.filters.of(content.campaign).as_json(),
        "metrics": [
            {
                "key": key,
                "label": measure.label,
                "signature": measure.signature,
                "origin": measure.origin,
                "computed_on": computed_on[measure.signature],
                "is_lower_better": not measure.higher_is_better,
                "system_score": _system_score(content, key),
                "missing": measure.n_missing,
            }
            for key, measure in measures.items()
        ],
        "left_out": {key: why.text for key, why in content.excluded.items()},
        "human_systems": list(content.panel.human.humans),
        "versions": versions() | _packages(),
        "builds": builds.of_numpy(),
        "tables": [
            {
                "name": table.name,
                "about": table.about.text,
                "arguments": list(table.arguments),
                "expected": table.expected,
            }
            for table in tables
        ],
        "files": dict(files),
    }


def _system_score(content: Content, key: str) -> str:
    """Return how a system's score is computed."""
    if key in content.given:
        return "as imported"
    return content.counted.get(key, "mean of segments")


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The facts for a methods section: settings, seed, numbers, exclusions."""

    slug: str
    name: str
    origin: str
    direction: str
    length_ratio: str
    protocol: str
    question: str
    shown_text: str
    human_scores: Message
    unit: str
    n_units: int
    z_pool: str
    seed: int
    segments: int
    systems: Sequence[str]
    annotators: int
    excluded_annotators: Sequence[str]
    judgments: int
    judgments_by_kind: Mapping[str, int]
    judged_outputs: int


def campaign_facts(content: Content) -> Facts:
    """Return the facts of a campaign."""
    campaign, judgments = content.campaign, content.judgments
    excluded = campaign.annotators.exclude(excluded_at=None).order_by("pk")
    kinds = {kind.value: int(judgments.is_kind(kind).sum()) for kind in Item.Kind}
    # As it is stored, whichever language the reader of the page has.
    with translation.override("en"):
        question = campaign.question_text
    return Facts(
        slug=campaign.slug,
        name=campaign.name,
        origin=campaign.origin,
        direction=campaign.test_set.direction,
        length_ratio=str(campaign.length_ratio),
        protocol=campaign.protocol,
        question=question,
        shown_text=campaign.shown_text,
        human_scores=content.panel.human.source,
        unit=unit_of(content.panel.human.clusters),
        n_units=len(sizes_of(content.panel.human.clusters)),
        z_pool=campaign.z_pool,
        seed=campaign.seed,
        segments=len(content.segments),
        systems=list(content.names),
        annotators=campaign.annotators.count(),
        excluded_annotators=list(excluded.values_list("label", flat=True)),
        judgments=len(judgments),
        judgments_by_kind={kind: n for kind, n in kinds.items() if n},
        judged_outputs=content.panel.human.n,
    )


def _packages() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
