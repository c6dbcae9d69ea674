"""All metrics that this installation knows: those of the registry, then those configured here."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from core.work.models import Now
from metrics import plugins, registry
from metrics.base import IMPORTED, ComparesSystems, Metric, MetricError, MetricInfo, OnTestSet
from metrics.models import ConfiguredMetric, find_info
from metrics.models.fleet import layers_on_workers, living
from metrics.options import layers_elsewhere
from metrics.plugins import Found
from metrics.support import binding, of_family, support_of

_TAKEN = "There is a metric named {} already."
# The page of a metric has its name in the address, where this one means something else.
RESERVED = "add"


def infos(*, retired: bool = False) -> dict[str, MetricInfo]:
    """Return descriptions by name, in the order of every list.

    Those that can be run; with `retired` all that may have scores, also those that are retired,
    whose scores were imported, or whose family is not installed.
    """
    known = {name: info for name, (info, _) in registry.METRICS.items()}
    rows = ConfiguredMetric.objects.all()
    for row in rows if retired else rows.filter(retired_at=None).exclude(family=IMPORTED):
        if retired or _may_run(row.family):
            known[row.name] = row.info
    return known


def _may_run(family: str) -> bool:
    """Whether a family is installed, or that of a plug-in, which a worker may have."""
    return family in registry.FAMILIES or "--" in family


def refusal(name: str) -> str:
    """Say why there can be no run of a metric of this name."""
    info = find(name)
    if info is None:
        return f"There is no metric named {name}."
    if info.is_imported:
        return f"{info.label}: its scores were computed elsewhere; it cannot be run here."
    if name not in registry.METRICS and not _may_run(info.family):
        return f"{info.label}: its family {info.family} is not installed; it cannot be run here."
    return f"{info.label} is retired: it is not offered for new runs."


find = find_info


def get(name: str) -> MetricInfo:
    """Return the description of a metric; a permanent :class:`MetricError` for unknown names."""
    info = find(name)
    if info is None:
        raise MetricError(f"Unknown metric {name!r}.", permanent=True)
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

    ``references`` gives those of every segment of the test set, for metrics that depend on them,
    ``outputs`` those of the systems of a run, and ``run`` its key, for those that it pays.
    InputError where one of these has no run.
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
        metric = plugins.sign(registry.build(info, scorer, **languages), info.family)
    if isinstance(metric, ComparesSystems):
        metric.compare(outputs() if outputs else ())
    metric = _fitted(metric, references)
    support.attach(metric, run)
    return metric


def _fitted(metric: Metric, references: References | None) -> Metric:
    if metric.info.depends_on_set and isinstance(metric, OnTestSet):
        metric.fit(references() if references else ())
    return metric


def describe(*, family: str, name: str, label: str, options: Mapping[str, Any]) -> MetricInfo:
    """Return what :func:`configure` would store.

    ValidationError names the field at fault; ValueError and MetricError are about the options.
    What only workers have on their disks, they are asked for.
    """
    with everything_known(), of_family(family).known():
        info = registry.configure(family, name, label, options)
    if find(name):
        raise ValidationError({"name": _TAKEN.format(name)})
    if name == RESERVED:
        raise ValidationError({"name": f"A metric cannot be named {RESERVED}."})
    _row(info, family).full_clean()
    return info


def configure(
    *, family: str, name: str, label: str, options: Mapping[str, Any], user: Any = None
) -> ConfiguredMetric:
    """Add a metric of a family; ValidationError with a sentence where that cannot be.

    What it is called and how it is set never changes afterwards: scores are stored under it.
    """
    try:
        info = describe(family=family, name=name, label=label, options=options)
    except (ValueError, MetricError) as error:
        raise ValidationError({"options": str(error)}) from error
    row = _row(info, family, user)
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError:
        raise ValidationError({"name": _TAKEN.format(name)}) from None
    return row


def _row(info: MetricInfo, family: str, user: Any = None) -> ConfiguredMetric:
    document = {**vars(info), "options": dict(info.options)}
    return ConfiguredMetric(
        name=info.name, label=info.label, family=family, description=document, created_by=user
    )


def retire(name: str) -> bool:
    """Take a configured metric out of the lists; its scores stay. False where there is none.

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
    """Let descriptions find the checkpoints and plug-ins that only workers have."""
    with (
        binding(layers_elsewhere, layers_on_workers),
        binding(plugins.elsewhere, plugins_on_workers),
    ):
        yield


def plugins_on_workers() -> dict[str, Found]:
    """Return the plug-ins that living workers report, those that work before those that do not."""
    found: dict[str, Found] = {}
    for row in living():
        for data in row.plugins:
            each = plugins.from_data(data)
            if each.plugin is not None or each.key not in found:
                found[each.key] = each
    return found
