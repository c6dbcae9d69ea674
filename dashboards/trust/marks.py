"""Decide what may be ranked, bold or marked: only what intervals and the verdict support."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dashboards.comparisons import selection
from dashboards.comparisons.document import Comparison, Metric, OfQuestion
from dashboards.documents.reasons import CampaignTrust, Reason, Severity, Trust, Verdict
from dashboards.panel.panel import CONSTANT
from dashboards.trust.amount import MIN_SYSTEMS
from metaeval.messages import Message, message, truncated
from metaeval.replication.bounds import BELOW, NOT_ABOVE
from metaeval.replication.questions.statistics import SYSTEM

# The limit concerns the same systems on new segments, so it does not need many systems.
LIMIT = "limit"

UNKNOWN = message(
    "marks.verdict-unknown",
    "Nothing is ranked or bold until the verdict on these numbers has been computed.",
)
REFUSED = message(
    "marks.do-not-use",
    "Nothing is ranked or bold, because the verdict on these numbers is “Do not use”.",
)
OVER_HYBRIDS = message(
    "marks.over-hybrids",
    "Nothing is ranked or bold. With hybrids as observations, equally good metrics would be "
    "declared different most of the time. Choose the limit of hybrids to get ranks.",
)
PENDING = message("marks.pending", "Ranks appear once the intervals have been computed.")
NO_RANKS = message("marks.no-ranks", "Nothing is ranked.")
# Keys of the parts of a page besides its values, as `failed` has them.
INTERVALS, VERDICT = "intervals", "verdict"
PARTS = {
    INTERVALS: message("part.intervals", "intervals and ranks"),
    VERDICT: message("part.verdict", "the verdict on trust"),
}
NO_ERROR = message(
    "marks.no-error", "this metric’s agreement does not change, whichever data are excluded"
)
ONE_CLUSTER = message(
    "marks.one-cluster",
    "The metrics cannot be distinguished: no metric beats another at p < .05, so none is ranked or "
    "bold.",
)
ALONE = message("marks.alone", "A single metric has no rank.")
UNCORRECTED = message("marks.uncorrected", "without correction")
ALL_ABOVE = message("baselines.all-above", "Every metric is above the baselines.")
REST_ABOVE = message("baselines.rest-above", "Every other metric is above the baselines.")
NO_BASELINE = message(
    "baselines.undefined",
    "No metric is tested against the baselines, because each baseline gives the same score to all "
    "compared outputs, and this statistic is undefined for a constant.",
)
ZERO = message("marks.zero", "zero")
BASELINES = message("baselines.about", "Baselines are random scores, a constant, and text length.")


@dataclass(frozen=True)
class Marking:
    """Ranks by key (none where a metric has none), the keys in bold, and explanations.

    `group` is the best metric with those that cannot be distinguished from it, above chance.
    `best`, in bold, is the same, or only the best where the group is more than half of all metrics
    with a value.
    """

    ranks: Mapping[str, int] = field(default_factory=dict)
    best: frozenset[str] = frozenset()
    notes: Sequence[Message] = ()
    group: frozenset[str] = frozenset()


def refusal(trust: CampaignTrust | None, asked: OfQuestion) -> Message | None:
    """Return why a document's metrics may not be marked; None if they may."""
    if reason := forbidden(trust):
        return reason
    if asked.is_of_draws:
        return OVER_HYBRIDS
    n = trust.n_systems if trust else 0
    is_over_systems = asked.level == SYSTEM and asked.statistic != LIMIT
    if is_over_systems and n < MIN_SYSTEMS:
        return message(
            "marks.few-systems",
            "Nothing is ranked or bold, because {n} systems (fewer than {least}) are not enough to "
            "predict how metrics would do on other systems. The limit of hybrids concerns these "
            "systems on new segments.",
            n=n,
            least=MIN_SYSTEMS,
        )
    return None


def forbidden(trust: Trust | None) -> Message | None:
    """Return why the verdict alone forbids marks; None if it does not."""
    if trust is None:
        return UNKNOWN
    return REFUSED if trust.verdict == Verdict.DO_NOT_USE else None


def failure(failed: Mapping[str, Message]) -> list[Message]:
    """Return which parts could not be computed, by key and error; empty without any."""
    found = [_failure(part, error) for part, error in failed.items()]
    return [*found, NO_RANKS] if found else []


def _failure(part: str, error: Message) -> Message:
    if part == VERDICT:
        return message(
            "marks.verdict-failed",
            "The verdict on trust could not be computed. {error}",
            error=error,
        )
    return message(
        "marks.intervals-failed",
        "Intervals and ranks could not be computed. {error}",
        error=error,
    )


def excludes(low: float | None, high: float | None, value: float = 0.0) -> bool:
    """Return whether an interval is known and does not include a value."""
    return low is not None and high is not None and not low <= value <= high


def marking(
    trust: CampaignTrust | None,
    compared: Comparison | None,
    correction: str = "holm",
    scope: str = "table",
) -> Marking:
    """Decide on the metrics of a comparison under a correction for many tests.

    A rank needs an interval that excludes chance, and two ranks that differ. Bold are the best and
    those that cannot be distinguished from it, unless these are most metrics (`Marking`).
    """
    if compared is None:
        return Marking(notes=[forbidden(trust) or PENDING])
    if reason := refusal(trust, compared):
        return Marking(notes=[reason])
    chance = compared.chance
    known = [m for m in compared.metrics if excludes(m.low, m.high, chance)]
    standing = selection.standing(compared, correction, scope)
    found = _of_known(compared, known, standing)
    return _with_bold(found, compared.metrics, correction) if found.group else found


def uncertain(compared: Comparison | None) -> list[Reason]:
    """Return a reason with the number of metrics whose intervals include chance."""
    if compared is None or not compared.metrics:
        return []
    chance = compared.chance
    ends = [(m.low, m.high) for m in compared.metrics]
    known = [(low, high) for low, high in ends if low is not None and high is not None]
    held = [low for low, high in known if low <= chance <= high]
    if not held:
        return []
    return [
        Reason(
            "intervals_hold_chance",
            Severity.LIMITS if len(held) == len(known) else Severity.NOTE,
            message(
                "trust.intervals-include-chance",
                "{statistic}: the intervals of {n} of {total} metrics include {chance:r}, so "
                "there is no evidence that these metrics agree with the humans at all.",
                statistic=compared.statistic_label,
                n=len(held),
                total=len(known),
                chance=chance or ZERO,
            ),
            message(
                "trust.intervals-include-chance-advice",
                "Do not rank these metrics yet: more segments are needed.",
            ),
            "correlations",
        )
    ]


def against_floor(
    trust: CampaignTrust | None, compared: Comparison | None, labels: Mapping[str, str]
) -> tuple[Mapping[str, str], list[Message]]:
    """Return, by key, whether a metric is above the baselines, not above or below, and notes.

    All metrics of the comparison count for the correction; the notes name those in `labels`.
    Both are empty where nothing may be marked.
    """
    if compared is None or compared.bounds is None or refusal(trust, compared):
        return {}, []
    every = compared.bounds.against
    states = {each.key: each.state for each in every if each.state and each.key in labels}
    untested = _untested(compared, [key for key in labels if key not in states], labels)
    if not states:
        return {}, untested
    found = [*_below(states, labels), *_not_above(states, labels)]
    if untested:
        found = [*(found or [REST_ABOVE]), *untested]
    return states, [*found, BASELINES] if found else [ALL_ABOVE]


def _below(states: Mapping[str, str], labels: Mapping[str, str]) -> list[Message]:
    named = [labels[key] for key, state in states.items() if state == BELOW]
    if not named:
        return []
    metrics = truncated(named)
    return [message("baselines.below", "Below a baseline: {metrics}.", metrics=metrics)]


def _not_above(states: Mapping[str, str], labels: Mapping[str, str]) -> list[Message]:
    named = [labels[key] for key, state in states.items() if state == NOT_ABOVE]
    if not named:
        return []
    metrics = truncated(named)
    return [
        message(
            "baselines.not-above",
            "Not significantly above every baseline: {metrics}.",
            metrics=metrics,
        )
    ]


def _untested(
    compared: Comparison, keys: Sequence[str], labels: Mapping[str, str]
) -> list[Message]:
    """Return why metrics are not tested against the baselines, grouped by cause."""
    values = {metric.key: metric.value for metric in compared.metrics}
    floors = compared.bounds.floors if compared.bounds else ()
    has_baseline = any(each.value is not None for each in floors if each.key != CONSTANT)
    newer = [labels[key] for key in keys if key not in values]
    undefined = [labels[key] for key in keys if key in values and values[key] is None]
    others = [labels[key] for key in keys if values.get(key) is not None]
    found = []
    if newer:
        found.append(
            message(
                "baselines.not-compared",
                "Not tested against the baselines yet, because their scores are newer than the "
                "comparison: {metrics}.",
                metrics=truncated(newer),
            )
        )
    if undefined:
        found.append(
            message(
                "baselines.no-value",
                "Not tested against the baselines, because the statistic is undefined for them: "
                "{metrics}.",
                metrics=truncated(undefined),
            )
        )
    if others and has_baseline:
        found.append(_no_pvalue(compared, others))
    elif others:
        found.append(NO_BASELINE)
    return found


def _no_pvalue(compared: Comparison, metrics: list[str]) -> Message:
    return message(
        "baselines.no-p-value",
        "Not tested against the baselines, because {segments} segments and {systems} systems give "
        "no p-value for the difference: {metrics}.",
        segments=compared.n_informative or 0,
        systems=compared.n_systems,
        metrics=truncated(metrics),
    )


def _with_bold(found: Marking, every: Sequence[Metric], correction: str) -> Marking:
    """Add the metrics in bold and the note on them.

    The rule is the same for campaigns and studies, pages and files. Bold on most rows would not
    help.
    """
    values = {m.key: m.value for m in every if m.value is not None}
    largest = max(values[key] for key in found.group)
    is_crowded = 2 * len(found.group) > len(values)
    best = {key for key in found.group if values[key] == largest}
    known: dict[str, Any] = {
        "n": len(found.group),
        "total": len(values),
        "correction": corrected(correction),
    }
    if is_crowded:
        note = message(
            "marks.bold-best",
            "Bold: only the best metric, because {n} of {total} metrics, more than half, cannot be "
            "distinguished from it (p > .05, {correction}). Ranks follow WMT: a new rank begins "
            "where a metric of the rank above is better at p < .05.",
            **known,
        )
    else:
        note = message(
            "marks.bold-group",
            "Bold: the {n} of {total} metrics that cannot be distinguished from the best (p > .05, "
            "{correction}). Ranks follow WMT: a new rank begins where a metric of the rank above "
            "is better at p < .05.",
            **known,
        )
    return replace(
        found,
        best=frozenset(best) if is_crowded else found.group,
        notes=[note, *found.notes],
    )


def corrected(correction: str) -> Message:
    """Return the name of a correction, for the brackets after a p."""
    if correction == "none":
        return UNCORRECTED
    label = selection.CORRECTIONS[correction]
    return message("marks.corrected", "{method}’s correction", method=label)


def no_interval(compared: Comparison) -> Message:
    """Return why a metric of a comparison has a value and no interval."""
    return compared.no_interval or NO_ERROR


def _of_known(
    compared: Comparison, known: Sequence[Metric], standing: selection.Standing
) -> Marking:
    every, chance, ranks = compared.metrics, compared.chance, standing.ranks
    own = {m.key: ranks[m.key] for m in known if m.key in ranks}
    above = {m.key for m in known if m.low is not None and m.low > chance}
    if not every:
        return Marking()
    if not above:
        if any(m.low is not None for m in every):
            note = message(
                "marks.at-chance",
                "No metric is shown to agree with the humans better than chance: no interval is "
                "above {chance:r}.",
                chance=chance or ZERO,
            )
        else:
            note = message(
                "marks.no-intervals",
                "Nothing is ranked or bold, because there are no intervals: {cause}.",
                cause=no_interval(compared),
            )
        return Marking(notes=[note])
    if len(every) == 1:
        return Marking(notes=[ALONE])
    if len(set(ranks.values())) < 2:
        return Marking(notes=[ONE_CLUSTER])
    group = standing.alike & above
    unranked = message(
        "marks.some-unranked",
        "Metrics whose interval is missing or includes {chance:r} have no rank.",
        chance=chance or ZERO,
    )
    return Marking(own, notes=[unranked] if len(own) < len(every) else [], group=group)
