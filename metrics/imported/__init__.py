"""Scores of metrics that were computed elsewhere: brought in, shown, marked, and never run.

`held` packs them into rows, `naming` gives them a place in the catalogue, `storing` says what an
import changes and does it.
"""

from collections.abc import Mapping
from typing import Any

from annotation.models import TestSet
from metrics.imported.held import names_of
from metrics.imported.naming import check_name
from metrics.imported.storing import Draft, Files, Outcome, resolve, store_all

__all__ = ["Outcome", "store"]


def store(
    test_set: TestSet,
    name: str,
    segment_scores: Mapping[tuple[str, str], float],
    system_scores: Mapping[str, float],
    higher_is_better: bool = True,
    provenance: str = "",
    user: Any = None,
    files: Files = (),
) -> Outcome:
    """Store the scores of one metric on a test set under a signature of their own.

    Parameters
    ----------
    name
        What the metric is called where the scores come from, such as ``COMET-refA``.
    segment_scores, system_scores
        (system, segment key) -> score of an output, and system -> score of the whole system. A
        score that is nan is missing. Where system scores are given they are the metric's system
        scores; else those are the means of the outputs'.
    provenance, files
        A sentence that says whence the scores come, and the ``name`` and ``sha256`` of each file.

    Raises
    ------
    ValidationError
        The test set has no such system, segment or output; a score is infinite; there is none.
    """
    held = resolve(names_of(test_set), segment_scores, system_scores)
    draft = Draft(check_name(name), held, higher_is_better)
    outcomes = store_all(test_set, [draft], provenance=provenance, files=files, user=user)
    return outcomes[0]
