"""Imports on their way: rows that workers take up, so that no page waits for a large folder.

A row is taken by a conditional update, so one worker has it. What is checked is read again when it
is stored, from the same bytes, in one transaction.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from annotation.uploads import InputFile, Report
from annotation.uploads.problems import Place
from metrics import datasets
from metrics.datasets import EvaluationDraft, Stored, mtme
from metrics.models import DatasetImport

logger = logging.getLogger(__name__)
State = DatasetImport.State
# A worker that has been at it for so long is gone.
LOST = timedelta(minutes=20)
EXPIRES = timedelta(hours=2)
SHOWN = 1_000


def begin(
    *,
    user: Any,
    name: str,
    content: bytes = b"",
    dataset: str = "",
    choice: Mapping[str, Any] | None = None,
    is_dry_run: bool = True,
) -> DatasetImport:
    """Let a worker check what was sent, and store it unless it is a dry run."""
    _expire()
    row = DatasetImport.objects.create(
        name=name[:200],
        dataset=dataset,
        content=content,
        choice={**(choice or {}), "store": not is_dry_run},
        created_by=user,
    )
    return _in_place(row)


def confirm(row: DatasetImport) -> bool:
    """Let a worker store what was checked; False where it is not there any more."""
    rows = DatasetImport.objects.filter(pk=row.pk, state=State.CHECKED)
    changed = rows.update(state=State.STORING, taken_at=None)
    if changed:
        row.refresh_from_db()
        _in_place(row)
    return bool(changed)


def _in_place(row: DatasetImport) -> DatasetImport:
    """Work at once where there are no workers, as in tests."""
    if settings.ANALYSES_IN_PLACE:
        work_off()
        row.refresh_from_db()
    return row


def _expire() -> None:
    """Forget what nobody confirmed in time; what it was stays in the list."""
    old = DatasetImport.objects.filter(created_at__lt=timezone.now() - EXPIRES, state=State.CHECKED)
    old.update(state=State.EXPIRED, content=b"")


def work_off() -> None:
    """Take up every row that waits, oldest first."""
    while (row := _take()) is not None:
        _work(row)


def _take() -> DatasetImport | None:
    free = Q(taken_at=None) | Q(taken_at__lt=timezone.now() - LOST)
    waiting = DatasetImport.objects.filter(free, state__in=DatasetImport.WAITING)
    for pk in waiting.order_by("pk").values_list("pk", flat=True)[:5]:
        if waiting.filter(pk=pk).update(taken_at=timezone.now()):
            return DatasetImport.objects.select_related("created_by").get(pk=pk)
    return None


def _work(row: DatasetImport) -> None:
    report = Report()
    try:
        with _drafts(row, report) as drafts:
            if not report.errors:
                for draft in drafts:
                    datasets.examine(draft, report, user=row.created_by)
            # What is wrong may hold names that no database takes.
            found = [] if report.errors else [summary(draft) for draft in drafts]
            is_last = report.errors or row.state == State.STORING or row.choice.get("store")
            if not report.errors and is_last:
                row.stored = {"sets": _store(drafts, row)}
    except ValidationError as error:
        found, is_last = [], True
        for message in error.messages:
            report.error(message)
    except Exception:
        logger.exception("import %s failed", row.pk)
        found, is_last = [], True
        report.error("the import failed for a reason that the log of the worker gives")
    _end(row, report, found, is_last=bool(is_last))


def _end(row: DatasetImport, report: Report, found: list[dict[str, Any]], *, is_last: bool) -> None:
    row.found = {"sets": found, "n_problems": len(report.problems)}
    row.report = [
        [problem.severity, problem.message, list(problem.place)]
        for problem in sorted(report.problems, key=lambda p: p.severity != "error")[:SHOWN]
    ]
    row.state = State.REFUSED if report.errors else State.STORED if is_last else State.CHECKED
    if is_last:
        row.content = b""
    row.taken_at = None
    row.save()


@contextmanager
def _drafts(row: DatasetImport, report: Report) -> Iterator[list[EvaluationDraft]]:
    """Read what was sent; what is wrong goes to the report. Raises ValidationError."""
    if row.dataset:
        name, own = datasets.find(row.dataset)
        found = datasets.pairs(name, Path(settings.DATA_DIR), own)
        yield [draft for pair in found for draft in datasets.read(name, pair)]
        return
    with mtme.unpacked(InputFile.holding(row.name, bytes(row.content))) as folder:
        root = mtme.find_root(folder)
        pairs = mtme.choose_pairs(root, row.choice.get("language_pair", ""))
        yield [mtme.read(root, pair, report, choice_of(row.choice)) for pair in pairs]


def choice_of(values: Mapping[str, Any]) -> mtme.Choice:
    """Return a choice as it is kept in a row."""
    return mtme.Choice(
        human=values.get("human") or (),
        metrics=values.get("metrics"),
        lower=values.get("lower_is_better") or (),
        name=values.get("name") or "",
    )


def _store(drafts: Sequence[EvaluationDraft], row: DatasetImport) -> list[dict[str, Any]]:
    """Store all of it or nothing."""
    with transaction.atomic():
        return [_outcome(datasets.store(draft, user=row.created_by)) for draft in drafts]


def _outcome(stored: Stored) -> dict[str, Any]:
    return {
        "test_set": stored.test_set.slug,
        "name": stored.test_set.name,
        "outputs_added": stored.changes.outputs_added,
        "campaigns": [
            {"slug": each.campaign.slug, "name": each.campaign.name, "is_new": each.is_new}
            for each in stored.campaigns
        ],
        "metrics": len(stored.metrics),
        "metrics_new": sum(outcome.row is not None for outcome in stored.metrics),
    }


def summary(draft: EvaluationDraft) -> dict[str, Any]:
    """Say what a draft consists of, as a page and a program read it."""
    test_set = draft.test_set
    references = {name for segment in test_set.segments for name in segment.references}
    return {
        "test_set": test_set.slug,
        "name": test_set.name,
        "languages": f"{test_set.source_language}–{test_set.target_language}",
        "segments": len(test_set.segments),
        "documents": len({segment.document for segment in test_set.segments} - {""}),
        "references": sorted(references),
        "systems": [system.label for system in test_set.systems],
        "campaigns": [
            {
                "slug": each.slug,
                "name": each.name,
                "protocol": each.protocol,
                "judgments": len(each.judgments),
                "annotators": len({judgment.annotator for judgment in each.judgments}),
                "spans": sum(len(judgment.spans) for judgment in each.judgments),
                "published": len(each.output_scores) + len(each.system_scores),
            }
            for each in draft.campaigns
        ],
        "metrics": [metric.name for metric in draft.metrics],
    }


def problems_of(row: DatasetImport) -> Report:
    """Return the kept problems as they were reported."""
    report = Report()
    for severity, message, place in row.report:
        say = {"error": report.error, "warning": report.warn}.get(severity, report.note)
        say(message, Place(*place))
    return report
