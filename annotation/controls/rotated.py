"""Checks of screens with several systems: one output with words in the wrong places.

Source: the attention checks of WMT26's human evaluation (humeval/01-prepare_campaigns.py in
wmt-conference/wmt26-general-mt): five words, or ten characters where words are not set apart,
change places in a ring; the others of the screen have to score strictly higher. There a failure is
told and the screen asked again; here nothing tells a check, and failures count as those of gold.
"""

import random
from collections import defaultdict
from collections.abc import Iterator
from itertools import count

from django.core.exceptions import ValidationError

from annotation.controls.bad_references import split_units
from annotation.models import Campaign, Item, Output
from core.languages import is_character_based
from core.text import pluralize

N_WORDS, N_CHARACTERS = 5, 10


def rotate(text: str, language: str, rng: random.Random) -> str | None:
    """Move units from random places each to the next of these places, by a random step.

    Returns None for a text with fewer units, or one that comes out as it was.
    """
    by_character = is_character_based(language)
    units = split_units(text, by_character)
    n = N_CHARACTERS if by_character else N_WORDS
    if len(units) < n:
        return None
    places = sorted(rng.sample(range(len(units)), n))
    step = rng.randrange(1, n)
    moved = [units[place] for place in places]
    for place, unit in zip(places, moved[step:] + moved[:step], strict=True):
        units[place] = unit
    rotated = ("" if by_character else " ").join(units).strip()
    return None if rotated == text.strip() else rotated


def plant_checks(campaign: Campaign, first_screen: int) -> None:
    """Store the checks that a campaign asks for, as gold.

    Raises ValidationError, with numbers, where too few screens can be made into one.
    """
    wanted = campaign.rotated_checks
    made = []
    for items in _checks(campaign) if wanted else ():
        made.append(items)
        if len(made) == wanted:
            break
    if len(made) < wanted:
        raise ValidationError(
            f"Only {pluralize(len(made), 'screen')} can be made into a check with moved words, "
            f"not {wanted:,}: outputs need {N_WORDS} words, or {N_CHARACTERS} characters."
        )
    for number, items in enumerate(made, first_screen):
        for item in items:
            item.screen = number
    Item.objects.bulk_create([item for items in made for item in items])


def _checks(campaign: Campaign) -> Iterator[list[Item]]:
    """Screens as those of targets are: a segment, or a document, by as many systems."""
    rng = campaign.hidden_rng("rotated")
    unit = "segment__document" if campaign.judging.layout.has_documents else "segment"
    outputs = Output.objects.filter(system__in=campaign.systems.all())
    units = sorted(set(outputs.order_by().values_list(unit, flat=True)))
    rng.shuffle(units)
    for each in units:
        texts: dict[int, dict[int, str]] = defaultdict(dict)
        own = outputs.filter(**{unit: each}).order_by("segment__position", "system_id")
        for segment, system, text in own.values_list("segment_id", "system_id", "text"):
            texts[segment][system] = text
        shared = sorted(set.intersection(*map(set, texts.values())))
        if len(shared) > 1:
            systems = rng.sample(shared, min(len(shared), campaign.systems_per_screen))
            rows = {segment: [by[system] for system in systems] for segment, by in texts.items()}
            yield from _spoiled(campaign, rows, rng)


def _spoiled(
    campaign: Campaign, rows: dict[int, list[str]], rng: random.Random
) -> Iterator[list[Item]]:
    """Yield the screen with one column spoiled in a third of its rows, if any row lets it."""
    size = len(next(iter(rows.values())))
    column, language = rng.randrange(size), campaign.test_set.target_language
    rotated: dict[int, str] = {}
    for segment in rng.sample(list(rows), len(rows)):
        text = rotate(rows[segment][column], language, rng)
        # A clean text must not be what it is compared with.
        if text and text not in rows[segment] and len(rotated) < max(1, round(len(rows) / 3)):
            rotated[segment] = text
    if not rotated:
        return
    items = []
    for start, (segment, texts) in zip(count(0, size), rows.items(), strict=False):
        for n, text in enumerate(texts):
            is_spoiled, is_above = n == column, segment in rotated and n != column
            items.append(
                Item(
                    campaign=campaign, kind=Item.Kind.GOLD, segment_id=segment, place=start + n,
                    text=rotated.get(segment, text) if is_spoiled else text,
                    column=n, n_columns=size, rules={"above": start + column} if is_above else None,
                )
            )  # fmt: skip
    yield items
