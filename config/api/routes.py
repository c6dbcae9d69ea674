"""The API's addresses, gathered from the apps."""

from django.urls import include, path
from django.utils.module_loading import import_string
from drf_spectacular.views import SpectacularAPIView
from rest_framework.routers import DefaultRouter

from annotation.api.campaigns import CampaignViewSet
from annotation.api.imports import FileImportViewSet, HumanScoresImportView, JudgmentsImportView
from annotation.api.judgments import JudgmentViewSet
from annotation.api.people import (
    AccessLinkViewSet,
    MemberViewSet,
    NoticeViewSet,
    PersonViewSet,
)
from annotation.api.test_sets import TestSetViewSet
from core import extensions
from dashboards.api import ResultViewSet
from lifecycle.api import ActionView, ResourceView
from lifecycle.projects.viewsets import ProjectMemberViewSet, ProjectViewSet
from metrics.api.datasets import FolderImportView, PublishedImportView
from metrics.api.fleet import CheckpointViewSet, MetricViewSet, WorkerViewSet
from metrics.api.imports import MetricImportViewSet
from metrics.api.runs import RunViewSet
from metrics.api.spans import MetricSpansView

router = DefaultRouter()
router.register("test-sets", TestSetViewSet, basename="api-testset")
router.register("campaigns", CampaignViewSet, basename="api-campaign")
OF_CAMPAIGN = "campaigns/(?P<slug>[^/.]+)"
router.register(f"{OF_CAMPAIGN}/people", PersonViewSet, basename="api-people")
router.register(f"{OF_CAMPAIGN}/links", AccessLinkViewSet, basename="api-links")
router.register(f"{OF_CAMPAIGN}/members", MemberViewSet, basename="api-members")
router.register(f"{OF_CAMPAIGN}/notices", NoticeViewSet, basename="api-notices")
router.register("projects", ProjectViewSet, basename="api-project")
router.register(
    "projects/(?P<slug>[^/.]+)/members", ProjectMemberViewSet, basename="api-project-members"
)
router.register("judgments", JudgmentViewSet, basename="api-judgment")
router.register("runs", RunViewSet, basename="api-run")
router.register("metrics", MetricViewSet, basename="api-metric")
router.register("imports/metric-scores", MetricImportViewSet, basename="api-metric-import")
router.register("checkpoints", CheckpointViewSet, basename="api-checkpoint")
router.register("workers", WorkerViewSet, basename="api-worker")
for extension in extensions.installed():
    for prefix, viewset, basename in extension.api:
        router.register(prefix, import_string(viewset), basename=basename)
router.register("imports/files", FileImportViewSet, basename="api-file-import")
router.register("results", ResultViewSet, basename="api-result")

urlpatterns = [
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    path("imports/judgments/", JudgmentsImportView.as_view(), name="api-import-judgments"),
    path("imports/human-scores/", HumanScoresImportView.as_view(), name="api-import-human-scores"),
    path("imports/mt-metrics-eval/", FolderImportView.as_view(), name="api-import-mtme"),
    path("imports/data-sets/", PublishedImportView.as_view(), name="api-import-dataset"),
    path("imports/metric-spans/", MetricSpansView.as_view(), name="api-import-metric-spans"),
    path("things/<slug:kind>/<str:which>/", ResourceView.as_view(), name="api-resource"),
    path(
        "things/<slug:kind>/<str:which>/<slug:verb>/",
        ActionView.as_view(),
        name="api-resource-action",
    ),
    path("", include(router.urls)),
]
