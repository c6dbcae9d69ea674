"""A reason to trust numbers less, and what several of them come to."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any


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
    Verdict.NOTHING: "No human score yet",
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
    "few_times": "Times",
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
    "few_documents": "Documents",
    "sparse": "Sparse",
    "intervals_hold_chance": "Intervals",
}
TABS = {
    "quality": "Quality and exclusions",
    "dashboard": "Scale, time and drift",
    "systems": "MT systems",
    "correlations": "All metrics",
    "campaign-power": "Power",
}


@dataclass(frozen=True)
class Reason:
    """One reason: a sentence with its numbers, what to do about it, and the page behind it.

    `page` is the name of a campaign's address, such as `quality`, and `tab` what it is called;
    `topic` is the word before the reason. `scope` names the campaigns where several stand together.
    """

    code: str
    severity: Severity
    text: str
    advice: str
    page: str
    scope: str = ""
    campaign: str = ""
    topic: str = ""
    tab: str = ""


@dataclass(frozen=True, kw_only=True)
class Trust:
    """A verdict with its reasons, the gravest first.

    `older` says so where it is of older data than the numbers beside it.
    """

    verdict: Verdict
    label: str
    summary: str
    reasons: Sequence[Reason]
    older: str = ""


@dataclass(frozen=True, kw_only=True)
class CampaignTrust(Trust):
    """The verdict on a campaign, and how much its humans judged (`dashboards.trust.amount`)."""

    campaign: str
    name: str
    n_systems: int
    n_segments: int
    n_informative: int
    n_documents: int = 0
    effective_documents: float = 0.0


@dataclass(frozen=True)
class Judged:
    """One campaign of a study, and what its reasons come to."""

    campaign: str
    name: str
    verdict: Verdict
    label: str


@dataclass(frozen=True, kw_only=True)
class StudyTrust(Trust):
    """The worst verdict of a study's campaigns."""

    campaigns: Sequence[Judged]


def verdict_of(reasons: Iterable[Reason]) -> Verdict:
    """One that invalidates is enough; notes alone limit nothing."""
    found = {reason.severity for reason in reasons}
    if Severity.INVALIDATES in found:
        return Verdict.DO_NOT_USE
    return Verdict.LIMITED if Severity.LIMITS in found else Verdict.NO_LIMITS


def said_of(verdict: Verdict, reasons: Iterable[Reason]) -> dict[str, Any]:
    """Return the fields of a `Trust` with this verdict."""
    ordered = sorted(reasons, key=lambda reason: _ORDER.index(reason.severity))
    return {
        "verdict": verdict,
        "label": LABELS[verdict],
        "summary": SUMMARIES[verdict],
        "reasons": [replace(r, topic=TOPICS[r.code], tab=TABS[r.page]) for r in ordered],
    }


def with_reasons(trust: CampaignTrust, added: Sequence[Reason]) -> CampaignTrust:
    """Return a verdict with more reasons."""
    if not added or trust.verdict == Verdict.NOTHING:
        return trust
    reasons = [*trust.reasons, *added]
    return replace(trust, **said_of(verdict_of(reasons), reasons))
