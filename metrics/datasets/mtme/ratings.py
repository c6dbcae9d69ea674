"""Read error spans of an mt-metrics-eval folder as judgments, without loss.

A rating file contains one rating of each output. `mqm.seg.rating` and `mqm.merged.seg.rating`
belong to the scores `mqm`; `mqm-2` is a second rating of the same outputs, as in our export, with
scores in `esa-r1.seg.score` and `esa-r2.seg.score` if annotators gave scores, and `mqm.rater1` is
that of one annotator. The files of single annotators repeat a merged file and are then skipped.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from annotation import protocols
from annotation.imports import ItemDraft, JudgmentDraft
from annotation.models import Item
from annotation.protocols import Span
from annotation.protocols.base import SOURCE, TARGET
from annotation.protocols.published import our_category
from annotation.uploads.problems import Place, Report
from metaeval.files import EvalSet
from metaeval.messages import MessageError, message, plural

MERGED = ".merged"
NO_ERROR = "no-error"
MQM, ESA = "mqm", "esa"


@dataclass(frozen=True)
class Rated:
    """The judgments of one human score, by the draft's items."""

    protocol: str
    items: Sequence[ItemDraft] = ()
    judgments: Sequence[JudgmentDraft] = ()

    def means(self) -> dict[tuple[str, str], float]:
        """Return (system, segment) -> mean of its judgments, or of minus their penalties."""
        scheme = protocols.get(self.protocol).spans
        values: dict[tuple[str, str], list[float]] = {}
        for judgment in self.judgments:
            item = self.items[judgment.item]
            value = judgment.score
            if value is None and scheme is not None:
                value = -scheme.penalty(judgment.spans)  # type: ignore[assignment]
            values.setdefault((item.system or "", item.segment), []).append(float(value or 0))
        return {cell: sum(own) / len(own) for cell, own in values.items()}


class NotUsableError(MessageError):
    """Ratings cannot be stored as judgments."""


def by_score(evalset: EvalSet, report: Report) -> dict[str, list[str]]:
    """Return, by the name of a human score, the names of its rating files."""
    scored = {name for name, _ in evalset.human_scores}
    merged = {name.removesuffix(MERGED) for name in evalset.ratings if name.endswith(MERGED)}
    found: dict[str, list[str]] = {}
    for name in evalset.ratings:
        base = _base(name, scored | set(evalset.ratings))
        if base in merged and not name.endswith(MERGED):
            place = Place(f"human-scores/{evalset.language_pair}.{name}.seg.rating")
            text = message(
                "mtme.merged",
                "Skipped, because {file} has the ratings of all annotators.",
                file=f"{base}{MERGED}",
            )
            report.note(text, place)
        else:
            found.setdefault(base, []).append(name)
    return {base: sorted(names, key=_number) for base, names in found.items()}


def own_scores(name: str, number: int) -> str:
    """Return the name of the scores that belong to a rating file of a human score, from 1."""
    return f"{name}-r{number}"


def _base(name: str, known: set[str]) -> str:
    if name.endswith(MERGED):
        return name.removesuffix(MERGED)
    if (numbered := re.fullmatch(r"(.+)-\d+", name)) and numbered[1] in known:
        return numbered[1]
    parts = name.split(".")
    heads = (".".join(parts[:end]) for end in range(len(parts) - 1, 0, -1))
    return (
        name if name in known and len(parts) == 1 else next((h for h in heads if h in known), name)
    )


def _number(name: str) -> tuple[int, str]:
    """Return a key that sorts `mqm-10` after `mqm-9`."""
    found = re.search(r"-(\d+)$", name)
    return (int(found[1]) if found else 0, name)


@dataclass
class _Reading:
    """The items and judgments of one human score as they are read."""

    evalset: EvalSet
    name: str
    protocol: str
    report: Report
    # Whose scores the file that is being read has beside it: everybody's mean, or its own.
    scores: str = ""
    items: list[ItemDraft] = field(default_factory=list)
    judgments: list[JudgmentDraft] = field(default_factory=list)
    places: dict[tuple[str, int], int] = field(default_factory=dict)
    taken: set[tuple[str, int]] = field(default_factory=set)
    moved: Counter[str] = field(default_factory=Counter)


def read(evalset: EvalSet, name: str, files: Sequence[str], report: Report) -> Rated:
    """Return the ratings as judgments.

    Raises NotUsableError if the protocol does not have a severity, or if the folder does not
    contain each annotator's scores.
    """
    reading = _Reading(evalset, name, ESA if ESA in name.casefold() else MQM, report)
    for number, file in enumerate(files, 1):
        own = own_scores(name, number)
        reading.scores = own if (own, "seg") in evalset.human_scores else name
        for system, position, errors, rater in _entries(evalset, file):
            _add(reading, file, system, position, json.loads(errors)["errors"], rater or file)
        if number := reading.moved.pop(file, 0):
            where = Place(f"human-scores/{evalset.language_pair}.{file}.seg.rating")
            text = plural(
                "mtme.errors-without-position",
                "{n} error has no position in the text, so the whole text was marked.",
                "{n} errors have no position in the text, so the whole text was marked.",
                n=number,
            )
            report.warn(text, where)
    return Rated(reading.protocol, reading.items, reading.judgments)


def _entries(evalset: EvalSet, file: str) -> Iterator[tuple[str, int, str, str | None]]:
    for system, ratings in evalset.ratings[file].items():
        for position, (errors, rater) in enumerate(ratings):
            if errors is not None:
                yield system, position, errors, rater


def _add(
    reading: _Reading,
    file: str,
    system: str,
    position: int,
    errors: Sequence[Mapping[str, object]],
    rater: str,
) -> None:
    item = _item(reading, system, position, rater)
    score = _score(reading, system, position) if reading.protocol == ESA else None
    spans = tuple(
        span
        for error in errors
        if not _is_nothing(error)
        and (span := _span(reading, file, system, position, error)) is not None
    )
    reading.judgments.append(JudgmentDraft(rater, item, score, spans=spans))


def _item(reading: _Reading, system: str, position: int, rater: str) -> int:
    """Return the item that an annotator rated; a second rating of an output is a repeat."""
    first = reading.places.setdefault((system, position), len(reading.items))
    segment = reading.evalset.segments[position]
    if first == len(reading.items):
        reading.items.append(ItemDraft(segment, system))
    if (rater, first) not in reading.taken:
        reading.taken.add((rater, first))
        return first
    reading.items.append(ItemDraft(segment, system, Item.Kind.REPEAT, partner=first))
    return len(reading.items) - 1


def _score(reading: _Reading, system: str, position: int) -> int:
    """Return the only score of an output: a whole number from 0 to 100, by one annotator."""
    found = reading.evalset.human_scores.get((reading.scores, "seg"))
    value = float(found.values[system][position]) if found and system in found.values else -1.0
    if not (0 <= value <= 100 and value == int(value)):
        raise NotUsableError(
            message(
                "mtme.score-unknown",
                "Skipped the ratings: the score of an annotator is unknown ({system}, line "
                "{line:d}).",
                system=system,
                line=position + 1,
            )
        )
    if reading.scores == reading.name and len(reading.taken) > len(reading.places):
        raise NotUsableError(
            message(
                "mtme.only-means",
                "Skipped the ratings: several annotators rated an output, but only their mean is "
                "known.",
            )
        )
    return int(value)


def _is_nothing(error: Mapping[str, object]) -> bool:
    return NO_ERROR in (
        str(error.get(name) or "").casefold().replace(" ", "-") for name in ("severity", "category")
    )


def _span(
    reading: _Reading, file: str, system: str, position: int, error: Mapping[str, object]
) -> Span | None:
    """Return an error as a span; without a position, or beyond the text, it marks the whole text.

    None in an empty text, where nothing can be marked.
    """
    scheme = protocols.get(reading.protocol).spans
    severity = str(error.get("severity") or "").casefold()
    if scheme is None or severity not in scheme.severity_keys:
        raise NotUsableError(
            message(
                "mtme.unknown-severity",
                "Skipped the ratings: {protocol} does not have the severity “{severity}”.",
                protocol=reading.protocol.upper(),
                severity=str(severity),
            )
        )
    is_source = bool(error.get("is_source_error"))
    text = _text(reading.evalset, system, position, is_source=is_source)
    start, end = int(str(error["start"])), min(int(str(error["end"])), len(text))
    if start >= end:
        reading.moved[file] += 1
        start, end = 0, len(text)
    category = our_category(str(error.get("category") or "")) if scheme.categories else ""
    if not text:
        raise NotUsableError(
            message(
                "mtme.error-in-empty-text",
                "Skipped the ratings: an error is marked in an empty text ({system}, line "
                "{line:d}).",
                system=system,
                line=position + 1,
            )
        )
    return Span(SOURCE if is_source else TARGET, start, end, severity, category)


def _text(evalset: EvalSet, system: str, position: int, *, is_source: bool) -> str:
    if is_source:
        return evalset.sources[position]
    texts = evalset.outputs.get(system) or evalset.references.get(system)
    return (texts[position] if texts else "") or ""
