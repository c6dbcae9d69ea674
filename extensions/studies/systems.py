"""Build tables 9 and 10 of Cheng et al. (2023): MT systems over the campaigns of a study."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation.models import Campaign
from dashboards.documents.head import OfSeveral, units_among
from dashboards.systems.columns import Cell, Row, by_name
from dashboards.systems.document import Systems
from dashboards.trust.shown import worst_of
from metaeval.messages import Message, message

# The reader's choice, or several where the defaults of languages and test sets differ.
UNITS: dict[str, Message] = {
    "words": message("lengths.words", "words"),
    "characters": message("lengths.characters", "characters"),
}
EITHER_UNIT = message("lengths.words-or-characters", "words or characters")
TEXTS = {
    "reference": message("lengths.reference", "reference"),
    "source": message("lengths.source", "source"),
}
EITHER_TEXT = message("lengths.reference-or-source", "reference or source")
ROUNDED = message("lengths.rounded", "rounded half to even and at least 1")
NOT_ROUNDED = message("lengths.not-rounded", "not rounded")
HUMAN_SCORE = message("systems.human-score-of-study", "Human score")
DEVIATION = message("lengths.deviation", "Mean absolute deviation from the target length")


@dataclass(frozen=True)
class Head:
    """The head of a campaign's column."""

    slug: str
    direction: str
    percent: str
    name: str


@dataclass(frozen=True)
class Line:
    """One system, with a cell per campaign; None where it has none.

    It `is_judged` where it is in one of the campaigns.
    """

    system: str
    cells: Sequence[Cell | None]

    @property
    def is_judged(self) -> bool:
        """Whether the system was judged in a campaign."""
        return any(cell.is_judged for cell in self.cells if cell)


@dataclass(frozen=True)
class Block:
    """The humans, a measure, or the lengths."""

    key: str
    label: Message | str
    lines: Sequence[Line]


@dataclass(frozen=True)
class Score:
    """A row of the data."""

    measure: str
    system: str
    campaign: str
    score: float | None
    mark: str
    is_judged: bool


@dataclass(frozen=True)
class Basis:
    """A description of the data of one campaign."""

    name: str
    slug: str
    sentences: Sequence[Message]


@dataclass(frozen=True, kw_only=True)
class StudySystems(OfSeveral):
    """The document; campaigns in `missing` are still being computed.

    Marks compare with the `versus` system, and `length` explains deviations of length.
    """

    campaigns: Sequence[Head]
    blocks: Sequence[Block]
    rows: Sequence[Score]
    basis: Sequence[Basis]
    missing: Sequence[str]
    versus: str = "next"
    length: Message | None = None
    length_units: Sequence[str] = ()


def study_table(
    campaigns: Sequence[Campaign],
    documents: Sequence[Systems],
    missing: Sequence[str],
    failed: Sequence[tuple[str, Message]] = (),
) -> StudySystems:
    """Return a block for the humans, for every measure and for lengths, those with any line.

    `failed` are campaigns whose numbers could not be computed, with the error.

    Systems that were not judged in any campaign come last, with their metric scores and lengths.
    """
    heads = [Head(c.slug, c.test_set.direction, c.percent, c.name) for c in campaigns]
    judged = [name for each in documents for name in each.systems]
    others = [row.system for each in documents for row in each.outside]
    measured = [row.system for each in documents for row in each.lengths.rows]
    names = list(dict.fromkeys([*judged, *others, *measured]))
    labels = {c.key: c.label for each in documents for c in each.columns}
    blocks = [
        _block("human", HUMAN_SCORE, names, [by_name(d.human) for d in documents]),
        *(
            _block(key, label, names, [by_name(_column(d, key)) for d in documents])
            for key, label in labels.items()
        ),
        _block(
            "length",
            DEVIATION,
            names,
            [_lengths(d) for d in documents],
        ),
    ]
    return StudySystems(
        campaigns=heads,
        blocks=[block for block in blocks if block.lines],
        rows=[row for block in blocks for row in _rows(block, heads)],
        basis=[Basis(c.name, c.slug, d.basis) for c, d in zip(campaigns, documents, strict=True)],
        warnings=[
            *(
                message(
                    "study.systems-failed",
                    "The numbers of {campaign} could not be computed. {error}",
                    campaign=name,
                    error=error,
                )
                for name, error in failed
            ),
            *_warnings(campaigns, documents),
        ],
        missing=missing,
        versus=documents[0].versus if documents else "next",
        length=length_note(documents),
        length_units=list(dict.fromkeys(u for each in documents for u in each.length_units)),
        trust=worst_of([document.trust for document in documents]),
        units=units_among(documents),
    )


def _warnings(campaigns: Sequence[Campaign], documents: Sequence[Systems]) -> list[Message]:
    """Return every warning once, with the names of its campaigns."""
    found: dict[Message, list[str]] = {}
    for campaign, document in zip(campaigns, documents, strict=True):
        for warning in document.warnings:
            found.setdefault(warning, []).append(campaign.name)
    return [
        message("study.of-campaigns", "{campaigns}: {warning}", campaigns=names, warning=warning)
        for warning, names in found.items()
    ]


def length_note(documents: Sequence[Systems]) -> Message | None:
    """Return an explanation of mean deviations, with their unit and target length."""
    known = [each for each in documents if each.lengths.rows]
    if not known:
        return None
    units = {each.lengths.unit for each in known}
    texts = {each.lengths.of for each in known}
    unit, of = min(units), min(texts)
    return message(
        "lengths.about",
        "Mean of |length − target| / target over the outputs, in {unit}. The target length is the "
        "length ratio times the length of the {text}, {rounding}.",
        unit=UNITS.get(unit, unit) if len(units) == 1 else EITHER_UNIT,
        text=TEXTS.get(of, of) if len(texts) == 1 else EITHER_TEXT,
        rounding=ROUNDED if known[0].lengths.is_rounded else NOT_ROUNDED,
    )


def _column(document: Systems, key: str) -> Sequence[Row]:
    """Return a measure's rows: judged systems, then the others."""
    own = next((column.rows for column in document.columns if column.key == key), ())
    return [*own, *(row for row in document.outside if row.measure == key)]


def _lengths(document: Systems) -> dict[str, Cell]:
    return {
        row.system: Cell(score=row.statistic, is_judged=row.is_judged)
        for row in document.lengths.rows
    }


def _block(
    key: str, label: Message | str, names: Sequence[str], cells: Sequence[Mapping[str, Cell]]
) -> Block:
    lines = [Line(name, [own.get(name) for own in cells]) for name in names]
    return Block(key, label, [line for line in lines if any(line.cells)])


def _rows(block: Block, heads: Sequence[Head]) -> list[Score]:
    return [
        Score(block.key, line.system, head.slug, cell.score, cell.mark, cell.is_judged)
        for line in block.lines
        for head, cell in zip(heads, line.cells, strict=True)
        if cell
    ]
