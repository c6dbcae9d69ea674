"""Addresses of what can be done with resources of every type."""

from django.urls import path

from lifecycle import views

urlpatterns = [
    path("archive/", views.archive, name="archive"),
    path("changes/", views.changes, name="changes"),
    path("manage/<slug:kind>/<str:which>/", views.manage, name="manage"),
    path("manage/<slug:kind>/<str:which>/delete/", views.delete, name="manage-delete"),
    path("manage/<slug:kind>/<str:which>/<slug:verb>/", views.act, name="manage-act"),
]
