"""Make control items: copies of target screens in which some texts are replaced.

On screens of one item a control is that item. For documents and screens of several systems it is
a copy of the whole screen, in which some texts are replaced and the others repeated, so that
annotators cannot recognise it by its form.
"""

import random
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from django.core.exceptions import ValidationError
from django.db.models import F, QuerySet

from annotation.controls.traps import cut_text
from annotation.models import Campaign, Item, Output, Reference
from annotation.models.campaign import KINDS
from annotation.protocols import Layout
from core.languages import is_character_based
from core.text import batched
from metaeval.messages import message

# Bad references: texts with a random run of words replaced by a run of another text. Source:
# Graham et al. 2017, "Can machine translation systems be evaluated by the crowd alone"; lengths
# as in their program `prep-hits/bad-refs.py`.

# Texts of fewer units than the first number lose the second number of units.
RUNS = ((4, 1), (6, 2), (8, 3), (15, 4), (20, 5))
MOST_IN = 6
TRIES = 20
JOINERS = {"\u200c", "\u200d"}


def run_lengths(n: int) -> tuple[int, int]:
    """Return how many of `n` words are taken out, and how many are put in."""
    for below, length in RUNS:
        if n < below:
            return length, length
    return n // 4, min(n // 4, MOST_IN)


def degrade(text: str, donors: Sequence[str], language: str, rng: random.Random) -> str | None:
    """Replace a random run of words by a run of one of the donors.

    In Chinese, Japanese and other languages written without blanks the units are characters with
    their marks. In texts of three or more units the first and the last stay. Returns None where
    nothing different can be made: an empty text, or donors without anything new.
    """
    by_character = is_character_based(language)
    own = split_units(text, by_character)
    if not own or not donors:
        return None
    out, into = run_lengths(len(own))
    edge = 1 if len(own) >= 3 else 0
    for _ in range(TRIES):
        run = _run(split_units(rng.choice(donors), by_character), into, rng)
        start = rng.randint(edge, len(own) - edge - out)
        if run and [unit.strip() for unit in run] != [
            unit.strip() for unit in own[start : start + out]
        ]:
            units = [*own[:start], *run, *own[start + out :]]
            return ("" if by_character else " ").join(units).strip()
    return None


def _run(units: Sequence[str], length: int, rng: random.Random) -> Sequence[str]:
    """Return a random run of `length` units, or all of them if there are fewer."""
    start = rng.randint(0, max(0, len(units) - length))
    return units[start : start + length]


def split_units(text: str, by_character: bool) -> list[str]:
    """Split into words, or into characters that keep their marks and the blanks behind them."""
    if not by_character:
        return text.split()
    units: list[str] = []
    for character in text.strip():
        if units and (_continues(character) or units[-1][-1] in JOINERS):
            units[-1] += character
        else:
            units.append(character)
    return units


def _continues(character: str) -> bool:
    return (
        character.isspace()
        or character in JOINERS
        or unicodedata.category(character).startswith("M")
    )


Kind = Item.Kind
CHUNK = 200
MANY_KEYS = 5_000
MAX_DONORS = 1_000
COLUMNS = ("pk", "kind", "segment_id", "output_id", "system_id", "column", "n_columns", "note")


Rows = Sequence[Mapping[str, Any]]


class ScreenList(Protocol):
    """Screens of items, each a sequence of primary keys."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> Sequence[int]: ...


@dataclass(frozen=True)
class Control:
    """A control screen, with the number of the target screen that it was made from."""

    kind: Item.Kind
    partner: int | None
    items: Sequence[Item]


class ControlMaker:
    """Makes the controls of one campaign; repeated requests return the same items."""

    def __init__(self, campaign: Campaign, targets: ScreenList, first_screen: int) -> None:
        self.campaign, self.targets, self.next_screen = campaign, targets, first_screen
        self.layout = campaign.judging.layout
        self.made: dict[tuple[str, int], Control | None] = {}
        self._donors: list[tuple[int, str]] | None = None

    def counts(self) -> dict[Item.Kind, int]:
        """Return how many controls of each kind an annotator gets, apart from shared traps."""
        campaign = self.campaign
        counts = {
            Kind.BAD_REF: campaign.bad_references_per_annotator,
            Kind.REPEAT: campaign.repeats_per_annotator,
            Kind.REF: campaign.references_per_annotator,
        }
        if self.layout != Layout.SINGLE:
            counts[Kind.TRAP] = campaign.traps_per_annotator
        return {kind: count for kind, count in counts.items() if count}

    def draw(self, share: Sequence[int], whose: str, rng: random.Random) -> list[Control]:
        """Make one annotator's controls from different screens of their share.

        Raises ValidationError, with numbers, if the share has too few screens for them.
        """
        counts = self.counts()
        left = rng.sample(share, len(share)) if counts else []
        drawn: list[Control] = []
        for kind, count in counts.items():
            own = self._some(kind, left, count)
            if len(own) < count:
                raise ValidationError(
                    [
                        message(
                            "controls.too-few-targets",
                            "{annotator} has {screens} screens of outputs. {n} of them can "
                            "become control items of the kind “{kind}”, and {wanted} are needed. "
                            "Reduce the number of control items.",
                            annotator=whose,
                            screens=len(share),
                            n=len(own),
                            kind=KINDS[kind],
                            wanted=count,
                        )
                    ]
                )
            used = {control.partner for control in own}
            left = [index for index in left if index not in used]
            drawn += own
        return drawn

    def bank(self, kind: Item.Kind, size: int) -> Iterator[Control]:
        """Make `size` controls of a kind from targets drawn at random, for an open pool."""
        rng = self.campaign.hidden_rng("bank", kind)
        order = rng.sample(range(len(self.targets)), len(self.targets))
        for control in self._each(kind, order):
            if size <= 0:
                return
            size -= 1
            yield control
            self.made.clear()

    def _some(self, kind: Item.Kind, order: Sequence[int], count: int) -> list[Control]:
        found: list[Control] = []
        for control in self._each(kind, order):
            found.append(control)
            if len(found) == count:
                break
        return found

    def _each(self, kind: Item.Kind, order: Iterable[int]) -> Iterator[Control]:
        for chunk in batched(order, CHUNK if self.layout == Layout.SINGLE else 20):
            new = [index for index in chunk if (kind, index) not in self.made]
            rows = self._rows(new)
            references = self._references(rows)
            for index in chunk:
                if (kind, index) not in self.made:
                    self.made[kind, index] = self._make(kind, index, rows[index], references)
                control = self.made[kind, index]
                if control is not None:
                    yield control

    def _rows(self, indices: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
        """Read the items of screens, in several queries if there are many."""
        where = {pk: index for index in indices for pk in self.targets[index]}
        rows: dict[int, list[dict[str, Any]]] = defaultdict(list)
        for keys in batched(where, MANY_KEYS):
            found = Item.objects.filter(pk__in=keys).order_by("pk")
            for row in found.values(*COLUMNS, rated=F("output__text")):
                rows[where[row["pk"]]].append(row)
        return rows

    def _references(self, rows: Mapping[int, Sequence[Mapping[str, Any]]]) -> dict[int, str]:
        """Return the first reference by name of every segment on the screens."""
        segments = {row["segment_id"] for screen in rows.values() for row in screen}
        first: dict[int, str] = {}
        for keys in batched(sorted(segments), MANY_KEYS):
            found = Reference.objects.filter(segment__in=keys).order_by("segment", "name")
            for segment, text in found.values_list("segment_id", "text"):
                first.setdefault(segment, text)
        return first

    def _make(
        self,
        kind: Item.Kind,
        index: int,
        rows: Sequence[Mapping[str, Any]],
        references: Mapping[int, str],
    ) -> Control | None:
        rng = self.campaign.hidden_rng("control", kind, index)
        texts = self._replacements(kind, rows, references, rng)
        if kind != Kind.REPEAT and not texts:
            return None
        order = list(rows)
        if self.layout.has_systems:
            order = shuffled_columns(order, rng)
        items = [
            self._item(kind, row, texts.get(row["pk"], ""), place)
            for place, row in enumerate(order)
        ]
        self.next_screen += 1
        return Control(kind, index, items)

    def _replacements(
        self,
        kind: Item.Kind,
        rows: Sequence[Mapping[str, Any]],
        references: Mapping[int, str],
        rng: random.Random,
    ) -> dict[int, str]:
        """Return new texts by primary key: of one item, or of a third of a document."""
        rated = [row for row in rows if row["output_id"] is not None]
        if self.layout == Layout.GRID:
            column = rng.choice(sorted({row["column"] for row in rated}))
            rated = [row for row in rated if row["column"] == column]
        count = 1
        if self.layout.has_documents:
            count = len(rated) if kind == Kind.REF else max(1, round(len(rated) / 3))
        if kind == Kind.REPEAT:
            count = 0
        texts: dict[int, str] = {}
        for row in rng.sample(rated, len(rated)):
            if len(texts) == count:
                break
            text = self._text(kind, row, references.get(row["segment_id"]), rng)
            if text:
                texts[row["pk"]] = text
        return texts

    def _text(
        self,
        kind: Item.Kind,
        row: Mapping[str, Any],
        reference: str | None,
        rng: random.Random,
    ) -> str | None:
        language = self.campaign.test_set.target_language
        if kind == Kind.BAD_REF:
            donors = [text for segment, text in self.donors if segment != row["segment_id"]]
            return degrade(row["rated"], donors, language, rng)
        if kind == Kind.TRAP:
            return cut_text(reference or row["rated"], self.campaign.trap_ratio, language)
        return reference

    def _item(self, kind: Item.Kind, row: Mapping[str, Any], text: str, place: int) -> Item:
        is_whole = row["output_id"] is None
        own = kind if text else Kind.REPEAT
        return Item(
            campaign=self.campaign,
            kind=Kind.DOCUMENT if is_whole else own,
            segment_id=row["segment_id"],
            output_id=None if text else row["output_id"],
            system_id=row["system_id"],
            text=text,
            partner_id=row["pk"],
            screen=None if self.layout == Layout.SINGLE else self.next_screen,
            place=place,
            column=row["column"],
            n_columns=row["n_columns"],
            note=row["note"],
        )

    @property
    def donors(self) -> Sequence[tuple[int, str]]:
        """The segments and texts that words are taken from: references, or outputs if none."""
        if self._donors is None:
            self._donors = self._draw_donors()
        return self._donors

    def _draw_donors(self) -> list[tuple[int, str]]:
        test_set = self.campaign.test_set
        rng = self.campaign.hidden_rng("donors")
        rows: QuerySet[Any] = Reference.objects.filter(segment__test_set=test_set)
        if not rows.exclude(text="").exists():
            rows = Output.objects.filter(system__in=self.campaign.systems.all())
        keys = list(rows.exclude(text="").order_by("pk").values_list("pk", flat=True))
        drawn = rng.sample(keys, min(len(keys), MAX_DONORS))
        return list(rows.filter(pk__in=drawn).order_by("pk").values_list("segment_id", "text"))


def shuffled_columns(rows: Rows, rng: random.Random) -> list[Mapping[str, Any]]:
    """Shuffle the columns of a screen's systems, the same way in all its segments."""
    before = sorted({row["column"] for row in rows})
    column = dict(zip(before, rng.sample(before, len(before)), strict=True))
    segments = {pk: n for n, pk in enumerate(dict.fromkeys(row["segment_id"] for row in rows))}
    moved = [{**row, "column": column[row["column"]]} for row in rows]
    return sorted(moved, key=lambda row: (segments[row["segment_id"]], row["column"]))
