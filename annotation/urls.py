"""Addresses of the annotation stages, in pipeline order."""

from django.urls import path

from annotation.views import assignments, campaigns, home, judgments, quality, uploads

urlpatterns = [
    path("", home.home, name="home"),
    # 1 uploads
    path("testsets/", uploads.testset_list, name="testsets"),
    path("testsets/upload/", uploads.upload, name="testset-upload"),
    path("testsets/<slug:slug>/", uploads.testset_detail, name="testset"),
    # 2 campaigns
    path("campaigns/", campaigns.campaign_list, name="campaigns"),
    path("campaigns/new/", campaigns.campaign_new, name="campaign-new"),
    path("campaigns/<slug:slug>/", campaigns.campaign_detail, name="campaign"),
    path("campaigns/<slug:slug>/open/", campaigns.campaign_open, name="campaign-open"),
    path("campaigns/<slug:slug>/close/", campaigns.campaign_close, name="campaign-close"),
    path("campaigns/<slug:slug>/annotators/", campaigns.annotators_add, name="campaign-annotators"),
    path(
        "campaigns/<slug:slug>/annotators/<int:pk>/link/",
        campaigns.annotator_link,
        name="annotator-link",
    ),
    # 3 assignments
    path("a/<str:token>/", assignments.personal_link, name="personal-link"),
    path("annotate/<slug:slug>/", assignments.next_item, name="annotate"),
    path("annotate/<slug:slug>/done/", assignments.done, name="annotate-done"),
    path("annotate/<slug:slug>/history/", assignments.history, name="annotate-history"),
    # 4 judgments
    path("item/<uuid:public_id>/", judgments.item, name="item"),
    # 5 quality
    path("campaigns/<slug:slug>/quality/", quality.quality, name="quality"),
    path("campaigns/<slug:slug>/quality.<str:fmt>", quality.quality, name="quality-data"),
    path("campaigns/<slug:slug>/judgments.<str:fmt>", quality.judgments, name="judgments-data"),
]
