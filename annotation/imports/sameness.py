"""Find out whether an import is already stored, by its keys or its address."""

import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.core.exceptions import ValidationError

from annotation.imports.drafts import CampaignDraft, JudgmentDraft
from annotation.models import Campaign, ErrorSpan, Judgment, PublishedPart, PublishedScore
from annotation.prefill.suggestions import key_of
from core.text import batched
from metaeval.messages import Message, message, plural

BATCH = 500
_NAMESPACE = uuid.UUID("5d0f2f5e-6f0b-4c55-9f6f-3b7c0a3b6c11")
ANSWER = ("score", "ratings", "choices", "post_edit", "comment", "is_flagged")
Answer = tuple[Any, ...]


def find_same(draft: CampaignDraft) -> Campaign | None:
    """Return the stored campaign that has the judgments of a draft, if there is one.

    Judgments with keys of their own, as our exports have them, are found in whatever campaign they
    are stored. Raises ValidationError where some are stored and others not, where a stored one has
    another content, and where the campaign of the draft's address has other judgments or scores.
    """
    if found := _with_keys(draft):
        return found
    campaign = Campaign.objects.filter(slug=draft.slug).first()
    if campaign is None:
        return None
    of_campaign = Judgment.objects.filter(assignment__annotator__campaign=campaign)
    stored = set(of_campaign.values_list("submit_key", flat=True))
    wanted = {submit_key(draft.slug, *answer) for answer in with_revisions(draft.judgments)}
    brought = len(draft.items)
    is_drawn = draft.assignment_mode == Campaign.Mode.DYNAMIC
    if stored != wanted or (campaign.items.count() != brought and not is_drawn):
        text = message(
            "import.other-judgments",
            "The campaign “{campaign}” is already stored with other judgments ({stored} stored, "
            "{n} in the files). Import these under another name.",
            campaign=draft.slug,
            stored=len(stored),
            n=len(wanted),
        )
        raise ValidationError([text])
    _require_same_scores(campaign, draft)
    return campaign


def submit_key(slug: str, judgment: JudgmentDraft, revision: int) -> uuid.UUID:
    """Return the key of a judgment: its own, or one that is the same in each import."""
    if judgment.key is not None:
        return judgment.key
    name = f"{slug}\t{judgment.annotator}\t{judgment.item}\t{judgment.score}"
    if judgment.ratings or judgment.post_edit is not None:
        name += f"\t{sorted(judgment.ratings.items())}\t{judgment.post_edit}"
    if judgment.choices:
        name += f"\t{sorted(judgment.choices.items())}"
    if judgment.spans or judgment.comment:
        name += f"\t{judgment.spans!r}\t{judgment.comment}"
    if revision > 1:
        name += f"\t{revision}"
    return uuid.uuid5(_NAMESPACE, name)


def with_revisions(judgments: Iterable[JudgmentDraft]) -> Iterator[tuple[JudgmentDraft, int]]:
    """Number the answers of one annotator to one item from 1, unless they have numbers."""
    seen: Counter[tuple[str, int]] = Counter()
    for judgment in judgments:
        seen[judgment.annotator, judgment.item] += 1
        yield judgment, judgment.revision or seen[judgment.annotator, judgment.item]


def _with_keys(draft: CampaignDraft) -> Campaign | None:
    wanted = {each.key: each for each in draft.judgments if each.key is not None}
    stored = _stored(list(wanted))
    if not stored:
        return None
    campaign = next(iter(stored.values()))[0]
    if len(stored) < len(draft.judgments) or any(own != campaign for own, _ in stored.values()):
        raise ValidationError([_partly(campaign, len(stored), len(draft.judgments))])
    if n := sum(_answer(wanted[key]) != answer for key, (_, answer) in stored.items()):
        text = plural(
            "import.judgments-changed",
            "{n} judgment of the files is already stored in the campaign “{campaign}” with another "
            "content. Stored judgments cannot be changed.",
            "{n} judgments of the files are already stored in the campaign “{campaign}” with "
            "another content. Stored judgments cannot be changed.",
            n=n,
            campaign=campaign.slug,
        )
        raise ValidationError([text])
    return campaign


def _partly(campaign: Campaign, stored: int, n: int) -> Message:
    return message(
        "import.judgments-stored",
        "{stored} of {n} judgments of the files are already stored, in the campaign “{campaign}”. "
        "Importing them again would count them twice.",
        stored=stored,
        n=n,
        campaign=campaign.slug,
    )


def _stored(keys: Sequence[uuid.UUID]) -> dict[uuid.UUID, tuple[Campaign, Answer]]:
    """Return campaign and content of the stored judgments among some keys."""
    found: dict[uuid.UUID, tuple[Campaign, Answer]] = {}
    for some in batched(keys, BATCH):
        rows = Judgment.objects.filter(submit_key__in=some).select_related(
            "assignment__annotator__campaign"
        )
        judgments = list(rows)
        spans = _spans(judgments)
        for row in judgments:
            content = tuple(getattr(row, name) for name in ANSWER)
            campaign = row.assignment.annotator.campaign
            found[row.submit_key] = campaign, (*content, spans.get(row.pk, []))
    return found


def _spans(judgments: Sequence[Judgment]) -> Mapping[int, list[Answer]]:
    spans: dict[int, list[Answer]] = {}
    for span in ErrorSpan.objects.filter(judgment__in=judgments):
        spans.setdefault(span.judgment_id, []).append(key_of(span))
    return {judgment: sorted(own) for judgment, own in spans.items()}


def _answer(judgment: JudgmentDraft) -> Answer:
    content = (
        judgment.score, dict(judgment.ratings), dict(judgment.choices), judgment.post_edit,
        judgment.comment, judgment.is_flagged,
    )  # fmt: skip
    return (*content, sorted(map(key_of, judgment.spans)))


def _require_same_scores(campaign: Campaign, draft: CampaignDraft) -> None:
    rows = PublishedScore.objects.filter(campaign=campaign).values_list(
        "output__system__name", "output__segment__key", "system__name", "value"
    )
    stored = {(system or own, segment or ""): value for system, segment, own, value in rows}
    wanted = {**draft.output_scores, **{(n, ""): v for n, v in draft.system_scores.items()}}
    parts = PublishedPart.objects.filter(campaign=campaign)
    of_parts = parts.values_list("system__name", "level", "name", "value")
    stored_parts = {(system, level, name): value for system, level, name, value in of_parts}
    if stored != wanted or stored_parts != draft.part_scores:
        text = message(
            "import.other-scores",
            "The campaign “{campaign}” is already stored with other published scores ({stored} "
            "stored, {n} in the files). Import these under another name.",
            campaign=draft.slug,
            stored=len(stored),
            n=len(wanted),
        )
        raise ValidationError([text])
    if stored and campaign.lower_is_better != draft.lower_is_better:
        text = (
            message(
                "import.stored-as-lower",
                "The published scores of the campaign “{campaign}” are stored with lower as "
                "better. State that direction, or import them under another name.",
                campaign=draft.slug,
            )
            if campaign.lower_is_better
            else message(
                "import.stored-as-higher",
                "The published scores of the campaign “{campaign}” are stored with higher as "
                "better. State that direction, or import them under another name.",
                campaign=draft.slug,
            )
        )
        raise ValidationError([text])
