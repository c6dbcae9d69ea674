"""The web process computes no statistics: every page is visited, once while its numbers are only
asked for and once when a worker has computed them, and what it calls of `metaeval`, scipy, and our
own readers of all judgments is listed. What is not named here fails.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from cProfile import Profile
from pathlib import Path
from types import CodeType
from typing import Any

import pytest
from django.db import connection
from django.db.models import QuerySet
from django.test import Client
from django.test.utils import CaptureQueriesContext

import metaeval
from annotation.models import Annotator, Campaign, Output, Reference
from dashboards.documents import kinds, results
from dashboards.documents.computing import encoded, unpack
from dashboards.models import Analysis
from tests.addresses import fill, routes
from tests.dashboards.documents.working import compute_waiting
from tests.training.doing import run_job
from tests.training.sweeps.test_sweeps import finish, sweep
from training.models import PreferenceResult
from training.parallel import corpora
from training.parallel.reading import Row
from training.preferences import starting

METAEVAL = str(Path(metaeval.__file__).parent)
# Functions of ours that read all judgments or compute documents.
COMPUTING = {"read_columns", "quality_report", "agreement", "compute"}
# A sweep tests the accuracies of its seeds, at most 200 numbers (`sweeping.MOST_JOBS`); preferences
# are stored with their intervals, and only sorted into bins.
BINS = {"preference", "Preference.histogram"}
FEW_NUMBERS = {
    "/training/sweeps/alphas/": {"compare_seeds"},
    "/testsets/rated-set/preferences/": BINS,
    "/testsets/rated-set/preferences.json": BINS,
    "/testsets/rated-set/preferences/figures/1.json": BINS,
}
# What of `metaeval` orders, corrects and cuts a finished document for the metrics that an address
# names, averages a study's campaigns, and reads what is asked; nothing of it touches judgments or
# scores.
CHEAP = {"parse", "Question.key", "rank_clusters", "adjusted", "order_of", "mean_of_all"}
PAGES = (".json", ".csv", ".tex")


def is_statistics(code: CodeType) -> bool:
    """Whether it is of `metaeval` or scipy, or computes what rests on all judgments."""
    if (known := _known.get(id(code))) is None:
        file = code.co_filename
        is_ours = file.startswith(METAEVAL) and not file.endswith("/messages.py")
        found = is_ours or "/scipy/" in file or code.co_name in COMPUTING
        known = _known[id(code)] = (found, code)
    return known[0]


# By id, with the code itself, so that none is freed and its id given to another.
_known: dict[int, tuple[bool, CodeType]] = {}


@contextmanager
def watched() -> Iterator[set[str]]:
    """Names the outermost calls of statistics that this thread makes; imports are none."""
    # Without builtins, which would come between: whoever has `map` call something calls it.
    found, profile = set[str](), Profile(builtins=False)
    profile.enable()
    try:
        yield found
    finally:
        profile.disable()
        callers = [each for each in profile.getstats() if not is_statistics(each.code)]
        # What dataclasses generate is called by whoever makes one.
        hands = [each for each in callers if each.code.co_filename != "<string>"]
        called = (call.code for each in hands for call in each.calls or ())
        found |= {code.co_qualname for code in called if is_statistics(code)} - {"<module>"}


def addresses(campaign: Campaign) -> list[str]:
    """Every page and its data, of the campaign, its test set and its study."""
    output = Output.objects.filter(system__campaigns=campaign).order_by("pk").first()
    assert output is not None
    found: list[str] = []
    for _, route in routes():
        first = route.split("/")[1]
        owner = {"testsets": campaign.test_set.slug, "studies": campaign.study}
        values = {
            "slug": [owner.get(first, campaign.slug)],
            "pk": [str(output.pk if "/outputs/" in route else campaign.pk)],
            "fmt": ["json"],
            "sweep": ["alphas"],
        }
        if not route.startswith(("/login", "/logout", "/language", "/api/schema", "/readyz")):
            found += fill(route, values)
    asked = f"compare/?campaign={campaign.slug}"
    return [*found, f"/{asked}", f"/campaigns/{campaign.slug}/scatter/?output={output.pk}"]


def visit(client: Client, address: str) -> set[str]:
    with watched() as found:
        answer = client.get(address)
        if answer.streaming:
            b"".join(answer)
    assert answer.status_code < 500, address
    return found


@pytest.fixture
def studied(rated: Campaign, settings: Any) -> Campaign:
    settings.ANALYSES_IN_PLACE = False
    rated.study = "port"
    rated.save(update_fields=["study"])
    open_at_half = {"study": "port", "length_ratio": "0.5", "status": rated.status}
    Campaign.objects.create(slug="half", name="Half", test_set=rated.test_set, **open_at_half)
    return rated


@pytest.fixture
def trained(studied: Campaign) -> Campaign:
    """Beside the campaign a finished sweep of two settings, and preferences on its test set."""
    corpus = corpora.add(
        name="c", source_language="de", target_language="en", rows=[Row("1", "Satz", "sentence")]
    )
    for number, job in enumerate(sweep(corpus)):
        finish(job, 0.5 + number / 10)
    first = studied.test_set.segments.order_by("position").first()
    Reference.objects.create(segment=first, name="B", text="A quiet one.")
    job, _ = starting.start(
        test_set=studied.test_set, metrics=["yisi-0"], files={}, conditions=["reorder"],
        enqueue=False,
    )  # fmt: skip
    run_job(job)
    assert PreferenceResult.objects.filter(condition="reorder", n__gt=0).exists()
    return studied


def waiting() -> QuerySet[Analysis]:
    return Analysis.objects.filter(status=Analysis.Status.QUEUED)


@pytest.mark.usefixtures("kept_state")
def test_no_page_computes_statistics(trained: Campaign, as_admin: Client) -> None:
    pages = addresses(trained)
    for _ in ("asked for", "computed"):
        found = {page: names for page in pages if (names := visit(as_admin, page) - CHEAP)}
        assert found == FEW_NUMBERS
        asked = {row.kind.partition(":")[0] for row in waiting()}
        assert asked <= set(kinds.KINDS)
        compute_waiting()
    assert not waiting().exists()
    # Every kind was asked for by some page, so every page was seen with its numbers.
    done = Analysis.objects.filter(status=Analysis.Status.DONE).values_list("kind", flat=True)
    assert {kind.partition(":")[0] for kind in done} == set(kinds.KINDS)


def test_what_computes_is_seen(rated: Campaign, as_admin: Client) -> None:
    """The same visit where analyses are computed in place, as in other tests."""
    assert "compute" in visit(as_admin, f"/campaigns/{rated.slug}/quality/")


@pytest.mark.parametrize("name", ["quality", "power"])
def test_numbers_arrive_by_themselves(studied: Campaign, as_admin: Client, name: str) -> None:
    """First a page that asks again, then one with numbers; without scripts by loading it anew."""
    address = f"/campaigns/{studied.slug}/{name}/"
    first = as_admin.get(address).text
    assert "being computed" in first
    assert "data-fresh-at" in first or "data-live" in first
    compute_waiting()
    then = as_admin.get(address).text
    assert "being computed" not in then
    assert "data-fresh-at" not in then
    assert "data-live" not in then
    assert Analysis.objects.filter(kind__in=("quality", "power")).count() == 1


@pytest.mark.usefixtures("kept_state")
def test_a_look_that_finds_nothing_new_is_short(studied: Campaign, as_researcher: Client) -> None:
    """Who asks, the campaign, the numbers and the trust in them: no document, nothing drawn."""
    address = f"/campaigns/{studied.slug}/quality/"
    as_researcher.get(address)
    compute_waiting()
    seen = as_researcher.get(address)
    with CaptureQueriesContext(connection) as captured:
        answer = as_researcher.get(address, headers={"If-None-Match": seen.headers["ETag"]})
    assert (answer.status_code, answer.content, answer.templates) == (304, b"", [])
    tables = [each["sql"].partition(" FROM ")[2].split()[0].strip('"') for each in captured]
    assert tables == [
        *("django_session", "auth_user", "auth_group", "annotation_campaign"),
        *("dashboards_analysis",) * 3,
    ]
    assert not any("payload" in each["sql"] for each in captured)


@pytest.mark.usefixtures("kept_state")
def test_pages_change_no_document(studied: Campaign, as_admin: Client) -> None:
    """All who ask share a document that was read once."""
    pages = [page for page in addresses(studied) if studied.slug in page]
    for page in pages:
        as_admin.get(page)
    compute_waiting()
    for _ in ("read", "read again"):
        for page in pages:
            as_admin.get(page)
    kept = [(key, each.value) for key, each in results._documents._values.items()]
    assert len(kept) > 10
    for (pk, as_of, shape), document in kept:
        row = Analysis.objects.get(pk=pk, as_of=as_of)
        assert encoded(document) == encoded(unpack(row.payload, shape)), row


@pytest.mark.parametrize("name", ["", "quality/", "access/"])
def test_who_may_decide_is_asked_once_for_all_annotators(
    studied: Campaign, as_researcher: Client, name: str
) -> None:
    def queries() -> int:
        as_researcher.get(address)
        compute_waiting()
        as_researcher.get(address)  # a new document is read once
        with CaptureQueriesContext(connection) as captured:
            as_researcher.get(address)
        return len(captured)

    address = f"/campaigns/{studied.slug}/{name}"
    few = queries()
    for number in range(20):
        Annotator.objects.create(campaign=studied, label=f"B{number}")
    assert queries() == few


@pytest.mark.parametrize("name", ["quality.json", "quality.csv", "power.json"])
def test_programs_are_told_to_come_again(studied: Campaign, as_admin: Client, name: str) -> None:
    address = f"/campaigns/{studied.slug}/{name}"
    answer = as_admin.get(address)
    assert (answer.status_code, answer.headers["Retry-After"]) == (202, "2")
    compute_waiting()
    assert as_admin.get(address).status_code == 200
    assert as_admin.get("/power.json").status_code == 202
