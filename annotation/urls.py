"""Addresses of the annotation stages, in pipeline order."""

from django.urls import path

from annotation.views import (
    campaigns,
    composing,
    home,
    imports,
    instructions,
    interchange,
    preview,
    test_sets,
    uploads,
)
from annotation.views.adjudicating import deciding, queue
from annotation.views.judging import (
    assignments,
    judgments,
    offline,
    qualifying,
    surroundings,
    welcome,
)
from annotation.views.people import access, accounts, decisions, letters, personal, tokens

urlpatterns = [
    # First, because every answer comes here: addresses are compared in this order.
    path("item/<uuid:public_id>/", judgments.item, name="item"),
    path("", home.home, name="home"),
    path("glossary/", home.glossary, name="glossary"),
    path("account/", accounts.own_account, name="own-account"),
    path("account/tokens/", tokens.token_make, name="token-make"),
    path("account/tokens/<int:pk>/revoke/", tokens.token_revoke, name="token-revoke"),
    path("account/sign-ins/end/", accounts.sign_in_end, name="sign-ins-end"),
    path("account/sign-ins/<int:pk>/end/", accounts.sign_in_end, name="sign-in-end"),
    path("accounts/", accounts.account_list, name="accounts"),
    path("accounts/<int:pk>/", accounts.account_detail, name="account"),
    *(
        path(f"accounts/<int:pk>/{verb}/", accounts.account_change, {"verb": verb}, name=name)
        for verb, name in (
            ("roles", "account-roles"),
            ("link", "account-reset"),
            ("mail", "account-mail"),
            ("sign-out", "account-sign-out"),
            ("activate", "account-activate"),
            ("deactivate", "account-deactivate"),
        )
    ),
    path("accounts/<int:pk>/export/", personal.account_export, name="account-export"),
    path("accounts/<int:pk>/erase/", personal.account_erase, name="account-erase"),
    path("password/<str:token>/", accounts.account_link, name="account-link"),
    # 1 uploads
    path("testsets/", uploads.testset_list, name="testsets"),
    path("testsets/upload/", uploads.upload, name="testset-upload"),
    path("testsets/<slug:slug>/", uploads.testset_detail, name="testset"),
    path("testsets/<slug:slug>/media/<int:position>/", uploads.segment_media, name="segment-media"),
    path(
        "testsets/<slug:slug>/systems/<int:pk>/human/",
        test_sets.human_set,
        name="system-human",
    ),
    path("testsets/<slug:slug>/owner/", test_sets.owner_set, name="testset-owner"),
    path("testsets/<slug:slug>/shares/", test_sets.share_add, name="testset-share"),
    path(
        "testsets/<slug:slug>/shares/<int:pk>/remove/",
        test_sets.share_remove,
        name="testset-share-remove",
    ),
    # 2 campaigns
    path("campaigns/new/", composing.campaign_new, name="campaign-new"),
    path("campaigns/new/<slug:slug>/screen/", preview.draw_form, name="campaign-draw"),
    path("campaigns/import/file/", interchange.open_from_file, name="campaign-from-file"),
    path("imports/files/<int:pk>/", imports.file_import, name="file-import"),
    path("imports/files/<int:pk>/cancel/", imports.file_import_cancel, name="file-import-cancel"),
    path("campaigns/import/", interchange.import_campaign, name="campaign-import"),
    path("campaigns/<slug:slug>/", campaigns.campaign_detail, name="campaign"),
    path("campaigns/<slug:slug>/setup/", campaigns.campaign_setup, name="campaign-setup"),
    path("campaigns/<slug:slug>/edit/", composing.campaign_edit, name="campaign-edit"),
    path(
        "campaigns/<slug:slug>/edit/answers/",
        composing.campaign_edit,
        {"part": "answers"},
        name="campaign-answers",
    ),
    path("campaigns/<slug:slug>/preview/", preview.preview, name="campaign-preview"),
    path("campaigns/<slug:slug>/open/", campaigns.campaign_open, name="campaign-open"),
    path("campaigns/<slug:slug>/close/", campaigns.campaign_close, name="campaign-close"),
    path(
        "campaigns/<slug:slug>/annotators/<int:pk>/<str:verb>/",
        decisions.decide_exclusion,
        name="annotator-decide",
    ),
    path(
        "campaigns/<slug:slug>/instructions/",
        instructions.instructions_page,
        name="campaign-instructions",
    ),
    path("campaigns/<slug:slug>/access/", access.access, name="access"),
    path("campaigns/<slug:slug>/access/hours.csv", access.hours, name="hours"),
    path("campaigns/<slug:slug>/access/privacy/", access.privacy, name="campaign-privacy"),
    path("campaigns/<slug:slug>/access/members/", access.member_add, name="member-add"),
    path(
        "campaigns/<slug:slug>/access/members/<int:pk>/remove/",
        access.member_remove,
        name="member-remove",
    ),
    path("campaigns/<slug:slug>/access/data/", personal.data_rule, name="data-rule"),
    path("campaigns/<slug:slug>/audit.jsonl", personal.audit_file, name="audit-file"),
    path("campaigns/<slug:slug>/access/people/", access.people_add, name="people-add"),
    path("campaigns/<slug:slug>/access/mail/", letters.letters, name="letters"),
    path("campaigns/<slug:slug>/access/addresses/", letters.addresses_set, name="addresses-set"),
    path("campaigns/<slug:slug>/access/hide/", access.links_hide, name="links-hide"),
    path(
        "campaigns/<slug:slug>/access/annotators/<int:pk>/renew/",
        access.invitation_renew,
        name="invitation-renew",
    ),
    path(
        "campaigns/<slug:slug>/access/annotators/<int:pk>/revoke/",
        access.invitation_revoke,
        name="invitation-revoke",
    ),
    path("campaigns/<slug:slug>/access/stops/<int:pk>/", decisions.decide_stop, name="stop-decide"),
    path("campaigns/<slug:slug>/access/links/", access.link_add, name="access-link-add"),
    path(
        "campaigns/<slug:slug>/access/links/<int:pk>/revoke/",
        access.link_revoke,
        name="access-link-revoke",
    ),
    path("campaigns/<slug:slug>/access/codes/", access.codes_check, name="codes-check"),
    path("campaigns/<slug:slug>/adjudication/", queue.queue, name="adjudication"),
    path("campaigns/<slug:slug>/adjudication/give/", queue.gold_give, name="adjudication-gold"),
    path(
        "campaigns/<slug:slug>/adjudication/decisions.<str:fmt>",
        queue.gold_file,
        name="adjudication-file",
    ),
    path("campaigns/<slug:slug>/adjudication/<int:pk>/", deciding.review, name="adjudicate"),
    path("campaigns/<slug:slug>/items/", interchange.gold_items, name="campaign-items"),
    path(
        "campaigns/<slug:slug>/items/delete/",
        interchange.gold_delete,
        name="campaign-items-delete",
    ),
    # 3 assignments
    path("enter/<str:token>/", welcome.access_link, name="access-link"),
    path("a/<str:token>/", assignments.personal_link, name="personal-link"),
    path("annotate/<slug:slug>/", assignments.next_item, name="annotate"),
    path("annotate/<slug:slug>/ahead/", offline.ahead, name="annotate-ahead"),
    path("annotate/<slug:slug>/own/", surroundings.own, name="annotate-own"),
    path("annotate/<slug:slug>/consent/", welcome.consent, name="consent"),
    path("annotate/<slug:slug>/background/", welcome.background, name="background"),
    path("annotate/<slug:slug>/test/", qualifying.comprehension, name="annotate-test"),
    path("annotate/<slug:slug>/stopped/", qualifying.stopped, name="annotate-stopped"),
    path("annotate/<slug:slug>/attitude/", assignments.attitude, name="annotate-attitude"),
    path("annotate/<slug:slug>/decided/", deciding.own_corrections, name="annotate-corrections"),
    path("annotate/<slug:slug>/done/", assignments.done, name="annotate-done"),
    path("annotate/<slug:slug>/history/", assignments.history, name="annotate-history"),
    path("offline.js", offline.worker, name="offline-worker"),
    # 4 judgments
    path("item/<uuid:public_id>/document/", surroundings.around, name="item-around"),
    path("item/<uuid:public_id>/media/", surroundings.media, name="item-media"),
    # 5 quality
    path("campaigns/<slug:slug>/judgments.<str:fmt>", campaigns.judgments, name="judgments-data"),
    path("campaigns/<slug:slug>/export/", interchange.export_page, name="export"),
    path("campaigns/<slug:slug>/campaign.json", interchange.campaign_file, name="campaign-file"),
    path("campaigns/<slug:slug>/export/<str:fmt>/", interchange.export_file, name="export-file"),
]
