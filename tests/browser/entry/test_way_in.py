"""From signing in to an open campaign with three links, by what the pages say alone."""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from annotation.access import ADMIN
from annotation.models import Campaign
from tests.browser.conftest import Visitor
from tests.world import make_user

Visitors = Callable[..., Visitor]
SOURCE = ["Guten Morgen allerseits.", "Gute Nacht und bis morgen.", "Das Boot liegt im Hafen."]
REFERENCE = ["Good morning, everybody.", "Good night, see you.", "The boat is in the harbour."]


class Newcomer:
    """Somebody who counts pages and inputs: what is typed, chosen or clicked."""

    def __init__(self, page: Page) -> None:
        self.page, self.inputs, self.pages = page, 0, 1
        page.on("framenavigated", self._count)

    def _count(self, frame: object) -> None:
        self.pages += frame == self.page.main_frame

    def click(self, what: Locator) -> None:
        self.inputs += 1
        what.click()
        self.page.wait_for_load_state()

    def type(self, label: str, text: str) -> None:
        self.inputs += 1
        self.page.get_by_label(label, exact=True).fill(text)

    def choose(self, label: str, *files: Path) -> None:
        self.inputs += 1
        self.page.get_by_label(label, exact=True).set_input_files(files)


def written(folder: Path, name: str, lines: list[str]) -> Path:
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_newcomer_opens_a_campaign(visitor: Visitors, tmp_path: Path) -> None:
    make_user("admin", ADMIN)
    page = visitor().sign_in("admin")
    new = Newcomer(page)
    new.click(page.get_by_role("link", name="New campaign"))
    new.type("Name", "Harbour")
    new.type("Source language", "Deutsch")
    new.type("Target language", "English")
    new.choose("Source", written(tmp_path, "source.txt", SOURCE))
    new.choose("References", written(tmp_path, "reference.txt", REFERENCE))
    outputs = [written(tmp_path, f"{name}.txt", REFERENCE[::-1]) for name in ("one", "two")]
    new.choose("System outputs", *outputs)
    new.click(page.get_by_role("button", name="Check the files"))
    new.click(page.get_by_role("button", name="Store test set and set up a campaign"))
    new.click(page.get_by_role("button", name="Next: people"))
    expect(page.get_by_label("New annotators with personal links")).to_have_value("3")
    new.click(page.get_by_role("button", name="Add annotators and open campaign"))
    expect(page.get_by_text("The campaign is open")).to_be_visible()
    links = page.get_by_role("region", name="New links").locator("code").all_inner_texts()
    assert len(set(links)) == 3
    assert Campaign.objects.get().status == Campaign.Status.OPEN
    assert (new.pages, new.inputs) == (6, 11)
    expect(page.get_by_text("Send each person their own link.")).to_be_visible()
    rater = visitor().page
    rater.goto(links[0])
    expect(rater.get_by_text("Source", exact=True).first).to_be_visible()
    expect(rater.get_by_text("most of the meaning is kept")).to_be_visible()


def test_a_campaign_is_tried_before_it_opens(visitor: Visitors) -> None:
    from tests.world import make_campaign, make_test_set

    make_user("admin", ADMIN)
    campaign = make_campaign(make_test_set(), protocol="esa", shown_text="source")
    guest = visitor()
    guest.enter("admin")
    page = guest.open(f"/campaigns/{campaign.slug}/preview/")
    page.locator("#item.is-ready").wait_for()
    expect(page.get_by_text("Sentence 0 by gnorts")).to_be_visible()
    bar, card = (page.locator(each).bounding_box() or {} for each in (".mark-bar", ".card.texts"))
    assert card["x"] + card["width"] <= bar["x"]
    assert bar["x"] + bar["width"] <= 1280
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_text("This is a preview.")).to_be_visible()
    page.locator("#item.is-ready").wait_for()
    expect(page.get_by_text("Sentence 1 by gnorts")).to_be_visible()
    page.locator("summary", has_text="Languages of the page").click()
    page.get_by_role("link", name="Deutsch").click()
    expect(page.get_by_role("heading", name="Grauer Text: Ausgangstext")).to_be_visible()
    assert campaign.items.count() == 0
