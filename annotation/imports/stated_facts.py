"""Store the judgments of a draft: annotators, what they were shown, and what they answered."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.utils import timezone

from annotation.imports.drafts import AnnotatorDraft, CampaignDraft, JudgmentDraft, Shown
from annotation.imports.sameness import submit_key, with_revisions
from annotation.judging.judgments import edits_of
from annotation.models import (
    Annotator,
    Assignment,
    AuditEntry,
    Campaign,
    ContextOpening,
    ErrorSpan,
    Item,
    Judgment,
    Playback,
    SuggestionFate,
)
from annotation.protocols import Protocol
from annotation.quality.exclusions import EXCLUDE
from core.work.kinds import STORING, counted

BATCH = 2_000
Assignments = Mapping[tuple[str, int], Assignment]


def store_judgments(
    campaign: Campaign, draft: CampaignDraft, items: Sequence[Item], user: Any
) -> None:
    """Store the judgments of a draft with their annotators; `items` are those of the draft."""
    answers = list(with_revisions(draft.judgments))
    last: dict[tuple[str, int], int] = {}
    for answer, revision in answers:
        key = answer.annotator, answer.item
        last[key] = max(revision, last.get(key, 0))
    assignments = _store_assignments(campaign, draft, items, user)
    protocol = campaign.judging
    stored = Judgment.objects.bulk_create(
        [
            Judgment(
                assignment=assignments[answer.annotator, answer.item],
                revision=revision,
                is_current=answer.is_current and revision == last[answer.annotator, answer.item],
                score=answer.score if protocol.has_score else None,
                ratings=dict(answer.ratings),
                choices=dict(answer.choices),
                post_edit=answer.post_edit,
                **_edits(protocol, items[answer.item], answer),
                visible_ms=answer.visible_ms,
                active_ms=answer.active_ms,
                paid_ms=answer.paid_ms,
                time_doubt=answer.time_doubt,
                sent_together=answer.sent_together,
                comment=answer.comment,
                is_flagged=answer.is_flagged,
                submit_key=submit_key(draft.slug, answer, revision),
                started_at=answer.started_at,
                submitted_at=answer.submitted_at,
            )
            for answer, revision in counted(STORING, answers)
        ],
        batch_size=BATCH,
    )
    pairs = [(row, answer) for row, (answer, _) in zip(stored, answers, strict=True)]
    ErrorSpan.objects.bulk_create(
        [ErrorSpan(judgment=row, **vars(span)) for row, answer in pairs for span in answer.spans],
        batch_size=BATCH,
    )
    SuggestionFate.objects.bulk_create(
        [
            SuggestionFate(
                judgment=row, number=each.number, origin=each.origin, fate=each.fate,
                **vars(each.span),
            )
            for row, answer in pairs
            for each in answer.fates
        ],
        batch_size=BATCH,
    )  # fmt: skip
    Playback.objects.bulk_create(
        [Playback(judgment=row, events=answer.playing) for row, answer in pairs if answer.playing],
        batch_size=BATCH,
    )


def _edits(protocol: Protocol, item: Item, answer: JudgmentDraft) -> dict[str, float | None]:
    """Return HTER and penalty; edits of an output whose text is unknown are those of the file."""
    score = answer.score if protocol.has_score else None
    is_unknown = answer.hter is not None and not (item.text or (item.output and item.output.text))
    post_edit = None if is_unknown else answer.post_edit
    edits = edits_of(protocol, item, score=score, post_edit=post_edit, spans=answer.spans)
    if not is_unknown:
        return edits
    penalty = answer.hter if score is None and not protocol.spans else edits["penalty"]
    return {"hter": answer.hter, "penalty": penalty}


def _store_assignments(
    campaign: Campaign, draft: CampaignDraft, items: Sequence[Item], user: Any
) -> Assignments:
    """Store assignments of the judged items, in the order of their first judgments."""
    first: dict[str, dict[int, JudgmentDraft]] = {}
    for judgment in draft.judgments:
        first.setdefault(judgment.annotator, {}).setdefault(judgment.item, judgment)
    people = [
        _annotator(campaign, label, draft.annotators.get(label, AnnotatorDraft()))
        for label in first
    ]
    annotators = Annotator.objects.bulk_create(people)
    _note_exclusions(annotators, draft, user)
    now = timezone.now()
    given = [
        (annotator, item, position, judgment)
        for annotator in annotators
        for position, (item, judgment) in _placed(first[annotator.label])
    ]
    stored = Assignment.objects.bulk_create(
        [
            Assignment(
                annotator=annotator,
                item=items[item],
                position=position,
                condition=judgment.shown.condition,
                inclusion=judgment.shown.inclusion,
                column=judgment.shown.column,
                completed_at=judgment.submitted_at or now,
            )
            for annotator, item, position, judgment in counted(STORING, given)
        ],
        batch_size=BATCH,
    )
    pairs = list(zip(stored, given, strict=True))
    _store_openings((row, judgment.shown) for row, (*_, judgment) in pairs)
    return {(annotator.label, item): row for row, (annotator, item, *_) in pairs}


def _placed(
    judgments: Mapping[int, JudgmentDraft],
) -> Iterable[tuple[int, tuple[int, JudgmentDraft]]]:
    """Return the items of one annotator by position: as stated, or else in their order."""
    positions = [each.shown.position for each in judgments.values()]
    stated = [position for position in positions if position is not None]
    is_whole = len(set(stated)) == len(judgments)
    return zip(stated if is_whole else range(len(judgments)), judgments.items(), strict=True)


def _annotator(campaign: Campaign, label: str, about: AnnotatorDraft) -> Annotator:
    return Annotator(
        campaign=campaign,
        label=label,
        external_id=about.key,
        is_simulated=about.is_simulated,
        excluded_at=(about.excluded_at or timezone.now()) if about.is_excluded else None,
    )


def _note_exclusions(annotators: Sequence[Annotator], draft: CampaignDraft, user: Any) -> None:
    """Record why annotators are excluded, as their own server did."""
    actor = user if user is not None and user.is_authenticated else None
    AuditEntry.objects.bulk_create(
        AuditEntry(
            campaign=each.campaign,
            actor=actor,
            action=EXCLUDE,
            annotator=each,
            reason=draft.annotators[each.label].reason,
        )
        for each in annotators
        if each.excluded_at is not None
    )


def _store_openings(shown: Iterable[tuple[Assignment, Shown]]) -> None:
    """Store when documents were opened; rows are stamped when they are made, so set again."""
    times = [(assignment, time) for assignment, own in shown for time in own.openings]
    made = ContextOpening.objects.bulk_create(
        [ContextOpening(assignment=assignment) for assignment, _ in times], batch_size=BATCH
    )
    for row, (_, time) in zip(made, times, strict=True):
        row.opened_at = time
    ContextOpening.objects.bulk_update(made, ["opened_at"], batch_size=500)
