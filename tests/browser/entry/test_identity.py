"""Second factors in a real browser, with Chromium's own authenticator in place of a key."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp
from playwright.sync_api import Page, expect

from annotation.access import ADMIN
from tests.browser.axe import violations
from tests.browser.conftest import Visitor
from tests.extensions.identity.provider import CLIENT, SECRET, Provider, running
from tests.world import PASSWORD, make_user

Visitors = Callable[..., Visitor]


@pytest.fixture
def provider(settings: Any) -> Iterator[Provider]:
    with running() as provider:
        settings.OIDC_ISSUER = provider.issuer
        settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = CLIENT, SECRET
        yield provider


def sign_in(visitor: Visitor) -> Page:
    page = visitor.open("/login/")
    page.get_by_label("User name").fill("admin")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    return page


def test_a_key_and_an_app_are_added_and_open_the_account(visitor: Visitors) -> None:
    make_user("admin", ADMIN)
    someone = visitor()
    page = sign_in(someone)
    session = someone.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    session.send(
        "WebAuthn.addVirtualAuthenticator",
        {
            "options": {
                "protocol": "ctap2", "transport": "usb", "hasUserVerification": True,
                "isUserVerified": True, "automaticPresenceSimulation": True,
            }
        },
    )  # fmt: skip
    someone.open("/account/factors/")
    assert violations(page) == []
    page.get_by_label("Name").fill("Blue key")
    page.get_by_role("button", name="Add a security key").click()
    assert violations(page) == []
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("The security key has been added.")).to_be_visible()
    expect(page.get_by_role("rowheader", name="Blue key")).to_be_visible()
    assert violations(page) == []

    page.get_by_role("button", name="Set up an app").click()
    secret = "".join(page.locator("code").inner_text().split())
    assert violations(page) == []
    code = totp.format_hotp_value(totp.hotp_value(secret, int(time.time()) // 30))
    page.get_by_label("Code").fill(code)
    page.get_by_role("button", name="Add app").click()
    expect(page.get_by_text("The authenticator app has been added.")).to_be_visible()

    someone.context.clear_cookies()
    sign_in(someone)
    expect(page.get_by_label("Code of your authenticator app")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="Use security key").click()
    page.wait_for_url("**/campaigns/")
    assert Authenticator.objects.get(type="webauthn").last_used_at is not None
    assert someone.complaints == []


def test_an_account_is_connected_and_signs_in_at_the_provider(
    visitor: Visitors, provider: Provider
) -> None:
    make_user("admin", ADMIN)
    someone = visitor()
    page = sign_in(someone)
    someone.open("/account/")
    page.get_by_role("button", name="Connect").click()
    assert violations(page) == []
    page.get_by_role("link", name="Sign in with").click()
    expect(page.get_by_text("Your account has been connected.")).to_be_visible()
    assert violations(page) == []
    someone.context.clear_cookies()
    someone.open("/login/")
    page.get_by_role("link", name="Sign in with").click()
    page.wait_for_url("**/campaigns/")
    assert someone.complaints == []
