"""Combine analyses into the document of the first page."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.http.request import QueryDict

from annotation.filters import Filters
from annotation.models import Campaign
from dashboards.comparisons import document as significance
from dashboards.comparisons import selection, statistics
from dashboards.comparisons.document import Comparison, Matrix
from dashboards.correlations import document as correlations
from dashboards.correlations.document import DEFAULT, Correlations, bound_rows, values_of
from dashboards.correlations.page import ask
from dashboards.correlations.page import complete as complete_table
from dashboards.documents import results
from dashboards.documents.computing import as_stored
from dashboards.documents.reasons import CampaignTrust, Verdict, with_reasons
from dashboards.results import document as grounds
from dashboards.results.answer import Asked, Scored, answer, leader
from dashboards.results.document import Ground, Home, Line, Mark, Rival, Standing
from dashboards.trust import marks
from dashboards.trust.amount import MIN_SYSTEMS
from metaeval.messages import Message, message
from metaeval.replication.questions.statistics import SEGMENT

# The most warnings that are listed as causes.
CAUSES = 2
# Parts of the page.
SECOND_LEVEL = message("part.second-level", "the numbers of the second level")
STANDINGS = message("part.standings", "the numbers on systems and annotators")
# The statistic of the other level: over systems where there are enough of them, else the limit of
# hybrids of the few systems.
OVER_SYSTEMS, OVER_HYBRIDS = "systems", "limit"


@dataclass(frozen=True)
class Parts:
    """The analyses that the page combines; None where one does not exist yet.

    `older` are notes on parts that use other data than the table.
    """

    table: Correlations
    ground: Ground
    second: Comparison | None
    is_complete: bool
    older: Sequence[Message] = ()
    warnings: Sequence[Message] = ()
    trust: CampaignTrust | None = None
    failed: Mapping[str, Message] = field(default_factory=dict)


def latest(query: QueryDict, campaign: Campaign, filters: Filters) -> results.Result[Parts]:
    """Return the newest of all analyses that the page combines."""
    question = ask(query)
    second = beside_of(statistics.parse(question), campaign.systems.count())
    ground = results.latest("results", campaign, filters)
    table = results.latest(f"correlations:{question}", campaign, filters)
    tested = results.latest(f"significance:{question}", campaign, filters)
    other = results.latest(f"significance:{second}", campaign, filters)
    return _joined(table, tested, other, ground)


def computed(campaign: Campaign, filters: Filters, trust: CampaignTrust) -> Home:
    """Compute the page's default view with baselines and human ceiling, for a report."""
    question = statistics.parse(DEFAULT)
    keys = (question.key, beside_of(question, campaign.systems.count()))
    tested, second = (as_stored(significance.compute(campaign, filters, key)) for key in keys)
    values = as_stored(correlations.compute(campaign, filters, question.key))
    table = complete_table(values, results.Completion(tested, None, is_same=True))
    parts = Parts(table, as_stored(grounds.compute(campaign, filters)), second, True, trust=trust)
    return choose(parts, QueryDict("bounds=shown"))


def beside_of(question: statistics.Question, n_systems: int) -> str:
    """Return the question of the other level."""
    if question.statistic.level != SEGMENT:
        return statistics.parse(DEFAULT).key
    key = OVER_SYSTEMS if n_systems >= MIN_SYSTEMS else OVER_HYBRIDS
    return statistics.parse(key).key


def _joined(
    table: results.Result[Correlations],
    tested: results.Result[Comparison],
    other: results.Result[Comparison],
    ground: results.Result[Ground],
) -> results.Result[Parts]:
    every: Sequence[results.Result[Any]] = (table, tested, other, ground)
    is_whole = all(each.document is not None for each in every)
    found = None
    if table.document is not None and ground.document is not None:
        is_same = tested.data == table.data
        later = results.Completion(tested.document, tested.as_of, is_same, tested.message)
        completed = complete_table(table.document, later)
        note = completed.intervals_note if tested.document else None
        older = [note] if note else []
        older += [_older_level(other)] if _is_older(other, table) else []
        older += [_older_ground(ground)] if _is_older(ground, table) else []
        found = Parts(
            completed, ground.document, other.document, is_whole, older, failed=completed.failed
        )
    values = (table, ground)
    intervals = marks.PARTS[marks.INTERVALS]
    names = (None, intervals, SECOND_LEVEL, None if found is None else STANDINGS)
    failing = next(
        (results.failing_part(each, name) if name else None
         for each, name in zip(every, names, strict=True) if each.message),
        None,
    )  # fmt: skip
    return results.Result(
        found,
        _oldest(values) if found else None,
        is_fresh=all(each.is_fresh for each in every),
        message=next((each.message for each in every if each.message), None),
        failing=failing,
        waits_for=next((each.waits_for for each in every if each.waits_for), ""),
        tags="".join(each.tag for each in every),
        pending=results.MORE if all(each.is_fresh for each in values) else results.NEWER,
        data=table.data,
        is_whole=is_whole,
        is_of_one_state=len({each.data for each in every}) == 1,
    )


def _is_older(part: results.Result[Any], table: results.Result[Any]) -> bool:
    """Return whether a part exists and uses other data than the table."""
    return part.document is not None and part.as_of is not None and part.data != table.data


def _older_level(part: results.Result[Any]) -> Message:
    if part.message:
        return message(
            "results.older-level-failed",
            "The numbers of the second level are as of {at:moment} UTC. Newer numbers could not be "
            "computed.",
            at=part.as_of,
        )
    return message(
        "results.older-level",
        "The numbers of the second level are as of {at:moment} UTC. Newer numbers are being "
        "computed.",
        at=part.as_of,
    )


def _older_ground(part: results.Result[Any]) -> Message:
    if part.message:
        return message(
            "results.older-humans-failed",
            "The MT systems and the agreement between annotators are as of {at:moment} UTC. Newer "
            "numbers could not be computed.",
            at=part.as_of,
        )
    return message(
        "results.older-humans",
        "The MT systems and the agreement between annotators are as of {at:moment} UTC. Newer "
        "numbers are being computed.",
        at=part.as_of,
    )


def _oldest(found: Sequence[results.Result[Any]]) -> datetime | None:
    return min((each.as_of for each in found if each.as_of), default=None)


def choose(parts: Parts, query: QueryDict) -> Home:
    """Return the page under the metrics and the correction of an address. Raises FilterError."""
    correction = selection.one_of(query, "correction", list(selection.CORRECTIONS))
    scope = selection.one_of(query, "scope", list(selection.SCOPES))
    table = selection.subset(parts.table, query)
    compared = _shown(table.comparison, table)
    ranked = _level(parts.trust, compared, correction, scope)
    second = _level(parts.trust, _shown(parts.second, table), correction, scope)
    scored = _scored(table, compared)
    first = leader(scored)
    better = _better(compared, first, correction, scope)
    labels = {each.key: each.label for each in table.metrics}
    states, baseline_marks = marks.against_floor(parts.trust, compared, labels)
    lines = _lines(table, ranked, second, better, states)
    lines += _bounds(parts) if selection.shows_bounds(query) else []
    trust = parts.trust and with_reasons(parts.trust, marks.uncertain(compared))
    ground = parts.ground
    return Home(
        **{name: getattr(table, name) for name in HEAD},
        beside_label=parts.second.statistic_label if parts.second else "",
        beside_level=parts.second.level if parts.second else "",
        correction=correction,
        correction_label=selection.CORRECTIONS[correction],
        answer=answer(_asked(parts, table, scored, compared, better, correction)),
        rows=sorted(lines, key=_by_value),
        metrics=table.metrics,
        all_metrics=table.all_metrics,
        systems=_systems(ground.systems, trust),
        humans=ground.humans,
        marks=marks.failure(parts.failed) or ranked.marking.notes,
        baseline_marks=baseline_marks,
        beside_marks=second.marking.notes,
        **{name: getattr(ground, name) for name in ("alpha", "alpha_ends", "n_tested", "n_passed")},
        is_complete=parts.is_complete,
        older=parts.older,
        rival=_rival(compared, first, better, correction, scope),
        trust=trust,
        failed=parts.failed,
        warnings=list(dict.fromkeys([*table.warnings, *ground.warnings])),
    )


HEAD = (
    *("campaign", "name", "direction", "length_ratio", "origin", "human_scores", "statistic"),
    *("human_systems", "outlier_systems"),
    *("unit", "n_units", "effective_units"),
    *("statistic_label", "level", "interval", "n_judged", "n_outputs", "n_segments", "n_systems"),
)


def _shown(compared: Comparison | None, table: Correlations) -> Comparison | None:
    """Return the comparison of the metrics that are shown."""
    if compared is None:
        return None
    found = selection.only(compared, {metric.key for metric in table.metrics})
    return found if found.metrics else None


@dataclass(frozen=True)
class Level:
    """A comparison with its ranks and bold metrics."""

    compared: Comparison | None
    marking: marks.Marking

    def mark(self, key: str) -> Mark:
        """Return the mark of a metric; an empty one where the comparison lacks the metric."""
        metrics = self.compared.metrics if self.compared else ()
        found = next((metric for metric in metrics if metric.key == key), None)
        if found is None:
            return Mark()
        rank, is_best = self.marking.ranks.get(key), key in self.marking.best
        return Mark(found.value, found.low, found.high, rank, is_best)


def _level(
    trust: CampaignTrust | None, compared: Comparison | None, correction: str, scope: str
) -> Level:
    """Return ranks and bold metrics under a correction, as verdict and intervals allow."""
    return Level(compared, marks.marking(trust, compared, correction, scope))


def _scored(table: Correlations, compared: Comparison | None) -> list[Scored]:
    """Return the metrics of the comparison, if there is one, so that the answer uses one state.

    A metric that has a correlation on its own outputs but in no hybrid has too few outputs.
    """
    rows = [row for row in table.rows if row.n_missing and row.r_hybrid is None]
    few = {row.key for row in rows if row.r_segment is not None}
    known = {metric.key for metric in (compared.metrics if compared else table.metrics)}
    return [
        Scored(m.key, m.label, m.value, m.low, m.high, m.key in few)
        for m in table.metrics
        if m.key in known or not known
    ]


def _better(
    compared: Comparison | None, first: Scored | None, correction: str, scope: str
) -> dict[str, float | None]:
    """Return, by metric, the corrected p of the leader being better."""
    keys = [metric.key for metric in compared.metrics] if compared else []
    if compared is None or first is None or first.key not in keys:
        return {}
    table: Matrix = selection.adjusted(compared, correction, scope)[0]
    row = table[keys.index(first.key)]
    return {key: p for key, p in zip(keys, row, strict=True) if key != first.key}


def _asked(
    parts: Parts,
    table: Correlations,
    scored: Sequence[Scored],
    compared: Comparison | None,
    better: Mapping[str, float | None],
    correction: str,
) -> Asked:
    n_outputs, n_whole = max(table.n_judged, parts.ground.n_judged), parts.ground.n_scored_whole
    return Asked(
        statistic=table.statistic,
        metrics=scored,
        n_judged=n_outputs or n_whole,
        are_whole=not n_outputs,
        is_elsewhere=not n_outputs and table.level == SEGMENT,
        is_tested=compared is not None and parts.trust is not None,
        failed=marks.failure(parts.failed),
        better=better,
        correction=marks.corrected(correction),
        chance=compared.chance if compared else 0.0,
        refused=marks.refusal(parts.trust, compared) if compared else None,
        no_interval=marks.no_interval(compared) if compared else None,
        undefined=_undefined(table),
        distrust=_distrust(parts.trust),
        unusable=next(iter(parts.ground.gaps), None),
    )


def _undefined(table: Correlations) -> list[Message]:
    """Return the table's first warnings on single metrics."""
    labels = {metric.label for metric in table.metrics}
    found = [each for each in table.warnings if each.parameters.get("metric") in labels]
    return found[:CAUSES]


def _distrust(trust: CampaignTrust | None) -> Message | None:
    """Return the most severe reason where the verdict is not to use the numbers."""
    if trust is None or trust.verdict != Verdict.DO_NOT_USE:
        return None
    return trust.reasons[0].text


def _lines(
    table: Correlations,
    level: Level,
    second: Level,
    better: Mapping[str, float | None],
    states: Mapping[str, str],
) -> list[Line]:
    """Return all metrics in the order of the table."""
    return [
        Line(
            campaign=table.campaign,
            key=metric.key,
            label=metric.label,
            value=metric.value,
            low=metric.low,
            high=metric.high,
            rank=level.marking.ranks.get(metric.key),
            is_best=metric.key in level.marking.best,
            p=better.get(metric.key),
            other=second.mark(metric.key),
            floor=states.get(metric.key, ""),
            origin=metric.origin,
        )
        for metric in table.metrics
    ]


def _bounds(parts: Parts) -> list[Line]:
    """Return baselines and human ceiling as lines, with the other level where it has them."""
    other = parts.second.bounds if parts.second else None
    second = {key: Mark(*ends) for key, ends in values_of(other).items()} if other else {}
    return [
        Line(
            campaign=row.campaign,
            key=row.key,
            label=row.label,
            value=row.value,
            low=row.low,
            high=row.high,
            rank=None,
            is_best=False,
            p=None,
            other=second.get(row.key, Mark()),
            kind=row.kind,
        )
        for row in bound_rows(parts.table)
    ]


def _by_value(line: Line) -> float:
    """Return a key that sorts the best first and lines without a value last."""
    return math.inf if line.value is None else -line.value


def _systems(standings: Sequence[Standing], trust: CampaignTrust | None) -> list[Standing]:
    """Return systems with clusters, if the verdict allows them and there is more than one."""
    clusters = {each.cluster for each in standings}
    if len(clusters) > 1 and not marks.forbidden(trust):
        return list(standings)
    return [replace(each, cluster=None, first=None, last=None) for each in standings]


def _rival(
    compared: Comparison | None,
    first: Scored | None,
    better: Mapping[str, float | None],
    correction: str,
    scope: str,
) -> Rival | None:
    """Return the best metric below the leader that cannot be distinguished from it, if any."""
    if compared is None or first is None or first.value is None:
        return None
    keys = [metric.key for metric in compared.metrics]
    alike = [
        place
        for place, metric in enumerate(compared.metrics)
        if metric.value is not None
        and metric.value < first.value
        and (better.get(metric.key) or 0.0) > selection.ALPHA
    ]
    if not alike:
        return None
    place = max(alike, key=lambda at: compared.metrics[at].value or 0.0)
    row = keys.index(first.key)
    cells = (compared.differences, compared.difference_lows, compared.difference_highs)
    difference, low, high = (matrix[row][place] for matrix in cells)
    if difference is None or low is None or high is None:
        return None
    metric = compared.metrics[place]
    level = selection.level(compared, (row, place), correction, scope)
    return Rival(metric.key, metric.label, difference, low, high, level)
