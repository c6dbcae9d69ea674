"""What is allowed but deserves a look before the import is confirmed."""

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from functools import partial

from annotation.uploads.drafts import SegmentDraft, SystemDraft, TestSetDraft, note_human
from annotation.uploads.normalising import first_entity
from annotation.uploads.problems import Place, Report
from core import languages
from core.text import join_truncated, pluralize

# An output is remarkable beyond this factor of ratio x reference, where the difference is also
# larger than a short sentence's play.
FACTOR, SLACK = 2.0, 5


def length(text: str, language: str) -> int:
    """Count what the length ratio counts: characters without blanks (Chinese, Japanese), or words.

    >>> length("a red boat", "en"), length("一艘红船", "zh")
    (3, 4)
    """
    return measure(language)(text)


def measure(language: str) -> Callable[[str], int]:
    """Return `length` for one language, which is looked up once."""
    if languages.is_character_based(language):
        return lambda text: sum(map(len, text.split()))
    return lambda text: len(text.split())


def doubt(draft: TestSetDraft, report: Report, segments: Sequence[SegmentDraft]) -> None:
    """Add warnings. `segments` are the draft's, or the stored ones that it adds systems to."""
    _doubt_languages(draft, report)
    _doubt_segments(draft, report)
    by_key = {segment.key: segment for segment in segments}
    lengths = reference_lengths(segments, draft.target_language)
    for j, system in enumerate(draft.systems):
        place = draft.place("system", j)
        _doubt_texts(system, by_key, place, report)
        _doubt_lengths(system, lengths, draft.target_language, place, report)
    _doubt_twins(draft, report)
    note_human(draft, report, {segment.key: segment.references for segment in segments})


def reference_lengths(segments: Sequence[SegmentDraft], language: str) -> dict[str, float]:
    """Return each segment's mean reference length in the unit of `length`, by key."""
    size = measure(language)
    return {
        segment.key: sum(map(size, segment.references.values())) / len(segment.references)
        for segment in segments
        if segment.references
    }


def _doubt_languages(draft: TestSetDraft, report: Report) -> None:
    source, target = draft.source_language, draft.target_language
    if source == target:
        report.warn("source and target language are the same", Place(field="target language"))
    elif _is_swapped(draft):
        report.warn(
            f"the sources are in letters of {languages.display_name(target)}, the translations in "
            f"those of {languages.display_name(source)}: are source and target swapped?",
            Place(field="target language"),
        )


def _is_swapped(draft: TestSetDraft) -> bool:
    """Whether both sides are written as the other side's language is."""
    sources = (segment.source for segment in draft.segments)
    translations = (text for _, text, (kind, *_) in _texts(draft) if kind != "source")
    return languages.is_written_as(sources, draft.target_language, draft.source_language) and (
        languages.is_written_as(translations, draft.source_language, draft.target_language)
    )


def doubt_entities(draft: TestSetDraft, report: Report) -> int:
    """Return how many segments hold HTML entities, and warn of them in one sentence."""
    found: dict[str, str] = {}
    places: list[Place] = []
    for key, text, where in _texts(draft):
        if "&" in text and (entity := first_entity(text)):
            found.setdefault(key, entity)
            places = places or [draft.place(*where)]
    if found:
        kinds = sorted(set(found.values()))
        report.warn(
            f"{pluralize(len(found), 'segment holds', 'segments hold')} HTML entities such as "
            f"{join_truncated(kinds, 3)}, here first. "
            "They are kept unless you let them be decoded",
            places[0],
        )
    return len(found)


def _texts(draft: TestSetDraft) -> Iterator[tuple[str, str, tuple[str | int, ...]]]:
    """All texts with their segment's key and where they stand."""
    for i, segment in enumerate(draft.segments):
        yield segment.key, segment.source, ("source", i)
        for name, text in segment.references.items():
            yield segment.key, text, ("reference", i, name)
    for j, system in enumerate(draft.systems):
        for key, text in system.outputs.items():
            yield key, text, ("output", j, key)


def _doubt_segments(draft: TestSetDraft, report: Report) -> None:
    first: dict[str, int] = {}
    repeated = []
    for i, segment in enumerate(draft.segments):
        if first.setdefault(segment.source, i) != i:
            repeated.append(i)
    _count(draft, "source", repeated, report, _repeated)
    copied = [
        i
        for i, s in enumerate(draft.segments)
        if s.source.strip() in map(str.strip, s.references.values())
    ]
    _count(draft, "source", copied, report, _copied)
    _count(draft, "document", _torn(draft.segments), report, _ended)
    _doubt_references(draft, report)


def _repeated(found: str, keys: str) -> str:
    return f"{found} with the source of an earlier segment ({keys})"


def _copied(found: str, keys: str) -> str:
    return f"{found} with a reference equal to the source ({keys})"


def _ended(found: str, keys: str) -> str:
    return f"{found} of a document that had ended before ({keys})"


def _lacking(name: str, found: str, keys: str) -> str:
    return f"{found} without reference {name} ({keys})"


def _count(
    draft: TestSetDraft,
    kind: str,
    numbers: list[int],
    report: Report,
    say: Callable[[str, str], str],
) -> None:
    if numbers:
        found = pluralize(len(numbers), "segment")
        keys = join_truncated([draft.segments[i].key for i in numbers])
        report.warn(say(found, keys), draft.place(kind, numbers[0]))


def _torn(segments: Sequence[SegmentDraft]) -> list[int]:
    """Return where a document goes on after another one stood between."""
    ended: set[str] = set()
    torn = []
    for i, (previous, segment) in enumerate(itertools.pairwise(segments), 1):
        if segment.document == previous.document:
            continue
        ended.add(previous.document)
        if segment.document in ended:
            torn.append(i)
    return torn


def _doubt_references(draft: TestSetDraft, report: Report) -> None:
    names = sorted({name for segment in draft.segments for name in segment.references})
    if draft.segments and not (names or report.errors):
        report.warn("there is no reference: metrics that need one cannot run, nor traps be cut")
    for name in names:
        without = [i for i, s in enumerate(draft.segments) if name not in s.references]
        _count(draft, "key", without, report, partial(_lacking, name))


def _doubt_texts(
    system: SystemDraft, segments: dict[str, SegmentDraft], place: Place, report: Report
) -> None:
    found: dict[str, list[str]] = defaultdict(list)
    for key, text in system.outputs.items():
        segment = segments.get(key)
        if not text or text.isspace():
            found["are empty"].append(key)
        elif segment and text in segment.references.values():
            found["are identical to a reference"].append(key)
        elif segment and text == segment.source:
            found["are identical to the source"].append(key)
    for what, keys in found.items():
        report.warn(
            f"{len(keys):,} of {len(system.outputs):,} outputs of “{system.label}” {what} "
            f"({_segments(keys)})",
            place,
        )


def _segments(keys: list[str]) -> str:
    return (
        f"segment {join_truncated(keys)}" if len(keys) == 1 else f"segments {join_truncated(keys)}"
    )


def _doubt_lengths(
    system: SystemDraft, lengths: dict[str, float], language: str, place: Place, report: Report
) -> None:
    ratio = float(system.ratio)
    if not 0 < ratio < float("inf"):
        return
    longer, shorter = [], []
    measured = measure(language)
    for key, text in system.outputs.items():
        size, wanted = measured(text), ratio * lengths.get(key, 0)
        if not size or not wanted or abs(size - wanted) <= SLACK:
            continue
        if size > FACTOR * wanted:
            longer.append(key)
        elif size < wanted / FACTOR:
            shorter.append(key)
    for what, keys in (("longer", longer), ("shorter", shorter)):
        if keys:
            report.warn(
                f"{len(keys):,} outputs of “{system.label}” are much {what} than "
                f"{Decimal(system.ratio) * 100:f} % of the reference (segments "
                f"{join_truncated(keys)})",
                place,
            )


def _doubt_twins(draft: TestSetDraft, report: Report) -> None:
    seen: dict[int, int] = {}
    for j, system in enumerate(draft.systems):
        texts = hash(frozenset(system.outputs.items()))
        i = seen.setdefault(texts, j)
        if i != j and draft.systems[i].outputs == system.outputs:
            other = draft.systems[i].label
            report.warn(f"“{system.label}” and “{other}” have the same outputs throughout",
                        draft.place("system", j))  # fmt: skip
