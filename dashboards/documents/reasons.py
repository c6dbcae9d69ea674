"""Reasons to trust numbers less, and the verdict that follows from them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeVar

import msgspec

from metaeval import Result, StatisticsWarning
from metaeval.messages import Message, message
from metrics.scores import MeasureScores


class Severity(StrEnum):
    """How severe a reason is, the worst first."""

    INVALIDATES = "invalidates"
    LIMITS = "limits"
    NOTE = "note"


class Verdict(StrEnum):
    """The verdict on all reasons, the worst first; NOTHING where nobody has judged anything."""

    DO_NOT_USE = "do-not-use"
    LIMITED = "limited"
    NO_LIMITS = "no-limits-found"
    NOTHING = "nothing-judged"


LABELS = {
    Verdict.DO_NOT_USE: message("verdict.do-not-use", "Do not use"),
    Verdict.LIMITED: message("verdict.limited", "Limited"),
    Verdict.NO_LIMITS: message("verdict.no-limits", "No limits found"),
    Verdict.NOTHING: message("verdict.nothing", "No human score yet"),
}
SUMMARIES = {
    Verdict.DO_NOT_USE: message(
        "verdict.do-not-use-summary",
        "The judgments do not support these numbers, so nothing is ranked, marked or bold.",
    ),
    Verdict.LIMITED: message("verdict.limited-summary", "These numbers are valid within limits."),
    Verdict.NO_LIMITS: message(
        "verdict.no-limits-summary",
        "Agreement, control items, times and the amount of data were checked.",
    ),
    Verdict.NOTHING: message("verdict.nothing-summary", "There is no human score to check."),
}
_ORDER = list(Severity)
_TIMES = message("reason.times", "Times")
_CONTROLS = message("reason.controls", "Control items")
_AGREEMENT = message("reason.agreement", "Agreement")
# The heading of a reason, by its code.
TOPICS = {
    "impossible_speed": message("reason.speed", "Speed"),
    "no_times": _TIMES,
    "few_times": _TIMES,
    "controls_failed": _CONTROLS,
    "controls_none": _CONTROLS,
    "controls_few": _CONTROLS,
    "agreement_none": _AGREEMENT,
    "agreement_unknown": _AGREEMENT,
    "simulated": message("reason.simulated", "Simulated"),
    "one_annotator": message("reason.annotators", "Annotators"),
    "excluded": message("reason.excluded", "Excluded"),
    "judgments_missing": message("reason.judgments", "Judgments"),
    "few_systems": message("reason.systems", "Systems"),
    "few_segments": message("reason.segments", "Segments"),
    "few_documents": message("reason.documents", "Documents"),
    "sparse": message("reason.sparse", "Sparse"),
    "intervals_hold_chance": message("reason.intervals", "Intervals"),
}
# The name of a page's tab, by the name of its address.
TABS = {
    "monitor": message("tab.monitor", "Progress and people"),
    "quality": message("tab.quality", "Agreement and scale"),
    "systems": message("tab.systems", "MT systems"),
    "correlations": message("tab.correlations", "All metrics"),
    "campaign-power": message("tab.power", "Power"),
}


@dataclass(frozen=True)
class Reason:
    """One reason: the finding, what to do about it, and the page that shows it.

    `page` is the name of a campaign's address, such as `quality`, `tab` the label of that page and
    `topic` the heading of the reason. `scope` are the campaigns where a reason is shown for
    several, `campaign` the slug where it is of one.
    """

    code: str
    severity: Severity
    text: Message
    advice: Message
    page: str
    scope: Message | None = None
    campaign: str = ""
    topic: Message | None = None
    tab: Message | None = None


@dataclass(frozen=True, kw_only=True)
class Trust:
    """A verdict with its reasons, the most severe first.

    `older` is a warning where the verdict is on older data than the numbers that it is shown with.
    """

    verdict: Verdict
    label: Message
    summary: Message
    reasons: Sequence[Reason]
    older: Sequence[Message] = ()


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
    """One campaign of a study, and its verdict."""

    campaign: str
    name: str
    verdict: Verdict
    label: Message


@dataclass(frozen=True, kw_only=True)
class StudyTrust(Trust):
    """The worst verdict of a study's campaigns."""

    campaigns: Sequence[Judged]


def verdict_of(reasons: Iterable[Reason]) -> Verdict:
    """Return the verdict: one reason that invalidates is enough; notes alone limit nothing."""
    found = {reason.severity for reason in reasons}
    if Severity.INVALIDATES in found:
        return Verdict.DO_NOT_USE
    return Verdict.LIMITED if Severity.LIMITS in found else Verdict.NO_LIMITS


def fields_of(verdict: Verdict, reasons: Iterable[Reason]) -> dict[str, Any]:
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
    return replace(trust, **fields_of(verdict_of(reasons), reasons))


# Describe a measure of a metric in a document.


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A measure; `origin` says whether its scores were computed here or imported.

    `is_turned`: lower is better, and the sign was reversed, so that a larger correlation always
    means better agreement.
    """

    key: str
    label: str
    signature: str
    origin: str
    is_turned: bool


def measure_fields(measure: MeasureScores) -> dict[str, Any]:
    """Return the fields of `Measured`."""
    return {
        "key": measure.key,
        "label": measure.label,
        "signature": measure.signature,
        "origin": measure.origin,
        "is_turned": not measure.higher_is_better,
    }


Number = float | None
C = TypeVar("C", bound="Counted")


@dataclass(frozen=True)
class Warned:
    """A `StatisticsWarning` of a document."""

    code: str
    message: Message


@dataclass(frozen=True, kw_only=True)
class Counted:
    """Fields of every `Result`; a subclass names the others that documents have."""

    n: int
    n_excluded: int
    reasons: Mapping[str, int]
    warnings: Sequence[Warned]

    @classmethod
    def of(cls: type[C], result: Result, **more: str) -> C:
        """Return the fields of this class that a result has, and `more`."""
        return msgspec.convert(result.to_dict() | more, cls)


def warned(warnings: Sequence[StatisticsWarning]) -> list[Warned]:
    """Return the warnings of a result for a document."""
    return [Warned(each.code, each.message) for each in warnings]
