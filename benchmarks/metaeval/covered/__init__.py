"""Every kind of interval and test that a page or command shows, with data of a known truth."""

from benchmarks.metaeval.covered import (
    agreement,
    annotators,
    correlations,
    documents,
    hybrids,
    judged,
    metrics,
    pages,
    real_documents,
    systems,
    trainings,
)
from benchmarks.metaeval.covered.case import Case

CASES: tuple[Case, ...] = (
    *agreement.CASES,
    *annotators.CASES,
    *correlations.CASES,
    *hybrids.CASES,
    *metrics.CASES,
    *systems.CASES,
    *pages.CASES,
    *trainings.CASES,
    *documents.CASES,
    *judged.CASES,
    *real_documents.CASES,
)
