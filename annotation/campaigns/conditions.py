"""Open a campaign with a trial: assign whole documents to annotators, each in one condition."""

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from django.core.exceptions import ValidationError

from annotation.campaigns.layouts import Screens
from annotation.campaigns.shares import assign, screens_of, share_out
from annotation.controls import CrowdedError, spaced_order
from annotation.models import Annotator, Campaign, Item, OutputSuggestions, Prefill
from annotation.prefill.balance import (
    FIRST_ITEMS,
    FREE,
    Conditions,
    Unit,
    cap_planted,
    draw_conditions,
    late_planted,
)
from annotation.prefill.planting import false_error, known_error
from annotation.prefill.suggestions import PLANTED, WITHHELD, Condition, key_of
from annotation.prefill.trial import CONDITIONS, shares_of
from annotation.protocols import Layout, Span
from core.text import batched
from metaeval.messages import message

BATCH = 1_000
THIRDS = 3


@dataclass
class Document:
    """A document by one system, or a screen of several systems: its screens, items and texts.

    `planted` is the item with the false error, `known` the item with the error to withhold.
    """

    screens: list[int] = field(default_factory=list)
    rows: list[Mapping[str, Any]] = field(default_factory=list)
    systems: set[int] = field(default_factory=set)
    planted: tuple[int, Span] | None = None
    known: tuple[int, Span, list[int]] | None = None

    @property
    def length(self) -> int:
        """The number of characters of all its sources."""
        return sum(len(row["segment__source"]) for row in self.rows)


@dataclass(frozen=True)
class Texts:
    """Suggested and adjudicated errors by output; `gold` has only adjudicated outputs."""

    suggested: Mapping[int, Sequence[Span]]
    gold: Mapping[int, Sequence[Span]]

    @property
    def real(self) -> list[Span]:
        """All real suggestions; planted errors are modelled on them."""
        return list(chain.from_iterable(self.suggested.values()))


def give_out_trial(campaign: Campaign, annotators: Sequence[Annotator], targets: Screens) -> None:
    """Assign whole documents, draw the condition of each for every annotator, and store both."""
    prefill = campaign.prefill
    texts = _texts(prefill)
    documents = _documents(campaign, targets)
    rng = campaign.hidden_rng("trial", prefill.seed)
    for document in documents:
        _prepare(document, texts, campaign.test_set.target_language, rng)
    shares = share_out(len(documents), len(annotators), campaign.annotators_per_item, rng=rng)
    units = _units(documents, texts, shares, rng)
    conditions = draw_conditions(units, shares_of(prefill), rng=rng)
    n_capped = cap_planted(units, conditions, rng=rng)
    _store_suggestions(documents, texts)
    for person, (annotator, share) in enumerate(zip(annotators, shares, strict=True)):
        _assign(campaign, annotator, person, share, documents, conditions, targets)
    prefill.design = _summary(units, conditions, documents, n_capped)
    prefill.save(update_fields=["design"])


def _texts(prefill: Prefill) -> Texts:
    rows = OutputSuggestions.objects.filter(prefill=prefill)
    found: dict[str, dict[int, list[Span]]] = {"spans": {}, "gold": {}}
    for row in rows.iterator(BATCH):
        for name, spans in (("spans", row.spans), ("gold", row.gold)):
            if spans is not None:
                found[name][row.output_id] = [Span(*each) for each in spans]
    return Texts(found["spans"], found["gold"])


def _documents(campaign: Campaign, targets: Screens) -> list[Document]:
    """Return what is rated in one condition: a document by one system, or a screen of several."""
    columns = ("pk", "segment_id", "segment__source", "segment__document", "output_id",
               "output__text", "output__system_id")  # fmt: skip
    rows = {row["pk"]: row for row in campaign.items.exclude(output=None).values(*columns)}
    is_grid = campaign.judging.layout == Layout.GRID
    found: dict[object, Document] = defaultdict(Document)
    for number in range(len(targets)):
        own = [rows[pk] for pk in targets[number]]
        first = own[0]
        name = first["segment__document"] or first["segment_id"]
        document = found[number if is_grid else (name, first["output__system_id"])]
        document.screens.append(number)
        document.rows += own
        document.systems |= {row["output__system_id"] for row in own}
    return list(found.values())


def _prepare(document: Document, texts: Texts, language: str, rng: random.Random) -> None:
    """Choose where a false error would be planted, and which known error would be withheld."""
    for row in rng.sample(document.rows, len(document.rows)):
        suggested = texts.suggested.get(row["output_id"], ())
        gold = texts.gold.get(row["output_id"])
        if gold is None:
            continue
        if document.known is None and (known := known_error(gold, suggested, rng=rng)):
            document.known = (row["pk"], *known)
        if document.planted is None:
            taken = [*gold, *suggested]
            span = false_error(row["output__text"], taken, texts.real, language, rng=rng)
            document.planted = (row["pk"], span) if span else None


def _units(
    documents: Sequence[Document], texts: Texts, shares: Sequence[Sequence[int]], rng: random.Random
) -> list[Unit]:
    annotators: dict[int, list[int]] = defaultdict(list)
    for person, share in enumerate(shares):
        for number in share:
            annotators[number].append(person)
    lengths = sorted(document.length for document in documents)
    cuts = [lengths[len(lengths) * third // THIRDS] for third in range(1, THIRDS)]
    return [
        Unit(
            annotators=annotators[number],
            block=f"{sorted(document.systems)} {sum(document.length >= cut for cut in cuts)}",
            conditions=_possible(document),
            n_shown=sum(len(texts.suggested.get(row["output_id"], ())) for row in document.rows),
            n_withheld=len(document.known[2]) if document.known else 0,
        )
        for number, document in enumerate(documents)
    ]


def _possible(document: Document) -> frozenset[Condition]:
    found = set(FREE)
    if document.planted:
        found.add(Condition.PLANTED)
    if document.known:
        found.add(Condition.WITHHELD)
    return frozenset(found)


def _store_suggestions(documents: Sequence[Document], texts: Texts) -> None:
    """Store suggestions in the items, with marks for planted and withheld ones."""
    items = []
    for document in documents:
        for row in document.rows:
            rows = [[*key_of(span), ""] for span in texts.suggested.get(row["output_id"], ())]
            known = None
            if document.known and document.known[0] == row["pk"]:
                known = list(key_of(document.known[1])[:3])
                for n in document.known[2]:
                    rows[n][-1] = WITHHELD
            if document.planted and document.planted[0] == row["pk"]:
                rows.append([*key_of(document.planted[1]), PLANTED])
            if rows:
                items.append(Item(pk=row["pk"], suggestions={"spans": rows, "known": known}))
    for batch in batched(items, BATCH):
        Item.objects.bulk_update(batch, ["suggestions"])


def _assign(
    campaign: Campaign,
    annotator: Annotator,
    person: int,
    share: Sequence[int],
    documents: Sequence[Document],
    conditions: Conditions,
    targets: Screens,
) -> None:
    """Assign one annotator's documents, screen by screen in random order, after practice."""
    rng = campaign.hidden_rng("trial", campaign.prefill.seed, annotator.label)
    own = {
        row["pk"]: conditions[number][person] for number in share for row in documents[number].rows
    }
    screens = [targets[screen] for number in share for screen in documents[number].screens]
    gold = screens_of(campaign, Item.Kind.GOLD)
    try:
        order = spaced_order(
            len(screens), [None] * len(gold), campaign.control_spacing, rng=rng, n_even=len(gold)
        )
    except CrowdedError as error:
        raise ValidationError(
            [
                message(
                    "trial.no-room-for-gold",
                    "{annotator} has too few screens for the gold items. Remove gold items, or "
                    "reduce the distance between control items.",
                    annotator=annotator.label,
                )
            ]
        ) from error
    every = [*screens, *gold]
    planted = {
        document.planted[0]: number
        for number in share
        if (document := documents[number]).planted
        and conditions[number][person] == Condition.PLANTED
    }
    ordered = late_planted([every[n] for n in order], frozenset(planted), rng=rng)
    for pk in {*list(chain.from_iterable(ordered))[:FIRST_ITEMS]} & set(planted):
        # So few items that there is no later place.
        conditions[planted[pk]][person] = Condition.PREFILLED
        own |= {row["pk"]: Condition.PREFILLED for row in documents[planted[pk]].rows}
    practice = screens_of(campaign, Item.Kind.TUTORIAL)
    assign(annotator, chain(practice, ordered), conditions=own)


def _summary(
    units: Sequence[Unit], conditions: Conditions, documents: Sequence[Document], n_capped: int
) -> dict[str, Any]:
    """Count what was drawn, for the page."""
    counts = Counter(condition for own in conditions for condition in own.values())
    return {
        "documents": len(units),
        "ratings": {str(each): counts[each] for each in CONDITIONS},
        "can_be_planted": sum(document.planted is not None for document in documents),
        "can_be_withheld": sum(document.known is not None for document in documents),
        "capped": n_capped,
        "blocks": len({unit.block for unit in units}),
    }
