"""Check a test set before it is stored. Each violation names file, row and field."""

import re
import unicodedata
from collections.abc import Collection, Iterable
from decimal import Decimal
from itertools import chain

from annotation.models import Reference, Segment, System, TestSet
from annotation.uploads.drafts import (
    DESCRIPTION,
    NAME,
    SLUG,
    SOURCE_LANGUAGE,
    TARGET_LANGUAGE,
    SegmentColumns,
    TestSetDraft,
    column,
    reference_label,
    reference_names,
    reference_texts,
)
from annotation.uploads.problems import Place, Report
from annotation.uploads.spellings import Near, fold, nfc
from annotation.uploads.tables.pairs import UNSTATED
from core import languages
from core.text import TOGETHER, batched
from metaeval.messages import Message, message, truncated

MIN_RATIO, MAX_RATIO = Decimal("0.05"), Decimal(5)
# Texts may contain tabs and line feeds; the other control characters come from damaged files.
# PostgreSQL cannot store NUL, and no encoding has lone surrogates.
FORBIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
FORBIDDEN_IN_NAMES = re.compile(r"[\x00-\x1f\x7f\x80-\x9f\u2028\u2029\ud800-\udfff]")
DAMAGED = re.compile(r"[\x80-\x84\x86-\x9f\ufeff\ufffd\ufffe\uffff]")
REPLACED = "\ufffd"
# What spreadsheets write where they took a text for a formula that is wrong.
LOST = {
    "#NAME?", "#REF!", "#VALUE!", "#DIV/0!", "#NUM!", "#NULL!", "#N/A", "#SPILL!", "#CALC!",
    *(f"Err:{number}" for number in (501, 502, 504, 507, 508, 509, 510, 512)),
}  # fmt: skip
ODD_BREAK = re.compile(r"[\x85\u2028\u2029]")
CHARACTER_NAMES = {
    "\x00": "NUL", "\x0b": "vertical tab", "\x0c": "form feed", "\r": "carriage return",
    "\x1a": "substitute (Ctrl-Z)", "\x1b": "escape", "\x7f": "delete", "\x85": "next line",
    "\ufeff": "byte order mark inside the text", "\t": "tab", "\n": "line feed",
}  # fmt: skip
# What a name is of, within the messages that refuse it.
DOCUMENT_ID = message("name.document-id", "document id")
REFERENCE_NAME = message("name.reference", "reference name")
SEGMENT_KEY = message("name.segment-key", "segment key")
DOMAIN = message("name.domain", "domain")
SYSTEM_NAME = message("name.system", "system name")


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
        keys = set(column(draft.segments, "key")) or set(stored_keys or ())
        _check_outputs(draft, keys, report)
    elif not report.errors:
        text = message(
            "test-set.no-segments",
            "There are no segments, and there is no stored test set “{slug}” to add systems to.",
            slug=draft.slug,
        )
        report.error(text, draft.place("system", 0))


def check_head(draft: TestSetDraft, report: Report) -> None:
    """Check what describes the test set: address, name and languages."""
    if not re.fullmatch(r"[-a-zA-Z0-9_]{1,80}", draft.slug):
        text = message(
            "test-set.slug",
            "The address may contain letters a–z, digits, hyphens and underscores, 80 characters "
            "at most.",
        )
        report.error(text, Place(field=SLUG))
    elif draft.slug.lower() == "upload":
        text = message("test-set.slug-taken", "The address “upload” belongs to the upload page.")
        report.error(text, Place(field=SLUG))
    _check_name(draft.name, max_length(TestSet, "name"), Place(field=NAME), report)
    codes = (draft.source_language, draft.target_language)
    # Files that could not be read may state the languages.
    is_unread = bool(report.errors) and not (draft.segments or draft.systems)
    for code, field in zip(codes, (SOURCE_LANGUAGE, TARGET_LANGUAGE), strict=True):
        if code or not is_unread:
            _check_language(code, field, report)
    _check_text(draft.description or " ", Place(field=DESCRIPTION), report, blank=True)


def _check_language(code: str, field: Message, report: Report) -> None:
    place = Place(field=field)
    if not code:
        report.error(UNSTATED[field], place)
        return
    try:
        tag = languages.normalise(code)
    except languages.LanguageError as error:
        report.error(error.message, place)
        return
    longest = max_length(TestSet, "source_language")
    if len(tag) > longest:
        text = message(
            "language.too-long",
            "The language code “{code}” has more than {limit} characters.",
            code=tag,
            limit=longest,
        )
        report.error(text, place)


def _check_segments(draft: TestSetDraft, report: Report) -> None:
    _check_keys(draft, report)
    for kind, what in (("document", DOCUMENT_ID), ("domain", DOMAIN)):
        names = column(draft.segments, kind)
        first = dict(zip(reversed(names), range(len(names) - 1, -1, -1), strict=True))
        for name in filter(None, dict.fromkeys(names)):
            place = draft.place(kind, first[name])
            _check_name(name, max_length(Segment, kind), place, report, what=what)
    texts = chain(column(draft.segments, "source"), reference_texts(draft.segments))
    is_spooled = isinstance(draft.segments, SegmentColumns)
    has_others = not is_spooled and any(segment.attachments for segment in draft.segments)
    for i, segment in enumerate(draft.segments if has_others or has_odd(texts) else ()):
        if is_odd(segment.source):
            _check_text(segment.source, draft.place("source", i), report)
        for name, text in segment.attachments.items():
            if isinstance(text, str) and is_odd(text):
                _check_text(text, draft.place(name, i), report)
        for name, text in segment.references.items():
            if is_odd(text):
                _check_text(text, draft.place("reference", i, name), report)
    for name in sorted(reference_names(draft.segments)):
        place = Place(field=reference_label(name))
        _check_name(name, max_length(Reference, "name"), place, report, what=REFERENCE_NAME)


def _check_keys(draft: TestSetDraft, report: Report) -> None:
    first: dict[str, int] = {}
    longest = max_length(Segment, "key")
    keys = column(draft.segments, "key")
    are_plain = all(map(str.isascii, keys)) and all(map(str.isalnum, keys))
    if are_plain and len(set(keys)) == len(keys) and max(map(len, keys), default=0) <= longest:
        return
    for i, segment in enumerate(draft.segments):
        key = segment.key
        if not (key.isalnum() and len(key) <= longest):
            _check_name(key, longest, draft.place("key", i), report, what=SEGMENT_KEY)
        j = first.setdefault(nfc(key), i)
        if i != j:
            first_place = draft.place("key", j).label
            if draft.segments[j].key == key:
                text = message(
                    "segment.twice",
                    "The segment key “{key}” occurs twice, first in {place}.",
                    key=key,
                    place=first_place,
                )
            else:
                text = message(
                    "segment.twice-unicode",
                    "The segment key “{key}” occurs twice, first in {place}. The two differ only "
                    "in their Unicode normalisation.",
                    key=key,
                    place=first_place,
                )
            report.error(text, draft.place("key", i))


def is_odd(text: str) -> bool:
    """Return True if a text needs a closer look; a cheap test, which few texts fail."""
    is_plain = text.isprintable() and text and not text.isspace() and REPLACED not in text
    return not is_plain or text in LOST


def has_odd(texts: Iterable[str]) -> bool:
    """Return True if any of some texts `is_odd`; many at once, because most files have none."""
    return any(map(_have_odd, batched(texts, TOGETHER)))


def _have_odd(texts: Collection[str]) -> bool:
    if not all(texts) or any(map(str.isspace, texts)) or not LOST.isdisjoint(texts):
        return True
    whole = "".join(texts)
    return REPLACED in whole or not whole.isprintable()


def _check_systems(draft: TestSetDraft, report: Report) -> None:
    identities: dict[tuple[str, Decimal], int] = {}
    spellings: dict[str, str] = {}
    for j, system in enumerate(draft.systems):
        place = draft.place("system", j)
        _check_name(system.name, max_length(System, "name"), place, report, what=SYSTEM_NAME)
        check_ratio(Decimal(system.ratio), place, report)
        identity = (nfc(system.name), system.identity[1])
        if identity in identities:
            first = draft.place("system", identities[identity])
            text = message(
                "system.twice",
                "The system “{system}” occurs twice, first in {place}.",
                system=system.label,
                place=first.label,
            )
            report.error(text, place)
        identities.setdefault(identity, j)
        other = spellings.setdefault(fold(system.name), system.name)
        if other != system.name:
            report.error(alike(system.name, other), place)


def alike(name: str, other: str) -> Message:
    """Return the message that refuses two systems that a person would confuse."""
    return message(
        "system.spelling",
        "The system names “{first}” and “{second}” differ only in case or blanks.",
        first=name,
        second=other,
    )


def check_ratio(ratio: Decimal, place: Place, report: Report) -> None:
    """Check a length ratio: a number from 0.05 to 5 with at most two decimals."""
    if not ratio.is_finite():
        text = message("ratio.not-a-number", "The length ratio is not a number.")
        report.error(text, place)
    elif ratio > MAX_RATIO:
        text = message(
            "ratio.too-large",
            "The length ratio {ratio} is not between 0.05 and 5. For {ratio}% write {share}.",
            ratio=f"{ratio.normalize():f}",
            share=f"{ratio / 100}",
        )
        report.error(text, place)
    elif ratio < MIN_RATIO:
        text = message(
            "ratio.too-small",
            "The length ratio {ratio} is not between 0.05 and 5.",
            ratio=f"{ratio}",
        )
        report.error(text, place)
    elif ratio != round(ratio, 2):
        text = message(
            "ratio.decimals",
            "The length ratio {ratio} has more than two decimals.",
            ratio=f"{ratio}",
        )
        report.error(text, place)


def _check_outputs(draft: TestSetDraft, keys: set[str], report: Report) -> None:
    near = Near(keys)
    for j, system in enumerate(draft.systems):
        is_usual = system.outputs.keys() <= keys and not has_odd(system.outputs.values())
        for key, text in () if is_usual else system.outputs.items():
            if key not in keys:
                report.error(near.no_segment(key), draft.place("output", j, key))
            if text and is_odd(text):
                _check_text(text, draft.place("output", j, key), report, blank=True)
        if not system.outputs and draft.is_systems_only:
            continue
        if not system.outputs:
            refusal = message(
                "system.no-outputs", "System “{system}” has no outputs.", system=system.label
            )
            report.error(refusal, draft.place("system", j))
        elif is_usual and len(system.outputs) == len(keys):
            continue
        elif missing := keys - system.outputs.keys():
            warning = message(
                "system.outputs-missing",
                "System “{system}” has no output for {n} of {total} segments: {segments}.",
                system=system.label,
                n=len(missing),
                total=len(keys),
                segments=truncated(sorted(missing)),
            )
            report.warn(warning, draft.place("system", j))


def _check_name(
    name: str, longest: int, place: Place, report: Report, *, what: Message = NAME
) -> None:
    if not name.strip():
        report.error(message("name.empty", "The {what} is empty.", what=what), place)
    elif len(name) > longest:
        text = message(
            "name.too-long",
            "The {what} “{name}…” has {characters} characters; the limit is {limit}.",
            what=what,
            name=name[:30],
            characters=len(name),
            limit=longest,
        )
        report.error(text, place)
    if found := FORBIDDEN_IN_NAMES.search(name):
        text = message(
            "name.character",
            "The {what} contains {character}.",
            what=what,
            character=character(found[0]),
        )
        report.error(text, place)
    elif name.strip() and name != name.strip():
        text = message(
            "name.blank", "The {what} “{name}” begins or ends with a blank.", what=what, name=name
        )
        report.error(text, place)


def _check_text(text: str, place: Place, report: Report, *, blank: bool = False) -> None:
    if not blank and not text.strip():
        report.error(message("text.empty", "The text is empty."), place)
    if found := FORBIDDEN.search(text):
        refusal = message(
            "text.character",
            "The text contains {character} at character {position}.",
            character=character(found[0]),
            position=found.start() + 1,
        )
        report.error(refusal, place)
    elif text in LOST:
        warning = message(
            "text.lost",
            "The text is “{text}”, which spreadsheets write in place of a formula they cannot "
            "compute. Check whether it was a text that begins with =, + or -.",
            text=text,
        )
        report.warn(warning, place)
    elif found := DAMAGED.search(text):
        warning = message(
            "text.damaged",
            "The text contains {character}. Check whether a conversion damaged it.",
            character=character(found[0]),
        )
        report.warn(warning, place)
    elif found := ODD_BREAK.search(text):
        warning = message(
            "text.line-separator",
            "The text contains {character}, which is stored unchanged.",
            character=character(found[0]),
        )
        report.warn(warning, place)
