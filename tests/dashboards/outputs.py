"""Outputs and what takes.txt says of them; a campaign on which every filter acts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import numpy as np
from django.db.models import F

from annotation.models import Campaign, ErrorSpan, Judgment, Output
from annotation.web.parameters import ALL, JUDGMENTS
from config.reference.site import taken, walk
from dashboards.charts.files import MARKS
from dashboards.pages.papertable import CHOICES, LISTS
from metrics.models import MetricRun, MetricSignature
from metrics.registry import METRICS
from metrics.scores import store_scores
from tests.dashboards import raw
from tests.dashboards.conftest import make_rated

TAKES = Path(__file__).with_name("takes.txt")
COMPARISON = {"statistic", "grouping", "test", "correction", "scope", "metric"}
FILTERS = {
    "all": ALL.names,
    "all, comparison": ALL.names | COMPARISON,
    "all but scores": JUDGMENTS.names | {"unit"},
    "all but unit": ALL.names - {"unit"},
    "all systems": ALL.names - {"humans", "outliers"},
    "judgments": JUDGMENTS.names,
    "none": frozenset[str](),
}


@dataclass(frozen=True)
class Address:
    """One address: its name, its route, and what it takes."""

    name: str
    route: str
    takes: frozenset[str]
    fmt: str


def addresses() -> Iterator[Address]:
    """Yield every address whose view says what it takes."""
    for route, entry in walk():
        if (names := taken(route, entry)) is not None:
            fmt = (entry.default_args or {}).get("fmt", "x" if ":fmt>" in route else "")
            yield Address(entry.name or route, route, names, fmt)


def wanted() -> Mapping[str, frozenset[str]]:
    """Return what takes.txt says: parameters by name of the address.

    A name stands for the page, its data and its images; what has (page) the page alone takes.
    """
    found: dict[str, frozenset[str]] = {}
    for line in TAKES.read_text(encoding="utf-8").splitlines():
        names, filters, besides = (cell.strip() for cell in line.split("|"))
        everywhere = FILTERS[filters] | {each for each in besides.split() if "(" not in each}
        on_page = {each.removesuffix("(page)") for each in besides.split()}
        for name in names.split():
            found[name] = everywhere | on_page
            found.setdefault(f"{name}-data", everywhere)
            found.setdefault(f"{name}-figure", everywhere | frozenset(MARKS))
            for table in (f"{name}-table", f"{name}-table-file"):
                found.setdefault(table, everywhere | {*CHOICES, *LISTS})
    return found


def make_filterable(segments: int = 9) -> Campaign:
    """A rated campaign where each filter leaves something out, and something in.

    S3 worked a day later; every judgment of an output has an error span; z-scores are over
    everything, so that control items move them; a metric has scores of several layers.
    """
    campaign = make_rated(
        "rated", segments=segments, traps_per_annotator=3, z_pool="all", study="port"
    )
    day = timedelta(days=1)
    late = Judgment.objects.filter(assignment__annotator__label="S3")
    late.update(started_at=F("started_at") + day, submitted_at=F("submitted_at") + day)
    rows = [row for row in raw.judged(campaign) if raw.outputs_only(row)]
    ErrorSpan.objects.bulk_create(
        ErrorSpan(judgment=row, side="target", start=0, end=3, severity="minor") for row in rows
    )
    add_layers(campaign)
    return campaign


def add_layers(campaign: Campaign) -> None:
    """Store scores of a metric with layers, as a run of a worker with its checkpoint would."""
    info = METRICS["bertscore-mbert"][0]
    measures = list(info.measures)
    signature = MetricSignature.objects.create(
        metric=info.name, signature="made|v:1", measures=measures
    )
    outputs = Output.objects.filter(system__campaigns=campaign).order_by("pk")
    keys = list(outputs.values_list("content_key", flat=True))
    made = np.random.default_rng(3).normal(size=(len(keys), len(measures)))
    store_scores(signature, keys, made)
    MetricRun.objects.create(
        test_set=campaign.test_set,
        metric=info.name,
        signature=signature,
        status=MetricRun.Status.DONE,
    )
