"""Define what an imported campaign consists of, before anything is stored."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.validators import validate_slug

from annotation import protocols
from annotation.models import Campaign, Item
from annotation.protocols import Span
from annotation.uploads.drafts import TestSetDraft
from annotation.uploads.problems import Place, Report
from metaeval.messages import Message, message

# These show a system's own output; the other kinds of items show another text.
SHOW_OUTPUT = frozenset({Item.Kind.TARGET, Item.Kind.REPEAT})
COPY = re.compile(r"(#(bad|duplicate)\d*)+$")


def base_document(name: str, system: str) -> str:
    """Return a document's name without Appraise's marks of copies and of the system.

    >>> base_document("news-7#sysA#bad1", "sysA"), base_document("doc#1-2", "sysA")
    ('news-7', 'doc#1-2')
    """
    plain = COPY.sub("", name)
    return plain.removesuffix(f"#{system}") if system else plain


@dataclass(frozen=True, slots=True)
class ItemDraft:
    """One thing to rate. `partner` is the index of the target a control belongs to.

    Without a system the text that was rated is not among the outputs: control items, and human
    translations whose text was not published. A whole document has its `system`, or none where
    it is a degraded copy, and its first segment. Items with the same `screen` number are shown
    together, in the order of `place`; `rules` are those of :mod:`annotation.judging.rules`.
    `stored_suggestions` are suggestions as an item stores them, planted ones included. `inclusion`
    is the probability with which the segment was drawn for the campaign's sample.
    """

    segment: str
    system: str | None = None
    kind: Item.Kind = Item.Kind.TARGET
    batch: str = ""
    text: str = ""
    partner: int | None = None
    screen: int | None = None
    place: int = 0
    column: int = 0
    n_columns: int = 1
    note: str = ""
    low: int | None = None
    high: int | None = None
    feedback: str = ""
    suggestions: tuple[Span, ...] = ()
    rules: Mapping[str, Any] | None = None
    stored_suggestions: Mapping[str, Any] | None = None
    inclusion: float | None = None


@dataclass(frozen=True)
class AnnotatorDraft:
    """An annotator. `key` is the same for the same person in all exports of a server, or empty.

    `excluded_at` is None where the time of the exclusion is not known.
    """

    key: str = ""
    is_simulated: bool = False
    is_excluded: bool = False
    excluded_at: datetime | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """How one annotator was shown an item, as in :class:`annotation.models.Assignment`.

    `position` is the place in the annotator's order; without it, answers count. `openings` are the
    times when the document around the segment was opened.
    """

    position: int | None = None
    column: int | None = None
    condition: str = ""
    inclusion: float | None = None
    openings: tuple[datetime, ...] = ()


@dataclass(frozen=True)
class FateDraft:
    """What became of one suggestion, as in :class:`annotation.models.SuggestionFate`."""

    number: int
    origin: str
    fate: str
    span: Span


@dataclass(frozen=True, slots=True)
class JudgmentDraft:
    """One answer: `item` indexes the items of the draft, `score` is on the protocol's scale.

    Where the protocol takes no score it is None, and the penalty follows from the spans. Several
    answers of one annotator to one item are revisions, in their order unless they have numbers;
    the last is current, unless `is_current` says that a later one is missing here.
    `active_ms` is the time at work, shared among the `sent_together` answers of a screen.
    `key` identifies the judgment on the server that it was collected on. `hter` counts where the
    edited output is unknown, and `playing` are the events of :class:`annotation.models.Playback`.
    """

    annotator: str
    item: int
    score: int | None
    started_at: datetime | None = None
    submitted_at: datetime | None = None
    spans: tuple[Span, ...] = ()
    comment: str = ""
    is_flagged: bool = False
    ratings: Mapping[str, int] = field(default_factory=dict)
    choices: Mapping[str, str] = field(default_factory=dict)
    post_edit: str | None = None
    hter: float | None = None
    visible_ms: int | None = None
    active_ms: int | None = None
    paid_ms: int | None = None
    time_doubt: str = ""
    sent_together: int = 1
    revision: int | None = None
    is_current: bool = True
    key: UUID | None = None
    playing: Sequence[Any] = ()
    fates: Sequence[FateDraft] = ()
    shown: Shown = Shown()


@dataclass(frozen=True)
class CampaignDraft:
    """A campaign as published: finished, or a draft that is ready to be opened.

    Every batch of a draft goes to `annotators_per_item` of its `places` annotators. If systems are
    drawn for each screen, its targets are created when it is opened. `codes` are the completion
    codes of its annotators, as in :class:`annotation.models.Annotator`, or None.
    `original` is the imported file, if it can be exported again.
    `output_scores` (system, segment) and `system_scores` (system) are unchanged human scores that
    were published without their judgments; if `lower_is_better`, analyses reverse their sign, and
    `direction` is the reason. `part_scores` are those of documents and domains: of (system, level,
    name). Systems are those of the test set at `length_ratio`; of a finished
    campaign only the judged ones.
    """

    slug: str
    name: str
    question: str
    study: str = ""
    public_title: str = ""
    protocol: str = protocols.DEFAULT
    is_finished: bool = True
    annotators_per_item: int = 3
    places: int = 0
    codes: Sequence[Mapping[str, Any] | None] = ()
    systems_per_screen: int = 2
    assignment_mode: Campaign.Mode = Campaign.Mode.STATIC
    cold_start: int = 5
    check_percent: int = 0
    special_tokens: Sequence[str] | None = None
    answers: Mapping[str, Any] | None = None
    original: str = ""
    instructions: str = ""
    goodbye: str = ""
    shown_text: Campaign.ShownText = Campaign.ShownText.REFERENCE
    z_pool: Campaign.ZPool = Campaign.ZPool.TARGETS
    length_ratio: Decimal = Decimal(1)
    seed: int = 1
    sample: Mapping[str, Any] | None = None
    is_prefilled: bool = False
    annotators: Mapping[str, AnnotatorDraft] = field(default_factory=dict)
    items: Sequence[ItemDraft] = ()
    judgments: Sequence[JudgmentDraft] = ()
    output_scores: Mapping[tuple[str, str], float] = field(default_factory=dict)
    system_scores: Mapping[str, float] = field(default_factory=dict)
    part_scores: Mapping[tuple[str, str, str], float] = field(default_factory=dict)
    lower_is_better: bool = False
    direction: Message | None = None

    @property
    def n_published(self) -> int:
        """How many published scores it has."""
        return len(self.output_scores) + len(self.system_scores) + len(self.part_scores)

    @property
    def scored(self) -> set[str]:
        """The systems with published scores."""
        of_others = (key[0] for key in (*self.output_scores, *self.part_scores))
        return {*of_others, *self.system_scores}


def described(
    drafts: Iterable[tuple[TestSetDraft, CampaignDraft]], words: Mapping[str, Any], report: Report
) -> list[tuple[TestSetDraft, CampaignDraft]]:
    """Return drafts whose campaigns have the `study` and `question` of the words.

    A study that cannot be part of an address is an error.
    """
    stated = {name: value for name in ("study", "question") if (value := words.get(name))}
    try:
        validate_slug(stated.get("study", "study"))
    except ValidationError:
        study = stated["study"]
        refusal = message(
            "import.study-name",
            "“{study}” is not a valid name of a study. Use letters, digits, hyphens and "
            "underscores.",
            study=study,
        )
        report.error(refusal, Place(field="study"))
    return [(test_set, replace(campaign, **stated)) for test_set, campaign in drafts]
