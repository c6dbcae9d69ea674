"""Import scores of metrics that were computed elsewhere. Such metrics are never run here.

`held` packs them into rows, `naming` adds the metrics to the catalogue, `storing` computes what an
import changes and stores it.
"""

from collections.abc import Mapping
from typing import Any

from annotation.models import TestSet
from metaeval.messages import Message
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
    provenance: Message | str = "",
    user: Any = None,
    files: Files = (),
) -> Outcome:
    """Store the scores of one metric on a test set under a signature of their own.

    Parameters
    ----------
    name
        The name of the metric where the scores come from, such as ``COMET-refA``.
    segment_scores, system_scores
        (system, segment key) -> score of an output, and system -> score of the whole system. A
        score that is nan is missing. Where system scores are given they are the metric's system
        scores; else those are the means of the outputs'.
    provenance, files
        The origin of the scores, and the ``name`` and ``sha256`` of each file.

    Raises
    ------
    ValidationError
        The test set has no such system, segment or output, a score is infinite, or there are no
        scores.
    """
    held = resolve(names_of(test_set), segment_scores, system_scores)
    draft = Draft(check_name(name), held, higher_is_better)
    outcomes = store_all(test_set, [draft], provenance=provenance, files=files, user=user)
    return outcomes[0]
