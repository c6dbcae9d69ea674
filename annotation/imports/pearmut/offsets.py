"""What an offset of Pearmut counts: which units, and whether an end is the last one or behind it.

Up to 1.1.4 line breaks were not counted, and no file names its version. A mark of what is missing
tells: its index is the length of the text, or that less its line breaks. Ends that Pearmut writes
name the last unit; lists that were made elsewhere often name the place behind it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.imports.ends import ends_are_included
from annotation.imports.pearmut.findings import Findings
from annotation.uploads.problems import Place
from metaeval.spans.ends import EndsAtWords, ends_at_words

UNCOUNTED = "uncounted"
ASK_BREAKS = (
    "say whether line breaks count: {n:,} marks lie behind one, and those of what is missing do "
    "not tell ({counted:,} are at the length of the text, {uncounted:,} at that less its breaks)"
)


@dataclass(frozen=True)
class Raw:
    """The errors marked in one output, as they stand."""

    spans: Sequence[Mapping[str, Any]]
    text: str
    source: str


@dataclass(frozen=True)
class Said:
    """What whoever imports says of offsets; what is empty, the file has to tell."""

    ends: str = ""
    breaks: str = ""


@dataclass(frozen=True)
class Convention:
    """How the offsets of one file are read."""

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


def are_included(findings: Findings, raws: Iterable[Raw], said: str, counts_breaks: bool) -> bool:
    """Return whether ends name the last unit: as was said, else as the words say."""
    units = Convention(counts_breaks=counts_breaks).units

    def told() -> EndsAtWords:
        return ends_at_words(
            (raw.text, places[end] if end < len(places) else len(raw.text) + end - len(places))
            for raw in raws
            for places in (units(raw.text),)
            for span in raw.spans
            if span["start_i"] < len(places)
            for end in (span["end_i"],)
        )

    place = Place(findings.file, None, f"{findings.prefix}error_spans")
    return ends_are_included(told, said, findings.report, place)


def are_counted(findings: Findings, raws: Sequence[Raw], said: str, n_tokens: int) -> bool:
    """Return whether line breaks count: as was said, else as marks of what is missing say."""
    late = [(raw, span) for raw in raws for span in raw.spans if _is_behind_break(raw.text, span)]
    if said or not late:
        return said != UNCOUNTED
    votes = [_vote(raw.text, span, n_tokens) for raw, span in late]
    counted, uncounted = votes.count("counted"), votes.count(UNCOUNTED)
    if bool(counted) == bool(uncounted):
        sentence = ASK_BREAKS.format(n=len(late), counted=counted, uncounted=uncounted)
        findings.error("error_spans", sentence)
    elif uncounted:
        message = "line breaks are not counted, as up to 1.1.4: the marks of what is missing say so"
        findings.say("error_spans", message)
    return not uncounted


def _is_behind_break(text: str, span: Mapping[str, Any]) -> bool:
    """Whether it matters to a span if line breaks count."""
    first = text.find("\n")
    return first >= 0 and span["end_i"] >= len(NEW.units(text[:first]))


def _vote(text: str, span: Mapping[str, Any], n_tokens: int) -> str:
    """What one span says: nothing, where it can be read both ways."""
    counted, uncounted = len(NEW.units(text)), len(OLD.units(text))
    is_one, index = span["start_i"] == span["end_i"], span["start_i"]
    can_be_old = is_one and 0 <= index - uncounted < n_tokens
    can_be_new = is_one and 0 <= index - counted < n_tokens
    if can_be_old != can_be_new:
        return UNCOUNTED if can_be_old else "counted"
    return "counted" if not can_be_old and span["start_i"] >= uncounted else ""
