"""Addresses of the meta-evaluation; each page is also available as .json, .csv and .tex."""

from django.urls import path

from dashboards import downloads, monitor, outputs, power
from dashboards.correlations.page import CORRELATIONS
from dashboards.home.page import campaign_list
from dashboards.home.search import search
from dashboards.overview.page import OVERVIEW, PAGE, scale
from dashboards.pages.page import routes, view
from dashboards.pairs.page import METRICS_PAIR, SYSTEMS_PAIR
from dashboards.quality.page import QUALITY
from dashboards.results.page import RESULTS
from dashboards.scatter import selections
from dashboards.scatter.page import SCATTER
from dashboards.significance.page import SIGNIFICANCE
from dashboards.spans.page import SPANS
from dashboards.systems.page import SYSTEMS
from dashboards.whatif.page import SAMPLESIZE, WHATIF

urlpatterns = [
    path("campaigns/", campaign_list, name="campaigns"),
    path("search/", search, name="search"),
    path("power/", power.stated_power, name="power"),
    path("power.<str:fmt>", power.stated_power, name="power-data"),
    path("campaigns/<slug:slug>/power/", power.campaign_power, name="campaign-power"),
    path("campaigns/<slug:slug>/power.<str:fmt>", power.campaign_power, name="campaign-power-data"),
    path("campaigns/<slug:slug>/monitor/", monitor.monitor, name="monitor"),
    path("campaigns/<slug:slug>/monitor.json", monitor.monitor, {"fmt": "json"}, "monitor-data"),
    path("campaigns/<slug:slug>/remarks/", monitor.monitor_remarks, name="monitor-remarks"),
    path("campaigns/<slug:slug>/quality/", view(PAGE), name="quality"),
    path("campaigns/<slug:slug>/quality.<str:fmt>", view(QUALITY), name="quality-data"),
    *routes(RESULTS),
    # Its page is part of the page on quality.
    path("campaigns/<slug:slug>/dashboard/", scale, name="dashboard"),
    *routes(OVERVIEW)[1:],
    *routes(WHATIF),
    *routes(SAMPLESIZE),
    *routes(CORRELATIONS),
    *routes(SIGNIFICANCE),
    *routes(SCATTER),
    path("campaigns/<slug:slug>/selections/", selections.save, name="selection-save"),
    path("campaigns/<slug:slug>/selections/<int:pk>/", selections.show, name="selection"),
    path(
        "campaigns/<slug:slug>/selections/<int:pk>/delete/",
        selections.delete,
        name="selection-delete",
    ),
    path("campaigns/<slug:slug>/outputs/<int:pk>/", outputs.output, name="output"),
    *routes(SYSTEMS),
    *routes(SYSTEMS_PAIR),
    *routes(METRICS_PAIR),
    path("campaigns/<slug:slug>/spans/", view(SPANS), name="spans"),
    path("campaigns/<slug:slug>/spans.<str:fmt>", view(SPANS), name="spans-data"),
    path("campaigns/<slug:slug>/report/", view(downloads.REPORT), name="report"),
    path("campaigns/<slug:slug>/report.<str:fmt>", downloads.report, name="report-file"),
    path("campaigns/<slug:slug>/bundle/", view(downloads.BUNDLE), name="bundle"),
    path("campaigns/<slug:slug>/bundle.<str:fmt>", downloads.bundle, name="bundle-file"),
]
