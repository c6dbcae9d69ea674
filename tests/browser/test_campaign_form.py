"""The campaign form follows what is chosen, and works without its script."""

from collections.abc import Callable

from django.urls import reverse
from playwright.sync_api import Page, expect

from annotation import protocols
from annotation.models import Campaign
from tests.browser.axe import violations
from tests.browser.conftest import Visitor
from tests.world import make_world

Visitors = Callable[..., Visitor]


def form(visitor: Visitor) -> Page:
    make_world()
    visitor.enter("admin")
    return visitor.open(f"{reverse('campaign-new')}?testset=harbour")


def unfold(page: Page, *groups: str) -> None:
    for group in groups:
        page.locator(f"[data-group={group}] summary").click()


def test_fields_follow_the_choices(visitor: Visitors) -> None:
    page = form(visitor(360, 800))
    width = "document.documentElement.scrollWidth"
    systems = page.get_by_label("Systems per screen")
    most = page.get_by_label("Maximum items per annotator", exact=True)
    assert page.evaluate(width) == 360
    unfold(page, "protocol", "compared", "ratings")
    expect(systems).to_be_hidden()
    expect(most).to_be_hidden()
    page.locator("[name=protocol][value=side-by-side]").check()
    expect(systems).to_be_visible()
    question = protocols.get("side-by-side").length_question
    expect(page.get_by_label("Question")).to_have_attribute("placeholder", question)
    page.get_by_label("Open pool").check()
    most.fill("40")
    systems.fill("1")
    expect(page.locator("[data-group=ratings] .now")).to_have_text("changed")
    page.get_by_role("button", name="Next: people").click()
    expect(page.get_by_text("greater than or equal to 2")).to_be_visible()
    systems.fill("2")
    expect(most).to_have_value("40")
    assert page.evaluate(width) == 360
    page.get_by_role("button", name="Next: people").click()
    page.get_by_role("button", name="Open campaign", exact=True).wait_for()
    campaign = Campaign.objects.get(protocol="side-by-side")
    assert (campaign.items_per_annotator, campaign.question) == (40, question)


def test_without_the_script_everything_is_there(visitor: Visitors) -> None:
    page = form(visitor(java_script_enabled=False))
    page.get_by_role("link", name="Mark errors by category").click()
    unfold(page, "protocol", "ratings")
    expect(page.get_by_label("Systems per screen")).to_be_visible()
    expect(page.get_by_label("Minutes until an unanswered item")).to_be_visible()
    page.get_by_role("button", name="Next: people").click()
    page.get_by_role("button", name="Open campaign", exact=True).wait_for()
    assert Campaign.objects.filter(protocol="mqm").count() == 1


def test_what_the_controls_find_out_is_told_while_typing(visitor: Visitors) -> None:
    page = form(visitor())
    unfold(page, "protocol", "checks")
    traps = page.get_by_label("Traps per annotator")
    bad = page.get_by_label("Bad references per annotator")
    none, few = (
        page.get_by_text("Without control items annotators"),
        page.get_by_text("There are too few control items"),
    )
    expect(
        page.get_by_text("too small to assess annotators by traps: 4 of its segments")
    ).to_be_visible()
    expect(none).to_be_visible()
    traps.fill("4")
    expect(few).to_be_visible()
    expect(none).to_be_hidden()
    traps.fill("5")
    expect(few).to_be_hidden()
    page.get_by_label("Multidimensional Quality").check()
    expect(page.get_by_text("this protocol has no score")).to_be_visible()
    expect(none).to_be_visible()
    bad.fill("5")
    expect(page.get_by_text("With 5 bad references")).to_be_visible()
    bad.fill("10")
    expect(page.get_by_text("random clicking would")).to_have_count(3)
    for sentence in page.get_by_text("random clicking would").all():
        expect(sentence).to_be_hidden()


def test_the_screen_follows_what_is_typed(visitor: Visitors) -> None:
    page = form(visitor(360, 800))
    live = page.get_by_role("region", name="As annotators will see it")
    live.locator("#item.is-ready").wait_for()
    unfold(page, "answers")
    name = page.get_by_role("group", name="Scale 1").get_by_label("Name")
    name.fill("Adequacy")
    expect(live.get_by_role("slider", name="Adequacy")).to_be_visible()
    least = page.get_by_role("group", name="Scale 1").get_by_label("From")
    least.fill("100")
    fault = page.locator("[data-field=answers] .errorlist")
    expect(fault).to_contain_text("The greatest value must be above the least")
    expect(live.get_by_text("before the last change")).to_be_visible()
    least.fill("50")
    expect(fault).to_have_count(0)
    expect(live.locator(".by-slider .track")).to_contain_text("50")
    live.get_by_label("Language of their page").select_option("ar")
    expect(live.locator("#annotate")).to_have_attribute("dir", "rtl")
    live.locator("#item.is-ready").wait_for()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert Campaign.objects.count() == 1
