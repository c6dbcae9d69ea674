"""Warn where metrics have scores of different outputs."""

import numpy as np

from dashboards.panel.panel import Panel
from metaeval.messages import Message, message, truncated

OWN = message(
    "outputs.own-columns", "Columns of one metric are over all outputs that the metric scored."
)
NONE = message("outputs.none-in-common", "No judged output has the scores of all metrics.")


def compared_on(panel: Panel) -> list[Message]:
    """Return on which outputs metrics are compared where these are not all judged outputs."""
    scored, n = panel.scored, panel.scored.n
    if n == panel.human.n or not scored.on_segments:
        return []
    if not n:
        return [NONE]
    judged = panel.human.matrix().mask.any(axis=1)
    lost = np.flatnonzero(judged & ~np.isfinite(scored.cells).any(axis=1))
    found = [
        message(
            "outputs.in-common",
            "Metrics are compared on the {outputs} of {judged} judged outputs that all of them "
            "scored, of {segments} segments and {systems} systems.",
            outputs=n,
            judged=panel.human.n,
            segments=scored.n_segments,
            systems=scored.n_systems,
        )
    ]
    if names := [panel.human.names[place] for place in lost]:
        found.append(
            message(
                "outputs.systems-excluded",
                "Systems are excluded from comparisons because a metric lacks their scores: "
                "{systems}.",
                systems=truncated(names),
            )
        )
    return found


def each_on_its_own(panel: Panel) -> list[Message]:
    """Return a warning where metrics that are shown together scored different outputs."""
    counts = [n for key in panel.measures if (n := panel.scored.n_scored(key))]
    if not counts or min(counts) == panel.human.n:
        return []
    return [
        message(
            "outputs.own",
            "Each metric’s number is over the judged outputs that the metric scored, {low} to "
            "{high} of {judged}. Numbers over different outputs do not rank metrics.",
            low=min(counts),
            high=max(counts),
            judged=panel.human.n,
        )
    ]
