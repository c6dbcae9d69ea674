"""Pages of metrics: the list, one metric, configuring and retiring one."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import Count, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from annotation.access import (
    is_site_admin,
    readable,
    researcher_required,
    site_admin_required,
)
from core.messages import messages_of
from metaeval.messages import Message
from metrics import catalogue, plugins, registry
from metrics.base import MetricError, MetricInfo
from metrics.catalogue import everything_known
from metrics.families.lexical.options import LEXICAL
from metrics.forms.families import MetricForm
from metrics.models import ConfiguredMetric, MetricImport, MetricRun, MetricSignature, fleet
from metrics.options import Family
from metrics.runs import starting
from metrics.stock import hosts as stocks
from metrics.stock import inventory
from metrics.stock.hosts import Stock
from metrics.workers import reporter

RUNS_SHOWN = SETS_SHOWN = 10
IMPORTS_SHOWN = 50


@dataclass(frozen=True)
class Entry:
    """A metric with its checkpoints, its newest signature and its row."""

    info: MetricInfo
    stocks: list[Stock]
    signature: str
    row: ConfiguredMetric | None

    @property
    def settings(self) -> list[tuple[Message | str, Any]]:
        """Its options, by the labels and in the order of the form."""
        given = {k: v for k, v in self.info.options if k != "references"}  # shown in words
        if not given or self.info.family not in registry.family_keys():
            return [(name, _shown(value)) for name, value in given.items()]
        known = registry.get_family(self.info.family).options
        return [
            (option.label, _shown(given[option.name])) for option in known if option.name in given
        ]

    @property
    def limits(self) -> Message | str:
        """Its size, its languages and how it fails; empty where nobody says it."""
        try:
            return registry.get_family(self.info.family or LEXICAL.key).limits
        except MetricError:  # imported, or of a plug-in that is gone
            return ""

    @property
    def shown(self) -> list[str]:
        """The labels of the values that tables show, where those are chosen from more."""
        labels = dict(zip(self.info.measures, self.info.measure_labels, strict=True))
        return [labels[measure] for measure in self.info.shown]


def _shown(value: Any) -> Any:
    return (_("yes") if value else _("no")) if isinstance(value, bool) else value


@researcher_required
@require_GET
def metric_list(request: HttpRequest) -> HttpResponse:
    """List all metrics by family; retired ones at the end."""
    entries = _entries(catalogue.infos(retired=True).values(), _signatures(request.user))
    groups: dict[Message | str, list[Entry]] = {}
    for entry in entries:
        if not (entry.row and entry.row.retired_at):
            groups.setdefault(entry.info.family_label, []).append(entry)
    context = {
        "section": "metrics",
        "tab": "metrics",
        "groups": groups,
        "retired": [entry for entry in entries if entry.row and entry.row.retired_at],
        "may_configure": is_site_admin(request.user),
    }
    return render(request, "metrics/metrics.html", context)


def _signatures(user: Any) -> QuerySet[MetricSignature]:
    """Return the signatures that a user may see: those of imported scores name their test set."""
    imports = MetricImport.objects.all()
    hidden = imports.exclude(pk__in=readable(imports, user).values("pk"))
    return MetricSignature.objects.exclude(pk__in=hidden.values("signature"))


def _entries(infos: Iterable[MetricInfo], shown: QuerySet[MetricSignature]) -> list[Entry]:
    rows = {row.name: row for row in ConfiguredMetric.objects.all()}
    signatures = dict(shown.order_by("pk").values_list("metric", "signature"))
    used: dict[str, list[Stock]] = {}
    for stock in stocks.survey(fleet.live_workers(), inventory.needed_here()):
        for info in stock.users:
            used.setdefault(info.name, []).append(stock)
    return [
        Entry(info, used.get(info.name, []), signatures.get(info.name, ""), rows.get(info.name))
        for info in infos
    ]


@researcher_required
@require_GET
def metric_detail(request: HttpRequest, name: str) -> HttpResponse:
    """Show one metric, retired or not."""
    info = catalogue.find(name)
    if info is None:
        raise Http404
    seen = _signatures(request.user)
    known = seen.filter(metric=name).annotate(n_runs=Count("runs"))
    signatures = list(known.order_by("-pk"))
    computed_on = reporter.of_signatures([row.signature for row in signatures])
    shown = readable(MetricRun.objects.filter(metric=name), request.user)
    context = {
        "section": "metrics",
        "entry": _entries([info], seen)[0],
        "measures": list(zip(info.measures, info.measure_labels, strict=True)),
        "signatures": [
            {
                "parts": [
                    (key, value)
                    for key, _, value in (p.partition(":") for p in row.signature.split("|")[1:])
                ],
                "n_runs": row.n_runs,
                "computed_on": computed_on[row.signature],
            }
            for row in signatures
        ],
        "runs": shown.select_related("test_set").order_by("-created_at", "-pk")[:RUNS_SHOWN],
        "test_sets": [] if info.is_imported else starting.sets_to_score(request.user)[:SETS_SHOWN],
        "imports": readable(MetricImport.objects.filter(metric=name), request.user)
        .select_related("test_set", "created_by", "withdrawn_by")
        .order_by("-pk")[:IMPORTS_SHOWN],
        "may_configure": is_site_admin(request.user),
    }
    return render(request, "metrics/metric.html", context)


@site_admin_required
@require_GET
def metric_families(request: HttpRequest) -> HttpResponse:
    """Choose the family of a new metric."""
    with everything_known():
        families = [registry.get_family(key) for key in registry.family_keys()]
        off = [each for each in plugins.everywhere().values() if each.plugin is None]
    context = {"section": "metrics", "families": families, "off": off}
    return render(request, "metrics/metric_families.html", context)


@site_admin_required
@require_http_methods(["GET", "HEAD", "POST"])
def metric_configure(request: HttpRequest, family: str) -> HttpResponse:
    """Set the options of a new metric, preview it, add it."""
    with everything_known():
        return _configure(request, _family(family))


def _configure(request: HttpRequest, found: Family) -> HttpResponse:
    sent = request.POST if request.method == "POST" else None
    known = {stock.name for stock in stocks.survey(fleet.live_workers()) if stock.places}
    known |= set(inventory.names_here())
    form = MetricForm(found, sent, initial=request.GET.dict(), known=sorted(known))
    if form.is_valid() and "add" in request.POST:
        try:
            row = catalogue.configure(
                family=found.key,
                name=form.cleaned_data["name"],
                label=form.cleaned_data["label"],
                options=form.given,
                user=request.user,
            )
        except ValidationError as error:  # somebody else took the name a moment ago
            form.add_error(None, ValidationError(messages_of(error)))
        else:
            added = _("Added %(metric)s. It can be run now.")
            messages.success(request, added % {"metric": row.label})
            return redirect("metric", row.name)
    preview = [Entry(form.info, [], "", None)] if form.info else []
    context = {
        "section": "metrics",
        "family": found,
        "form": form,
        "preview": preview,
    }
    status = 422 if form.errors else 200
    return render(request, "metrics/metric_configure.html", context, status=status)


def _family(key: str) -> Family:
    try:
        return registry.get_family(key)
    except MetricError:
        raise Http404 from None
