"""Read a campaign's current judgments as NumPy columns; compute z-scores and variances."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from django.db.models import F, FloatField
from django.db.models.fields.json import KT
from django.db.models.functions import Cast
from numpy.typing import NDArray

from annotation.judging.rules import kept_rules
from annotation.models import Annotator, Campaign, Item, Judgment, Output
from annotation.models.judgment import VALUE
from annotation.protocols.base import Scale
from annotation.quality.current import NOTHING, Table, current_judgments
from core.caching import memo
from metaeval.arrays import positions
from metaeval.judgments import ZScores, z_scores
from metaeval.judgments.planning import VarianceComponents, variance_components
from metaeval.messages import Message, message

# Scores on a campaign's own scales, instead of its first scale.

# Minus the edits of a post-edited output in percent.
HTER = "HTER"
PENALTIES = message(
    "quality.penalties",
    "Scores are penalties or edits, and many are 0: an annotator’s mean and spread depend on the "
    "outputs they were given, not on how strict they are. Report α on raw scores, not α on z.",
)


def scales_of(campaign: Campaign) -> list[str]:
    "Return the scales that a reader can choose from, the first one first; empty without choice."
    protocol = campaign.judging
    found = [scale.key for scale in protocol.scales if scale.key]
    if protocol.text:
        found.append(HTER)
    return found if len(found) > 1 or (found and found[0] == HTER and protocol.scales) else []


def scale_of(campaign: Campaign, scale: str = "") -> Scale | None:
    """Return the scale that control items are assessed on, or None if `scale` is another one.

    Traps must be low, and gold items within their ranges, on the first scale only: other scales
    ask for something else, and edits and penalties have no lowest value.
    """
    first = next(iter(campaign.judging.scales), None)
    return first if first and scale in ("", first.key) else None


def about_scale(campaign: Campaign, scale: str, *, has_agreement: bool) -> list[Message]:
    """Return which of several scales is used, and a warning if its z-scores mean little."""
    found = []
    if named := scale or next(iter(scales_of(campaign)), ""):
        found.append(
            message(
                "quality.scale",
                "Scores, control items and agreement use the scale {scale}.",
                scale=named,
            )
        )
    is_standardised = campaign.judging.is_standardised and scale != HTER
    return found if is_standardised or not has_agreement else [*found, PENALTIES]


def value_of(scale: str) -> Any:
    """Return the database expression of a scale; HTER is negated, so that higher is better."""
    if not scale:
        return VALUE
    return -F("hter") if scale == HTER else Cast(KT(f"ratings__{scale}"), FloatField())


def with_scale(campaign: Campaign, rows: Table, scale: str) -> Table:
    """Return the rows with the scores on a scale, nan for judgments without one."""
    stored = Judgment.objects.filter(is_current=True, assignment__annotator__campaign=campaign)
    if scale == HTER:
        given = {pk: None if v is None else -v for pk, v in stored.values_list("pk", "hter")}
    else:
        given = {pk: own.get(scale) for pk, own in stored.values_list("pk", "ratings")}
    found = rows.copy()
    values = (given.get(pk) for pk in rows["pk"].tolist())
    found["score"] = [np.nan if value is None else value for value in values]
    return found


REPLACED = (Item.Kind.BAD_REF, Item.Kind.TRAP, Item.Kind.REF)
Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class JudgmentColumns:
    """One entry per current judgment, in each annotator's own order.

    `output` and `partner` are primary keys or NOTHING, `segment` is a primary key. `document` is
    the first segment of the document, NOTHING for documents of one segment. `screen` is the number
    of a screen of several items, or NOTHING. `seconds` is the server's time, divided among the
    answers of one screen, `paid` the same with the campaign's cap, and `active` the browser's
    report, nan if unknown; `doubted` marks impossible reports. `low` and `high` bound the right
    score of gold items, and `keeps` is 1 if their other rules are kept, 0 if not, nan without
    rules. `kind` holds values of `Item.Kind`. `beside_control` marks repeats on a screen with a
    replaced text, which may have influenced their ratings. `submitted` is in Unix seconds, and
    `inclusion` is the probability with which the system was drawn for the screen, nan if unknown.
    """

    annotator: Integers
    item: Integers
    kind: NDArray[np.str_]
    output: Integers
    segment: Integers
    document: Integers
    partner: Integers
    screen: Integers
    beside_control: Mask
    low: Floats
    high: Floats
    keeps: Floats
    score: Floats
    seconds: Floats
    paid: Floats
    active: Floats
    doubted: Mask
    submitted: Floats
    inclusion: Floats

    def __len__(self) -> int:
        return len(self.score)

    @property
    def is_target(self) -> Mask:
        """First ratings of outputs, and repeats on screens without control items."""
        repeats = self.is_kind(Item.Kind.REPEAT) & ~self.beside_control
        targets: Mask = self.is_kind(Item.Kind.TARGET) | repeats
        return targets

    @property
    def is_document(self) -> Mask:
        """Judgments of whole documents, but not of their copies on control screens."""
        documents: Mask = self.is_kind(Item.Kind.DOCUMENT) & (self.partner == NOTHING)
        return documents

    @property
    def clusters(self) -> Integers:
        """The document of each segment with a judged output, once each."""
        of_output = self.output != NOTHING
        _, first = np.unique(self.segment[of_output], return_index=True)
        found: Integers = self.cluster[of_output][first]
        return found

    @property
    def unit(self) -> Integers:
        """The document of each judgment; NOTHING for all where none has two segments."""
        return self.cluster if (self.document != NOTHING).any() else self.document

    @property
    def cluster(self) -> Integers:
        """The document of each judgment by its first segment, also where it is the only one."""
        return np.where(self.document == NOTHING, self.segment, self.document)

    def is_kind(self, *kinds: Item.Kind) -> Mask:
        """Return a mask of the judgments of items of these kinds."""
        return np.isin(self.kind, [kind.value for kind in kinds])

    def select(self, chosen: Mask | Integers | slice) -> "JudgmentColumns":
        """Return some of the judgments, by a mask, by their positions or a part of them."""
        return JudgmentColumns(
            **{each.name: getattr(self, each.name)[chosen] for each in fields(self)}
        )

    def by_annotator(self, keys: Iterable[int]) -> "Iterator[JudgmentColumns]":
        """Yield the judgments of each annotator; sorts the columns once, if they are not sorted."""
        whose, order = self.annotator, None
        if (np.diff(whose) < 0).any():
            order = np.argsort(whose, kind="stable")
            whose = whose[order]
        for key in keys:
            own = slice(*np.searchsorted(whose, [key, key + 1]))
            yield self.select(own if order is None else order[own])


def read_columns(
    campaign: Campaign, *, with_excluded: bool = False, scale: str = ""
) -> JudgmentColumns:
    """Read all current judgments of a campaign, except practice and excluded annotators'.

    With `scale`, scores are those on that scale of the campaign, and judgments without a value on
    it are dropped. Repeated calls within one computation return the same columns, which are
    read-only.
    """
    return _read(campaign, () if with_excluded else _excluded(campaign), scale)


@memo
def _excluded(campaign: Campaign) -> tuple[int, ...]:
    excluded = campaign.annotators.exclude(excluded_at=None).order_by("pk")
    return tuple(excluded.values_list("pk", flat=True))


@memo
def _read(campaign: Campaign, excluded: tuple[int, ...], scale: str) -> JudgmentColumns:
    rows = _rows(campaign)
    chosen = rows["kind"] != Item.Kind.TUTORIAL.value
    chosen &= ~np.isin(rows["annotator"], excluded)
    if scale:
        rows = with_scale(campaign, rows, scale)
        chosen &= ~np.isnan(rows["score"])
    return _columns(campaign, rows[chosen])


_rows = memo(current_judgments)


def _columns(campaign: Campaign, rows: Table) -> JudgmentColumns:
    made = ("document", "beside_control", "keeps")
    names = [each.name for each in fields(JudgmentColumns) if each.name not in made]
    columns = {name: np.ascontiguousarray(rows[name]) for name in names}
    columns["paid"], columns["active"] = columns["paid"] / 1000, columns["active"] / 1000
    found = JudgmentColumns(
        **columns,
        document=_documents(campaign, columns["segment"]),
        beside_control=_beside_control(campaign, rows),
        keeps=_keeps(campaign, rows),
    )
    for each in fields(found):
        getattr(found, each.name).flags.writeable = False
    return found


def _documents(campaign: Campaign, segments: Integers) -> Integers:
    """Return the first segment of each segment's document, NOTHING for documents of one segment."""
    members: dict[str, list[int]] = defaultdict(list)
    rows = campaign.test_set.segments.exclude(document="").order_by("position")
    for pk, name in rows.values_list("pk", "document"):
        members[name].append(pk)
    shared = [(pk, own[0]) for own in members.values() if len(own) > 1 for pk in own]
    keys, firsts = np.array([*shared, (NOTHING, NOTHING)], dtype=np.int64).T
    return np.asarray(firsts[positions(keys, segments)])


def _keeps(campaign: Campaign, rows: Table) -> Floats:
    """Return whether rules of gold items are kept; without gold items no query is made."""
    keeps = np.full(len(rows), np.nan)
    gold = np.flatnonzero(rows["kind"] == Item.Kind.GOLD.value)
    if len(gold):
        own = Judgment.objects.filter(is_current=True, assignment__annotator__campaign=campaign)
        kept = kept_rules(own.filter(assignment__item__kind=Item.Kind.GOLD))
        keeps[gold] = [kept.get(pk, np.nan) for pk in rows["pk"][gold].tolist()]
    return keeps


def _beside_control(campaign: Campaign, rows: Table) -> Mask:
    """Mark repeats that share a screen with a replaced text; single items need no query."""
    repeats = (rows["kind"] == Item.Kind.REPEAT.value) & (rows["screen"] != NOTHING)
    if not repeats.any():
        return np.asarray(repeats)
    replaced = campaign.items.filter(kind__in=REPLACED, screen__isnull=False)
    screens = [pk for pk in replaced.values_list("screen", flat=True).distinct() if pk is not None]
    return np.asarray(repeats & np.isin(rows["screen"], screens))


def standardise(columns: JudgmentColumns, pool: str) -> ZScores:
    """Standardise every judgment per annotator (ddof 1).

    `pool` selects the judgments that an annotator's mean and standard deviation are computed from:
    `targets` (outputs only; repeats do not count twice) or `all` (with control items).
    """
    return z_scores(columns.score, columns.annotator, pool=_in_pool(columns, pool))


def z_score_warnings(columns: JudgmentColumns, pool: str, standard: ZScores) -> tuple[Message, ...]:
    """Return warnings about annotators without z-scores, with the labels that pages show."""
    if not standard.warnings:
        return ()
    labels = dict(Annotator.objects.filter(pk__in=standard.annotators).values_list("pk", "label"))
    named = [labels[pk] for pk in columns.annotator.tolist()]
    warnings = z_scores(columns.score, named, pool=_in_pool(columns, pool)).warnings
    return tuple(warning.message for warning in warnings)


def _in_pool(columns: JudgmentColumns, pool: str) -> NDArray[np.bool_] | None:
    return None if pool == Campaign.ZPool.ALL else columns.is_kind(Item.Kind.TARGET)


RAW, Z = "raw", "z"


def pilot_components(campaign: Campaign, scores: str) -> VarianceComponents:
    """Estimate variance components from the outputs that a campaign has judged so far.

    Control items, repeats, judgments of excluded annotators, and targets that are not stored as
    outputs (human translations of imported data) are not used.
    """
    columns = read_columns(campaign)
    judged = columns.select(columns.is_kind(Item.Kind.TARGET) & (columns.output != NOTHING))
    outputs = Output.objects.filter(system__test_set=campaign.test_set).order_by()
    system_of = dict(outputs.values_list("pk", "system_id"))
    system = np.array([system_of[pk] for pk in judged.output.tolist()], dtype=np.int64)
    values = z_scores(judged.score, judged.annotator).z if scores == Z else judged.score
    documents = judged.cluster.tolist()
    return variance_components(
        values, system, judged.segment, judged.annotator, documents=documents
    )
