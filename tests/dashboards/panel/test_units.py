"""Intervals and tests of every page are over documents, where a document has several segments."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from django.db.models import F
from django.db.models.fields import CharField
from django.db.models.functions import Cast
from django.http import QueryDict
from django.test import Client

from annotation.filters import SEGMENTS, FilterError, Filters
from annotation.models import Campaign, Segment
from config.reference.site import walk
from dashboards.documents import kinds
from dashboards.documents.computing import encoded
from dashboards.documents.head import OfSeveral, UnitsOf, WithUnits, units_of
from dashboards.panel.panel import read_panel
from dashboards.report.document import written
from metaeval import ScoreMatrix
from metaeval.correlation import pearson
from metaeval.correlation.intervals import mean_interval
from metaeval.documents import DOCUMENTS
from tests.dashboards.conftest import DOCUMENTS as NAMES
from tests.dashboards.outputs import make_filterable
from tests.refusals import tells
from tests.shared import SharedRows
from tests.world import World

NEEDS = {"extensions.neural"}
N_SEGMENTS = 30  # at least as many as tests of MT systems need
# Analyses with tests of their own: pairs of campaigns, marked spans, suggestions, designs that a
# reader states, files. `correlations` has the values, whose intervals are those of `significance`.
ELSEWHERE = {"forms", "spans", "trial", "power", "bundle", "correlations"}
# Fields with the unit, the documents or the moment, which are not numbers.
TOLD = {"unit", "n_units", "effective_units", "document", "documents", "filters", "filter_words",
        "as_of"}  # fmt: skip
KINDS = sorted(set(kinds.KINDS) - ELSEWHERE)


@pytest.fixture(scope="module")
def clustered(shared_rows: SharedRows[Campaign]) -> Iterator[int]:
    """Six documents of five segments each, metrics of one score and of several layers."""
    with shared_rows(lambda: make_filterable(N_SEGMENTS)) as made:
        yield made.pk


@pytest.fixture
def campaign(clustered: int, world: World) -> Campaign:
    return Campaign.objects.get(pk=clustered)


def name_documents(campaign: Campaign, name: Any) -> None:
    campaign.test_set.segments.update(document=name)


def numbers(value: Any) -> Any:
    """A document without what names its unit and its documents."""
    if isinstance(value, dict):
        return {key: numbers(each) for key, each in value.items() if key not in TOLD}
    return [numbers(each) for each in value] if isinstance(value, list) else value


def computed(kind: str, campaign: Campaign, filters: Filters) -> Any:
    """The numbers of an analysis; a report without its PDF."""
    own = kinds.filters_of(kind)(**vars(filters))
    found = written(campaign, own) if kind == "report" else kinds.compute(kind, campaign, own)
    return numbers(json.loads(encoded(found)))


def lines(answer: Any) -> list[str]:
    return b"".join(answer.streaming_content).decode().splitlines()


def pages() -> dict[str, Callable[..., Any]]:
    """What each page of a campaign takes, by its name."""
    return {
        entry.name: entry.callback.takes
        for _, entry in walk()
        if entry.name and hasattr(entry.callback, "takes")
    }


# The pages of analyses that are not called like them.
PAGES = {
    "overview": "dashboard",
    "trust": "results",
    "agreement": "quality",
    "standings": "study-paper",
    "wmt": "study-wmt",
    "pooled": "study-differences",
}


def refuses(kind: str) -> bool:
    return "unit" not in pages()[PAGES.get(kind, kind)]().names


@pytest.mark.parametrize("kind", KINDS)
def test_every_analysis_is_over_documents_or_refuses_the_choice(
    campaign: Campaign, kind: str
) -> None:
    over_documents, over_segments = (
        computed(kind, campaign, Filters(unit=unit)) for unit in ("", SEGMENTS)
    )
    if refuses(kind):
        assert over_documents == over_segments
        return
    name_documents(campaign, "")
    unnamed = computed(kind, campaign, Filters())
    assert over_documents != unnamed
    # The monitor's agreement has no filters.
    assert over_segments == (over_documents if kind == "agreement" else unnamed)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not refuses(kind)])
def test_documents_of_one_segment_change_no_bit(campaign: Campaign, kind: str) -> None:
    name_documents(campaign, "")
    unnamed = computed(kind, campaign, Filters())
    name_documents(campaign, Cast(F("pk"), CharField()))
    assert computed(kind, campaign, Filters()) == unnamed


def test_the_panel_carries_documents(campaign: Campaign) -> None:
    scored = read_panel(campaign, Filters()).scored
    assert scored.human.documents == tuple(NAMES[n % len(NAMES)] for n in range(N_SEGMENTS))
    every = [*scored.metrics.values(), *scored.counts.values()]
    assert scored.counts
    assert {each.documents for each in every} == {scored.human.documents}
    chosen = read_panel(campaign, Filters(unit=SEGMENTS)).scored
    assert {each.documents for each in (chosen.human, *chosen.counts.values())} == {None}


@pytest.mark.parametrize("unit", ["", SEGMENTS])
def test_the_page_has_the_interval_of_metaeval(
    campaign: Campaign, as_researcher: Client, unit: str
) -> None:
    """The matrices are made here, from the rows of the database."""
    panel = read_panel(campaign, Filters())
    names = list(campaign.test_set.segments.order_by("position").values_list("document", flat=True))
    human = ScoreMatrix(panel.human.values, "abc", range(N_SEGMENTS), names)
    human = human.by_segment() if unit else human
    query = {"statistic": "pearson", "unit": unit} if unit else {"statistic": "pearson"}
    base = f"/campaigns/{campaign.slug}"
    document = as_researcher.get(f"{base}/correlations.json", query).json()
    assert document["unit"] == (unit or DOCUMENTS)
    assert document["n_units"] == (N_SEGMENTS if unit else len(NAMES))
    for row in document["metrics"]:
        found = pearson(human, human.with_values(panel.measures[row["key"]].values))
        assert (row["low"], row["high"]) == pytest.approx(found.interval[:2])
    systems = as_researcher.get(f"{base}/results.json", query).json()["systems"]
    for row in systems:
        scores = human.values[panel.human.names.index(row["system"])]
        ends = mean_interval(scores, clusters=human.clusters)
        assert (row["low"], row["high"]) == pytest.approx(ends[:2])


@pytest.mark.needs("extensions.studies")
def test_the_unit_is_named_and_chosen_everywhere(campaign: Campaign, as_researcher: Client) -> None:
    base = f"/campaigns/{campaign.slug}"
    sentence = "95% intervals and tests are over 6 documents."
    page = as_researcher.get(f"{base}/correlations/").text
    assert sentence in page
    assert 'name="unit"' in page
    assert 'href="?unit=segments"' in page
    chosen = as_researcher.get(f"{base}/correlations/?unit=segments").text
    assert "95% intervals and tests are over 30 segments." in chosen
    assert tells(" ".join(chosen.split()), "filter.over-segments")
    tex = as_researcher.get(f"{base}/correlations.tex").text
    assert sentence.replace("%", r"\%") in tex
    header, first, *_ = lines(as_researcher.get(f"{base}/correlations.csv"))
    assert header.endswith("unit,n_units")
    assert first.endswith("documents,6")
    figure = as_researcher.get(f"{base}/correlations/figures/intervals.json").json()
    assert sentence in figure["description"]
    assert sentence in as_researcher.get(f"{base}/report.html").text
    study = as_researcher.get("/studies/port/").text
    assert tells(study, "units.over")
    name_documents(campaign, "")
    assert 'name="unit"' not in as_researcher.get(f"{base}/quality/").text


def test_equal_and_unequal_documents() -> None:
    equal, unequal = (WithUnits(**units_of(np.array(of))) for of in ([0, 0, 1, 1], [0, 0, 0, 1]))
    assert (str(equal.units), str(unequal.units)) == (
        "2 documents", "2 documents, effective number 1.6",
    )  # fmt: skip
    assert str(WithUnits(**units_of(np.arange(1200))).units) == "1,200 segments"
    assert str(WithUnits(**units_of(np.zeros(3, int))).units) == "1 document"
    assert WithUnits(**units_of(np.zeros(0, int))).over is None


def test_the_choice_is_an_address_and_what_is_stored_stays_distinct() -> None:
    chosen = Filters.from_query(QueryDict("unit=segments"))
    assert chosen.query() == "?unit=segments"
    assert Filters().query() == ""
    assert "unit" not in Filters().as_json()
    assert Filters.from_json(chosen.as_json()) == chosen
    assert chosen.as_json() != Filters().as_json()
    assert (chosen.file_name("scores"), chosen.drops_judgments) == ("scores-filtered", False)
    with pytest.raises(FilterError) as caught:
        Filters(unit="systems")
    assert caught.value.message.parameters["known"] == ["segments"]


def test_a_single_document_gives_no_interval_and_segments_do(
    campaign: Campaign, as_researcher: Client
) -> None:
    """A name for everything that the user gave is one document; without a name there is none."""
    name_documents(campaign, "everything")
    base = f"/campaigns/{campaign.slug}"
    document = as_researcher.get(f"{base}/correlations.json?statistic=pearson").json()
    assert {(row["low"], row["high"]) for row in document["metrics"]} == {(None, None)}
    reasons = {reason["code"]: reason["text"] for reason in document["trust"]["reasons"]}
    few = reasons["few_documents"]
    assert (few["code"], few["parameters"]["n"]) == ("trust.few-documents", 1)
    chosen = as_researcher.get(f"{base}/correlations.json?statistic=pearson&unit=segments").json()
    assert all(row["low"] < row["high"] for row in chosen["metrics"])
    assert Segment.objects.filter(document="everything").count() == N_SEGMENTS


def test_equal_units_of_several_campaigns_are_named_once() -> None:
    equal = units_of(np.array([0, 0, 1, 1]))
    of_two = [UnitsOf(campaign=name, name=name, **equal) for name in ("One", "Two")]
    known = OfSeveral(units=of_two).over
    assert known is not None
    assert known.code == "units.over-each"
    other = UnitsOf(campaign="three", name="Three", **units_of(np.arange(1200)))
    mixed = OfSeveral(units=[*of_two, other]).over
    assert mixed is not None
    assert mixed.code == "units.over-several"
