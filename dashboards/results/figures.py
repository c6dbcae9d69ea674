"""Figures of the first page: metrics on both levels, and MT systems by their human scores."""

from dashboards.charts.dots import Dotted, panel
from dashboards.charts.style import Spec, figure
from dashboards.results.document import Home, Standing
from metaeval.messages import Message, message

WIDE, NARROW = 340, 250


def metrics(document: Home) -> Spec | None:
    """Every metric with its interval at both levels, best on top; bands are clusters.

    The order is that of the first panel, so only the first panel has bands.
    """
    known = [line for line in document.rows if line.value is not None]
    if not known:
        return None
    ours = [Dotted(m.label, m.value, m.low, m.high, m.rank, m.is_best) for m in known]
    theirs = [
        Dotted(m.label, m.other.value, m.other.low, m.other.high, is_best=m.other.is_best)
        for m in known
    ]
    panels = [panel(ours, document.statistic_label, width=WIDE)]
    if any(line.value is not None for line in theirs):
        panels.append(panel(theirs, document.beside_label, width=NARROW, has_names=False))
    title = message(
        "figure.agreement", "Agreement with the humans, {campaign}", campaign=document.name
    )
    described = [document.answer.sentence, *document.answer.details, document.over]
    return figure(title, described, hconcat=panels)


def systems(document: Home) -> Spec | None:
    """MT systems by their mean human score with its interval; bands are clusters."""
    known = [system for system in document.systems if system.value is not None]
    if not known:
        return None
    rows = [Dotted(s.system, s.value, s.low, s.high, s.cluster, s.cluster == 1, ranks(s))
            for s in known]  # fmt: skip
    axis = message(
        "figure.human-score",
        "Human score of a segment, mean ({scores})",
        scores=document.human_scores,
    )
    described = message(
        "figure.systems-described",
        "Mean human scores with 95% intervals: {systems}.",
        systems=[_described(each) for each in known],
    )
    return figure(
        message("figure.systems", "MT systems of {campaign}", campaign=document.name),
        [described, document.over],
        hconcat=[panel(rows, axis, width=WIDE)],
    )


def _described(system: Standing) -> Message:
    value, found = system.value, ranks(system)
    if found is None:
        return message("figure.system", "{system} {value:r}", system=system.system, value=value)
    return message(
        "figure.system-with-rank",
        "{system} {value:r} ({rank})",
        system=system.system,
        value=value,
        rank=found,
    )


def ranks(system: Standing) -> Message | None:
    """Return the possible ranks of a system, `rank 1–2`; None where it has no cluster."""
    first, last = system.first, system.last
    if first is None or last is None:
        return None
    if first == last:
        return message("systems.rank", "rank {rank}", rank=first)
    return message("systems.ranks", "rank {first}–{last}", first=first, last=last)


FIGURES = {"metrics": metrics, "systems": systems}
