"""What an imported campaign consists of, before anything is stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from annotation.models import Campaign, Item


@dataclass(frozen=True)
class ItemDraft:
    """One thing that was rated. `partner` is the index of the target a control belongs to.

    Without a system the text that was rated is not among the outputs: control items, and human
    translations whose text was not published.
    """

    segment: str
    system: str | None = None
    kind: Item.Kind = Item.Kind.TARGET
    batch: str = ""
    text: str = ""
    partner: int | None = None


@dataclass(frozen=True)
class JudgmentDraft:
    """One answer: `item` indexes the items of the draft, `score` is 0–100."""

    annotator: str
    item: int
    score: int
    started_at: datetime | None = None
    submitted_at: datetime | None = None


@dataclass(frozen=True)
class CampaignDraft:
    """A finished campaign as published.

    `output_scores` (system, segment) and `system_scores` (system) are human scores published
    without the judgments behind them.
    """

    slug: str
    name: str
    question: str
    study: str = ""
    shown_text: Campaign.ShownText = Campaign.ShownText.REFERENCE
    z_pool: Campaign.ZPool = Campaign.ZPool.TARGETS
    items: Sequence[ItemDraft] = ()
    judgments: Sequence[JudgmentDraft] = ()
    output_scores: Mapping[tuple[str, str], float] = field(default_factory=dict)
    system_scores: Mapping[str, float] = field(default_factory=dict)
