"""Import data sets in background jobs (`core.work`), so that no page waits for a large folder.

What was checked is read again from the same bytes when it is stored, in one transaction.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.imports.background import FAILED, listed
from annotation.uploads import InputFile, Report
from annotation.uploads.problems import Problem
from core.messages import messages_of
from core.work.claims import ask, fail, finish
from core.work.kinds import Lease, WorkKind
from core.work.sending import send_on_commit
from metaeval.messages import Message
from metrics import datasets
from metrics.datasets import EvaluationDraft, Stored, mtme
from metrics.models import DatasetImport

State = DatasetImport.State
QUEUE = "slow"
EXPIRES = timedelta(hours=2)


class Imports(WorkKind[DatasetImport]):
    """Check uploads, and store them if requested, all or nothing."""

    name = "import"
    model = DatasetImport
    soft_seconds, hard_seconds = 1200.0, 1260.0

    def fit(self, rows: QuerySet[DatasetImport]) -> QuerySet[DatasetImport]:
        """Process imports one after the other; a worker's other children are for slow documents."""
        running = DatasetImport.objects.filter(status=DatasetImport.Status.RUNNING)
        return rows.none() if running.exists() else rows

    def do(self, row: DatasetImport, lease: Lease) -> None:
        """Read an upload; problems are reported and end the import."""
        report = Report()
        try:
            with _drafts(row, report) as drafts:
                if not report.errors:
                    for draft in drafts:
                        datasets.examine(draft, report, user=row.created_by)
                if report.errors:
                    # What is wrong may hold names that no database takes.
                    _end(row, State.REFUSED, report)
                else:
                    _store_or_show(row, drafts, report)
        except ValidationError as error:
            for refusal in messages_of(error):
                report.error(refusal)
            _end(row, State.REFUSED, report)

    def failed(self, row: DatasetImport, error: Exception) -> None:
        """Report the failure; a second try would fail too."""
        fail(row, FAILED)

    def ended(self, row: DatasetImport) -> None:
        """Report the error, and delete the upload."""
        rows = DatasetImport.objects.filter(pk=row.pk)
        problem = Problem("error", row.message if isinstance(row.message, Message) else FAILED)
        rows.update(state=State.REFUSED, report=[problem.to_json()], content=b"")


imports = Imports()


def begin(
    *,
    user: Any,
    name: str,
    content: bytes = b"",
    dataset: str = "",
    choice: Mapping[str, Any] | None = None,
    is_dry_run: bool = True,
) -> DatasetImport:
    """Let a worker check an upload, and store it unless it is a dry run."""
    _expire()
    row = DatasetImport.objects.create(
        name=name[:200],
        dataset=dataset,
        content=content,
        choice={**(choice or {}), "store": not is_dry_run},
        created_by=user,
        queue=QUEUE,
    )
    send_on_commit([row])
    return row


def confirm(row: DatasetImport) -> bool:
    """Let a worker store what was checked; return False if it no longer exists."""
    with transaction.atomic():
        rows = DatasetImport.objects.filter(pk=row.pk, state=State.CHECKED)
        return bool(rows.update(state=State.STORING) and ask([row]))


def _expire() -> None:
    """Delete the content of imports that were not confirmed in time; their rows remain."""
    old = DatasetImport.objects.filter(created_at__lt=timezone.now() - EXPIRES, state=State.CHECKED)
    old.update(state=State.EXPIRED, content=b"")


def _store_or_show(row: DatasetImport, drafts: Sequence[EvaluationDraft], report: Report) -> None:
    found = [summary(draft) for draft in drafts]
    if row.state != State.STORING and not row.choice.get("store"):
        _end(row, State.CHECKED, report, found)
        return
    with transaction.atomic():
        stored = [_outcome(datasets.store(draft, user=row.created_by)) for draft in drafts]
        if not _end(row, State.STORED, report, found, stored={"sets": stored}):
            transaction.set_rollback(True)


def _end(
    row: DatasetImport,
    state: State,
    report: Report,
    found: Sequence[dict[str, Any]] = (),
    **fields: Any,
) -> bool:
    """End this part of the work; return whether the row was still ours."""
    if state != State.CHECKED:
        fields["content"] = b""
    return finish(
        row,
        state=state,
        found={"sets": list(found), "n_problems": len(report.problems)},
        report=listed(report),
        **fields,
    )


@contextmanager
def _drafts(row: DatasetImport, report: Report) -> Iterator[list[EvaluationDraft]]:
    """Read an upload; problems go to the report. Raises ValidationError."""
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
    """Return the choice that a row stores."""
    return mtme.Choice(
        human=values.get("human") or (),
        metrics=values.get("metrics"),
        lower=values.get("lower_is_better") or (),
        higher=values.get("higher_is_better") or (),
        **{name: values.get(name) or "" for name in ("name", "study", "question")},
    )


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
    """Return the content of a draft, for pages and programs."""
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
