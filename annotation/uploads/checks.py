"""What a test set must satisfy before it is stored. Each violation names file, row and field."""

import re
import unicodedata
from collections.abc import Collection
from decimal import Decimal

from annotation.models import Reference, Segment, System, TestSet
from annotation.uploads.drafts import TestSetDraft
from annotation.uploads.problems import Place, Report
from annotation.uploads.spellings import Near, fold, nfc
from core import languages
from core.text import join_truncated

MIN_RATIO, MAX_RATIO = Decimal("0.05"), Decimal(5)
# Tab and line feed may stand in a text; the other control characters come from damaged files, and
# PostgreSQL cannot store NUL nor anybody a lone surrogate.
FORBIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
FORBIDDEN_IN_NAMES = re.compile(r"[\x00-\x1f\x7f\x80-\x9f\u2028\u2029\ud800-\udfff]")
DAMAGED = re.compile(r"[\x80-\x84\x86-\x9f\ufeff\ufffd\ufffe\uffff]")
ODD_BREAK = re.compile(r"[\x85\u2028\u2029]")
CHARACTER_NAMES = {
    "\x00": "NUL", "\x0b": "vertical tab", "\x0c": "form feed", "\r": "carriage return",
    "\x1a": "substitute (Ctrl-Z)", "\x1b": "escape", "\x7f": "delete", "\x85": "next line",
    "\ufeff": "byte order mark inside the text", "\t": "tab", "\n": "line feed",
}  # fmt: skip


def max_length(model: type, column: str) -> int:
    """Return how many characters a column of a table holds."""
    length: int = model._meta.get_field(column).max_length  # type: ignore[attr-defined]
    return length


def character(text: str) -> str:
    """Name a character: `U+0000 (NUL)`."""
    name = CHARACTER_NAMES.get(text) or unicodedata.name(text, "control character").lower()
    return f"U+{ord(text):04X} ({name})"


def check(draft: TestSetDraft, report: Report, stored_keys: Collection[str] | None = None) -> None:
    """Add every violation to the report.

    `stored_keys` are the segments stored under the slug, None where no test set is.
    """
    check_head(draft, report)
    _check_segments(draft, report)
    _check_systems(draft, report)
    if draft.segments or draft.is_systems_only or stored_keys is not None:
        keys = {segment.key for segment in draft.segments} or set(stored_keys or ())
        _check_outputs(draft, keys, report)
    elif not report.errors:
        report.error(
            f"there are no segments, and no test set “{draft.slug}” is stored that systems "
            "could be added to",
            draft.place("system", 0),
        )


def check_head(draft: TestSetDraft, report: Report) -> None:
    """Check what describes the test set: address, name and languages."""
    if not re.fullmatch(r"[-a-zA-Z0-9_]{1,80}", draft.slug):
        report.error(
            "the address may have letters a–z, digits, hyphens and underscores, at most 80",
            Place(field="slug"),
        )
    elif draft.slug.lower() == "upload":
        report.error("the address “upload” is taken by the upload page", Place(field="slug"))
    _check_name(draft.name, max_length(TestSet, "name"), Place(field="name"), report)
    for field in ("source_language", "target_language"):
        _check_language(getattr(draft, field), Place(field=field.replace("_", " ")), report)
    _check_text(draft.description or " ", Place(field="description"), report, blank=True)


def _check_language(code: str, place: Place, report: Report) -> None:
    try:
        tag = languages.normalise(code)
    except ValueError as error:
        report.error(str(error), place)
        return
    if len(tag) > max_length(TestSet, "source_language"):
        report.error(f"the language code “{tag}” is longer than 20 characters", place)


def _check_segments(draft: TestSetDraft, report: Report) -> None:
    _check_keys(draft, report)
    documents = {segment.document: i for i, segment in reversed([*enumerate(draft.segments)])}
    for document, i in documents.items():
        if document:
            _check_name(
                document, max_length(Segment, "document"), draft.place("document", i), report,
                what="document id",
            )  # fmt: skip
    for i, segment in enumerate(draft.segments):
        if is_odd(segment.source):
            _check_text(segment.source, draft.place("source", i), report)
        for name, text in segment.beside.items():
            if isinstance(text, str) and is_odd(text):
                _check_text(text, draft.place(name, i), report)
        for name, text in segment.references.items():
            if is_odd(text):
                _check_text(text, draft.place("reference", i, name), report)
    for name in sorted({name for segment in draft.segments for name in segment.references}):
        place = Place(field=f"reference {name}")
        _check_name(name, max_length(Reference, "name"), place, report, what="reference name")


def _check_keys(draft: TestSetDraft, report: Report) -> None:
    first: dict[str, int] = {}
    longest = max_length(Segment, "key")
    for i, segment in enumerate(draft.segments):
        key = segment.key
        if not (key.isalnum() and len(key) <= longest):
            _check_name(key, longest, draft.place("key", i), report, what="segment key")
        j = first.setdefault(nfc(key), i)
        if i != j:
            known = draft.segments[j].key
            how = "" if known == key else "; they differ in their Unicode normalisation alone"
            report.error(
                f"the segment key “{key}” is there already ({draft.place('key', j)}){how}",
                draft.place("key", i),
            )


def is_odd(text: str) -> bool:
    """Whether a text needs a closer look: cheap, for what is nearly always in order."""
    return not text.isprintable() or not text or text.isspace() or "\ufffd" in text


def _check_systems(draft: TestSetDraft, report: Report) -> None:
    identities: dict[tuple[str, Decimal], int] = {}
    spellings: dict[str, str] = {}
    for j, system in enumerate(draft.systems):
        place = draft.place("system", j)
        _check_name(system.name, max_length(System, "name"), place, report, what="system name")
        check_ratio(Decimal(system.ratio), place, report)
        identity = (nfc(system.name), system.identity[1])
        if identity in identities:
            first = draft.place("system", identities[identity])
            report.error(f"the system “{system.label}” is there already ({first})", place)
        identities.setdefault(identity, j)
        other = spellings.setdefault(fold(system.name), system.name)
        if other != system.name:
            report.error(alike(system.name, other), place)


def alike(name: str, other: str) -> str:
    """Return the sentence that refuses two systems that a person would confuse."""
    return f"the system names “{name}” and “{other}” differ only in case or blanks"


def check_ratio(ratio: Decimal, place: Place, report: Report) -> None:
    """Check a length ratio: a number from 0.05 to 5 with at most two decimals."""
    if not ratio.is_finite():
        report.error("the length ratio is not a number", place)
    elif not MIN_RATIO <= ratio <= MAX_RATIO:
        hint = f" (for {ratio.normalize():f} % write {ratio / 100})" if ratio > MAX_RATIO else ""
        report.error(f"the length ratio {ratio} is not between 0.05 and 5{hint}", place)
    elif ratio != round(ratio, 2):
        report.error(f"the length ratio {ratio} has more than two decimals", place)


def _check_outputs(draft: TestSetDraft, keys: set[str], report: Report) -> None:
    near = Near(keys)
    for j, system in enumerate(draft.systems):
        for key, text in system.outputs.items():
            if key not in keys:
                message = f"there is no segment “{key}” in the test set{near(key)}"
                report.error(message, draft.place("output", j, key))
            if text and is_odd(text):
                _check_text(text, draft.place("output", j, key), report, blank=True)
        if not system.outputs and draft.is_systems_only:
            continue
        if not system.outputs:
            report.error(f"the system “{system.label}” has no output", draft.place("system", j))
        elif missing := [key for key in keys if key not in system.outputs]:
            report.warn(
                f"the system “{system.label}” has no output for {len(missing):,} of "
                f"{len(keys):,} segments ({join_truncated(sorted(missing))})",
                draft.place("system", j),
            )


def _check_name(
    name: str, longest: int, place: Place, report: Report, *, what: str = "name"
) -> None:
    if not name.strip():
        report.error(f"the {what} is empty", place)
    elif len(name) > longest:
        report.error(
            f"the {what} “{name[:30]}…” has {len(name)} characters, more than {longest}", place
        )
    if found := FORBIDDEN_IN_NAMES.search(name):
        report.error(f"the {what} contains {character(found[0])}", place)
    elif name.strip() and name != name.strip():
        report.error(f"the {what} “{name}” begins or ends with a blank", place)


def _check_text(text: str, place: Place, report: Report, *, blank: bool = False) -> None:
    if not blank and not text.strip():
        report.error("the text is empty", place)
    if found := FORBIDDEN.search(text):
        report.error(
            f"the text contains {character(found[0])} at character {found.start() + 1}", place
        )
    elif found := DAMAGED.search(text):
        report.warn(
            f"the text contains {character(found[0])}; was it damaged by a conversion?", place
        )
    elif found := ODD_BREAK.search(text):
        report.warn(f"the text contains {character(found[0])}, which is kept", place)
