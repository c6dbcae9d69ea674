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
    # Pages are our own; models and protocols are allauth's.
    apps=("allauth", "allauth.account", "allauth.socialaccount", "allauth.mfa"),
    middleware=(
        "allauth.account.middleware.AccountMiddleware",
        "extensions.identity.required.SecondFactorMiddleware",
    ),
    settings={
        "ACCOUNT_EMAIL_VERIFICATION": "none",
        "MFA_ADAPTER": "extensions.identity.factors.Adapter",
        "MFA_SUPPORTED_TYPES": ["totp", "webauthn", "recovery_codes"],
        "SOCIALACCOUNT_REQUESTS_TIMEOUT": 10,
    },
)
