"""Figures of what would change: movement of the correlations, and how they grow with segments."""

from typing import Any

from annotation.web.sentences import said
from dashboards.charts.style import ACCENT, INK, Spec, figure
from dashboards.whatif.document import CONTROL, Movements, WhatIf, largest
from dashboards.whatif.samplesize import SampleSize

BAND = "#c9d8ec"
SCENARIOS, MEASURES = 16, 20
# A small multiple has no room for more beside its axis.
SHORT = {"tau": "τ-b", "r_system": "r"}
CHANGES = {
    "tau": "Change of Kendall τ-b, segment level",
    "r_system": "Change of Pearson r over systems",
}
MOVES = {
    "tau": "What moves Kendall τ-b, segment level",
    "r_system": "What moves Pearson r over systems",
}
GROWS = {
    "tau": "Kendall τ-b, segment level by number of segments",
    "r_system": "Pearson r over systems by number of segments",
}


def movement(document: WhatIf) -> Spec | None:
    """How far each measure's τ moves when something is left out, the largest movers first."""
    return _movement(document, "tau")


def movement_over_systems(document: WhatIf) -> Spec | None:
    """The same for Pearson's r over systems."""
    return _movement(document, "r_system")


def _movement(document: WhatIf, statistic: str) -> Spec | None:
    chosen = largest(document.scenarios, statistic)[:SCENARIOS]
    if not chosen:
        return None
    points = [
        {"left_out": _title(one), "change": round(change, 4)}
        for one in chosen
        for change in one.by(statistic).changes
        if change is not None
    ]
    x = {"field": "change", "type": "quantitative", "title": CHANGES[statistic]}
    order = [_title(one) for one in chosen]
    # Names of documents are long; the axis shows what tells them apart.
    axis = {"labelLimit": 220}
    y = {"field": "left_out", "type": "nominal", "sort": order, "title": "Left out", "axis": axis}
    return figure(
        MOVES[statistic],
        "Each tick is a metric: how far its correlation moves when what stands on the left is left "
        f"out; the {len(chosen)} largest movements first.",
        width=420,
        height={"step": 18},
        data={"values": points},
        layer=[
            {
                "mark": {"type": "rule", "color": INK, "strokeDash": [3, 3]},
                "encoding": {"x": {"datum": 0}},
            },
            {
                "mark": {"type": "tick", "color": ACCENT, "thickness": 2, "opacity": 0.7},
                "encoding": {"x": x, "y": y},
            },
        ],
    )


def _title(one: Movements) -> str:
    """What is left out, in the language of the page: names stay."""
    name = said(one.left_out) if one.left_out_kind == CONTROL else one.left_out
    return f"{said(one.left_out_kind)} {name}"


def sample_size_curves(document: SampleSize) -> Spec | None:
    """Small multiples: mean and 95 % band of τ over drawn segments, by their number."""
    return _curves(document, "tau")


def curves_over_systems(document: SampleSize) -> Spec | None:
    """The same for Pearson's r over systems."""
    return _curves(document, "r_system")


def _of_all(n: int, n_all: int) -> str:
    return " " + f"The {n} of {n_all} metrics that agree best." if n < n_all else ""


def _curves(document: SampleSize, statistic: str) -> Spec | None:
    rows = [
        {key: getattr(row, key) for key in ("label", "n_segments", "mean", "low", "high")}
        for row in document.rows
        if row.statistic == statistic and row.mean is not None
    ]
    known = {row["label"]: row["mean"] for row in rows}  # at the largest size
    if not known:
        return None
    order = sorted(known, key=lambda label: -known[label])[:MEASURES]
    x = {"field": "n_segments", "type": "quantitative", "title": "Segments"}

    def y(name: str) -> dict[str, Any]:
        scale = {"zero": False}
        return {"field": name, "type": "quantitative", "title": SHORT[statistic], "scale": scale}

    band = {"x": x, "y": y("low"), "y2": {"field": "high"}}
    header = {"title": None, "labelFontWeight": "bold"}
    return figure(
        GROWS[statistic],
        f"Lines are means over {document.n_samples} samples of segments drawn with replacement, "
        "bands hold 95 % of them." + _of_all(len(order), len(known)),
        data={"values": [_rounded(row) for row in rows if row["label"] in order]},
        facet={"field": "label", "type": "nominal", "sort": order, "header": header},
        columns=4,
        spec={
            "width": 140,
            "height": 90,
            "layer": [
                {"mark": {"type": "area", "color": BAND}, "encoding": band},
                {"mark": {"type": "line", "color": ACCENT}, "encoding": {"x": x, "y": y("mean")}},
            ],
        },
    )


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    return {
        key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()
    }


MOVEMENT = {"segments": movement, "systems": movement_over_systems}
SAMPLE_SIZE = {"segments": sample_size_curves, "systems": curves_over_systems}
