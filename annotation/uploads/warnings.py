"""Warn of what a person should look at before confirming an import."""

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import eq
from typing import Any

import numpy as np

from annotation.uploads.drafts import (
    TARGET_LANGUAGE,
    References,
    SegmentDraft,
    SystemDraft,
    TestSetDraft,
    column,
    note_human,
    reference_names,
    reference_texts,
)
from annotation.uploads.normalising import first_entity
from annotation.uploads.problems import Place, Report
from core import languages
from core.text import TOGETHER, batched, has_sign
from metaeval.messages import Message, message, plural, truncated

# Warn of an output whose length differs from ratio x reference by this factor, if it also differs
# by more than short sentences do.
FACTOR, SLACK = 2.0, 5
# How tools and published sets mark errors within a text: translate5, Google, Amazon.
MARK = re.compile(r"<mqm:startIssue\b|<v>|<tag>")
# The first keys of some segments, and how many more there are.
Keys = list[Any]


def length(text: str, language: str) -> int:
    """Count what the length ratio counts: characters without blanks (Chinese, Japanese), or words.

    >>> length("a red boat", "en"), length("一艘红船", "zh")
    (3, 4)
    """
    return measure(language)(text)


def measure(language: str) -> Callable[[str], int]:
    """Return `length` for one language, which is examined once."""
    if languages.is_character_based(language):
        return lambda text: sum(map(len, text.split()))
    return lambda text: len(text.split())


def sizes_of(texts: Iterable[str], language: str) -> list[int]:
    """Return the `length` of texts, in their order."""
    has_blanks = not languages.is_character_based(language)
    sizes: list[int] = []
    for block in batched(texts, TOGETHER):
        whole = " ".join(("", *block, ""))
        if not whole.isprintable() or (has_blanks and "  " in whole):
            sizes += map(measure(language), block)
        elif has_blanks:  # of the signs that part words, only the blank is printable
            sizes += [text.count(" ") + 1 for text in block]
        else:
            sizes += [len(text) - text.count(" ") for text in block]
    return sizes


def add_warnings(
    draft: TestSetDraft,
    report: Report,
    segments: Sequence[SegmentDraft],
    lengths: dict[str, float],
    sizes: Sequence[Sequence[int]],
) -> None:
    """Add warnings. `segments` are the draft's, or the stored ones that it adds systems to.

    `lengths` are those of their references, `sizes` those of the outputs of each system.
    """
    _warn_of_languages(draft, report)
    _warn_of_segments(draft, report)
    references = References.of(segments)
    sources = column(segments, "source")
    if len(sources) > len(references.keys):  # keys that occur twice, which is an error
        sources = list({segment.key: segment.source for segment in segments}.values())
    for j, system in enumerate(draft.systems):
        place = draft.place("system", j)
        _warn_of_texts(system, references, sources, place, report)
        _warn_of_lengths(system, lengths, sizes[j], place, report)
    _warn_of_equal_systems(draft, report)
    note_human(draft, report, references)


def reference_lengths(segments: Sequence[SegmentDraft], language: str) -> dict[str, float]:
    """Return each segment's mean reference length in the unit of `length`, by key."""
    if not reference_names(segments):
        return {}
    sizes = iter(sizes_of((t for s in segments for t in s.references.values()), language))
    return {
        segment.key: sum(itertools.islice(sizes, n)) / n
        for segment in segments
        if (n := len(segment.references))
    }


def _warn_of_languages(draft: TestSetDraft, report: Report) -> None:
    source, target = draft.source_language, draft.target_language
    if source and source == target:
        text = message("languages.same", "The source and the target language are the same.")
        report.warn(text, Place(field=TARGET_LANGUAGE))
    elif _is_swapped(draft):
        text = message(
            "languages.swapped",
            "The sources are in the script of {target}, the translations in that of {source}. "
            "Check whether the source and target language are swapped.",
            target=languages.display_name(target),
            source=languages.display_name(source),
        )
        report.warn(text, Place(field=TARGET_LANGUAGE))


def _is_swapped(draft: TestSetDraft) -> bool:
    """Return True if each side is in the script of the other side's language."""
    sources = column(draft.segments, "source")
    translations = (text for _, text, (kind, *_) in _texts(draft) if kind != "source")
    return languages.is_written_as(sources, draft.target_language, draft.source_language) and (
        languages.is_written_as(translations, draft.source_language, draft.target_language)
    )


def warn_of_entities(draft: TestSetDraft, report: Report, *, can_decode: bool = True) -> int:
    """Return how many segments contain HTML entities; warn of them, and of marks of errors."""
    found: dict[str, str] = {}
    places: list[Place] = []
    marks: list[tuple[str, Place]] = []
    columns: list[Iterable[str]] = [column(draft.segments, "source")]
    columns += [system.outputs.values() for system in draft.systems]
    columns += [reference_texts(draft.segments)]
    has_signs = [has_sign(texts, "&", "<") for texts in columns]
    for key, content, where in _texts(draft) if any(has_signs) else ():
        if "&" in content and (entity := first_entity(content)):
            found.setdefault(key, entity)
            places = places or [draft.place(*where)]
        if "<" in content and (mark := MARK.search(content)):
            marks.append((mark[0], draft.place(*where)))
    if marks:
        report.warn_of(
            len(marks),
            "texts.marks",
            "{n} text has marks of errors such as {mark}, which would be stored as words of the "
            "text. Import texts without marks, and the errors as judgments.",
            "{n} texts have marks of errors such as {mark}, which would be stored as words of the "
            "texts; the first is here. Import texts without marks, and the errors as judgments.",
            marks[0][1],
            mark=marks[0][0],
        )
    entities = truncated(sorted(set(found.values())), 3)
    if found and not can_decode:
        text = plural(
            "texts.entities-unchanged",
            "{n} segment contains HTML entities such as {entities}. They are stored unchanged.",
            "{n} segments contain HTML entities such as {entities}; the first is here. They are "
            "stored unchanged.",
            n=len(found),
            entities=entities,
        )
        report.warn(text, places[0])
    elif found:
        text = plural(
            "texts.entities",
            "{n} segment contains HTML entities such as {entities}. They are stored unchanged "
            "unless you choose to decode them.",
            "{n} segments contain HTML entities such as {entities}; the first is here. They are "
            "stored unchanged unless you choose to decode them.",
            n=len(found),
            entities=entities,
        )
        report.warn(text, places[0])
    return len(found)


def _texts(draft: TestSetDraft) -> Iterator[tuple[str, str, tuple[str | int, ...]]]:
    """Yield all texts with their segment's key and their place in the draft."""
    for i, segment in enumerate(draft.segments):
        yield segment.key, segment.source, ("source", i)
        for name, text in segment.references.items():
            yield segment.key, text, ("reference", i, name)
    for j, system in enumerate(draft.systems):
        for key, text in system.outputs.items():
            yield key, text, ("output", j, key)


def _warn_of_segments(draft: TestSetDraft, report: Report) -> None:
    sources = column(draft.segments, "source")
    first: dict[str, int] = {}
    hashes = np.fromiter(map(hash, sources), np.int64, len(sources))
    is_unique = len(np.unique(hashes)) == len(sources)
    repeated = [
        i for i, s in enumerate(() if is_unique else sources) if first.setdefault(s, i) != i
    ]
    _warn_of(draft, "source", repeated, report, _repeated)
    copied = [
        i
        for i, s in enumerate(draft.segments if reference_names(draft.segments) else ())
        if s.references and s.source.strip() in [text.strip() for text in s.references.values()]
    ]
    _warn_of(draft, "source", copied, report, _copied)
    _warn_of(draft, "document", _torn(column(draft.segments, "document")), report, _ended)
    _warn_of_references(draft, report)


def _repeated(n: int, keys: Keys) -> Message:
    return plural(
        "segments.repeated",
        "{n} segment has the source of an earlier segment: {segments}.",
        "{n} segments have the source of an earlier segment: {segments}.",
        n=n,
        segments=keys,
    )


def _copied(n: int, keys: Keys) -> Message:
    return plural(
        "segments.copied",
        "{n} segment has a reference equal to the source: {segments}.",
        "{n} segments have a reference equal to the source: {segments}.",
        n=n,
        segments=keys,
    )


def _ended(n: int, keys: Keys) -> Message:
    return plural(
        "segments.document-split",
        "{n} segment belongs to a document that had ended before: {segments}.",
        "{n} segments belong to documents that had ended before: {segments}.",
        n=n,
        segments=keys,
    )


def _warn_of(
    draft: TestSetDraft,
    kind: str,
    numbers: list[int],
    report: Report,
    warning: Callable[[int, Keys], Message],
) -> None:
    if numbers:
        keys = truncated([draft.segments[i].key for i in numbers])
        report.warn(warning(len(numbers), keys), draft.place(kind, numbers[0]))


def _torn(documents: Sequence[str]) -> list[int]:
    """Return where a document continues after another one."""
    if len(set(documents)) < 2:
        return []
    ended: set[str] = set()
    torn = []
    for i, (previous, document) in enumerate(itertools.pairwise(documents), 1):
        if document == previous:
            continue
        ended.add(previous)
        if document in ended:
            torn.append(i)
    return torn


def _warn_of_references(draft: TestSetDraft, report: Report) -> None:
    names = sorted(reference_names(draft.segments))
    if draft.segments and not (names or report.errors):
        text = message(
            "references.none",
            "There are no references: metrics that need one cannot run, and traps cannot be made.",
        )
        report.warn(text)
    for name in names:
        without = [i for i, s in enumerate(draft.segments) if name not in s.references]
        if without:
            text = plural(
                "references.missing",
                "{n} segment has no reference {reference}: {segments}.",
                "{n} segments have no reference {reference}: {segments}.",
                n=len(without),
                reference=name,
                segments=truncated([draft.segments[i].key for i in without]),
            )
            report.warn(text, draft.place("key", without[0]))


def _warn_of_texts(
    system: SystemDraft,
    references: References,
    sources: Sequence[str],
    place: Place,
    report: Report,
) -> None:
    texts = system.outputs.values()
    same = [
        list(map(eq, texts, column)) for column in references.columns_for(system.outputs).values()
    ]
    copied = list(map(eq, texts, references.ordered(sources, system.outputs)))
    if all(texts) and not any(map(str.isspace, texts)) and not any(map(any, (*same, copied))):
        return
    found: dict[Callable[..., Message], list[str]] = defaultdict(list)
    are_same = zip(*same, strict=True) if same else itertools.repeat(())
    for (key, text), are_equal, is_copy in zip(
        system.outputs.items(), are_same, copied, strict=False
    ):
        if not text or text.isspace():
            found[_empty].append(key)
        elif any(are_equal):
            found[_as_reference].append(key)
        elif is_copy:
            found[_as_source].append(key)
    for warning, keys in found.items():
        known = warning(
            system=system.label, n=len(keys), total=len(system.outputs), segments=truncated(keys)
        )
        report.warn(known, place)


def _empty(**known: Any) -> Message:
    return plural(
        "outputs.empty",
        "The system “{system}” has {n} empty output among {total} (segment: {segments}).",
        "The system “{system}” has {n} empty outputs among {total} (segments: {segments}).",
        **known,
    )


def _as_reference(**known: Any) -> Message:
    return message(
        "outputs.as-reference",
        "Outputs of “{system}” that are identical to a reference: {n} of {total} "
        "(segments: {segments}).",
        **known,
    )


def _as_source(**known: Any) -> Message:
    return message(
        "outputs.as-source",
        "Outputs of “{system}” that are identical to the source: {n} of {total} "
        "(segments: {segments}).",
        **known,
    )


def _warn_of_lengths(
    system: SystemDraft,
    lengths: dict[str, float],
    sizes: Sequence[int],
    place: Place,
    report: Report,
) -> None:
    ratio = float(system.ratio)
    if not 0 < ratio < float("inf"):
        return
    wanted = [ratio * length for length in map(lengths.get, system.outputs, itertools.repeat(0.0))]
    far = [
        (key, size, length)
        for key, size, length in zip(system.outputs, sizes, wanted, strict=True)
        if size and length and abs(size - length) > SLACK
    ]
    longer = [key for key, size, length in far if size > FACTOR * length]
    shorter = [key for key, size, length in far if size < length / FACTOR]
    report.warn_of(
        len(longer),
        "outputs.longer",
        "{n} output of “{system}” is much longer than {ratio:percent} of the reference, in "
        "segment {segments}.",
        "{n} outputs of “{system}” are much longer than {ratio:percent} of the reference, in "
        "segments {segments}.",
        place,
        system=system.label,
        ratio=ratio,
        segments=truncated(longer),
    )
    report.warn_of(
        len(shorter),
        "outputs.shorter",
        "{n} output of “{system}” is much shorter than {ratio:percent} of the reference, in "
        "segment {segments}.",
        "{n} outputs of “{system}” are much shorter than {ratio:percent} of the reference, in "
        "segments {segments}.",
        place,
        system=system.label,
        ratio=ratio,
        segments=truncated(shorter),
    )


def _start(system: SystemDraft) -> tuple[Any, int]:
    first = min(system.outputs, default="")
    return system.outputs.get(first), len(system.outputs)


def _warn_of_equal_systems(draft: TestSetDraft, report: Report) -> None:
    seen: dict[int, int] = {}
    starts = Counter(map(_start, draft.systems))
    for j, system in enumerate(draft.systems):
        if starts[_start(system)] == 1:
            continue  # most systems differ in the first text: the others need not be read
        texts = hash(frozenset(system.outputs.items()))
        i = seen.setdefault(texts, j)
        if i != j and draft.systems[i].outputs == system.outputs:
            text = message(
                "outputs.same",
                "“{first}” and “{second}” have the same outputs in all segments.",
                first=system.label,
                second=draft.systems[i].label,
            )
            report.warn(text, draft.place("system", j))
