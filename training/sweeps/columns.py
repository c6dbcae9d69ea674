"""Read agreement with human judgments in WMT's published files, as a column of a sweep's table.

The outputs of a file are matched with those of a test set: systems by name, segments by key.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from annotation.models import Segment, TestSet
from metaeval import ScoreMatrix
from metaeval.correlation import correlate
from metaeval.files import FormatError, read_darr, read_mqm
from metaeval.messages import MessageError, message
from metaeval.reasons import reason_of
from metrics import catalogue
from metrics.scores import system_scores

Column = dict[str, float]


class ColumnError(MessageError, ValueError):
    """A file does not fit the test set; the message says how."""


def relative_ranks(path: Path, test_set: TestSet, metrics: Sequence[str]) -> Column:
    """Compute the Kendall-like τ of WMT18/19 by metric; ties of the metric are discordant.

    Raises ColumnError where the file is no daRR file or has nothing of this language pair.
    """
    try:
        parts = read_darr(path)
    except (FormatError, OSError) as error:
        raise ColumnError(reason_of(error)) from error
    pair = "-".join(
        code.split("-")[0] for code in (test_set.source_language, test_set.target_language)
    )
    if pair not in parts:
        raise ColumnError(
            message(
                "column.pair",
                "{file} has no judgments of {pair}. It has: {pairs}.",
                file=path.name,
                pair=pair,
                pairs=list(parts),
            )
        )
    ranks = parts[pair]
    found = _matrices(test_set, metrics)
    values = {name: ranks.kendall_like(matrix) for name, matrix in found.items()}
    return _known(path, test_set, {name: result.statistic for name, result in values.items()})


def error_scores(
    path: Path, test_set: TestSet, metrics: Sequence[str], without: Sequence[str] = ()
) -> Column:
    """Compute Kendall's τ-b of WMT21 with MQM by metric, over all systems and segments.

    Outputs without a human score and the systems ``without`` (human translations) are excluded.
    Raises ColumnError if the file is not an MQM file or does not fit the test set.
    """
    try:
        human = read_mqm(path)["mean"]
    except (FormatError, OSError) as error:
        raise ColumnError(reason_of(error)) from error
    unknown = sorted(set(without) - set(human.systems))
    if unknown:
        raise ColumnError(
            message(
                "columns.missing-systems",
                "{file} does not have these systems: {systems}.",
                file=path.name,
                systems=unknown,
            )
        )
    gold = human.subset(systems=[name for name in human.systems if name not in without])
    matrices = {
        name: gold.with_values(matrix.at(gold.systems, gold.segments))
        for name, matrix in _matrices(test_set, metrics).items()
    }
    found = {
        name: correlate(gold, matrix, "kendall", has_interval=False)
        for name, matrix in matrices.items()
    }
    return _known(path, test_set, {name: result.statistic for name, result in found.items()})


def _known(path: Path, test_set: TestSet, values: Column) -> Column:
    if values and not np.isfinite(list(values.values())).any():
        raise ColumnError(
            message(
                "column.outputs",
                "{file} and {test_set} have too few outputs in common. Systems are matched by "
                "name, segments by key.",
                file=path.name,
                test_set=test_set.slug,
            )
        )
    return values


def _matrices(test_set: TestSet, metrics: Sequence[str]) -> dict[str, ScoreMatrix]:
    """Return the first measure of each scored metric, negated if lower is better."""
    table = system_scores(test_set)
    systems = [system.name for system in table.systems]
    keys = dict(Segment.objects.filter(test_set=test_set).values_list("pk", "key"))
    segments = [keys[pk] for pk in table.segments]
    if len(set(systems)) < len(systems):
        raise ColumnError(
            message(
                "column.lengths",
                "{test_set} has several outputs of a system at different lengths.",
                test_set=test_set.slug,
            )
        )
    found = {}
    for name in metrics:
        measure = table.measures.get(catalogue.get(name).table_measures[0])
        if measure is not None:
            sign = 1.0 if measure.higher_is_better else -1.0
            found[name] = ScoreMatrix(sign * measure.values, systems, segments)
    return found
