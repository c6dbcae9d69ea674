"""Find out what an offset of Pearmut counts, and whether an end is the last unit or the next one.

Up to 1.1.4 line breaks were not counted, and files do not have a version. The mark of an omission
shows it: its index is the length of the text, with or without line breaks. Ends that Pearmut writes
name the last unit; lists that were made elsewhere often name the position after it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.imports.ends import ends_are_included
from annotation.imports.pearmut.findings import Findings
from metaeval.messages import message
from metaeval.spans.ends import EndsAtWords, ends_at_words

UNCOUNTED = "uncounted"


@dataclass(frozen=True)
class Raw:
    """The errors marked in one output, with the offsets of the file."""

    spans: Sequence[Mapping[str, Any]]
    text: str
    source: str


@dataclass(frozen=True)
class Stated:
    """What the importing person states about offsets; empty values are inferred from the file."""

    ends: str = ""
    breaks: str = ""


@dataclass(frozen=True)
class Convention:
    """The meaning of the offsets of one file."""

    ends_included: bool = True
    counts_breaks: bool = True

    def units(self, text: str) -> list[int]:
        """Return the code point that each unit of UTF-16 belongs to.

        >>> Convention().units("a\\n\\U0001f600b"), Convention(True, False).units("a\\nb")
        ([0, 1, 2, 2, 3], [0, 2])
        """
        return [
            index
            for index, sign in enumerate(text)
            if self.counts_breaks or sign != "\n"
            for _ in range(1 + (ord(sign) > 0xFFFF))
        ]


NEW, OLD = Convention(), Convention(counts_breaks=False)


def are_included(findings: Findings, raws: Iterable[Raw], stated: str, counts_breaks: bool) -> bool:
    """Return whether ends name the last unit: as stated, or as the words suggest."""
    units = Convention(counts_breaks=counts_breaks).units

    def count() -> EndsAtWords:
        return ends_at_words(
            (raw.text, places[end] if end < len(places) else len(raw.text) + end - len(places))
            for raw in raws
            for places in (units(raw.text),)
            for span in raw.spans
            if span["start_i"] < len(places)
            for end in (span["end_i"],)
        )

    return ends_are_included(count, stated, findings.report, findings.place("error_spans"))


def are_counted(findings: Findings, raws: Sequence[Raw], stated: str, n_tokens: int) -> bool:
    """Return whether line breaks count: as stated, or as marks of omissions show."""
    late = [(raw, span) for raw in raws for span in raw.spans if _is_behind_break(raw.text, span)]
    if stated or not late:
        return stated != UNCOUNTED
    votes = [_vote(raw.text, span, n_tokens) for raw, span in late]
    counted, uncounted = votes.count("counted"), votes.count(UNCOUNTED)
    if bool(counted) == bool(uncounted):
        findings.error(
            "error_spans",
            message(
                "pearmut.breaks-unclear",
                "State whether offsets count line breaks. {n} marked errors are after a line "
                "break, and marks of omissions do not decide it: {counted} are at the length of "
                "the text, and {uncounted} at its length without line breaks.",
                n=len(late),
                counted=counted,
                uncounted=uncounted,
            ),
        )
    elif uncounted:
        findings.warn(
            "error_spans",
            message(
                "pearmut.breaks-uncounted",
                "Offsets were read without counting line breaks, as in Pearmut up to 1.1.4, "
                "because the marks of omissions show it.",
            ),
        )
    return not uncounted


def _is_behind_break(text: str, span: Mapping[str, Any]) -> bool:
    """Return True if a span depends on whether line breaks count."""
    first = text.find("\n")
    return first >= 0 and span["end_i"] >= len(NEW.units(text[:first]))


def _vote(text: str, span: Mapping[str, Any], n_tokens: int) -> str:
    """Return what one span shows: “counted”, “uncounted”, or nothing if both are possible."""
    counted, uncounted = len(NEW.units(text)), len(OLD.units(text))
    is_one, index = span["start_i"] == span["end_i"], span["start_i"]
    can_be_old = is_one and 0 <= index - uncounted < n_tokens
    can_be_new = is_one and 0 <= index - counted < n_tokens
    if can_be_old != can_be_new:
        return UNCOUNTED if can_be_old else "counted"
    return "counted" if not can_be_old and span["start_i"] >= uncounted else ""
