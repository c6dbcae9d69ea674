"""Ask for translations of a test set: checked before any row exists, one row a wanted length."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.access import may_change_test_set, test_set_refusal
from annotation.models import Reference, Segment, System, TestSet
from annotation.models.corpus import NO_SOURCE
from annotation.uploads import Report, SystemDraft, TestSetDraft, check_draft
from annotation.uploads.drafts import label
from core.text import key
from core.work import claims
from core.work.models import Now
from core.work.sending import send_on_commit
from metrics import catalogue
from metrics.stock import inventory
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
)

AUTO = "auto"
SHOWN = 3


@dataclass(frozen=True)
class Model:
    """A checkpoint, and the training that it came from, where it is one of ours."""

    name: str
    job: TrainingJob | None = None

    @property
    def is_told(self) -> bool | None:
        """Whether it was trained to be told a length; None where its configuration is not here."""
        if self.job is not None:
            return bool(self.job.options["control"] != training_options.PLAIN)
        config = _config(self.name)
        if config is None:
            return None
        return bool(config.get("length_control", {}).get("control", PLAIN) != PLAIN)

    def refusal(self) -> str:
        """Say why it cannot translate, where that is seen without loading it; else nothing."""
        config = _config(self.name)
        if config is None or config.get("is_encoder_decoder"):
            return ""
        written = " ".join(config.get("architectures") or ())
        if any(part in written for part in ("CausalLM", "LMHead", "Conditional", "Marian", "T5")):
            return ""
        return f"{self.name} has no decoder: it cannot translate."


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


def model_of(given: str) -> Model:
    """Return the model of a training's number, or the checkpoint of a name or directory.

    ValidationError where the training has none.
    """
    given = given.strip()
    if not given:
        raise ValidationError({"model": "Give the number of a training, or a checkpoint."})
    if not given.isdecimal():
        return Model(given)
    job = TrainingJob.objects.filter(pk=key(given), kind=training_options.KIND).first()
    if job is None:
        raise ValidationError({"model": f"There is no training of a translation model {given}."})
    if "model" not in job.result:
        raise ValidationError({"model": f"Job {job.pk}, {job.name}, has no model yet."})
    return Model(str(job.result["model"]), job)


@dataclass(frozen=True)
class Plan:
    """What would be done: a request for each wanted length, and what a reader should know."""

    test_set: TestSet
    name: str
    model: Model
    requests: list[Request]
    n_segments: int
    warnings: list[str]

    @property
    def labels(self) -> list[str]:
        """The systems that would come of it."""
        return [label(self.name, request.share) for request in self.requests]


def plan(
    *,
    test_set: TestSet,
    name: str,
    model: str,
    shares: Sequence[Decimal],
    given: Mapping[str, Any],
    user: Any = None,
) -> Plan:
    """Check everything that can be checked without loading the model: the dry run.

    `given` are fields of :class:`Request`; the method may be `auto`. ValidationError names fields.
    """
    chosen, wrong = model_of(model), dict[str, list[str]]()
    if refusal := chosen.refusal():
        wrong["model"] = [refusal]
    if user is not None and not may_change_test_set(user, test_set):
        wrong["test_set"] = [test_set_refusal(test_set)]
    requests = [_request(test_set, chosen, share, given, wrong) for share in dict.fromkeys(shares)]
    if not requests:
        wrong["share"] = ["Give at least one length ratio."]
    _check_texts(test_set, requests, wrong)
    _check_names(test_set, name.strip(), requests, wrong)
    metric = str(given.get("metric") or "")
    if metric and (metric not in catalogue.infos() or catalogue.get(metric).needs_reference):
        wrong["metric"] = [f"There is no metric {metric} here that needs no reference."]
    if wrong:
        raise ValidationError({field: list(dict.fromkeys(each)) for field, each in wrong.items()})
    warnings = [ORACLE] if any(r.of == REFERENCE and r.asks_for_length for r in requests) else []
    n_segments = test_set.segments.count()
    return Plan(test_set, name.strip(), chosen, requests, n_segments, warnings)


def _request(
    test_set: TestSet,
    model: Model,
    share: Decimal,
    given: Mapping[str, Any],
    wrong: dict[str, list[str]],
) -> Request:
    values = {key: value for key, value in given.items() if value not in ("", None)}
    if values.get("method", AUTO) == AUTO:
        values["method"] = _method(model, share, wrong)
    request = Request(share=share, **values)
    if not given.get("of"):
        has_references = Reference.objects.filter(segment__test_set=test_set).exists()
        request = Request(**vars(request) | {"of": REFERENCE if has_references else SOURCE})
    for field, message in request.wrong().items():
        wrong.setdefault(field, []).append(message[:1].upper() + message[1:])
    if model.is_told and request.of == TRANSLATION:
        wrong["of"] = [
            "A model that is told lengths gives no plain translation to take a share of."
        ]
    if model.is_told is False and request.method == CONTROL:
        wrong["method"] = [f"{model.name} was not trained to be told a length."]
    if model.is_told and request.method == PLAIN:
        wrong["method"] = [f"{model.name} was trained to be told a length: ask for one."]
    return request


def _method(model: Model, share: Decimal, wrong: dict[str, list[str]]) -> str:
    if model.is_told is None:
        wrong["method"] = [
            f"{model.name} is not on this machine: say by which method to translate."
        ]
        return EXACT
    if model.is_told:
        return CONTROL
    return PLAIN if share == 1 else EXACT


def _check_texts(
    test_set: TestSet, requests: Sequence[Request], wrong: dict[str, list[str]]
) -> None:
    rows = Segment.objects.filter(test_set=test_set)
    found = rows.filter(source__regex=r"^\s*$") | rows.filter(source=NO_SOURCE)
    if empty := list(found.values_list("key", flat=True)[: SHOWN + 1]):
        more = " and others" if len(empty) > SHOWN else ""
        wrong.setdefault("test_set", []).append(
            f"Nothing can be translated: no source in segment {', '.join(empty[:SHOWN])}{more}."
        )
    if not rows.exists():
        wrong.setdefault("test_set", []).append("This test set has no segments.")
    needs = any(request.of == REFERENCE and request.asks_for_length for request in requests)
    without = rows.filter(references__isnull=True).values_list("key", flat=True).first()
    if needs and without is not None:
        wrong["of"] = [f"Segment {without} has no reference to take a share of."]


def _check_names(
    test_set: TestSet, name: str, requests: Sequence[Request], wrong: dict[str, list[str]]
) -> None:
    """The upload's own dry run, with sources for outputs; and that none is there or on its way."""
    own = System.objects.filter(test_set=test_set, name=name)
    stored = set(own.values_list("length_ratio", flat=True))
    told = [f"The system {label(name, share)} is stored already." for share in stored
            if any(request.share == share for request in requests)]  # fmt: skip
    active = Translation.objects.filter(test_set=test_set, name=name, status__in=Translation.ACTIVE)
    under_way = {row.share for row in active}
    told += [f"{label(name, request.share)} is being translated." for request in requests
             if request.share in under_way]  # fmt: skip
    texts = dict(test_set.segments.values_list("key", "source")[:SHOWN])
    new = {request.share: texts for request in requests if request.share not in stored}
    report = Report()
    check_draft(draft_of(test_set, name, new), report)
    told += [str(problem) for problem in report.errors]
    if told:
        wrong.setdefault("system", []).extend(told)


def draft_of(
    test_set: TestSet, name: str, outputs: Mapping[Decimal, Mapping[str, str]]
) -> TestSetDraft:
    """Return systems of a stored test set as an upload has them."""
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
    """Ask for what a plan says; with `here` the caller's own process does it."""
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
    """Cancel a translation; its worker stops after the texts in hand. What it has is kept."""
    rows = Translation.objects.filter(pk=row.pk)
    with transaction.atomic():
        return bool(claims.cancel(rows) and rows.update(finished_at=Now()))


@transaction.atomic
def resume(row: Translation, *, here: bool = False) -> None:
    """Have a translation go on that failed or was cancelled; ValidationError for any other."""
    ended = (Translation.Status.FAILED, Translation.Status.CANCELLED)
    rows = Translation.objects.filter(pk=row.pk, status__in=ended)
    goes_on = rows.update(is_here=here, finished_at=None)
    row.refresh_from_db()
    if not goes_on:
        state = "is done" if row.status == Translation.Status.DONE else "goes on already"
        raise ValidationError(f"{row.label} {state}.")
    claims.ask([row])
