"""Draw how correlations change without a part of the data, and with the number of segments."""

from typing import Any

from dashboards.charts.style import ACCENT, INK, Spec, figure
from dashboards.whatif.document import WhatIf, largest
from dashboards.whatif.samplesize import SampleSize
from metaeval.messages import message, plural

BAND = "#c9d8ec"
SCENARIOS, MEASURES = 16, 20
# The axis of a small multiple has no room for longer titles.
SHORT = {"tau": "τ-b", "r_system": "r"}
CHANGES = {
    "tau": message("whatif.change-of-tau", "Change of Kendall τ-b, segment level"),
    "r_system": message("whatif.change-of-r", "Change of Pearson r over systems"),
}
EFFECTS = {
    "tau": message("whatif.effects-on-tau", "Effects on Kendall τ-b, segment level"),
    "r_system": message("whatif.effects-on-r", "Effects on Pearson r over systems"),
}
BY_SIZE = {
    "tau": message("samplesize.tau", "Kendall τ-b at segment level, by number of segments"),
    "r_system": message("samplesize.r", "Pearson r over systems, by number of segments"),
}
EXCLUDED = message("whatif.excluded", "Excluded")
SEGMENTS = message("samplesize.segments", "Segments")


def movement(document: WhatIf) -> Spec | None:
    """Draw how each measure's τ changes when a part is excluded, the largest changes first."""
    return _movement(document, "tau")


def movement_over_systems(document: WhatIf) -> Spec | None:
    """Draw the same for Pearson's r over systems."""
    return _movement(document, "r_system")


def _movement(document: WhatIf, statistic: str) -> Spec | None:
    chosen = largest(document.scenarios, statistic)[:SCENARIOS]
    if not chosen:
        return None
    points = [
        {"left_out": one.title, "change": round(change, 4)}
        for one in chosen
        for change in one.by(statistic).changes
        if change is not None
    ]
    x = {"field": "change", "type": "quantitative", "title": CHANGES[statistic]}
    order = [one.title for one in chosen]
    # Names of documents are long, and differ at the end. Without the font they are drawn wider.
    axis = {"labelLimit": 220, "titlePadding": 16}
    y = {"field": "left_out", "type": "nominal", "sort": order, "title": EXCLUDED, "axis": axis}
    return figure(
        EFFECTS[statistic],
        plural(
            "whatif.effects-described",
            "Each tick is a metric’s change in correlation when the part named on the left is "
            "excluded.",
            "Each tick is a metric’s change in correlation when the part named on the left is "
            "excluded. The {n} largest changes are shown, the largest first.",
            n=len(chosen),
        ),
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


def sample_size_curves(document: SampleSize) -> Spec | None:
    """Draw mean and 95% band of τ by the number of drawn segments, one panel per metric."""
    return _curves(document, "tau")


def curves_over_systems(document: SampleSize) -> Spec | None:
    """Draw the same for Pearson's r over systems."""
    return _curves(document, "r_system")


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
    x = {"field": "n_segments", "type": "quantitative", "title": SEGMENTS}

    def y(name: str) -> dict[str, Any]:
        scale = {"zero": False}
        return {"field": name, "type": "quantitative", "title": SHORT[statistic], "scale": scale}

    band = {"x": x, "y": y("low"), "y2": {"field": "high"}}
    header = {"title": None, "labelFontWeight": "bold"}
    described = [
        message(
            "samplesize.described",
            "Lines are means over {samples} samples of segments drawn with replacement. Bands "
            "contain 95% of the samples.",
            samples=document.n_samples,
        )
    ]
    if len(order) < len(known):
        described.append(
            message(
                "samplesize.best-metrics",
                "The {shown} of {total} metrics that agree best are shown.",
                shown=len(order),
                total=len(known),
            )
        )
    return figure(
        BY_SIZE[statistic],
        described,
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
