"""What may be ranked, bold or marked: only what an interval and the verdict bear out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from core.text import join_truncated
from dashboards.comparisons import selection
from dashboards.comparisons.document import Comparison, Metric, OfQuestion
from dashboards.documents.reasons import CampaignTrust, Reason, Severity, Trust, Verdict
from dashboards.panel.floors import CONSTANT
from dashboards.trust.amount import MIN_SYSTEMS
from metaeval.replication.bounds import BELOW, NOT_ABOVE
from metaeval.replication.questions.statistics import SYSTEM

# Of the same systems on new segments: what it needs is segments.
LIMIT = "limit"

UNKNOWN = "Nothing is ranked or bold before it is known what limits trust in these numbers."
REFUSED = "Nothing is ranked or bold, because the verdict above is “Do not use”."
OVER_HYBRIDS = (
    "Nothing is ranked or bold: with hybrids as observations, equally good metrics are declared "
    "different most of the time. Choose the limit for ranks."
)
FEW_SYSTEMS = (
    "Nothing is ranked or bold: {n} systems (fewer than {least}) say too little of how metrics "
    "would do on others. The limit of hybrids asks about these systems on new segments."
)
PENDING = "Ranks come with the intervals."
# Parts of a page besides its values, as it names them where they could not be computed.
INTERVALS, VERDICT = "intervals and ranks", "verdict on trust"
NO_INTERVALS = "Nothing is ranked or bold, because there is no interval: {cause}."
NO_ERROR = "this metric agrees alike whatever is left out"
AT_CHANCE = "Not distinguishable from chance: no metric’s interval lies above {chance:.2g}."
ONE_CLUSTER = "Not distinguishable: no metric beats another at p ≤ .05, so none is ranked or bold."
ALONE = "One metric alone has no rank."
# One rule for campaigns and studies, pages and files. Bold on most rows would say nothing.
RANKED = (
    "Bold: the {n} of {all} metrics that cannot be distinguished from the best (p > .05, "
    "{corrected}). Ranks follow WMT: a new rank begins where a metric of the rank above is better "
    "at p ≤ .05."
)
CROWDED = (
    "Bold: the best metric alone, because more than half of the metrics, {n} of {all}, cannot be "
    "distinguished from it (p > .05, {corrected}). Ranks follow WMT: a new rank begins where a "
    "metric of the rank above is better at p ≤ .05."
)
CORRECTED, UNCORRECTED = "{label}’s correction", "without correction"
BELOW_FLOOR = "Below the floor: {named}."
NOT_ABOVE_FLOOR = "Not above the floor: {named}."
ALL_ABOVE = "Every metric is above the floor."
NO_BASELINE = (
    "No metric is tested against the baselines: each baseline gives one score to all outputs that "
    "are compared, so this statistic is undefined for all of them."
)
NO_VALUE = "Not tested against the baselines, because the statistic is undefined for them: {named}."
NOT_COMPARED = (
    "Not tested against the baselines yet, because their scores are newer than the comparison: "
    "{named}."
)
NO_PVALUE = (
    "Not tested against the baselines, because {n_segments} segments and {n_systems} systems give "
    "no p-value for the difference: {named}."
)
REST_ABOVE = "Every other metric is above the floor."
FLOOR = (
    "The floor is what metrics reach that know nothing of quality: random numbers, one value for "
    "everything, lengths."
)
NAMED = 5
SOME_LEFT = "No rank where the interval is missing or holds {chance:.2g}."


@dataclass(frozen=True)
class Marking:
    """Ranks by key (none where a metric has none), the keys that are bold, and why so.

    `group` are the best and those that cannot be distinguished from it, above chance; `best`, which
    are bold, are the same, or the best alone where these are more than half of all with a value.
    """

    ranks: Mapping[str, int] = field(default_factory=dict)
    best: frozenset[str] = frozenset()
    sentence: str = ""
    group: frozenset[str] = frozenset()


def refusal(trust: CampaignTrust | None, asked: OfQuestion) -> str:
    """Return why nothing may be marked in a document that asks a question; empty if it may."""
    if reason := forbidden(trust):
        return reason
    if asked.is_of_draws:
        return OVER_HYBRIDS
    n = trust.n_systems if trust else 0
    is_over_systems = asked.level == SYSTEM.text and asked.statistic != LIMIT
    if is_over_systems and n < MIN_SYSTEMS:
        return FEW_SYSTEMS.format(n=n, least=MIN_SYSTEMS)
    return ""


def forbidden(trust: Trust | None) -> str:
    """Return why the verdict alone forbids marks; empty if it does not."""
    if trust is None:
        return UNKNOWN
    return REFUSED if trust.verdict == Verdict.DO_NOT_USE else ""


def failure(failed: Mapping[str, str]) -> str:
    """Return the sentence that says which parts could not be computed; empty without any."""
    errors = {part.capitalize(): message.rstrip(".") for part, message in failed.items()}
    sentences = [f"{part} could not be computed: {error}." for part, error in errors.items()]
    return " ".join([*sentences, "Nothing is ranked."]) if sentences else ""


def leaves_out(low: float | None, high: float | None, value: float = 0.0) -> bool:
    """Whether an interval is known and does not hold a value."""
    return low is not None and high is not None and not low <= value <= high


def marking(
    trust: CampaignTrust | None,
    compared: Comparison | None,
    correction: str = "holm",
    scope: str = "table",
) -> Marking:
    """Decide on the metrics of a comparison under a correction for many tests.

    Ranks need an interval without chance, and two ranks that differ; bold are the best and those
    that cannot be distinguished from it, as far as that says anything (`Marking`).
    """
    if compared is None:
        return Marking(sentence=forbidden(trust) or PENDING)
    if reason := refusal(trust, compared):
        return Marking(sentence=reason)
    chance = compared.chance
    known = [m for m in compared.metrics if leaves_out(m.low, m.high, chance)]
    standing = selection.standing(compared, correction, scope)
    found = _of_known(compared, known, standing)
    return _with_bold(found, compared.metrics, correction) if found.group else found


def uncertain(compared: Comparison | None) -> list[Reason]:
    """Return as a reason how many of a comparison's metrics have intervals that hold chance."""
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
            f"{compared.statistic_label}: the intervals of {len(held)} of {len(known)} metrics "
            f"hold {chance:.2g}, so nothing shows that these agree with the humans at all.",
            "Do not compare them; judge more segments.",
            "correlations",
        )
    ]


def against_floor(
    trust: CampaignTrust | None, compared: Comparison | None, labels: Mapping[str, str]
) -> tuple[Mapping[str, str], str]:
    """Return, by key, whether a metric is above the floor, not above or below, and a sentence.

    All metrics of the comparison count for the correction; the sentence names those in `labels`.
    Both are empty where nothing may be marked.
    """
    if compared is None or compared.bounds is None or refusal(trust, compared):
        return {}, ""
    every = compared.bounds.against
    states = {each.key: each.state for each in every if each.state and each.key in labels}
    untested = _untested(compared, [key for key in labels if key not in states], labels)
    if not states:
        return {}, " ".join(untested)
    said = []
    for state, sentence in ((BELOW, BELOW_FLOOR), (NOT_ABOVE, NOT_ABOVE_FLOOR)):
        if named := [labels[key] for key, found in states.items() if found == state]:
            said.append(sentence.format(named=join_truncated(named, NAMED)))
    if untested:
        said = [*(said or [REST_ABOVE]), *untested]
    return states, " ".join([*said, FLOOR]) if said else ALL_ABOVE


def _untested(compared: Comparison, keys: Sequence[str], labels: Mapping[str, str]) -> list[str]:
    """Say of metrics without a test against the baselines why they have none."""
    values = {metric.key: metric.value for metric in compared.metrics}
    floors = compared.bounds.floors if compared.bounds else ()
    has_baseline = any(each.value is not None for each in floors if each.key != CONSTANT)
    found: dict[str, list[str]] = {}
    for key in keys:
        if key not in values:
            cause = NOT_COMPARED
        elif values[key] is None:
            cause = NO_VALUE
        else:
            cause = NO_PVALUE if has_baseline else NO_BASELINE
        found.setdefault(cause, []).append(labels[key])
    counts = {"n_segments": compared.n_informative or 0, "n_systems": compared.n_systems}
    return [
        cause.format(named=join_truncated(names, NAMED), **counts) for cause, names in found.items()
    ]


def _with_bold(found: Marking, every: Sequence[Metric], correction: str) -> Marking:
    """Add what is bold, and the sentence that says so."""
    values = {m.key: m.value for m in every if m.value is not None}
    largest = max(values[key] for key in found.group)
    is_crowded = 2 * len(found.group) > len(values)
    best = {key for key in found.group if values[key] == largest}
    said = (CROWDED if is_crowded else RANKED).format(
        n=len(found.group), all=len(values), corrected=corrected(correction)
    )
    return replace(
        found,
        best=frozenset(best) if is_crowded else found.group,
        sentence=f"{said} {found.sentence}".strip(),
    )


def corrected(correction: str) -> str:
    """Name a correction in the brackets behind a p."""
    if correction == "none":
        return UNCORRECTED
    return CORRECTED.format(label=selection.CORRECTIONS[correction])


def no_interval(compared: Comparison) -> str:
    """Return why a metric of a comparison has a value and no interval."""
    before, _, cause = compared.interval.partition("none: ")
    return cause if cause and not before else NO_ERROR


def _of_known(
    compared: Comparison, known: Sequence[Metric], standing: selection.Standing
) -> Marking:
    every, chance, ranks = compared.metrics, compared.chance, standing.ranks
    told = {m.key: ranks[m.key] for m in known if m.key in ranks}
    above = {m.key for m in known if m.low is not None and m.low > chance}
    if not every:
        return Marking()
    if not above:
        has_intervals = any(m.low is not None for m in every)
        cause = NO_INTERVALS.format(cause=no_interval(compared))
        sentence = AT_CHANCE.format(chance=chance) if has_intervals else cause
        return Marking(sentence=sentence)
    if len(every) == 1:
        return Marking(sentence=ALONE)
    if len(set(ranks.values())) < 2:
        return Marking(sentence=ONE_CLUSTER)
    group = standing.alike & above
    left = SOME_LEFT.format(chance=chance) if len(told) < len(every) else ""
    return Marking(told, sentence=left, group=group)
