"""Match judgments with a stored test set: keys and names must exist, texts must agree."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from unicodedata import is_normalized

from django.db.models import QuerySet

from annotation.imports.drafts import SHOW_OUTPUT
from annotation.imports.judgments.rows import Row
from annotation.imports.judgments.texts import REFERENCES, Texts
from annotation.models import Item, Output, Reference, Segment, TestSet
from annotation.models.corpus import NO_SOURCE
from annotation.uploads import TestSetDraft
from annotation.uploads.drafts import DOCUMENT, DOMAIN, OUTPUT, REFERENCE, SOURCE
from annotation.uploads.files import RatioError, parse_ratio
from annotation.uploads.problems import Place, Report
from annotation.uploads.spellings import Near, nfc
from metaeval.files.cells import is_missing
from metaeval.messages import message, truncated

NAMES = {
    "source": SOURCE,
    "document": DOCUMENT,
    "domain": DOMAIN,
    "reference": REFERENCE,
    "reference_B": message("part.reference-b", "second reference"),
    "output": OUTPUT,
}


COMPARED = tuple(NAMES)
# Segments whose texts are read at once, and how many such blocks are kept.
BLOCK, KEPT = 100, 500


@dataclass(frozen=True)
class Known:
    """A stored segment with its references by name."""

    source: str
    document: str
    domain: str
    references: Mapping[str, str]


class Blocks:
    """Texts of a stored test set, which are read in blocks of segments when they are asked for.

    `positions` are those of the segments by key. Memory holds the keys and a few blocks, and of
    each system one bit per segment that says whether it has an output.
    """

    def __init__(self, test_set: TestSet) -> None:
        rows = Segment.objects.filter(test_set=test_set).order_by("position")
        self.positions: dict[str, int] = dict(rows.values_list("key", "position").iterator())
        self._rows = rows
        self.known = lru_cache(KEPT)(self._known)
        self.outputs = lru_cache(KEPT)(self._outputs)

    def _within(self, number: int) -> QuerySet[Segment]:
        low = number * BLOCK
        return self._rows.filter(position__gte=low, position__lt=low + BLOCK)

    def _known(self, number: int) -> dict[str, Known]:
        references: dict[str, dict[str, str]] = {}
        texts = Reference.objects.filter(segment__in=self._within(number)).order_by()
        for key, name, text in texts.values_list("segment__key", "name", "text"):
            references.setdefault(key, {})[name] = text
        fields = self._within(number).values_list("key", "source", "document", "domain")
        return {
            key: Known(source, document, domain, references.get(key, {}))
            for key, source, document, domain in fields
        }

    def _outputs(self, system: int, number: int) -> dict[str, str]:
        rows = Output.objects.filter(system=system, segment__in=self._within(number)).order_by()
        return dict(rows.values_list("segment__key", "text"))

    def has(self, system: int) -> bytearray:
        """Return which segments have an output of a system, by their positions."""
        found = bytearray(max(self.positions.values(), default=-1) + 1)
        rows = Output.objects.filter(system=system).order_by()
        for position in rows.values_list("segment__position", flat=True).iterator():
            found[position] = 1
        return found


class Sources(Mapping[str, str]):
    """The sources of a stored test set by key."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks

    def __getitem__(self, key: str) -> str:
        return self._blocks.known(self._blocks.positions[key] // BLOCK)[key].source

    def __iter__(self) -> Iterator[str]:
        return iter(self._blocks.positions)

    def __len__(self) -> int:
        return len(self._blocks.positions)


class Outputs(Mapping[tuple[str, str], str]):
    """The outputs of a stored test set by system and key; `systems` are those of one ratio."""

    def __init__(self, blocks: Blocks, systems: Mapping[str, int]) -> None:
        self._blocks, self._systems = blocks, systems
        self._has = {name: blocks.has(pk) for name, pk in systems.items()}

    def __contains__(self, place: object) -> bool:
        if not isinstance(place, tuple):
            return False
        system, key = place
        position = self._blocks.positions.get(key)
        return system in self._has and position is not None and bool(self._has[system][position])

    def __getitem__(self, place: tuple[str, str]) -> str:
        system, key = place
        number = self._blocks.positions[key] // BLOCK
        return self._blocks.outputs(self._systems[system], number)[key]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        keys = self._blocks.positions.items()
        return ((s, key) for s, own in self._has.items() for key, at in keys if own[at])

    def __len__(self) -> int:
        return sum(map(sum, self._has.values()))


@dataclass(frozen=True)
class Chosen:
    """A stored test set at one length ratio; `systems` are its primary keys by name."""

    test_set: TestSet
    ratio: Decimal
    blocks: Blocks
    systems: Mapping[str, int]
    texts: Texts

    @property
    def draft(self) -> TestSetDraft:
        """The draft that adds nothing."""
        head = self.test_set
        return TestSetDraft(head.slug, head.name, head.source_language, head.target_language)


def choose(slug: str, rows: Sequence[Row], report: Report) -> dict[Decimal, Chosen]:
    """Read a stored test set at every length ratio of the rows.

    Empty, with the reason reported, where it cannot be used.
    """
    test_set = TestSet.objects.filter(slug=slug).first()
    if test_set is None:
        report.error(
            message("judgments.no-test-set", "There is no test set “{slug}”.", slug=slug),
            Place(field="test_set"),
        )
        return {}
    blocks = Blocks(test_set)
    systems = {(s.name, s.length_ratio): s.pk for s in test_set.systems.all()}
    _spell_as_stored(blocks.positions, [name for name, _ in systems], rows)
    _name_systems(sorted({name for name, _ in systems}), rows, report)
    by_ratio = rows_by_ratio(rows, report)
    ratios = [ratio for ratio in by_ratio if ratio is not None]
    if len(by_ratio) == 1:
        ratio = _ratio(sorted({ratio for _, ratio in systems}), next(iter(by_ratio)), report)
        ratios = [] if ratio is None else [ratio]
    found = {}
    for ratio in ratios:
        own = {name: pk for (name, its), pk in systems.items() if its == ratio}
        texts = Texts(Sources(blocks), Outputs(blocks, own))
        found[ratio] = Chosen(test_set, ratio, blocks, own, texts)
    return found


def _spell_as_stored(keys: Iterable[str], systems: Iterable[str], rows: Iterable[Row]) -> None:
    """Write keys and names that are stored in another normalisation as they are stored."""
    spelled = [
        (field, {nfc(name): name for name in known if not is_normalized("NFC", name)})
        for field, known in (("segment", keys), ("system", systems))
    ]
    for row in rows:
        for field, known in spelled:
            if known and (name := row.name(field)) in known:
                row.cells[field] = known[name]


def _name_systems(known: Sequence[str], rows: Iterable[Row], report: Report) -> None:
    """Write systems that the test set does not have as those that a person says they are."""
    for row in rows:
        name = row.name("system")
        if name and name not in known and (row.shows_output or _names_output(row)):
            row.cells["system"] = report.system_of(row.place.file, name, known) or name


def _ratio(has: Sequence[Decimal], given: Decimal | None, report: Report) -> Decimal | None:
    """Return the given length ratio, or the only one of the test set; report unclear ones."""
    wanted = [ratio for ratio in has if given in (None, ratio)]
    if len(wanted) == 1:
        return wanted[0]
    if given is None and Decimal(1) in has:
        return Decimal(1)
    refusal = message(
        "judgments.unclear-length-ratio",
        "It is unclear which length ratio was judged. Add a column length_ratio. The test set has "
        "{n} length ratios ({ratios}).",
        n=len(has),
        ratios=truncated([f"{ratio.normalize():f}" for ratio in has]),
    )
    report.error(refusal, Place(field="test_set"))
    return None


def rows_by_ratio(rows: Sequence[Row], report: Report) -> dict[Decimal | None, list[Row]]:
    """Group rows by the length ratio that they name, the longest first.

    Rows without a ratio belong to the only one; with several, they are errors. None is the key
    where no row names any.
    """
    found: dict[Decimal, list[Row]] = {}
    silent = []
    for row in rows:
        if is_missing(row.cells.get("length_ratio")):
            silent.append(row)
            continue
        try:
            found.setdefault(parse_ratio(row.name("length_ratio")), []).append(row)
        except RatioError as error:
            report.error(error.message, row.at("length_ratio"))
    if len(found) < 2:
        return {next(iter(found), None): list(rows)}
    for row in silent:
        report.error(
            message(
                "judgments.no-length-ratio",
                "The length ratio is missing, but other rows have several.",
            ),
            row.at("length_ratio"),
        )
    return dict(sorted(found.items(), reverse=True))


def compare(chosen: Chosen, judged: Iterable[Row], others: Iterable[Row], report: Report) -> None:
    """Report unknown keys and names of judgments, and texts that the stored ones contradict."""
    systems, keys = chosen.systems, chosen.blocks.positions
    near, among = Near(keys), Near(systems)
    for row in judged:
        key, system = row.name("segment"), row.name("system")
        if not key and "segment" not in row.cells:  # a score of a whole system
            if system not in systems:
                report.error(among.no_system(system), row.at("system"))
            continue
        if key not in keys:
            report.error(near.no_segment(key), row.at("segment"))
            continue
        is_output = row.shows_output or _names_output(row)
        if is_output and system not in systems:
            report.error(among.no_system(system), row.at("system"))
        elif is_output and (system, key) not in chosen.texts.outputs:
            report.error(
                message(
                    "judgments.no-stored-output",
                    "“{system}” has no stored output for segment “{segment}”.",
                    system=system,
                    segment=key,
                ),
                row.at("system"),
            )
        _compare_texts(chosen, row, report)
    for row in others:
        if row.name("segment") in keys:
            _compare_texts(chosen, row, report)


def _names_output(row: Row) -> bool:
    """Whether a system must be named: our exports leave it out where no output was shown."""
    return not row.sheet.is_exported and row.cells["kind"] in (*SHOW_OUTPUT, Item.Kind.DOCUMENT)


def _compare_texts(chosen: Chosen, row: Row, report: Report) -> None:
    if not any(row.cells.get(field) for field in COMPARED):
        return
    key = row.name("segment")
    segment = chosen.blocks.known(chosen.blocks.positions[key] // BLOCK)[key]
    source = "" if segment.source == NO_SOURCE else segment.source
    known = {"source": source, "document": segment.document, "domain": segment.domain}
    known |= {column: segment.references.get(name, "") for column, name in REFERENCES.items()}
    if row.cells.get("output") and row.cells.get("kind") in SHOW_OUTPUT:
        known["output"] = chosen.texts.outputs.get((row.name("system"), key), "")
    for field, text in known.items():
        given = row.name(field) if field in ("document", "domain") else row.text(field, report)
        if given.strip() and text and given != text:
            refusal = message(
                "judgments.differs-from-stored",
                "The {field} differs from the stored one of segment “{segment}”.",
                field=NAMES[field],
                segment=key,
            )
            report.error(refusal, row.at(field))
