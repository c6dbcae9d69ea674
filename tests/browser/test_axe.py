"""axe-core finds nothing on any page: every role, wide and narrow, from left and from right.

The table follows the URLconf: a new address that is not in it fails. Pages of researchers are the
same in every language (tests/test_translations.py), so Arabic is asked of annotators' pages only.
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
from annotation.models import (
    Assignment,
    Output,
    System,
)
from annotation.protocols import PROTOCOLS
from annotation.uploads import InputFile
from metrics.datasets import waiting
from metrics.imported import pending
from metrics.models import MetricRun
from tests.annotation.roles import OF_TABLES
from tests.browser.axe import violations
from tests.browser.conftest import Visitor
from tests.browser.full_world import (
    DEMO,
    TEST_SET,
    TOKEN,
    make_full,
)
from tests.shared import Snapshots
from tests.world import World
from training.models import TrainingJob, Translation

# Of extensions whose pages are looked at.
NEEDS = {
    *("extensions.studies", "extensions.comparison", "extensions.layers"),
    *("extensions.shortness", "extensions.trials"),
}
WIDTHS = (1280, 360)
STUDY = "demo"
WRONG_POWER = "/power/?difference=5&segment=none"

# Names of addresses that are no pages of ours: what they answer instead.
NOT_PAGES = {
    "logout": "a redirect",
    "set-appearance": "a redirect",
    "account-roles": "a redirect",
    "account-reset": "a page like that of an invitation",
    "account-mail": "a redirect",
    "account-activate": "a redirect",
    "account-deactivate": "a redirect",
    "set_language": "a redirect",
    "healthz": "JSON for load balancers",
    "readyz": "JSON for load balancers",
    "personal-link": "a redirect; a dead one is among the annotator's pages",
    "annotate": "a redirect to the item",
    "campaign-open": "a redirect",
    "translation-cancel": "a redirect",
    "translation-resume": "a redirect",
    "campaign-close": "a redirect",
    "campaign-draw": "a part of the page of a new campaign",
    "people-add": "a redirect, or the People page",
    "links-hide": "a redirect",
    "campaign-file": "a file",
    "campaign-from-file": "only by POST, and then the import page or a list of errors",
    "campaign-privacy": "a redirect",
    "member-add": "a redirect",
    "member-remove": "a redirect",
    "invitation-renew": "a redirect",
    "invitation-revoke": "a redirect",
    "access-link-add": "a redirect",
    "access-link-revoke": "a redirect",
    "stop-decide": "a redirect",
    "hours": "a file",
    "adjudication-file": "a file",
    "adjudicate": "visited by tests/browser/judging/test_fair_work.py",
    "annotate-test": "visited by tests/browser/judging/test_fair_work.py",
    "annotate-stopped": "visited by tests/browser/judging/test_fair_work.py",
    "annotate-corrections": "visited by tests/browser/judging/test_fair_work.py",
    "adjudication-gold": "a redirect, or the queue",
    "codes-check": "a redirect, or the access page",
    "addresses-set": "a redirect, or the page of letters",
    "annotator-decide": "a redirect",
    "campaign-items-delete": "a redirect",
    "monitor-data": "a file",
    "campaign-power-data": "a file",
    "power-data": "a file",
    "export-file": "a file",
    "preferences-data": "a file",
    "preferences-figure": "a file",
    "preference-table-data": "a file",
    "selection": "a redirect",
    "selection-save": "a redirect",
    "selection-delete": "a redirect",
    "run-cancel": "a redirect",
    "job-cancel": "a redirect",
    "job-resume": "a redirect",
    "manage-act": "a redirect",
    "metric-scores-withdraw": "a redirect",
    "testset-share": "a redirect, or the test set's page",
    "testset-share-remove": "a redirect",
    "item-media": "a recording or picture",
    "segment-media": "a recording or picture",
    "testset-owner": "a redirect, or the test set's page",
    "system-human": "a redirect",
    "model-check": "a redirect",
    "quality-data": "a file",
    "judgments-data": "a file",
    "results-data": "a file",
    "results-figure": "a file",
    "correlations-data": "a file",
    "dashboard-data": "a file",
    "whatif-data": "a file",
    "samplesize-data": "a file",
    "compare-data": "a file",
    "dashboard-figure": "a file",
    "whatif-figure": "a file",
    "samplesize-figure": "a file",
    "scatter-figure": "a file",
    "systems-figure": "a file",
    "correlations-figure": "a file",
    "significance-data": "a file",
    "significance-figure": "a file",
    "layers-data": "a file",
    "layers-figure": "a file",
    "annotate-ahead": "screens for the page's script",
    "offline-worker": "a script",
    "annotate-own": "own items and practice for the page's script",
    "study-significance-data": "a file",
    "study-significance-figure": "a file",
    "study-layers-data": "a file",
    "study-layers-figure": "a file",
    "study-data": "a file",
    "study-figure": "a file",
    "study-printed-data": "a file",
    "study-printed-figure": "a file",
    "matrix-data": "a file",
    "systems-pair-data": "a file",
    "systems-pair-figure": "a file",
    "metrics-pair-data": "a file",
    "metrics-pair-figure": "a file",
    "matrix-figure": "a file",
    "study-quality-data": "a file",
    "scatter-data": "a file",
    "systems-data": "a file",
    "shortness-data": "a file",
    "spans-data": "a file",
    "trial-data": "a file",
    "annotate-attitude": "a redirect",
    "metric-spans-file": "a file",
    "report-file": "a file; the report itself is among the pages under study-report",
    "bundle-file": "a file",
    "study-systems-data": "a file",
    "study-shortness-data": "a file",
} | dict.fromkeys((name for name in OF_TABLES if name.endswith("-file")), "a file")
# Addresses by name: what to fill in. {campaign} is simulated, {open} is being rated.
PAGES: dict[str, list[str]] = {
    "login": ["/login/"],
    "own-account": ["/account/"],
    "accounts": ["/accounts/"],
    "account": ["/accounts/{account}/"],
    "account-link": ["/password/dead/"],
    "glossary": ["/glossary/"],
    "search": ["/search/?q=bleu", "/search/?q=nothingofthiskind"],
    "archive": ["/archive/"],
    "changes": ["/changes/"],
    "manage": ["/manage/campaign/harbour-80/", "/manage/corpus/harbour/"],
    "manage-delete": [f"/manage/campaign/{DEMO}/delete/", "/manage/corpus/harbour/delete/"],
    "campaign-edit": ["/campaigns/draft/edit/"],
    "adjudication": [f"/campaigns/{DEMO}/adjudication/"],
    "home": ["/"],
    "testsets": ["/testsets/"],
    "testset-upload": ["/testsets/upload/"],
    "testset": [f"/testsets/{TEST_SET}/"],
    "metric-scores": [f"/testsets/{TEST_SET}/scores/", "{scores}"],
    "metric-scores-sets": ["/imports/metric-scores/"],
    "metric-spans": [f"/testsets/{TEST_SET}/spans/"],
    "mtme-import": ["/campaigns/import/mt-metrics-eval/"],
    "dataset-list": ["/datasets/"],
    "dataset-import": ["/datasets/imports/{checked}/", "/datasets/imports/{refused}/"],
    "campaigns": ["/campaigns/"],
    "campaign-new": ["/campaigns/new/", f"/campaigns/new/?testset={TEST_SET}"],
    "campaign": [f"/campaigns/{DEMO}/", "/campaigns/harbour-80/"],
    "results": [f"/campaigns/{DEMO}/results/", "/campaigns/harbour-80/results/"],
    "campaign-setup": [f"/campaigns/{DEMO}/setup/"],
    "campaign-instructions": [
        "/campaigns/harbour-80/instructions/",
        "/campaigns/harbour-80/instructions/?language=ar",
    ],
    "access": [f"/campaigns/{DEMO}/access/", "/campaigns/harbour-80/access/"],
    "letters": ["/campaigns/harbour-80/access/mail/"],
    "campaign-import": ["/campaigns/import/"],
    "campaign-items": ["/campaigns/harbour-80/items/"],
    "campaign-suggestions": ["/campaigns/harbour-80/suggestions/"],
    "campaign-preview": ["/campaigns/harbour-80/preview/"],
    "monitor": [f"/campaigns/{DEMO}/monitor/", "/campaigns/harbour-80/monitor/"],
    "monitor-remarks": ["/campaigns/harbour-80/remarks/"],
    "power": ["/power/", WRONG_POWER],
    "campaign-power": [f"/campaigns/{DEMO}/power/"],
    "export": ["/campaigns/harbour-80/export/"],
    "quality": [f"/campaigns/{DEMO}/quality/", "/campaigns/harbour-80/quality/"],
    "dashboard": [f"/campaigns/{DEMO}/dashboard/?without=S3", "/campaigns/harbour-80/dashboard/"],
    "whatif": [f"/campaigns/{DEMO}/whatif/"],
    "samplesize": [f"/campaigns/{DEMO}/samplesize/"],
    "compare": ["/compare/", f"/compare/?campaign={DEMO}&published=cheng2023/en-zh-80"],
    "correlations": [f"/campaigns/{DEMO}/correlations/", "/campaigns/harbour-80/correlations/"],
    "metrics": ["/metrics/"],
    "metric": ["/metrics/chrf/", "/metrics/bertscore-roberta/"],
    "metric-add": ["/metrics/add/"],
    "metric-configure": ["/metrics/add/bertscore/"],
    "judges": ["/judges/"],
    "judge-template": ["/judges/templates/error-spans/"],
    "judge-template-add": ["/judges/templates/add/"],
    "models": ["/models/"],
    "workers": ["/workers/"],
    "significance": [f"/campaigns/{DEMO}/significance/", "/campaigns/harbour-80/significance/"],
    "layers": [f"/campaigns/{DEMO}/layers/", "/campaigns/harbour-80/layers/"],
    "runs": ["/runs/"],
    "run": ["/runs/{run}/"],
    "run-start": [f"/testsets/{TEST_SET}/score/"],
    "preferences": [f"/testsets/{TEST_SET}/preferences/", "/testsets/harbour/preferences/"],
    "preferences-start": [f"/testsets/{TEST_SET}/preferences/start/"],
    "preference-table": ["/preferences/"],
    "jobs": ["/training/"],
    "job": ["/training/jobs/{job}/"],
    "sweep": ["/training/sweeps/layers/"],
    "training-kinds": ["/training/start/"],
    "training-start": ["/training/start/remap/"],
    "translations": ["/training/translations/"],
    "translation": ["/training/translations/{translation}/"],
    "translation-start": [f"/training/translations/start/?test_set={TEST_SET}"],
    "corpora": ["/training/corpora/"],
    "corpus-upload": ["/training/corpora/upload/"],
    "corpus": ["/training/corpora/harbour/"],
    "studies": ["/studies/"],
    "study": [f"/studies/{STUDY}/", f"/studies/{STUDY}/?beside=cheng2023"],
    "study-printed": [f"/studies/{STUDY}/printed/"],
    "systems-pair": [f"/campaigns/{DEMO}/systems-pair/"],
    "metrics-pair": [f"/campaigns/{DEMO}/metrics-pair/", "/campaigns/harbour-80/metrics-pair/"],
    "matrix": ["/matrix/", f"/matrix/?campaign={DEMO}", "/matrix/?beside=cheng2023"],
    "study-significance": [f"/studies/{STUDY}/significance/"],
    "study-layers": [f"/studies/{STUDY}/layers/"],
    "study-quality": [f"/studies/{STUDY}/quality/"],
    "scatter": [
        f"/campaigns/{DEMO}/scatter/",
        f"/campaigns/{DEMO}/scatter/?output={{output}}",
        f"/campaigns/{DEMO}/scatter/?level=system",
        f"/campaigns/{DEMO}/scatter/?x_from=0&apart=0.2&side=higher",
        "/campaigns/harbour-80/scatter/",
    ],
    "output": [f"/campaigns/{DEMO}/outputs/{{output}}/"],
    "systems": [f"/campaigns/{DEMO}/systems/", "/campaigns/harbour-80/systems/"],
    "report": [f"/campaigns/{DEMO}/report/"],
    "bundle": [f"/campaigns/{DEMO}/bundle/"],
    "shortness": [f"/campaigns/{DEMO}/shortness/"],
    "spans": [f"/campaigns/{DEMO}/spans/"],
    "trial": [f"/campaigns/{DEMO}/trial/"],
    "study-systems": [f"/studies/{STUDY}/systems/"],
    "study-shortness": [f"/studies/{STUDY}/shortness/"],
    "study-report": [f"/studies/{STUDY}/report.html", f"/campaigns/{DEMO}/report.html"],
    "access-link": ["/enter/{link}/"],
    "consent": ["/annotate/asked/consent/"],
    "background": ["/annotate/told/background/"],
    "annotate-done": ["/annotate/closed/done/", "/annotate/finished/done/"],
    "annotate-history": ["/annotate/harbour-80/history/", "/annotate/finished/history/"],
    "item": [f"{{item:{name}}}" for name in PROTOCOLS] + ["{item:answered}", "{item:closed}"],
    "item-around": ["{item:esa}document/"],
}
PAGES |= {
    name: [f"{PAGES[name.removesuffix('-table')][0].partition('?')[0]}table/"]
    for name in OF_TABLES
    if name.endswith("-table") and name not in ("study-table", "study-printed-table")
}
PAGES["study-table"] = [f"/studies/{STUDY}/correlations/table/"]
PAGES["study-printed-table"] = [f"/studies/{STUDY}/printed/table/"]
ANNOTATORS = (
    "home", "access-link", "consent", "background", "annotate-done", "annotate-history", "item",
    "item-around",
)  # fmt: skip
ELSEWHERE = ["/nowhere/", "/a/dead/", "/campaigns/"]
REFUSED = {"/password/dead/", WRONG_POWER}


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
    token = pending.keep([file], User.objects.get(username="admin").pk)
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
    checked = waiting.begin(user=admin, name="set", dataset="length-control")
    refused = waiting.begin(user=admin, name="set.zip", content=b"no archive")
    known["{account}"] = str(User.objects.get(username="researcher").pk)
    known |= {"{checked}": str(checked.pk), "{refused}": str(refused.pk)}
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
