"""Find the screens of a pool that an annotator may be given, with one query for any pool size.

The query has a dozen parts, and building it takes longer than running it. It is therefore built
once per kind of campaign, with placeholders for the numbers that differ.
"""

import random
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery, Value

from annotation.models import Annotator, Assignment, Campaign, Item
from annotation.pool import mixing, releases
from annotation.pool.mixing import given_to
from core.database.prepared import Statement, placeholder_key

WINDOW = 40
# Active assignment looks at screens at this number of levels of need, from the highest.
MAX_LEVELS = 5
COLUMNS = ("is_given", "n_seen", "n_others")
MAX_SHUFFLE = 2**31 - 1
# Placeholders: numbers that occur nowhere else among the parameters.
ANNOTATOR, CAMPAIGN, START, CONTROL = map(placeholder_key, (1, 2, 3, 4))
PER_ITEM = 32_001


@dataclass(frozen=True)
class Candidate:
    """The first item of a screen that still wants ratings.

    `n_seen` counts the items over its source text that the annotator was given, where there is a
    limit; `n_others` the other screens over it that somebody was given, in active assignment.
    """

    pk: int
    screen: int | None
    wanted: int
    system: int | None
    segment: int
    n_seen: int
    n_others: int


@dataclass(frozen=True)
class Look:
    """The result of the query before a claim.

    `returned` is an unanswered assignment that the annotator may claim again. `n_open` counts the
    open screens, `n_open_items` their items. With `is_all`, `candidates` are the whole pool.
    """

    state: mixing.State
    n_open: int
    n_open_items: int
    returned: int | None
    candidates: list[Candidate]
    is_all: bool


def look(annotator: Annotator) -> Look | None:
    """Return candidates and the annotator's counts so far; None if no screen wants ratings."""
    campaign = annotator.campaign
    levels = 1
    if campaign.assignment_mode == Campaign.Mode.ACTIVE:
        levels = min(campaign.annotators_per_item, MAX_LEVELS)
    statement = _prepared(campaign.assignment_mode, bool(campaign.max_same_source), levels)
    given = given_to(annotator)
    real = {
        ANNOTATOR: annotator.pk,
        CAMPAIGN: campaign.pk,
        START: random.randint(0, MAX_SHUFFLE),
        PER_ITEM: campaign.annotators_per_item,
        CONTROL: given.last_control,
    }
    with statement.run(real) as cursor:
        names = [column[0] for column in cursor.description]
        rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    if not rows:
        return None
    return Look(
        state=mixing.State.of(given, rows[0]),
        n_open=rows[0]["n_open"] or 0,
        n_open_items=rows[0]["n_open_items"] or 0,
        returned=rows[0]["returned"],
        candidates=eligible(campaign, rows),
        is_all=len(rows) < WINDOW,
    )


@cache
def _prepared(mode: str, is_limited: bool, levels: int) -> Statement:
    campaign = Campaign(
        pk=CAMPAIGN,
        assignment_mode=mode,
        annotators_per_item=PER_ITEM,
        max_same_source=int(is_limited),
    )
    return Statement(lambda: _query(Annotator(pk=ANNOTATOR, campaign=campaign), levels))


def _query(annotator: Annotator, levels: int) -> QuerySet[Any, Any]:
    """Build the query: rows from short ranges of the index, with the annotator's state on each."""
    heads = Item.objects.filter(campaign=annotator.campaign_id, wanted__gt=0)
    top = Subquery(heads.order_by("-wanted").values("wanted")[:1])
    # The equation comes first: SQLite reads a whole level if it comes after `wanted > 0`.
    stretches = [heads.order_by("-wanted", "shuffle")] + [
        Item.objects.filter(campaign=annotator.campaign_id)
        .filter(wanted=top - below if below else top)
        .filter(shuffle__gte=START)
        .filter(wanted__gt=0)
        .order_by("shuffle")
        for below in range(levels)
    ]
    # A union instead of OR, for which PostgreSQL would read the whole table.
    plain = Item.objects.order_by().values("pk")
    first, *others = (plain.filter(pk__in=rows.values("pk")[:WINDOW]) for rows in stretches)
    found = Item.objects.filter(pk__in=first.union(*others)).order_by()
    own = Assignment.objects.filter(annotator=annotator.pk)
    open_ = own.filter(completed_at=None, released_at=None)
    n_open_items = open_.order_by().values("annotator").annotate(n=Count("pk")).values("n")
    rows: QuerySet[Any, Any] = described(found, annotator).annotate(
        n_open_items=Subquery(n_open_items),
        n_open=mixing.count_screens(open_, annotator.campaign),
        returned=Subquery(releases.returned(annotator).values("pk")[:1]),
        **mixing.state_columns(annotator, CONTROL),
    )
    return rows


def described(items: QuerySet[Item], annotator: Annotator) -> QuerySet[Any, Any]:
    """Annotate whether the annotator was given the screen, and how often its source text."""
    campaign = annotator.campaign
    everything = Assignment.objects.filter(annotator=annotator.pk)
    own = everything.filter(item=OuterRef("pk"))
    is_dynamic = campaign.assignment_mode == Campaign.Mode.DYNAMIC
    shown = everything.filter(item__screen=OuterRef("screen")) if is_dynamic else own
    same = Item.objects.filter(campaign=campaign.pk, segment=OuterRef("segment"))
    given = same.filter(kind=Item.Kind.TARGET, wanted__lt=campaign.annotators_per_item, place=0)
    is_active = campaign.assignment_mode == Campaign.Mode.ACTIVE
    rows: QuerySet[Any, Any] = items.annotate(
        is_given=Exists(shown),
        n_seen=_count(same.filter(Exists(own))) if campaign.max_same_source else Value(0),
        n_others=_count(given.exclude(pk=OuterRef("pk"))) if is_active else Value(0),
    ).values("pk", "screen", "wanted", "segment", *COLUMNS, of=F("output__system"))
    return rows


def _count(items: QuerySet[Item]) -> Subquery:
    return Subquery(items.order_by().values("segment").annotate(n=Count("pk")).values("n"))


def eligible(campaign: Campaign, rows: list[dict[str, Any]]) -> list[Candidate]:
    """Return the screens that are new to the annotator and within the limit per source text."""
    found = [
        Candidate(
            row["pk"], row["screen"], row["wanted"], row["of"], row["segment"],
            row["n_seen"] or 0, row["n_others"] or 0,
        )
        for row in rows
        if not row["is_given"]
    ]  # fmt: skip
    return [one for one in found if _may_come(campaign, one)]


def _may_come(campaign: Campaign, one: Candidate) -> bool:
    return not campaign.max_same_source or one.n_seen < campaign.max_same_source


def without(campaign: Campaign, left: list[Candidate], given: Candidate) -> list[Candidate]:
    """Return the candidates that remain after a screen was given, with updated counts.

    Empty if the screen has several items and source texts are limited: only another query knows how
    often each source text was shown then.
    """
    if given.screen is not None and campaign.max_same_source:
        return []
    rest = [
        one
        if one.segment != given.segment
        else replace(one, n_seen=one.n_seen + 1, n_others=one.n_others + 1)
        for one in left
        if one.pk != given.pk
    ]
    return [one for one in rest if _may_come(campaign, one)]


def search(annotator: Annotator) -> list[Candidate]:
    """Search the whole pool in order of need, for annotators without a candidate in `look`."""
    campaign = annotator.campaign
    rows = described(campaign.items.filter(wanted__gt=0), annotator).filter(is_given=False)
    if campaign.max_same_source:
        rows = rows.filter(Q(n_seen=None) | Q(n_seen__lt=campaign.max_same_source))
    return eligible(campaign, list(rows.order_by("-wanted", "shuffle")[:WINDOW]))
