"""Store the judgments of a draft: annotators, what they were shown, and what they answered."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import uuid4

from django.utils import timezone

from annotation.imports.drafts import AnnotatorDraft, CampaignDraft, JudgmentDraft
from annotation.imports.sameness import submit_key, with_revisions
from annotation.judging.answers import rated_text
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
from annotation.protocols import Protocol, Span
from annotation.quality.exclusions import EXCLUDE
from core.database.inserting import insert, reserve
from core.text import batched
from core.work.kinds import STORING, counted

# Columns that a judgment and its draft share.
AS_DRAFTED = (
    *("post_edit", "visible_ms", "active_ms", "paid_ms", "time_doubt", "sent_together", "comment"),
    *("is_flagged", "started_at", "submitted_at"),
)
SPAN = ("side", "start", "end", "severity", "category")
# Of an answer whose edits are not counted, only the item's text would be read.
BLANK = Item()


def store_judgments(
    campaign: Campaign, draft: CampaignDraft, items: Sequence[int], user: Any
) -> None:
    """Store the judgments of a draft with their annotators; `items` are those of the draft."""
    assignments = _store_assignments(campaign, draft, items, user)
    last: dict[int, int] = {}
    for answer, revision in with_revisions(draft.judgments):
        key = assignments[answer.annotator, answer.item]
        last[key] = max(revision, last.get(key, 0))
    pks = reserve(Judgment, len(draft.judgments))
    protocol, edited = campaign.judging, _edited_items(draft, items)

    def rows() -> Iterable[tuple[Any, ...]]:
        numbered = with_revisions(counted(STORING, draft.judgments))
        for pk, (answer, revision) in zip(pks, numbered, strict=True):
            assignment = assignments[answer.annotator, answer.item]
            edits = _edits(protocol, edited.get(items[answer.item], BLANK), answer)
            yield (
                pk,
                assignment,
                revision,
                answer.is_current and revision == last[assignment],
                answer.score if protocol.has_score else None,
                dict(answer.ratings),
                dict(answer.choices),
                edits["hter"],
                edits["penalty"],
                submit_key(draft.slug, answer, revision),
                *(getattr(answer, name) for name in AS_DRAFTED),
            )

    columns = ("id", "assignment_id", "revision", "is_current", "score", "ratings", "choices")
    insert(Judgment, (*columns, "hter", "penalty", "submit_key", *AS_DRAFTED), rows())
    pairs = list(zip(pks, draft.judgments, strict=True))
    spans = ((pk, *_place(span)) for pk, answer in pairs for span in answer.spans)
    insert(ErrorSpan, ("judgment_id", *SPAN), spans)
    fates = (
        (pk, each.number, each.origin, each.fate, *_place(each.span))
        for pk, answer in pairs
        for each in answer.fates
    )
    insert(SuggestionFate, ("judgment_id", "number", "origin", "fate", *SPAN), fates)
    playing = ((pk, answer.playing) for pk, answer in pairs if answer.playing)
    insert(Playback, ("judgment_id", "events"), playing)


def _place(span: Span) -> tuple[Any, ...]:
    return tuple(getattr(span, name) for name in SPAN)


def _edited_items(draft: CampaignDraft, items: Sequence[int]) -> dict[int, Item]:
    """Return the items with edited outputs by primary key, with the texts that were rated."""
    edited = {
        items[answer.item]
        for answer in draft.judgments
        if answer.post_edit is not None or answer.hter is not None
    }
    found: dict[int, Item] = {}
    for pks in batched(sorted(edited), 500):
        rows = Item.objects.filter(pk__in=pks).select_related("output")
        found |= {item.pk: item for item in rows.only("text", "output__text")}
    return found


def _edits(protocol: Protocol, item: Item, answer: JudgmentDraft) -> dict[str, float | None]:
    """Return HTER and penalty; edits of an output whose text is unknown are those of the file."""
    score = answer.score if protocol.has_score else None
    is_unknown = answer.hter is not None and not rated_text(item)
    post_edit = None if is_unknown else answer.post_edit
    edits = edits_of(protocol, item, score=score, post_edit=post_edit, spans=answer.spans)
    if not is_unknown:
        return edits
    penalty = answer.hter if score is None and not protocol.spans else edits["penalty"]
    return {"hter": answer.hter, "penalty": penalty}


def _store_assignments(
    campaign: Campaign, draft: CampaignDraft, items: Sequence[int], user: Any
) -> Mapping[tuple[str, int], int]:
    """Store assignments of the judged items, in the order of their first judgments.

    Returns their primary keys by annotator and number of the item.
    """
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
    given = [(label, item) for label, judgments in first.items() for item in judgments]
    pks = reserve(Assignment, len(given))
    placed = (
        (annotator.pk, position, *answered)
        for annotator in annotators
        for position, answered in _placed(first[annotator.label])
    )
    numbered = zip(counted(STORING, pks), placed, strict=True)
    rows = (
        (
            pk,
            uuid4(),
            annotator,
            items[item],
            position,
            judgment.shown.condition,
            judgment.shown.inclusion,
            judgment.shown.column,
            judgment.submitted_at or now,
        )
        for pk, (annotator, position, item, judgment) in numbered
    )
    columns = ("id", "public_id", "annotator_id", "item_id", "position", "condition", "inclusion")
    insert(Assignment, (*columns, "column", "completed_at"), rows)
    openings = (
        (pk, time)
        for pk, (label, item) in zip(pks, given, strict=True)
        for time in first[label][item].shown.openings
    )
    insert(ContextOpening, ("assignment_id", "opened_at"), openings)
    return dict(zip(given, pks, strict=True))


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
