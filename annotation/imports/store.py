"""Store a draft completely or not at all; storing it again changes nothing."""

import uuid
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.imports.drafts import CampaignDraft, JudgmentDraft
from annotation.judging.edits import edits_of
from annotation.models import (
    Annotator,
    Assignment,
    Campaign,
    ErrorSpan,
    Item,
    Judgment,
    OriginalFile,
    Output,
    Prefill,
    PublishedScore,
    System,
    TestSet,
)
from annotation.prefill.suggestions import as_stored
from metaeval.messages import Message, message, plural

BATCH = 2_000
_NAMESPACE = uuid.UUID("5d0f2f5e-6f0b-4c55-9f6f-3b7c0a3b6c11")


@dataclass(frozen=True)
class CampaignImport:
    """The result of an import: `is_new` is False if everything was already stored."""

    campaign: Campaign
    is_new: bool
    n_items: int
    n_judgments: int
    n_published: int

    @property
    def contents(self) -> list[Message]:
        """The numbers of annotators, systems and so on in the campaign, without zeros."""
        items = self.campaign.items.values("segment")
        scored = self.campaign.published_scores.exclude(output=None).values("output__segment")
        n_segments = (items if self.n_items else scored).distinct().count()
        counts = [
            plural(
                "count.annotators",
                "{n} annotator",
                "{n} annotators",
                n=self.campaign.annotators.count(),
            ),
            plural("count.systems", "{n} system", "{n} systems", n=self.campaign.systems.count()),
            plural("count.segments", "{n} segment", "{n} segments", n=n_segments),
            plural("count.items", "{n} item", "{n} items", n=self.n_items),
            plural("count.judgments", "{n} judgment", "{n} judgments", n=self.n_judgments),
            plural(
                "import.published-scores",
                "{n} published score",
                "{n} published scores",
                n=self.n_published,
            ),
        ]
        return [each for each in counts if each.count]


@transaction.atomic
def store_campaign(draft: CampaignDraft, test_set: TestSet, *, user: Any = None) -> CampaignImport:
    """Store an imported campaign for a stored test set.

    Importing it again changes nothing. Raises ValidationError if the campaign is stored with other
    judgments, or if the draft names an output that does not exist.
    """
    stored = require_same(draft)
    if stored:
        return _result(stored, draft, is_new=False)
    campaign = _create(draft, test_set, user)
    outputs = outputs_of(campaign)
    segments = dict(test_set.segments.values_list("key", "pk"))
    items = store_items(campaign, draft, segments, outputs)
    note_suggestions(campaign, draft)
    if draft.original:
        OriginalFile.objects.create(campaign=campaign, content=draft.original)
    _store_judgments(campaign, draft, items)
    _store_published(campaign, draft, outputs)
    return _result(campaign, draft, is_new=True)


def _result(campaign: Campaign, draft: CampaignDraft, *, is_new: bool) -> CampaignImport:
    published = len(draft.output_scores) + len(draft.system_scores)
    return CampaignImport(campaign, is_new, len(draft.items), len(draft.judgments), published)


def _submit_key(slug: str, judgment: JudgmentDraft, revision: int) -> uuid.UUID:
    """Return the key of a judgment, which is the same each time it is imported."""
    name = f"{slug}\t{judgment.annotator}\t{judgment.item}\t{judgment.score}"
    if judgment.ratings or judgment.post_edit is not None:
        name += f"\t{sorted(judgment.ratings.items())}\t{judgment.post_edit}"
    if judgment.spans or judgment.comment:
        name += f"\t{judgment.spans!r}\t{judgment.comment}"
    if revision > 1:
        name += f"\t{revision}"
    return uuid.uuid5(_NAMESPACE, name)


def _with_revisions(judgments: Sequence[JudgmentDraft]) -> Iterator[tuple[JudgmentDraft, int]]:
    """Number the answers of one annotator to one item from 1."""
    seen: Counter[tuple[str, int]] = Counter()
    for judgment in judgments:
        seen[judgment.annotator, judgment.item] += 1
        yield judgment, seen[judgment.annotator, judgment.item]


def require_same(draft: CampaignDraft) -> Campaign | None:
    """Return the stored campaign of a draft's address, if there is one.

    Raises ValidationError where that holds other judgments or other published scores.
    """
    campaign = Campaign.objects.filter(slug=draft.slug).first()
    if campaign is None:
        return None
    of_campaign = Judgment.objects.filter(assignment__annotator__campaign=campaign)
    stored = set(of_campaign.values_list("submit_key", flat=True))
    wanted = {_submit_key(draft.slug, *answer) for answer in _with_revisions(draft.judgments)}
    brought = len(draft.items)
    is_drawn = draft.assignment_mode == Campaign.Mode.DYNAMIC
    if stored != wanted or (campaign.items.count() != brought and not is_drawn):
        raise ValidationError(
            [
                message(
                    "import.other-judgments",
                    "The campaign “{campaign}” is already stored with other judgments ({stored} "
                    "stored, {n} in the files).",
                    campaign=draft.slug,
                    stored=len(stored),
                    n=len(wanted),
                )
            ]
        )
    _require_same_scores(campaign, draft)
    return campaign


def _require_same_scores(campaign: Campaign, draft: CampaignDraft) -> None:
    rows = PublishedScore.objects.filter(campaign=campaign).values_list(
        "output__system__name", "output__segment__key", "system__name", "value"
    )
    stored = {(system or own, segment or ""): value for system, segment, own, value in rows}
    wanted = {**draft.output_scores, **{(n, ""): v for n, v in draft.system_scores.items()}}
    if stored != wanted:
        raise ValidationError(
            [
                message(
                    "import.other-scores",
                    "The campaign “{campaign}” is already stored with other published scores "
                    "({stored} stored, {n} in the files).",
                    campaign=draft.slug,
                    stored=len(stored),
                    n=len(wanted),
                )
            ]
        )
    if stored and campaign.lower_is_better != draft.lower_is_better:
        raise ValidationError(
            [
                message(
                    "import.stored-as-lower",
                    "The published scores of the campaign “{campaign}” are stored as better when "
                    "lower. State that direction, or import them under another name.",
                    campaign=draft.slug,
                )
                if campaign.lower_is_better
                else message(
                    "import.stored-as-higher",
                    "The published scores of the campaign “{campaign}” are stored as better when "
                    "higher. State that direction, or import them under another name.",
                    campaign=draft.slug,
                )
            ]
        )


def _create(draft: CampaignDraft, test_set: TestSet, user: Any) -> Campaign:
    finished = draft.is_finished
    campaign = Campaign.objects.create(
        slug=draft.slug,
        name=draft.name,
        study=draft.study,
        test_set=test_set,
        length_ratio=draft.length_ratio,
        shown_text=draft.shown_text,
        question=draft.question,
        instructions=draft.instructions,
        goodbye=draft.goodbye,
        z_pool=draft.z_pool,
        protocol=draft.protocol,
        annotators_per_item=draft.annotators_per_item,
        systems_per_screen=draft.systems_per_screen,
        assignment_mode=draft.assignment_mode,
        # Pearmut draws systems without exploration.
        exploration_percent=0 if draft.original else 20,
        cold_start=draft.cold_start,
        check_percent=draft.check_percent,
        lower_is_better=draft.lower_is_better,
        direction=draft.direction or "",  # type: ignore[misc]  # MessageField
        special_tokens=None if draft.special_tokens is None else list(draft.special_tokens),
        answers=None if draft.answers is None else dict(draft.answers),
        traps_per_annotator=0,
        status=Campaign.Status.CLOSED if finished else Campaign.Status.DRAFT,
        origin=Campaign.Origin.IMPORTED if finished else Campaign.Origin.COLLECTED,
        closed_at=timezone.now() if finished else None,
        created_by=user if user is not None and user.is_authenticated else None,
    )
    campaign.systems.set(_systems_of(draft, test_set))
    return campaign


def _systems_of(draft: CampaignDraft, test_set: TestSet) -> QuerySet[System]:
    """Return the judged systems, or for a draft all systems with its length ratio."""
    rows = test_set.systems.filter(length_ratio=draft.length_ratio)
    judged = {item.system for item in draft.items if item.system}
    judged |= {system for system, _ in draft.output_scores} | set(draft.system_scores)
    return rows.filter(name__in=judged) if draft.is_finished and judged else rows


def note_suggestions(campaign: Campaign, draft: CampaignDraft) -> None:
    """Record the origin of errors that were marked beforehand in the items."""
    if not any(item.suggestions for item in draft.items):
        return
    Prefill.objects.create(
        campaign=campaign,
        source=Prefill.Source.PEARMUT if draft.original else Prefill.Source.FILE,
        label=draft.name,
        seed=campaign.seed,
        created_by=campaign.created_by,
    )
    campaign.is_prefilled = True
    campaign.save(update_fields=["is_prefilled"])


def outputs_of(campaign: Campaign) -> dict[tuple[str, str], int]:
    """Return the outputs of a campaign's systems by system and segment."""
    rows = Output.objects.filter(system__in=campaign.systems.all())
    columns = rows.values_list("system__name", "segment__key", "pk")
    return {(system, segment): pk for system, segment, pk in columns}


def store_items(
    campaign: Campaign,
    draft: CampaignDraft,
    segments: dict[str, int],
    outputs: dict[tuple[str, str], int],
) -> list[Item]:
    """Store the items of a draft.

    Raises ValidationError for an item whose segment or output is not stored.
    """
    items = []
    systems = dict(campaign.systems.values_list("name", "pk"))
    for number, item in enumerate(draft.items, start=1):
        is_document = item.kind == Item.Kind.DOCUMENT
        named = item.system if not is_document else None
        output = outputs.get((named, item.segment)) if named else None
        if item.segment not in segments:
            raise ValidationError(
                [
                    message(
                        "import.item-without-segment",
                        "Item {number} of {campaign}: there is no stored segment “{segment}”.",
                        number=number,
                        campaign=draft.slug,
                        segment=item.segment,
                    )
                ]
            )
        if named and output is None:
            raise ValidationError(
                [
                    message(
                        "import.item-without-output",
                        "Item {number} of {campaign}: “{system}” has no stored output for segment "
                        "“{segment}”.",
                        number=number,
                        campaign=draft.slug,
                        system=named,
                        segment=item.segment,
                    )
                ]
            )
        items.append(
            Item(
                campaign=campaign,
                kind=item.kind,
                segment_id=segments[item.segment],
                output_id=output,
                system_id=systems[item.system] if is_document and item.system else None,
                text=item.text,
                batch=item.batch,
                screen=item.screen,
                place=item.place,
                column=item.column,
                n_columns=item.n_columns,
                note=item.note,
                low=item.low,
                high=item.high,
                feedback=item.feedback,
                suggestions=as_stored(item.suggestions),
                rules=None if item.rules is None else dict(item.rules),
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
    answers = list(_with_revisions(draft.judgments))
    last = {(answer.annotator, answer.item): revision for answer, revision in answers}
    assignments = _store_assignments(campaign, draft.judgments, items)
    protocol = campaign.judging
    stored = Judgment.objects.bulk_create(
        [
            Judgment(
                assignment=assignments[answer.annotator, answer.item],
                revision=revision,
                is_current=revision == last[answer.annotator, answer.item],
                score=answer.score if protocol.has_score else None,
                ratings=dict(answer.ratings),
                post_edit=answer.post_edit,
                **edits_of(
                    protocol,
                    items[answer.item],
                    score=answer.score if protocol.has_score else None,
                    post_edit=answer.post_edit,
                    spans=answer.spans,
                ),
                active_ms=answer.active_ms,
                sent_together=answer.sent_together,
                comment=answer.comment,
                is_flagged=answer.is_flagged,
                submit_key=_submit_key(draft.slug, answer, revision),
                started_at=answer.started_at,
                submitted_at=answer.submitted_at,
            )
            for answer, revision in answers
        ],
        batch_size=BATCH,
    )
    ErrorSpan.objects.bulk_create(
        [
            ErrorSpan(
                judgment=judgment,
                side=span.side,
                start=span.start,
                end=span.end,
                severity=span.severity,
                category=span.category,
            )
            for judgment, (answer, _) in zip(stored, answers, strict=True)
            for span in answer.spans
        ],
        batch_size=BATCH,
    )


def _store_assignments(
    campaign: Campaign, judgments: Sequence[JudgmentDraft], items: Sequence[Item]
) -> dict[tuple[str, int], Assignment]:
    """Store assignments of the judged items, in the order of their first judgments."""
    by_label: dict[str, dict[int, datetime | None]] = defaultdict(dict)
    for judgment in judgments:
        times = by_label[judgment.annotator]
        times[judgment.item] = times.get(judgment.item) or judgment.submitted_at
    annotators = Annotator.objects.bulk_create(
        [Annotator(campaign=campaign, label=label) for label in by_label]
    )
    now = timezone.now()
    stored = Assignment.objects.bulk_create(
        [
            Assignment(
                annotator=annotator,
                item=items[item],
                position=position,
                completed_at=completed_at or now,
            )
            for annotator in annotators
            for position, (item, completed_at) in enumerate(by_label[annotator.label].items())
        ],
        batch_size=BATCH,
    )
    keys = [(label, item) for label, answered in by_label.items() for item in answered]
    return dict(zip(keys, stored, strict=True))


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
