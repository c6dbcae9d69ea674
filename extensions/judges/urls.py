"""Addresses of judges."""

from django.urls import path

from extensions.judges import views

urlpatterns = [
    path("judges/", views.judge_list, name="judges"),
    path("judges/templates/add/", views.judge_template_add, name="judge-template-add"),
    path("judges/templates/<slug:template>/", views.judge_template, name="judge-template"),
]
