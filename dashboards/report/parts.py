"""Collect the parts of a report: the documents of the pages, warnings and methods."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

import numpy as np
from django.utils import timezone, translation

from annotation.filters import Filters
from annotation.filters.chosen import filtered_report, read_judgments
from annotation.models import Campaign, Output
from annotation.quality import QualityReport
from dashboards.bundle.content import Content, read_content
from dashboards.bundle.manifest import campaign_facts
from dashboards.charts.files import VEGA_LITE, drawable, in_language
from dashboards.correlations.agreement import CampaignCorrelations, correlate
from dashboards.documents.computing import as_stored
from dashboards.documents.reasons import Measured
from dashboards.results import figures as charts
from dashboards.results import home
from dashboards.results.document import Home
from dashboards.scatter import document as scatter
from dashboards.scatter.page import points
from dashboards.scatter.points import Disagreement
from dashboards.spans import document as spans
from dashboards.spans.document import Spans
from dashboards.systems import document as systems
from dashboards.systems.columns import Row, by_name
from dashboards.systems.page import marked
from dashboards.trust import verdict
from dashboards.trust.agreement import AgreementLine, agreement_line
from metaeval.arrays import mean
from metaeval.messages import Message, message
from metaeval.replication import versions

# List annotators in a report, in groups where they are many.

# The most annotators that are listed one by one.
MANY = 12


@dataclass(frozen=True)
class Person:
    """One annotator; `r` with the others without traps, `r_with` with them."""

    label: str
    is_excluded: bool
    n: int
    mean: float | None
    sd: float | None
    seconds: float | None
    r: float | None
    r_with: float | None


@dataclass(frozen=True)
class Range:
    """Mean, smallest and largest number of annotators; None where nobody has a number."""

    mean: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Group:
    """Annotators with the same result, with their names."""

    label: Message
    n: int
    judgments: int
    scores: Range
    seconds: Range
    r: Range
    names: Sequence[str]


# The groups by their labels; an annotator belongs to the first that fits.
GROUPS: Sequence[tuple[Message, Callable[[Person], bool]]] = (
    (message("group.excluded", "Excluded"), lambda one: one.is_excluded),
    (
        message("group.agrees", "Agree with the others, r > 0"),
        lambda one: one.r is not None and one.r > 0,
    ),
    (message("group.disagrees", "Do not agree, r ≤ 0"), lambda one: one.r is not None),
    (message("group.few-items", "Too few items in common with others"), lambda one: one.n > 0),
    (message("group.no-judgments", "No judgments"), lambda one: True),
)


def groups_of(people: Sequence[Person]) -> list[Group]:
    """Return the groups of many annotators; none where they are few."""
    if len(people) <= MANY:
        return []
    found: dict[Message, list[Person]] = {label: [] for label, _ in GROUPS}
    for one in people:
        found[next(label for label, fits in GROUPS if fits(one))].append(one)
    return [_group(label, own) for label, own in found.items() if own]


def _group(label: Message, people: Sequence[Person]) -> Group:
    return Group(
        label=label,
        n=len(people),
        judgments=sum(one.n for one in people),
        scores=_range([one.mean for one in people]),
        seconds=_range([one.seconds for one in people]),
        r=_range([one.r for one in people]),
        names=[one.label for one in people],
    )


def _range(values: Sequence[float | None]) -> Range:
    known = np.array([v for v in values if v is not None and not np.isnan(v)], dtype=np.float64)
    if not len(known):
        return Range()
    return Range(mean(known), float(known.min()), float(known.max()))


# Draw the figures of a report as SVG, in a separate process that frees the memory of V8.

# Space at the sides, because the page may use a wider font than was measured.
PADDING = 16
LONGEST_SECONDS = 120
_DRAW = """
import json, sys, vl_convert
version, specs = json.load(sys.stdin)
json.dump([vl_convert.vegalite_to_svg(spec, vl_version=version) for spec in specs], sys.stdout)
"""


def drawings(specs: Sequence[dict[str, Any]]) -> list[str]:
    """Return figures as data addresses of SVG images."""
    given = json.dumps([VEGA_LITE, [drawable(spec) | {"padding": PADDING} for spec in specs]])
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", _DRAW],
        input=given.encode(), stdout=subprocess.PIPE, check=True, timeout=LONGEST_SECONDS,
    )  # fmt: skip
    return [address(svg) for svg in json.loads(done.stdout)]


# What changes nothing in an image that has a text of its own.
UNSEEN = re.compile(
    r' (?:aria-[\w-]+|class|role|pointer-events|xmlns:xlink)="[^"]*"'
    r'| (?:opacity|stroke-width)="1"| text-anchor="start"'
)
UNDRAWN = re.compile(r'<path(?: d="(?:M0,0h0v0h0Z)?")?(?: display="none")?/>|<g></g>')


def address(svg: str) -> str:
    """Return an image as a data address, without the parts of the markup that draw nothing.

    Percent-encoding compresses to half of what base64 does.
    """
    slim, before = re.sub(r"<[^>]*>", lambda tag: UNSEEN.sub("", tag[0]), svg), ""
    while slim != before:
        slim, before = UNDRAWN.sub("", slim), slim
    return f"data:image/svg+xml;charset=utf-8,{quote(slim, safe=' =/:;,().!~*@$+?-')}"


# The number of worst disagreements shown with their texts, on each side.
N_SHOWN = 3
SIDES = ("metric higher", "metric lower")
# The most systems in one table of a page.
N_COLUMNS = 6
# The most metrics and systems in the figures of the first pages; the appendix has all.
N_METRICS, N_SYSTEMS = 14, 16


@dataclass(frozen=True, kw_only=True)
class Quality:
    """The judgments: `traps` rated 0, up to 20 and above, `agreement` with and without traps.

    `groups` is empty where `people` are few enough to be listed one by one.
    """

    judgments: int
    seconds: float | None
    seconds_cut: float | None
    traps: tuple[int, int, int] | None
    people: Sequence[Person]
    groups: Sequence[Group]
    tested: Sequence[Message]
    agreement: Sequence[AgreementLine]


@dataclass(frozen=True, kw_only=True)
class MetricLine:
    """A metric's scores of a table's systems, and its agreement with the human ranking of all."""

    label: str
    is_turned: bool
    tau: float | None
    accuracy: float | None
    cells: Sequence[Row | None]


@dataclass(frozen=True)
class MetricTable:
    """Metrics' scores of a few systems."""

    systems: Sequence[str]
    has_agreement: bool
    lines: Sequence[MetricLine]


@dataclass(frozen=True)
class Texts:
    """An output and its source."""

    source: str
    output: str


@dataclass(frozen=True, kw_only=True)
class Shown(Disagreement):
    """A disagreement with its texts."""

    texts: Texts


@dataclass(frozen=True)
class Disagreements:
    """The best metric against the humans: its statistics, and the worst disagreements."""

    metric: Measured
    n: int
    statistics: scatter.Statistics
    worst: Sequence[Shown]


@dataclass(frozen=True)
class Drawing:
    """A figure: the address of its image, and its text alternative."""

    svg: str
    description: str


def parts(campaign: Campaign, filters: Filters) -> dict[str, Any]:
    """Return the fields of a `Report`, without its PDF."""
    content, table = read_content(campaign, filters), correlate(campaign, filters)
    trust = verdict.compute(campaign, filters)
    scores = as_stored(systems.compute(campaign, systems.SystemsChoice(**vars(filters))))
    ranked = marked(replace(scores, trust=trust))
    first = home.computed(campaign, filters, trust)
    quality = filtered_report(campaign, filters)
    best = _best(table)
    chosen = scatter.ScatterChoice(**vars(filters), metric=best) if best else None
    against = as_stored(scatter.compute(campaign, chosen)) if chosen else None
    warnings = [*quality.warnings, *table.warnings, *ranked.warnings]
    warnings += against.warnings if against else []
    return {
        "trust": trust,
        "home": first,
        "facts": campaign_facts(_chosen(content, filters)),
        "filters": filters.as_json(),
        "filter_words": filters.words,
        "percent": campaign.percent,
        "study": campaign.study,
        "is_simulated": campaign.is_simulated,
        "target_language": campaign.test_set.target_language,
        "source_language": campaign.test_set.source_language,
        "warnings": list(dict.fromkeys(warnings)),
        "quality": _quality(quality),
        "correlations": table,
        "systems": ranked,
        "metric_tables": metric_tables(ranked),
        "scatter": _scatter(against) if against else None,
        "spans": _spans(campaign, filters),
        "figures": _figures(first, against),
        "versions": versions(),
        "signatures": list(dict.fromkeys(row.signature for row in table.rows or ranked.columns)),
        "rows": table.rows,
        "as_of": timezone.now().strftime("%Y-%m-%d %H:%M:%S UTC"),
    }


def _spans(campaign: Campaign, filters: Filters) -> Spans | None:
    """Return how well metrics find annotators' error spans; None where nobody marks any."""
    if campaign.judging.spans is None:
        return None
    found = as_stored(spans.compute(campaign, spans.SpansChoice(**vars(filters))))
    return replace(found, found=(), missed=()) if found.rows else None


def _chosen(content: Content, filters: Filters) -> Content:
    """Return the content with only the judgments that the filters choose."""
    judgments, _ = read_judgments(content.campaign, filters, with_excluded=True)
    return replace(content, judgments=judgments)


def _best(table: CampaignCorrelations) -> str:
    """Return the measure with the highest τ, which the scatter plot shows."""
    known = [(row.tau, row.key) for row in as_stored(table).rows if row.tau is not None]
    return max(known, key=lambda each: each[0])[1] if known else ""


def metric_tables(ranked: systems.Systems) -> list[MetricTable]:
    """Return the metrics' scores in tables of a few systems each, in the human order.

    The last table also has the agreement with the human ranking.
    """
    cells = [by_name(column.rows) for column in ranked.columns]
    names = ranked.systems
    starts = range(0, len(names), N_COLUMNS) if cells else ()
    return [
        MetricTable(
            systems=(shown := names[start : start + N_COLUMNS]),
            has_agreement=start + N_COLUMNS >= len(names),
            lines=[
                MetricLine(
                    label=column.label,
                    is_turned=column.is_turned,
                    tau=column.tau,
                    accuracy=column.accuracy,
                    cells=[own.get(name) for name in shown],
                )
                for column, own in zip(ranked.columns, cells, strict=True)
            ],
        )
        for start in starts
    ]


def _quality(report: QualityReport) -> Quality:
    people = [
        Person(
            label=each.label,
            is_excluded=each.excluded_at is not None,
            n=each.n,
            mean=each.mean,
            sd=each.sd,
            seconds=each.times.mean if each.times else None,
            r=each.r_without,
            r_with=each.r_with,
        )
        for each in report.annotators
    ]
    parts = {True: report.with_traps, False: report.without_traps}
    traps, times = report.traps, report.times
    return Quality(
        judgments=report.n_judgments,
        seconds=times.mean if times else None,
        seconds_cut=times.mean_cut if times else None,
        traps=(traps.zero, traps.low, traps.high) if traps else None,
        people=people,
        groups=groups_of(people),
        tested=report.tested.messages,
        agreement=[agreement_line(each, has_traps) for has_traps, each in parts.items() if each],
    )


def _scatter(document: scatter.Scatter) -> Disagreements | None:
    """Return the scatter's statistics, with the texts of the worst disagreements."""
    if document.problem or not (document.metric and document.statistics):
        return None
    sides = [[row for row in document.rows if row.side == side] for side in SIDES]
    shown = [row for side in sides for row in side[:N_SHOWN]]
    found = Output.objects.select_related("segment").in_bulk([row.output for row in shown])
    texts = {pk: Texts(output.segment.source, output.text) for pk, output in found.items()}
    worst = [Shown(**vars(row), texts=texts[row.output]) for row in shown]
    return Disagreements(document.metric, document.n, document.statistics, worst)


def _figures(first: Home, against: scatter.Scatter | None) -> list[Drawing]:
    """Return the figures: leading metrics, systems, and the best metric against the humans."""
    leading = replace(first, rows=first.metric_rows[:N_METRICS], systems=first.systems[:N_SYSTEMS])
    specs = [
        charts.metrics(leading),
        charts.systems(leading),
        points(against) if against and not against.problem else None,
    ]
    # A report is in English like all files.
    with translation.override("en"):
        shown = [in_language(spec) for spec in specs if spec]
    return [
        Drawing(svg, spec["description"]) for spec, svg in zip(shown, drawings(shown), strict=True)
    ]
