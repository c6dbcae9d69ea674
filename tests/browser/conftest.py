"""A real server and a real browser. A missing Chromium is an error, not a skip."""

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self
from unittest.mock import patch

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Dialog, Page, expect, sync_playwright
from pytest_django.live_server_helper import LiveServer
from whitenoise import WhiteNoise

from tests.browser import axe
from tests.shared import Snapshots
from tests.world import PASSWORD

# Milliseconds: a wait is for something, and a busy machine may take its time over it.
PATIENCE = 60_000
expect.set_options(timeout=PATIENCE)
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Fewer processes: whoever visits comes from one site alone.
    "--disable-site-isolation-trials",
    "--renderer-process-limit=1",
    "--in-process-gpu",
    "--enable-features=NetworkServiceInProcess2",
    # Compiled with care, a script would have to run for longer than a page of a test stands.
    "--js-flags=--no-opt --no-maglev",
]


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Until the tests of this folder are over: Playwright's event loop is in their thread.

    The ORM is used between its calls, never in it.
    """
    # The same engine without windows of its own takes a fifth less of the processor.
    chromium = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    assert chromium, "The browser tests need Chromium as 'chromium' on the PATH."
    unsafe = patch.dict(os.environ, DJANGO_ALLOW_ASYNC_UNSAFE="true")
    with unsafe, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def live_server() -> Iterator[LiveServer]:
    """Static files are found once, and browsers keep them, as in real life."""

    def handler(application: Any) -> WhiteNoise:
        root, prefix = settings.STATICFILES_DIRS[0], settings.STATIC_URL
        served = WhiteNoise(application, root, prefix, max_age=WhiteNoise.FOREVER)
        served.add_file_to_dictionary(axe.ADDRESS, str(axe.SCRIPT))
        return served

    with patch("django.contrib.staticfiles.handlers.StaticFilesHandler", handler):
        server = LiveServer("localhost")
    yield server
    server.stop()


@pytest.fixture(scope="session")
def snapshots(run_folder: Path) -> Snapshots:
    return Snapshots(run_folder)


class Visitor:
    """Somebody with a browser of their own.

    Script errors, blocked content and being asked whether to leave fail the test.
    """

    def __init__(self, context: BrowserContext, address: str) -> None:
        self.context, self.address = context, address
        self.complaints: list[str] = []
        context.set_default_timeout(PATIENCE)
        self.page: Page = context.new_page()
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", self._answer)
        self.page.on(
            "console",
            lambda message: (
                self.complaints.append(message.text)
                if message.type == "error" and "Content Security Policy" in message.text
                else None
            ),
        )

    def _answer(self, dialog: Dialog) -> None:
        self.complaints.append(f"{dialog.type}: {dialog.message}")
        dialog.accept()

    def without_retries(self) -> Self:
        """Answers that wait are sent again when something happens, never by the clock.

        Otherwise a test that is held up for some seconds would see them gone.
        """
        self.page.add_init_script(
            """{
              const real = window.setTimeout;
              window.setTimeout = (call, ms, ...rest) => (ms >= 4000 ? 0 : real(call, ms, ...rest));
            }"""
        )
        return self

    def without_ahead(self) -> Self:
        """No screen is fetched ahead: as on the last item, a failure is shown where it happens."""
        self.context.route("**/ahead/**", lambda route: route.fulfill(json={"screens": []}))
        return self

    def open(self, path: str) -> Page:
        self.page.goto(self.address + path)
        return self.page

    def enter(self, name: str, **cookies: str) -> Page:
        """Be signed in, without a visit to the form."""
        client = Client()
        client.force_login(User.objects.get(username=name))
        cookies["sessionid"] = client.cookies["sessionid"].value
        self.context.add_cookies(
            [{"name": n, "value": value, "url": self.address} for n, value in cookies.items()]
        )
        return self.page

    def sign_in(self, name: str) -> Page:
        """Be signed in, on the first page."""
        self.enter(name)
        return self._arrive(self.open("/"))

    def sign_in_by_form(self, name: str, password: str = PASSWORD) -> Page:
        """Sign in as people do."""
        self.open("/login/")
        return self.sign_in_here(name, password)

    def sign_in_here(self, name: str, password: str = PASSWORD) -> Page:
        """Fill in the form that is open."""
        page = self.page
        page.get_by_label("User name").fill(name)
        page.get_by_label("Password").fill(password)
        page.get_by_role("button", name="Sign in").click()
        return self._arrive(page)

    def _arrive(self, page: Page) -> Page:
        page.get_by_role("button", name="Sign out").wait_for()
        return page


@pytest.fixture
def visitor(
    transactional_db: None, live_server: LiveServer, browser: Browser
) -> Iterator[Callable[..., Visitor]]:
    """Make a visitor; `width` is the window's, in pixels.

    Nothing stands between the pages and the server, where tests catch requests, but for those who
    ask for it with `service_workers="allow"`.
    """
    visitors: list[Visitor] = []

    def make(width: int = 1280, height: int = 900, **options: object) -> Visitor:
        size = {"width": width, "height": height}
        # Without transitions: axe would measure colours on their way.
        options = {"service_workers": "block", **options}
        context = browser.new_context(viewport=size, reduced_motion="reduce", **options)
        visitors.append(Visitor(context, live_server.url))
        return visitors[-1]

    yield make
    complaints = [complaint for one in visitors for complaint in one.complaints]
    for one in visitors:
        one.context.close()
    _wait_for_the_server()
    assert complaints == []


def _wait_for_the_server() -> None:
    """Wait for open requests: they would hinder emptying the tables."""
    for thread in threading.enumerate():
        if "process_request_thread" in thread.name:
            thread.join(PATIENCE / 1000)
