"""What a metric makes of altered texts: d of every segment, each distinct text scored once."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from django.db.models import Count

from annotation.models import Segment, TestSet
from metaeval.messages import Message, message
from metaeval.results import TooFewWarning
from metaeval.systems import Preference, preference
from metrics import catalogue
from metrics.base import Metric, MetricError, SegmentInput
from metrics.contents import references_of
from training.preferences.altering import Altered

# A slice takes about a second, so that a job can be cancelled and says how far it is.
FIRST_SLICE, LARGEST_SLICE, SLICE_SECONDS = 16, 4096, 1.0
Report = Callable[[int, int], None]


@dataclass(frozen=True)
class Row:
    """One measure of a metric under one condition.

    ``differences`` are d of all segments of the test set in order, nan if undefined.
    """

    condition: str
    measure: str
    label: str
    differences: Any
    result: Preference


def refusals(test_set: TestSet) -> dict[str, Message]:
    """Return, by metric name, why a metric cannot be used on a test set.

    The first reference is altered, so a metric that needs references needs a second one.
    """
    counted = Segment.objects.filter(test_set=test_set).annotate(n=Count("references"))
    if counted.filter(n__gt=1).exists():
        return {}
    return {
        info.name: _refusal(info.label)
        for info in catalogue.infos().values()
        if info.needs_reference
    }


def _refusal(label: str) -> Message:
    return message(
        "preferences.one-reference",
        "{metric} needs references. The first reference is altered, and no segment has a second "
        "one.",
        metric=label,
    )


class Judge:
    """One metric, loaded once, for any number of conditions."""

    def __init__(self, metric: str, test_set: TestSet) -> None:
        self.info = catalogue.get(metric)
        self._metric: Metric = catalogue.load(
            metric,
            source_language=test_set.source_language,
            target_language=test_set.target_language,
            references=partial(references_of, test_set),
        )
        self._documents = dict(test_set.segments.values_list("key", "document"))
        self._known: dict[SegmentInput, Any] = {}
        self._size = FIRST_SLICE

    def signature(self) -> str:
        """Return the signature of the metric."""
        return self._metric.signature()

    def compare(self, altered: Altered, report: Report = lambda done, total: None) -> list[Row]:
        """Score both texts of each segment; ``report`` gets the number of scored texts, and of all.

        Texts with a ``warning`` are not scored: results are undefined and have the warning.
        Raises :class:`MetricError`, which is permanent if no segment can be compared.
        """
        if altered.warning:
            nothing = np.full((len(altered.keys), len(self.info.measures)), np.nan)
            return self._rows(altered, range(len(altered.keys)), nothing, nothing)
        places = [n for n, others in enumerate(altered.others) if others or self._is_free]
        if not places:
            raise MetricError(_refusal(self.info.label), permanent=True)
        pairs = [
            (self._input(altered, n, altered.texts[n]), self._input(altered, n, original))
            for n, original in ((n, altered.originals[n]) for n in places)
        ]
        self._score(altered, places, pairs, report)
        left, right = (
            np.array([self._known[each] for each in side]) for side in zip(*pairs, strict=True)
        )
        return self._rows(altered, places, left, right)

    @property
    def _is_free(self) -> bool:
        return not self.info.needs_reference

    def _input(self, altered: Altered, place: int, text: str) -> SegmentInput:
        others = () if self._is_free else altered.others[place]
        return SegmentInput(altered.sources[place], text, others)

    def _score(
        self,
        altered: Altered,
        places: Sequence[int],
        pairs: Sequence[tuple[SegmentInput, SegmentInput]],
        report: Report,
    ) -> None:
        keys = {
            each: altered.keys[place]
            for place, pair in zip(places, pairs, strict=True)
            for each in pair
        }
        missing = [each for each in keys if each not in self._known]
        report(len(keys) - len(missing), len(keys))
        while missing:
            part, missing = missing[: self._size], missing[self._size :]
            began = time.monotonic()
            self._known |= zip(part, self._score_part(part, keys), strict=True)
            if time.monotonic() - began < SLICE_SECONDS:
                self._size = min(2 * self._size, LARGEST_SLICE)
            report(len(keys) - len(missing), len(keys))

    def _score_part(self, part: Sequence[SegmentInput], keys: dict[SegmentInput, str]) -> Any:
        try:
            return self._metric.score(part)
        except MetricError as error:
            if error.index is None:
                raise
            failed = message(
                "preferences.segment-failed",
                "Segment {segment}: {error}",
                segment=keys[part[error.index]],
                error=error.message,
            )
            raise MetricError(failed, permanent=error.permanent) from error

    def _rows(self, altered: Altered, places: Sequence[int], left: Any, right: Any) -> list[Row]:
        positions = [altered.positions[n] for n in places]
        documents = [self._documents.get(altered.keys[n], "") for n in places]
        sign = 1 if self.info.higher_is_better else -1
        rows = []
        for measure in self.info.table_measures:
            column = self.info.measures.index(measure)
            sides = sign * left[:, column], sign * right[:, column]
            result = preference(*sides, documents=documents)
            if altered.warning:
                result = replace(result, warnings=(TooFewWarning(altered.warning),))
            everywhere = np.full(altered.n_segments, np.nan)
            everywhere[positions] = sign * (left[:, column] - right[:, column])
            label = self.info.measure_labels[column]
            rows.append(Row(altered.condition, measure, label, everywhere, result))
        return rows
