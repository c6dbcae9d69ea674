"""Check the judgments: annotators, agreement, control items and speed.

Scores are shown not to be random by agreement between annotators or by control items that they
pass. Either is enough. Where agreement does not differ from zero and nobody passes, neither is
shown.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annotation.quality import AnnotatorQuality, QualityReport, Verdict
from annotation.quality.verdict import ITEMS, LOW, PAIRS_TO_FAIL, PAIRS_TO_PASS, RATE
from dashboards.documents.reasons import Reason, Severity
from dashboards.trust.agreement import AgreementLine
from metaeval.judgments.controls import pass_rate
from metaeval.messages import Message, message, plural, truncated

# From this share of the judgments on, a fault of these judgments is one of the campaign.
MOST = 0.5
# Among many annotators some fail by chance: below this share of the judgments, it is a note.
SOME = 0.05
# The fewest timed judgments for a median.
TIMED = 5
ALL_ANNOTATORS = message("trust.all-annotators", "all annotators")


@dataclass(frozen=True)
class Speed:
    """One annotator's time: the medians of the seconds taken and of the least needed to read.

    `is_impossible` depends on the ratio of the two, judgment by judgment.
    """

    label: str
    n: int
    seconds: float
    least: float
    is_impossible: bool


@dataclass(frozen=True)
class Evidence:
    """Everything about a campaign's judgments that the checks need.

    `agreement` is that on outputs alone (its α and ends may be nan), None where no output was
    rated at all; `is_raw` selects the α. `speeds` are of annotators with at least `TIMED` timed
    judgments, `n_timed` counts the timed judgments of all annotators.
    """

    report: QualityReport
    agreement: AgreementLine | None
    speeds: Sequence[Speed]
    is_raw: bool = False
    n_timed: int = 0

    @property
    def people(self) -> list[AnnotatorQuality]:
        """The annotators who have judgments and are not excluded."""
        return [one for one in self.report.annotators if one.n and one.excluded_at is None]


def reasons_of(evidence: Evidence) -> list[Reason]:
    """Return all reasons that concern the judgments."""
    controls = _controls(evidence)
    return [
        *_speed(evidence),
        *controls,
        *_agreement(evidence, passes=share(evidence.people, Verdict.PASSES) >= MOST),
        *_people(evidence),
    ]


def share(people: Sequence[AnnotatorQuality], verdict: Verdict) -> float:
    """Return the share of the judgments given by annotators with a verdict."""
    total = sum(one.n for one in people)
    own = sum(one.n for one in people if one.checks.verdict == verdict)
    return own / total if total else 0.0


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
            plural(
                "trust.impossible-speed",
                "{n} of {total} annotators ({annotators}), who gave {share:percent} of the timed "
                "judgments, was faster than anybody can skim the texts. {worst} took "
                "{seconds:.1f} s per item (median); at least {least:.1f} s are needed.",
                "{n} of {total} annotators ({annotators}), who gave {share:percent} of the timed "
                "judgments, were faster than anybody can skim the texts. {worst} took "
                "{seconds:.1f} s per item (median); at least {least:.1f} s are needed.",
                n=len(fast),
                total=len(evidence.speeds),
                annotators=truncated([one.label for one in fast]),
                share=part,
                worst=worst.label,
                seconds=worst.seconds,
                least=worst.least,
            ),
            message(
                "trust.impossible-speed-advice",
                "Exclude {annotators} and have their items rated again.",
                annotators=truncated([one.label for one in fast]),
            ),
            "monitor",
        )
    ]


def _untimed() -> Reason:
    return Reason(
        "no_times",
        Severity.NOTE,
        message(
            "trust.no-times",
            "The times of the judgments are unknown, so annotators who were too fast cannot be "
            "identified.",
        ),
        message("trust.no-times-advice", "Include the times of judgments when you import them."),
        "quality",
    )


def _few_times() -> Reason:
    return Reason(
        "few_times",
        Severity.NOTE,
        message(
            "trust.few-times",
            "No annotator has {least} timed judgments yet, so annotators who were too fast cannot "
            "be identified.",
            least=TIMED,
        ),
        message("trust.few-times-advice", "Wait for more judgments."),
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
    return Reason(
        "controls_failed",
        severity,
        _who_failed(failing, evidence.people, passed, n),
        message(
            "trust.controls-failed-advice",
            "Annotators must rate at least {rate:percent} of the traps in the lowest "
            "{low:percent} of the scale. Review {annotators} in the monitor, and exclude "
            "annotators who have not read the texts.",
            rate=RATE,
            low=LOW,
            annotators=truncated(failing) if failing else ALL_ANNOTATORS,
        ),
        "monitor",
    )


def _who_failed(
    failing: list[str], people: Sequence[AnnotatorQuality], passed: int, n_items: int
) -> Message:
    if not failing:
        return message(
            "trust.controls-failed-together",
            "All annotators together passed {passed} of {items} traps and gold items.",
            passed=passed,
            items=n_items,
        )
    known: dict[str, Any] = {
        "n": len(failing),
        "total": len(people),
        "annotators": truncated(failing),
        "share": share(people, Verdict.FAILS),
    }
    if not n_items:
        return plural(
            "trust.controls-failed",
            "{n} of {total} annotators ({annotators}), who gave {share:percent} of the judgments, "
            "fails the control items.",
            "{n} of {total} annotators ({annotators}), who gave {share:percent} of the judgments, "
            "fail the control items.",
            **known,
        )
    return plural(
        "trust.controls-failed-of",
        "{n} of {total} annotators ({annotators}), who gave {share:percent} of the judgments, "
        "fails the control items. All annotators together passed {passed} of {items} traps and "
        "gold items.",
        "{n} of {total} annotators ({annotators}), who gave {share:percent} of the judgments, "
        "fail the control items. All annotators together passed {passed} of {items} traps and "
        "gold items.",
        **known,
        passed=passed,
        items=n_items,
    )


def _untested() -> Reason:
    return Reason(
        "controls_none",
        Severity.LIMITS,
        message(
            "trust.controls-none",
            "No control items were rated, so careless annotators cannot be identified.",
        ),
        message("trust.controls-none-advice", "Plan traps or bad references in the next campaign."),
        "quality",
    )


def _undecided(part: float, passed: int, n: int) -> Reason:
    return Reason(
        "controls_few",
        Severity.LIMITS,
        message(
            "trust.controls-few-of",
            "Annotators who gave {share:percent} of the judgments rated too few control items to "
            "be assessed. All annotators together passed {passed} of {items} traps and gold items.",
            share=part,
            passed=passed,
            items=n,
        )
        if n
        else message(
            "trust.controls-few",
            "Annotators who gave {share:percent} of the judgments rated too few control items to "
            "be assessed.",
            share=part,
        ),
        message(
            "trust.controls-few-advice",
            "To be assessed, each annotator must rate {items} traps, or {passes} bad references to "
            "pass and {fails} to fail.",
            items=ITEMS,
            passes=PAIRS_TO_PASS,
            fails=PAIRS_TO_FAIL,
        ),
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
    text = message(
        "trust.agreement-none",
        "Agreement cannot be distinguished from zero: Krippendorff’s α is {alpha:r} "
        "[{low:r}, {high:r}] over {outputs} outputs that two or more annotators rated.",
        alpha=value,
        low=low,
        high=high,
        outputs=n,
    )
    advice = message(
        "trust.agreement-none-advice",
        "Find out which annotators disagree, exclude annotators who have not read the texts, or "
        "have more outputs rated twice.",
    )
    return [Reason("agreement_none", severity, text, advice, "quality")]


def _why_unknown(n: int, alpha: float | None) -> Message:
    """Return why there is no interval of α over `n` outputs that two or more rated."""
    if not n:
        return message(
            "trust.agreement-no-output",
            "Agreement cannot be checked, because no output was rated by two annotators.",
        )
    if alpha is None:
        return plural(
            "trust.agreement-constant",
            "Agreement cannot be checked, because the ratings of {n} output are all equal.",
            "Agreement cannot be checked, because the ratings of {n} outputs are all equal.",
            n=n,
        )
    if alpha >= 1.0:
        return plural(
            "trust.agreement-perfect",
            "Agreement cannot be checked, because annotators do not disagree on {n} output.",
            "Agreement cannot be checked, because annotators do not disagree on any of {n} "
            "outputs.",
            n=n,
        )
    return plural(
        "trust.agreement-few",
        "Agreement cannot be checked, because two or more annotators rated only {n} output, too "
        "few for an interval.",
        "Agreement cannot be checked, because two or more annotators rated only {n} outputs, too "
        "few for an interval.",
        n=n,
    )


def _unknown_agreement(n: int, alpha: float | None) -> Reason:
    return Reason(
        "agreement_unknown",
        Severity.LIMITS,
        _why_unknown(n, alpha),
        message(
            "trust.agreement-unknown-advice",
            "Have more outputs rated by two or more annotators.",
        ),
        "quality",
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
    return Reason(
        "simulated",
        Severity.LIMITS,
        message(
            "trust.simulated",
            "All judgments are simulated, so these numbers do not describe people.",
        )
        if part == 1
        else message(
            "trust.partly-simulated",
            "{share:percent} of the judgments are simulated, so these numbers do not describe "
            "people.",
            share=part,
        ),
        message("trust.simulated-advice", "Use them only to learn Touchstone."),
        "quality",
    )


def _one_person(label: str) -> Reason:
    return Reason(
        "one_annotator",
        Severity.LIMITS,
        message(
            "trust.one-annotator",
            "{annotator} gave all judgments, so these numbers are the opinion of one annotator and "
            "agreement cannot be checked.",
            annotator=label,
        ),
        message("trust.one-annotator-advice", "Have a second annotator rate the same outputs."),
        "quality",
    )


def _excluded(labels: list[str], n: int) -> Reason:
    return Reason(
        "excluded",
        Severity.NOTE,
        plural(
            "trust.excluded",
            "{n} of {total} annotators is excluded from every number: {annotators}.",
            "{n} of {total} annotators are excluded from every number: {annotators}.",
            n=len(labels),
            total=len(labels) + n,
            annotators=truncated(labels),
        ),
        message("trust.excluded-advice", "State in a paper why they were excluded."),
        "quality",
    )
