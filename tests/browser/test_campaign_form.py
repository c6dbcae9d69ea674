"""The campaign form follows what is chosen, and works without its script."""

from django.urls import reverse
from playwright.sync_api import Browser
from pytest_django.live_server_helper import LiveServer

from annotation import protocols
from annotation.models import Campaign
from tests.browser.conftest import Visitor
from tests.world import make_world


def visit(context: object, live_server: LiveServer) -> Visitor:
    visitor = Visitor(context, live_server.url)  # type: ignore[arg-type]
    visitor.sign_in("admin")
    visitor.open(f"{reverse('campaign-new')}?testset=harbour")
    return visitor


def test_fields_follow_the_choices(live_server: LiveServer, browser: Browser) -> None:
    make_world()
    visitor = visit(browser.new_context(viewport={"width": 360, "height": 800}), live_server)
    page = visitor.page
    width = "document.documentElement.scrollWidth"
    assert page.evaluate(width) == 360
    assert page.get_by_label("Systems per screen").is_hidden()
    assert page.get_by_text("Limits of an open pool").is_hidden()
    page.get_by_label("Side-by-side").check()
    assert page.get_by_label("Systems per screen").is_visible()
    question = protocols.get("side-by-side").question
    assert page.get_by_label("Question").get_attribute("placeholder") == question
    page.get_by_label("Open pool").check()
    page.get_by_text("Limits of an open pool").click()
    page.get_by_label("Most items an annotator", exact=True).fill("40")
    page.get_by_label("Systems per screen").fill("1")
    page.get_by_role("button", name="Save as draft").click()
    problem = page.get_by_text("greater than or equal to 2")
    assert problem.is_visible()
    page.get_by_label("Systems per screen").fill("2")
    assert page.get_by_label("Most items an annotator", exact=True).input_value() == "40"
    assert page.evaluate(width) == 360
    page.get_by_role("button", name="Save as draft").click()
    page.get_by_role("button", name="Open campaign").wait_for()
    campaign = Campaign.objects.get(protocol="side-by-side")
    assert (campaign.items_per_annotator, campaign.question) == (40, question)
    assert visitor.complaints == []


def test_without_the_script_everything_is_there(live_server: LiveServer, browser: Browser) -> None:
    make_world()
    visitor = visit(browser.new_context(java_script_enabled=False), live_server)
    assert visitor.page.get_by_label("Systems per screen").is_visible()
    assert visitor.page.get_by_text("Limits of an open pool").is_visible()
    visitor.page.get_by_role("button", name="Save as draft").click()
    visitor.page.get_by_role("button", name="Open campaign").wait_for()
