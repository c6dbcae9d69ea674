"""The campaign form follows what is chosen, and works without its script."""

from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Locator, Page, Route, expect

from annotation import protocols
from annotation.campaigns import effort
from annotation.models import Campaign
from annotation.protocols.published import Pace
from metaeval.messages import message
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
        page.locator(f"[data-group={group}] > summary").click()


def test_fields_follow_the_choices(visitor: Visitors) -> None:
    page = form(visitor(360, 800))
    width = "document.documentElement.scrollWidth"
    systems = page.get_by_label("Systems per screen")
    most = page.get_by_label("Maximum items per annotator", exact=True)
    assert page.evaluate(width) == 360
    unfold(page, "judged", "checked")
    expect(systems).to_be_hidden()
    expect(most).to_be_hidden()
    page.get_by_label("Protocol").select_option("side-by-side")
    expect(systems).to_be_visible()
    question = protocols.get("side-by-side").length_question
    expect(page.get_by_label("Question")).to_have_attribute("placeholder", question)
    page.get_by_label("Assignment").select_option("pool")
    most.fill("40")
    systems.fill("1")
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
    page.get_by_role("button", name="Mark errors by category").click()
    unfold(page, "judged", "checked")
    expect(page.get_by_label("Systems per screen")).to_be_visible()
    expect(page.get_by_label("Minutes until an unanswered item")).to_be_visible()
    page.get_by_role("button", name="Next: people").click()
    page.get_by_role("button", name="Open campaign", exact=True).wait_for()
    assert Campaign.objects.filter(protocol="mqm").count() == 1


def test_what_the_controls_find_out_is_told_while_typing(visitor: Visitors) -> None:
    page = form(visitor())
    unfold(page, "judged", "checked")
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
    page.get_by_label("Protocol").select_option("mqm")
    expect(page.get_by_text("this protocol has no score")).to_be_visible()
    expect(none).to_be_visible()
    bad.fill("5")
    expect(page.get_by_text("With 5 bad references")).to_be_visible()
    bad.fill("10")
    expect(page.get_by_text("random clicking would")).to_have_count(3)
    for sentence in page.get_by_text("random clicking would").all():
        expect(sentence).to_be_hidden()


def test_the_screen_of_a_custom_task_follows_what_is_typed(visitor: Visitors) -> None:
    page = form(visitor(360, 800))
    page.get_by_text("More tasks").click()
    page.get_by_role("button", name="Custom task").click()
    live = page.get_by_role("region", name="As annotators will see it")
    live.get_by_role("heading", name="As annotators").click()
    live.locator("#item.is-ready").wait_for()
    name = page.get_by_role("group", name="Scale 1").get_by_label("Name")
    name.fill("Adequacy")
    expect(live.get_by_role("slider", name="Adequacy")).to_be_visible()
    least = page.get_by_role("group", name="Scale 1").get_by_label("From")
    least.fill("100")
    fault = page.locator("[data-field=answers] .errorlist")
    expect(fault).to_contain_text("The greatest value must be above the least")
    expect(live.get_by_text("before the last change")).to_be_visible()
    expect(state(page)).to_contain_text("Not saved")
    least.fill("50")
    expect(fault).to_have_count(0)
    expect(live.locator(".by-slider .track")).to_contain_text("50")
    live.get_by_label("Language of their page").select_option("ar")
    expect(live.locator("#annotate")).to_have_attribute("dir", "rtl")
    live.locator("#item.is-ready").wait_for()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    page.get_by_role("button", name="Back to the task").click()
    expect(page.get_by_role("heading", name="What should annotators do?")).to_be_visible()
    expect(page.locator("[data-group=judged] .now")).to_contain_text("scales: Adequacy")
    assert [scale.key for scale in stored().judging.scales] == ["Adequacy"]


def state(page: Page) -> Locator:
    return page.locator("[data-state]")


def stored() -> Campaign:
    """The draft beside the campaign of the world."""
    return Campaign.objects.exclude(slug="harbour-80").get()


def test_a_draft_is_saved_as_it_is_typed_and_found_again(visitor: Visitors) -> None:
    someone = visitor()
    page = form(someone)
    page.locator("#item.is-ready").wait_for()
    requests: list[str] = []
    page.on("request", lambda each: requests.append(each.url) if each.method == "POST" else None)
    assert Campaign.objects.count() == 1  # nothing was changed
    page.get_by_label("Name", exact=True).press("End")
    page.get_by_label("Name", exact=True).press_sequentially("Pier", delay=20)
    expect(state(page)).to_have_text("Saved")
    assert len(requests) == 1
    name = f"{stored().test_set.name}, 80% of full lengthPier"
    assert stored().name == name
    page.wait_for_url(f"**/{stored().slug}/edit/")
    unfold(page, "checked")
    page.get_by_label("Annotators per item").fill("7")
    expect(page.locator("[data-group=checked] .now")).to_contain_text("7 annotators per item")
    assert stored().annotators_per_item == 7
    assert len(requests) == 2
    page.get_by_label("Annotators per item").fill("0")
    expect(page.get_by_text("greater than or equal to 1")).to_be_visible()
    expect(state(page)).to_contain_text("Not saved")
    page.get_by_label("Annotators per item").fill("5")
    expect(state(page)).to_have_text("Saved")
    page.get_by_role("link", name="Campaigns", exact=True).click()
    page.get_by_role("link", name=name).first.click()
    page.get_by_role("link", name="Edit draft").click()
    unfold(page, "checked")
    expect(page.get_by_label("Annotators per item")).to_have_value("5")
    assert Campaign.objects.count() == 2


def test_nothing_is_lost_on_the_way_to_a_custom_task_and_back(visitor: Visitors) -> None:
    page = form(visitor())
    page.get_by_label("Name", exact=True).fill("Pier")
    unfold(page, "rules")
    page.get_by_label("Consent text").fill("I agree.")
    page.get_by_label("Pay per hour").fill("12.5")
    # At once, before anything is saved.
    page.get_by_text("More tasks").click()
    page.get_by_role("button", name="Custom task").click()
    page.get_by_role("group", name="Choice 1").get_by_label("Name").fill("Usable")
    page.get_by_role("group", name="Choice 1").get_by_label("Options").fill("yes; no")
    expect(page.locator("#annotate")).to_contain_text("Usable")
    page.get_by_role("group", name="Choice 1").get_by_label("Options").fill("yes; no; perhaps")
    page.get_by_role("button", name="Back to the task").click()
    unfold(page, "rules")
    expect(page.get_by_label("Consent text")).to_have_value("I agree.")
    expect(page.get_by_label("Pay per hour")).to_have_value("12.50")
    assert stored().answers == {
        "choices": [{"name": "Usable", "options": ["yes", "no", "perhaps"]}]
    }
    page.get_by_label("Consent text").fill("I do agree.")
    expect(state(page)).to_have_text("Saved")
    assert (stored().consent, stored().name) == ("I do agree.", "Pier")
    assert stored().answers
    # The browser's own way back shows what is stored now, too.
    page.go_back()
    page.get_by_role("button", name="Back to the task").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value("Pier")
    unfold(page, "rules")
    expect(page.get_by_label("Consent text")).to_have_value("I do agree.")


def two_tabs(visitor: Visitors) -> tuple[Page, Page]:
    """Return two tabs of a draft; the second one has renamed it from Pier to Quay."""
    someone = visitor()
    page = form(someone)
    page.get_by_label("Name", exact=True).fill("Pier")
    expect(state(page)).to_have_text("Saved")
    other = someone.context.new_page()
    other.goto(page.url)
    other.get_by_label("Name", exact=True).fill("Quay")
    expect(state(other)).to_have_text("Saved")
    return page, other


def test_two_tabs_do_not_overwrite_each_other(visitor: Visitors) -> None:
    page, other = two_tabs(visitor)
    unfold(page, "rules")
    page.get_by_label("Consent text").fill("I agree.")
    expect(state(page)).to_contain_text("changed elsewhere")
    assert (stored().name, stored().consent) == ("Quay", "")
    page.get_by_role("button", name="Replace it by this page").click()
    expect(state(page)).to_have_text("Saved")
    assert (stored().name, stored().consent) == ("Pier", "I agree.")
    other.get_by_label("Name", exact=True).fill("Dock")
    other.get_by_role("link", name="Show the stored draft").click()
    expect(other.get_by_label("Name", exact=True)).to_have_value("Pier")


def test_a_tab_of_a_draft_that_was_renamed_says_so(visitor: Visitors) -> None:
    page, other = two_tabs(visitor)
    other.get_by_role("button", name="Next: people").click()
    other.wait_for_url("**/campaigns/quay/access/")
    unfold(page, "rules")
    page.get_by_label("Consent text").fill("I agree.")
    expect(state(page)).to_have_attribute("data-state", "gone")
    assert (stored().slug, stored().consent) == ("quay", "")


def test_a_slow_or_lost_connection_loses_nothing(visitor: Visitors) -> None:
    page = form(visitor())
    lost = {"answers": 1}

    def answer(route: Route) -> None:
        """The server stores the first change, and its answer does not arrive."""
        if route.request.method == "POST" and lost["answers"]:
            lost["answers"] -= 1
            route.fetch()
            route.abort()
        else:
            route.continue_()

    page.locator("#item.is-ready").wait_for()
    page.route("**/campaigns/**", answer)
    page.get_by_label("Name", exact=True).fill("Pier")
    expect(state(page)).to_contain_text("no connection")
    assert stored().name == "Pier"
    page.get_by_label("Name", exact=True).fill("Quay")  # typed meanwhile
    expect(state(page)).to_have_text("Saved")
    assert stored().name == "Quay"
    lost["answers"] = 1
    page.get_by_label("Name", exact=True).fill("Dock")
    expect(state(page)).to_contain_text("no connection")
    page.get_by_label("Name", exact=True).fill("Harbour")
    expect(state(page)).to_have_text("Saved")
    assert stored().name == "Harbour"


def test_the_cost_and_the_screen_are_seen_at_once_and_the_button_is_near(
    visitor: Visitors,
) -> None:
    page = form(visitor(1280, 800))
    page.locator("#item.is-ready").wait_for()
    for part in ("[data-cost]", "#annotate"):
        box = page.locator(part).bounding_box()
        assert box
        assert (box["x"] > 640, box["y"] < 450) == (True, True), part
    fields = "form input:not([type=hidden]), form select, form textarea"
    near = f"""[...document.querySelectorAll({fields!r})].filter((each) =>
        !each.closest("[hidden]") && !each.closest("details details:not([open])")).length"""
    assert page.evaluate(near) <= 30
    assert len(page.locator("main").inner_text().split()) <= 350
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    for _tab in range(2, 13):
        page.keyboard.press("Tab")
        if page.get_by_role("button", name="Next: people").evaluate("e => e.matches(':focus')"):
            break
    else:
        raise AssertionError("more than 12 tabs")


def test_the_cost_has_the_right_unit(visitor: Visitors, monkeypatch: pytest.MonkeyPatch) -> None:
    pace = Pace(450, 450, message("pace.own", "mean of {n} judgments on this site", n=8))
    monkeypatch.setattr(effort, "PACES", {"segment-da": pace})
    page = form(visitor())
    cost = page.locator("[data-cost]")
    unfold(page, "checked")
    page.get_by_label("Traps per annotator").fill("0")
    page.get_by_label("Annotators per item").fill("1")
    expect(cost).to_contain_text("About 1 hour of rating")
    expect(cost).to_contain_text(
        "8 judgments of 450 seconds each; 1 hour per annotator with 1 annotator."
    )
    page.get_by_label("Annotators per item").fill("2")
    expect(cost).to_contain_text("About 2 hours of rating")
    page.get_by_label("Pay per hour").evaluate("each => { each.value = 12 }")
    page.get_by_label("Annotators per item").fill("3")
    expect(cost).to_contain_text("Pay: 36 EUR")
    unfold(page, "judged")
    page.get_by_label("weak").uncheck()
    page.get_by_label("Annotators per item").fill("1")
    expect(cost).to_contain_text("About 30 minutes of rating")
