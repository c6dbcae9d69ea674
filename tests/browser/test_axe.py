"""axe-core finds nothing on any page: every role, wide and narrow, from left and from right.

The table (`tests.browser.places`) follows the URLconf: a new address that is not in it fails. Pages
of researchers have no Arabic (tests/test_translations.py), so it is for annotators' pages only.
"""

import re
import uuid
from collections.abc import Callable, Collection, Iterator

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from playwright.sync_api import Page

from annotation import interface
from annotation.imports.background import EXPIRED, file_imports, preview_of
from annotation.models import Assignment, FileImport, Output, System
from annotation.uploads import InputFile, Problem, waiting
from core.work import working
from metrics.datasets.door import PUBLISHED, begin
from metrics.models import MetricRun
from metrics.spans import doors
from tests.browser.axe import violations
from tests.browser.conftest import Visitor
from tests.browser.full_world import DEMO, TEST_SET, TOKEN, make_full
from tests.browser.places import ANNOTATORS, ELSEWHERE, NOT_PAGES, PAGES, REFUSED, STUDY
from tests.shared import Snapshots
from tests.world import World
from training.models import TrainingJob, Translation

# Of extensions whose pages are looked at.
NEEDS = {
    *("extensions.studies", "extensions.comparison", "extensions.layers"),
    *("extensions.shortness", "extensions.trials", "extensions.documents"),
    "extensions.decisions",
}
WIDTHS = (1280, 360)


def names(patterns: list[URLPattern | URLResolver]) -> Iterator[str]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            if str(pattern.pattern) not in ("api/", "admin/"):
                yield from names(pattern.url_patterns)
        elif pattern.name:  # without one: the way into Django's admin
            yield pattern.name


def test_every_address_is_in_the_table() -> None:
    known = set(PAGES) | set(NOT_PAGES)
    assert set(names(get_resolver().url_patterns)) == known, "PAGES or NOT_PAGES lacks an address"
    assert not set(PAGES) & set(NOT_PAGES)


@pytest.fixture
def full(transactional_db: None, kept_state: None, snapshots: Snapshots) -> World:
    return snapshots.load(make_full)


def item_of(campaign: str) -> str:
    slug = {"answered": "harbour-80", "closed": "closed"}.get(campaign, f"{campaign}-task")
    found = Assignment.objects.filter(
        annotator__campaign__slug=slug, annotator__user__username="annotator-1"
    ).earliest("position")
    return reverse("item", args=[found.public_id])


def scores_to_confirm() -> str:
    """The preview of a file of scores, with a column that nobody knows and something to look at."""
    system = System.objects.filter(test_set__slug=TEST_SET).earliest("pk")
    label = f"{system.name}@{system.length_ratio.normalize()}"
    key = system.test_set.segments.earliest("position").key
    lines = f"sid\tsystem\tTER\tCOMET\tmqm\tremark\n{key}\t{label}\t30\t\t-1\tfine\n"
    file = InputFile.holding("scores.tsv", lines.encode())
    sent = doors.sent_files(doors.METRIC_SCORES, [file])
    token = waiting.keep(sent, User.objects.get(username="admin").pk)
    return f"/testsets/{TEST_SET}/scores/?check={token}"


def addresses(role: str) -> list[str]:
    if role == "annotator":
        chosen = [address for name in ANNOTATORS for address in PAGES[name]] + ELSEWHERE
    else:
        chosen = [a for name, found in PAGES.items() if name not in ANNOTATORS for a in found]
        chosen = [address for address in chosen if address != "/login/"]
    run = str(MetricRun.objects.earliest("pk").pk)
    output = str(Output.objects.filter(system__campaigns__slug=DEMO).earliest("pk").pk)
    job = str(TrainingJob.objects.filter(kind="remap").latest("pk").pk)
    translation = str(Translation.objects.latest("pk").pk)
    known = {
        "{translation}": translation,
        "{run}": run,
        "{job}": job,
        "{link}": TOKEN,
        "{output}": output,
    }
    known["{scores}"] = scores_to_confirm()
    admin = User.objects.get(username="admin")
    checked = begin(admin, PUBLISHED, {"dataset": "length-control"})
    working.drain(file_imports)
    checked.refresh_from_db()
    known["{account}"] = str(User.objects.get(username="researcher").pk)
    about = {"door": "judgments", "name": "large.tsv", "created_by": admin}
    running = FileImport.objects.create(
        **about, status="running", stage="reading", done=1_000, total=200_000
    )
    stopped = FileImport.objects.create(
        **about, state="refused", report=[Problem("error", EXPIRED).to_json()]
    )
    known |= {"{waiting}": str(running.pk), "{stopped}": str(stopped.pk)}
    known["{checked}"] = preview_of(checked)
    filled = [re.sub(r"{\w+}", lambda found: known[found[0]], each) for each in chosen]
    return [re.sub(r"{item:([\w-]+)}", lambda found: item_of(found[1]), each) for each in filled]


def enter(visitor: Visitor, user: User, language: str) -> Page:
    return visitor.enter(user.username, django_language=language)


def settle(page: Page) -> None:
    page.wait_for_load_state("load")
    if page.locator("#item").count():
        page.locator("#item.is-ready").wait_for()


def check(
    visitor: Visitor,
    paths: list[str],
    widths: tuple[int, ...] = WIDTHS,
    *,
    refused: Collection[str] = (),
    narrowest: int = 0,
) -> dict[str, list[str]]:
    """Violations by address and width, and pages that are not there though nothing refuses them.

    Nothing of annotators' pages scrolls sideways at the narrowest width, if there is one.
    """
    found = {}
    for path in paths:
        page = visitor.page
        answer = page.goto(visitor.address + path)
        if (answer is None or not answer.ok) != (path in refused):
            found[path] = ["another answer than was meant"]
        settle(page)
        for width in widths:
            page.set_viewport_size({"width": width, "height": 800})
            if problems := violations(page):
                # What a sticky foot half covers is whole once somebody scrolls.
                page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
                problems = [each for each in violations(page) if each in problems]
            if problems:
                found[f"{path} at {width}"] = problems
        if narrowest and interface.is_translated(path):
            page.set_viewport_size({"width": narrowest, "height": 800})
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                found[f"{path} at {narrowest}"] = ["scrolls sideways"]
    return found


@pytest.mark.parametrize("language", ["en", "ar"])
def test_no_page_of_annotators_has_a_violation(
    full: World, visitor: Callable[..., Visitor], language: str
) -> None:
    someone = visitor()
    enter(someone, full.annotators[0], language)
    refused = {*ELSEWHERE, item_of("closed")}
    assert check(someone, addresses("annotator"), refused=refused, narrowest=320) == {}


@pytest.mark.parametrize("half", [0, 1])
def test_no_page_of_researchers_has_a_violation(
    full: World, visitor: Callable[..., Visitor], half: int
) -> None:
    """Admins see everything; others less of it, which on most pages changes the frame alone."""
    someone = visitor()
    enter(someone, full.admin, "en")
    paths = addresses("admin")[half::2]
    assert check(someone, paths, refused=REFUSED) == {}
    # Many are refused in the same words.
    shown = {content(full.researcher, path): path for path in paths}
    other = [path for (_, text), path in shown.items() if text != content(full.admin, path)[1]]
    assert 0 < len(other) < len(paths)
    refused = {path for (is_shown, _), path in shown.items() if not is_shown}
    enter(someone, full.researcher, "en")
    assert check(someone, ["/", *other], WIDTHS[1:], refused=refused) == {}


def content(user: User, path: str) -> tuple[bool, str]:
    """Whether it is there, and a page without its frame and what is another one each time."""
    client = Client()
    client.force_login(user)
    answer = client.get(path)
    found = re.search(r"<main.*</main>", answer.text, re.S)
    text = re.sub(r'name="csrfmiddlewaretoken" value="[^"]*"', "", found[0] if found else "")
    return answer.status_code == 200, text


@pytest.mark.parametrize("language", ["en", "ar"])
def test_signing_in_has_no_violation(
    transactional_db: None, visitor: Callable[..., Visitor], language: str
) -> None:
    someone = visitor(locale=language)
    # What is an item's is asked of nobody who has not signed in.
    paths = ["/login/", "/nowhere/", f"/item/{uuid.uuid4()}/"]
    assert check(someone, paths, refused=["/nowhere/"]) == {}
    page = someone.open("/login/")
    page.locator("details.languages summary").click()
    assert violations(page) == []
    page.locator("#id_username").fill("nobody")
    page.locator("#id_password").fill("wrong")
    page.locator("form.card button[type=submit]").click()
    page.get_by_role("alert").wait_for()
    assert violations(page) == []


@pytest.mark.parametrize("language", ["en", "ar"])
def test_states_of_the_item_page_have_no_violation(
    full: World, visitor: Callable[..., Visitor], language: str
) -> None:
    someone = visitor()
    page = enter(someone, full.annotators[0], language)
    someone.open(item_of("segment-da"))
    settle(page)
    page.locator("#item button[type=submit]").click()
    page.locator("#problem:not(:empty), .problem:not(:empty)").first.wait_for()
    assert violations(page) == []
    page.keyboard.press("?")
    page.locator("dialog[open]").wait_for()
    assert violations(page) == []


def test_axe_would_notice(transactional_db: None, visitor: Callable[..., Visitor]) -> None:
    page = visitor().open("/login/")
    assert violations(page) == []
    page.evaluate("document.querySelector('label[for=id_username]').remove()")
    page.evaluate("document.documentElement.removeAttribute('lang')")
    page.evaluate("document.querySelector('h1').style.color = '#ccc'")
    found = {problem.split(":")[0] for problem in violations(page)}
    assert {"label", "html-has-lang", "color-contrast"} <= found


DARK = [
    *("/campaigns/", "/accounts/", "/glossary/", f"/campaigns/{DEMO}/results/"),
    *(f"/campaigns/{DEMO}/quality/", f"/campaigns/{DEMO}/significance/", f"/studies/{STUDY}/"),
    *(f"/campaigns/{DEMO}/scatter/", f"/campaigns/{DEMO}/systems/", "/campaigns/harbour-80/setup/"),
]


def test_dark_pages_have_no_violation(full: World, visitor: Callable[..., Visitor]) -> None:
    """Contrast above all; large text and a definition that is open besides."""
    someone = visitor(color_scheme="dark")
    page = enter(someone, full.admin, "en")
    cookie = {"name": "appearance", "value": ".large.", "url": someone.address}
    page.context.add_cookies([cookie])
    assert check(someone, DARK) == {}
    someone.open(f"/campaigns/{DEMO}/quality/")
    dark = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert dark == "rgb(18, 23, 29)"
    # On a phone a table has no headings to hold the button.
    page.set_viewport_size({"width": 1280, "height": 800})
    page.locator("button.term").first.press("Enter")
    page.locator(".definition:popover-open").wait_for()
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.locator(".definition:popover-open").wait_for(state="hidden")
    enter(someone, full.annotators[0], "en")
    screens = [
        item_of(each) for each in ("segment-da", "esa", "mqm", "document-da", "side-by-side")
    ]
    assert check(someone, ["/", *screens, f"{item_of('esa')}document/"]) == {}
