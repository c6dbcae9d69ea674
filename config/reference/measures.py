"""What is computed: metrics, families, trainings with their options, functions of `metaeval`."""

import inspect
from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import groupby

from config.reference.site import code, docstring, first_sentence, table
from core import extensions
from metrics.base import MetricInfo
from metrics.options import Option
from metrics.registry import FAMILIES, METRICS, get_family

METRIC_COLUMNS = ("name", "metric", "reads", "several references", "values a segment", "source")
OPTION_COLUMNS = ("option", "", "default", "takes", "")


def metrics_page() -> str:
    """Return the page."""
    parts = ["# Metrics, families, trainings", "## Metrics", *_metrics()]
    parts += ["## Families", "Set by *Add a metric*, `manage.py add_metric FAMILY`, the API."]
    parts += [*_families()]
    parts += [*_of_extensions()]
    return "\n\n".join(filter(None, parts))


def _metrics() -> Iterable[str]:
    entries = sorted(METRICS.values(), key=lambda entry: str(entry[0].family_label))
    for label, group in groupby(entries, key=lambda entry: str(entry[0].family_label)):
        members = list(group)
        yield f"### {label}"
        yield table(METRIC_COLUMNS, [_row(info) for info, _ in members])
        # Families say it below.
        yield from _scorer_texts(scorer for info, scorer in members if not info.family)


def _families() -> Iterable[str]:
    said = set[str]()
    for family in map(get_family, FAMILIES):
        yield f"### {family.label}: `{family.key}`"
        yield str(family.description)
        # Released sentinels are scored by COMET's module.
        yield from _scorer_texts({family.scorer} - said)
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


def _scorer_texts(paths: Iterable[str]) -> Iterable[str]:
    """Return what the modules of dotted paths say of what they compute, each once."""
    return dict.fromkeys(docstring(path.partition(":")[0]) for path in paths)


def _row(info: MetricInfo) -> tuple[str, ...]:
    checkpoint = f"<br>{code(info.checkpoint)}" if info.checkpoint else ""
    name = code(info.name) + checkpoint
    return name, info.label, str(info.reads), info.references, _values(info), info.citation


def _values(info: MetricInfo) -> str:
    labels = dict(zip(info.measures, info.measure_labels, strict=True))
    shown = ", ".join(labels[measure] for measure in info.table_measures)
    if len(info.measures) == 1:
        return "1" if info.higher_is_better else "1, lower is better"
    chosen = f"; tables show {shown}" if info.shown else ""
    return f"{len(info.measures)}{chosen}"


def _options(options: Iterable[Option]) -> str:
    return table(
        OPTION_COLUMNS,
        [(code(o.name), str(o.label), _default(o), _takes(o), str(o.help)) for o in options],
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


ROOMS = (
    *("correlation", "correlation.intervals", "correlation.hybrids", "significance"),
    *("sensitivity", "judgments", "judgments.agreement", "judgments.controls"),
    *("judgments.planning", "judgments.trial", "systems", "systems.shortness", "spans"),
    *("challenges", "wmt"),
    *("scores", "files", "replication", "replication.questions"),
)


def statistics_page() -> str:
    """Return the page."""
    return "# Functions of metaeval\n\n" + (
        "`help(NAME)` has parameters, shapes, what is raised, and the source.\n\n"
        + "\n\n".join(_room(f"metaeval.{name}") for name in ROOMS)
    )


def _room(name: str) -> str:
    room = import_module(name)
    return f"## {name}\n\n{first_sentence(room)}\n\n" + table(("", ""), _functions(name))


def _functions(name: str) -> Iterator[tuple[str, str]]:
    room = import_module(name)
    for each in room.__all__:
        if inspect.isfunction(found := getattr(room, each)):
            yield code(each), first_sentence(found)
