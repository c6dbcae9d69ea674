"""Addresses of parallel text, of the jobs that read it, of translations and preferences."""

from django.urls import path

from training.pair_curve.page import job_data, job_figure
from training.preferences.pages import preference_table, preferences, preferences_start
from training.views import corpora, jobs

urlpatterns = [
    path("training/", jobs.job_list, name="jobs"),
    path("training/jobs/<int:pk>/", jobs.job_detail, name="job"),
    path("training/jobs/<int:pk>/pairs.<str:fmt>", job_data, name="job-data"),
    path("training/jobs/<int:pk>/figures/<slug:figure>.<str:fmt>", job_figure, name="job-figure"),
    path("training/jobs/<int:pk>/cancel/", jobs.job_cancel, name="job-cancel"),
    path("training/jobs/<int:pk>/resume/", jobs.job_resume, name="job-resume"),
    path("training/sweeps/<slug:sweep>/", jobs.sweep_detail, name="sweep"),
    path("training/start/", jobs.kind_list, name="training-kinds"),
    path("training/start/<slug:kind>/", jobs.job_start, name="training-start"),
    path("training/translations/", jobs.translation_list, name="translations"),
    path("training/translations/start/", jobs.translation_start, name="translation-start"),
    path("training/translations/<int:pk>/", jobs.translation_detail, name="translation"),
    path(
        "training/translations/<int:pk>/cancel/",
        jobs.translation_cancel,
        name="translation-cancel",
    ),
    path(
        "training/translations/<int:pk>/resume/",
        jobs.translation_resume,
        name="translation-resume",
    ),
    path("training/corpora/", corpora.corpus_list, name="corpora"),
    path("training/corpora/upload/", corpora.corpus_upload, name="corpus-upload"),
    path("training/corpora/<slug:name>/", corpora.corpus_detail, name="corpus"),
    path("testsets/<slug:slug>/preferences/", preferences, name="preferences"),
    path("testsets/<slug:slug>/preferences.<str:fmt>", preferences, name="preferences-data"),
    path(
        "testsets/<slug:slug>/preferences/figures/<slug:figure>.<str:fmt>",
        preferences,
        name="preferences-figure",
    ),
    path("testsets/<slug:slug>/preferences/start/", preferences_start, name="preferences-start"),
    path("preferences/", preference_table, name="preference-table"),
    path("preferences.<str:fmt>", preference_table, name="preference-table-data"),
]
