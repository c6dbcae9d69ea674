"""The extension for sign-in through an organization and second factors (docs/access.md)."""

from core.extensions import Extension

EXTENSION = Extension(
    app="extensions.identity",
    urls="extensions.identity.urls",
    fragments={
        "sign-in": "identity/_sign_in.html",
        "own-account": "identity/_own.html",
        "account": "identity/_account.html",
    },
    second_step="extensions.identity.signing_in.second_step",
    proof="extensions.identity.signing_in.proof",
)
