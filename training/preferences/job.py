"""Run a preference analysis as a job; results of a metric and condition are stored together.

d(a, b; x) = m(x, a) − m(x, b) for an altered text a and the first reference b (Zhao et al. 2020).
Words are separated by spaces; in languages without spaces, words are characters, and Latin words
and numbers. A dictionary is searched for the longest word. A segment is excluded if a rule changes
nothing: fewer than four words for ``shuffle``, three for ``repeat``, two for the others.

A worker that resumes an analysis computes only what is not stored yet.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from django.db import transaction

from annotation.models import TestSet
from metaeval.messages import Message, message
from metrics.base import MetricError
from training.contract import JobError, Outcome, Work
from training.models import PreferenceFile, PreferenceResult
from training.perturbations.files import GivenFile, LineError
from training.perturbations.rules import EDITION
from training.preferences import altering
from training.preferences.altering import Altered
from training.preferences.judging import Judge, Row
from training.preferences.options import listed
from training.preferences.starting import files_of
from training.remap import alignment
from training.remap.alignment import split_words

# Pairs of parallel text that help to align words, as many as projections use.
MOST_HELPERS = 10_000
STORED = ("n", "statistic", "mean", "median", "ties")


def run(work: Work) -> Outcome:
    """Compute every metric under every condition; raises JobError if none can be computed."""
    test_set = TestSet.objects.filter(slug=work.options["test_set"]).first()
    if test_set is None:
        raise JobError(
            message(
                "preferences.no-test-set",
                "There is no test set {test_set}.",
                test_set=str(work.options["test_set"]),
            )
        )
    files = files_of(work.pk)
    altered = [alter(work, test_set, name, files) for name in _conditions(work)]
    analysis = _Analysis(work, test_set, altered)
    for metric in listed(str(work.options["metrics"])):
        analysis.compute(metric)
    if not PreferenceResult.objects.filter(job=work.pk).exists():
        nothing = message("preferences.nothing", "There was nothing to compute.")
        raise JobError(*analysis.failures or [nothing])
    return Outcome(_report(work, altered, analysis.failures))


def _conditions(work: Work) -> list[str]:
    names = listed(str(work.options["conditions"]))
    for name in names:
        if name not in altering.CONDITIONS:
            raise JobError(altering.unknown_condition(name))
    return names


def alter(work: Work, test_set: TestSet, condition: str, files: dict[str, GivenFile]) -> Altered:
    """Return the altered texts; JobError if there are none, or a file is missing."""
    stage = message(
        "stage.altering", "altering texts: {condition}", condition=altering.LABELS[condition]
    )
    work.report({"stage": stage})

    def align(pairs: Sequence[tuple[list[str], list[str]]]) -> list[alignment.Links]:
        return alignment.align([*pairs, *_helpers(work)])[: len(pairs)]

    file, seed = files.get(condition), int(work.options["seed"])
    try:
        return altering.alter(test_set, condition, file=file, seed=seed, align=align)
    except LineError as error:
        raise JobError(error.message) from error


def _helpers(work: Work) -> Iterator[tuple[list[str], list[str]]]:
    pairs = (pair for corpus in work.corpora for pair in corpus.pairs[:MOST_HELPERS])
    return ((split_words(source), split_words(target)) for source, target in pairs)


@dataclass
class _Analysis:
    """The state of an analysis; ``failures`` say which metrics could not be computed."""

    work: Work
    test_set: TestSet
    altered: Sequence[Altered]
    failures: list[Message] = field(default_factory=list)
    n_scored: int = 0

    def compute(self, metric: str) -> None:
        """Compute what is not stored yet of a metric; record why it fails, if it does."""
        rows = PreferenceResult.objects.filter(job=self.work.pk, metric=metric)
        stored = set(rows.values_list("condition", flat=True))
        wanted = [each for each in self.altered if each.condition not in stored]
        self.n_scored += sum(_size(each) for each in self.altered if each.condition in stored)
        try:
            self._compute(metric, wanted)
        except MetricError as error:
            self.failures.append(
                message(
                    "preferences.metric-failed",
                    "{metric}: {error}",
                    metric=metric,
                    error=error.message,
                )
            )

    def _compute(self, metric: str, wanted: Sequence[Altered]) -> None:
        if not wanted:
            return
        self._report(message("stage.metric", "loading {metric}", metric=metric))
        judge = Judge(metric, self.test_set)
        for each in wanted:
            stage = message(
                "stage.comparing",
                "{metric}: {condition}",
                metric=judge.info.label,
                condition=altering.LABELS[each.condition],
            )
            rows = judge.compare(each, partial(self._report, stage))
            self.n_scored += _size(each)
            with transaction.atomic():
                self._report(stage)  # a worker that lost the job stores nothing
                PreferenceResult.objects.bulk_create(self._stored(judge, each, rows))

    def _report(self, stage: Message, n_more: int = 0, n_of: int = 0) -> None:
        n_metrics = len(listed(str(self.work.options["metrics"])))
        total = n_metrics * sum(map(_size, self.altered))
        step = min(total, self.n_scored + n_more)
        self.work.report({"stage": stage, "step": step, "total": total})

    def _stored(
        self, judge: Judge, altered: Altered, rows: Iterable[Row]
    ) -> Iterator[PreferenceResult]:
        signature = judge.signature()
        for row in rows:
            values = {name: _finite(getattr(row.result, name)) for name in STORED}
            interval = row.result.interval
            yield PreferenceResult(
                job_id=self.work.pk,
                test_set=self.test_set,
                metric=judge.info.name,
                condition=altered.condition,
                measure=row.measure,
                label=row.label,
                rules=EDITION,
                coverage=altered.coverage,
                signature=signature,
                low=interval.low if interval else None,
                high=interval.high if interval else None,
                differences=np.asarray(row.differences, dtype="<f8").tobytes(),
                **values,
            )


def _size(altered: Altered) -> int:
    return 2 * len(altered.keys)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _report(work: Work, altered: Sequence[Altered], failures: Sequence[Message]) -> dict[str, Any]:
    """Return what the page of the job shows; the numbers are rows."""
    names = dict(PreferenceFile.objects.filter(job=work.pk).values_list("condition", "name"))
    digests = dict(PreferenceFile.objects.filter(job=work.pk).values_list("condition", "sha256"))
    conditions = [
        {
            "condition": each.condition,
            "segments": len(each.keys),
            "left_out": each.n_excluded,
            "coverage": each.coverage,
            "file": names.get(each.condition, ""),
            "sha256": digests.get(each.condition, ""),
            "original": each.originals[0],
            "altered": each.texts[0],
        }
        for each in altered
    ]
    warnings = [*dict.fromkeys(each.warning for each in altered if each.warning), *failures]
    return {"conditions": conditions} | ({"warnings": warnings} if warnings else {})
