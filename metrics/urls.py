"""Addresses of metrics, models, workers and runs."""

from django.urls import path

from metrics.views import datasets, fleet, imports, metrics, runs, spans, suggesting

urlpatterns = [
    path("metrics/", metrics.metric_list, name="metrics"),
    path("metrics/add/", metrics.metric_families, name="metric-add"),
    path("metrics/add/<slug:family>/", metrics.metric_configure, name="metric-configure"),
    path("metrics/<str:name>/", metrics.metric_detail, name="metric"),
    path("models/", fleet.model_list, name="models"),
    path("models/check/", fleet.model_check, name="model-check"),
    path("workers/", fleet.worker_list, name="workers"),
    path("campaigns/import/mt-metrics-eval/", datasets.mtme_import, name="mtme-import"),
    path("datasets/", datasets.dataset_list, name="dataset-list"),
    path("runs/", runs.run_list, name="runs"),
    path("runs/<int:pk>/", runs.run_detail, name="run"),
    path("runs/<int:pk>/cancel/", runs.run_cancel, name="run-cancel"),
    path("testsets/<slug:slug>/score/", runs.run_start, name="run-start"),
    path("imports/metric-scores/", imports.score_sets, name="metric-scores-sets"),
    path("testsets/<slug:slug>/scores/", imports.metric_scores, name="metric-scores"),
    path(
        "testsets/<slug:slug>/scores/withdraw/",
        imports.metric_scores_withdraw,
        name="metric-scores-withdraw",
    ),
    path(
        "campaigns/<slug:slug>/suggestions/",
        suggesting.campaign_suggestions,
        name="campaign-suggestions",
    ),
    path("testsets/<slug:slug>/spans/", spans.metric_spans, name="metric-spans"),
    path("testsets/<slug:slug>/spans.csv", spans.metric_spans_file, name="metric-spans-file"),
]
