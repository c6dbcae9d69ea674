"""The metrics by name. Importing this module imports no metric: the web process stays light."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from metaeval.messages import message
from metrics import options, plugins
from metrics.base import Metric, MetricError, MetricInfo
from metrics.families import passages
from metrics.families.lexical import options as lexical
from metrics.families.lexical import options as sentbleu
from metrics.options import clean

Entry = tuple[MetricInfo, str]
METRICS: dict[str, Entry] = {
    **lexical.METRICS,
    "sentbleu-wmt": (
        sentbleu.FAMILY.describe("sentbleu-wmt", "sentBLEU (WMT)", clean(sentbleu.FAMILY, {})),
        sentbleu.FAMILY.scorer,
    ),
}
# Families that an admin configures, by key: dotted paths of their descriptions, each a Family or a
# Plugin. Extensions add to both when Django starts.
FAMILIES: dict[str, str] = {
    "sentbleu-wmt": "metrics.families.lexical.options:FAMILY",
    "lexical": "metrics.families.lexical.options:LEXICAL",
    "floor": "metrics.families.floor:FAMILY",
}


def has_family(key: str) -> bool:
    """Whether a family can be configured: ours, or that of a plug-in here or on a worker."""
    if key in FAMILIES:
        return True
    found = plugins.everywhere().get(key)
    return found is not None and found.plugin is not None


def family_keys() -> list[str]:
    """Return the keys of all families, ours first."""
    return [*FAMILIES, *(key for key, found in plugins.everywhere().items() if found.plugin)]


def get_family(key: str) -> options.Family:
    """Return a family that can be configured; a permanent :class:`MetricError` for others."""
    if key not in FAMILIES:
        found = plugins.everywhere().get(key)
        if found is not None and found.family is not None:
            return found.family
        problem = message(
            "metric.unknown-family",
            "There is no family {family}. The families are {known}.",
            family=key,
            known=family_keys(),
        )
        raise MetricError(problem, permanent=True)
    module, _, name = FAMILIES[key].partition(":")
    described = getattr(import_module(module), name)
    if isinstance(described, plugins.Plugin):
        described = plugins.Found(key, "", "", described).family
    family: options.Family = described
    return family


def configure(key: str, name: str, label: str, given: Mapping[str, Any]) -> MetricInfo:
    """Describe a metric of a family; raise ValueError for options that do not fit together."""
    family = get_family(key)
    return passages.described(family.describe(name, label, options.clean(family, given)))


def get_info(name: str) -> MetricInfo:
    """Return the description of a metric; a permanent :class:`MetricError` for unknown names."""
    return _entry(name)[0]


def load(name: str, *, source_language: str, target_language: str) -> Metric:
    """Import and create a metric for a language pair (codes such as ``zh``, ``zh-Hant``, ``en``).

    Raises a permanent :class:`MetricError` for an unknown name and for a missing package.
    """
    info, path = _entry(name)
    return build(info, path, source_language=source_language, target_language=target_language)


def build(info: MetricInfo, path: str, *, source_language: str, target_language: str) -> Metric:
    """Import the class at a dotted path and create the metric that ``info`` describes."""
    module, _, class_name = path.partition(":")
    try:
        scorer = getattr(import_module(module), class_name)
    except ModuleNotFoundError as error:
        raise MetricError(
            message(
                "metric.needs-package",
                "{metric} needs the package {package}: pip install -r requirements.txt",
                metric=info.label,
                package=error.name,
            ),
            permanent=True,
        ) from error
    metric: Metric = scorer(info, source_language=source_language, target_language=target_language)
    return metric


def _entry(name: str) -> Entry:
    if name not in METRICS:
        problem = message(
            "metric.unknown-of",
            "There is no metric {metric}. The metrics are {known}.",
            metric=name,
            known=list(METRICS),
        )
        raise MetricError(problem, permanent=True)
    return METRICS[name]
