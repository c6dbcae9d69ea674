"""Checks on screens of several systems: one output with words in the wrong positions.

Source: the attention checks of WMT26's human evaluation (humeval/01-prepare_campaigns.py in
wmt-conference/wmt26-general-mt): five words, or ten characters in languages without blanks, are
rotated; the other outputs of the screen must score strictly higher. WMT26 reports a failure and
shows the screen again; here checks are not marked, and failures count as those of gold items.
"""

import random
from collections import defaultdict
from collections.abc import Iterator
from itertools import count

from django.core.exceptions import ValidationError

from annotation.controls.making import split_units
from annotation.models import Campaign, Item
from core.languages import is_character_based
from metaeval.messages import plural

N_WORDS, N_CHARACTERS = 5, 10


def rotate(text: str, language: str, rng: random.Random) -> str | None:
    """Rotate the units at random positions of a text by a random step.

    Returns None if the text has too few units or would not change.
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
    """Store the campaign's checks as gold items.

    Raises ValidationError if too few screens can be made into checks.
    """
    wanted = campaign.rotated_checks
    made = []
    for items in _checks(campaign) if wanted else ():
        made.append(items)
        if len(made) == wanted:
            break
    if len(made) < wanted:
        raise ValidationError(
            [
                plural(
                    "controls.too-few-checks",
                    "{n} screen can become a check with moved words, and {wanted} are needed. "
                    "Outputs need at least {words} words, or {characters} characters.",
                    "{n} screens can become checks with moved words, and {wanted} are needed. "
                    "Outputs need at least {words} words, or {characters} characters.",
                    n=len(made),
                    wanted=wanted,
                    words=N_WORDS,
                    characters=N_CHARACTERS,
                )
            ]
        )
    for number, items in enumerate(made, first_screen):
        for item in items:
            item.screen = number
    Item.objects.bulk_create([item for items in made for item in items])


def _checks(campaign: Campaign) -> Iterator[list[Item]]:
    """Yield screens like those of targets: a segment or a document by several systems."""
    rng = campaign.hidden_rng("rotated")
    unit = "segment__document" if campaign.judging.layout.has_documents else "segment"
    outputs = campaign.outputs
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
    """Yield the screen with one column rotated in a third of its rows, if that is possible."""
    size = len(next(iter(rows.values())))
    column, language = rng.randrange(size), campaign.test_set.target_language
    rotated: dict[int, str] = {}
    for segment in rng.sample(list(rows), len(rows)):
        text = rotate(rows[segment][column], language, rng)
        # The rotated text must differ from the texts that it is compared with.
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
