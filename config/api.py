"""The API's addresses, gathered from the apps."""

from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView
from rest_framework.routers import DefaultRouter

from annotation.api import CampaignViewSet, JudgmentViewSet, TestSetViewSet
from annotation.imports_api import HumanScoresImportView, JudgmentsImportView
from dashboards.api import ResultViewSet
from metrics.api import RunViewSet
from metrics.dataset_api import FolderImportViewSet, PublishedImportViewSet
from metrics.fleet_api import CheckpointViewSet, MetricViewSet, WorkerViewSet
from metrics.imports_api import MetricImportViewSet
from training.api import CorpusViewSet, JobViewSet

router = DefaultRouter()
router.register("test-sets", TestSetViewSet, basename="api-testset")
router.register("campaigns", CampaignViewSet, basename="api-campaign")
router.register("judgments", JudgmentViewSet, basename="api-judgment")
router.register("runs", RunViewSet, basename="api-run")
router.register("metrics", MetricViewSet, basename="api-metric")
router.register("imports/metric-scores", MetricImportViewSet, basename="api-metric-import")
router.register("checkpoints", CheckpointViewSet, basename="api-checkpoint")
router.register("workers", WorkerViewSet, basename="api-worker")
router.register("corpora", CorpusViewSet, basename="api-corpus")
router.register("jobs", JobViewSet, basename="api-job")
router.register("imports/mt-metrics-eval", FolderImportViewSet, basename="api-mtme-import")
router.register("imports/data-sets", PublishedImportViewSet, basename="api-dataset-import")
router.register("results", ResultViewSet, basename="api-result")

urlpatterns = [
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    path("imports/judgments/", JudgmentsImportView.as_view(), name="api-import-judgments"),
    path("imports/human-scores/", HumanScoresImportView.as_view(), name="api-import-human-scores"),
    path("", include(router.urls)),
]
