"""Traps: complete targets that are cut short, which annotators recognise only by reading."""

import math
from collections.abc import Iterable, Iterator
from decimal import Decimal
from itertools import groupby, islice
from operator import itemgetter

from django.core.exceptions import ValidationError
from django.db.models import QuerySet

from annotation.models import Campaign, Item, Segment, TestSet
from core.languages import is_character_based
from metaeval.messages import Message, plural

BATCH = 2_000


def cut_text(text: str, ratio: Decimal, language: str) -> str | None:
    """Keep the leading `ratio` of a text: words, or characters in Chinese and Japanese.

    The number of units is multiplied by `ratio` and rounded half up; at least 1 unit is kept and
    at least 1 is removed. Returns None for texts that are too short to be cut.

    Source: Cheng et al. 2023, section 4 (truncation that keeps only the leading words).
    """
    if is_character_based(language):
        return _cut_characters(text, ratio)
    words = text.split()
    keep = _number_kept(len(words), ratio)
    return " ".join(words[:keep]) if keep else None


def _cut_characters(text: str, ratio: Decimal) -> str | None:
    """Cut by characters; blanks do not count and are removed at the end."""
    ends = [index + 1 for index, character in enumerate(text) if not character.isspace()]
    keep = _number_kept(len(ends), ratio)
    return text[: ends[keep - 1]].lstrip() if keep else None


def _number_kept(total: int, ratio: Decimal) -> int:
    """Return how many units to keep; 0 if the text cannot be cut."""
    if total < 2:
        return 0
    return min(max(1, math.floor(total * ratio + Decimal("0.5"))), total - 1)


def plant_traps(campaign: Campaign) -> list[Item]:
    """Store the traps of a campaign, the same for every annotator.

    Raises ValidationError if too few targets are long enough to be cut.
    """
    if not campaign.traps_per_annotator:
        return []
    cuts = possible_traps(campaign)
    if len(cuts) < campaign.traps_per_annotator:
        raise ValidationError([too_few_traps(len(cuts))])
    chosen = campaign.hidden_rng("traps").sample(cuts, campaign.traps_per_annotator)
    items = [
        Item(campaign=campaign, kind=Item.Kind.TRAP, segment_id=segment, text=text)
        for segment, text in chosen
    ]
    return Item.objects.bulk_create(items, batch_size=BATCH)


def too_few_traps(n: int) -> Message:
    """Return the message that only `n` traps are possible."""
    return plural(
        "controls.too-few-traps",
        "{n} segment is long enough to be cut. Choose at most {n} trap.",
        "{n} segments are long enough to be cut. Choose at most {n} traps.",
        n=n,
    )


def possible_traps(campaign: Campaign) -> list[tuple[int, str]]:
    """Return (segment id, cut text) for every segment whose target can be cut.

    The target is the reference that annotators see or, without references, the output of one
    randomly drawn system.
    """
    language = campaign.test_set.target_language
    cuts = (
        (segment, cut_text(text, campaign.trap_ratio, language))
        for segment, text in _complete_targets(campaign)
    )
    return [(segment, text) for segment, text in cuts if text]


def count_cuttable(test_set: TestSet, ratio: Decimal, *, most: int) -> int:
    """Return how many segments can become traps, counting at most `most`.

    Without references, the targets are the outputs of one system.
    """
    texts: Iterable[str] = (text for _, text in _first_references(test_set.segments.all()))
    if not test_set.segments.filter(references__isnull=False).exists():
        system = test_set.systems.order_by("name").first()
        texts = system.outputs.values_list("text", flat=True).iterator(BATCH) if system else ()
    found = (text for text in texts if cut_text(text, ratio, test_set.target_language))
    return sum(1 for _ in islice(found, most))


def _complete_targets(campaign: Campaign) -> Iterable[tuple[int, str]]:
    if first := dict(_first_references(campaign.segments)):
        return first.items()
    systems = list(campaign.systems.order_by("name"))
    system = campaign.hidden_rng("trap-system").choice(systems)
    outputs = campaign.outputs.filter(system=system).order_by("segment__position")
    return outputs.values_list("segment_id", "text")


def _first_references(segments: QuerySet[Segment]) -> Iterator[tuple[int, str]]:
    """Yield the first reference by name of every segment that has one, in order."""
    rows = segments.filter(references__isnull=False).order_by("position", "references__name")
    pairs = rows.values_list("pk", "references__text").iterator(BATCH)
    for _, of_segment in groupby(pairs, key=itemgetter(0)):
        yield next(of_segment)
