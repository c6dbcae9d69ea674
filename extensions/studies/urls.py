"""Addresses of the pages of studies, and of any campaigns side by side."""

from django.urls import path

from dashboards.pages.page import routes, table_routes, view
from extensions.studies import views
from extensions.studies.metrics import PRINTED, STUDY
from extensions.studies.quality import STUDY_QUALITY
from extensions.studies.report import study_report
from extensions.studies.significance import STUDY_SIGNIFICANCE
from extensions.studies.system_page import study_systems

urlpatterns = [
    path("studies/", views.studies, name="studies"),
    path("studies/<slug:slug>/", view(STUDY), name="study"),
    path("studies/<slug:slug>/correlations.<str:fmt>", view(STUDY), name="study-data"),
    path(
        "studies/<slug:slug>/correlations/figures/<slug:figure>.<str:fmt>",
        view(STUDY),
        name="study-figure",
    ),
    *table_routes(STUDY, "studies/<slug:slug>/correlations", "study"),
    *routes(PRINTED),
    path("matrix/", views.matrix, name="matrix"),
    path("matrix.<str:fmt>", views.matrix, name="matrix-data"),
    path("matrix/figures/<slug:figure>.<str:fmt>", views.matrix, name="matrix-figure"),
    *routes(STUDY_SIGNIFICANCE),
    path("studies/<slug:slug>/quality/", view(STUDY_QUALITY), name="study-quality"),
    path("studies/<slug:slug>/quality.<str:fmt>", view(STUDY_QUALITY), name="study-quality-data"),
    path("studies/<slug:slug>/systems/", study_systems, name="study-systems"),
    path("studies/<slug:slug>/systems.<str:fmt>", study_systems, name="study-systems-data"),
    path("studies/<slug:slug>/report.html", study_report, name="study-report"),
]
