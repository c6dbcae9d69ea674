"""Match judgments with a stored test set: keys and names must exist, texts must agree."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import cast

from annotation.imports.drafts import SHOW_OUTPUT
from annotation.imports.judgments.rows import Row
from annotation.imports.judgments.texts import REFERENCES, Texts
from annotation.models import Item, Output, TestSet
from annotation.models.corpus import NO_SOURCE
from annotation.uploads import TestSetDraft
from annotation.uploads.changes import Stored, read_stored
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


@dataclass(frozen=True)
class Chosen:
    """A stored test set at one length ratio."""

    stored: Stored
    ratio: Decimal
    texts: Texts

    @property
    def draft(self) -> TestSetDraft:
        """The draft that adds nothing."""
        test_set = cast(TestSet, self.stored.test_set)
        return TestSetDraft(
            test_set.slug, test_set.name, test_set.source_language, test_set.target_language
        )


def choose(slug: str, rows: Sequence[Row], report: Report) -> dict[Decimal, Chosen]:
    """Read a stored test set at every length ratio of the rows.

    Empty, with the reason reported, where it cannot be used.
    """
    stored = read_stored(slug)
    if stored.test_set is None:
        report.error(
            message("judgments.no-test-set", "There is no test set “{slug}”.", slug=slug),
            Place(field="test_set"),
        )
        return {}
    _spell_as_stored(stored, rows)
    by_ratio = rows_by_ratio(rows, report)
    if len(by_ratio) == 1:
        ratio = _ratio(stored, next(iter(by_ratio)), report)
        return {} if ratio is None else {ratio: _at_ratio(stored, ratio)}
    return {ratio: _at_ratio(stored, ratio) for ratio in by_ratio if ratio is not None}


def _at_ratio(stored: Stored, ratio: Decimal) -> Chosen:
    systems = {pk: name for (name, own), pk in stored.systems.items() if own == ratio}
    keys = {segment.pk: key for key, segment in stored.segments.items()}
    outputs = Output.objects.filter(system__in=systems).order_by()
    texts = Texts(
        {key: segment.source for key, segment in stored.segments.items()},
        {
            (systems[system], keys[segment]): text
            for system, segment, text in outputs.values_list("system", "segment", "text").iterator()
        },
    )
    return Chosen(stored, ratio, texts)


def _spell_as_stored(stored: Stored, rows: Iterable[Row]) -> None:
    """Write keys and names that are stored in another normalisation as they are stored."""
    keys = {nfc(key): key for key in stored.segments}
    names = {nfc(name): name for name, _ in stored.systems}
    for row in rows:
        for field, known in (("segment", keys), ("system", names)):
            if (name := row.name(field)) in known:
                row.cells[field] = known[name]


def _ratio(stored: Stored, given: Decimal | None, report: Report) -> Decimal | None:
    """Return the given length ratio, or the only one of the test set; report unclear ones."""
    has = sorted({ratio for _, ratio in stored.systems})
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
    systems = {name for name, ratio in chosen.stored.systems if ratio == chosen.ratio}
    near, among = Near(chosen.stored.segments), Near(systems)
    for row in judged:
        key, system = row.name("segment"), row.name("system")
        if not key and "segment" not in row.cells:  # a score of a whole system
            if system not in systems:
                report.error(among.no_system(system), row.at("system"))
            continue
        if key not in chosen.stored.segments:
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
        if row.name("segment") in chosen.stored.segments:
            _compare_texts(chosen, row, report)


def _names_output(row: Row) -> bool:
    """Whether a system must be named: our exports leave it out where no output was shown."""
    return not row.sheet.is_exported and row.cells["kind"] in (*SHOW_OUTPUT, Item.Kind.DOCUMENT)


def _compare_texts(chosen: Chosen, row: Row, report: Report) -> None:
    key = row.name("segment")
    segment, references = chosen.stored.segments[key], chosen.stored.references[key]
    source = "" if segment.source == NO_SOURCE else segment.source
    known = {"source": source, "document": segment.document, "domain": segment.domain}
    known |= {column: references.get(name, "") for column, name in REFERENCES.items()}
    if row.cells.get("kind") in SHOW_OUTPUT:
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
