"""Figures of the first page: metrics on both levels, and MT systems by their human scores.

`ranking` is that of the systems' own page.
"""

from dashboards.charts.dotted import Dotted, panel
from dashboards.charts.style import Spec, figure
from dashboards.results.document import Home
from dashboards.results.ground import Standing
from dashboards.systems.document import Systems

WIDE, NARROW, ALONE = 340, 250, 620


def metrics(document: Home) -> Spec | None:
    """Every metric with its interval at both levels, best on top; bands are clusters."""
    known = [line for line in document.rows if line.value is not None]
    if not known:
        return None
    ours = [Dotted(m.label, m.value, m.low, m.high, m.rank, m.is_best) for m in known]
    theirs = [Dotted(m.label, m.beside.value, m.beside.low, m.beside.high, m.rank, m.beside.is_best)
              for m in known]  # fmt: skip
    panels = [panel(ours, document.statistic_label, width=WIDE)]
    if any(line.value is not None for line in theirs):
        panels.append(panel(theirs, document.beside_label, width=NARROW, has_names=False))
    described = " ".join(filter(None, [document.answer.text, document.answer.detail]))
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
        f"MT systems, {document.name}",
        f"Mean human scores with 95 % intervals over segments: {said}.",
        hconcat=[panel(rows, title, width=WIDE)],
    )


def ranks(system: Standing) -> str:
    """The ranks that a system may have: `rank 1–2`; empty where clusters are not borne out."""
    if system.first is None or system.last is None:
        return ""
    if system.first == system.last:
        return f"rank {system.first}"
    return f"rank {system.first}–{system.last}"


def ranking(document: Systems) -> Spec | None:
    """Human scores, highest on top; None without any. Bands are clusters."""
    if not document.human:
        return None
    rows = [
        Dotted(
            row.system, row.score, group=row.cluster, is_best=row.cluster == 1,
            note=f"  cluster {row.cluster}" if row.cluster else "",
        )
        for row in document.human
    ]  # fmt: skip
    order = ", ".join(f"{row.system} {row.score:.3f}" for row in document.human)
    return figure(
        "Human scores of the MT systems",
        f"Mean human scores in their order: {order}.",
        **panel(rows, f"Human score ({document.human_scores})", width=ALONE),
    )
