"""Whether the judgments are worth anything: people, agreement, control items, speed.

Two things show that scores are not random: that annotators agree, and that they pass control
items. Either is enough; where agreement cannot be told from none and nobody passes, nothing is.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.quality import AnnotatorQuality, QualityReport, Verdict
from annotation.quality.verdict import ITEMS, LOW, RATE
from dashboards.documents.reasons import Reason, Severity
from dashboards.trust.agreement import AgreementLine
from metaeval.judgments.controls import pass_rate

# From this share of the judgments on, what is true of them is true of the campaign.
MOST = 0.5
# Among many annotators some fail by chance: below this share of the judgments it is a note.
SOME = 0.05
# Fewer timed judgments have no median worth naming.
TIMED = 5
NAMED = 5


@dataclass(frozen=True)
class Speed:
    """One annotator's time: the median of seconds and of the least in which one can read.

    `is_impossible` is of their ratio, judgment by judgment.
    """

    label: str
    n: int
    seconds: float
    least: float
    is_impossible: bool


@dataclass(frozen=True)
class Evidence:
    """What is known of a campaign's judgments.

    `agreement` is the line of outputs alone (its α and ends may be nan), None where no output was
    rated at all; `is_raw` says which α counts. `speeds` are of those with `TIMED` judgments
    whose time is known, `n_timed` counts everybody's.
    """

    report: QualityReport
    agreement: AgreementLine | None
    speeds: Sequence[Speed]
    is_raw: bool = False
    n_timed: int = 0

    @property
    def people(self) -> list[AnnotatorQuality]:
        """Who counts: not excluded, with judgments."""
        return [one for one in self.report.annotators if one.n and one.excluded_at is None]


def reasons_of(evidence: Evidence) -> list[Reason]:
    """Return all reasons that lie in the judgments."""
    controls = _controls(evidence)
    return [
        *_speed(evidence),
        *controls,
        *_agreement(evidence, passes=share(evidence.people, Verdict.PASSES) >= MOST),
        *_people(evidence),
    ]


def share(people: Sequence[AnnotatorQuality], verdict: Verdict) -> float:
    """Return the share of the judgments that annotators of a verdict gave."""
    total = sum(one.n for one in people)
    own = sum(one.n for one in people if one.checks.verdict == verdict)
    return own / total if total else 0.0


def names(labels: Sequence[str]) -> str:
    """Return a few names, and how many more there are."""
    more = len(labels) - NAMED
    return ", ".join(labels[:NAMED]) + (f" and {more} more" if more > 0 else "")


def _speed(evidence: Evidence) -> list[Reason]:
    fast = [one for one in evidence.speeds if one.is_impossible]
    timed = sum(one.n for one in evidence.speeds)
    if not evidence.speeds:
        return [_few_times() if evidence.n_timed else _untimed()]
    if not fast:
        return []
    part = sum(one.n for one in fast) / timed
    worst = min(fast, key=lambda one: one.seconds)
    severity = Severity.INVALIDATES if part >= MOST else Severity.LIMITS
    if part < SOME:
        severity = Severity.NOTE
    return [
        Reason(
            "impossible_speed",
            severity,
            f"{len(fast)} of {len(evidence.speeds)} annotators "
            f"({names([one.label for one in fast])}), with {part:.0%} of the timed judgments, were "
            f"faster than the texts can be skimmed: {worst.label} took {worst.seconds:.1f} s an "
            f"item (median), where {worst.least:.1f} s is the least.",
            "Exclude them, and have their items rated again.",
            "quality",
        )
    ]


def _untimed() -> Reason:
    return Reason(
        "no_times",
        Severity.NOTE,
        "No times are known, so nobody can be seen to have been too fast.",
        "Keep the times of judgments when you import them.",
        "quality",
    )


def _few_times() -> Reason:
    return Reason(
        "few_times",
        Severity.NOTE,
        f"Nobody has {TIMED} timed judgments yet, so nobody can be seen to have been too fast.",
        "Wait for more judgments.",
        "quality",
    )


def _controls(evidence: Evidence) -> list[Reason]:
    people = evidence.people
    tested = [one for one in people if one.checks.parts]
    if not tested:
        return [_untested()]
    failing = [one.label for one in people if one.checks.verdict == Verdict.FAILS]
    part, passed, n = share(people, Verdict.FAILS), *pooled(people)
    ends = pass_rate(passed, n).interval if n >= ITEMS else None
    are_failed = ends is not None and ends.high < RATE
    if part >= MOST or are_failed:
        return [_failed(Severity.INVALIDATES, failing, evidence, passed, n)]
    if failing:
        severity = Severity.LIMITS if part >= SOME else Severity.NOTE
        return [_failed(severity, failing, evidence, passed, n)]
    unknown = share(people, Verdict.UNKNOWN)
    return [_undecided(unknown, passed, n)] if unknown >= MOST else []


def pooled(people: Sequence[AnnotatorQuality]) -> tuple[int, int]:
    """Return how many traps and gold items all annotators together passed, and of how many."""
    rates = [r for one in people for r in (one.checks.traps, one.checks.gold) if r is not None]
    n = sum(rate.n for rate in rates)
    return round(sum(rate.statistic * rate.n for rate in rates)), n


def _failed(
    severity: Severity, failing: list[str], evidence: Evidence, passed: int, n: int
) -> Reason:
    people = evidence.people
    who = (
        f"{len(failing)} of {len(people)} annotators ({names(failing)}), with "
        f"{share(people, Verdict.FAILS):.0%} of the judgments, fail the control items."
    )
    rate = f"{passed} of {n} traps and gold items were passed in all."
    return Reason(
        "controls_failed",
        severity,
        " ".join([*([who] if failing else []), *([rate] if n else [])]),
        f"A trap is passed in the lowest {LOW:.0%} of the scale, and {RATE:.0%} must be. Look at "
        "these annotators on the quality page; exclude who did not read.",
        "quality",
    )


def _untested() -> Reason:
    return Reason(
        "controls_none",
        Severity.LIMITS,
        "No control item was rated: nothing tells who read from who did not.",
        "Plan traps or bad references in the next campaign.",
        "quality",
    )


def _undecided(part: float, passed: int, n: int) -> Reason:
    rate = f" ({passed} of {n} traps and gold items passed in all)" if n else ""
    return Reason(
        "controls_few",
        Severity.LIMITS,
        f"Annotators who gave {part:.0%} of the judgments rated too few control items for a "
        f"verdict{rate}.",
        f"A verdict takes {ITEMS} traps, or 5 bad references to pass and 10 to fail, each.",
        "quality",
    )


def _agreement(evidence: Evidence, *, passes: bool) -> list[Reason]:
    if len(evidence.people) < 2:
        return []
    row = evidence.agreement
    n = row.n_units if row else 0
    value, ends = (row.alpha_raw if evidence.is_raw else row.alpha_z) if row else (None, None)
    low, high = ends or (None, None)
    if value is None or low is None or high is None:
        return [_unknown_agreement(n, value)]
    if not low <= 0 <= high and value > 0:
        return []
    severity = Severity.LIMITS if passes else Severity.INVALIDATES
    text = (
        f"It cannot be told from none: Krippendorff’s α is {value:.2f} "
        f"[{low:.2f}, {high:.2f}] over {n:,} outputs that two or more rated."
    )
    advice = "Find out who disagrees, exclude who did not read, or have more outputs rated twice."
    return [Reason("agreement_none", severity, text.replace("-", "−"), advice, "dashboard")]


def _why_unknown(n: int, alpha: float | None) -> str:
    """Why there is no interval of α over `n` outputs that two or more rated."""
    if not n:
        return "It cannot be checked: no output was rated by two annotators."
    if alpha is None:
        return f"It cannot be checked: the ratings of {n:,} outputs are all equal."
    if alpha >= 1.0:
        return f"It cannot be checked: nobody disagrees on any of {n:,} outputs."
    return (
        f"It cannot be checked: {n:,} outputs were rated by two or more, too few for an interval."
    )


def _unknown_agreement(n: int, alpha: float | None) -> Reason:
    return Reason(
        "agreement_unknown",
        Severity.LIMITS,
        _why_unknown(n, alpha),
        "Have more outputs rated by two annotators or more.",
        "dashboard",
    )


def _people(evidence: Evidence) -> list[Reason]:
    people, found = evidence.people, []
    simulated = sum(one.n for one in people if one.is_simulated)
    if simulated:
        part = simulated / sum(one.n for one in people)
        found.append(_simulated(part))
    if len(people) == 1:
        found.append(_one_person(people[0].label))
    out = [one.label for one in evidence.report.annotators if one.excluded_at is not None]
    if out:
        found.append(_excluded(out, len(people)))
    return found


def _simulated(part: float) -> Reason:
    all_of_them = "All judgments are simulated: these numbers are not about people."
    some = f"{part:.0%} of the judgments are simulated: these numbers are not about people."
    return Reason(
        "simulated",
        Severity.LIMITS,
        all_of_them if part == 1 else some,
        "Use them to learn Touchstone, and nothing else.",
        "quality",
    )


def _one_person(label: str) -> Reason:
    return Reason(
        "one_annotator",
        Severity.LIMITS,
        f"{label} gave all judgments: these numbers are one person’s opinion, and agreement "
        "cannot be checked.",
        "Have a second annotator rate the same outputs.",
        "quality",
    )


def _excluded(labels: list[str], n: int) -> Reason:
    return Reason(
        "excluded",
        Severity.NOTE,
        f"{len(labels)} of {len(labels) + n} annotators are excluded, and their judgments enter "
        f"no number: {names(labels)}.",
        "Say in a paper why they were excluded.",
        "quality",
    )
