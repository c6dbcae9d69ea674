"""Addresses of the page that compares campaigns."""

from django.urls import path

from extensions.comparison.page import compare

urlpatterns = [
    path("compare/", compare, name="compare"),
    path("compare.<str:fmt>", compare, name="compare-data"),
]
