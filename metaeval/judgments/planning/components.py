"""Variance components of judgments: how much systems, segments, outputs and annotators differ."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import FloatArray, IntArray, as_floats, at_least, factorize, one_length
from metaeval.documents import DOCUMENTS, FEWEST_DOCUMENTS, documents_of, recoded, sizes_of, unit_of
from metaeval.messages import message, plural
from metaeval.results import (
    ApproximationWarning,
    Notes,
    Result,
    SingleJudgmentWarning,
    StatisticsWarning,
    TooFewWarning,
)

FEW_SEGMENTS = 10
# Factors of documents are used only if some segments share a document.
OF_DOCUMENTS = ("document", "system_document", "annotator_document")
FACTORS = ("system", "segment", "output", "annotator", *OF_DOCUMENTS)
NAMES = {
    "system": message("component.system", "system"),
    "segment": message("component.segment", "segment"),
    "output": message("component.output", "output"),
    "annotator": message("component.annotator", "annotator"),
    "document": message("component.document", "document"),
    "system_document": message("component.system-document", "system × document"),
    "annotator_document": message("component.annotator-document", "annotator × document"),
    "residual": message("component.residual", "residual"),
}


@dataclass(frozen=True, kw_only=True, eq=False)
class VarianceComponents(Result):
    """Variances of score = mean + system + segment + output + annotator + residual.

    ``output`` is the interaction of system and segment; ``residual`` is everything else, including
    the interaction of annotator and output. With documents, these are variances within documents:
    ``document`` is the difficulty that a document's segments share, ``system_document`` and
    ``annotator_document`` are the interactions with it. ``document_size`` is the number of segments
    per document, averaged over segments, (sum of m^2)/(sum of m), as the design effect needs it.
    ``n`` counts judgments; it is 0 if the variances were stated and not estimated.
    """

    system: float
    segment: float
    output: float
    annotator: float
    residual: float
    n_systems: int = 0
    n_segments: int = 0
    n_outputs: int = 0
    n_annotators: int = 0
    document: float = 0.0
    system_document: float = 0.0
    annotator_document: float = 0.0
    n_documents: int = 0
    document_size: float = 1.0
    method: str = "stated"

    @classmethod
    def stated(
        cls,
        *,
        segment: float,
        output: float,
        annotator: float,
        residual: float,
        system: float = 0,
        document: float = 0,
        system_document: float = 0,
        annotator_document: float = 0,
        document_size: float = 1,
    ) -> VarianceComponents:
        """Return assumed variances; raises DataError for a negative one."""
        names = (*FACTORS, "residual")
        values = (
            system, segment, output, annotator, document, system_document, annotator_document,
            residual,
        )  # fmt: skip
        at_least("document_size", document_size, 1)
        for name, value in zip(names, values, strict=True):
            at_least(name, value, 0)
        return cls(
            n=0,
            system=float(system),
            segment=float(segment),
            output=float(output),
            annotator=float(annotator),
            residual=float(residual),
            document=float(document),
            system_document=float(system_document),
            annotator_document=float(annotator_document),
            document_size=float(document_size),
        )


def variance_components(
    scores: ArrayLike,
    systems: Iterable[Hashable],
    segments: Iterable[Hashable],
    annotators: Iterable[Hashable],
    *,
    documents: Iterable[Hashable] | None = None,
) -> VarianceComponents:
    """Estimate variance components from pilot judgments, however unbalanced.

    Henderson's method 1 (Henderson 1953; Searle, Casella and McCulloch 1992, chapter 5): for each
    factor T = sum over its levels of n_l mean_l^2 is set equal to its expectation, which is linear
    in the variances. On balanced data these are the estimates of the analysis of variance.
    Unbiased estimates may be negative: they are replaced by 0, with a warning.

    A factor that the data do not separate from the residual (one annotator, one judgment per
    output, one system) has variance 0, with a warning.

    Parameters
    ----------
    scores
        One per judgment of an output, raw or z, without control items; nan is missing.
    systems, segments, annotators
        The system, segment and annotator of each judgment.
    documents
        The document of each judgment's segment; by default each segment is one.

    Warns
    -----
    SingleJudgmentWarning, TooFewWarning
        A component cannot be separated from another, or is estimated from very few levels.
    ApproximationWarning
        A negative estimate was replaced by 0.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     found = variance_components(
    ...         [10, 12, 20, 22, 30, 32], ["S"] * 6, [1, 1, 2, 2, 3, 3], ["A", "B"] * 3
    ...     )
    >>> found.segment, found.annotator, found.residual
    (100.0, 2.0, 0.0)
    """
    values = as_floats("scores", scores, ndim=1)
    levels = {
        name: factorize(labels)
        for name, labels in zip(
            ("system", "segment", "annotator"), (systems, segments, annotators), strict=True
        )
    }
    codes = {name: code for name, (_, code) in levels.items()}
    for name, code in codes.items():
        one_length(**{f"{name}s": code, "scores": values})
    of_segments = documents_of(documents, codes["segment"], levels["segment"][0])
    notes = Notes()
    present = ~np.isnan(values)
    notes.exclude("missing-score", int((~present).sum()))
    values, codes = values[present], {name: code[present] for name, code in codes.items()}
    codes["output"] = _pairs(codes["system"], codes["segment"])
    judged = np.unique(codes["segment"])
    per_document = sizes_of(of_segments[judged])
    if unit_of(of_segments[judged]) == DOCUMENTS:
        codes["document"] = recoded(of_segments[codes["segment"]])
        for name in ("system", "annotator"):
            codes[f"{name}_document"] = _pairs(codes[name], codes["document"])
    sizes = {name: len(np.unique(code)) for name, code in codes.items()}
    used = _identifiable(len(values), sizes, notes)
    used += _of_documents(len(values), sizes, notes)
    found = dict.fromkeys((*FACTORS, "residual"), 0.0)
    if len(values) > 1:
        found |= _solve(values, {name: codes[name] for name in used}, notes)
    return VarianceComponents(
        n=len(values),
        reasons=notes.reasons,
        warnings=notes.warnings,
        n_systems=sizes["system"],
        n_segments=sizes["segment"],
        n_outputs=sizes["output"],
        n_annotators=sizes["annotator"],
        n_documents=len(per_document),
        document_size=_mean_size(per_document),
        method="Henderson's method 1",
        **found,
    )


def _mean_size(sizes: IntArray) -> float:
    """Return the mean size over members, (sum of m^2)/(sum of m); 1 where there is none."""
    return float((sizes**2).sum() / sizes.sum()) if len(sizes) else 1.0


def _of_documents(n: int, sizes: dict[str, int], notes: Notes) -> list[str]:
    """Return the factors of documents that the design separates from others; warn of the rest."""
    if "document" not in sizes or n < 2:
        return []
    if sizes["document"] < FEWEST_DOCUMENTS:
        notes.warn(
            TooFewWarning(
                plural(
                    "pilot.few-documents",
                    "The pilot has only {n} document, so the variance between documents is a rough "
                    "estimate.",
                    "The pilot has only {n} documents, so the variance between documents is a "
                    "rough estimate.",
                    n=sizes["document"],
                )
            )
        )
    others = {
        "document": (),
        "system_document": ("document", "output", "system"),
        "annotator_document": ("document", "annotator"),
    }
    used = [
        name
        for name, same in others.items()
        if 1 < sizes[name] < n and all(sizes[name] != sizes[each] for each in same)
    ]
    if lost := [NAMES[name] for name in others if name not in used]:
        notes.warn(
            TooFewWarning(
                message(
                    "pilot.confounded-documents",
                    "The design does not separate these effects from others: {effects}. The "
                    "dependence within documents may be underestimated.",
                    effects=lost,
                )
            )
        )
    return used


def _pairs(first: IntArray, second: IntArray) -> IntArray:
    """Number the pairs of two codes that occur, from 0."""
    width = int(second.max()) + 1 if len(second) else 1
    numbers: IntArray = np.unique(first * width + second, return_inverse=True)[1]
    return numbers.reshape(-1).astype(np.int64)


def _identifiable(n: int, sizes: dict[str, int], notes: Notes) -> list[str]:
    """Return the factors whose variance the design separates from others; warn of the rest."""
    if n < 2:
        notes.warn(
            TooFewWarning(
                plural(
                    "pilot.few-judgments",
                    "The pilot has {n} judgment. Variances cannot be estimated.",
                    "The pilot has {n} judgments. Variances cannot be estimated.",
                    n=n,
                )
            )
        )
        return []
    if 1 < sizes["segment"] < FEW_SEGMENTS:
        notes.warn(
            TooFewWarning(
                message(
                    "pilot.few-segments",
                    "The pilot has only {n} segments, so the variances are rough estimates.",
                    n=sizes["segment"],
                )
            )
        )
    problems = {
        "system": _system_problem(sizes),
        "segment": _segment_problem(n, sizes),
        "output": _output_problem(n, sizes),
        "annotator": _annotator_problem(n, sizes),
    }
    for problem in problems.values():
        if problem is not None:
            notes.warn(problem)
    return [name for name, problem in problems.items() if problem is None]


def _system_problem(sizes: dict[str, int]) -> StatisticsWarning | None:
    if sizes["system"] > 1:
        return None
    return TooFewWarning(
        message(
            "pilot.one-system",
            "The pilot has one system, so the variance between systems cannot be estimated.",
        )
    )


def _segment_problem(n: int, sizes: dict[str, int]) -> StatisticsWarning | None:
    if sizes["segment"] == n:
        return TooFewWarning(
            message(
                "pilot.one-judgment-per-segment",
                "Each segment has one judgment, so the variance between segments cannot be "
                "separated from the residual variance.",
            )
        )
    if sizes["segment"] == 1:
        return TooFewWarning(
            message(
                "pilot.one-segment",
                "The pilot has one segment, so the variance between segments cannot be estimated.",
            )
        )
    return None


def _output_problem(n: int, sizes: dict[str, int]) -> StatisticsWarning | None:
    if sizes["output"] == n:
        return SingleJudgmentWarning(
            message(
                "pilot.one-judgment-per-output",
                "Each output has one judgment, so the variance between outputs cannot be separated "
                "from the residual variance. The benefit of more annotators per item is therefore "
                "overestimated.",
            )
        )
    if sizes["output"] == sizes["segment"]:
        return TooFewWarning(
            message(
                "pilot.one-system-per-segment",
                "No segment has outputs of two systems, so the variance between outputs cannot be "
                "separated from that between segments. The power of comparing systems on the same "
                "segments is therefore overestimated.",
            )
        )
    if sizes["output"] == sizes["system"]:
        return TooFewWarning(
            message(
                "pilot.one-output-per-system",
                "Each system has one output, so the variance between outputs cannot be separated "
                "from that between systems.",
            )
        )
    return None


def _annotator_problem(n: int, sizes: dict[str, int]) -> StatisticsWarning | None:
    if sizes["annotator"] == 1:
        return SingleJudgmentWarning(
            message(
                "pilot.one-annotator",
                "The pilot has one annotator, so the variance between annotators cannot be "
                "estimated.",
            )
        )
    if sizes["annotator"] == n:
        return TooFewWarning(
            message(
                "pilot.one-judgment-per-annotator",
                "Each annotator has one judgment, so the variance between annotators cannot be "
                "separated from the residual variance.",
            )
        )
    return None


def _solve(values: FloatArray, factors: dict[str, IntArray], notes: Notes) -> dict[str, float]:
    """Equate the sums of squares with their expectations."""
    n = len(values)
    # For equal scores the differences would be rounding errors.
    y = values - values.mean() if np.ptp(values) else np.zeros(n)
    one = np.zeros(n, dtype=np.int64)
    rows = {"mean": one, **factors, "total": np.arange(n)}
    names = [*factors, "residual"]
    # Columns: squared mean, each factor, residual. The residual has a level for every judgment.
    columns = [one, *factors.values(), np.arange(n)]
    left = np.array([[_coefficient(row, column) for column in columns] for row in rows.values()])
    right = np.array([_square(y, row) for row in rows.values()])
    scale = np.abs(left).max(axis=1)
    if np.linalg.matrix_rank(left / scale[:, None]) < len(columns):
        notes.warn(
            TooFewWarning(
                message(
                    "pilot.confounded",
                    "The design confounds some of the variances. Only their sum is estimated "
                    "correctly.",
                )
            )
        )
    solution = np.linalg.lstsq(left / scale[:, None], right / scale, rcond=None)[0]
    found = dict(zip(names, solution[1:].tolist(), strict=True))
    return {
        name: _not_negative(name, value, float(y @ y) / n, notes) for name, value in found.items()
    }


def _not_negative(name: str, value: float, total: float, notes: Notes) -> float:
    if abs(value) <= 1e-9 * total:
        return 0.0
    if value < 0.0:
        notes.warn(
            ApproximationWarning(
                message(
                    "pilot.negative-variance",
                    "The estimated variance for “{component}” is negative ({value:.3g}) and was "
                    "replaced by 0.",
                    component=NAMES[name],
                    value=value,
                )
            )
        )
        return 0.0
    # Twelve digits relative to the total, so that small scores keep their digits.
    return float(round(value, max(12, 12 - int(np.floor(np.log10(total))))))


def _square(y: FloatArray, level: IntArray) -> float:
    """T: the sum over levels of n_l mean_l^2."""
    counts = np.bincount(level)
    sums = np.bincount(level, weights=y)
    return float((sums[counts > 0] ** 2 / counts[counts > 0]).sum())


def _coefficient(level: IntArray, effect: IntArray) -> float:
    """How often the variance of an effect enters E[T]: sum of n_lm^2 / n_l over pairs."""
    cells, inverse, counts = np.unique(
        level * (int(effect.max()) + 1) + effect, return_inverse=True, return_counts=True
    )
    first = np.empty(len(cells), dtype=np.int64)
    first[inverse.reshape(-1)] = level
    return float((counts.astype(np.float64) ** 2 / np.bincount(level)[first]).sum())
