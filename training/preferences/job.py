"""A preference analysis as a job: what is stored of a metric under a condition is whole.

d(a, b; x) = m(x, a) − m(x, b) for an altered text a and the first reference b (Zhao et al. 2020).
Words are what blanks part; in languages without blanks characters, with Latin words and numbers
whole. A dictionary is searched for the longest word. A segment is left out where a rule gives
nothing: fewer than four words for ``shuffle``, three for ``repeat``, two for the others.

A worker that takes it up again goes on with what is not stored yet.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from django.db import transaction

from annotation.models import TestSet
from metrics.base import MetricError
from training.contract import JobError, Outcome, Work
from training.models import PreferenceFile, PreferenceResult
from training.perturbations.files import GivenFile
from training.perturbations.rules import EDITION
from training.preferences import altering
from training.preferences.altering import Altered
from training.preferences.judging import Judge, Row
from training.preferences.options import listed
from training.preferences.starting import files_of
from training.remap import alignment
from training.remap.words import split

# Pairs of parallel text that help to align, as many as projections are fitted to.
MOST_HELPERS = 10_000
STORED = ("n", "statistic", "mean", "median", "ties")


def run(work: Work) -> Outcome:
    """Ask every metric about every condition; raises JobError where none can answer."""
    test_set = TestSet.objects.filter(slug=work.options["test_set"]).first()
    if test_set is None:
        raise JobError(f"There is no test set {work.options['test_set']}.")
    files = files_of(work.pk)
    altered = [alter(work, test_set, name, files) for name in _conditions(work)]
    analysis = _Analysis(work, test_set, altered)
    for metric in listed(str(work.options["metrics"])):
        analysis.ask(metric)
    if not PreferenceResult.objects.filter(job=work.pk).exists():
        raise JobError(" ".join(analysis.refused) or "There was nothing to ask.")
    return Outcome(_report(work, altered, analysis.refused))


def _conditions(work: Work) -> list[str]:
    names = listed(str(work.options["conditions"]))
    for name in names:
        if name not in altering.CONDITIONS:
            known = ", ".join(altering.CONDITIONS)
            raise JobError(f"There is no condition {name}. Known: {known}.")
    return names


def alter(work: Work, test_set: TestSet, condition: str, files: dict[str, GivenFile]) -> Altered:
    """Return the altered texts; JobError where there are none, or a file is missing."""
    work.report({"stage": f"altering texts: {altering.LABELS[condition].lower()}"})

    def align(pairs: Sequence[tuple[list[str], list[str]]]) -> list[alignment.Links]:
        return alignment.align([*pairs, *_helpers(work)])[: len(pairs)]

    file, seed = files.get(condition), int(work.options["seed"])
    try:
        return altering.alter(test_set, condition, file=file, seed=seed, align=align)
    except ValueError as error:
        raise JobError(str(error)) from error


def _helpers(work: Work) -> Iterator[tuple[list[str], list[str]]]:
    pairs = (pair for corpus in work.corpora for pair in corpus.pairs[:MOST_HELPERS])
    return ((split(source), split(target)) for source, target in pairs)


@dataclass
class _Analysis:
    """What is asked of a test set, and how far it is; ``refused`` says which metrics could not."""

    work: Work
    test_set: TestSet
    altered: Sequence[Altered]
    refused: list[str] = field(default_factory=list)
    n_scored: int = 0

    def ask(self, metric: str) -> None:
        """Ask a metric what is not stored yet; where it cannot answer, note why and go on."""
        rows = PreferenceResult.objects.filter(job=self.work.pk, metric=metric)
        stored = set(rows.values_list("condition", flat=True))
        wanted = [each for each in self.altered if each.condition not in stored]
        self.n_scored += sum(_size(each) for each in self.altered if each.condition in stored)
        try:
            self._ask(metric, wanted)
        except MetricError as error:
            self.refused.append(f"{metric}: {error.message}")

    def _ask(self, metric: str, wanted: Sequence[Altered]) -> None:
        if not wanted:
            return
        self._tell(f"loading {metric}")
        judge = Judge(metric, self.test_set)
        for each in wanted:
            stage = f"{judge.info.label}, {altering.LABELS[each.condition].lower()}"
            rows = judge.compare(each, partial(self._tell, stage))
            self.n_scored += _size(each)
            with transaction.atomic():
                self._tell(stage)  # who has lost the job stores nothing
                PreferenceResult.objects.bulk_create(self._stored(judge, each, rows))

    def _tell(self, stage: str, n_more: int = 0, n_of: int = 0) -> None:
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


def _report(work: Work, altered: Sequence[Altered], refused: Sequence[str]) -> dict[str, Any]:
    """What the job's page shows; the numbers themselves are rows."""
    names = dict(PreferenceFile.objects.filter(job=work.pk).values_list("condition", "name"))
    digests = dict(PreferenceFile.objects.filter(job=work.pk).values_list("condition", "sha256"))
    conditions = [
        {
            "condition": each.condition,
            "segments": len(each.keys),
            "left_out": each.n_left_out,
            "coverage": each.coverage,
            "file": names.get(each.condition, ""),
            "sha256": digests.get(each.condition, ""),
            "original": each.originals[0],
            "altered": each.texts[0],
        }
        for each in altered
    ]
    remarks = [*dict.fromkeys(each.problem for each in altered if each.problem), *refused]
    return {"conditions": conditions} | ({"remarks": remarks} if remarks else {})
