"""Reference pages of files, data sets, the glossary, metrics, trainings and statistics."""

import inspect
import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import chain, groupby

from django.utils.module_loading import import_string

from annotation.exports import formats as exports
from annotation.exports.facts import FACTS
from annotation.glossary import GROUPS
from annotation.uploads.formats import base
from annotation.uploads.formats.base import TEST_SET
from annotation.uploads.formats.registry import declared, doors
from config.reference.site import code, docstring, first_sentence, table
from core import extensions
from metaeval.files.names import IMPORTS, fields_of
from metrics.base import MetricInfo
from metrics.datasets import DATASETS
from metrics.options import Option
from metrics.registry import FAMILIES, METRICS, get_family


def columns_page() -> str:
    """Return the page."""
    start = "# Columns of tables\n\nNames are compared without case, spaces and punctuation."
    parts = zip(base.TABLES, IMPORTS, strict=True)
    return start + "".join(
        f"\n\n## {str(door).capitalize()}\n\n{_fields(key)}" for door, key in parts
    )


def _fields(door: str) -> str:
    rows = [(code(f.name), f.label, ", ".join(map(code, f.names[1:]))) for f in fields_of(door)]
    return table(("field", "", "also called"), rows)


DATASETS_HEAD = """# Published data sets

`manage.py import_dataset NAME` reads a data set from its folder below `TOUCHSTONE_DATA`
([how](../datasets.md)). `*` is the language pair.

"""


def datasets_page() -> str:
    """Return the page."""
    return DATASETS_HEAD + table(("name", "campaigns and notes", "folder"), _datasets())


def _datasets() -> Iterator[tuple[str, str, str]]:
    for name, each in DATASETS.items():
        about = import_string(each.reader).__doc__ or ""
        yield code(name), re.sub(r"\s+", " ", about), code(each.folder)


FORMATS_HEAD = """# Contents of imports and exports

How to import and export: [formats](../formats.md).

## Files of imports

Files are recognised by their contents. Pages, commands and programs note “The file was read as …”;
a file of another import is refused with the name of that import."""
# What every file is that has none of the declared formats.
PLAIN = (
    ("plain text, one segment per line", "fields or options of the import", (TEST_SET,)),
    (
        "TSV, CSV, XLSX, Parquet or JSON",
        "the ending, or else the first line",
        (*base.TABLES, base.GOLD),
    ),
)
WRITTEN = {
    "`csv`, `jsonl`, `parquet`, `spans`, `spans-jsonl`": "exports.judgments",
    "`suggestions`": "exports.suggestions",
    "`mtme`": "exports.mtme",
}


def formats_page() -> str:
    """Return the page."""
    formats = ((each.name, each.sign, each.doors) for each in declared())
    read = (
        (name, sign, *("✓" if door in takes else "" for door in doors()))
        for name, sign, takes in (*PLAIN, *formats)
    )
    imports = table(("format", "recognised by", *doors()), read)  # type: ignore[arg-type]
    rows = (
        (code(key), f"{each.label}: {each.about}".replace("<", "&lt;"))
        for key, each in exports.declared().items()
    )
    written = f"## Exports\n\n{table(('format', ''), rows)}\n\n{_carried()}"
    return "\n\n".join(
        [
            FORMATS_HEAD,
            imports,
            *_of_extensions("imports"),
            written,
            _module_texts("###", WRITTEN),
            *_of_extensions("exports"),
        ]
    )


CARRIED = """### What comes out as it went in

What a campaign has and a format cannot carry is listed on the export page and by
`export_judgments`. Some formats carry less of some protocols: scores of Appraise go from 0 to 100;
scores without errors are means in mt-metrics-eval; only cESA has special tokens in Pearmut.

"""


def _carried() -> str:
    """Return a table of facts and formats, by what the formats declare."""
    formats = exports.declared()
    rows = (
        (str(fact), *("yes" if name in each.carries else "" for each in formats.values()))
        for name, fact in FACTS.items()
    )
    return CARRIED + table(("", *map(code, formats)), rows)


def _module_texts(level: str, modules: dict[str, str]) -> str:
    """Return a heading and the docstring of each module."""
    texts = {title: import_module(f"annotation.{name}").__doc__ for title, name in modules.items()}
    return "\n\n".join(
        f"{level} {title}\n\n{(text or '').strip()}" for title, text in texts.items()
    )


def glossary_page() -> str:
    """Return the page."""
    lines = ["# Glossary"]
    for group, terms in GROUPS.items():
        lines += ["", f"## {group}", ""]
        lines += [f"- **{term.label}** {term.text}" for term in terms]
    return "\n".join(lines)


METRIC_COLUMNS = ("name", "metric", "reads", "several references", "values a segment", "source")
OPTION_COLUMNS = ("option", "", "default", "takes", "")


def metrics_page() -> str:
    """Return the page."""
    parts = ["# Metrics, families, trainings", "## Metrics", *_metrics()]
    parts += ["## Families", "Set by *Add a metric*, `manage.py add_metric FAMILY`, the API."]
    parts += [*_families()]
    parts += [*_of_extensions("metrics")]
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
        yield str(family.limits)
        # Released sentinels are scored by COMET's module.
        yield from _scorer_texts({family.scorer} - said)
        yield _options(family.options)
        said.add(family.scorer)


def _of_extensions(page: str) -> Iterable[str]:
    found = chain.from_iterable(sections() for sections in extensions.imported("reference"))
    for section in (each for each in found if each.page == page):
        yield section.heading
        if section.text:
            yield section.text
        if section.module:
            text = docstring(section.module)
            yield text.partition("\n\n")[2] if section.text else text
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
