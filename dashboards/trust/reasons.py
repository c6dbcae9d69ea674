"""A reason to trust numbers less, and what several of them come to."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any, Self

Document = dict[str, Any]


class Severity(StrEnum):
    """How far a reason goes, the worst first."""

    INVALIDATES = "invalidates"
    LIMITS = "limits"
    NOTE = "note"


class Verdict(StrEnum):
    """What all reasons come to, the worst first; NOTHING where nobody has judged anything."""

    DO_NOT_USE = "do-not-use"
    LIMITED = "limited"
    NO_LIMITS = "no-limits-found"
    NOTHING = "nothing-judged"


LABELS = {
    Verdict.DO_NOT_USE: "Do not use",
    Verdict.LIMITED: "Limited",
    Verdict.NO_LIMITS: "No limits found",
    Verdict.NOTHING: "Nothing judged yet",
}
SUMMARIES = {
    Verdict.DO_NOT_USE: (
        "The judgments do not bear these numbers out, so nothing is ranked, marked or bold."
    ),
    Verdict.LIMITED: "These numbers hold within limits.",
    Verdict.NO_LIMITS: "Agreement, control items, times and the amount of data were checked.",
    Verdict.NOTHING: "There is no human score to check.",
}
_ORDER = list(Severity)
# By code: the word before a reason. By page: what its tab is called.
TOPICS = {
    "impossible_speed": "Speed",
    "no_times": "Times",
    "controls_failed": "Control items",
    "controls_none": "Control items",
    "controls_few": "Control items",
    "agreement_none": "Agreement",
    "agreement_unknown": "Agreement",
    "simulated": "Simulated",
    "one_annotator": "Annotators",
    "excluded": "Excluded",
    "judgments_missing": "Judgments",
    "few_systems": "Systems",
    "few_segments": "Segments",
    "sparse": "Sparse",
    "intervals_hold_chance": "Intervals",
}
TABS = {
    "quality": "Quality",
    "dashboard": "Dashboard",
    "systems": "MT systems",
    "correlations": "Correlations",
    "campaign-power": "Power",
}


@dataclass(frozen=True)
class Reason:
    """One reason: a sentence with its numbers, what to do about it, and the page behind it.

    `page` is the name of a campaign's address, such as `quality`; `scope` names the campaign where
    several stand together.
    """

    code: str
    severity: Severity
    text: str
    advice: str
    page: str
    scope: str = ""
    campaign: str = ""

    def as_json(self) -> Document:
        """Return plain values."""
        topic, tab = TOPICS[self.code], TABS[self.page]
        return asdict(self) | {"severity": self.severity.value, "topic": topic, "tab": tab}

    @classmethod
    def from_json(cls, stored: Document) -> Self:
        """The inverse of `as_json`."""
        own = {each.name: stored[each.name] for each in fields(cls)}
        return cls(**own | {"severity": Severity(stored["severity"])})


def verdict_of(reasons: Iterable[Reason]) -> Verdict:
    """One that invalidates is enough; notes alone limit nothing."""
    found = {reason.severity for reason in reasons}
    if Severity.INVALIDATES in found:
        return Verdict.DO_NOT_USE
    return Verdict.LIMITED if Severity.LIMITS in found else Verdict.NO_LIMITS


def document_of(reasons: Sequence[Reason], *, is_judged: bool = True) -> Document:
    """Return verdict and reasons as plain values, the gravest first."""
    verdict = verdict_of(reasons) if is_judged else Verdict.NOTHING
    ordered = sorted(reasons, key=lambda reason: _ORDER.index(reason.severity))
    return {
        "verdict": verdict.value,
        "label": LABELS[verdict],
        "summary": SUMMARIES[verdict],
        "reasons": [reason.as_json() for reason in ordered],
    }


def with_reasons(document: Document, added: Sequence[Reason]) -> Document:
    """Return a verdict's document with more reasons."""
    if not added or document["verdict"] == Verdict.NOTHING:
        return document
    known = [Reason.from_json(each) for each in document["reasons"]]
    return document | document_of([*known, *added])
