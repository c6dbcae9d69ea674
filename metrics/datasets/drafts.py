"""Hold a published set of one language pair before it is stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from annotation.imports import CampaignDraft
from annotation.uploads import TestSetDraft
from metaeval.messages import Message


@dataclass(frozen=True)
class MetricDraft:
    """Scores of one metric that were computed elsewhere.

    `outputs` maps a system to its scores, one for each of `keys`, the keys of segments; nan where
    there is none. `systems` are the scores of whole systems, where the metric has its own. `note`
    is stored after the provenance.
    """

    name: str
    keys: Sequence[str] = ()
    outputs: Mapping[str, Sequence[float]] = field(default_factory=dict)
    systems: Mapping[str, float] = field(default_factory=dict)
    higher_is_better: bool = True
    note: Message | None = None

    @property
    def segment_scores(self) -> dict[tuple[str, str], float]:
        """(system, segment key) -> score, of the outputs that have one."""
        return {
            (system, key): float(score)
            for system, scores in self.outputs.items()
            for key, score in zip(self.keys, scores, strict=True)
            if score == score
        }


@dataclass(frozen=True)
class EvaluationDraft:
    """A test set with its human scores, a campaign each, and its metrics.

    `provenance` is the origin of the metrics' scores.
    """

    test_set: TestSetDraft
    campaigns: Sequence[CampaignDraft] = ()
    metrics: Sequence[MetricDraft] = ()
    provenance: Message | str = ""
