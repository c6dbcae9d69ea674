"""A researcher sees over what intervals are, and chooses segments, on a desk and on a phone."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor
from tests.dashboards.conftest import make_rated
from tests.world import make_world


@pytest.mark.parametrize("width", [1280, 360])
def test_the_unit_is_seen_and_chosen(visitor: Callable[..., Visitor], width: int) -> None:
    make_world()
    campaign = make_rated(segments=24)
    someone = visitor()
    page = someone.enter("researcher")
    page.set_viewport_size({"width": width, "height": 900})
    someone.open(f"/campaigns/{campaign.slug}/correlations/?statistic=pearson")
    sentence = page.locator("#unit")
    expect(sentence).to_contain_text("95% intervals and tests are over 6 documents.")
    assert sentence.evaluate("box => box.scrollWidth <= box.clientWidth")
    edge = sentence.evaluate("box => box.getBoundingClientRect().right")
    assert edge <= width
    page.get_by_role("link", name="Use segments").click()
    page.wait_for_url("**unit=segments**")
    expect(sentence).to_contain_text("95% intervals and tests are over 24 segments.")
    if width < 800:
        page.get_by_role("button", name="change").click()
    page.get_by_text("Filters: intervals over segments").click()
    choice = page.get_by_label("Intervals and tests over")
    expect(choice).to_have_value("segments")
    choice.select_option("")
    page.wait_for_url(lambda address: "unit=segments" not in address)
    expect(sentence).to_contain_text("6 documents")
