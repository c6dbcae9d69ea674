"""Addresses of the page on suggestions and trials."""

from django.urls import path

from dashboards.pages.page import view
from extensions.trials.document import TRIAL

urlpatterns = [
    path("campaigns/<slug:slug>/trial/", view(TRIAL), name="trial"),
    path("campaigns/<slug:slug>/trial.<str:fmt>", view(TRIAL), name="trial-data"),
]
