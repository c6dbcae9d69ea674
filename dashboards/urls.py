"""Addresses of the meta-evaluation; each page is also there as .json and .csv."""

from django.urls import path

from dashboards import views

urlpatterns = [
    path("campaigns/<slug:slug>/correlations/", views.campaign, name="correlations"),
    path("campaigns/<slug:slug>/correlations.<str:fmt>", views.campaign, name="correlations-data"),
    path("studies/", views.studies, name="studies"),
    path("studies/<slug:slug>/", views.study, name="study"),
    path("studies/<slug:slug>/correlations.<str:fmt>", views.study, name="study-data"),
    path("studies/<slug:slug>/quality/", views.study_quality, name="study-quality"),
    path("studies/<slug:slug>/quality.<str:fmt>", views.study_quality, name="study-quality-data"),
]
