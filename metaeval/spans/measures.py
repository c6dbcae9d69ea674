"""Comparison of spans: the contribution of each text to precision and recall, by measure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from metaeval.arrays import FloatArray, IntArray, between, one_length, one_of
from metaeval.messages import data_error, plural
from metaeval.results import ApproximationWarning, Notes, Result
from metaeval.spans.coverage import character_credit, covered
from metaeval.spans.matching import Pairs, greedy_sums, optimal_sums, overlapping
from metaeval.spans.span_table import SEVERITIES, SIDES, SpanTable

MEASURES = ("characters", "EM", "MP", "MPP", "WMT25")
MATCHINGS = ("one_to_one", "many_to_many")


@dataclass(frozen=True)
class SpanMeasure:
    """A measure with its options.

    ``characters`` is WMT25's, with ``partial_credit`` for a character of another severity. The
    others match spans: EM counts equal ones, MP any overlap, MPP the shares of both that overlap,
    WMT25 the overlapping characters; ``one_to_one`` under the matching of the highest F of an
    item (``algorithm`` optimal; greedy takes the most overlap first), ``many_to_many`` what the
    other side covers. A pair of other severity is worth 1 - ``severity_penalty``; or spans weigh
    ``severity_weights`` and a pair the lesser of its two. (SPAN-MT-METRICS-EVAL, arXiv 2603.19921)
    """

    name: str = "MPP"
    matching: str = "one_to_one"
    partial_credit: float = 0.5
    severity_penalty: float = 0.0
    severity_weights: tuple[tuple[str, float], ...] = ()
    algorithm: str = "optimal"
    sides: tuple[str, ...] = SIDES[:2]

    def __post_init__(self) -> None:
        one_of("measure", self.name, MEASURES)
        one_of("matching", self.matching, MATCHINGS)
        one_of("algorithm", self.algorithm, ("optimal", "greedy"))
        for side in self.sides:
            one_of("sides", side, SIDES[:2])
        between("severity_penalty", self.severity_penalty, 0, 1)
        between("partial_credit", self.partial_credit, 0, 1)
        if self.severity_penalty and self.severity_weights:
            raise data_error(
                "argument.penalty-and-weights",
                "A severity penalty and severity weights exclude each other.",
            )
        if self.matching != MATCHINGS[0] and (self.severity_penalty or self.severity_weights):
            raise data_error(
                "argument.matching",
                "A severity penalty and severity weights require the matching “{matching}”.",
                matching=MATCHINGS[0],
            )
        weights = dict(self.severity_weights)
        if weights and (set(weights) != set(SEVERITIES) or min(weights.values()) <= 0):
            raise data_error(
                "argument.severity-weights", "Give a weight above 0 for each of {severities}.",
                severities=SEVERITIES,
            )  # fmt: skip

    @property
    def label(self) -> str:
        """Name it with the options that change its value."""
        if self.name == "characters":
            return f"characters (credit {self.partial_credit:g})"
        words = [self.matching.replace("_", " ")]
        words += ["greedy"] if self.algorithm == "greedy" else []
        words += [f"penalty {self.severity_penalty:g}"] if self.severity_penalty else []
        words += ["weights " + ":".join(f"{w:g}" for _, w in self.severity_weights)] * bool(
            self.severity_weights
        )
        return f"{self.name} ({', '.join(words)})"


CHARACTERS = SpanMeasure("characters")
MPP = SpanMeasure()


def weights(minor: float = 1, major: float = 5, critical: float | None = None) -> tuple[
    tuple[str, float], ...
]:  # fmt: skip
    """Return weights of severities; by default critical has the weight of major."""
    values = (minor, major, major if critical is None else critical)
    return tuple(zip(SEVERITIES, values, strict=True))


@dataclass(frozen=True, kw_only=True, eq=False)
class Components(Result):
    """Contributions of items: precision is the sum of the first column over that of the second.

    ``values`` float64 (n_items, 4): credit to precision, predicted, credit to recall, gold.
    ``n`` counts items. Sums over any set of items give its micro scores.
    """

    values: FloatArray


def compare_spans(gold: SpanTable, predicted: SpanTable, measure: SpanMeasure = MPP) -> Components:
    """Compare predicted with gold spans of the same items.

    Spans without characters, on other sides or of unknown severity are excluded from both and
    counted. Raises DataError if the tables have different numbers of items. Warns
    ApproximationWarning if a matching could not be proven to be the best.
    """
    one_length(gold=range(gold.n_items), predicted=range(predicted.n_items))
    notes = Notes()
    tables: list[SpanTable] = []
    for name, table in (("gold", gold), ("predicted", predicted)):
        usable = table.usable(measure.sides)
        notes.exclude(f"unusable-{name}-spans", int((~usable).sum()))
        tables.append(table.where(usable))
    values = _components(tables[0], tables[1], measure, notes)
    return Components(n=gold.n_items, values=values, **notes.fields)


def _components(
    gold: SpanTable, predicted: SpanTable, measure: SpanMeasure, notes: Notes
) -> FloatArray:
    if measure.name == "characters":
        credit, n_predicted, n_gold = character_credit(gold, predicted, measure.partial_credit)
        return np.column_stack([credit, n_predicted, credit, n_gold])
    masses = [_mass(table, measure) for table in (predicted, gold)]
    sizes = [
        np.bincount(table.item, weights=mass, minlength=gold.n_items).astype(np.float64)
        for table, mass in zip((predicted, gold), masses, strict=True)
    ]
    if measure.matching == "many_to_many":
        sums = _coverage(gold, predicted, measure)
    else:
        sums = _matched(gold, predicted, measure, sizes, notes)
    return np.column_stack([sums[0], sizes[0], sums[1], sizes[1]])


def _mass(table: SpanTable, measure: SpanMeasure) -> FloatArray:
    mass = np.ones(len(table))
    if measure.severity_weights:
        mass = np.array([weight for _, weight in measure.severity_weights])[table.severity]
    if measure.name == "WMT25":
        mass = mass * (table.end - table.start)
    return mass


def _matched(
    gold: SpanTable,
    predicted: SpanTable,
    measure: SpanMeasure,
    sizes: list[FloatArray],
    notes: Notes,
) -> tuple[FloatArray, FloatArray]:
    rows_gold, rows_predicted, shared = overlapping(gold, predicted)
    pairs = _pairs(gold, predicted, rows_gold, rows_predicted, shared, measure)
    is_worth = (pairs.to_precision > 0) | (pairs.to_recall > 0)
    pairs, shared = pairs.where(is_worth), shared[is_worth]
    if measure.algorithm == "greedy":
        return greedy_sums(pairs, shared, gold.n_items)
    to_precision, to_recall, n_unproven = optimal_sums(pairs, sizes[0], sizes[1])
    if n_unproven:
        notes.warn(
            ApproximationWarning(
                plural(
                    "spans.unproven-matching",
                    "The spans of {n} text overlap in too many ways to find the best matching for "
                    "certain.",
                    "The spans of {n} texts overlap in too many ways to find the best matching for "
                    "certain.",
                    n=n_unproven,
                )
            )
        )
    return to_precision, to_recall


def _pairs(
    gold: SpanTable,
    predicted: SpanTable,
    rows_gold: IntArray,
    rows_predicted: IntArray,
    shared: IntArray,
    measure: SpanMeasure,
) -> Pairs:
    long_gold = (gold.end - gold.start)[rows_gold]
    long_predicted = (predicted.end - predicted.start)[rows_predicted]
    severity_gold, severity = gold.severity[rows_gold], predicted.severity[rows_predicted]
    factor = np.where(severity_gold == severity, 1.0, 1.0 - measure.severity_penalty)
    if measure.severity_weights:
        table = np.array([weight for _, weight in measure.severity_weights])
        factor = np.minimum(table[severity_gold], table[severity])
    is_equal = (shared == long_gold) & (shared == long_predicted)
    shares = {
        "EM": (is_equal, is_equal),
        "MP": (np.ones(len(shared)), np.ones(len(shared))),
        "MPP": (shared / long_predicted, shared / long_gold),
        "WMT25": (shared, shared),
    }[measure.name]
    return Pairs(
        gold.item[rows_gold], rows_gold, rows_predicted, factor * shares[0], factor * shares[1]
    )


def _coverage(
    gold: SpanTable, predicted: SpanTable, measure: SpanMeasure
) -> tuple[FloatArray, FloatArray]:
    """Return, by item, how much of each span the other side's spans cover together."""
    if measure.name == "EM":
        rows_gold, rows_predicted, shared = overlapping(gold, predicted)
        pairs = _pairs(gold, predicted, rows_gold, rows_predicted, shared, measure)
        pairs = pairs.where(pairs.to_recall > 0)
        found = [
            np.isin(np.arange(len(table)), rows).astype(np.float64)
            for table, rows in ((predicted, pairs.predicted), (gold, pairs.gold))
        ]
    else:
        found = [
            _share(covered(table, other), table, measure)
            for table, other in ((predicted, gold), (gold, predicted))
        ]
    first, second = (
        np.asarray(np.bincount(table.item, weights=share, minlength=gold.n_items), np.float64)
        for table, share in zip((predicted, gold), found, strict=True)
    )
    return first, second


def _share(characters: IntArray, table: SpanTable, measure: SpanMeasure) -> FloatArray:
    if measure.name == "MP":
        return (characters > 0).astype(np.float64)
    whole = (table.end - table.start) if measure.name == "MPP" else 1
    return np.asarray(characters / whole, dtype=np.float64)
