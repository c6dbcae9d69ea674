"""Plan and start translations of a test set: one row per target length."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.access import may_change_test_set, of_readable_projects, test_set_refusal
from annotation.models import Reference, Segment, System, TestSet
from annotation.models.corpus import NO_SOURCE
from annotation.uploads import Report, SystemDraft, TestSetDraft, check_draft
from annotation.uploads.drafts import label
from core.text import key
from core.work import claims
from core.work.models import Now
from core.work.sending import send_on_commit
from metaeval.messages import Message, message, truncated
from metrics import catalogue
from metrics.stock import inventory
from metrics.workers import idle
from training.models import TrainingJob, Translation
from training.translation import options as training_options
from training.translation.requests import (
    CONTROL,
    EXACT,
    ORACLE,
    PLAIN,
    REFERENCE,
    SOURCE,
    TRANSLATION,
    Request,
    needs_length,
    no_control,
    no_decoder,
)

AUTO = "auto"
SHOWN = 3
# Errors by field.
Errors = dict[str, list[Message]]


@dataclass(frozen=True)
class Model:
    """A checkpoint, and the training that made it, if it was trained here."""

    name: str
    job: TrainingJob | None = None

    @property
    def has_control(self) -> bool | None:
        """Return True if it was trained with a length control; None if its config is not here."""
        if self.job is not None:
            return bool(self.job.options["control"] != training_options.PLAIN)
        config = _config(self.name)
        if config is None:
            return None
        return bool(config.get("length_control", {}).get("control", PLAIN) != PLAIN)

    def refusal(self) -> Message | None:
        """Say why it cannot translate, as far as its config shows; None if it does not."""
        config = _config(self.name)
        if config is None or config.get("is_encoder_decoder"):
            return None
        written = " ".join(config.get("architectures") or ())
        if any(part in written for part in ("CausalLM", "LMHead", "Conditional", "Marian", "T5")):
            return None
        return no_decoder(self.name)


def _config(name: str) -> dict[str, Any] | None:
    folder = inventory.find(name)
    path = Path(folder) / "config.json" if folder else None
    if path is None or not path.is_file():
        return None
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return read if isinstance(read, dict) else None


def model_of(given: str, user: Any = None) -> Model:
    """Return the model of the training with a number, or the checkpoint of a name or folder.

    ValidationError if there is no such training or it has no model.
    """
    given = given.strip()
    if not given:
        raise _refusal(
            "model",
            message("translation.no-model", "Enter the number of a training, or a checkpoint."),
        )
    if not given.isdecimal():
        return Model(given)
    rows = TrainingJob.objects.filter(pk=key(given), kind=training_options.KIND)
    job = (rows if user is None else of_readable_projects(rows, user)).first()
    if job is None:
        raise _refusal(
            "model",
            message(
                "translation.no-training",
                "There is no training of a translation model with the number {number}.",
                number=given,
            ),
        )
    if "model" not in job.result:
        raise _refusal(
            "model",
            message(
                "translation.no-model-yet",
                "Job {number}, {name}, has no model yet.",
                number=str(job.pk),
                name=job.name,
            ),
        )
    return Model(str(job.result["model"]), job)


def _refusal(field: str, *errors: Message) -> ValidationError:
    return ValidationError({field: ValidationError(list(errors))})


@dataclass(frozen=True)
class Plan:
    """What would be translated: a request for each target length, and warnings."""

    test_set: TestSet
    name: str
    model: Model
    requests: list[Request]
    n_segments: int
    warnings: list[Message]

    @property
    def labels(self) -> list[str]:
        """Return the names of the systems that would be stored."""
        return [label(self.name, request.share) for request in self.requests]


def plan(
    *,
    test_set: TestSet,
    name: str,
    model: str,
    shares: Sequence[Decimal],
    given: Mapping[str, Any],
    user: Any = None,
    queue: str = "",
) -> Plan:
    """Check everything that can be checked without loading the model: the dry run.

    `given` are fields of :class:`Request`; the method may be `auto`. With a queue, warnings say
    what its workers lack. ValidationError has the errors by field.
    """
    chosen, errors = model_of(model, user), Errors()
    if refusal := chosen.refusal():
        errors["model"] = [refusal]
    if user is not None and not may_change_test_set(user, test_set):
        errors["test_set"] = [test_set_refusal(test_set)]
    requests = [_request(test_set, chosen, share, given, errors) for share in dict.fromkeys(shares)]
    if not requests:
        errors["share"] = [message("translation.no-ratio", "Enter at least one length ratio.")]
    _check_texts(test_set, requests, errors)
    _check_names(test_set, name.strip(), requests, errors)
    metric = str(given.get("metric") or "")
    if metric and (metric not in catalogue.infos() or catalogue.get(metric).needs_reference):
        errors["metric"] = [
            message(
                "translation.no-such-metric",
                "There is no metric {metric} that works without references.",
                metric=metric,
            )
        ]
    if errors:
        raise ValidationError(
            {field: ValidationError(list(dict.fromkeys(each))) for field, each in errors.items()}
        )
    warnings = [ORACLE] if any(r.of == REFERENCE and r.asks_for_length for r in requests) else []
    if queue:
        warnings += idle.missing(queue, (chosen.name, str(given.get("language_model") or "")))
    n_segments = test_set.segments.count()
    return Plan(test_set, name.strip(), chosen, requests, n_segments, warnings)


def _request(
    test_set: TestSet,
    model: Model,
    share: Decimal,
    given: Mapping[str, Any],
    errors: Errors,
) -> Request:
    values = {key: value for key, value in given.items() if value not in ("", None)}
    if values.get("method", AUTO) == AUTO:
        values["method"] = _method(model, share, errors)
    request = Request(share=share, **values)
    if not given.get("of"):
        has_references = Reference.objects.filter(segment__test_set=test_set).exists()
        request = Request(**vars(request) | {"of": REFERENCE if has_references else SOURCE})
    for field, error in request.errors().items():
        errors.setdefault(field, []).append(error)
    if model.has_control and request.of == TRANSLATION:
        errors["of"] = [
            message(
                "translation.no-plain-length",
                "A model with a length control needs a target length. Choose the source or the "
                "reference.",
            )
        ]
    if model.has_control is False and request.method == CONTROL:
        errors["method"] = [no_control(model.name)]
    if model.has_control and request.method == PLAIN:
        errors["method"] = [needs_length(model.name)]
    return request


def _method(model: Model, share: Decimal, errors: Errors) -> str:
    if model.has_control is None:
        errors["method"] = [
            message(
                "translation.choose-method",
                "{model} is not on this machine. Choose a method of translation.",
                model=model.name,
            )
        ]
        return EXACT
    if model.has_control:
        return CONTROL
    return PLAIN if share == 1 else EXACT


def _check_texts(test_set: TestSet, requests: Sequence[Request], errors: Errors) -> None:
    rows = Segment.objects.filter(test_set=test_set)
    found = rows.filter(source__regex=r"^\s*$") | rows.filter(source=NO_SOURCE)
    if empty := list(found.values_list("key", flat=True)):
        errors.setdefault("test_set", []).append(
            message(
                "translation.no-sources",
                "This test set cannot be translated. These segments have no source: {segments}.",
                segments=truncated(empty, SHOWN),
            )
        )
    if not rows.exists():
        errors.setdefault("test_set", []).append(
            message("translation.no-segments", "This test set has no segments.")
        )
    needs = any(request.of == REFERENCE and request.asks_for_length for request in requests)
    without = rows.filter(references__isnull=True).values_list("key", flat=True).first()
    if needs and without is not None:
        errors["of"] = [
            message(
                "translation.no-reference",
                "Segment {segment} has no reference, so it has no target length.",
                segment=without,
            )
        ]


def _check_names(test_set: TestSet, name: str, requests: Sequence[Request], errors: Errors) -> None:
    """Run the dry run of uploads with sources as outputs; refuse systems that exist already."""
    own = System.objects.filter(test_set=test_set, name=name)
    stored = set(own.values_list("length_ratio", flat=True))
    found = [
        message(
            "translation.system-exists",
            "The system {system} already exists.",
            system=label(name, share),
        )
        for share in stored
        if any(request.share == share for request in requests)
    ]
    active = Translation.objects.filter(test_set=test_set, name=name, status__in=Translation.ACTIVE)
    running = {row.share for row in active}
    found += [
        message(
            "translation.system-running",
            "The system {system} is already being translated.",
            system=label(name, request.share),
        )
        for request in requests
        if request.share in running
    ]
    texts = dict(test_set.segments.values_list("key", "source")[:SHOWN])
    new = {request.share: texts for request in requests if request.share not in stored}
    report = Report()
    check_draft(draft_of(test_set, name, new), report)
    found += [problem.message for problem in report.errors]
    if found:
        errors.setdefault("system", []).extend(found)


def draft_of(
    test_set: TestSet, name: str, outputs: Mapping[Decimal, Mapping[str, str]]
) -> TestSetDraft:
    """Return systems of a stored test set in the form of an upload."""
    return TestSetDraft(
        slug=test_set.slug,
        name=test_set.name,
        source_language=test_set.source_language,
        target_language=test_set.target_language,
        systems=[SystemDraft(name, share, dict(texts)) for share, texts in outputs.items()],
    )


@transaction.atomic
def start(
    chosen: Plan, *, user: Any = None, queue: str = "gpu", here: bool = False
) -> list[Translation]:
    """Start the translations of a plan; if `here`, the process of the caller runs them."""
    rows = [
        Translation.objects.create(
            test_set=chosen.test_set,
            name=chosen.name,
            model=chosen.model.name,
            job=chosen.model.job,
            request=request.as_json(),
            queue=queue,
            is_here=here,
            created_by=user,
        )
        for request in chosen.requests
    ]
    if not here:
        send_on_commit(rows)
    return rows


def cancel(row: Translation) -> bool:
    """Cancel a translation; its worker stops after the current texts, and what it has stays."""
    rows = Translation.objects.filter(pk=row.pk)
    with transaction.atomic():
        return bool(claims.cancel(rows) and rows.update(finished_at=Now()))


@transaction.atomic
def resume(row: Translation, *, here: bool = False) -> None:
    """Resume a translation that failed or was cancelled; ValidationError for any other."""
    ended = (Translation.Status.FAILED, Translation.Status.CANCELLED)
    rows = Translation.objects.filter(pk=row.pk, status__in=ended)
    resumed = rows.update(is_here=here, finished_at=None)
    row.refresh_from_db()
    if not resumed:
        raise ValidationError([_not_resumed(row)])
    claims.ask([row])


def _not_resumed(row: Translation) -> Message:
    if row.status == Translation.Status.DONE:
        return message("translation.done", "{system} is already done.", system=row.label)
    return message(
        "translation.running", "{system} is already queued or running.", system=row.label
    )
