"""List all metrics of this installation: those of the registry, then those configured here."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from core.messages import as_json
from core.work.models import Now
from metaeval.messages import Message, message
from metaeval.reasons import reason_of
from metrics import plugins, registry
from metrics.base import IMPORTED, ComparesSystems, Metric, MetricError, MetricInfo, OnTestSet
from metrics.families import long_texts, passages
from metrics.models import ConfiguredMetric, find_info
from metrics.models.fleet import layers_on_workers, live_workers
from metrics.options import layers_elsewhere
from metrics.plugins import Found
from metrics.support import binding, of_family, support_of

# The page of a metric has its name in the address, where this one means something else.
RESERVED = "add"


def infos(*, retired: bool = False) -> dict[str, MetricInfo]:
    """Return descriptions by name, in the order of all lists.

    These are the metrics that can be run. With `retired` also others that may have scores: retired
    ones, those with imported scores, and those whose family is not installed.
    """
    known = {name: info for name, (info, _) in registry.METRICS.items()}
    rows = ConfiguredMetric.objects.all()
    for row in rows if retired else rows.filter(retired_at=None).exclude(family=IMPORTED):
        if retired or _may_run(row.family):
            known[row.name] = row.info
    return known


def _may_run(family: str) -> bool:
    """Return whether a family is installed, or is that of a plug-in, which a worker may have."""
    return family in registry.FAMILIES or "--" in family


def refusal(name: str) -> Message:
    """Return why a metric of this name cannot be run; None if it can."""
    info = find(name)
    if info is None:
        return message("metric.unknown", "There is no metric named {metric}.", metric=name)
    if info.is_imported:
        return message(
            "metric.imported",
            "{metric} cannot be run here, because its scores were computed elsewhere.",
            metric=info.label,
        )
    if name not in registry.METRICS and not _may_run(info.family):
        return message(
            "metric.family-missing",
            "{metric} cannot be run here, because its family {family} is not installed.",
            metric=info.label,
            family=info.family,
        )
    return message(
        "metric.retired",
        "{metric} is retired and cannot be used for new runs.",
        metric=info.label,
    )


def name_taken(name: str) -> Message:
    """Return the message that there is a metric of a name."""
    return message("metric.name-taken", "There is already a metric named {metric}.", metric=name)


def _taken(name: str) -> ValidationError:
    return ValidationError({"name": [name_taken(name)]})


find = find_info


def get(name: str) -> MetricInfo:
    """Return the description of a metric; a permanent :class:`MetricError` for unknown names."""
    info = find(name)
    if info is None:
        raise MetricError(refusal(name), permanent=True)
    return info


References = Callable[[], Iterable[tuple[str, ...]]]
# Source, references and outputs of each segment.
Outputs = Callable[[], Iterable[tuple[str, tuple[str, ...], Sequence[str]]]]


def load(
    name: str,
    *,
    source_language: str,
    target_language: str,
    references: References | None = None,
    outputs: Outputs | None = None,
    run: int | None = None,
) -> Metric:
    """Import and create a metric for a language pair, as :func:`metrics.registry.load`.

    ``references`` returns those of every segment of the test set, for metrics that depend on them,
    ``outputs`` those of the systems of a run, and ``run`` is its key, for metrics that cost money.
    Raises InputError if the metric needs one of these and has no run.
    """
    languages = {"source_language": source_language, "target_language": target_language}
    if name in registry.METRICS:
        return _fitted(registry.load(name, **languages), references)
    info = get(name)
    if info.is_imported:
        raise MetricError(refusal(name), permanent=True)
    scorer = registry.get_family(info.family).scorer
    support = support_of(info)
    with support.known():
        metric = registry.build(passages.of_segments(info), scorer, **languages)
        metric = plugins.sign(metric, info.family)
    if isinstance(metric, ComparesSystems):
        metric.compare(outputs() if outputs else ())
    metric = _fitted(metric, references)
    support.attach(metric, run)
    if info.reads_long_texts:
        metric = long_texts.InParts(metric)
    return passages.InDocuments(metric, info) if info.reads_documents else metric


def _fitted(metric: Metric, references: References | None) -> Metric:
    if metric.info.depends_on_set and isinstance(metric, OnTestSet):
        metric.fit(references() if references else ())
    return metric


def describe(*, family: str, name: str, label: str, options: Mapping[str, Any]) -> MetricInfo:
    """Return what :func:`configure` would store.

    Raises ValidationError with the wrong field, and ValueError or MetricError for wrong options.
    Files that only workers have are looked up in their reports.
    """
    with everything_known(), of_family(family).known():
        info = registry.configure(family, name, label, options)
    if find(name):
        raise _taken(name)
    if name == RESERVED:
        problem = message("metric.name-reserved", "A metric cannot be named {name}.", name=name)
        raise ValidationError({"name": [problem]})
    _row(info, family).full_clean()
    return info


def configure(
    *, family: str, name: str, label: str, options: Mapping[str, Any], user: Any = None
) -> ConfiguredMetric:
    """Add a metric of a family; raise ValidationError if that is not possible.

    Its name and options never change, because scores are stored under them.
    """
    try:
        info = describe(family=family, name=name, label=label, options=options)
    except (ValueError, MetricError) as error:
        raise ValidationError({"options": [reason_of(error)]}) from error
    row = _row(info, family, user)
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError:
        raise _taken(name) from None
    return row


def _row(info: MetricInfo, family: str, user: Any = None) -> ConfiguredMetric:
    fields = {
        name: as_json(value) if isinstance(value, Message) else value
        for name, value in vars(info).items()
    }
    document = {**fields, "options": dict(info.options)}
    return ConfiguredMetric(
        name=info.name, label=info.label, family=family, description=document, created_by=user
    )


def retire(name: str) -> bool:
    """Remove a configured metric from the lists; its scores stay. False where there is none.

    Imported scores are withdrawn, test set by test set (`metrics.imported.storing.withdraw`).
    """
    rows = ConfiguredMetric.objects.filter(name=name, retired_at=None).exclude(family=IMPORTED)
    return bool(rows.update(retired_at=Now()))


def restore(name: str) -> bool:
    """Bring a retired metric back; False where there is none."""
    rows = ConfiguredMetric.objects.filter(name=name).exclude(retired_at=None)
    return bool(rows.update(retired_at=None))


@contextmanager
def everything_known() -> Iterator[None]:
    """Let descriptions use the checkpoints and plug-ins that only workers have."""
    with (
        binding(layers_elsewhere, layers_on_workers),
        binding(plugins.elsewhere, plugins_on_workers),
    ):
        yield


def plugins_on_workers() -> dict[str, Found]:
    """Return the plug-ins that live workers report; one that works replaces one that does not."""
    found: dict[str, Found] = {}
    for row in live_workers():
        for data in row.plugins:
            each = plugins.from_data(data)
            if each.plugin is not None or each.key not in found:
                found[each.key] = each
    return found
