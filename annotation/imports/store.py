"""Writing a draft: all of it or nothing, and nothing a second time."""

import uuid
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from annotation.imports.drafts import CampaignDraft, JudgmentDraft
from annotation.models import (
    Annotator,
    Assignment,
    Campaign,
    Item,
    Judgment,
    Output,
    PublishedScore,
    TestSet,
)

BATCH = 2_000
_NAMESPACE = uuid.UUID("5d0f2f5e-6f0b-4c55-9f6f-3b7c0a3b6c11")


@dataclass(frozen=True)
class CampaignImport:
    """What an import did: `is_new` is False where everything was stored already."""

    campaign: Campaign
    is_new: bool
    n_items: int
    n_judgments: int
    n_published: int


@transaction.atomic
def store_campaign(draft: CampaignDraft, test_set: TestSet) -> CampaignImport:
    """Store an imported campaign over a stored test set.

    Importing the same again changes nothing. Raises ValidationError where the campaign is stored
    with other judgments, or where the draft names an output that is not there.
    """
    stored = Campaign.objects.filter(slug=draft.slug).first()
    if stored:
        _require_same(stored, draft)
        return _result(stored, draft, is_new=False)
    campaign = _create(draft, test_set)
    outputs = _outputs(test_set)
    segments = dict(test_set.segments.values_list("key", "pk"))
    items = _store_items(campaign, draft, segments, outputs)
    _store_judgments(campaign, draft, items)
    _store_published(campaign, draft, outputs)
    return _result(campaign, draft, is_new=True)


def _result(campaign: Campaign, draft: CampaignDraft, *, is_new: bool) -> CampaignImport:
    published = len(draft.output_scores) + len(draft.system_scores)
    return CampaignImport(campaign, is_new, len(draft.items), len(draft.judgments), published)


def _submit_key(slug: str, judgment: JudgmentDraft) -> uuid.UUID:
    """The same judgment of the same import has the same key for ever."""
    name = f"{slug}\t{judgment.annotator}\t{judgment.item}\t{judgment.score}"
    return uuid.uuid5(_NAMESPACE, name)


def _require_same(campaign: Campaign, draft: CampaignDraft) -> None:
    of_campaign = Judgment.objects.filter(assignment__annotator__campaign=campaign)
    stored = set(of_campaign.values_list("submit_key", flat=True))
    wanted = {_submit_key(draft.slug, judgment) for judgment in draft.judgments}
    if stored != wanted or campaign.items.count() != len(draft.items):
        raise ValidationError(
            f"A campaign {draft.slug!r} with other judgments is stored already "
            f"({len(stored)} here, {len(wanted)} in the files)."
        )


def _create(draft: CampaignDraft, test_set: TestSet) -> Campaign:
    campaign = Campaign.objects.create(
        slug=draft.slug,
        name=draft.name,
        study=draft.study,
        test_set=test_set,
        shown_text=draft.shown_text,
        question=draft.question,
        z_pool=draft.z_pool,
        traps_per_annotator=0,
        status=Campaign.Status.CLOSED,
        origin=Campaign.Origin.IMPORTED,
        closed_at=timezone.now(),
    )
    campaign.systems.set(test_set.systems.all())
    return campaign


def _outputs(test_set: TestSet) -> dict[tuple[str, str], int]:
    rows = Output.objects.filter(system__test_set=test_set)
    columns = rows.values_list("system__name", "segment__key", "pk")
    return {(system, segment): pk for system, segment, pk in columns}


def _store_items(
    campaign: Campaign,
    draft: CampaignDraft,
    segments: dict[str, int],
    outputs: dict[tuple[str, str], int],
) -> list[Item]:
    items = []
    for number, item in enumerate(draft.items, start=1):
        output = outputs.get((item.system, item.segment)) if item.system else None
        if item.segment not in segments or (item.system and output is None):
            raise ValidationError(
                f"Item {number} of {draft.slug}: no output of {item.system!r} for segment "
                f"{item.segment!r} is stored."
            )
        items.append(
            Item(
                campaign=campaign,
                kind=item.kind,
                segment_id=segments[item.segment],
                output_id=output,
                text=item.text,
                batch=item.batch,
            )
        )
    items = Item.objects.bulk_create(items, batch_size=BATCH)
    _link_partners(draft, items)
    return items


def _link_partners(draft: CampaignDraft, items: Sequence[Item]) -> None:
    controls = []
    for item, source in zip(items, draft.items, strict=True):
        if source.partner is not None:
            item.partner = items[source.partner]
            controls.append(item)
    Item.objects.bulk_update(controls, ["partner"], batch_size=500)


def _store_judgments(campaign: Campaign, draft: CampaignDraft, items: Sequence[Item]) -> None:
    by_label: dict[str, list[JudgmentDraft]] = defaultdict(list)
    for judgment in draft.judgments:
        by_label[judgment.annotator].append(judgment)
    annotators = Annotator.objects.bulk_create(
        [Annotator(campaign=campaign, label=label) for label in by_label]
    )
    now = timezone.now()
    assignments, answers = [], []
    for annotator in annotators:
        for position, judgment in enumerate(by_label[annotator.label]):
            assignments.append(
                Assignment(
                    annotator=annotator,
                    item=items[judgment.item],
                    position=position,
                    completed_at=judgment.submitted_at or now,
                )
            )
            answers.append(judgment)
    stored = Assignment.objects.bulk_create(assignments, batch_size=BATCH)
    Judgment.objects.bulk_create(
        [
            Judgment(
                assignment=assignment,
                score=judgment.score,
                submit_key=_submit_key(draft.slug, judgment),
                started_at=judgment.started_at,
                submitted_at=judgment.submitted_at,
            )
            for assignment, judgment in zip(stored, answers, strict=True)
        ],
        batch_size=BATCH,
    )


def _store_published(
    campaign: Campaign, draft: CampaignDraft, outputs: dict[tuple[str, str], int]
) -> None:
    systems = dict(campaign.systems.values_list("name", "pk"))
    rows = [
        PublishedScore(campaign=campaign, output_id=outputs[key], value=value)
        for key, value in draft.output_scores.items()
    ]
    rows += [
        PublishedScore(campaign=campaign, system_id=systems[name], value=value)
        for name, value in draft.system_scores.items()
    ]
    PublishedScore.objects.bulk_create(rows, batch_size=BATCH)
