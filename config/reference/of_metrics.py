"""The metrics of the registry, what families and trainings compute, and what can be set of them."""

from collections.abc import Iterable
from itertools import groupby

from config.reference.markdown import code, docstring, table
from core import extensions
from metrics.base import MetricInfo
from metrics.options import Option
from metrics.registry import FAMILIES, METRICS, get_family

HEAD = ("name", "metric", "reads", "several references", "values a segment", "source")
OPTION_HEAD = ("option", "", "default", "takes", "")


def write() -> str:
    """Return the page."""
    parts = ["# Metrics, families, trainings", "## Metrics", *_metrics()]
    parts += ["## Families", "Set by *Add a metric*, `manage.py add_metric FAMILY`, the API."]
    parts += [*_families()]
    parts += [*_of_extensions()]
    return "\n\n".join(filter(None, parts))


def _metrics() -> Iterable[str]:
    entries = sorted(METRICS.values(), key=lambda entry: entry[0].family_label)
    for label, group in groupby(entries, key=lambda entry: entry[0].family_label):
        members = list(group)
        yield f"### {label}"
        yield table(HEAD, [_row(info) for info, _ in members])
        # Families say it below.
        yield from _said(scorer for info, scorer in members if not info.family)


def _families() -> Iterable[str]:
    said = set[str]()
    for family in map(get_family, FAMILIES):
        yield f"### {family.label}: `{family.key}`"
        yield family.description
        # Released sentinels are scored by COMET's module.
        yield from _said({family.scorer} - said)
        yield _options(family.options)
        said.add(family.scorer)


def _of_extensions() -> Iterable[str]:
    for sections in extensions.imported("reference"):
        for section in sections():
            yield section.heading
            yield section.text
            if section.module:
                yield docstring(section.module).partition("\n\n")[2]
            if section.options:
                yield _options(section.options)


def _said(paths: Iterable[str]) -> Iterable[str]:
    """Return what the modules of dotted paths say of what they compute, each once."""
    return dict.fromkeys(docstring(path.partition(":")[0]) for path in paths)


def _row(info: MetricInfo) -> tuple[str, ...]:
    checkpoint = f"<br>{code(info.checkpoint)}" if info.checkpoint else ""
    name = code(info.name) + checkpoint
    return name, info.label, info.reads, info.references, _values(info), info.citation


def _values(info: MetricInfo) -> str:
    labels = dict(zip(info.measures, info.measure_labels, strict=True))
    shown = ", ".join(labels[measure] for measure in info.table_measures)
    if len(info.measures) == 1:
        return "1" if info.higher_is_better else "1, lower is better"
    chosen = f"; tables show {shown}" if info.shown else ""
    return f"{len(info.measures)}{chosen}"


def _options(options: Iterable[Option]) -> str:
    return table(
        OPTION_HEAD,
        [(code(o.name), o.label, _default(o), _takes(o), o.help) for o in options],
    )


def _default(option: Option) -> str:
    if option.default is None:
        return "needed"
    if isinstance(option.default, bool):
        return "yes" if option.default else "no"
    return code(f"{option.default:g}" if isinstance(option.default, float) else option.default)


def _takes(option: Option) -> str:
    if option.choices:
        return ", ".join(map(code, option.choices))
    low, high = (f"{n:g}" if n is not None else "" for n in (option.minimum, option.maximum))
    return f"{option.kind} {low}–{high}" if low or high else option.kind
