"""Addresses of second factors and of sign-in through a provider."""

from django.urls import path, re_path

from extensions.identity import pages, signing_in

urlpatterns = [
    path("login/second/", signing_in.second_step_page, name="second-step"),
    path("login/provider/back/", signing_in.provider_back, name="provider-back"),
    re_path(
        r"^login/provider/(?P<process>sign-in|connect|again)/$",
        signing_in.provider_ask,
        name="provider-ask",
    ),
    path("account/provider/connect/", pages.provider_connect, name="provider-connect"),
    path("account/provider/disconnect/", pages.provider_disconnect, name="provider-disconnect"),
    path("account/factors/", pages.factor_list, name="factors"),
    path("account/factors/app/", pages.factor_app, name="factor-app"),
    path("account/factors/key/", pages.factor_key, name="factor-key"),
    path("account/factors/codes/", pages.factor_codes, name="factor-codes"),
    path("account/factors/<int:pk>/remove/", pages.factor_remove, name="factor-remove"),
    path("accounts/<int:pk>/factors/remove/", pages.factors_reset, name="account-factors"),
]
