"""MT systems over the campaigns of a study: tables 9 and 10 of Cheng et al. (2023)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation.models import Campaign
from dashboards.documents.head import OfSeveral, units_among
from dashboards.systems.columns import Cell, Row, by_name
from dashboards.systems.document import Systems
from dashboards.trust.shown import worst_of

# What stands behind the numbers of table 10; they are absolute, so a mean hides no sign.
LENGTH = (
    "Mean of |length − wanted| / wanted over the outputs, in {unit}. The wanted length is the "
    "length ratio times that of the {of}, {rounding}."
)
# Without a choice of the reader, as each language and test set has it.
EITHER_UNIT, EITHER_TEXT = "words or characters", "reference or source"
ROUNDED, NOT_ROUNDED = "rounded half to even and at least 1", "not rounded"


@dataclass(frozen=True)
class Head:
    """A campaign as it heads its column."""

    slug: str
    direction: str
    percent: str
    name: str


@dataclass(frozen=True)
class Line:
    """One system, with a cell for each campaign; None where it has none.

    It `is_judged` where it is in one of the campaigns.
    """

    system: str
    cells: Sequence[Cell | None]

    @property
    def is_judged(self) -> bool:
        """Whether a cell is of a judged system."""
        return any(cell.is_judged for cell in self.cells if cell)


@dataclass(frozen=True)
class Block:
    """The humans, a measure, or the lengths."""

    key: str
    label: str
    lines: Sequence[Line]


@dataclass(frozen=True)
class Score:
    """A line of the data."""

    measure: str
    system: str
    campaign: str
    score: float | None
    mark: str
    is_judged: bool


@dataclass(frozen=True)
class Basis:
    """What the figures of one campaign rest on."""

    name: str
    slug: str
    sentences: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class StudySystems(OfSeveral):
    """The document; campaigns in `missing` are still being computed.

    Marks compare with the `versus` system, and `length` says what deviations of length are.
    """

    campaigns: Sequence[Head]
    blocks: Sequence[Block]
    rows: Sequence[Score]
    basis: Sequence[Basis]
    missing: Sequence[str]
    versus: str = "next"
    length: str = ""
    length_units: Sequence[str] = ()


def study_table(
    campaigns: Sequence[Campaign],
    documents: Sequence[Systems],
    missing: Sequence[str],
    failed: Sequence[tuple[str, str]] = (),
) -> StudySystems:
    """Return a block for the humans, for every measure and for lengths, those with any line.

    `failed` are campaigns whose numbers could not be computed, with the error.

    Systems that were judged in no campaign come last, with what metrics and lengths say of them.
    """
    heads = [Head(c.slug, c.test_set.direction, c.percent, c.name) for c in campaigns]
    judged = [name for each in documents for name in each.systems]
    others = [row.system for each in documents for row in each.outside]
    measured = [row.system for each in documents for row in each.lengths.rows]
    names = list(dict.fromkeys([*judged, *others, *measured]))
    labels = {c.key: c.label for each in documents for c in each.columns}
    blocks = [
        _block("human", "Human score", names, [by_name(d.human) for d in documents]),
        *(
            _block(key, label, names, [by_name(_column(d, key)) for d in documents])
            for key, label in labels.items()
        ),
        _block(
            "length",
            "Mean absolute deviation from the wanted length",
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
            *(f"{name}: the numbers could not be computed: {error}" for name, error in failed),
            *_warnings(campaigns, documents),
        ],
        missing=missing,
        versus=documents[0].versus if documents else "next",
        length=length_note(documents),
        length_units=list(dict.fromkeys(u for each in documents for u in each.length_units)),
        trust=worst_of([document.trust for document in documents]),
        units=units_among(documents),
    )


def _warnings(campaigns: Sequence[Campaign], documents: Sequence[Systems]) -> list[str]:
    """Every sentence once, after the names of its campaigns."""
    told: dict[str, list[str]] = {}
    for campaign, document in zip(campaigns, documents, strict=True):
        for warning in document.warnings:
            told.setdefault(warning, []).append(campaign.name)
    return [f"{', '.join(names)}: {warning}" for warning, names in told.items()]


def length_note(documents: Sequence[Systems]) -> str:
    """Say what a mean deviation is, in which unit and of which wanted length."""
    known = [each for each in documents if each.lengths.rows]
    if not known:
        return ""
    units, of = ({getattr(each.lengths, name) for each in known} for name in ("unit", "of"))
    return LENGTH.format(
        unit=units.pop() if len(units) == 1 else EITHER_UNIT,
        of=of.pop() if len(of) == 1 else EITHER_TEXT,
        rounding=ROUNDED if known[0].lengths.is_rounded else NOT_ROUNDED,
    )


def _column(document: Systems, key: str) -> Sequence[Row]:
    """A measure's rows: judged systems, then the others."""
    own = next((column.rows for column in document.columns if column.key == key), ())
    return [*own, *(row for row in document.outside if row.measure == key)]


def _lengths(document: Systems) -> dict[str, Cell]:
    return {
        row.system: Cell(score=row.statistic, is_judged=row.is_judged)
        for row in document.lengths.rows
    }


def _block(
    key: str, label: str, names: Sequence[str], cells: Sequence[Mapping[str, Cell]]
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
