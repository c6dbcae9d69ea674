"""Judgments read row by row, and statistics from them with numpy and scipy alone."""

from collections import defaultdict
from collections.abc import Callable

import numpy as np
from sacrebleu.metrics import CHRF

from annotation.models import Campaign, Judgment, Output

Keep = Callable[[Judgment], bool]


def judged(campaign: Campaign, keep: Keep = lambda row: True) -> list[Judgment]:
    """All current judgments, each annotator's in their own order."""
    rows = Judgment.objects.filter(is_current=True, assignment__annotator__campaign=campaign)
    rows = rows.select_related("assignment__item__segment", "assignment__annotator")
    ordered = rows.order_by("assignment__annotator", "assignment__position")
    return [row for row in ordered if keep(row)]


def outputs_only(row: Judgment) -> bool:
    return row.assignment.item.kind == "target"


def system(row: Judgment) -> str:
    """The system of an item, or of the item that a control is compared with."""
    item = row.assignment.item
    found = [each and each.output for each in (item, item.partner)]
    return next((output.system.name for output in found if output), "")


def label(row: Judgment) -> str:
    return row.assignment.annotator.label


def z_by_output(rows: list[Judgment]) -> dict[int, float]:
    """Mean z of every output: z from each annotator's ratings of outputs, n - 1."""
    own = defaultdict(list)
    for row in rows:
        if outputs_only(row):
            own[label(row)].append(row)
    z = defaultdict(list)
    for given in own.values():
        scores = np.array([row.score for row in given], dtype=float)
        for row, score in zip(given, scores, strict=True):
            z[row.assignment.item.output_id].append((score - scores.mean()) / scores.std(ddof=1))
    return {output: float(np.mean(values)) for output, values in z.items()}


def chrf(campaign: Campaign) -> dict[int, float]:
    """Sentence chrF of every output by sacrebleu itself."""
    scorer = CHRF()
    rows = Output.objects.filter(system__campaigns=campaign).select_related("segment")
    return {
        row.pk: scorer.sentence_score(
            row.text, [each.text for each in row.segment.references.all()]
        ).score
        for row in rows.prefetch_related("segment__references")
    }
