"""Score a lexical metric with options, or against several references one by one."""

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

from metrics.base import MeanOfSegments, Metric, MetricInfo, Scores, SegmentInput, check_inputs
from metrics.families import references
from metrics.families.lexical import options


class OneByOne(MeanOfSegments):
    """Average over segments; with all references or the first, use the metric's statistics."""

    def __init__(self, info: MetricInfo, *, source_language: str, target_language: str) -> None:
        self.info, self.base = info, str(info.option("metric"))
        self.is_whole = info.option("references") == "all"
        described, path = options.METRICS[self.base]
        own = replace(
            described,
            name=info.name,
            label=info.label,
            statistics=info.statistics,
            options=info.options,
        )
        self.inner: Metric = _class(path)(
            own, source_language=source_language, target_language=target_language
        )

    def signature(self) -> str:
        """Return the signature of the metric, with the references that are used."""
        _, _, rest = self.inner.signature().partition("|nrefs:var|")
        nrefs = "var" if self.is_whole else self.info.references
        return f"{self.info.name}|metric:{self.base}|nrefs:{nrefs}|{rest}"

    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        """Return (n, measures + statistics)."""
        if self.is_whole:
            return self.inner.score(inputs)
        check_inputs(self.info, inputs)
        singles, rows = references.apart(self.info, inputs)
        return references.pool(self.info, len(inputs), rows, self.inner.score(singles))

    def corpus(self, summed: Scores) -> Scores:
        """As the metric itself; :class:`metrics.base.MetricError` without statistics."""
        return self.inner.corpus(summed) if self.info.statistics else super().corpus(summed)


def _class(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)
