"""Addresses of metric runs."""

from django.urls import path

from metrics import views

urlpatterns = [
    path("runs/", views.run_list, name="runs"),
    path("runs/<int:pk>/", views.run_detail, name="run"),
    path("runs/<int:pk>/cancel/", views.run_cancel, name="run-cancel"),
    path("testsets/<slug:slug>/score/", views.run_start, name="run-start"),
]
