"""Figures of the first page: metrics on both levels, and MT systems by their human scores."""

from dashboards.charts.dotted import Dotted, panel
from dashboards.charts.style import Spec, figure
from dashboards.results.document import Home
from dashboards.results.ground import Standing

WIDE, NARROW = 340, 250


def metrics(document: Home) -> Spec | None:
    """Every metric with its interval at both levels, best on top; bands are clusters.

    The order is of the first panel, so it alone has bands.
    """
    known = [line for line in document.rows if line.value is not None]
    if not known:
        return None
    ours = [Dotted(m.label, m.value, m.low, m.high, m.rank, m.is_best) for m in known]
    theirs = [
        Dotted(m.label, m.beside.value, m.beside.low, m.beside.high, is_best=m.beside.is_best)
        for m in known
    ]
    panels = [panel(ours, document.statistic_label, width=WIDE)]
    if any(line.value is not None for line in theirs):
        panels.append(panel(theirs, document.beside_label, width=NARROW, has_names=False))
    described = " ".join(
        filter(None, [document.answer.text, document.answer.detail, document.over])
    )
    return figure(f"Agreement with the humans, {document.name}", described, hconcat=panels)


def systems(document: Home) -> Spec | None:
    """MT systems by their mean human score with its interval; bands are clusters."""
    known = [system for system in document.systems if system.value is not None]
    if not known:
        return None
    rows = [Dotted(s.system, s.value, s.low, s.high, s.cluster, s.cluster == 1, ranks(s))
            for s in known]  # fmt: skip
    said = "; ".join(f"{s.system} {s.value:.2f} {ranks(s)}".strip() for s in known)
    title = f"Human score of a segment, mean ({document.human_scores})"
    return figure(
        f"MT systems · {document.name}",
        f"Mean human scores with 95 % intervals: {said}. {document.over}",
        hconcat=[panel(rows, title, width=WIDE)],
    )


def ranks(system: Standing) -> str:
    """The ranks that a system may have: `rank 1–2`; empty where clusters are not borne out."""
    if system.first is None or system.last is None:
        return ""
    if system.first == system.last:
        return f"rank {system.first}"
    return f"rank {system.first}–{system.last}"


FIGURES = {"metrics": metrics, "systems": systems}
