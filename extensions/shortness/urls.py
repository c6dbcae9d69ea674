"""Addresses of the pages on shortness, of a campaign and of a study."""

from django.urls import path

from dashboards.pages.page import view
from extensions.shortness.across_page import study_shortness
from extensions.shortness.page import SHORTNESS

urlpatterns = [
    path("campaigns/<slug:slug>/shortness/", view(SHORTNESS), name="shortness"),
    path("campaigns/<slug:slug>/shortness.<str:fmt>", view(SHORTNESS), name="shortness-data"),
    path("studies/<slug:slug>/shortness/", study_shortness, name="study-shortness"),
    path("studies/<slug:slug>/shortness.<str:fmt>", study_shortness, name="study-shortness-data"),
]
