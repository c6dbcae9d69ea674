"""Import WMT15: human and metric scores of whole systems from the metrics task.

`wmt15-cs-en` and five more: 10 to 16 systems, 15 or 23 metrics; all 114 published correlations are
reproduced. There are no texts, so systems can be compared, but nothing can be read or scored.
"""

from collections import defaultdict

from annotation.imports import CampaignDraft, Pair
from annotation.imports.human_scores import QUESTION
from annotation.imports.tables import Row, read_table
from annotation.uploads import SystemDraft, TestSetDraft
from metaeval.messages import message
from metrics.datasets.store import EvaluationDraft, MetricDraft

# Counts of errors; every other metric of that year is better when higher.
LOWER = frozenset({"BS"})


def read(pair: Pair) -> EvaluationDraft:
    """Read `wmt15/scores.tsv`. Raises ValidationError naming file and row."""
    columns = ("lp", "metric", "system", "score", "human")
    rows = [r for r in read_table(pair.folder / "scores.tsv", *columns) if r["lp"] == pair.name]
    metrics: dict[str, dict[str, float]] = defaultdict(dict)
    for row in rows:
        if row["system"] in metrics[row["metric"]]:
            raise row.error(
                message(
                    "published.score-twice",
                    "{cell} already has a score of {metric}.",
                    cell=row.cell("system"),
                    metric=row["metric"],
                )
            )
        metrics[row["metric"]][row["system"]] = row.real("score")
    humans = _humans(rows)
    slug, name = f"wmt15-{pair.name}", f"WMT15 {pair.label}"
    test_set = TestSetDraft(
        slug=slug,
        name=name,
        source_language=pair.source,
        target_language=pair.target,
        description="Scores of whole systems, without texts.",
        systems=[SystemDraft(system) for system in humans],
        is_systems_only=True,
    )
    campaign = CampaignDraft(
        slug=slug,
        name=name,
        study="wmt15",
        question=QUESTION,
        system_scores=humans,
    )
    return EvaluationDraft(
        test_set,
        [campaign],
        [
            MetricDraft(metric, systems=scores, higher_is_better=metric not in LOWER)
            for metric, scores in metrics.items()
        ],
        message("wmt15.origin", "WMT15 metrics task, scores of systems."),
    )


def _humans(rows: list[Row]) -> dict[str, float]:
    """Return the human score of each system, which every metric's row repeats."""
    humans: dict[str, float] = {}
    for row in rows:
        if humans.setdefault(row["system"], row.real("human")) != row.real("human"):
            raise row.error(
                message(
                    "published.other-human-score",
                    "{cell} differs from the human score of {system} in an earlier row.",
                    cell=row.cell("human"),
                    system=row["system"],
                )
            )
    return humans
