"""What metrics have in common where some lack scores, in words: numbers of different outputs."""

import numpy as np

from core.text import join_truncated
from dashboards.panel.panel import Panel

OWN = "Columns of a metric’s own are over the outputs that it has."
NONE = "No judged output has the scores of all metrics."
# The most systems that are named.
NAMES = 5


def compared_on(panel: Panel) -> list[str]:
    """Say on what metrics are compared where that is not all that the humans judged."""
    scored, n = panel.scored, panel.scored.n
    if n == panel.human.n or not scored.on_segments:
        return []
    if not n:
        return [NONE]
    judged = panel.human.matrix().mask.any(axis=1)
    lost = np.flatnonzero(judged & ~np.isfinite(scored.cells).any(axis=1))
    told = [
        f"Metrics are compared on the {n:,} of {panel.human.n:,} judged outputs that all of them "
        f"have, of {scored.n_segments:,} segments and {scored.n_systems:,} systems."
    ]
    if names := [panel.human.names[place] for place in lost]:
        named = join_truncated(names, NAMES)
        told.append(f"Left out of comparisons because a metric lacks their scores: {named}.")
    return told


def each_on_its_own(panel: Panel) -> list[str]:
    """Say so where metrics stand beside each other that are not of the same outputs."""
    counts = [n for key in panel.measures if (n := panel.scored.n_scored(key))]
    if not counts or min(counts) == panel.human.n:
        return []
    return [
        f"Each metric is over the judged outputs that it has, {min(counts):,} to {max(counts):,} "
        f"of {panel.human.n:,}: what is over other outputs does not rank metrics."
    ]
