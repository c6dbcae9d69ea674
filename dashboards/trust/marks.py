"""What may be ranked, bold or marked: only what an interval and the verdict bear out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from annotation.uploads.problems import some
from dashboards.significance.document import Comparison, Metric, OfQuestion
from dashboards.trust.amount import MIN_SYSTEMS
from dashboards.trust.reasons import CampaignTrust, Reason, Severity, Trust, Verdict
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
NO_INTERVALS = "Nothing is ranked or bold: there is no interval, for the reason given above."
AT_CHANCE = "Not distinguishable from chance: no metric’s interval lies above {chance:.2g}."
ONE_CLUSTER = "Not distinguishable: no metric beats another at p ≤ .05, so none is ranked or bold."
ALONE = "One metric alone has no rank."
RANKED = "Bold: rank 1, the metrics that no other beats at p ≤ .05. Other columns are not tested."
UNTESTED = "Too few segments or systems to tell whether a metric is above the floor."
BELOW_FLOOR = "Below the floor: {named}."
NOT_ABOVE_FLOOR = "Not above the floor: {named}."
ALL_ABOVE = "Every metric is above the floor."
NOT_TESTED = "Not tested against the floor, for want of a value or of scores: {named}."
REST_ABOVE = "Every other metric is above the floor."
FLOOR = (
    "The floor is what metrics reach that know nothing of quality: random numbers, one value for "
    "everything, lengths."
)
NAMED = 5
SOME_LEFT = "No rank where the interval is missing or holds {chance:.2g}."


@dataclass(frozen=True)
class Marking:
    """Ranks by key (none where a metric has none), the keys that are bold, and why so."""

    ranks: Mapping[str, int] = field(default_factory=dict)
    best: frozenset[str] = frozenset()
    sentence: str = ""


def refusal(trust: CampaignTrust | None, asked: OfQuestion) -> str:
    """Return why nothing may be marked in a document that asks a question; empty if it may."""
    if reason := forbidden(trust):
        return reason
    if asked.is_of_draws:
        return OVER_HYBRIDS
    n = trust.n_systems if trust else 0
    is_over_systems = asked.level == SYSTEM and asked.statistic != LIMIT
    if is_over_systems and n < MIN_SYSTEMS:
        return FEW_SYSTEMS.format(n=n, least=MIN_SYSTEMS)
    return ""


def forbidden(trust: Trust | None) -> str:
    """Return why the verdict alone forbids marks; empty if it does not."""
    if trust is None:
        return UNKNOWN
    return REFUSED if trust.verdict == Verdict.DO_NOT_USE else ""


def leaves_out(low: float | None, high: float | None, value: float = 0.0) -> bool:
    """Whether an interval is known and does not hold a value."""
    return low is not None and high is not None and not low <= value <= high


def marking(
    trust: CampaignTrust | None, compared: Comparison | None, ranks: Mapping[str, int]
) -> Marking:
    """Decide on the metrics of a comparison, whose ranks are given.

    Ranks need an interval without chance, and two ranks that differ; bold is the first rank, and
    above chance.
    """
    if compared is None:
        return Marking(sentence=forbidden(trust) or PENDING)
    if reason := refusal(trust, compared):
        return Marking(sentence=reason)
    chance = compared.chance
    known = [m for m in compared.metrics if leaves_out(m.low, m.high, chance)]
    return _of_known(known, compared.metrics, ranks, chance)


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
    if not states:
        return {}, UNTESTED
    said = []
    for state, sentence in ((BELOW, BELOW_FLOOR), (NOT_ABOVE, NOT_ABOVE_FLOOR)):
        if named := [labels[key] for key, found in states.items() if found == state]:
            said.append(sentence.format(named=some(named, NAMED)))
    untested = [label for key, label in labels.items() if key not in states]
    if untested:
        said = [*(said or [REST_ABOVE]), NOT_TESTED.format(named=some(untested, NAMED))]
    return states, " ".join([*said, FLOOR]) if said else ALL_ABOVE


def _of_known(
    known: Sequence[Metric], every: Sequence[Metric], ranks: Mapping[str, int], chance: float
) -> Marking:
    told = {m.key: ranks[m.key] for m in known if m.key in ranks}
    above = {m.key for m in known if m.low is not None and m.low > chance}
    if not every:
        return Marking()
    if not above:
        has_intervals = any(m.low is not None for m in every)
        sentence = AT_CHANCE.format(chance=chance) if has_intervals else NO_INTERVALS
        return Marking(sentence=sentence)
    if len(every) == 1:
        return Marking(sentence=ALONE)
    if len(set(ranks.values())) < 2:
        return Marking(sentence=ONE_CLUSTER)
    best = frozenset(key for key in above if told[key] == 1) if told else frozenset()
    left = f" {SOME_LEFT.format(chance=chance)}" if len(told) < len(every) else ""
    return Marking(told, best, f"{RANKED}{left}")
