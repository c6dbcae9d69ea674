"""The part of a test set that a campaign covers: its rule, the draw, and what is stored of it.

A rule is an object with any of these keys. `unit` is `segment`, the default, or `document`. Units
can be chosen by `segments`, a list of keys, by `documents` and `domains`, lists of names, and by
`min_length` and `max_length` of the source, in words, or in characters where the language counts
those. Of these, `size` units are drawn: a number, or a share such as `"10%"`. They are drawn at
random with the campaign's seed; with `strata`, `document` or `length`, evenly from all documents or
from quarters by length. Without `size`, all chosen units are judged.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import ValidationError

from annotation.models import Campaign, SampledSegment, System, TestSet
from core.languages import is_character_based
from core.text import words_in
from metaeval.judgments.planning import draw_evenly
from metaeval.messages import Message, message, plural, truncated

SEGMENT, DOCUMENT, LENGTH = "segment", "document", "length"
CHOICES = {"unit": (SEGMENT, DOCUMENT), "strata": (DOCUMENT, LENGTH)}
LISTS, NUMBERS = ("segments", "documents", "domains"), ("min_length", "max_length")
KEYS = (*CHOICES, *LISTS, *NUMBERS, "size")
SHARE = re.compile(r"(\d{1,3}(?:\.\d+)?) ?%")
# Whole documents without a further choice are the whole test set.
WHOLE = {"unit": DOCUMENT}
BANDS = 4
BATCH = 2_000
EMPTY = message(
    "sample.empty", "No segment of the test set with an output of these systems is chosen."
)

NOT_A_RULE = message("sample.not-a-rule", "Expected an object with any of these keys: {known}.",
                     known=list(KEYS))  # fmt: skip
WRONG_SIZE = message(
    "sample.size", "The number to draw must be a whole number from 1, or a share such as 10%."
)
WRONG_LENGTH = message("sample.length", "Lengths must be whole numbers.")
WRONG_ORDER = message("sample.order", "The maximum length is below the minimum length.")
NO_SIZE = message("sample.strata-without-size", "Enter how many should be drawn.")
OF_DOCUMENTS = message(
    "sample.strata-of-documents", "Whole documents can be drawn evenly only from bands of length."
)
KEYS_OF_DOCUMENTS = message(
    "sample.segments-of-documents", "List documents instead of segments, or choose segments."
)
WRONG_LIST = message("sample.list", "Expected a list of names.")


def read_rule(value: Any) -> dict[str, Any] | None:
    """Return a rule without what has no effect; None for the whole test set.

    Numbers may be text, and lists lines of text. Raises ValidationError for what cannot be read or
    contradicts itself.
    """
    if value is None:
        return None
    if not isinstance(value, dict) or set(value) - set(KEYS):
        raise ValidationError([NOT_A_RULE])
    read = {name: _read(name, given) for name, given in value.items()}
    rule = {name: read[name] for name in KEYS if read.get(name) not in ("", None, [], SEGMENT)}
    if faults := _contradictions(rule):
        raise ValidationError(faults)
    return rule if rule not in ({}, WHOLE) else None


def _read(name: str, given: Any) -> Any:
    if name in CHOICES:
        known = ("", *CHOICES[name])
        if given not in known:
            choice = message("sample.choice", "“{value}” is not one of {choices}.",
                             value=str(given)[:40], choices=list(CHOICES[name]))  # fmt: skip
            raise ValidationError([choice])
        return given
    if name in LISTS:
        rows = list(map(str.strip, given.splitlines())) if isinstance(given, str) else given
        if not isinstance(rows, list) or not all(isinstance(row, str) for row in rows):
            raise ValidationError([WRONG_LIST])
        return list(dict.fromkeys(filter(None, rows)))
    text = "" if given is None else str(given).strip()
    if name == "size" and (share := SHARE.fullmatch(text)) and 0 < float(share[1]) <= 100:
        return f"{share[1]}%"
    if text and not (re.fullmatch(r"[0-9]{1,9}", text) and int(text) >= (name == "size")):
        raise ValidationError([WRONG_SIZE if name == "size" else WRONG_LENGTH])
    return int(text) if text else None


def _contradictions(rule: Mapping[str, Any]) -> list[Message]:
    is_whole = rule.get("unit") == DOCUMENT
    faults = {
        WRONG_ORDER: rule.get("min_length", 0) > rule.get("max_length", float("inf")),
        NO_SIZE: "strata" in rule and "size" not in rule,
        OF_DOCUMENTS: is_whole and rule.get("strata") == DOCUMENT,
        KEYS_OF_DOCUMENTS: is_whole and "segments" in rule,
    }
    return [fault for fault, is_so in faults.items() if is_so]


@dataclass
class Unit:
    """A segment or a document: its segments by primary key, and the length of its source."""

    document: str
    segments: list[int] = field(default_factory=list)
    length: int = 0


def draw(
    test_set: TestSet, systems: Iterable[System], rule: Mapping[str, Any], seed: int
) -> dict[int, float]:
    """Return the drawn segments by primary key, each with its inclusion probability.

    A segment without an output of the systems is not a part of any sample. Raises ValidationError
    if the rule names what the test set lacks, or more units than there are.
    """
    units = _units(test_set, systems, rule)
    if not units:
        raise ValidationError([EMPTY])
    size = size_of(rule.get("size"), len(units))
    if size > len(units):
        raise ValidationError([_too_few(len(units), size)])
    places = draw_evenly(STRATA[rule.get("strata", "")](units), size, seed=seed)
    return {pk: size / len(units) for place in places for pk in units[place].segments}


def size_of(size: int | str | None, n_units: int) -> int:
    """Return how many of the units a size is; None is all of them, and a share at least one.

    >>> size_of(270, 1997), size_of("10%", 1997), size_of("0.01%", 1997), size_of(None, 1997)
    (270, 200, 1, 1997)
    """
    if size is None:
        return n_units
    if isinstance(size, int):
        return size
    return max(1, int(n_units * float(size.removesuffix("%")) / 100 + 0.5))


def _units(test_set: TestSet, systems: Iterable[System], rule: Mapping[str, Any]) -> list[Unit]:
    rows = test_set.segments.filter(outputs__system__in=list(systems)).distinct()
    columns = ("pk", "source", "key", "document", "domain")
    wanted = [set(rule.get(name, ())) for name in LISTS]
    is_whole = rule.get("unit") == DOCUMENT
    units: dict[object, Unit] = {}
    n_without, known = 0, [set[str]() for _ in LISTS]
    for pk, source, *names in rows.order_by("position").values_list(*columns):
        for own, name in zip(known, names, strict=True):
            own.add(name)
        if any(own and name not in own for own, name in zip(wanted, names, strict=True)):
            continue
        document = names[1]
        n_without += not document
        unit = units.setdefault(document if is_whole else pk, Unit(document))
        unit.segments.append(pk)
        unit.length += words_in(source, test_set.source_language)
    absent = [asked - own for asked, own in zip(wanted, known, strict=True)]
    _require(absent, n_without if is_whole else 0)
    low, high = rule.get("min_length", 0), rule.get("max_length", float("inf"))
    return [unit for unit in units.values() if low <= unit.length <= high]


def _require(absent: Sequence[set[str]], n_without: int) -> None:
    """Raise ValidationError for unknown names of `LISTS`, and for segments without a document."""
    faults = []
    keys, documents, domains = absent
    if keys:
        faults.append(
            message(
                "sample.no-segments",
                "The test set has no output of these systems for these segments: {keys}.",
                keys=truncated(sorted(keys)),
            )
        )
    if documents:
        faults.append(
            message(
                "sample.no-documents",
                "The test set has no output of these systems for these documents: {names}.",
                names=truncated(sorted(documents)),
            )
        )
    if domains:
        faults.append(
            message(
                "sample.no-domains",
                "The test set has no output of these systems in these domains: {names}.",
                names=truncated(sorted(domains)),
            )
        )
    if n_without:
        faults.append(
            plural(
                "sample.without-document",
                "{n} segment does not belong to a document, so whole documents cannot be chosen.",
                "{n} segments do not belong to a document, so whole documents cannot be chosen.",
                n=n_without,
            )
        )
    if faults:
        raise ValidationError(faults)


def _too_few(n: int, wanted: int) -> Message:
    return plural(
        "sample.too-few",
        "{wanted} should be drawn, and there is {n} to draw from.",
        "{wanted} should be drawn, and there are {n} to draw from.",
        n=n,
        wanted=wanted,
    )


def _by_length(units: Sequence[Unit]) -> list[int]:
    """Return the quarter of each unit by length."""
    order = sorted(range(len(units)), key=lambda place: units[place].length)
    bands = {place: rank * BANDS // len(units) for rank, place in enumerate(order)}
    return [bands[place] for place in range(len(units))]


STRATA: Mapping[str, Callable[[Sequence[Unit]], Sequence[Any]]] = {
    "": lambda units: [0] * len(units),
    DOCUMENT: lambda units: [unit.document for unit in units],
    LENGTH: _by_length,
}


def store_sample(campaign: Campaign) -> None:
    """Draw the sample of a draft, and store it in the place of an earlier one."""
    drawn: Mapping[int, float] = {}
    if campaign.sample is not None:
        systems = campaign.systems.all()
        drawn = draw(campaign.test_set, systems, campaign.sample, campaign.seed)
    stored = campaign.sampled_segments.all()
    if drawn != dict(stored.values_list("segment", "inclusion")):
        stored.delete()
        keep_sample(campaign, drawn)


def keep_sample(campaign: Campaign, drawn: Mapping[int, float]) -> None:
    """Store drawn segments with their inclusion probabilities."""
    SampledSegment.objects.bulk_create(
        [
            SampledSegment(campaign=campaign, segment_id=pk, inclusion=inclusion)
            for pk, inclusion in drawn.items()
        ],
        batch_size=BATCH,
    )


def describe_sample(campaign: Campaign) -> Iterator[Message]:
    """Yield how large the sample is and how it was drawn; nothing for a whole test set."""
    if campaign.sample is None:
        return
    yield sampled(campaign.sampled_segments.count(), campaign.test_set.segments.count())
    yield from describe_rule(campaign.sample, campaign.test_set, campaign.seed)


def sampled(n: int, total: int) -> Message:
    """Return how many of the segments of a test set are drawn."""
    return plural(
        "sample.segments", "{n} of {total} segment", "{n} of {total} segments", n=n, total=total
    )


def covers(n: int, total: int) -> Message:
    """Return the message that a campaign covers a part of its test set, as results say it."""
    return plural(
        "sample.covers",
        "The campaign covers {n} of {total} segment of the test set.",
        "The campaign covers {n} of {total} segments of the test set.",
        n=n,
        total=total,
    )


def describe_rule(rule: Mapping[str, Any], test_set: TestSet, seed: int) -> Iterator[Message]:
    """Yield a rule in words."""
    if rule.get("unit") == DOCUMENT:
        yield message("sample.whole", "whole documents")
    if n := len(rule.get("documents", ())):
        yield plural("sample.documents", "from {n} document", "from {n} documents", n=n)
    if domains := rule.get("domains"):
        yield message("filter.domains", "only domains: {names}", names=domains)
    if n := len(rule.get("segments", ())):
        yield plural("sample.listed", "from a list of {n} segment",
                     "from a list of {n} segments", n=n)  # fmt: skip
    if "min_length" in rule or "max_length" in rule:
        low, high = rule.get("min_length", 0), rule.get("max_length", "∞")
        yield LENGTHS[is_character_based(test_set.source_language)](low, high)
    if "size" in rule:
        yield message("sample.random", "drawn at random with the seed {seed}", seed=str(seed))
    if strata := rule.get("strata"):
        yield EVENLY[strata]


LENGTHS: Mapping[bool, Callable[[object, object], Message]] = {
    False: lambda low, high: message("sample.words", "{low} to {high} words", low=low, high=high),
    True: lambda low, high: message(
        "sample.characters", "{low} to {high} characters", low=low, high=high
    ),
}
EVENLY = {
    DOCUMENT: message("sample.by-document", "evenly from all documents"),
    LENGTH: message("sample.by-length", "evenly from four bands of length"),
}
