"""Translate a test set: target lengths, texts in small parts, and the system at the end."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np
from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.models import Segment, System
from annotation.uploads import Report, check_draft, store
from core.messages import messages_of
from core.work.claims import finish, hold
from core.work.kinds import Lease
from core.work.models import Now
from metaeval.messages import message
from metaeval.results import plain
from metaeval.systems import length_deviation
from metrics import catalogue
from metrics.base import SegmentInput
from training.contract import JobError, StoppedError
from training.models import TranslatedText, Translation
from training.translation import lengths
from training.translation.decoding import checkpoints
from training.translation.decoding.checkpoints import Checkpoint
from training.translation.decoding.methods import Output, Rank, decode, refusals
from training.translation.extraction import Extractor
from training.translation.requests import (
    EXTRACT,
    ORACLE,
    PLAIN,
    REFERENCE,
    SOURCE,
    Request,
    from_json,
)
from training.translation.systems.starting import draft_of

# Segments whose translations are stored at once; few are lost if a worker dies.
PART = 64


@dataclass(frozen=True)
class Text:
    """A segment to translate; `references` are in the order of their names."""

    pk: int
    key: str
    source: str
    references: tuple[str, ...]


ReportProgress = Callable[[dict[str, Any]], None]
Translator = Callable[[Sequence[Text], Sequence[int | None]], list[Output]]


def translate(row: Translation, lease: Lease) -> None:
    """Translate the remaining texts, then store the system.

    Raises JobError, and StoppedError if the row is cancelled or the worker has to stop.
    """
    request, test_set = from_json(row.request), row.test_set
    report = partial(_report, row, lease)
    report({"stage": message("stage.loading", "loading the model")})
    languages = test_set.source_language, test_set.target_language
    checkpoint = checkpoints.load(row.model, *languages)
    texts = _texts(row)
    wanted = dict(
        zip([t.pk for t in texts], _wanted(checkpoint, texts, request, report), strict=True)
    )
    if errors := refusals(checkpoint, request, list(wanted.values())):
        raise JobError(*errors)
    translator = _translator(checkpoint, texts, request, languages, report)
    stage = message("stage.translating", "translating")
    done = set(row.texts.values_list("segment_id", flat=True))
    left = [text for text in texts if text.pk not in done]
    for start in range(0, len(left), PART):
        part = left[start : start + PART]
        report({"step": len(done) + start, "total": len(texts), "stage": stage})
        outputs = translator(part, [wanted[text.pk] for text in part])
        _keep(row, part, [wanted[text.pk] for text in part], outputs)
    storing = message("stage.storing", "storing the system")
    report({"step": len(texts), "total": len(texts), "stage": storing})
    _store(row, texts, checkpoint, request)


def _report(row: Translation, lease: Lease, progress: dict[str, Any]) -> None:
    lease.progress()
    if lease.should_stop or not hold(row, progress=plain(progress)):
        raise StoppedError


def _texts(row: Translation) -> list[Text]:
    rows = Segment.objects.filter(test_set=row.test_set).prefetch_related("references")
    return [
        Text(each.pk, each.key, each.source,
             tuple(r.text for r in sorted(each.references.all(), key=lambda r: r.name)))
        for each in rows.order_by("position")
    ]  # fmt: skip


def _wanted(
    checkpoint: Checkpoint,
    texts: Sequence[Text],
    request: Request,
    report: ReportProgress,
) -> list[int | None]:
    """Return the target length of each text, None for plain translations."""
    if request.method == PLAIN:
        return [None] * len(texts)
    full = _full_lengths(checkpoint, texts, request, report)
    return [lengths.wanted(float(request.share), length) for length in full]


def _full_lengths(
    checkpoint: Checkpoint,
    texts: Sequence[Text],
    request: Request,
    report: ReportProgress,
) -> list[float]:
    """Return the lengths that ratios refer to; the mean of several references."""
    if request.of == REFERENCE:
        count = _count(checkpoint, request.unit, is_target=True)
        return [float(np.mean([count(each) for each in text.references])) for text in texts]
    if request.of == SOURCE:
        count = _count(checkpoint, request.unit, is_target=False)
        return [float(count(text.source)) for text in texts]
    return [float(each.length) for each in _plain(checkpoint, texts, request, report)]


def _plain(
    checkpoint: Checkpoint, texts: Sequence[Text], request: Request, report: ReportProgress
) -> list[Output]:
    """Translate all texts without a target length."""
    unlimited, found = replace(request, method=PLAIN, share=Decimal(1)), list[Output]()
    stage = message("stage.translating-plain", "translating without a target length")
    for start in range(0, len(texts), PART):
        report({"step": start, "total": len(texts), "stage": stage})
        part = [text.source for text in texts[start : start + PART]]
        found += decode(checkpoint, part, [None] * len(part), unlimited)
    return found


def _count(checkpoint: Checkpoint, unit: str, *, is_target: bool) -> lengths.Count:
    if unit != lengths.PIECES:
        return lengths.counter(unit)
    read = checkpoint.pieces if is_target else checkpoint.source_pieces
    return lambda text: len(read(text))


def _translator(
    checkpoint: Checkpoint,
    texts: Sequence[Text],
    request: Request,
    languages: tuple[str, str],
    report: ReportProgress,
) -> Translator:
    if request.method == EXTRACT:
        return _extracting(checkpoint, texts, request, languages[1], report)
    rank = _rank(request, languages) if request.metric else None

    def by_search(part: Sequence[Text], wanted: Sequence[int | None]) -> list[Output]:
        return decode(checkpoint, [text.source for text in part], wanted, request, rank)

    return by_search


def _extracting(
    checkpoint: Checkpoint,
    texts: Sequence[Text],
    request: Request,
    language: str,
    report: ReportProgress,
) -> Translator:
    """Translate all without a target length first: word frequencies come from all of them."""
    outputs = _plain(checkpoint, texts, request, report)
    plain = dict(zip([text.pk for text in texts], outputs, strict=True))
    every = [each.text for each in outputs]
    extractor = Extractor.load(request.language_model, language, every, request.seed)
    count = _count(checkpoint, request.unit, is_target=True)

    def shorten(part: Sequence[Text], wanted: Sequence[int | None]) -> list[Output]:
        own = [plain[text.pk] for text in part]
        shares = [(n or 1) / max(1, each.length) for n, each in zip(wanted, own, strict=True)]
        short = extractor.shorten([each.text for each in own], shares)
        return [Output(text, len(checkpoint.pieces(text)), count(text)) for text in short]

    return shorten


def _rank(request: Request, languages: tuple[str, str]) -> Rank:
    metric = catalogue.load(
        request.metric, source_language=languages[0], target_language=languages[1]
    )
    info = metric.info
    column = info.measures.index(info.table_measures[0])
    sign = 1 if info.higher_is_better else -1

    def rank(pairs: Sequence[tuple[str, str]]) -> list[float]:
        scores = metric.score([SegmentInput(source, text, ()) for source, text in pairs])
        return [float(sign * score[column]) for score in np.asarray(scores)]

    return rank


def _keep(
    row: Translation,
    part: Sequence[Text],
    wanted: Sequence[int | None],
    outputs: Sequence[Output],
) -> None:
    with transaction.atomic():
        if not hold(row):
            raise StoppedError
        TranslatedText.objects.bulk_create(
            TranslatedText(translation=row, segment_id=text.pk, text=own.text, wanted=asked,
                           length=own.length, pieces=own.pieces)
            for text, asked, own in zip(part, wanted, outputs, strict=True)
        )  # fmt: skip


def _store(
    row: Translation, texts: Sequence[Text], checkpoint: Checkpoint, request: Request
) -> None:
    """Store the system like any upload and end the job, both or neither."""
    own = {each.segment_id: each for each in row.texts.all()}
    outputs = {text.key: own[text.pk].text for text in texts}
    draft = draft_of(row.test_set, row.name, {request.share: outputs})
    report = Report()
    check_draft(draft, report, user=row.created_by)
    result = _provenance(checkpoint, request, list(own.values()))
    result["warnings"] += [problem.message for problem in report.warnings]
    try:
        with transaction.atomic():
            test_set = store(draft, user=row.created_by).test_set
            system = System.objects.get(
                test_set=test_set, name=row.name, length_ratio=request.share
            )
            if not finish(row, result=plain(result), system=system, finished_at=Now()):
                transaction.set_rollback(True)
    except ValidationError as error:
        raise JobError(*messages_of(error)) from error


def _provenance(
    checkpoint: Checkpoint, request: Request, texts: Sequence[TranslatedText]
) -> dict[str, Any]:
    """Return the origin of the system, and how far its outputs are from the target lengths."""
    asked = [each for each in texts if each.wanted is not None]
    result: dict[str, Any] = {
        "model": checkpoint.name,
        "model_hash": checkpoint.weights,
        "control": checkpoint.control["control"],
        "form": checkpoint.control["form"],
        **({"preprocessing": checkpoint.preprocessing} if checkpoint.preprocessing else {}),
        **{name: value for name, value in request.as_json().items() if value != ""},
        "outputs": len(texts),
        "empty": sum(not each.text for each in texts),
        "warnings": [ORACLE] if request.of == REFERENCE and asked else [],
    }
    if asked:
        found = length_deviation([e.length for e in asked], [e.wanted or 0 for e in asked])
        exact = sum(each.length == each.wanted for each in asked) / len(asked)
        result["lengths"] = {
            "mean_deviation": found.statistic, "exactly_as_wanted": exact,
            "within_a_tenth": found.within, "bias": found.bias,
        }  # fmt: skip
    return result
