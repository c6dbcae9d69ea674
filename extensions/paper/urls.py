"""Addresses of a study's paper: the page, and its files."""

from django.urls import path

from extensions.paper.page import study_paper, study_paper_file

urlpatterns = [
    path("studies/<slug:slug>/paper/", study_paper, name="study-paper"),
    path(
        "studies/<slug:slug>/paper/<slug:name>.<str:fmt>", study_paper_file, name="study-paper-file"
    ),
]
