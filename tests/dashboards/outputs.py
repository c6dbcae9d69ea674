"""Outputs and what docs/filters.md says of them; a campaign on which every filter acts."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import numpy as np
from django.db.models import F

from annotation.models import Campaign, ErrorSpan, Judgment, Output
from annotation.web.parameters import ALL, JUDGMENTS
from config.reference.of_pages import walk
from dashboards.charts.files import MARKS
from dashboards.layers.names import layers_of
from metrics.models import MetricRun, MetricSignature
from metrics.registry import METRICS
from metrics.scores import store_scores
from tests.dashboards import raw
from tests.dashboards.conftest import make_rated

DOCS = Path(__file__).parents[2] / "docs" / "filters.md"
COMPARISON = {"statistic", "grouping", "test", "correction", "scope", "metric"}
FILTERS = {
    "all": ALL.names,
    "all, comparison": ALL.names | COMPARISON,
    "all but scores": JUDGMENTS.names,
    "none": frozenset[str](),
}
BESIDES = re.compile(r"`(\w+)`( \(page\))?")


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
        if (known := getattr(entry.callback, "takes", None)) is not None:
            given = dict.fromkeys(re.findall(r"<\w+:(\w+)>", route), "x")
            given |= entry.default_args or {}
            taken = known(**given).names
            yield Address(entry.name or route, route, taken, given.get("fmt", ""))


def documented() -> Mapping[str, frozenset[str]]:
    """Return what the documentation says: parameters by name of the address."""
    text = DOCS.read_text(encoding="utf-8")
    found: dict[str, frozenset[str]] = {}
    for line in text.split("| output |")[1].split("\n\n")[0].splitlines()[2:]:
        _, names, filters, besides = (cell.strip() for cell in line.strip("|").split("|"))
        taken = FILTERS[filters]
        everywhere = frozenset(name for name, page in BESIDES.findall(besides) if not page)
        on_page = frozenset(name for name, page in BESIDES.findall(besides) if page)
        for name in re.findall(r"`([\w-]+)`", names):
            found[name] = taken | everywhere | on_page
            found.setdefault(f"{name}-data", taken | everywhere)
            found.setdefault(f"{name}-figure", taken | everywhere | frozenset(MARKS))
    return found


def make_filterable() -> Campaign:
    """A rated campaign where each filter leaves something out, and something in.

    S3 worked a day later; every judgment of an output has an error span; z-scores are over
    everything, so that control items move them; a metric has scores of several layers.
    """
    campaign = make_rated("rated", segments=9, traps_per_annotator=3, z_pool="all", study="port")
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
    measures = list(layers_of(info))
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
